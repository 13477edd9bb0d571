//! The state of a row before the unfinished transaction that changed it, found by the undo address in its header.
//! Main type: [`Before`]. For whoever meets the row of a writer whose old values the version store does not have.

use crate::{UndoLog, UndoResult, Writer};
use entry::{Entry, EntryKind, bad_header};
use stdx::ids::IndexId;
use txn::{Old, UndoRecord};

/// Most records that lie between a row and its newest state by another writer: a row that was put in the place of a mark,
/// and the mark's (entry.rs: `HEAD_ONLY`).
const HOPS_MAX: usize = 2;

/// What a row was before a writer changed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Before {
    /// This entry, header and row.
    Entry(Vec<u8>),
    /// There was none.
    Nothing,
    /// The address leads nowhere, or to a record of another row. With the row's latch held that is damage, without it the
    /// record was undone meanwhile.
    Astray,
}

impl UndoLog {
    /// Follows the address in the header of an entry that `writer` wrote.
    pub fn state_before(
        &self,
        writer: &Writer,
        index: IndexId,
        key: &[u8],
        entry: Entry<'_>,
    ) -> UndoResult<Before> {
        let (mut row, mut address) = (entry.row.to_vec(), entry.undo_address());
        for _ in 0..HOPS_MAX {
            let Some(position) = address.after_position.checked_sub(1) else { return Ok(Before::Nothing) };
            let Some(bytes) = self.undo_record_at(writer, position)? else { return Ok(Before::Astray) };
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
