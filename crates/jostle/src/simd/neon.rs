//! NEON: registers of four lanes, which every aarch64 processor has.

use std::arch::aarch64::*;

use super::portable::FourPlain;
use super::twice::{Quad, Twice};
use super::vector::{Simd, packed_lanes};
use crate::pair::Pair;

/// Proof that the processor has NEON.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neon(());

impl Neon {
    /// # Safety
    /// The processor has the instructions.
    #[inline(always)]
    pub(super) unsafe fn assume() -> Neon {
        Neon(())
    }
}

impl Simd for Neon {
    type Eight = Twice<Register>;
    type Doubles = FourPlain<Neon>;
}

static PACKED: [[u8; 4]; 16] = packed_lanes();

/// The numbers of the lanes that a mask names, in front.
#[inline(always)]
fn packed(_: Neon, mask: u32) -> uint32x4_t {
    let lanes = u64::from(u32::from_le_bytes(PACKED[mask as usize % 16]));
    // SAFETY: the proof vouches for NEON.
    unsafe { vmovl_u16(vget_low_u16(vmovl_u8(vcreate_u8(lanes)))) }
}

#[derive(Clone, Copy)]
pub(crate) struct Register(uint32x4_t);

// SAFETY, for every block below: a register is made from a proof of NEON. Loads and stores need
// no alignment beyond that of a word; the caller vouches for the memory.

impl Register {
    #[inline(always)]
    fn floats(self) -> float32x4_t {
        // SAFETY: see above.
        unsafe { vreinterpretq_f32_u32(self.0) }
    }

    #[inline(always)]
    fn signed(self) -> int32x4_t {
        // SAFETY: see above.
        unsafe { vreinterpretq_s32_u32(self.0) }
    }
}

impl Quad for Register {
    type Proof = Neon;

