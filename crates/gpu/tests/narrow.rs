//! The narrow phase on the device never contradicts the processor's, and worlds with it give the
//! bytes of worlds without.

mod common;

use std::sync::Arc;

use common::gpu;
use jostle::glam::{DQuat, DVec3};
use jostle::narrow::{Placed, Status, contact};
use jostle::shape::{Hull, Pose, Shape};
use jostle::world::{Decision, Detail};
use jostle::{Algorithm, Body, BodyId, Filter, Pair, World};
use jostle_gpu::{Gpu, GpuChoice, GpuNarrow, GpuSweep, HullSearch};
use jostle_scenes::Rng;

fn vector(rng: &mut Rng) -> DVec3 {
    DVec3::from_array(std::array::from_fn(|_| 2.0 * rng.unit_f64() - 1.0))
}

fn rotation(rng: &mut Rng) -> DQuat {
    match rng.below(4) {
        0 => DQuat::IDENTITY,
        _ => DQuat::from_scaled_axis(vector(rng) * 3.0).normalize(),
    }
}

fn ball(radius: f64, subdivisions: u32) -> Shape {
    Shape::Hull(Arc::new(Hull::icosphere(radius, subdivisions).unwrap()))
}

/// Ordinary shapes of sizes near one.
fn ordinary(rng: &mut Rng) -> Vec<Shape> {
    let cloud: Vec<DVec3> = (0..20).map(|_| vector(rng)).collect();
    let far: Vec<DVec3> = cloud.iter().map(|&point| point + DVec3::splat(40.0)).collect();
    let legs = vec![
        (Shape::cuboid([0.8, 0.1, 0.8].into()).unwrap(), Pose::at([0.0, 0.5, 0.0]).unwrap()),
        (Shape::cylinder(0.1, 0.5).unwrap(), Pose::at([0.6, 0.0, 0.0]).unwrap()),
        (Shape::capsule(0.1, 0.5).unwrap(), Pose::at([-0.6, 0.0, 0.0]).unwrap()),
    ];
    vec![
        Shape::sphere(0.7).unwrap(),
        Shape::cuboid([0.5, 0.8, 0.6].into()).unwrap(),
        Shape::capsule(0.3, 0.6).unwrap(),
        Shape::cylinder(0.6, 0.5).unwrap(),
        Shape::cone(0.7, 0.6).unwrap(),
        Shape::ellipsoid([0.4, 0.9, 0.7].into()).unwrap(),
        Shape::triangle([vector(rng), vector(rng), vector(rng)]).unwrap(),
        Shape::hull(&cloud).unwrap(),
        Shape::hull(&far).unwrap(),
        ball(0.8, 1),
        ball(0.8, 2),
        ball(0.9, 3),
        Shape::compound(legs).unwrap(),
    ]
}

/// Tiny, huge, thin and unbounded ones.
fn extreme() -> Vec<Shape> {
    vec![
        Shape::sphere(0.0).unwrap(),
        Shape::sphere(1e-7).unwrap(),
        Shape::sphere(1e6).unwrap(),
        Shape::sphere(1e14).unwrap(),
        Shape::cuboid([1e-15, 1e-15, 1e-14].into()).unwrap(),
        Shape::cuboid([1e5, 2e-4, 3e5].into()).unwrap(),
        Shape::cuboid([1.0, 0.0, 1.0].into()).unwrap(),
        Shape::capsule(1e-6, 30.0).unwrap(),
        Shape::capsule(0.0, 0.5).unwrap(),
        Shape::cylinder(1.0, 0.0).unwrap(),
        Shape::cylinder(1e-5, 10.0).unwrap(),
        Shape::cone(1e3, 1e-3).unwrap(),
        Shape::ellipsoid([1e-5, 1.0, 1e3].into()).unwrap(),
        Shape::ellipsoid([0.0, 1.0, 2.0].into()).unwrap(),
        Shape::triangle([DVec3::ZERO, DVec3::X * 1e-9, DVec3::Y * 1e4]).unwrap(),
        Shape::half_space([0.3, 1.0, -0.2].into(), 0.5).unwrap(),
        Shape::half_space(DVec3::Y, -1e5).unwrap(),
        ball(1e-9, 3),
        ball(1e8, 3),
    ]
}

