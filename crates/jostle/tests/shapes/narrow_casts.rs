//! Casts against sampling in time: they end where the target distance is reached, and not later.

use crate::random::{KINDS, Random};
use glam::DVec3;
use jostle::narrow::{
    CastOptions, ImpactStatus, Motion, Moving, Placed, cast_shape, contact, distance,
    time_of_impact,
};
use jostle::shape::{Pose, Shape};

fn moving<'a>(random: &mut Random, shape: &'a Shape, at: DVec3, speed: DVec3) -> Moving<'a> {
    let pose = Pose::new(random.pose(0.0).rotation(), at).expect("a pose");
    let motion = Motion::new(speed, random.vector(2.0)).expect("a motion");
    Moving::new(Placed::new(shape, pose), motion)
}

#[test]
fn casts_end_at_the_target_distance() {
    const TRIALS: usize = 700;
    let mut random = Random(1);
    let mut hits = 0;
    for trial in 0..TRIALS {
        let (a, b) = (random.shape(trial), random.shape(trial / KINDS));
        let aim = random.unit() * 5.0;
        let a = moving(&mut random, &a, DVec3::ZERO, DVec3::ZERO);
        let aside = random.vector(2.2);
        let b = moving(&mut random, &b, aim, aside - aim);
        let target = if trial % 4 == 0 { 0.0 } else { random.range(0.0, 0.8) };
        let options = CastOptions::default().with_target_distance(target);
        let found = cast_shape(&a, &b, 1.2, &options);
        if target == 0.0 {
            assert_eq!(found, time_of_impact(&a, &b, 1.2));
        }
        let hit = found.status == ImpactStatus::Hit;
        hits += usize::from(hit);
        assert!(hit || found.status == ImpactStatus::Miss, "{trial} {found:?}");
        if hit {
            assert!((found.contact.distance - target).abs() < 1e-6, "{trial} {target} {found:?}");
        }
        let end = if hit { found.time } else { 1.2 };
        for step in 0..80 {
            let time = end * f64::from(step) / 80.0;
            let apart = distance(&a.at(time), &b.at(time));
            assert!(apart > target - 1e-7, "{trial} at {time}: {apart} {found:?}");
        }
    }
    let share = hits as f64 / TRIALS as f64;
    assert!((0.3..0.9).contains(&share), "hit rate {share}");
}

#[test]
fn overlapping_shapes_may_part_first() {
    let ball = Shape::sphere(1.0).expect("a ball");
    let still = |x: f64| {
        Moving::new(Placed::new(&ball, Pose::at([x, 0.0, 0.0]).expect("a pose")), Motion::STILL)
    };
    let flying = |x: f64, speed: f64| Moving {
        motion: Motion::new(DVec3::new(speed, 0.0, 0.0), DVec3::ZERO).expect("a motion"),
        ..still(x)
    };
    let go = CastOptions::default().with_stop_at_penetration(false);
    let stop = CastOptions::default();
    assert_eq!(
        cast_shape(&still(0.0), &flying(1.5, 3.0), 9.0, &stop).status,
        ImpactStatus::AtStart
    );
    assert_eq!(cast_shape(&still(0.0), &flying(1.5, 3.0), 9.0, &go).status, ImpactStatus::Miss);
    let deeper = cast_shape(&still(0.0), &flying(1.5, -3.0), 9.0, &go);
    assert_eq!((deeper.status, deeper.time), (ImpactStatus::AtStart, 0.0));
    assert_eq!(cast_shape(&still(0.0), &still(1.5), 9.0, &go).status, ImpactStatus::AtStart);
    // From one ball of a compound to the other.
    let far = Pose::at([10.0, 0.0, 0.0]).expect("a pose");
    let two = Shape::compound(vec![(ball.clone(), Pose::IDENTITY), (ball.clone(), far)]);
    let two = two.expect("a compound");
    let two = Moving::new(Placed::new(&two, Pose::IDENTITY), Motion::STILL);
    let found = cast_shape(&two, &flying(0.5, 2.0), 9.0, &go);
    assert_eq!(found.status, ImpactStatus::Hit);
    assert!((found.time - 3.75).abs() < 1e-6, "{found:?}");
    // Within the target distance counts as overlap.
    let near = go.with_target_distance(1.0);
    let found = cast_shape(&two, &flying(2.5, 1.0), 9.0, &near);
    assert_eq!(found.status, ImpactStatus::Hit);
    assert!((found.time - 4.5).abs() < 1e-6 && (found.contact.distance - 1.0).abs() < 1e-6);
    assert_eq!(cast_shape(&two, &flying(2.5, 1.0), 0.25, &near).status, ImpactStatus::Miss);
}

#[test]
fn parting_and_meeting_again_agree_with_samples() {
    let mut random = Random(2);
    let (mut parted, mut met) = (0, 0);
    for trial in 0..300 {
        let pieces = |random: &mut Random| {
            let piece = |random: &mut Random, x: f64| {
                (random.shape(trial), Pose::at([x, 0.0, 0.0]).expect("a pose"))
            };
            Shape::compound(vec![piece(random, -2.5), piece(random, 2.5)]).expect("a compound")
        };
        let (a, b) = (pieces(&mut random), random.shape(trial / KINDS));
        let at = DVec3::new(-2.5, 0.0, 0.0) + random.vector(0.6);
        let speed = DVec3::new(random.range(3.0, 6.0), random.range(-0.5, 0.5), 0.0);
        let a = moving(&mut random, &a, DVec3::ZERO, DVec3::ZERO);
        let a = Moving { motion: Motion::STILL, ..a };
        let b = moving(&mut random, &b, a.start.pose.apply(at), DVec3::ZERO);
        let speed = a.start.pose.apply_vector(speed);
        let b = Moving { motion: Motion::new(speed, DVec3::ZERO).expect("a motion"), ..b };
        let options = CastOptions::default().with_stop_at_penetration(false);
        let found = cast_shape(&a, &b, 2.0, &options);
        let depth = |time: f64| -contact(&a.at(time), &b.at(time)).signed_distance();
        match found.status {
            ImpactStatus::AtStart => assert!(depth(1e-4) >= depth(0.0) - 1e-6, "{trial}"),
            ImpactStatus::Hit => {
                met += 1;
                assert!(depth(found.time).abs() < 1e-6 || depth(found.time) > 0.0);
                assert!(depth(found.time + 1e-4) > -1e-3, "{trial} {found:?}");
            }
            _ => {
                parted += 1;
                assert!(depth(2.0) < 1e-6, "{trial} {found:?}");
            }
        }
        // Once apart, never together again before the time.
        let mut apart = false;
        for step in 0..120 {
            let time = found.time * f64::from(step) / 120.0;
            let now = depth(time) < -1e-6;
            assert!(found.status == ImpactStatus::AtStart || !apart || now, "{trial} {time}");
            apart |= now;
        }
    }
    assert!(parted > 4 && met > 80, "{parted} parted, {met} met again");
}
