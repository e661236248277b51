//! `jostle-mpi verify`: what all ranks find against what one process finds.

use std::path::PathBuf;

use clap::Args;
use jostle::{Aabb, Algorithm, BoxId, Detector, Filter};
use jostle_mpi::{
    Communicator, DistributedDetector, Fingerprint, GlobalId, GlobalPair, HistoryFinding,
    HistorySpec, Options, Ownership, Reduction, check_history,
};
use jostle_scenes::{FrameReader, SceneSpec};

use super::feed::{SceneFeed, SlicedFile};
use super::{Failure, say, workers};

const ABOUT: &str = "\
Rank 0 also runs one process with sort-sweep over all boxes and compares events and pairs of every
frame, so it needs the memory of one process. --histories plays random histories against a model
that looks at all pairs: boxes that come and go, teleports, filters, boxes without end, bad input
on one rank, restarts from snapshots passed around, and space cut again every step.";

/// Checks the pairs and events of all ranks against those of one process
#[derive(Args)]
#[command(after_help = ABOUT)]
pub(crate) struct VerifyArgs {
    /// Boxes: .npy of shape (n, 6) or (frames, n, 6), or .csv
    #[arg(value_name = "IN")]
    input: Option<PathBuf>,
    /// A scene instead of a file
    #[arg(long, value_name = "NAME", conflicts_with = "input")]
    scene: Vec<String>,
    /// Boxes of the scene
    #[arg(long, value_parser = jostle_scenes::parse_count, default_value = "10000")]
    n: usize,
    /// Frames of the scene
    #[arg(long, default_value = "5")]
    frames: usize,
    /// Seed of scenes and histories
    #[arg(long, default_value = "1")]
    seed: u64,
    /// Parameters of the scene, as density=0.35
    #[arg(long, value_name = "KEY=VALUE")]
    param: Vec<String>,
    /// Plays this many random histories
    #[arg(long, default_value = "0")]
    histories: u64,
    /// The algorithm of each rank's search, by name
    #[arg(long, value_parser = super::algorithm, default_value = "auto")]
    algorithm: Algorithm,
    /// Threads of each rank
    #[arg(long, default_value = "1")]
    threads: usize,
    /// Panics on a rank, to test that this ends the job
    #[arg(long, hide = true)]
    die_on_rank: Option<usize>,
}

pub(crate) fn run<C: Communicator>(args: &VerifyArgs, comm: &C) -> Result<(), Failure> {
    if args.input.is_none() && args.scene.is_empty() && args.histories == 0 {
        return Err(Failure::input("give a file, --scene NAME or --histories N"));
    }
    if args.die_on_rank == Some(comm.rank()) {
        panic!("asked to die");
    }
    if let Some(path) = &args.input {
        for ownership in [Ownership::Fixed, Ownership::Migrating] {
            verify_file(args, path, ownership, comm)?;
        }
    }
    for name in &args.scene {
        for ownership in [Ownership::Fixed, Ownership::Migrating] {
            verify_scene(args, name, ownership, comm)?;
        }
    }
    if args.histories > 0 {
        verify_histories(args, comm)?;
    }
    Ok(())
}

fn options(args: &VerifyArgs, ownership: Ownership) -> Result<Options, Failure> {
    let workers = workers(args.threads)?;
    Ok(Options { algorithm: args.algorithm, workers, ownership, ..Options::default() })
}

/// All boxes in one process, under the ids of the job.
struct Reference {
    detector: Detector,
    handles: std::collections::BTreeMap<GlobalId, BoxId>,
    ids: Vec<GlobalId>,
}

impl Reference {
    fn new() -> Reference {
        let detector = Detector::new(Algorithm::SortSweep);
        Reference { detector, handles: Default::default(), ids: Vec::new() }
    }

    fn insert(&mut self, id: GlobalId, aabb: Aabb, filter: Filter) -> Result<(), Failure> {
        let handle = self.detector.insert(aabb, filter).map_err(Failure::input)?;
        let slot = handle.index();
        self.ids.resize(self.ids.len().max(slot + 1), GlobalId(0));
        self.ids[slot] = id;
        self.handles.insert(id, handle);
        Ok(())
    }

    fn set(&mut self, id: GlobalId, aabb: Aabb) -> Result<(), Failure> {
        self.detector.set(self.handles[&id], aabb).map_err(Failure::input)
    }

    fn remove(&mut self, id: GlobalId) -> Result<(), Failure> {
        let handle = self.handles.remove(&id).expect("boxes go once");
        self.detector.remove(handle).map_err(Failure::input)
    }

    /// Began, ended and all pairs, each in order.
    fn step(&mut self) -> Result<[Vec<GlobalPair>; 3], Failure> {
        self.detector.step().map_err(Failure::input)?;
        let events = self.detector.events();
        Ok([events.began, events.ended, self.detector.pairs()].map(|pairs| {
            let name = |slot: usize| self.ids[slot];
            let pair = |pair: &jostle::Pair| {
                GlobalPair::new(name(pair.a().index()), name(pair.b().index()))
            };
            let mut pairs: Vec<GlobalPair> = pairs.iter().map(pair).collect();
            pairs.sort_unstable();
            pairs
        }))
    }
}

