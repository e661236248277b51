//! V-Clip: the closest features of two hulls, found by clipping edges to Voronoi regions.
//!
//! Two features are closest if each holds a point nearest to the other within its region (Mirtich,
//! *V-Clip: Fast and Robust Polyhedral Collision Detection*). Each look either proves that, or
//! goes on with a neighbour that is nearer, or of lower dimension and as near:
//!
//! ```text
//! vertex, vertex   each in the other's region, else an edge
//! vertex, edge     the vertex in the edge's region, else its vertex or face;
//!                  the edge clipped to the vertex's region, else an edge
//! vertex, face     the vertex above the face, else an edge; no edge of the vertex leads closer
//! edge, edge       each clipped to the other's region, else a vertex or a face
//! edge, face       clipped to the prism of the face: pierced, or on to where it is lowest
//! ```
//!
//! A clipped edge holds the nearest point if the distance falls towards the inside at both cuts;
//! only the sign of a derivative is needed, and no two lines are ever intersected, which is what
//! makes it more robust than Lin and Canny's. An edge through a face, or a vertex behind all faces,
//! is an overlap; depth is not told.
//!
//! Cost: a constant number of planes a step (the edges around a vertex, the sides of a face), and
//! few steps from the last frame's features: about the square root of the number of features from
//! anywhere. Departures: of several violated walls the worst decides; a state that comes back ends
//! the run as endless, which the tests have not seen.

use glam::DVec3;

use super::features::{Clip, Feature, Segment, Step, View, walk};
use super::{Answer, Memory, Pair, Work};
use Feature::{Edge, Face, Vertex};

/// Distance, or that they touch.
pub(super) fn run(pair: &Pair<'_>, memory: &mut Memory, work: &mut Work) -> Answer {
    walk(pair, memory, work, look)
}

