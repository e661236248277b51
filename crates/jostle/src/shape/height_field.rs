//! [`HeightField`]: terrain as a grid of heights.
//!
//! Vertices stand in columns along x and rows along z, `spacing` apart, the first at the origin;
//! heights are along y. Each cell is two triangles that face up. Nothing is built: cells are found
//! by their place, and blocks of eight by eight cells keep their least and greatest height, a
//! fortieth of the memory of the heights. Changing heights costs no more than writing them.
//!
//! A question about a region of c cells costs O(c / 64) for the blocks it covers, and the cells in
//! those whose heights are near; one without a limit (how far is the ground?) looks at all blocks.

use glam::DVec3;

use super::error::{ShapeError, bad_axis, check_size};
use super::{next_identity, round_radius};

/// Cells along a side of a block.
const BLOCK: u32 = 8;

/// A grid of heights over the plane y = 0.
///
/// ```
/// use jostle::narrow::{Placed, contact};
/// use jostle::shape::{HeightField, Pose, Shape};
///
/// // Two columns by three rows: a slope that rises along z.
/// let heights = vec![0.0, 0.0, 1.0, 1.0, 2.0, 2.0];
/// let slope = Shape::from(HeightField::new(2, [10.0, 1.0], heights)?);
/// let ball = Shape::sphere(0.5)?;
/// let ball = Placed::new(&ball, Pose::at([5.0, 2.0, 1.0])?);
/// let found = contact(&Placed::new(&slope, Pose::IDENTITY), &ball);
/// assert!((found.distance - (0.5f64.sqrt() - 0.5)).abs() < 1e-12);
/// # Ok::<(), jostle::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct HeightField {
    columns: u32,
    rows: u32,
    spacing: [f64; 2],
    heights: Vec<f64>,
    /// Cells without triangles, by number, sorted.
    holes: Vec<u32>,
    /// Least and greatest height of each block.
    blocks: Vec<[f64; 2]>,
    low: f64,
    high: f64,
    identity: u64,
}

impl HeightField {
    /// A field with `columns` vertices along x, `spacing` apart along x and z; row by row.
    pub fn new(
        columns: u32,
        spacing: [f64; 2],
        heights: Vec<f64>,
    ) -> Result<HeightField, ShapeError> {
        check_size("spacing x", spacing[0])?;
        check_size("spacing z", spacing[1])?;
        if let Some(k) = (0..2).find(|&k| spacing[k] == 0.0) {
            return Err(ShapeError::Size { field: ["spacing x", "spacing z"][k], value: 0.0 });
        }
        let rows = heights.len() / (columns as usize).max(1);
        let fits = columns >= 2 && rows >= 2 && rows * columns as usize == heights.len();
        if !fits || heights.len() > 1 << 30 {
            return Err(ShapeError::Grid { columns, heights: heights.len() });
        }
        check_heights(&heights)?;
        let far = DVec3::new(f64::from(columns) * spacing[0], 0.0, rows as f64 * spacing[1]);
        if let Some(axis) = bad_axis(far) {
            let (field, value) = ("last vertex", far[axis.index()]);
            return Err(ShapeError::Coordinate { field, index: 0, axis, value });
        }
        let mut field = HeightField {
            columns,
            rows: rows as u32,
            spacing,
            heights,
            holes: Vec::new(),
            blocks: Vec::new(),
            low: 0.0,
            high: 0.0,
            identity: 0,
        };
        field.renew_blocks();
        Ok(field)
    }

    /// Gives the field other heights, as many as it has. Nothing changes on an error.
    pub fn set_heights(&mut self, heights: &[f64]) -> Result<(), ShapeError> {
        if heights.len() != self.heights.len() {
            let columns = self.columns;
            return Err(ShapeError::Grid { columns, heights: heights.len() });
        }
        check_heights(heights)?;
        self.heights.copy_from_slice(heights);
        self.renew_blocks();
        Ok(())
    }

    /// The field with holes in cells, each named by its place along x and along z. Cells that do
    /// not exist are ignored.
    #[must_use]
    pub fn with_holes(mut self, cells: &[[u32; 2]]) -> HeightField {
        let [wide, long] = self.cells();
        let within = cells.iter().filter(|[x, z]| *x < wide && *z < long);
        self.holes.extend(within.map(|[x, z]| z * wide + x));
        self.holes.sort_unstable();
        self.holes.dedup();
        self.identity = next_identity();
        self
    }

