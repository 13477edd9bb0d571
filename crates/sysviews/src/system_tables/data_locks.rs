//! performance_schema.data_locks and data_lock_waits: row locks, ranges and who waits for whom. A range is shown as MySQL would have it: a
//! lock on each of its rows and one on the key behind, for the gap before that. The X locks of writers are in their rows, and
//! not listed until somebody waits for them, as in MySQL.

use super::SystemTables;
use super::cursor::ViewRows;
use super::row::RowBuilder;
use crate::result::{optional_text, text};
use dictionary::TableDefinition;
use engine::locks::{Hold, LockInfo, LockKey, LockMode, RangeInfo, Span, Strength};
use engine::{Index, Table};
use instance::Instance;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use values::convert::quoted_text;
use values::{ColumnType, Value};

/// MySQL shows transactions that have not written under numbers from here on.
pub(super) const READERS_FROM: u64 = 1 << 48;

/// Rows of one range that are shown: the view is kept in memory.
const ROWS_OF_RANGE_MAX: usize = 10_000;

/// What a lock is on.
struct Place {
    table: Arc<Table>,
    index: usize,
}

impl Place {
    fn index(&self) -> &Index {
        &self.table.indexes()[self.index]
    }

    fn index_name(&self) -> String {
        let definition = self.index().definition(&self.table);
        definition.map_or_else(|| "GEN_CLUST_INDEX".to_owned(), |definition| definition.name.clone())
    }

    /// The values of a key, its own and those of the primary key; None if it does not hold them. A collation's weights are no text.
    fn values(&self, key: &[u8]) -> Option<String> {
        if key.is_empty() {
            return Some("supremum pseudo-record".to_owned());
        }
        let own = self.index();
        let mut shown = self.shown(own, key)?;
        if self.index != 0 {
            let at = own.key_layout().prefix_bytes(key, own.key_columns().len()).ok()?;
            shown.extend(self.shown(&self.table.indexes()[0], key.get(at..)?)?);
        }
        Some(shown.join(", "))
    }

    fn shown(&self, index: &Index, key: &[u8]) -> Option<Vec<String>> {
        if index.key_columns().is_empty() {
            return Some(vec![key.iter().fold("0x".to_owned(), |text, byte| format!("{text}{byte:02X}"))]);
        }
        let columns = &self.table.definition().columns;
        let values = index.key_layout().decode(key).ok()?;
        let parts = values.into_iter().zip(index.key_columns());
        parts.map(|(value, column)| Some(shown_value(&value?, &columns[*column].column_type))).collect()
    }
}

fn shown_value(value: &Value, column_type: &ColumnType) -> String {
    let shown = quoted_text(value.as_ref(), column_type);
    match value {
        Value::Bytes(_) => format!("'{}'", shown.replace('\'', "''")),
        _ => shown,
    }
}

/// A number for a lock that no other has at the time.
pub(super) fn lock_id(lock: &LockInfo) -> String {
    let mut hasher = DefaultHasher::new();
    lock.key.key.hash(&mut hasher);
    let kind = if lock.granted { 'g' } else { 'w' };
    format!(
        "{}:{}:{:016x}:{}{kind}",
        lock.owner,
        lock.key.index.0,
        hasher.finish(),
        mode_name(lock.mode).replace(',', "")
    )
}

fn mode_name(mode: LockMode) -> &'static str {
    match (mode.strength, mode.span) {
        (Strength::Shared, Span::Record) => "S,REC_NOT_GAP",
        (Strength::Exclusive, Span::Record) => "X,REC_NOT_GAP",
        (Strength::Shared, Span::Gap) => "S,GAP",
        (Strength::Exclusive, Span::Gap) => "X,GAP",
        (Strength::Shared, Span::NextKey) => "S",
        (Strength::Exclusive, Span::NextKey) => "X",
        (Strength::Shared, Span::InsertIntention) => "S,GAP,INSERT_INTENTION",
        (Strength::Exclusive, Span::InsertIntention) => "X,GAP,INSERT_INTENTION",
    }
}

fn transaction_id(lock: &LockInfo) -> Value {
    Value::UInt(if lock.transaction == 0 { READERS_FROM + lock.owner } else { lock.transaction })
}

/// A request as SHOW ENGINE INNODB STATUS words it.
pub(crate) fn lock_text(instance: &Instance, lock: &LockInfo) -> String {
    let found = instance.engine().lock_views().index_of(&lock.key);
    let state = if lock.granted { "" } else { " waiting" };
    let Some((table, index)) = found else {
        return format!("TABLE LOCK trx id {} lock mode AUTO-INC{state}\n", lock.transaction);
    };
    let place = Place { table, index };
    let name = &place.table.definition().name;
    let strength = if lock.mode.strength == Strength::Exclusive { "X" } else { "S" };
    let span = match lock.mode.span {
        Span::Record => " locks rec but not gap",
        Span::Gap => " locks gap before rec",
        Span::NextKey => "",
        Span::InsertIntention => " locks gap before rec insert intention",
    };
    let values =
        place.values(&lock.key.key).map_or_else(String::new, |values| format!("Record lock, {values}\n"));
    format!(
        "RECORD LOCKS index {} of table `{}`.`{}` trx id {} lock_mode {strength}{span}{state}\n{values}",
        place.index_name(),
        name.schema,
        name.table,
        lock.transaction,
    )
}

