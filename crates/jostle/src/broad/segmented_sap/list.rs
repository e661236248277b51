//! [`SegmentedList`]: the sorted endpoints on one axis, in chunks.
//!
//! A chunk is a short sorted run in a slab; the directory holds the first endpoint of each chunk
//! in order, and is bisected. A chunk that is full is split and sparse neighbours are merged, so
//! an endpoint comes or goes by shifting at most one chunk. Where checkpoints are kept, each chunk
//! has the set of boxes that are open at its beginning: their lower end lies in an earlier chunk
//! and their upper end in this one or a later one. The set and the lower ends from there on name
//! every box that can overlap an interval, without a look at the rest of the list.
//!
//! Endpoints that change places never turn a box inside out: the local sort moves the end that
//! gives way first, and the global sort meets the lower end before the upper one. So a box leaves
//! a checkpoint set only if it is in it.

use crate::aabb::Aabb;
use crate::broad::endpoint::Endpoint;
use crate::broad::past::{EventSink, Judge, Stop};
use crate::broad::sap::lists::sift_left;
use crate::broad::sap::passing::Passing;
use crate::simd::prefetch::prefetch_later;
use crate::simd::probe::Probe;
use crate::simd::window::WINDOW;

/// Where a chunk lies in the slab, and how many endpoints it has: at least one.
#[derive(Clone, Copy, Debug)]
struct Chunk {
    storage: u32,
    len: u32,
}

/// A sorted list of endpoints in chunks. See the [module](self).
#[derive(Debug, Default)]
pub struct SegmentedList {
    /// Most endpoints in a chunk: a power of two.
    capacity: usize,
    /// The chunks' endpoints, `capacity` for each.
    slab: Vec<Endpoint>,
    /// Storages that hold no chunk.
    free: Vec<u32>,
    /// The directory: the first endpoint of each chunk, and the chunk.
    firsts: Vec<Endpoint>,
    chunks: Vec<Chunk>,
    /// Where the lower and upper end of a box were put when it last moved, by slot: place in the
    /// directory times capacity plus place in the chunk. A mere hint: others that move push an end
    /// some places aside, and a chunk that is split pushes all that follow.
    hints: Vec<[u32; 2]>,
    /// Boxes open at the beginning of a chunk, by storage; unused without checkpoints.
    open: Vec<Vec<u32>>,
    /// Entries in all checkpoint sets.
    open_total: usize,
    checkpoints: bool,
}

/// Stands for a hint that was never given.
const NO_HINT: u32 = u32::MAX;

/// The place of an endpoint: of its chunk in the directory, and within the chunk.
pub type Spot = (u32, u32);

/// An end of a box that moved: what it was and is, and where it was found.
#[derive(Clone, Copy, Debug)]
pub struct MovedEnd {
    from: Endpoint,
    to: Endpoint,
    spot: Spot,
}

impl MovedEnd {
    #[inline(always)]
    fn look_up(list: &SegmentedList, from: Endpoint, to: Endpoint) -> MovedEnd {
        MovedEnd { from, to, spot: list.guess(from) }
    }
}

/// The lower and upper ends of boxes that moved on an axis, looked up together and dealt by the way
/// they go.
///
/// A search waits for each of its steps, but many searches in a row wait at the same time; and the
/// place that was found is off by little when the turn of the end comes. Which way a box goes is
/// random, and a branch on it is missed every other time unless they are dealt beforehand.
#[derive(Debug, Default)]
pub struct Moves {
    right: Vec<[MovedEnd; 2]>,
    left: Vec<[MovedEnd; 2]>,
    grown: Vec<[MovedEnd; 2]>,
    shrunk: Vec<[MovedEnd; 2]>,
}

