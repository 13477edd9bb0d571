//! Transactions that a crash left unfinished: found at the start, rolled back in the background while their rows are locked and
//! read as they were before (rules R2 and R9 in README.md). Main type: [`Unfinished`].

use super::Rollback;
use dictionary_store::DICTIONARY_INDEX;
use engine_error::{EngineError, EngineResult};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use stdx::ids::IndexId;
use stdx::sync::lock;
use tables::{Table, TableEntry};
use txn::KillFlag;
use undo::{Losers, Touched, Writer};

/// Records that are undone before others get their turn.
const RECORDS_A_TURN: usize = 64;

/// An unfinished transaction.
#[derive(Clone, Debug)]
pub(crate) struct Unfinished {
    writer: Arc<Writer>,
    touched: Arc<Touched>,
}

impl Rollback {
    /// Makes writers of the losers: their rows are locked from now on.
    pub(crate) fn register_losers(&self, losers: Losers) -> Vec<Unfinished> {
        let writers = self.undo.register(losers, || self.system.locks.owner(0));
        let unfinished =
            writers.into_iter().map(|(writer, touched)| Unfinished { writer, touched: Arc::new(touched) });
        unfinished.collect()
    }

    /// Undoes what unfinished transactions have changed in the dictionary, which is read only then: their last changes, for one that
    /// fills a table and then publishes it, all for others. Queues those that have changed rows.
    pub(crate) fn roll_back_dictionary(&self, writers: Vec<Unfinished>) -> EngineResult<()> {
        let (mut entries, mut others) = (0, Vec::new());
        let is_prepared = |unfinished: &Unfinished| unfinished.writer.undo().is_prepared();
        let (prepared, writers): (Vec<_>, Vec<_>) = writers.into_iter().partition(is_prepared);
        if !prepared.is_empty() {
            self.shared.tell(format!(
                "{} transactions are prepared: XA RECOVER lists them, and their rows are locked until XA COMMIT or XA ROLLBACK.",
                prepared.len()
            ));
        }
        lock(&self.prepared).extend(prepared);
        for unfinished in writers {
            let writer = &unfinished.writer;
            // Others need not be read for a start: their undo may be damaged.
            if unfinished.touched.may_have(DICTIONARY_INDEX) {
                while self.newest_undo_index(writer)? == Some(DICTIONARY_INDEX) {
                    self.undo_newest(writer, 0, false)?;
                }
            }
            if writer.undo().list.is_empty() {
                self.system.end_rollback(writer);
            } else {
                entries += unfinished.touched.entries;
                others.push(unfinished);
            }
        }
        if !others.is_empty() {
            let how =
                if self.shared.settings.is_read_only { "left out" } else { "rolled back in the background" };
            self.shared.tell(format!(
                "{} transactions were unfinished: {entries} changes of rows and index entries are {how}.",
                others.len()
            ));
        }
        lock(&self.open).extend(others);
        Ok(())
    }

