//! Sorting a [`SegmentedList`] after boxes moved: the local sort of the endpoints that moved, and
//! the global sort of all of them.
//!
//! [`Moves`] looks up the endpoints of many boxes at once; the list then moves them one by one,
//! across chunks if they go that far, and shows whatever they pass to [`Passing`].

use crate::broad::persistent::{AxisSort, Endpoint, FollowError, FollowResult, Passing};
use crate::simd::window::WINDOW;

use super::list::{Chunk, SegmentedList, Spot};

/// Stands for a hint that was never given.
const NO_HINT: u32 = u32::MAX;

/// An endpoint of a box that moved: previous and current value, and where it was found.
#[derive(Clone, Copy, Debug)]
struct MovedEndpoint {
    from: Endpoint,
    to: Endpoint,
    spot: Spot,
}

/// The lower and upper endpoints of boxes that moved on an axis, looked up together and grouped by
/// direction.
///
/// A search waits for each of its steps, but many searches in a row wait at the same time; and the
/// place that was found is off by little when the turn of the endpoint comes. The direction of a
/// box is random, and a branch on it is mispredicted every other time unless the boxes are grouped
/// beforehand.
#[derive(Clone, Debug, Default)]
pub(super) struct Moves {
    right: Vec<[MovedEndpoint; 2]>,
    left: Vec<[MovedEndpoint; 2]>,
    grown: Vec<[MovedEndpoint; 2]>,
    shrunk: Vec<[MovedEndpoint; 2]>,
}

impl Moves {
    /// Looks up the endpoints of these boxes.
    #[inline(always)]
    pub(super) fn look_up(
        &mut self,
        list: &SegmentedList,
        slots: &[u32],
        sort: &AxisSort<'_, '_, '_>,
    ) {
        let Moves { right, left, grown, shrunk } = self;
        for list in [&mut *right, left, grown, shrunk] {
            list.clear();
        }
        let (axis, judge) = (sort.axis(), sort.judge);
        for &slot in slots {
            let (then, now) = (&judge.then()[slot as usize], &judge.now()[slot as usize]);
            let moved = |from: Endpoint, to| MovedEndpoint { from, to, spot: list.guess(from) };
            let (from, to) = (Endpoint::lower(then, axis, slot), Endpoint::lower(now, axis, slot));
            let lower = moved(from, to);
            let (from, to) = (Endpoint::upper(then, axis, slot), Endpoint::upper(now, axis, slot));
            let upper = moved(from, to);
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
    pub(super) fn bytes(&self) -> usize {
        let Moves { right, left, grown, shrunk } = self;
        let endpoints = [right, left, grown, shrunk].map(Vec::capacity);
        endpoints.iter().sum::<usize>() * size_of::<[MovedEndpoint; 2]>()
    }
}

impl SegmentedList {
    /// Local sort of boxes whose endpoints were looked up together.
    #[inline(always)]
    pub(super) fn relocate(
        &mut self,
        moves: &Moves,
        sort: &mut AxisSort<'_, '_, '_>,
    ) -> FollowResult {
        self.hints.resize(sort.judge.now().len(), [NO_HINT; 2]);
        // The endpoint that makes room goes first, so that a box is never inside out.
        for [lower, upper] in &moves.right {
            self.relocate_one::<true>(upper, sort)?;
            self.relocate_one::<true>(lower, sort)?;
        }
        for [lower, upper] in &moves.left {
            self.relocate_one::<false>(lower, sort)?;
            self.relocate_one::<false>(upper, sort)?;
        }
        for [lower, upper] in &moves.grown {
            self.relocate_one::<true>(upper, sort)?;
            self.relocate_one::<false>(lower, sort)?;
        }
        for [lower, upper] in &moves.shrunk {
            self.relocate_one::<true>(lower, sort)?;
            self.relocate_one::<false>(upper, sort)?;
        }
        Ok(())
    }

    /// Moves one endpoint to where it now belongs, right or left.
    #[inline(always)]
    fn relocate_one<const RIGHT: bool>(
        &mut self,
        moved: &MovedEndpoint,
        sort: &mut AxisSort<'_, '_, '_>,
    ) -> FollowResult {
        let spot = self.find_near(moved.from, moved.spot);
        let spot = if RIGHT {
            self.sift_right(spot, &mut sort.rightward(moved.to))?
        } else {
            self.sift_left(spot, &mut sort.leftward(moved.to))?
        };
        self.remember(moved.to, spot);
        Ok(())
    }

    /// Global sort: takes over all current bounds, from the first chunk to the last.
    #[inline(always)]
    pub(super) fn sort_global(&mut self, sort: &mut AxisSort<'_, '_, '_>) -> FollowResult {
        for chunk in 0..self.chunks.len() {
            let mut from = 0;
            loop {
                let last = chunk.checked_sub(1).and_then(|before| self.run(before).last());
                let border = last.copied().unwrap_or_default();
                let run = self.run_mut(chunk);
                let stopped = sort_run(run, from, border, sort)?;
                self.firsts[chunk] = run[0];
                let Some(next) = stopped else { break };
                from = next;
                let spot = (chunk as u32, 0);
                self.sift_left(spot, &mut sort.leftward(self.firsts[chunk]))?;
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
    ) -> Result<Spot, FollowError> {
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
            // The last endpoint of the chunk before swaps with it across the border.
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
    ) -> Result<Spot, FollowError> {
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
            // The first endpoint of the next chunk swaps with it across the border.
            let next = self.firsts[chunk + 1];
            self.write((chunk, to), next);
            self.cross(chunk + 1, next, endpoint);
            passing.pass(&[next])?;
            chunk += 1;
            at = 0;
        }
    }

    // ---- Finding endpoints ---------------------------------------------------------------------

    /// Where an endpoint of the list is that was at a spot some swaps ago: nearly always a few
    /// places off, which a count in a window tells without a branch to mispredict.
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
}

/// Global sort of one chunk, from a place of it on. Stops if an endpoint has come to the beginning
/// of the chunk and belongs before `border`, the last endpoint of the chunk before; returns the
/// place to continue from.
#[inline(always)]
fn sort_run(
    run: &mut [Endpoint],
    from: usize,
    border: Endpoint,
    sort: &mut AxisSort<'_, '_, '_>,
) -> Result<Option<usize>, FollowError> {
    for at in from..run.len() {
        sort.renew(run, at)?;
        if run[0] < border {
            return Ok(Some(at + 1));
        }
    }
    Ok(None)
}