impl Moves {
    /// Looks up the ends of these boxes.
    #[inline(always)]
    pub fn look_up(
        &mut self,
        list: &SegmentedList,
        past: &[Aabb],
        now: &[Aabb],
        slots: &[u32],
        axis: usize,
    ) {
        let Moves { right, left, grown, shrunk } = self;
        for list in [&mut *right, left, grown, shrunk] {
            list.clear();
        }
        for &slot in slots {
            let (then, now) = (&past[slot as usize], &now[slot as usize]);
            let lower = MovedEnd::look_up(
                list,
                Endpoint::lower(then, axis, slot),
                Endpoint::lower(now, axis, slot),
            );
            let upper = MovedEnd::look_up(
                list,
                Endpoint::upper(then, axis, slot),
                Endpoint::upper(now, axis, slot),
            );
            if (lower.to >= lower.from) & (upper.to >= upper.from) {
                right.push([lower, upper]);
            } else if (lower.to <= lower.from) & (upper.to <= upper.from) {
                left.push([lower, upper]);
            } else if upper.to > upper.from {
                grown.push([lower, upper]);
            } else {
                shrunk.push([lower, upper]);
            }
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let Moves { right, left, grown, shrunk } = self;
        let ends = [right, left, grown, shrunk].map(Vec::capacity);
        ends.iter().sum::<usize>() * size_of::<[MovedEnd; 2]>()
    }
}

impl SegmentedList {
    /// Fills the list with sorted endpoints. `aabbs` are the bounds they come from.
    pub fn rebuild(
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
            // Another size of chunk: the slab is cut anew.
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
    pub fn chunks(&self) -> usize {
        self.chunks.len()
    }

    /// Entries in all checkpoint sets.
    pub fn open_total(&self) -> usize {
        self.open_total
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let sets: usize = self.open.iter().map(Vec::capacity).sum();
        (self.slab.capacity() + self.firsts.capacity()) * size_of::<Endpoint>()
            + self.chunks.capacity() * size_of::<Chunk>()
            + (self.free.capacity() + sets) * 4
            + self.hints.capacity() * size_of::<[u32; 2]>()
            + self.open.capacity() * size_of::<Vec<u32>>()
    }

    /// The endpoints of the chunk at a place of the directory.
    #[inline(always)]
    fn run(&self, place: usize) -> &[Endpoint] {
        let Chunk { storage, len } = self.chunks[place];
        &self.slab[storage as usize * self.capacity..][..len as usize]
    }

    #[inline(always)]
    fn run_mut(&mut self, place: usize) -> &mut [Endpoint] {
        let Chunk { storage, len } = self.chunks[place];
        &mut self.slab[storage as usize * self.capacity..][..len as usize]
    }

    /// Asks for the memory of the list.
    pub(crate) fn fetch(&self) {
        (0..self.chunks.len()).for_each(|place| prefetch_later(self.run(place)));
        prefetch_later(&self.hints);
    }

    /// The endpoints in order.
    pub fn iter(&self) -> impl Iterator<Item = Endpoint> + '_ {
        (0..self.chunks.len()).flat_map(|place| self.run(place).iter().copied())
    }

    /// Endpoints of a chunk on average, from a sample of about sixteen.
    pub fn mean_chunk(&self) -> f32 {
        let sample = self.chunks.iter().step_by(self.chunks.len() / 16 + 1);
        let (count, sum) = sample.fold((0, 0), |(count, sum), chunk| (count + 1, sum + chunk.len));
        sum as f32 / count.max(1) as f32
    }

    /// The endpoints that begin the chunks, in order: an even sample of the list.
    pub fn firsts(&self) -> &[Endpoint] {
        &self.firsts
    }

    /// The place of the chunk in which an endpoint is or would be put.
    #[inline(always)]
    fn chunk_of(&self, endpoint: Endpoint) -> usize {
        self.firsts.partition_point(|&first| first <= endpoint).saturating_sub(1)
    }

    /// Where an endpoint is or would be put.
    #[inline(always)]
    pub fn find(&self, endpoint: Endpoint) -> Spot {
        let place = self.chunk_of(endpoint);
        (place as u32, self.run(place).partition_point(|&other| other < endpoint) as u32)
    }

    /// Where an endpoint of the list is that was at a spot some exchanges ago: nearly always a few
    /// places off, which a count in a window tells without a branch that could be missed.
    #[inline(always)]
    fn find_near(&self, endpoint: Endpoint, (place, at): Spot) -> Spot {
        if let Some(&Chunk { storage, len }) = self.chunks.get(place as usize) {
            let run = &self.slab[storage as usize * self.capacity..][..len as usize];
            let last = run.len().saturating_sub(WINDOW);
            let start = (at as usize).saturating_sub(WINDOW / 2).min(last);
            if let Some(window) = run[start..].first_chunk::<WINDOW>() {
                let at = start + endpoint.count_before(window);
                if run.get(at) == Some(&endpoint) {
                    return (place, at as u32);
                }
            }
        }
        self.find(endpoint)
    }

    /// Where to look first for an endpoint of the list: where it was put when it last moved, or
    /// where it is, if it never moved.
    #[inline(always)]
    fn guess(&self, endpoint: Endpoint) -> Spot {
        let hints = self.hints.get(endpoint.slot() as usize).copied().unwrap_or([NO_HINT; 2]);
        let hint = hints[usize::from(endpoint.is_upper())];
        if hint == NO_HINT {
            return self.find(endpoint);
        }
        (hint >> self.capacity.trailing_zeros(), hint & (self.capacity as u32 - 1))
    }

