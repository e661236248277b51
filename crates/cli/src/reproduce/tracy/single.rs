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
    for share in shares {
        let world = super::world(BOXES, share, 1.0);
        table.push(100.0 * share, contest(lab, &world, lab.pick(30, 400), persistent::single())?);
    }
    table.write(lab, "figure-8", "percent_moving")?;
    let title = "One insertion and one removal among 3 000 boxes";
    let note = "figure 8 of the paper; one cell";
    picture(lab, "figure-8", title, note, "percent of the boxes that move", &table)?;
    let why = "swaps and their tests are common to both; batch passes over all ends besides";
    let at = format!("{BOXES} boxes");
    Ok(vec![
        Claim::new(
            "With 5 % moving, segmented lists are three times as fast as batch",
            "3 times (section 4.1, figure 8)",
        )
        .require("times as fast", table.gain(5.0), Bound::at_least(3.0).better_from(3.3))
        .at(at.clone())
        .remark(why),
        Claim::new("With 20 % moving they are 60 % faster", "1.6 times (section 4.1, figure 8)")
            .require("times as fast", table.gain(20.0), Bound::at_least(1.6).better_from(1.76))
            .at(at.clone())
            .remark(why),
        Claim::new(
            "With all moving they come close to batch",
            "nearly equal (section 4.1, figure 8)",
        )
        .require("times as fast", table.gain(100.0), Bound::at_least(0.8).better_from(1.0))
        .at(at)
        .remark("both sort globally then; a fifth slower still counts as close"),
    ])
}

/// Figure 9: 150 boxes move, while more and more come and go.
pub(crate) fn events(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let counts =
        lab.pick(vec![1.0, 10.0, 60.0], vec![1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 60.0, 80.0]);
    let mut table = Table::default();
    for count in counts {
        let world = super::world(BOXES, 0.05, count);
        table.push(2.0 * count, contest(lab, &world, lab.pick(30, 400), persistent::single())?);
    }
    table.write(lab, "figure-9", "events")?;
    let title = "150 of 3 000 boxes move, others come and go";
    let note = "figure 9 of the paper; one cell";
    picture(lab, "figure-9", title, note, "insertions and removals per step", &table)?;
    Ok(vec![
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
    ])
}
