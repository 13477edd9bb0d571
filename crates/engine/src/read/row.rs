//! Reading single rows and deciding what a read sees. Main types: [`View`], [`Seen`]. See rules V1 to V7 in txn's README.
//! Visibility is always decided under the leaf's latch; rollback needs that latch to take a row back.

use super::ConsistentReads;
use crate::lob::{Wanted, bytes_to_fetch};
use btree::LeafView;
use engine_error::{EngineError, EngineResult};
use entry::{Entry, EntryKind, OwnedRow, RowForm, StoredRow, parse_entry};
use std::sync::Arc;
use stdx::ids::{CommitTimestamp, IndexId, TransactionId};
use tables::{Index, Table};
use undo::Before;

/// What a read sees.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    /// None: everything, committed or not.
    pub(crate) snapshot: Option<CommitTimestamp>,
    /// Its own writes.
    pub(crate) own: TransactionId,
}

impl View {
    /// Whether the view can read an index. Error: TableDefinitionChanged for one that is younger.
    pub(crate) fn check_readable(&self, index: &Index) -> EngineResult<()> {
        self.snapshot.map_or(Ok(()), |snapshot| index.check_readable(snapshot))
    }
}

/// What a read finds of an entry.
pub(crate) enum Seen<'a> {
    /// This row.
    Row(StoredRow<'a>),
    /// An older row.
    Older(Arc<[u8]>, RowForm),
    /// No row.
    Nothing,
}

impl Seen<'_> {
    /// The row, if there is one.
    pub(crate) fn row(&self) -> Option<StoredRow<'_>> {
        match self {
            Seen::Row(row) => Some(*row),
            Seen::Older(bytes, form) => Some(StoredRow { bytes, form: *form }),
            Seen::Nothing => None,
        }
    }
}

impl ConsistentReads {
    /// Whether a view sees what that writer wrote.
    #[inline]
    pub(crate) fn sees(&self, view: View, writer: TransactionId) -> bool {
        match view.snapshot {
            None => true,
            Some(snapshot) => writer == view.own || self.system.commits.is_visible(writer, snapshot),
        }
    }

    /// What a view sees of a clustered entry, given its key as a function because it is rarely needed.
    #[inline]
    pub(crate) fn visible_row<'a>(
        &self,
        view: View,
        index: IndexId,
        key: impl FnOnce() -> EngineResult<Vec<u8>>,
        value: &'a [u8],
    ) -> EngineResult<Seen<'a>> {
        let entry = parse_entry(EntryKind::Clustered, value)?;
        if self.sees(view, entry.writer) {
            if entry.deleted {
                return Ok(Seen::Nothing);
            }
            return Ok(Seen::Row(entry.stored_row()));
        }
        self.older_row(view, index, &key()?, entry)
    }

    /// The newest state of a row that a view sees, which does not see the present one. Called under the entry's latch, so that no
    /// record is undone meanwhile; none is purged while the view's snapshot is in use.
    #[cold]
    fn older_row<'a>(
        &self,
        view: View,
        index: IndexId,
        key: &[u8],
        entry: Entry<'_>,
    ) -> EngineResult<Seen<'a>> {
        let record = |writer, position| self.system.undo_record(writer, position);
        match (undo::Row { index, key }).state_seen(entry, &record, &|writer| self.sees(view, writer))? {
            Before::State(state) => {
                let older = state.entry()?;
                let seen = Seen::Older(older.row.into(), older.form());
                Ok(if older.deleted { Seen::Nothing } else { seen })
            }
            Before::Nothing => Ok(Seen::Nothing),
            Before::Astray => {
                Err(EngineError::Corrupt(format!("the undo of a row of transaction {}", entry.writer)))
            }
        }
    }

    /// Reads a clustered row by its key as a view sees it, with the first bytes of those of its long values that are wanted. Returns
    /// how its entry keeps it, if there is one.
    pub(crate) fn get_visible(
        &self,
        view: View,
        table: &Table,
        key: &[u8],
        wanted: Wanted<'_>,
        found: &mut dyn FnMut(&[u8]),
    ) -> EngineResult<Option<RowForm>> {
        let mut outside = None;
        let is_there = self.get_stored(view, table, key, |row| match row.form.is_whole() {
            true => found(row.bytes),
            false => outside = Some(row.to_owned()),
        })?;
        match outside {
            Some(row) => self.get_fetched(view, table, key, wanted, row, found),
            None => Ok(is_there.then_some(RowForm::WHOLE)),
        }
    }

    /// Goes on with a row that is not whole.
    #[cold]
    fn get_fetched(
        &self,
        view: View,
        table: &Table,
        key: &[u8],
        wanted: Wanted<'_>,
        mut row: OwnedRow,
        found: &mut dyn FnMut(&[u8]),
    ) -> EngineResult<Option<RowForm>> {
        loop {
            let form = row.form;
            let mut whole = Vec::new();
            let gone = match bytes_to_fetch(&row.as_stored(), table, wanted.columns)? {
                None => {
                    found(&row.bytes);
                    return Ok(Some(form));
                }
                Some(_) => match self.values.fetch(table, row.as_stored(), wanted, &mut whole)? {
                    Ok(()) => {
                        found(&whole);
                        return Ok(Some(form));
                    }
                    Err(gone) => gone,
                },
            };
            if self.shared.is_forced() {
                return Ok(None);
            }
            // Without a snapshot nothing keeps the values of a row that was read: it has others now, or is gone.
            let mut again = None;
            if view.snapshot.is_none()
                && !self.get_stored(view, table, key, |row| again = Some(row.to_owned()))?
            {
                return Ok(None);
            }
            row = again.filter(|again| *again != row).ok_or_else(|| EngineError::from(gone))?;
        }
    }

    /// Shows a clustered row as it stands in its entry.
    #[inline]
    fn get_stored(
        &self,
        view: View,
        table: &Table,
        key: &[u8],
        found: impl FnOnce(StoredRow<'_>),
    ) -> EngineResult<bool> {
        let clustered = table.clustered();
        let result = clustered.tree.get(&self.pool, key, |value| {
            let seen = self.visible_row(view, clustered.id(), || Ok(key.to_vec()), value)?;
            let row = seen.row();
            if let Some(row) = row {
                found(row);
            }
            Ok(row.is_some())
        })?;
        result.unwrap_or(Ok(false))
    }

    /// Whether every snapshot sees all that was ever written to a leaf.
    pub(crate) fn leaf_is_visible(&self, leaf: &LeafView<'_>) -> bool {
        leaf.newest_writer() < self.system.commits.watermark().0
    }

    /// A delete mark that everyone sees and that purge does not know of (it is older than this run): noted for purge.
    pub(crate) fn note_tombstone(
        &self,
        leaf: &LeafView<'_>,
        at: usize,
        index: &Index,
        writer: stdx::ids::TransactionId,
    ) -> EngineResult<()> {
        if writer < self.system.first_id && !index.id().is_temporary() {
            let mut key = Vec::new();
            leaf.key_into(at, &mut key)?;
            self.system.strays.add_stray(index.id(), &key, writer);
        }
        Ok(())
    }
}
