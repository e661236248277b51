//! Hulls of fewer vertices that hold the same points.
//!
//! A hull is what the planes of its faces leave of space, and some of them leave more of it: so
//! whichever are chosen, nothing is lost.
//!
//! ```text
//! rind <- the smallest box around the hull, along the axes or along one of its larger faces
//! while the plane of a face cuts something off, those first that cut deepest
//!     cut, unless that leaves more vertices than allowed
//! ```
//!
//! A cut at a corner removes one vertex and makes three, so that `n` vertices mean about `n / 2`
//! planes. Corners that are cut lie on edges of the rind, between two of its vertices, so that
//! rounding does not add up however small the angles between planes are.
//!
//! V-HACD instead keeps some of the vertices, and loses what lies outside of their hull.

use crate::shape::{Hull, Outline};
use glam::DVec3;

/// Share of the size by which a vertex may stick out of a plane that it lies in.
const SLACK: f64 = 1e-12;

/// Faces along which boxes are tried, the largest first.
const BOXES: usize = 24;

/// The fewest vertices that can be asked for: those of a box.
pub(super) const FEWEST: usize = 8;

/// The outline of a hull around a hull, of at most `most` vertices, which are [`FEWEST`] or more.
pub(super) fn simplified(hull: &Hull, most: usize) -> Outline {
    let (vertices, triangles) = (hull.vertices().to_vec(), hull.triangles().to_vec());
    let own = Outline { vertices, triangles, ..Outline::default() };
    // Small numbers round less.
    let origin = own.vertices[0];
    let points: Vec<DVec3> = own.vertices.iter().map(|&at| at - origin).collect();
    let flat = hull.dimension() < 3;
    let (sides, frames) = if flat { polygon(&own) } else { faces(&own) };
    let Some(start) = smallest_box(&points, &frames, flat) else { return own };
    let whole = |rind: &Rind| {
        let points: Vec<DVec3> = rind.vertices().map(|at| at + origin).collect();
        Outline::new(&points)
    };
    let (low, high) = own.bounds();
    let size = (high - low).max_element();
    let found = whole(&peeled(start.clone(), &points, &sides, most, SLACK * size));
    // Never seen to fail; but a box is better than a promise that is not kept.
    let kept = found.vertices.len() <= most && (flat || found.holds(&own, 10.0 * SLACK * size));
    if kept { found } else { whole(&start) }
}

/// Three directions at right angles.
type Frame = [DVec3; 3];

/// The directions of all faces, and frames along the largest.
fn faces(hull: &Outline) -> (Vec<DVec3>, Vec<Frame>) {
    let mut large: Vec<(f64, Frame)> = Vec::new();
    let mut normals = Vec::with_capacity(hull.triangles.len());
    for [a, b, c] in hull.surface() {
        let twice = (b - a).cross(c - a);
        let sides = [b - a, c - b, a - c];
        let longest = sides.into_iter().reduce(|best, next| {
            if next.length_squared() > best.length_squared() { next } else { best }
        });
        let along = longest.and_then(|side| side.try_normalize());
        let (Some(normal), Some(along)) = (twice.try_normalize(), along) else { continue };
        normals.push(normal);
        large.push((twice.length_squared(), [along, normal.cross(along), normal]));
    }
    large.sort_by(|one, other| other.0.total_cmp(&one.0));
    let frames = large.into_iter().take(BOXES).map(|(_, frame)| frame);
    (normals, [DVec3::AXES].into_iter().chain(frames).collect())
}

