//! Bodies come, go and change.

use super::World;
use super::body::Body;
use super::error::WorldError;
use super::id::BodyId;
use crate::aabb::Aabb;
use crate::error::BoxError;
use crate::filter::Filter;
use crate::id::{BoxId, Slot};
use crate::narrow::Placed;
use crate::shape::{Pose, Shape};

/// Bodies. On an error nothing has changed.
impl World {
    /// Adds a body.
    pub fn insert(&mut self, body: Body) -> Result<BodyId, WorldError> {
        body.check(0)?;
        let bounds = self.bodies.bounds(&body);
        let id = BodyId::new(self.detector.insert(bounds, body.filter)?);
        self.put(id, body, bounds);
        Ok(id)
    }

    /// Adds many bodies; the ids are in their order.
    pub fn insert_all(&mut self, bodies: Vec<Body>) -> Result<Vec<BodyId>, WorldError> {
        for (index, body) in bodies.iter().enumerate() {
            body.check(index)?;
        }
        let bounds: Vec<_> = bodies.iter().map(|body| self.bodies.bounds(body)).collect();
        let filters: Vec<_> = bodies.iter().map(|body| body.filter).collect();
        let ids = self.detector.boxes_mut().insert_each(&bounds, &filters)?;
        let ids: Vec<BodyId> = ids.into_iter().map(BodyId::new).collect();
        for ((&id, body), &bounds) in ids.iter().zip(bodies).zip(&bounds) {
            self.put(id, body, bounds);
        }
        Ok(ids)
    }

    fn put(&mut self, id: BodyId, body: Body, bounds: Aabb) {
        self.bodies.count_coarse(&[bounds]);
        if body.user_data != 0 {
            let boxes = self.detector.boxes_mut();
            boxes.set_user_data(id.box_id(), body.user_data).expect("it has just come");
        }
        self.bodies.put(id, body);
    }

    /// Removes a body; what it touches ends with the next step.
    pub fn remove(&mut self, id: BodyId) -> Result<(), WorldError> {
        self.detector.remove(id.box_id())?;
        self.bodies.clear(id);
        Ok(())
    }

    /// Removes many bodies; each may be named once.
    pub fn remove_all(&mut self, ids: &[BodyId]) -> Result<(), WorldError> {
        let boxes: Vec<BoxId> = ids.iter().map(|id| id.box_id()).collect();
        self.detector.boxes_mut().remove_all(&boxes)?;
        ids.iter().for_each(|&id| self.bodies.clear(id));
        Ok(())
    }

    /// Moves a body. In continuous mode it travels straight from where the last step left it,
    /// however often it is moved before the next.
    pub fn set_pose(&mut self, id: BodyId, pose: Pose) -> Result<(), WorldError> {
        self.check(id)?;
        self.bodies.set_pose(id, pose);
        Ok(())
    }

    /// Moves many bodies; one named twice gets the last pose.
    pub fn set_poses(&mut self, ids: &[BodyId], poses: &[Pose]) -> Result<(), WorldError> {
        if ids.len() != poses.len() {
            let (given, expected) = (poses.len(), ids.len());
            return Err(BoxError::Length { given, expected }.into());
        }
        ids.iter().try_for_each(|&id| self.check(id))?;
        ids.iter().zip(poses).for_each(|(&id, &pose)| self.bodies.set_pose(id, pose));
        Ok(())
    }

    /// Puts a body elsewhere without passing what lies between, in continuous mode too.
    pub fn teleport(&mut self, id: BodyId, pose: Pose) -> Result<(), WorldError> {
        self.check(id)?;
        self.bodies.teleport(id, pose);
        Ok(())
    }

    /// Gives a body another shape, where it is. Its touches go on if it still touches; ids of
    /// contact points are then those of the new shape.
    pub fn set_shape(&mut self, id: BodyId, shape: Shape) -> Result<(), WorldError> {
        self.check(id)?;
        shape.check().map_err(|fault| WorldError::Shape { index: 0, fault })?;
        self.bodies.set_shape(id, shape);
        Ok(())
    }

    /// Makes a body a sensor, or a solid again: see [`Body::with_sensor`].
    pub fn set_sensor(&mut self, id: BodyId, sensor: bool) -> Result<(), WorldError> {
        self.check(id)?;
        self.bodies.set_sensor(id, sensor);
        Ok(())
    }

