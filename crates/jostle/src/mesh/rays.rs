//! What do many rays hit? [`Mesh::cast_rays`].
//!
//! A single ray spends most of its time waiting: for the node that the last test named, and for the
//! processor to take back a wrong guess about which boxes are entered. So 64 rays are on their way
//! at the same time. In each round those at a node visit it, then those at a leaf test its
//! triangles, then what is left over is decided in f64, and nobody waits for anybody. Lists of rays
//! are filled without branches: a ray is written to every list, and only the list that it belongs
//! to grows.
//!
//! Eight neighbours often go the same way, as those of a camera do. They look at the tree as one
//! [`Beam`] first: what it may hit, taken apart as long as it fits, is put into one node of eight
//! boxes, at which the eight begin. If it hits nothing, they are done.
//!
//! The answers are those of [`Mesh::cast_ray`] to the last bit, because a triangle is decided by
//! the same function, and of several hits the first in time and number counts.
//!
//! Per ray on `spot.ply`, `bunny.ply` and `armadillo_rollers.ply`, one thread, programs that cast
//! 20 000 rays of `jostle_scenes::mesh_rays`, in turns: random rays take 0.56 to 0.6 of the time of
//! single ones, rays side by side 0.6 to 0.72. By `valgrind --tool=callgrind --branch-sim=yes` a
//! random ray takes 1 190 instructions and 1.6 wrong guesses, a single one 1 000 and 7.2.
//!
//! Tried and dropped: going on with the nearest box and leaving the others unsorted (more visits
//! and a branch: 1.1 times as long); taking stale boxes off a stack one by one (a quarter of all
//! instructions); waves of 32 rays (1.1 times as long: every loop ends with a wrong guess) and of
//! 128 (no faster); beams of 16 and 32 rays (1.05 times as long); beams that go to the leaves
//! themselves (they run through to the far side of the mesh, and gather too many); corners of a
//! leaf in f32, kept for the next ray (writing them costs more than it saves); compiling for
//! AVX-512 with its masks and 32 registers (1.05 times as long).

use super::data::{Child, Link, LinkedNode, Mesh};
use super::ray::{First, MeshRay, MeshRayHit, Shear};
use super::wave::Wave;
use crate::par::Workers;
use crate::simd::leaf8::Leaf8;
use crate::simd::node_maps::NodeMaps;
use crate::simd::node8::{Node8, WIDTH};
use crate::simd::prefetch::prefetch_begin;
use crate::simd::ray_columns::{Beam, RayTests, WAVE};
use crate::simd::{self, Kernel, Simd};

impl Mesh {
    /// The first triangle that each of many rays hits, in the order of the rays: what
    /// [`Mesh::cast_ray`] answers for each, to the last bit, in less time. Rays side by side should
    /// follow each other in the list.
    ///
    /// ```
    /// use jostle::Workers;
    /// use jostle::mesh::{Mesh, MeshRay};
    ///
    /// let corners = [[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]].map(Into::into).to_vec();
    /// let sheet = Mesh::new(corners, vec![[0, 1, 2]])?;
    /// let down = |x: f64| MeshRay {
    ///     origin: [x, 1.0, 5.0].into(),
    ///     direction: [0.0, 0.0, -1.0].into(),
    ///     limit: f64::INFINITY,
    /// };
    /// let hits = sheet.cast_rays(&[1.0, 2.0, 8.0].map(down), &Workers::one());
    /// let times: Vec<Option<f64>> = hits.iter().map(|hit| hit.map(|hit| hit.time)).collect();
    /// assert_eq!(times, [Some(5.0), Some(5.0), None]);
    /// # Ok::<(), jostle::Error>(())
    /// ```
    #[must_use]
    pub fn cast_rays(&self, rays: &[MeshRay], workers: &Workers) -> Vec<Option<MeshRayHit>> {
        let mut hits = vec![None; rays.len()];
        workers.for_each_chunk(&mut hits, RAYS_PER_TASK, |task, hits| {
            let rays = &rays[task * RAYS_PER_TASK..][..hits.len()];
            simd::run(CastMany { mesh: self, rays, hits });
        });
        hits
    }
}

