//! A frame as bytes: a header in JSON, then arrays that the page reads without copying.
//!
//! `u32` length of the header, the header, padding to four bytes, the arrays. The header's
//! `arrays` lists each by name with its place behind the padding and its length, in bytes;
//! numbers are little-endian.

use jostle::broad::Sketch;
use jostle::shape::Shape;
use jostle::{Aabb, Detector, Pair, World};
use serde_json::{Value, json};

use crate::simulation::Simulation;

/// Most boxes that are sent; of more, every second or third and so on.
const MOST_BOXES: usize = 100_000;

/// Most pairs, regions and contacts that are sent.
const MOST_PAIRS: usize = 20_000;
const MOST_REGIONS: usize = 4096;
const MOST_CONTACTS: usize = 5000;

/// What the page colours a box by.
mod state {
    pub(super) const ALONE: u8 = 0;
    pub(super) const OVERLAPS: u8 = 1;
    pub(super) const BEGAN: u8 = 2;
    pub(super) const STILL: u8 = 3;
    pub(super) const REFUSED: u8 = 4;
}

/// The frame on show.
pub(crate) fn encode(simulation: &Simulation) -> Vec<u8> {
    let mut arrays = Arrays::default();
    let stage = &simulation.stage;
    let detector = stage.detector();
    let stride = detector.boxes().slots().div_ceil(MOST_BOXES).max(1);
    arrays.put("bounds", detector.boxes().aabbs().iter().step_by(stride).flat_map(bounds));
    let states = states(detector, stage.world(), stage.refused.is_some());
    arrays.bytes("states", &states.into_iter().step_by(stride).collect::<Vec<u8>>());
    if simulation.drawn.pairs {
        let listed = detector.pairs().iter().take(MOST_PAIRS);
        arrays.put(
            "pairs",
            listed.flat_map(|pair| [pair.a(), pair.b()].map(|s| s.get().to_le_bytes())),
        );
    }
    let mut sketch = Sketch::with_limit(MOST_REGIONS);
    if simulation.drawn.sketch {
        detector.sketch(&mut sketch);
        let regions = sketch.regions();
        arrays.put("regions", regions.iter().flat_map(|region| bounds(&region.bounds)));
        let about = regions.iter().flat_map(|region| [region.level, region.boxes]);
        arrays.put("region_about", about.map(u32::to_le_bytes));
    }
    if let Some(world) = stage.world() {
        let slots = (0..detector.boxes().slots() as u32).step_by(stride);
        arrays.put("bodies", slots.flat_map(|slot| body(world, slot)));
        arrays.put("contacts", contacts(world));
    }
    let header = header(simulation, &sketch, stride, &arrays);
    arrays.behind(header.to_string().as_bytes())
}

fn header(simulation: &Simulation, sketch: &Sketch, stride: usize, arrays: &Arrays) -> Value {
    let stage = &simulation.stage;
    let detector = stage.detector();
    let events = detector.events();
    let milliseconds = |time: std::time::Duration| time.as_secs_f64() * 1e3;
    let update = stage.world().map_or(detector.step_time().update, |world| world.stats().broad);
    let second = stage.second.as_ref().map(|second| {
        json!({"name": second.algorithm.name(), "tests": second.stepper.stats().tests,
               "update_ms": milliseconds(second.stepper.time().update),
               "pairs": second.stepper.pairs().len()})
    });
    let touches = stage.world().map(|world| world.last_step().touches.len());
    let (low, high) = extent(detector.boxes().aabbs());
    json!({
        "frame": simulation.frame, "frames": simulation.source.length(),
        "playing": simulation.playing, "seeking": simulation.target.is_some(),
        "speed": simulation.speed, "source": simulation.source.about(),
        "world": stage.world().is_some(), "algorithm": stage.algorithm.name(),
        "threads": stage.threads(), "reason": detector.reason(),
        "slots": detector.boxes().slots(), "stride": stride, "live": detector.boxes().len(),
        "pairs": detector.pairs().len(), "began": events.began.len(), "ended": events.ended.len(),
        "touches": touches, "tests": detector.stats().tests,
        "update_ms": milliseconds(update), "step_ms": milliseconds(stage.step_time),
        "second": second, "refused": stage.refused, "error": simulation.error,
        "recorded": detector.recorder().map(jostle::Recorder::bytes),
        "recording_failed": detector.recorder().and_then(|one| one.error()).map(|e| e.to_string()),
        "sweep_axes": sketch.sweep_axes, "regions_left_out": sketch.left_out(),
        "low": low, "high": high, "arrays": arrays.listed,
    })
}

fn bounds(aabb: &Aabb) -> impl Iterator<Item = [u8; 4]> + use<> {
    let [a, b, c] = aabb.min;
    let [d, e, f] = aabb.max;
    [a, b, c, d, e, f].into_iter().map(f32::to_le_bytes)
}

