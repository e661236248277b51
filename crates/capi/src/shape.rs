//! Shapes.

use engine::shape::{Shape, ShapeError};
use glam::DVec3;

use crate::handles::Handles;
use crate::memory::{check_out, slice, triples, write};
use crate::status::{Fault, bad_shape, guard, jostle_status};
use crate::types::{jostle_aabb, jostle_pose};

/// A shape. Shapes do not change; free them when nothing asks about them any more. Capsules,
/// cylinders and cones stand along y, around the origin.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct jostle_shape {
    /// The library's.
    pub handle: u64,
}

/// All shapes by handle.
pub(crate) static SHAPES: Handles<Shape> = Handles::new("shape");

unsafe fn give(
    out: *mut jostle_shape,
    make: impl FnOnce() -> Result<Shape, ShapeError>,
) -> jostle_status {
    guard(|| {
        check_out(out, "out")?;
        let handle = SHAPES.insert(make().map_err(bad_shape)?);
        // SAFETY: the caller's word.
        unsafe { write(jostle_shape { handle }, out, "out") }
    })
}

/// Reads points.
unsafe fn points(points: *const f64, count: usize) -> Result<Vec<DVec3>, Fault> {
    // SAFETY: the caller's word.
    let points = unsafe { triples(points, count, "points") }?;
    Ok(points.iter().map(|&point| point.into()).collect())
}

/// A ball around the origin.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_shape_sphere(radius: f64, out: *mut jostle_shape) -> jostle_status {
    // SAFETY: the caller's word.
    unsafe { give(out, || Shape::sphere(radius)) }
}

/// A box around the origin, from half its lengths.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_shape_cuboid(
    half_x: f64,
    half_y: f64,
    half_z: f64,
    out: *mut jostle_shape,
) -> jostle_status {
    // SAFETY: the caller's word.
    unsafe { give(out, || Shape::cuboid(DVec3::new(half_x, half_y, half_z))) }
}

/// A segment along y, `half_height` up and down, with a radius.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_shape_capsule(
    radius: f64,
    half_height: f64,
    out: *mut jostle_shape,
) -> jostle_status {
    // SAFETY: the caller's word.
    unsafe { give(out, || Shape::capsule(radius, half_height)) }
}

/// A cylinder along y.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_shape_cylinder(
    radius: f64,
    half_height: f64,
    out: *mut jostle_shape,
) -> jostle_status {
    // SAFETY: the caller's word.
    unsafe { give(out, || Shape::cylinder(radius, half_height)) }
}

/// A cone along y, its tip up.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_shape_cone(
    radius: f64,
    half_height: f64,
    out: *mut jostle_shape,
) -> jostle_status {
    // SAFETY: the caller's word.
    unsafe { give(out, || Shape::cone(radius, half_height)) }
}

/// An ellipsoid around the origin, from half its lengths.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_shape_ellipsoid(
    radius_x: f64,
    radius_y: f64,
    radius_z: f64,
    out: *mut jostle_shape,
) -> jostle_status {
    // SAFETY: the caller's word.
    unsafe { give(out, || Shape::ellipsoid(DVec3::new(radius_x, radius_y, radius_z))) }
}

/// All points whose product with the normal is at most the offset. The normal may have any length
/// but 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_shape_half_space(
    normal_x: f64,
    normal_y: f64,
    normal_z: f64,
    offset: f64,
    out: *mut jostle_shape,
) -> jostle_status {
    // SAFETY: the caller's word.
    unsafe { give(out, || Shape::half_space(DVec3::new(normal_x, normal_y, normal_z), offset)) }
}

/// The convex hull of some points, three numbers each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_shape_hull(
    points: *const f64,
    count: usize,
    out: *mut jostle_shape,
) -> jostle_status {
    guard(|| {
        check_out(out, "out")?;
        // SAFETY: the caller's word.
        let points = unsafe { self::points(points, count) }?;
        let handle = SHAPES.insert(Shape::hull(&points).map_err(bad_shape)?);
        // SAFETY: the caller's word.
        unsafe { write(jostle_shape { handle }, out, "out") }
    })
}

/// Several convex shapes in one, each at a pose. They may be freed afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_shape_compound(
    shapes: *const jostle_shape,
    poses: *const jostle_pose,
    count: usize,
    out: *mut jostle_shape,
) -> jostle_status {
    guard(|| {
        check_out(out, "out")?;
        // SAFETY: the caller's word.
        let shapes = unsafe { slice(shapes, count, "shapes") }?;
        // SAFETY: the caller's word.
        let poses = unsafe { slice(poses, count, "poses") }?;
        let mut pieces = Vec::with_capacity(shapes.len());
        for (index, (shape, pose)) in shapes.iter().zip(poses).enumerate() {
            let shape = SHAPES.get(shape.handle).map_err(|fault| located(index, fault))?;
            pieces.push((shape.as_ref().clone(), pose.checked(index)?));
        }
        let handle = SHAPES.insert(Shape::compound(pieces).map_err(bad_shape)?);
        // SAFETY: the caller's word.
        unsafe { write(jostle_shape { handle }, out, "out") }
    })
}

/// A fault with the place of what it is about.
pub(crate) fn located(index: usize, fault: Fault) -> Fault {
    Fault { message: format!("number {index}: {}", fault.message), ..fault }
}

/// Frees a shape. Freeing it twice is refused.
#[unsafe(no_mangle)]
pub extern "C" fn jostle_shape_free(shape: jostle_shape) -> jostle_status {
    guard(|| SHAPES.remove(shape.handle))
}

/// The box around a shape at a pose.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_shape_bounds(
    shape: jostle_shape,
    pose: jostle_pose,
    out: *mut jostle_aabb,
) -> jostle_status {
    guard(|| {
        let bounds = SHAPES.get(shape.handle)?.bounds(&pose.checked(0)?);
        // SAFETY: the caller's word.
        unsafe { write(jostle_aabb { min: bounds.min, max: bounds.max }, out, "out") }
    })
}
