//! Properties of the narrow phase on random pairs of all kinds, scales and places.
//!
//! Answers are proven, not compared: a distance by a plane between the shapes and two points, a
//! depth by the support plane along its normal and by the absence of a shorter way out among many
//! directions, among them all face and edge directions of polyhedra (through SAT).

use glam::{DQuat, DVec3};
use jostle::narrow::{self, Contact, Method, Options, PairCache, Placed, Query, Status, TOUCH};
use jostle::shape::{Pose, Shape};

struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ z >> 31) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn range(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    fn below(&mut self, count: usize) -> usize {
        (self.unit() * count as f64) as usize
    }

    fn vector(&mut self, half: f64) -> DVec3 {
        DVec3::new(self.range(-half, half), self.range(-half, half), self.range(-half, half))
    }

    fn direction(&mut self) -> DVec3 {
        loop {
            let vector = self.vector(1.0);
            if (0.01..1.0).contains(&vector.length_squared()) {
                return vector.normalize();
            }
        }
    }

    /// A rotation: any, or one of the aligned ones that make degenerate contacts.
    fn rotation(&mut self) -> DQuat {
        match self.below(4) {
            0 => DQuat::IDENTITY,
            1 => DQuat::from_rotation_y(std::f64::consts::FRAC_PI_2),
            _ => DQuat::from_axis_angle(self.direction(), self.range(0.0, std::f64::consts::TAU)),
        }
    }

    /// A size: often ordinary, sometimes thin, sometimes nothing.
    fn size(&mut self, scale: f64) -> f64 {
        match self.below(12) {
            0 => 0.0,
            1 => 1e-6 * scale,
            2 => scale,
            _ => self.range(0.2, 1.0) * scale,
        }
    }

    fn shape(&mut self, scale: f64) -> Shape {
        let shape = match self.below(8) {
            0 => Shape::sphere(self.size(scale)),
            1 => Shape::cuboid(DVec3::new(self.size(scale), self.size(scale), self.size(scale))),
            2 => Shape::capsule(self.size(scale), self.size(scale)),
            3 => Shape::cylinder(self.size(scale), self.size(scale)),
            4 => Shape::cone(self.size(scale), self.size(scale)),
            5 => Shape::ellipsoid(DVec3::new(self.size(scale), self.size(scale), self.size(scale))),
            6 => Shape::triangle([self.vector(scale), self.vector(scale), self.vector(scale)]),
            _ => {
                let count = 4 + self.below(40);
                let points: Vec<_> = (0..count).map(|_| self.vector(scale * 0.7)).collect();
                Shape::hull(&points)
            }
        };
        shape.expect("a legal shape")
    }

    fn pair(&mut self) -> Pair {
        let scale = [1e-3, 1.0, 1.0, 1e4][self.below(4)];
        let other = if self.below(6) == 0 { scale * 1e-3 } else { scale };
        let (a, b) = (self.shape(scale), self.shape(other));
        let offset = if self.below(3) == 0 { self.vector(1e6) } else { DVec3::ZERO };
        let spread = if self.below(8) == 0 { 0.0 } else { 0.55 * (scale + other) };
        let step = self.vector(spread);
        let pose_a = Pose::new(self.rotation(), offset).expect("a pose");
        let pose_b = Pose::new(self.rotation(), offset + step).expect("a pose");
        Pair { a, pose_a, b, pose_b }
    }
}

#[derive(Clone, Debug)]
struct Pair {
    a: Shape,
    pose_a: Pose,
    b: Shape,
    pose_b: Pose,
}

impl Pair {
    fn contact(&self, method: Method) -> Contact {
        let options = Options::default().with_method(method);
        let cache = &mut PairCache::default();
        Query::new(options).contact(
            &Placed::new(&self.a, self.pose_a),
            &Placed::new(&self.b, self.pose_b),
            cache,
        )
    }

    fn swapped(&self) -> Pair {
        let Pair { a, pose_a, b, pose_b } = self.clone();
        Pair { a: b, pose_a: pose_b, b: a, pose_b: pose_a }
    }

