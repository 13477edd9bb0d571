//! The end of a writer: commit in one total order, the end of a rollback. See rules C1 to C4 in README.md.

use super::TransactionSystem;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use stdx::ids::{CommitTimestamp, Lsn};
use txn::{Changed, ChangedTables};
use undo::{Adding, Committed, Writer, log_commit, log_rolled_back};

impl TransactionSystem {
    /// Commits a writer that has changed those tables: the commit record enters the log and the commit table in one step.
    pub(crate) fn commit_writer(&self, writer: &Arc<Writer>, changed: &ChangedTables) -> Lsn {
        let mut mini = self.shared.pool.mini_transaction();
        log_commit(&mut mini, writer.id);
        let history = &self.undo.history;
        // Held until the commit table says where the list is in the history: who misses it here must find it there.
        let mut undo = writer.undo();
        let in_undo_tree = writer.end(&mut undo);
        let left = Committed::of(&mut undo, history.block_bytes());
        // Before the log's append section, in which nothing is copied: a snapshot that sees the commit finds the list, or waits for it here.
        let adding = history.begin(writer.id, left);
        let place = adding.as_ref().map(Adding::place).unwrap_or_default();
        let lsn = mini.commit_with(|lsn| {
            let timestamp = CommitTimestamp(lsn.0);
            changed.with(|changed| match changed {
                Changed::Some(stamps) => stamps.iter().for_each(|stamp| stamp.commit(timestamp)),
                Changed::Any => self.any_table.commit(timestamp),
            });
            self.commits.set_committed(writer.id, timestamp, place);
            self.last_committed.store(lsn.0, Ordering::Release);
        });
        if let Some(adding) = adding {
            adding.add(CommitTimestamp(lsn.0));
        }
        let list = std::mem::take(&mut undo.list);
        drop(undo);
        drop(list);
        self.forget_writer(writer, in_undo_tree);
        lsn
    }

    /// Ends a writer that has nothing left to undo.
    pub(crate) fn end_rollback(&self, writer: &Arc<Writer>) {
        let mut mini = self.shared.pool.mini_transaction();
        let in_undo_tree = writer.end(&mut writer.undo());
        log_rolled_back(&mut mini, writer.id);
        mini.commit();
        self.commits.set_rolled_back(writer.id);
        self.forget_writer(writer, in_undo_tree);
    }

    /// Takes a finished writer out of the registry, once the undo tree holds nothing of it any more.
    fn forget_writer(&self, writer: &Arc<Writer>, in_undo_tree: bool) {
        if in_undo_tree {
            self.undo.store.discard_later(writer.clone());
        } else {
            self.undo.writers.remove(writer.id);
        }
        self.locks.finish(&writer.owner);
    }
}
