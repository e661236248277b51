//! Figures 10 and 11: a grid of cells, batch against segmented, and the octree.

use super::super::systems::plain_octree::PlainOctree;
use super::super::{Bound, Claim, Figure, Lab};
use super::contest::{Contender, Table, contest, contest_on, persistent};
use crate::support::failure::Failure;
use crate::support::feed::Feed;
use crate::support::plot::{Axis, Chart, Lines};
use crate::support::text::grouped;

/// Figure 10: a tenth of 100 000 boxes moves, while more and more come and go.
pub(crate) fn events(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let n = lab.pick(10_000, 100_000);
    let shares = lab
        .pick(vec![0.001, 0.02], vec![0.0, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.015, 0.02, 0.03]);
    let mut table = Table::default();
    lab.units(shares.len());
    for share in shares {
        let inserted = share * n as f64;
        let world = super::world(n, 0.1, inserted);
        table.push(2.0 * inserted, contest(lab, &world, lab.pick(6, 30), persistent::cells())?);
    }
    table.write(lab, "figure-10", "events")?;
    let lines = Lines {
        title: format!("A tenth of {} boxes moves, others come and go", grouped(n as u64)),
        note: "figure 10 of the paper; cells of about 300 boxes".into(),
        x: Axis::linear("insertions and removals per step"),
        y: Axis::linear("milliseconds per step"),
        series: table.series(|outcome| outcome.median),
    };
    lab.plot("figure-10", &[Chart::Lines(lines)])?;
    Ok(event_claims(&table, n))
}

fn event_claims(table: &Table, n: usize) -> Vec<Claim> {
    let paper = 0.04 * n as f64;
    let few = table.gain(0.002 * n as f64);
    vec![
        Claim::new(
            "Segmented cells are faster than batch up to 4 000 events of 100 000",
            "crossing at 4 000 events, 4 % of the boxes (section 4.2, figure 10)",
        )
        .require(
            "events at which batch overtakes",
            table.crossing(),
            Bound::at_least(paper).better_from(1.25 * paper),
        )
        .show(format!("{few} times as fast at 0.2 %"))
        .at(format!("{n} boxes"))
        .over_sizes()
        .remark("events hit most cells once, and batch passes over every cell that is hit"),
    ]
}

/// Figure 11: the world and all that happens in it grow together.
pub(crate) fn scale(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let sizes =
        lab.pick(vec![5000, 20_000], vec![10_000, 20_000, 50_000, 100_000, 150_000, 200_000]);
    let mut table = Table::default();
    lab.units(2 * sizes.len() + 1);
    let largest = sizes[sizes.len() - 1];
    for n in sizes {
        let world = super::world(n, 0.1, 0.005 * n as f64);
        let mut contenders = persistent::cells();
        contenders.push(Contender::new("octree", PlainOctree::default()));
        let frames = lab.pick(5, 100);
        let mut outcomes = contest(lab, &world, frames, contenders)?;
        outcomes.extend(contest_on(lab, Feed::scene(&world, frames + 1)?, declared_still())?);
        table.push(n as f64, outcomes);
    }
    table.write(lab, "figure-11", "boxes")?;
    let lines = Lines {
        title: "10 % of the boxes move, 0.5 % come and 0.5 % go".into(),
        note: "figure 11 of the paper; cells of about 300 boxes".into(),
        x: Axis::linear("number of boxes"),
        y: Axis::linear("milliseconds per step"),
        series: table.series(|outcome| outcome.median),
    };
    lab.plot("figure-11", &[Chart::Lines(lines)])?;
    let resting = super::world(largest, 0.0, 0.005 * largest as f64);
    let mut events = Table::default();
    events.push(0.0, contest(lab, &resting, lab.pick(5, 100), persistent::cells())?);
    Ok(scale_claims(&table, events.gain(0.0)))
}