fn look(views: &[View<'_>; 2], features: [Feature; 2]) -> Step {
    match features {
        [Vertex(a), Vertex(b)] => vertices(views, [a, b]),
        [Vertex(v), Edge(e)] => vertex_edge(views, 0, v, e),
        [Edge(e), Vertex(v)] => vertex_edge(views, 1, v, e),
        [Vertex(v), Face(f)] => vertex_face(views, 0, v, f),
        [Face(f), Vertex(v)] => vertex_face(views, 1, v, f),
        [Edge(a), Edge(b)] => edges(views, [a, b]),
        [Edge(e), Face(f)] => edge_face(views, 0, e, f),
        [Face(f), Edge(e)] => edge_face(views, 1, e, f),
        // Never reached from elsewhere: a start with two faces goes on from a corner.
        [Face(f), Face(_)] => {
            let side = views[0].mine.face(f).sides[0].0;
            Step::To(0, Edge(side))
        }
    }
}

/// Also Lin and Canny's first case.
pub(super) fn vertices(views: &[View<'_>; 2], [a, b]: [u32; 2]) -> Step {
    let (on_a, of_b) = (views[0].mine.vertices[a as usize], views[0].vertex(b));
    if let Some(edge) = views[0].leaves_vertex(a, of_b) {
        return Step::To(0, edge);
    }
    if let Some(edge) = views[1].leaves_vertex(b, views[1].vertex(a)) {
        return Step::To(1, edge);
    }
    Step::Apart(on_a.distance(of_b))
}

fn vertex_edge(views: &[View<'_>; 2], side: usize, v: u32, e: u32) -> Step {
    let (of_v, of_e) = (&views[side], &views[1 - side]);
    let vertex = of_e.vertex(v);
    if let Some(feature) = of_e.leaves_edge(e, vertex) {
        return Step::To(1 - side, feature);
    }
    let (corner, segment) = (of_v.mine.vertices[v as usize], of_v.segment(e));
    let walls = of_v.mine.around[v as usize].iter();
    let clip = Clip::new(&segment, walls.map(|&(edge, wall)| (Edge(edge), wall.flipped())));
    // Where the region of the vertex ends, the nearest point of the edge beyond is the vertex.
    match next(&segment, &clip, |_, at| (at - corner).dot(segment.head - segment.tail)) {
        Some(edge) => Step::To(side, edge),
        None => {
            let edge = of_e.mine.edge(e).segment();
            Step::Apart(edge.at(edge.nearest_to(vertex)).distance(vertex))
        }
    }
}

fn vertex_face(views: &[View<'_>; 2], side: usize, v: u32, f: u32) -> Step {
    let (of_v, of_f) = (&views[side], &views[1 - side]);
    let vertex = of_f.vertex(v);
    if let Some(edge) = of_f.leaves_face(f, vertex) {
        return Step::To(1 - side, edge);
    }
    let plane = &of_f.mine.face(f).plane;
    let height = plane.height(vertex);
    if height == 0.0 {
        return Step::Touching;
    }
    for &(edge, _) in &of_v.mine.around[v as usize] {
        let [tail, head] = of_v.mine.edge(edge).ends;
        let end = if tail == v { head } else { tail };
        let there = plane.height(of_f.vertex(end));
        if (height > 0.0 && there < height) || (height < 0.0 && there > height) {
            return Step::To(side, Edge(edge));
        }
    }
    if height > 0.0 {
        return Step::Apart(height);
    }
    // The nearest vertex to the plane from behind: inside, or there is a better face.
    match of_f.mine.highest_face(vertex) {
        (face, height) if height > 0.0 => Step::To(1 - side, Face(face)),
        _ => Step::Touching,
    }
}

fn edges(views: &[View<'_>; 2], edges: [u32; 2]) -> Step {
    for side in 0..2 {
        let view = &views[side];
        let segment = view.segment(edges[1 - side]);
        let clip = Clip::new(&segment, view.mine.edge(edges[side]).region());
        let way = segment.head - segment.tail;
        let slope = |behind: Feature, at: DVec3| match behind {
            Vertex(v) => (at - view.mine.vertices[v as usize]).dot(way),
            Face(f) => {
                // By the heights of its ends, as `edge_face` decides: else rounding may send an
                // edge that is parallel to the face to and fro between them.
                let plane = &view.mine.face(f).plane;
                let rise = plane.height(segment.head) - plane.height(segment.tail);
                plane.height(at).signum() * rise
            }
            Edge(_) => 0.0,
        };
        if let Some(feature) = next(&segment, &clip, slope) {
            return Step::To(side, feature);
        }
    }
    let (mine, other) = (views[0].mine.edge(edges[0]).segment(), views[0].segment(edges[1]));
    let (on_mine, on_other) = mine.nearest(&other);
    Step::Apart(mine.at(on_mine).distance(other.at(on_other)))
}

/// The feature to go on with, if the clipped segment does not hold the nearest point: `slope` has
/// the sign of the distance's derivative to what is behind a cut.
fn next(segment: &Segment, clip: &Clip, slope: impl Fn(Feature, DVec3) -> f64) -> Option<Feature> {
    if clip.behind.is_some() {
        return clip.behind;
    }
    let [low, high] = clip.shares;
    if let Some(behind) = clip.cut_by[0]
        && slope(behind, segment.at(low)) > 0.0
    {
        return Some(behind);
    }
    if let Some(behind) = clip.cut_by[1]
        && slope(behind, segment.at(high)) < 0.0
    {
        return Some(behind);
    }
    // Between two walls without a point in both: either is nearer than this feature.
    if clip.is_empty() { clip.cut_by[0] } else { None }
}

fn edge_face(views: &[View<'_>; 2], side: usize, e: u32, f: u32) -> Step {
    let (of_e, of_f) = (&views[side], &views[1 - side]);
    let segment = of_f.segment(e);
    let face = of_f.mine.face(f);
    let clip = Clip::new(&segment, face.sides.iter().map(|&(edge, wall)| (Edge(edge), wall)));
    if clip.is_empty() {
        return Step::To(1 - side, of_f.nearest_side(f, &segment));
    }
    let heights = clip.shares.map(|share| face.plane.height(segment.at(share)));
    if heights[0] * heights[1] <= 0.0 {
        return Step::Touching;
    }
    let ends = [segment.tail, segment.head].map(|end| face.plane.height(end));
    let rises = (ends[1] >= ends[0]) == (heights[0] > 0.0);
    let low = usize::from(!rises);
    match clip.cut_by[low] {
        Some(edge) => Step::To(1 - side, edge),
        None => Step::To(side, Vertex(of_e.mine.edge(e).ends[low])),
    }
}
