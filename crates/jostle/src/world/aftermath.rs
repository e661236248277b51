//! [`Aftermath`]: bodies that go because of what a step found.

use super::World;
use super::id::BodyId;
use super::touch::Step;

/// Takes down what is to be removed while a step is looked at: see [`World::after_step`].
#[derive(Debug, Default)]
pub struct Aftermath {
    gone: Vec<BodyId>,
}

impl Aftermath {
    /// Removes a body when everything has been looked at. Naming it twice does no harm, nor does
    /// naming one that is gone.
    pub fn remove(&mut self, id: BodyId) {
        self.gone.push(id);
    }
}

impl World {
    /// Looks at the last step and removes bodies by what it says. They are still there until
    /// `look` is done; their touches end with the next step. Returns those removed, ascending.
    ///
    /// ```
    /// use jostle::shape::{Pose, Shape};
    /// use jostle::{Body, World};
    ///
    /// let mut world = World::default();
    /// let ball = Shape::sphere(1.0)?;
    /// world.insert(Body::new(ball.clone(), Pose::IDENTITY))?;
    /// let shot = Body::new(ball, Pose::at([0.0, 1.5, 0.0])?).with_user_data(1);
    /// let shot = world.insert(shot)?;
    /// world.step()?;
    /// let gone = world.after_step(|world, step, aftermath| {
    ///     for pair in step.began {
    ///         let shots = [pair.a(), pair.b()].into_iter();
    ///         let hit = shots.filter(|&id| world.user_data(id) == Some(1));
    ///         hit.for_each(|id| aftermath.remove(id));
    ///     }
    /// });
    /// assert_eq!(gone, [shot]);
    /// assert_eq!(world.step()?.ended.len(), 1);
    /// # Ok::<(), jostle::Error>(())
    /// ```
    pub fn after_step(
        &mut self,
        look: impl FnOnce(&World, Step<'_>, &mut Aftermath),
    ) -> Vec<BodyId> {
        let mut aftermath = Aftermath::default();
        look(self, self.last_step(), &mut aftermath);
        let mut gone = aftermath.gone;
        gone.sort_unstable();
        gone.dedup();
        gone.retain(|&id| self.remove(id).is_ok());
        gone
    }
}
