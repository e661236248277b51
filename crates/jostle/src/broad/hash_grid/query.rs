//! One box against a [`Grid`], in finer and coarser levels.

use crate::aabb::Aabb;
use crate::broad::hash_grid::grid::Grid;
use crate::broad::hash_grid::lattice::{Cell, Sheet};
use crate::broad::hash_grid::rows::{NONE, RowKey};
use crate::broad::hash_grid::search::{Lister, Sink};
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
    /// How many rows [`Grid::query`] looks at: never more than there are.
    pub(super) fn cost_of_query(&self, aabb: &Aabb) -> u64 {
        let looked_at = |&number: &u32| {
            let sheet = &self.sheets[number as usize];
            let (low, high) = sheet.range(&self.layout, aabb);
            rows_in(low, high).min(rows_of(sheet))
        };
        self.occupied.iter().map(looked_at).sum()
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
            let sheet = &self.sheets[number as usize];
            if partners >> sheet.group & 1 == 0 {
                continue;
            }
            let (low, high) = sheet.range(&self.layout, aabb);
            let mut list = |row: usize| match self.run(row, low[0], high[0]) {
                [begin, end] if begin < end => lister.list(one, begin, end),
                _ => Ok(()),
            };
            // A large box reaches over more rows of small cells than there are.
            if rows_in(low, high) > rows_of(sheet) {
                for row in sheet.rows[0]..sheet.rows[1] {
                    let RowKey { y, z, .. } = self.rows.keys[row as usize];
                    if (low[1]..=high[1]).contains(&y) && (low[2]..=high[2]).contains(&z) {
                        list(row as usize)?;
                    }
                }
                continue;
            }
            for z in low[2]..=high[2] {
                for y in low[1]..=high[1] {
                    let row = self.rows.find(RowKey { sheet: number, z, y });
                    if row != NONE {
                        list(row as usize)?;
                    }
                }
            }
        }
        self.list_giants(one, aabb, partners, 0, lister)
    }

    /// Where the boxes of a row in a range of cells begin and end.
    fn run(&self, row: usize, low: i32, high: i32) -> [u32; 2] {
        let cells = self.cells(row);
        let start = |at: usize| cells.get(at).map_or(self.starts[row + 1], |cell| cell.start);
        let begin = start(cells.partition_point(|cell| cell.x < low));
        let end = start(cells.partition_point(|cell| cell.x <= high));
        [begin, end]
    }
}
