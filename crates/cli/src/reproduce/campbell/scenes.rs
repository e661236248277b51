//! Figures 5.2 to 5.5: the first step, a scene at rest, and one of which a tenth moves.

use jostle::Boxes;
use jostle_scenes::Sorted;

use super::super::Bound;
use super::{
    ALL, Chart, Claim, Failure, Feed, Figure, Lab, SAP, SIMD, STILL, SWAPS, Series, Times, VECTOR,
    VECTORS, drive, drive_feed, find, lines, of_three, panel, ratio, runner, scene, sorted,
    time_of, write,
};

/// The thesis's sizes.
fn sizes(lab: &Lab) -> Vec<usize> {
    (6..=10).step_by(lab.pick(2, 1)).map(|power| 1 << power).collect()
}

const WAYS: [&str; 5] = [SWAPS, VECTOR, VECTORS, SAP, SIMD];

/// Figure 5.2, by instances that are new each time.
pub(super) fn first(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let sizes = sizes(lab);
    let mut all = Vec::new();
    for &n in &sizes {
        let mut times: Vec<Times> = WAYS.iter().map(|way| Times::new(n, way)).collect();
        let mut boxes = Boxes::new();
        Feed::unfiltered(&scene(n, 0.9), 1)?.advance(&mut boxes)?;
        for _ in 0..lab.pick(5, 25) {
            lab.check_stop()?;
            for (way, times) in WAYS.iter().zip(&mut times) {
                let mut runner = runner(way)?;
                runner.step(&boxes)?;
                times.push(time_of(&runner));
            }
        }
        all.extend(times);
    }
    write(lab, "first", &all)?;
    let note = "results collected; median of instances that are new each time";
    let median = |times: &Times| sorted(&times.whole).median();
    lab.plot("first", &[panel("First step", note, &all, &WAYS, median)])?;
    Ok(first_claims(&all, sizes[0], sizes[sizes.len() - 1]))
}

fn first_claims(all: &[Times], small: usize, large: usize) -> Vec<Claim> {
    let gain = |n: usize, way: &'static str| ratio(all, n, SWAPS, way, |times| &times.whole);
    let claim = |way: &'static str, statement: &str| {
        Claim::new(statement, "far faster, results collected, as the load increases (figure 5.2)")
            .require(format!("times as fast at {large} boxes"), gain(large, way), {
                Bound::at_least(1.0)
            })
            .require(
                format!("gain at {large} by that at {small} boxes"),
                gain(large, way).over(gain(small, way)),
                Bound::at_least(1.0),
            )
            .show(format!("{} at {small} boxes", gain(small, way)))
            .over_sizes()
            .remark("insertion sort sets a flag at each of its swaps, and there are n² of them")
            .because(
                "keys of pairs are looked up in the same map by both, which soon is most of either \
                 step",
                format!("time with collecting by the time without, at {large} boxes"),
                with_collecting(all, large, way),
                Bound::at_least(2.0),
            )
    };
    vec![
        of_three(claim(VECTORS, "The first step is where three vector sorts gain most")),
        claim(VECTOR, "The vector sort gains in the first step even on one worker"),
    ]
}

/// A thousand steps, as in the thesis, if there is time for them: collecting takes a tenth of a
/// second in each step of the largest scene. The report tells how many there were.
const STEPS: usize = 1000;

/// Figure 5.3.
pub(super) fn at_rest(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let sizes = sizes(lab);
    let mut all = Vec::new();
    // The library returns at once, which is no answer to how fast lists in order are passed over.
    let ways = [SWAPS, VECTOR, VECTORS];
    lab.units(sizes.len());
    for &n in &sizes {
        all.extend(drive(lab, &scene(n, 1.0), lab.pick(60, STEPS), &ways)?);
    }
    write(lab, "static", &all)?;
    let median = |times: &Times| sorted(&times.whole).median();
    let note = "median step; every list is passed over in every step";
    lab.plot("static", &[panel("Nothing moves", note, &all, &ways, median)])?;
    Ok(rest_claims(&all, &sizes))
}

fn rest_claims(all: &[Times], sizes: &[usize]) -> Vec<Claim> {
    let claim = |way: &str, statement: &str| {
        let claim = Claim::new(statement, "near zero against 3 ms at every size (figure 5.3)");
        sizes.iter().fold(claim, |claim, &n| {
            let slower = ratio(all, n, way, SWAPS, |times| &times.whole);
            claim.require(format!("times as long at {n} boxes"), slower, Bound::at_least(1.0))
        })
    };
    let (small, large) = (sizes[0], sizes[sizes.len() - 1]);
    let growth = |way| match (find(all, large, way), find(all, small, way)) {
        (Some(large), Some(small)) => Figure::unpaired(&large.whole, &small.whole),
        _ => Figure::counted(f64::NAN),
    };
    vec![
        of_three(claim(VECTORS, "If nothing moves, insertion sort is hard to beat")),
        claim(VECTOR, "If nothing moves, one worker's vector sort does not beat it either")
            .remark("without starting coprocessors, what is left is the work on lists in order"),
        of_three(
            Claim::new(
                "At rest the vector version costs the same whatever the number of boxes",
                "about 3 ms from 64 to 1024 boxes, for starting the coprocessors (figure 5.3)",
            )
            .require(
                format!("time at {large} by that at {small} boxes"),
                growth(VECTORS),
                Bound::at_most(2.0),
            )
            .show(format!("insertion sort {}", growth(SWAPS)))
            .over_sizes(),
        ),
    ]
}

