//! Rows that outlive their statement: what a server-side cursor hands out later. Main type: [`KeptRows`]. Few stay in
//! memory, the rest is in a temporary file of its own, so that what a client does not fetch costs disk only.
//! Written first, then read once, in order; one thread at a time.

use super::row_codec::{Decoder, encode};
use super::workspace::{corrupt, disk_error};
use env::{Environment, File};
use errors::SqlResult;
use std::collections::VecDeque;
use std::sync::Arc;
use values::Value;

/// Rows are written in blocks of at least this size; what is below stays in memory.
const BLOCK_BYTES: usize = 256 << 10;

/// Rows in the order they came, each handed out once.
pub struct KeptRows {
    environment: Environment,
    width: usize,
    /// Rows not handed out.
    rows: u64,
    /// The block that is being filled.
    open: Vec<u8>,
    file: Option<Arc<dyn File>>,
    file_bytes: u64,
    /// Lengths of the blocks in the file that were not read.
    blocks: VecDeque<usize>,
    /// Where the first of them starts.
    next_offset: u64,
    /// The block that is being read, and the place in it.
    block: Vec<u8>,
    at: usize,
}

impl KeptRows {
    /// No rows yet; all will have that many values.
    pub fn new(environment: &Environment, width: usize) -> KeptRows {
        KeptRows {
            environment: environment.clone(),
            width,
            rows: 0,
            open: Vec::new(),
            file: None,
            file_bytes: 0,
            blocks: VecDeque::new(),
            next_offset: 0,
            block: Vec::new(),
            at: 0,
        }
    }

    /// Whether all rows were handed out.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Appends a row. Errors: 1114 when the disk is full.
    pub fn push(&mut self, row: &[Value]) -> SqlResult<()> {
        debug_assert_eq!(row.len(), self.width);
        encode(row, &mut self.open);
        self.rows += 1;
        if self.open.len() >= BLOCK_BYTES { self.write_block() } else { Ok(()) }
    }

    fn write_block(&mut self) -> SqlResult<()> {
        let file = match &self.file {
            Some(file) => file,
            None => {
                let made = env::blocking::region(|| self.environment.temporary_file());
                self.file.insert(made.map_err(disk_error)?)
            }
        };
        env::blocking::region(|| file.write_at(&self.open, self.file_bytes)).map_err(disk_error)?;
        self.file_bytes += self.open.len() as u64;
        self.blocks.push_back(self.open.len());
        self.open.clear();
        Ok(())
    }

    /// The next row; None behind the last.
    pub fn take_next(&mut self) -> SqlResult<Option<Vec<Value>>> {
        if self.rows == 0 {
            return Ok(None);
        }
        if self.at == self.block.len() {
            self.read_block()?;
        }
        let mut decoder = Decoder::new(&self.block[self.at..]);
        let mut row = vec![Value::Null; self.width];
        decoder.row(&mut row)?;
        self.at = self.block.len() - decoder.remaining();
        self.rows -= 1;
        Ok(Some(row))
    }

    fn read_block(&mut self) -> SqlResult<()> {
        self.at = 0;
        let Some(length) = self.blocks.pop_front() else {
            self.block = std::mem::take(&mut self.open);
            return Ok(());
        };
        self.block.resize(length, 0);
        let file = self.file.as_ref().ok_or_else(corrupt)?;
        env::blocking::region(|| file.read_at(&mut self.block, self.next_offset)).map_err(disk_error)?;
        self.next_offset += length as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use env::simulated::SimulatedDisk;

    #[test]
    fn rows_come_back_in_order_from_memory_and_from_the_file() {
        for count in [0, 1, 100, 20_000] {
            let environment = Environment::simulated(SimulatedDisk::new(1), 1);
            let mut kept = KeptRows::new(&environment, 2);
            for number in 0..count {
                kept.push(&[Value::Int(number), Value::Bytes(vec![b'x'; 100])]).unwrap();
            }
            assert!(kept.open.len() <= BLOCK_BYTES, "what is large is in the file");
            for number in 0..count {
                let row = kept.take_next().unwrap().unwrap();
                assert_eq!(row[0], Value::Int(number));
            }
            assert!(kept.is_empty() && kept.take_next().unwrap().is_none());
        }
    }
}
