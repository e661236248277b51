//! [`SegmentedList`]: the sorted endpoints on one axis, in chunks.
//!
//! A chunk is a short sorted run in a slab; the directory holds the first endpoint of each chunk
//! in order, and is bisected. A chunk that is full is split and sparse neighbours are merged, so
//! an endpoint is inserted or removed by shifting at most one chunk. On the axis with checkpoints,
//! each chunk has the set of boxes that are open at its beginning: their lower endpoint is in an
//! earlier chunk and their upper endpoint in this one or a later one. The set and the lower
//! endpoints from there on name every box that can overlap an interval, without looking at the rest
//! of the list.
//!
//! Swaps never turn a box inside out: the local sort first moves the endpoint that makes room, and
//! the global sort meets the lower endpoint before the upper one. So a box leaves a checkpoint set
//! only if it is in it.

use crate::aabb::Aabb;
use crate::broad::persistent::{Endpoint, FollowError, FollowResult};
use crate::simd::prefetch::prefetch_later;
use crate::simd::probe::Probe;

/// The place of a chunk in the slab, and how many endpoints it has: at least one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunk {
    pub storage: u32,
    pub len: u32,
}

/// A sorted list of endpoints in chunks. See the [module](self).
#[derive(Clone, Debug, Default)]
pub(crate) struct SegmentedList {
    /// Most endpoints in a chunk: a power of two.
    pub(super) capacity: usize,
    /// The chunks' endpoints, `capacity` for each.
    pub(super) slab: Vec<Endpoint>,
    /// Places in the slab that hold no chunk.
    free: Vec<u32>,
    /// The directory: the first endpoint of each chunk, and the chunk.
    pub(super) firsts: Vec<Endpoint>,
    pub(super) chunks: Vec<Chunk>,
    /// Where the lower and upper endpoint of a box were put when it last moved, by slot: place in
    /// the directory times capacity plus place in the chunk. Only a hint: others that move push an
    /// endpoint some places aside, and a chunk that is split pushes all that follow.
    pub(super) hints: Vec<[u32; 2]>,
    /// Boxes open at the beginning of a chunk, by storage; unused without checkpoints.
    open: Vec<Vec<u32>>,
    /// Boxes in all checkpoint sets together.
    open_total: usize,
    checkpoints: bool,
}

/// The place of an endpoint: of its chunk in the directory, and within the chunk.
pub(super) type Spot = (u32, u32);

impl SegmentedList {
    /// Fills the list with sorted endpoints. `aabbs` are the bounds they come from.
    pub(crate) fn rebuild(
        &mut self,
        sorted: &[Endpoint],
        aabbs: &[Aabb],
        axis: usize,
        capacity: usize,
        checkpoints: bool,
    ) {
        self.clear(capacity, checkpoints);
        // Room for a quarter more before the first split.
        let fill = (self.capacity * 3 / 4).max(2);
        self.slab.reserve(sorted.len().div_ceil(fill) * self.capacity);
        let mut before: Option<usize> = None;
        for run in sorted.chunks(fill) {
            let place = self.chunks.len();
            let storage = self.new_storage();
            let start = storage as usize * self.capacity;
            self.slab[start..start + run.len()].copy_from_slice(run);
            self.firsts.push(run[0]);
            self.chunks.push(Chunk { storage, len: run.len() as u32 });
            if let (true, Some(previous)) = (checkpoints, before) {
                self.open_from(previous, place, aabbs, axis);
            }
            before = Some(place);
        }
    }

    fn clear(&mut self, capacity: usize, checkpoints: bool) {
        let capacity = capacity.clamp(4, 1 << 20).next_power_of_two();
        if self.capacity != capacity {
            // Chunks of another size: the slab is cut differently.
            self.slab.clear();
        }
        self.capacity = capacity;
        self.checkpoints = checkpoints;
        self.firsts.clear();
        self.chunks.clear();
        self.open_total = 0;
        let storages = self.slab.len() / self.capacity;
        self.open.iter_mut().for_each(Vec::clear);
        if checkpoints && self.open.len() < storages {
            self.open.resize(storages, Vec::new());
        }
        self.free.clear();
        self.free.extend((0..storages as u32).rev());
    }

