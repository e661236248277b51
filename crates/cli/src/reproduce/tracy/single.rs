//! Figures 8 and 9: one cell of 3 000 boxes, batch against segmented.

use super::super::{Bound, Claim, Lab};
use super::contest::{Table, contest, persistent};
use crate::support::failure::Failure;
use crate::support::plot::{Axis, Chart, Lines};

const BOXES: usize = 3000;

fn picture(
    lab: &mut Lab,
    file: &str,
    title: &str,
    note: &str,
    x: &str,
    table: &Table,
) -> Result<(), Failure> {
    let lines = Lines {
        title: title.into(),
        note: note.into(),
        x: Axis::linear(x),
        y: Axis::linear("milliseconds per step"),
        series: table.series(|outcome| outcome.median),
    };
    lab.plot(file, &[Chart::Lines(lines)])
}

/// Figure 8: one insertion and one removal, while more and more boxes move.
pub(crate) fn moving(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let shares = lab
        .pick(vec![0.05, 0.2, 1.0], vec![0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0]);
    let mut table = Table::default();
    lab.units(shares.len());
    for share in shares {
        let world = super::world(BOXES, share, 1.0);
        table.push(100.0 * share, contest(lab, &world, lab.pick(30, 400), persistent::single())?);
    }
    table.write(lab, "figure-8", "percent_moving")?;
    let title = "One insertion and one removal among 3 000 boxes";
    let note = "figure 8 of the paper; one cell";
    picture(lab, "figure-8", title, note, "percent of the boxes that move", &table)?;
    Ok(moving_claims(&table))
}

fn moving_claims(table: &Table) -> Vec<Claim> {
    // What moves is sorted in both ways alike, so it can only make the ratio smaller.
    let common = |claim: Claim| {
        claim.because(
            "swaps and their tests are common to both, and take more of a step here than there",
            "times as fast with nothing moving, where they are left out",
            table.gain(0.0),
            Bound::at_least(3.3),
        )
    };
    let at = format!("{BOXES} boxes");
    vec![
        common(
            Claim::new(
                "With 5 % moving, segmented lists are three times as fast as batch",
                "3 times (section 4.1, figure 8)",
            )
            .require("times as fast", table.gain(5.0), Bound::at_least(3.0).better_from(3.3))
            .at(at.clone()),
        ),
        common(
            Claim::new(
                "With 20 % moving they are 60 % faster",
                "1.6 times (section 4.1, figure 8)",
            )
            .require("times as fast", table.gain(20.0), Bound::at_least(1.6).better_from(1.76))
            .at(at.clone()),
        ),
        Claim::new(
            "With all moving they come close to batch",
            "nearly equal (section 4.1, figure 8)",
        )
        .require("times as fast", table.gain(100.0), Bound::at_least(0.8).better_from(1.0))
        .at(at)
        .remark("both sort globally then; a fifth slower still counts as close"),
    ]
}

/// Figure 9: 150 boxes move, while more and more come and go.
pub(crate) fn events(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let counts =
        lab.pick(vec![1.0, 10.0, 60.0], vec![1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 60.0, 80.0]);
    let mut table = Table::default();
    lab.units(counts.len());
    for count in counts {
        let world = super::world(BOXES, 0.05, count);
        table.push(2.0 * count, contest(lab, &world, lab.pick(30, 400), persistent::single())?);
    }
    table.write(lab, "figure-9", "events")?;
    let title = "150 of 3 000 boxes move, others come and go";
    let note = "figure 9 of the paper; one cell";
    picture(lab, "figure-9", title, note, "insertions and removals per step", &table)?;
    Ok(event_claims(&table))
}

fn event_claims(table: &Table) -> Vec<Claim> {
    vec![
        Claim::new(
            "With one insertion and one removal they are almost three times as fast",
            "almost 3 times (section 4.1, figure 9)",
        )
        .require("times as fast", table.gain(2.0), Bound::at_least(2.7).better_from(3.0))
        .at(format!("{BOXES} boxes")),
        Claim::new(
            "With ten insertions and ten removals they are still 90 % faster",
            "1.9 times (section 4.1, figure 9)",
        )
        .require("times as fast", table.gain(20.0), Bound::at_least(1.9).better_from(2.1))
        .at(format!("{BOXES} boxes"))
        .remark("a box that comes costs a test of some 300 candidates"),
        Claim::new(
            "Batch is faster from slightly less than 80 events on",
            "fewer than 80 (section 4.1, figure 9)",
        )
        .require(
            "events at which batch overtakes",
            table.crossing(),
            Bound::at_least(60.0).better_from(80.0),
        )
        .over_sizes()
        .remark("a later crossing is better for segmented lists"),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::super::Verdict::{Better, Fails, Holds, Undecided};
    use super::*;

    /// Batch takes these times, segmented lists take one.
    fn table(rows: &[(f64, f64)]) -> Table {
        let lists: Vec<(f64, Vec<f64>)> = rows.iter().map(|(at, t)| (*at, vec![*t; 5])).collect();
        let pairs: Vec<(f64, [&[f64]; 2])> =
            lists.iter().map(|(at, list)| (*at, [&list[..], &[1.0; 5][..]])).collect();
        Table::of(&pairs.iter().map(|(at, two)| (*at, &two[..])).collect::<Vec<_>>())
    }

    #[test]
    fn gains_of_figure_8_are_judged_on_both_sides() {
        let verdicts = |five, twenty, all| {
            let table = table(&[(5.0, five), (20.0, twenty), (100.0, all)]);
            moving_claims(&table).iter().map(Claim::judged).collect::<Vec<_>>()
        };
        assert_eq!(verdicts(3.1, 1.7, 0.9), [Holds, Holds, Holds]);
        assert_eq!(verdicts(2.9, 1.5, 0.7), [Fails, Fails, Fails]);
        assert_eq!(verdicts(3.4, 1.8, 1.1), [Better, Better, Better]);
    }

    #[test]
    fn gains_of_figure_9_are_judged_on_both_sides() {
        let verdicts = |one, ten, crossing: f64| {
            let rows = [(2.0, one), (20.0, ten), (crossing, 1.0), (crossing + 10.0, 0.5)];
            event_claims(&table(&rows)).iter().map(Claim::judged).collect::<Vec<_>>()
        };
        assert_eq!(verdicts(2.8, 2.0, 65.0), [Holds, Holds, Holds]);
        assert_eq!(verdicts(2.6, 1.8, 40.0), [Fails, Fails, Fails]);
        assert_eq!(verdicts(3.1, 2.2, 120.0), [Better, Better, Better]);
        assert_eq!(verdicts(2.8, 2.0, 55.0)[2], Undecided);
    }
}