/// From the times by size, and the gain where nothing moves.
fn scale_claims(table: &Table, at_rest: Figure) -> Vec<Claim> {
    let largest = table.varied().fold(0.0, f64::max);
    let smallest = table.varied().fold(f64::INFINITY, f64::min);
    vec![
        Claim::new(
            "Segmented cells become almost twice as fast as batch cells",
            "almost 2 times at 200 000 boxes (section 4.2, figure 11)",
        )
        .require("times as fast", table.gain(largest), Bound::at_least(1.8).better_from(2.0))
        .at(format!("{largest:.0} boxes"))
        .over_sizes()
        .because(
            "what moves costs both the same, and takes more of a step here than there",
            "times as fast with nothing moving, where that is left out",
            at_rest,
            Bound::at_least(1.8),
        ),
        Claim::new(
            "Segmented cells are faster than batch cells in a small world as well",
            "slightly faster at small scales (section 4.2, figure 11)",
        )
        .require("times as fast", table.gain(smallest), Bound::at_least(1.0))
        .at(format!("{smallest:.0} boxes")),
        octree_claim(table),
    ]
}

/// Not the paper's, which filters nothing: boxes that rest are declared still, so no pairs of them
/// are kept.
fn declared_still() -> Vec<Contender> {
    let mut cells = persistent::cells();
    let segmented = cells.pop().map(|one| one.named("grid-segmented-sap, rest declared still"));
    segmented.into_iter().collect()
}

/// At every size: the worst of them decides.
fn octree_claim(table: &Table) -> Claim {
    let claim = Claim::new(
        "Subdivided sweep and prune beats an octree where little moves",
        "faster at all sizes (section 4.2, figure 11)",
    );
    let at_all = table.varied().collect::<Vec<_>>().into_iter().fold(claim, |claim, n| {
        let what = format!("times as fast at {n:.0} boxes");
        claim.require(what, table.speed(n, 1, 2), Bound::at_least(1.0))
    });
    at_all.over_sizes().remark("an octree that is not loose, as the paper's; one thread")
}

#[cfg(test)]
mod tests {
    use super::super::super::Verdict::{Better, Fails, Holds, Undecided};
    use super::*;

    /// Times of batch, of segmented cells and of the octree, by what was varied.
    fn table(rows: &[(f64, [f64; 3])]) -> Table {
        let lists: Vec<(f64, [Vec<f64>; 3])> =
            rows.iter().map(|(at, times)| (*at, times.map(|time| vec![time; 5]))).collect();
        let slices: Vec<(f64, [&[f64]; 3])> =
            lists.iter().map(|(at, [a, b, c])| (*at, [&a[..], &b[..], &c[..]])).collect();
        Table::of(&slices.iter().map(|(at, all)| (*at, &all[..])).collect::<Vec<_>>())
    }

    #[test]
    fn the_crossing_of_figure_10_is_judged_on_both_sides() {
        let verdict = |last_win: f64| {
            let row = |at, segmented| (at, [1.0, segmented, 1.0]);
            let rows = [row(100.0, 0.5), row(last_win, 0.9), row(last_win + 1000.0, 1.1)];
            event_claims(&table(&rows), 100_000)[0].judged()
        };
        assert_eq!(verdict(2000.0), Fails);
        assert_eq!(verdict(3500.0), Undecided);
        assert_eq!(verdict(4000.0), Holds);
        assert_eq!(verdict(5000.0), Better);
    }

    #[test]
    fn the_world_of_figure_11_is_judged_on_both_sides() {
        let verdicts = |small: [f64; 3], large: [f64; 3]| {
            let table = table(&[(10_000.0, small), (200_000.0, large)]);
            let claims = scale_claims(&table, Figure::counted(3.0));
            claims.iter().map(Claim::judged).collect::<Vec<_>>()
        };
        assert_eq!(verdicts([1.1, 1.0, 1.2], [1.9, 1.0, 1.1]), [Holds, Holds, Holds]);
        assert_eq!(verdicts([0.9, 1.0, 1.2], [1.5, 1.0, 0.9]), [Fails, Fails, Fails]);
        assert_eq!(verdicts([1.1, 1.0, 0.8], [2.1, 1.0, 1.1]), [Better, Holds, Fails]);
    }
}
