//! Joins pieces that are as good together.
//!
//! Cuts go through a whole part, so that they divide what could have stayed. Two pieces whose
//! common hull is near enough to the solid become one, those first whose hull adds least. Near is
//! not enough: a hull may be near everywhere and add a skin to all of a piece. So what it adds must
//! be little, too: a ball of that volume has at most three times the radius that is allowed as
//! distance, as in Wei's measure. If there are more pieces than allowed after that, the cheapest
//! are joined whatever the distance.

use super::Progress;
use crate::par::Workers;
use crate::shape::Outline;
use glam::DVec3;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A hull that is about to become a piece.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub hull: Outline,
    /// The solids it is of, ascending.
    pub solids: Vec<u32>,
    pub concavity: f64,
}

/// Two drafts and what their common hull adds, as a number that sorts like it.
type Offer = (Reverse<u64>, Reverse<[u32; 2]>);

pub(super) struct Merger<'a> {
    /// Slots of drafts; joined ones leave theirs and get a new one.
    drafts: Vec<Option<Draft>>,
    left: usize,
    offers: BinaryHeap<Offer>,
    /// The concavity of a hull over some solids, measured until it is more than the second number.
    measure: &'a Measure<'a>,
    workers: &'a Workers,
}

pub(super) type Measure<'a> = dyn Fn(&Outline, &[u32], f64) -> f64 + Sync + 'a;