    fn size(&self) -> f64 {
        self.a.bounding_radius() + self.b.bounding_radius()
    }

    fn tolerance(&self) -> f64 {
        let polyhedral = self.a.is_polyhedral() && self.b.is_polyhedral();
        // World coordinates carry rounding of their own far away.
        let place = self.pose_a.translation().length() * 1e-15;
        if polyhedral { 1e-9 * self.size() + place } else { 1e-6 * self.size() + place }
    }

    /// How far a reaches beyond the near side of b along a unit direction.
    fn overlap_along(&self, direction: DVec3) -> f64 {
        let on_a = self.a.support(self.pose_a.inverse_apply_vector(direction));
        let on_b = self.b.support(self.pose_b.inverse_apply_vector(-direction));
        let shift = self.pose_b.translation() - self.pose_a.translation();
        let difference = self.pose_a.apply_vector(on_a) - self.pose_b.apply_vector(on_b) - shift;
        difference.dot(direction)
    }

    fn moved(&self, by: DVec3) -> Pair {
        let pose_b = Pose::new(self.pose_b.rotation(), self.pose_b.translation() + by);
        Pair { pose_b: pose_b.expect("a pose"), ..self.clone() }
    }
}

/// Pairs a test looks at; `JOSTLE_SOAK` multiplies them and moves on to other seeds.
fn count() -> usize {
    20_000 * soak().max(1)
}

fn soak() -> usize {
    std::env::var("JOSTLE_SOAK").ok().and_then(|value| value.parse().ok()).unwrap_or(0)
}

fn pairs(seed: u64) -> impl Iterator<Item = Pair> {
    let mut random = Random(seed + 1_000 * soak() as u64);
    (0..count()).map(move |_| random.pair())
}

#[test]
fn exactly_one_of_distance_and_depth_is_positive() {
    let mut hits = 0;
    for pair in pairs(1) {
        let contact = pair.contact(Method::Auto);
        match contact.status {
            Status::Separated => assert!(contact.distance > 0.0 && contact.depth == 0.0),
            Status::Overlapping => assert!(contact.depth > 0.0 && contact.distance == 0.0),
            Status::Touching => assert!(contact.depth == 0.0 && contact.distance == 0.0),
        }
        assert!((contact.normal.length() - 1.0).abs() < 1e-12, "{pair:?} {contact:?}");
        let Pair { a, pose_a, b, pose_b } = &pair;
        let closest = narrow::closest_points(&Placed::new(a, *pose_a), &Placed::new(b, *pose_b));
        assert_eq!(closest.distance, contact.distance, "{pair:?} {contact:?}");
        let hit = narrow::intersects(&Placed::new(a, *pose_a), &Placed::new(b, *pose_b)).hit;
        let clear = contact.signed_distance().abs() > 4.0 * TOUCH * pair.size();
        if clear {
            assert_eq!(hit, contact.status == Status::Overlapping, "{pair:?} {contact:?}");
        }
        let within =
            narrow::contact_within(&Placed::new(a, *pose_a), &Placed::new(b, *pose_b), 0.0);
        assert_eq!(within.is_some(), contact.status != Status::Separated, "{pair:?} {contact:?}");
        hits += usize::from(hit);
    }
    let share = hits as f64 / count() as f64;
    assert!((0.3..=0.7).contains(&share), "hit rate {share}");
}

