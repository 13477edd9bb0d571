//! Reading an index range in either direction, a batch of rows at a time. Main types: [`ScanOptions`], [`Scan`],
//! [`RowBatch`]. A scan holds no latch and borrows nothing between batches; it goes on by key, so that the caller
//! may change rows of the same table while it runs.

use super::Gap;
use crate::tables::Table;
use btree::{Cursor, CursorRange};
use engine_error::{EngineError, EngineResult};
use std::ops::Bound;
use std::sync::Arc;
use values::row::ColumnSet;

/// How rows are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadMode {
    /// From the transaction's snapshot (the newest rows under READ UNCOMMITTED). Takes no locks.
    #[default]
    Consistent,
    /// The newest committed rows, locked for reading (FOR SHARE; plain reads of SERIALIZABLE).
    Shared(WaitPolicy),
    /// The newest committed rows, locked for writing (FOR UPDATE, UPDATE, DELETE).
    Exclusive(WaitPolicy),
}

/// What to do when a row is locked by another transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WaitPolicy {
    /// Wait up to the lock wait time-out.
    #[default]
    Wait,
    /// NOWAIT: fail with `LockNotAvailable`.
    NoWait,
    /// SKIP LOCKED: leave the row out.
    SkipLocked,
}

/// Direction of a scan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// In key order.
    #[default]
    Forward,
    /// In reverse key order.
    Backward,
}

/// A range of encoded keys, compared as bytes. The bounds are compared with whole entry keys, and an entry key of a secondary
/// index continues with the clustered key; [`KeyRange::prefix`] and friends make the bounds that SQL ranges mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRange {
    /// Lower bound.
    pub lower: Bound<Vec<u8>>,
    /// Upper bound.
    pub upper: Bound<Vec<u8>>,
}

/// What to scan and how.
#[derive(Clone, Debug)]
pub struct ScanOptions {
    /// Index number in [`Table::indexes`].
    pub index: usize,
    /// Keys wanted.
    pub range: KeyRange,
    /// Direction.
    pub direction: Direction,
    /// Read mode.
    pub mode: ReadMode,
    /// True: rows come in the layout of the index ([`crate::Index::row_layout`]) without a visit to the clustered index
    /// where visibility allows. False: rows come in the layout of the table. No difference for index 0.
    pub covering: bool,
    /// A locking read locks the row, or the entry, behind a range of a secondary index too.
    pub locks_row_beyond: bool,
    /// Columns of the table that the caller looks at: of others, rows may have a reference in the place of a long value.
    pub columns: ColumnSet,
}

/// Rows of one step of a scan. Reuse it: its buffers keep their capacity.
#[derive(Debug, Default)]
pub struct RowBatch {
    bytes: Vec<u8>,
    rows: Vec<RowPlace>,
    /// Keys of the entries that are locked instead of the rows, empty for a row that is locked itself; none at all if all are.
    entries: Vec<Vec<u8>>,
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

/// A scan in progress.
#[derive(Debug)]
pub struct Scan {
    pub(crate) table: Arc<Table>,
    pub(crate) options: ScanOptions,
    pub(crate) cursor: Cursor,
    /// Entries of the last secondary leaf whose rows did not fit into the batch any more.
    pub(crate) pending: std::vec::IntoIter<Candidate>,
    /// The clustered key whose lock was waited for, if the scan goes on there.
    pub(crate) awaited: Option<Vec<u8>>,
    /// What the last secondary leaf had.
    pub(crate) seen: SeenEntries,
    /// What lies behind the range has been looked at.
    is_beyond: bool,
    /// An entry was found whose row turned out to be no row of the range: the next look closes gaps, whatever it finds.
    pub(crate) was_mistaken: bool,
}

impl Scan {
    /// A scan that begins.
    pub(crate) fn new(table: &Arc<Table>, options: ScanOptions) -> Scan {
        let range = CursorRange { lower: options.range.lower.clone(), upper: options.range.upper.clone() };
        let cursor = Cursor::new(range, tree_direction(options.direction));
        // A locking read keeps gaps closed where it finds nothing.
        let cursor = if options.mode == ReadMode::Consistent { cursor } else { cursor.showing_empty() };
        Scan {
            table: table.clone(),
            options,
            cursor,
            pending: Vec::new().into_iter(),
            awaited: None,
            seen: SeenEntries::default(),
            is_beyond: false,
            was_mistaken: false,
        }
    }

    /// The table being scanned.
    pub fn table(&self) -> &Arc<Table> {
        &self.table
    }

