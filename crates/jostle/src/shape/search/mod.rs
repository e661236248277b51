//! Support search: four ways to find the vertex of a hull furthest in a direction.
//!
//! | way | idea | cost of a search |
//! |---|---|---|
//! | [`Scan`](SupportSearch::Scan) | all dot products, four at a time | n |
//! | [`Climb`](SupportSearch::Climb) | from the last vertex to better neighbours | √n steps, 1 nearby |
//! | [`CubeMap`](SupportSearch::CubeMap) | climb from a vertex near the goal | constant |
//! | [`Hierarchy`](SupportSearch::Hierarchy) | Dobkin and Kirkpatrick's nested hulls | log n |
//!
//! All four give the same vertex: the lowest index among those whose computed dot product is
//! largest. The scan does so by construction. The others find it by climbing on the exactly
//! convex triangulation, and `climb.rs` says why rounding cannot stop them early.
//!
//! # The choice
//!
//! Times as shares of the scan's (AVX2), smallest of 20 interleaved runs over 4 096 searches on
//! triangulated spheres; directions random, and turning by two degrees from search to search
//! (`jostle-bench support-search`):
//!
//! | vertices | scan ns | climb | cube map | hierarchy |
//! |---|---|---|---|---|
//! | 12 | 9, 9 | 5.21, 1.89 | 4.12, 2.50 | 3.58, 3.61 |
//! | 42 | 23, 23 | 3.27, 0.84 | 1.78, 1.07 | 3.71, 3.54 |
//! | 72 | 42, 26 | 2.24, 0.78 | 1.03, 0.98 | 2.38, 3.74 |
//! | 96 | 48, 34 | 2.30, 0.62 | 0.95, 0.77 | 2.55, 3.47 |
//! | 162 | 64, 54 | 2.01, 0.39 | 0.66, 0.49 | 2.24, 2.56 |
//! | 642 | 202, 200 | 1.17, 0.12 | 0.22, 0.15 | 1.14, 1.04 |
//! | 2562 | 991, 982 | 0.51, 0.03 | 0.05, 0.04 | 0.38, 0.29 |
//! | 10242 | 4233, 4495 | 0.26, 0.01 | 0.02, 0.01 | 0.15, 0.10 |
//!
//! So small hulls are scanned and all others climb from a cube map. The plain climb
//! is a fifth faster between near directions, but loses to the scan on random ones up to a
//! thousand vertices, and a search does not know which it will be asked. The hierarchy beats the
//! scan from a thousand vertices on and never the table: it looks at some hundred vertices one
//! after the other, each choice waiting for the last. Both stay selectable with
//! [`Hull::with_search`](super::Hull::with_search).

mod climb;
mod cube_map;
mod hierarchy;
mod scan;
#[cfg(test)]
mod tests;

use super::hull::Lists;
use climb::Climber;
use cube_map::CubeMap;
use glam::DVec3;
use hierarchy::Hierarchy;
use scan::Coordinates;

/// A way to find the furthest vertex of a hull.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum SupportSearch {
    /// Looks at every vertex.
    Scan,
    /// Climbs from the last vertex along edges.
    Climb,
    /// Climbs from the last vertex or from the vertex that the cube map has for the direction.
    CubeMap,
    /// Descends through nested hulls, then climbs.
    Hierarchy,
}

impl SupportSearch {
    /// All ways.
    pub const ALL: [SupportSearch; 4] = [
        SupportSearch::Scan,
        SupportSearch::Climb,
        SupportSearch::CubeMap,
        SupportSearch::Hierarchy,
    ];
}

/// Hulls with at least this many vertices climb from a cube map, smaller ones are
/// scanned. At 72 the two are level, within a twentieth.
const CUBE_MAP_FROM: usize = 80;

/// The search for a hull of this many vertices.
fn natural(vertices: usize) -> SupportSearch {
    if vertices >= CUBE_MAP_FROM { SupportSearch::CubeMap } else { SupportSearch::Scan }
}

/// The tables of a hull for its searches.
#[derive(Clone, Debug)]
pub(super) struct Searcher {
    default: SupportSearch,
    coordinates: Coordinates,
    climber: Climber,
    table: Option<CubeMap>,
    hierarchy: Option<Hierarchy>,
}

impl Searcher {
    pub(super) fn new(vertices: &[DVec3], neighbours: &Lists, dimension: u8) -> Searcher {
        let mut searcher = Searcher {
            default: SupportSearch::Scan,
            coordinates: Coordinates::new(vertices),
            climber: Climber::new(vertices, dimension),
            table: None,
            hierarchy: None,
        };
        if natural(vertices.len()) == SupportSearch::CubeMap {
            searcher.force(SupportSearch::CubeMap, vertices, neighbours);
        }
        searcher
    }

    /// The default, if it is not the one for this many vertices.
    #[cfg(feature = "serde")]
    pub(super) fn forced(&self, vertices: usize) -> Option<SupportSearch> {
        Some(self.default).filter(|&search| search != natural(vertices))
    }

    /// Makes one way the default and builds its tables.
    pub(super) fn force(&mut self, search: SupportSearch, vertices: &[DVec3], neighbours: &Lists) {
        self.default = search;
        match search {
            SupportSearch::Scan | SupportSearch::Climb => {}
            SupportSearch::CubeMap => {
                let find = |direction, hint| self.climb(vertices, neighbours, direction, hint);
                self.table = Some(CubeMap::new(vertices.len(), find));
            }
            SupportSearch::Hierarchy => {
                self.hierarchy = Some(Hierarchy::new(vertices, neighbours));
            }
        }
    }

    #[inline]
    pub(super) fn search(
        &self,
        vertices: &[DVec3],
        neighbours: &Lists,
        direction: DVec3,
        hint: u32,
    ) -> u32 {
        self.search_with(self.default, vertices, neighbours, direction, hint)
    }

    #[inline]
    pub(super) fn search_with(
        &self,
        search: SupportSearch,
        vertices: &[DVec3],
        neighbours: &Lists,
        direction: DVec3,
        hint: u32,
    ) -> u32 {
        match (search, &self.table, &self.hierarchy) {
            (SupportSearch::Climb, _, _) => self.climb(vertices, neighbours, direction, hint),
            (SupportSearch::CubeMap, Some(table), _) => {
                let start = table.start(vertices, direction, hint);
                self.climb(vertices, neighbours, direction, start)
            }
            (SupportSearch::Hierarchy, _, Some(hierarchy)) => {
                let start = hierarchy.descend(direction);
                self.climb(vertices, neighbours, direction, start)
            }
            _ => self.coordinates.furthest(direction),
        }
    }

    #[inline]
    fn climb(&self, vertices: &[DVec3], neighbours: &Lists, direction: DVec3, hint: u32) -> u32 {
        self.climber
            .climb(vertices, neighbours, direction, hint)
            .unwrap_or_else(|| self.coordinates.furthest(direction))
    }
}
