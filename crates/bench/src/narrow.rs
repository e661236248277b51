//! The narrow phase against parry3d-f64, and against itself without caches.
//!
//! Pairs are random, with about half of them in contact; both libraries answer the same pairs,
//! interleaved, and the ratio is that of the fastest passes. Distances and depths are compared as
//! well, so that nobody wins by being wrong.

use glam::{DQuat, DVec3};
use jostle::narrow::{self, Options, PairCache};
use jostle::shape::{Hull, Pose, Shape};
use parry3d_f64::math::{Pose as ParryPose, Rotation, Vector};
use parry3d_f64::query;
use parry3d_f64::shape as parry;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

/// A small generator (Steele, Lea and Flood's SplitMix), so that runs repeat.
pub struct Random(u64);

impl Random {
    /// A generator from a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    /// A number in `low..high`.
    pub fn range(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * ((self.bits() >> 11) as f64 / (1u64 << 53) as f64)
    }

    /// A vector in a cube about the origin.
    pub fn vector(&mut self, half: f64) -> DVec3 {
        DVec3::new(self.range(-half, half), self.range(-half, half), self.range(-half, half))
    }

    /// A direction.
    pub fn direction(&mut self) -> DVec3 {
        loop {
            let vector = self.vector(1.0);
            if (0.01..1.0).contains(&vector.length_squared()) {
                return vector.normalize();
            }
        }
    }

    /// A rotation.
    pub fn rotation(&mut self) -> DQuat {
        DQuat::from_axis_angle(self.direction(), self.range(0.0, std::f64::consts::TAU))
    }
}

/// The rows of the table.
pub const KINDS: [&str; 7] =
    ["hull 12", "hull 42", "hull 162", "hull 642", "box", "capsule", "sphere"];

/// A shape in both libraries.
struct Twin {
    ours: Shape,
    theirs: Box<dyn parry::Shape>,
}

fn twin(kind: &str, random: &mut Random) -> Twin {
    if let Some(count) = kind.strip_prefix("hull ") {
        let count: usize = count.parse().expect("a number of vertices");
        let stretch = DVec3::new(random.range(0.7, 1.3), random.range(0.7, 1.3), 1.0);
        let points: Vec<DVec3> = (0..count).map(|_| random.direction() * stretch).collect();
        let hull = Hull::new(&points).expect("a hull");
        let copies: Vec<Vector> = points.iter().map(|p| Vector::new(p.x, p.y, p.z)).collect();
        let theirs = parry::ConvexPolyhedron::from_convex_hull(&copies).expect("a hull");
        return Twin { ours: Shape::Hull(Arc::new(hull)), theirs: Box::new(theirs) };
    }
    let mut size = || random.range(0.5, 1.2);
    match kind {
        "box" => {
            let half = DVec3::new(size(), size(), size());
            let theirs = parry::Cuboid::new(Vector::new(half.x, half.y, half.z));
            Twin { ours: Shape::cuboid(half).expect("a box"), theirs: Box::new(theirs) }
        }
        "capsule" => {
            let (radius, height) = (size() * 0.6, size());
            let theirs = parry::Capsule::new_y(height, radius);
            let ours = Shape::capsule(radius, height).expect("a capsule");
            Twin { ours, theirs: Box::new(theirs) }
        }
        _ => {
            let radius = size();
            let ours = Shape::sphere(radius).expect("a sphere");
            Twin { ours, theirs: Box::new(parry::Ball::new(radius)) }
        }
    }
}

/// A pose in both libraries.
#[derive(Clone, Copy)]
struct TwinPose {
    ours: Pose,
    theirs: ParryPose,
}

fn twin_pose(rotation: DQuat, at: DVec3) -> TwinPose {
    let ours = Pose::new(rotation, at).expect("a pose");
    let DQuat { x, y, z, w } = ours.rotation();
    let theirs =
        ParryPose::from_parts(Vector::new(at.x, at.y, at.z), Rotation::from_xyzw(x, y, z, w));
    TwinPose { ours, theirs }
}

/// A kind's shapes and the pairs of them to test.
struct Scene {
    twins: Vec<Twin>,
    pairs: Vec<(usize, TwinPose, usize, TwinPose)>,
}

fn scene(kind: &str, count: usize) -> Scene {
    let mut random = Random::new(7 + count as u64);
    let twins: Vec<Twin> = (0..16).map(|_| twin(kind, &mut random)).collect();
    // Chosen so that about half of the pairs touch.
    let reach = match kind {
        "hull 12" => 1.25,
        "box" => 1.7,
        "capsule" => 1.35,
        "sphere" => 1.3,
        _ => 1.5,
    };
    let mut pose = || twin_pose(random.rotation(), random.vector(reach));
    let pairs = (0..count).map(|i| (i % 16, pose(), (i * 7 + 3) % 16, pose())).collect();
    Scene { twins, pairs }
}