/// Rays of one task.
const RAYS_PER_TASK: usize = 1 << 10;

/// So few rays are cast one by one: room for a wave takes longer to make.
const FEW: usize = 12;

/// Room of a stack, of which eight items lead nowhere. If there is no room for eight more, the ray
/// is cast by itself; unit tests come across that with fewer triangles.
const DEEP: usize = if cfg!(test) { 32 } else { 64 };

/// The last of the items that lead nowhere.
const LAST: usize = WIDTH - 1;

/// Most triangles that are to be decided after a round.
const MOST_FOUND: usize = WAVE * WIDTH;

/// The question.
pub(super) struct CastMany<'a> {
    pub mesh: &'a Mesh,
    pub rays: &'a [MeshRay],
    /// As many, all of them none.
    pub hits: &'a mut [Option<MeshRayHit>],
}

impl Kernel for CastMany<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let CastMany { mesh, rays, hits } = self;
        if rays.len() <= FEW {
            for (ray, hit) in rays.iter().zip(hits) {
                *hit = mesh.cast_ray(ray.origin, ray.direction, ray.limit);
            }
            return;
        }
        let mut search = Search {
            simd,
            mesh,
            rays: &[],
            wave: Wave::BLANK,
            best: [First::NONE; WAVE + 1],
            at: [Link::NONE; WAVE],
            keys: [[f32::NEG_INFINITY; DEEP]; WAVE],
            links: [[Link::NONE; DEEP]; WAVE],
            tops: [LAST as u32; WAVE],
            found: [(0, 0); MOST_FOUND],
            found_count: 0,
            full: 0,
        };
        for (rays, hits) in rays.chunks(WAVE).zip(hits.chunks_mut(WAVE)) {
            search.run(rays);
            search.tell(hits);
        }
    }
}

/// Some rays of a wave, by their places.
struct Slots {
    slots: [u8; WAVE],
    count: usize,
}

impl Slots {
    const EMPTY: Slots = Slots { slots: [0; WAVE], count: 0 };

    /// Appends a ray, or does not: without a branch, which half of the rays would take the wrong
    /// way.
    #[inline(always)]
    fn push_if(&mut self, slot: usize, really: bool) {
        self.slots[self.count % WAVE] = slot as u8;
        self.count += usize::from(really);
    }

    #[inline(always)]
    fn get(&self) -> &[u8] {
        &self.slots[..self.count.min(WAVE)]
    }
}

/// Where rays go in a round.
struct Round {
    nodes: Slots,
    leaves: Slots,
    /// To what they have put aside.
    back: Slots,
}

impl Round {
    const EMPTY: Round = Round { nodes: Slots::EMPTY, leaves: Slots::EMPTY, back: Slots::EMPTY };

    #[inline(always)]
    fn clear(&mut self) {
        (self.nodes.count, self.leaves.count, self.back.count) = (0, 0, 0);
    }

    #[inline(always)]
    fn is_empty(&self) -> bool {
        self.nodes.count + self.leaves.count + self.back.count == 0
    }
}

/// A wave of rays on its way.
struct Search<'a, S: Simd> {
    simd: S,
    mesh: &'a Mesh,
    rays: &'a [MeshRay],
    wave: Wave,
    /// The first hit of each ray so far, and a place for what is none.
    best: [First; WAVE + 1],
    /// Where each ray is.
    at: [Link; WAVE],
    /// What each has put aside, the nearest of a node last. The first eight lead nowhere.
    keys: [[f32; DEEP]; WAVE],
    links: [[Link; DEEP]; WAVE],
    /// Where the last of these is.
    tops: [u32; WAVE],
    /// Rays, and triangles that they may hit.
    found: [(u8, u32); MOST_FOUND],
    found_count: usize,
    /// A bit for each ray that had no room.
    full: u64,
}

