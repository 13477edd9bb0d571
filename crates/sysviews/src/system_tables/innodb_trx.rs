//! information_schema.INNODB_TRX: open transactions, with what they wait for and what they have locked.

use super::SystemTables;
use super::cursor::ViewRows;
use super::data_locks::{READERS_FROM, lock_id};
use super::row::RowBuilder;
use crate::result::{optional_text, text};
use dictionary::TableDefinition;
use engine::locks::LockInfo;
use engine::{Isolation, LockHolder, WriterStatus};
use instance::{OpenTransaction, SessionShared};
use std::collections::HashMap;
use values::Value;

/// Characters of a statement that are shown.
const QUERY_CHARACTERS: usize = 1024;

/// What the engine knows of the transactions of sessions.
struct EngineSide {
    holders: HashMap<u64, LockHolder>,
    writers: HashMap<u64, WriterStatus>,
    waiting: HashMap<u64, LockInfo>,
}

impl SystemTables<'_> {
    /// Transactions of sessions, those that are prepared, and those that a crash left unfinished while they are rolled back.
    pub(super) fn innodb_trx(&self, view: &TableDefinition) -> ViewRows {
        let engine = self.instance.engine();
        let waiting = engine.locks().into_iter().filter(|lock| !lock.granted);
        let side = EngineSide {
            waiting: waiting.map(|lock| (lock.session_id, lock)).collect(),
            holders: engine.lock_views().holders().into_iter().map(|one| (one.session_id, one)).collect(),
            writers: engine.status().writers.into_iter().map(|one| (one.session_id, one)).collect(),
        };
        let unfinished = engine.unfinished();
        let mut rows: ViewRows = unfinished
            .iter()
            .map(|writer| self.without_session(view, writer, "ROLLING BACK", None))
            .collect();
        let prepared: HashMap<_, _> = self.instance.branches().transactions().into_iter().collect();
        for writer in engine.status().writers.iter().filter(|writer| writer.is_prepared) {
            let began = prepared.get(&writer.id).copied().flatten();
            rows.push(self.without_session(view, writer, "RUNNING", began));
        }
        for session in self.instance.registry().all() {
            // The statement that asks has a transaction too; alone it is none to who reads this.
            let asks = |one: &OpenTransaction| {
                session.id == self.shared.id && one.began_microseconds == session.command().1
            };
            if let Some(transaction) = session.transaction.get().filter(|one| !asks(one)) {
                rows.push(self.open_transaction(view, &session, transaction, &side));
            }
        }
        rows
    }

    fn open_transaction(
        &self,
        view: &TableDefinition,
        session: &SessionShared,
        transaction: OpenTransaction,
        side: &EngineSide,
    ) -> Vec<Value> {
        let id = u64::from(session.id);
        let (holder, writer, waiting) = (side.holders.get(&id), side.writers.get(&id), side.waiting.get(&id));
        let modified = writer.map_or(0, |writer| writer.undo_records);
        let objects = holder.map_or(0, |holder| holder.lock_objects);
        let reader = || READERS_FROM + holder.map_or(id, |holder| holder.owner);
        let since = holder.and_then(|holder| holder.waits_since_us).filter(|_| waiting.is_some());
        let tables = holder.map_or(0, |holder| holder.tables);
        let is_running = session.is_running();
        RowBuilder::new(view)
            .set("trx_id", Value::UInt(writer.map_or_else(reader, |writer| writer.id.0)))
            .set("trx_state", text(if waiting.is_some() { "LOCK WAIT" } else { "RUNNING" }))
            .set("trx_started", self.wall_time_of(transaction.began_microseconds))
            .set("trx_requested_lock_id", optional_text(waiting.map(lock_id).as_deref()))
            .set("trx_wait_started", since.map_or(Value::Null, |since| self.wall_time_of(since)))
            .set("trx_weight", Value::UInt(modified + objects))
            .set("trx_mysql_thread_id", Value::UInt(id))
            .set("trx_query", optional_text(is_running.then(|| statement_of(session)).as_deref()))
            .set("trx_tables_in_use", Value::UInt(if is_running { tables } else { 0 }))
            .set("trx_tables_locked", Value::UInt(tables))
            .set("trx_lock_structs", Value::UInt(objects))
            .set("trx_lock_memory_bytes", Value::UInt(holder.map_or(0, |holder| holder.lock_bytes)))
            .set("trx_rows_locked", Value::UInt(holder.map_or(0, |holder| holder.rows)))
            .set("trx_rows_modified", Value::UInt(modified))
            .set("trx_isolation_level", text(level_name(transaction.isolation)))
            .set("trx_unique_checks", Value::Int(1))
            .set("trx_foreign_key_checks", Value::Int(1))
            .set("trx_is_read_only", Value::Int(i64::from(transaction.read_only)))
            .finish()
    }

    /// One that belongs to no session. `began`: None for before the start.
    fn without_session(
        &self,
        view: &TableDefinition,
        writer: &WriterStatus,
        state: &str,
        began: Option<u64>,
    ) -> Vec<Value> {
        let locks = writer.lock_objects as u64;
        RowBuilder::new(view)
            .set("trx_id", Value::UInt(writer.id.0))
            .set("trx_state", text(state))
            .set("trx_started", began.map_or_else(|| self.start_time(), |began| self.wall_time_of(began)))
            .set("trx_weight", Value::UInt(writer.undo_records + locks))
            .set("trx_lock_structs", Value::UInt(locks))
            .set("trx_rows_modified", Value::UInt(writer.undo_records))
            .set("trx_isolation_level", text("REPEATABLE READ"))
            .set("trx_unique_checks", Value::Int(1))
            .set("trx_foreign_key_checks", Value::Int(1))
            .finish()
    }
}

fn statement_of(session: &SessionShared) -> String {
    let statement = String::from_utf8_lossy(&session.describe().statement).into_owned();
    statement.chars().take(QUERY_CHARACTERS).collect()
}

fn level_name(isolation: Isolation) -> &'static str {
    match isolation {
        Isolation::ReadUncommitted => "READ UNCOMMITTED",
        Isolation::ReadCommitted => "READ COMMITTED",
        Isolation::RepeatableRead => "REPEATABLE READ",
        Isolation::Serializable => "SERIALIZABLE",
    }
}
