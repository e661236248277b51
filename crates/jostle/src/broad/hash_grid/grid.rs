//! [`Grid`]: sheets, their table and the giants; boxes are inserted, removed and moved in O(1).

use crate::aabb::Aabb;
use crate::boxes::Boxes;
use crate::broad::hash_grid::giants::Giants;
use crate::broad::hash_grid::lattice::{Layout, Sheet};
use crate::broad::hash_grid::table::{GridEntry, NO_SHEET, NONE, Show, Table};
use crate::broad::hash_grid::tune::{self, Cells};
use crate::broad::shared::groups::Groups;
use crate::pair::LimitReached;

/// The sheets, the table of boxes and the giants.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    pub table: Table,
    pub layout: Layout,
    /// Level after level, the groups of a level side by side.
    pub sheets: Vec<Sheet>,
    /// Sheets with boxes, ascending.
    pub occupied: Vec<u32>,
    /// For each group the groups it may pair with, one bit each.
    partners: Vec<u32>,
    pub giants: Giants,
    /// The entry of each slot.
    place: Vec<u32>,
    /// Entries without a box.
    free: Vec<u32>,
    /// How often a box has changed its cell since the table was built.
    pub relinked: usize,
}

impl Default for Grid {
    fn default() -> Grid {
        Grid {
            table: Table::default(),
            layout: Layout { axes: [false; 3], finest: 0, coarsest: 0 },
            sheets: Vec::new(),
            occupied: Vec::new(),
            partners: Vec::new(),
            giants: Giants::default(),
            place: Vec::new(),
            free: Vec::new(),
            relinked: 0,
        }
    }
}

impl Grid {
    /// Reads all boxes.
    pub(super) fn rebuild(&mut self, boxes: &Boxes, groups: &Groups, cells: Cells) {
        let entry = |slot: u32| GridEntry::new(slot, boxes.aabbs()[slot as usize]);
        self.table.entries.clear();
        self.table.entries.reserve_exact(boxes.len());
        self.table.entries.extend(boxes.live_slots().map(|id| entry(id.get())));
        self.table.clear(boxes.len());
        self.layout = tune::layout(&mut self.table, cells);
        tune::sort_along_curve(&mut self.table.entries, &self.layout);
        self.make_sheets(groups);
        self.table.clear(boxes.len());
        self.free.clear();
        self.giants.places.clear();
        self.place.clear();
        self.place.reserve_exact(boxes.slots());
        self.place.resize(boxes.slots(), NONE);
        for place in (0..self.table.entries.len() as u32).rev() {
            let slot = self.table.entries[place as usize].slot;
            self.place[slot as usize] = place;
            self.put(place, groups.of(slot as usize));
        }
        self.relinked = 0;
    }

    fn make_sheets(&mut self, groups: &Groups) {
        let count = groups.count_of_groups();
        self.sheets.clear();
        for level in 0..self.layout.levels() {
            self.sheets.extend((0..count).map(|group| Sheet::new(&self.layout, level, group)));
        }
        self.partners.clear();
        self.partners.extend(groups.partners());
    }

    pub(super) fn bytes(&self) -> usize {
        self.table.bytes()
            + self.giants.bytes()
            + (self.place.capacity() + self.free.capacity()) * 4
            + self.sheets.capacity() * size_of::<Sheet>()
    }

    pub(super) fn insert(&mut self, slot: u32, aabb: Aabb, group: usize) {
        let place = self.free.pop().unwrap_or_else(|| {
            self.table.entries.push(GridEntry::new(NONE, aabb));
            self.table.entries.len() as u32 - 1
        });
        self.table.entries[place as usize] = GridEntry::new(slot, aabb);
        if self.place.len() <= slot as usize {
            self.place.resize(slot as usize + 1, NONE);
        }
        self.place[slot as usize] = place;
        self.put(place, group);
    }