impl<'a, S: Simd> Search<'a, S> {
    /// Casts rays, at most a wave of them.
    #[inline(always)]
    fn run(&mut self, rays: &'a [MeshRay]) {
        self.rays = rays;
        self.wave.set(self.simd, self.mesh, rays);
        self.best.fill(First::NONE);
        self.tops = [LAST as u32; WAVE];
        let tree = self.mesh.tree();
        // Two that change places: a list that was just written byte by byte is copied slowly.
        let (mut one, mut other) = (Round::EMPTY, Round::EMPTY);
        let (mut round, mut next) = (&mut one, &mut other);
        for group in 0..rays.len().div_ceil(WIDTH) {
            let lit;
            let node = match self.wave.rays.beam(self.simd, group) {
                None => &tree.nodes[0],
                Some(beam) => {
                    lit = lit_boxes(self.simd, &tree.nodes, &beam);
                    let Some(node) = &lit else { continue };
                    node
                }
            };
            for slot in group * WIDTH..(group * WIDTH + WIDTH).min(rays.len()) {
                self.visit(slot, node, next);
            }
        }
        while !next.is_empty() {
            std::mem::swap(&mut round, &mut next);
            next.clear();
            for &slot in round.back.get() {
                self.go_back(slot as usize % WAVE, next);
            }
            for &slot in round.nodes.get() {
                let slot = slot as usize % WAVE;
                self.visit(slot, &tree.nodes[self.at[slot].node()], next);
            }
            for &slot in round.leaves.get() {
                let slot = slot as usize % WAVE;
                let Some(place) = self.at[slot].leaf() else { continue };
                self.ask(slot, &tree.leaves[place]);
                next.back.push_if(slot, true);
            }
            self.decide();
        }
    }

    /// Puts the boxes of a node that a ray enters aside, and goes on with the nearest.
    #[inline(always)]
    fn visit(&mut self, slot: usize, node: &LinkedNode, next: &mut Round) {
        let ray = self.wave.rays.ray(slot);
        let limit = self.wave.limit(slot);
        let order = self.simd.entered(&node.boxes, &ray, limit).in_order(&node.links);
        let top = self.tops[slot] as usize % DEEP;
        if top >= DEEP - WIDTH {
            self.full |= 1 << slot;
            return;
        }
        self.keys[slot][top + 1..top + 1 + WIDTH].copy_from_slice(&order.keys);
        self.links[slot][top + 1..top + 1 + WIDTH].copy_from_slice(&order.links);
        let (any, top) = (order.count != 0, top + order.count);
        let link = self.links[slot][top % DEEP];
        let leaf = link.leaf().is_some();
        self.at[slot] = link;
        self.tops[slot] = (top - usize::from(any)) as u32;
        next.nodes.push_if(slot, any & !leaf);
        next.leaves.push_if(slot, any & leaf);
        next.back.push_if(slot, !any);
    }

    /// Goes on with the last box put aside that a ray enters before its first hit so far.
    #[inline(always)]
    fn go_back(&mut self, slot: usize, next: &mut Round) {
        let limit = self.wave.limit(slot);
        let mut top = (self.tops[slot] as usize % DEEP).max(LAST);
        // Eight are looked at together: most often the one that is wanted is among them.
        let near = loop {
            let keys = self.keys[slot][top - LAST..=top].try_into().expect("eight keys");
            let near = self.simd.within_limit(keys, limit);
            // The first eight lead nowhere, and are near enough for every ray.
            if near != 0 || top < LAST + WIDTH {
                break near | 1;
            }
            top -= WIDTH;
        };
        let top = (top - LAST + near.ilog2() as usize) % DEEP;
        let link = self.links[slot][top];
        let (leaf, some) = (link.leaf().is_some(), link != Link::NONE);
        self.at[slot] = link;
        self.tops[slot] = top.saturating_sub(1) as u32;
        next.nodes.push_if(slot, !leaf);
        next.leaves.push_if(slot, leaf & some);
    }

    /// Asks a leaf which of its triangles a ray may hit.
    #[inline(always)]
    fn ask(&mut self, slot: usize, leaf: &Leaf8) {
        let limit = self.wave.limit(slot);
        let mut lanes = self.simd.crossed_by(leaf, &self.wave.rays, slot, limit);
        // Most often none or one, which needs no branch.
        self.find(slot, leaf, lanes);
        lanes &= lanes.wrapping_sub(1);
        while lanes != 0 {
            self.find(slot, leaf, lanes);
            lanes &= lanes - 1;
        }
    }

