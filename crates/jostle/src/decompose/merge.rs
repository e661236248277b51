//! Joins pieces that are as good together.
//!
//! Cuts go through a whole part, so that they divide what could have stayed. Two pieces whose
//! common hull is near enough to the solid become one, those first whose hull adds least. Near is
//! not enough: a hull may be near everywhere and add a skin to all of a piece. So what it adds must
//! be little, too: a ball of that volume has at most three times the radius that is allowed as
//! distance, as in Wei's measure. If there are more pieces than allowed after that, the cheapest
//! are joined whatever the distance.

use super::Progress;
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
    measure: &'a dyn Fn(&Outline, &[u32], f64) -> f64,
}

impl<'a> Merger<'a> {
    pub(super) fn new(
        drafts: Vec<Draft>,
        measure: &'a dyn Fn(&Outline, &[u32], f64) -> f64,
    ) -> Merger<'a> {
        let left = drafts.len();
        let drafts = drafts.into_iter().map(Some).collect();
        Merger { drafts, left, offers: BinaryHeap::new(), measure }
    }

    /// Joins drafts as long as the common hull is no further than `limit` from the solid. Returns
    /// false if it was stopped.
    pub(super) fn join_near(
        &mut self,
        limit: f64,
        go_on: &mut dyn FnMut(&Progress) -> bool,
    ) -> bool {
        for slot in 0..self.drafts.len() {
            self.offer(slot, limit);
        }
        while let Some((_, Reverse([one, other]))) = self.offers.pop() {
            let Some(joined) = self.joined(one, other, Some(limit)) else { continue };
            self.put(one, other, joined);
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
        for slot in 0..self.drafts.len() {
            self.offer(slot, f64::INFINITY);
        }
        while self.left > most {
            let Some((_, Reverse([one, other]))) = self.offers.pop() else { break };
            let Some(joined) = self.joined(one, other, None) else { continue };
            self.put(one, other, joined);
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

    /// Offers to join a draft with those before it that are near.
    fn offer(&mut self, slot: usize, reach: f64) {
        let Some(own) = &self.drafts[slot] else { return };
        let bounds = own.hull.bounds();
        for (before, other) in self.drafts[..slot].iter().enumerate() {
            let Some(other) = other else { continue };
            if apart(bounds, other.hull.bounds()) > reach {
                continue;
            }
            let whole = own.hull.joined(&other.hull);
            let added = whole.volume - own.hull.volume - other.hull.volume;
            // Flat ones have no volume; then area decides.
            let added = added + 1e-9 * whole.area * (bounds.1 - bounds.0).max_element();
            self.offers.push((Reverse(sortable(added)), Reverse([before as u32, slot as u32])));
        }
    }

    /// Both drafts as one; none if one is gone, or the hull is further than a limit from the solid.
    fn joined(&self, one: u32, other: u32, limit: Option<f64>) -> Option<Draft> {
        let [one, other] = [one, other].map(|slot| self.drafts[slot as usize].as_ref());
        let (one, other) = (one?, other?);
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

    fn put(&mut self, one: u32, other: u32, joined: Draft) {
        self.drafts[one as usize] = None;
        self.drafts[other as usize] = None;
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
