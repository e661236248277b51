//! The vector tests of leaves against the exact ones: at every instruction set the same bits, and
//! nothing left out that f64 and the exact predicates would find, down to shared edges, coplanar
//! triangles and gaps far below what f32 can see.

use glam::{DMat3, DQuat, DVec3};

use super::between::map;
use super::data::Frame;
use super::exact::triangles_touch;
use super::feature::{point_triangle, triangles, weigh};
use super::random::Random;
use super::ray::Shear;
use crate::aabb::Aabb;
use crate::simd::leaf_gaps::{LeafGaps, LeafRay, RAY_ROUNDING};
use crate::simd::leaf_holds::{LeafBox, LeafHolds};
use crate::simd::leaf_pairs::{LeafPairs, PairGap};
use crate::simd::leaf8::Leaf8;
use crate::simd::node_maps::NodeMap;
use crate::simd::{Kernel, Level, Simd};

type Triangle = [DVec3; 3];

impl Random {
    /// One to eight triangles of a size around a place; some needles, some without area.
    fn triangles(&mut self, center: DVec3, size: f64) -> Vec<Triangle> {
        let count = 1 + self.below(8);
        let mut all: Vec<Triangle> = Vec::new();
        for _ in 0..count {
            let mut own = [(); 3].map(|()| center + self.point() * size);
            match self.below(8) {
                0 => own[2] = own[1],
                1 => own[2] = own[1] + self.point() * 1e-9 * size,
                2 => own = own.map(|at| DVec3::new(at.x, at.y, center.z)),
                _ => {}
            }
            all.push(own);
        }
        all
    }

    /// Something that touches a triangle, or nearly.
    fn beside(&mut self, other: &Triangle, size: f64) -> Triangle {
        let [a, b, c] = *other;
        let middle = (a + b + c) / 3.0;
        let mut own = [(); 3].map(|()| middle + self.point() * size);
        let normal = (b - a).cross(c - a).normalize_or_zero();
        match self.below(6) {
            0 => own = [a, b, own[2]],
            1 => own[0] = b,
            2 => own = [a + (b - a) * 0.3, b + (c - b) * 0.7, a + (c - a) * 1.5],
            3 => own = [middle + normal * 1e-20, own[1], own[2]],
            4 => own = other.map(|at| at + normal * 1e-7 * size),
            _ => own[0] = a + (b - a) * 0.5,
        }
        own
    }
}

fn leaf_of(own: &[Triangle]) -> Leaf8 {
    let mut leaf = Leaf8::new(0..own.len() as u32);
    let at = |corner: usize, k: usize, lane: usize| own.get(lane).unwrap_or(&own[0])[corner][k];
    leaf.fit(&std::array::from_fn(|corner| {
        std::array::from_fn(|k| std::array::from_fn(|lane| at(corner, k, lane)))
    }));
    leaf
}

struct All<'a> {
    a: &'a Leaf8,
    b: &'a Leaf8,
    map: &'a NodeMap,
    point: DVec3,
    reach: DVec3,
    ray: &'a LeafRay,
    line: [f32; 3],
    around: &'a Around,
}

/// A ball and a turned box around the point.
struct Around {
    radius: f64,
    axes: DMat3,
    half: DVec3,
}

/// What the kernels say, with NaN as a number so that it can be compared.
#[derive(Debug, PartialEq)]
struct Said {
    crossed: u32,
    to_point: [f32; 8],
    to_box: [f32; 8],
    pairs: [u32; 8],
    gaps: Vec<PairGap>,
    in_ball: u32,
    in_box: u32,
}

impl Kernel for All<'_> {
    type Output = Said;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Said {
        let plain = |gaps: [f32; 8]| gaps.map(|gap| if gap.is_nan() { -1.0 } else { gap });
        let mut gaps = Vec::new();
        simd.leaf_gaps(self.a, self.b, self.map, self.line, 0.25, &mut gaps);
        let aabb = aabb_of(self.point, self.reach);
        let point = self.point.as_vec3().to_array();
        let Around { radius, axes, half } = *self.around;
        let axes = [axes.x_axis, axes.y_axis, axes.z_axis].map(|axis| axis.as_vec3().to_array());
        let inner = LeafBox { axes, half: half.as_vec3().to_array() };
        Said {
            crossed: simd.crossed(self.a, self.ray, 2.0),
            to_point: plain(simd.gaps_to_point(self.a, point, 1e-6)),
            to_box: plain(simd.gaps_to_box(self.a, &aabb)),
            pairs: simd.leaf_pairs(self.a, self.b, self.map),
            gaps,
            in_ball: simd.corners_in_ball(self.a, point, radius as f32, 2.5e-7),
            in_box: simd.corners_in_box(self.a, point, &inner, 2.5e-7),
        }
    }
}

