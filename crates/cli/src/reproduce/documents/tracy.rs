//! The paper of Tracy, Buss and Woods.

use super::Here::{Module, Plot, Words};
use super::{Document, PaperFigure, figure};

/// Large-scale sweep and prune.
pub(super) const DOCUMENT: Document = Document {
    name: "tracy",
    reference: "D. Tracy, S. Buss, B. Woods, Efficient Large-Scale Sweep and Prune Methods with \
                AABB Insertion and Removal, 2009.",
    about: "Shows why sweep and prune does not scale, and what to do: cut space into cells with \
            lists of their own, insert and remove boxes in batches or in lists of short segments, \
            sort locally or globally, and report changes instead of pairs. 3 000 boxes in one \
            cell, up to 200 000 in many.",
    experiments: &["baseline", "tracy"],
    systems: &[
        ("batch insertion and removal", "crates/jostle/src/broad/sap/batch.rs", "in `sap`"),
        (
            "segmented interval lists",
            "crates/jostle/src/broad/segmented_sap/mod.rs",
            "`segmented-sap`",
        ),
        ("cells with lists", "crates/jostle/src/broad/grid_sap/mod.rs", "`grid-sap`"),
        ("local and global sort", "crates/jostle/src/broad/persistent/sorting.rs", ""),
        ("events and witness counts", "crates/jostle/src/events.rs", ""),
        (
            "octree to compare with",
            "crates/cli/src/reproduce/systems/plain_octree.rs",
            "not loose, as the paper's; the library's `octree` is a loose one",
        ),
        ("test world", "crates/scenes/src/motion/churn.rs", "scene `churn`"),
    ],
    left_out: &[
        (
            "presorted events and erasing across borders in `segmented-sap` itself",
            "tried on one axis (`crates/cli/src/reproduce/systems/chunked_list.rs`, part \
             `tracy/wishes`), without checkpoint sets",
        ),
        (
            "queries of touched cells alone",
            "a wish as well; `grid-sap` already visits only cells that changes touch",
        ),
    ],
    figures: FIGURES,
};

const FIGURES: &[PaperFigure] = &[
    figure(
        "Figure 1",
        "Lists of intervals, list of boxes and set of candidates.",
        Module("crates/jostle/src/broad/sap/lists.rs"),
    ),
    figure(
        "Table 1",
        "Terms of the analysis.",
        Words("They are in the remarks of the claims on growth."),
    ),
    figure(
        "Figure 2",
        "Time or swaps against the number of boxes when all move: a power of 1.76 fitted, 5/3 by \
         analysis.",
        Plot(&["tracy-growth", "baseline-growth"]),
    ),
    figure(
        "Figures 3 and 4",
        "Cells with lists of their own, and the thinner lists in them.",
        Module("crates/jostle/src/broad/grid_sap/mod.rs"),
    ),
    figure(
        "Figures 5 and 6, table 2",
        "A list that floats in its memory and is passed over backwards or forwards.",
        Module("crates/jostle/src/broad/sap/batch.rs"),
    ),
    figure(
        "Figure 7",
        "A list of segments with checkpoints.",
        Module("crates/jostle/src/broad/segmented_sap/list.rs"),
    ),
    figure(
        "Figure 8",
        "One insertion and one removal among 3 000 boxes while more and more move: segmented \
         lists are three times as fast at 5 %, and meet batch at 100 %.",
        Plot(&["tracy-figure-8"]),
    ),
    figure(
        "Figure 9",
        "150 of 3 000 boxes move, more and more come and go: segmented lists are ahead until just \
         below 80 events.",
        Plot(&["tracy-figure-9"]),
    ),
    figure(
        "Figure 10",
        "10 000 of 100 000 boxes move in cells: segmented lists are ahead until 4 000 events.",
        Plot(&["tracy-figure-10"]),
    ),
    figure(
        "Figure 11",
        "The world grows to 200 000 boxes: segmented cells almost twice as fast as batch cells, \
         the octree behind both.",
        Plot(&["tracy-figure-11", "tracy-octree"]),
    ),
];
