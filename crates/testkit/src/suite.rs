//! The suite itself. [`run`] is all of it; the parts can be run alone.

use jostle::{Aabb, Detector, Error, Filter, Workers};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::Build;
use crate::degenerate;
use crate::history;
use crate::replay::{Failure, Op, Replay};
use crate::script::Script;

/// The numbers of threads with which everything must give the same bytes.
pub const THREADS: [usize; 4] = [1, 2, 3, 8];

/// The share of all pairs that overlap in the random histories; outside, they test nothing.
pub const HIT_BAND: std::ops::Range<f64> = 0.02..0.6;

/// Runs every part.
pub fn run(build: Build<'_>) -> Result<(), Failure> {
    scripts(build)?;
    degenerate_cases(build)?;
    histories(build, 64, 7)?;
    extreme_histories(build, 32, 7)?;
    limits(build)?;
    limit_rule(build, 16, 7)?;
    exclusions(build)?;
    filters_cost_nothing(build)
}

/// The step scripts of `testdata/scripts`.
pub fn scripts(build: Build<'_>) -> Result<(), Failure> {
    let scripts = Script::all();
    if scripts.is_empty() {
        return Err("testdata/scripts holds no script".into());
    }
    for script in scripts {
        for threads in THREADS {
            script.run(build, threads).map_err(|failure| on(threads, failure))?;
        }
    }
    Ok(())
}

fn on(threads: usize, failure: Failure) -> Failure {
    format!("with {threads} threads: {failure}")
}

/// The degenerate inputs, as moving worlds, with some boxes taken out and put back.
pub fn degenerate_cases(build: Build<'_>) -> Result<(), Failure> {
    for case in degenerate::cases() {
        for threads in THREADS {
            play(build, threads, &case.frames)
                .map_err(|failure| on(threads, format!("{}: {failure}", case.name)))?;
        }
    }
    Ok(())
}

fn play(build: Build<'_>, threads: usize, frames: &[Vec<Aabb>]) -> Result<(), Failure> {
    let mut replay = Replay::new(build, threads);
    for &aabb in &frames[0] {
        replay.insert(aabb, Filter::ALL)?;
    }
    for (number, frame) in frames.iter().enumerate() {
        replay
            .set_all(frame)
            .and_then(|()| replay.step())
            .map_err(|f| format!("frame {number}: {f}"))?;
    }
    replay.step().map_err(|failure| format!("nothing changed: {failure}"))?;
    let third: Vec<Op> = (0..frames[0].len()).step_by(3).map(|k| Op::Remove(k - k / 3)).collect();
    replay.run(&third).map_err(|failure| format!("a third removed: {failure}"))?;
    let back: Vec<Op> =
        frames[0].iter().step_by(3).map(|&aabb| Op::Insert(aabb, Filter::ALL)).collect();
    replay.run(&back).map_err(|failure| format!("put back: {failure}"))?;
    replay.run(&[Op::RemoveAll]).map_err(|failure| format!("all removed: {failure}"))
}

/// Random histories: `count` of them from a seed. A failure shows the shrunk history.
pub fn histories(build: Build<'_>, count: u32, seed: u64) -> Result<(), Failure> {
    let hits = random(build, count, seed, &history::histories(80), |replay, ops| replay.run(ops))?;
    let share = hits.0 as f64 / hits.1.max(1) as f64;
    if HIT_BAND.contains(&share) {
        return Ok(());
    }
    Err(format!("{share:.3} of all pairs overlap in the histories, outside {HIT_BAND:?}"))
}

/// Random histories of worlds far away, tiny and vast, and of several of them at once.
pub fn extreme_histories(build: Build<'_>, count: u32, seed: u64) -> Result<(), Failure> {
    let hits =
        random(build, count, seed, &history::extreme_histories(80), |replay, ops| replay.run(ops))?;
    if hits.0 > u64::from(count) { Ok(()) } else { Err("few pairs overlap anywhere".into()) }
}

/// Random histories in which every step is tried with the limit on pairs just below and just at
/// the number of pairs; see [`Replay::step_at_the_limit`].
pub fn limit_rule(build: Build<'_>, count: u32, seed: u64) -> Result<(), Failure> {
    let at_the_limit = |replay: &mut Replay<'_>, ops: &[Op]| {
        ops.iter().try_for_each(|op| match op {
            Op::Step => replay.step_at_the_limit(),
            other => replay.apply(other),
        })?;
        replay.step_at_the_limit()
    };
    random(build, count, seed, &history::histories(60), at_the_limit)?;
    crowds_at_the_limit(build)
}

