//! [`Islands`]: groups of bodies that hold together by touching.

use super::World;
use super::id::BodyId;
use crate::id::Slot;

/// Groups of bodies that touch each other, directly or through others. Still bodies belong to no
/// group and join none, nor do sensors: every pile on one floor is an island of its own.
///
/// Islands are in the order of their first bodies, and bodies ascend within one. A body that
/// touches nothing is an island of one.
///
/// ```
/// use jostle::shape::{Pose, Shape};
/// use jostle::{Body, Filter, World};
///
/// let cube = Shape::cuboid([0.5, 0.5, 0.5].into())?;
/// let mut world = World::default();
/// let floor = Shape::half_space([0.0, 1.0, 0.0].into(), 0.0)?;
/// world.insert(Body::new(floor, Pose::IDENTITY).with_filter(Filter::STILL))?;
/// let mut put = |x: f64, y: f64| Ok::<_, jostle::Error>(
///     world.insert(Body::new(cube.clone(), Pose::at([x, y, 0.0])?))?);
/// let (low, other, high) = (put(0.0, 0.5)?, put(5.0, 0.5)?, put(0.2, 1.5)?);
/// world.step()?;
/// let islands = world.islands();
/// assert_eq!(islands.iter().collect::<Vec<_>>(), [&[low, high][..], &[other]]);
/// # Ok::<(), jostle::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Islands {
    bodies: Vec<BodyId>,
    /// Where each island ends.
    ends: Vec<u32>,
}

impl Islands {
    /// Number of islands.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns true if there is no body that is not still.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The islands, in the order of their first bodies.
    pub fn iter(&self) -> impl Iterator<Item = &[BodyId]> {
        (0..self.ends.len()).map(|number| {
            let from = if number == 0 { 0 } else { self.ends[number - 1] };
            &self.bodies[from as usize..self.ends[number] as usize]
        })
    }
}

impl World {
    /// The islands of the last step, found in time that is nearly linear in bodies and touches.
    pub fn islands(&self) -> Islands {
        let boxes = self.detector.boxes();
        let still = |slot: Slot| boxes.filters()[slot.index()].still;
        let mut groups = Groups::new(boxes.slots());
        for touch in self.last_step().touches {
            let (a, b) = (touch.pair.a(), touch.pair.b());
            if self.contains(a) && self.contains(b) && !still(a.slot()) && !still(b.slot()) {
                groups.join(a.index(), b.index());
            }
        }
        let free = boxes.live_slots().filter(|&slot| !still(slot));
        let mut members: Vec<(u32, BodyId)> = free
            .map(|slot| (groups.first(slot.index()) as u32, self.bodies.ids[slot.index()]))
            .collect();
        // By the lowest slot of the group, then by id.
        members.sort_unstable();
        let mut islands = Islands::default();
        for group in members.chunk_by(|one, other| one.0 == other.0) {
            islands.bodies.extend(group.iter().map(|(_, id)| *id));
            islands.ends.push(islands.bodies.len() as u32);
        }
        islands
    }
}

/// Sets that are joined two by two (union-find with halved paths); a set is named by its lowest
/// member.
#[derive(Clone, Debug)]
pub(super) struct Groups {
    parents: Vec<u32>,
}

impl Groups {
    pub(crate) fn new(count: usize) -> Groups {
        Groups { parents: (0..count as u32).collect() }
    }

    /// The lowest member of a set.
    pub(crate) fn first(&mut self, mut member: usize) -> usize {
        while self.parents[member] as usize != member {
            let above = self.parents[self.parents[member] as usize];
            self.parents[member] = above;
            member = above as usize;
        }
        member
    }

    pub(crate) fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.first(one), self.first(other));
        let (low, high) = (one.min(other), one.max(other));
        self.parents[high] = low as u32;
    }
}
