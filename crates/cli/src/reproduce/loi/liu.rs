//! Sections 5.1.1, 5.1.3 and 8: what the thesis leaves out of Liu's and Le Grand's programs, one
//! idea after the other, in a uniform room and in a beam that lies across all axes.

use std::time::Instant;

use glam::DVec3;
use jostle::{Aabb, Boxes, BroadPhase, Filter, PairBuffer};
use jostle_scenes::{Rng, SceneSpec, median};

use crate::reproduce::systems::control_bits::{ControlBits, Rules};
use crate::reproduce::systems::liu_sweep::{LiuOptions, LiuSweep, Straddlers, SweepAxis};
use crate::reproduce::{Bound, Claim, Figure, Lab};
use crate::support::failure::Failure;
use crate::support::feed::Feed;
use crate::support::text::grouped;

/// Boxes for each cell: Liu's 64 000 would leave one cell.
const PER_CELL: usize = 1000;

/// The thesis's program, one idea added to it, all of them, and Le Grand's grids.
const VARIANTS: [&str; 9] = [
    "thesis",
    "principal axis",
    "cells for straddlers",
    "bit strings",
    "all three (Liu)",
    "grid, every meeting tested",
    "grid, control bits as printed",
    "grid, control bits mended",
    "all but cells for straddlers",
];

fn variant(number: usize) -> Box<dyn BroadPhase> {
    let (thesis, liu) = (SweepAxis::Coordinate, SweepAxis::Principal);
    let sweep = |axis, straddlers, bits| -> Box<dyn BroadPhase> {
        Box::new(LiuSweep::new(LiuOptions { axis, straddlers, bits, per_cell: PER_CELL }))
    };
    match number {
        0 => sweep(thesis, Straddlers::Copied, false),
        1 => sweep(liu, Straddlers::Copied, false),
        2 => sweep(thesis, Straddlers::Apart, false),
        3 => sweep(thesis, Straddlers::Copied, true),
        4 => sweep(liu, Straddlers::Apart, true),
        5 => Box::new(ControlBits::new(Rules::WITHOUT_BITS)),
        6 => Box::new(ControlBits::new(Rules::PRINTED)),
        7 => Box::new(ControlBits::new(Rules::EXACT)),
        _ => sweep(liu, Straddlers::Copied, true),
    }
}

/// What a variant did with a world.
#[derive(Clone, Debug, Default)]
struct Outcome {
    ms: Vec<f64>,
    entries: f64,
    /// Meetings that the sweep found, before bits.
    candidates: f64,
    tests: f64,
    bytes: usize,
    pairs: usize,
    /// Boxes on borders, and entries of others in the cells of borders.
    straddlers: f64,
    reaching: f64,
}

/// Cubes in a long beam along the diagonal, with about as many neighbours as in the room.
fn beam(n: usize) -> Vec<Aabb> {
    let mut rng = Rng::new(3);
    let along = DVec3::ONE.normalize();
    let (first, second) = along.any_orthonormal_pair();
    let width = (n as f64 / 0.3 / 40.0).cbrt();
    let cubes = (0..n).map(|_| {
        let [s, t, u] = [0; 3].map(|_| rng.unit_f64() - 0.5);
        let center = along * (40.0 * width * s) + first * (width * t) + second * (width * u);
        let corner = center.to_array().map(|x| x as f32);
        Aabb::new(corner, corner.map(|x| x + 1.0))
    });
    cubes.collect()
}

fn room(n: usize) -> Result<Vec<Aabb>, Failure> {
    let mut boxes = Boxes::new();
    let spec = SceneSpec::new("uniform", n, 1).param("density", 0.3).param("spread", 0.0);
    Feed::unfiltered(&spec, 1)?.advance(&mut boxes)?;
    Ok(boxes.aabbs().to_vec())
}

fn measure(lab: &Lab, aabbs: &[Aabb]) -> Result<Vec<Outcome>, Failure> {
    let mut boxes = Boxes::new();
    boxes.insert_all(aabbs, Filter::ALL).map_err(Failure::input)?;
    let mut systems: Vec<Box<dyn BroadPhase>> = (0..VARIANTS.len()).map(variant).collect();
    let mut outcomes = vec![Outcome::default(); VARIANTS.len()];
    let mut found = PairBuffer::default();
    for _ in 0..lab.pick(3, 11) {
        for (system, outcome) in systems.iter_mut().zip(&mut outcomes) {
            lab.check_stop()?;
            found.clear();
            let start = Instant::now();
            system.update(&boxes, &mut found)?;
            outcome.ms.push(start.elapsed().as_secs_f64() * 1e3);
            let stats = system.stats();
            let count = |name: &str| stats.count(name).unwrap_or(0.0);
            outcome.entries = count("entries");
            outcome.candidates = count("candidates") + count("skipped");
            (outcome.tests, outcome.bytes) = (stats.tests as f64, stats.bytes);
            outcome.pairs = found.len();
            (outcome.straddlers, outcome.reaching) = (count("straddlers"), count("reaching"));
        }
    }
    Ok(outcomes)
}

/// The part of the experiment.
pub(super) fn run(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let n = lab.pick(6000, 40_000);
    let worlds = [("room", room(n)?), ("beam", beam(n))];
    let mut all = Vec::new();
    for (name, aabbs) in &worlds {
        let outcomes = measure(lab, aabbs)?;
        let truth = jostle::overlaps(aabbs)?.len();
        for (variant, outcome) in VARIANTS.iter().zip(&outcomes) {
            // Le Grand's grid as printed loses some, which is the point.
            if outcome.pairs != truth && *variant != VARIANTS[6] {
                let found = outcome.pairs;
                return Err(Failure::Check(format!("{variant}, {name}: {found} of {truth} pairs")));
            }
        }
        all.push((*name, truth, outcomes));
    }
    write(lab, &all)?;
    let at = format!("{} boxes", grouped(n as u64));
    Ok(claims(&all).into_iter().map(|claim| claim.at(at.clone())).collect())
}

