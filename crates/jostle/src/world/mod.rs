//! [`World`]: bodies in, contacts out. The whole pipeline in one.
//!
//! ```text
//! shapes + poses ─► boxes ─► broad phase ─► pair states ─► narrow phase ─► touches
//!                            (Detector)     (one per box pair)      └─► began / ended
//! ```
//!
//! A step gives every body that moved a new box, lets the [`Detector`] find the pairs of boxes, and
//! asks the narrow phase about each pair in which a body moved; the others keep their answer. A
//! pair's memory ([`PairCache`](crate::narrow::PairCache)) lives exactly as long as its boxes
//! overlap. The answers of all workers are put into the order of the pairs, so that a step gives
//! the same bytes for every number of threads, every schedule and every broad phase.
//!
//! A body has one box, a compound too: the pieces are left to the narrow phase, which keeps ids and
//! events simple. A compound much larger than its pieces pays for it with empty pairs; give such
//! pieces bodies of their own with one [`Filter::owner`](crate::Filter::owner). Half-spaces have
//! infinite boxes and pair with everything their filter allows.
//!
//! Boxes are larger than their shapes by [`TOUCH`](crate::narrow::TOUCH), so that the broad phase
//! loses no pair which the narrow phase calls touching.
//!
//! In continuous mode ([`World::set_continuous`]) a body that moved has a box around its whole
//! motion from where the last step left it: straight, and turning at a steady rate through the
//! smaller angle. Pairs that were apart after the last step are then asked for their first time of
//! touch, so that nothing tunnels at any speed; a bullet that is through the wall at the end of a
//! step still touches it in that step, and the [`Touch::time`] says when.
//!
//! | file | holds |
//! |---|---|
//! | `body.rs`, `id.rs`, `error.rs` | what goes in, its name, why it was refused |
//! | `bodies.rs`, `bounds.rs` | shapes and poses by slot, what changed, new boxes |
//! | `sweep.rs` | the motion of a body during a step |
//! | `pairs.rs` | the states of pairs of boxes |
//! | `pair_test.rs` | the narrow phase on one pair |
//! | `schedule.rs`, `results.rs` | which worker tests which pair, and what each finds |
//! | `merge.rs`, `touch.rs`, `stats.rs` | what comes out, in the order of pairs |
//! | `snapshot.rs` | a world as data, and back (`serde`) |

mod bodies;
mod body;
mod bounds;
mod error;
mod id;
mod merge;
mod pair_test;
mod pairs;
mod results;
mod schedule;
#[cfg(feature = "serde")]
mod snapshot;
mod stats;
mod sweep;
mod touch;

pub use body::Body;
pub use error::WorldError;
pub use id::{BodyId, BodyPair};
pub use pair_test::Detail;
pub use results::WorkerStats;
pub use schedule::Schedule;
#[cfg(feature = "serde")]
pub use snapshot::WorldSnapshot;
pub use stats::WorldStats;
pub use touch::{Step, Touch};

use glam::DVec3;

use crate::aabb::Aabb;
use crate::broad::Algorithm;
use crate::clock::Instant;
use crate::detector::Detector;
use crate::error::{BoxError, Error};
use crate::filter::Filter;
use crate::id::{BoxId, Slot};
use crate::narrow::{ManifoldPoint, Options, Placed};
use crate::par::Workers;
use crate::queries::Queries;
use crate::shape::{Pose, Shape};
use bodies::Bodies;
use bounds::Frame;
use merge::Touches;
use pair_test::PairTest;
use pairs::PairStates;
use results::WorkerResults;

