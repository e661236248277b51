//! Populations that change in the ways that suit a persistent algorithm least: all at once, far,
//! and in turns. [`HISTORIES`] lists them; no step of any algorithm may cost much more than a
//! rebuild on the same boxes.

use jostle::{Aabb, Algorithm, BoxId, Boxes, Filter};
use jostle_scenes::Rng;

/// The algorithms that follow changes with sorted endpoints from step to step.
pub const PERSISTENT: [Algorithm; 5] = [
    Algorithm::Sap,
    Algorithm::SimdSap,
    Algorithm::SegmentedSap,
    Algorithm::GridSap,
    Algorithm::GridSegmentedSap,
];

/// A set of boxes, those that are there, and a generator.
#[derive(Debug)]
pub struct Population {
    /// The boxes; the caller [commits](Boxes::commit) after each step.
    pub boxes: Boxes,
    ids: Vec<BoxId>,
    target: usize,
    rng: Rng,
}

/// A hostile history: step 0 makes the boxes, each further step changes them.
#[derive(Debug)]
pub struct History {
    /// What happens.
    pub name: &'static str,
    /// Divides the number of boxes, for histories in which they all overlap.
    pub fewer: usize,
    step: fn(&mut Population, usize),
}

/// Every hostile history.
pub const HISTORIES: &[History] = &[
    History { name: "all teleport in every step", fewer: 1, step: teleport_all },
    History { name: "all swap sides", fewer: 1, step: mirror },
    History { name: "half teleport in every step", fewer: 1, step: |p, k| teleport(p, k, 2) },
    History { name: "a tenth teleports", fewer: 1, step: |p, k| teleport(p, k, 10) },
    History { name: "a hundredth teleports", fewer: 1, step: |p, k| teleport(p, k, 100) },
    History { name: "quiet, then all teleport", fewer: 1, step: quiet_then_teleport },
    History { name: "all overlap on one axis", fewer: 1, step: |p, k| sheets(p, k, 1) },
    History { name: "all overlap on two axes", fewer: 1, step: |p, k| sheets(p, k, 2) },
    History { name: "to one point and back", fewer: 10, step: one_point },
    History { name: "identical endpoints by the thousand", fewer: 1, step: lattice },
    History { name: "all come at once, all go at once", fewer: 1, step: come_and_go },
    History { name: "removed and inserted in one step", fewer: 1, step: replace_all },
    History { name: "a tenth replaced in each step", fewer: 1, step: replace_tenth },
    History { name: "twice as many in each step", fewer: 1, step: double },
    History { name: "all change their filter", fewer: 1, step: refilter },
    History { name: "squeezed flat and released", fewer: 4, step: squeeze },
];

/// A friendly history, in turns of four: all creep, a tenth moves, a hundredth is replaced,
/// nothing happens.
pub const CALM: History = History { name: "calm", fewer: 1, step: calm };

impl History {
    /// The boxes before the first step, about `count` of them.
    pub fn start(&self, count: usize) -> Population {
        let target = count / self.fewer;
        let mut start =
            Population { boxes: Boxes::new(), ids: Vec::new(), target, rng: Rng::new(5) };
        (self.step)(&mut start, 0);
        start
    }

    /// Changes the boxes; steps count from 1.
    pub fn step(&self, population: &mut Population, step: usize) {
        (self.step)(population, step);
    }
}

impl Population {
    /// Side of a cube in which boxes of side 1 fill a twentieth of the space.
    fn side(&self) -> f32 {
        (self.target as f32 * 20.0).cbrt()
    }

    fn anywhere(&mut self) -> Aabb {
        let side = self.side();
        let at: [f32; 3] = std::array::from_fn(|_| self.rng.unit() * side);
        Aabb::new(at, at.map(|low| low + 1.0))
    }

    fn insert(&mut self, count: usize) {
        let new: Vec<Aabb> = (0..count).map(|_| self.anywhere()).collect();
        self.ids.extend(self.boxes.insert_all(&new, Filter::ALL).expect("boxes are valid"));
    }

    fn set(&mut self, place: usize, aabb: Aabb) {
        self.boxes.set(self.ids[place], aabb).expect("the box is there");
    }

    fn get(&self, place: usize) -> Aabb {
        *self.boxes.get(self.ids[place]).expect("the box is there")
    }

    fn remove(&mut self, count: usize) {
        let gone: Vec<BoxId> = self.ids.drain(..count).collect();
        self.boxes.remove_all(&gone).expect("the boxes are there");
    }

    /// Moves one box in `one_in` a little.
    fn jitter(&mut self, range: f32, one_in: usize) {
        for place in (0..self.ids.len()).step_by(one_in) {
            let mut aabb = self.get(place);
            for axis in 0..3 {
                let step = (self.rng.unit() - 0.5) * range;
                aabb.min[axis] += step;
                aabb.max[axis] = aabb.min[axis] + 1.0;
            }
            self.set(place, aabb);
        }
    }
}