    /// A scan of what lies behind the range, given once to who closes gaps and has come to its end; None where MySQL does not look there:
    /// walking up it knows the range's end in the clustered index, and that of a single key; down it never does.
    pub(crate) fn beyond(&mut self) -> Option<Scan> {
        let (lower, upper) = (&self.options.range.lower, &self.options.range.upper);
        let range = match (self.options.direction, lower, upper) {
            (Direction::Backward, Bound::Included(lower) | Bound::Excluded(lower), _) => {
                KeyRange { lower: Bound::Unbounded, upper: KeyRange::before(lower) }
            }
            (Direction::Forward, Bound::Included(key), _) if *upper == KeyRange::after_prefix(key) => {
                return None;
            }
            (Direction::Forward, _, Bound::Included(upper) | Bound::Excluded(upper))
                if self.options.index != 0 =>
            {
                KeyRange { lower: KeyRange::at_or_after(upper), upper: Bound::Unbounded }
            }
            _ => return None,
        };
        if std::mem::replace(&mut self.is_beyond, true) {
            return None;
        }
        let mut beyond = Scan::new(&self.table, ScanOptions { range, ..self.options.clone() });
        beyond.is_beyond = true;
        Some(beyond)
    }

    /// Begins again.
    pub(crate) fn restart(&mut self) {
        self.cursor = Scan::new(&self.table, self.options.clone()).cursor;
        self.pending = Vec::new().into_iter();
    }

    /// Reads on behind an entry, whatever was read of the leaf before.
    pub(crate) fn go_on_behind(&mut self, key: &[u8]) {
        let mut range = self.options.range.clone();
        match self.options.direction {
            Direction::Forward => range.lower = Bound::Excluded(key.to_vec()),
            Direction::Backward => range.upper = Bound::Excluded(key.to_vec()),
        }
        self.cursor = Scan::new(&self.table, ScanOptions { range, ..self.options.clone() }).cursor;
        self.pending = Vec::new().into_iter();
    }

    /// Whether a row lies before the one whose lock was waited for: it was inserted meanwhile. Forgets that one where it is reached.
    pub(crate) fn is_before_awaited(awaited: &mut Option<Vec<u8>>, direction: Direction, key: &[u8]) -> bool {
        let is_before = awaited.as_ref().is_some_and(|awaited| match direction {
            Direction::Forward => key < awaited.as_slice(),
            Direction::Backward => key > awaited.as_slice(),
        });
        if !is_before {
            *awaited = None;
        }
        is_before
    }
}

/// What a scan has found of a secondary leaf and not locked yet.
#[derive(Debug, Default)]
pub(crate) struct SeenEntries {
    /// The keys that were closed to inserts with it; None for the only row of a unique key.
    pub(crate) gap: Option<Gap>,
    /// An entry had no row, or its row was left out.
    pub(crate) has_others: bool,
}

/// A secondary entry copied out of its leaf.
#[derive(Debug)]
pub(crate) struct Candidate {
    /// Whole entry key.
    pub(crate) key: Vec<u8>,
    /// The stored row, if the entry alone says that it is visible.
    pub(crate) row: Option<Vec<u8>>,
}

/// Bytes of rows after which a batch is full: it holds less than this and one row.
const BATCH_BYTES_MAX: u64 = 256 << 10;

impl KeyRange {
    /// Whether no key can lie between the bounds.
    pub fn is_empty(&self) -> bool {
        match (&self.lower, &self.upper) {
            (Bound::Included(lower), Bound::Included(upper)) => lower > upper,
            (
                Bound::Included(lower) | Bound::Excluded(lower),
                Bound::Excluded(upper) | Bound::Included(upper),
            ) => lower >= upper,
            _ => false,
        }
    }

    /// Whether no key above one, which is in the range, can be in it too.
    pub(crate) fn ends_at(&self, key: &[u8]) -> bool {
        match &self.upper {
            Bound::Unbounded => false,
            Bound::Included(upper) => upper == key,
            Bound::Excluded(upper) => successor(key).is_some_and(|next| next == *upper),
        }
    }

    /// A walk over the range, upward.
    pub(crate) fn cursor(&self) -> Cursor {
        let range = CursorRange { lower: self.lower.clone(), upper: self.upper.clone() };
        Cursor::new(range, btree::Direction::Forward)
    }

    /// Every key.
    pub fn all() -> KeyRange {
        KeyRange { lower: Bound::Unbounded, upper: Bound::Unbounded }
    }

    /// Keys that begin with those bytes: `a = 1` on an index (a, b), or a whole unique key.
    pub fn prefix(prefix: &[u8]) -> KeyRange {
        KeyRange { lower: Bound::Included(prefix.to_vec()), upper: KeyRange::after_prefix(prefix) }
    }

    /// Lower bound of `parts >= value`, where `prefix` is the encoded value.
    pub fn at_or_after(prefix: &[u8]) -> Bound<Vec<u8>> {
        Bound::Included(prefix.to_vec())
    }

    /// Lower bound of `parts > value`: the first key behind all those that begin with the prefix.
    pub fn past_prefix(prefix: &[u8]) -> Bound<Vec<u8>> {
        match successor(prefix) {
            Some(next) => Bound::Included(next),
            // Nothing is behind a prefix of 0xFF bytes; no key equals this longer one.
            None => Bound::Excluded(vec![0xFF; prefix.len() + KEY_BYTES_MAX]),
        }
    }