fn write(lab: &mut Lab, all: &[(&str, usize, Vec<Outcome>)]) -> Result<(), Failure> {
    let mut cells = Vec::new();
    for (world, truth, outcomes) in all {
        for (name, outcome) in VARIANTS.iter().zip(outcomes) {
            let mut row = vec![(*world).to_owned(), (*name).to_owned()];
            row.push(format!("{:.3}", median(outcome.ms.iter().copied())));
            let counts = [outcome.entries, outcome.candidates, outcome.tests];
            row.extend(counts.map(|count| format!("{count:.0}")));
            row.extend([outcome.bytes, outcome.pairs, *truth].map(|count| count.to_string()));
            cells.push(row);
        }
    }
    let header = [
        "world",
        "variant",
        "median_ms",
        "entries",
        "candidates",
        "tests",
        "bytes",
        "found",
        "pairs",
    ];
    lab.csv("liu", &header, &cells)
}

fn claims(all: &[(&str, usize, Vec<Outcome>)]) -> Vec<Claim> {
    let [room, beam] = [0, 1].map(|world: usize| &all[world].2);
    let faster = |list: &[Outcome], number: usize| Figure::ratio(&list[0].ms, &list[number].ms);
    let fewer = |list: &[Outcome], number: usize, of: &dyn Fn(&Outcome) -> f64| {
        Figure::counted(of(&list[0]) / of(&list[number]))
    };
    let lost: usize = all.iter().map(|(_, truth, list)| truth - list[6].pairs).sum();
    let mended: usize = all.iter().map(|(_, truth, list)| truth - list[7].pairs).sum();
    let pairs: usize = all.iter().map(|(_, truth, _)| truth).sum();
    let meetings = |list: &[Outcome]| list[5].tests / list[7].tests;
    vec![
        Claim::new(
            "Liu's other methods improve the thesis's simplified program",
            "a wish, to see how much (section 8)",
        )
        .require("times as fast in the room", faster(room, 4), Bound::at_least(1.0))
        .require("times as fast in the beam", faster(beam, 4), Bound::at_least(1.0))
        .remark("one thread; the rows below look at each of the three")
        .because(
            "the cells for straddlers cost more than the other two gain",
            "times as fast as the thesis's without them in the beam",
            faster(beam, 8),
            Bound::at_least(1.0),
        ),
        Claim::new(
            "The principal axis is the best to sweep along",
            "Liu's choice; the thesis takes the coordinate axis of the largest variance \
             (section 5.1.3)",
        )
        .require(
            "candidates along a coordinate axis by those along the principal, beam",
            fewer(beam, 1, &|outcome| outcome.candidates),
            Bound::at_least(1.0),
        )
        .require("times as fast in the beam", faster(beam, 1), Bound::at_least(1.0))
        .show(format!(
            "room: {} times the candidates, {} times as fast",
            fewer(room, 1, &|outcome| outcome.candidates),
            faster(room, 1)
        ))
        .remark(
            "boxes stay along the axes, so their shadows on a turned axis are up to √3 times as \
             long: where the world has no direction of its own the turn only costs",
        ),
        Claim::new(
            "Cells for straddlers spare copies",
            "instead of duplicates in every cell (sections 5.1.3 and 6.3)",
        )
        .require(
            "entries with copies by those with cells, room",
            fewer(room, 2, &|outcome| outcome.entries),
            Bound::at_least(1.0),
        )
        .show(format!(
            "{} times as fast in the room, {} in the beam; entries in the beam {}",
            faster(room, 2),
            faster(beam, 2),
            fewer(beam, 2, &|outcome| outcome.entries)
        ))
        .because(
            "a straddler is in one border's cell, but every box that reaches into the border's \
             band is there as well",
            "entries of such boxes by straddlers, room",
            Figure::counted(room[2].reaching / room[2].straddlers),
            Bound::at_least(1.0),
        ),
        Claim::new(
            "Bit strings of a second level cull further",
            "easily determined by a bit-wise and (section 5.1.3)",
        )
        .require(
            "box tests without by those with, room",
            fewer(room, 3, &|outcome| outcome.tests),
            Bound::at_least(1.0),
        )
        .require("times as fast in the room", faster(room, 3), Bound::at_least(1.0))
        .show(format!("{} times as fast in the beam", faster(beam, 3))),
        Claim::new(
            "Control bits ensure that no test is made twice",
            "with cells larger than the largest object (Le Grand, section 5.1.1)",
        )
        .require("pairs lost", Figure::counted(lost as f64), Bound::at_most(0.0))
        .show(format!("of {pairs}; {mended} with boxes entered larger, cells of twice the largest"))
        .show(format!(
            "{:.2} times the tests without bits in the room, {:.2} in the beam",
            meetings(room),
            meetings(beam)
        ))
        .show(format!(
            "bits as printed {} times as fast as every meeting tested, mended {}",
            Figure::ratio(&room[5].ms, &room[6].ms),
            Figure::ratio(&room[5].ms, &room[7].ms)
        ))
        .because(
            "two boxes may meet only in a cell where neither has its centre. Le Grand enters \
             spheres with √2 of their radius and has larger cells, which the thesis leaves out",
            "pairs lost with both",
            Figure::counted(mended as f64),
            Bound::at_most(0.0),
        ),
    ]
}