    pub(super) fn remove(&mut self, slot: u32) {
        let place = std::mem::replace(&mut self.place[slot as usize], NONE);
        self.unlink(place);
        self.table.entries[place as usize] = GridEntry::new(NONE, Aabb::default());
        self.free.push(place);
    }

    /// Follows a move, or another group.
    #[inline]
    pub(super) fn shift(&mut self, slot: u32, aabb: Aabb, group: usize) {
        let place = self.place[slot as usize];
        let entry = &self.table.entries[place as usize];
        let number = self.sheet_of(&aabb, group);
        if number == entry.sheet {
            if number == NO_SHEET {
                self.table.entries[place as usize].aabb = aabb;
                return;
            }
            let sheet = &mut self.sheets[number as usize];
            if sheet.cell(&entry.aabb) == sheet.cell(&aabb) {
                sheet.cover(&aabb);
                self.table.entries[place as usize].aabb = aabb;
                return;
            }
        }
        self.unlink(place);
        self.table.entries[place as usize].aabb = aabb;
        self.put(place, group);
        self.relinked += 1;
    }

    #[inline]
    fn sheet_of(&self, aabb: &Aabb, group: usize) -> u32 {
        let number = |level: usize| (level * self.partners.len() + group) as u32;
        self.layout.level(aabb).map_or(NO_SHEET, number)
    }

    fn put(&mut self, place: u32, group: usize) {
        let aabb = self.table.entries[place as usize].aabb;
        let number = self.sheet_of(&aabb, group);
        if number == NO_SHEET {
            return self.giants.add(place, &mut self.table.entries);
        }
        let sheet = &mut self.sheets[number as usize];
        sheet.cover(&aabb);
        sheet.count += 1;
        self.table.link(place, number, sheet);
    }

    fn unlink(&mut self, place: u32) {
        let number = self.table.entries[place as usize].sheet;
        if number == NO_SHEET {
            return self.giants.remove(place, &mut self.table.entries);
        }
        let sheet = &mut self.sheets[number as usize];
        sheet.count -= 1;
        self.table.unlink(place, sheet);
    }

    /// Call after changes and before a search.
    pub(super) fn prepare(&mut self, groups: &Groups) {
        self.occupied.clear();
        let with_boxes = |number: &u32| self.sheets[*number as usize].count > 0;
        self.occupied.extend((0..self.sheets.len() as u32).filter(with_boxes));
        self.giants.prepare(&self.table, groups);
    }

    /// Shows every box that overlaps the one at a place and is not shown from the other's place:
    /// those later in its own sheet, all of later sheets, and giants.
    #[inline]
    pub(super) fn later_neighbours(
        &self,
        place: u32,
        groups: &Groups,
        tests: &mut u64,
        show: &mut impl Show,
    ) -> Result<(), LimitReached> {
        let entry = &self.table.entries[place as usize];
        if entry.sheet == NO_SHEET {
            return self.later_giants(place, groups, tests, show);
        }
        let own = &self.sheets[entry.sheet as usize];
        let partners = self.partners[own.group];
        if partners >> own.group & 1 == 1 {
            let cell = own.cell(&entry.aabb);
            let sheet = (entry.sheet, own);
            self.table.walk(entry.next, sheet, cell, &entry.aabb, tests, show)?;
            let range = own.range(&entry.aabb);
            self.table.visit_later(sheet, &entry.aabb, range, cell, tests, show)?;
        }
        for &number in self.occupied.iter().filter(|&&number| number > entry.sheet) {
            let sheet = &self.sheets[number as usize];
            if partners >> sheet.group & 1 == 1 {
                let range = sheet.range(&entry.aabb);
                let sheet = (number, sheet);
                self.table.visit(sheet, &entry.aabb, range, tests, show)?;
            }
        }
        if self.giants.places.is_empty() {
            return Ok(());
        }
        self.giants.visit(&self.table, &entry.aabb, partners, tests, show)
    }

