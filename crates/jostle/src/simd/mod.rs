//! Instruction sets: one [`Level`], found once, and the kernels that are compiled for each.
//!
//! A kernel is written once, over the traits of [`vector`], and [`Level::run`] calls it inside a
//! function that is compiled for the level's instructions. All `unsafe` code of the library is in
//! this folder.
//!
//! | file            | what it is and why                                                       |
//! |-----------------|--------------------------------------------------------------------------|
//! | `vector`        | the operations that kernels are written with                             |
//! | `portable`      | plain Rust: runs everywhere and decides what is right                    |
//! | `twice`         | eight lanes as two registers of four, for the three sets that follow     |
//! | `sse4`          | x86-64 since 2008                                                        |
//! | `neon`          | every aarch64 processor                                                  |
//! | `simd128`       | WebAssembly, if the crate is compiled with `+simd128`                    |
//! | `avx2`          | x86-64 since 2013: eight lanes in a register                             |
//! | `avx512`        | sixteen lanes, for the two sweeps that gain from them                    |
//! | `box_blocks`    | kernel: which boxes of two lists differ (`Boxes::set_all`)               |
//! | `column`        | kernel: boxes against runs of others (`grid-sweep`)                      |
//! | `forward`       | kernel: forward sweep over sorted blocks (`bidim-sap`)                   |
//! | `node8`         | kernels: a box against the eight of a tree node (`bvh`)                  |
//! | `places`        | the lanes of many masks, appended to a list                              |
//! | `lanes`         | eight numbers and eight points with the operators of numbers             |
//! | `lane_order`    | the lanes of a node in the order in which a search wants them (meshes)    |
//! | `lane_stack`    | what such a search has still to visit                                    |
//! | `link`          | what is below a lane of a node (meshes)                                  |
//! | `leaf8`         | eight triangles in 208 bytes (meshes)                                    |
//! | `leaf_gaps`     | kernels: triangles of a leaf near a point, a box or a ray                |
//! | `leaf_holds`    | kernels: triangles of a leaf with a corner inside a ball or a box         |
//! | `leaf_pairs`    | kernels: triangles of one leaf against those of another                  |
//! | `node_maps`     | kernels: the boxes of a node from another frame or along a ray (meshes)  |
//! | `ray_columns`   | kernels: many rays against boxes and leaves (meshes)                     |
//! | `endpoint_sort` | kernel: insertion sort of whole vectors (`simd-sap`)                     |
//! | `equal_run`     | how many pairs of two lists are equal (the tracker's comparison)         |
//! | `furthest`      | kernel: the furthest of many points in a direction (hulls)               |
//! | `listed`        | kernels: listed pairs tested again (`verlet`)                            |
//! | `probe`         | one box against scattered others, with what every processor of an        |
//! |                 | architecture has: too short to choose at run time                        |
//! | `window`        | how many of eight words are smaller; safe code that compilers vectorise  |
//! | `prefetch`      | a hint that memory will be needed soon                                   |
//! | `new_list`      | a list that threads fill                                                 |
//!
//! The environment variable `JOSTLE_SIMD` sets the level by its name: `portable`, `sse4`, `avx2`,
//! `avx512`, `neon` or `simd128`. It is read once, before the first kernel runs, and is meant for
//! tests and for comparing levels. A name that is unknown, or that this processor does not have,
//! panics with the names that can be chosen: a comparison must not run something else silently.
//! Results are the same at every level. `probe` and `prefetch` do not follow the variable.

pub(crate) mod box_blocks;
pub(crate) mod column;
pub(crate) mod endpoint_sort;
pub(crate) mod equal_run;
pub(crate) mod forward;
pub(crate) mod furthest;
pub(crate) mod lane_order;
pub(crate) mod lane_stack;
pub(crate) mod lanes;
pub(crate) mod leaf8;
pub(crate) mod leaf_gaps;
pub(crate) mod leaf_holds;
pub(crate) mod leaf_pairs;
pub(crate) mod link;
pub(crate) mod listed;
pub(crate) mod new_list;
pub(crate) mod node8;
pub(crate) mod node_maps;
pub(crate) mod places;
pub(crate) mod prefetch;
pub(crate) mod probe;
pub(crate) mod ray_columns;
pub(crate) mod vector;
pub(crate) mod window;