/// One row: a kind of pair and a question.
#[derive(Clone, Debug)]
pub struct Row {
    /// Kind of shape on both sides.
    pub kind: String,
    /// `distance` or `contact`, or `cached …` for our own caches against none.
    pub question: String,
    /// Share of pairs in contact.
    pub hits: f64,
    /// Nanoseconds a query of ours, fastest pass.
    pub ours: f64,
    /// Nanoseconds a query of the rival, fastest pass.
    pub rival: f64,
    /// Median over the passes of rival time by our time.
    pub median_ratio: f64,
    /// Pairs on which the two differ by more than 1e-4, the accuracy of the rival on capsules.
    pub differing: usize,
}

impl Row {
    /// How many times faster we are, fastest passes compared.
    pub fn ratio(&self) -> f64 {
        self.rival / self.ours
    }
}

/// Times a pass in nanoseconds a query.
fn time(count: usize, mut pass: impl FnMut()) -> f64 {
    let start = Instant::now();
    pass();
    start.elapsed().as_secs_f64() * 1e9 / count as f64
}

/// Runs two passes in turns; the fastest of each and the median ratio.
fn race(
    count: usize,
    repeats: usize,
    mut ours: impl FnMut(),
    mut rival: impl FnMut(),
) -> (f64, f64, f64) {
    let rounds: Vec<(f64, f64)> =
        (0..repeats.max(1)).map(|_| (time(count, &mut ours), time(count, &mut rival))).collect();
    let least =
        |times: &dyn Fn(&(f64, f64)) -> f64| rounds.iter().map(times).fold(f64::MAX, f64::min);
    let mut ratios: Vec<f64> = rounds.iter().map(|(ours, rival)| rival / ours).collect();
    ratios.sort_by(f64::total_cmp);
    (least(&|r| r.0), least(&|r| r.1), ratios[ratios.len() / 2])
}

impl Scene {
    fn our_distance(&self, index: usize) -> f64 {
        let (a, pose_a, b, pose_b) = &self.pairs[index];
        narrow::distance(&self.twins[*a].ours, &pose_a.ours, &self.twins[*b].ours, &pose_b.ours)
    }

    fn their_distance(&self, index: usize) -> f64 {
        let (a, pose_a, b, pose_b) = &self.pairs[index];
        let (a, b) = (&*self.twins[*a].theirs, &*self.twins[*b].theirs);
        query::distance(&pose_a.theirs, a, &pose_b.theirs, b)
            .map_or(f64::NAN, |found| found.distance)
    }

    fn our_contact(&self, index: usize) -> f64 {
        let (a, pose_a, b, pose_b) = &self.pairs[index];
        let (a, b) = (&self.twins[*a].ours, &self.twins[*b].ours);
        narrow::contact_within(a, &pose_a.ours, b, &pose_b.ours, 0.0)
            .map_or(0.0, |contact| black_box(contact).depth)
    }

    fn their_contact(&self, index: usize) -> f64 {
        let (a, pose_a, b, pose_b) = &self.pairs[index];
        let (a, b) = (&*self.twins[*a].theirs, &*self.twins[*b].theirs);
        let found = query::contact(&pose_a.theirs, a, &pose_b.theirs, b, 0.0);
        found.ok().flatten().map_or(0.0, |contact| -black_box(contact).dist)
    }

    fn row(
        &self,
        kind: &str,
        question: &str,
        repeats: usize,
        ours: impl Fn(&Scene, usize) -> f64,
        theirs: impl Fn(&Scene, usize) -> f64,
    ) -> Row {
        let count = self.pairs.len();
        let all = || 0..count;
        let differing = all().filter(|&i| (ours(self, i) - theirs(self, i)).abs() > 1e-4).count();
        let hits = all().filter(|&i| self.our_distance(i) == 0.0).count() as f64 / count as f64;
        let (ours, rival, median_ratio) = race(
            count,
            repeats,
            || all().for_each(|i| _ = black_box(ours(self, i))),
            || all().for_each(|i| _ = black_box(theirs(self, i))),
        );
        let (kind, question) = (kind.to_string(), question.to_string());
        Row { kind, question, hits, ours, rival, median_ratio, differing }
    }
}

/// `distance` and `contact` of every kind against parry3d-f64.
pub fn against_parry(kinds: &[&str], pairs: usize, repeats: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    for kind in kinds {
        let scene = scene(kind, pairs);
        let (our, their) = (Scene::our_distance, Scene::their_distance);
        rows.push(scene.row(kind, "distance", repeats, our, their));
        let (our, their) = (Scene::our_contact, Scene::their_contact);
        rows.push(scene.row(kind, "contact", repeats, our, their));
    }
    rows
}

/// A pair that turns and drifts slowly, over some frames.
struct Course {
    shapes: [Shape; 2],
    frames: Vec<[Pose; 2]>,
}

