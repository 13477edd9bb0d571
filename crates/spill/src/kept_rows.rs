//! Rows that outlive their statement: what a server-side cursor hands out later. Main type: [`KeptRows`]. Few stay in
//! memory, the rest is in a temporary file that all of a server share, so that what a client does not fetch costs disk only,
//! and no client takes more than one file handle.
//! Written first, then read once, in order; one thread at a time.

use crate::row_codec::{Decoder, encode};
use crate::workspace::{corrupt, disk_error};
use engine::{Extent, SpillError, SpillFile};
use errors::{SqlError, SqlResult};
use std::collections::VecDeque;
use std::sync::Arc;
use values::{RowRef, Value};

/// Rows are written in blocks of at least this size. A client that fetches row by row has its block read anew for each.
const BLOCK_BYTES: usize = 16 << 10;
/// What is smaller when all rows are there stays in memory.
const MEMORY_BYTES_MAX: usize = 4 << 10;

/// Rows in the order they came, each handed out once.
pub struct KeptRows {
    file: Arc<SpillFile>,
    width: usize,
    /// Rows not handed out.
    rows: u64,
    /// The last block, which is not in the file.
    open: Vec<u8>,
    /// Blocks in the file from which rows are still to come.
    blocks: VecDeque<Extent>,
    /// The first of them, once it is read.
    block: Option<Arc<[u8]>>,
    /// The next row's place in the first block, or in the open one if there is no other.
    at: usize,
}

impl KeptRows {
    /// No rows yet; all will have that many values.
    pub fn new(file: &Arc<SpillFile>, width: usize) -> KeptRows {
        KeptRows {
            file: Arc::clone(file),
            width,
            rows: 0,
            open: Vec::new(),
            blocks: VecDeque::new(),
            block: None,
            at: 0,
        }
    }

    /// Whether all rows were handed out.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Appends a row. Errors: 1114 when the disk is full.
    pub fn push(&mut self, row: RowRef<'_>) -> SqlResult<()> {
        debug_assert_eq!(row.len(), self.width);
        encode(row, &mut self.open);
        self.rows += 1;
        if self.open.len() >= BLOCK_BYTES { self.write_block() } else { Ok(()) }
    }

    /// All rows are there: what will wait for the client leaves memory. Errors as of [`KeptRows::push`].
    pub fn finish(&mut self) -> SqlResult<()> {
        if self.open.len() > MEMORY_BYTES_MAX {
            self.write_block()?;
        }
        self.open.shrink_to_fit();
        Ok(())
    }

    fn write_block(&mut self) -> SqlResult<()> {
        self.blocks.push_back(self.file.write(&self.open).map_err(disk_error)?);
        self.open.clear();
        Ok(())
    }

    /// The next row; None behind the last. After an error it may be asked for again.
    pub fn take_next(&mut self) -> SqlResult<Option<Vec<Value>>> {
        if self.rows == 0 {
            return Ok(None);
        }
        if self.blocks.front().is_some_and(|block| block.length() == self.at) {
            self.blocks.pop_front();
            (self.block, self.at) = (None, 0);
        }
        let bytes: &[u8] = match (&self.block, self.blocks.front()) {
            (Some(block), _) => block,
            (None, Some(block)) => self.block.insert(block.read(0, block.length()).map_err(read_error)?),
            (None, None) => &self.open,
        };
        let mut decoder = Decoder::new(&bytes[self.at..]);
        let row = decoder.values(self.width)?;
        self.at = bytes.len() - decoder.remaining();
        self.rows -= 1;
        Ok(Some(row))
    }

    /// The client has enough for now: no block stays in memory until it asks again.
    pub fn rest(&mut self) {
        self.block = None;
    }
}

pub(crate) fn read_error(error: SpillError) -> SqlError {
    match error {
        SpillError::Disk(error) => disk_error(error),
        SpillError::Damaged => corrupt(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use env::Environment;
    use env::simulated::{Fault, FaultKind, OperationClass, SimulatedDisk};

    fn spill_file(disk: &SimulatedDisk) -> Arc<SpillFile> {
        Arc::new(SpillFile::new(Environment::simulated(disk.clone(), 1)))
    }

    fn kept(file: &Arc<SpillFile>, count: i64) -> KeptRows {
        let mut kept = KeptRows::new(file, 2);
        for number in 0..count {
            kept.push(RowRef::Values(&[Value::Int(number), Value::Bytes(vec![b'x'; 100])])).unwrap();
        }
        kept.finish().unwrap();
        kept
    }

    #[test]
    fn rows_come_back_in_order_from_memory_and_from_the_file() {
        let disk = SimulatedDisk::new(1);
        let file = spill_file(&disk);
        for count in [0, 1, 30, 100, 5000] {
            let mut kept = kept(&file, count);
            assert!(kept.open.capacity() <= MEMORY_BYTES_MAX, "what is large is in the file");
            for number in 0..count {
                let row = kept.take_next().unwrap().unwrap();
                assert_eq!(row[0], Value::Int(number));
                if number % 100 == 0 {
                    kept.rest();
                }
            }
            assert!(kept.is_empty() && kept.take_next().unwrap().is_none());
        }
        assert_eq!(file.file_bytes(), 0, "the space was given back");
    }

    #[test]
    fn all_share_a_file_and_rest_without_memory() {
        let disk = SimulatedDisk::new(1);
        let file = spill_file(&disk);
        let mut all: Vec<KeptRows> = (0..20).map(|_| kept(&file, 1000)).collect();
        for kept in &mut all {
            kept.take_next().unwrap();
            kept.rest();
            assert!(kept.block.is_none() && kept.open.capacity() <= MEMORY_BYTES_MAX);
        }
        all.truncate(1);
        let rest = std::iter::from_fn(|| all[0].take_next().unwrap());
        assert_eq!(
            rest.map(|row| row[0].clone()).collect::<Vec<_>>(),
            (1..1000).map(Value::Int).collect::<Vec<_>>()
        );
    }

    /// A row after a failed read is the next one, and never what the buffer happens to hold.
    #[test]
    fn a_failed_read_loses_and_invents_no_row() {
        let disk = SimulatedDisk::new(1);
        let mut kept = kept(&spill_file(&disk), 2000);
        for number in 0..2000 {
            if number % 200 == 199 {
                kept.rest();
                let (nth, kind) = (disk.counts().reads, FaultKind::InputOutput);
                disk.add_fault(Fault { class: OperationClass::Read, nth, kind });
                assert!(kept.take_next().is_err());
            }
            assert_eq!(kept.take_next().unwrap().unwrap()[0], Value::Int(number));
        }
    }
}
