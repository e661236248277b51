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
//! | `edit.rs`, `step.rs` | what users do with a world: change bodies, step |
//! | `bodies.rs`, `bounds.rs` | shapes and poses by slot, what changed, new boxes |
//! | `sweep.rs` | the motion of a body during a step |
//! | `pairs.rs`, `points.rs` | the states of pairs of boxes, and what pairs remember |
//! | `pair_test.rs`, `reuse.rs` | the narrow phase on one pair; when its last answer holds |
//! | `screen.rs` | what may decide pairs before it |
//! | `schedule.rs`, `results.rs` | which worker tests which pair, and what each needs for it |
//! | `merge.rs`, `touch.rs`, `stats.rs` | what comes out, in the order of pairs |
//! | `islands.rs`, `sleep.rs` | groups of bodies that touch; who sleeps, and what wakes them |
//! | `queries.rs`, `rays.rs` | questions about the shapes of a shared world |
//! | `aftermath.rs` | removing bodies while looking at a step |
//! | `snapshot.rs` | a world as data, and back (`serde`) |

mod aftermath;
mod bodies;
mod body;
mod bounds;
mod edit;
mod error;
mod id;
mod islands;
mod merge;
mod pair_test;
mod pairs;
mod points;
mod queries;
mod rays;
mod results;
mod reuse;
mod schedule;
mod screen;
mod sleep;
#[cfg(feature = "serde")]
mod snapshot;
mod stats;
mod step;
mod sweep;
mod touch;

pub use aftermath::Aftermath;
pub use body::Body;
pub use error::WorldError;
pub use id::{BodyId, BodyPair};
pub use islands::Islands;
pub use pair_test::Detail;
pub use queries::{BodyImpact, NearBody, ShapeQueries};
pub use rays::BodyHit;
pub use results::WorkerStats;
pub use schedule::Schedule;
pub use screen::{CloneScreen, Decision, Screen, Screened};
#[cfg(feature = "serde")]
pub use snapshot::WorldSnapshot;
pub use stats::WorldStats;
pub use touch::{Step, Touch};

use glam::DVec3;

use crate::broad::{Algorithm, BroadPhase};
use crate::detector::Detector;
use crate::error::Error;
use crate::par::Workers;
use crate::shape::{Pose, ShapeError};
use bodies::Bodies;
use bounds::Frame;
use merge::Lists;
use pairs::PairStates;
use results::WorkerResults;
use screen::Screening;

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
    lists: Lists,
    results: Vec<WorkerResults>,
    screening: Screening,
    detail: Detail,
    schedule: Schedule,
    continuous: bool,
    reuse: f64,
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
            lists: Lists::default(),
            results: Vec::new(),
            screening: Screening::default(),
            detail: Detail::default(),
            schedule: Schedule::default(),
            continuous: false,
            reuse: World::REUSE,
            stats: WorldStats::default(),
        }
    }

    /// What is found out about a pair that touches. All pairs are asked again in the next step.
    pub fn set_detail(&mut self, detail: Detail) {
        if std::mem::replace(&mut self.detail, detail) != detail {
            self.bodies.mark_all(self.detector.boxes());
        }
    }

    /// What is found out about a pair that touches.
    pub fn detail(&self) -> Detail {
        self.detail
    }

    /// How much pairs may move and keep their answer, at first: a hundred-thousandth of their size.
    pub const REUSE: f64 = 1e-5;

    /// Bodies at rest tremble. While no point of one body has moved by more than this share of the
    /// pair's size (the sum of the bounding radii) as seen from the other since the answer was
    /// found, the answer is used again, carried along with the bodies: depths and distances are
    /// right to within that motion. Which pairs touch is exact all the same, and so are events: an
    /// answer that the motion could turn is never used again. At first [`World::REUSE`]; 0 asks
    /// about every pair that moved at all.
    ///
    /// # Panics
    ///
    /// If the share is negative, or not a number.
    pub fn set_reuse(&mut self, share: f64) {
        assert!(share >= 0.0, "the share of the size is {share}; it must be 0 or more");
        self.reuse = share;
    }

    /// Lists pairs up to this far apart in [`Step::near`]: with distance, normal and nearest
    /// points, and with the contact points at which they will touch if manifolds are asked for.
    /// A robot hears of everything under 5 cm, a solver of contacts before they happen. 0 at
    /// first; touches and events are of pairs that touch, whatever the reach.
    ///
    /// ```
    /// use jostle::shape::{Pose, Shape};
    /// use jostle::{Body, World};
    ///
    /// let mut world = World::default();
    /// world.set_reach(0.05)?;
    /// let ball = |x: f64| Ok::<_, jostle::Error>(
    ///     Body::new(Shape::sphere(1.0)?, Pose::at([x, 0.0, 0.0])?));
    /// world.insert_all(vec![ball(0.0)?, ball(2.03)?, ball(4.1)?])?;
    /// let step = world.step()?;
    /// assert!(step.touches.is_empty() && step.near.len() == 1);
    /// assert!((step.near[0].contact.distance - 0.03).abs() < 1e-12);
    /// # Ok::<(), jostle::Error>(())
    /// ```
    pub fn set_reach(&mut self, reach: f64) -> Result<(), Error> {
        if !(0.0..=crate::shape::LIMIT).contains(&reach) {
            return Err(ShapeError::Size { field: "reach", value: reach }.into());
        }
        if reach != self.bodies.frame().reach {
            self.bodies.set_frame(Frame { reach, ..*self.bodies.frame() });
            self.bodies.mark_all(self.detector.boxes());
        }
        Ok(())
    }

    /// How far apart pairs may be and be listed in [`Step::near`].
    pub fn reach(&self) -> f64 {
        self.bodies.frame().reach
    }

    /// How pairs are scheduled on workers. The answers do not depend on it.
    pub fn set_schedule(&mut self, schedule: Schedule) {
        self.schedule = schedule;
    }

    /// In continuous mode bodies touch what they meet on their way; otherwise only what they touch
    /// where they are after it. Single bodies can have it on their own:
    /// [`World::set_body_continuous`].
    pub fn set_continuous(&mut self, continuous: bool) {
        self.continuous = continuous;
    }

    /// Replaces the broad phase. Touches and events go on as if nothing had happened.
    pub fn set_algorithm(&mut self, algorithm: Algorithm) {
        self.detector.set_algorithm(algorithm);
    }

    /// Replaces the broad phase by one of the caller's, such as one on a GPU. Touches and events go
    /// on as if nothing had happened.
    pub fn set_broad_phase(&mut self, broad: Box<dyn BroadPhase>) {
        self.detector.set_broad_phase(broad);
    }

    /// Lets a screen, such as one on a GPU, decide pairs before the narrow phase, or takes it away.
    /// Touches and events do not depend on it; [`WorldStats::screened`] tells what it did. A flat
    /// world and one with a [reach](World::set_reach) ask none.
    pub fn set_screen(&mut self, screen: Option<Box<dyn Screen>>) {
        self.screening.screen = screen;
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
    /// that plane (see [`Options::flat`](crate::narrow::Options::flat)). In a world that is not
    /// flat, bodies that merely stand in a plane may get normals along z, if that is the shortest
    /// way out.
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
