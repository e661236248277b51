//! [`Cutter`]: the fine order within a chunk, by cuts at the median of the longest side.
//!
//! While a chunk is cut, a box is one word: its centre in steps of 2^-16 of the range's longest
//! side, 16 bits an axis, and its place in the chunk. Turned so that an axis comes first, words are
//! selected like numbers, and none are equal; a cut neither makes keys nor moves entries.

use super::CHUNK;

/// See the [module](self).
pub(super) struct Cutter<'a> {
    /// The centres of the chunk's boxes.
    pub centres: &'a [[f32; 3]],
}

/// The bounds of a range, in the steps of its words. A cut moves one of them; the others stay, and
/// may then be wider than they need to be.
#[derive(Clone, Copy)]
struct Extent {
    /// How many boxes there were when it was measured.
    boxes: usize,
    low: [u16; 3],
    high: [u16; 3],
}

impl Extent {
    fn of(&self, axis: usize) -> u16 {
        self.high[axis] - self.low[axis]
    }

    fn longest_axis(&self) -> usize {
        let longer =
            |one: usize, other: usize| if self.of(other) > self.of(one) { other } else { one };
        longer(longer(0, 1), 2)
    }
}

/// A range whose longest side has fewer steps than this is measured again, in smaller ones: centres
/// may be crowded in a corner of their bounds.
const FEW_STEPS: u16 = 1 << 6;

/// So is one with this part of the boxes that were measured: a node of 64 in a chunk.
const SMALL_PART: usize = 8;

impl Cutter<'_> {
    /// Cuts a range that begins at `begin` in the order of leaves until no cut separates two nodes.
    /// Cuts are where the nodes of the highest level within the range end. Of the words, only the
    /// places count.
    pub(super) fn cut(&self, words: &mut [u64], begin: usize) {
        if place_of_cut(begin, begin + words.len()).is_none() {
            return;
        }
        if let Some(extent) = self.measure(words) {
            self.cut_measured(words, begin, extent, 0);
        }
    }

    /// Puts the centres of boxes into their words. Returns nothing if all centres are one point.
    fn measure(&self, words: &mut [u64]) -> Option<Extent> {
        let place = |word: u64| usize::from(word as u16);
        let (mut low, mut high) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
        for &word in &*words {
            let centre = &self.centres[place(word)];
            for k in 0..3 {
                low[k] = low[k].min(centre[k]);
                high[k] = high[k].max(centre[k]);
            }
        }
        let [low, high] = [low, high].map(|bounds| bounds.map(f64::from));
        let longest = (0..3).map(|k| high[k] - low[k]).fold(0.0, f64::max);
        if longest <= 0.0 {
            return None;
        }
        let scale = f64::from(u16::MAX) / longest;
        let steps = |value: f64, k: usize| ((value - low[k]) * scale) as u16;
        for word in &mut *words {
            let centre = &self.centres[place(*word)];
            let steps = |k: usize| u64::from(steps(f64::from(centre[k]), k));
            *word = steps(0) << 48 | steps(1) << 32 | steps(2) << 16 | *word & 0xffff;
        }
        let high = std::array::from_fn(|k| steps(high[k], k));
        Some(Extent { boxes: words.len(), low: [0; 3], high })
    }

    /// As [`Cutter::cut`], for words that are measured and turned to an axis.
    fn cut_measured(&self, words: &mut [u64], begin: usize, extent: Extent, turned: usize) {
        let axis = extent.longest_axis();
        let cut = place_of_cut(begin, begin + words.len());
        let fine = extent.of(axis) >= FEW_STEPS && words.len() * SMALL_PART > extent.boxes;
        let (Some(cut), true) = (cut, fine) else {
            turn(words, turned, 0);
            return self.cut(words, begin);
        };
        turn(words, turned, axis);
        let at = cut - begin;
        let (_, &mut middle, _) = words.select_nth_unstable(at);
        let middle = (middle >> 48) as u16;
        let (mut lower, mut upper) = (extent, extent);
        (lower.high[axis], upper.low[axis]) = (middle, middle);
        let (low, high) = words.split_at_mut(at);
        self.cut_measured(low, begin, lower, axis);
        self.cut_measured(high, cut, upper, axis);
    }
}

