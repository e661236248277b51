//! A step, stage by stage.

use super::id::BodyPair;
use super::pair_test::{Detail, PairTest, is_due};
use super::touch::{Step, Touch};
use super::{World, WorldStats, schedule};
use crate::clock::Instant;
use crate::detector::Detector;
use crate::error::Error;
use crate::narrow::{ManifoldPoint, Options};
use crate::queries::Queries;

/// Steps.
impl World {
    /// Finds what touches now, what began and what ended since the last step, all sorted by pair.
    /// On an error touches and events are as before: fix the cause and step again.
    pub fn step(&mut self) -> Result<Step<'_>, Error> {
        // Once for all stages: waking the workers for each costs more than some stages take.
        let workers = self.workers.clone();
        workers.enter(|| self.run_stages())?;
        Ok(self.last_step())
    }

    fn run_stages(&mut self) -> Result<(), Error> {
        let start = Instant::now();
        let boxes = self.detector.boxes_mut();
        self.stats.coarse = self.bodies.renew_boxes(boxes, self.continuous, &self.workers);
        self.stats.boxes = start.elapsed();
        self.detector.step()?;
        self.stats.broad = start.elapsed() - self.stats.boxes;
        let changed = self.follow_pairs();
        self.run_narrow_phase();
        self.put_in_order(changed);
        self.wake_touched();
        self.bodies.end_step(self.continuous, &self.workers);
        Ok(())
    }

    /// Ends the states of pairs of boxes that are gone and begins those of new ones. Returns true
    /// if there are any.
    fn follow_pairs(&mut self) -> bool {
        let start = Instant::now();
        let (bodies, lists) = (&self.bodies, &mut self.lists);
        lists.begin();
        let events = self.detector.events();
        let end = |pair| lists.end(bodies.pair(pair));
        self.pairs.follow(events, &bodies.shapes, &self.workers, end);
        self.stats.merge = start.elapsed();
        !events.began.is_empty() || !events.ended.is_empty()
    }

    fn run_narrow_phase(&mut self) {
        let start = Instant::now();
        let moved = self.bodies.any_active() || self.pairs.any_fresh();
        let bodies = &self.bodies;
        // Where nothing has moved, not even a look at the pairs is needed.
        let states = if moved { &mut self.pairs.states[..] } else { &mut [] };
        let frame = bodies.frame();
        let count = if frame.flat || frame.reach > 0.0 { 0 } else { states.len() };
        let due = states[..count].iter().filter(|state| is_due(bodies, state));
        let due = due.map(|state| (state.index, state.pair));
        self.stats.screened = self.screening.run(&bodies.shapes, &bodies.poses, due, count);
        self.stats.screen = start.elapsed();
        let test = PairTest {
            decisions: &self.screening.decisions,
            bodies,
            detail: self.detail,
            continuous: self.continuous,
            balls: !self.continuous && !frame.flat && self.detail != Detail::Boolean,
            options: Options::default().with_flat(frame.flat),
            reach: frame.reach,
            reuse: if frame.flat { 0.0 } else { self.reuse },
        };
        schedule::run(&self.workers, self.schedule, &test, states, &mut self.results);
        self.stats.narrow = start.elapsed() - self.stats.screen;
        self.stats.workers.clear();
        self.stats.workers.extend(self.results.iter().map(|worker| worker.stats));
        self.stats.pairs = self.pairs.states.len();
        self.stats.tested = self.stats.workers.iter().map(|worker| worker.pairs).sum();
        self.stats.reused = self.stats.workers.iter().map(|worker| worker.reused).sum();
    }

    /// `changed`: pairs of boxes came or went.
    fn put_in_order(&mut self, changed: bool) {
        let start = Instant::now();
        let changed = changed || self.results.iter().any(|worker| worker.changed);
        if changed || self.stats.tested > 0 {
            let points = self.detail.points().is_some();
            let (states, bodies) = (&mut self.pairs.states, &self.bodies);
            self.lists.merge(states, changed, bodies, points, &self.workers);
        }
        self.stats.merge += start.elapsed();
    }

    /// What touches and what began and ended, as the last step told.
    pub fn last_step(&self) -> Step<'_> {
        self.lists.step(&self.pairs.states)
    }

    /// The impulses at the contact points of a touch of the last step, for a solver to read and
    /// write: three numbers of its own for each point, zero at first. Later steps hand them on to
    /// the points with the same ids, as long as the pair touches or is near; then they are gone.
    /// Empty if no manifolds are asked for, or the touch is of another step and its pair is not
    /// here.
    ///
    /// ```
    /// use jostle::shape::{Pose, Shape};
    /// use jostle::world::Detail;
    /// use jostle::{Body, World};
    ///
    /// let mut world = World::default();
    /// world.set_detail(Detail::Manifold);
    /// let cube = Shape::cuboid([1.0, 1.0, 1.0].into())?;
    /// world.insert(Body::new(cube.clone(), Pose::IDENTITY))?;
    /// let high = world.insert(Body::new(cube, Pose::at([0.0, 1.9, 0.0])?))?;
    /// let touch = world.step()?.touches[0];
    /// world.impulses_mut(&touch)[2] = [5.0, 0.0, 0.0];
    /// world.set_pose(high, Pose::at([0.0, 1.89, 0.0])?)?;
    /// let step = world.step()?;
    /// assert_eq!(step.impulses(&step.touches[0])[2], [5.0, 0.0, 0.0]);
    /// # Ok::<(), jostle::Error>(())
    /// ```
    pub fn impulses_mut(&mut self, touch: &Touch) -> &mut [[f64; 3]] {
        let count = self.points(touch).len();
        if count == 0 {
            return &mut [];
        }
        let memory = self.pairs.states[touch.state as usize].memory();
        memory.impulses.resize(count, [0.0; 3]);
        &mut memory.impulses
    }

    /// Returns true if the last step found that two bodies touch.
    pub fn touches(&self, pair: BodyPair) -> bool {
        let step = self.last_step();
        step.touches.binary_search_by_key(&pair, |touch| touch.pair).is_ok()
            || step.overlaps.binary_search(&pair).is_ok()
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
    /// [`BodyId::from`](super::BodyId) names the bodies of the answers. Bodies are seen where the
    /// last step found them, those inserted since where they are; coordinates are as seen from
    /// [`World::origin`].
    pub fn queries(&self) -> Queries<'_> {
        self.detector.queries()
    }

    /// The boxes, their pairs and the broad phase.
    pub fn detector(&self) -> &Detector {
        &self.detector
    }
}
