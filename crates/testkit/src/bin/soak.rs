//! `soak`: random histories against every algorithm, random pairs of shapes and of meshes, and
//! random worlds, for a given time or a given number of them. What a fuzzer does, without its
//! feedback and without its toolchain; the same seed gives the same cases, so a number of them is
//! the same test on every machine.
//!
//! ```text
//! cargo run --release -p jostle-testkit --bin soak -- --seconds 60 --seed 7
//! cargo run --release -p jostle-testkit --bin soak -- --histories 1000
//! ```

#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::time::{Duration, Instant};

use jostle::{Algorithm, Workers};
use jostle_scenes::Rng;
use jostle_testkit::replay::{Op, Replay};
use jostle_testkit::{bodies, history, meshes, suite};

/// A history: mostly short ones, many with a narrow choice of bytes, so that operations and
/// coordinates repeat.
fn history(rng: &mut Rng) -> Vec<Op> {
    history::from_bytes(&bytes(rng))
}

fn bytes(rng: &mut Rng) -> Vec<u8> {
    let length = 1 << (5 + rng.below(7));
    let mask = [0xFF, 0x7F, 0x3F, 0xF3][rng.below(4)];
    (0..length).map(|_| rng.next_u64() as u8 & mask).collect()
}

/// Pairs of shapes for each history of boxes and each world.
const PAIRS: u64 = 64;

/// Pairs of meshes for each of them.
const MESHES: u64 = 8;

/// Some pairs of shapes and of meshes, and a world.
fn check_bodies(rng: &mut Rng) -> Result<(), String> {
    for _ in 0..MESHES {
        let bytes = bytes(rng);
        let checked = meshes::check_meshes(&bytes);
        checked.map_err(|failure| format!("{failure}\nmeshes {bytes:?}"))?;
    }
    for _ in 0..PAIRS {
        let bytes = bytes(rng);
        bodies::check_pair(&bytes).map_err(|failure| format!("{failure}\npair {bytes:?}"))?;
    }
    let bytes = bytes(rng);
    bodies::check_world(&bytes).map_err(|failure| format!("{failure}\nworld {bytes:?}"))
}

fn main() -> ExitCode {
    let Arguments { end, most, seed } = match arguments() {
        Ok(given) => given,
        Err(message) => {
            eprintln!("soak: {message}; usage: soak [--seconds N | --histories N] [--seed N]");
            return ExitCode::from(2);
        }
    };
    let (mut histories, mut operations, mut hits) = (0u64, 0usize, (0, 0));
    while histories < most && end.is_none_or(|end| Instant::now() < end) {
        let ops = history(&mut Rng::new(seed.wrapping_add(histories << 32)));
        for &algorithm in Algorithm::ALL {
            let build = |workers: &Workers| algorithm.build(workers);
            let mut replay = Replay::new(&build, suite::THREADS[histories as usize % 2]);
            if let Err(failure) = replay.run(&ops) {
                eprintln!("{algorithm}, history {histories} of seed {seed}: {failure}\n{ops:#?}");
                return ExitCode::FAILURE;
            }
            hits = (hits.0 + replay.hits.0, hits.1 + replay.hits.1);
        }
        if let Err(failure) = check_bodies(&mut Rng::new(!seed.wrapping_add(histories << 32))) {
            eprintln!("bodies {histories} of seed {seed}: {failure}");
            return ExitCode::FAILURE;
        }
        histories += 1;
        operations += ops.len();
    }
    let share = 100.0 * hits.0 as f64 / f64::max(hits.1 as f64, 1.0);
    println!(
        "{histories} histories, {operations} operations, {share:.1} % of pairs overlap, {} pairs \
         of shapes, {} of meshes, {histories} worlds: all agree",
        PAIRS * histories,
        MESHES * histories
    );
    ExitCode::SUCCESS
}

/// How long, how much, and from which seed.
struct Arguments {
    end: Option<Instant>,
    most: u64,
    seed: u64,
}

fn arguments() -> Result<Arguments, String> {
    let (mut seconds, mut most, mut seed) = (None, None, 1);
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or(format!("{name} needs a number"))?;
        let value = value.parse().map_err(|_| format!("{value} is not a number"))?;
        match name.as_str() {
            "--seconds" => seconds = Some(value),
            "--histories" => most = Some(value),
            "--seed" => seed = value,
            _ => return Err(format!("unknown option {name}")),
        }
    }
    let seconds = if most.is_none() { seconds.or(Some(10)) } else { seconds };
    let end = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    Ok(Arguments { end, most: most.unwrap_or(u64::MAX), seed })
}
