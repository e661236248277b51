//! Mass properties against sums over a grid of points, closed forms and each other.

use crate::random::{KINDS, Random};
use glam::{DMat3, DVec3};
use jostle::narrow::{Placed, project_point};
use jostle::shape::{MassProperties, Pose, Shape};

/// By the points of a grid that are inside, of a shape within `-half..half`.
fn by_grid(shape: &Shape, half: f64, cells: usize) -> MassProperties {
    let step = 2.0 * half / cells as f64;
    let placed = Placed::new(shape, Pose::IDENTITY);
    let (mut count, mut first, mut second) = (0.0, DVec3::ZERO, DMat3::ZERO);
    for index in 0..cells * cells * cells {
        let cell = [index % cells, index / cells % cells, index / cells / cells];
        let p = DVec3::from_array(cell.map(|k| (k as f64 + 0.5) * step - half));
        if project_point(&placed, p).expect("a point").is_inside() {
            count += 1.0;
            first += p;
            second += DMat3::from_cols(p * p.x, p * p.y, p * p.z);
        }
    }
    let (mass, center) = (count * step.powi(3), first / f64::max(count, 1.0));
    let c = center;
    let moments = (second * (1.0 / f64::max(count, 1.0))
        - DMat3::from_cols(c * c.x, c * c.y, c * c.z))
        * mass;
    let trace = moments.x_axis.x + moments.y_axis.y + moments.z_axis.z;
    let inertia = DMat3::from_diagonal(DVec3::splat(trace)) - moments;
    MassProperties { mass, center, inertia }
}

fn difference(a: &DMat3, b: &DMat3) -> f64 {
    let d = *a - *b;
    d.x_axis.abs().max(d.y_axis.abs()).max(d.z_axis.abs()).max_element()
}

#[test]
fn masses_agree_with_grids_of_points() {
    let mut random = Random(1);
    for kind in (0..KINDS).filter(|kind| *kind != 6) {
        let shape = random.shape(kind);
        let found = shape.mass_properties(1.0).expect("a density");
        let grid = by_grid(&shape, 1.8, 48);
        let size = shape.bounding_radius();
        assert_eq!(found.mass, shape.volume());
        assert!(
            (found.mass - grid.mass).abs() < 0.04 * size.powi(3),
            "{shape:?} {found:?} {grid:?}"
        );
        assert!(found.center.distance(grid.center) < 0.02 * size, "{shape:?} {found:?} {grid:?}");
        let off = difference(&found.inertia, &grid.inertia);
        assert!(off < 0.04 * size.powi(5), "{shape:?} {off} {found:?} {grid:?}");
        assert!(found.mass > 0.01 && off < 0.2 * found.inertia.x_axis.x, "{shape:?}");
        let heavy = shape.mass_properties(2.5).expect("a density");
        assert!((heavy.mass - 2.5 * found.mass).abs() < 1e-12 && heavy.center == found.center);
    }
}

/// The hull of its corners is the box, wherever it is.
#[test]
fn hulls_are_exact() {
    let mut random = Random(2);
    for _ in 0..50 {
        let half = DVec3::new(random.range(0.1, 2.0), random.range(0.1, 2.0), 0.5);
        let pose = random.pose(5.0);
        let sign = |k: usize, bit: usize| if k >> bit & 1 == 0 { 1.0 } else { -1.0 };
        let corner = |k: usize| pose.apply(half * DVec3::new(sign(k, 0), sign(k, 1), sign(k, 2)));
        let hull = Shape::hull(&(0..8).map(corner).collect::<Vec<_>>()).expect("a hull");
        let whole = Shape::cuboid(half).expect("a box");
        let moved = Shape::compound(vec![(whole, pose)]).expect("a compound");
        let (hull, moved) = (hull.mass_properties(3.0), moved.mass_properties(3.0));
        let (hull, moved) = (hull.expect("a density"), moved.expect("a density"));
        assert!((hull.mass - moved.mass).abs() < 1e-11 * moved.mass, "{hull:?} {moved:?}");
        assert!(hull.center.distance(moved.center) < 1e-12 * 20.0);
        assert!(difference(&hull.inertia, &moved.inertia) < 1e-10, "{hull:?} {moved:?}");
    }
}

#[test]
fn capsules_are_cylinders_with_the_halves_of_a_ball() {
    let ball = Shape::capsule(0.7, 0.0).expect("a capsule").mass_properties(1.0).expect("a mass");
    let same = Shape::sphere(0.7).expect("a ball").mass_properties(1.0).expect("a mass");
    assert!((ball.mass - same.mass).abs() < 1e-15);
    assert!(difference(&ball.inertia, &same.inertia) < 1e-15);
}

#[test]
fn surfaces_have_no_mass_and_bad_densities_are_refused() {
    let flat = [
        Shape::triangle([DVec3::X, DVec3::Y, DVec3::Z]),
        Shape::hull(&[DVec3::X, DVec3::Y, DVec3::Z, DVec3::X]),
        Shape::cuboid(DVec3::new(1.0, 0.0, 1.0)),
        Shape::cylinder(1.0, 0.0),
        Shape::sphere(0.0),
    ];
    for shape in flat {
        let shape = shape.expect("a legal shape");
        let found = shape.mass_properties(7.0).expect("a density");
        assert_eq!((found.mass, found.inertia), (0.0, DMat3::ZERO), "{shape:?}");
        assert!(found.center.is_finite());
    }
    let ground = Shape::half_space(DVec3::Y, 0.0).expect("a half-space");
    assert_eq!(ground.mass_properties(1.0).expect("a density").mass, f64::INFINITY);
    assert_eq!(ground.mass_properties(0.0).expect("a density").mass, 0.0);
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        let fault = ground.mass_properties(bad).unwrap_err().to_string();
        assert!(fault.contains("density"), "{fault}");
    }
}
