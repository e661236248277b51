//! The table of algorithms: every broad phase by name.
//!
//! To add one, write its file or folder next to this one and add an entry to the table below. The
//! conformance suite, the command and the benchmarks find it there.

use std::fmt;
use std::str::FromStr;

use crate::broad::contract::BroadPhase;
use crate::broad::{
    auto, bidim_sap, brute_force, bvh, grid_sap, grid_sweep, hash_grid, octree, sap, segmented_sap,
    simd_sap, sort_sweep,
};
use crate::par::Workers;

/// The error for a name that no algorithm has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownAlgorithm {
    /// The name that was given.
    pub given: String,
    /// The algorithm with the most similar name.
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

impl Default for Algorithm {
    /// [`Algorithm::Auto`]: the right start.
    fn default() -> Algorithm {
        Algorithm::Auto
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

/// Number of insertions, deletions and substitutions that turn one word into the other.
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

// One entry per algorithm: variant, name, constructor, idea.
algorithms! {
    BruteForce = "brute-force", brute_force::BruteForce::new,
        "Every box against every other: the oracle.";
    SortSweep = "sort-sweep", sort_sweep::SortSweep::new,
        "Sort along the widest axis and sweep: the second oracle.";
    HashGrid = "hash-grid", hash_grid::HashGrid::new,
        "A hierarchy of hashed grids, each box in one cell of the level that fits it.";
    GridSweep = "grid-sweep", grid_sweep::GridSweep::new,
        "Columns of a grid across the sweep axis, each swept on its own.";
    Bvh = "bvh", bvh::Bvh::new,
        "Trees of eight: one of what moves, a few of what rests; carries the queries.";
    BidimSap = "bidim-sap", bidim_sap::BidimSap::new,
        "Two sorted axes: strips along one, parallel sweeps along the other; for millions.";
    Sap = "sap", sap::Sap::new,
        "Three sorted endpoint lists that last from step to step; swaps drive the events.";
    SegmentedSap = "segmented-sap", segmented_sap::SegmentedSap::new,
        "Chunked endpoint lists with checkpoint sets; insertion and removal without a full pass.";
    GridSap = "grid-sap", grid_sap::GridSap::new,
        "A uniform grid, each cell a sap of its own.";
    GridSegmentedSap = "grid-segmented-sap", grid_sap::GridSegmentedSap::new,
        "A uniform grid, each cell a segmented-sap of its own.";
    SimdSap = "simd-sap", simd_sap::SimdSap::new,
        "As sap, sorted by vectors with one worker for each axis.";
    Octree = "octree", octree::Octree::new,
        "A loose octree: the classical tree of space, a baseline.";
    Auto = "auto", auto::Auto::new,
        "Chooses among the others by what it sees, and says why.";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aabb::Aabb;
    use crate::boxes::Boxes;
    use crate::filter::Filter;
    use crate::pair::PairBuffer;

    #[test]
    fn names_round_trip_and_unknown_ones_get_a_suggestion() {
        for &algorithm in Algorithm::ALL {
            assert_eq!(algorithm.to_string().parse(), Ok(algorithm));
            assert_eq!(algorithm.build(&Workers::one()).name(), algorithm.name());
        }
        let error = "sort-swep".parse::<Algorithm>().unwrap_err();
        assert_eq!(error.nearest, Algorithm::SortSweep);
        assert!(error.to_string().contains("did you mean sort-sweep?"));
    }
    /// A clone made between two steps finds what the original finds.
    #[test]
    fn clones_continue_where_the_original_is() {
        let place = |k: u32, step: u32| {
            let at = [k * 37 % 61, k * 53 % 67, k * 71 % 59].map(|part| (part + step) as f32);
            Aabb::new(at, at.map(|low| low + (k % 7) as f32))
        };
        for &algorithm in Algorithm::ALL {
            let mut boxes = Boxes::new();
            let aabbs: Vec<Aabb> = (0..300).map(|k| place(k, 0)).collect();
            let ids = boxes.insert_all(&aabbs, Filter::ALL).unwrap();
            let mut original = algorithm.build(&Workers::one());
            original.update(&boxes, &mut PairBuffer::new()).unwrap();
            boxes.commit();
            let mut copy = original.clone();
            for step in 1..4 {
                for (k, &id) in (0..).zip(&ids).skip(step as usize).step_by(9) {
                    boxes.set(id, place(k, step)).unwrap();
                }
                boxes.insert(place(step, step), Filter::STILL).unwrap();
                let found = [&mut original, &mut copy].map(|broad| {
                    let mut found = PairBuffer::new();
                    let report = broad.update(&boxes, &mut found).unwrap();
                    broad.validate(&boxes);
                    let mut pairs: Vec<_> = found.iter().collect();
                    pairs.sort_unstable();
                    let mut ended = found.ended().to_vec();
                    ended.sort_unstable();
                    (report, pairs, ended)
                });
                assert!(!found[0].1.is_empty(), "{algorithm}: nothing happened in step {step}");
                assert_eq!(found[0], found[1], "{algorithm}, step {step}");
                boxes.commit();
            }
        }
    }
}
