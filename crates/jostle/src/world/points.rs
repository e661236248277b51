//! [`PointList`]: the contact points of a pair.

use crate::narrow::ManifoldPoint;

/// A list whose single point needs no memory elsewhere: balls have one, and they are many.
#[derive(Clone, Debug, Default)]
pub(super) struct PointList {
    single: Option<ManifoldPoint>,
    /// All of them, if there is not just one.
    several: Vec<ManifoldPoint>,
}

impl PointList {
    pub(crate) fn as_slice(&self) -> &[ManifoldPoint] {
        match &self.single {
            Some(point) => std::slice::from_ref(point),
            None => &self.several,
        }
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [ManifoldPoint] {
        match &mut self.single {
            Some(point) => std::slice::from_mut(point),
            None => &mut self.several,
        }
    }

    /// Takes other points; the room is kept.
    pub(crate) fn set(&mut self, points: &[ManifoldPoint]) {
        self.single = None;
        self.several.clear();
        match points {
            [point] => self.single = Some(*point),
            _ => self.several.extend_from_slice(points),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_any_length_come_back() {
        let points = |count: u64| -> Vec<ManifoldPoint> {
            (0..count).map(|id| ManifoldPoint { id, ..ManifoldPoint::default() }).collect()
        };
        let mut list = PointList::default();
        for count in [0, 1, 4, 1, 0, 7] {
            list.set(&points(count));
            assert_eq!(list.as_slice(), points(count));
            assert_eq!(list.as_mut_slice(), points(count));
        }
    }
}