/// Where the finite boxes are.
fn extent(aabbs: &[Aabb]) -> ([f32; 3], [f32; 3]) {
    let (mut low, mut high) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
    let finite = |aabb: &&Aabb| aabb.min.iter().chain(&aabb.max).all(|bound| bound.is_finite());
    for aabb in aabbs.iter().filter(finite) {
        for k in 0..3 {
            low[k] = low[k].min(aabb.min[k]);
            high[k] = high[k].max(aabb.max[k]);
        }
    }
    if low[0] > high[0] { ([0.0; 3], [1.0; 3]) } else { (low, high) }
}

/// Of a world, touching counts; of boxes, overlapping.
fn states(detector: &Detector, world: Option<&World>, refused: bool) -> Vec<u8> {
    let boxes = detector.boxes();
    let still = |filter: &jostle::Filter| if filter.still { state::STILL } else { state::ALONE };
    let mut states: Vec<u8> = boxes.filters().iter().map(still).collect();
    let mut mark = |pair: Pair, value: u8| {
        for slot in [pair.a(), pair.b()] {
            if let Some(state) = states.get_mut(slot.index()) {
                *state = value;
            }
        }
    };
    match world {
        Some(world) => {
            let step = world.last_step();
            let slots = |pair: &jostle::BodyPair| Pair::new(pair.a(), pair.b());
            step.touches.iter().for_each(|touch| mark(slots(&touch.pair), state::OVERLAPS));
            step.began.iter().for_each(|pair| mark(slots(pair), state::BEGAN));
        }
        None => {
            detector.pairs().iter().for_each(|&pair| mark(pair, state::OVERLAPS));
            detector.events().began.iter().for_each(|&pair| mark(pair, state::BEGAN));
        }
    }
    if refused {
        let changes = boxes.changes();
        for slot in changes.inserted().iter().chain(changes.moved()) {
            states[slot.index()] = state::REFUSED;
        }
    }
    states
}

/// Kind, three sizes, position and rotation; kind 0 for no body.
fn body(world: &World, slot: u32) -> impl Iterator<Item = [u8; 4]> + use<> {
    let mut numbers = [0.0f32; 11];
    let id = world.id_at(slot.into());
    if let Some((shape, pose)) = id.and_then(|id| Some((world.shape(id)?, world.pose(id)?))) {
        let (kind, sizes) = match shape {
            Shape::Sphere { radius } => (1.0, [*radius, 0.0, 0.0]),
            Shape::Cuboid { half_extents } => (2.0, half_extents.to_array()),
            Shape::Capsule { radius, half_height } => (3.0, [*radius, *half_height, 0.0]),
            Shape::Cylinder { radius, half_height } => (4.0, [*radius, *half_height, 0.0]),
            Shape::Cone { radius, half_height } => (5.0, [*radius, *half_height, 0.0]),
            // The hulls of this viewer are octahedra; others are shown by their reach.
            other => {
                let reach = |axis: glam::DVec3| other.support(axis).dot(axis);
                (6.0, glam::DVec3::AXES.map(reach))
            }
        };
        numbers[0] = kind;
        let (at, turn) = (pose.translation(), pose.rotation());
        let rest = sizes.into_iter().chain(at.to_array()).chain(turn.to_array());
        numbers[1..].iter_mut().zip(rest).for_each(|(to, from)| *to = from as f32);
    }
    numbers.into_iter().map(f32::to_le_bytes)
}

/// Point, normal and depth of contacts.
fn contacts(world: &World) -> impl Iterator<Item = [u8; 4]> {
    world.last_step().touches.iter().take(MOST_CONTACTS).flat_map(|touch| {
        let contact = &touch.contact;
        let point = (contact.point_a + contact.point_b) / 2.0;
        let parts = point.to_array().into_iter().chain(contact.normal.to_array());
        parts.chain([contact.depth]).map(|part| (part as f32).to_le_bytes())
    })
}

/// Arrays one behind the other.
#[derive(Default)]
struct Arrays {
    data: Vec<u8>,
    listed: Vec<(&'static str, usize, usize)>,
}

impl Arrays {
    fn put(&mut self, name: &'static str, words: impl Iterator<Item = [u8; 4]>) {
        let start = self.data.len();
        words.for_each(|word| self.data.extend_from_slice(&word));
        self.listed.push((name, start, self.data.len() - start));
    }

    fn bytes(&mut self, name: &'static str, bytes: &[u8]) {
        self.listed.push((name, self.data.len(), bytes.len()));
        self.data.extend_from_slice(bytes);
        self.data.resize(self.data.len().next_multiple_of(4), 0);
    }

    fn behind(self, header: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(8 + header.len() + self.data.len());
        bytes.extend_from_slice(&(header.len() as u32).to_le_bytes());
        bytes.extend_from_slice(header);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes.extend_from_slice(&self.data);
        bytes
    }
}
