//! Rows of a kept partition by their number, read forwards. Main type: [`Reader`].

use crate::charge::Charge;
use crate::kept::Kept;
use errors::SqlResult;
use spill::batch::BATCH_ROWS_MAX;
use spill::{RowBatch, RowCursor, RowStore, Workspace};
use std::rc::Rc;
use values::{RowRef, Value};

/// Values that a reader has in hand at once, about.
const CELLS_MAX: usize = 1 << 13;

/// A place in a partition, with the rows behind it in hand. Going backwards begins at the first row again.
pub(crate) struct Reader {
    cursor: RowCursor,
    batch: RowBatch,
    /// The number of the first row in hand.
    first: u64,
    charge: Charge,
}

impl Reader {
    /// Before the first row; rows have that many values.
    pub fn new(width: usize, workspace: &Rc<Workspace>) -> Reader {
        let mut batch = RowBatch::new();
        batch.want((CELLS_MAX / width.max(1)).clamp(1, BATCH_ROWS_MAX));
        Reader { cursor: RowCursor::new(), batch, first: 0, charge: Charge::new(workspace) }
    }

    /// Goes back before the first row.
    pub fn rewind(&mut self) {
        self.cursor = RowCursor::new();
        self.batch.reset(self.batch.width());
        self.first = 0;
    }

    /// The row of that number, which is one of the partition's.
    #[inline]
    pub fn row<'r>(&'r mut self, rows: &'r Kept, number: u64) -> SqlResult<RowRef<'r>> {
        debug_assert!(number < rows.len());
        match rows.store() {
            None => Ok(rows.cells(number)),
            Some(store) => self.read(store, number),
        }
    }

    fn read(&mut self, rows: &RowStore, number: u64) -> SqlResult<RowRef<'_>> {
        if number < self.first {
            self.rewind();
        }
        while number >= self.first + self.batch.len() as u64 {
            self.first = self.cursor.row();
            if !self.cursor.next(rows, rows.len(), &mut self.batch)? {
                return Err(spill::corrupt());
            }
            let cells = self.batch.len() * self.batch.width() * size_of::<Value>();
            self.charge.reach(cells + self.batch.bytes())?;
        }
        Ok(self.batch.row((number - self.first) as usize))
    }
}
