//! Campbell's thesis.

use super::Here::{Claims, Module, Plot, Words};
use super::{Document, PaperFigure, figure};

/// Sweep and prune on the Cell processor.
pub(super) const DOCUMENT: Document = Document {
    name: "campbell",
    reference: "G. Campbell, Broadphase Collision Detection on the Cell Processor, master's \
                thesis, 2010.",
    about: "Writes persistent sweep and prune twice: for an x86, with insertion sort and a map of \
            all pairs with a flag for each axis, and for the Cell processor, with an insertion \
            sort of four-lane vectors on one coprocessor for each axis. Both run in a world of 64 \
            to 1024 boxes: the first step, a scene at rest, and one of which a tenth moves.",
    experiments: &["campbell"],
    systems: &[
        ("sweep and prune by insertion sort", "crates/jostle/src/broad/sap/mod.rs", "`sap`"),
        (
            "pair manager with flags for each axis",
            "crates/cli/src/reproduce/systems/pair_manager.rs",
            "as map, hash table and bit matrix; the library compares boxes instead",
        ),
        (
            "x86 version as printed",
            "crates/cli/src/reproduce/systems/swap_sap.rs",
            "listings 4.1 to 4.5; passes the conformance suite",
        ),
        (
            "Cell version as printed",
            "crates/cli/src/reproduce/systems/vector_sap.rs",
            "listings 4.6 to 4.12 with four-lane vectors, one worker for each axis; passes the \
             conformance suite",
        ),
        (
            "vector sort, made faster",
            "crates/jostle/src/broad/simd_sap/mod.rs",
            "`simd-sap`: vectors stay in order while they move, boxes are compared where they pass",
        ),
        ("rigid-body test world", "crates/scenes/src/motion/campbell.rs", "scene `campbell`"),
    ],
    left_out: &[
        (
            "transfers between main memory and the coprocessors' local store",
            "shared memory has none; what is left of their cost is the hand-over to threads",
        ),
        (
            "k-d trees, BSP trees, hierarchies of bounding volumes",
            "surveyed in chapter 2, neither built nor measured there",
        ),
    ],
    figures: FIGURES,
};

const FIGURES: &[PaperFigure] = &[
    figure(
        "Figure 2.1",
        "Two oriented boxes that an axis separates.",
        Module("crates/jostle/src/narrow/sat.rs"),
    ),
    figure("Figure 2.2", "A tree of boxes.", Module("crates/jostle/src/broad/bvh/mod.rs")),
    figure(
        "Figure 2.3",
        "Cells that are too small, too large, or both for objects of unlike sizes.",
        Claims("grids/cell-size"),
    ),
    figure(
        "Figure 2.4",
        "A hierarchy of four one-dimensional grids.",
        Module("crates/jostle/src/broad/hash_grid/mod.rs"),
    ),
    figure(
        "Figure 2.5",
        "Boxes in the plane and their intervals on two axes.",
        Module("crates/jostle/src/broad/sap/mod.rs"),
    ),
    figure(
        "Figures 2.6, 2.7 and 2.8",
        "The Cell processor, its main core and its coprocessors.",
        Words("A machine that is not here: threads stand for the coprocessors."),
    ),
    figure(
        "Figure 4.1",
        "The pair manager: a key made of two ids leads to three flags.",
        Plot(&["campbell-pair-manager"]),
    ),
    figure(
        "Figure 4.2",
        "Ten numbers sorted by insertion.",
        Module("crates/cli/src/reproduce/systems/swap_sap.rs"),
    ),
    figure(
        "Figures 4.3 to 4.7",
        "Two vectors split into the smaller and the larger values, the four rotations of that, \
         the sort within a vector, and ids that follow their values.",
        Module("crates/cli/src/reproduce/systems/vector_sort.rs"),
    ),
    figure(
        "Figure 4.8",
        "How values, ids and indices correspond.",
        Module("crates/cli/src/reproduce/systems/vector_sap.rs"),
    ),
    figure(
        "Listings 4.1 to 4.3",
        "The key made of two ids, the value it leads to, and the structure of an end.",
        Module("crates/cli/src/reproduce/systems/pair_manager.rs"),
    ),
    figure(
        "Listings 4.4 and 4.5",
        "Insertion sort, and the same with overlap tests at each swap.",
        Module("crates/cli/src/reproduce/systems/swap_sap.rs"),
    ),
    figure(
        "Listing 4.6",
        "Values brought up to date by the sorted ids.",
        Module("crates/cli/src/reproduce/systems/vector_sap.rs"),
    ),
    figure(
        "Listing 4.7",
        "A transfer between main memory and a coprocessor.",
        Words("Not needed: see what is left out."),
    ),
    figure(
        "Listings 4.8 to 4.10",
        "Comparisons and permutations that sort within a vector and between two.",
        Module("crates/cli/src/reproduce/systems/vector_sort.rs"),
    ),
    figure(
        "Listings 4.11 and 4.12",
        "Ids that changed place, and overlaps from what lies between the ends of a box.",
        Module("crates/cli/src/reproduce/systems/vector_sap.rs"),
    ),
    figure("Figure 5.1", "A picture of the world.", Words("Here: `jostle view --scene campbell`.")),
    figure(
        "Figure 5.2",
        "Time of the first step against the number of boxes: the x86's curve rises far more \
         steeply than the Cell's.",
        Plot(&["campbell-first"]),
    ),
    figure(
        "Figure 5.3",
        "Time of a step in which nothing moves: the x86 near zero, the Cell at about 3 ms at \
         every size.",
        Plot(&["campbell-static"]),
    ),
    figure(
        "Figures 5.4 and 5.5",
        "Longest of 1000 steps while a tenth moves: the Cell, without collecting results, flat \
         and soon below the x86; with collecting, far above both from 512 boxes on.",
        Plot(&["campbell-tenth"]),
    ),
];
