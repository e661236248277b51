//! Section 6.2.1: solvers of the simplex and ways to start, on cold pairs.
//!
//! The thesis chooses Voronoi regions with van den Bergen's theorem, seven of a tetrahedron, over
//! Ericson's fourteen and Johnson's equations, and allows a start from four directions. It measures
//! none of that. Here each answers the same questions through the same loop. For robustness the
//! hulls are also flattened, which makes simplices thin; the library's distances decide.

use std::sync::Arc;
use std::time::Instant;

use glam::DVec3;
use jostle::narrow::{self, Placed};
use jostle::shape::{Hull, Shape};
use jostle_scenes::{PairScene, Placing, ShapeKind, median};

use super::super::systems::narrow::{Answer, Body, Memory, Pair, Solver, System, Work};
use super::super::{Bound, Claim, Figure, Lab};
use crate::support::failure::Failure;
use crate::support::plot::{Axis, Chart, Lines, Series};

const SYSTEMS: [System; 7] = [
    System::IsaGjk(Solver::Seven),
    System::IsaGjk(Solver::Fourteen),
    System::IsaGjk(Solver::Johnson),
    System::FourDirections(Solver::Seven),
    System::Gjk(Solver::Seven),
    System::Gjk(Solver::Fourteen),
    System::Gjk(Solver::Johnson),
];

/// How flat the hulls are made: this share of their height is left.
const FLATNESS: [f64; 5] = [1.0, 1e-2, 1e-4, 1e-6, 1e-8];

/// Pairs that are asked once.
struct Questions {
    shapes: Vec<Shape>,
    bodies: Vec<Body>,
    scene: PairScene,
}

impl Questions {
    fn new(placing: Placing, pairs: usize, flatness: f64) -> Result<Questions, Failure> {
        let kind = ShapeKind::find("hulls-42")
            .ok_or_else(|| Failure::Check("there are no hulls of 42 points".into()))?;
        let scene = PairScene::new(kind, placing, pairs, 1);
        let (mut shapes, mut bodies) = (Vec::new(), Vec::new());
        for shape in &scene.shapes {
            let Shape::Hull(hull) = shape else {
                return Err(Failure::Check(format!("{shape:?} is no hull")));
            };
            // About a point inside, so that the flat hull is a part of the other.
            let flat = |point: &DVec3| {
                let from = *point - hull.center();
                hull.center() + from * DVec3::new(1.0, 1.0, flatness)
            };
            let points: Vec<DVec3> = hull.vertices().iter().map(flat).collect();
            let hull = Arc::new(Hull::new(&points).map_err(Failure::input)?);
            bodies.push(Body::new(hull.clone()));
            shapes.push(Shape::Hull(hull));
        }
        Ok(Questions { shapes, bodies, scene })
    }

    fn pairs(&self) -> impl Iterator<Item = Pair<'_>> {
        self.scene
            .pairs
            .iter()
            .map(|pair| Pair::new(pair.shapes.map(|shape| &self.bodies[shape]), &pair.frames[0]))
    }

    /// Nanoseconds for each.
    fn time(&self, system: System) -> f64 {
        let start = Instant::now();
        let mut work = Work::default();
        for pair in self.pairs() {
            std::hint::black_box(system.ask(&pair, &mut Memory::default(), &mut work));
        }
        start.elapsed().as_secs_f64() * 1e9 / self.scene.pairs.len() as f64
    }

    fn work(&self, system: System) -> Work {
        let mut work = Work::default();
        for pair in self.pairs() {
            system.ask(&pair, &mut Memory::default(), &mut work);
        }
        work
    }

    /// The largest error of a distance, and how many pairs got no distance.
    fn error(&self, system: System) -> (f64, u64) {
        let (mut worst, mut none) = (0.0f64, 0);
        for (pair, placed) in self.pairs().zip(&self.scene.pairs) {
            let [a, b] = [0, 1]
                .map(|side| Placed::new(&self.shapes[placed.shapes[side]], placed.frames[0][side]));
            match system.ask(&pair, &mut Memory::default(), &mut Work::default()) {
                Answer::Apart(Some(distance)) => {
                    worst = worst.max((distance - narrow::distance(&a, &b)).abs());
                }
                _ => none += 1,
            }
        }
        (worst, none)
    }
}

const PLACINGS: [(&str, Placing); 3] =
    [("apart", Placing::Separated), ("touching", Placing::Touching), ("deep", Placing::Deep)];

