//! The broad phases: one contract, many algorithms.
//!
//! To add one: a file beside this one, and a line in the table at the end of this file. The
//! conformance suite, the command and the benchmarks find it there.

use std::fmt;
use std::str::FromStr;

use crate::boxes::Boxes;
use crate::error::Error;
use crate::pair::PairBuffer;
use crate::par::Workers;
use crate::stats::Stats;

use queries::BoxQueries;

pub mod auto;
pub mod bidim_sap;
pub mod brute_force;
pub mod bvh;
pub mod effort;
pub mod endpoint;
pub mod finder;
pub mod grid_sap;
pub mod grid_sweep;
pub mod groups;
pub mod hash_grid;
pub mod octree;
pub mod past;
pub mod persistent;
pub mod queries;
pub mod sap;
pub mod segmented_sap;
pub mod simd_sap;
pub mod sort_sweep;
mod tasks;

/// How an update is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Report {
    /// The buffer holds every overlapping pair.
    Full,
    /// The buffer holds the pairs that began and those that ended since the update before.
    Delta,
}

/// An algorithm that finds the overlapping pairs of [`Boxes`].
pub trait BroadPhase: Send {
    /// Follows [`Boxes::changes`] and writes pairs into the empty buffer, each once, in any
    /// order. On an error the algorithm forgets what it knew and reads the boxes anew next time.
    ///
    /// A delta report continues from the last successful update on the same boxes; the pairs of
    /// removed boxes are among the ended ones.
    fn update(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error>;

    /// What the last update counted.
    fn stats(&self) -> Stats;

    /// Queries on the boxes as the last successful update saw them, where the structure that
    /// finds the pairs can answer them.
    fn queries(&self) -> Option<&dyn BoxQueries> {
        None
    }

    /// Box tests of the last update, without gathering the rest.
    fn tests(&self) -> u64 {
        self.stats().tests
    }

    /// Why this algorithm works as it does on these boxes; only choosers have an answer.
    fn reason(&self) -> Option<String> {
        None
    }

    /// Panics and names the invariant if the structure is broken. Tests call it after each step.
    fn validate(&self, _boxes: &Boxes) {}
}

/// A name that is no algorithm's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownAlgorithm {
    /// The name that was given.
    pub given: String,
    /// The closest name there is.
    pub nearest: Algorithm,
}

impl fmt::Display for UnknownAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "no algorithm is called {:?}; did you mean {}? There are: ",
            self.given, self.nearest
        )?;
        for (index, algorithm) in Algorithm::ALL.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{algorithm}")?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownAlgorithm {}

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    fn from_str(name: &str) -> Result<Algorithm, UnknownAlgorithm> {
        let known = Algorithm::ALL.iter().find(|algorithm| algorithm.name() == name);
        known
            .copied()
            .ok_or_else(|| UnknownAlgorithm { given: name.into(), nearest: nearest(name) })
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

fn nearest(name: &str) -> Algorithm {
    let distance = |algorithm: &&Algorithm| edit_distance(name, algorithm.name());
    *Algorithm::ALL.iter().min_by_key(distance).expect("there are algorithms")
}

/// Number of insertions, deletions and replacements that turn one word into the other.
fn edit_distance(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.chars().count()).collect();
    for (i, c) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, d) in other.chars().enumerate() {
            let replaced = diagonal + usize::from(c != d);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[other.chars().count()]
}

macro_rules! algorithms {
    ($($variant:ident = $name:literal, $new:path, $about:literal;)*) => {
        /// The broad phases by name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Algorithm {
            $(#[doc = $about] $variant,)*
        }

        impl Algorithm {
            /// Every algorithm there is.
            pub const ALL: &'static [Algorithm] = &[$(Algorithm::$variant,)*];

            /// The name on the command line and in files.
            pub const fn name(self) -> &'static str {
                match self { $(Algorithm::$variant => $name,)* }
            }

            /// The idea in one line.
            pub const fn about(self) -> &'static str {
                match self { $(Algorithm::$variant => $about,)* }
            }

            /// A new instance that runs on `workers`.
            pub fn build(self, workers: &Workers) -> Box<dyn BroadPhase> {
                match self { $(Algorithm::$variant => Box::new($new(workers)),)* }
            }
        }
    };
}

// One line per algorithm: variant, name, constructor, idea.
algorithms! {
    BruteForce = "brute-force", brute_force::BruteForce::new, "Every box against every other: the oracle.";
    SortSweep = "sort-sweep", sort_sweep::SortSweep::new, "Sort along the widest axis and sweep: the second oracle.";
    HashGrid = "hash-grid", hash_grid::HashGrid::new, "A hierarchy of hashed grids, each box in one cell of the level that fits it.";
    GridSweep = "grid-sweep", grid_sweep::GridSweep::new, "Columns of a grid across the sweep axis, each swept on its own.";
    Bvh = "bvh", bvh::Bvh::new, "Trees of eight: one of what moves, a few of what rests; carries the queries.";
    BidimSap = "bidim-sap", bidim_sap::BidimSap::new, "Two sorted axes: strips along one, parallel sweeps along the other; for millions.";
    Sap = "sap", sap::Sap::new, "Three sorted endpoint lists kept between steps; swaps drive the events.";
    SegmentedSap = "segmented-sap", segmented_sap::SegmentedSap::new, "Chunked endpoint lists with checkpoint sets; boxes come and go without a pass over everything.";
    GridSap = "grid-sap", grid_sap::GridSap::new, "A uniform grid, each cell a sap of its own.";
    GridSegmentedSap = "grid-segmented-sap", grid_sap::GridSegmentedSap::new, "A uniform grid, each cell a segmented-sap of its own.";
    SimdSap = "simd-sap", simd_sap::SimdSap::new, "As sap, sorted by vectors with one worker for each axis.";
    Octree = "octree", octree::Octree::new, "A loose octree: the classical tree of space, a baseline.";
    Auto = "auto", auto::Auto::new, "Chooses among the others by what it sees, and says why.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_unknown_ones_get_a_suggestion() {
        for &algorithm in Algorithm::ALL {
            assert_eq!(algorithm.to_string().parse(), Ok(algorithm));
        }
        let error = "sort-swep".parse::<Algorithm>().unwrap_err();
        assert_eq!(error.nearest, Algorithm::SortSweep);
        assert!(error.to_string().contains("did you mean sort-sweep?"));
    }
}
