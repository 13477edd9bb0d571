//! The rows of a partition: as cells in memory, of which any can be looked at at once, and beyond a share of it as a `RowStore`, which is
//! read in order. Main type: [`Kept`].

use errors::SqlResult;
use spill::{Held, RowStore, Workspace};
use std::rc::Rc;
use values::{RowRef, Rows};

/// Memory is counted in steps of this size.
const HELD_STEP_BYTES: u64 = 1 << 16;

pub(crate) struct Kept {
    width: usize,
    rows: Rows,
    held: Held,
    share_bytes: u64,
    store: RowStore,
    /// Whether the rows are in the store.
    is_stored: bool,
}

impl Kept {
    /// No rows; they have that many values, and so many bytes of them stay as cells.
    pub fn new(width: usize, workspace: &Rc<Workspace>, share_bytes: u64) -> Kept {
        let mut rows = Rows::default();
        rows.reset(width);
        Kept {
            width,
            rows,
            held: Held::new(workspace.clone()),
            share_bytes: workspace.share_of(share_bytes),
            store: RowStore::new(workspace.clone(), share_bytes),
            is_stored: false,
        }
    }

    pub fn len(&self) -> u64 {
        if self.is_stored { self.store.len() } else { self.rows.len() as u64 }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The store, if the rows are there.
    pub fn store(&self) -> Option<&RowStore> {
        self.is_stored.then_some(&self.store)
    }

    /// A row in memory.
    #[inline]
    pub fn cells(&self, number: u64) -> RowRef<'_> {
        self.rows.row(number as usize)
    }

    /// Appends a row. Error 1114 when the disk is full.
    pub fn push(&mut self, row: RowRef<'_>) -> SqlResult<()> {
        if self.is_stored {
            return self.store.push(row);
        }
        self.rows.push(row);
        // Memory grows by doubling.
        let bytes = self.rows.bytes() as u64 * 2;
        if bytes <= self.held.bytes() {
            return Ok(());
        }
        let more = (bytes - self.held.bytes()).max(HELD_STEP_BYTES.min(self.share_bytes / 4));
        if bytes <= self.share_bytes && self.held.try_grow(more) { Ok(()) } else { self.move_to_store() }
    }

    fn move_to_store(&mut self) -> SqlResult<()> {
        for number in 0..self.rows.len() {
            self.store.push(self.rows.row(number))?;
        }
        self.is_stored = true;
        self.rows = Rows::default();
        self.held.shrink_to(0);
        Ok(())
    }

    /// Forgets the rows. What memory they had stays for the next ones.
    pub fn clear(&mut self) {
        self.rows.reset(self.width);
        self.store.clear();
        self.is_stored = false;
    }
}
