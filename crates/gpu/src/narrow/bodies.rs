//! [`Bodies`]: shapes and poses by slot as the device knows them, and what it does not know yet.

use std::ops::Range;

use jostle::glam::DVec3;
use jostle::shape::{Pose, Shape};

use super::table::{Table, same};

/// Words of a part: matrix, centre in two f32 for each coordinate, number of the shape.
pub(crate) const PART_WORDS: usize = 16;

/// Of more runs than this, all parts are sent.
const MOST_RUNS: usize = 64;

/// Parts between two that moved which are sent along rather than left out.
const GAP: usize = 16;

/// Translations up to this are safe to scale in f32.
const FURTHEST: f64 = 1e15;

#[derive(Debug)]
struct Known {
    shape: Shape,
    pose: Pose,
    first: u32,
    count: u32,
}

/// What the device knows.
#[derive(Debug, Default)]
pub(crate) struct Bodies {
    known: Vec<Known>,
    table: Table,
    /// First part and number of parts of each slot.
    slots: Vec<u32>,
    parts: Vec<u32>,
    /// Slots, shapes and vertices are new as well.
    all_new: bool,
    moved: Vec<Range<usize>>,
}

impl Bodies {
    /// Takes in what has changed. Parts are replaced in place where their number stays, and shapes
    /// are added; everything is made again when a compound takes the slot of another shape, and
    /// when most shapes are no longer used.
    pub(crate) fn follow(&mut self, shapes: &[Shape], poses: &[Pose]) {
        self.moved.clear();
        let (known, count) = (self.known.len().min(shapes.len()), self.table.len());
        let mut both = shapes.iter().zip(poses).enumerate();
        let fits = count <= 2 * shapes.len() + 64
            && both
                .by_ref()
                .take(known)
                .all(|(slot, (shape, pose))| self.follow_slot(slot, shape, pose));
        if fits {
            let first = self.parts.len() / PART_WORDS;
            both.for_each(|(_, (shape, pose))| self.push(shape, pose));
            if self.parts.len() / PART_WORDS > first {
                self.moved.push(first..self.parts.len() / PART_WORDS);
            }
            self.all_new |= self.known.len() > known || self.table.len() > count;
        } else {
            *self = Bodies::default();
            shapes.iter().zip(poses).for_each(|(shape, pose)| self.push(shape, pose));
            self.send_all();
        }
        if self.moved.len() > MOST_RUNS {
            self.send_parts();
        }
    }

    /// Returns false if the parts of the slot cannot be replaced in place.
    fn follow_slot(&mut self, slot: usize, shape: &Shape, pose: &Pose) -> bool {
        let known = &self.known[slot];
        let same_shape = same(&known.shape, shape);
        if same_shape && known.pose == *pose {
            return true;
        }
        if part_count(shape) != known.count as usize {
            return false;
        }
        let (first, count) = (known.first as usize, known.count as usize);
        let mut at = first * PART_WORDS;
        for_each_part(shape, pose, |part, pose| {
            let words = part_words(part, pose, &mut self.table);
            self.parts[at..at + PART_WORDS].copy_from_slice(&words);
            at += PART_WORDS;
        });
        if !same_shape {
            self.known[slot].shape = shape.clone();
        }
        self.known[slot].pose = *pose;
        match self.moved.last_mut() {
            Some(last) if first <= last.end + GAP && first >= last.start => {
                last.end = last.end.max(first + count);
            }
            _ => self.moved.push(first..first + count),
        }
        true
    }

    fn push(&mut self, shape: &Shape, pose: &Pose) {
        let first = (self.parts.len() / PART_WORDS) as u32;
        for_each_part(shape, pose, |part, pose| {
            let words = part_words(part, pose, &mut self.table);
            self.parts.extend(words);
        });
        let count = (self.parts.len() / PART_WORDS) as u32 - first;
        self.slots.extend([first, count]);
        self.known.push(Known { shape: shape.clone(), pose: *pose, first, count });
    }

    /// Everything is new to the device.
    pub(crate) fn send_all(&mut self) {
        self.all_new = true;
        self.send_parts();
    }

    fn send_parts(&mut self) {
        self.moved.clear();
        self.moved.push(0..self.parts.len() / PART_WORDS);
    }

