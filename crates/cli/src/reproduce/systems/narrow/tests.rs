//! Every system against the library, pair by pair.

use std::sync::Arc;

use glam::DVec3;
use jostle::narrow::{self, Placed};
use jostle::shape::{Hull, Pose, Shape};
use jostle_scenes::{PairScene, Placing, Rng, ShapeKind};

use super::neighbours::{Rule, Surface};
use super::*;

const SYSTEMS: [System; 11] = [
    System::IsaGjk(Solver::Seven),
    System::IsaGjk(Solver::Fourteen),
    System::IsaGjk(Solver::Johnson),
    System::FourDirections(Solver::Seven),
    System::FourDirections(Solver::Johnson),
    System::Gjk(Solver::Seven),
    System::Gjk(Solver::Fourteen),
    System::Gjk(Solver::Johnson),
    System::SeparatingVector,
    System::InnerRegions,
    System::VClip,
];

/// What the systems said about some pairs.
#[derive(Debug, Default)]
struct Tally {
    pairs: usize,
    touching: usize,
    endless: usize,
}

/// Asks one system about all pairs and frames and compares with the library.
fn compare(system: System, scene: &PairScene, tally: &mut Tally) {
    let bodies: Vec<Body> = scene
        .shapes
        .iter()
        .map(|shape| match shape {
            Shape::Hull(hull) => Body::new(hull.clone()),
            other => panic!("{other:?} is no hull"),
        })
        .collect();
    for pair in &scene.pairs {
        let mut memory = Memory::default();
        let two = pair.shapes.map(|shape| &bodies[shape]);
        let shapes = scene.shapes_of(pair);
        for frame in &pair.frames {
            let mut work = Work::default();
            let answer = system.ask(&Pair::new(two, frame), &mut memory, &mut work);
            let placed = [0, 1].map(|side| Placed::new(shapes[side], frame[side]));
            let truth = narrow::contact(&placed[0], &placed[1]).signed_distance();
            check(system, answer, truth, tally);
            assert!(work.steps + work.searches > 0);
        }
    }
}

fn check(system: System, answer: Answer, truth: f64, tally: &mut Tally) {
    tally.pairs += 1;
    tally.touching += usize::from(truth <= 0.0);
    // What is nearer than this is touching or not by rounding.
    const CLOSE: f64 = 2e-9;
    match answer {
        Answer::Endless => tally.endless += 1,
        Answer::Touching => assert!(truth < CLOSE, "{system:?} touching, {truth}"),
        Answer::Apart(distance) => {
            assert!(truth > -CLOSE, "{system:?} apart, {truth}");
            if let Some(distance) = distance {
                assert!((distance - truth).abs() < CLOSE, "{system:?} {distance} for {truth}");
            }
        }
    }
}

#[test]
fn all_agree_with_the_library_on_random_hulls() {
    let placings = [
        Placing::Separated,
        Placing::Touching,
        Placing::Deep,
        Placing::Scattered,
        Placing::Moving { frames: 30, speed: 0.02 },
        Placing::Moving { frames: 20, speed: 0.2 },
    ];
    for system in SYSTEMS {
        let (mut tally, mut near) = (Tally::default(), Tally::default());
        for kind in ["spheres-80", "hulls-12", "hulls-42", "hulls-162"] {
            let kind = ShapeKind::find(kind).unwrap();
            for placing in placings {
                let moving = matches!(placing, Placing::Moving { .. });
                let scene = PairScene::new(kind, placing, if moving { 10 } else { 120 }, 7);
                let tally = if placing == Placing::Touching { &mut near } else { &mut tally };
                compare(system, &scene, tally);
            }
        }
        assert!(tally.pairs > 3000 && tally.touching > 800, "{system:?} {tally:?}");
        // Of every hundred pairs, in general positions and at the point of touching.
        let [allowed, allowed_near] = match system {
            System::SeparatingVector => [1, 50],
            System::InnerRegions => [5, 0],
            _ => [0, 0],
        };
        assert!(100 * tally.endless <= allowed * tally.pairs, "{system:?} {tally:?}");
        assert!(100 * near.endless <= allowed_near * near.pairs, "{system:?} {near:?}");
    }
}

/// Boxes, prisms and plates in positions where nearly everything is parallel.
fn degenerate_bodies() -> Vec<Shape> {
    let cube = |half: DVec3| -> Vec<DVec3> {
        let corner = |k: usize| DVec3::new((k & 1) as f64, (k >> 1 & 1) as f64, (k >> 2) as f64);
        (0..8).map(|k| (2.0 * corner(k) - 1.0) * half).collect()
    };
    let prism: Vec<DVec3> = (0..16)
        .map(|k| {
            let angle = f64::from(k / 2) * std::f64::consts::FRAC_PI_4;
            DVec3::new(angle.cos(), angle.sin(), if k % 2 == 0 { -1.0 } else { 1.0 })
        })
        .collect();
    let clouds = [
        cube(DVec3::ONE),
        cube(DVec3::new(2.0, 0.5, 0.25)),
        cube(DVec3::new(1.0, 1.0, 0.0)),
        prism,
        vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z],
    ];
    clouds.iter().map(|cloud| Shape::Hull(Arc::new(Hull::new(cloud).unwrap()))).collect()
}