/// Follows moving bodies and tells, step by step, which touch and where.
///
/// ```
/// use jostle::narrow::Status;
/// use jostle::shape::{Pose, Shape};
/// use jostle::world::BodyPair;
/// use jostle::{Algorithm, Body, Filter, World};
///
/// let at = |x: f64| Pose::at([x, 0.0, 0.0]);
/// let ball = Shape::sphere(1.0)?;
/// let wall = Shape::cuboid([0.5, 9.0, 9.0].into())?;
/// let mut world = World::new(Algorithm::Auto);
/// let ball = world.insert(Body::new(ball, at(0.0)?))?;
/// let wall = world.insert(Body::new(wall, at(5.0)?).with_filter(Filter::STILL))?;
/// assert!(world.step()?.touches.is_empty());
/// world.set_pose(ball, at(4.0)?)?;
/// let step = world.step()?;
/// assert_eq!(step.began, [BodyPair::new(ball, wall)]);
/// assert_eq!(step.touches[0].contact.status, Status::Overlapping);
/// assert_eq!(step.touches[0].contact.depth, 0.5);
/// # Ok::<(), jostle::Error>(())
/// ```
///
/// A clone continues with the same bytes: step both in the same way, and both say the same. That is
/// what rollback needs. It shares the worker threads.
#[derive(Clone, Debug)]
pub struct World {
    detector: Detector,
    workers: Workers,
    bodies: Bodies,
    pairs: PairStates,
    touches: Touches,
    results: Vec<WorkerResults>,
    detail: Detail,
    schedule: Schedule,
    continuous: bool,
    stats: WorldStats,
}

impl Default for World {
    /// An empty world with [`Algorithm::Auto`] on the calling thread.
    fn default() -> World {
        World::new(Algorithm::Auto)
    }
}

impl World {
    /// An empty world that runs on the calling thread.
    #[must_use]
    pub fn new(algorithm: Algorithm) -> World {
        World::with_workers(algorithm, Workers::one())
    }

    /// An empty world that runs on `workers`.
    #[must_use]
    pub fn with_workers(algorithm: Algorithm, workers: Workers) -> World {
        World {
            detector: Detector::with_workers(algorithm, workers.clone()),
            workers,
            bodies: Bodies::default(),
            pairs: PairStates::default(),
            touches: Touches::default(),
            results: Vec::new(),
            detail: Detail::default(),
            schedule: Schedule::default(),
            continuous: false,
            stats: WorldStats::default(),
        }
    }

    /// What is found out about a pair that touches. Holds for pairs that move from now on.
    pub fn set_detail(&mut self, detail: Detail) {
        self.detail = detail;
    }

    /// How pairs are scheduled on workers. The answers do not depend on it.
    pub fn set_schedule(&mut self, schedule: Schedule) {
        self.schedule = schedule;
    }

    /// In continuous mode bodies touch what they meet on their way; otherwise only what they touch
    /// where they are after it.
    pub fn set_continuous(&mut self, continuous: bool) {
        self.continuous = continuous;
    }

    /// Replaces the broad phase. Touches and events go on as if nothing had happened.
    pub fn set_algorithm(&mut self, algorithm: Algorithm) {
        self.detector.set_algorithm(algorithm);
    }

    /// Measures boxes from a point of the world, from the next step on; (0, 0, 0) at first. Touches
    /// and events go on as if nothing had happened.
    ///
    /// Boxes are f32: a million units from their origin neighbouring numbers are 6 cm apart, and
    /// everything smaller overlaps its neighbours. Poses are f64 and the narrow phase subtracts
    /// them first, so an origin near the bodies makes boxes as exact as they are near zero: their
    /// bounds are computed from there in f64 and rounded outward once. [`WorldStats::coarse`]
    /// tells when that is needed. Poses, touches and points stay in the world's coordinates; the
    /// boxes of [`World::detector`] and [`World::queries`] are as seen from the origin.
    pub fn set_origin(&mut self, origin: impl Into<DVec3>) -> Result<(), Error> {
        let origin = Pose::at(origin)?.translation();
        self.bodies.set_frame(Frame { origin, ..*self.bodies.frame() });
        Ok(())
    }

    /// The point of the world that boxes are measured from.
    pub fn origin(&self) -> DVec3 {
        self.bodies.frame().origin
    }

