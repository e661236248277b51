//! After warm-up a step allocates nothing on one thread. The warm-up is long because algorithms
//! that found a rebuild cheaper than following the changes try again only after some dozen steps.

use allocation_counter::measure;
use jostle::{Aabb, Algorithm, Detector, Filter};

/// Boxes on circles of their own: the same sizes and crowding in every frame.
fn frame(number: usize) -> Vec<Aabb> {
    let turn = [[0.0, 0.0], [0.4, 0.1], [0.5, 0.5], [0.1, 0.4]][number % 4];
    (0..3000usize)
        .map(|k| {
            let at = [k % 15, k / 15 % 15, k / 225].map(|c| c as f32 * 1.1);
            let at = [at[0] + turn[k % 2], at[1] + turn[(k + 1) % 2], at[2]];
            Aabb::new(at, at.map(|c| c + 1.0))
        })
        .collect()
}

#[test]
fn a_step_allocates_nothing_after_warm_up() {
    let frames: Vec<Vec<Aabb>> = (0..4).map(frame).collect();
    for &algorithm in Algorithm::ALL {
        for filter in [Filter::ALL, Filter::ALL.with_owner(3)] {
            let mut detector = Detector::new(algorithm);
            let (free, owned) = frames[0].split_at(1500);
            detector.boxes_mut().insert_all(free, Filter::ALL).unwrap();
            detector.boxes_mut().insert_all(owned, filter).unwrap();
            let mut events = 0;
            for step in 0..64 {
                detector.boxes_mut().set_all(&frames[step % 4]).unwrap();
                events += detector.step().unwrap().began.len();
            }
            assert!(events > 1000, "the scene must be lively: {events} events");
            let counted = measure(|| {
                for step in 64..76 {
                    detector.boxes_mut().set_all(&frames[step % 4]).unwrap();
                    detector.step().unwrap();
                }
            });
            assert_eq!(
                counted.count_total, 0,
                "{algorithm} allocated {} bytes",
                counted.bytes_total
            );
        }
    }
}

#[test]
fn a_step_of_a_world_allocates_nothing_after_warm_up() {
    use jostle::shape::{Pose, Shape};
    use jostle::{Body, World};
    let poses: Vec<Vec<Pose>> = (0..4)
        .map(|number| {
            let center = |aabb: Aabb| aabb.min.map(|bound| f64::from(bound) + 0.5);
            let place = |aabb| Pose::from_translation(center(aabb).into()).unwrap();
            frame(number).into_iter().map(place).collect()
        })
        .collect();
    let shape = |k: usize| match k % 3 {
        0 => Shape::sphere(0.5).unwrap(),
        1 => Shape::cuboid([0.5; 3].into()).unwrap(),
        _ => Shape::capsule(0.3, 0.2).unwrap(),
    };
    let mut world = World::new(Algorithm::Auto);
    let bodies = poses[0].iter().enumerate().map(|(k, &pose)| Body::new(shape(k), pose));
    let ids = world.insert_all(bodies.collect()).unwrap();
    let (mut began, mut ended) = (0, 0);
    for step in 0..64 {
        world.set_poses(&ids, &poses[step % 4]).unwrap();
        let step = world.step().unwrap();
        began += step.began.len();
        ended += step.ended.len();
    }
    assert!(began > 1000 && ended > 1000, "lively: {began} began, {ended} ended");
    let counted = measure(|| {
        for step in 64..76 {
            world.set_poses(&ids, &poses[step % 4]).unwrap();
            world.step().unwrap();
        }
    });
    assert_eq!(counted.count_total, 0, "{} bytes", counted.bytes_total);
}
