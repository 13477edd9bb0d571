//! A table as the dictionary holds it in memory: open, or packed into a few hundred bytes until somebody asks for it. Main types:
//! [`TableEntry`], [`PackedTable`]. See "Open tables" in the engine's README.
//!
//! What cannot be read again from the disk (counters, statistics, since when an index can be read) goes along, so whoever opens a
//! table again finds it as it was. A table that anybody else holds is never packed: there is one [`Table`] for an entry at a time.

use crate::{Index, Table, TableState};
use dictionary::ConstraintNames;
use dictionary_store::{LoadedTable, RecordHead, StoredStatistics, TableRecord};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use stdx::ids::{IndexId, SpaceId, TableId};
use stdx::sync::lock;

/// A table of the dictionary.
#[derive(Debug)]
pub struct TableEntry {
    id: TableId,
    space: SpaceId,
    /// As the header of its file must have it.
    store_id: u64,
    /// What other tables have to do with its constraints.
    constraints: ConstraintNames,
    /// Asked for since it came up for being packed.
    used: AtomicBool,
    form: Mutex<Form>,
}

#[derive(Debug)]
enum Form {
    Packed(Box<PackedTable>),
    Open(Arc<Table>),
}

/// What an open table is made of.
#[derive(Debug)]
pub(crate) struct PackedTable {
    /// As it stands in the dictionary ([`TableRecord::encode`]).
    record: Box<[u8]>,
    statistics: Option<Box<StoredStatistics>>,
    /// Of each index; empty if all are 0.
    readable_from: Box<[u64]>,
    /// Next AUTO_INCREMENT value, its limit, and the log record of that.
    counter: [u64; 3],
    next_row_id: u64,
    state: TableState,
    cut_keys: bool,
}

impl TableEntry {
    /// The entry of an open table.
    pub(crate) fn of(table: Arc<Table>) -> TableEntry {
        TableEntry {
            id: table.id(),
            space: table.space,
            store_id: table.store_id,
            constraints: ConstraintNames::of(&table.definition),
            used: AtomicBool::new(false),
            form: Mutex::new(Form::Open(table)),
        }
    }

    /// The entry of a table that a start has found.
    pub fn loaded(loaded: &mut LoadedTable) -> TableEntry {
        let packed = PackedTable {
            record: std::mem::take(&mut loaded.record).into_boxed_slice(),
            statistics: loaded.statistics.take().map(Box::new),
            readable_from: Box::default(),
            counter: [loaded.next_auto_increment, 0, 0],
            next_row_id: 0,
            state: TableState::UNCHECKED,
            cut_keys: loaded.cut_keys,
        };
        TableEntry {
            id: loaded.id,
            space: loaded.space,
            store_id: loaded.store_id,
            constraints: std::mem::take(&mut loaded.constraints),
            used: AtomicBool::new(false),
            form: Mutex::new(Form::Packed(Box::new(packed))),
        }
    }

    pub(crate) fn id(&self) -> TableId {
        self.id
    }

    /// Where its trees are.
    pub fn space(&self) -> SpaceId {
        self.space
    }

    /// As the header of its file must have it.
    pub fn store_id(&self) -> u64 {
        self.store_id
    }

    /// What other tables have to do with its constraints.
    pub(crate) fn constraints(&self) -> &ConstraintNames {
        &self.constraints
    }

    /// The table, and whether it was opened for it.
    pub(crate) fn table(&self, prepare: impl Fn(&Table)) -> (Arc<Table>, bool) {
        let mut form = lock(&self.form);
        match &*form {
            Form::Open(table) => {
                if !self.used.load(Ordering::Relaxed) {
                    self.used.store(true, Ordering::Relaxed);
                }
                (table.clone(), false)
            }
            Form::Packed(packed) => {
                let table = Arc::new(packed.unpacked());
                prepare(&table);
                *form = Form::Open(table.clone());
                (table, true)
            }
        }
    }

    /// The next AUTO_INCREMENT value and the dictionary's limit.
    pub(crate) fn counter(&self) -> (u64, u64) {
        match &*lock(&self.form) {
            Form::Open(table) => {
                (table.auto_increment.peek(), table.auto_increment.limit.load(Ordering::Acquire))
            }
            Form::Packed(packed) => (packed.counter[0], packed.counter[1]),
        }
    }

