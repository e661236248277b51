//! Lin and Canny's closest features, as the thesis retells them (section 5.2.1).
//!
//! Two features are closest if the nearest points of both lie in each other's Voronoi region; if
//! one does not, the walk goes on with the feature behind the wall it is beyond. Unlike V-Clip this
//! computes the nearest points first, knows all six cases, and asks whether things are parallel:
//!
//! ```text
//! vertex, vertex   each in the other's region
//! vertex, edge     the vertex in the edge's, its foot in the vertex's
//! vertex, face     the vertex above the face, its foot in the vertex's region; behind it: the
//!                  highest of all faces, by a search through them
//! edge, edge       the nearest points of both in the other's
//! edge, face       parallel, above and facing each other; else the lower end, or the nearest side
//! face, face       parallel and above each other; else an edge within, or the nearest sides
//! ```
//!
//! It has no case for overlaps: a vertex inside the other hull is nearest to some face whose plane
//! it is behind, and the walk stays there. Mirtich says it cycles for ever, and it does; it ends
//! here because a walk is decided by its two features alone, so that a state which comes back
//! proves the loop, and [`Answer::Endless`] says so. Ponamgi, Manocha and Lin add inner regions:
//! pyramids from the faces to the centre, so a feature behind a face and within its pyramid is
//! inside. With `inner` this does the same by a stronger test: behind all faces, or an edge through
//! a face.
//!
//! Cost as V-Clip's; the search through all faces makes a start from behind linear. Rounding: what
//! counts as parallel is a bound (`PARALLEL`), and walks that lie at it may come back and end as
//! endless although the hulls are apart. The tests count how often.

use glam::DVec3;

use super::features::{Clip, Feature, Segment, Step, View, walk};
use super::{Answer, Memory, Pair, Work, v_clip};
use Feature::{Edge, Face, Vertex};

/// Slopes up to this count as parallel.
const PARALLEL: f64 = 1e-9;

/// Distance, or that they touch if inner regions are looked at.
pub(super) fn run(pair: &Pair<'_>, inner: bool, memory: &mut Memory, work: &mut Work) -> Answer {
    walk(pair, memory, work, |views, features| look(views, features, inner))
}

