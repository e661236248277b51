//! Boxes against another [`Grid`], in finer and coarser levels.

use std::ops::Range;

use crate::aabb::Aabb;
use crate::broad::hash_grid::grid::Grid;
use crate::broad::hash_grid::lattice::{Cell, Sheet};
use crate::broad::hash_grid::rows::{NONE, RowKey};
use crate::broad::hash_grid::search::{Lister, Reach, RowPart, Sink};
use crate::pair::LimitReached;

/// Number of rows in a range of cells.
fn rows_in(low: Cell, high: Cell) -> u64 {
    let across = |k: usize| (i64::from(high[k]) - i64::from(low[k]) + 1) as u64;
    across(1).saturating_mul(across(2))
}

fn rows_of(sheet: &Sheet) -> u64 {
    u64::from(sheet.rows[1] - sheet.rows[0])
}

impl Grid {
    /// How many rows are looked at for a box: never more than there are. Those of its own and
    /// coarser levels are few and do not count.
    pub(super) fn cost_of_query(&self, aabb: &Aabb) -> u64 {
        let level = self.layout.level(aabb).unwrap_or(usize::MAX);
        let sheets = self.occupied.iter().map(|&number| &self.sheets[number as usize]);
        let looked_at = |sheet: &Sheet| {
            let (low, high) = sheet.range(&self.layout, aabb);
            rows_in(low, high).min(rows_of(sheet))
        };
        sheets.take_while(|sheet| sheet.level < level).map(looked_at).sum()
    }

    /// Lists the runs of boxes that may overlap a box, in sheets of the groups in `partners`.
    pub(super) fn query<S: Sink>(
        &self,
        one: u32,
        aabb: &Aabb,
        partners: u32,
        lister: &mut Lister<'_, S>,
    ) -> Result<(), LimitReached> {
        for &number in &self.occupied {
            if partners >> self.sheets[number as usize].group & 1 == 1 {
                self.query_sheet(number, one, aabb, lister)?;
            }
        }
        self.list_giants(one, aabb, partners, 0, lister)
    }

    /// Lists the runs of boxes of a sheet that may overlap a box.
    pub(super) fn query_sheet<S: Sink>(
        &self,
        number: u32,
        one: u32,
        aabb: &Aabb,
        lister: &mut Lister<'_, S>,
    ) -> Result<(), LimitReached> {
        let sheet = &self.sheets[number as usize];
        let (low, high) = sheet.range(&self.layout, aabb);
        let mut list = |row: usize| {
            let row = self.row(row);
            let (begin, end) = (row.place(low[0]), row.place_after(high[0]));
            if begin < end { lister.list(one, begin, end) } else { Ok(()) }
        };
        // A large box reaches over more rows of small cells than there are.
        if rows_in(low, high) > rows_of(sheet) {
            for row in sheet.rows[0]..sheet.rows[1] {
                let RowKey { y, z, .. } = self.rows.keys[row as usize];
                if (low[1]..=high[1]).contains(&y) && (low[2]..=high[2]).contains(&z) {
                    list(row as usize)?;
                }
            }
            return Ok(());
        }
        for z in low[2]..=high[2] {
            for y in low[1]..=high[1] {
                let row = self.rows.find(RowKey { sheet: number, z, y });
                if row != NONE {
                    list(row as usize)?;
                }
            }
        }
        Ok(())
    }

    /// As [`Grid::query`], for all boxes in a stretch of places of another grid with the same
    /// cells. Those of a row share what is found out about the rows of its own and coarser levels.
    pub(super) fn query_all<S: Sink>(
        &self,
        source: &Grid,
        places: Range<usize>,
        reach: &mut Reach,
        lister: &mut Lister<'_, S>,
    ) -> Result<(), LimitReached> {
        for (row, part) in source.rows_of(places.clone()) {
            let own = &self.sheets[source.rows.keys[row].sheet as usize];
            let partners = self.partners[own.group];
            for &number in &self.occupied {
                let sheet = &self.sheets[number as usize];
                if partners >> sheet.group & 1 == 0 {
                    continue;
                }
                if sheet.level >= own.level {
                    let from = RowPart { grid: source, row, places: part.clone() };
                    self.search_sheet(number, from, false, reach, lister)?;
                    continue;
                }
                for place in part.clone() {
                    self.query_sheet(number, place as u32, &source.column.get(place), lister)?;
                }
            }
            if self.giants.len() > 0 {
                for place in part {
                    let aabb = source.column.get(place);
                    self.list_giants(place as u32, &aabb, partners, 0, lister)?;
                }
            }
        }
        for place in places.start.max(source.in_cells())..places.end {
            let group = source.giants.group_at(place).unwrap_or(0);
            self.query(place as u32, &source.column.get(place), self.partners[group], lister)?;
        }
        Ok(())
    }
}