    /// Returns true if a body is a sensor.
    pub fn is_sensor(&self, id: BodyId) -> bool {
        self.contains(id) && self.bodies.kinds[id.index()].sensor
    }

    /// Has a body touch what it meets on its way, whether or not the world is
    /// [continuous](World::set_continuous): for bullets among bodies that are slow. What it meets
    /// is seen where it is at the end of the step, unless it is continuous too.
    pub fn set_body_continuous(&mut self, id: BodyId, continuous: bool) -> Result<(), WorldError> {
        self.check(id)?;
        self.bodies.kinds[id.index()].continuous = continuous;
        Ok(())
    }

    /// Returns true if a body is continuous on its own.
    pub fn is_body_continuous(&self, id: BodyId) -> bool {
        self.contains(id) && self.bodies.kinds[id.index()].continuous
    }

    /// Gives a body another filter.
    pub fn set_filter(&mut self, id: BodyId, filter: Filter) -> Result<(), WorldError> {
        Ok(self.detector.boxes_mut().set_filter(id.box_id(), filter)?)
    }

    /// Never tests this pair of bodies again, until [`include`](World::include) or until one of
    /// them is removed. If they touch, that ends with the next step. For a few pairs, such as
    /// neighbouring links of a robot; for kinds of bodies use [`Filter`].
    ///
    /// ```
    /// # use jostle::shape::{Pose, Shape};
    /// # use jostle::{Body, World};
    /// # let mut world = World::default();
    /// # let link = Body::new(Shape::capsule(0.1, 0.5)?, Pose::IDENTITY);
    /// let links = world.insert_all(vec![link; 3])?;
    /// world.exclude(links[0], links[1])?;
    /// world.exclude(links[1], links[2])?;
    /// assert_eq!(world.step()?.touches.len(), 1); // the first and the last
    /// # Ok::<(), jostle::Error>(())
    /// ```
    pub fn exclude(&mut self, one: BodyId, other: BodyId) -> Result<(), WorldError> {
        Ok(self.detector.exclude(one.box_id(), other.box_id())?)
    }

    /// Tests an excluded pair again, from the next step on.
    pub fn include(&mut self, one: BodyId, other: BodyId) -> Result<(), WorldError> {
        Ok(self.detector.include(one.box_id(), other.box_id())?)
    }

    pub(super) fn check(&self, id: BodyId) -> Result<(), WorldError> {
        Ok(self.detector.boxes().check(id.box_id())?)
    }

    /// Returns true if the id names a body.
    pub fn contains(&self, id: BodyId) -> bool {
        self.detector.boxes().contains(id.box_id())
    }

    /// The ids of all bodies, ascending.
    pub fn ids(&self) -> impl Iterator<Item = BodyId> + Clone {
        self.detector.boxes().ids().map(BodyId::new)
    }

    /// Number of bodies.
    pub fn len(&self) -> usize {
        self.detector.boxes().len()
    }

    /// Returns true if there is no body.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The shape of a body.
    pub fn shape(&self, id: BodyId) -> Option<&Shape> {
        self.contains(id).then(|| &self.bodies.shapes[id.index()])
    }

    /// Where a body is.
    pub fn pose(&self, id: BodyId) -> Option<&Pose> {
        self.contains(id).then(|| &self.bodies.poses[id.index()])
    }

    /// The shape of a body where it is, for questions of the [narrow phase](crate::narrow).
    pub fn placed(&self, id: BodyId) -> Option<Placed<'_>> {
        self.contains(id).then(|| self.bodies.placed(id.index()))
    }

    /// The filter of a body.
    pub fn filter(&self, id: BodyId) -> Option<&Filter> {
        self.detector.boxes().filter(id.box_id())
    }

    /// The id of the body in a slot, as pairs of boxes and queries name it.
    pub fn id_at(&self, slot: Slot) -> Option<BodyId> {
        self.detector.boxes().id_at(slot).map(BodyId::new)
    }

    /// The 64 bits of the caller's that a body carries.
    pub fn user_data(&self, id: BodyId) -> Option<u64> {
        self.contains(id).then(|| self.detector.boxes().user_data(id.slot()))
    }

    /// Gives a body other 64 bits of the caller's.
    pub fn set_user_data(&mut self, id: BodyId, data: u64) -> Result<(), WorldError> {
        Ok(self.detector.boxes_mut().set_user_data(id.box_id(), data)?)
    }
}