#[test]
fn every_answer_is_proven() {
    let mut random = Random(99);
    for pair in pairs(2) {
        let contact = pair.contact(Method::Auto);
        let signed = contact.signed_distance();
        // Far shapes are as certain as their distance.
        let tolerance = pair.tolerance() + 4e-15 * contact.distance;
        // The plane along the normal shows that the distance is not less, the depth not more.
        let shown = -pair.overlap_along(contact.normal);
        assert!(shown >= signed - tolerance, "{shown} {pair:#?} {contact:#?}");
        // Both points belong to their shapes, so that the distance is not more.
        let apart = (contact.point_b - contact.point_a).dot(contact.normal);
        assert!(
            (apart - signed).abs() <= tolerance + TOUCH * pair.size(),
            "{pair:#?} {contact:#?}"
        );
        let dot = Shape::sphere(0.0).expect("a point");
        for (point, shape, pose) in
            [(contact.point_a, &pair.a, &pair.pose_a), (contact.point_b, &pair.b, &pair.pose_b)]
        {
            let place = Pose::from_translation(point).expect("a pose");
            let off = narrow::distance(&Placed::new(shape, *pose), &Placed::new(&dot, place));
            // On a curved surface points are as certain as the square root of the bound.
            let flat = pair.a.is_polyhedral() && pair.b.is_polyhedral();
            let allowed = if flat { 10.0 } else { 1000.0 } * tolerance;
            assert!(off <= allowed, "off by {off}: {pair:#?} {contact:#?}");
        }
        // No tried direction leads out on a shorter way.
        if contact.status == Status::Overlapping {
            for step in 0..20 {
                let nudge = if step < 10 { 1e-2 } else { 2.0 };
                let direction = (contact.normal + random.direction() * nudge).normalize();
                let depth = pair.overlap_along(direction);
                assert!(depth >= contact.depth - tolerance, "{depth} {pair:#?} {contact:#?}");
            }
        }
    }
}

#[test]
fn swapping_mirrors_to_the_last_bit() {
    for pair in pairs(3) {
        let there = pair.contact(Method::Auto);
        let back = pair.swapped().contact(Method::Auto);
        assert_eq!(there.distance.to_bits(), back.distance.to_bits(), "{pair:?}");
        assert_eq!(there.depth.to_bits(), back.depth.to_bits(), "{pair:?}");
        // The same shape in the same place twice has no second side to mirror to.
        if pair.pose_a == pair.pose_b && format!("{:?}", pair.a) == format!("{:?}", pair.b) {
            continue;
        }
        assert_eq!(there.normal, -back.normal, "{pair:?}");
        assert_eq!(there.status, back.status);
        assert_eq!(there.point_a, back.point_b, "{pair:?}");
        assert_eq!(there.point_b, back.point_a, "{pair:?}");
    }
}

#[test]
fn moving_by_the_depth_separates() {
    for pair in pairs(4) {
        let contact = pair.contact(Method::Auto);
        let moved = pair.moved(contact.normal * contact.depth);
        let after = moved.contact(Method::Auto).signed_distance();
        let rounding = 1e-15 * pair.pose_b.translation().length();
        assert!(after >= -pair.tolerance() - rounding, "{after} {contact:?} {pair:?}");
        if contact.status == Status::Overlapping {
            assert!(after <= pair.tolerance() + rounding, "{after} {contact:?} {pair:?}");
        }
    }
}

#[test]
fn all_methods_agree() {
    let mut depths = 0;
    for pair in pairs(5) {
        let auto = pair.contact(Method::Auto);
        for method in [Method::GjkEpa, Method::GjkSat] {
            let other = pair.contact(method);
            let error = (auto.signed_distance() - other.signed_distance()).abs();
            let allowed = auto.bound + other.bound + 4.0 * TOUCH * pair.size();
            assert!(error <= allowed.max(pair.tolerance()), "{auto:?}\n{other:?}\n{pair:?}");
        }
        depths += usize::from(auto.status == Status::Overlapping);
    }
    assert!(depths > count() / 5);
}

#[test]
fn margins_shift_the_signed_distance() {
    for pair in pairs(6).take(2_000) {
        let plain = pair.contact(Method::Auto);
        let margin = 0.1 * pair.size();
        let options = Options::default().with_margin(margin);
        let Pair { a, pose_a, b, pose_b } = &pair;
        let cache = &mut PairCache::default();
        let grown =
            Query::new(options).contact(&Placed::new(a, *pose_a), &Placed::new(b, *pose_b), cache);
        let shift = plain.signed_distance() - grown.signed_distance();
        assert!((shift - margin).abs() <= pair.tolerance() + 4.0 * TOUCH * pair.size());
    }
}

