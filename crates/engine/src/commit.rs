//! The end of a transaction: commit in one total order, rollback of all or part. See rules C1 to C4 in README.md.

use crate::engine::EngineInner;
use crate::entry::Head;
use crate::error::{EngineError, EngineResult};
use crate::leavings::{Finished, Left};
use crate::records::{KIND_COMMIT, KIND_POP, KIND_ROLLED_BACK, encode_id, encode_pop};
use crate::transaction::{Mark, Transaction};
use crate::write::load_head;
use crate::writer::Writer;
use btree::{LeafEdit, Placed};
use std::sync::Arc;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Duration;
use stdx::ids::{CommitTimestamp, IndexId, Lsn};
use txn::locks::LockMode;
use txn::{Old, UndoRecord};

/// The page's newest writer stays: what it was before is not known, and it only makes readers look closer.
pub(crate) const NO_WRITER: u64 = 0;
/// Bytes of log that a rollback writes without asking again, where there was no room when it asked.
const UNASKED_BYTES: u64 = 32 << 10;
/// What it takes to cut an undone record off the undo tree, about.
const POP_BYTES: u64 = 32;
/// Pause between tries of a rollback that finds the disk full. It cannot fail: it tries until there is room.
const ROLLBACK_RETRY: Duration = Duration::from_millis(200);

impl EngineInner {
    /// Commits a writer: the commit record enters the log and the commit table in the same order.
    pub(crate) fn commit_writer(&self, writer: &Arc<Writer>) -> Lsn {
        let mut mini = self.pool.mini_transaction();
        mini.log(KIND_COMMIT, &encode_id(writer.id));
        let in_undo_tree = writer.end();
        let left = Left::take(&mut writer.undo());
        let lsn = {
            let _order = self.commit_order.lock().unwrap_or_else(PoisonError::into_inner);
            let lsn = mini.commit();
            let timestamp = CommitTimestamp(lsn.0);
            self.commits.set_committed(writer.id, timestamp);
            if let Some(left) = left {
                self.purge.add(Finished { timestamp, writer: writer.id, left });
            }
            self.last_committed.store(lsn.0, Ordering::Release);
            lsn
        };
        self.forget_writer(writer, in_undo_tree);
        lsn
    }

