//! [`overlaps`] and [`overlaps_between`]: pairs of boxes that do not move, in one call.

use crate::aabb::Aabb;
use crate::broad::Algorithm;
use crate::detector::Detector;
use crate::error::{BoxError, Error};
use crate::filter::Filter;
use crate::pair::Pair;

/// Every overlapping pair of a list of boxes, ascending; ids are places in the list.
pub fn overlaps(boxes: &[Aabb]) -> Result<Vec<Pair>, Error> {
    let mut detector = Detector::new(Algorithm::Auto);
    detector.boxes_mut().insert_all(boxes, Filter::ALL)?;
    detector.step()?;
    Ok(detector.pairs().to_vec())
}

/// Every overlap between a box of one list and a box of the other, as places in the lists,
/// ascending. Overlaps within a list are not looked for. An error counts the boxes of `b` on
/// from those of `a`.
pub fn overlaps_between(a: &[Aabb], b: &[Aabb]) -> Result<Vec<(u32, u32)>, Error> {
    let mut detector = Detector::new(Algorithm::Auto);
    detector.boxes_mut().insert_all(a, Filter::groups(1, 2))?;
    detector
        .boxes_mut()
        .insert_all(b, Filter::groups(2, 1))
        .map_err(|error| shifted(error, a.len()))?;
    detector.step()?;
    let offset = a.len() as u32;
    Ok(detector.pairs().iter().map(|pair| (pair.a().get(), pair.b().get() - offset)).collect())
}

fn shifted(error: BoxError, offset: usize) -> BoxError {
    match error {
        BoxError::Invalid(mut invalid) => {
            invalid.index += offset;
            invalid.into()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(count: usize, gap: f32) -> Vec<Aabb> {
        (0..count)
            .map(|k| Aabb::new([k as f32 * gap, 0.0, 0.0], [k as f32 * gap + 1.0, 1.0, 1.0]))
            .collect()
    }

    #[test]
    fn neighbours_in_a_row_overlap() {
        let pairs = overlaps(&row(100, 0.75)).unwrap();
        assert_eq!(pairs.len(), 99);
        assert!(pairs.iter().all(|pair| pair.a().get() + 1 == pair.b().get()));
        assert!(overlaps(&[]).unwrap().is_empty());
    }

    #[test]
    fn between_two_lists_only_crossing_pairs_count() {
        let (a, b) = (row(40, 0.25), row(30, 2.0));
        let expected: Vec<(u32, u32)> = (0..40u32)
            .flat_map(|i| (0..30u32).map(move |j| (i, j)))
            .filter(|&(i, j)| a[i as usize].overlaps(&b[j as usize]))
            .collect();
        assert!(!expected.is_empty());
        assert_eq!(overlaps_between(&a, &b).unwrap(), expected);
        assert!(overlaps_between(&a, &[]).unwrap().is_empty());
    }

    #[test]
    fn a_bad_box_is_named_by_its_place() {
        let mut b = row(3, 2.0);
        b[1].min[2] = f32::NAN;
        let error = overlaps_between(&row(5, 2.0), &b).unwrap_err();
        assert!(error.to_string().starts_with("box 6: min z is NaN"), "{error}");
    }
}
