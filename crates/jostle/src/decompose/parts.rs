//! What of a mesh hangs together.
//!
//! Vertices at one place count as one, as meshes from files often have seams. A part whose every
//! edge is run along as often one way as the other encloses a volume: it is a solid of its own, or
//! a cavity of the smallest one around it if it faces the other way. Everything else stays
//! together, and the winding number says what is inside of it.

use super::solid::Solid;
use crate::mesh::{Fill, Mesh};
use glam::DVec3;
use std::borrow::Cow;

/// A side of a triangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Side {
    /// The vertices at its ends, the lower one first.
    pub ends: [u32; 2],
    /// The triangle runs from the higher one to the lower one.
    pub backward: bool,
    pub triangle: u32,
}

/// For each vertex the first one at its place.
pub(super) fn places(mesh: &Mesh) -> Vec<u32> {
    // Zero has two signs but one place.
    let key =
        |vertex: u32| mesh.vertices()[vertex as usize].to_array().map(|at| (at + 0.0).to_bits());
    let mut order: Vec<([u64; 3], u32)> =
        (0..mesh.vertices().len() as u32).map(|vertex| (key(vertex), vertex)).collect();
    order.sort_unstable();
    let mut places = vec![0; order.len()];
    for same in order.chunk_by(|one, other| one.0 == other.0) {
        same.iter().for_each(|&(_, vertex)| places[vertex as usize] = same[0].1);
    }
    places
}

/// All sides between different places, sorted.
pub(super) fn sides(mesh: &Mesh, places: &[u32]) -> Vec<Side> {
    let mut all = Vec::with_capacity(3 * mesh.triangles().len());
    for (triangle, corners) in (0..).zip(mesh.triangles()) {
        let corners = corners.map(|vertex| places[vertex as usize]);
        for k in 0..3 {
            let (from, to) = (corners[k], corners[(k + 1) % 3]);
            if from != to {
                let ends = [from.min(to), from.max(to)];
                all.push(Side { ends, backward: from > to, triangle });
            }
        }
    }
    all.sort_unstable();
    all
}

/// The volume that some triangles enclose; negative if they face inward.
pub(super) fn signed_volume(mesh: &Mesh, triangles: impl Iterator<Item = u32>) -> f64 {
    let center = mesh.center();
    let part = |triangle: u32| {
        let [a, b, c] = mesh.corners(triangle).map(|corner| corner - center);
        a.dot(b.cross(c)) / 6.0
    };
    triangles.map(part).sum()
}

/// The solids of a mesh; all of it as one if there are more than `most`.
pub(super) fn solids(mesh: &Mesh, most: usize) -> Vec<Solid<'_>> {
    let places = places(mesh);
    let parts = parts(mesh, &places);
    if parts.len() <= 1 || parts.len() > most {
        return vec![Solid::new(surface(mesh))];
    }
    let open = open_parts(&sides(mesh, &places), &parts);
    let groups = groups(mesh, parts, &open);
    groups.iter().map(|group| Solid::new(Cow::Owned(submesh(mesh, group)))).collect()
}

/// The mesh without its inside, which is asked for separately.
fn surface(mesh: &Mesh) -> Cow<'_, Mesh> {
    match mesh.fill() {
        Fill::Surface => Cow::Borrowed(mesh),
        Fill::Solid => Cow::Owned(mesh.clone().with_fill(Fill::Surface)),
    }
}

/// The triangles of each part, in the order of their first triangles.
fn parts(mesh: &Mesh, places: &[u32]) -> Vec<Vec<u32>> {
    let mut parent: Vec<u32> = (0..places.len() as u32).collect();
    fn root(parent: &mut [u32], mut at: u32) -> u32 {
        while parent[at as usize] != at {
            parent[at as usize] = parent[parent[at as usize] as usize];
            at = parent[at as usize];
        }
        at
    }
    let corners = |triangle: &[u32; 3]| triangle.map(|vertex| places[vertex as usize]);
    for triangle in mesh.triangles() {
        let [first, others @ ..] = corners(triangle);
        for other in others {
            let (one, other) = (root(&mut parent, first), root(&mut parent, other));
            parent[one.max(other) as usize] = one.min(other);
        }
    }
    let mut number = vec![u32::MAX; places.len()];
    let mut parts: Vec<Vec<u32>> = Vec::new();
    for (triangle, own) in (0..).zip(mesh.triangles()) {
        let root = root(&mut parent, corners(own)[0]) as usize;
        if number[root] == u32::MAX {
            number[root] = parts.len() as u32;
            parts.push(Vec::new());
        }
        parts[number[root] as usize].push(triangle);
    }
    parts
}

/// Which parts have an edge that is run along more often one way than the other.
fn open_parts(sides: &[Side], parts: &[Vec<u32>]) -> Vec<bool> {
    let triangles = parts.iter().map(Vec::len).sum();
    let mut part_of = vec![0; triangles];
    for (part, own) in parts.iter().enumerate() {
        own.iter().for_each(|&triangle| part_of[triangle as usize] = part);
    }
    let mut open = vec![false; parts.len()];
    for same in sides.chunk_by(|one, other| one.ends == other.ends) {
        let backward = same.iter().filter(|side| side.backward).count();
        if 2 * backward != same.len() {
            open[part_of[same[0].triangle as usize]] = true;
        }
    }
    open
}

/// Parts that make a solid together.
fn groups(mesh: &Mesh, parts: Vec<Vec<u32>>, open: &[bool]) -> Vec<Vec<u32>> {
    let volumes: Vec<f64> =
        parts.iter().map(|part| signed_volume(mesh, part.iter().copied())).collect();
    let closed = volumes.iter().zip(open).filter(|(_, open)| !**open);
    let sign = if closed.map(|(volume, _)| volume).sum::<f64>() < 0.0 { -1.0 } else { 1.0 };
    let (mut bodies, mut cavities, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    for ((part, volume), open) in parts.into_iter().zip(volumes).zip(open) {
        let volume = volume * sign;
        if *open || volume == 0.0 {
            rest.extend(part);
        } else if volume > 0.0 {
            let own = submesh(mesh, &part);
            bodies.push((volume, own, part));
        } else {
            cavities.push(part);
        }
    }
    for cavity in cavities {
        let point = mesh.corners(cavity[0])[0];
        let around = bodies.iter_mut().filter(|(_, own, _)| own.encloses(point));
        match around.min_by(|one, other| one.0.total_cmp(&other.0)) {
            Some((_, _, part)) => part.extend(cavity),
            None => rest.extend(cavity),
        }
    }
    let mut groups: Vec<Vec<u32>> = bodies.into_iter().map(|(_, _, part)| part).collect();
    if !rest.is_empty() {
        groups.push(rest);
    }
    groups
}

/// Some triangles of a mesh with the vertices they use.
fn submesh(mesh: &Mesh, triangles: &[u32]) -> Mesh {
    let own = triangles.iter().map(|&triangle| mesh.triangles()[triangle as usize]);
    let mut used: Vec<u32> = own.clone().flatten().collect();
    used.sort_unstable();
    used.dedup();
    let vertices: Vec<DVec3> =
        used.iter().map(|&vertex| mesh.vertices()[vertex as usize]).collect();
    let place = |vertex: u32| used.partition_point(|&other| other < vertex) as u32;
    let triangles = own.map(|corners| corners.map(place)).collect();
    Mesh::new(vertices, triangles).expect("a part of a mesh is a mesh")
}
