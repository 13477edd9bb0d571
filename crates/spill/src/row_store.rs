//! Rows in the order they came, beyond a share of memory in a temporary file. Main types: [`RowStore`], [`RowCursor`].
//! A store may grow while cursors read it.

use crate::batch::RowBatch;
use crate::row_codec::{Decoder, encode};
use crate::workspace::TemporaryFile;
use crate::{Held, Workspace};
use errors::SqlResult;
use std::rc::Rc;
use values::RowRef;

/// Blocks are closed when they reach this size, or a sixteenth of the share.
const BLOCK_BYTES_MAX: usize = 1 << 20;
const BLOCK_BYTES_MIN: usize = 1 << 12;

enum Block {
    Memory(Vec<u8>),
    File { offset: u64, length: usize },
}

/// Kept rows.
pub struct RowStore {
    width: usize,
    blocks: Vec<Block>,
    /// The block that is being filled.
    open: Vec<u8>,
    rows: u64,
    share_bytes: u64,
    block_bytes: usize,
    held: Held,
    file: Option<TemporaryFile>,
    /// Whether a block went to the file since the store was empty: all later ones do.
    is_on_disk: bool,
}

impl RowStore {
    /// A store that keeps up to that many bytes in memory. All rows have the width of the first.
    pub fn new(workspace: Rc<Workspace>, share_bytes: u64) -> RowStore {
        let share_bytes = workspace.share_of(share_bytes);
        let block_bytes = usize::try_from(share_bytes / 16).unwrap_or(BLOCK_BYTES_MAX);
        RowStore {
            width: 0,
            blocks: Vec::new(),
            open: Vec::new(),
            rows: 0,
            share_bytes,
            block_bytes: block_bytes.clamp(BLOCK_BYTES_MIN, BLOCK_BYTES_MAX),
            held: Held::new(workspace),
            file: None,
            is_on_disk: false,
        }
    }

    /// Number of rows.
    pub fn len(&self) -> u64 {
        self.rows
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of rows that are not charged: those of the block that is being filled.
    pub fn open_bytes(&self) -> u64 {
        self.open.capacity() as u64
    }

    /// Bytes of rows in memory that are charged.
    pub fn held_bytes(&self) -> u64 {
        self.held.bytes()
    }

    /// Forgets all rows; the file is used again.
    pub fn clear(&mut self) {
        self.blocks.clear();
        self.open.clear();
        self.rows = 0;
        self.held.shrink_to(0);
        self.is_on_disk = false;
        if let Some(file) = &mut self.file {
            file.rewind();
        }
    }

    /// Appends a row. Errors: 1114 when the disk is full.
    pub fn push(&mut self, row: RowRef<'_>) -> SqlResult<()> {
        if self.rows == 0 {
            self.width = row.len();
        }
        debug_assert_eq!(row.len(), self.width);
        encode(row, &mut self.open);
        self.rows += 1;
        if self.open.len() >= self.block_bytes { self.close_block() } else { Ok(()) }
    }

    fn close_block(&mut self) -> SqlResult<()> {
        let length = self.open.len();
        let bytes = length as u64;
        let fits = !self.is_on_disk
            && self.held.bytes() + bytes <= self.share_bytes
            && self.held.try_grow(self.open.capacity() as u64);
        if fits {
            let next = Vec::with_capacity(self.block_bytes + self.block_bytes / 8);
            self.blocks.push(Block::Memory(std::mem::replace(&mut self.open, next)));
            return Ok(());
        }
        self.is_on_disk = true;
        if self.file.is_none() {
            let workspace = self.held.workspace();
            workspace.count(|counts| counts.disk_tables += 1);
            self.file = Some(workspace.temporary_file()?);
        }
        if let Some(file) = &mut self.file {
            let offset = file.append(&self.open)?;
            self.blocks.push(Block::File { offset, length });
            self.open.clear();
        }
        Ok(())
    }
}

/// A place between the rows of a store.
#[derive(Default)]
pub struct RowCursor {
    block: usize,
    at: usize,
    row: u64,
    /// The block that was read from the file, and its bytes.
    loaded: Option<usize>,
    bytes: Vec<u8>,
}

impl RowCursor {
    /// Before the first row.
    pub fn new() -> RowCursor {
        RowCursor::default()
    }

    /// Rows before it.
    pub fn row(&self) -> u64 {
        self.row
    }

    /// The same place, to be read from independently.
    pub fn fork(&self) -> RowCursor {
        RowCursor { block: self.block, at: self.at, row: self.row, loaded: None, bytes: Vec::new() }
    }

    /// Moves behind the last row.
    pub fn move_to_end(&mut self, store: &RowStore) {
        *self = RowCursor {
            block: store.blocks.len(),
            at: store.open.len(),
            row: store.rows,
            ..RowCursor::default()
        };
    }

    /// Hands out the next rows, those before row number `end`. False when there are none: the batch is then empty.
    pub fn next(&mut self, store: &RowStore, end: u64, batch: &mut RowBatch) -> SqlResult<bool> {
        batch.reset(store.width);
        batch.fit_in(store.held.workspace().bytes_max());
        while !batch.is_full() && self.row < end.min(store.rows) {
            let bytes: &[u8] = match store.blocks.get(self.block) {
                None => &store.open,
                Some(Block::Memory(bytes)) => bytes,
                Some(Block::File { offset, length }) => {
                    if self.loaded != Some(self.block) {
                        self.bytes.resize(*length, 0);
                        let file = store.file.as_ref().ok_or_else(crate::workspace::corrupt)?;
                        file.read(&mut self.bytes, *offset)?;
                        self.loaded = Some(self.block);
                    }
                    &self.bytes
                }
            };
            if self.at >= bytes.len() && store.width > 0 {
                self.block += 1;
                self.at = 0;
                continue;
            }
            let mut decoder = Decoder::new(&bytes[self.at..]);
            decoder.row(store.width, batch.rows_mut())?;
            let read = bytes.len() - self.at - decoder.remaining();
            self.at += read;
            self.row += 1;
            batch.count_bytes(read);
        }
        Ok(!batch.is_empty())
    }
}
