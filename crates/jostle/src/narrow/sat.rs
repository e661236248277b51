//! SAT: the exact depth of polyhedra by trying every direction that can be the answer.
//!
//! The shortest way out of the Minkowski difference crosses one of its faces, and these are known:
//! the faces of a, the faces of b turned round, and the parallelograms spanned by an edge of each
//! (Gottschalk, Lin and Manocha, *OBBTree*, for boxes). An edge pair makes a face only if the arcs
//! of the two edges on the Gauss sphere cross (Gregorius, *The Separating Axis Test between Convex
//! Polyhedra*), which prunes nearly all of them and makes their support searches needless.
//!
//! Cost: a support search per face, and one arc test per pair of edges, so quadratic. Choose it for
//! boxes and very small hulls, as a reference, and where EPA stalls; beyond some thirty edges EPA
//! is faster. Flat shapes and segments have no arcs, nor have edges of hulls whose faces lie as
//! good as back to back or in one plane, or whose direction is not that of the crease between the
//! normals: on needles and thin plates rounding turns these about. Their edge pairs are all tried.

use super::gjk::Difference;
use super::pair::{Core, Cores};
use crate::shape::PoseMatrix;
use glam::DVec3;

/// The direction of least depth.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    /// Unit normal from a to b.
    pub normal: DVec3,
    /// Exact depth along it; negative if the cores do not overlap in this direction.
    pub depth: f64,
}

/// An edge with its arc on the Gauss sphere, in the frame of the first shape.
struct Edge {
    start: DVec3,
    direction: DVec3,
    arc: Option<Arc>,
}

/// The arc between the normals of an edge's two faces.
#[derive(Clone, Copy)]
struct Arc {
    normals: [DVec3; 2],
    /// Across the plane of the arc.
    across: DVec3,
}

/// Squared sine under which the plane of an arc is noise.
const NO_CREASE: f64 = 1e-12;
/// Cosine of the angle that an edge and the crease of its faces' normals may differ by.
const ALONG_CREASE: f64 = 0.9999;

impl Arc {
    /// The arc of an edge, unless its faces are too thin to tell it.
    fn new(normals: [DVec3; 2], edge: DVec3) -> Option<Arc> {
        let across = normals[1].cross(normals[0]);
        let square = across.length_squared();
        let along = across.dot(edge);
        let limit = ALONG_CREASE * ALONG_CREASE * square * edge.length_squared();
        (square > NO_CREASE && along * along > limit).then_some(Arc { normals, across })
    }

    /// Returns true if this arc crosses the antipode of another. The first test alone throws half
    /// of all pairs out at two products.
    #[inline]
    fn crosses_antipode_of(&self, other: &Arc) -> bool {
        let (first, second) =
            (-other.normals[0].dot(self.across), -other.normals[1].dot(self.across));
        if first * second > 0.0 {
            return false;
        }
        let (third, fourth) =
            (self.normals[0].dot(other.across), self.normals[1].dot(other.across));
        third * fourth <= 0.0 && first * fourth >= 0.0
    }
}

/// What a core adds to the candidates.
#[derive(Default)]
struct Features {
    normals: Vec<DVec3>,
    edges: Vec<Edge>,
}

/// Finds the least depth. Both cores must be polyhedral.
pub(crate) fn run(cores: &mut Cores<'_>) -> Outcome {
    let of_a = features(&cores.a, &PoseMatrix::IDENTITY);
    let of_b = features(&cores.b, &cores.b_in_a.clone());
    let mut best: Option<Outcome> = None;
    for &normal in &of_a.normals {
        offer(cores, &mut best, normal);
    }
    for &normal in &of_b.normals {
        offer(cores, &mut best, -normal);
    }
    for first in &of_a.edges {
        for second in &of_b.edges {
            try_edges(cores, &mut best, first, second);
        }
    }
    best.unwrap_or_else(|| across_lines(cores, &of_a, &of_b))
}

