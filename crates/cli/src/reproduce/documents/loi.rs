//! Loi's thesis.

use super::Here::{Module, Plot, Words};
use super::{Document, PaperFigure, figure};

/// Broad phase on a GPU, ISA-GJK on the processor.
pub(super) const DOCUMENT: Document = Document {
    name: "loi",
    reference: "L. Loi, Fast GPU-based Collision Detection, master's thesis, 2010.",
    about: "Surveys both phases, then builds a pipeline: space cut into columns and swept along \
            the third axis on a GPU, ISA-GJK with a Voronoi simplex solver and hill climbing on \
            the processor. Tens of thousands of 80-triangle spheres.",
    experiments: &["loi"],
    systems: &[
        ("columns and sweep on a GPU", "crates/gpu/src/lib.rs", "count, scan, fill, sort, sweep"),
        ("the same on a processor", "crates/jostle/src/broad/grid_sweep/mod.rs", "`grid-sweep`"),
        ("the same as printed", "crates/cli/src/reproduce/loi.rs", "one thread, any cell"),
        ("ISA-GJK", "crates/jostle/src/narrow/isa_gjk.rs", "`Detail::Boolean` in a `World`"),
        ("GJK with a Voronoi solver", "crates/jostle/src/narrow/simplex.rs", ""),
        ("hill climbing", "crates/jostle/src/shape/search/climb.rs", "`SupportSearch::Climb`"),
        (
            "Dobkin and Kirkpatrick's hierarchy",
            "crates/jostle/src/shape/search/hierarchy.rs",
            "a wish of the thesis",
        ),
        (
            "support by cube map",
            "crates/jostle/src/shape/search/cube_map.rs",
            "surveyed in the thesis; here a start for climbing, hence exact",
        ),
        (
            "Lin-Canny, V-Clip, Chung-Wang, Johnson, four directions, artificial neighbours",
            "crates/cli/src/reproduce/systems/narrow/mod.rs",
            "surveyed in the thesis",
        ),
        (
            "principal axis, cells for straddlers, bit strings",
            "crates/cli/src/reproduce/systems/liu_sweep.rs",
            "Liu's, surveyed in the thesis",
        ),
        (
            "control bits",
            "crates/cli/src/reproduce/systems/control_bits.rs",
            "Le Grand's, surveyed in the thesis",
        ),
    ],
    left_out: &[
        ("k-d trees and BSP trees", "surveyed, neither built nor measured there"),
        ("caps of concave objects", "surveyed; triangle meshes are in `crates/jostle/src/mesh`"),
    ],
    figures: FIGURES,
};

const FIGURES: &[PaperFigure] = &[
    figure(
        "Figures 1, 2 and 3, algorithm 1",
        "One-dimensional hierarchies of grids, by center, by size, and in all levels above.",
        Module("crates/jostle/src/broad/hash_grid/mod.rs"),
    ),
    figure(
        "Figure 4",
        "A point in the Voronoi region of a vertex.",
        Module("crates/jostle/src/narrow/simplex.rs"),
    ),
    figure(
        "Figure 5",
        "A separating vector reflected.",
        Module("crates/cli/src/reproduce/systems/narrow/separating_vector.rs"),
    ),
    figure(
        "Figures 6 and 7, algorithm 2",
        "The Minkowski difference and GJK in it, step by step.",
        Module("crates/jostle/src/narrow/gjk.rs"),
    ),
    figure("Algorithm 3", "ISA-GJK.", Module("crates/jostle/src/narrow/isa_gjk.rs")),
    figure("Figure 8", "The cap of a concave polygon.", Words("Not built: see what is left out.")),
    figure(
        "Figure 9",
        "A search for a support vertex that runs in a circle.",
        Plot(&["loi-neighbours"]),
    ),
    figure(
        "Figure 10",
        "Time of the broad phase against the number of objects, with a fixed cell and with one \
         that follows their number: the latter below at every size.",
        Plot(&["loi-cells", "loi-rule"]),
    ),
    figure(
        "Figure 11",
        "Time of ISA-GJK against triangles, with and without hill climbing, touching and not: \
         flat with, rising without, touching above apart.",
        Plot(&["loi-isa-gjk", "loi-narrow-phases", "loi-solver-errors"]),
    ),
    figure(
        "Figures 12 and 13",
        "Candidate pairs, and time of both phases, against the number of objects: pairs and \
         ISA-GJK rise, the broad phase stays low.",
        Plot(&["loi-phases", "loi-detail"]),
    ),
];
