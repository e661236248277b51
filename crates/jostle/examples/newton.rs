//! Newton's cradle: a chain of balls in which a blow at one end comes out at the other.
//!
//! Five balls hang side by side, each on a rod. The first is pulled back and let go. The world
//! says which balls touch and along which normal; equal masses without loss exchange the
//! velocities along it. Blows are solved one after the other until no two balls close in, so that
//! they run through the chain within one step. Contacts before touch ([`World::set_reach`]) keep
//! balls that are merely near from being missed.

use std::error::Error;

use glam::DVec3;
use jostle::narrow::Status;
use jostle::shape::{Pose, Shape};
use jostle::{Body, BodyId, World};

const BALLS: usize = 5;
const RADIUS: f64 = 0.5;
const ROD: f64 = 5.0;
const GRAVITY: f64 = 9.81;
const TIME: f64 = 1.0 / 1000.0;

/// A ball on a rod: its angle from straight down, and how fast that grows.
#[derive(Clone, Copy)]
struct Pendulum {
    hangs_from: f64,
    angle: f64,
    speed: f64,
}

impl Pendulum {
    fn place(&self) -> DVec3 {
        let (sine, cosine) = self.angle.sin_cos();
        DVec3::new(self.hangs_from + ROD * sine, -ROD * cosine, 0.0)
    }

    /// Where a faster swing leads.
    fn along(&self) -> DVec3 {
        DVec3::new(self.angle.cos(), self.angle.sin(), 0.0)
    }

    fn advance(&mut self) {
        self.speed -= TIME * GRAVITY / ROD * self.angle.sin();
        self.angle += TIME * self.speed;
    }

    fn energy(&self) -> f64 {
        0.5 * (ROD * self.speed).powi(2) + GRAVITY * ROD * (1.0 - self.angle.cos())
    }
}

/// Lets balls that close in exchange their velocities, until none do.
fn collide(world: &World, ids: &[BodyId], balls: &mut [Pendulum]) {
    let place = |id: BodyId| ids.iter().position(|own| *own == id).expect("a ball");
    let step = world.last_step();
    for _ in 0..2 * BALLS {
        for touch in step.touches.iter().chain(step.near) {
            let (a, b) = (place(touch.pair.a()), place(touch.pair.b()));
            let normal = touch.contact.normal;
            let towards = |ball: &Pendulum| ball.speed * ball.along().dot(normal);
            if towards(&balls[a]) > towards(&balls[b]) {
                let speed = balls[a].speed;
                balls[a].speed = balls[b].speed;
                balls[b].speed = speed;
            }
        }
    }
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let mut balls: Vec<Pendulum> = (0..BALLS)
        .map(|k| Pendulum { hangs_from: 2.0 * RADIUS * k as f64, angle: 0.0, speed: 0.0 })
        .collect();
    balls[0].angle = -0.5;
    let energy: f64 = balls.iter().map(Pendulum::energy).sum();

    let mut world = World::default();
    world.set_reach(1e-3)?;
    let ball = Shape::sphere(RADIUS)?;
    let mut ids = Vec::new();
    for pendulum in &balls {
        ids.push(world.insert(Body::new(ball.clone(), Pose::at(pendulum.place())?))?);
    }

    let (mut last_reached, mut blows) = (0.0f64, 0);
    for step in 0..2600 {
        for (id, pendulum) in ids.iter().zip(&balls) {
            world.set_pose(*id, Pose::at(pendulum.place())?)?;
        }
        world.step()?;
        let first = balls[0].speed;
        collide(&world, &ids, &mut balls);
        if first > 0.1 && balls[0].speed.abs() < 1e-3 {
            blows += 1;
            let time = f64::from(step) * TIME;
            println!("after {time:.3} s the first ball stops, and the last one leaves");
            // Those between do not move.
            assert!(balls[1..BALLS - 1].iter().all(|ball| ball.speed.abs() < 0.05));
            assert!((balls[BALLS - 1].speed - first).abs() < 0.05);
        }
        let overlap = world.last_step().touches.iter().map(|touch| touch.contact.depth);
        assert!(overlap.fold(0.0, f64::max) < 0.02, "balls are hard");
        balls.iter_mut().for_each(Pendulum::advance);
        last_reached = last_reached.max(balls[BALLS - 1].angle);
    }
    println!("the last ball reached an angle of {last_reached:.3}");
    assert!(blows >= 1);
    assert!((last_reached - 0.5).abs() < 0.02, "as high as the first one came from");
    let left: f64 = balls.iter().map(Pendulum::energy).sum();
    assert!((left / energy - 1.0).abs() < 0.02, "no energy is lost: {left} of {energy}");
    assert!(world.last_step().near.iter().all(|near| near.contact.status == Status::Separated));
    Ok(())
}
