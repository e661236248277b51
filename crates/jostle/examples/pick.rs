//! Picking: which box is under the mouse, which are nearest to a point, what is in a region.
//!
//! Queries borrow the detector, so any part of a program that can see it can ask. What was
//! inserted, moved or removed since the last step is seen.

use jostle::{Aabb, Algorithm, Cast, Detector, Error, Filter};

/// Houses in blocks of one, each as high as the number of its street says.
fn town() -> Result<Detector, Error> {
    let mut detector = Detector::new(Algorithm::Bvh);
    for street in 0..40u32 {
        for number in 0..40u32 {
            let (x, z, height) = (2.0 * street as f32, 2.0 * number as f32, 1.0 + street as f32);
            let house = Aabb::new([x, 0.0, z], [x + 1.0, height, z + 1.0]);
            let id = detector.insert(house, Filter::STILL)?;
            detector.boxes_mut().set_user_data(id, u64::from(100 * street + number))?;
        }
    }
    detector.step()?;
    Ok(detector)
}

pub(crate) fn main() -> Result<(), Error> {
    let town = town()?;
    let address = |id| town.boxes().user_data(id);
    let queries = town.queries();

    // A ray from the west at a height of 10.5: streets 0 to 9 are lower than that.
    let ray = Cast::ray([-5.0, 10.5, 6.5], [1.0, 0.0, 0.0]);
    let hit = queries.first_hit(&ray, &Filter::ALL).expect("there are higher houses");
    println!("the mouse is over house {} at a distance of {}", address(hit.id), hit.enter);
    assert_eq!((address(hit.id), hit.enter), (1003, 25.0));
    let all = queries.hits(&ray, &Filter::ALL);
    assert_eq!(all.len(), 30, "the ray goes through every higher house, nearest first");
    assert!(all.windows(2).all(|two| two[0].enter < two[1].enter));

    // The three houses nearest to a point in the street.
    let near = queries.nearest([1.4, 0.5, 0.5], 3, &Filter::ALL);
    let near: Vec<u64> = near.iter().map(|near| address(near.id)).collect();
    println!("nearest to the corner: {near:?}");
    assert_eq!(near, [0, 100, 1]);

    // Everything in a region, as a rubber band selects it.
    let region = Aabb::new([0.0, 0.0, 0.0], [4.5, 1.0, 2.5]);
    let mut inside: Vec<u64> =
        queries.overlapping(&region, &Filter::ALL).into_iter().map(address).collect();
    inside.sort_unstable();
    println!("in the region: {inside:?}");
    assert_eq!(inside, [0, 1, 100, 101, 200, 201]);
    Ok(())
}