fn look(views: &[View<'_>; 2], features: [Feature; 2], inner: bool) -> Step {
    match features {
        [Vertex(a), Vertex(b)] => v_clip::vertices(views, [a, b]),
        [Vertex(v), Edge(e)] => vertex_edge(views, 0, v, e),
        [Edge(e), Vertex(v)] => vertex_edge(views, 1, v, e),
        [Vertex(v), Face(f)] => vertex_face(views, 0, v, f, inner),
        [Face(f), Vertex(v)] => vertex_face(views, 1, v, f, inner),
        [Edge(a), Edge(b)] => edges(views, [a, b]),
        [Edge(e), Face(f)] => edge_face(views, 0, e, f, inner),
        [Face(f), Edge(e)] => edge_face(views, 1, e, f, inner),
        [Face(a), Face(b)] => faces(views, [a, b]),
    }
}

fn vertex_edge(views: &[View<'_>; 2], side: usize, v: u32, e: u32) -> Step {
    let (of_v, of_e) = (&views[side], &views[1 - side]);
    let vertex = of_e.vertex(v);
    if let Some(feature) = of_e.leaves_edge(e, vertex) {
        return Step::To(1 - side, feature);
    }
    let edge = of_e.mine.edge(e).segment();
    let foot = edge.at(edge.nearest_to(vertex));
    match of_v.leaves_vertex(v, of_v.point(foot)) {
        Some(edge) => Step::To(side, edge),
        None => Step::Apart(foot.distance(vertex)),
    }
}

fn vertex_face(views: &[View<'_>; 2], side: usize, v: u32, f: u32, inner: bool) -> Step {
    let (of_v, of_f) = (&views[side], &views[1 - side]);
    let vertex = of_f.vertex(v);
    if let Some(edge) = of_f.leaves_face(f, vertex) {
        return Step::To(1 - side, edge);
    }
    let plane = &of_f.mine.face(f).plane;
    let height = plane.height(vertex);
    if height < 0.0 {
        let (face, highest) = of_f.mine.highest_face(vertex);
        let inside = highest <= 0.0;
        return if inner && inside { Step::Touching } else { Step::To(1 - side, Face(face)) };
    }
    let foot = vertex - plane.normal * height;
    match of_v.leaves_vertex(v, of_v.point(foot)) {
        Some(edge) => Step::To(side, edge),
        None => Step::Apart(height),
    }
}

fn edges(views: &[View<'_>; 2], [a, b]: [u32; 2]) -> Step {
    let (mine, other) = (views[0].mine.edge(a).segment(), views[0].segment(b));
    let (on_a, on_b) = mine.nearest(&other);
    let of_b = views[1].mine.edge(b).segment();
    if let Some(feature) = views[0].leaves_edge(a, other.at(on_b)) {
        return Step::To(0, feature);
    }
    if let Some(feature) = views[1].leaves_edge(b, views[1].point(mine.at(on_a))) {
        return Step::To(1, feature);
    }
    Step::Apart(mine.at(on_a).distance(views[0].point(of_b.at(on_b))))
}

fn edge_face(views: &[View<'_>; 2], side: usize, e: u32, f: u32, inner: bool) -> Step {
    let (of_e, of_f) = (&views[side], &views[1 - side]);
    let segment = of_f.segment(e);
    let face = of_f.mine.face(f);
    let [tail, head] = [segment.tail, segment.head].map(|end| face.plane.height(end));
    let clip = clip_to(of_f, f, &segment);
    if clip.is_empty() {
        return Step::To(1 - side, of_f.nearest_side(f, &segment));
    }
    let heights = clip.shares.map(|share| face.plane.height(segment.at(share)));
    if inner && heights[0] * heights[1] < 0.0 {
        return Step::Touching;
    }
    if (tail - head).abs() > PARALLEL * segment.tail.distance(segment.head) {
        // The lower end, or the side that the edge crosses on its way down. The side nearest to the
        // whole edge may be another one, from which the walk comes straight back.
        let low = usize::from(head < tail);
        return match clip.cut_by[low] {
            Some(edge) => Step::To(1 - side, edge),
            None => Step::To(side, Vertex(of_e.mine.edge(e).ends[low])),
        };
    }
    if heights[0] < 0.0 {
        return Step::To(side, Vertex(of_e.mine.edge(e).ends[0]));
    }
    // The way to the face must leave the edge between its own faces.
    let down = of_f.direction_away(-face.plane.normal);
    let edge = of_e.mine.edge(e);
    match (0..2).find(|&k| edge.walls[k].normal.dot(down) > PARALLEL) {
        Some(k) => Step::To(side, Face(edge.faces[k])),
        None => Step::Apart(heights[0].min(heights[1])),
    }
}

/// The part of an edge of the other hull in the prism of a face.
fn clip_to(view: &View<'_>, face: u32, segment: &Segment) -> Clip {
    let sides = view.mine.face(face).sides.iter();
    Clip::new(segment, sides.map(|&(edge, wall)| (Edge(edge), wall)))
}

fn faces(views: &[View<'_>; 2], [a, b]: [u32; 2]) -> Step {
    let face = views[1].mine.face(b);
    let other = views[0].direction_away(views[0].mine.face(a).plane.normal);
    let parallel = other.dot(face.plane.normal) < -1.0 + 0.5 * PARALLEL * PARALLEL;
    let mut within: Option<(u32, f64)> = None;
    for &(edge, _) in &views[0].mine.face(a).sides {
        let segment = views[1].segment(edge);
        let clip = clip_to(&views[1], b, &segment);
        if clip.is_empty() {
            continue;
        }
        let height = |share: f64| face.plane.height(segment.at(share));
        let low = height(clip.shares[0]).min(height(clip.shares[1]));
        if within.is_none_or(|best| low < best.1) {
            within = Some((edge, low));
        }
    }
    match within {
        Some((_, height)) if parallel && height > 0.0 => Step::Apart(height),
        Some((edge, _)) => Step::To(0, Edge(edge)),
        None => enclosed(views, [a, b], parallel),
    }
}

/// No edge of the first face is over the second one: the second may be over the middle of the
/// first, or they are side by side.
fn enclosed(views: &[View<'_>; 2], [a, b]: [u32; 2], parallel: bool) -> Step {
    let plane = &views[0].mine.face(a).plane;
    let side = views[1].mine.face(b).sides[0].0;
    let corner: DVec3 = views[0].segment(side).tail;
    if views[0].leaves_face(a, corner).is_none() {
        let height = plane.height(corner);
        return match parallel && height > 0.0 {
            true => Step::Apart(height),
            false => Step::To(1, Edge(side)),
        };
    }
    let mut best = ([0; 2], f64::INFINITY);
    for &(mine, _) in &views[0].mine.face(a).sides {
        let edge = views[0].mine.edge(mine).segment();
        for &(other, _) in &views[1].mine.face(b).sides {
            let segment = views[0].segment(other);
            let (on_edge, on_segment) = edge.nearest(&segment);
            let distance = edge.at(on_edge).distance_squared(segment.at(on_segment));
            if distance < best.1 {
                best = ([mine, other], distance);
            }
        }
    }
    Step::Both(best.0.map(Edge))
}
