//! Figures 10 and 11: a grid of cells, batch against segmented, and the octree.

use super::super::systems::plain_octree::PlainOctree;
use super::super::{Bound, Claim, Lab};
use super::contest::{Contender, Table, contest, persistent};
use crate::support::failure::Failure;
use crate::support::plot::{Axis, Chart, Lines};
use crate::support::text::grouped;

/// Figure 10: a tenth of 100 000 boxes moves, while more and more come and go.
pub(crate) fn events(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let n = lab.pick(10_000, 100_000);
    let shares = lab
        .pick(vec![0.001, 0.02], vec![0.0, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.015, 0.02, 0.03]);
    let mut table = Table::default();
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
    let paper = 0.04 * n as f64;
    let few = table.gain(0.002 * n as f64);
    Ok(vec![
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
    ])
}

/// Figure 11: the world and all that happens in it grow together.
pub(crate) fn scale(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let sizes =
        lab.pick(vec![5000, 20_000], vec![10_000, 20_000, 50_000, 100_000, 150_000, 200_000]);
    let mut table = Table::default();
    for n in sizes {
        let world = super::world(n, 0.1, 0.005 * n as f64);
        let mut contenders = persistent::cells();
        contenders.push(Contender::new("octree", PlainOctree::default()));
        table.push(n as f64, contest(lab, &world, lab.pick(5, 24), contenders)?);
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
    let largest = table.varied().fold(0.0, f64::max);
    let at = format!("{largest:.0} boxes");
    Ok(vec![
        Claim::new(
            "Segmented cells become almost twice as fast as batch cells",
            "almost 2 times at 200 000 boxes (section 4.2, figure 11)",
        )
        .require("times as fast", table.gain(largest), Bound::at_least(1.8).better_from(2.0))
        .at(at)
        .over_sizes()
        .remark("both read the same cells from memory; that part does not differ"),
        octree_claim(&table),
    ])
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