impl SystemTables<'_> {
    pub(super) fn data_locks(&self, view: &TableDefinition) -> ViewRows {
        let engine = self.instance.engine();
        let mut locks = engine.locks();
        engine.lock_views().ranges().iter().for_each(|range| self.add_range(&mut locks, range));
        locks.iter().map(|lock| self.data_lock(view, lock)).collect()
    }

    fn data_lock(&self, view: &TableDefinition, lock: &LockInfo) -> Vec<Value> {
        let found = self.instance.engine().lock_views().index_of(&lock.key);
        let place = found.map(|(table, index)| Place { table, index });
        let name = place.as_ref().map(|place| &place.table.definition().name);
        let row = RowBuilder::new(view)
            .set("ENGINE", text("INNODB"))
            .set("ENGINE_LOCK_ID", text(lock_id(lock)))
            .set("ENGINE_TRANSACTION_ID", transaction_id(lock))
            .set("THREAD_ID", Value::UInt(lock.session_id))
            .set("OBJECT_SCHEMA", optional_text(name.map(|name| name.schema.as_str())))
            .set("OBJECT_NAME", optional_text(name.map(|name| name.table.as_str())))
            .set("LOCK_STATUS", text(if lock.granted { "GRANTED" } else { "WAITING" }));
        match place {
            None => row.set("LOCK_TYPE", text("TABLE")).set("LOCK_MODE", text("AUTO_INC")).finish(),
            Some(place) => row
                .set("INDEX_NAME", text(place.index_name()))
                .set("LOCK_TYPE", text("RECORD"))
                .set("LOCK_MODE", text(mode_name(lock.mode)))
                .set("LOCK_DATA", optional_text(place.values(&lock.key.key)))
                .finish(),
        }
    }

    /// Adds what a range stands for. A table that cannot be read any more has no rows.
    fn add_range(&self, locks: &mut Vec<LockInfo>, range: &RangeInfo) {
        let views = self.instance.engine().lock_views();
        let lock = |key: &[u8], mode| LockInfo {
            key: LockKey { index: range.from.index, key: key.into() },
            mode,
            granted: true,
            owner: range.owner,
            session_id: range.session_id,
            transaction: range.transaction,
        };
        let mode = range.hold.mode();
        let mut behind = range.from.key.to_vec();
        if range.hold != Hold::Gap
            && let Some((table, index)) = views.index_of(&range.from)
        {
            let keys = views.row_keys(&table.indexes()[index], range, ROWS_OF_RANGE_MAX).unwrap_or_default();
            for key in keys {
                // Nothing is closed before the first key of a range.
                let span = if *key == *range.from.key { Span::Record } else { Span::NextKey };
                locks.push(lock(&key, LockMode { span, ..mode }));
                behind = [&key, &[0][..]].concat();
            }
        }
        match &range.to {
            Some(to) if **to == *behind => {}
            Some(to) => locks.push(lock(to, LockMode { span: Span::Gap, ..mode })),
            None => locks.push(lock(&[], mode)),
        }
    }

    /// For each request that waits, the locks of its key that it waits for, and the requests before it.
    pub(super) fn data_lock_waits(&self, view: &TableDefinition) -> ViewRows {
        let locks = self.instance.engine().locks();
        let mut rows = Vec::new();
        for queue in locks.chunk_by(|one, next| one.key == next.key) {
            for (at, waiting) in queue.iter().enumerate().filter(|(_, lock)| !lock.granted) {
                let blocks =
                    |lock: &&LockInfo| lock.owner != waiting.owner && waiting.mode.waits_for(lock.mode);
                rows.extend(
                    queue[..at].iter().filter(blocks).map(|blocking| lock_wait(view, waiting, blocking)),
                );
            }
        }
        rows
    }
}

fn lock_wait(view: &TableDefinition, waiting: &LockInfo, blocking: &LockInfo) -> Vec<Value> {
    RowBuilder::new(view)
        .set("ENGINE", text("INNODB"))
        .set("REQUESTING_ENGINE_LOCK_ID", text(lock_id(waiting)))
        .set("REQUESTING_ENGINE_TRANSACTION_ID", transaction_id(waiting))
        .set("REQUESTING_THREAD_ID", Value::UInt(waiting.session_id))
        .set("BLOCKING_ENGINE_LOCK_ID", text(lock_id(blocking)))
        .set("BLOCKING_ENGINE_TRANSACTION_ID", transaction_id(blocking))
        .set("BLOCKING_THREAD_ID", Value::UInt(blocking.session_id))
        .finish()
}
