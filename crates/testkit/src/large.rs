//! Worlds larger than every threshold in the library, so that no code is left out because there
//! are few boxes. The other parts of the suite stay small, because their model compares all boxes
//! with all; here a plain sweep along one axis is the truth.
//!
//! The thresholds, and what passes them ([`COUNT`] boxes, and more pairs than that):
//!
//! | where | threshold |
//! |---|---|
//! | `bidim-sap`: a strip that all workers sweep | 131 072 entries in one strip (`plates`) |
//! | sorted endpoints: radix sort | 65 536 endpoints |
//! | persistent algorithms: the cost model's cache | 32 768 boxes |
//! | `grid-sweep`: a second share; `bidim-sap`: a second chunk | 16 384 boxes |
//! | the tracker: a task for each worker, up to eight | 8 192 pairs a task, 4 tasks a worker |
//! | `bvh`: a second task | 8 192 boxes |
//! | radix sort: a second chunk; persistent algorithms: `FEW` | 4 096 |
//! | `segmented-sap`, `simd-sap`: small and few; groups; trees | 2 048 and less |

use jostle::{Aabb, BoxId, Detector, Filter, Pair, Workers};
use jostle_scenes::Rng;

use crate::Build;
use crate::replay::{Failure, compare};
use crate::suite::THREADS;

/// Number of boxes.
pub const COUNT: usize = 140_000;

/// A world: its name, the boxes at first, and the range in which they move.
struct World {
    name: &'static str,
    start: fn(&mut Rng) -> Aabb,
    range: f32,
}

const WORLDS: [World; 2] = [
    World { name: "a crowd", start: in_a_crowd, range: 0.4 },
    World { name: "plates", start: plate, range: 0.002 },
];

/// A cube of side 1 in a long hall that is filled by a third: long, so that a sweep is quick.
fn in_a_crowd(rng: &mut Rng) -> Aabb {
    let at = [700.0, 24.0, 24.0].map(|side| rng.unit() * side);
    Aabb::new(at, at.map(|low| low + 1.0))
}

/// Thin plates that differ along one axis only.
fn plate(rng: &mut Rng) -> Aabb {
    let low = rng.unit() * 1000.0;
    Aabb::new([low, 0.0, 0.0], [low + 0.01, 10.0 + rng.unit(), 10.0 + rng.unit()])
}

/// Compares a broad phase with the plain sweep in every world, for every number of threads:
/// everything is new, all move, few move, some are replaced, some get a filter, nothing happens.
pub fn run(build: Build<'_>) -> Result<(), Failure> {
    for world in &WORLDS {
        let truth = history(world);
        for threads in THREADS {
            follow(build, threads, world, &truth)
                .map_err(|failure| format!("{} on {threads} threads: {failure}", world.name))?;
        }
    }
    Ok(())
}

/// Runs the history of a world on its own and lists the pairs after each step.
fn history(world: &World) -> Vec<Vec<Pair>> {
    let mut truth = Vec::new();
    let workers = Workers::one();
    // The detector only keeps the boxes here; it never steps.
    let algorithm = jostle::Algorithm::BruteForce;
    let mut detector = Detector::with_workers(algorithm, workers);
    let mut state = State::default();
    for step in 0..STEPS {
        state.change(world, step, &mut detector);
        truth.push(sweep(&state.live));
        // Frees the slots of removed boxes, as a step does.
        detector.boxes_mut().commit();
    }
    truth
}

const STEPS: usize = 8;

fn follow(
    build: Build<'_>,
    threads: usize,
    world: &World,
    truth: &[Vec<Pair>],
) -> Result<(), Failure> {
    let workers = Workers::new(threads).map_err(|error| error.to_string())?;
    let mut detector = Detector::with_broad_phase(build(&workers), workers);
    let mut state = State::default();
    let mut before: &[Pair] = &[];
    for (step, now) in truth.iter().enumerate() {
        state.change(world, step, &mut detector);
        let events = detector.step().map_err(|error| format!("step {step}: {error}"))?;
        let missing_in = |one: &[Pair], other: &[Pair]| -> Vec<Pair> {
            one.iter().filter(|pair| other.binary_search(pair).is_err()).copied().collect()
        };
        compare("began", events.began, &missing_in(now, before))
            .and_then(|()| compare("ended", events.ended, &missing_in(before, now)))
            .and_then(|()| compare("pairs", detector.pairs(), now))
            .map_err(|failure| format!("step {step}: {failure}"))?;
        before = now;
    }
    Ok(())
}