    #[inline(always)]
    fn remember(&mut self, endpoint: Endpoint, (place, at): Spot) {
        if let Some(hints) = self.hints.get_mut(endpoint.slot() as usize) {
            hints[usize::from(endpoint.is_upper())] =
                (place << self.capacity.trailing_zeros()).wrapping_add(at);
        }
    }

    // ---- Checkpoints ------------------------------------------------------------------------

    /// Calls `meet` with every box that overlaps a box in `bounds`, of which these are the ends:
    /// among those open where the chunk of the lower end begins, and those that begin from there
    /// to the upper end. Returns the number of tests.
    ///
    /// Upper ends are tested like lower ones: a branch on the kind would be taken at random. Few
    /// boxes overlap, and what is met at its upper end is put aside then.
    #[inline]
    pub fn candidates(
        &self,
        [lower, upper]: [Endpoint; 2],
        bounds: &[Aabb],
        mut meet: impl FnMut(u32) -> Result<(), Stop>,
    ) -> Result<u64, Stop> {
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

    /// Makes the checkpoint set of the chunk at `place` from that of the chunk before it.
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
        // Sets breathe as boxes cross borders: room now, so that no later step allocates.
        set.reserve(set.len() + 16);
        self.open[self.chunks[place].storage as usize] = set;
    }