    /// The device knows everything.
    pub(crate) fn sent(&mut self) {
        self.all_new = false;
        self.moved.clear();
    }

    /// Runs of parts that the device does not know.
    pub(crate) fn moved_parts(&self) -> &[Range<usize>] {
        &self.moved
    }

    /// Returns true if the device knows neither slots nor shapes.
    pub(crate) fn all_new(&self) -> bool {
        self.all_new
    }

    pub(crate) fn slots(&self) -> &[u32] {
        &self.slots
    }

    pub(crate) fn parts(&self) -> &[u32] {
        &self.parts
    }

    pub(crate) fn table(&self) -> &Table {
        &self.table
    }

    /// Number of different shapes.
    pub(crate) fn shape_count(&self) -> usize {
        self.table.len()
    }
}

fn part_count(shape: &Shape) -> usize {
    match shape {
        Shape::Compound(compound) => compound.pieces().len(),
        _ => 1,
    }
}

fn for_each_part(shape: &Shape, pose: &Pose, mut visit: impl FnMut(&Shape, &Pose)) {
    match shape {
        Shape::Compound(compound) => {
            for piece in compound.pieces() {
                visit(&piece.shape, &pose.compose(&piece.pose));
            }
        }
        _ => visit(shape, pose),
    }
}

fn part_words(shape: &Shape, pose: &Pose, table: &mut Table) -> [u32; PART_WORDS] {
    let matrix = pose.matrix();
    let middle = match shape {
        Shape::Triangle { .. } | Shape::Hull(_) | Shape::HalfSpace { .. } => shape.center(),
        _ => DVec3::ZERO,
    };
    let center = matrix.apply(middle);
    let mut words = [0; PART_WORDS];
    for (k, value) in matrix.rotation.to_cols_array().into_iter().enumerate() {
        words[k] = (value as f32).to_bits();
    }
    for k in 0..3 {
        let high = center[k] as f32;
        words[9 + k] = high.to_bits();
        words[12 + k] = ((center[k] - f64::from(high)) as f32).to_bits();
    }
    let near = center.abs().max_element() <= FURTHEST;
    // A place too far away is as good as an unknown shape.
    let unknown = Shape::Sphere { radius: f64::INFINITY };
    words[15] = table.number(if near { shape } else { &unknown });
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(x: f64) -> Pose {
        Pose::at([x, 0.0, 0.0]).unwrap()
    }

    fn moved(bodies: &Bodies) -> Vec<(usize, usize)> {
        bodies.moved_parts().iter().map(|run| (run.start, run.end)).collect()
    }

    #[test]
    fn what_moved_or_is_new_is_sent() {
        let ball = Shape::sphere(1.0).unwrap();
        let mut shapes = vec![ball.clone(); 100];
        let mut poses: Vec<Pose> = (0..100).map(|k| at(f64::from(k))).collect();
        let mut bodies = Bodies::default();
        bodies.follow(&shapes, &poses);
        assert!(bodies.all_new() && moved(&bodies) == [(0, 100)]);
        bodies.sent();
        for slot in [3, 5, 80] {
            poses[slot] = at(-1.0);
        }
        bodies.follow(&shapes, &poses);
        assert!(!bodies.all_new());
        assert_eq!(moved(&bodies), [(3, 6), (80, 81)]);
        bodies.sent();
        shapes[7] = Shape::cuboid(DVec3::ONE).unwrap();
        bodies.follow(&shapes, &poses);
        assert!(bodies.all_new() && bodies.shape_count() == 2);
        assert_eq!(moved(&bodies), [(7, 8)]);
        bodies.sent();
        shapes.push(ball.clone());
        poses.push(at(0.0));
        bodies.follow(&shapes, &poses);
        assert!(bodies.all_new() && moved(&bodies) == [(100, 101)]);
        bodies.sent();
        let two = vec![(ball.clone(), at(0.0)), (ball.clone(), at(1.0))];
        shapes[9] = Shape::compound(two).unwrap();
        bodies.follow(&shapes, &poses);
        assert!(bodies.all_new() && moved(&bodies) == [(0, 102)]);
        bodies.sent();
        shapes[7] = ball;
        bodies.follow(&shapes, &poses);
        assert!(!bodies.all_new() && moved(&bodies) == [(7, 8)]);
    }
}
