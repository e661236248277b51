//! The table of algorithms: every broad phase by name.
//!
//! To add one, write its file or folder next to this one and add an entry to the table below. The
//! conformance suite, the command and the benchmarks find it there.

use std::fmt;
use std::str::FromStr;

use crate::broad::contract::BroadPhase;
use crate::broad::{
    auto, bidim_sap, brute_force, bvh, grid_sap, grid_sweep, hash_grid, octree, sap, segmented_sap,
    simd_sap, sort_sweep, verlet,
};
use crate::par::Workers;

/// The error for a name that no algorithm has.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownAlgorithm {
    /// The name that was given.
    pub given: String,
}

impl fmt::Display for UnknownAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no algorithm is called {:?}; there are: ", self.given)?;
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
        known.copied().ok_or_else(|| UnknownAlgorithm { given: name.into() })
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

macro_rules! algorithms {
    ($($variant:ident = $name:literal, $new:path, $about:literal;)*) => {
        /// The broad phases by name.
        ///
        /// ```
        /// use jostle::{Aabb, Algorithm, Detector, Filter};
        ///
        /// // As it comes from a command line or a file of settings.
        /// let algorithm: Algorithm = "grid-sweep".parse()?;
        /// assert_eq!(algorithm, Algorithm::GridSweep);
        ///
        /// // Every algorithm finds the same pairs in the same order.
        /// let boxes = [0.0, 0.5, 4.0].map(|x| Aabb::new([x, 0.0, 0.0], [x + 1.0, 1.0, 1.0]));
        /// for &algorithm in Algorithm::ALL {
        ///     let mut detector = Detector::new(algorithm);
        ///     detector.boxes_mut().insert_all(&boxes, Filter::ALL)?;
        ///     assert_eq!(detector.step()?.began, [(0, 1).into()], "{algorithm}");
        /// }
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
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
    Verlet = "verlet", verlet::Verlet::new,
        "Lists of near pairs, tested again while boxes move a little; the flips are the events.";
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
    fn names_round_trip_and_unknown_ones_get_the_list() {
        for &algorithm in Algorithm::ALL {
            assert_eq!(algorithm.to_string().parse(), Ok(algorithm));
            assert_eq!(algorithm.build(&Workers::one()).name(), algorithm.name());
        }
        let error = "sort-swep".parse::<Algorithm>().unwrap_err();
        assert_eq!(error.given, "sort-swep");
        assert!(error.to_string().contains("brute-force, sort-sweep"), "{error}");
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
