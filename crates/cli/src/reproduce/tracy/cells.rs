//! Figures 10 and 11: a grid of cells, batch against segmented, and the octree.

use jostle::Algorithm;

use super::super::{Claim, Lab, Verdict};
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
    let few = table.gain(0.002 * n as f64);
    let crossing = table.crossing().map_or("none".into(), |at| format!("{at:.0} events"));
    Ok(vec![Claim {
        statement: "Segmented cells are faster than batch up to 4 000 events of 100 000".into(),
        paper: "crossing at 4 000 events, 4 % of the boxes (section 4.2, figure 10)".into(),
        ours: format!("faster up to {crossing} of those run, {few:.2} times at 0.2 %, n = {n}"),
        verdict: Verdict::of(table.crossing().is_some_and(|at| at >= 0.04 * n as f64)),
        why: "events hit most cells once, and batch passes over every cell that is hit".into(),
    }])
}

/// Figure 11: the world and all that happens in it grow together.
pub(crate) fn scale(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let sizes =
        lab.pick(vec![5000, 20_000], vec![10_000, 20_000, 50_000, 100_000, 150_000, 200_000]);
    let octree = "octree".parse::<Algorithm>().ok();
    let mut table = Table::default();
    for n in sizes {
        let world = super::world(n, 0.1, 0.005 * n as f64);
        let mut contenders = persistent::cells();
        contenders.extend(octree.map(Contender::algorithm));
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
    let gain = table.gain(largest);
    let mut claims = vec![Claim {
        statement: "Segmented cells become almost twice as fast as batch cells".into(),
        paper: "almost 2 times at 200 000 boxes (section 4.2, figure 11)".into(),
        ours: format!("{gain:.2} times at {largest:.0} boxes"),
        verdict: if gain >= 1.8 {
            Verdict::Holds
        } else if gain >= 1.2 {
            Verdict::Partly
        } else {
            Verdict::Fails
        },
        why: "both read the same cells from memory; that part does not differ".into(),
    }];
    claims.push(octree_claim(&table, octree, largest));
    Ok(claims)
}

fn octree_claim(table: &Table, octree: Option<Algorithm>, largest: f64) -> Claim {
    let last = |index: usize| table.points(index, |o| o.median).last().map_or(f64::NAN, |p| p.1);
    let (ours, verdict) = match octree {
        Some(_) => {
            let ratio = last(2) / last(1);
            (format!("{ratio:.2} times as fast at {largest:.0} boxes"), Verdict::of(ratio > 1.0))
        }
        None => ("there is no octree yet".into(), Verdict::Untested),
    };
    Claim {
        statement: "Subdivided sweep and prune beats an octree where little moves".into(),
        paper: "faster at all sizes (section 4.2, figure 11)".into(),
        ours,
        verdict,
        why: String::new(),
    }
}
