//! The state of a row before the unfinished transaction that changed it, found by the undo address in its header.
//! Main type: [`Before`]. For whoever meets the row of a writer whose old values the version store does not have.

use super::ConsistentReads;
use crate::entry::{Entry, EntryKind, OwnedRow, bad_header};
use crate::error::{EngineError, EngineResult};
use crate::undo::Writer;
use stdx::ids::IndexId;
use txn::{Old, UndoRecord};

/// Most records that lie between a row and its newest state by another writer: a row that was put in the place of a mark,
/// and the mark's (entry.rs: `HEAD_ONLY`).
const HOPS_MAX: usize = 2;

/// What a row was before a writer changed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Before {
    /// This entry, header and row.
    Entry(Vec<u8>),
    /// There was none.
    Nothing,
    /// The address leads nowhere, or to a record of another row. With the row's latch held that is damage, without it the
    /// record was undone meanwhile.
    Astray,
}

impl ConsistentReads {
    /// A row as it was before a loser changed it: no snapshot sees losers, and what was there before is committed. Called under the
    /// entry's latch, so that its record cannot be undone meanwhile. None if there was no row.
    pub(crate) fn row_before_loser(
        &self,
        index: IndexId,
        key: &[u8],
        entry: Entry<'_>,
    ) -> EngineResult<Option<OwnedRow>> {
        let astray = || EngineError::Corrupt(format!("the undo of a row of transaction {}", entry.writer));
        let writer = self.undo.writers.get(entry.writer).ok_or_else(astray)?;
        let before = match self.state_before(&writer, index, key, entry)? {
            Before::Entry(value) => value,
            Before::Nothing => return Ok(None),
            Before::Astray => return Err(astray()),
        };
        let entry = Entry::parse(EntryKind::Clustered, &before).ok_or_else(bad_header)?;
        Ok((!entry.deleted).then(|| entry.stored_row().to_owned()))
    }

    /// Follows the address in the header of an entry that `writer` wrote.
    pub(crate) fn state_before(
        &self,
        writer: &Writer,
        index: IndexId,
        key: &[u8],
        entry: Entry<'_>,
    ) -> EngineResult<Before> {
        let (mut row, mut address) = (entry.row.to_vec(), entry.undo_address());
        for _ in 0..HOPS_MAX {
            let Some(position) = address.after_position.checked_sub(1) else { return Ok(Before::Nothing) };
            let Some(bytes) = self.undo.undo_record_at(writer, position)? else { return Ok(Before::Astray) };
            let value = match UndoRecord::decode(&bytes) {
                Some(record) if record.index != index || record.key != key => return Ok(Before::Astray),
                Some(UndoRecord { old: Old::Head(head), .. }) if address.head_only => [head, &row].concat(),
                Some(UndoRecord { old: Old::Value(value), .. }) if !address.head_only => value.to_vec(),
                _ => return Ok(Before::Astray),
            };
            let before = Entry::parse(EntryKind::Clustered, &value).ok_or_else(bad_header)?;
            if before.writer != writer.id {
                return Ok(Before::Entry(value));
            }
            (row, address) = (before.row.to_vec(), before.undo_address());
        }
        Ok(Before::Astray)
    }
}
