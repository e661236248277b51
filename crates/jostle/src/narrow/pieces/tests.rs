//! The tree gives the answers of the loop, to the last bit.

use super::*;
use crate::narrow::{Motion, Moving, PairCache, Query, Ray};
use crate::shape::{Hull, Pose};
use glam::DQuat;
use std::sync::Arc;

struct Random(u64);

impl Random {
    fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn vector(&mut self, size: f64) -> DVec3 {
        let mut one = || (2.0 * self.share() - 1.0) * size;
        DVec3::new(one(), one(), one())
    }

    fn pose(&mut self, size: f64) -> Pose {
        let turn = DQuat::from_scaled_axis(self.vector(3.0));
        Pose::new(turn, self.vector(size)).unwrap()
    }

    fn shape(&mut self) -> Shape {
        let (r, h) = (0.05 + 0.3 * self.share(), 0.05 + 0.3 * self.share());
        match (self.share() * 6.0) as u32 {
            0 => Shape::sphere(r).unwrap(),
            1 => Shape::cuboid(DVec3::new(r, h, 0.2)).unwrap(),
            2 => Shape::capsule(r, h).unwrap(),
            3 => Shape::cylinder(r, h).unwrap(),
            4 => Shape::rounded(&Shape::cuboid(DVec3::splat(r)).unwrap(), 0.05).unwrap(),
            _ => {
                let points: Vec<DVec3> = (0..9).map(|_| self.vector(0.3)).collect();
                Shape::Hull(Arc::new(Hull::new(&points).unwrap()))
            }
        }
    }

    fn compound(&mut self, pieces: usize) -> Arc<Compound> {
        let size = 0.35 * (pieces as f64).cbrt();
        let pieces = (0..pieces).map(|_| (self.shape(), self.pose(size))).collect();
        Arc::new(Compound::new(pieces).unwrap())
    }
}

/// The same with a tree and without.
fn twins(compound: &Arc<Compound>) -> [Shape; 2] {
    [compound.clone(), Arc::new(compound.without_tree())].map(Shape::Compound)
}

/// Two answers of one kind.
fn same<T: PartialEq + std::fmt::Debug>(
    twins: &[Shape; 2],
    what: &str,
    mut ask: impl FnMut(&Shape) -> T,
) -> T {
    let [tree, loop_] = [ask(&twins[0]), ask(&twins[1])];
    assert_eq!(tree, loop_, "{what}");
    tree
}

#[test]
fn contacts_are_those_of_the_loop() {
    let mut random = Random(5);
    let (mut touches, mut asked) = (0, 0);
    for pieces in [5, 11, 12, 13, 40, 150] {
        let compound = random.compound(pieces);
        let twins = twins(&compound);
        assert_eq!(compound.tree_bounds().is_some(), pieces >= 12);
        let floor = Shape::half_space(random.vector(1.0), 0.1).unwrap();
        for round in 0..24 {
            let other = match round % 4 {
                0 => floor.clone(),
                1 => Shape::Compound(random.compound(4 + round)),
                _ => random.shape(),
            };
            let (place, pose) = (random.pose(1.0), random.pose(3.0));
            let other = Placed::new(&other, pose);
            let options = Options { flat: round % 8 == 7, ..Options::default() }.with_margin(0.02);
            for options in [Options::default(), options] {
                let mut query = Query::new(options);
                let none = &mut PairCache::none();
                let contact = same(&twins, "contact", |shape| {
                    query.contact(&Placed::new(shape, place), &other, none)
                });
                touches += usize::from(contact.depth > 0.0);
                asked += 1;
                same(&twins, "distance", |shape| {
                    query.closest_points(&other, &Placed::new(shape, place), none)
                });
                same(&twins, "hit", |shape| {
                    query.intersects(&Placed::new(shape, place), &other, none).hit
                });
                same(&twins, "detailed", |shape| {
                    query.detailed_contact(&Placed::new(shape, place), &other, 0.1)
                });
                same(&twins, "manifolds", |shape| {
                    let mut points = Vec::new();
                    let placed = Placed::new(shape, place);
                    query.manifolds(&placed, &other, 0.05, none, &mut points);
                    points
                });
            }
        }
    }
    assert!((asked / 5..asked).contains(&touches), "{touches} of {asked} touch");
}

