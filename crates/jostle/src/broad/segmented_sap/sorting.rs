//! Sorting a [`SegmentedList`] after boxes moved: the local sort of the ends that moved, and the
//! global sort of all.
//!
//! [`Moves`] looks up the ends of many boxes at once; the list then moves them one by one, across
//! chunks where they go so far, and shows whatever they pass to `Passing`.

use crate::aabb::Aabb;
use crate::broad::endpoint::Endpoint;
use crate::broad::past::{EventSink, Judge, Stop};
use crate::broad::sap::lists::sift_left;
use crate::broad::sap::passing::Passing;
use crate::simd::window::WINDOW;

use super::list::{Chunk, SegmentedList, Spot};

/// Stands for a hint that was never given.
const NO_HINT: u32 = u32::MAX;

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
            self.relocate_end::<true>(upper, place, judge, sink)?;
            self.relocate_end::<true>(lower, place, judge, sink)?;
        }
        for [lower, upper] in &moves.left {
            self.relocate_end::<false>(lower, place, judge, sink)?;
            self.relocate_end::<false>(upper, place, judge, sink)?;
        }
        for [lower, upper] in &moves.grown {
            self.relocate_end::<true>(upper, place, judge, sink)?;
            self.relocate_end::<false>(lower, place, judge, sink)?;
        }
        for [lower, upper] in &moves.shrunk {
            self.relocate_end::<true>(lower, place, judge, sink)?;
            self.relocate_end::<false>(upper, place, judge, sink)?;
        }
        Ok(())
    }

    /// Moves one end to where it now belongs, right or left.
    #[inline(always)]
    fn relocate_end<const RIGHT: bool>(
        &mut self,
        end: &MovedEnd,
        place: usize,
        judge: &Judge<'_>,
        sink: &mut EventSink<'_>,
    ) -> Result<(), Stop> {
        let spot = self.find_near(end.from, end.spot);
        let spot = if RIGHT {
            self.sift_right(spot, &mut Passing::rightward(end.to, place, judge, sink))?
        } else {
            self.sift_left(spot, &mut Passing::leftward(end.to, place, judge, sink))?
        };
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

    // ---- Finding ends --------------------------------------------------------------------------

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
