//! Bounding volumes as a toolbox: a quick "certainly apart" before a question that costs more.
//!
//! Jostle's own pipeline needs none of them: its broad phase uses axis-aligned boxes and its narrow
//! phase works on the shapes. They are for structures of the caller's: levels of detail, culling,
//! hierarchies over parts of a mesh.

use jostle::narrow::{self, Placed};
use jostle::shape::{BoundingSphere, Kdop, KdopKind, Obb, Pose, Shape};
use jostle::{Error, glam};

use glam::{DQuat, DVec3};

/// A beam that leans, at a place.
fn beam(x: f64) -> Result<Pose, Error> {
    let lean = DQuat::from_rotation_z(std::f64::consts::FRAC_PI_4);
    Ok(Pose::new(lean, DVec3::new(x, 0.0, 0.0))?)
}

pub(crate) fn main() -> Result<(), Error> {
    // Two parallel beams, ten long and half a unit thick, that lean by 45 degrees.
    let shape = Shape::cuboid(DVec3::new(5.0, 0.25, 0.25))?;
    let (a, b) = (Placed::new(&shape, beam(0.0)?), Placed::new(&shape, beam(2.0)?));
    let gap = narrow::distance(&a, &b);
    println!("the beams are {gap:.3} apart");
    assert!((gap - (2.0 / 2f64.sqrt() - 0.5)).abs() < 1e-9);

    // The volumes that do not turn with a beam are mostly air, and cannot tell.
    let boxes = [&a, &b].map(|beam| shape.bounds(&beam.pose));
    assert!(boxes[0].overlaps(&boxes[1]), "axis-aligned boxes");
    let spheres = [&a, &b].map(|beam| BoundingSphere::of_shape(&shape, &beam.pose));
    assert!(spheres[0].overlaps(&spheres[1]), "spheres");

    // An oriented box turns with it, and a k-DOP with 18 sides has some at 45 degrees.
    let oriented = [&a, &b].map(|beam| Obb::of_shape(&shape, &beam.pose));
    assert!(!oriented[0].overlaps(&oriented[1]), "oriented boxes");
    let kdops = [&a, &b].map(|beam| Kdop::of_shape(KdopKind::Eighteen, &shape, &beam.pose));
    assert!(!kdops[0].overlaps(&kdops[1]), "18-DOPs");
    println!("oriented boxes and 18-DOPs prove it; axis-aligned boxes and spheres do not");
    Ok(())
}
