//! Reading single rows in a transaction: as its snapshot sees them, or the newest with a lock.

use super::locking::lock_of;
use super::{Conflict, Transaction};
use crate::lob::{Wanted, bytes_to_fetch};
use crate::read::{KeyRange, ReadMode, RowBatch, ScanOptions, WaitPolicy};
use engine_error::EngineResult;
use entry::{Entry, EntryKind, StoredRow, parse_entry};
use metrics::Counter;
use std::sync::Arc;
use tables::{Index, Table};
use txn::locks::LockMode;
use values::row::ColumnSet;

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
        let mode = table.read_mode(mode);
        if index != 0 {
            return self.get_by_secondary(table, index, key, mode, wanted, found);
        }
        if mode != ReadMode::Consistent {
            self.check_may_lock(mode)?;
            self.check_snapshot_reads(table.clustered())?;
        }
        let is_found = match lock_of(mode, false) {
            None => {
                let view = self.view()?;
                view.check_readable(table.clustered())?;
                let row = self.engine.reads.get_visible(view, table, key, Wanted::whole(wanted), found)?;
                row.is_some()
            }
            Some((lock, policy)) => loop {
                let is_there = self.get_locked_columns(table, key, lock, policy, wanted, found)?;
                // It may be there and left out.
                let may_be_there = policy == WaitPolicy::SkipLocked || self.engine.shared.is_forced();
                if is_there || self.close_gap_at(table.clustered(), key)? || may_be_there {
                    break is_there;
                }
            },
        };
        Counter::RowsRead.add(u64::from(is_found));
        Ok(is_found)
    }

    /// Reads one row through a unique secondary key.
    fn get_by_secondary(
        &self,
        table: &Arc<Table>,
        index: usize,
        key: &[u8],
        mode: ReadMode,
        wanted: &ColumnSet,
        found: &mut dyn FnMut(&[u8]),
    ) -> EngineResult<bool> {
        let (range, columns) = (KeyRange::prefix(key), wanted.clone());
        let options = ScanOptions { index, range, mode, columns, ..ScanOptions::default() };
        let mut scan = self.scan(table, options)?;
        let mut batch = RowBatch::new();
        if !self.scan_next(&mut scan, &mut batch, 1)? {
            return Ok(false);
        }
        found(batch.row(0));
        Ok(true)
    }

    /// Locks a clustered row and shows its newest state, with those of its long values that are wanted. False if there is none.
    fn get_locked_columns(
        &self,
        table: &Table,
        key: &[u8],
        mode: LockMode,
        policy: WaitPolicy,
        wanted: &ColumnSet,
        found: &mut dyn FnMut(&[u8]),
    ) -> EngineResult<bool> {
        let (mut kept, mut failed) = (None, Ok(()));
        let is_there = self.get_locked(table, key, mode, policy, &mut |row| match bytes_to_fetch(
            &row, table, wanted,
        ) {
            Ok(None) => found(row.bytes),
            Ok(Some(_)) => kept = Some(row.to_owned()),
            Err(error) => failed = Err(error),
        })?;
        failed?;
        if let Some(row) = kept {
            let mut whole = Vec::new();
            if let Err(gone) =
                self.engine.values.fetch(table, row.as_stored(), Wanted::whole(wanted), &mut whole)?
            {
                return if self.engine.shared.is_forced() { Ok(false) } else { Err(gone.into()) };
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
        let (clustered, mut has_waited) = (table.clustered(), false);
        loop {
            let result =
                clustered.tree.get(&self.engine.pool, key, |value| -> EngineResult<Option<bool>> {
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
            match result.transpose()?.unwrap_or(Some(false)) {
                Some(shown) => {
                    if has_waited && !shown && !self.repeats_reads() {
                        // Whoever had the row has taken it away.
                        self.unlock_of_statement(clustered, key);
                    }
                    return Ok(shown);
                }
                None => self.wait_for_lock()?,
            }
            has_waited = true;
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
        if Some(entry.writer) == self.id() || clustered.id().is_temporary() {
            // The writer's id is an X lock already.
            return Ok(Conflict::None);
        }
        loop {
            let implicit = self.engine.system.unfinished_writer(entry.writer)?;
            if implicit.is_none() {
                self.note_seen(entry.writer);
                self.check_seen_by_strict_snapshot(entry.writer)?;
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

    /// As [`Transaction::unlock_row`], for an entry that was locked instead of its row ([`crate::RowBatch::entry_key`]).
    pub fn unlock_entry(&self, table: &Arc<Table>, index: usize, key: &[u8]) {
        if let Ok(index) = table.index(index) {
            self.unlock_of_statement(index, key);
        }
    }

    /// Gives back the lock of a row that a locking read returned and that the statement does not want after all (READ
    /// COMMITTED). Does nothing if the row was locked or written before that statement.
    pub fn unlock_row(&self, table: &Arc<Table>, key: &[u8]) {
        self.unlock_of_statement(table.clustered(), key);
    }

    fn unlock_of_statement(&self, index: &Index, key: &[u8]) {
        if let Some(owner) = self.owner.get() {
            let mark = self.statement_locks.get();
            self.engine.system.locks.unlock(owner, index.id(), key, mark);
        }
    }
}
