//! 2D: a flat world is a world in which every box has the same z.
//!
//! A walker crosses a level of walls, coins and a hidden floor. Groups say who meets whom: coins
//! never meet walls, so those pairs are never even looked at.

use jostle::{Aabb, Algorithm, Detector, Error, Filter};

const WALKER: u32 = 1;
const WALL: u32 = 2;
const COIN: u32 = 4;

/// A flat box: from x, y, of a width and a height.
fn flat(x: f32, y: f32, width: f32, height: f32) -> Aabb {
    Aabb::new([x, y, 0.0], [x + width, y + height, 0.0])
}

pub(crate) fn main() -> Result<(), Error> {
    let mut detector = Detector::new(Algorithm::Auto);
    let walker = detector.insert(flat(0.0, 1.0, 0.8, 1.6), Filter::groups(WALKER, WALL | COIN))?;
    let still = |group| Filter::groups(group, WALKER).with_still(true);
    let floor = detector.insert(flat(-5.0, 0.0, 100.0, 1.0), still(WALL))?;
    let wall = detector.insert(flat(12.0, 1.0, 1.0, 5.0), still(WALL))?;
    let mut coins = Vec::new();
    for number in 0..5 {
        coins.push(detector.insert(flat(2.0 * number as f32 + 2.0, 1.5, 0.5, 0.5), still(COIN))?);
    }

    let (mut x, mut taken, mut stopped) = (0.0, Vec::new(), None);
    for step in 0..200 {
        if stopped.is_none() {
            x += 0.1;
        }
        detector.set(walker, flat(x, 1.0, 0.8, 1.6))?;
        let began = detector.step()?.began.to_vec();
        for pair in began {
            let other = pair.other(walker).expect("only the walker meets anything");
            if let Some(coin) = coins.iter().find(|coin| coin.slot() == other) {
                // A box that is removed ends its pairs in the next step, and its id is dead.
                detector.remove(*coin)?;
                taken.push(*coin);
            } else if other == wall.slot() {
                stopped = Some(step);
            }
        }
    }

    println!("{} coins taken, stopped in step {stopped:?} at x = {x:.1}", taken.len());
    assert_eq!(taken, coins, "each coin once, in order");
    assert!((x - 11.2).abs() < 0.11, "the wall is at 12 and the walker 0.8 wide");
    assert_eq!(
        detector.pairs(),
        [(walker, floor), (walker, wall)].map(|(a, b)| { jostle::Pair::new(a, b) })
    );
    assert!(detector.boxes().get(taken[0]).is_none(), "a stale id finds nothing");
    Ok(())
}
