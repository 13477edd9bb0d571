//! Reading an index range in either direction, a batch of rows at a time. Main type: [`Scan`].
//! A scan holds no latch and borrows nothing between batches; it goes on by key, so that the caller may change rows of the same table while it runs.

use super::{Direction, Gap, KeyRange, ReadMode};
use btree::{Cursor, CursorRange};
use engine_types::ScanOptions;
use std::ops::Bound;
use std::sync::Arc;
use tables::Table;

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

fn tree_direction(direction: Direction) -> btree::Direction {
    match direction {
        Direction::Forward => btree::Direction::Forward,
        Direction::Backward => btree::Direction::Backward,
    }
}
