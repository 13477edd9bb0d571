//! Transactions of a session: BEGIN to COMMIT, autocommit, savepoints, SET TRANSACTION. Main type: [`TransactionState`].

use crate::session::Session;
use crate::xa::XaState;
use catalog::Intent;
use engine::{EngineResult, Isolation, Mark, Table, Transaction, TransactionOptions};
use errors::{SqlError, SqlResult, sql_error};
use parser::ast::{IsolationLevel, TransactionEnd, TransactionStart};
use std::sync::Arc;
use stdx::ids::Lsn;
use variables::id;
use wire::result::ResultSink;

/// What MySQL says where a snapshot that is asked for would be of no use, and the number of the handler's error that it says it with.
const NOT_CONSISTENT: (u16, &str) = (
    138,
    "InnoDB: WITH CONSISTENT SNAPSHOT was ignored because this phrase can only be used with REPEATABLE READ isolation level.",
);

/// Where a session is between BEGIN and COMMIT.
#[derive(Default)]
pub struct TransactionState {
    /// The engine's transaction, begun by the first statement that needs it.
    pub current: Option<Box<Transaction>>,
    /// The last one, which has ended, for the next one to take over what it holds.
    ended: Option<Box<Transaction>>,
    /// BEGIN was said.
    pub explicit: bool,
    /// Characteristics of the next transaction only (SET TRANSACTION).
    pub next_isolation: Option<Isolation>,
    /// The same for READ ONLY.
    pub next_read_only: Option<bool>,
    /// The running statement was planned, at most: SET TRANSACTION did not speak of its transaction, but of that of a statement
    /// that does something. Whoever calls `run_in_transaction` says so.
    pub only_planned: bool,
    /// Characteristics of the running transaction, for AND CHAIN.
    options: Characteristics,
    /// The branch of an XA transaction that it is.
    pub(crate) xa: XaState,
    /// Without a mark: set before any statement used a table.
    savepoints: Vec<(String, Option<Mark>)>,
    /// The table that the running CREATE TABLE .. SELECT fills: it exists when the transaction commits.
    pub making: Option<Arc<Table>>,
    /// The last commit: later snapshots of this session include it.
    pub last_commit: Lsn,
    /// Temporary tables were made within it, or dropped, which no rollback takes back.
    pub(crate) temporary_tables: TemporaryTablesTouched,
}

/// What a transaction has done to temporary tables themselves.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TemporaryTablesTouched {
    pub made: bool,
    pub dropped: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Characteristics {
    isolation: Isolation,
    read_only: bool,
}

impl TransactionState {
    /// Commits the engine's transaction, if there is one.
    fn commit(&mut self) -> EngineResult<Lsn> {
        let Some(mut transaction) = self.current.take() else { return Ok(Lsn(0)) };
        let outcome = transaction.commit_in_place();
        self.ended = Some(transaction);
        outcome
    }

    /// Forgets what a transaction that has ended could be rolled back to.
    fn forget_points(&mut self) {
        self.savepoints.clear();
        self.temporary_tables = TemporaryTablesTouched::default();
    }
}

/// MySQL's word for a level, as the value of transaction_isolation.
pub fn isolation_of(level: IsolationLevel) -> Isolation {
    match level {
        IsolationLevel::ReadUncommitted => Isolation::ReadUncommitted,
        IsolationLevel::ReadCommitted => Isolation::ReadCommitted,
        IsolationLevel::RepeatableRead => Isolation::RepeatableRead,
        IsolationLevel::Serializable => Isolation::Serializable,
    }
}

impl Session {
    /// Whether statements are grouped: BEGIN was said or autocommit is off.
    pub(crate) fn in_transaction_block(&self) -> bool {
        self.transaction.explicit || !self.settings().autocommit
    }

    /// Whether SERVER_STATUS_IN_TRANS is to be shown.
    pub(crate) fn transaction_is_open(&self) -> bool {
        self.transaction.explicit || (self.transaction.current.is_some() && self.in_transaction_block())
    }

