//! [`Difference`] of two sorted lists of pairs, and how it is told.

use std::fmt::Write;

use jostle::{Boxes, Pair, Slot};

/// How many differing pairs are shown.
const SHOWN: usize = 3;

/// What one list has and the other has not. A pair that is listed twice differs from one that
/// is listed once.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// Expected, but not found.
    pub missing: Vec<Pair>,
    /// Found, but not expected.
    pub extra: Vec<Pair>,
}

/// Compares sorted lists.
pub fn difference(expected: &[Pair], found: &[Pair]) -> Difference {
    let mut result = Difference::default();
    let mut expected = expected.iter().copied().peekable();
    for &pair in found {
        while let Some(missing) = expected.next_if(|&wanted| wanted < pair) {
            result.missing.push(missing);
        }
        if expected.next_if_eq(&pair).is_none() {
            result.extra.push(pair);
        }
    }
    result.missing.extend(expected);
    result
}

impl Difference {
    /// Returns true if the lists are equal.
    pub fn is_empty(&self) -> bool {
        self.missing.is_empty() && self.extra.is_empty()
    }

    /// Counts, and the first differing pairs with the bounds of their boxes.
    pub fn describe(&self, what: &str, boxes: &Boxes) -> String {
        let (missing, extra) = (self.missing.len(), self.extra.len());
        let mut text = format!("{what}: {missing} missing, {extra} extra");
        for (kind, list) in [("missing", &self.missing), ("extra", &self.extra)] {
            for pair in list.iter().take(SHOWN) {
                // Writing to a String cannot fail.
                let _ = write!(text, "\n    {kind} {} {}", pair.a(), pair.b());
                for id in [pair.a(), pair.b()] {
                    let _ = write!(text, "\n      {}", bounds(id, boxes));
                }
            }
            if list.len() > SHOWN {
                let _ = write!(text, "\n    … {} more {kind}", list.len() - SHOWN);
            }
        }
        text
    }
}

fn bounds(slot: Slot, boxes: &Boxes) -> String {
    match boxes.is_live(slot) {
        true => {
            let (aabb, filter) = (boxes.aabbs()[slot.index()], boxes.filters()[slot.index()]);
            let still = if filter.still { " still" } else { "" };
            format!("box {slot}: min {:?} max {:?}{still}", aabb.min, aabb.max)
        }
        false => format!("box {slot}: removed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(list: &[(u32, u32)]) -> Vec<Pair> {
        list.iter().map(|&pair| pair.into()).collect()
    }

    #[test]
    fn missing_extra_and_repeated_pairs_are_told() {
        let expected = pairs(&[(0, 1), (0, 3), (2, 3)]);
        let found = pairs(&[(0, 1), (0, 1), (1, 2), (2, 3)]);
        let wrong = difference(&expected, &found);
        assert_eq!(wrong.missing, pairs(&[(0, 3)]));
        assert_eq!(wrong.extra, pairs(&[(0, 1), (1, 2)]));
        assert!(difference(&expected, &expected).is_empty());
    }
}