fn aabb_of(center: DVec3, reach: DVec3) -> Aabb {
    let (low, high) = (center - reach - 1e-6, center + reach + 1e-6);
    Aabb { min: low.as_vec3().to_array(), max: high.as_vec3().to_array() }
}

/// How often the bounds were good, so that a bound that says nothing fails.
#[derive(Default)]
struct Counts {
    cases: usize,
    sharp: usize,
    parted: usize,
    touching: usize,
    hit: usize,
    missed: usize,
    inside: usize,
    named: usize,
}

#[test]
fn leaves_tell_apart_only_what_is_apart() {
    let mut random = Random(11);
    let mut counts = Counts::default();
    for round in 0..1500 {
        let size = [0.5, 0.05, 1e-3, 1e-5][round % 4];
        let center = random.point() * 0.5;
        let own = random.triangles(center, size);
        let near = center + random.point() * size;
        let mut others = random.triangles(near, size);
        let turn = DMat3::from_quat(match round % 3 {
            0 => DQuat::IDENTITY,
            _ => {
                DQuat::from_axis_angle(random.point().normalize_or(DVec3::X), 3.0 * random.number())
            }
        });
        // Nothing rounds without a turn, so that what touches exactly stays that way.
        let shift = if round % 3 == 0 { DVec3::ZERO } else { random.point() };
        for other in &mut others {
            if random.below(2) == 0 {
                let one = random.below(own.len());
                *other = random.beside(&own[one], size);
            }
        }
        // Where the second leaf is in its own tree.
        let local: Vec<Triangle> =
            others.iter().map(|t| t.map(|at| turn.transpose() * (at - shift))).collect();
        let seen: Vec<Triangle> = local.iter().map(|t| t.map(|at| turn * at + shift)).collect();
        let unit = Frame { origin: DVec3::ZERO, scale: 1.0 };
        let map = map(&turn, shift, &unit, &unit, 4.0);
        let (a, b) = (leaf_of(&own), leaf_of(&local));
        let point = center + random.point() * size * 3.0;
        let reach = random.point().abs() * size * [0.0, 0.3, 1.0][round % 3];
        // At a corner, at an edge, anywhere near, or past the leaf.
        let one = random.below(own.len());
        let [p, q, _] = own[one];
        let edge = p + (q - p) * random.number().abs();
        let target = [p, edge, point, edge, random.point()][round % 5];
        let from = random.point();
        let (ray, shear) = ray_of(from, (target - from).normalize_or(DVec3::X));
        let line = random.point().normalize_or_zero().as_vec3().to_array();
        // Just too small for a corner, just large enough, or larger.
        let grow = [1.0 - 1e-7, 1.0, 1.0 + 1e-7, 1.1, 2.0][random.below(5)];
        let around = Around {
            radius: p.distance(point) * grow,
            axes: turn,
            half: (turn.transpose() * (p - point)).abs() * grow,
        };
        let case =
            || All { a: &a, b: &b, map: &map, point, reach, ray: &ray, line, around: &around };
        let levels = Level::available();
        let said = levels[0].run(case());
        for level in &levels[1..] {
            assert_eq!(level.run(case()), said, "{level:?}");
        }
        check_gaps(&own, point, reach, &said, &mut counts);
        check_inside(&own, point, &around, &said, &mut counts);
        check_ray(&own, &shear, &said, &mut counts);
        check_pairs(&own, &seen, &said, size, &mut counts);
    }
    let Counts { cases, sharp, parted, touching, hit, missed, inside, named } = counts;
    assert!(inside > 2000 && named * 4 > inside * 3, "{named} named of {inside} inside");
    assert!(sharp * 2 > cases, "{sharp} of {cases} bounds are sharp");
    assert!(touching > 1000 && parted > touching, "{touching} touch, {parted} told apart");
    assert!(hit > 300 && missed > 1000, "{hit} hit, {missed} missed");
}