    /// The transaction for the next statement, begun if there is none. Returns whether plain reads lock.
    pub(crate) fn ensure_transaction(&mut self) -> bool {
        match &self.transaction.current {
            Some(transaction) => transaction.set_lock_wait_timeout(self.settings().row_lock_timeout),
            None => {
                self.transaction.current = Some(self.begin_engine_transaction());
                let Characteristics { isolation, read_only } = self.transaction.options;
                self.shared.begin_transaction(isolation, read_only);
            }
        }
        self.transaction.options.isolation == Isolation::Serializable && self.in_transaction_block()
    }

    /// Error 1792 for a statement that is to change rows, or locks them as if it did, in a READ ONLY transaction: told before
    /// anything about its tables.
    pub(crate) fn refuse_read_only_transaction(&self) -> SqlResult<()> {
        if self.present_characteristics().read_only {
            Err(sql_error!(ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION))
        } else {
            Ok(())
        }
    }

    /// Takes back that a transaction was begun, after a statement that used no table or was only planned: it is none to the
    /// client, and what SET TRANSACTION said is for the next one still.
    pub(crate) fn forget_transaction(&mut self, characteristics: (Option<Isolation>, Option<bool>)) {
        self.shared.transaction.end();
        let state = &mut self.transaction;
        (state.next_isolation, state.next_read_only) = characteristics;
        if let Some(mut transaction) = state.current.take() {
            // It has done nothing that could not be undone.
            let _ = transaction.rollback_in_place();
            state.ended = Some(transaction);
        }
    }

    fn begin_engine_transaction(&mut self) -> Box<Transaction> {
        let settings = self.settings();
        let (default_isolation, default_read_only) = (settings.isolation, settings.read_only);
        let (row_lock_timeout, strict_snapshot) = (settings.row_lock_timeout, settings.strict_snapshot);
        let sees_too = self.state.sees_commits_to;
        let state = &mut self.transaction;
        if !state.explicit {
            state.options = Characteristics {
                isolation: state.next_isolation.take().unwrap_or(default_isolation),
                read_only: state.next_read_only.take().unwrap_or(default_read_only),
            };
        }
        let options = TransactionOptions {
            isolation: state.options.isolation,
            read_only: state.options.read_only,
            strict_snapshot,
            sees_at_least: state.last_commit.max(sees_too),
            lock_wait_timeout: Some(row_lock_timeout),
            kill: self.shared.kill.clone(),
            session_id: u64::from(self.shared.id),
        };
        match state.ended.take() {
            Some(mut ended) => {
                ended.begin_again(options);
                ended
            }
            None => Box::new(self.instance.engine().begin(options)),
        }
    }

    /// BEGIN and START TRANSACTION: commits what was open.
    pub(crate) fn begin(&mut self, start: &TransactionStart, sink: &mut dyn ResultSink) -> SqlResult<()> {
        if start.read_only == Some(false) {
            self.refuse_read_only_server()?;
        }
        self.commit_open()?;
        self.unlock_tables();
        self.begin_block(start.read_only);
        if start.consistent_snapshot {
            self.ensure_transaction();
            match (&self.transaction.current, self.transaction.options.isolation) {
                (Some(transaction), Isolation::RepeatableRead | Isolation::Serializable) => {
                    transaction.take_snapshot().map_err(|error| error.into_sql(""))?;
                }
                _ => self.diagnostics.warning(SqlError::new(
                    NOT_CONSISTENT.0,
                    "HY000",
                    NOT_CONSISTENT.1.to_owned(),
                )),
            }
        }
        self.send_ok(sink)
    }

    /// Statements are grouped from now on.
    pub(crate) fn begin_block(&mut self, read_only: Option<bool>) {
        let isolation = self.transaction.next_isolation.take();
        let read_only = read_only.or(self.transaction.next_read_only.take());
        self.transaction.forget_points();
        self.transaction.next_read_only = None;
        self.transaction.options = Characteristics {
            isolation: isolation.unwrap_or(self.settings().isolation),
            read_only: read_only.unwrap_or(self.settings().read_only),
        };
        self.transaction.explicit = true;
    }