    fn new_storage(&mut self) -> u32 {
        if let Some(storage) = self.free.pop() {
            return storage;
        }
        let storage = self.slab.len() / self.capacity;
        self.slab.resize(self.slab.len() + self.capacity, Endpoint::default());
        if self.checkpoints && self.open.len() <= storage {
            self.open.push(Vec::new());
        }
        storage as u32
    }

    /// Number of chunks.
    pub(crate) fn chunks(&self) -> usize {
        self.chunks.len()
    }

    /// Boxes in all checkpoint sets together.
    pub(crate) fn open_total(&self) -> usize {
        self.open_total
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        let sets: usize = self.open.iter().map(Vec::capacity).sum();
        (self.slab.capacity() + self.firsts.capacity()) * size_of::<Endpoint>()
            + self.chunks.capacity() * size_of::<Chunk>()
            + (self.free.capacity() + sets) * 4
            + self.hints.capacity() * size_of::<[u32; 2]>()
            + self.open.capacity() * size_of::<Vec<u32>>()
    }

    /// The endpoints of the chunk at a place of the directory.
    #[inline(always)]
    pub(super) fn run(&self, place: usize) -> &[Endpoint] {
        let Chunk { storage, len } = self.chunks[place];
        &self.slab[storage as usize * self.capacity..][..len as usize]
    }

    #[inline(always)]
    pub(super) fn run_mut(&mut self, place: usize) -> &mut [Endpoint] {
        let Chunk { storage, len } = self.chunks[place];
        &mut self.slab[storage as usize * self.capacity..][..len as usize]
    }

    /// Prefetches the list.
    pub(crate) fn fetch(&self) {
        (0..self.chunks.len()).for_each(|place| prefetch_later(self.run(place)));
        prefetch_later(&self.hints);
    }

