//! The gap that the thesis expects to widen in larger scenes, by the library's two ways: the
//! thesis's own need memory for every pair.

use super::super::Bound;
use super::{
    Claim, Failure, Lab, SAP, SIMD, SIMD_ONE, Times, drive, of_three, panel, ratio, scene, sorted,
    write,
};

/// Steps of larger and larger scenes.
pub(super) fn run(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let ways = [SAP, SIMD_ONE, SIMD];
    let sizes: Vec<usize> = lab.pick(vec![1 << 10, 1 << 12], (10..=16).map(|p| 1 << p).collect());
    let mut all = Vec::new();
    lab.units(sizes.len());
    for &n in &sizes {
        let steps = lab.pick(30, if n > 4096 { 100 } else { 400 });
        all.extend(drive(lab, &scene(n, 0.9), steps, &ways)?);
    }
    write(lab, "trend", &all)?;
    let median = |times: &Times| sorted(&times.whole).median();
    let note = "a tenth of the boxes moves; median step";
    lab.plot("trend", &[panel("Larger scenes, by the library", note, &all, &ways, median)])?;
    Ok(vec![of_three(claim(&all, sizes[0], sizes[sizes.len() - 1]))])
}

fn claim(all: &[Times], small: usize, large: usize) -> Claim {
    let gain = |n, way| ratio(all, n, SAP, way, |times| &times.whole);
    Claim::new(
        "The vector version's lead grows with the scene",
        "further tests would follow the trend and widen the gap (section 5.3)",
    )
    .require(format!("times as fast as sap at {large} boxes"), gain(large, SIMD), {
        Bound::at_least(1.0)
    })
    .require(
        format!("the same by that at {small} boxes"),
        gain(large, SIMD).over(gain(small, SIMD)),
        Bound::at_least(1.0),
    )
    .show(format!("one worker {} and {}", gain(small, SIMD_ONE), gain(large, SIMD_ONE)))
    .over_sizes()
    .remark(
        "sap and simd-sap of the library; sorting is a third of the step, testing what was \
             passed the rest, and no vector makes that faster",
    )
}

#[cfg(test)]
mod tests {
    use super::super::super::Verdict::{Fails, Holds};
    use super::super::made_up;
    use super::*;

    #[test]
    fn the_lead_is_judged_on_both_sides() {
        let verdict = |at_small: f64, at_large: f64| {
            let all = [
                made_up(64, SAP, 1.0, 1.0),
                made_up(64, SIMD, 1.0 / at_small, 1.0),
                made_up(1024, SAP, 1.0, 1.0),
                made_up(1024, SIMD, 1.0 / at_large, 1.0),
            ];
            claim(&all, 64, 1024).judged()
        };
        assert_eq!(verdict(1.5, 2.0), Holds);
        assert_eq!(verdict(2.0, 1.5), Fails, "a lead that shrinks");
        assert_eq!(verdict(0.5, 0.9), Fails, "no lead");
    }
}