fn course(kind: &str, frames: usize, speed: f64, random: &mut Random) -> Course {
    let shapes = [twin(kind, random).ours, twin(kind, random).ours];
    let mut turns = [random.rotation(), random.rotation()];
    let mut places = [random.vector(1.5), random.vector(1.5)];
    let drift = [random.vector(speed), random.vector(speed)];
    let spin = [random.vector(speed), random.vector(speed)];
    let frames = (0..frames).map(|_| {
        for side in 0..2 {
            places[side] += drift[side];
            turns[side] = (DQuat::from_scaled_axis(spin[side]) * turns[side]).normalize();
        }
        [0, 1].map(|side| Pose::new(turns[side], places[side]).expect("a pose"))
    });
    Course { shapes, frames: frames.collect() }
}

/// One question asked over all frames of a course, with or without its memory.
type Ask = fn(&Course, &[Pose; 2], &mut PairCache) -> f64;

fn coherent_distance(course: &Course, [a, b]: &[Pose; 2], cache: &mut PairCache) -> f64 {
    let [first, second] = &course.shapes;
    narrow::closest_points_cached(first, a, second, b, &Options::default(), cache).distance
}

fn coherent_contact(course: &Course, [a, b]: &[Pose; 2], cache: &mut PairCache) -> f64 {
    let [first, second] = &course.shapes;
    narrow::contact_within_cached(first, a, second, b, 0.0, &Options::default(), cache)
        .map_or(0.0, |contact| contact.depth)
}

fn coherent_intersects(course: &Course, [a, b]: &[Pose; 2], cache: &mut PairCache) -> f64 {
    let [first, second] = &course.shapes;
    let found = narrow::intersects_cached(first, a, second, b, &Options::default(), cache);
    f64::from(u8::from(found.hit))
}

/// Caches against cold starts on pairs that move and turn by about `speed` of their size a frame.
pub fn coherent(
    kinds: &[&str],
    speed: f64,
    pairs: usize,
    frames: usize,
    repeats: usize,
) -> Vec<Row> {
    let questions: [(&str, Ask); 3] = [
        ("cached distance", coherent_distance),
        ("cached contact", coherent_contact),
        ("cached intersects", coherent_intersects),
    ];
    let mut rows = Vec::new();
    for kind in kinds {
        let mut random = Random::new(11);
        let courses: Vec<Course> =
            (0..pairs).map(|_| course(kind, frames, speed, &mut random)).collect();
        for (question, ask) in questions {
            rows.push(coherent_row(kind, question, &courses, repeats, ask));
        }
    }
    rows
}

fn coherent_row(kind: &str, question: &str, courses: &[Course], repeats: usize, ask: Ask) -> Row {
    let warm = |course: &Course| -> f64 {
        let cache = &mut PairCache::default();
        course.frames.iter().map(|frame| ask(course, frame, cache)).sum()
    };
    let cold = |course: &Course| -> f64 {
        course.frames.iter().map(|frame| ask(course, frame, &mut PairCache::default())).sum()
    };
    let count = courses.iter().map(|course| course.frames.len()).sum();
    let differing = courses.iter().filter(|c| (warm(c) - cold(c)).abs() > 1e-9).count();
    let hit =
        |course: &Course, frame| coherent_intersects(course, frame, &mut PairCache::default());
    let hits: f64 = courses.iter().map(|c| c.frames.iter().map(|f| hit(c, f)).sum::<f64>()).sum();
    let (ours, rival, median_ratio) = race(
        count,
        repeats,
        || courses.iter().for_each(|course| _ = black_box(warm(course))),
        || courses.iter().for_each(|course| _ = black_box(cold(course))),
    );
    let (kind, question) = (kind.to_string(), question.to_string());
    Row { kind, question, hits: hits / count as f64, ours, rival, median_ratio, differing }
}

/// The rows as a table, with the geometric mean of the ratios at the end.
pub fn table(rows: &[Row]) -> String {
    let mut text = format!(
        "{:<9} {:<18} {:>5} {:>9} {:>9} {:>6} {:>6} {:>5}\n",
        "kind", "question", "hits", "ours ns", "rival ns", "ratio", "median", "diff"
    );
    for row in rows {
        text += &format!(
            "{:<9} {:<18} {:>5.2} {:>9.1} {:>9.1} {:>6.2} {:>6.2} {:>5}\n",
            row.kind,
            row.question,
            row.hits,
            row.ours,
            row.rival,
            row.ratio(),
            row.median_ratio,
            row.differing
        );
    }
    let mean = (rows.iter().map(|row| row.ratio().ln()).sum::<f64>() / rows.len() as f64).exp();
    text + &format!("geometric mean of ratios {mean:.2}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_runs_and_hits_about_half() {
        for row in against_parry(&KINDS, 200, 1) {
            assert!((0.3..=0.7).contains(&row.hits), "{row:?}");
            assert!(row.differing * 50 <= 200, "{row:?}");
        }
    }

    #[test]
    fn caches_change_no_answer() {
        for row in coherent(&KINDS, 0.01, 10, 30, 1) {
            assert_eq!(row.differing, 0, "{row:?}");
        }
    }
}
