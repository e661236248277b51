//! Worlds of bodies whose motion a small simulation of our own makes: what a
//! [`World`](jostle::World) is timed on, the whole way from poses to contacts.
//!
//! Boxes, spheres and mixed shapes that fall, roll and come to rest meet each other as they do in a
//! game: most pairs touch, with whole faces, and most motion is small. Random poses have nothing of
//! that. The simulation steps a [`World`](jostle::World) of its own and solves for impulses; it
//! uses sums, products, quotients and square roots alone, so that a scene is the same everywhere.
//!
//! | scene | shows |
//! |---|---|
//! | `pile` | boxes that tumble into a heap on a floor |
//! | `pour` | mixed shapes poured into a bin |
//! | `chains` | chains of capsules that swing and tangle |
//! | `balls` | balls in a bin |
//! | `level` | a still level, where one body in ten runs about |

mod build;
mod solver;

use glam::{DQuat, DVec3};
use jostle::shape::{Pose, Shape};
use jostle::world::Detail;
use jostle::{Algorithm, Body, BodyId, Filter, Workers, World};

use crate::Rng;
use build::Plan;
use solver::{Joint, Solid, Solver};

/// A kind of moving world.
#[derive(Clone, Copy, Debug)]
pub struct WorldKind {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it shows, in one line.
    pub about: &'static str,
    /// A usual number of bodies.
    pub usual: usize,
    /// Frames after which its motion is what it is about.
    pub settle: usize,
    plan: fn(usize, &mut Rng) -> Plan,
}

impl WorldKind {
    /// All of them.
    pub const ALL: [WorldKind; 5] = [
        WorldKind {
            name: "pile",
            about: "boxes that tumble into a heap on a floor",
            usual: 5000,
            settle: 240,
            plan: build::pile,
        },
        WorldKind {
            name: "pour",
            about: "mixed shapes poured into a bin",
            usual: 5000,
            settle: 240,
            plan: build::pour,
        },
        WorldKind {
            name: "chains",
            about: "chains of capsules that swing and tangle",
            usual: 5000,
            settle: 60,
            plan: build::chains,
        },
        WorldKind {
            name: "balls",
            about: "balls in a bin",
            usual: 20_000,
            settle: 120,
            plan: build::balls,
        },
        WorldKind {
            name: "level",
            about: "a still level, where one body in ten runs about",
            usual: 10_000,
            settle: 30,
            plan: build::level,
        },
    ];

    /// The kind of a name.
    pub fn find(name: &str) -> Option<&'static WorldKind> {
        WorldKind::ALL.iter().find(|kind| kind.name == name)
    }
}

/// A moving world: bodies, and where they are in this frame.
///
/// ```
/// use jostle_scenes::{WorldKind, WorldScene};
///
/// let mut scene = WorldScene::new(WorldKind::find("pile").unwrap(), 30, 7);
/// let before = scene.poses().to_vec();
/// (0..30).for_each(|_| scene.advance());
/// let fallen = before.iter().zip(scene.poses()).filter(|(a, b)| a != b).count();
/// assert_eq!(fallen, 30); // all but the floor, which is a body more
/// ```
#[derive(Debug)]
pub struct WorldScene {
    bodies: Vec<Body>,
    poses: Vec<Pose>,
    excluded: Vec<[usize; 2]>,
    /// The simulation's own.
    world: World,
    ids: Vec<BodyId>,
    solids: Vec<Solid>,
    solver: Solver,
    /// Those that run about choose a new direction now and then.
    runners: bool,
    rng: Rng,
    frame: usize,
}

impl WorldScene {
    /// A world of about `n` bodies that move, or of `n` in all for `level`; the floor and the walls
    /// come first. The same for the same seed.
    pub fn new(kind: &WorldKind, n: usize, seed: u64) -> WorldScene {
        let mut rng = Rng::new(seed);
        let plan = (kind.plan)(n.max(1), &mut rng);
        let workers = Workers::new(0).unwrap_or_default();
        let mut world = World::with_workers(Algorithm::Auto, workers);
        world.set_detail(Detail::Manifold);
        let bodies: Vec<Body> = plan.bodies.iter().map(|body| body.body()).collect();
        let ids = world.insert_all(bodies.clone()).expect("scenes are finite");
        for [one, other] in &plan.excluded {
            world.exclude(ids[*one], ids[*other]).expect("both are there");
        }
        WorldScene {
            poses: bodies.iter().map(|body| body.pose).collect(),
            solids: plan.bodies.iter().map(|body| body.solid()).collect(),
            bodies,
            excluded: plan.excluded,
            world,
            ids,
            solver: Solver::new(plan.joints),
            runners: plan.runners,
            rng,
            frame: 0,
        }
    }