    /// Two neighbours change places across the beginning of the chunk at `border`.
    #[inline]
    fn cross(&mut self, border: usize, now_before: Endpoint, now_behind: Endpoint) {
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

    // ---- Boxes that come and go -------------------------------------------------------------

    /// Puts in both ends of a box. `aabbs` are the bounds the list is sorted by.
    pub fn insert(&mut self, lower: Endpoint, upper: Endpoint, aabbs: &[Aabb], axis: usize) {
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

    /// Takes out both ends of a box.
    pub fn remove(&mut self, lower: Endpoint, upper: Endpoint) {
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
        debug_assert!(run[at] == endpoint, "the list holds the end of the box");
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

    /// Joins a sparse chunk with a neighbour, if the two are half a chunk at most.
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

    // ---- Sorting ----------------------------------------------------------------------------

    /// Local sort of boxes whose ends were looked up together.
    #[inline(always)]
    pub fn relocate(
        &mut self,
        moves: &Moves,
        place: usize,
        judge: &Judge<'_>,
        sink: &mut EventSink<'_>,
    ) -> Result<(), Stop> {
        self.hints.resize(judge.now().len(), [NO_HINT; 2]);
        // The end that gives way goes first, so that a box is never inside out.
        for [lower, upper] in &moves.right {
            self.move_right(upper, place, judge, sink)?;
            self.move_right(lower, place, judge, sink)?;
        }
        for [lower, upper] in &moves.left {
            self.move_left(lower, place, judge, sink)?;
            self.move_left(upper, place, judge, sink)?;
        }
        for [lower, upper] in &moves.grown {
            self.move_right(upper, place, judge, sink)?;
            self.move_left(lower, place, judge, sink)?;
        }
        for [lower, upper] in &moves.shrunk {
            self.move_right(lower, place, judge, sink)?;
            self.move_left(upper, place, judge, sink)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn move_left(
        &mut self,
        end: &MovedEnd,
        place: usize,
        judge: &Judge<'_>,
        sink: &mut EventSink<'_>,
    ) -> Result<(), Stop> {
        let spot = self.find_near(end.from, end.spot);
        let spot = self.sift_left(spot, &mut Passing::leftward(end.to, place, judge, sink))?;
        self.remember(end.to, spot);
        Ok(())
    }

    #[inline(always)]
    fn move_right(
        &mut self,
        end: &MovedEnd,
        place: usize,
        judge: &Judge<'_>,
        sink: &mut EventSink<'_>,
    ) -> Result<(), Stop> {
        let spot = self.find_near(end.from, end.spot);
        let spot = self.sift_right(spot, &mut Passing::rightward(end.to, place, judge, sink))?;
        self.remember(end.to, spot);
        Ok(())
    }

    /// Global sort: takes over every bound of now, from the first chunk to the last.
    #[inline(always)]
    pub fn sort_global(
        &mut self,
        place: usize,
        judge: &Judge<'_>,
        sink: &mut EventSink<'_>,
    ) -> Result<(), Stop> {
        for chunk in 0..self.chunks.len() {
            let mut from = 0;
            loop {
                let last = chunk.checked_sub(1).and_then(|before| self.run(before).last());
                let border = last.copied().unwrap_or_default();
                let run = self.run_mut(chunk);
                let stopped = sort_run(run, from, border, place, judge, sink)?;
                self.firsts[chunk] = run[0];
                let Some(next) = stopped else { break };
                from = next;
                let mut passing = Passing::leftward(self.firsts[chunk], place, judge, sink);
                self.sift_left((chunk as u32, 0), &mut passing)?;
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn write(&mut self, (chunk, at): (usize, usize), endpoint: Endpoint) {
        self.run_mut(chunk)[at] = endpoint;
        if at == 0 {
            self.firsts[chunk] = endpoint;
        }
    }

    /// Moves the endpoint at a spot left past every larger one, across chunks.
    #[inline(always)]
    fn sift_left(
        &mut self,
        (chunk, at): Spot,
        passing: &mut Passing<'_, '_, '_>,
    ) -> Result<Spot, Stop> {
        let (mut chunk, mut at) = (chunk as usize, at as usize);
        let endpoint = passing.endpoint();
        loop {
            let run = self.run_mut(chunk);
            let stay = run[..at].iter().rposition(|&other| other < endpoint);
            let to = stay.map_or(0, |stay| stay + 1);
            passing.pass_right(&mut run[to..=at])?;
            run[to] = endpoint;
            if to > 0 {
                return Ok((chunk as u32, to as u32));
            }
            self.firsts[chunk] = endpoint;
            let Some(&last) = chunk.checked_sub(1).and_then(|before| self.run(before).last())
            else {
                return Ok((chunk as u32, to as u32));
            };
            if last < endpoint {
                return Ok((chunk as u32, to as u32));
            }
            // The last one of the chunk before changes places with it across the border.
            self.write((chunk, 0), last);
            self.cross(chunk, endpoint, last);
            passing.pass(&[last])?;
            chunk -= 1;
            at = self.chunks[chunk].len as usize - 1;
        }
    }

    /// Moves the endpoint at a spot right past every smaller one, across chunks.
    #[inline(always)]
    fn sift_right(
        &mut self,
        (chunk, at): Spot,
        passing: &mut Passing<'_, '_, '_>,
    ) -> Result<Spot, Stop> {
        let (mut chunk, mut at) = (chunk as usize, at as usize);
        let endpoint = passing.endpoint();
        loop {
            let run = self.run_mut(chunk);
            let behind = &run[at + 1..];
            let passed = behind.iter().position(|&other| other > endpoint).unwrap_or(behind.len());
            let to = at + passed;
            passing.pass_left(&mut run[at..=to])?;
            run[to] = endpoint;
            let (first, inside) = (run[0], to + 1 < run.len());
            if at == 0 {
                self.firsts[chunk] = first;
            }
            if inside || chunk + 1 == self.chunks.len() || self.firsts[chunk + 1] > endpoint {
                return Ok((chunk as u32, to as u32));
            }
            // The first one of the next chunk changes places with it across the border.
            let next = self.firsts[chunk + 1];
            self.write((chunk, to), next);
            self.cross(chunk + 1, next, endpoint);
            passing.pass(&[next])?;
            chunk += 1;
            at = 0;
        }
    }

    // ---- Checks -----------------------------------------------------------------------------

    /// Panics where the list is not these sorted endpoints, or a checkpoint set is wrong.
    pub fn validate(&self, expected: &[Endpoint]) {
        assert!(self.iter().eq(expected.iter().copied()), "the list is not the sorted ends");
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

/// Global sort of one chunk, from a place of it on. Stops where an end has come to the beginning
/// of the chunk and belongs before `border`, the last end of the chunk before; returns the place
/// to go on from.
#[inline(always)]
fn sort_run(
    run: &mut [Endpoint],
    from: usize,
    border: Endpoint,
    place: usize,
    judge: &Judge<'_>,
    sink: &mut EventSink<'_>,
) -> Result<Option<usize>, Stop> {
    let axis = judge.axis(place);
    for at in from..run.len() {
        let endpoint = run[at].renewed(judge.now(), axis);
        run[at] = endpoint;
        if at > 0 && run[at - 1] > endpoint {
            sift_left(run, at, endpoint, place, judge, sink)?;
        }
        if run[0] < border {
            return Ok(Some(at + 1));
        }
    }
    Ok(None)
}
