//! Random histories of a whole job, checked step by step against one process.
//!
//! Every rank draws the same history from the same seed and keeps a model of all boxes: a map and
//! a loop over all pairs, sharing nothing with the detector. Each rank then does its own part:
//! inserts what falls to it, changes what it owns. After every step all ranks compare events,
//! pairs, counts and hashes with the model.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Cursor;

use jostle::{Aabb, Algorithm, Filter, Workers};
use jostle_scenes::Rng;

use crate::comm::Communicator;
use crate::detector::DistributedDetector;
use crate::error::Error;
use crate::id::{GlobalId, GlobalPair};
use crate::options::{Options, Ownership};
use crate::output::Fingerprint;

/// A kind of history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistorySpec {
    /// The seed of everything random.
    pub seed: u64,
    /// Number of steps.
    pub steps: usize,
    /// About how many boxes there are.
    pub boxes: usize,
    /// Who may change a box.
    pub ownership: Ownership,
    /// Cuts space again in every step.
    pub cut_every_step: bool,
}

/// What a history showed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HistoryFinding {
    /// Events of all steps, equal to the model's.
    pub events: u64,
    /// Steps that were refused on all ranks alike, as they should be.
    pub refused: u64,
    /// Boxes that changed their owner.
    pub migrated: u64,
    /// Steps in which space was cut.
    pub cuts: u64,
    /// Snapshots of all ranks that were restored.
    pub restored: u64,
}

/// The whole job's boxes, too simple to be wrong.
#[derive(Clone, Default)]
struct Model {
    boxes: BTreeMap<u64, (Aabb, Filter)>,
}

impl Model {
    fn pairs(&self) -> BTreeSet<GlobalPair> {
        let list: Vec<_> = self.boxes.iter().collect();
        let mut pairs = BTreeSet::new();
        for (place, (a, (a_box, a_filter))) in list.iter().enumerate() {
            for (b, (b_box, b_filter)) in &list[place + 1..] {
                let apart =
                    (0..3).any(|k| a_box.max[k] < b_box.min[k] || b_box.max[k] < a_box.min[k]);
                if !apart && may_pair(a_filter, b_filter) {
                    pairs.insert(GlobalPair::from((**a, **b)));
                }
            }
        }
        pairs
    }
}

/// Written out again on purpose: the model must not share the library's mistakes.
fn may_pair(a: &Filter, b: &Filter) -> bool {
    let one_body = a.owner != Filter::NOBODY && a.owner == b.owner;
    !(a.still && b.still || one_body) && a.membership & b.mask != 0 && b.membership & a.mask != 0
}

/// Something that happens to the job between two steps.
#[derive(Clone, Copy, Debug)]
enum Op {
    Insert { id: u64, aabb: Aabb, filter: Filter, on: usize },
    Set { id: u64, aabb: Aabb },
    Refilter { id: u64, filter: Filter },
    Remove { id: u64 },
}

fn coordinate(rng: &mut Rng) -> f32 {
    match rng.below(40) {
        0 => f32::INFINITY,
        1 => f32::NEG_INFINITY,
        2 => 1e30,
        3 => -0.0,
        4..18 => rng.below(13) as f32 - 6.0,
        _ => rng.between(-6.0, 6.0),
    }
}

fn any_box(rng: &mut Rng) -> Aabb {
    let p: [f32; 3] = std::array::from_fn(|_| coordinate(rng));
    let q: [f32; 3] = match rng.below(20) {
        0 => p,
        1 => std::array::from_fn(|_| coordinate(rng)),
        _ => p.map(|x| x + 3.5 * rng.unit()),
    };
    Aabb {
        min: std::array::from_fn(|k| p[k].min(q[k])),
        max: std::array::from_fn(|k| p[k].max(q[k])),
    }
}

fn any_filter(rng: &mut Rng) -> Filter {
    match rng.below(16) {
        0 => Filter::STILL,
        1 => Filter::groups(1, 2),
        2 => Filter::groups(2, 1),
        3 => Filter::ALL.with_owner(1),
        4 => Filter::ALL.with_owner(2),
        5 => Filter::groups(1, 0),
        _ => Filter::ALL,
    }
}

