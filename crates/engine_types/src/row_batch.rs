//! Rows of one step of a scan. Main type: [`RowBatch`].

use engine_error::{EngineError, EngineResult};

/// Rows of one step of a scan. Reuse it: its buffers keep their capacity.
#[derive(Debug, Default)]
pub struct RowBatch {
    bytes: Vec<u8>,
    rows: Vec<RowPlace>,
    /// Keys of the entries that are locked instead of the rows, empty for a row that is locked itself; none at all if all are.
    entries: Vec<Vec<u8>>,
    last_is_unlocked: bool,
}

#[derive(Clone, Copy, Debug)]
struct RowPlace {
    key: (u32, u32),
    row: (u32, u32),
}

impl RowPlace {
    /// Error: TooBig for a row that ends beyond what 32 bits say.
    #[inline]
    fn new(start: usize, middle: usize, end: usize) -> EngineResult<RowPlace> {
        if u32::try_from(end).is_err() {
            return Err(EngineError::TooBig { bytes: end - middle, bytes_max: u32::MAX as usize - middle });
        }
        Ok(RowPlace { key: (start as u32, middle as u32), row: (middle as u32, end as u32) })
    }
}

/// Bytes of rows after which a batch is full: it holds less than this and one row.
const BATCH_BYTES_MAX: u64 = 256 << 10;

impl RowBatch {
    /// An empty batch.
    #[inline]
    pub fn new() -> RowBatch {
        RowBatch::default()
    }

    /// Number of rows.
    #[inline]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The row at that position, in the layout of the table or of the index (see [`ScanOptions::covering`]).
    #[inline]
    pub fn row(&self, at: usize) -> &[u8] {
        let (start, end) = self.rows[at].row;
        &self.bytes[start as usize..end as usize]
    }

    /// The clustered key of that row: what update, delete and unlock take. It is also the row's identity (rowid).
    #[inline]
    pub fn key(&self, at: usize) -> &[u8] {
        let (start, end) = self.rows[at].key;
        &self.bytes[start as usize..end as usize]
    }

    /// The key of the entry that a locking read of a covering index has locked instead of that row, at READ COMMITTED.
    #[inline]
    pub fn entry_key(&self, at: usize) -> Option<&[u8]> {
        self.entries.get(at).map(Vec::as_slice).filter(|key| !key.is_empty())
    }

    /// Notes the entry that is locked instead of the row that was pushed last, or none.
    #[inline]
    pub fn note_entry(&mut self, key: Vec<u8>) {
        self.entries.push(key);
    }

    /// Whether the last row is another's by now, and is shown as it was last committed ([`crate::WaitPolicy::LastCommitted`]).
    #[inline]
    pub fn last_is_unlocked(&self) -> bool {
        self.last_is_unlocked
    }

    /// Says so, or that it is locked now.
    pub fn set_last_unlocked(&mut self, is_unlocked: bool) {
        self.last_is_unlocked = is_unlocked;
    }

    /// Puts what `write` appends in the place of a row.
    #[inline]
    pub fn replace_row<R>(&mut self, at: usize, write: impl FnOnce(&mut Vec<u8>) -> R) -> EngineResult<R> {
        let start = self.bytes.len();
        let result = write(&mut self.bytes);
        self.rows[at].row = RowPlace::new(start, start, self.bytes.len())?.row;
        Ok(result)
    }

    /// Takes a row out.
    #[inline]
    pub fn remove(&mut self, at: usize) {
        self.rows.remove(at);
        if at < self.entries.len() {
            self.entries.remove(at);
        }
    }

    /// Takes out all rows but the first.
    #[inline]
    pub fn truncate(&mut self, rows: usize) {
        self.entries.truncate(rows);
        if let Some(place) = self.rows.get(rows) {
            self.bytes.truncate(place.key.0 as usize);
            self.rows.truncate(rows);
        }
    }

    /// Forgets the rows, keeps the buffers.
    #[inline]
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.rows.clear();
        self.entries.clear();
        self.last_is_unlocked = false;
    }

    /// Bytes of all keys and rows.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Whether a scan may add a row: neither as many are in as are wanted, nor as many bytes as a batch holds. A row that alone
    /// is longer than that makes a batch of its own. `bytes_to_come` will be added to rows that are in already.
    #[inline]
    pub fn has_room(&self, rows_max: usize, bytes_to_come: u64) -> bool {
        self.rows.len() < rows_max && bytes_to_come.saturating_add(self.bytes.len() as u64) < BATCH_BYTES_MAX
    }

    /// Adds a row.
    #[inline]
    pub fn push(&mut self, key: &[u8], row: &[u8]) -> EngineResult<()> {
        self.push_with(row, |bytes| {
            bytes.extend_from_slice(key);
            Ok(())
        })
    }

    /// Adds a row whose key `write_key` appends.
    #[inline]
    pub fn push_with(
        &mut self,
        row: &[u8],
        write_key: impl FnOnce(&mut Vec<u8>) -> Result<(), buffer::StorageError>,
    ) -> EngineResult<()> {
        let start = self.bytes.len();
        write_key(&mut self.bytes)?;
        let middle = self.bytes.len();
        let place = RowPlace::new(start, middle, middle + row.len())?;
        self.bytes.extend_from_slice(row);
        self.rows.push(place);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_rows_do_not_wrap() {
        let end = u32::MAX as usize;
        assert_eq!(RowPlace::new(end - 9, end - 5, end).unwrap().row, (u32::MAX - 5, u32::MAX));
        let beyond = EngineError::TooBig { bytes: 6, bytes_max: 5 };
        assert_eq!(RowPlace::new(end - 9, end - 5, end + 1).unwrap_err(), beyond);
    }
}
