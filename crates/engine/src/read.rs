//! Reading single rows and deciding what a read sees. See rules V1 to V7 in txn's README.
//! Visibility is always decided under the leaf's latch; rollback needs that latch to take a row back.

use crate::engine::EngineInner;
use crate::entry::{Entry, EntryKind, Head, is_live};
use crate::error::{EngineError, EngineResult};
use crate::lob::{OwnedRow, RowForm, StoredRow, Wanted};
use crate::locking::Conflict;
use crate::scan::{ReadMode, WaitPolicy};
use crate::table::{Index, Table};
use crate::transaction::{Transaction, View};
use metrics::Counter;
use std::sync::Arc;
use stdx::ids::{IndexId, TransactionId};
use txn::locks::LockMode;
use values::row::ColumnSet;

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

impl EngineInner {
    /// Whether a view sees what that writer wrote.
    #[inline]
    pub(crate) fn sees(&self, view: View, writer: TransactionId) -> bool {
        match view.snapshot {
            None => true,
            Some(snapshot) => writer == view.own || self.commits.is_visible(writer, snapshot),
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
        let key = key()?;
        let sees =
            |head: &[u8; txn::HEAD_BYTES]| Head::parse(head).is_some_and(|head| self.sees(view, head.writer));
        match self.versions.find(index, &key, sees) {
            Some(version) if is_live(&version.head) => {
                Ok(Seen::Older(version.body()?, RowForm::of_head(&version.head)))
            }
            None if entry.writer < self.first_id => {
                let before = self.row_before_loser(index, &key, entry)?;
                Ok(before.map_or(Seen::Nothing, |row| Seen::Older(row.bytes.into(), row.form)))
            }
            _ => Ok(Seen::Nothing),
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
            let gone = match row.as_stored().bytes_to_fetch(table, wanted.columns)? {
                None => {
                    found(&row.bytes);
                    return Ok(Some(form));
                }
                Some(_) => match self.fetch(table, row.as_stored(), wanted, &mut whole)? {
                    Ok(()) => {
                        found(&whole);
                        return Ok(Some(form));
                    }
                    Err(gone) => gone,
                },
            };
            if self.is_forced() {
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
}

/// The header and, for a whole value, the row.
#[inline]
pub(crate) fn parse_entry(kind: EntryKind, value: &[u8]) -> EngineResult<Entry<'_>> {
    Entry::parse(kind, value).ok_or_else(bad_header)
}

/// Writer and delete mark of an entry of any kind.
#[inline]
pub(crate) fn parse_head(value: &[u8]) -> EngineResult<Head> {
    Head::parse(value).ok_or_else(bad_header)
}

/// The error of an entry that is too short, or has flags that nobody sets.
#[cold]
pub(crate) fn bad_header() -> EngineError {
    EngineError::Corrupt("index entry with a bad header".to_owned())
}

impl Transaction {
    /// Reads one row by its whole clustered key (`index` 0) or its whole key of a unique index without NULL. Calls `found` with the
    /// row in the table's layout (no copy: a page is latched while it runs, so it must neither block nor call the
    /// engine). False if there is no such row (or SKIP LOCKED left it out).
    pub fn get(
        &self,
        table: &Arc<Table>,
        index: usize,
        key: &[u8],
        mode: ReadMode,
        found: &mut dyn FnMut(&[u8]),
    ) -> EngineResult<bool> {
        self.get_columns(table, index, key, mode, &ColumnSet::All, found)
    }

    /// As `get`, for a caller that looks at the columns `wanted` only: long values in others are not fetched.
    pub fn get_columns(
        &self,
        table: &Arc<Table>,
        index: usize,
        key: &[u8],
        mode: ReadMode,
        wanted: &ColumnSet,
        found: &mut dyn FnMut(&[u8]),
    ) -> EngineResult<bool> {
        table.check_usable()?;
        if index != 0 {
            return self.get_by_secondary(table, index, key, mode, wanted, found);
        }
        if mode != ReadMode::Consistent {
            self.check_may_lock(mode)?;
            self.check_snapshot_reads(table.clustered())?;
        }
        let is_found = match mode {
            ReadMode::Consistent => {
                let view = self.view()?;
                view.check_readable(table.clustered())?;
                self.engine
                    .get_visible(view, table, key, Wanted::whole(wanted), found)
                    .map(|row| row.is_some())
            }
            ReadMode::Shared(policy) => {
                self.get_locked_columns(table, key, LockMode::SHARED_RECORD, policy, wanted, found)
            }
            ReadMode::Exclusive(policy) => {
                self.get_locked_columns(table, key, LockMode::EXCLUSIVE_RECORD, policy, wanted, found)
            }
        }?;
        Counter::RowsRead.add(u64::from(is_found));
        Ok(is_found)
    }

    /// Locks a clustered row and shows its newest state, with those of its long values that are wanted. False if there is none.
    pub(crate) fn get_locked_columns(
        &self,
        table: &Table,
        key: &[u8],
        mode: LockMode,
        policy: WaitPolicy,
        wanted: &ColumnSet,
        found: &mut dyn FnMut(&[u8]),
    ) -> EngineResult<bool> {
        let (mut kept, mut failed) = (None, Ok(()));
        let is_there =
            self.get_locked(table, key, mode, policy, &mut |row| match row.bytes_to_fetch(table, wanted) {
                Ok(None) => found(row.bytes),
                Ok(Some(_)) => kept = Some(row.to_owned()),
                Err(error) => failed = Err(error),
            })?;
        failed?;
        if let Some(row) = kept {
            let mut whole = Vec::new();
            if let Err(gone) = self.engine.fetch(table, row.as_stored(), Wanted::whole(wanted), &mut whole)? {
                return if self.engine.is_forced() { Ok(false) } else { Err(gone.into()) };
            }
            found(&whole);
        }
        Ok(is_there)
    }

    /// Locks a clustered row and shows its newest state as it stands in its entry. False if there is none.
    pub(crate) fn get_locked(
        &self,
        table: &Table,
        key: &[u8],
        mode: LockMode,
        policy: WaitPolicy,
        found: &mut dyn FnMut(StoredRow<'_>),
    ) -> EngineResult<bool> {
        self.check_alive()?;
        let clustered = table.clustered();
        loop {
            let result = clustered.tree.get(&self.engine.pool, key, |value| {
                let entry = parse_entry(EntryKind::Clustered, value)?;
                match self.lock_for_read(clustered, key, entry, mode, policy)? {
                    Conflict::None if entry.deleted => Ok(Some(false)),
                    Conflict::None => {
                        found(entry.stored_row());
                        Ok(Some(true))
                    }
                    Conflict::Skip => Ok(Some(false)),
                    Conflict::Wait => Ok(None),
                }
            })?;
            match result {
                None => return Ok(false),
                Some(Err(error)) => return Err(error),
                Some(Ok(Some(shown))) => return Ok(shown),
                Some(Ok(None)) => self.wait_for_lock()?,
            }
        }
    }

    /// Locks an entry under its latch. A committed delete mark is nobody's row and is not locked.
    pub(crate) fn lock_for_read(
        &self,
        clustered: &Index,
        key: &[u8],
        entry: Entry<'_>,
        mode: LockMode,
        policy: WaitPolicy,
    ) -> EngineResult<Conflict> {
        if Some(entry.writer) == self.id() {
            // The writer's id is an X lock already.
            return Ok(Conflict::None);
        }
        loop {
            let implicit = self.engine.unfinished_writer(entry.writer)?;
            if implicit.is_none() {
                self.note_seen(entry.writer);
                if entry.deleted {
                    return Ok(Conflict::None);
                }
            }
            // A writer that ended meanwhile has committed: a rollback would have needed the entry's latch.
            if let Some(conflict) = self.request_lock(clustered.id(), key, mode, implicit.as_ref(), policy)? {
                return Ok(conflict);
            }
        }
    }

    /// Gives back the lock of a row that a locking read returned and that the statement does not want after all (READ
    /// COMMITTED). Does nothing if the row was locked or written before that statement.
    pub fn unlock_row(&self, table: &Arc<Table>, key: &[u8]) {
        if let Some(owner) = self.owner.get() {
            let mark = self.statement_locks.load(std::sync::atomic::Ordering::Relaxed);
            self.engine.locks.unlock(owner, table.clustered().id(), key, mark);
        }
    }
}