    /// The open transaction leaves the session: it is in none then, and holds what it holds by name still.
    pub(crate) fn take_transaction(&mut self) -> Option<Box<Transaction>> {
        self.transaction.forget_points();
        self.transaction.explicit = false;
        self.shared.transaction.end();
        self.transaction.current.take()
    }

    /// COMMIT and ROLLBACK with their chains.
    pub(crate) fn end_transaction(
        &mut self,
        commit: bool,
        end: TransactionEnd,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<()> {
        self.transaction.xa.refuse_end()?;
        let completion = self.state.number(id::COMPLETION_TYPE);
        let chain = end.chain.unwrap_or(completion == 1 && end.release != Some(true));
        let release = end.release.unwrap_or(completion == 2 && end.chain != Some(true));
        let characteristics = self.present_characteristics();
        // It counts as the transaction that SET TRANSACTION spoke of, whether or not one was open.
        self.transaction.next_isolation = None;
        self.transaction.next_read_only = None;
        if commit {
            self.commit_open()?
        } else {
            self.warn_of_temporary_tables();
            self.rollback_open()
        }
        if chain {
            // As BEGIN does.
            self.unlock_tables();
            self.transaction.explicit = true;
            self.transaction.options = characteristics;
        }
        self.must_close |= release;
        self.send_ok(sink)
    }

    /// Warnings 1751 and 1752 of a rollback.
    fn warn_of_temporary_tables(&mut self) {
        let TemporaryTablesTouched { made, dropped } = self.transaction.temporary_tables;
        if made {
            self.diagnostics.warning(sql_error!(ER_WARNING_NOT_COMPLETE_ROLLBACK_WITH_CREATED_TEMP_TABLE));
        }
        if dropped {
            self.diagnostics.warning(sql_error!(ER_WARNING_NOT_COMPLETE_ROLLBACK_WITH_DROPPED_TEMP_TABLE));
        }
    }

    /// Those of the open transaction; where there is none, those that the next one would have.
    fn present_characteristics(&self) -> Characteristics {
        let (state, settings) = (&self.transaction, self.settings());
        if state.explicit || state.current.is_some() {
            return state.options;
        }
        Characteristics {
            isolation: state.next_isolation.unwrap_or(settings.isolation),
            read_only: state.next_read_only.unwrap_or(settings.read_only),
        }
    }

    /// Commits whatever is open and forgets BEGIN. Error 1399 in a branch of an XA transaction.
    pub(crate) fn commit_open(&mut self) -> SqlResult<()> {
        self.transaction.xa.refuse_end()?;
        self.transaction.explicit = false;
        self.commit_engine_transaction()
    }

    /// What DDL and its like do before they start: they end the open transaction, and count as the one that
    /// SET TRANSACTION spoke of.
    pub(crate) fn commit_implicitly(&mut self) -> SqlResult<()> {
        self.transaction.xa.refuse_end()?;
        self.transaction.next_isolation = None;
        self.transaction.next_read_only = None;
        self.commit_open()
    }

    /// Error 1792 for a statement that changes more than rows, in a session whose transactions are READ ONLY. Like
    /// any other of its kind it has ended the open transaction.
    pub(crate) fn refuse_read_only_session(&mut self) -> SqlResult<()> {
        if !self.settings().read_only {
            return Ok(());
        }
        self.commit_implicitly()?;
        Err(sql_error!(ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION))
    }

    /// A transaction that changed nothing commits at any time; another one waits while the global read lock is held. If it waits in
    /// vain, or the server has become read-only since it began (1290), it is rolled back.
    fn commit_engine_transaction(&mut self) -> SqlResult<()> {
        if !self.transaction.current.as_deref().is_some_and(Transaction::has_written) {
            return self.commit_unhindered();
        }
        let mut has_begun = false;
        let outcome = self.with_intent(Intent::Commit, |session| {
            if session.instance.is_read_only() {
                session.refuse_read_only_server()?;
            }
            has_begun = true;
            session.commit_unhindered()
        });
        if !has_begun {
            self.rollback_engine_transaction();
        }
        outcome
    }

    /// Commits together with the table that the transaction has filled.
    fn commit_with_table(&mut self, table: &Arc<Table>) -> EngineResult<Lsn> {
        let state = &mut self.transaction;
        if let Some(transaction) = state.current.take() {
            if let Err(error) = transaction.publish_table(table) {
                transaction.rollback_with_table(table)?;
                return Err(error);
            }
            state.current = Some(transaction);
        }
        let lsn = state.commit()?;
        self.instance.engine().show_table(table, lsn)?;
        Ok(lsn)
    }

    fn commit_unhindered(&mut self) -> SqlResult<()> {
        self.transaction.forget_points();
        if let Some(transaction) = &self.transaction.current {
            self.packet_lsn = self.packet_lsn.max(transaction.reply_lsn());
            self.count(variables::status::id::HANDLER_COMMIT, 1);
        }
        let outcome = match self.transaction.making.take() {
            Some(table) => self.commit_with_table(&table),
            None => self.transaction.commit(),
        };
        self.shared.transaction.end();
        self.release_transaction_locks();
        let lsn = outcome.map_err(|error| error.into_sql(""))?;
        if lsn > Lsn(0) {
            self.transaction.last_commit = lsn;
            self.packet_lsn = self.packet_lsn.max(lsn);
        }
        Ok(())
    }

    /// From now on this session sees all commits so far, durable or not. Locks of a transaction are given back before its commit is durable:
    /// whoever then holds what keeps others from writing must not see it come later.
    pub(crate) fn see_all_commits(&mut self) {
        let last_commit = self.instance.engine().last_commit();
        self.transaction.last_commit = self.transaction.last_commit.max(last_commit);
    }

    /// Rolls back whatever is open and forgets BEGIN. A branch of an XA transaction is lost.
    pub(crate) fn rollback_open(&mut self) {
        self.transaction.xa.lose();
        self.transaction.explicit = false;
        self.rollback_engine_transaction();
    }

    fn rollback_engine_transaction(&mut self) {
        self.transaction.forget_points();
        let made = self.transaction.making.take();
        if let Some(transaction) = self.transaction.current.take() {
            self.count(variables::status::id::HANDLER_ROLLBACK, 1);
            // What has failed tells of rows that others have committed: not before these are durable (rule C3).
            self.packet_lsn = self.packet_lsn.max(transaction.reply_lsn());
            let rolled_back = match made {
                Some(table) => transaction.rollback_with_table(&table),
                None => transaction.rollback(),
            };
            // A rollback that fails goes on in the background; the client's transaction is over either way.
            if let Err(error) = rolled_back {
                self.diagnostics.warning(error.into_sql(""));
            }
        }
        self.shared.transaction.end();
        self.release_transaction_locks();
    }

    /// The end of a statement outside BEGIN with autocommit: commits it, or rolls it back.
    pub(crate) fn end_statement(&mut self, succeeded: bool) -> SqlResult<()> {
        if self.in_transaction_block() {
            if let Some(transaction) = &self.transaction.current {
                self.packet_lsn = self.packet_lsn.max(transaction.reply_lsn());
            }
            return Ok(());
        }
        if succeeded {
            self.commit_engine_transaction()
        } else {
            self.rollback_engine_transaction();
            Ok(())
        }
    }

    /// Undoes the statement that failed. If the engine rolled back the whole transaction (deadlock), it is forgotten. Error 1181: the
    /// statement cannot be undone alone, so that the whole transaction is rolled back.
    pub(crate) fn undo_statement(&mut self, mark: Mark) -> SqlResult<()> {
        let is_rolled_back = self.transaction.current.as_deref().is_some_and(Transaction::is_rolled_back);
        // The rows of a table that is being made go with it.
        if is_rolled_back || self.transaction.making.is_some() {
            self.rollback_open();
            return Ok(());
        }
        self.roll_back_to(mark)
    }

    fn roll_back_to(&mut self, mark: Mark) -> SqlResult<()> {
        let Some(transaction) = &self.transaction.current else { return Ok(()) };
        undo_to(transaction, mark).inspect_err(|_| self.rollback_open())
    }

    /// Undoes all that the transaction did and goes on with it. As in MySQL it has no row locks and no snapshot then: that is what it had
    /// when the savepoint was set. It stays open, with the names that it has locked, also where no BEGIN was said.
    fn roll_back_and_go_on(&mut self) {
        let state = &mut self.transaction;
        let Some(mut transaction) = state.current.take() else { return };
        state.explicit = true;
        let outcome = transaction.rollback_in_place();
        state.ended = Some(transaction);
        self.shared.transaction.end();
        // As with ROLLBACK, what fails goes on in the background.
        if let Err(error) = outcome {
            self.diagnostics.warning(error.into_sql(""));
        }
    }

    /// SAVEPOINT: a second one of the same name replaces the first.
    pub(crate) fn savepoint(&mut self, name: &str, sink: &mut dyn ResultSink) -> SqlResult<()> {
        if self.in_transaction_block() {
            let mark = self.transaction.current.as_deref().map(Transaction::mark);
            self.transaction.savepoints.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
            self.transaction.savepoints.push((name.to_owned(), mark));
            self.count(variables::status::id::HANDLER_SAVEPOINT, 1);
        }
        self.send_ok(sink)
    }

    fn savepoint_position(&self, name: &str) -> SqlResult<usize> {
        let found =
            self.transaction.savepoints.iter().position(|(other, _)| other.eq_ignore_ascii_case(name));
        found.ok_or_else(|| sql_error!(ER_SP_DOES_NOT_EXIST, "SAVEPOINT", name))
    }

    /// Whether the open transaction may only read.
    #[inline]
    pub(crate) fn transaction_is_read_only(&self) -> bool {
        self.transaction.options.read_only
    }

    /// Whether there is a savepoint of that name.
    pub(crate) fn has_savepoint(&self, name: &str) -> bool {
        self.transaction.savepoints.iter().any(|(other, _)| other.eq_ignore_ascii_case(name))
    }

    /// ROLLBACK TO SAVEPOINT: later savepoints are forgotten. Error 1305.
    pub(crate) fn rollback_to_savepoint(&mut self, name: &str, sink: &mut dyn ResultSink) -> SqlResult<()> {
        let position = self.savepoint_position(name)?;
        self.warn_of_temporary_tables();
        match self.transaction.savepoints[position].1 {
            Some(mark) => self.roll_back_to(mark)?,
            None => self.roll_back_and_go_on(),
        }
        self.transaction.savepoints.truncate(position + 1);
        self.count(variables::status::id::HANDLER_SAVEPOINT_ROLLBACK, 1);
        self.send_ok(sink)
    }

    /// RELEASE SAVEPOINT: it and later ones are forgotten. Error 1305.
    pub(crate) fn release_savepoint(&mut self, name: &str, sink: &mut dyn ResultSink) -> SqlResult<()> {
        let position = self.savepoint_position(name)?;
        self.transaction.savepoints.truncate(position);
        self.send_ok(sink)
    }
}

/// Undoes what was written since a mark; nothing, where the whole transaction was rolled back. Error 1181: it cannot be undone alone.
pub(crate) fn undo_to(transaction: &Transaction, mark: Mark) -> SqlResult<()> {
    transaction.rollback_to(mark).map_err(|error| {
        let error = error.into_sql("");
        sql_error!(ER_ERROR_DURING_ROLLBACK, error.number(), error.message())
    })
}