fn check_gaps(own: &[Triangle], point: DVec3, reach: DVec3, said: &Said, counts: &mut Counts) {
    for (lane, corners) in own.iter().enumerate() {
        let (_, _, square) = point_triangle(corners, point);
        let gap = f64::from(said.to_point[lane]);
        assert!((0.0..=square * (1.0 + 1e-9)).contains(&gap), "{gap} {square} {corners:?}");
        counts.cases += 1;
        counts.sharp += usize::from(gap.sqrt() > 0.95 * square.sqrt() - 1e-5);
        // Points of the triangle are no nearer to the box than the bound says.
        for k in 0..=10 {
            for j in 0..=10 - k {
                let (v, w) = (f64::from(k) / 10.0, f64::from(j) / 10.0);
                let at = weigh(corners, [1.0 - v - w, v, w]);
                let outside = ((at - point).abs() - reach).max(DVec3::ZERO).length_squared();
                let gap = f64::from(said.to_box[lane]);
                assert!((0.0..=outside * (1.0 + 1e-9)).contains(&gap), "{gap} {outside}");
            }
        }
    }
    for lane in own.len()..8 {
        assert_eq!((said.to_point[lane], said.to_box[lane]), (-1.0, -1.0));
        assert!(said.crossed >> lane & 1 == 0 && said.pairs.iter().all(|m| m >> lane & 1 == 0));
    }
}

/// What is named is inside, and most of what is inside by more than a hundredth is named.
fn check_inside(own: &[Triangle], point: DVec3, around: &Around, said: &Said, counts: &mut Counts) {
    let Around { radius, axes, half } = *around;
    let in_ball = |at: DVec3, radius: f64| at.distance(point) <= radius;
    let in_box = |at: DVec3, half: DVec3| (axes.transpose() * (at - point)).abs().cmple(half).all();
    for lane in 0..8 {
        let (ball, cuboid) = (said.in_ball >> lane & 1 == 1, said.in_box >> lane & 1 == 1);
        let corners = own.get(lane).map_or(&[][..], |corners| &corners[..]);
        assert!(!ball || corners.iter().any(|&at| in_ball(at, radius)), "{corners:?}");
        assert!(!cuboid || corners.iter().any(|&at| in_box(at, half)), "{corners:?}");
        let well = [
            (ball, corners.iter().any(|&at| in_ball(at, 0.99 * radius))),
            (cuboid, corners.iter().any(|&at| in_box(at, 0.99 * half))),
        ];
        for (named, inside) in well {
            counts.inside += usize::from(inside);
            counts.named += usize::from(inside && named);
        }
    }
}

fn ray_of(from: DVec3, direction: DVec3) -> (LeafRay, Shear) {
    // Times are lengths along the largest part.
    let direction = direction / direction.abs().max_element();
    let shear = Shear::new(&from, &direction);
    let (axes, parts) = shear.parts();
    let forward = direction[axes[2].index()].signum();
    let ray = LeafRay {
        axes,
        origin: axes.map(|axis| from[axis.index()] as f32),
        shear: parts.map(|part| part as f32),
        forward: forward as f32,
        slack: RAY_ROUNDING * (1.5 + 1.0),
    };
    (ray, shear)
}

fn check_ray(own: &[Triangle], shear: &Shear, said: &Said, counts: &mut Counts) {
    for (lane, corners) in own.iter().enumerate() {
        let seen = said.crossed >> lane & 1 == 1;
        match shear.hit(corners.each_ref()) {
            Some((time, _)) if time < 2.0 - 1e-5 => {
                assert!(seen, "{corners:?}");
                counts.hit += 1;
            }
            _ => counts.missed += usize::from(!seen),
        }
    }
}

fn check_pairs(own: &[Triangle], others: &[Triangle], said: &Said, size: f64, counts: &mut Counts) {
    for (i, one) in own.iter().enumerate() {
        for (j, other) in others.iter().enumerate() {
            let kept = said.pairs[j] >> i & 1 == 1;
            let gap = said.gaps.iter().find(|at| (at.a, at.b) == (i as u32, j as u32));
            if triangles_touch(one, other) {
                assert!(kept, "{one:?} {other:?}");
                assert_eq!(gap.map(|at| at.gap), Some(0.0), "{one:?} {other:?}");
                counts.touching += 1;
                continue;
            }
            counts.parted += usize::from(!kept);
            let near = triangles(one, other, f64::INFINITY).expect("no limit");
            match gap {
                Some(at) => {
                    let gap = f64::from(at.gap);
                    assert!(gap <= near.square * (1.0 + 1e-9) + 1e-24 * size, "{gap} {near:?}");
                }
                None => assert!(near.square > 0.25 * (1.0 - 1e-6), "{near:?}"),
            }
        }
    }
    assert!(said.pairs[others.len()..].iter().all(|mask| *mask == 0));
}