/// Turns words from one axis first to another.
fn turn(words: &mut [u64], from: usize, to: usize) {
    let by = 16 * ((to + 4 - from) % 4) as u32;
    words.iter_mut().for_each(|word| *word = word.rotate_left(by));
}

/// The end of a node of the highest possible level strictly within a range, nearest its middle.
fn place_of_cut(begin: usize, end: usize) -> Option<usize> {
    let mut size = CHUNK;
    while size >= 8 {
        let middle = begin.midpoint(end);
        let below = middle / size * size;
        let near = if middle - below < size / 2 { below } else { below + size };
        for cut in [near, below, below + size] {
            if begin < cut && cut < end {
                return Some(cut);
            }
        }
        size /= 8;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The centres of a chunk whose boxes are spread evenly, crowded in a corner of their bounds,
    /// in a plane, on a line, in one point, or gone.
    fn chunk_of_centres(kind: usize) -> Vec<[f32; 3]> {
        let spread = |id: usize, by: u32| ((id as u32 + 1).wrapping_mul(by) >> 8) as f32 / 1e6;
        (0..CHUNK)
            .map(|id| {
                let by = [2_654_435_761, 2_246_822_519, 3_266_489_917];
                let [x, y, z] = by.map(|by| spread(id, by));
                match kind {
                    0 => [x, y, z],
                    1 if id % 100 > 0 => [x, y, z].map(|part| part * 1e-9),
                    1 => [x, y, z].map(|part| part * 1e30),
                    2 => [x, 7.0, z],
                    3 => [f32::MAX, id as f32, f32::MIN],
                    4 => [2.0; 3],
                    _ => [f32::NAN; 3],
                }
            })
            .collect()
    }

    /// The largest extent of the centres of some words.
    fn side(centres: &[[f32; 3]], words: &[u64]) -> f64 {
        let of =
            |k: usize| words.iter().map(move |&word| f64::from(centres[word as u16 as usize][k]));
        let extent = |k: usize| of(k).fold(f64::MIN, f64::max) - of(k).fold(f64::MAX, f64::min);
        (0..3).map(extent).fold(0.0, f64::max)
    }

    /// Every place is there once, and each half of a chunk is cut at the median: crowded or not,
    /// the longest sides of its blocks are a small part of those without cuts.
    #[test]
    fn cuts_keep_every_place_and_make_blocks_small() {
        for kind in 0..6 {
            let centres = chunk_of_centres(kind);
            let mut words: Vec<u64> = (0..CHUNK as u64).collect();
            let sum =
                |words: &[u64]| -> f64 { words.chunks(8).map(|words| side(&centres, words)).sum() };
            let before = sum(&words);
            Cutter { centres: &centres }.cut(&mut words, 0);
            let after = sum(&words);
            assert!(kind > 2 || after < 0.4 * before, "kind {kind}: {before} to {after}");
            if kind == 3 {
                assert_eq!(after, 64.0 * 7.0, "runs of a line");
            }
            let mut places: Vec<u16> = words.iter().map(|&word| word as u16).collect();
            places.sort_unstable();
            assert!(places.into_iter().eq(0..CHUNK as u16), "kind {kind}");
        }
    }

    /// Boxes crowded in a corner of their bounds, where the first cuts do not tell them apart, are
    /// cut by the later ones.
    #[test]
    fn crowds_within_a_chunk_are_measured_in_smaller_steps() {
        let centres = chunk_of_centres(1);
        let crowd = |words: &[u64]| words.iter().all(|&word| (word as u16) % 100 > 0);
        let mut words: Vec<u64> = (0..CHUNK as u64).collect();
        let mean = |words: &[u64]| {
            let crowds = || words.chunks(8).filter(|words| crowd(words));
            crowds().map(|words| side(&centres, words)).sum::<f64>() / crowds().count() as f64
        };
        let before = mean(&words);
        Cutter { centres: &centres }.cut(&mut words, 0);
        assert!(mean(&words) < 0.75 * before, "{} of {before}", mean(&words));
    }
}
