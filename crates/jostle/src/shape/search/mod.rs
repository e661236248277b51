//! Support search: four ways to find the vertex of a hull furthest in a direction.
//!
//! | way | idea | cost of a search |
//! |---|---|---|
//! | [`Scan`](SupportSearch::Scan) | all dot products, four at a time | n |
//! | [`Climb`](SupportSearch::Climb) | from the last vertex to better neighbours | √n steps from afar, 1 nearby |
//! | [`Artificial`](SupportSearch::Artificial) | climb, with a link to a vertex near the goal | constant |
//! | [`Hierarchy`](SupportSearch::Hierarchy) | Dobkin and Kirkpatrick's nested hulls | log n |
//!
//! All four give the same vertex: the lowest index among those whose computed dot product is
//! largest. The scan does so by construction. The others find it by climbing on the exactly
//! convex triangulation, and `climb.rs` says why rounding cannot stop them early.

mod artificial;
mod climb;
mod hierarchy;
mod scan;
#[cfg(test)]
mod tests;

use super::hull::Lists;
use artificial::DirectionTable;
use climb::Climber;
use glam::DVec3;
use hierarchy::Hierarchy;
use scan::Coordinates;

/// A way to find the furthest vertex of a hull.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SupportSearch {
    /// Looks at every vertex.
    Scan,
    /// Climbs from the last vertex along edges.
    Climb,
    /// Climbs from the last vertex or from the artificial neighbour for the direction.
    Artificial,
    /// Descends through nested hulls, then climbs.
    Hierarchy,
}

impl SupportSearch {
    /// All ways.
    pub const ALL: [SupportSearch; 4] = [
        SupportSearch::Scan,
        SupportSearch::Climb,
        SupportSearch::Artificial,
        SupportSearch::Hierarchy,
    ];
}

/// Hulls with at least this many vertices climb with artificial neighbours, smaller ones are
/// scanned.
const ARTIFICIAL_FROM: usize = 100;

/// The tables of a hull for its searches.
#[derive(Clone, Debug)]
pub(super) struct Searcher {
    default: SupportSearch,
    coordinates: Coordinates,
    climber: Climber,
    table: Option<DirectionTable>,
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
        if vertices.len() >= ARTIFICIAL_FROM {
            searcher.force(SupportSearch::Artificial, vertices, neighbours);
        }
        searcher
    }

    /// Makes one way the default and builds its tables.
    pub(super) fn force(&mut self, search: SupportSearch, vertices: &[DVec3], neighbours: &Lists) {
        self.default = search;
        match search {
            SupportSearch::Scan | SupportSearch::Climb => {}
            SupportSearch::Artificial => {
                let find = |direction, hint| self.climb(vertices, neighbours, direction, hint);
                self.table = Some(DirectionTable::new(vertices.len(), find));
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
            (SupportSearch::Artificial, Some(table), _) => {
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