fn teleport(population: &mut Population, step: usize, one_in: usize) {
    if step == 0 {
        return population.insert(population.target);
    }
    for place in (step % one_in..population.target).step_by(one_in) {
        let aabb = population.anywhere();
        population.set(place, aabb);
    }
}

fn teleport_all(population: &mut Population, step: usize) {
    teleport(population, step, 1);
}

/// Every list is turned round.
fn mirror(population: &mut Population, step: usize) {
    if step == 0 {
        return population.insert(population.target);
    }
    for place in 0..population.target {
        let Aabb { min, max } = population.get(place);
        population.set(place, Aabb::new(max.map(|c| -c), min.map(|c| -c)));
    }
}

fn quiet_then_teleport(population: &mut Population, step: usize) {
    if step.is_multiple_of(5) { teleport(population, step, 1) } else { population.jitter(0.01, 1) }
}

/// All boxes overlap on some axes and are spread on the rest; they shuffle.
fn sheets(population: &mut Population, step: usize, axes: usize) {
    if step == 0 {
        population.insert(population.target);
    }
    let side = population.side();
    for place in 0..population.target {
        let mut aabb = population.anywhere();
        for axis in 0..axes {
            aabb.min[axis] = -side - population.rng.unit();
            aabb.max[axis] = side + population.rng.unit();
        }
        if step > 0 && axes == 2 {
            // Thin sheets that stay where they are: only the endpoints on the other axes shuffle.
            let before = population.get(place);
            (aabb.min[2], aabb.max[2]) = (before.min[2], before.max[2]);
        } else if axes == 2 {
            aabb.max[2] = aabb.min[2] + 2.0 * side / population.target as f32;
        }
        population.set(place, aabb);
    }
}

fn one_point(population: &mut Population, step: usize) {
    if !step.is_multiple_of(3) {
        for place in 0..population.target {
            population.set(place, Aabb::new([7.0; 3], [8.0; 3]));
        }
        return;
    }
    teleport(population, step, 1);
}

/// Whole numbers from a small range, and moves by one.
fn lattice(population: &mut Population, step: usize) {
    if step == 0 {
        population.insert(population.target);
    }
    for place in 0..population.target {
        let from = if step == 0 { population.anywhere() } else { population.get(place) };
        let offset: [f32; 3] = std::array::from_fn(|_| (population.rng.unit() * 3.0).floor() - 1.0);
        let at: [f32; 3] = std::array::from_fn(|axis| from.min[axis].floor() + offset[axis]);
        population.set(place, Aabb::new(at, at.map(|low| low + 1.0)));
    }
}

fn come_and_go(population: &mut Population, step: usize) {
    if step == 0 {
        population.insert(population.target / 100);
    } else if !step.is_multiple_of(2) {
        population.insert(population.target);
    } else {
        population.remove(population.ids.len());
    }
}

fn replace_all(population: &mut Population, step: usize) {
    if step > 0 {
        population.remove(population.ids.len());
    }
    population.insert(population.target);
}

fn replace_tenth(population: &mut Population, step: usize) {
    if step == 0 {
        return population.insert(population.target);
    }
    population.remove(population.target / 10);
    population.insert(population.target / 10);
}

fn double(population: &mut Population, step: usize) {
    let wanted = population.target >> 6usize.saturating_sub(step % 7);
    let there = population.ids.len();
    if wanted >= there {
        population.insert(wanted - there);
    } else {
        population.remove(there - wanted);
    }
}

fn refilter(population: &mut Population, step: usize) {
    if step == 0 {
        return population.insert(population.target);
    }
    let filter = [Filter::ALL, Filter::groups(1 << (step % 8), !0)][step % 2];
    for &id in &population.ids {
        population.boxes.set_filter(id, filter).expect("the box is there");
    }
}

fn calm(population: &mut Population, step: usize) {
    match step % 4 {
        _ if step == 0 => population.insert(population.target),
        1 => population.jitter(0.002, 1),
        2 => population.jitter(0.1, 10),
        3 => {
            population.remove(population.target / 100);
            population.insert(population.target / 100);
        }
        _ => {}
    }
}

fn squeeze(population: &mut Population, step: usize) {
    if step == 0 {
        return population.insert(population.target);
    }
    for place in 0..population.target {
        let mut aabb = population.get(place);
        let side = population.side();
        let low = if step.is_multiple_of(2) { population.rng.unit() * side } else { 3.0 };
        (aabb.min[1], aabb.max[1]) = (low, low + 1.0);
        population.set(place, aabb);
    }
}