    /// The bodies where they were at first: put these into a world, then follow
    /// [`poses`](WorldScene::poses).
    pub fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// Where the bodies are in this frame.
    pub fn poses(&self) -> &[Pose] {
        &self.poses
    }

    /// Pairs of bodies, by their places, that are joined and not tested.
    pub fn excluded(&self) -> &[[usize; 2]] {
        &self.excluded
    }

    /// Goes on to the next frame, a sixtieth of a second later.
    pub fn advance(&mut self) {
        self.frame += 1;
        if self.runners && self.frame % 30 == 1 {
            self.run_elsewhere();
        }
        let step = self.world.step().expect("fewer pairs than the limit");
        self.solver.solve(&step, &mut self.solids);
        for (solid, pose) in self.solids.iter_mut().zip(&mut self.poses) {
            if !solid.is_still() {
                *pose = solid.advance();
            }
        }
        self.world.set_poses(&self.ids, &self.poses).expect("all are there");
    }

    fn run_elsewhere(&mut self) {
        for solid in self.solids.iter_mut().filter(|solid| !solid.is_still()) {
            let [x, _, z] = self.rng.direction().map(f64::from);
            solid.velocity = DVec3::new(5.0 * x, solid.velocity.y, 5.0 * z);
        }
    }
}

/// A body of a plan.
#[derive(Clone, Debug)]
struct Planned {
    shape: Shape,
    at: DVec3,
    turn: DQuat,
    velocity: DVec3,
    still: bool,
}

impl Planned {
    fn body(&self) -> Body {
        let pose = Pose::new(self.turn, self.at).expect("scenes are finite");
        let filter = if self.still { Filter::STILL } else { Filter::ALL };
        Body::new(self.shape.clone(), pose).with_filter(filter)
    }

    fn solid(&self) -> Solid {
        let radius = self.shape.bounding_radius();
        Solid::new(self.at, self.turn, self.velocity, if self.still { 0.0 } else { 1.0 }, radius)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything moves, stays inside, and most of it touches something.
    #[test]
    fn scenes_move_stay_inside_and_touch() {
        for kind in &WorldKind::ALL {
            let mut scene = WorldScene::new(kind, 300, 5);
            (0..150).for_each(|_| scene.advance());
            let moving = scene.bodies().iter().filter(|body| body.filter != Filter::STILL).count();
            let expected = if kind.name == "level" { 30 } else { 300 };
            assert!((expected..expected + 30).contains(&moving), "{}: {moving}", kind.name);
            for (body, pose) in scene.bodies().iter().zip(scene.poses()) {
                let at = pose.translation();
                assert!(at.is_finite() && at.length() < 200.0, "{}: {at}", kind.name);
                assert!(body.filter == Filter::STILL || at.y > -3.0, "{}: {at}", kind.name);
            }
            let touches = scene.world.last_step().touches;
            // Chains hang free and meet now and then.
            let least = match kind.name {
                "chains" => 0,
                "level" => 20,
                _ => 200,
            };
            assert!(touches.len() > least, "{}: {} touches", kind.name, touches.len());
            let deepest = touches.iter().map(|touch| touch.contact.depth).fold(0.0, f64::max);
            assert!(deepest < 0.5, "{}: {deepest} deep", kind.name);
        }
    }

    #[test]
    fn a_seed_gives_the_same_motion() {
        for kind in &WorldKind::ALL {
            let run = |seed| {
                let mut scene = WorldScene::new(kind, 60, seed);
                (0..20).for_each(|_| scene.advance());
                format!("{:?}", scene.poses())
            };
            assert_eq!(run(1), run(1), "{}", kind.name);
            assert_ne!(run(1), run(2), "{}", kind.name);
        }
    }
}
