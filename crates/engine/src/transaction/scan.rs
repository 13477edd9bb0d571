//! Scans of a transaction: consistent ones, and locking ones leaf by leaf. See [`crate::read::Scan`] for the interface.

use super::Transaction;
use super::leaf_locks::LeafAsk;
use super::locking::lock_of;
use crate::lob::{Wanted, bytes_to_fetch};
use crate::read::{
    Candidate, Filling, Gap, KeyRange, ReadMode, RowBatch, Scan, ScanOptions, VisitRow, WaitPolicy,
    entry_key_matches, push_row,
};
use crate::tables::Table;
use btree::{LeafView, Taken};
use engine_error::EngineResult;
use metrics::Counter;
use std::sync::Arc;
use txn::locks::LockMode;

impl Transaction {
    /// Starts a scan.
    pub fn scan(&self, table: &Arc<Table>, options: ScanOptions) -> EngineResult<Scan> {
        table.check_usable()?;
        self.check_may_lock(options.mode)?;
        self.check_snapshot_reads(table.index(options.index)?)?;
        Ok(Scan::new(table, options))
    }

    pub(crate) fn scan_next(
        &self,
        scan: &mut Scan,
        batch: &mut RowBatch,
        rows_max: usize,
    ) -> EngineResult<bool> {
        batch.clear();
        scan.table.check_usable()?;
        let more = match lock_of(scan.options.mode) {
            None => {
                let view = self.view()?;
                let kill = || self.check_kill();
                self.engine.reads.scan_visible(view, scan, batch, rows_max.max(1), &kill)?
            }
            Some((mode, policy)) => {
                self.check_alive()?;
                self.scan_locked(scan, mode, policy, batch, rows_max.max(1))?
            }
        };
        Counter::RowsRead.add(batch.len() as u64);
        Ok(more)
    }

    fn scan_locked(
        &self,
        scan: &mut Scan,
        mode: LockMode,
        policy: WaitPolicy,
        batch: &mut RowBatch,
        rows_max: usize,
    ) -> EngineResult<bool> {
        while batch.is_empty() {
            self.check_kill()?;
            let going = if scan.options.index == 0 {
                self.lock_clustered_leaf(scan, mode, policy, batch, rows_max)?
            } else {
                self.lock_secondary_leaf(scan, mode, policy, batch, rows_max)?
            };
            if !going {
                if self.repeats_reads() && policy != WaitPolicy::SkipLocked {
                    self.lock_beyond(scan, mode, policy)?;
                }
                break;
            }
        }
        Ok(!batch.is_empty())
    }

    /// Locks what MySQL locks behind the range of a scan that has come to its end: the next row or, of a secondary index, the gaps
    /// around its entry.
    fn lock_beyond(&self, scan: &mut Scan, mode: LockMode, policy: WaitPolicy) -> EngineResult<()> {
        let Some(mut beyond) = scan.beyond() else { return Ok(()) };
        if scan.options.index != 0 && !scan.options.locks_row_beyond {
            while self.next_candidates(&mut beyond, 1)?.is_some_and(|candidates| candidates.is_empty()) {}
            return Ok(());
        }
        self.scan_locked(&mut beyond, mode, policy, &mut RowBatch::new(), 1).map(|_| ())
    }

    fn lock_clustered_leaf(
        &self,
        scan: &mut Scan,
        mode: LockMode,
        policy: WaitPolicy,
        batch: &mut RowBatch,
        rows_max: usize,
    ) -> EngineResult<bool> {
        let table = scan.table.clone();
        let (range, direction) = (&scan.options.range, scan.options.direction);
        let ask = LeafAsk { transaction: self, table: &table, range, direction, mode, policy, rows_max };
        let mut filling = Filling::new(&table, &scan.options.columns);
        let mut awaited = scan.awaited.take();
        let result = scan.cursor.next_leaf(&table.clustered().tree, &self.engine.pool, |leaf| {
            match ask.lock(leaf, &mut filling, batch, &mut awaited) {
                Ok(found) => (found.taken, found.awaits),
                Err(error) => (Taken::First(0), Err(error)),
            }
        })?;
        match result {
            None => Ok(false),
            Some(awaits) => {
                filling.complete(&self.engine.reads, None, batch)?;
                // Rows that are locked already go out first; the wait is met again by the next call.
                scan.awaited = awaited;
                if let Some(key) = awaits? {
                    scan.awaited = Some(key);
                    self.wait_for_lock()?;
                }
                Ok(true)
            }
        }
    }

