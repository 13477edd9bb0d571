//! Transactions that a crash left unfinished, as log and undo tree together tell of them (rule R1 in README.md).

use super::records::{Loser, Losers};
use super::store::{UndoStore, corrupt};
use super::touched::Touched;
use crate::error::{EngineError, EngineResult};
use buffer::BufferPool;
use stdx::ids::{Lsn, TransactionId};
use txn::UndoList;

impl Losers {
    /// Adds what the undo tree tells: who is unfinished that the log does not show, what each has touched, and of whom something is
    /// left over. Reads no undo but the last records of each.
    pub(crate) fn complete(&mut self, pool: &BufferPool, store: &UndoStore) -> EngineResult<()> {
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
                return Err(EngineError::Corrupt(format!("undo of transaction {id} has a gap")));
            }
        }
        Ok(())
    }

    pub(crate) fn ids(&self) -> Vec<TransactionId> {
        self.by_id.keys().copied().collect()
    }
}

impl Loser {
    fn complete(&mut self, pool: &BufferPool, store: &UndoStore, id: TransactionId) -> EngineResult<()> {
        self.is_in_tree = true;
        let saved = match store.last_chunk(pool, id)? {
            Some(chunk) => chunk.end(),
            None => 0,
        };
        let list = self.list.get_or_insert_with(|| UndoList::starting_at(saved));
        if list.first() > saved {
            return Err(EngineError::Corrupt(format!("undo of transaction {id} has a gap")));
        }
        if list.first().max(self.saved) > 0 {
            let state = store.state(pool, id)?.ok_or_else(corrupt)?;
            self.saved_changes = Touched::decode_state(&state).ok_or_else(corrupt)?;
            self.touched.merge(&self.saved_changes);
        }
        Ok(())
    }
}