/// Draws what happens before the next step; each box is named once.
fn draw(rng: &mut Rng, model: &Model, spec: &HistorySpec, ranks: usize, next: &mut u64) -> Vec<Op> {
    let mut ops = Vec::new();
    let rush = rng.below(12) == 0;
    for (&id, (aabb, _)) in &model.boxes {
        ops.push(match rng.below(20) {
            0..9 => {
                let by: [f32; 3] = std::array::from_fn(|_| rng.between(-0.7, 0.7));
                let shift = |corner: [f32; 3]| std::array::from_fn(|k| corner[k] + by[k]);
                let aabb = Aabb::new(shift(aabb.min), shift(aabb.max));
                if aabb.check().is_err() {
                    continue;
                }
                Op::Set { id, aabb }
            }
            9 => Op::Set { id, aabb: any_box(rng) },
            10 => Op::Refilter { id, filter: any_filter(rng) },
            11 => Op::Remove { id },
            _ if rush => Op::Remove { id },
            _ => continue,
        });
    }
    let missing = spec.boxes.saturating_sub(model.boxes.len());
    let crowded = rng.below(ranks);
    for _ in 0..missing.min(1 + rng.below(spec.boxes)) {
        *next += 1 + rng.below(3) as u64;
        // Some ids need more than 32 bits. Half of the time one rank inserts everything.
        let id = if next.is_multiple_of(5) { *next << 34 } else { *next };
        let on = if rush { crowded } else { rng.below(ranks) };
        ops.push(Op::Insert { id, aabb: any_box(rng), filter: any_filter(rng), on });
    }
    ops
}

/// The whole state of a run on one rank.
struct Run<'a, C> {
    comm: &'a C,
    spec: HistorySpec,
    detector: DistributedDetector<&'a C>,
    model: Model,
    pairs: BTreeSet<GlobalPair>,
    finding: HistoryFinding,
}

/// Plays a history and compares every step with the model. Collective: all ranks give the same
/// specification, and all get the same finding. The error says what differed, on which rank.
pub fn check_history<C: Communicator>(
    comm: &C,
    spec: HistorySpec,
) -> Result<HistoryFinding, String> {
    let mut rng = Rng::new(spec.seed);
    let mut run = Run {
        comm,
        spec,
        detector: DistributedDetector::new(comm, options(comm.rank(), &spec)),
        model: Model::default(),
        pairs: BTreeSet::new(),
        finding: HistoryFinding::default(),
    };
    let mut next = 0;
    for step in 0..spec.steps {
        if rng.below(6) == 0 {
            run.refused_step(&mut rng).map_err(|text| format!("step {step}: {text}"))?;
        }
        if rng.below(8) == 0 {
            run.restart(rng.below(comm.size())).map_err(|text| format!("step {step}: {text}"))?;
        }
        let ops = draw(&mut rng, &run.model, &spec, comm.size(), &mut next);
        let done = run.apply(&ops).and_then(|()| run.step());
        done.map_err(|text| format!("rank {}, step {step}, {spec:?}: {text}", comm.rank()))?;
    }
    Ok(run.finding)
}

/// Every rank has an algorithm and a number of threads of its own.
fn options(rank: usize, spec: &HistorySpec) -> Options {
    let choice = rank + spec.seed as usize;
    Options {
        algorithm: Algorithm::ALL[choice % Algorithm::ALL.len()],
        workers: Workers::new(1 + choice % 2).expect("two threads"),
        ownership: spec.ownership,
        // Small jobs have boxes that go to everyone, too.
        replicate_above: 1 + choice_of_all(spec),
        ..Options::default()
    }
}

/// The same on all ranks.
fn choice_of_all(spec: &HistorySpec) -> usize {
    (spec.seed % 4) as usize
}