    /// Whether a loser, or one that is prepared, has changed one of these tables.
    pub(crate) fn losers_may_have_changed<'a>(
        &self,
        tables: impl Iterator<Item = &'a Arc<TableEntry>>,
    ) -> bool {
        let (open, prepared) = (lock(&self.open), lock(&self.prepared));
        let mut all = open.iter().chain(prepared.iter()).peekable();
        if all.peek().is_none() {
            return false;
        }
        let indexes: Vec<IndexId> = tables.flat_map(|table| table.tree_ids()).collect();
        all.any(|loser| indexes.iter().any(|index| loser.touched.may_have(*index)))
    }

    /// Whether some of before the start are being rolled back. What is prepared is at rest until its name is taken back.
    pub(crate) fn has_unfinished(&self) -> bool {
        let is_withdrawn = |one: &Unfinished| one.writer.prepared_name().is_none();
        !lock(&self.open).is_empty() || lock(&self.prepared).iter().any(is_withdrawn)
    }

    /// Those that are prepared, with what they have changed.
    pub(crate) fn prepared(&self) -> Vec<(Arc<Writer>, Arc<Touched>)> {
        let prepared = lock(&self.prepared);
        prepared.iter().map(|one| (one.writer.clone(), one.touched.clone())).collect()
    }

    /// A prepared transaction has ended, or its rollback goes on in the background.
    pub(crate) fn forget_prepared(&self, writer: &Arc<Writer>) {
        lock(&self.prepared).retain(|one| !Arc::ptr_eq(&one.writer, writer));
    }

    /// Leaves the rest of a rollback that failed to the background: its rows stay locked until then. What a start has found prepared
    /// still knows what it has changed, and ends with the tables of that.
    pub(crate) fn roll_back_later(&self, writer: &Arc<Writer>) {
        let prepared = lock(&self.prepared).iter().find(|one| Arc::ptr_eq(&one.writer, writer)).cloned();
        let any = || Unfinished { writer: writer.clone(), touched: Arc::new(Touched::any()) };
        lock(&self.open).push(prepared.unwrap_or_else(any));
    }

    /// The unfinished writers.
    pub(crate) fn unfinished(&self) -> Vec<Arc<Writer>> {
        lock(&self.open).iter().map(|unfinished| unfinished.writer.clone()).collect()
    }

    /// Goes on with rollbacks as long as there are any and the log has room. Called again and again.
    pub(crate) fn roll_back_in_background(&self) {
        let mut trouble = None;
        let open = lock(&self.open).clone();
        for Unfinished { writer, .. } in open {
            loop {
                if self.shared.stopped.load(Ordering::Acquire) || !self.has_room_to_roll_back() {
                    return;
                }
                match self.roll_back_some(&writer, RECORDS_A_TURN) {
                    Ok(false) => {}
                    Ok(true) => break,
                    Err(error) => {
                        // Others may be able to go on.
                        trouble = Some(format!("The rollback of transaction {} waits: {error}", writer.id));
                        break;
                    }
                }
            }
        }
        let mut told = lock(&self.trouble);
        if let Some(text) = trouble.clone().filter(|_| *told != trouble) {
            self.shared.tell(text);
        }
        *told = trouble;
    }

    /// Whether the log has so much room that the flusher keeps up: clients are held up when it is nearly full.
    fn has_room_to_roll_back(&self) -> bool {
        let redo = self.pool.redo();
        redo.room_bytes() / 3 > redo.capacity_bytes() / 8
    }

    /// Undoes some records of a loser; true if it has ended.
    pub(crate) fn roll_back_some(&self, writer: &Arc<Writer>, records: usize) -> EngineResult<bool> {
        let _turn = lock(&self.turn);
        let open = lock(&self.open).clone();
        let Some(loser) = open.into_iter().find(|open| Arc::ptr_eq(&open.writer, writer)) else {
            return Ok(true);
        };
        if self.end_if_nothing_is_left(&loser) {
            return Ok(true);
        }
        // What is undone gives room back.
        let _reserve = buffer::use_reserve();
        for _ in 0..records {
            self.undo.make_room_to_undo(writer)?;
            if !self.undo_newest(writer, 0, false)? {
                self.end_loser(writer);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Ends the rollback of a loser of whose changes nothing is left, because the tables were dropped: its undo need not be read.
    fn end_if_nothing_is_left(&self, loser: &Unfinished) -> bool {
        let is_there = |index: &IndexId| self.tables.has_index(*index);
        let is_over = !self.shared.settings.is_read_only && !loser.touched.has_any(is_there);
        if is_over {
            self.end_loser(&loser.writer);
        }
        is_over
    }

    fn end_loser(&self, writer: &Arc<Writer>) {
        self.system.end_rollback(writer);
        let mut open = lock(&self.open);
        open.retain(|open| !Arc::ptr_eq(&open.writer, writer));
        if open.is_empty() {
            self.shared.tell("All transactions that were left unfinished are rolled back.".to_owned());
        }
    }

    /// Ends the losers of whose changes nothing is left. Behind DDL that drops tables, and at the start, which may come behind one.
    pub(crate) fn end_losers_of_nothing(&self) {
        let _turn = lock(&self.turn);
        let open = lock(&self.open).clone();
        for loser in open {
            self.end_if_nothing_is_left(&loser);
        }
    }

    /// Rolls back the losers that have changed these tables. DDL calls it before it touches their storage.
    /// Errors: Killed, and what keeps the rollback from going on.
    pub(crate) fn finish_losers_of(&self, tables: &[Arc<Table>], kill: &KillFlag) -> EngineResult<()> {
        loop {
            let open = lock(&self.open).clone();
            let found = open.into_iter().find(|loser| loser.may_have_changed(tables));
            let Some(Unfinished { writer, .. }) = found else { return Ok(()) };
            if kill.is_raised() {
                return Err(EngineError::Killed);
            }
            self.roll_back_some(&writer, RECORDS_A_TURN)?;
        }
    }

    /// As [`Rollback::finish_losers_of`], for DDL that drops the tables: it goes on, on a full disk to make room, where undo
    /// is damaged to be rid of it. What a loser has changed in a table that is gone needs no undoing.
    pub(crate) fn finish_losers_of_dropped(
        &self,
        tables: &[Arc<Table>],
        kill: &KillFlag,
    ) -> EngineResult<()> {
        match self.finish_losers_of(tables, kill) {
            Err(EngineError::NoSpace | EngineError::Corrupt(_)) => Ok(()),
            result => result,
        }
    }
}

impl Unfinished {
    fn may_have_changed(&self, tables: &[Arc<Table>]) -> bool {
        let mut indexes = tables.iter().flat_map(|table| &table.indexes);
        indexes.any(|index| self.touched.may_have(index.id()))
    }
}
