//! [`Table`]: shapes as the kernels of the narrow phase read them, each of them once.
//!
//! Sizes and vertices are rounded to f32, vertices about the middle of their hull; the kernels'
//! bound (`gjk.wgsl`) covers that. Hulls of many vertices also get links between neighbours and a
//! cube map of directions, if climbing is exact enough on them.
//!
//! **What a climb may miss.** It ends at a vertex w all of whose neighbours are computed to be no
//! further. Their true heights may then be greater by twice the rounding error e of a height. The
//! hull lies in the cone of the edges at w, and with n the direction from w to the middle, every
//! edge climbs along n by at least m; so a point of the hull is w plus at most D / m edges, with D
//! the diameter, and no further than 2 e D / m beyond w. The largest D / m of all vertices is some
//! 180 for a sphere of 642 vertices: the answer is off by half a thousandth of the radius at most,
//! and that is added to the height.

use std::collections::BTreeMap;
use std::sync::Arc;

use jostle::glam::DVec3;
use jostle::shape::{Hull, Shape};

/// Words of a shape.
pub(crate) const SHAPE_WORDS: usize = 12;

/// Hulls with at least this many vertices are climbed, smaller ones scanned: as on the processor.
const CLIMB_FROM: usize = 80;

/// A climb may miss at most this share of the hull's reach; else the hull is scanned.
const MOST_MISSED: f64 = 0.02;

/// The unit of rounding of the kernels.
const UNIT: f64 = f32::EPSILON as f64;

/// Sizes from here to `1 / SMALLEST` are safe to square and multiply in f32.
const SMALLEST: f64 = 1e-12;

const NO_SHAPE: u32 = 0;
const SEGMENT: u32 = 1;
const CUBOID: u32 = 2;
const CYLINDER: u32 = 3;
const CONE: u32 = 4;
const ELLIPSOID: u32 = 5;
const POINTS: u32 = 6;
const HALF_SPACE: u32 = 7;

/// What tells shapes apart: kind and sizes, or the address of a hull, which is kept alive.
type Key = [u64; 10];

/// Shapes and their vertices.
#[derive(Debug, Default)]
pub(crate) struct Table {
    numbers: BTreeMap<Key, u32>,
    /// Keeps the addresses in keys from being used again.
    hulls: Vec<Arc<Hull>>,
    /// [`SHAPE_WORDS`] each.
    pub(crate) shapes: Vec<u32>,
    /// Vertices, links and cube maps.
    pub(crate) data: Vec<u32>,
}

impl Table {
    /// The number of a convex shape; it is added if it is new.
    pub(crate) fn number(&mut self, shape: &Shape) -> u32 {
        let key = key(shape);
        if let Some(&number) = self.numbers.get(&key) {
            return number;
        }
        let number = (self.shapes.len() / SHAPE_WORDS) as u32;
        let words = self.words(shape);
        self.shapes.extend(words);
        self.numbers.insert(key, number);
        if let Shape::Hull(hull) = shape {
            self.hulls.push(hull.clone());
        }
        number
    }

    /// Number of shapes.
    pub(crate) fn len(&self) -> usize {
        self.numbers.len()
    }

