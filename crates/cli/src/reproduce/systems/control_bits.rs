//! [`ControlBits`]: Le Grand's uniform grid, in which bits tell where a pair has been tested
//! before (*Broad-Phase Collision Detection with CUDA*; section 5.1.1 of Loi's thesis).
//!
//! Cells are larger than every box, so a box touches at most eight, two in each direction. A cell
//! has one of eight types by the parity of its three numbers; no two cells of one type touch, so
//! all cells of a type can be worked on at once, in eight passes. The cell of a box's centre is its
//! *home*. Control bits hold the type of the home and the types of all cells that the box touches.
//! Two boxes meet in up to eight cells. They are tested only where one of them is at home, and not
//! in a cell of type t if the home of one has a lower type that both touch: there it was done.
//!
//! The thesis says that cells are larger than the largest box. That is not enough, and pairs are
//! lost: two boxes may overlap in a cell where neither is at home, or touch two different cells of
//! a home's type. Le Grand enters his spheres with √2 times their radius and has cells of one and a
//! half times the largest such sphere. For boxes it is enough to enter each with half the largest
//! box around it, so that each touches the other's home, and to have cells of twice the largest
//! box. [`ControlBits::new`] takes both, so that the loss can be measured.
//!
//! Cost: eight entries a box at most, a sort of them by cell, and all pairs in a cell. One large
//! box makes all cells large. Departures: boxes instead of spheres; a box has as many entries as
//! cells, where Le Grand fills up to eight with marks; cells are at least a millionth of the world,
//! so that their numbers fit.

use jostle::{Aabb, Boxes, BroadPhase, Error, PairBuffer, Report, Stats};

/// How boxes are entered and compared.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// The side of a cell by that of the largest box.
    pub cell: f64,
    /// What is added around a box, by half the largest box.
    pub margin: f64,
    /// Without bits a pair is tested in every cell, and counts in that of the greater lower
    /// corners.
    pub bits: bool,
}

impl Rules {
    /// Loses nothing; a little more than needed, for rounding.
    pub(crate) const EXACT: Rules = Rules { cell: 2.01, margin: 1.001, bits: true };
    /// As the thesis has it: cells larger than the largest box.
    pub(crate) const PRINTED: Rules = Rules { cell: 1.01, margin: 0.0, bits: true };
    /// The same cells without bits: every meeting is tested.
    pub(crate) const WITHOUT_BITS: Rules = Rules { cell: 1.01, margin: 0.0, bits: false };
}

/// A box in a cell.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The three numbers of the cell, 21 bits each.
    cell: u64,
    slot: u32,
    bits: u16,
}

impl Entry {
    fn home(self) -> u16 {
        self.bits >> 8
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub(crate) struct ControlBits {
    rules: Rules,
    entries: Vec<Entry>,
    tests: u64,
    /// Meetings in a cell that needed no test.
    skipped: u64,
}

impl ControlBits {
    pub(crate) fn new(rules: Rules) -> ControlBits {
        ControlBits { rules, entries: Vec::new(), tests: 0, skipped: 0 }
    }
}

/// Where cells begin and how large they are.
struct Grid {
    low: [f64; 3],
    cell: f64,
    margin: f64,
}

impl Grid {
    fn new<'a>(aabbs: impl Iterator<Item = &'a Aabb>, rules: &Rules) -> Grid {
        let (mut low, mut high, mut largest) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3], 0.0f64);
        for aabb in aabbs {
            for k in 0..3 {
                let [min, max] = ends(aabb, k);
                (low[k], high[k]) = (low[k].min(min), high[k].max(max));
                largest = largest.max(max - min);
            }
        }
        let world = (0..3).map(|k| high[k] - low[k]).fold(0.0, f64::max);
        let cell = (rules.cell * largest).max(world / f64::from(1 << 20));
        let margin = rules.margin * largest / 2.0;
        let low = low.map(|low| low - margin);
        Grid { low, cell: if cell > 0.0 { cell } else { 1.0 }, margin }
    }

    fn number(&self, axis: usize, place: f64) -> u64 {
        ((place - self.low[axis]) / self.cell) as u64
    }

    /// First and last cell of a box, and its home.
    fn span(&self, aabb: &Aabb) -> [[u64; 3]; 3] {
        let ends = [0, 1, 2].map(|k| ends(aabb, k));
        [
            [0, 1, 2].map(|k| self.number(k, ends[k][0] - self.margin)),
            [0, 1, 2].map(|k| self.number(k, ends[k][1] + self.margin)),
            [0, 1, 2].map(|k| self.number(k, (ends[k][0] + ends[k][1]) / 2.0)),
        ]
    }
}