    /// Shows every box that overlaps the one of a slot.
    pub(super) fn neighbours(
        &self,
        slot: u32,
        groups: &Groups,
        tests: &mut u64,
        show: &mut impl Show,
    ) -> Result<(), LimitReached> {
        let entry = &self.table.entries[self.place[slot as usize] as usize];
        let partners = self.partners[groups.of(slot as usize)];
        let mut show_other = |other: &GridEntry| match other.slot != slot {
            true => show(other),
            false => Ok(()),
        };
        if self.cost_below(&entry.aabb) >= self.table.entries.len() as f64 {
            return self.all_overlapping(&entry.aabb, tests, &mut show_other);
        }
        for &number in &self.occupied {
            let sheet = &self.sheets[number as usize];
            if partners >> sheet.group & 1 == 1 {
                let range = sheet.range(&entry.aabb);
                let sheet = (number, sheet);
                self.table.visit(sheet, &entry.aabb, range, tests, &mut show_other)?;
            }
        }
        self.giants.visit(&self.table, &entry.aabb, partners, tests, &mut show_other)
    }

    fn all_overlapping(
        &self,
        aabb: &Aabb,
        tests: &mut u64,
        show: &mut impl Show,
    ) -> Result<(), LimitReached> {
        *tests += self.table.entries.len() as u64;
        let there = self.table.entries.iter().filter(|entry| entry.slot != NONE);
        there.filter(|entry| entry.aabb.overlaps(aabb)).try_for_each(show)
    }

    /// What [`Grid::neighbours`] costs in addition to the usual: the number of blocks of cells in
    /// finer sheets that a box touches, or the number of all boxes if that is less. Only sheets
    /// that are [occupied](Grid::prepare) count.
    pub(super) fn cost_below(&self, aabb: &Aabb) -> f64 {
        let all = self.table.entries.len() as f64;
        let Some(level) = self.layout.level(aabb) else { return all };
        let finer = |number: &&u32| (**number as usize) < level * self.partners.len();
        let sheets = self.occupied.iter().take_while(finer);
        let blocks = |&number: &u32| Table::blocks_in(self.sheets[number as usize].range(aabb));
        sheets.map(blocks).sum::<f64>().min(all)
    }

    /// The box of a slot as the grid knows it.
    pub(super) fn aabb(&self, slot: u32) -> &Aabb {
        &self.table.entries[self.place[slot as usize] as usize].aabb
    }

    /// Giants among themselves, each pair from the box with the smaller id.
    fn later_giants(
        &self,
        place: u32,
        groups: &Groups,
        tests: &mut u64,
        show: &mut impl Show,
    ) -> Result<(), LimitReached> {
        let entry = &self.table.entries[place as usize];
        if entry.slot == NONE {
            return Ok(());
        }
        let partners = self.partners[groups.of(entry.slot as usize)];
        let mut show_later = |other: &GridEntry| match other.slot > entry.slot {
            true => show(other),
            false => Ok(()),
        };
        self.giants.visit(&self.table, &entry.aabb, partners, tests, &mut show_later)
    }

    /// Panics if the grid does not hold exactly these boxes.
    pub(super) fn validate(&self, boxes: &Boxes) {
        self.table.validate(&self.sheets);
        let live = boxes.live_slots().filter(|id| {
            let place = self.place[id.index()];
            let entry = &self.table.entries[place as usize];
            assert_eq!(entry.slot, id.get(), "slot {id} names another's entry");
            assert!(entry.aabb.same(&boxes.aabbs()[id.index()]), "box {id} is out of date");
            true
        });
        let live = live.count();
        let held: usize = self.sheets.iter().map(|sheet| sheet.count).sum();
        assert_eq!(held + self.giants.places.len(), live, "boxes held against boxes there");
        assert_eq!(live + self.free.len(), self.table.entries.len(), "entries lost");
    }
}