impl<'a> Merger<'a> {
    pub(super) fn new(
        drafts: Vec<Draft>,
        measure: &'a Measure<'a>,
        workers: &'a Workers,
    ) -> Merger<'a> {
        let left = drafts.len();
        let drafts = drafts.into_iter().map(Some).collect();
        Merger { drafts, left, offers: BinaryHeap::new(), measure, workers }
    }

    /// Joins drafts as long as the common hull is no further than `limit` from the solid. Returns
    /// false if it was stopped.
    pub(super) fn join_near(
        &mut self,
        limit: f64,
        go_on: &mut dyn FnMut(&Progress) -> bool,
    ) -> bool {
        self.offer(0, limit);
        while let Some((pair, joined)) = self.next(Some(limit)) {
            self.put(pair, joined);
            self.offer(self.drafts.len() - 1, limit);
            let progress = Progress { share: 0.9, pieces: self.left, concavity: self.worst() };
            if !go_on(&progress) {
                return false;
            }
        }
        true
    }

    /// Joins the cheapest until no more than `most` are left. Returns false if it was stopped.
    pub(super) fn join_down(
        &mut self,
        most: usize,
        go_on: &mut dyn FnMut(&Progress) -> bool,
    ) -> bool {
        if self.left <= most {
            return true;
        }
        self.offer(0, f64::INFINITY);
        while self.left > most {
            let Some((pair, joined)) = self.next(None) else { break };
            self.put(pair, joined);
            self.offer(self.drafts.len() - 1, f64::INFINITY);
            let progress = Progress { share: 0.95, pieces: self.left, concavity: self.worst() };
            if !go_on(&progress) {
                return false;
            }
        }
        true
    }

    /// What is left, without drafts that lie inside others.
    pub(super) fn finish(self, slack: f64) -> Vec<Draft> {
        let mut left: Vec<Draft> = self.drafts.into_iter().flatten().collect();
        let mut index = 0;
        while index < left.len() {
            let inside = (0..left.len()).any(|other| {
                other != index
                    && apart(left[other].hull.bounds(), left[index].hull.bounds()) <= slack
                    && left[other].hull.holds(&left[index].hull, slack)
            });
            if inside {
                left.remove(index);
            } else {
                index += 1;
            }
        }
        left
    }

    fn worst(&self) -> f64 {
        self.drafts.iter().flatten().map(|draft| draft.concavity).fold(0.0, f64::max)
    }

    /// Offers to join the drafts from a slot on with those before them that are near.
    fn offer(&mut self, first: usize, reach: f64) {
        let mut offers: Vec<Offer> = Vec::new();
        let bounds: Vec<_> =
            self.drafts.iter().map(|draft| Some(draft.as_ref()?.hull.bounds())).collect();
        for slot in first..bounds.len() {
            let Some(own) = bounds[slot] else { continue };
            let near = |other: Option<_>| other.is_some_and(|other| apart(own, other) <= reach);
            let before = (0..slot).filter(|&before| near(bounds[before]));
            offers.extend(before.map(|before| (Reverse(0), Reverse([before as u32, slot as u32]))));
        }
        self.workers.for_each(&mut offers, |_, (added, Reverse(pair))| {
            *added = Reverse(sortable(self.added(*pair)));
        });
        self.offers.extend(offers);
    }

    /// What the common hull of two drafts adds.
    fn added(&self, pair: [u32; 2]) -> f64 {
        let Some([other, own]) = self.both(pair) else { return f64::INFINITY };
        let whole = own.hull.joined(&other.hull);
        let added = whole.volume - own.hull.volume - other.hull.volume;
        // Flat ones have no volume; then area decides.
        let (low, high) = own.hull.bounds();
        added + 1e-9 * whole.area * (high - low).max_element()
    }

    /// Two drafts, if both are there.
    fn both(&self, pair: [u32; 2]) -> Option<[&Draft; 2]> {
        let [one, other] = pair.map(|slot| self.drafts[slot as usize].as_ref());
        Some([one?, other?])
    }

    /// The cheapest two that can be joined, and both as one. Every thread tries an offer; what was
    /// tried after the one that is taken comes back, as cheaper ones may come up before it.
    fn next(&mut self, limit: Option<f64>) -> Option<([u32; 2], Draft)> {
        // Without a limit the first one is taken.
        let count = if limit.is_some() { self.workers.count() } else { 1 };
        loop {
            let mut tries: Vec<(Offer, Option<Draft>)> = Vec::with_capacity(count);
            while tries.len() < count {
                let Some(offer) = self.offers.pop() else { break };
                if self.both(offer.1.0).is_some() {
                    tries.push((offer, None));
                }
            }
            if tries.is_empty() {
                return None;
            }
            self.workers.for_each(&mut tries, |_, ((_, Reverse(pair)), joined)| {
                *joined = self.joined(*pair, limit);
            });
            let mut tries = tries.into_iter();
            let found = tries.find_map(|((_, Reverse(pair)), joined)| Some((pair, joined?)));
            self.offers.extend(tries.map(|(offer, _)| offer));
            if found.is_some() {
                return found;
            }
        }
    }

    /// Both drafts as one; none if one is gone, or the hull is further than a limit from the solid.
    fn joined(&self, pair: [u32; 2], limit: Option<f64>) -> Option<Draft> {
        let [one, other] = self.both(pair)?;
        let hull = one.hull.joined(&other.hull);
        let mut solids = [&one.solids[..], &other.solids].concat();
        solids.sort_unstable();
        solids.dedup();
        let added = hull.volume - one.hull.volume - other.hull.volume;
        if limit.is_some_and(|limit| added > ball(limit / SKIN)) {
            return None;
        }
        let concavity = (self.measure)(&hull, &solids, limit.unwrap_or(f64::INFINITY));
        limit.is_none_or(|limit| concavity <= limit && solids.len() == 1).then_some(Draft {
            hull,
            solids,
            concavity,
        })
    }

    fn put(&mut self, pair: [u32; 2], joined: Draft) {
        pair.into_iter().for_each(|slot| self.drafts[slot as usize] = None);
        self.drafts.push(Some(joined));
        self.left -= 1;
    }
}

/// How far a hull may be from the solid, as a share of the radius of a ball of the volume that it
/// may add.
const SKIN: f64 = 0.3;

/// The volume of a ball.
fn ball(radius: f64) -> f64 {
    4.0 / 3.0 * std::f64::consts::PI * radius * radius * radius
}

/// How far apart two boxes are, along the axis on which they are furthest.
fn apart(one: (DVec3, DVec3), other: (DVec3, DVec3)) -> f64 {
    (one.0 - other.1).max(other.0 - one.1).max_element()
}

/// Bits that sort as numbers do.
fn sortable(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}
