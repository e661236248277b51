//! The shortest use of the library: which of some boxes overlap?

use jostle::{Aabb, Error, overlaps};

pub(crate) fn main() -> Result<(), Error> {
    let boxes = [
        Aabb::new([0.0, 0.0, 0.0], [2.0, 2.0, 2.0]),
        Aabb::new([1.0, 1.0, 1.0], [3.0, 3.0, 3.0]),
        Aabb::new([3.0, 3.0, 3.0], [4.0, 4.0, 4.0]), // touches the second in a corner
    ];
    let pairs = overlaps(&boxes)?;
    println!("{} pairs: {pairs:?}", pairs.len());
    assert_eq!(pairs, [(0, 1).into(), (1, 2).into()]);
    Ok(())
}
