//! Section 4.2 and figure 11: the octree hardly notices boxes that come and go, and does not
//! profit from boxes that rest.

use jostle::Algorithm;

use super::super::systems::plain_octree::PlainOctree;
use super::super::{Bound, Claim, Figure, Lab};
use super::contest::{Contender, Table, contest, persistent};
use crate::support::failure::Failure;
use crate::support::plot::{Axis, Chart, Lines};
use crate::support::text::grouped;

/// Places in the table.
const SEGMENTED: usize = 1;
const OCTREE: usize = 2;

fn contenders() -> Vec<Contender> {
    let mut list = persistent::cells();
    list.push(Contender::new("octree", PlainOctree::default()));
    list.push(Contender::algorithm(Algorithm::Octree).named("loose octree"));
    list
}

/// Events, and boxes that move, at several sizes.
pub(crate) fn run(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let sizes = lab.pick(vec![4000, 8000], vec![10_000, 40_000, 100_000]);
    let frames = lab.pick(8, 60);
    let (mut events, mut moving) = (Vec::new(), Vec::new());
    let shares = lab.pick(vec![0.0, 0.02], vec![0.0, 0.005, 0.01, 0.02, 0.03]);
    let moved = lab.pick(vec![0.05, 1.0], vec![0.02, 0.1, 0.3, 0.6, 1.0]);
    lab.units(sizes.len() * (shares.len() + moved.len()));
    for &n in &sizes {
        let (mut by_events, mut by_moving) = (Table::default(), Table::default());
        for &share in &shares {
            let world = super::world(n, 0.1, share * n as f64);
            by_events.push(200.0 * share, contest(lab, &world, frames, contenders())?);
        }
        for &share in &moved {
            let world = super::world(n, share, 0.0);
            by_moving.push(100.0 * share, contest(lab, &world, frames, contenders())?);
        }
        events.push((n, by_events));
        moving.push((n, by_moving));
    }
    write(lab, &events, &moving)?;
    Ok(vec![insensitive(&events), coherence(&moving)])
}

fn write(
    lab: &mut Lab,
    events: &[(usize, Table)],
    moving: &[(usize, Table)],
) -> Result<(), Failure> {
    let mut rows = Vec::new();
    for (what, tables) in [("percent_events", events), ("percent_moving", moving)] {
        for (n, table) in tables {
            rows.extend(
                table.rows().map(|row| [vec![n.to_string(), what.to_owned()], row].concat()),
            );
        }
    }
    let header = ["n", "varied", "value", "contender", "frames", "median_ms", "min_ms", "swaps"];
    lab.csv("octree", &header, &rows)?;
    let chart = |(n, table): &(usize, Table), title: &str, x: &str| {
        Chart::Lines(Lines {
            title: format!("{title}, {} boxes", grouped(*n as u64)),
            note: "octree: every leaf has an array; octree of the library: loose".into(),
            x: Axis::linear(x),
            y: Axis::linear("milliseconds per step"),
            series: table.named_series(&[
                "grid-sap",
                "grid-segmented-sap",
                "octree",
                "loose octree",
            ]),
        })
    };
    let mut charts = Vec::new();
    if let (Some(events), Some(moving)) = (events.last(), moving.last()) {
        let x = "insertions and removals, percent of the boxes; 10 % move";
        charts.push(chart(events, "The octree while boxes come and go", x));
        let x = "percent of the boxes that move; none come or go";
        charts.push(chart(moving, "The octree while boxes move", x));
    }
    lab.plot("octree", &charts)
}

/// How much longer a contender takes at the last of what was varied than at the first.
fn growth(table: &Table, contender: usize) -> Figure {
    let (first, last) = (table.varied().next(), table.varied().last());
    match (first, last) {
        (Some(first), Some(last)) => {
            Figure::unpaired(table.times(last, contender), table.times(first, contender))
        }
        _ => Figure::counted(f64::NAN),
    }
}

fn insensitive(events: &[(usize, Table)]) -> Claim {
    let claim = Claim::new(
        "The octree is insensitive to boxes that come and go",
        "left out of figure 10 for that reason (section 4.2)",
    );
    let claim = events.iter().fold(claim, |claim, (n, table)| {
        let most = table.varied().fold(0.0, f64::max);
        claim.require(
            format!("time with events of {most:.0} % by that without, {n} boxes"),
            growth(table, OCTREE),
            Bound::at_most(1.25),
        )
    });
    let other =
        events.last().map(|(_, table)| format!("segmented cells {}", growth(table, SEGMENTED)));
    let claim = claim.show(other.unwrap_or_default());
    let Some((n, smallest)) = events.first() else { return claim };
    claim.because(
        "a box that comes or goes touches leaves at random places, which costs little only while \
         the tree is in the near cache",
        format!("the same among {n} boxes"),
        growth(smallest, OCTREE),
        Bound::at_most(1.25),
    )
}

fn coherence(moving: &[(usize, Table)]) -> Claim {
    let claim = Claim::new(
        "The octree profits less from boxes that rest than sweep and prune does",
        "it cannot take sufficient advantage of coherence (section 4.2)",
    );
    moving.iter().fold(claim, |claim, (n, table)| {
        let (octree, cells) = (growth(table, OCTREE), growth(table, SEGMENTED));
        claim.require(
            format!("growth of segmented cells by that of the octree, {n} boxes"),
            cells.over(octree),
            Bound::at_least(1.0),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::Verdict::{Fails, Holds};
    use super::*;

    /// Both ends of what was varied: one at first, then these times of cells and octree.
    fn tables(cells: f64, octree: f64) -> Vec<(usize, Table)> {
        let (one, cells, octree) = ([1.0; 5], [cells; 5], [octree; 5]);
        let rows: [(f64, &[&[f64]]); 2] =
            [(0.0, &[&one, &one, &one]), (6.0, &[&one, &cells, &octree])];
        vec![(10_000, Table::of(&rows)), (20_000, Table::of(&rows))]
    }

    #[test]
    fn the_octree_is_judged_on_both_sides() {
        assert_eq!(insensitive(&tables(3.0, 1.2)).judged(), Holds);
        assert_eq!(insensitive(&tables(3.0, 1.3)).judged(), Fails);
        assert_eq!(coherence(&tables(3.0, 2.0)).judged(), Holds);
        assert_eq!(coherence(&tables(2.0, 3.0)).judged(), Fails);
    }
}
