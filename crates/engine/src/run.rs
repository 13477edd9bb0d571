//! Inserting sorted entries leaf by leaf: one latch, one redo group and one page record for all entries of a leaf.
//! What is not plain (a key that is there, a lock, a long value, a busy stripe) goes entry by entry through `write.rs`.

use crate::engine::EngineInner;
use crate::error::EngineResult;
use crate::records::{KIND_UNDO, encode_undo};
use crate::table::{Index, Table};
use crate::transaction::Transaction;
use crate::writer::Writer;
use btree::{LeafEdit, RunStop};
use buffer::MiniTransaction;
use std::sync::{Arc, MutexGuard};
use stdx::ids::IndexId;
use txn::{Old, UndoRecord};

/// Most entries of one run: bounds the redo group.
const RUN_ENTRIES_MAX: usize = 512;

/// An entry to insert.
#[derive(Debug)]
pub(crate) struct RunEntry {
    /// Whole key.
    pub(crate) key: Vec<u8>,
    /// Header and row.
    pub(crate) value: Vec<u8>,
    /// Bytes of the key that no other entry may begin with; 0 if any may.
    pub(crate) unique_bytes: usize,
}

/// The unique stripes that a run holds until its entries are in the leaf.
#[derive(Default)]
struct Stripes<'a> {
    numbers: Vec<usize>,
    guards: Vec<MutexGuard<'a, ()>>,
}

impl Transaction {
    /// Inserts sorted entries into an index. Errors: as for single inserts; some entries may be in then.
    pub(crate) fn insert_runs(
        &self,
        writer: &Arc<Writer>,
        table: &Table,
        number: usize,
        entries: &[RunEntry],
    ) -> EngineResult<()> {
        let index = table.index(number)?;
        let slices: Vec<(&[u8], &[u8])> =
            entries.iter().map(|entry| (entry.key.as_slice(), entry.value.as_slice())).collect();
        let mut done = 0;
        while done < entries.len() {
            self.engine.save_long_undo(writer)?;
            let end = entries.len().min(done + RUN_ENTRIES_MAX);
            match self.insert_run(writer, index, number == 0, &entries[done..end], &slices[done..end])? {
                0 => {
                    self.insert_entry(table, number, &entries[done])?;
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
        entries: &[RunEntry],
        slices: &[(&[u8], &[u8])],
    ) -> EngineResult<usize> {
        let pool = &self.engine.pool;
        loop {
            let mut mini = pool.mini_transaction();
            let mut edit = index.tree.edit(&mut mini, slices[0].0)?;
            let mut stripes = Stripes::default();
            let plain = self.plain_entries(&mut edit, index.id(), clustered, entries, &mut stripes)?;
            if plain == 0 || !edit.seek(slices[0].0)? {
                return Ok(0);
            }
            let (inserted, stop) = edit.insert_run(&slices[..plain], writer.id.0)?;
            if inserted > 0 {
                self.engine.commit_run(writer, mini, index.id(), &slices[..inserted]);
                return Ok(inserted);
            }
            if stop != RunStop::NeedsRoom {
                return Ok(0);
            }
            drop(mini);
            drop(stripes);
            index.tree.make_room(pool, slices[0].0, slices[0].1.len())?;
        }
    }

    /// How many of the first entries belong to the latched leaf and meet neither an entry nor a lock.
    fn plain_entries<'e, 's>(
        &'s self,
        edit: &mut LeafEdit<'e, '_>,
        index: IndexId,
        clustered: bool,
        entries: &'e [RunEntry],
        stripes: &mut Stripes<'s>,
    ) -> EngineResult<usize> {
        let owner = self.owner();
        let mut next = Vec::new();
        for (at, entry) in entries.iter().enumerate() {
            if at > 0 && entry.key == entries[at - 1].key || !edit.seek(&entry.key)? || edit.found() {
                return Ok(at);
            }
            if clustered && self.engine.locks.blocks_write(&owner, index, &entry.key) {
                return Ok(at);
            }
            if entry.unique_bytes > 0 {
                let unique = &entry.key[..entry.unique_bytes];
                let free = !(at > 0 && entries[at - 1].key.starts_with(unique))
                    && edit.seek(unique)?
                    && !(edit.successor(&mut next)? && next.starts_with(unique))
                    && stripes.hold(&self.engine, index, unique);
                if !free {
                    return Ok(at);
                }
            }
        }
        Ok(entries.len())
    }
}

impl<'a> Stripes<'a> {
    /// Holds the stripe of a unique key, without waiting; false if another has it.
    fn hold(&mut self, engine: &'a EngineInner, index: IndexId, unique: &[u8]) -> bool {
        let stripe = engine.unique_stripe(index, unique);
        if self.numbers.contains(&stripe) {
            return true;
        }
        let Some(guard) = engine.try_unique_guard(stripe) else { return false };
        self.numbers.push(stripe);
        self.guards.push(guard);
        true
    }
}

impl EngineInner {
    /// Logs the undo of a run in its redo group, commits it and adds the records to the list.
    fn commit_run(
        &self,
        writer: &Writer,
        mut mini: MiniTransaction<'_>,
        index: IndexId,
        entries: &[(&[u8], &[u8])],
    ) {
        let record = |key| UndoRecord { index, key, old: Old::Absent, version: false, tombstone: false };
        let mut log = Vec::new();
        let mut undo = writer.undo();
        for (position, (key, _)) in (undo.list.len()..).zip(entries) {
            log.clear();
            encode_undo(&mut log, writer.id, position, record(key));
            mini.log(KIND_UNDO, &log);
        }
        mini.commit();
        for (key, _) in entries {
            undo.list.push(record(key));
        }
        writer.owner.rows_changed.store(undo.list.len(), std::sync::atomic::Ordering::Relaxed);
    }
}
