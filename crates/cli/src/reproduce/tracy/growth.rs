//! Section 2.1 and figure 2: how swaps grow with the number of boxes when all of them move, in one
//! piece and subdivided.

use jostle::Workers;
use jostle::broad::grid_sap::{GridSapOptions, GridSegmentedSap};
use jostle::broad::sap::{Sap, SapOptions};

use super::super::{Bound, Claim, Figure, Lab, power_law};
use super::contest::{Contender, Table, contest};
use crate::support::failure::Failure;
use crate::support::plot::{Axis, Chart, Lines, Series};

/// How far a fitted power may lie from the law's.
const TOLERANCE: f64 = 0.12;

/// Swaps against boxes.
pub(crate) fn swaps(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let sizes = lab.pick(vec![2000, 4000, 8000], vec![2000, 4000, 8000, 16_000, 32_000, 64_000]);
    let mut table = Table::default();
    lab.units(sizes.len());
    for n in sizes {
        // Swaps are made whatever they cost.
        let sap = SapOptions { may_rebuild: false, ..SapOptions::default() };
        let grid = GridSapOptions { may_rebuild: false, ..GridSapOptions::default() };
        let workers = Workers::one();
        let contenders = vec![
            Contender::new("one sweep and prune", Sap::with_options(&workers, sap)),
            Contender::new("subdivided", GridSegmentedSap::with_options(&workers, grid)),
        ];
        let frames = lab.pick(3, 8);
        table.push(n as f64, contest(lab, &super::world(n, 1.0, 0.0), frames, contenders)?);
    }
    table.write(lab, "growth", "boxes")?;
    let whole = table.points(0, |outcome| outcome.swaps);
    let (first, swaps) = whole[0];
    let law = table.varied().map(|n| (n, swaps * (n / first).powf(5.0 / 3.0))).collect();
    let mut series = table.series(|outcome| outcome.swaps);
    series.push(Series::reference("law n^(5/3)", law));
    lab.plot(
        "growth",
        &[Chart::Lines(Lines {
            title: "Swaps when every box moves".into(),
            note: "figure 2 of the paper; both axes logarithmic".into(),
            x: Axis::log("number of boxes"),
            y: Axis::log("swaps per step"),
            series,
        })],
    )?;
    let power = power_law(&whole).unwrap_or(f64::NAN);
    let divided = table.points(1, |outcome| outcome.swaps);
    let divided = power_law(&divided).unwrap_or(f64::NAN);
    Ok(claims(power, divided))
}

fn claims(power: f64, divided: f64) -> Vec<Claim> {
    let near = |law: f64| Bound::near(law, TOLERANCE);
    vec![
        Claim::new(
            "Swaps of sweep and prune grow faster than the boxes",
            "power 5/3 = 1.67 by analysis, 1.76 fitted (section 2.1, figure 2)",
        )
        .require("power of swaps", Figure::counted(power), near(5.0 / 3.0))
        .over_sizes()
        .remark("fitted to counted swaps"),
        Claim::new(
            "Subdivision makes the swaps proportional to the boxes",
            "power 1 by analysis (section 3.1)",
        )
        .require("power of swaps", Figure::counted(divided), near(1.0))
        .over_sizes()
        .remark("whole numbers of cells make the boxes of a cell vary from size to size"),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::super::Verdict::{Fails, Holds};
    use super::*;

    #[test]
    fn powers_are_judged_on_both_sides() {
        let verdicts =
            |whole, divided| claims(whole, divided).iter().map(Claim::judged).collect::<Vec<_>>();
        assert_eq!(verdicts(1.76, 1.0), [Holds, Holds]);
        assert_eq!(verdicts(1.5, 0.85), [Fails, Fails]);
        assert_eq!(verdicts(1.9, 1.2), [Fails, Fails]);
    }
}
