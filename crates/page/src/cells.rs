//! Cells outside a page: runs of cells as operations carry them.
//! A run is relative to the key prefix of the node that it is meant for.

use crate::CorruptPage;
use crate::codec::{Reader, put_bytes, put_varint};

/// Cells in ascending key order, in the encoded form of operations:
/// each is key suffix and value, with their lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellRun<'a> {
    bytes: &'a [u8],
}

impl<'a> CellRun<'a> {
    /// No cells.
    pub const EMPTY: CellRun<'static> = CellRun { bytes: &[] };

    /// The cells as (key suffix, value).
    pub fn iter(&self) -> CellRunIter<'a> {
        CellRunIter { reader: Reader::new(self.bytes) }
    }

    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        put_bytes(out, self.bytes);
    }

    pub(crate) fn read(reader: &mut Reader<'a>) -> Result<Self, CorruptPage> {
        Ok(Self { bytes: reader.bytes()? })
    }
}

/// Iterator over a [`CellRun`]; yields an error once when the bytes do not hold together, then ends.
pub struct CellRunIter<'a> {
    reader: Reader<'a>,
}

impl<'a> Iterator for CellRunIter<'a> {
    type Item = Result<(&'a [u8], &'a [u8]), CorruptPage>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.reader.is_empty() {
            return None;
        }
        let key = self.reader.bytes();
        let cell = key.and_then(|key| Ok((key, self.reader.bytes()?)));
        if cell.is_err() {
            self.reader = Reader::new(&[]);
        }
        Some(cell)
    }
}

/// Collects cells into the encoded form of a [`CellRun`]. Its buffer can be used again after `clear`.
#[derive(Debug, Default)]
pub struct CellRunBuilder {
    bytes: Vec<u8>,
    count: usize,
}

impl CellRunBuilder {
    /// A builder without cells.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a cell whose key suffix is given in two parts (often: rest of a prefix, old suffix).
    pub fn push(&mut self, suffix_head: &[u8], suffix_tail: &[u8], value: &[u8]) {
        put_varint(&mut self.bytes, (suffix_head.len() + suffix_tail.len()) as u64);
        self.bytes.extend_from_slice(suffix_head);
        self.bytes.extend_from_slice(suffix_tail);
        put_bytes(&mut self.bytes, value);
        self.count += 1;
    }

    /// How many cells were added.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Forgets all cells, keeps the buffer.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.count = 0;
    }

    /// The cells added so far.
    pub fn run(&self) -> CellRun<'_> {
        CellRun { bytes: &self.bytes }
    }
}