#[test]
fn points_rays_and_impacts_are_those_of_the_loop() {
    let mut random = Random(9);
    let (mut hits, mut inside, mut impacts) = (0, 0, 0);
    for pieces in [11, 12, 40, 150] {
        let twins = twins(&random.compound(pieces));
        for round in 0..60 {
            let place = random.pose(1.0);
            let (point, way) = (random.vector(2.0), random.vector(1.0));
            let mut query = Query::new(Options::default().with_margin(0.01));
            let found = same(&twins, "point", |shape| {
                query.project_point(&Placed::new(shape, place), point).unwrap()
            });
            inside += usize::from(found.distance < 0.0);
            for solid in [true, false] {
                let ray = Ray::new(point, way).unwrap().with_solid(solid).until(4.0);
                let hit =
                    same(&twins, "ray", |shape| query.cast_ray(&Placed::new(shape, place), &ray));
                hits += usize::from(hit.is_some());
            }
            if round % 6 == 0 {
                let other = random.shape();
                let start = Placed::new(&other, random.pose(5.0));
                let toward = -start.pose.translation() * random.share();
                let thrown = Moving::new(start, Motion::new(toward, random.vector(1.0)).unwrap());
                let spin = Motion::new(DVec3::ZERO, random.vector(0.5)).unwrap();
                let impact = same(&twins, "impact", |shape| {
                    let whole = Moving::new(Placed::new(shape, place), spin);
                    query.time_of_impact(&whole, &thrown, 1.5, &mut PairCache::none())
                });
                impacts += usize::from(impact.time < 1.5);
            }
        }
    }
    assert!(hits > 60 && inside > 10 && impacts > 10, "{hits} {inside} {impacts}");
}

#[test]
fn a_memory_changes_no_answer() {
    let mut random = Random(3);
    let twins = twins(&random.compound(60));
    let other = random.shape();
    let mut caches = [PairCache::new(), PairCache::new()];
    for step in 0..40 {
        let pose = Pose::at([2.0 - 0.1 * f64::from(step), 0.1, 0.2]).unwrap();
        let answers = [0, 1].map(|k| {
            let whole = Placed::new(&twins[k], Pose::IDENTITY);
            let other = Placed::new(&other, pose);
            Query::default().contact(&whole, &other, &mut caches[k]).signed_distance()
        });
        assert!((answers[0] - answers[1]).abs() < 1e-9, "step {step}: {answers:?}");
    }
}

#[test]
fn a_question_asks_few_of_many_pieces() {
    let cube = Shape::cuboid(DVec3::splat(0.4)).unwrap();
    let grid = (0..1000).map(|k| [k % 10, k / 10 % 10, k / 100].map(f64::from));
    let pieces = grid.map(|at| (cube.clone(), Pose::at(at).unwrap())).collect();
    let compound = Compound::new(pieces).unwrap();
    let visits = |bound: &dyn Fn(DVec3, DVec3) -> f64, limit: f64| {
        let mut count = 0;
        compound.near(bound, limit, &mut |_| {
            count += 1;
            limit
        });
        count
    };
    assert_eq!(visits(&from_point(&compound, DVec3::splat(4.1)), 0.0), 1);
    assert_eq!(visits(&from_point(&compound, DVec3::splat(4.5)), 0.2), 8);
    let ray = along_ray(&compound, DVec3::new(-5.0, 3.0, 3.0), DVec3::X, 0.0);
    assert_eq!(visits(&ray, f64::MAX), 10);
    assert_eq!(visits(&ray, 7.0), 3);
    let shape = Shape::Compound(Arc::new(compound.clone()));
    let whole = Placed::new(&shape, Pose::IDENTITY);
    let floor = Shape::half_space(DVec3::Z, 0.0).unwrap();
    let floor = Placed::new(&floor, Pose::IDENTITY);
    let seen = Seen::new(&compound, &whole, &floor, &Options::default());
    assert_eq!(visits(&|low, high| seen.bound(low, high), 0.0), 100);
}
