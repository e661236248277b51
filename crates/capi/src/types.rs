//! Plain structs, and the library's own in their layout.

use engine::narrow::{Contact, Ending, Status};
use engine::shape::Pose;
use engine::{Aabb, BoxId, Filter, Pair, Slot};
use glam::{DQuat, DVec3};

use crate::status::{Fault, bad_pose};

/// An axis-aligned box: all points between two corners. Boxes that touch overlap.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct jostle_aabb {
    /// The lower corner.
    pub min: [f32; 3],
    /// The upper corner.
    pub max: [f32; 3],
}

/// Two boxes by their slots, the lower 32 bits of their ids; the smaller first.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct jostle_pair {
    /// The smaller slot.
    pub a: u32,
    /// The larger slot.
    pub b: u32,
}

/// Which boxes a box may pair with: each has to be in a group of the other's mask, their owners
/// have to differ, and not both may be still.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct jostle_filter {
    /// The groups that the box is in, one bit each.
    pub membership: u32,
    /// The groups that it pairs with, one bit each.
    pub mask: u32,
    /// Boxes of one owner do not pair; JOSTLE_NOBODY for nobody's.
    pub owner: u32,
    /// Boxes that are still, with any number but 0 here, do not pair with each other.
    pub still: u32,
}

/// A position and a rotation.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct jostle_pose {
    /// Where the origin of the shape is.
    pub translation: [f64; 3],
    /// A unit quaternion: x, y, z, w.
    pub rotation: [f64; 4],
}

/// How two shapes are to each other.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct jostle_contact {
    /// How far apart they are, 0 if they touch or overlap.
    pub distance: f64,
    /// How deep they overlap, 0 if they do not.
    pub depth: f64,
    /// From a to b, of length 1.
    pub normal: [f64; 3],
    /// The nearest or deepest point of a.
    pub point_a: [f64; 3],
    /// The nearest or deepest point of b.
    pub point_b: [f64; 3],
    /// No more than the true distance, or no less than the true depth is off by.
    pub bound: f64,
    /// 0 separated, 1 touching, 2 overlapping.
    pub status: u32,
    /// 0 by a closed form, 1 converged, 2 stalled, 3 the step limit was reached.
    pub ending: u32,
}

/// The filter of boxes that pair with everything.
#[unsafe(no_mangle)]
pub extern "C" fn jostle_filter_all() -> jostle_filter {
    Filter::ALL.into()
}

/// The pose at the origin, not turned.
#[unsafe(no_mangle)]
pub extern "C" fn jostle_pose_identity() -> jostle_pose {
    jostle_pose { translation: [0.0; 3], rotation: [0.0, 0.0, 0.0, 1.0] }
}

impl From<Filter> for jostle_filter {
    fn from(filter: Filter) -> jostle_filter {
        let Filter { membership, mask, owner, still } = filter;
        jostle_filter { membership, mask, owner, still: still.into() }
    }
}

impl From<jostle_filter> for Filter {
    fn from(filter: jostle_filter) -> Filter {
        let jostle_filter { membership, mask, owner, still } = filter;
        Filter { membership, mask, owner, still: still != 0 }
    }
}

impl From<Contact> for jostle_contact {
    fn from(contact: Contact) -> jostle_contact {
        jostle_contact {
            distance: contact.distance,
            depth: contact.depth,
            normal: contact.normal.to_array(),
            point_a: contact.point_a.to_array(),
            point_b: contact.point_b.to_array(),
            bound: contact.bound,
            status: match contact.status {
                Status::Separated => 0,
                Status::Touching => 1,
                Status::Overlapping => 2,
            },
            ending: match contact.ending {
                Ending::Closed => 0,
                Ending::Converged => 1,
                Ending::Stalled => 2,
                // The only other.
                _ => 3,
            },
        }
    }
}

impl jostle_pose {
    pub(crate) fn checked(&self, index: usize) -> Result<Pose, Fault> {
        let rotation = DQuat::from_array(self.rotation);
        Pose::new(rotation, DVec3::from_array(self.translation))
            .map_err(|fault| bad_pose(index, fault))
    }
}

/// Boxes of C as the library's, where they are.
pub(crate) fn boxes(boxes: &[jostle_aabb]) -> &[Aabb] {
    const { assert!(size_of::<Aabb>() == size_of::<jostle_aabb>()) };
    const { assert!(align_of::<Aabb>() == align_of::<jostle_aabb>()) };
    // SAFETY: both are repr(C) with the same fields in the same order.
    unsafe { std::slice::from_raw_parts(boxes.as_ptr().cast::<Aabb>(), boxes.len()) }
}

/// Pairs of the library as C's, where they are.
pub(crate) fn pairs(pairs: &[Pair]) -> *const jostle_pair {
    const { assert!(size_of::<Pair>() == size_of::<jostle_pair>()) };
    const { assert!(align_of::<Pair>() == align_of::<jostle_pair>()) };
    // Both are repr(C) couples of 32-bit numbers.
    pairs.as_ptr().cast()
}

/// The number that stands for an id: the slot in the lower half, the generation in the upper.
pub(crate) fn number_of(id: BoxId) -> u64 {
    u64::from(id.generation()) << 32 | u64::from(id.slot().get())
}

/// The id that a number stands for.
pub(crate) fn id_of(number: u64) -> BoxId {
    BoxId::new(Slot::new(number as u32), (number >> 32) as u32)
}