/// Figures 5.4 and 5.5.
pub(super) fn tenth(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let sizes = sizes(lab);
    let mut all = Vec::new();
    lab.units(2 * sizes.len());
    for &n in &sizes {
        let (scene, steps) = (scene(n, 0.9), lab.pick(40, STEPS));
        all.extend(drive(lab, &scene, steps, &[&WAYS[..], &[ALL]].concat())?);
        all.extend(drive_feed(lab, Feed::scene(&scene, steps + 1)?, n, &[STILL])?);
    }
    write(lab, "tenth", &all)?;
    lab.plot(
        "tenth",
        &[
            without_and_with("Longest of all steps", &all, |list| list.greatest()),
            without_and_with("Median step", &all, Sorted::median),
        ],
    )?;
    Ok(tenth_claims(&all, &sizes))
}

fn tenth_claims(all: &[Times], sizes: &[usize]) -> Vec<Claim> {
    let (small, large) = (sizes[0], sizes[sizes.len() - 1]);
    let middle = sizes.iter().copied().filter(|&n| n <= 512).max().unwrap_or(small);
    let steps = |n| find(all, n, SWAPS).map_or(0, |times| times.whole.len());
    let run = format!("{} steps at {small} boxes, {} at {large}", steps(small), steps(large));
    let claims = [
        of_three(faster(all, VECTORS, small, large)),
        faster(all, VECTOR, small, large).remark("one worker; no coprocessors to start"),
        of_three(steady(all, small, middle)),
        collecting(all, small, large),
        against_all(all, large),
    ];
    claims.into_iter().map(|claim| claim.at(run.clone())).collect()
}

/// The thesis's three curves, and what the library makes of them.
fn without_and_with(title: &str, all: &[Times], of: impl Fn(&Sorted) -> f64) -> Chart {
    let line = |label: &str, way: &str, list: &dyn Fn(&Times) -> &Vec<f64>| {
        let mine = all.iter().filter(|times| times.way == way);
        let points = mine.map(|times| (times.n as f64, of(&sorted(list(times))))).collect();
        Series::new(label, points)
    };
    lines(
        title,
        "a tenth of the boxes moves",
        vec![
            line("insertion sort (x86)", SWAPS, &|times| &times.whole),
            line("vector sort, 3 workers", VECTORS, &|times| &times.sorting),
            line("3 workers, and collecting", VECTORS, &|times| &times.whole),
            line("vector sort, 1 worker", VECTOR, &|times| &times.sorting),
            line("against all, and collecting", ALL, &|times| &times.whole),
            line("sap of the library", SAP, &|times| &times.whole),
            line("simd-sap of the library", SIMD, &|times| &times.whole),
            line("sap, boxes declared still", STILL, &|times| &times.whole),
        ],
    )
}

fn faster(all: &[Times], way: &str, small: usize, large: usize) -> Claim {
    let gain = |n| ratio(all, n, SWAPS, way, |times| &times.sorting);
    Claim::new(
        format!("With a tenth moving, {way} loses at {small} boxes and wins at {large}"),
        "without collecting results (figure 5.4)",
    )
    .require(format!("times as fast at {small} boxes"), gain(small), Bound::at_most(1.0))
    .require(format!("times as fast at {large} boxes"), gain(large), Bound::at_least(1.0))
    .over_sizes()
    .because(
        "there are no coprocessors to start, whose 3 ms hid the work of small scenes there; here a \
         step costs what it does",
        format!("its time at {large} boxes by that at {small}"),
        find(all, large, way)
            .zip(find(all, small, way))
            .map_or(Figure::counted(f64::NAN), |(large, small)| {
                Figure::unpaired(&large.sorting, &small.sorting)
            }),
        Bound::at_least(4.0),
    )
}

