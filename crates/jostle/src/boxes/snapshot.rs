//! Snapshots of boxes, for `serde` and for recordings. Bounds are bit patterns: text formats lose
//! infinities otherwise.

use super::*;

/// Everything that a set of boxes holds.
#[derive(Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Snapshot {
    pub(crate) bits: Vec<[u32; 6]>,
    pub(crate) filters: Vec<Filter>,
    pub(crate) state: Vec<u8>,
    /// All zero if left out.
    #[cfg_attr(feature = "serde", serde(default))]
    pub(crate) generations: Vec<u32>,
    #[cfg_attr(feature = "serde", serde(default))]
    pub(crate) user_data: Vec<u64>,
    #[cfg_attr(feature = "serde", serde(default))]
    pub(crate) exclusions: Vec<Pair>,
    pub(crate) free: Vec<Slot>,
    pub(crate) inserted: Vec<Slot>,
    pub(crate) moved: Vec<Slot>,
    pub(crate) removed: Vec<Slot>,
}

#[cfg(feature = "serde")]
fn to_bits(aabb: &Aabb) -> [u32; 6] {
    std::array::from_fn(|k| if k < 3 { aabb.min[k] } else { aabb.max[k - 3] }.to_bits())
}

fn from_bits(bits: &[u32; 6]) -> Aabb {
    let bound = |k: usize| f32::from_bits(bits[k]);
    Aabb::new([bound(0), bound(1), bound(2)], [bound(3), bound(4), bound(5)])
}

#[cfg(feature = "serde")]
impl Boxes {
    /// Everything that the set holds.
    fn snapshot(&self) -> Snapshot {
        Snapshot {
            bits: self.aabbs.iter().map(to_bits).collect(),
            filters: self.filters.clone(),
            state: self.state.clone(),
            generations: self.generations.clone(),
            user_data: self.user_data.clone(),
            exclusions: self.exclusions.iter().collect(),
            free: self.free.clone(),
            inserted: self.changes.inserted.clone(),
            moved: self.changes.moved.clone(),
            removed: self.changes.removed.clone(),
        }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Boxes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.snapshot().serialize(serializer)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Boxes {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Boxes, D::Error> {
        use serde::de::Error;
        Boxes::from_snapshot(Snapshot::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl Boxes {
    /// The set that a snapshot holds; what does not fit together is told in words.
    pub(crate) fn from_snapshot(snapshot: Snapshot) -> Result<Boxes, String> {
        restore(snapshot)
    }
}

/// A snapshot is foreign data: everything that the set relies on is checked.
fn restore(snapshot: Snapshot) -> Result<Boxes, String> {
    let slots = snapshot.bits.len();
    if snapshot.filters.len() != slots || snapshot.state.len() != slots {
        return Err(format!("snapshot has {slots} boxes but other numbers of filters or states"));
    }
    let mut generations = snapshot.generations;
    if generations.is_empty() {
        generations.resize(slots, 0);
    }
    if generations.len() != slots || snapshot.user_data.len() > slots {
        return Err(format!("snapshot has {slots} boxes but other numbers of ids or user data"));
    }
    let mut boxes = Boxes::new();
    boxes.generations = generations;
    boxes.user_data = snapshot.user_data;
    boxes.aabbs = snapshot.bits.iter().map(from_bits).collect();
    let lists = [
        (FREE, &snapshot.free),
        (INSERTED, &snapshot.inserted),
        (MOVED, &snapshot.moved),
        (REMOVED, &snapshot.removed),
    ];
    for (state, list) in lists {
        let listed = snapshot.state.iter().filter(|&&other| other == state).count();
        if listed != list.len() {
            return Err(format!(
                "snapshot lists {} slots in state {state}, not {listed}",
                list.len()
            ));
        }
        let mut seen = vec![false; slots];
        for id in list {
            let right = snapshot.state.get(id.index()) == Some(&state);
            if !right || std::mem::replace(&mut seen[id.index()], true) {
                return Err(format!("snapshot lists box {id} wrongly or twice"));
            }
        }
    }
    for (slot, &state) in snapshot.state.iter().enumerate() {
        if (KEPT..=MOVED).contains(&state) {
            boxes.aabbs[slot].check().map_err(|fault| format!("box {slot}: {fault}"))?;
            boxes.live += 1;
            boxes.filtered += usize::from(snapshot.filters[slot] != Filter::ALL);
            boxes.still += usize::from(snapshot.filters[slot].still);
        } else if state == FREE || state == REMOVED {
            boxes.aabbs[slot] = NO_BOX;
        } else {
            return Err(format!("snapshot gives slot {slot} the unknown state {state}"));
        }
    }
    boxes.filters = snapshot.filters;
    boxes.state = snapshot.state;
    for pair in snapshot.exclusions {
        if !boxes.is_live(pair.a()) || !boxes.is_live(pair.b()) || boxes.exclusions.contains(pair) {
            return Err(format!("snapshot excludes pair {pair} twice or without boxes"));
        }
        boxes.exclusions.exclude(pair);
    }
    boxes.exclusions.commit();
    boxes.free = snapshot.free;
    boxes.changes =
        Changes { inserted: snapshot.inserted, moved: snapshot.moved, removed: snapshot.removed };
    Ok(boxes)
}
