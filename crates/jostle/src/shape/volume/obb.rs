//! [`Obb`]: a box at any angle.

use super::super::{Pose, Shape, ShapeError};
use super::principal::principal_axes;
use super::{check_points, slack};
use glam::{DMat3, DVec3};

/// A box at any angle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Obb {
    /// The middle of the box.
    pub center: DVec3,
    /// Its axes as columns, orthonormal.
    pub axes: DMat3,
    /// Half its edge lengths along those axes; infinite around a half-space.
    pub half_extents: DVec3,
}

/// Added to the cosines between the axes of two boxes. Where two axes are parallel their cross
/// product is noise and would separate by chance; the addition outweighs the noise, and makes
/// the test answer "overlap" where no other axis separates (Gottschalk, Lin and Manocha,
/// *OBBTree: A Hierarchical Structure for Rapid Interference Detection*).
const PARALLEL: f64 = 1e-14;

impl Obb {
    /// The box around a posed shape. Boxes and round shapes keep their own axes; triangles,
    /// hulls and compounds get those of [`from_points`](Obb::from_points).
    pub fn of_shape(shape: &Shape, pose: &Pose) -> Obb {
        let local = match shape {
            Shape::Sphere { radius } => aligned(DVec3::splat(*radius)),
            Shape::Cuboid { half_extents } => aligned(*half_extents),
            Shape::Capsule { radius, half_height } => {
                aligned(DVec3::new(*radius, half_height + radius, *radius))
            }
            Shape::Cylinder { radius, half_height } | Shape::Cone { radius, half_height } => {
                aligned(DVec3::new(*radius, *half_height, *radius))
            }
            Shape::Ellipsoid { radii } => aligned(*radii),
            Shape::Triangle { points } => around(points),
            Shape::Hull(hull) => around(hull.vertices()),
            Shape::Compound(compound) => {
                let pieces = compound.pieces().iter();
                let corners =
                    pieces.flat_map(|piece| Obb::of_shape(&piece.shape, &piece.pose).corners());
                around(&corners.collect::<Vec<DVec3>>())
            }
            Shape::Rounded(rounded) => {
                let core = Obb::of_shape(rounded.shape(), &Pose::IDENTITY);
                Obb { half_extents: core.half_extents + rounded.margin(), ..core }
            }
            Shape::Custom(custom) => {
                let (low, high) = custom.local_bounds();
                around_bounds(low, high)
            }
            Shape::Mesh(mesh) => around_bounds(mesh.min(), mesh.max()),
            Shape::HeightField(field) => {
                let (low, high) = field.bounds();
                around_bounds(low, high)
            }
            Shape::HalfSpace { .. } => aligned(DVec3::INFINITY),
        };
        local.posed(pose)
    }

    /// A box around points, in O(n): along their principal axes or along the coordinate axes,
    /// whichever gives the smaller surface.
    pub fn from_points(points: &[DVec3]) -> Result<Obb, ShapeError> {
        check_points(points)?;
        Ok(around(points))
    }

    fn posed(&self, pose: &Pose) -> Obb {
        let matrix = pose.matrix();
        let center = matrix.apply(self.center);
        let size = self.half_extents.max_element() + self.center.abs().max_element();
        Obb {
            center,
            axes: matrix.rotation * self.axes,
            half_extents: self.half_extents + slack(size, center),
        }
    }

    /// The eight corners.
    pub fn corners(&self) -> [DVec3; 8] {
        std::array::from_fn(|corner| {
            let sign = |axis: usize| if corner >> axis & 1 == 0 { -1.0 } else { 1.0 };
            let signs = DVec3::new(sign(0), sign(1), sign(2));
            self.center + self.axes * (self.half_extents * signs)
        })
    }

    /// Returns true if the point lies in the closed box.
    pub fn contains(&self, point: DVec3) -> bool {
        let local = self.axes.transpose() * (point - self.center);
        local.abs().cmple(self.half_extents).all()
    }

    /// True unless one of fifteen axes separates the closed boxes: the three of either box and
    /// the nine across an axis of each. In doubt, true.
    pub fn overlaps(&self, other: &Obb) -> bool {
        if !(self.half_extents.is_finite() && other.half_extents.is_finite()) {
            return true;
        }
        // Everything in the space of this box.
        let turn = self.axes.transpose() * other.axes;
        let apart = self.axes.transpose() * (other.center - self.center);
        let columns = [turn.x_axis, turn.y_axis, turn.z_axis];
        let size = columns.map(|column| column.abs() + PARALLEL);
        let (mine, theirs) = (self.half_extents, other.half_extents);
        let their_reach = size[0] * theirs.x + size[1] * theirs.y + size[2] * theirs.z;
        if !apart.abs().cmple(mine + their_reach).all() {
            return false;
        }
        let along = |k: usize| apart.dot(columns[k]).abs() <= theirs[k] + mine.dot(size[k]);
        (0..3).all(along) && (0..3).all(|k| !crossed(apart, mine, theirs, &columns, &size, k))
    }
}

/// Returns true if an axis across axis `i` of the first box and some axis of the second separates.
fn crossed(
    apart: DVec3,
    mine: DVec3,
    theirs: DVec3,
    columns: &[DVec3; 3],
    size: &[DVec3; 3],
    i: usize,
) -> bool {
    let (i1, i2) = ((i + 1) % 3, (i + 2) % 3);
    (0..3).any(|j| {
        let (j1, j2) = ((j + 1) % 3, (j + 2) % 3);
        let my_reach = mine[i1] * size[j][i2] + mine[i2] * size[j][i1];
        let their_reach = theirs[j1] * size[j2][i] + theirs[j2] * size[j1][i];
        let distance = (apart[i2] * columns[j][i1] - apart[i1] * columns[j][i2]).abs();
        distance > my_reach + their_reach
    })
}

fn around_bounds(low: DVec3, high: DVec3) -> Obb {
    Obb { center: 0.5 * low + 0.5 * high, ..aligned(0.5 * high - 0.5 * low) }
}

/// A box about the origin along the coordinate axes.
fn aligned(half_extents: DVec3) -> Obb {
    Obb { center: DVec3::ZERO, axes: DMat3::IDENTITY, half_extents }
}

fn around(points: &[DVec3]) -> Obb {
    let surface = |obb: &Obb| {
        let half = obb.half_extents;
        half.x * half.y + half.y * half.z + half.z * half.x
    };
    let (turned, straight) =
        (along(points, principal_axes(points)), along(points, DMat3::IDENTITY));
    if surface(&turned) < surface(&straight) { turned } else { straight }
}

/// The smallest box with the given axes.
fn along(points: &[DVec3], axes: DMat3) -> Obb {
    let back = axes.transpose();
    // Relative to a point of the cloud, so that a far cloud loses no digits.
    let origin = points[0];
    let (mut low, mut high) = (DVec3::ZERO, DVec3::ZERO);
    for &point in points {
        let local = back * (point - origin);
        low = low.min(local);
        high = high.max(local);
    }
    let center = origin + axes * (low * 0.5 + high * 0.5);
    let half_extents = (high - low) * 0.5;
    let rounding = slack((high - low).max_element(), center);
    Obb { center, axes, half_extents: half_extents + rounding }
}