    /// What is undone goes through the log, which on a full disk cannot grow, and which records still to be undone may pin.
    pub(crate) fn make_room_to_undo(&self, writer: &Writer) -> EngineResult<()> {
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
    pub(crate) fn try_room_to_undo(&self, writer: &Writer) {
        let end = self.pool.redo().end_lsn();
        if end >= writer.asks_from() && self.make_room_to_undo(writer).is_err() {
            writer.set_asks_from(Lsn(end.0 + UNASKED_BYTES));
        }
    }

    /// Undoes the writer's records down to that length, newest first, each in a mini-transaction that logs it.
    /// `keep_locks` gives rows back an X lock object before their old writer's id shows (partial rollback).
    pub(crate) fn undo_to(&self, writer: &Writer, length: u64, keep_locks: bool) -> EngineResult<()> {
        let _reserve = buffer::use_reserve();
        loop {
            self.try_room_to_undo(writer);
            match self.undo_newest(writer, length, keep_locks) {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                // It cannot fail: a full disk is waited out.
                Err(EngineError::NoSpace) => {
                    env::blocking::region(|| self.environment.clock.sleep(ROLLBACK_RETRY));
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Undoes the newest record above that length; false if there is none.
    pub(crate) fn undo_newest(&self, writer: &Writer, length: u64, keep_locks: bool) -> EngineResult<bool> {
        // KILL ends statements, not what takes them back.
        let _to_its_end = env::blocking::uninterrupted();
        let mut bytes = Vec::new();
        if !self.load_newest_undo(writer, length, &mut bytes)? {
            return Ok(false);
        }
        let record = UndoRecord::decode(&bytes).ok_or_else(bad_record)?;
        match self.undo_record(writer, record, keep_locks) {
            // Tried again, it is passed over.
            Err(EngineError::Corrupt(reason)) if self.close_table_of(record.index, &reason)? => {}
            result => result?,
        }
        Ok(true)
    }

    /// Copies the newest record above that length; false if there is none.
    fn load_newest_undo(&self, writer: &Writer, length: u64, bytes: &mut Vec<u8>) -> EngineResult<bool> {
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
            let chunk = self.undo_store.chunk_at(&self.pool, writer.id, newest)?.ok_or_else(bad_record)?;
            let records = chunk.records().take((newest + 1 - chunk.first) as usize);
            let mut undo = writer.undo();
            if undo.list.is_elsewhere() && !undo.list.bring_back(chunk.first, records) {
                return Err(bad_record());
            }
        }
    }

    /// The index of a writer's newest change.
    pub(crate) fn newest_undo_index(&self, writer: &Writer) -> EngineResult<Option<IndexId>> {
        let mut bytes = Vec::new();
        if !self.load_newest_undo(writer, 0, &mut bytes)? {
            return Ok(None);
        }
        Ok(Some(UndoRecord::decode(&bytes).ok_or_else(bad_record)?.index))
    }

    fn undo_record(&self, writer: &Writer, record: UndoRecord<'_>, keep_locks: bool) -> EngineResult<()> {
        match record.old {
            Old::Rows => return self.undo_rows(writer, record),
            Old::Lobs => return self.undo_values(writer, record),
            _ => {}
        }
        // Before the row has its values back, and before the writer may commit without this change.
        self.garbage.remove(&self.pool, writer.id, record.index, record.dead)?;
        let Some(index) = self.open_index(record.index)? else {
            // The table was dropped; nothing of it is left to restore.
            self.pop_without_page(writer);
            return Ok(());
        };
        if self.pass_over_undo(writer, index.tree.id().space, &record)? {
            return Ok(());
        }
        let mut current_value = Vec::new();
        loop {
            let mut mini = self.pool.mini_transaction();
            let edit = index.tree.edit(&mut mini, record.key)?;
            let current = load_head(&edit, &mut current_value)?.filter(|head| head.writer == writer.id);
            let underfull = match current {
                // Not ours: the change never reached the page.
                None => false,
                Some(_) => {
                    if keep_locks && index.table.is_some() {
                        let mode = LockMode::EXCLUSIVE_RECORD;
                        self.locks.request(&writer.owner, record.index, record.key, mode, None, false);
                    }
                    match restore(edit, record.old)? {
                        Restored::Done { underfull } => underfull,
                        Restored::NeedsRoom(bytes) => {
                            drop(mini);
                            index.tree.make_room(&self.pool, record.key, bytes)?;
                            continue;
                        }
                    }
                }
            };
            if record.version {
                self.versions.pop(record.index, record.key, writer.id);
            }
            let mut undo = writer.undo();
            mini.log(KIND_POP, &encode_pop(writer.id, undo.list.len() - 1));
            mini.commit();
            undo.pop();
            writer.add_unsaved(POP_BYTES);
            drop(undo);
            if underfull {
                index.tree.merge_at(&self.pool, record.key)?;
            }
            self.note_restored_tombstone(record);
            return Ok(());
        }
    }

    pub(crate) fn pop_without_page(&self, writer: &Writer) {
        let mut mini = self.pool.mini_transaction();
        let mut undo = writer.undo();
        mini.log(KIND_POP, &encode_pop(writer.id, undo.list.len() - 1));
        mini.commit();
        undo.pop();
        writer.add_unsaved(POP_BYTES);
    }

    /// A delete mark that a rollback brought back has missed its purge.
    fn note_restored_tombstone(&self, record: UndoRecord<'_>) {
        if let Old::Value(value) | Old::Head(value) = record.old
            && let Some(head) = Head::parse(value).filter(|head| head.deleted)
        {
            self.purge.add_stray(record.index, record.key, head.writer);
        }
    }

    /// Undoes everything a writer did and ends it.
    pub(crate) fn roll_back_writer(&self, writer: &Arc<Writer>) -> EngineResult<()> {
        self.undo_to(writer, 0, false)?;
        self.end_rollback(writer);
        Ok(())
    }

    /// Ends a writer that has nothing left to undo.
    pub(crate) fn end_rollback(&self, writer: &Arc<Writer>) {
        let mut mini = self.pool.mini_transaction();
        let in_undo_tree = writer.end();
        mini.log(KIND_ROLLED_BACK, &encode_id(writer.id));
        mini.commit();
        self.commits.set_rolled_back(writer.id);
        self.forget_writer(writer, in_undo_tree);
    }

    /// Takes a finished writer out of the registry, once the undo tree holds nothing of it any more.
    fn forget_writer(&self, writer: &Arc<Writer>, in_undo_tree: bool) {
        if in_undo_tree {
            self.undo_store.discard_later(writer.clone());
        } else {
            self.writers.remove(writer.id);
        }
        self.locks.finish(&writer.owner);
    }
}

fn bad_record() -> EngineError {
    EngineError::Corrupt("undo record does not make sense".to_owned())
}

enum Restored {
    Done { underfull: bool },
    NeedsRoom(usize),
}

/// Gives an entry its old state back.
fn restore(mut edit: LeafEdit<'_, '_>, old: Old<'_>) -> EngineResult<Restored> {
    match old {
        Old::Absent | Old::Rows | Old::Lobs => Ok(Restored::Done { underfull: edit.remove(NO_WRITER)? }),
        Old::Head(head) => {
            edit.patch(0, head, NO_WRITER)?;
            Ok(Restored::Done { underfull: false })
        }
        Old::Value(value) => match edit.replace(value, NO_WRITER)? {
            Placed::Done => Ok(Restored::Done { underfull: false }),
            Placed::NeedsRoom => Ok(Restored::NeedsRoom(value.len())),
        },
    }
}

impl Transaction {
    /// Undoes all writes made since the mark. Row locks stay, as in InnoDB.
    pub fn rollback_to(&self, mark: Mark) -> EngineResult<()> {
        match self.writer.get() {
            Some(writer) if !self.is_rolled_back() => self.engine.undo_to(writer, mark.0, true),
            _ => Ok(()),
        }
    }

    /// Commits: the commit record is in the log when this returns, and other transactions may see and lock the rows. The
    /// client may hear of it when [`crate::Engine::durable_lsn`] is at least the returned LSN (0 if nothing was written).
    pub fn commit(self) -> EngineResult<Lsn> {
        self.check_alive()?;
        self.ended.store(true, Ordering::Release);
        let lsn = match self.writer.get() {
            Some(writer) => self.engine.commit_writer(writer),
            None => {
                self.finish_locks();
                Lsn(0)
            }
        };
        Ok(lsn)
    }

    /// Undoes all writes and releases all locks.
    pub fn rollback(self) -> EngineResult<()> {
        self.roll_back_all()
    }

    /// Rolls back and leaves the handle dead: deadlock victims, drops.
    pub(crate) fn roll_back_all(&self) -> EngineResult<()> {
        if self.ended.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        match self.writer.get() {
            Some(writer) => {
                let done = self.engine.roll_back_writer(writer);
                done.inspect_err(|_| self.engine.roll_back_later(writer))
            }
            None => {
                self.finish_locks();
                Ok(())
            }
        }
    }

    fn finish_locks(&self) {
        if let Some(owner) = self.owner.get() {
            self.engine.locks.finish(owner);
        }
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        // A rollback that fails goes on in the background, and its rows stay locked until then.
        let _ = self.roll_back_all();
    }
}
