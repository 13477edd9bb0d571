//! performance_schema.data_locks and data_lock_waits: row locks, ranges and who waits for whom. A range is shown as MySQL would have it: a
//! lock on each of its rows and one on the key behind, for the gap before that. The X locks of writers are in their rows, and
//! not listed until somebody waits for them, as in MySQL.

use super::SystemTables;
use super::cursor::ViewRows;
use super::row::RowBuilder;
use crate::result::{optional_text, text};
use dictionary::TableDefinition;
use engine::locks::{Hold, LockInfo, LockKey, LockMode, RangeInfo, Span, Strength};
use instance::LockPlace;
use std::hash::{DefaultHasher, Hash, Hasher};
use values::Value;

/// MySQL shows transactions that have not written under numbers from here on.
pub(super) const READERS_FROM: u64 = 1 << 48;

/// Rows of one range that are shown: the view is kept in memory.
const ROWS_OF_RANGE_MAX: usize = 10_000;

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

impl SystemTables<'_> {
    pub(super) fn data_locks(&self, view: &TableDefinition) -> ViewRows {
        let engine = self.instance.engine();
        let mut locks = engine.locks();
        engine.lock_views().ranges().iter().for_each(|range| self.add_range(&mut locks, range));
        locks.iter().map(|lock| self.data_lock(view, lock)).collect()
    }

    fn data_lock(&self, view: &TableDefinition, lock: &LockInfo) -> Vec<Value> {
        let place = LockPlace::of(self.instance.engine(), &lock.key);
        let name = place.as_ref().map(LockPlace::table_name);
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