    fn words(&mut self, shape: &Shape) -> [u32; SHAPE_WORDS] {
        let (kind, sizes) = match shape {
            Shape::Sphere { .. } => (SEGMENT, DVec3::ZERO),
            Shape::Capsule { half_height, .. } => (SEGMENT, DVec3::Y * *half_height),
            Shape::Cuboid { half_extents } => (CUBOID, *half_extents),
            Shape::Cylinder { radius, half_height } => {
                (CYLINDER, DVec3::new(*radius, *half_height, 0.0))
            }
            Shape::Cone { radius, half_height } => (CONE, DVec3::new(*radius, *half_height, 0.0)),
            Shape::Ellipsoid { radii } => (ELLIPSOID, *radii),
            Shape::HalfSpace { normal, .. } => (HALF_SPACE, *normal),
            Shape::Triangle { .. } | Shape::Hull(_) => (POINTS, DVec3::ZERO),
            _ => (NO_SHAPE, DVec3::ZERO),
        };
        let (radius, reach) = (shape.margin(), core_reach(shape));
        let whole = radius + reach;
        let fits = whole == 0.0 || (SMALLEST..=1.0 / SMALLEST).contains(&whole);
        if kind == NO_SHAPE || !(fits || kind == HALF_SPACE) {
            return [0; SHAPE_WORDS];
        }
        let mut words = [0; SHAPE_WORDS];
        words[0] = kind;
        words[1] = (radius as f32).to_bits();
        (0..3).for_each(|k| words[2 + k] = (sizes[k] as f32).to_bits());
        words[5] = (reach as f32).next_up().to_bits();
        if kind == POINTS {
            let vertices = match shape {
                Shape::Triangle { points } => self.vertices(points, shape.center()),
                Shape::Hull(hull) => self.vertices(hull.vertices(), shape.center()),
                _ => [0; 2],
            };
            words[6..8].copy_from_slice(&vertices);
        }
        if let Shape::Hull(hull) = shape {
            words[8..12].copy_from_slice(&self.ways(hull, reach));
        }
        words
    }

    fn vertices(&mut self, points: &[DVec3], center: DVec3) -> [u32; 2] {
        let first = self.data.len() as u32;
        for &point in points {
            let point = point - center;
            self.data.extend(point.to_array().map(|value| (value as f32).to_bits()));
        }
        [first, points.len() as u32]
    }

    /// What a climb may miss, cells of the cube map, and where map and links are; zeros if the hull
    /// is to be scanned.
    fn ways(&mut self, hull: &Hull, reach: f64) -> [u32; 4] {
        let missed = 24.0 * UNIT * reach * steepness(hull);
        if hull.vertices().len() < CLIMB_FROM || missed > MOST_MISSED * reach {
            return [0; 4];
        }
        let count = hull.vertices().len() as u32;
        let links = self.data.len() as u32;
        let mut at = links + count + 1;
        for vertex in 0..count {
            self.data.push(at);
            at += hull.neighbours(vertex).len() as u32;
        }
        self.data.push(at);
        (0..count).for_each(|vertex| self.data.extend_from_slice(hull.neighbours(vertex)));
        let cells = ((f64::from(count) / 1.5).sqrt().ceil() as u32).clamp(4, 128);
        let cube_map = self.data.len() as u32;
        let mut hint = 0;
        for side in 0..6 {
            for row in 0..cells {
                for column in 0..cells {
                    let middle = cell_middle(side, row, column, cells);
                    self.data.push(hull.support_index_from(middle, &mut hint));
                }
            }
        }
        [(missed as f32).next_up().to_bits(), cells, cube_map, links]
    }
}

/// A bound on the distance of the core's points from its middle.
fn core_reach(shape: &Shape) -> f64 {
    match shape {
        Shape::Sphere { .. } | Shape::HalfSpace { .. } => 0.0,
        Shape::Capsule { half_height, .. } => *half_height,
        _ => shape.bounding_radius(),
    }
}

/// The largest D / m of the module's account; infinite if climbing is not safe.
fn steepness(hull: &Hull) -> f64 {
    if hull.dimension() < 3 {
        return f64::INFINITY;
    }
    let (center, diameter) = (hull.center(), 2.0 * hull.bounding_radius());
    let mut most = 0.0f64;
    for (index, &vertex) in hull.vertices().iter().enumerate() {
        let inward = (center - vertex).normalize_or_zero();
        let edges = hull.neighbours(index as u32).iter();
        let climbs = edges.map(|&other| (hull.vertices()[other as usize] - vertex).dot(inward));
        let least = climbs.fold(f64::INFINITY, f64::min);
        most = most.max(if least > 0.0 { diameter / least } else { f64::INFINITY });
    }
    1.001 * most
}