/// Compares a step of all ranks with one of one process, on rank 0; all ranks get the verdict.
fn compare<C: Communicator>(
    comm: &C,
    detector: &DistributedDetector<&C>,
    reference: Option<[Vec<GlobalPair>; 3]>,
    frame: usize,
) -> Result<u64, Failure> {
    let events = detector.gathered_events();
    let print = detector.pair_fingerprint();
    let difference = reference.and_then(|[began, ended, pairs]| {
        let words = |what: &str, got: usize, want: usize| {
            format!("frame {frame}: {what} differ: {got} here, {want} from one process")
        };
        if events.began != began {
            return Some(words("began events", events.began.len(), began.len()));
        }
        if events.ended != ended {
            return Some(words("ended events", events.ended.len(), ended.len()));
        }
        let whole = Fingerprint::of(pairs.iter().copied());
        (print != whole).then(|| words("pairs", print.count as usize, pairs.len()))
    });
    let mut wrong = [u64::from(difference.is_some())];
    comm.all_reduce(&mut wrong, Reduction::Sum);
    if wrong[0] > 0 {
        return Err(Failure::Check(difference.unwrap_or_default()));
    }
    Ok(print.count)
}

fn verify_file<C: Communicator>(
    args: &VerifyArgs,
    path: &PathBuf,
    ownership: Ownership,
    comm: &C,
) -> Result<(), Failure> {
    let mut file = SlicedFile::open(comm, path)?;
    let mut detector = DistributedDetector::new(comm, options(args, ownership)?);
    let mut whole = match comm.rank() {
        0 => Some((FrameReader::open(path).map_err(Failure::input)?, Reference::new())),
        _ => None,
    };
    let mut pairs = 0;
    // With boxes that migrate every rank needs every row.
    let mut all = Vec::new();
    let mut every = FrameReader::open(path).map_err(Failure::input)?;
    for frame in 0..file.frames {
        let boxes = file.next(comm)?;
        every.next_frame(&mut all).map_err(Failure::input)?;
        if frame == 0 || ownership == Ownership::Fixed {
            file.apply(frame, &boxes, &mut detector);
        } else {
            let bounds: Vec<Aabb> = detector.ids().iter().map(|id| all[id.0 as usize]).collect();
            detector.set_all(&bounds);
        }
        detector.step()?;
        let answer = match &mut whole {
            Some((reader, reference)) => Some(one_process(reader, reference, frame)?),
            None => None,
        };
        pairs += compare(comm, &detector, answer, frame)?;
    }
    let name = path.display();
    say(comm, format_args!("{name}: {ownership:?}, {} frames, {pairs} pairs: equal", file.frames));
    Ok(())
}

fn one_process(
    reader: &mut FrameReader,
    reference: &mut Reference,
    frame: usize,
) -> Result<[Vec<GlobalPair>; 3], Failure> {
    let mut boxes = Vec::new();
    reader.next_frame(&mut boxes).map_err(Failure::input)?;
    for (row, &aabb) in boxes.iter().enumerate() {
        let id = GlobalId(row as u64);
        if frame == 0 {
            reference.insert(id, aabb, Filter::ALL)?;
        } else {
            reference.set(id, aabb)?;
        }
    }
    reference.step()
}

fn verify_scene<C: Communicator>(
    args: &VerifyArgs,
    name: &str,
    ownership: Ownership,
    comm: &C,
) -> Result<(), Failure> {
    let mut spec = SceneSpec::new(name, args.n, args.seed);
    for param in &args.param {
        spec = spec.parse_param(param).map_err(Failure::input)?;
    }
    let mut feed = SceneFeed::new(&spec)?;
    let mut detector = DistributedDetector::new(comm, options(args, ownership)?);
    let mut reference = (comm.rank() == 0).then(Reference::new);
    let mut pairs = 0;
    for frame in 0..args.frames {
        feed.advance(frame == 0);
        feed.apply(&mut detector);
        detector.step()?;
        let answer = match &mut reference {
            Some(reference) => Some(follow(&feed, reference)?),
            None => None,
        };
        pairs += compare(comm, &detector, answer, frame)?;
    }
    let (n, frames) = (args.n, args.frames);
    say(
        comm,
        format_args!("{name}: {ownership:?}, {n} boxes, {frames} frames, {pairs} pairs: equal"),
    );
    Ok(())
}

fn follow(feed: &SceneFeed, reference: &mut Reference) -> Result<[Vec<GlobalPair>; 3], Failure> {
    for &id in &feed.removed {
        reference.remove(id)?;
    }
    for (slot, id) in feed.ids.iter().enumerate() {
        let (Some(id), aabb) = (*id, feed.scene().boxes()[slot]) else { continue };
        if reference.handles.contains_key(&id) {
            reference.set(id, aabb)?;
        } else {
            reference.insert(id, aabb, feed.filter(slot))?;
        }
    }
    reference.step()
}

fn verify_histories<C: Communicator>(args: &VerifyArgs, comm: &C) -> Result<(), Failure> {
    let mut sum = HistoryFinding::default();
    for history in 0..args.histories {
        let spec = HistorySpec {
            seed: args.seed.wrapping_add(history),
            steps: 12,
            boxes: 60,
            ownership: [Ownership::Migrating, Ownership::Fixed][history as usize % 2],
            cut_every_step: history % 4 > 1,
        };
        // A rank that sees a difference cannot tell the others, who are in the next collective;
        // its panic ends the job.
        let finding = check_history(comm, spec).unwrap_or_else(|difference| panic!("{difference}"));
        sum.events += finding.events;
        sum.refused += finding.refused;
        sum.migrated += finding.migrated;
        sum.cuts += finding.cuts;
        sum.restored += finding.restored;
    }
    say(
        comm,
        format_args!(
            "{} histories: {} events equal, {} bad steps refused, {} boxes migrated, {} cuts, {} \
             restarts",
            args.histories, sum.events, sum.refused, sum.migrated, sum.cuts, sum.restored
        ),
    );
    Ok(())
}
