//! [`ChunkedList`]: one axis of the segmented interval lists of Tracy, Buss and Woods, to try the
//! wishes of their paper on (sections 3.2.2, 4.1 and 4.2).
//!
//! Endpoints lie sorted in chunks of at most a fixed number; a directory of first keys finds the
//! chunk of a key. An insertion shifts what is behind it in its chunk and splits a full one; a
//! removal closes the gap, and merges the chunk with a neighbour if both fit into three quarters.
//! Checkpoint sets and pairs are left out: the wishes are about the shifts.
//!
//! - *Presorted events.* [`ChunkedList::apply_one_by_one`] takes events as they come, as the paper
//!   does; [`ChunkedList::apply_presorted`] sorts them first and merges those of a chunk in one
//!   pass over it, so that its elements are shifted once however many events it has.
//!   [`ChunkedList::apply_batch`] is the other end: one pass over everything.
//! - *Erasing across borders.* With [`Erase::Across`] a removal in a chunk with fewer elements than
//!   the one before it, near its front, pulls the last element of that one over instead of leaving
//!   its own chunk smaller, so that chunks stay evenly filled.
//!
//! What is counted are elements that were moved in memory, the paper's swaps.

/// What happens to the list: a key comes or goes. Keys are unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    Insert(u64),
    Remove(u64),
}

impl Event {
    fn key(self) -> u64 {
        match self {
            Event::Insert(key) | Event::Remove(key) => key,
        }
    }
}

/// From which chunk a removal takes an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Erase {
    /// Its own.
    Own,
    /// The one before, if that is fuller and the way is not longer.
    Across,
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub(crate) struct ChunkedList {
    chunks: Vec<Vec<u64>>,
    /// Most elements of a chunk.
    room: usize,
    erase: Erase,
    /// Elements that were moved.
    moved: u64,
    /// Splits and merges of chunks.
    rebuilt: u64,
}

impl ChunkedList {
    /// A list of sorted keys in chunks that are three quarters full.
    pub(crate) fn new(keys: &[u64], room: usize, erase: Erase) -> ChunkedList {
        let chunks = keys.chunks((3 * room / 4).max(1)).map(<[u64]>::to_vec).collect();
        ChunkedList { chunks, room, erase, moved: 0, rebuilt: 0 }
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = u64> + '_ {
        self.chunks.iter().flatten().copied()
    }

    pub(crate) fn moved(&self) -> u64 {
        self.moved
    }

    pub(crate) fn rebuilt(&self) -> u64 {
        self.rebuilt
    }

    /// Elements by room.
    pub(crate) fn fill(&self) -> f64 {
        let count: usize = self.chunks.iter().map(Vec::len).sum();
        count as f64 / (self.chunks.len() * self.room).max(1) as f64
    }

    /// The chunk to which a key belongs: the last that begins at or before it.
    fn chunk_of(&self, key: u64) -> usize {
        let after = self.chunks.partition_point(|chunk| chunk.first().is_some_and(|&k| k <= key));
        after.saturating_sub(1)
    }

    /// As the paper does.
    pub(crate) fn apply_one_by_one(&mut self, events: &[Event]) {
        for &event in events {
            match event {
                Event::Insert(key) => self.insert(key),
                Event::Remove(key) => self.remove(key),
            }
        }
    }

    fn insert(&mut self, key: u64) {
        if self.chunks.is_empty() {
            self.chunks.push(Vec::new());
        }
        let at = self.chunk_of(key);
        let chunk = &mut self.chunks[at];
        let place = chunk.partition_point(|&other| other < key);
        self.moved += (chunk.len() - place) as u64;
        chunk.insert(place, key);
        if chunk.len() > self.room {
            let upper = chunk.split_off(chunk.len() / 2);
            self.moved += upper.len() as u64;
            self.rebuilt += 1;
            self.chunks.insert(at + 1, upper);
        }
    }

    fn remove(&mut self, key: u64) {
        let at = self.chunk_of(key);
        let Some(chunk) = self.chunks.get(at) else { return };
        let Ok(place) = chunk.binary_search(&key) else { return };
        let behind = chunk.len() - place - 1;
        let pull = self.erase == Erase::Across
            && at > 0
            && self.chunks[at - 1].len() > chunk.len()
            && place <= behind;
        if pull {
            let over = self.chunks[at - 1].pop();
            let chunk = &mut self.chunks[at];
            chunk.copy_within(0..place, 1);
            if let Some(over) = over {
                chunk[0] = over;
            }
            self.moved += place as u64 + 1;
        } else {
            self.chunks[at].remove(place);
            self.moved += behind as u64;
        }
        let shrunk = if pull { at - 1 } else { at };
        self.merge(shrunk);
    }

    /// Merges a chunk with a neighbour if both together leave a quarter of a chunk free.
    fn merge(&mut self, at: usize) {
        let fits = |one: usize, other: usize| {
            other < self.chunks.len()
                && self.chunks[one].len() + self.chunks[other].len() <= 3 * self.room / 4
        };
        let first = match at {
            _ if fits(at, at + 1) => at,
            1.. if fits(at - 1, at) => at - 1,
            _ if self.chunks[at].is_empty() => {
                self.chunks.remove(at);
                return;
            }
            _ => return,
        };
        let next = self.chunks.remove(first + 1);
        self.moved += next.len() as u64;
        self.rebuilt += 1;
        self.chunks[first].extend(next);
    }