    /// Notes the first of some triangles, if there are any.
    #[inline(always)]
    fn find(&mut self, slot: usize, leaf: &Leaf8, lanes: u32) {
        let triangle = leaf.triangle(lanes.trailing_zeros() as usize);
        prefetch_begin(self.mesh.triangles(), triangle as usize);
        self.found[self.found_count % MOST_FOUND] = (slot as u8, triangle);
        self.found_count += usize::from(lanes != 0);
    }

    /// Decides whether rays hit the triangles that were found.
    #[inline(always)]
    fn decide(&mut self) {
        for &(slot, triangle) in &self.found[..self.found_count.min(MOST_FOUND)] {
            let slot = slot as usize % WAVE;
            let ray = &self.rays[slot];
            let shear = Shear::new(&ray.origin, &ray.direction);
            let (time, weights, hit) = shear.hit_or_not(self.mesh.corner_places(triangle));
            let best = &self.best[slot];
            let sooner = (time < best.time) | (time == best.time) & (triangle < best.triangle);
            let better = hit & (time <= ray.limit) & sooner;
            self.best[if better { slot } else { WAVE }] = First { time, triangle, weights };
            self.wave.set_limit_if(slot, time, better);
        }
        self.found_count = 0;
    }

    #[inline(always)]
    fn tell(&mut self, hits: &mut [Option<MeshRayHit>]) {
        let mut found = Slots::EMPTY;
        for slot in 0..self.rays.len() {
            found.push_if(slot, self.best[slot].is_some());
        }
        for &slot in found.get() {
            let slot = slot as usize % WAVE;
            hits[slot] = Some(self.best[slot].hit(self.mesh, &self.rays[slot].direction));
        }
        while self.full != 0 {
            let slot = self.full.trailing_zeros() as usize;
            self.full &= self.full - 1;
            let MeshRay { origin, direction, limit } = self.rays[slot];
            hits[slot] = self.mesh.cast_ray(origin, direction, limit);
        }
    }
}

/// The boxes of a tree that a beam may enter, in one node: those of the first node with more than
/// one, and in place of a box those below it if all fit.
#[inline(always)]
fn lit_boxes<S: Simd>(simd: S, nodes: &[LinkedNode], beam: &Beam) -> Option<LinkedNode> {
    let mut node = &nodes[0];
    let mut lit = simd.lit(&node.boxes, beam);
    while lit.is_power_of_two() {
        let Child::Node(place) = node.links[lit.trailing_zeros() as usize % WIDTH].child() else {
            break;
        };
        node = &nodes[place as usize];
        lit = simd.lit(&node.boxes, beam);
    }
    let (mut all, mut count) = (LinkedNode::EMPTY, 0);
    append(&mut all, &mut count, node, lit);
    let mut at = 0;
    while at < count && count < WIDTH {
        if let Child::Node(place) = all.links[at].child() {
            let node = &nodes[place as usize];
            let lit = simd.lit(&node.boxes, beam);
            if count - 1 + lit.count_ones() as usize <= WIDTH {
                // The last one moves to its place, and is looked at next.
                count -= 1;
                let last = all.boxes.get(count);
                all.boxes.set(at, &last);
                all.links[at] = all.links[count];
                append(&mut all, &mut count, node, lit);
                continue;
            }
        }
        at += 1;
    }
    for lane in count..WIDTH {
        all.boxes.set(lane, &Node8::EMPTY.get(0));
    }
    (count > 0).then_some(all)
}

/// Appends lanes of a node to another.
#[inline(always)]
fn append(all: &mut LinkedNode, count: &mut usize, node: &LinkedNode, mut lanes: u32) {
    while lanes != 0 {
        let lane = lanes.trailing_zeros() as usize % WIDTH;
        lanes &= lanes - 1;
        all.boxes.set(*count, &node.boxes.get(lane));
        all.links[*count % WIDTH] = node.links[lane];
        *count += 1;
    }
}