    /// Makes the world two-dimensional, or three-dimensional again. In a flat world bodies are
    /// their shadows on the plane z = 0, wherever they are along z, and normals and points lie in
    /// that plane (see [`Options::flat`]). In a world that is not flat, bodies that merely stand in
    /// a plane may get normals along z, if that is the shortest way out.
    pub fn set_flat(&mut self, flat: bool) {
        if flat != self.bodies.frame().flat {
            self.bodies.set_frame(Frame { flat, ..*self.bodies.frame() });
            self.bodies.mark_all(self.detector.boxes());
        }
    }

    /// Sets how many pairs of boxes may overlap before [`World::step`] refuses.
    pub fn set_pair_limit(&mut self, limit: usize) {
        self.detector.set_pair_limit(limit);
    }
}

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

    fn check(&self, id: BodyId) -> Result<(), WorldError> {
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

/// Steps.
impl World {
    /// Finds what touches now, what began and what ended since the last step, all sorted by pair.
    /// On an error touches and events are as before: fix the cause and step again.
    pub fn step(&mut self) -> Result<Step<'_>, Error> {
        let start = Instant::now();
        let boxes = self.detector.boxes_mut();
        self.stats.coarse = self.bodies.renew_boxes(boxes, self.continuous, &self.workers);
        self.stats.boxes = start.elapsed();
        self.detector.step()?;
        self.stats.broad = start.elapsed() - self.stats.boxes;
        self.follow_pairs();
        self.run_narrow_phase();
        self.put_in_order();
        self.bodies.end_step(self.continuous);
        Ok(self.touches.step())
    }

    /// Ends the states of pairs of boxes that are gone and begins those of new ones.
    fn follow_pairs(&mut self) {
        let start = Instant::now();
        let (bodies, touches) = (&self.bodies, &mut self.touches);
        touches.begin();
        let (pairs, events) = (self.detector.pairs(), self.detector.events());
        let same = events.began.is_empty() && events.ended.is_empty();
        if same && pairs.len() == self.pairs.states.len() {
            self.pairs.stay();
        } else {
            let end = |pair| touches.end(bodies.pair(pair));
            self.pairs.follow(pairs, &bodies.shapes, end);
        }
        self.stats.merge = start.elapsed();
    }

    fn run_narrow_phase(&mut self) {
        let start = Instant::now();
        let moved = self.bodies.any_active() || self.pairs.any_fresh();
        let bodies = &self.bodies;
        // Where nothing has moved, not even a look at the pairs is needed.
        let states = if moved { &mut self.pairs.states[..] } else { &mut [] };
        let options = Options::default().with_flat(bodies.frame().flat);
        let test = PairTest { bodies, detail: self.detail, continuous: self.continuous, options };
        schedule::run(&self.workers, self.schedule, &test, states, &mut self.results);
        self.stats.narrow = start.elapsed();
        self.stats.workers.clear();
        self.stats.workers.extend(self.results.iter().map(|worker| worker.stats));
        self.stats.pairs = self.pairs.states.len();
        self.stats.tested = self.stats.workers.iter().map(|worker| worker.pairs).sum();
    }

    fn put_in_order(&mut self) {
        let start = Instant::now();
        self.touches.merge(&mut self.pairs.states, &self.results, &self.bodies);
        self.stats.merge += start.elapsed();
    }

    /// What touches and what began and ended, as the last step told.
    pub fn last_step(&self) -> Step<'_> {
        self.touches.step()
    }

    /// The contact points of a touch of the last step, if manifolds are asked for.
    pub fn points(&self, touch: &Touch) -> &[ManifoldPoint] {
        self.last_step().points(touch)
    }

    /// What the last step did.
    pub fn stats(&self) -> &WorldStats {
        &self.stats
    }

    /// Queries on the boxes of bodies: rays, regions, nearest ones, from any number of threads.
    /// [`BodyId::from`] names the bodies of the answers. Bodies are seen where the last step found
    /// them, those inserted since where they are; coordinates are as seen from
    /// [`World::origin`].
    pub fn queries(&self) -> Queries<'_> {
        self.detector.queries()
    }

    /// The boxes, their pairs and the broad phase.
    pub fn detector(&self) -> &Detector {
        &self.detector
    }
}