/// The same for a flat hull: across its edges, and along them.
fn polygon(hull: &Outline) -> (Vec<DVec3>, Vec<Frame>) {
    let normals = hull.surface().into_iter().map(|[a, b, c]| (b - a).cross(c - a));
    let normal =
        normals.reduce(
            |best, next| {
                if next.length_squared() > best.length_squared() { next } else { best }
            },
        );
    let Some(normal) = normal.and_then(|normal| normal.try_normalize()) else {
        return (Vec::new(), Vec::new());
    };
    let mut around: Vec<u32> = (0..hull.vertices.len() as u32).collect();
    order(&mut around, &hull.vertices, normal);
    let at = |k: usize| hull.vertices[around[k % around.len()] as usize];
    let edges = (0..around.len()).filter_map(|k| (at(k + 1) - at(k)).try_normalize());
    let frames: Vec<Frame> = edges.map(|along| [along, normal.cross(along), normal]).collect();
    (frames.iter().map(|frame| -frame[1]).collect(), frames)
}

/// The box of the least volume, or area, around points.
fn smallest_box(points: &[DVec3], frames: &[Frame], flat: bool) -> Option<Rind> {
    let mut best: Option<(f64, Rind)> = None;
    for frame in frames {
        let ends = frame.map(|along| {
            let empty = (f64::INFINITY, f64::NEG_INFINITY);
            let reach = points.iter().map(|at| at.dot(along));
            reach.fold(empty, |(low, high), at| (low.min(at), high.max(at)))
        });
        let sides = ends.map(|(low, high)| high - low);
        let cost = if flat { sides[0] * sides[1] } else { sides[0] * sides[1] * sides[2] };
        if best.as_ref().is_none_or(|best| cost < best.0) {
            best = Some((cost, Rind::around(frame, &ends, flat)));
        }
    }
    best.map(|(_, rind)| rind)
}

/// The box cut by planes across the given directions, as deep as the points allow.
fn peeled(mut rind: Rind, points: &[DVec3], across: &[DVec3], most: usize, slack: f64) -> Rind {
    let mut planes: Vec<Plane> = across.iter().map(|&normal| Plane::at(normal, points)).collect();
    let mut fresh = 0;
    loop {
        planes.iter_mut().for_each(|plane| plane.look(&rind, fresh));
        fresh = rind.points.len() as u32;
        // As long as cuts are refused, the rind stays what it is.
        loop {
            let open = planes.iter_mut().filter(|plane| !plane.used && plane.depth > slack);
            let deepest =
                open.reduce(|best, next| if next.depth > best.depth { next } else { best });
            let Some(plane) = deepest else { return rind };
            plane.used = true;
            if rind.cut(plane, most, slack) {
                break;
            }
        }
    }
}

/// A plane that touches the hull, and what of the rind is above it.
#[derive(Debug)]
struct Plane {
    normal: DVec3,
    offset: f64,
    /// The highest vertex of the rind above it.
    highest: u32,
    depth: f64,
    used: bool,
}

impl Plane {
    fn at(normal: DVec3, points: &[DVec3]) -> Plane {
        let offset = points.iter().map(|at| at.dot(normal)).fold(f64::NEG_INFINITY, f64::max);
        Plane { normal, offset, highest: 0, depth: f64::NEG_INFINITY, used: false }
    }

    fn height(&self, at: DVec3) -> f64 {
        at.dot(self.normal) - self.offset
    }

    /// Looks for the highest vertex: among those from `fresh` on, unless the last one is gone.
    fn look(&mut self, rind: &Rind, fresh: u32) {
        let gone = !rind.alive[self.highest as usize];
        if gone {
            self.depth = f64::NEG_INFINITY;
        }
        for vertex in if gone { 0 } else { fresh }..rind.points.len() as u32 {
            let height = self.height(rind.points[vertex as usize]);
            if rind.alive[vertex as usize] && height > self.depth {
                (self.highest, self.depth) = (vertex, height);
            }
        }
    }
}

/// A convex solid, or polygon, around a hull.
#[derive(Clone, Debug)]
struct Rind {
    /// All vertices there ever were, so that their numbers stay.
    points: Vec<DVec3>,
    alive: Vec<bool>,
    /// The vertices of each face, in order around it; of a polygon the only face.
    faces: Vec<Vec<u32>>,
    flat: bool,
}

