//! `city`: a flat town, mostly still, with boxes of very different sizes.
//!
//! Twenty boxes share a lot of 16 m by 16 m; streets 4 m wide run between the lots, z points up.
//! Still are ground tiles (some without any thickness), buildings of 3 to 48 m, crates piled up
//! in columns so that each touches the next, and small street furniture. Vehicles drive up and
//! down the streets through each other and turn round at the town's edge. This is what levels of
//! games and city models look like to a broad phase: no spread in height, many resting contacts,
//! and a cost that should follow the few things that move. Each box meets only its own lot and
//! the traffic next to it, so pairs stay in proportion to `n`.

use super::{Motion, clipped};
use crate::catalog::Values;
use crate::math::power_of_two;
use crate::rng::Rng;
use crate::scene::Frame;
use jostle::Aabb;

const BOXES_PER_LOT: usize = 20;
const STREET: f32 = 4.0;
const LOT: f32 = 16.0;
const PITCH: f32 = STREET + LOT;
const HEIGHT: f32 = 64.0;

/// The vehicles.
pub(super) struct City {
    vehicles: Vec<Vehicle>,
}

struct Vehicle {
    slot: u32,
    axis: usize,
    length: f32,
    velocity: f32,
}

/// The lot being filled: its corner, and how high its four piles of crates are.
struct Lot {
    corner: [f32; 2],
    piles: [f32; 4],
}

pub(super) fn build(values: &Values, n: usize, rng: &mut Rng) -> (Frame, City) {
    let lots = n.div_ceil(BOXES_PER_LOT);
    let columns = ((lots as f64).sqrt().ceil() as usize).max(1);
    let edge = columns as f32 * PITCH + STREET;
    let world = Aabb::new([0.0, 0.0, -1.0], [edge, edge, HEIGHT]);
    let moving = values.get_or("moving", 0.05);
    let fastest = values.get_or("speed", 0.5) as f32;
    let mut city = City { vehicles: Vec::new() };
    let mut frame = Frame { world, still: Some(vec![true; n]), ..Frame::default() };
    let mut lot = Lot::new(0, columns);
    for slot in 0..n {
        if slot % BOXES_PER_LOT == 0 {
            lot = Lot::new(slot / BOXES_PER_LOT, columns);
        }
        let aabb = if rng.unit_f64() < moving {
            frame.still.iter_mut().for_each(|still| still[slot] = false);
            city.add_vehicle(slot as u32, columns, edge, fastest, rng)
        } else {
            lot.add(rng)
        };
        frame.boxes.push(clipped(aabb, &world));
    }
    (frame, city)
}

impl Motion for City {
    fn advance(&mut self, frame: &mut Frame) {
        for vehicle in &mut self.vehicles {
            let aabb = &mut frame.boxes[vehicle.slot as usize];
            let (axis, length) = (vehicle.axis, vehicle.length);
            let limit = frame.world.max[axis] - length;
            let at = aabb.min[axis] + vehicle.velocity;
            if at < 0.0 || at > limit {
                vehicle.velocity = -vehicle.velocity;
            }
            aabb.min[axis] = at.clamp(0.0, limit);
            aabb.max[axis] = (aabb.min[axis] + length).min(frame.world.max[axis]);
        }
    }
}

impl City {
    fn add_vehicle(
        &mut self,
        slot: u32,
        columns: usize,
        edge: f32,
        fastest: f32,
        rng: &mut Rng,
    ) -> Aabb {
        let axis = rng.below(2);
        let (length, width, height) =
            (rng.between(3.5, 6.0), rng.between(1.6, 2.0), rng.between(1.4, 3.0));
        let lane = rng.below(columns + 1) as f32 * PITCH + rng.between(0.0, STREET - width);
        let at = rng.between(0.0, edge - length);
        let forward = if rng.below(2) == 0 { 1.0 } else { -1.0 };
        let velocity = forward * fastest * rng.between(0.2, 1.0);
        self.vehicles.push(Vehicle { slot, axis, length, velocity });
        let mut aabb = Aabb::new([0.0; 3], [0.0, 0.0, height]);
        (aabb.min[axis], aabb.max[axis]) = (at, at + length);
        (aabb.min[1 - axis], aabb.max[1 - axis]) = (lane, lane + width);
        aabb
    }
}

impl Lot {
    fn new(number: usize, columns: usize) -> Lot {
        let corner = [number % columns, number / columns].map(|at| at as f32 * PITCH + STREET);
        Lot { corner, piles: [0.0; 4] }
    }

    /// A still thing of the lot.
    fn add(&mut self, rng: &mut Rng) -> Aabb {
        match rng.below(20) {
            0 | 1 => self.tile(rng),
            2..=8 => self.building(rng),
            9..=16 => self.crate_on_pile(rng),
            _ => {
                let size = [rng.between(0.1, 0.6), rng.between(0.1, 0.6), rng.between(0.3, 4.0)];
                self.standing(size, rng)
            }
        }
    }

    /// A quarter of the lot's ground; every other one is a plain sheet.
    fn tile(&self, rng: &mut Rng) -> Aabb {
        let quarter = [rng.below(2), rng.below(2)].map(|at| at as f32 * (0.5 * LOT));
        let min = [self.corner[0] + quarter[0], self.corner[1] + quarter[1]];
        let depth = if rng.below(2) == 0 { 0.0 } else { -0.2 };
        Aabb::new([min[0], min[1], depth], [min[0] + 0.5 * LOT, min[1] + 0.5 * LOT, 0.0])
    }

    /// Four doublings from 3 m on, spread evenly over them.
    fn building(&self, rng: &mut Rng) -> Aabb {
        let height = 3.0 * power_of_two(4.0 * rng.unit_f64()) as f32;
        self.standing([rng.between(2.0, 6.0), rng.between(2.0, 6.0), height], rng)
    }

    /// A thing at a random place on the lot's ground.
    fn standing(&self, size: [f32; 3], rng: &mut Rng) -> Aabb {
        let x = self.corner[0] + rng.between(0.0, LOT - size[0]);
        let y = self.corner[1] + rng.between(0.0, LOT - size[1]);
        Aabb::new([x, y, 0.0], [x + size[0], y + size[1], size[2]])
    }

    /// A crate whose bottom is exactly the top of the one below.
    fn crate_on_pile(&mut self, rng: &mut Rng) -> Aabb {
        let pile = rng.below(4);
        let half = 0.5 * rng.between(0.5, 1.5);
        let x = self.corner[0] + 2.0 + 4.0 * pile as f32;
        let y = self.corner[1] + 2.0;
        let bottom = self.piles[pile];
        let top = bottom + 2.0 * half;
        self.piles[pile] = top;
        Aabb::new([x - half, y - half, bottom], [x + half, y + half, top])
    }
}