/// What memories are for: a motion in small steps, of any speed, with any question at any time.
struct Course {
    pair: Pair,
    drift: DVec3,
    spin: DVec3,
}

impl Course {
    fn new(random: &mut Random) -> Course {
        let mut pair = random.pair();
        if random.below(4) == 0 {
            let scale = pair.a.bounding_radius();
            let pieces = (0..3).map(|_| {
                let place = random.vector(scale);
                (random.shape(0.5 * scale), Pose::new(random.rotation(), place).expect("a pose"))
            });
            pair.a = Shape::compound(pieces.collect()).expect("a compound");
        }
        if random.below(2) == 0 {
            pair = pair.swapped();
        }
        let speed = 10f64.powf(random.range(-6.0, -0.5));
        let drift = random.vector(speed) * pair.size();
        Course { pair, drift, spin: random.vector(speed) }
    }

    fn step(&mut self) {
        let pose = &self.pair.pose_b;
        let turn = (DQuat::from_scaled_axis(self.spin) * pose.rotation()).normalize();
        self.pair.pose_b = Pose::new(turn, pose.translation() + self.drift).expect("a pose");
    }

    /// One question, with the memory and without. Says whether the pair touches.
    fn ask(&self, question: usize, reach: f64, cache: &mut PairCache) -> bool {
        let Pair { a, pose_a, b, pose_b } = &self.pair;
        let options = Options::default();
        let cold = narrow::contact(&Placed::new(a, *pose_a), &Placed::new(b, *pose_b));
        let signed = cold.signed_distance();
        let allowed = self.pair.tolerance() + 4e-15 * cold.distance;
        let near = |warm: f64, cold: f64| {
            assert!((warm - cold).abs() <= allowed, "{warm:e} {cold:e} {cold:?} {:?}", self.pair);
        };
        let clear = |limit: f64| (signed - limit).abs() > 4.0 * allowed;
        match question {
            0 => {
                let warm = Query::new(options).contact(
                    &Placed::new(a, *pose_a),
                    &Placed::new(b, *pose_b),
                    cache,
                );
                near(warm.signed_distance(), signed);
            }
            1 => {
                let warm = Query::new(options).closest_points(
                    &Placed::new(a, *pose_a),
                    &Placed::new(b, *pose_b),
                    cache,
                );
                near(warm.distance, cold.distance);
            }
            2 => {
                let warm = Query::new(options).intersects(
                    &Placed::new(a, *pose_a),
                    &Placed::new(b, *pose_b),
                    cache,
                );
                assert!(!clear(0.0) || warm.hit == (signed < 0.0), "{cold:?} {:?}", self.pair);
            }
            _ => {
                let warm = Query::new(options).contact_within(
                    &Placed::new(a, *pose_a),
                    &Placed::new(b, *pose_b),
                    reach,
                    cache,
                );
                let found = warm.is_some();
                assert!(!clear(reach) || found == (signed < reach), "{cold:?} {:?}", self.pair);
                warm.iter().for_each(|warm| near(warm.signed_distance(), signed));
            }
        }
        cold.distance == 0.0
    }
}

#[test]
fn memories_change_nothing() {
    let mut random = Random(7 + 1_000 * soak() as u64);
    let (mut hits, mut asked) = (0, 0);
    for _ in 0..count() / 10 {
        let mut course = Course::new(&mut random);
        let cache = &mut PairCache::default();
        let reach = random.range(0.0, 0.2) * course.pair.size();
        // Half of the courses ask one question all the time, as a solver would.
        let always = random.below(8);
        for _ in 0..24 {
            course.step();
            let question = if always < 4 { always } else { random.below(4) };
            hits += usize::from(course.ask(question, reach, cache));
            asked += 1;
        }
    }
    let share = hits as f64 / asked as f64;
    assert!((0.3..=0.7).contains(&share), "hit rate {share}");
}