    /// The endpoints in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Endpoint> + '_ {
        (0..self.chunks.len()).flat_map(|place| self.run(place).iter().copied())
    }

    /// Endpoints of a chunk on average, from a sample of about sixteen.
    pub(crate) fn mean_chunk(&self) -> f32 {
        let sample = self.chunks.iter().step_by(self.chunks.len() / 16 + 1);
        let (count, sum) = sample.fold((0, 0), |(count, sum), chunk| (count + 1, sum + chunk.len));
        sum as f32 / count.max(1) as f32
    }

    /// The endpoints that begin the chunks, in order: an even sample of the list.
    pub(crate) fn firsts(&self) -> &[Endpoint] {
        &self.firsts
    }

    /// The place of the chunk in which an endpoint is or would be put.
    #[inline(always)]
    fn chunk_of(&self, endpoint: Endpoint) -> usize {
        self.firsts.partition_point(|&first| first <= endpoint).saturating_sub(1)
    }

    /// Where an endpoint is or would be put.
    #[inline(always)]
    pub(crate) fn find(&self, endpoint: Endpoint) -> Spot {
        let place = self.chunk_of(endpoint);
        (place as u32, self.run(place).partition_point(|&other| other < endpoint) as u32)
    }

    // ---- Checkpoints ------------------------------------------------------------------------

    /// Calls `meet` with every box that overlaps the box of these endpoints in `bounds`: among
    /// those open where the chunk of the lower endpoint begins, and those that begin from there to
    /// the upper endpoint. Returns the number of tests.
    ///
    /// Upper endpoints are tested like lower ones: a branch on the kind would be taken at random.
    /// Few boxes overlap, and those that are met at their upper endpoint are dropped then.
    #[inline]
    pub(crate) fn candidates(
        &self,
        [lower, upper]: [Endpoint; 2],
        bounds: &[Aabb],
        mut meet: impl FnMut(u32) -> FollowResult,
    ) -> Result<u64, FollowError> {
        debug_assert!(self.checkpoints, "only lists with checkpoints can be searched");
        if self.chunks.is_empty() {
            return Ok(0);
        }
        let probe = Probe::new(&bounds[lower.slot() as usize]);
        let start = self.chunk_of(lower);
        let open = &self.open[self.chunks[start].storage as usize];
        for &slot in open {
            if probe.overlaps(&bounds[slot as usize]) {
                meet(slot)?;
            }
        }
        let mut tests = open.len();
        for place in start..self.chunks.len() {
            let run = self.run(place);
            let run = &run[..run.partition_point(|&endpoint| endpoint < upper)];
            tests += run.len();
            for &endpoint in run {
                let slot = endpoint.slot();
                if probe.overlaps(&bounds[slot as usize]) && !endpoint.is_upper() {
                    meet(slot)?;
                }
            }
            if place + 1 < self.chunks.len() && self.firsts[place + 1] > upper {
                break;
            }
        }
        Ok(tests as u64)
    }

    /// Builds the checkpoint set of the chunk at `place` from that of the chunk before it.
    fn open_from(&mut self, previous: usize, place: usize, aabbs: &[Aabb], axis: usize) {
        let border = self.firsts[place];
        let still_open = |slot: u32| Endpoint::upper(&aabbs[slot as usize], axis, slot) >= border;
        let mut set = std::mem::take(&mut self.open[self.chunks[place].storage as usize]);
        debug_assert!(set.is_empty());
        let before = &self.open[self.chunks[previous].storage as usize];
        set.extend(before.iter().copied().filter(|&slot| still_open(slot)));
        let begun = self.run(previous).iter().filter(|endpoint| !endpoint.is_upper());
        set.extend(begun.map(|endpoint| endpoint.slot()).filter(|&slot| still_open(slot)));
        self.open_total += set.len();
        // Sets grow and shrink as boxes cross borders: room now, so that no later step allocates.
        set.reserve(set.len() + 16);
        self.open[self.chunks[place].storage as usize] = set;
    }

    /// Two neighbours swap across the beginning of the chunk at `border`.
    #[inline]
    pub(super) fn cross(&mut self, border: usize, now_before: Endpoint, now_behind: Endpoint) {
        if !self.checkpoints {
            return;
        }
        let set = &mut self.open[self.chunks[border].storage as usize];
        let place_of = |set: &[u32], slot: u32| {
            set.iter().position(|&other| other == slot).expect("the box is open at the border")
        };
        match (now_before.is_upper(), now_behind.is_upper()) {
            (false, false) => {
                let place = place_of(set, now_behind.slot());
                set[place] = now_before.slot();
            }
            (true, true) => {
                let place = place_of(set, now_before.slot());
                set[place] = now_behind.slot();
            }
            (false, true) => {
                set.extend([now_before.slot(), now_behind.slot()]);
                self.open_total += 2;
            }
            (true, false) => {
                for slot in [now_before.slot(), now_behind.slot()] {
                    set.swap_remove(place_of(set, slot));
                }
                self.open_total -= 2;
            }
        }
    }

    // ---- Insertion and removal --------------------------------------------------------------

    /// Inserts both endpoints of a box. `aabbs` are the bounds the list is sorted by.
    pub(crate) fn insert(&mut self, [lower, upper]: [Endpoint; 2], aabbs: &[Aabb], axis: usize) {
        if self.chunks.is_empty() {
            self.rebuild(&[lower, upper], aabbs, axis, self.capacity, self.checkpoints);
            return;
        }
        // All splits come first: they read the checkpoint sets, which must fit the endpoints.
        self.make_room(lower, aabbs, axis);
        self.make_room(upper, aabbs, axis);
        let first = self.put(lower);
        let last = self.put(upper);
        if self.checkpoints {
            for place in first + 1..=last {
                self.open[self.chunks[place].storage as usize].push(lower.slot());
            }
            self.open_total += last - first;
        }
    }

    /// Puts an endpoint into its chunk, which has room.
    fn put(&mut self, endpoint: Endpoint) -> usize {
        let (place, at) = self.find(endpoint);
        let (place, at) = (place as usize, at as usize);
        self.chunks[place].len += 1;
        let run = self.run_mut(place);
        run.copy_within(at..run.len() - 1, at + 1);
        run[at] = endpoint;
        if at == 0 {
            self.firsts[place] = endpoint;
        }
        place
    }

    /// Splits the chunk of an endpoint unless it has room for two.
    fn make_room(&mut self, endpoint: Endpoint, aabbs: &[Aabb], axis: usize) {
        let place = self.chunk_of(endpoint);
        if self.chunks[place].len as usize + 2 <= self.capacity {
            return;
        }
        let storage = self.new_storage();
        let Chunk { storage: old, len } = self.chunks[place];
        let half = len / 2;
        let from = old as usize * self.capacity;
        let to = storage as usize * self.capacity;
        self.slab.copy_within(from + half as usize..from + len as usize, to);
        self.chunks[place].len = half;
        self.chunks.insert(place + 1, Chunk { storage, len: len - half });
        self.firsts.insert(place + 1, self.slab[to]);
        if self.checkpoints {
            self.open_from(place, place + 1, aabbs, axis);
        }
    }

    /// Removes both endpoints of a box.
    pub(crate) fn remove(&mut self, [lower, upper]: [Endpoint; 2]) {
        if self.checkpoints {
            let (first, last) = (self.chunk_of(lower), self.chunk_of(upper));
            for place in first + 1..=last {
                let set = &mut self.open[self.chunks[place].storage as usize];
                let at = set.iter().position(|&slot| slot == lower.slot());
                set.swap_remove(at.expect("the box is open at the border"));
            }
            self.open_total -= last - first;
        }
        self.take(lower);
        self.take(upper);
    }

    fn take(&mut self, endpoint: Endpoint) {
        let (place, at) = self.find(endpoint);
        let (place, at) = (place as usize, at as usize);
        let run = self.run_mut(place);
        debug_assert!(run[at] == endpoint, "the list holds the endpoint of the box");
        run.copy_within(at + 1.., at);
        self.chunks[place].len -= 1;
        let len = self.chunks[place].len as usize;
        if len == 0 {
            self.drop_chunk(place);
            return;
        }
        if at == 0 {
            self.firsts[place] = self.run(place)[0];
        }
        if len * 4 < self.capacity {
            self.merge_around(place);
        }
    }

    fn drop_chunk(&mut self, place: usize) {
        let Chunk { storage, .. } = self.chunks.remove(place);
        self.firsts.remove(place);
        self.free.push(storage);
        if self.checkpoints {
            let set = &mut self.open[storage as usize];
            self.open_total -= set.len();
            set.clear();
        }
    }

    /// Joins a sparse chunk with a neighbour, if together they fill at most half a chunk.
    fn merge_around(&mut self, place: usize) {
        let joined = |left: usize| {
            left + 1 < self.chunks.len()
                && (self.chunks[left].len + self.chunks[left + 1].len) as usize * 2 <= self.capacity
        };
        let left = if joined(place) {
            place
        } else if place > 0 && joined(place - 1) {
            place - 1
        } else {
            return;
        };
        let (into, from) = (self.chunks[left], self.chunks[left + 1]);
        let source = from.storage as usize * self.capacity;
        let target = into.storage as usize * self.capacity + into.len as usize;
        self.slab.copy_within(source..source + from.len as usize, target);
        self.chunks[left].len += from.len;
        self.drop_chunk(left + 1);
    }

    // ---- Checks -----------------------------------------------------------------------------

    /// Panics if the list is not these sorted endpoints, or a checkpoint set is wrong.
    pub(crate) fn validate(&self, expected: &[Endpoint]) {
        assert!(self.iter().eq(expected.iter().copied()), "the list is not the sorted endpoints");
        let mut open: Vec<u32> = Vec::new();
        let mut total = 0;
        for place in 0..self.chunks.len() {
            let run = self.run(place);
            assert!(!run.is_empty() && run.len() <= self.capacity, "a chunk is empty or too long");
            assert!(run[0] == self.firsts[place], "the directory is stale");
            if self.checkpoints {
                let mut set = self.open[self.chunks[place].storage as usize].clone();
                total += set.len();
                set.sort_unstable();
                open.sort_unstable();
                assert!(set == open, "the checkpoint set of chunk {place} is wrong");
            }
            for endpoint in run {
                if endpoint.is_upper() {
                    open.retain(|&slot| slot != endpoint.slot());
                } else {
                    open.push(endpoint.slot());
                }
            }
        }
        assert!(total == self.open_total, "the checkpoint sets are miscounted");
    }
}