/// Two segments in line, or points: any direction across them parts them at once.
fn across_lines(cores: &mut Cores<'_>, of_a: &Features, of_b: &Features) -> Outcome {
    let lines =
        of_a.edges.iter().chain(&of_b.edges).filter_map(|edge| edge.direction.try_normalize());
    let normal = lines.map(|line| line.any_orthonormal_vector()).next().unwrap_or(DVec3::X);
    let mut best = None;
    offer(cores, &mut best, normal);
    offer(cores, &mut best, -normal);
    best.unwrap_or(Outcome { normal, depth: 0.0 })
}

fn offer(cores: &mut Cores<'_>, best: &mut Option<Outcome>, normal: DVec3) {
    let depth = cores.support(normal).point.dot(normal);
    if best.is_none_or(|other| depth < other.depth) {
        *best = Some(Outcome { normal, depth });
    }
}

fn try_edges(cores: &mut Cores<'_>, best: &mut Option<Outcome>, first: &Edge, second: &Edge) {
    if let (Some(a), Some(b)) = (&first.arc, &second.arc)
        && !a.crosses_antipode_of(b)
    {
        return;
    }
    let cross = first.direction.cross(second.direction);
    let span = first.direction.length_squared() * second.direction.length_squared();
    if cross.length_squared() <= 1e-30 * span {
        return;
    }
    let axis = cross.normalize();
    let (Some(Arc { normals: [n, m], .. }), Some(_)) = (first.arc, second.arc) else {
        offer(cores, best, axis);
        offer(cores, best, -axis);
        return;
    };
    let normal = if axis.dot(n + m) < 0.0 { -axis } else { axis };
    let depth = (first.start - second.start).dot(normal);
    // The cheap depth is off by the rounding of a nearly parallel cross product; a support
    // search decides.
    if best.is_none_or(|other| depth < other.depth) {
        offer(cores, best, normal);
    }
}

fn features(core: &Core<'_>, pose: &PoseMatrix) -> Features {
    match core {
        Core::Point | Core::Curved(_) => Features::default(),
        Core::Segment(half) => Features { normals: vec![], edges: vec![segment(pose, *half)] },
        Core::Box(half) => box_features(*half, pose),
        Core::Triangle(points) => triangle_features(points, pose),
        Core::Hull(hull) => hull_features(hull, pose),
    }
}

fn segment(pose: &PoseMatrix, half: f64) -> Edge {
    let start = pose.apply(DVec3::new(0.0, -half, 0.0));
    let direction = if half > 0.0 { pose.rotation.y_axis } else { DVec3::ZERO };
    Edge { start, direction, arc: None }
}

/// A box needs only one edge of each direction when none is pruned.
fn box_features(half: DVec3, pose: &PoseMatrix) -> Features {
    let start = pose.apply(-half);
    let axes = [pose.rotation.x_axis, pose.rotation.y_axis, pose.rotation.z_axis];
    let edges = axes.map(|direction| Edge { start, direction, arc: None });
    Features { normals: axes.iter().flat_map(|&n| [n, -n]).collect(), edges: edges.into() }
}

fn triangle_features(points: &[DVec3; 3], pose: &PoseMatrix) -> Features {
    let [p, q, r] = points.map(|point| pose.apply(point));
    let edge = |start: DVec3, end: DVec3| Edge { start, direction: end - start, arc: None };
    let cross = (q - p).cross(r - p);
    let normals = cross.try_normalize().map_or(vec![], |normal| vec![normal, -normal]);
    Features { normals, edges: vec![edge(p, q), edge(q, r), edge(r, p)] }
}

fn hull_features(hull: &crate::shape::Hull, pose: &PoseMatrix) -> Features {
    let normal = |face: usize| pose.apply_vector(hull.face_normal(face));
    let normals: Vec<_> = (0..hull.face_count()).map(normal).collect();
    let solid = hull.dimension() == 3;
    let edge = |edge: &crate::shape::HullEdge| {
        let [start, end] = edge.vertices.map(|v| pose.apply(hull.vertices()[v as usize]));
        let direction = end - start;
        let faces = edge.faces.map(|face| face as usize);
        let arc = solid.then(|| Arc::new(faces.map(|face| normals[face]), direction)).flatten();
        Edge { start, direction, arc }
    };
    let edges = hull.edges().iter().map(edge).collect();
    Features { normals, edges }
}