/// The direction through the middle of a cell, as `narrow_thread.wgsl` numbers them.
fn cell_middle(side: u32, row: u32, column: u32, cells: u32) -> DVec3 {
    let place = |index: u32| (2.0 * f64::from(index) + 1.0) / f64::from(cells) - 1.0;
    let (u, v) = (place(column), place(row));
    let main = if side.is_multiple_of(2) { 1.0 } else { -1.0 };
    match side / 2 {
        0 => DVec3::new(main, u, v),
        1 => DVec3::new(v, main, u),
        _ => DVec3::new(u, v, main),
    }
}

fn key(shape: &Shape) -> Key {
    let mut key = [0; 10];
    let mut set = |kind: u64, numbers: &[f64]| {
        key[0] = kind;
        numbers.iter().zip(&mut key[1..]).for_each(|(number, bits)| *bits = number.to_bits());
    };
    match shape {
        Shape::Sphere { radius } => set(1, &[*radius]),
        Shape::Capsule { radius, half_height } => set(2, &[*radius, *half_height]),
        Shape::Cuboid { half_extents } => set(3, &half_extents.to_array()),
        Shape::Cylinder { radius, half_height } => set(4, &[*radius, *half_height]),
        Shape::Cone { radius, half_height } => set(5, &[*radius, *half_height]),
        Shape::Ellipsoid { radii } => set(6, &radii.to_array()),
        Shape::Triangle { points } => {
            let numbers: Vec<f64> = points.iter().flat_map(|point| point.to_array()).collect();
            set(7, &numbers);
        }
        Shape::HalfSpace { normal, .. } => set(8, &normal.to_array()),
        Shape::Hull(hull) => {
            key[0] = 9;
            key[1] = Arc::as_ptr(hull) as usize as u64;
        }
        _ => {}
    }
    key
}

/// Returns true if two shapes are surely the same.
pub(crate) fn same(one: &Shape, other: &Shape) -> bool {
    match (one, other) {
        (Shape::Compound(one), Shape::Compound(other)) => Arc::ptr_eq(one, other),
        (Shape::Compound(_), _) | (_, Shape::Compound(_)) => false,
        (Shape::HalfSpace { offset: one_at, .. }, Shape::HalfSpace { offset: other_at, .. }) => {
            one_at == other_at && key(one) == key(other)
        }
        _ => key(one) == key(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_is_kept_once_and_large_hulls_get_a_map() {
        let mut table = Table::default();
        let ball = Shape::Hull(Arc::new(Hull::icosphere(1.0, 3).unwrap()));
        let small = Shape::Hull(Arc::new(Hull::icosphere(1.0, 1).unwrap()));
        let shapes = [ball.clone(), small, Shape::sphere(1.0).unwrap(), ball];
        let numbers: Vec<u32> = shapes.iter().map(|shape| table.number(shape)).collect();
        assert_eq!((numbers, table.len()), (vec![0, 1, 2, 0], 3));
        let missed = f32::from_bits(table.shapes[8]);
        assert!(missed > 0.0 && missed < 1e-3, "{missed}");
        assert_eq!(table.shapes[SHAPE_WORDS + 8], 0, "42 vertices are scanned");
    }

    #[test]
    fn flat_and_extreme_hulls_are_not_climbed() {
        let ring = |k: u32| DVec3::new(f64::from(k).cos(), 0.0, f64::from(k).sin());
        let flat = Hull::new(&(0..200).map(ring).collect::<Vec<_>>()).unwrap();
        assert_eq!(steepness(&flat), f64::INFINITY);
        let mut table = Table::default();
        table.number(&Shape::Hull(Arc::new(flat)));
        assert_eq!((table.shapes[0], table.shapes[8]), (POINTS, 0));
        table.number(&Shape::sphere(1e-20).unwrap());
        table.number(&Shape::sphere(1e20).unwrap());
        table.number(&Shape::sphere(0.0).unwrap());
        let kinds: Vec<u32> = table.shapes.chunks(SHAPE_WORDS).map(|words| words[0]).collect();
        assert_eq!(kinds, [POINTS, NO_SHAPE, NO_SHAPE, SEGMENT]);
    }
}