    #[inline(always)]
    fn splat(_: Neon, lane: u32) -> Self {
        // SAFETY: see above.
        Register(unsafe { vdupq_n_u32(lane) })
    }
    #[inline(always)]
    unsafe fn load(_: Neon, from: *const u32) -> Self {
        // SAFETY: see above.
        Register(unsafe { vld1q_u32(from) })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut u32) {
        // SAFETY: see above.
        unsafe { vst1q_u32(to, self.0) }
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        // SAFETY: see above.
        Register(unsafe { vandq_u32(self.0, other.0) })
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        // SAFETY: see above.
        Register(unsafe { vorrq_u32(self.0, other.0) })
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: see above.
        Register(unsafe { veorq_u32(self.0, other.0) })
    }
    #[inline(always)]
    fn and_not(self, other: Self) -> Self {
        // SAFETY: see above.
        Register(unsafe { vbicq_u32(self.0, other.0) })
    }
    #[inline(always)]
    fn choose(self, other: Self, mask: Self) -> Self {
        // SAFETY: see above.
        Register(unsafe { vbslq_u32(mask.0, other.0, self.0) })
    }
    #[inline(always)]
    fn bits(self) -> u32 {
        const SHIFTS: [i32; 4] = [0, 1, 2, 3];
        // SAFETY: see above; four shifts are readable.
        unsafe {
            let signs = vshrq_n_u32::<31>(self.0);
            vaddvq_u32(vshlq_u32(signs, vld1q_s32(SHIFTS.as_ptr())))
        }
    }
    #[inline(always)]
    fn gt_i32(self, other: Self) -> Self {
        // SAFETY: see above.
        Register(unsafe { vcgtq_s32(self.signed(), other.signed()) })
    }
    #[inline(always)]
    fn eq_i32(self, other: Self) -> Self {
        // SAFETY: see above.
        Register(unsafe { vceqq_u32(self.0, other.0) })
    }
    #[inline(always)]
    fn le_f32(self, other: Self) -> Self {
        // SAFETY: see above.
        Register(unsafe { vcleq_f32(self.floats(), other.floats()) })
    }
    #[inline(always)]
    fn ne_f32(self, other: Self) -> Self {
        // SAFETY: see above.
        Register(unsafe { vmvnq_u32(vceqq_f32(self.floats(), other.floats())) })
    }
    #[inline(always)]
    fn add_f32(self, other: Self) -> Self {
        // SAFETY: see above.
        Register(unsafe { vreinterpretq_u32_f32(vaddq_f32(self.floats(), other.floats())) })
    }
    #[inline(always)]
    fn sub_f32(self, other: Self) -> Self {
        // SAFETY: see above.
        Register(unsafe { vreinterpretq_u32_f32(vsubq_f32(self.floats(), other.floats())) })
    }
    #[inline(always)]
    fn mul_f32(self, other: Self) -> Self {
        // SAFETY: see above.
        Register(unsafe { vreinterpretq_u32_f32(vmulq_f32(self.floats(), other.floats())) })
    }
    #[inline(always)]
    fn div_f32(self, other: Self) -> Self {
        // SAFETY: see above.
        Register(unsafe { vreinterpretq_u32_f32(vdivq_f32(self.floats(), other.floats())) })
    }
    #[inline(always)]
    unsafe fn widen(_: Neon, from: *const u16) -> Self {
        // SAFETY: see above.
        Register(unsafe { vreinterpretq_u32_f32(vcvtq_f32_u32(vmovl_u16(vld1_u16(from)))) })
    }
    #[inline(always)]
    fn sqrt_f32(self) -> Self {
        // SAFETY: see above.
        Register(unsafe { vreinterpretq_u32_f32(vsqrtq_f32(self.floats())) })
    }
    #[inline(always)]
    fn min_f32(self, other: Self) -> Self {
        // The instruction for the minimum orders the two zeros and passes NaN on.
        // SAFETY: see above.
        Register(unsafe { vbslq_u32(vcltq_f32(self.floats(), other.floats()), self.0, other.0) })
    }
    #[inline(always)]
    fn max_f32(self, other: Self) -> Self {
        // SAFETY: see above.
        Register(unsafe { vbslq_u32(vcgtq_f32(self.floats(), other.floats()), self.0, other.0) })
    }
    #[inline(always)]
    fn partner<const LANE: usize>(self) -> Self {
        // SAFETY: see above.
        Register(unsafe {
            match LANE {
                1 => vrev64q_u32(self.0),
                2 => vextq_u32::<2>(self.0, self.0),
                3 => {
                    let turned = vrev64q_u32(self.0);
                    vextq_u32::<2>(turned, turned)
                }
                _ => unreachable!("four lanes have no other partner"),
            }
        })
    }
    #[inline(always)]
    fn shift_in<const BY: usize>(self, next: Self) -> Self {
        // SAFETY: see above.
        Register(unsafe {
            match BY {
                1 => vextq_u32::<1>(self.0, next.0),
                2 => vextq_u32::<2>(self.0, next.0),
                3 => vextq_u32::<3>(self.0, next.0),
                _ => unreachable!("four lanes shift by one to three"),
            }
        })
    }
    #[inline(always)]
    unsafe fn write_pairs(self, id: Self, hits: u32, out: *mut Pair) {
        // SAFETY: see above; a pair is two words, the smaller id first. The bytes of lane `k`
        // are `4 k` to `4 k + 3`.
        unsafe {
            let first_bytes = vmulq_n_u32(packed(Neon(()), hits), 0x0404_0404);
            let bytes = vaddq_u32(first_bytes, vdupq_n_u32(0x0302_0100));
            let lanes = vreinterpretq_u8_u32(self.0);
            let ids = vqtbl1q_u8(lanes, vreinterpretq_u8_u32(bytes));
            let ids = vreinterpretq_u32_u8(ids);
            let (small, large) = (vminq_u32(ids, id.0), vmaxq_u32(ids, id.0));
            vst2q_u32(out.cast(), uint32x4x2_t(small, large));
        }
    }
    #[inline(always)]
    unsafe fn write_places(proof: Neon, mask: u32, base: u32, out: *mut u32) {
        // SAFETY: see above.
        unsafe { vst1q_u32(out, vaddq_u32(packed(proof, mask), vdupq_n_u32(base))) }
    }
}