impl Rind {
    fn around(frame: &Frame, ends: &[(f64, f64); 3], flat: bool) -> Rind {
        let pick = |axis: usize, up: u32| if up == 0 { ends[axis].0 } else { ends[axis].1 };
        let corner = |k: u32| {
            let place = [pick(0, k & 1), pick(1, k >> 1 & 1), pick(2, k >> 2)];
            frame[0] * place[0] + frame[1] * place[1] + frame[2] * place[2]
        };
        let count = if flat { 4 } else { 8 };
        let quads: &[[u32; 4]] =
            &[[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        Rind {
            points: (0..count).map(corner).collect(),
            alive: vec![true; count as usize],
            faces: quads[..if flat { 1 } else { 6 }].iter().map(|quad| quad.to_vec()).collect(),
            flat,
        }
    }

    fn vertices(&self) -> impl Iterator<Item = DVec3> + '_ {
        let alive = self.points.iter().zip(&self.alive).filter(|(_, alive)| **alive);
        alive.map(|(&point, _)| point)
    }

    /// Removes what is above a plane. Returns false, and changes nothing, if there would be more
    /// than `most` vertices then.
    fn cut(&mut self, plane: &Plane, most: usize, slack: f64) -> bool {
        let height: Vec<f64> = self.points.iter().map(|&at| plane.height(at)).collect();
        let (mut points, mut crossings) = (self.points.clone(), Vec::new());
        let mut faces = Vec::with_capacity(self.faces.len() + 1);
        for face in &self.faces {
            let mut left = Vec::with_capacity(face.len() + 1);
            for (k, &from) in face.iter().enumerate() {
                let to = face[(k + 1) % face.len()];
                let (here, there) = (height[from as usize], height[to as usize]);
                if here <= slack {
                    left.push(from);
                }
                if here.min(there) < -slack && here.max(there) > slack {
                    left.push(crossing([from, to], &height, &mut points, &mut crossings));
                }
            }
            if left.len() >= 3 {
                faces.push(left);
            }
        }
        let mut alive = vec![false; points.len()];
        faces.iter().flatten().for_each(|&vertex| alive[vertex as usize] = true);
        let count = alive.iter().filter(|alive| **alive).count();
        if count > most || faces.is_empty() {
            return false;
        }
        if !self.flat {
            let on = |vertex: &u32| height.get(*vertex as usize).is_none_or(|at| at.abs() <= slack);
            let all = 0..points.len() as u32;
            let mut lid: Vec<u32> = all.filter(|v| alive[*v as usize] && on(v)).collect();
            order(&mut lid, &points, plane.normal);
            faces.push(lid);
        }
        (self.points, self.alive, self.faces) = (points, alive, faces);
        true
    }
}

/// The vertex where an edge crosses a plane; the same for both faces at the edge.
fn crossing(
    ends: [u32; 2],
    height: &[f64],
    points: &mut Vec<DVec3>,
    made: &mut Vec<([u32; 2], u32)>,
) -> u32 {
    let ends = [ends[0].min(ends[1]), ends[0].max(ends[1])];
    if let Some(&(_, vertex)) = made.iter().find(|(edge, _)| *edge == ends) {
        return vertex;
    }
    let [a, b] = ends.map(|vertex| points[vertex as usize]);
    let [low, high] = ends.map(|vertex| height[vertex as usize]);
    let vertex = points.len() as u32;
    points.push(a + (b - a) * (low / (low - high)));
    made.push((ends, vertex));
    vertex
}

/// Sorts vertices in convex position by the angle about their middle.
fn order(vertices: &mut [u32], points: &[DVec3], normal: DVec3) {
    let share = 1.0 / vertices.len().max(1) as f64;
    let middle: DVec3 = vertices.iter().map(|&vertex| points[vertex as usize] * share).sum();
    let x = normal.any_orthonormal_vector();
    let y = normal.cross(x);
    // Grows with the angle, and every machine computes the same.
    let turn = |vertex: u32| {
        let way = points[vertex as usize] - middle;
        let (x, y) = (way.dot(x), way.dot(y));
        let part = x / (x.abs() + y.abs()).max(f64::MIN_POSITIVE);
        if y < 0.0 { 3.0 + part } else { 1.0 - part }
    };
    vertices.sort_by(|&one, &other| turn(one).total_cmp(&turn(other)).then(one.cmp(&other)));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points all over a stretched and tilted ball.
    fn ball(count: u32, stretch: DVec3, at: DVec3) -> Vec<DVec3> {
        let turn = glam::DQuat::from_scaled_axis(DVec3::new(0.3, 0.5, 0.2));
        let point = |k: u32| {
            let up = 1.0 - (2.0 * f64::from(k) + 1.0) / f64::from(count);
            let (sin, cos) = (f64::from(k) * 2.4).sin_cos();
            let out = (1.0 - up * up).sqrt();
            at + turn * (DVec3::new(out * cos, out * sin, up) * stretch)
        };
        (0..count).map(point).collect()
    }

    #[test]
    fn fewer_vertices_hold_all_points_and_more_of_them_fit_closer() {
        for (stretch, at) in [
            (DVec3::ONE, DVec3::ZERO),
            (DVec3::new(9.0, 1.0, 0.1), DVec3::splat(1e3)),
            (DVec3::new(1e-7, 1e-3, 1.0), DVec3::new(-5.0, 0.0, 2.0)),
        ] {
            let points = ball(700, stretch, at);
            let (hull, whole) = (Hull::new(&points).unwrap(), Outline::new(&points));
            let size = stretch.max_element() + at.abs().max_element();
            let mut before = f64::INFINITY;
            for most in [8, 9, 12, 20, 64, 200, 400] {
                let found = simplified(&hull, most);
                let count = found.vertices.len();
                assert!(count <= most && 4 * count >= 3 * most, "{count} of {most}, {stretch}");
                assert!(found.holds(&whole, 1e-11 * size), "{most} vertices about {stretch}");
                assert!(found.volume >= whole.volume && found.volume <= before * 1.01);
                before = found.volume;
            }
            assert!(before < 1.03 * whole.volume, "{before} for {}", whole.volume);
        }
    }

    #[test]
    fn a_box_with_its_corners_off_becomes_the_box() {
        let turn = glam::DQuat::from_scaled_axis(DVec3::new(0.3, 0.5, 0.2));
        let corner = |k: u32, axis: usize| if k >> axis & 1 == 0 { -1.0 } else { 1.0 };
        let mut points = Vec::new();
        for k in 0..8 {
            let whole = DVec3::new(corner(k, 0), corner(k, 1), corner(k, 2));
            for axis in 0..3 {
                let mut cut = whole;
                cut[axis] *= 0.99;
                points.push(turn * (cut * DVec3::new(1.0, 2.0, 3.0)));
            }
        }
        let found = simplified(&Hull::new(&points).unwrap(), 8);
        assert!((found.volume - 48.0).abs() < 1e-9, "{}", found.volume);
    }

    #[test]
    fn flat_hulls_stay_flat() {
        let points = ball(900, DVec3::new(3.0, 1.0, 0.0), DVec3::new(7.0, 0.0, 1.0));
        let hull = Hull::new(&points).unwrap();
        assert!(hull.dimension() == 2 && hull.vertices().len() > 30);
        let normal = glam::DQuat::from_scaled_axis(DVec3::new(0.3, 0.5, 0.2)) * DVec3::Z;
        for most in [8, 30] {
            let found = simplified(&hull, most);
            assert!(found.vertices.len() <= most, "{}", found.vertices.len());
            let off = found.vertices.iter().map(|at| (*at - points[0]).dot(normal).abs());
            assert!(off.fold(0.0, f64::max) < 1e-12);
            // At best an octagon is 1.055 times as large as the ellipse in it; a box is 1.27 times.
            let area = found.area / Outline::new(hull.vertices()).area;
            assert!((1.0..1.1).contains(&area), "{area} times as large");
        }
    }
}
