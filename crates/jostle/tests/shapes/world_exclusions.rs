//! Pairs of bodies that are never tested: what they touched ends, and begins again.

use jostle::shape::{Pose, Shape};
use jostle::world::BodyPair;
use jostle::{Algorithm, Body, BoxError, World, WorldError};

#[test]
fn an_excluded_pair_ends_and_an_included_one_begins() {
    for &algorithm in Algorithm::ALL {
        let mut world = World::new(algorithm);
        let ball = Body::new(Shape::sphere(1.0).unwrap(), Pose::IDENTITY);
        let ids = world.insert_all(vec![ball; 4]).unwrap();
        let pair = BodyPair::new(ids[1], ids[3]);
        assert_eq!(world.step().unwrap().began.len(), 6, "{algorithm}");

        world.exclude(ids[3], ids[1]).unwrap();
        let step = world.step().unwrap();
        assert_eq!((step.began, step.ended), (&[][..], &[pair][..]), "{algorithm}");
        assert_eq!(step.touches.len(), 5, "{algorithm}");
        let mut copy = world.clone();
        copy.set_pose(ids[1], Pose::at([0.5, 0.0, 0.0]).unwrap()).unwrap();
        assert_eq!(copy.step().unwrap().touches.len(), 5, "{algorithm}: a clone excludes too");

        world.include(ids[1], ids[3]).unwrap();
        let step = world.step().unwrap();
        assert_eq!((step.began, step.ended), (&[pair][..], &[][..]), "{algorithm}");
    }
}

#[test]
fn ids_are_checked_and_nothing_outlives_a_body() {
    let mut world = World::default();
    let ball = Body::new(Shape::sphere(1.0).unwrap(), Pose::IDENTITY);
    let ids = world.insert_all(vec![ball.clone(); 2]).unwrap();
    let twice = WorldError::Body(BoxError::Twice(ids[0].box_id()));
    assert_eq!(world.exclude(ids[0], ids[0]), Err(twice));

    world.exclude(ids[0], ids[1]).unwrap();
    world.remove(ids[1]).unwrap();
    let stale = WorldError::Body(BoxError::Stale(ids[1].box_id()));
    assert_eq!(world.include(ids[0], ids[1]), Err(stale));
    world.step().unwrap();
    let next = world.insert(ball).unwrap();
    assert_eq!(next.slot(), ids[1].slot(), "the slot is used again");
    assert_eq!(world.step().unwrap().began, [BodyPair::new(ids[0], next)]);
}
