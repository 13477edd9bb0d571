//! Inserting sorted entries leaf by leaf: one latch, one redo group and one page record for the entries of a leaf.
//! What is not plain (a key that is there, a lock, a long value, a busy stripe) goes entry by entry through `entry.rs`.

use super::insert::RowWriter;
use crate::transaction_system::{TransactionSystem, UNIQUE_STRIPES};
use btree::{RunEntry, RunStop, SortedEntries};
use buffer::MiniTransaction;
use engine_error::EngineResult;
use entry::SECONDARY_HEADER_BYTES;
use std::sync::{Arc, MutexGuard};
use stdx::ids::IndexId;
use tables::Index;
use txn::{KeyList, Old, UndoRecord};
use undo::{UndoLog, Writer};

/// Most entries of one run: bounds the redo group.
const RUN_ENTRIES_MAX: usize = 1024;
/// Runs between two looks at the kill flag.
const RUNS_PER_KILL_CHECK: usize = 64;

/// The unique stripes that a run holds until its entries are in the leaf.
#[derive(Default)]
struct Stripes<'a> {
    held: [u64; UNIQUE_STRIPES.div_ceil(64)],
    guards: Vec<MutexGuard<'a, ()>>,
}

/// Buffers of a sequence of runs.
#[derive(Default)]
struct RunBuffers {
    keys: KeyList,
    log: Vec<u8>,
}

impl RowWriter<'_> {
    /// Inserts the clustered entries of new rows. One undo record a leaf stands for its rows and all their secondary
    /// entries (rule B2). `insert_alone` inserts the whole row of that ordinal, which met something.
    pub(crate) fn insert_clustered_runs(
        &self,
        writer: &Arc<Writer>,
        entries: &SortedEntries,
        insert_alone: &mut dyn FnMut(usize) -> EngineResult<()>,
    ) -> EngineResult<()> {
        let index = self.table.clustered();
        self.transaction.engine.tables.note_cut_keys(self.table, index)?;
        self.insert_runs(writer, index, true, entries, &mut |_, ordinal| insert_alone(ordinal))
    }

    /// Inserts the secondary entries of rows whose clustered entries `insert_clustered_runs` has inserted. They need no
    /// undo records, but for those that go alone.
    pub(crate) fn insert_secondary_runs(
        &self,
        writer: &Arc<Writer>,
        number: usize,
        entries: &SortedEntries,
    ) -> EngineResult<()> {
        let index = self.table.index(number)?;
        self.transaction.engine.tables.note_cut_keys(self.table, index)?;
        self.insert_runs(writer, index, false, entries, &mut |entry, _| {
            self.put_secondary(number, entry.key, entry.unique_bytes, &entry.value[SECONDARY_HEADER_BYTES..])
        })
    }

    fn insert_runs(
        &self,
        writer: &Arc<Writer>,
        index: &Index,
        clustered: bool,
        entries: &SortedEntries,
        insert_alone: &mut dyn FnMut(&RunEntry<'_>, usize) -> EngineResult<()>,
    ) -> EngineResult<()> {
        let all: Vec<RunEntry<'_>> = entries.iter().map(|(entry, _)| entry).collect();
        let mut buffers = RunBuffers::default();
        let (mut done, mut runs) = (0, 0usize);
        while done < all.len() {
            self.transaction.engine.undo.save_long_undo(writer)?;
            self.transaction.engine.pool.check_writable()?;
            if runs.is_multiple_of(RUNS_PER_KILL_CHECK) {
                self.transaction.check_kill()?;
            }
            runs += 1;
            let run = &all[done..all.len().min(done + RUN_ENTRIES_MAX)];
            match self.insert_run(writer, index, clustered, run, &mut buffers)? {
                0 => {
                    insert_alone(&run[0], entries.entry(done).1)?;
                    done += 1;
                }
                inserted => done += inserted,
            }
        }
        Ok(())
    }

    /// Inserts the first entries that belong to one leaf. Returns how many; 0 if the first is not plain.
    fn insert_run(
        &self,
        writer: &Writer,
        index: &Index,
        clustered: bool,
        run: &[RunEntry<'_>],
        buffers: &mut RunBuffers,
    ) -> EngineResult<usize> {
        let pool = &self.transaction.engine.pool;
        let owner = self.transaction.owner();
        loop {
            let mut mini = pool.mini_transaction();
            let mut stripes = Stripes::default();
            let mut edit = index.tree.edit(&mut mini, run[0].key)?;
            let locks = &self.transaction.engine.system.locks;
            let mut admits = |entry: &RunEntry<'_>| {
                if locks.is_closed(owner, index.id(), entry.key) {
                    return false;
                }
                if clustered {
                    return !locks.others_lock(owner, index.id(), entry.key);
                }
                entry.unique_bytes == 0
                    || stripes.hold(
                        &self.transaction.engine.system,
                        index.id(),
                        &entry.key[..entry.unique_bytes],
                    )
            };
            let (inserted, stop) = edit.insert_run(run, writer.id.0, &mut admits)?;
            if inserted > 0 {
                if clustered {
                    commit_rows(
                        &self.transaction.engine.undo,
                        writer,
                        mini,
                        index.id(),
                        &run[..inserted],
                        buffers,
                    );
                } else {
                    mini.commit();
                }
                return Ok(inserted);
            }
            if stop != RunStop::NeedsRoom {
                return Ok(0);
            }
            drop(mini);
            drop(stripes);
            index.tree.make_room(pool, run[0].key, run[0].value.len())?;
        }
    }
}

impl<'a> Stripes<'a> {
    /// Holds the stripe of a unique key, without waiting; false if another has it.
    fn hold(&mut self, system: &'a TransactionSystem, index: IndexId, unique: &[u8]) -> bool {
        let stripe = system.unique_stripe(index, unique);
        let (word, bit) = (stripe / 64, 1 << (stripe % 64));
        if self.held[word] & bit != 0 {
            return true;
        }
        let Some(guard) = system.try_unique_guard(stripe) else { return false };
        self.held[word] |= bit;
        self.guards.push(guard);
        true
    }
}

/// Logs the undo record of new rows in their redo group, commits it and adds the record to the list.
fn commit_rows(
    undo: &UndoLog,
    writer: &Writer,
    mini: MiniTransaction<'_>,
    index: IndexId,
    rows: &[RunEntry<'_>],
    buffers: &mut RunBuffers,
) {
    buffers.keys.clear();
    rows.iter().for_each(|row| buffers.keys.push(row.key));
    let key = buffers.keys.as_bytes();
    let record =
        UndoRecord { index, key, old: Old::Rows, version: false, tombstone: false, dead: &[], jumps: &[] };
    undo.commit_with_undo(writer, mini, record, &mut buffers.log, rows.len() as u64);
}
