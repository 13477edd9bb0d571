//! Undoing: records of a writer, newest first, each in a mini-transaction that logs it. Main type: [`Rollback`]. What a crash left
//! unfinished is in `losers.rs`. See rules H1 to H4 in entry's README, B2, L2 and R9 in README.md.

mod losers;
mod rows;

pub(crate) use losers::Unfinished;

use crate::lob::LongValues;
use crate::transaction_system::TransactionSystem;
use btree::{LeafEdit, Placed};
use buffer::BufferPool;
use engine_error::{EngineError, EngineResult};
use entry::{Head, load_head};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use stdx::ids::{IndexId, SpaceId};
use tables::{Shared, Tables};
use txn::locks::LockMode;
use txn::{Old, UndoRecord};
use undo::{UndoLog, Writer, bad_record};

/// The page's newest writer stays: what it was before is not known, and it only makes readers look closer.
pub(crate) const NO_WRITER: u64 = 0;
/// Pause between tries of a rollback that finds the disk full. It cannot fail: it tries until there is room.
const ROLLBACK_RETRY: Duration = Duration::from_millis(200);

/// Takes back what writers have done. Has the unfinished transactions of before the start, and those since whose rollback failed.
pub(crate) struct Rollback {
    shared: Arc<Shared>,
    pool: Arc<BufferPool>,
    tables: Arc<Tables>,
    undo: Arc<UndoLog>,
    values: Arc<LongValues>,
    system: Arc<TransactionSystem>,
    open: Mutex<Vec<Unfinished>>,
    /// Those of before the start that are prepared: nobody undoes them before it is decided.
    prepared: Mutex<Vec<Unfinished>>,
    /// One thread at a time undoes them: the background one, or DDL that waits for it.
    turn: Mutex<()>,
    /// What keeps their rollback from going on, as it was told last.
    trouble: Mutex<Option<String>>,
}

impl Rollback {
    /// Nothing is unfinished.
    pub(crate) fn new(
        shared: Arc<Shared>,
        tables: Arc<Tables>,
        undo: Arc<UndoLog>,
        values: Arc<LongValues>,
        system: Arc<TransactionSystem>,
    ) -> Rollback {
        Rollback {
            pool: shared.pool.clone(),
            shared,
            tables,
            undo,
            values,
            system,
            open: Mutex::default(),
            prepared: Mutex::default(),
            turn: Mutex::default(),
            trouble: Mutex::default(),
        }
    }

    /// Undoes the writer's records down to that length, newest first, each in a mini-transaction that logs it.
    /// `keep_locks` gives rows back an X lock object before their old writer's id shows (partial rollback).
    pub(crate) fn undo_to(&self, writer: &Writer, length: u64, keep_locks: bool) -> EngineResult<()> {
        let _reserve = buffer::use_reserve();
        loop {
            self.undo.try_room_to_undo(writer);
            match self.undo_newest(writer, length, keep_locks) {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                // It cannot fail: a full disk is waited out.
                Err(EngineError::NoSpace) => {
                    env::blocking::region(|| self.shared.environment.clock.sleep(ROLLBACK_RETRY));
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
        if !self.undo.load_newest_undo(writer, length, &mut bytes)? {
            return Ok(false);
        }
        let record = UndoRecord::decode(&bytes).ok_or_else(bad_record)?;
        match self.undo_record(writer, record, keep_locks) {
            // Tried again, it is passed over.
            Err(EngineError::Corrupt(reason)) if self.tables.close_table_of(record.index, &reason)? => {}
            result => result?,
        }
        Ok(true)
    }

    /// The index of a writer's newest change.
    pub(crate) fn newest_undo_index(&self, writer: &Writer) -> EngineResult<Option<IndexId>> {
        let mut bytes = Vec::new();
        if !self.undo.load_newest_undo(writer, 0, &mut bytes)? {
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
        if writer.is_logged() {
            self.values.garbage.remove(&self.pool, writer.id, record.index, record.dead)?;
        }
        let Some(index) = self.tables.open_index(record.index)? else {
            // The table was dropped; nothing of it is left to restore.
            self.undo.pop_without_page(writer);
            return Ok(());
        };
        if self.pass_over_undo(writer, index.tree.id().space)? {
            return Ok(());
        }
        let mut current_value = Vec::new();
        loop {
            let mut mini = self.pool.mini_transaction();
            let edit = index.tree.edit(&mut mini, record.key)?;
            let current =
                load_head(&edit, &mut current_value)?.transpose()?.filter(|head| head.writer == writer.id);
            let underfull = match current {
                // Not ours: the change never reached the page.
                None => false,
                Some(_) => {
                    if keep_locks && index.table.is_some() && writer.is_logged() {
                        let mode = LockMode::EXCLUSIVE_RECORD;
                        self.system.locks.request(&writer.owner, record.index, record.key, mode, None, false);
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
            self.undo.pop(writer, mini);
            if underfull {
                index.tree.merge_at(&self.pool, record.key)?;
            }
            self.note_restored_tombstone(record);
            return Ok(());
        }
    }

    /// A delete mark that a rollback brought back has missed its purge.
    fn note_restored_tombstone(&self, record: UndoRecord<'_>) {
        if let Old::Value(value) | Old::Head(value) = record.old
            && !record.index.is_temporary()
            && let Some(head) = Head::parse(value).filter(|head| head.deleted)
        {
            self.system.strays.add_stray(record.index, record.key, head.writer);
        }
    }

    /// Undoes the writing of values: the record's and those after it, whose rows are undone already.
    fn undo_values(&self, writer: &Writer, record: UndoRecord<'_>) -> EngineResult<()> {
        if let Some(lobs) = self.tables.open_index(record.index)? {
            if self.pass_over_undo(writer, lobs.tree.id().space)? {
                return Ok(());
            }
            let from = record.key.try_into().map(u32::from_be_bytes);
            let from = from.map_err(|_| EngineError::Corrupt("undo record of long values".to_owned()))?;
            self.values.remove_values_from(&lobs.tree, writer.id, from)?;
        }
        self.undo.pop_without_page(writer);
        Ok(())
    }

    /// Takes a record off the list without undoing it, if it is of a closed table; false if it is of none.
    fn pass_over_undo(&self, writer: &Writer, space: SpaceId) -> EngineResult<bool> {
        if !self.tables.closed.contains(space) {
            return Ok(false);
        }
        self.tables.note_undo_passed_over(space, "a transaction could not be rolled back in it")?;
        self.undo.pop_without_page(writer);
        Ok(true)
    }

    /// Undoes everything a writer did and ends it.
    pub(crate) fn roll_back_writer(&self, writer: &Arc<Writer>) -> EngineResult<()> {
        self.undo_to(writer, 0, false)?;
        self.system.end_rollback(writer);
        Ok(())
    }
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