impl<C: Communicator> Run<'_, C> {
    fn apply(&mut self, ops: &[Op]) -> Result<(), String> {
        let mut owners = 0u64;
        for op in ops {
            match *op {
                Op::Insert { id, aabb, filter, on } => {
                    self.model.boxes.insert(id, (aabb, filter));
                    if on == self.comm.rank() {
                        self.detector.insert(&[GlobalId(id)], &[aabb], &[filter]);
                    }
                }
                Op::Set { id, aabb } => {
                    self.model.boxes.get_mut(&id).expect("drawn from the model").0 = aabb;
                    if self.detector.owns(GlobalId(id)) {
                        owners += 1;
                        self.detector.set(&[GlobalId(id)], &[aabb]);
                    }
                }
                Op::Refilter { id, filter } => {
                    self.model.boxes.get_mut(&id).expect("drawn from the model").1 = filter;
                    if self.detector.owns(GlobalId(id)) {
                        owners += 1;
                        self.detector.set_filters(&[GlobalId(id)], &[filter]);
                    }
                }
                Op::Remove { id } => {
                    self.model.boxes.remove(&id);
                    if self.detector.owns(GlobalId(id)) {
                        owners += 1;
                        self.detector.remove(&[GlobalId(id)]);
                    }
                }
            }
        }
        let named = ops.iter().filter(|op| !matches!(op, Op::Insert { .. })).count() as u64;
        let mut total = [owners];
        self.comm.all_reduce(&mut total, crate::Reduction::Sum);
        let wrong = || format!("{named} boxes changed, but {} have owners", total[0]);
        if total[0] == named { Ok(()) } else { Err(wrong()) }
    }

    fn step(&mut self) -> Result<(), String> {
        if self.spec.cut_every_step {
            self.detector.request_cut();
        }
        self.detector.step().map_err(|error| error.to_string())?;
        let now = self.model.pairs();
        let began: Vec<GlobalPair> = now.difference(&self.pairs).copied().collect();
        let ended: Vec<GlobalPair> = self.pairs.difference(&now).copied().collect();
        let got = self.detector.gathered_events();
        compare("began", &got.began, &began)?;
        compare("ended", &got.ended, &ended)?;
        self.pairs = now;
        self.compare_pairs()?;
        self.compare_owned(&began, &ended)?;
        self.finding.events += (began.len() + ended.len()) as u64;
        self.finding.cuts += u64::from(self.detector.report().cut);
        let mut migrated = [self.detector.arrived().len() as u64];
        self.comm.all_reduce(&mut migrated, crate::Reduction::Sum);
        self.finding.migrated += migrated[0];
        Ok(())
    }

    /// Every pair of the job, once, on one rank, in order.
    fn compare_pairs(&self) -> Result<(), String> {
        let all: Vec<GlobalPair> = self.pairs.iter().copied().collect();
        let sorted = self.detector.sorted_pairs();
        let before = sorted.before() as usize;
        let stretch = all.get(before..before + sorted.mine().len()).unwrap_or_default();
        compare("pairs in order", sorted.mine(), stretch)?;
        let whole = Fingerprint::of(all.iter().copied());
        let count = self.detector.pair_count();
        if (count, sorted.total()) != (whole.count, whole.count) {
            return Err(format!("{count} pairs instead of {}", whole.count));
        }
        if self.detector.pair_fingerprint() != whole {
            return Err("the fingerprint of the pairs differs".into());
        }
        Ok(())
    }

    /// Events of the boxes that this rank owns now, or owned until they were removed.
    fn compare_owned(&self, began: &[GlobalPair], ended: &[GlobalPair]) -> Result<(), String> {
        let got = self.detector.events_of_owned_boxes();
        let mine = |id: GlobalId| self.detector.owns(id);
        let living = |id: GlobalId| self.model.boxes.contains_key(&id.0);
        let of_mine = |pair: &&GlobalPair| mine(pair.a()) || mine(pair.b());
        let expected: Vec<GlobalPair> = began.iter().filter(of_mine).copied().collect();
        compare("began with a box of this rank", &got.began, &expected)?;
        // A removed box has no owner any more that could be asked here.
        let both_live = |pair: &&GlobalPair| living(pair.a()) && living(pair.b());
        let expected: Vec<GlobalPair> =
            ended.iter().filter(both_live).filter(of_mine).copied().collect();
        let got: Vec<GlobalPair> = got.ended.iter().filter(both_live).copied().collect();
        compare("ended with a box of this rank", &got, &expected)
    }

    /// A step with something wrong in it on one rank: all refuse it with the same words, and
    /// nothing has changed.
    fn refused_step(&mut self, rng: &mut Rng) -> Result<(), String> {
        let (guilty, kind) = (rng.below(self.comm.size()), rng.below(5));
        let good = any_box(rng);
        // The others do something sensible, which must not survive.
        self.detector.insert_new(&[good, good], &[Filter::ALL]);
        let ids = self.detector.ids().to_vec();
        if let Some(&id) = ids.first() {
            self.detector.set(&[id], &[good]);
        }
        if let Some(&id) = ids.last() {
            self.detector.remove(&[id]);
        }
        let bad = Aabb::new([0.0, f32::NAN, 0.0], [1.0; 3]);
        let taken = self.model.boxes.keys().nth(self.model.boxes.len() / 2).copied();
        if guilty == self.comm.rank() {
            match (kind, taken) {
                (0, Some(id)) if !self.detector.owns(GlobalId(id)) => {
                    self.detector.insert(&[GlobalId(id)], &[good], &[Filter::ALL]);
                }
                (1, _) => self.detector.set(&[GlobalId(u64::MAX)], &[good]),
                (2, _) => self.detector.insert(&[GlobalId(1 << 63)], &[good], &[Filter::ALL]),
                (3, _) => self.detector.set_all(&vec![good; ids.len() + 7]),
                _ => drop(self.detector.insert_new(&[good, bad], &[Filter::ALL])),
            }
        }
        let error = match self.detector.step() {
            Ok(_) => return Err(format!("kind {kind} on rank {guilty} was accepted")),
            Err(error) => error,
        };
        let said = self.comm.all_gather(error.to_string().as_bytes());
        if said.iter().any(|other| *other != said[0]) {
            return Err(format!("ranks disagree about {error}"));
        }
        let named = match &error {
            Error::Box { rank, row, fault } => {
                *rank == guilty && *row == 1 && fault.axis() == jostle::Axis::Y
            }
            Error::Taken { rank, .. } | Error::NotOwned { rank, .. } => *rank == guilty,
            Error::Reserved { rank, .. } | Error::Length { rank, .. } => *rank == guilty,
            _ => false,
        };
        self.finding.refused += 1;
        if !named {
            return Err(format!("kind {kind} on rank {guilty} gave: {error}"));
        }
        self.compare_pairs()
    }

    /// All ranks write snapshots, pass them on, and continue from them.
    fn restart(&mut self, shift: usize) -> Result<(), String> {
        let mut bytes = Vec::new();
        self.detector.write_snapshot(&mut bytes).map_err(|error| error.to_string())?;
        let size = self.comm.size();
        let to = (self.comm.rank() + shift) % size;
        let got = self.comm.exchange(vec![(to, bytes)]);
        let snapshots = got.into_iter().map(|(_, bytes)| Cursor::new(bytes));
        let options = options(self.comm.rank() + 1, &self.spec);
        self.detector = DistributedDetector::restore(self.comm, options, snapshots)
            .map_err(|error| error.to_string())?;
        self.finding.restored += 1;
        let silent = self.detector.gathered_events();
        if silent != Default::default() {
            return Err(format!("a restart is no event: {silent:?}"));
        }
        self.compare_pairs()
    }
}

fn compare(what: &str, got: &[GlobalPair], expected: &[GlobalPair]) -> Result<(), String> {
    if got == expected {
        return Ok(());
    }
    let missing: Vec<_> = expected.iter().filter(|pair| !got.contains(pair)).take(5).collect();
    let extra: Vec<_> = got.iter().filter(|pair| !expected.contains(pair)).take(5).collect();
    let counts = (got.len(), expected.len());
    Err(format!(
        "{what}: {} instead of {}, missing {missing:?}, too many {extra:?}",
        counts.0, counts.1
    ))
}
