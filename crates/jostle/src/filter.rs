//! [`Filter`]: which boxes may pair at all.

/// Says with which other boxes a box may pair. Two boxes pair only if each one's membership
/// meets the other's mask, they do not belong to the same owner, and not both are still.
///
/// ```
/// use jostle::Filter;
///
/// const PLAYERS: u32 = 1;
/// const SHOTS: u32 = 2;
/// let player = Filter::groups(PLAYERS, PLAYERS | SHOTS);
/// let shot = Filter::groups(SHOTS, PLAYERS).with_owner(7);
/// assert!(player.allows(&shot));
/// assert!(!shot.allows(&shot));
/// assert!(!player.with_owner(7).allows(&shot), "nobody is hit by a shot of their own");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[repr(C)]
pub struct Filter {
    /// The groups this box is in, one bit each.
    pub membership: u32,
    /// The groups this box pairs with, one bit each.
    pub mask: u32,
    /// The body this box is a part of; parts of one body never pair. [`Filter::NOBODY`] for none.
    pub owner: u32,
    /// A still box never pairs with another still box. It may be set all the same: the flag
    /// says what pairs, not what moves.
    pub still: bool,
}

impl Filter {
    /// The owner of boxes that are nobody's part.
    pub const NOBODY: u32 = 0;

    /// In every group, pairs with every group, nobody's part, moving.
    pub const ALL: Filter =
        Filter { membership: u32::MAX, mask: u32::MAX, owner: Filter::NOBODY, still: false };

    /// As [`Filter::ALL`], but still.
    pub const STILL: Filter = Filter { still: true, ..Filter::ALL };

    /// A filter by group bits.
    pub const fn groups(membership: u32, mask: u32) -> Filter {
        Filter { membership, mask, ..Filter::ALL }
    }

    /// This filter in other groups, one bit each.
    #[must_use]
    pub const fn with_membership(self, membership: u32) -> Filter {
        Filter { membership, ..self }
    }

    /// This filter for pairing with other groups, one bit each.
    #[must_use]
    pub const fn with_mask(self, mask: u32) -> Filter {
        Filter { mask, ..self }
    }

    /// This filter for a part of a body.
    #[must_use]
    pub const fn with_owner(self, owner: u32) -> Filter {
        Filter { owner, ..self }
    }

    /// This filter for a box that is still, or is not.
    #[must_use]
    pub const fn with_still(self, still: bool) -> Filter {
        Filter { still, ..self }
    }

    /// Returns true if boxes with these filters may pair.
    #[inline(always)]
    pub const fn allows(&self, other: &Filter) -> bool {
        ((self.membership & other.mask) != 0)
            & ((other.membership & self.mask) != 0)
            & ((self.owner != other.owner) | (self.owner == Filter::NOBODY))
            & !(self.still & other.still)
    }
}

impl Default for Filter {
    fn default() -> Filter {
        Filter::ALL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_alone_forbids_a_pair_both_ways_round() {
        let cases = [
            (Filter::ALL, Filter::ALL, true),
            (Filter::STILL, Filter::ALL, true),
            (Filter::STILL, Filter::STILL, false),
            (Filter::ALL.with_owner(3), Filter::ALL.with_owner(3), false),
            (Filter::ALL.with_owner(3), Filter::ALL.with_owner(4), true),
            (Filter::groups(1, 2), Filter::groups(2, 1), true),
            (Filter::groups(1, 2), Filter::groups(2, 2), false),
            (Filter::groups(1, 0), Filter::ALL, false),
            (Filter::groups(0, u32::MAX), Filter::ALL, false),
        ];
        for (one, other, expected) in cases {
            assert_eq!(one.allows(&other), expected, "{one:?} {other:?}");
            assert_eq!(other.allows(&one), expected, "{other:?} {one:?}");
        }
    }
}