/// A pair of bodies in the slots 2k and 2k + 1, anyhow or nearly touching.
fn place(rng: &mut Rng, a: &Shape, b: &Shape) -> [Pose; 2] {
    let radius = |shape: &Shape| if shape.is_bounded() { shape.bounding_radius() } else { 1.0 };
    let size = radius(a) + radius(b);
    let home = vector(rng) * 10f64.powf(8.0 * rng.unit_f64() - 1.0);
    let centered = |rng: &mut Rng, shape: &Shape, at: DVec3| {
        let turn = rotation(rng);
        let center = if shape.is_bounded() { turn * shape.center() } else { DVec3::ZERO };
        Pose::new(turn, at - center).unwrap()
    };
    let way = vector(rng).normalize_or(DVec3::X) * size * 1.2 * rng.unit_f64();
    let poses = [centered(rng, a, home), centered(rng, b, home + way)];
    if rng.below(2) == 0 {
        return poses;
    }
    let [one, other] = [Placed::new(a, poses[0]), Placed::new(b, poses[1])];
    let found = contact(&one, &other);
    let gap = size * 10f64.powf(-9.0 * rng.unit_f64()) * [1.0, -0.5, 0.0][rng.below(3)];
    let moved = found.normal * (gap - found.signed_distance());
    match Pose::new(poses[1].rotation(), poses[1].translation() + moved) {
        Ok(pose) => [poses[0], pose],
        Err(_) => poses,
    }
}

/// Shapes and poses of many pairs.
fn crowd(pairs: usize, seed: u64, share_of_extremes: usize) -> (Vec<Shape>, Vec<Pose>) {
    let mut rng = Rng::new(seed);
    let (ordinary, extreme) = (ordinary(&mut rng), extreme());
    let (mut shapes, mut poses) = (Vec::new(), Vec::new());
    for _ in 0..pairs {
        let two: [Shape; 2] = std::array::from_fn(|_| {
            let list = if rng.below(100) < share_of_extremes { &extreme } else { &ordinary };
            list[rng.below(list.len())].clone()
        });
        poses.extend(place(&mut rng, &two[0], &two[1]));
        shapes.extend(two);
    }
    (shapes, poses)
}

/// Decides all pairs, holds each decision against f64, and returns how many are apart, overlapping
/// and undecided.
fn check(narrow: &mut GpuNarrow, shapes: &[Shape], poses: &[Pose]) -> [usize; 3] {
    let pairs: Vec<Pair> =
        (0..shapes.len() as u32 / 2).map(|k| Pair::from((2 * k, 2 * k + 1))).collect();
    let mut decisions = Vec::new();
    narrow.decide(shapes, poses, &pairs, &mut decisions).unwrap();
    assert_eq!(decisions.len(), pairs.len());
    let mut counts = [0; 3];
    for (k, decision) in decisions.iter().enumerate() {
        let [a, b] = [2 * k, 2 * k + 1].map(|slot| Placed::new(&shapes[slot], poses[slot]));
        let truth = contact(&a, &b);
        let right = match decision {
            Decision::Undecided => true,
            Decision::Apart => truth.status == Status::Separated,
            Decision::Overlapping => truth.status != Status::Separated,
        };
        assert!(right, "pair {k}: {decision:?}, but {truth:?}\n{a:?}\n{b:?}");
        counts[match decision {
            Decision::Apart => 0,
            Decision::Overlapping => 1,
            Decision::Undecided => 2,
        }] += 1;
    }
    let decided = narrow.stats().count("decided").unwrap() as usize;
    assert_eq!(decided, counts[0] + counts[1]);
    counts
}

#[test]
fn a_hundred_thousand_pairs_never_contradict_f64() {
    let mut narrow = GpuNarrow::new(gpu());
    // Half of the pairs are within a random power of ten of touching, a third of them at it.
    for (pairs, extremes, least) in [(70_000, 0, 0.6), (30_000, 60, 0.3)] {
        let (shapes, poses) = crowd(pairs, 11 + extremes as u64, extremes);
        let [apart, overlapping, undecided] = check(&mut narrow, &shapes, &poses);
        println!("{extremes} % extremes: {apart} apart, {overlapping} overlap, {undecided} open");
        let share = (apart + overlapping) as f64 / pairs as f64;
        assert!(share > least, "{share:.3} of the pairs are decided");
        assert!(apart * 8 > pairs && overlapping * 8 > pairs);
        let stats = narrow.stats();
        assert_eq!(stats.count("dispatches"), Some(1.0));
        assert_eq!(stats.count("readback_bytes"), Some((pairs.div_ceil(16) * 4) as f64));
    }
}

#[test]
fn workgroups_that_search_together_never_contradict_f64() {
    let mut narrow = GpuNarrow::with_search(gpu(), HullSearch::Workgroup);
    let (shapes, poses) = crowd(6000, 5, 20);
    let [apart, overlapping, _] = check(&mut narrow, &shapes, &poses);
    assert!(apart + overlapping > 3600, "{apart} {overlapping}");
    // More vertices than workgroup memory holds: 2562 and 642.
    let (large, other) = (ball(1.0, 4), ball(1.0, 3));
    let mut rng = Rng::new(3);
    let (mut shapes, mut poses) = (Vec::new(), Vec::new());
    for _ in 0..40 {
        poses.extend(place(&mut rng, &large, &other));
        shapes.extend([large.clone(), other.clone()]);
    }
    let [apart, overlapping, _] = check(&mut narrow, &shapes, &poses);
    assert!(apart + overlapping > 10, "{apart} {overlapping}");
}

