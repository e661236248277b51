//! Where the bounds of a box stand in an array of one of the shapes that hold boxes.
//!
//! | shape | a box |
//! |---|---|
//! | (n, 6) | min x y z, max x y z |
//! | (n, 2, 3) | the two corners |
//! | (n, 4) | min x y, max x y; flat: z is 0 |
//! | (n, 2, 2) | the two corners, flat |
//!
//! Each may have the number of frames in front.

use super::FileFault;

/// Frames without boxes cost no bytes, so a header could promise any number of them.
const MOST_EMPTY_FRAMES: u64 = 1_000_000;

const SHAPES: &str =
    "(n, 6) or (n, 2, 3), in 2D (n, 4) or (n, 2, 2), each with or without frames in front";

/// The shape of an array of boxes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// True if the number of frames stands in front.
    pub(super) sequence: bool,
    pub(super) frames: usize,
    pub(super) boxes: usize,
    /// 3, or 2 if the boxes are flat.
    pub(super) axes: usize,
    /// Corners are a dimension of their own.
    corners: bool,
}

impl Layout {
    /// The layout of a shape, if it is one that holds boxes.
    pub(super) fn of(shape: &[u64]) -> Result<Layout, FileFault> {
        let bad = |wanted| FileFault::Shape { found: shape.to_vec(), wanted };
        let (front, axes, corners) = match *shape {
            [ref front @ .., 6] => (front, 3, false),
            [ref front @ .., 4] => (front, 2, false),
            [ref front @ .., 2, 3] => (front, 3, true),
            [ref front @ .., 2, 2] => (front, 2, true),
            _ => return Err(bad(SHAPES)),
        };
        let (sequence, frames, boxes) = match *front {
            [boxes] => (false, 1, boxes),
            [frames, boxes] => (true, frames, boxes),
            _ => return Err(bad(SHAPES)),
        };
        if boxes > u64::from(u32::MAX) {
            return Err(bad("at most 4294967295 boxes per frame"));
        }
        let countable = usize::try_from(frames).ok().zip(usize::try_from(boxes).ok());
        let (frames, boxes) = match countable {
            Some((frames, boxes)) if boxes > 0 || frames as u64 <= MOST_EMPTY_FRAMES => {
                (frames, boxes)
            }
            _ => return Err(bad("at most a million frames if they hold no boxes")),
        };
        Ok(Layout { sequence, frames, boxes, axes, corners })
    }

    /// Numbers of one box.
    pub(super) fn columns(&self) -> usize {
        2 * self.axes
    }

    /// Bytes of the whole array, unless that overflows.
    pub(super) fn bytes(&self, number: usize) -> Option<u64> {
        let sizes = [self.frames, self.boxes, self.columns(), number];
        sizes.iter().try_fold(1u64, |product, &size| product.checked_mul(size as u64))
    }

    /// The place of a bound in an array stored in Fortran order, where the first index runs
    /// fastest. `corner` is 0 for min and 1 for max.
    pub(super) fn fortran_place(
        &self,
        frame: usize,
        index: usize,
        corner: usize,
        axis: usize,
    ) -> usize {
        let column = if self.corners { corner + 2 * axis } else { self.axes * corner + axis };
        frame + self.frames * (index + self.boxes * column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_told_apart() {
        let layout = |shape: &[u64]| {
            let found = Layout::of(shape).unwrap();
            (found.sequence, found.frames, found.boxes, found.axes)
        };
        assert_eq!(layout(&[5, 6]), (false, 1, 5, 3));
        assert_eq!(layout(&[5, 2, 3]), (false, 1, 5, 3));
        assert_eq!(layout(&[5, 4]), (false, 1, 5, 2));
        assert_eq!(layout(&[5, 2, 2]), (false, 1, 5, 2));
        assert_eq!(layout(&[7, 5, 6]), (true, 7, 5, 3));
        assert_eq!(layout(&[7, 5, 2, 3]), (true, 7, 5, 3));
        assert_eq!(layout(&[7, 5, 4]), (true, 7, 5, 2));
        assert_eq!(layout(&[7, 2, 2, 2]), (true, 7, 2, 2));
        assert_eq!(layout(&[0, 5, 6]), (true, 0, 5, 3));
        for wrong in [&[6][..], &[], &[5, 5], &[2, 2], &[1, 1, 1, 6], &[5, 3], &[5, 3, 2]] {
            assert!(Layout::of(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn every_place_of_a_fortran_array_is_used_once() {
        for shape in [&[3, 5, 6][..], &[3, 5, 4], &[3, 5, 2, 3], &[3, 5, 2, 2], &[4, 2, 2]] {
            let layout = Layout::of(shape).unwrap();
            let mut places = Vec::new();
            for frame in 0..layout.frames {
                for index in 0..layout.boxes {
                    for column in 0..layout.columns() {
                        let (corner, axis) = (column / layout.axes, column % layout.axes);
                        places.push(layout.fortran_place(frame, index, corner, axis));
                    }
                }
            }
            places.sort_unstable();
            assert!(places.into_iter().eq(0..shape.iter().product::<u64>() as usize));
        }
    }
}