#[test]
fn parallel_and_flat_hulls_are_no_trouble() {
    let shapes = degenerate_bodies();
    let bodies: Vec<Body> = shapes
        .iter()
        .map(|shape| match shape {
            Shape::Hull(hull) => Body::new(hull.clone()),
            other => panic!("{other:?} is no hull"),
        })
        .collect();
    for system in SYSTEMS {
        let mut rng = Rng::new(3);
        let mut tally = Tally::default();
        for _ in 0..1500 {
            let [i, j] = [0; 2].map(|_| rng.below(bodies.len()));
            // On a grid of half units: faces, edges and corners meet exactly.
            let at = DVec3::from_array(std::array::from_fn(|_| rng.below(13) as f64 * 0.5 - 3.0));
            let poses = [Pose::IDENTITY, Pose::from_translation(at).unwrap()];
            let mut memory = Memory::default();
            let pair = Pair::new([&bodies[i], &bodies[j]], &poses);
            let answer = system.ask(&pair, &mut memory, &mut Work::default());
            let placed = [Placed::new(&shapes[i], poses[0]), Placed::new(&shapes[j], poses[1])];
            let truth = narrow::contact(&placed[0], &placed[1]).signed_distance();
            check(system, answer, truth, &mut tally);
        }
        assert!(tally.touching > 150, "{tally:?}");
        // At exact contact no vector separates and the cone of those allowed is a line.
        let may_give_up = matches!(system, System::SeparatingVector | System::InnerRegions);
        assert!(tally.endless <= if may_give_up { 200 } else { 0 }, "{system:?} {tally:?}");
    }
}

#[test]
fn lin_and_canny_ends_apart_and_never_inside() {
    let kind = ShapeKind::find("hulls-42").unwrap();
    let count = |placing| {
        let mut tally = Tally::default();
        compare(System::LinCanny, &PairScene::new(kind, placing, 200, 5), &mut tally);
        tally
    };
    assert_eq!(count(Placing::Separated).endless, 0);
    assert_eq!(count(Placing::Deep).endless, 200);
}

#[test]
fn a_wrong_answer_is_noticed() {
    let wrong = |answer, truth| {
        let mut tally = Tally::default();
        std::panic::catch_unwind(move || check(System::VClip, answer, truth, &mut tally)).is_err()
    };
    assert!(wrong(Answer::Touching, 0.1) && wrong(Answer::Apart(None), -0.1));
    assert!(wrong(Answer::Apart(Some(0.2)), 0.1) && !wrong(Answer::Apart(Some(0.1)), 0.1));
}

#[test]
fn reflections_never_lose_ground() {
    let kind = ShapeKind::find("hulls-42").unwrap();
    let scene = PairScene::new(kind, Placing::Separated, 300, 5);
    let mut work = Work::default();
    for pair in &scene.pairs {
        let shapes = scene.shapes_of(pair);
        let placed = [0, 1].map(|side| Placed::new(shapes[side], pair.frames[0][side]));
        let near = narrow::closest_points(&placed[0], &placed[1]);
        let bodies = shapes.map(|shape| match shape {
            Shape::Hull(hull) => Body::new(hull.clone()),
            other => panic!("{other:?} is no hull"),
        });
        let axis = pair.frames[0][0].inverse_apply_vector(-near.normal);
        let two = Pair::new([&bodies[0], &bodies[1]], &pair.frames[0]);
        separating_vector_against(&two, axis, &mut Memory::default(), &mut work);
    }
    assert!(work.steps > 400 && work.lost == 0, "{work:?}");
}

#[test]
fn artificial_neighbours_lead_out_of_flat_faces() {
    let plain = Surface::tessellated_cube(6);
    let mut mended = plain.clone();
    assert_eq!(mended.lift_flat(), 6 * 25, "the inner vertices of each face");
    assert_eq!(plain.vertices.len(), 6 * 25 + 12 * 5 + 8);
    let axes = [DVec3::X, DVec3::NEG_X, DVec3::Y, DVec3::NEG_Y, DVec3::Z, DVec3::NEG_Z];
    let mut rng = Rng::new(4);
    let random = (0..60).map(|_| DVec3::from_array(rng.direction().map(f64::from)));
    let directions: Vec<DVec3> = axes.into_iter().chain(random).collect();
    let (mut stuck, mut endless, mut closed_in) = (0, 0, 0);
    for &direction in &directions {
        for start in 0..plain.vertices.len() as u32 {
            let wrong = |surface: &Surface, rule| {
                let climb = surface.climb(direction, start, rule);
                (surface.shortfall(direction, climb.vertex) > 1e-12, climb.endless)
            };
            assert_eq!(wrong(&mended, Rule::Rise), (false, false), "{direction} from {start}");
            stuck += usize::from(wrong(&plain, Rule::Rise).0);
            endless += usize::from(wrong(&plain, Rule::Level).1);
            closed_in += usize::from(wrong(&plain, Rule::NoReturn).0);
        }
    }
    assert!(stuck >= 6 * 25 && endless > 0, "{stuck} {endless} {closed_in}");
}

#[test]
fn far_neighbours_change_the_way_and_not_the_top() {
    let hull = Hull::icosphere(1.0, 3).unwrap();
    let plain = Surface::of_hull(&hull);
    let mut joined = plain.clone();
    joined.join_far();
    assert!(joined.mean_degree() > plain.mean_degree() + 0.9);
    let mut rng = Rng::new(4);
    let (mut short, mut long) = (0, 0);
    for _ in 0..500 {
        let direction = DVec3::from_array(rng.direction().map(f64::from));
        let start = rng.below(plain.vertices.len()) as u32;
        let [one, other] = [&plain, &joined].map(|s| s.climb(direction, start, Rule::Rise));
        assert_eq!(one.vertex, hull.support_index(direction));
        assert_eq!(other.vertex, one.vertex);
        (long, short) = (long + one.looked, short + other.looked);
    }
    assert!(short < long, "{short} {long}");
}