/// The bounds of a box on an axis; those without end are as far as numbers go.
fn ends(aabb: &Aabb, axis: usize) -> [f64; 2] {
    [aabb.min[axis], aabb.max[axis]].map(|end| f64::from(end.clamp(f32::MIN, f32::MAX)))
}

fn type_of(cell: [u64; 3]) -> u16 {
    (0..3).map(|k| ((cell[k] & 1) << k) as u16).sum()
}

fn key_of(cell: [u64; 3]) -> u64 {
    cell[0] | cell[1] << 21 | cell[2] << 42
}

fn type_of_key(key: u64) -> u16 {
    type_of([key, key >> 21, key >> 42])
}

impl ControlBits {
    fn fill(&mut self, boxes: &Boxes) -> Grid {
        let live = || boxes.live_slots().map(|slot| (slot.get(), &boxes.aabbs()[slot.index()]));
        let grid = Grid::new(live().map(|(_, aabb)| aabb), &self.rules);
        self.entries.clear();
        for (slot, aabb) in live() {
            let [first, last, home] = grid.span(aabb);
            let begin = self.entries.len();
            let mut bits = type_of(home) << 8;
            for x in first[0]..=last[0] {
                for y in first[1]..=last[1] {
                    for z in first[2]..=last[2] {
                        bits |= 1 << type_of([x, y, z]);
                        self.entries.push(Entry { cell: key_of([x, y, z]), slot, bits: 0 });
                    }
                }
            }
            self.entries[begin..].iter_mut().for_each(|entry| entry.bits = bits);
        }
        self.entries.sort_unstable_by_key(|entry| (entry.cell, entry.slot));
        grid
    }

    fn search(&mut self, boxes: &Boxes, grid: &Grid, found: &mut PairBuffer) -> Result<(), Error> {
        let (aabbs, filters) = (boxes.aabbs(), boxes.filters());
        for cell in self.entries.chunk_by(|one, other| one.cell == other.cell) {
            let here = type_of_key(cell[0].cell);
            for (place, one) in cell.iter().enumerate() {
                for other in &cell[place + 1..] {
                    if self.rules.bits && is_elsewhere(*one, *other, here) {
                        self.skipped += 1;
                        continue;
                    }
                    self.tests += 1;
                    let (a, b) = (one.slot as usize, other.slot as usize);
                    if !aabbs[a].overlaps(&aabbs[b]) || !filters[a].allows(&filters[b]) {
                        continue;
                    }
                    let corner = || {
                        let low = |k: usize| ends(&aabbs[a], k)[0].max(ends(&aabbs[b], k)[0]);
                        key_of([0, 1, 2].map(|k| grid.number(k, low(k))))
                    };
                    if self.rules.bits || corner() == one.cell {
                        found.lane().push(one.slot, other.slot)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Returns true if the bits say that two boxes are tested in another cell than this one.
fn is_elsewhere(one: Entry, other: Entry, here: u16) -> bool {
    let both = one.bits & other.bits & 0xff;
    let before = |home: u16| home < here && both >> home & 1 == 1;
    let homes = [one.home(), other.home()];
    !homes.contains(&here) || homes.into_iter().any(before)
}

impl BroadPhase for ControlBits {
    fn name(&self) -> &str {
        "control bits"
    }

    fn update(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        (self.tests, self.skipped) = (0, 0);
        let grid = self.fill(boxes);
        self.search(boxes, &grid, found)?;
        Ok(Report::Full)
    }

    fn stats(&self) -> Stats {
        Stats {
            tests: self.tests,
            bytes: self.entries.capacity() * size_of::<Entry>(),
            counts: vec![("entries", self.entries.len() as f64), ("skipped", self.skipped as f64)],
            ..Stats::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use jostle::{Filter, overlaps};

    use super::*;

    fn pairs(aabbs: &[Aabb], rules: Rules) -> usize {
        let mut boxes = Boxes::new();
        boxes.insert_all(aabbs, Filter::ALL).unwrap();
        let mut found = PairBuffer::default();
        ControlBits::new(rules).update(&boxes, &mut found).unwrap();
        found.len()
    }

    #[test]
    fn cells_that_are_only_larger_than_boxes_lose_pairs() {
        let square = |x: f32, y: f32| Aabb::new([x, y, 0.0], [x + 1.0, y + 1.0, 1.0]);
        // The first sets the corner of the world. The others overlap in the second cell of the
        // first row, where neither has its centre.
        let aabbs = [square(0.0, 0.0), square(0.45, 0.005), square(1.2, 0.55)];
        assert_eq!(overlaps(&aabbs).unwrap().len(), 2);
        assert_eq!(pairs(&aabbs, Rules::PRINTED), 1);
        assert_eq!(pairs(&aabbs, Rules::WITHOUT_BITS), 2);
        assert_eq!(pairs(&aabbs, Rules::EXACT), 2);
    }
}
