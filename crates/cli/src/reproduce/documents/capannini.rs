//! The paper of Capannini and Larsson.

use super::Here::{Module, Plot};
use super::{Document, PaperFigure, figure};

/// The bi-dimensional sweep and prune.
pub(super) const DOCUMENT: Document = Document {
    name: "capannini",
    reference: "G. Capannini, T. Larsson, Adaptive Collision Culling for Large-Scale Simulations \
                by a Parallel Sweep and Prune Algorithm, 2016.",
    about: "Sweeps two axes: the first gives each box a range of candidates, the second tests \
            those that are open. All three stages are divided among threads: a radix sort whose \
            partitions come from the previous frame, candidate ranges by prefix sums of succinct \
            trees, pairing by partitions of the ranks. Half a million to two million boxes on 16 \
            cores, and two worlds in which boxes cluster.",
    experiments: &["capannini"],
    systems: &[
        ("sequential version", "crates/jostle/src/broad/bidim_sap/sequential.rs", "algorithm 1"),
        ("parallel sort", "crates/jostle/src/ds/radix_sort.rs", "algorithm 2"),
        ("parallel candidates", "crates/jostle/src/broad/bidim_sap/candidates.rs", "algorithm 3"),
        ("parallel pairing", "crates/jostle/src/broad/bidim_sap/pairing.rs", "algorithm 4"),
        ("succinct tree", "crates/jostle/src/ds/succ_tree.rs", "section 3"),
        (
            "choice of axes",
            "crates/jostle/src/broad/bidim_sap/axes.rs",
            "the paper's rule alone (`AxisRule::Dispersion`) and one that also asks what is gained",
        ),
        (
            "strips",
            "crates/jostle/src/broad/bidim_sap/strips.rs",
            "not in the paper: the library's default division, in vectors",
        ),
        ("ball and plane", "crates/scenes/src/motion/ball.rs", "scenes `ball` and `plane`"),
    ],
    left_out: &[
        (
            "the threshold of the dispersion",
            "the paper does not tell it; several are run, and the one nearest to the paper's \
             frame is named",
        ),
        (
            "the response of the balls",
            "the paper says only that a method was used; here balls bounce off each other \
             elastically, so when and how far they spread is ours",
        ),
        ("a version for graphics processors", "the paper's own wish; not built there"),
    ],
    figures: FIGURES,
};

const FIGURES: &[PaperFigure] = &[
    figure(
        "Algorithm 1",
        "The sequential version.",
        Module("crates/jostle/src/broad/bidim_sap/sequential.rs"),
    ),
    figure("Algorithm 2", "The parallel sort.", Module("crates/jostle/src/ds/radix_sort.rs")),
    figure(
        "Algorithms 3 and 4",
        "Candidates and pairing in partitions.",
        Module("crates/jostle/src/broad/bidim_sap/trees.rs"),
    ),
    figure(
        "Figure 1",
        "Time and speed-up of sorting against the number of boxes: a modest speed-up.",
        Plot(&["capannini-figure-1"]),
    ),
    figure(
        "Figure 2",
        "The same for the candidates, one curve for each density: good, slightly less if dense.",
        Plot(&["capannini-figure-2"]),
    ),
    figure(
        "Figure 3",
        "The same for pairing: the more boxes and the denser, the better, beyond 16 at the end.",
        Plot(&["capannini-figure-3"]),
    ),
    figure(
        "Figure 4",
        "The three stages on top of each other against density, for three sizes, with the \
         speed-up of the whole above.",
        Plot(&["capannini-figure-4"]),
    ),
    figure(
        "Figure 5",
        "A ball that collapses: time of each of 500 frames, sequential and parallel.",
        Plot(&["capannini-ball"]),
    ),
    figure(
        "Figure 6",
        "A plane that all boxes cross at frame 250: with fixed axes a peak from frame 225 to 275, \
         higher for u = y; with exchanged axes none.",
        Plot(&["capannini-plane"]),
    ),
];