mod portable;
mod twice;

#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod sse4;

use std::sync::OnceLock;

use portable::Portable;
pub(crate) use vector::Simd;
use vector::Vector;

/// An instruction set that this processor has: the only way to get one is to ask the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Level(Set);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Set {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Sse4,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "aarch64")]
    Neon,
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    Simd128,
}

/// Code that is compiled for each instruction set. `run`, and what it calls that matters, has to
/// be `#[inline(always)]`.
///
/// A kernel need not use the vectors: plain code gains from being compiled for newer instructions,
/// which save moves between registers and let the compiler use longer vectors.
pub(crate) trait Kernel {
    type Output;
    fn run<S: Simd>(self, simd: S) -> Self::Output;
}

/// As [`Kernel`], for code that is written for any number of lanes.
pub(crate) trait WideKernel {
    type Output;
    fn run<V: Vector>(self, proof: V::Proof) -> Self::Output;
}

/// Runs a kernel at the current level.
#[inline]
pub(crate) fn run<K: Kernel>(kernel: K) -> K::Output {
    Level::current().run(kernel)
}

impl Level {
    /// The level that everything runs at: the highest there is, or what `JOSTLE_SIMD` names.
    #[inline]
    pub(crate) fn current() -> Level {
        static CURRENT: OnceLock<Level> = OnceLock::new();
        *CURRENT.get_or_init(|| {
            let wanted =
                std::env::var_os("JOSTLE_SIMD").map(|name| name.to_string_lossy().into_owned());
            Level::named(wanted.as_deref()).unwrap_or_else(|message| panic!("{message}"))
        })
    }

    /// All levels that this processor has, the highest last.
    pub(crate) fn available() -> Vec<Level> {
        #[allow(unused_mut, reason = "some targets have nothing to add")]
        let mut levels = vec![Level(Set::Portable)];
        #[cfg(target_arch = "x86_64")]
        levels.extend(x86_levels());
        #[cfg(target_arch = "aarch64")]
        if std::arch::is_aarch64_feature_detected!("neon") {
            levels.push(Level(Set::Neon));
        }
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        levels.push(Level(Set::Simd128));
        levels
    }

    /// The highest level without a name; an error says which names there are.
    fn named(name: Option<&str>) -> Result<Level, String> {
        let levels = Level::available();
        let Some(name) = name else {
            return Ok(*levels.last().expect("portable code runs everywhere"));
        };
        levels.iter().copied().find(|level| level.name() == name).ok_or_else(|| {
            let names: Vec<&str> = levels.iter().map(|level| level.name()).collect();
            format!(
                "JOSTLE_SIMD={name}: this processor has {}; unset it or name one of these",
                names.join(", ")
            )
        })
    }

    /// The name that `JOSTLE_SIMD` takes.
    pub(crate) fn name(self) -> &'static str {
        match self.0 {
            Set::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Set::Sse4 => "sse4",
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => "avx512",
            #[cfg(target_arch = "aarch64")]
            Set::Neon => "neon",
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Set::Simd128 => "simd128",
        }
    }

    /// Runs a kernel compiled for this level.
    #[inline]
    pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        #[allow(unused_unsafe, reason = "portable code needs none")]
        // SAFETY: a level is made only if the processor has its instructions.
        unsafe {
            match self.0 {
                Set::Portable => kernel.run(Portable),
                #[cfg(target_arch = "x86_64")]
                Set::Sse4 => run_sse4(kernel),
                #[cfg(target_arch = "x86_64")]
                Set::Avx2 | Set::Avx512 => run_avx2(kernel),
                #[cfg(target_arch = "aarch64")]
                Set::Neon => run_neon(kernel),
                #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
                Set::Simd128 => kernel.run(simd128::Simd128),
            }
        }
    }

    /// Runs a kernel for any number of lanes with eight, compiled for this level.
    #[inline]
    pub(crate) fn run_eight<K: WideKernel>(self, kernel: K) -> K::Output {
        self.run(InEight(kernel))
    }

    /// Runs a kernel for any number of lanes, compiled for this level.
    #[inline]
    pub(crate) fn run_wide<K: WideKernel>(self, kernel: K) -> K::Output {
        #[allow(unused_unsafe, reason = "portable code needs none")]
        // SAFETY: a level is made only if the processor has its instructions.
        unsafe {
            match self.0 {
                Set::Portable => InEight(kernel).run(Portable),
                #[cfg(target_arch = "x86_64")]
                Set::Sse4 => run_sse4(InEight(kernel)),
                #[cfg(target_arch = "x86_64")]
                Set::Avx2 => run_avx2(InEight(kernel)),
                #[cfg(target_arch = "x86_64")]
                Set::Avx512 => run_avx512(kernel),
                #[cfg(target_arch = "aarch64")]
                Set::Neon => run_neon(InEight(kernel)),
                #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
                Set::Simd128 => InEight(kernel).run(simd128::Simd128),
            }
        }
    }
}

