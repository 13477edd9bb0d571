//! Transactions that a crash left unfinished, as log and undo tree together tell of them (rule R1 in the engine's README).

use super::UndoLog;
use super::records::{Loser, Losers};
use super::store::{UndoStore, corrupt};
use super::touched::{SavedState, Touched};
use super::writer::Writer;
use crate::error::{UndoError, UndoResult};
use buffer::BufferPool;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use stdx::ids::{Lsn, TransactionId};
use txn::UndoList;
use txn::locks::Owner;

impl Losers {
    /// Adds what the undo tree tells: who is unfinished that the log does not show, what each has touched, and of whom something is
    /// left over. Reads no undo but the last records of each.
    pub fn complete(&mut self, pool: &BufferPool, store: &UndoStore) -> UndoResult<()> {
        let end = pool.redo().end_lsn();
        let in_tree = store.ids(pool)?;
        self.ended.retain(|id, _| in_tree.binary_search(id).is_ok());
        for id in in_tree {
            self.greatest = self.greatest.max(id);
            if store.has_ended(pool, id) {
                self.by_id.remove(&id);
                // The tree tells it: no log must be kept for that.
                self.ended.insert(id, Lsn(u64::MAX));
            }
            if !self.ended.contains_key(&id) {
                let loser = self.by_id.entry(id).or_insert_with(|| Loser::first_seen_at(end));
                loser.complete(pool, store, id)?;
            }
        }
        for (id, loser) in &mut self.by_id {
            let list = loser.list.get_or_insert_default();
            if list.first() > 0 && !loser.is_in_tree {
                return Err(UndoError::Corrupt(format!("undo of transaction {id} has a gap")));
            }
        }
        Ok(())
    }

    /// Their ids.
    pub fn ids(&self) -> Vec<TransactionId> {
        self.by_id.keys().copied().collect()
    }
}

impl Loser {
    fn complete(&mut self, pool: &BufferPool, store: &UndoStore, id: TransactionId) -> UndoResult<()> {
        self.is_in_tree = true;
        let saved = match store.last_chunk(pool, id)? {
            Some(chunk) => chunk.end(),
            None => 0,
        };
        let list = self.list.get_or_insert_with(|| UndoList::starting_at(saved));
        if list.first() > saved {
            return Err(UndoError::Corrupt(format!("undo of transaction {id} has a gap")));
        }
        match store.state(pool, id)? {
            Some(state) => {
                let state = SavedState::decode(&state).ok_or_else(corrupt)?;
                self.touched.merge(&state.changes);
                self.saved_changes = state.changes;
                // What the log tells is newer.
                if self.prepared.is_none() {
                    self.prepared = state.prepared;
                }
            }
            // The first save was broken off.
            None if list.first().max(self.saved) == 0 => {}
            None => return Err(corrupt()),
        }
        Ok(())
    }
}

impl UndoLog {
    /// Makes writers of the losers, each with what it has changed. `owner` gives an owner of locks without a session.
    pub fn register(&self, losers: Losers, owner: impl Fn() -> Arc<Owner>) -> Vec<(Arc<Writer>, Touched)> {
        let mut writers = Vec::new();
        for (id, loser) in losers.by_id {
            let Loser { list, first_lsn, is_in_tree, saved, touched, saved_changes, prepared, .. } = loser;
            let owner = owner();
            owner.transaction.store(id.0, Ordering::Release);
            owner.rows_changed.store(touched.entries, Ordering::Relaxed);
            let writer = Arc::new(Writer::new(id, owner, first_lsn.min(self.pool.redo().end_lsn())));
            {
                let mut undo = writer.undo();
                undo.list = list.unwrap_or_default();
                undo.saved = undo.list.first().max(saved).min(undo.list.len());
                undo.tree_end = if is_in_tree { u64::MAX } else { 0 };
                undo.in_tree = is_in_tree;
                undo.saved_changes = saved_changes;
                undo.prepared = prepared.filter(|name| !name.is_empty());
                writer.add_unsaved(undo.list.bytes_from(undo.saved));
            }
            if is_in_tree {
                self.log_saved(&writer, None);
            }
            self.writers.insert(writer.clone());
            writers.push((writer, touched));
        }
        for (id, needed) in losers.ended {
            self.store.discard_later(Arc::new(Writer::new(id, owner(), needed)));
        }
        writers
    }
}