    /// Locks the rows behind the entries of a secondary leaf. A row whose newest state has another key is left out.
    fn lock_secondary_leaf(
        &self,
        scan: &mut Scan,
        mode: LockMode,
        policy: WaitPolicy,
        batch: &mut RowBatch,
        rows_max: usize,
    ) -> EngineResult<bool> {
        let table = scan.table.clone();
        let index = table.index(scan.options.index)?;
        if scan.pending.as_slice().is_empty() {
            let candidates = self.next_candidates(scan, rows_max)?;
            let Some(candidates) = candidates else { return Ok(false) };
            scan.pending = candidates.into_iter();
        }
        while batch.has_room(rows_max, 0)
            && let Some(candidate) = scan.pending.next()
        {
            let clustered_key = index.clustered_key(&candidate.key)?;
            let mut row = None;
            let owned = self.owner().lock_mark();
            self.get_locked(&table, clustered_key, mode, policy, &mut |found| row = Some(found.to_owned()))?;
            let Some(row) = row else {
                self.look_again(scan, batch)?;
                continue;
            };
            let source = self.engine.values.key_source(&table, row.as_stored(), &index.columns)?;
            if entry_key_matches(&table, index, &source, &candidate.key, clustered_key)? {
                let columns = if scan.options.covering { &index.columns } else { &scan.options.columns };
                let mut whole = Vec::new();
                let row = match bytes_to_fetch(&row.as_stored(), &table, columns)? {
                    None => &row.bytes,
                    Some(_) => {
                        self.engine.values.fetch(
                            &table,
                            row.as_stored(),
                            Wanted::whole(columns),
                            &mut whole,
                        )??;
                        &whole
                    }
                };
                push_row(batch, &table, index, scan.options.covering, clustered_key, row)?;
            } else {
                // A row that moved away in this index: locked for nothing.
                self.engine.system.locks.unlock(&self.owner(), table.clustered().id(), clustered_key, owned);
                self.look_again(scan, batch)?;
            }
        }
        Ok(true)
    }

    /// An entry that was found, so that the gap beside it was left open, has no row: it is looked for once more.
    fn look_again(&self, scan: &mut Scan, batch: &RowBatch) -> EngineResult<()> {
        let index = scan.table.index(scan.options.index)?;
        let is_open = batch.is_empty() && !scan.was_mistaken;
        if is_open && self.repeats_reads() && scan.options.range.has_one_row(index) {
            scan.was_mistaken = true;
            scan.restart();
        }
        Ok(())
    }

    /// Copies keys out of the next secondary leaf, and keeps the gaps before them closed.
    fn next_candidates(&self, scan: &mut Scan, rows_max: usize) -> EngineResult<Option<Vec<Candidate>>> {
        let table = scan.table.clone();
        let index = table.index(scan.options.index)?;
        let (range, direction) = (scan.options.range.clone(), scan.options.direction);
        let has_one_row = range.has_one_row(index) && !scan.was_mistaken;
        let close = &mut |leaf: &LeafView<'_>, taken: Taken, found: usize| match has_one_row && found > 0 {
            true => Ok(()),
            false => self.close_gap(index, || Gap::seen(&range, direction, leaf, taken)),
        };
        self.engine.reads.newest_candidates(scan, index, rows_max, close)
    }

    /// Counts the rows of a range that the transaction's snapshot sees, without decoding them: whole leaves that everyone
    /// sees are counted by their header.
    pub fn count(&self, table: &Arc<Table>, index: usize, range: &KeyRange) -> EngineResult<u64> {
        self.reader()?.count(table, index, range, &|| self.check_kill())
    }
}

impl Scan {
    /// Replaces the contents of `batch` by the next rows, at most `rows_max` of them (and at most a few leaves' worth).
    /// False at the end of the range: the batch is then empty. A locking scan locks exactly the rows it returns.
    /// Errors: Killed, LockWaitTimeout, Deadlock, LockNotAvailable, Corrupt, Io, TableDefinitionChanged.
    pub fn next_batch(
        &mut self,
        transaction: &Transaction,
        batch: &mut RowBatch,
        rows_max: usize,
    ) -> EngineResult<bool> {
        transaction.scan_next(self, batch, rows_max)
    }
}

impl Scan {
    /// Shows the visible rows of the next leaf to `visit`, or as many of them as have long values for a batch; false at the end of the
    /// range. Only for consistent reads, and of a
    /// secondary index only for covering ones. `visit` runs under the leaf's latch: it must neither block nor call
    /// the engine. Rows come in the order of the index.
    /// Errors: as [`Scan::next_batch`].
    pub fn visit_leaf(&mut self, transaction: &Transaction, visit: &mut VisitRow<'_>) -> EngineResult<bool> {
        self.table.check_usable()?;
        transaction.check_kill()?;
        debug_assert!(self.options.mode == ReadMode::Consistent);
        debug_assert!(self.options.index == 0 || self.options.covering);
        let view = transaction.view()?;
        let reads = &transaction.engine.reads;
        let mut rows = 0;
        let mut counted = |row: &[u8]| {
            rows += 1;
            visit(row);
        };
        let more = if self.options.index == 0 {
            reads.visit_clustered_leaf(view, self, &mut counted)?
        } else {
            reads.visit_secondary_leaf(view, self, &mut counted)?
        };
        Counter::RowsRead.add(rows);
        Ok(more)
    }
}