/// Times and counts, then errors.
pub(crate) fn claims(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let count = lab.pick(200, 2000);
    let mut times = vec![vec![Vec::new(); SYSTEMS.len()]; PLACINGS.len()];
    let mut works = Vec::new();
    for ((_, placing), times) in PLACINGS.iter().zip(&mut times) {
        let questions = Questions::new(*placing, count, 1.0)?;
        works.push(SYSTEMS.map(|system| questions.work(system)));
        for _ in 0..lab.pick(5, 31) {
            lab.check_stop()?;
            for (system, times) in SYSTEMS.iter().zip(times.iter_mut()) {
                times.push(questions.time(*system));
            }
        }
    }
    let errors = FLATNESS
        .iter()
        .map(|&flatness| {
            let questions = Questions::new(Placing::Separated, count, flatness)?;
            Ok([4, 5, 6].map(|k: usize| questions.error(SYSTEMS[k])))
        })
        .collect::<Result<Vec<_>, Failure>>()?;
    write(lab, count, &times, &works, &errors)?;
    let all = |k: usize| -> Vec<f64> {
        let rounds = times[0][k].len();
        (0..rounds).map(|round| times.iter().map(|list| list[k][round]).sum()).collect()
    };
    let regions = |k: usize| works.iter().map(|list| list[k].regions as f64).sum::<f64>();
    let searches = |k: usize| works.iter().map(|list| list[k].searches as f64).sum::<f64>();
    let per_question = |sum: f64| sum / (count * PLACINGS.len()) as f64;
    let worst = |k: usize| errors.iter().map(|row| row[k].0).fold(0.0, f64::max);
    Ok(vec![
        Claim::new(
            "Johnson's equations are faster than Voronoi regions",
            "`might be faster` (section 6.2.1)",
        )
        .require("times as fast, ISA-GJK", Figure::ratio(&all(0), &all(2)), Bound::at_least(1.0))
        .require("times as fast, GJK", Figure::ratio(&all(4), &all(6)), Bound::at_least(1.0))
        .at(format!("{count} cold pairs each apart, touching and deep"))
        .show(format!(
            "{:.1} sets of corners against {:.1} regions a question",
            per_question(regions(2)),
            per_question(regions(0))
        ))
        .remark("dot products are not kept from step to step")
        .because(
            "it looks at equally many sets of corners as there are regions to look at, and each \
             costs about the same products",
            "sets of corners by regions",
            Figure::counted(regions(2) / regions(0)),
            Bound::near(1.0, 0.1),
        ),
        Claim::new(
            "Johnson's equations are the most robust way to the nearest point",
            "van den Bergen's claim (section 6.2.1)",
        )
        .require(
            "its largest error by that of seven regions",
            Figure::counted(worst(2) / worst(0).max(f64::MIN_POSITIVE)),
            // Both end at the same gap between the bounds; less than a tenth is its chance.
            Bound::at_most(1.1),
        )
        .show(format!("errors {:.1e} and {:.1e}", worst(2), worst(0)))
        .at(format!("{count} pairs a few tenths apart, flattened down to {:e}", FLATNESS[4]))
        .remark("in f64 the gap at which the loop ends is larger than what either solver loses"),
        Claim::new(
            "With theorem 2 half of the Voronoi regions are looked at",
            "seven instead of fourteen of a tetrahedron (section 6.2.1)",
        )
        .require(
            "regions looked at, seven by fourteen",
            Figure::counted(regions(4) / regions(5)),
            Bound::at_most(0.6),
        )
        .show(format!("time {}", Figure::ratio(&all(4), &all(5))))
        .remark("smaller simplices have more than half of their regions at the newest corner"),
        Claim::new(
            "A start from four directions makes no big difference",
            "`should not be a big performance difference` (section 6.2.1)",
        )
        .require(
            "time from four directions by that from one",
            Figure::ratio(&all(3), &all(0)),
            Bound::Between { least: 0.8, most: 1.25 },
        )
        .show(format!(
            "{:.2} searches against {:.2} a question",
            per_question(searches(3)),
            per_question(searches(0))
        ))
        .show(
            PLACINGS
                .iter()
                .zip(&times)
                .map(|((name, _), list)| {
                    format!("{name} {:.2}", Figure::ratio(&list[3], &list[0]).value)
                })
                .collect::<Vec<_>>()
                .join(", "),
        )
        .because(
            "four searches come before the first test, and few pairs need so many",
            "searches from four directions by those from one",
            Figure::counted(searches(3) / searches(0)),
            Bound::at_least(1.25),
        ),
    ])
}

fn write(
    lab: &mut Lab,
    count: usize,
    times: &[Vec<Vec<f64>>],
    works: &[[Work; 7]],
    errors: &[[(f64, u64); 3]],
) -> Result<(), Failure> {
    let mut cells = Vec::new();
    for (((name, _), times), works) in PLACINGS.iter().zip(times).zip(works) {
        for ((system, times), work) in SYSTEMS.iter().zip(times).zip(works) {
            let mean = |sum: u64| format!("{:.3}", sum as f64 / count as f64);
            let time = format!("{:.1}", median(times.iter().copied()));
            let row = vec![(*name).to_owned(), system.name().to_owned(), time];
            let counts = [work.searches, work.steps, work.regions].map(mean);
            cells.push([row, counts.to_vec()].concat());
        }
    }
    let header = ["placing", "system", "median_ns", "searches", "steps", "regions"];
    lab.csv("solvers", &header, &cells)?;
    let mut cells = Vec::new();
    for (flatness, row) in FLATNESS.iter().zip(errors) {
        for (k, (error, none)) in row.iter().enumerate() {
            let name = SYSTEMS[4 + k].name().to_owned();
            cells.push(vec![format!("{flatness:e}"), name, format!("{error:e}"), none.to_string()]);
        }
    }
    lab.csv("solver-errors", &["flatness", "system", "largest_error", "no_distance"], &cells)?;
    let line = |k: usize| {
        let points = FLATNESS.iter().zip(errors).map(|(&x, row)| (x, row[k].0.max(1e-17)));
        Series::new(SYSTEMS[4 + k].name(), points.collect())
    };
    lab.plot(
        "solver-errors",
        &[Chart::Lines(Lines {
            title: "Errors of the solvers on flat hulls".into(),
            note: "hulls of 42 points, radius about one; both axes logarithmic".into(),
            x: Axis::log("height that is left"),
            y: Axis::log("largest error of a distance"),
            series: (0..3).map(line).collect(),
        })],
    )
}