/// The boxes as the history knows them.
struct State {
    live: Vec<(BoxId, Aabb, Filter)>,
    rng: Rng,
}

impl Default for State {
    fn default() -> State {
        State { live: Vec::new(), rng: Rng::new(11) }
    }
}

impl State {
    fn change(&mut self, world: &World, step: usize, detector: &mut Detector) {
        let boxes = detector.boxes_mut();
        match step {
            0 => self.insert(world, COUNT, detector),
            1 | 6 => {
                (0..self.live.len()).for_each(|place| self.jitter(world, place));
                let aabbs: Vec<Aabb> = self.live.iter().map(|(_, aabb, _)| *aabb).collect();
                boxes.set_all(&aabbs).expect("valid boxes");
            }
            2 => self.move_some(world, 100, detector),
            3 => self.move_some(world, 7, detector),
            4 => {
                let gone: Vec<BoxId> = self.live.drain(..COUNT / 20).map(|(id, ..)| id).collect();
                boxes.remove_all(&gone).expect("they are there");
                self.insert(world, COUNT / 20, detector);
            }
            5 => {
                let filters = [Filter::STILL, Filter::groups(1, 2), Filter::ALL.with_owner(3)];
                for place in (0..self.live.len()).step_by(5) {
                    let filter = filters[place / 5 % 3];
                    self.live[place].2 = filter;
                    boxes.set_filter(self.live[place].0, filter).expect("it is there");
                }
            }
            _ => {}
        }
        // `set_all` and the truth follow the order of slots.
        self.live.sort_unstable_by_key(|(id, ..)| id.slot());
    }

    fn insert(&mut self, world: &World, count: usize, detector: &mut Detector) {
        let aabbs: Vec<Aabb> = (0..count).map(|_| (world.start)(&mut self.rng)).collect();
        let ids = detector.boxes_mut().insert_all(&aabbs, Filter::ALL).expect("valid boxes");
        self.live.extend(ids.into_iter().zip(aabbs).map(|(id, aabb)| (id, aabb, Filter::ALL)));
    }

    fn jitter(&mut self, world: &World, place: usize) {
        let by: [f32; 3] = std::array::from_fn(|_| (self.rng.unit() - 0.5) * world.range);
        let aabb = &mut self.live[place].1;
        for axis in 0..3 {
            aabb.min[axis] += by[axis];
            aabb.max[axis] += by[axis];
        }
    }

    fn move_some(&mut self, world: &World, one_in: usize, detector: &mut Detector) {
        for place in (0..self.live.len()).step_by(one_in) {
            self.jitter(world, place);
            let (id, aabb, _) = self.live[place];
            detector.set(id, aabb).expect("it is there");
        }
    }
}

/// Every overlapping pair, ascending: boxes sorted along x, each compared with those that begin
/// before it ends. Written out again on purpose: the truth must not share the library's mistakes.
fn sweep(live: &[(BoxId, Aabb, Filter)]) -> Vec<Pair> {
    let mut order: Vec<usize> = (0..live.len()).collect();
    order.sort_by(|&a, &b| live[a].1.min[0].total_cmp(&live[b].1.min[0]));
    let mut pairs = Vec::new();
    for (rank, &one) in order.iter().enumerate() {
        let (id, aabb, filter) = &live[one];
        for &other in &order[rank + 1..] {
            let (other_id, other, other_filter) = &live[other];
            if other.min[0] > aabb.max[0] {
                break;
            }
            let meet = |axis: usize| {
                aabb.min[axis] <= other.max[axis] && other.min[axis] <= aabb.max[axis]
            };
            let apart = (filter.still && other_filter.still)
                || (filter.owner != 0 && filter.owner == other_filter.owner)
                || filter.membership & other_filter.mask == 0
                || other_filter.membership & filter.mask == 0;
            if meet(1) && meet(2) && !apart {
                pairs.push(Pair::new(*id, *other_id));
            }
        }
    }
    pairs.sort_unstable();
    pairs
}