/// Few of many boxes change, so that algorithms which follow changes do: pairs that end do not
/// count, pairs that were there before do.
fn crowds_at_the_limit(build: Build<'_>) -> Result<(), Failure> {
    const CROWD: usize = 40;
    const PAIRS: usize = CROWD * (CROWD - 1) / 2;
    let apart = |k: usize| Aabb::point([3.0 * k as f32, 50.0, (k % 7) as f32]);
    for threads in THREADS {
        let workers = Workers::new(threads).map_err(say)?;
        let mut detector = Detector::with_broad_phase(build(&workers), workers);
        let others: Vec<Aabb> = (0..10 * CROWD).map(apart).collect();
        detector.boxes_mut().insert_all(&others, Filter::ALL).map_err(say)?;
        let crowd = vec![Aabb::new([0.0; 3], [1.0; 3]); CROWD];
        let ids = detector.boxes_mut().insert_all(&crowd, Filter::ALL).map_err(say)?;
        detector.set_pair_limit(PAIRS);
        detector.step().map_err(say)?;
        let one_more = detector.insert(crowd[0], Filter::ALL).map_err(say)?;
        if detector.step().is_ok() {
            return Err(on(threads, format!("{} pairs for a limit of {PAIRS}", PAIRS + CROWD)));
        }
        detector.remove(one_more).map_err(say)?;
        detector.step().map_err(say)?;
        detector.set_pair_limit(0);
        for (k, &id) in ids.iter().enumerate() {
            detector.set(id, apart(20 * CROWD + k)).map_err(say)?;
        }
        let ended = detector.step().map_err(say)?.ended.len();
        if ended != PAIRS {
            return Err(on(threads, format!("{ended} of {PAIRS} pairs ended at a limit of 0")));
        }
    }
    Ok(())
}

