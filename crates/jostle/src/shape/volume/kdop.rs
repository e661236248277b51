//! [`Kdop`]: slabs along a few fixed directions.

use super::super::{Pose, Shape, ShapeError};
use super::{check_points, slack};
use glam::DVec3;

/// Which directions a [`Kdop`] has (Klosowski, Held, Mitchell, Sowizral and Zikan, *Efficient
/// Collision Detection Using Bounding Volume Hierarchies of k-DOPs*).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KdopKind {
    /// Faces and corners of a cube: fourteen planes.
    Fourteen,
    /// Faces and edges of a cube: eighteen planes.
    Eighteen,
    /// Faces, corners and edges of a cube: twenty-six planes.
    TwentySix,
}

impl KdopKind {
    /// Returns true if a volume of this kind has the slab.
    fn has(self, slab: usize) -> bool {
        match self {
            KdopKind::Fourteen => slab < 7,
            KdopKind::Eighteen => !(3..7).contains(&slab),
            KdopKind::TwentySix => true,
        }
    }
}

const SLABS: usize = 13;

/// Not of unit length: whole numbers keep projections exact for whole coordinates.
const DIRECTIONS: [DVec3; SLABS] = [
    DVec3::new(1.0, 0.0, 0.0),
    DVec3::new(0.0, 1.0, 0.0),
    DVec3::new(0.0, 0.0, 1.0),
    DVec3::new(1.0, 1.0, 1.0),
    DVec3::new(1.0, 1.0, -1.0),
    DVec3::new(1.0, -1.0, 1.0),
    DVec3::new(1.0, -1.0, -1.0),
    DVec3::new(1.0, 1.0, 0.0),
    DVec3::new(1.0, -1.0, 0.0),
    DVec3::new(1.0, 0.0, 1.0),
    DVec3::new(1.0, 0.0, -1.0),
    DVec3::new(0.0, 1.0, 1.0),
    DVec3::new(0.0, 1.0, -1.0),
];

/// The points between pairs of parallel planes. Slabs that a kind does not have are infinite,
/// so volumes of different kinds can be tested against each other on what they share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kdop {
    kind: KdopKind,
    low: [f64; SLABS],
    high: [f64; SLABS],
}

impl Kdop {
    /// The volume around a posed shape, each slab as thin as the shape allows.
    pub fn of_shape(kind: KdopKind, shape: &Shape, pose: &Pose) -> Kdop {
        let mut whole = Kdop::everything(kind);
        if !shape.is_bounded() {
            return whole;
        }
        let at = pose.translation();
        let size = shape.bounding_radius() + shape.center().abs().max_element();
        // Directions are up to √3 long.
        let rounding = 2.0 * slack(size, at);
        for slab in (0..SLABS).filter(|&slab| kind.has(slab)) {
            let direction = DIRECTIONS[slab];
            let local = pose.inverse_apply_vector(direction);
            let reach = |sign: f64| shape.support(local * sign).dot(local);
            whole.low[slab] = at.dot(direction) + reach(-1.0) - rounding;
            whole.high[slab] = at.dot(direction) + reach(1.0) + rounding;
        }
        whole
    }

    /// The volume around points.
    pub fn from_points(kind: KdopKind, points: &[DVec3]) -> Result<Kdop, ShapeError> {
        check_points(points)?;
        let mut whole = Kdop::everything(kind);
        for slab in (0..SLABS).filter(|&slab| kind.has(slab)) {
            let heights = || points.iter().map(|point| point.dot(DIRECTIONS[slab]));
            whole.low[slab] = heights().fold(f64::INFINITY, f64::min);
            whole.high[slab] = heights().fold(f64::NEG_INFINITY, f64::max);
        }
        Ok(whole)
    }

    fn everything(kind: KdopKind) -> Kdop {
        Kdop { kind, low: [f64::NEG_INFINITY; SLABS], high: [f64::INFINITY; SLABS] }
    }

    /// Which directions it has.
    pub fn kind(&self) -> KdopKind {
        self.kind
    }

    /// The slabs it has: direction (not of unit length), lower and upper bound.
    pub fn slabs(&self) -> impl Iterator<Item = (DVec3, f64, f64)> + '_ {
        let held = (0..SLABS).filter(|&slab| self.kind.has(slab));
        held.map(|slab| (DIRECTIONS[slab], self.low[slab], self.high[slab]))
    }

    /// True unless a slab separates the two. Exact for the slabs, "overlap" in doubt for the
    /// volumes: two k-DOPs may also be separated by an axis that neither has.
    #[inline]
    pub fn overlaps(&self, other: &Kdop) -> bool {
        // Without a branch per slab, which is what the form is chosen for.
        (0..SLABS).fold(true, |all, slab| {
            all & (self.low[slab] <= other.high[slab]) & (other.low[slab] <= self.high[slab])
        })
    }

    /// Returns true if the point lies in every closed slab.
    pub fn contains(&self, point: DVec3) -> bool {
        self.slabs().all(|(direction, low, high)| {
            let height = point.dot(direction);
            low <= height && height <= high
        })
    }
}
