//! Whether rows and long values agree: every value that no row refers to must be somebody's to remove. For [`Engine::check`].

use super::chunks::parse_key;
use super::{LobReference, StoredRow};
use crate::engine::Engine;
use crate::entry::{Entry, EntryKind};
use crate::error::{EngineError, EngineResult};
use crate::read::bad_header;
use crate::table::Table;
use btree::{Cursor, CursorRange, Direction, Taken};
use std::collections::BTreeSet;
use stdx::ids::TransactionId;
use txn::TransactionState;
use values::row::REFERENCE_BYTES;

/// Writer and number of a value.
type ValueId = (TransactionId, u32);

impl Engine {
    /// Values of a table that no row refers to, no unfinished transaction has written, and nothing has noted as garbage. Nobody
    /// may change the table meanwhile.
    pub(crate) fn lost_values(&self, table: &Table) -> EngineResult<Vec<String>> {
        let Some(lobs) = &table.lobs else { return Ok(Vec::new()) };
        // A rollback forgets the note of a value before the row has it back: then only its undo record knows of it.
        if !self.inner.writers.all().is_empty() {
            return Ok(Vec::new());
        }
        let keys = lobs.keys(&self.inner.pool, CursorRange::all(), Direction::Forward, usize::MAX)?;
        let mut lost: BTreeSet<ValueId> = keys.iter().filter_map(|key| parse_key(key)).collect();
        lost.retain(|(writer, _)| self.inner.commits.state(*writer) != TransactionState::Active);
        for reference in self.references(table)?.into_iter().chain(self.inner.noted_garbage()?) {
            lost.remove(&(reference.writer, reference.sequence));
        }
        Ok(lost.iter().map(|(writer, number)| format!("value {number} of transaction {writer}")).collect())
    }

    /// All that the entries of a table refer to, delete marks included.
    fn references(&self, table: &Table) -> EngineResult<Vec<LobReference>> {
        let index = table.clustered();
        let mut rows = Vec::new();
        let mut cursor = Cursor::new(CursorRange::all(), Direction::Forward);
        while let Some(result) = cursor.next_leaf(&index.tree, &self.inner.pool, |leaf| {
            let mut read = || {
                for at in 0..leaf.len() {
                    let entry = Entry::parse(EntryKind::Clustered, leaf.entry(at)?.1);
                    let entry = entry.ok_or_else(bad_header)?;
                    // What a mark took out of its row is noted, and may be gone already.
                    if !entry.deleted && !entry.form().is_whole() {
                        rows.push(entry.stored_row().to_owned());
                    }
                }
                Ok::<(), EngineError>(())
            };
            (Taken::All, read())
        })? {
            result?;
        }
        let mut references = Vec::new();
        for row in &rows {
            let row: StoredRow<'_> = row.as_stored();
            let mut bytes = Vec::new();
            let whole = self.inner.row_with_references(table, row)??;
            super::references_of(&table.view(&whole)?, &mut bytes);
            if row.form.is_row_outside() {
                bytes.extend_from_slice(row.bytes);
            }
            references.extend(bytes.as_chunks::<REFERENCE_BYTES>().0.iter().filter_map(LobReference::decode));
        }
        Ok(references)
    }
}