/// A kernel for any number of lanes, with eight.
struct InEight<K>(K);

impl<K: WideKernel> Kernel for InEight<K> {
    type Output = K::Output;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> K::Output {
        self.0.run::<S::Eight>(simd)
    }
}

#[cfg(target_arch = "x86_64")]
fn x86_levels() -> impl Iterator<Item = Level> {
    let sse4 = is_x86_feature_detected!("ssse3")
        && is_x86_feature_detected!("sse4.1")
        && is_x86_feature_detected!("popcnt");
    let avx2 = sse4
        && is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt");
    let avx512 = avx2 && is_x86_feature_detected!("avx512f");
    let levels = [(sse4, Set::Sse4), (avx2, Set::Avx2), (avx512, Set::Avx512)];
    levels.into_iter().filter(|(has, _)| *has).map(|(_, set)| Level(set))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "ssse3,sse4.1,popcnt")]
fn run_sse4<K: Kernel>(kernel: K) -> K::Output {
    // SAFETY: the caller vouches for the instructions.
    kernel.run(unsafe { sse4::Sse4::assume() })
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn run_avx2<K: Kernel>(kernel: K) -> K::Output {
    // SAFETY: the caller vouches for the instructions.
    kernel.run(unsafe { avx2::Avx2::assume() })
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx2,bmi1,bmi2,lzcnt,popcnt")]
fn run_avx512<K: WideKernel>(kernel: K) -> K::Output {
    // SAFETY: the caller vouches for the instructions.
    kernel.run::<avx512::Register>(unsafe { avx512::Avx512::assume() })
}

#[cfg(target_arch = "aarch64")]
#[target_feature(enable = "neon")]
fn run_neon<K: Kernel>(kernel: K) -> K::Output {
    // SAFETY: the caller vouches for the instructions.
    kernel.run(unsafe { neon::Neon::assume() })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Sum<'a>(&'a [u32]);

    impl Kernel for Sum<'_> {
        type Output = u32;

        #[inline(always)]
        fn run<S: Simd>(self, _: S) -> u32 {
            self.0.iter().fold(0, |sum, &item| sum.wrapping_mul(3) ^ item)
        }
    }

    #[test]
    fn plain_code_computes_the_same_at_every_level() {
        let items: Vec<u32> = (0..1001u32).map(|k| k.wrapping_mul(2_654_435_761)).collect();
        for level in Level::available() {
            assert_eq!(level.run(Sum(&items)), Sum(&items).run(Portable), "{level:?}");
        }
    }

    #[test]
    fn levels_are_found_by_name_and_others_refused() {
        for level in Level::available() {
            assert_eq!(Level::named(Some(level.name())), Ok(level));
        }
        assert_eq!(Level::named(None).as_ref(), Ok(Level::available().last().unwrap()));
        let message = Level::named(Some("AVX9")).unwrap_err();
        assert!(message.contains("JOSTLE_SIMD=AVX9") && message.contains("portable"), "{message}");
        assert!(Level::named(Some("")).is_err());
    }
}