    fn renew_blocks(&mut self) {
        let [wide, long] = self.cells();
        self.blocks.clear();
        (self.low, self.high) = (f64::INFINITY, f64::NEG_INFINITY);
        for z in (0..long).step_by(BLOCK as usize) {
            for x in (0..wide).step_by(BLOCK as usize) {
                let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
                for row in z..=(z + BLOCK).min(long) {
                    for column in x..=(x + BLOCK).min(wide) {
                        let height = self.height(column, row);
                        (low, high) = (low.min(height), high.max(height));
                    }
                }
                self.blocks.push([low, high]);
                (self.low, self.high) = (self.low.min(low), self.high.max(high));
            }
        }
        self.identity = next_identity();
    }

    /// Cells along x and z.
    fn cells(&self) -> [u32; 2] {
        [self.columns - 1, self.rows - 1]
    }

    /// Vertices along x, and along z.
    pub fn size(&self) -> [u32; 2] {
        [self.columns, self.rows]
    }

    /// Distances of neighbouring vertices along x and z.
    pub fn spacing(&self) -> [f64; 2] {
        self.spacing
    }

    /// The heights, row by row.
    pub fn heights(&self) -> &[f64] {
        &self.heights
    }

    /// Numbers of the cells without triangles, ascending.
    #[cfg(feature = "serde")]
    pub(super) fn holes(&self) -> &[u32] {
        &self.holes
    }

    pub(crate) fn identity(&self) -> u64 {
        self.identity
    }

    #[inline]
    fn height(&self, column: u32, row: u32) -> f64 {
        self.heights[row as usize * self.columns as usize + column as usize]
    }

    #[inline]
    fn vertex(&self, column: u32, row: u32) -> DVec3 {
        let [along, across] = self.spacing;
        let height = self.height(column, row);
        DVec3::new(f64::from(column) * along, height, f64::from(row) * across)
    }

    /// The corners of a triangle, counter-clockwise from above. Triangle `2 c` and `2 c + 1` are
    /// those of cell `c`, and cells are numbered row by row.
    ///
    /// # Panics
    /// If there is no such triangle.
    pub fn corners(&self, triangle: u32) -> [DVec3; 3] {
        let cell = triangle / 2;
        let (x, z) = (cell % self.cells()[0], cell / self.cells()[0]);
        self.both(x, z)[triangle as usize % 2]
    }

    /// The numbers of the corners of a triangle among the heights.
    pub(crate) fn vertices_of(&self, triangle: u32) -> [u32; 3] {
        let cell = triangle / 2;
        let a = cell / self.cells()[0] * self.columns + cell % self.cells()[0];
        let (b, c, d) = (a + 1, a + self.columns, a + self.columns + 1);
        if triangle % 2 == 0 { [a, c, b] } else { [b, c, d] }
    }

    fn both(&self, x: u32, z: u32) -> [[DVec3; 3]; 2] {
        let (a, b) = (self.vertex(x, z), self.vertex(x + 1, z));
        let (c, d) = (self.vertex(x, z + 1), self.vertex(x + 1, z + 1));
        [[a, c, b], [b, c, d]]
    }

    /// The corners of the box around it.
    pub fn bounds(&self) -> (DVec3, DVec3) {
        let [wide, long] = self.cells().map(f64::from);
        let far = DVec3::new(wide * self.spacing[0], self.high, long * self.spacing[1]);
        (DVec3::new(0.0, self.low, 0.0), far)
    }

    /// The middle of the bounds.
    pub fn center(&self) -> DVec3 {
        let (low, high) = self.bounds();
        low * 0.5 + high * 0.5
    }

    /// A radius about the center that holds all of it.
    pub fn bounding_radius(&self) -> f64 {
        let (low, high) = self.bounds();
        round_radius((high - low).length() * 0.5)
    }

    /// The furthest vertex in a direction.
    pub(crate) fn support(&self, direction: DVec3) -> DVec3 {
        let mut best = (f64::MIN, self.vertex(0, 0));
        for row in 0..self.rows {
            for column in 0..self.columns {
                let vertex = self.vertex(column, row);
                let reach = vertex.dot(direction);
                if reach > best.0 {
                    best = (reach, vertex);
                }
            }
        }
        best.1
    }

    /// Cells along an axis that lie within an interval; the end is exclusive.
    fn range(low: f64, high: f64, spacing: f64, count: u32) -> std::ops::Range<u32> {
        // A cell more on both sides covers the rounding of the division.
        let first = (low / spacing - 1e-6).floor().clamp(0.0, f64::from(count)) as u32;
        let last = (high / spacing + 1e-6).ceil().clamp(0.0, f64::from(count)) as u32;
        // The borders of the field belong to its outermost cells.
        let first = first.min(count - 1);
        first..last.max(first + 1)
    }

