//! A memory of another pair never answers for this one.

use glam::DVec3;
use jostle::narrow::{PairCache, Placed, Query, contact};
use jostle::shape::{Hull, Pose, Shape};
use std::sync::Arc;

fn at(x: f64) -> Pose {
    Pose::at([x, 0.0, 0.0]).unwrap()
}

/// Small shapes far apart fill the memory; then it is asked about large ones in the same places.
#[test]
fn a_memory_of_small_shapes_does_not_hide_large_ones() {
    let hull = |size: f64| Shape::Hull(Arc::new(Hull::icosphere(size, 1).unwrap()));
    let makers: [&dyn Fn(f64) -> Shape; 4] = [
        &|size| Shape::cuboid(DVec3::splat(size)).unwrap(),
        &|size| Shape::cylinder(size, size).unwrap(),
        &hull,
        &|size| Shape::compound(vec![(Shape::cone(size, size).unwrap(), at(0.1))]).unwrap(),
    ];
    for first in makers {
        for second in makers {
            let (mut query, mut cache) = (Query::default(), PairCache::new());
            let [small, large] = [0.5, 4.0].map(|size| (first(size), second(size)));
            for _ in 0..3 {
                let (a, b) = (Placed::new(&small.0, at(0.0)), Placed::new(&small.1, at(6.0)));
                assert!(query.contact_within(&a, &b, 0.0, &mut cache).is_none());
                let (a, b) = (Placed::new(&large.0, at(0.0)), Placed::new(&large.1, at(6.0)));
                let warm = query.contact_within(&a, &b, 0.0, &mut cache);
                assert_eq!(warm, Some(contact(&a, &b)), "as if cold");
                // Also the other way round, and twice.
                let warm = query.contact_within(&b, &a, 0.0, &mut cache);
                assert_eq!(warm, Some(contact(&b, &a)));
            }
        }
    }
}
