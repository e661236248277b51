//! Events: a ball rolls through three gates and hears when it enters and when it leaves each one.
//!
//! A [`Detector`] remembers the pairs of the last step. Each step tells only what changed, so a
//! game reacts to `began` and `ended` and never has to compare lists itself.

use jostle::{Aabb, Algorithm, Detector, Error, Filter};

/// A box of size 1 around a point on the x axis.
fn around(x: f32) -> Aabb {
    Aabb::around([x, 0.0, 0.0], [0.5, 0.5, 0.5])
}

pub(crate) fn main() -> Result<(), Error> {
    let mut detector = Detector::new(Algorithm::Auto);
    let ball = detector.insert(around(0.0), Filter::ALL)?;
    // Gates are declared still: they never pair with each other. The number that each one
    // carries is ours; the library only keeps it.
    for number in 1..=3u32 {
        let gate = detector.insert(around(5.0 * number as f32), Filter::STILL)?;
        detector.boxes_mut().set_user_data(gate, u64::from(number))?;
    }

    let mut heard = Vec::new();
    for step in 0..=20 {
        detector.set(ball, around(step as f32))?;
        let events = detector.step()?;
        let (began, ended) = (events.began.to_vec(), events.ended.to_vec());
        for (pairs, what) in [(began, "enters"), (ended, "leaves")] {
            for pair in pairs {
                // An event names two boxes; the other one is the gate.
                let gate = pair.other(ball).expect("every pair has the ball in it");
                let number = detector.boxes().user_data(gate);
                println!("at x = {step:2} the ball {what} gate {number}");
                heard.push((step, what, number));
            }
        }
    }

    // Boxes are closed, so touching at a distance of exactly 1 counts.
    let expected: Vec<_> = (1..=3u64)
        .flat_map(|gate| [(5 * gate - 1, "enters", gate), (5 * gate + 2, "leaves", gate)])
        .collect();
    assert_eq!(heard, expected, "each began has exactly one ended");
    Ok(())
}
