//! The thesis chapter on parallel techniques.

use super::Here::{Claims, Module, Plot, Words};
use super::{Document, PaperFigure, figure};

/// Hierarchical grids and the sharing of their work.
pub(super) const DOCUMENT: Document = Document {
    name: "grids",
    reference: "Parallel Techniques for Collision Detection, chapter 4 of a doctoral thesis on \
                games on several cores, about 2011.",
    about: "Finds close pairs with a hierarchy of hashed grids, each object in one cell, run by \
            several threads; shares the detailed tests out evenly; collects responses in buffers \
            of each thread's own; and shows what shared cache lines cost. 10 000 objects on four \
            cores.",
    experiments: &["grids"],
    systems: &[
        (
            "hierarchy of hashed grids",
            "crates/jostle/src/broad/hash_grid/mod.rs",
            "`hash-grid`, in space, with every cell that can hold a partner",
        ),
        (
            "the same as printed",
            "crates/cli/src/reproduce/systems/five_cells.rs",
            "algorithms 6 to 10 in the plane, with the rule of five cells and with all cells",
        ),
        (
            "shares of the triangle of tests",
            "crates/jostle/src/world/schedule.rs",
            "algorithms 13 and 14: `Schedule::Blocks` and `Schedule::Alternating`",
        ),
        (
            "batches from a critical section",
            "crates/cli/src/reproduce/grids/batches.rs",
            "algorithm 11",
        ),
        (
            "response with locks and with buffers",
            "crates/cli/src/reproduce/grids/response.rs",
            "algorithms 15 and 16",
        ),
        ("aligned counters", "crates/cli/src/reproduce/grids/counters.rs", "figures 4.9 to 4.12"),
    ],
    left_out: &[("the games of the other chapters", "this chapter alone is among the documents")],
    figures: FIGURES,
};

const FIGURES: &[PaperFigure] = &[
    figure(
        "Figure 4.1",
        "A grid in the plane.",
        Module("crates/cli/src/reproduce/systems/five_cells.rs"),
    ),
    figure(
        "Figures 4.2 and 4.3",
        "Objects that cover many small cells, and many objects in one large cell.",
        Plot(&["grids-cell-size"]),
    ),
    figure(
        "Algorithms 6 to 10",
        "Adding, hashing, removing and finding close pairs.",
        Module("crates/cli/src/reproduce/systems/five_cells.rs"),
    ),
    figure(
        "Figure 4.4",
        "Why the cell below and to the left is looked at as well.",
        Plot(&["grids-five-cells"]),
    ),
    figure("Algorithm 11", "Batches from a critical section.", Plot(&["grids-batches"])),
    figure(
        "Figure 4.5, algorithms 12 and 13",
        "Blocks of objects for three processors.",
        Module("crates/cli/src/reproduce/grids/schedules.rs"),
    ),
    figure(
        "Figures 4.6 and 4.7, algorithm 14",
        "Shares of 21, 12 and 3 tests by blocks, and of 13, 12 and 11 back and forth.",
        Plot(&["grids-schedules"]),
    ),
    figure(
        "Figure 4.8, algorithms 15 and 16",
        "Responses in a buffer for each processor, merged afterwards.",
        Plot(&["grids-response"]),
    ),
    figure(
        "Figures 4.9, 4.10 and 4.12",
        "Tables: counting 49 925 028 tests takes 1188 ms on one core; on four 4906 ms with \
         counters side by side, 1797 ms with padding, 312 ms aligned.",
        Plot(&["grids-counters"]),
    ),
    figure(
        "Figure 4.11",
        "Counters and padding on lines of the cache.",
        Words("A drawing; see the remark on padding in the claims."),
    ),
    figure(
        "Figure 4.13",
        "Table: detection and response of 10 000 objects, 4968 ms on one core, 1391 ms on four.",
        Claims("grids/response"),
    ),
];
