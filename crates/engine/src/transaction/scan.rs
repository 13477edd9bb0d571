//! Scans of a transaction: consistent ones, and locking ones leaf by leaf. See [`crate::read::Scan`] for the interface.

use super::Transaction;
use super::entry_locks::EntryLocks;
use super::leaf_locks::{LeafAsk, Taker};
use super::locking::lock_of;
use crate::lob::Wanted;
use crate::read::{Filling, KeyRange, ReadMode, RowBatch, Scan, ScanOptions, VisitRow, WaitPolicy};
use btree::Taken;
use engine_error::EngineResult;
use entry::EntryKind;
use metrics::Counter;
use std::sync::Arc;
use tables::Table;
use txn::locks::LockMode;

impl Transaction {
    /// Starts a scan.
    pub fn scan(&self, table: &Arc<Table>, mut options: ScanOptions) -> EngineResult<Scan> {
        table.check_usable()?;
        options.mode = table.read_mode(options.mode);
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
        let gives_back = scan.options.index == 0 && !self.repeats_reads();
        let more = match lock_of(scan.options.mode, gives_back) {
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
                EntryLocks { transaction: self, mode, policy }.lock_leaf(scan, batch, rows_max)?
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

    /// Locks what MySQL locks behind the range of a scan that has come to its end: the next row or, of a secondary index, its entry.
    fn lock_beyond(&self, scan: &mut Scan, mode: LockMode, policy: WaitPolicy) -> EngineResult<()> {
        let Some(mut beyond) = scan.beyond() else { return Ok(()) };
        if scan.options.index != 0 && !scan.options.locks_row_beyond {
            let entries = EntryLocks { transaction: self, mode, policy };
            while entries.lock_entries(&mut beyond, 1)?.is_some_and(|entries| entries.is_empty()) {}
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
        let ask = LeafAsk {
            transaction: self,
            index: table.clustered(),
            kind: EntryKind::Clustered,
            range: &scan.options.range,
            // Who closes gaps looks whether they are of a range with one row by a secondary index only.
            is_single: false,
            direction: scan.options.direction,
            mode,
            policy,
            rows_max,
        };
        let mut filling = Filling::new(&table, &scan.options.columns);
        let mut awaited = scan.awaited.take();
        let result = scan.cursor.next_leaf(&table.clustered().tree, &self.engine.pool, |leaf| {
            match ask.lock(leaf, &mut Taker::Rows(&mut filling, batch), &mut awaited) {
                Ok(found) => (found.taken, (found.awaits, found.passed_over)),
                Err(error) => (Taken::First(0), (Err(error), None)),
            }
        })?;
        match result {
            None => Ok(false),
            Some((awaits, passed_over)) => {
                let completed = filling.complete(&self.engine.reads, None, batch);
                completed.inspect_err(|_| self.engine.system.locks.abandon(self.owner()))?;
                // Rows that are locked already go out first, and may be given back; the wait is met again by the next call.
                scan.awaited = awaited;
                match awaits? {
                    Some(key) if batch.is_empty() => {
                        scan.awaited = Some(key);
                        self.wait_for_lock()?;
                    }
                    Some(_) => self.engine.system.locks.abandon(self.owner()),
                    None => {}
                }
                if let Some(key) = passed_over {
                    self.show_last_committed(scan, &key, batch)?;
                }
                Ok(true)
            }
        }
    }

    /// Adds the row of a key, which another transaction has locked, to a batch as it was last committed, if there was one.
    fn show_last_committed(&self, scan: &Scan, key: &[u8], batch: &mut RowBatch) -> EngineResult<()> {
        let (mut snapshot, mut row) = (self.engine.system.new_snapshot(), Vec::new());
        let view = self.view_of_now(&mut snapshot)?;
        view.check_readable(scan.table.clustered())?;
        let wanted = Wanted::whole(&scan.options.columns);
        let copy = &mut |bytes: &[u8]| row.extend_from_slice(bytes);
        if self.engine.reads.get_visible(view, &scan.table, key, wanted, copy)?.is_some() {
            batch.push(key, &row)?;
            batch.set_last_unlocked(true);
        }
        Ok(())
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