/// A quantile, because the longest of a thousand steps is another program's on a shared machine.
fn steady(all: &[Times], small: usize, large: usize) -> Claim {
    let growth = |way| {
        let (one, other) = (find(all, large, way), find(all, small, way));
        let rounds = one.zip(other).map_or(0, |(a, b)| a.sorting.len().min(b.sorting.len()));
        Figure::resampled(rounds, |at| {
            let late = |times: Option<&Times>| {
                let frames = times.map_or(&[][..], |times| &times.sorting);
                Sorted::new(at.iter().map(|&round| frames[round])).quantile(0.99)
            };
            late(one) / late(other)
        })
    };
    Claim::new(
        "The vector version's longest steps hardly grow up to 512 boxes",
        "similar at 64 and at 512 boxes, without collecting (section 5.3)",
    )
    .require(
        format!("growth of the 99th percentile from {small} to {large} boxes"),
        growth(VECTORS),
        Bound::at_most(2.0),
    )
    .show(format!("insertion sort's {}", growth(SWAPS)))
    .over_sizes()
    .remark("there a fixed cost hid the work: 3 ms of starting coprocessors")
}

/// How much longer a step takes if its results are collected.
fn with_collecting(all: &[Times], n: usize, way: &str) -> Figure {
    let times = find(all, n, way);
    times.map_or(Figure::counted(f64::NAN), |times| Figure::ratio(&times.whole, &times.sorting))
}

fn collecting(all: &[Times], small: usize, large: usize) -> Claim {
    let whole = |n| with_collecting(all, n, VECTOR);
    Claim::new(
        "Collecting colliding keys and comparing them with the frame before costs more than the \
         rest, and ever more with more boxes",
        "no interactive rate beyond 512 boxes (figure 5.5)",
    )
    .require(
        format!("time with collecting by the time without at {large} boxes"),
        whole(large),
        Bound::at_least(2.0),
    )
    .show(format!("{} at {small} boxes", whole(small)))
    .over_sizes()
    .remark("one worker; keys are made without comparing boxes, as in the thesis")
}

fn against_all(all: &[Times], n: usize) -> Claim {
    Claim::new(
        "Comparing changed boxes with all others costs more than collecting what lies between \
         their ends",
        "explored and left out for its many keys (section 4.2.6)",
    )
    .require(
        "time against all by the time between the ends, collecting included",
        ratio(all, n, ALL, VECTORS, |times| &times.whole),
        Bound::at_least(1.0),
    )
    .show(format!("at {n} boxes"))
}

#[cfg(test)]
mod tests {
    use super::super::super::Verdict::{self, Fails, Holds};
    use super::super::made_up;
    use super::*;

    fn judged(claims: &[Claim]) -> Vec<Verdict> {
        claims.iter().map(Claim::judged).collect()
    }

    /// Insertion sort takes one at both sizes; the vector sorts take these times.
    fn both(small: f64, large: f64) -> Vec<Times> {
        let ways = [(64, small), (1024, large)].into_iter().flat_map(|(n, time)| {
            let vector = |way| made_up(n, way, time, time);
            [made_up(n, SWAPS, 1.0, 1.0), vector(VECTOR), vector(VECTORS)]
        });
        ways.collect()
    }

    #[test]
    fn the_first_step_is_judged_on_both_sides() {
        assert_eq!(judged(&first_claims(&both(0.9, 0.5), 64, 1024)), [Holds, Holds]);
        assert_eq!(judged(&first_claims(&both(0.5, 0.9), 64, 1024)), [Fails, Fails]);
        assert_eq!(judged(&first_claims(&both(3.0, 1.5), 64, 1024)), [Fails, Fails]);
    }

    #[test]
    fn rest_is_judged_on_both_sides() {
        assert_eq!(judged(&rest_claims(&both(2.0, 3.0), &[64, 1024])), [Holds; 3]);
        let mixed = rest_claims(&both(2.0, 5.0), &[64, 1024]);
        assert_eq!(judged(&mixed), [Holds, Holds, Fails]);
        assert_eq!(judged(&rest_claims(&both(0.9, 3.0), &[64, 1024])), [Fails; 3]);
    }

    #[test]
    fn a_tenth_that_moves_is_judged_on_both_sides() {
        let times = |small: f64, middle: f64, large: f64, collecting: f64, against_all: f64| {
            let at = |n, time: f64| {
                let vector = |way| made_up(n, way, collecting * time, time);
                let all = made_up(n, ALL, against_all * collecting * time, time);
                [made_up(n, SWAPS, 1.0, 1.0), vector(VECTOR), vector(VECTORS), all]
            };
            [at(64, small), at(512, middle), at(1024, large)].into_iter().flatten().collect()
        };
        let verdicts = |times: Vec<Times>| judged(&tenth_claims(&times, &[64, 512, 1024]));
        assert_eq!(verdicts(times(1.5, 1.6, 0.5, 3.0, 2.0)), [Holds; 5]);
        assert_eq!(verdicts(times(0.5, 1.6, 0.5, 1.5, 0.9)), [Fails; 5], "wins when small");
        let slow = verdicts(times(1.5, 1.6, 1.1, 3.0, 2.0));
        assert_eq!(slow, [Fails, Fails, Holds, Holds, Holds], "loses when large");
    }
}
