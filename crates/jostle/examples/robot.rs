//! Distances and margins: an arm bends towards a post and stops before it comes too close.
//!
//! The broad phase answers 'which parts may be nearer than the margin?': every box is grown by half
//! of it, so two boxes overlap if the parts can be that near. The narrow phase then measures those
//! few pairs exactly.

use glam::{DQuat, DVec3};
use jostle::narrow::{Placed, distance};
use jostle::shape::{Pose, Shape};
use jostle::{Algorithm, Detector, Error, Filter};

const LINKS: usize = 4;
const MARGIN: f64 = 0.25;
/// Nearer than this the arm must not come.
const SAFE: f64 = 0.05;

/// Where the links are when every joint is bent by the same angle. A link is a capsule of length 1
/// along y; the next one begins where it ends.
fn arm(angle: f64) -> Result<Vec<Pose>, Error> {
    let mut joint = Pose::at([0.0, 0.0, 0.0])?;
    let bend = Pose::new(DQuat::from_rotation_z(-angle), DVec3::ZERO)?;
    let mut links = Vec::new();
    for _ in 0..LINKS {
        joint = joint.compose(&bend);
        links.push(joint.compose(&Pose::at([0.0, 0.5, 0.0])?));
        joint = joint.compose(&Pose::at([0.0, 1.0, 0.0])?);
    }
    Ok(links)
}

pub(crate) fn main() -> Result<(), Error> {
    // The parts: the links first, then what stands around.
    let mut shapes = vec![Shape::capsule(0.1, 0.4)?; LINKS];
    shapes.push(Shape::cuboid(DVec3::new(0.1, 2.0, 1.0))?); // a post
    shapes.push(Shape::sphere(0.3)?); // a lamp
    let mut poses = arm(0.0)?;
    poses.push(Pose::at([2.4, 2.0, 0.0])?);
    poses.push(Pose::at([-1.0, 2.5, 0.0])?);

    let bounds = |part: usize, pose: &Pose| shapes[part].bounds(pose).grown(MARGIN / 2.0);
    let mut detector = Detector::new(Algorithm::Auto);
    let mut ids = Vec::new();
    for (part, pose) in poses.iter().enumerate() {
        let filter = Filter::ALL.with_still(part >= LINKS);
        ids.push(detector.insert(bounds(part, pose), filter)?);
    }
    // Neighbouring links always touch at their joint: that is no collision.
    for link in 1..LINKS {
        detector.exclude(ids[link - 1], ids[link])?;
    }

    let mut stopped = None;
    for step in 0..200 {
        let angle = 0.005 * f64::from(step);
        for (link, pose) in arm(angle)?.into_iter().enumerate() {
            poses[link] = pose;
            detector.set(ids[link], bounds(link, &pose))?;
        }
        detector.step()?;

        // Slots count from 0 in the order of insertion, so they are numbers of parts here.
        let placed = |part: usize| Placed::new(&shapes[part], poses[part]);
        let near = detector.pairs().iter().map(|pair| {
            let (a, b) = (pair.a().index(), pair.b().index());
            (distance(&placed(a), &placed(b)), a, b)
        });
        let nearest = near.min_by(|one, other| one.0.total_cmp(&other.0));

        // The promise: whatever is within the margin was among the pairs.
        for a in 0..LINKS {
            for b in (a + 2)..shapes.len() {
                let apart = distance(&placed(a), &placed(b));
                assert!(apart > MARGIN || nearest.is_some_and(|found| found.0 <= apart));
            }
        }
        if let Some((apart, a, b)) = nearest.filter(|nearest| nearest.0 < SAFE) {
            println!("stopped at {angle:.2} rad: part {a} is {apart:.3} away from part {b}");
            stopped = Some((apart, a, b));
            break;
        }
    }

    let (apart, a, b) = stopped.expect("the post is in the way");
    assert!(0.0 < apart && apart < SAFE, "near, and not touching: {apart}");
    assert_eq!((a, b), (LINKS - 1, LINKS), "the hand meets the post");
    Ok(())
}
