//! Undo: what transactions that write note down to take it back, in lists, in the log, and in a tree of the system tablespace once
//! the log must go on (rule U3 in README.md). Main types: [`UndoLog`], [`Writer`]. Knows neither tables nor rows; what a record says
//! is done by the engine's `rollback`. Rules in README.md.
#![forbid(unsafe_code)]

mod before;
mod error;
mod history;
mod log_needs;
mod losers;
mod prepare;
mod records;
mod saving;
mod store;
mod stray_marks;
mod touched;
mod writer;

pub use before::{Before, OldState, Row};
pub use error::{UndoError, UndoResult};
pub use history::{Adding, Committed, Finished, History, HistoryFigures};
pub use log_needs::LogNeeds;
pub use records::{Losers, log_commit, log_rolled_back, logical_record_text};
pub use store::UndoStore;
pub use stray_marks::{Stray, StrayMarks};
pub use touched::Touched;
pub use writer::{Undo, Writer, WriterRegistry};

use buffer::{BufferPool, MiniTransaction};
use records::{KIND_POP, KIND_UNDO, encode_pop, encode_undo};
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use stdx::ids::{Lsn, TransactionId};
use txn::{CommitTable, SpillFile, UndoPlace, UndoRecord};

/// Bytes of log that a rollback writes without asking again, where there was no room when it asked.
const UNASKED_BYTES: u64 = 32 << 10;
/// What it takes to cut an undone record off the undo tree, about.
const POP_BYTES: u64 = 32;
/// Looks at a writer that ends at this moment; damage names one that never was.
const LOOKS_MAX: u32 = 1000;

/// The undo of all writers.
pub struct UndoLog {
    pool: Arc<BufferPool>,
    /// Those that are unfinished, and finished ones of which the tree holds something.
    pub writers: WriterRegistry,
    /// The tree.
    pub store: UndoStore,
    /// Lists of those that have committed.
    pub history: History,
    /// One saver of undo at a time.
    pub saver: Mutex<()>,
    /// Where undo lists go that outgrow memory.
    spill_file: Arc<SpillFile>,
    limits: UndoLimits,
}

/// How much undo is kept where.
#[derive(Clone, Copy, Debug)]
pub struct UndoLimits {
    /// Bytes of log a transaction's undo may span before it is saved elsewhere.
    pub log_bytes_max: u64,
    /// Memory for the undo list of one transaction, in bytes.
    pub memory_bytes_max: u64,
    /// Memory for the lists of all that have committed, in bytes.
    pub history_bytes_max: u64,
}

impl UndoLog {
    /// Of no writer yet.
    pub fn new(
        pool: Arc<BufferPool>,
        store: UndoStore,
        spill_file: Arc<SpillFile>,
        limits: UndoLimits,
    ) -> UndoLog {
        UndoLog {
            pool,
            writers: WriterRegistry::new(),
            store,
            history: History::new(limits.history_bytes_max, spill_file.clone()),
            saver: Mutex::new(()),
            spill_file,
            limits,
        }
    }

    /// Logs the undo record in the mini-transaction's group, commits it and adds the record, which stands for so many
    /// entries, to the list.
    pub fn commit_with_undo(
        &self,
        writer: &Writer,
        mini: MiniTransaction<'_>,
        record: UndoRecord<'_>,
        log: &mut Vec<u8>,
        entries: u64,
    ) {
        self.commit_with_listed(writer, mini, record, record, log, entries);
    }

    /// As `commit_with_undo`; the list gets another record than the log, which says more.
    pub fn commit_with_listed(
        &self,
        writer: &Writer,
        mut mini: MiniTransaction<'_>,
        logged: UndoRecord<'_>,
        listed: UndoRecord<'_>,
        log: &mut Vec<u8>,
        entries: u64,
    ) {
        let mut undo = writer.undo();
        log.clear();
        if writer.is_logged() {
            encode_undo(log, writer.id, undo.list.len(), logged);
            mini.log(KIND_UNDO, log);
        }
        mini.commit();
        undo.list.push(listed);
        writer.add_unsaved(log.len() as u64);
        undo.list.bound(self.limits.memory_bytes_max, &self.spill_file);
        let rows_changed = &writer.owner.rows_changed;
        // With the list locked one thread at a time comes here.
        rows_changed.store(rows_changed.load(Ordering::Relaxed) + entries, Ordering::Relaxed);
    }

    /// The file for what outgrows memory.
    pub fn spill_file(&self) -> &Arc<SpillFile> {
        &self.spill_file
    }