    /// Upper bound of `parts <= value`: excludes the first key behind all those that begin with the prefix.
    pub fn after_prefix(prefix: &[u8]) -> Bound<Vec<u8>> {
        successor(prefix).map_or(Bound::Unbounded, Bound::Excluded)
    }

    /// Upper bound of `parts < value`.
    pub fn before(prefix: &[u8]) -> Bound<Vec<u8>> {
        Bound::Excluded(prefix.to_vec())
    }
}

pub use page::KEY_BYTES_MAX;

fn tree_direction(direction: Direction) -> btree::Direction {
    match direction {
        Direction::Forward => btree::Direction::Forward,
        Direction::Backward => btree::Direction::Backward,
    }
}

/// The smallest byte string greater than every string with that prefix; None if there is none.
fn successor(prefix: &[u8]) -> Option<Vec<u8>> {
    let end = prefix.iter().rposition(|byte| *byte != 0xFF)?;
    let mut next = prefix[..=end].to_vec();
    next[end] += 1;
    Some(next)
}

impl Default for ScanOptions {
    fn default() -> Self {
        ScanOptions {
            index: 0,
            range: KeyRange::all(),
            direction: Direction::Forward,
            mode: ReadMode::Consistent,
            covering: false,
            locks_row_beyond: false,
            columns: ColumnSet::All,
        }
    }
}

impl RowBatch {
    /// An empty batch.
    pub fn new() -> RowBatch {
        RowBatch::default()
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The row at that position, in the layout of the table or of the index (see [`ScanOptions::covering`]).
    pub fn row(&self, at: usize) -> &[u8] {
        let (start, end) = self.rows[at].row;
        &self.bytes[start as usize..end as usize]
    }

    /// The clustered key of that row: what update, delete and unlock take. It is also the row's identity (rowid).
    pub fn key(&self, at: usize) -> &[u8] {
        let (start, end) = self.rows[at].key;
        &self.bytes[start as usize..end as usize]
    }

    /// The key of the entry that a locking read of a covering index has locked instead of that row, at READ COMMITTED.
    pub fn entry_key(&self, at: usize) -> Option<&[u8]> {
        self.entries.get(at).map(Vec::as_slice).filter(|key| !key.is_empty())
    }

    /// Notes the entry that is locked instead of the row that was pushed last, or none.
    pub(crate) fn note_entry(&mut self, key: Vec<u8>) {
        self.entries.push(key);
    }

    /// Puts what `write` appends in the place of a row.
    pub(crate) fn replace_row<R>(
        &mut self,
        at: usize,
        write: impl FnOnce(&mut Vec<u8>) -> R,
    ) -> EngineResult<R> {
        let start = self.bytes.len();
        let result = write(&mut self.bytes);
        self.rows[at].row = RowPlace::new(start, start, self.bytes.len())?.row;
        Ok(result)
    }

    /// Takes a row out.
    pub(crate) fn remove(&mut self, at: usize) {
        self.rows.remove(at);
        if at < self.entries.len() {
            self.entries.remove(at);
        }
    }

    /// Takes out all rows but the first.
    pub(crate) fn truncate(&mut self, rows: usize) {
        self.entries.truncate(rows);
        if let Some(place) = self.rows.get(rows) {
            self.bytes.truncate(place.key.0 as usize);
            self.rows.truncate(rows);
        }
    }

    /// Forgets the rows, keeps the buffers.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.rows.clear();
        self.entries.clear();
    }

    /// Bytes of all keys and rows.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Whether a scan may add a row: neither as many are in as are wanted, nor as many bytes as a batch holds. A row that alone
    /// is longer than that makes a batch of its own. `bytes_to_come` will be added to rows that are in already.
    pub(crate) fn has_room(&self, rows_max: usize, bytes_to_come: u64) -> bool {
        self.rows.len() < rows_max && bytes_to_come.saturating_add(self.bytes.len() as u64) < BATCH_BYTES_MAX
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, key: &[u8], row: &[u8]) -> EngineResult<()> {
        self.push_with(row, |bytes| {
            bytes.extend_from_slice(key);
            Ok(())
        })
    }

    /// Adds a row whose key `write_key` appends.
    pub(crate) fn push_with(
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

    #[test]
    fn prefix_bounds() {
        assert_eq!(KeyRange::after_prefix(&[1, 2]), Bound::Excluded(vec![1, 3]));
        assert_eq!(KeyRange::after_prefix(&[1, 0xFF]), Bound::Excluded(vec![2]));
        assert_eq!(KeyRange::after_prefix(&[0xFF, 0xFF]), Bound::Unbounded);
        assert_eq!(KeyRange::past_prefix(&[7]), Bound::Included(vec![8]));
    }
}
