//! 20 000 balls of equal mass bounce off each other and off the walls of a box.
//!
//! The broad phase is all that is needed: balls are so simple that two lines tell whether a pair of
//! boxes is a pair of balls. Everything moves, so the boxes are set in one batch a step.

use jostle::{Aabb, Algorithm, Detector, Error, Filter, Pair};

const SIDE: usize = 28;
const BALLS: usize = 20_000;
const RADIUS: f32 = 0.3;
const STEPS: usize = 40;
const TIME: f32 = 0.02;

struct Ball {
    at: [f32; 3],
    velocity: [f32; 3],
}

fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    (0..3).map(|k| a[k] * b[k]).sum()
}

/// Balls on a grid, with velocities that look random but are the same everywhere.
fn balls() -> Vec<Ball> {
    let mut state = 1u32;
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    let place = |k: usize| [k % SIDE, k / SIDE % SIDE, k / (SIDE * SIDE)].map(|n| n as f32 + 0.5);
    (0..BALLS).map(|k| Ball { at: place(k), velocity: [(); 3].map(|()| 5.0 * random()) }).collect()
}

/// Moves a ball, and reflects it from the walls.
fn advance(ball: &mut Ball) {
    for k in 0..3 {
        ball.at[k] += TIME * ball.velocity[k];
        let outside = ball.at[k] < RADIUS || ball.at[k] > SIDE as f32 - RADIUS;
        let outward = (ball.at[k] > SIDE as f32 / 2.0) == (ball.velocity[k] > 0.0);
        if outside && outward {
            ball.velocity[k] = -ball.velocity[k];
        }
    }
}

/// If two balls touch and approach, they swap their velocities along the line between them, as
/// equal masses do.
fn bounce(balls: &mut [Ball], pair: Pair) -> bool {
    let [a, b] = balls.get_disjoint_mut([pair.a().index(), pair.b().index()]).expect("two balls");
    let between: [f32; 3] = std::array::from_fn(|k| b.at[k] - a.at[k]);
    let relative: [f32; 3] = std::array::from_fn(|k| b.velocity[k] - a.velocity[k]);
    let (distance, approach) = (dot(between, between), dot(between, relative));
    if distance > 4.0 * RADIUS * RADIUS || approach >= 0.0 || distance == 0.0 {
        return false;
    }
    for k in 0..3 {
        let change = between[k] * approach / distance;
        a.velocity[k] += change;
        b.velocity[k] -= change;
    }
    true
}

fn energy(balls: &[Ball]) -> f64 {
    balls.iter().map(|ball| f64::from(dot(ball.velocity, ball.velocity))).sum()
}

pub(crate) fn main() -> Result<(), Error> {
    let mut balls = balls();
    let bounds = |ball: &Ball| Aabb::around(ball.at, [RADIUS; 3]);
    let mut boxes: Vec<Aabb> = balls.iter().map(bounds).collect();
    let mut detector = Detector::new(Algorithm::Auto);
    detector.boxes_mut().insert_all(&boxes, Filter::ALL)?;

    let (before, mut bounces) = (energy(&balls), 0);
    for _ in 0..STEPS {
        balls.iter_mut().for_each(advance);
        boxes.clear();
        boxes.extend(balls.iter().map(bounds));
        detector.boxes_mut().set_all(&boxes)?;
        detector.step()?;
        // The pairs are sorted, so the result does not depend on the algorithm or on threads.
        bounces += detector.pairs().iter().filter(|&&pair| bounce(&mut balls, pair)).count();
    }

    let after = energy(&balls);
    println!("{BALLS} balls, {STEPS} steps, {bounces} bounces");
    println!("chosen {}", detector.reason().unwrap_or_default());
    assert!(bounces > 1000, "they meet");
    assert!((after / before - 1.0).abs() < 1e-4, "no energy is lost: {before} and {after}");
    let inside = |at: f32| (-1.0..=SIDE as f32 + 1.0).contains(&at);
    assert!(balls.iter().all(|ball| ball.at.into_iter().all(inside)), "nobody leaves");
    Ok(())
}