    /// As [`Mesh::near`](super::mesh::Mesh::near).
    pub(crate) fn near(
        &self,
        low: DVec3,
        high: DVec3,
        mut limit: f64,
        mut visit: impl FnMut(u32, &[DVec3; 3]) -> f64,
    ) {
        let [wide, long] = self.cells();
        let span = |k: usize, spacing: f64, count: u32| {
            HeightField::range(low[k] - limit, high[k] + limit, spacing, count)
        };
        let (xs, zs) = (span(0, self.spacing[0], wide), span(2, self.spacing[1], long));
        let across = wide.div_ceil(BLOCK);
        let mut blocks = Vec::new();
        for z in zs.start / BLOCK..zs.end.div_ceil(BLOCK) {
            for x in xs.start / BLOCK..xs.end.div_ceil(BLOCK) {
                let [floor, top] = self.blocks[(z * across + x) as usize];
                let (x, z) = (x * BLOCK, z * BLOCK);
                let end = [(x + BLOCK).min(wide), (z + BLOCK).min(long)];
                let gap = self.gap([x, z], end, [floor, top], low, high);
                if gap <= limit {
                    blocks.push((gap, z, x));
                }
            }
        }
        blocks.sort_unstable_by(|one, other| {
            one.0.total_cmp(&other.0).then((one.1, one.2).cmp(&(other.1, other.2)))
        });
        for (gap, z, x) in blocks {
            if gap > limit {
                return;
            }
            for z in z.max(zs.start)..(z + BLOCK).min(zs.end) {
                for x in x.max(xs.start)..(x + BLOCK).min(xs.end) {
                    limit = self.visit_cell([x, z], (low, high), limit, &mut visit);
                    if limit < 0.0 {
                        return;
                    }
                }
            }
        }
    }

    #[inline]
    fn visit_cell(
        &self,
        [x, z]: [u32; 2],
        (low, high): (DVec3, DVec3),
        limit: f64,
        visit: &mut impl FnMut(u32, &[DVec3; 3]) -> f64,
    ) -> f64 {
        let corners = [(x, z), (x + 1, z), (x, z + 1), (x + 1, z + 1)];
        let heights = corners.map(|(x, z)| self.height(x, z));
        let floor = heights.into_iter().fold(f64::INFINITY, f64::min);
        let top = heights.into_iter().fold(f64::NEG_INFINITY, f64::max);
        let cell = z * self.cells()[0] + x;
        if self.gap([x, z], [x + 1, z + 1], [floor, top], low, high) > limit
            || self.holes.binary_search(&cell).is_ok()
        {
            return limit;
        }
        let mut limit = limit;
        for (triangle, corners) in (2 * cell..).zip(&self.both(x, z)) {
            limit = visit(triangle, corners);
            if limit < 0.0 {
                break;
            }
        }
        limit
    }

    /// Visits the triangles of a cell, unless it is all above or all below two heights and what is
    /// between them.
    #[inline]
    pub(crate) fn visit_between(
        &self,
        [x, z]: [u32; 2],
        heights: [f64; 2],
        visit: &mut impl FnMut(u32, &[DVec3; 3]) -> f64,
    ) -> f64 {
        let corners = [(x, z), (x + 1, z), (x, z + 1), (x + 1, z + 1)];
        let own = corners.map(|(x, z)| self.height(x, z));
        let slack = 1e-9 * (self.high - self.low);
        let (low, high) = (heights[0].min(heights[1]) - slack, heights[0].max(heights[1]) + slack);
        let cell = z * self.cells()[0] + x;
        let apart = own.iter().all(|&at| at > high) || own.iter().all(|&at| at < low);
        if apart || self.holes.binary_search(&cell).is_ok() {
            return f64::INFINITY;
        }
        let [one, other] = self.both(x, z);
        visit(2 * cell, &one).min(visit(2 * cell + 1, &other))
    }

    /// Distance of a box from the cells between two places, up to rounding.
    fn gap(
        &self,
        from: [u32; 2],
        to: [u32; 2],
        [floor, top]: [f64; 2],
        low: DVec3,
        high: DVec3,
    ) -> f64 {
        let at = |cell: [u32; 2], height: f64| {
            let [x, z] = [0, 1].map(|k| f64::from(cell[k]) * self.spacing[k]);
            DVec3::new(x, height, z)
        };
        let apart = (at(from, floor) - high).max(low - at(to, top)).max(DVec3::ZERO);
        apart.length() * (1.0 - 1e-12)
    }
}

fn check_heights(heights: &[f64]) -> Result<(), ShapeError> {
    for (index, &height) in heights.iter().enumerate() {
        super::check_point("heights", index, DVec3::new(0.0, height, 0.0))?;
    }
    Ok(())
}
