//! The hierarchy of Dobkin and Kirkpatrick: nested hulls, each without some of the vertices of
//! the one around it (*Determining the Separation of Preprocessed Polyhedra*).
//!
//! From one level to the next a set of vertices is left out of which no two are neighbours and
//! none has many neighbours; at least a fixed share of any hull can go, so there are O(log n)
//! levels. A search begins with the few vertices of the innermost hull. One level out, the
//! furthest vertex is the same or one of its neighbours that was left out between the two: two
//! vertices further out than the last one would have to be joined by a path of such vertices,
//! which are no neighbours of each other. So each level costs a handful of dot products.
//!
//! Vertices are kept in the order of the levels, innermost first, with their coordinates next to
//! them, so a level's vertices are a prefix and no map is needed. Rounding may lead a level
//! astray; the climb that follows on the full hull corrects it. Building runs quickhull once per
//! level and takes two to five times as long as the hull itself.

use super::super::hull::{Lists, shell};
use glam::DVec3;

/// Hulls this small are scanned.
const INNERMOST: usize = 12;

/// Vertices with more neighbours than this stay. The mean is below six, so more than half of
/// the vertices qualify.
const MOST_NEIGHBOURS: usize = 8;

/// The nested hulls.
#[derive(Clone, Debug)]
pub(super) struct Hierarchy {
    /// Coordinates by rank: vertices of inner hulls first.
    points: Vec<DVec3>,
    /// Vertex of the hull by rank.
    vertices: Vec<u32>,
    /// How many ranks the innermost hull has.
    innermost: usize,
    /// From the inside out: for each vertex of the hull inside, its neighbours one level out
    /// that were left out inside. Ranks.
    levels: Vec<Lists>,
}

/// One hull while building: its vertices, and its adjacency by position in that list.
struct Level {
    vertices: Vec<u32>,
    neighbours: Lists,
}

impl Hierarchy {
    pub(super) fn new(vertices: &[DVec3], neighbours: &Lists) -> Hierarchy {
        let all: Vec<u32> = (0..vertices.len() as u32).collect();
        let mut levels = vec![Level { vertices: all, neighbours: neighbours.clone() }];
        while let Some(inner) = shrink(vertices, &levels[levels.len() - 1]) {
            levels.push(inner);
        }
        let rank = ranks(&levels, vertices.len());
        let mut order = vec![0; vertices.len()];
        for (vertex, &rank) in rank.iter().enumerate() {
            order[rank as usize] = vertex as u32;
        }
        Hierarchy {
            points: order.iter().map(|&vertex| vertices[vertex as usize]).collect(),
            innermost: levels[levels.len() - 1].vertices.len(),
            levels: levels.windows(2).rev().map(|pair| links(pair, &rank)).collect(),
            vertices: order,
        }
    }

    /// A vertex that is furthest in the direction, up to rounding.
    #[inline]
    pub(super) fn descend(&self, direction: DVec3) -> u32 {
        let mut best = 0;
        let mut height = f64::NEG_INFINITY;
        for (rank, point) in self.points[..self.innermost].iter().enumerate() {
            let reach = point.dot(direction);
            if reach > height {
                (best, height) = (rank as u32, reach);
            }
        }
        for level in &self.levels {
            for &rank in level.get(best) {
                let reach = self.points[rank as usize].dot(direction);
                if reach > height {
                    (best, height) = (rank, reach);
                }
            }
        }
        self.vertices[best as usize]
    }
}

/// The next hull inside, or nothing if this one is small enough or does not shrink.
fn shrink(points: &[DVec3], outer: &Level) -> Option<Level> {
    let count = outer.vertices.len();
    if count <= INNERMOST {
        return None;
    }
    let kept = without_independent_set(outer);
    let cloud: Vec<DVec3> = kept.iter().map(|&vertex| points[vertex as usize]).collect();
    let shell = shell(&cloud).ok()?;
    if shell.dimension != 3 || shell.vertices.len() >= count {
        return None;
    }
    let mut couples = Vec::new();
    for &[a, b, c] in &shell.triangles {
        couples.extend([(a, b), (b, c), (c, a), (b, a), (c, b), (a, c)]);
    }
    let neighbours = Lists::from_couples(shell.vertices.len(), couples);
    let vertices = shell.vertices.iter().map(|&position| kept[position as usize]).collect();
    Some(Level { vertices, neighbours })
}

/// The vertices that stay after an independent set of low degree was taken out greedily.
fn without_independent_set(level: &Level) -> Vec<u32> {
    let count = level.vertices.len();
    let mut stays = vec![false; count];
    let mut goes = vec![false; count];
    for position in 0..count {
        let neighbours = level.neighbours.get(position as u32);
        if stays[position] || neighbours.len() > MOST_NEIGHBOURS {
            continue;
        }
        goes[position] = true;
        neighbours.iter().for_each(|&neighbour| stays[neighbour as usize] = true);
    }
    (0..count).filter(|&position| !goes[position]).map(|p| level.vertices[p]).collect()
}

/// Ranks of the vertices: those of the innermost hull first, ascending within a level.
fn ranks(levels: &[Level], count: usize) -> Vec<u32> {
    let mut depth = vec![0u32; count];
    for (level, hull) in levels.iter().enumerate() {
        hull.vertices.iter().for_each(|&vertex| depth[vertex as usize] = level as u32);
    }
    let mut order: Vec<u32> = (0..count as u32).collect();
    order.sort_by_key(|&vertex| (u32::MAX - depth[vertex as usize], vertex));
    let mut rank = vec![0; count];
    for (position, &vertex) in order.iter().enumerate() {
        rank[vertex as usize] = position as u32;
    }
    rank
}

/// For a hull and the one inside it: links from the inner vertices to those left out.
fn links(pair: &[Level], rank: &[u32]) -> Lists {
    let (outer, inner) = (&pair[0], &pair[1]);
    let inside = inner.vertices.len() as u32;
    let mut couples = Vec::new();
    for (position, &vertex) in outer.vertices.iter().enumerate() {
        let from = rank[vertex as usize];
        if from >= inside {
            continue;
        }
        for &neighbour in outer.neighbours.get(position as u32) {
            let to = rank[outer.vertices[neighbour as usize] as usize];
            if to >= inside {
                couples.push((from, to));
            }
        }
    }
    // Only inner vertices have lists, but the best vertex so far is always one of them or was
    // found on this level, so every rank met on the next level has one there.
    Lists::from_couples(inside as usize, couples)
}
