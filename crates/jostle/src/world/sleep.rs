//! Bodies that sleep, and what wakes them.
//!
//! A body that does not move costs a step nothing, asleep or not. Sleep is for what comes after: a
//! solver leaves sleeping bodies out, and has to be told when that ends. The world knows first,
//! because it sees what touches them.

use super::World;
use super::bodies::Active;
use super::error::WorldError;
use super::id::BodyId;
use super::islands::Groups;
use super::pair_test::is_due;
use super::pairs::Told;

/// Sleep.
impl World {
    /// Puts a body to sleep. It wakes when it is moved or gets another shape, and in the step in
    /// which a body that is awake touches it and has moved or just come, or something that touched
    /// it parts from it or is removed. With it wakes every sleeping body of its
    /// [island](World::islands). Sensors wake nobody. [`Step::woken`](super::Step::woken) lists
    /// those that a step woke.
    ///
    /// ```
    /// use jostle::shape::{Pose, Shape};
    /// use jostle::{Body, World};
    ///
    /// let ball = |x: f64| Ok::<_, jostle::Error>(
    ///     Body::new(Shape::sphere(1.0)?, Pose::at([x, 0.0, 0.0])?));
    /// let mut world = World::default();
    /// let row = world.insert_all(vec![ball(0.0)?, ball(1.9)?, ball(9.0)?])?;
    /// world.step()?;
    /// row[..2].iter().try_for_each(|&id| world.sleep(id))?;
    /// world.set_pose(row[2], Pose::at([3.5, 0.0, 0.0])?)?; // it runs into the second
    /// assert_eq!(world.step()?.woken, &row[..2]);
    /// assert!(!world.is_asleep(row[0]));
    /// # Ok::<(), jostle::Error>(())
    /// ```
    pub fn sleep(&mut self, id: BodyId) -> Result<(), WorldError> {
        self.check(id)?;
        self.bodies.set_asleep(id.index(), true);
        Ok(())
    }

    /// Wakes a body, alone.
    pub fn wake(&mut self, id: BodyId) -> Result<(), WorldError> {
        self.check(id)?;
        self.bodies.set_asleep(id.index(), false);
        Ok(())
    }

    /// Returns true if a body sleeps.
    pub fn is_asleep(&self, id: BodyId) -> bool {
        self.contains(id) && self.bodies.kinds[id.index()].asleep
    }

    /// Wakes what this step has touched.
    pub(super) fn wake_touched(&mut self) {
        if !self.bodies.any_asleep() {
            return;
        }
        let mut touched = self.touched_sleepers();
        if touched.is_empty() {
            return;
        }
        self.spread(&mut touched);
        for &id in &touched {
            self.bodies.set_asleep(id.index(), false);
        }
        self.lists.woken = touched;
    }

    /// Sleeping bodies with a reason to wake.
    fn touched_sleepers(&self) -> Vec<BodyId> {
        let bodies = &self.bodies;
        let asleep = |slot: usize| bodies.kinds[slot].asleep;
        let mut found = Vec::new();
        for state in &self.pairs.states {
            let [a, b] = [state.pair.a(), state.pair.b()].map(|slot| slot.index());
            let solid = state.told == Told::Touch;
            if !solid || asleep(a) == asleep(b) || !is_due(bodies, state) {
                continue;
            }
            let (sleeper, other) = if asleep(a) { (a, b) } else { (b, a) };
            if state.fresh || bodies.active[other] != Active::No {
                found.push(bodies.ids[sleeper]);
            }
        }
        for pair in self.last_step().ended {
            let members = [pair.a(), pair.b()];
            let sensed = members.iter().any(|id| bodies.kinds[id.index()].sensor);
            let sleeps = |id: &BodyId| !sensed && self.is_asleep(*id);
            found.extend(members.into_iter().filter(sleeps));
        }
        found
    }

    /// Adds the sleeping bodies that hold together with them, and sorts.
    fn spread(&self, found: &mut Vec<BodyId>) {
        let boxes = self.detector.boxes();
        let sleeps = |id: BodyId| self.is_asleep(id) && !boxes.filters()[id.index()].still;
        let mut groups = Groups::new(boxes.slots());
        for touch in self.last_step().touches {
            let (a, b) = (touch.pair.a(), touch.pair.b());
            if sleeps(a) && sleeps(b) {
                groups.join(a.index(), b.index());
            }
        }
        let mut wakes = vec![false; boxes.slots()];
        for id in found.iter() {
            wakes[groups.first(id.index())] = true;
        }
        let ids = self.ids().filter(|&id| self.is_asleep(id));
        let others = ids.filter(|id| wakes[groups.first(id.index())]);
        found.extend(others);
        found.sort_unstable();
        found.dedup();
    }
}
