//! A ball comes to rest in a cradle: one body, two contacts with normals of their own.
//!
//! The cradle is a compound of two leaning planks. [`Detail::Pieces`] gives a manifold for each
//! plank, with its number, so that the ball is held on both sides. The solver keeps its impulses in
//! the world ([`World::impulses_mut`]), which hands them on to the same points in the next step. At
//! rest the planks carry the ball's weight; then it sleeps, until a second ball wakes it.

use std::error::Error;

use glam::{DQuat, DVec3};
use jostle::shape::{Pose, Shape};
use jostle::world::Detail;
use jostle::{Body, BodyId, Filter, World};

const TIME: f64 = 1.0 / 60.0;
const GRAVITY: f64 = 9.81;
const RADIUS: f64 = 0.5;
/// How far the planks lean from the floor.
const LEAN: f64 = std::f64::consts::FRAC_PI_4;

/// Finds the impulses of one ball against what it touches, and its velocity after them.
fn solve(world: &mut World, ball: BodyId, velocity: &mut DVec3) {
    velocity.y -= TIME * GRAVITY;
    for round in 0..20 {
        for number in 0..world.last_step().touches.len() {
            let touch = world.last_step().touches[number];
            let sign = if touch.pair.b() == ball { 1.0 } else { -1.0 };
            let points = world.last_step().points(&touch).to_vec();
            for (point, impulse) in points.iter().zip(world.impulses_mut(&touch)) {
                let out = sign * point.normal;
                if round == 0 {
                    *velocity += impulse[0] * out; // what the last step found
                }
                let correction = 0.2 * (-point.separation - 1e-3).max(0.0) / TIME;
                let sum = (impulse[0] + correction - velocity.dot(out)).max(0.0);
                *velocity += (sum - impulse[0]) * out;
                impulse[0] = sum;
            }
        }
    }
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let mut world = World::default();
    world.set_detail(Detail::Pieces);
    let plank = |side: f64| -> Result<(Shape, Pose), Box<dyn Error>> {
        let turn = DQuat::from_rotation_z(side * LEAN);
        let place = turn * DVec3::new(0.0, -0.1, 0.0) + DVec3::new(side, 0.0, 0.0);
        Ok((Shape::cuboid(DVec3::new(1.4, 0.1, 1.0))?, Pose::new(turn, place)?))
    };
    let cradle = Shape::compound(vec![plank(1.0)?, plank(-1.0)?])?;
    let cradle = Body::new(cradle, Pose::IDENTITY).with_filter(Filter::STILL);
    let cradle = world.insert(cradle)?;
    let mut at = DVec3::new(0.3, 2.0, 0.0);
    let ball = world.insert(Body::new(Shape::sphere(RADIUS)?, Pose::at(at)?))?;

    let mut velocity = DVec3::ZERO;
    for _ in 0..600 {
        world.step()?;
        solve(&mut world, ball, &mut velocity);
        at += TIME * velocity;
        world.set_pose(ball, Pose::at(at)?)?;
    }

    let step = world.step()?;
    let touch = step.touches[0];
    let planks: Vec<u32> =
        step.manifolds(&touch).map(|points| points[0].pieces[usize::from(cradle > ball)]).collect();
    println!("at {at:.3}, speed {:.5}, held by planks {planks:?}", velocity.length());
    assert_eq!(planks, [0, 1]);
    // The planks' faces go through (-1, 0) and (1, 0) and meet at (0, -1).
    assert!(at.x.abs() < 0.01 && (at.y - (RADIUS / LEAN.cos() - 1.0)).abs() < 0.01);
    assert!(velocity.length() < 1e-3);
    // Each plank pushes by the weight over twice the cosine.
    let push = TIME * GRAVITY / (2.0 * LEAN.cos());
    for impulse in step.impulses(&touch) {
        println!("impulse {:.5}, expected {push:.5}", impulse[0]);
        assert!((impulse[0] / push - 1.0).abs() < 0.05);
    }

    world.sleep(ball)?;
    assert!(world.step()?.woken.is_empty());
    let hit = world.insert(Body::new(Shape::sphere(RADIUS)?, Pose::at(at + DVec3::Y * 0.99)?))?;
    assert_eq!(world.step()?.woken, [ball]);
    world.remove(hit)?;
    Ok(())
}