/// A world that moves, with bodies that come and go; two of them do the same.
struct Story {
    worlds: [World; 2],
    ids: Vec<BodyId>,
    shapes: Vec<Shape>,
    rng: Rng,
}

impl Story {
    fn new(device: World, bodies: usize) -> Story {
        let mut rng = Rng::new(9);
        let mut shapes = ordinary(&mut rng);
        shapes.push(Shape::half_space(DVec3::Y, -6.0).unwrap());
        let worlds = [World::new(Algorithm::GridSweep), device];
        let mut story = Story { worlds, ids: Vec::new(), shapes, rng };
        (0..bodies).for_each(|_| story.insert());
        story
    }

    fn pose(&mut self) -> Pose {
        Pose::new(rotation(&mut self.rng), vector(&mut self.rng) * 14.0).unwrap()
    }

    fn insert(&mut self) {
        // Few half-spaces: each of them meets everything.
        let kinds = self.shapes.len() - usize::from(self.rng.below(100) > 0);
        let shape = self.shapes[self.rng.below(kinds)].clone();
        let still = !shape.is_bounded();
        let pose = if still { Pose::IDENTITY } else { self.pose() };
        let filter = if still { Filter::STILL } else { Filter::ALL };
        let body = Body::new(shape, pose).with_filter(filter);
        let ids = self.worlds.each_mut().map(|world| world.insert(body.clone()).unwrap());
        assert_eq!(ids[0], ids[1]);
        self.ids.push(ids[0]);
    }

    fn go_on(&mut self) {
        for k in 0..self.ids.len() {
            if self.rng.below(3) == 0 {
                continue;
            }
            let old = *self.worlds[0].pose(self.ids[k]).unwrap();
            let place = old.translation() + vector(&mut self.rng) * 0.1;
            let turn = DQuat::from_scaled_axis(vector(&mut self.rng) * 0.05) * old.rotation();
            let pose = Pose::new(turn.normalize(), place).unwrap();
            for world in &mut self.worlds {
                world.set_pose(self.ids[k], pose).unwrap();
            }
        }
        for _ in 0..self.ids.len() / 50 {
            let gone = self.ids.swap_remove(self.rng.below(self.ids.len()));
            self.worlds.iter_mut().for_each(|world| world.remove(gone).unwrap());
            self.insert();
        }
    }

    /// Steps both; returns the number of touches.
    fn step(&mut self, told: &str) -> usize {
        let [plain, device] = self.worlds.each_mut().map(|world| world.step().unwrap());
        assert!(plain == device, "{told}");
        // The text tells -0 from 0 as well.
        assert!(format!("{:?}", plain.touches) == format!("{:?}", device.touches), "{told}");
        plain.touches.len()
    }
}

fn on_device(gpu: &Gpu) -> World {
    let mut world = World::new(Algorithm::GridSweep);
    world.set_broad_phase(Box::new(GpuSweep::new(gpu)));
    world.set_screen(Some(Box::new(GpuNarrow::new(gpu))));
    world
}

#[test]
fn a_world_on_the_device_gives_the_same_bytes() {
    for (detail, continuous) in [(Detail::Contact, false), (Detail::Manifold, true)] {
        let mut story = Story::new(on_device(gpu()), 2500);
        for world in &mut story.worlds {
            world.set_detail(detail);
            world.set_continuous(continuous);
        }
        let mut touches = 0;
        for step in 0..8 {
            touches += story.step(&format!("{detail:?}, step {step}"));
            let stats = story.worlds[1].stats();
            let screened = &stats.screened;
            assert_eq!(screened.fault, None);
            let decided = screened.apart + screened.overlapping;
            assert_eq!(decided + screened.undecided, stats.tested);
            assert!(decided * 10 > stats.tested * 8, "step {step}: {screened:?}");
            story.go_on();
        }
        assert!(touches > 5000, "{touches}");
    }
}

#[test]
fn a_screen_whose_device_is_lost_leaves_the_pairs_to_the_processor() {
    let gpu = Gpu::open(&GpuChoice::Software).unwrap_or_else(|error| panic!("{error}"));
    let mut world = World::new(Algorithm::GridSweep);
    world.set_screen(Some(Box::new(GpuNarrow::new(&gpu))));
    let mut story = Story::new(world, 400);
    for step in 0..6 {
        if step == 3 {
            gpu.device().destroy();
        }
        assert!(story.step(&format!("step {step}")) > 0);
        let fault = &story.worlds[1].stats().screened.fault;
        assert_eq!(fault.is_some(), step >= 3, "{fault:?}");
        assert!(fault.iter().all(|fault| fault.contains("lost")), "{fault:?}");
        story.go_on();
    }
}