    /// The undo record at a position, wherever it is.
    pub fn undo_record_at(&self, writer: &Writer, position: u64) -> UndoResult<Option<Vec<u8>>> {
        {
            let undo = writer.undo();
            if position >= undo.list.first() {
                return Ok(undo.list.encoded_at(position)?);
            }
        }
        let chunk = self.store.chunk_at(&self.pool, writer.id, position)?;
        Ok(chunk.and_then(|chunk| chunk.record(position).map(<[u8]>::to_vec)))
    }

    /// The undo record at a position of a writer that was found in a row, under the row's latch, or in its undo; committed or not.
    /// There is one if a snapshot that is in use does not see the writer.
    pub fn record_of(
        &self,
        commits: &CommitTable,
        id: TransactionId,
        position: u64,
    ) -> UndoResult<Option<Vec<u8>>> {
        for _ in 0..LOOKS_MAX {
            match commits.undo_place(id)? {
                UndoPlace::History(place) => return Ok(self.history.record(place, id, position)?),
                UndoPlace::Gone => return Ok(None),
                UndoPlace::Writer => {
                    // It leaves the registry only after the commit table knows its end; the next look sees it.
                    let Some(writer) = self.writers.get(id) else { continue };
                    let record = self.undo_record_at(&writer, position)?;
                    // It may have committed meanwhile: then its list is in the history.
                    if record.is_some() || commits.undo_place(id)? == UndoPlace::Writer {
                        return Ok(record);
                    }
                }
            }
        }
        Ok(None)
    }

    /// Copies the newest record above that length; false if there is none.
    pub fn load_newest_undo(&self, writer: &Writer, length: u64, bytes: &mut Vec<u8>) -> UndoResult<bool> {
        loop {
            let newest = {
                let mut undo = writer.undo();
                let newest = undo.list.len();
                if newest <= length {
                    return Ok(false);
                }
                if let Some(record) = undo.list.last()? {
                    record.encode(bytes);
                    return Ok(true);
                }
                newest - 1
            };
            // Only in the undo tree.
            let chunk = self.store.chunk_at(&self.pool, writer.id, newest)?.ok_or_else(bad_record)?;
            let records = chunk.records().take((newest + 1 - chunk.first) as usize);
            let mut undo = writer.undo();
            if undo.list.is_elsewhere() && !undo.list.bring_back(chunk.first, records) {
                return Err(bad_record());
            }
        }
    }

    /// Takes the newest record off the list, in a mini-transaction of its own: nothing of it is left to undo.
    pub fn pop_without_page(&self, writer: &Writer) {
        self.pop(writer, self.pool.mini_transaction());
    }

    /// Takes the newest record, which the mini-transaction has undone, off the list, and commits both.
    pub fn pop(&self, writer: &Writer, mut mini: MiniTransaction<'_>) {
        let mut undo = writer.undo();
        if writer.is_logged() {
            mini.log(KIND_POP, &encode_pop(writer.id, undo.list.len() - 1));
            writer.add_unsaved(POP_BYTES);
        }
        mini.commit();
        undo.pop();
    }

    /// What is undone goes through the log, which on a full disk cannot grow, and which records still to be undone may pin.
    pub fn make_room_to_undo(&self, writer: &Writer) -> UndoResult<()> {
        let redo = self.pool.redo();
        if redo.is_starved() {
            let _ = self.save_long_undo(writer);
        }
        if self.pool.check_writable().is_ok() {
            return Ok(());
        }
        // It may be what keeps the log itself.
        self.save_undo(writer)?;
        Ok(self.pool.check_writable()?)
    }

    /// As `make_room_to_undo`; without room it goes on all the same, for a while without asking: it may be the one that makes some.
    pub fn try_room_to_undo(&self, writer: &Writer) {
        let end = self.pool.redo().end_lsn();
        if writer.is_logged() && end >= writer.asks_from() && self.make_room_to_undo(writer).is_err() {
            writer.set_asks_from(Lsn(end.0 + UNASKED_BYTES));
        }
    }

    /// Transactions that the tree holds chunks of though they have ended, and that nobody is about to remove: a start without
    /// their end record in the log would undo them. For checks.
    pub fn orphans(&self) -> UndoResult<BTreeSet<TransactionId>> {
        let ids = self.store.ids(&self.pool)?.into_iter();
        let leftovers: Vec<TransactionId> =
            self.store.leftovers().iter().map(|left| left.writer.id).collect();
        Ok(ids.filter(|id| self.writers.get(*id).is_none() && !leftovers.contains(id)).collect())
    }
}

/// The error of a record that does not decode, or is not where it must be.
pub fn bad_record() -> UndoError {
    UndoError::Corrupt("undo record does not make sense".to_owned())
}