/// Runs random histories and returns the overlapping pairs and all pairs over their steps.
fn random<S: Strategy<Value = Vec<Op>>>(
    build: Build<'_>,
    count: u32,
    seed: u64,
    strategy: &S,
    run: impl Fn(&mut Replay<'_>, &[Op]) -> Result<(), Failure>,
) -> Result<(u64, u64), Failure> {
    let mut hits = (0, 0);
    for index in 0..count {
        let mut runner = runner(seed.wrapping_add(u64::from(index)));
        let tree = strategy.new_tree(&mut runner).map_err(|e| e.to_string())?;
        let threads = THREADS[index as usize % THREADS.len()];
        let mut replay = Replay::new(build, threads);
        if let Err(failure) = run(&mut replay, &tree.current()) {
            let again = |ops: &[Op]| run(&mut Replay::new(build, threads), ops);
            return Err(on(threads, shrunk(tree, failure, again)));
        }
        hits.0 += replay.hits.0;
        hits.1 += replay.hits.1;
    }
    Ok(hits)
}

fn runner(seed: u64) -> TestRunner {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    TestRunner::new_with_rng(Config::default(), rng)
}

/// The failure of the smallest history found that still fails.
fn shrunk(
    mut tree: impl ValueTree<Value = Vec<Op>>,
    failure: Failure,
    run: impl Fn(&[Op]) -> Result<(), Failure>,
) -> Failure {
    let mut last = (tree.current(), failure);
    let mut tries = 0;
    let mut smaller = tree.simplify();
    while smaller && tries < 2000 {
        tries += 1;
        let ops = tree.current();
        smaller = match run(&ops) {
            Err(failure) => {
                last = (ops, failure);
                tree.simplify()
            }
            Ok(()) => tree.complicate(),
        };
    }
    format!("{}\nsmallest history found: {:#?}", last.1, last.0)
}

/// Too many pairs are refused, nothing is lost, and the same call works with fewer.
pub fn limits(build: Build<'_>) -> Result<(), Failure> {
    for threads in THREADS {
        let workers = Workers::new(threads).map_err(|error| error.to_string())?;
        let mut detector = Detector::with_broad_phase(build(&workers), workers);
        detector.set_pair_limit(10_000);
        let boxes = vec![Aabb::default(); 1000];
        let ids =
            detector.boxes_mut().insert_all(&boxes, Filter::ALL).map_err(|e| e.to_string())?;
        match detector.step() {
            Err(Error::TooManyPairs { limit: 10_000, estimate: Some(499_500) }) => {}
            other => return Err(on(threads, format!("500 000 pairs for 10 000: {other:?}"))),
        }
        detector.boxes_mut().remove_all(&ids[141..]).map_err(|error| error.to_string())?;
        let began = detector.step().map_err(|error| error.to_string())?.began.len();
        if began != 141 * 140 / 2 {
            return Err(on(threads, format!("{began} pairs began after a refusal, not 9870")));
        }
        detector.boxes_mut().remove_all(&ids[..141]).map_err(|error| error.to_string())?;
        let ended = detector.step().map_err(|error| error.to_string())?.ended.len();
        if ended != began {
            return Err(on(threads, format!("{began} pairs began and {ended} ended")));
        }
    }
    Ok(())
}

/// Excluded pairs stay away, and begin and end with their exclusion; thousands of them among
/// many pairs, so that nothing is small.
pub fn exclusions(build: Build<'_>) -> Result<(), Failure> {
    const CHAIN: usize = 3000;
    for threads in THREADS {
        // Links that overlap the next three; neighbours are excluded.
        let link = |k: usize| Aabb::new([k as f32, 0.0, 0.0], [k as f32 + 3.0, 1.0, 1.0]);
        let workers = Workers::new(threads).map_err(|error| error.to_string())?;
        let mut detector = Detector::with_broad_phase(build(&workers), workers);
        let links: Vec<Aabb> = (0..CHAIN).map(link).collect();
        let ids = detector.boxes_mut().insert_all(&links, Filter::ALL).map_err(say)?;
        let step = |detector: &mut Detector, what: &str, began: usize, ended: usize| {
            let events = detector.step().map_err(say)?;
            let got = (events.began.len(), events.ended.len());
            if got == (began, ended) {
                return Ok(());
            }
            Err(on(threads, format!("{what}: {got:?} began and ended, not {:?}", (began, ended))))
        };
        for two in ids.windows(2) {
            detector.exclude(two[0], two[1]).map_err(say)?;
        }
        step(&mut detector, "a chain with its neighbours excluded", 2 * CHAIN - 5, 0)?;
        detector.set(ids[9], link(9).grown(1.0)).map_err(say)?;
        step(&mut detector, "a link that grows", 2, 0)?;
        for two in ids.windows(2).step_by(2) {
            detector.include(two[0], two[1]).map_err(say)?;
        }
        step(&mut detector, "every other neighbour included", CHAIN / 2, 0)?;
        detector.exclude(ids[0], ids[1]).map_err(say)?;
        detector.exclude(ids[0], ids[2]).map_err(say)?;
        detector.set(ids[0], Aabb::point([-9.0; 3])).map_err(say)?;
        step(&mut detector, "excluded and gone away in one step", 0, 3)?;
        detector.include(ids[0], ids[1]).map_err(say)?;
        detector.set(ids[0], link(0)).map_err(say)?;
        step(&mut detector, "included and back in one step", 2, 0)?;
        detector.remove(ids[0]).map_err(say)?;
        step(&mut detector, "a link removed, one of its pairs hidden", 0, 2)?;
        let fresh = detector.insert(link(0), Filter::ALL).map_err(say)?;
        step(&mut detector, "another in its slot, with nothing excluded", 3, 0)?;
        if fresh.slot() != ids[0].slot() {
            return Err("the slot was not used again".into());
        }
    }
    Ok(())
}

fn say(error: impl std::fmt::Display) -> Failure {
    error.to_string()
}

/// Thousands of boxes in one place that never pair must not be tested pair by pair. The
/// brute-force oracle is excused.
pub fn filters_cost_nothing(build: Build<'_>) -> Result<(), Failure> {
    const COUNT: u64 = 6000;
    let crowds: [(&str, Filter); 3] = [
        ("parts of one owner", Filter::ALL.with_owner(5)),
        ("still boxes", Filter::STILL),
        ("a group that does not meet itself", Filter::groups(1, 2)),
    ];
    for (name, filter) in crowds {
        let workers = Workers::one();
        let mut detector = Detector::with_broad_phase(build(&workers), workers);
        let crowd = vec![Aabb::new([0.0; 3], [1.0; 3]); COUNT as usize];
        let boxes = detector.boxes_mut();
        boxes.insert_all(&crowd, filter).map_err(|error| error.to_string())?;
        let visitor = Filter { membership: 2, mask: 1, ..Filter::ALL };
        boxes.insert(crowd[0], visitor).map_err(|error| error.to_string())?;
        let began = detector.step().map_err(|error| error.to_string())?.began.len() as u64;
        if began != COUNT {
            return Err(format!("{name}: the visitor pairs with {began} of {COUNT}"));
        }
        let tests = detector.stats().tests;
        if tests > 50 * COUNT && tests != COUNT * (COUNT + 1) / 2 {
            return Err(format!("{name}: {tests} tests for {COUNT} pairs; filters must prune"));
        }
    }
    Ok(())
}