    /// Whether the table was asked for since this was asked last.
    pub(crate) fn take_used(&self) -> bool {
        self.used.swap(false, Ordering::Relaxed)
    }

    /// Packs the table, if nobody else holds it and there is nothing about it that would be lost.
    pub(crate) fn pack(&self) -> bool {
        let mut form = lock(&self.form);
        let Form::Open(table) = &*form else { return true };
        // Whoever wants it asks this entry first. Who has changed it, or keeps what was read of it, holds its stamp (rule N3 in txn's README).
        if Arc::strong_count(table) > 1 || Arc::strong_count(&table.stamp) > 1 {
            return false;
        }
        let Some(packed) = PackedTable::of(table) else { return false };
        *form = Form::Packed(Box::new(packed));
        true
    }

    /// Ids of all trees.
    pub fn tree_ids(&self) -> Vec<IndexId> {
        let roots = match &*lock(&self.form) {
            Form::Open(table) => table.roots(),
            Form::Packed(packed) => packed.head().roots,
        };
        roots.into_iter().map(|(index, _)| index).collect()
    }

    /// Whether the statement that makes it is filling it.
    pub(crate) fn is_hidden(&self) -> bool {
        matches!(&*lock(&self.form), Form::Open(table) if table.is_hidden())
    }

    /// Whether the table can be used.
    pub fn state(&self) -> TableState {
        match &*lock(&self.form) {
            Form::Open(table) => table.state(),
            Form::Packed(packed) => packed.state,
        }
    }

    /// Nothing is wrong with the table's file.
    pub fn end_check(&self) {
        match &mut *lock(&self.form) {
            Form::Open(table) => drop(table.end_check(TableState::USABLE)),
            Form::Packed(packed) if packed.state == TableState::UNCHECKED => {
                packed.state = TableState::USABLE
            }
            Form::Packed(_) => {}
        }
    }

    /// Closes a table that can be used: its file is missing, or lacks changes.
    pub fn close(&self, state: TableState) {
        match &mut *lock(&self.form) {
            Form::Open(table) => table.close(state),
            Form::Packed(packed) if packed.state.may_be_used() => packed.state = state,
            Form::Packed(_) => {}
        }
    }
}

impl PackedTable {
    /// None for a table that must stay open.
    fn of(table: &Table) -> Option<PackedTable> {
        let state = table.state();
        if table.is_hidden() || !state.may_be_used() {
            return None;
        }
        let counter = &table.auto_increment;
        let mut readable_from: Vec<u64> = table.indexes.iter().map(Index::readable_from).collect();
        if readable_from.iter().all(|from| *from == 0) {
            readable_from.clear();
        }
        let cut_keys: Option<Vec<bool>> = table.indexes.iter().map(Index::are_cuts_noted).collect();
        Some(PackedTable {
            record: table.record().encode().into_boxed_slice(),
            statistics: lock(&table.statistics).stored.clone().map(Box::new),
            readable_from: readable_from.into_boxed_slice(),
            counter: [&counter.next, &counter.limit, &counter.limit_lsn]
                .map(|part| part.load(Ordering::Acquire)),
            next_row_id: table.next_row_id.load(Ordering::Acquire),
            state,
            cut_keys: cut_keys?.into_iter().any(|is_noted| is_noted),
        })
    }

    fn head(&self) -> RecordHead {
        let head = RecordHead::decode(&self.record).map(|(head, _)| head);
        head.expect("what was packed was decoded before")
    }

    fn unpacked(&self) -> Table {
        let record = TableRecord::decode(&self.record).expect("what was packed was decoded before");
        let table = Table::open(record);
        let (counter, [next, limit, limit_lsn]) = (&table.auto_increment, self.counter);
        counter.next.store(next, Ordering::Release);
        counter.limit.store(limit, Ordering::Release);
        counter.limit_lsn.store(limit_lsn, Ordering::Release);
        table.next_row_id.store(self.next_row_id, Ordering::Release);
        lock(&table.statistics).stored = self.statistics.as_deref().cloned();
        if self.cut_keys {
            table.set_cut_noted();
        }
        for (index, from) in table.indexes.iter().zip(&self.readable_from) {
            index.set_readable_from(*from);
        }
        table.set_state(self.state);
        table
    }
}