    /// The paper's wish: sorts events and merges those of each chunk in one pass over it.
    pub(crate) fn apply_presorted(&mut self, events: &mut [Event]) {
        events.sort_unstable_by_key(|event| event.key());
        let mut rest = &*events;
        let mut at = 0;
        while !rest.is_empty() {
            if self.chunks.is_empty() {
                self.chunks.push(Vec::new());
            }
            at = self.chunk_of(rest[0].key()).max(at.min(self.chunks.len() - 1));
            let end = self.chunks.get(at + 1).and_then(|next| next.first().copied());
            let count =
                end.map_or(rest.len(), |end| rest.partition_point(|event| event.key() < end));
            let (mine, others) = rest.split_at(count);
            rest = others;
            at = self.integrate(at, mine);
        }
    }

    /// Merges sorted events into a chunk. Returns the chunk to go on from.
    fn integrate(&mut self, at: usize, events: &[Event]) -> usize {
        let old = std::mem::take(&mut self.chunks[at]);
        // What lies before the first event stays where it is.
        let first = old.partition_point(|&key| key < events[0].key());
        let merged = merge(&old[first..], events);
        self.moved += merged.len() as u64;
        let mut chunk = old;
        chunk.truncate(first);
        chunk.extend(merged);
        if chunk.len() <= self.room {
            self.chunks[at] = chunk;
            if self.chunks[at].len() <= self.room / 4 {
                let before = self.chunks.len();
                self.merge(at);
                return if self.chunks.len() < before { at.saturating_sub(1) } else { at };
            }
            return at;
        }
        let parts = chunk.len().div_ceil(3 * self.room / 4);
        let size = chunk.len().div_ceil(parts);
        self.moved += (chunk.len() - size) as u64;
        self.rebuilt += 1;
        let parts: Vec<Vec<u64>> = chunk.chunks(size).map(<[u64]>::to_vec).collect();
        let last = at + parts.len() - 1;
        self.chunks.splice(at..=at, parts);
        last
    }

    /// One pass over everything.
    pub(crate) fn apply_batch(&mut self, events: &mut [Event]) {
        events.sort_unstable_by_key(|event| event.key());
        let old: Vec<u64> = self.keys().collect();
        let merged = merge(&old, events);
        self.moved += merged.len() as u64;
        let size = (3 * self.room / 4).max(1);
        self.chunks.clear();
        self.chunks.extend(merged.chunks(size).map(<[u64]>::to_vec));
    }
}

/// Sorted keys after sorted events.
fn merge(keys: &[u64], events: &[Event]) -> Vec<u64> {
    let mut merged = Vec::with_capacity(keys.len() + events.len());
    let mut rest = keys;
    for event in events {
        let before = rest.partition_point(|&key| key < event.key());
        merged.extend_from_slice(&rest[..before]);
        rest = &rest[before..];
        match *event {
            Event::Insert(key) => merged.push(key),
            Event::Remove(key) if rest.first() == Some(&key) => rest = &rest[1..],
            Event::Remove(_) => {}
        }
    }
    merged.extend_from_slice(rest);
    merged
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use jostle_scenes::Rng;

    use super::*;

    /// Events that come and go, without a key twice in a step.
    fn events(rng: &mut Rng, keys: &BTreeSet<u64>, count: usize) -> Vec<Event> {
        let all: Vec<u64> = keys.iter().copied().collect();
        let mut list: Vec<Event> = Vec::new();
        let mut used = BTreeSet::new();
        for _ in 0..count {
            let fresh = rng.next_u64() >> 20;
            if !keys.contains(&fresh) && used.insert(fresh) {
                list.push(Event::Insert(fresh));
            }
            if !all.is_empty() {
                let old = all[rng.below(all.len())];
                if used.insert(old) {
                    list.push(Event::Remove(old));
                }
            }
        }
        list
    }

    #[test]
    fn every_way_gives_the_same_list() {
        for (erase, room, count) in [
            (Erase::Own, 4, 3),
            (Erase::Across, 4, 3),
            (Erase::Across, 32, 200),
            (Erase::Own, 8, 60),
        ] {
            let mut rng = Rng::new(6);
            let mut keys: BTreeSet<u64> = (0..300).map(|_| rng.next_u64() >> 20).collect();
            let sorted: Vec<u64> = keys.iter().copied().collect();
            let mut lists = [0; 3].map(|_| ChunkedList::new(&sorted, room, erase));
            for step in 0..60 {
                // Grows first, then is emptied again.
                let mut list = events(&mut rng, &keys, count);
                if step > 40 {
                    list.retain(|event| matches!(event, Event::Remove(_)));
                }
                for event in &list {
                    match event {
                        Event::Insert(key) => keys.insert(*key),
                        Event::Remove(key) => keys.remove(key),
                    };
                }
                lists[0].apply_one_by_one(&list);
                lists[1].apply_presorted(&mut list);
                lists[2].apply_batch(&mut list);
                for (way, list) in lists.iter().enumerate() {
                    let context = format!("{erase:?} {room} way {way} step {step}");
                    assert!(list.keys().eq(keys.iter().copied()), "{context}");
                    let fits = |chunk: &Vec<u64>| (1..=room).contains(&chunk.len());
                    assert!(list.chunks.iter().all(fits), "{context}");
                }
            }
            assert!(lists.iter().all(|list| list.moved() > 0));
        }
    }
}
