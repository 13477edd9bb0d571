//! What a scan reads. Main type: [`ScanOptions`].

use crate::{Direction, KeyRange, ReadMode};
use values::row::ColumnSet;

/// What to scan and how.
#[derive(Clone, Debug)]
pub struct ScanOptions {
    /// Its number among the table's indexes, the clustered one first.
    pub index: usize,
    /// Keys wanted.
    pub range: KeyRange,
    /// Direction.
    pub direction: Direction,
    /// Read mode.
    pub mode: ReadMode,
    /// True: rows come in the layout of the index without a visit to the clustered index
    /// where visibility allows. False: rows come in the layout of the table. No difference for index 0.
    pub covering: bool,
    /// A locking read locks the row, or the entry, behind a range of a secondary index too.
    pub locks_row_beyond: bool,
    /// Columns of the table that the caller looks at: of others, rows may have a reference in the place of a long value.
    pub columns: ColumnSet,
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
