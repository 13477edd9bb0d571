//! XA: branches of transactions that another program coordinates. Main type: [`XaState`]. A prepared branch leaves its session at
//! once, with all that it has locked, to the branches of the server (`instance`), whether or not its session may end it alone
//! (xa_detach_on_prepare).

use crate::session::Session;
use accounts::Privileges;
use catalog::{Intent, LockMode};
use errors::{SqlError, SqlResult, sql_error};
use instance::{BranchOwner, LeftBranch, engine_name, lock_owner, names_used, table_name};
use parser::ast::{ExplainTarget, ObjectName, Show, Statement, Xa, Xid};
use std::time::Duration;
use sysviews::result::{column, computed, not_null, sized_column};
use values::{ColumnType, TypeKind, Value};
use variables::id;
use variables::status::id as status;
use wire::result::ResultSink;

/// Characters of `data` in XA RECOVER: both parts as hexadecimal digits, with 0x.
const SHOWN_XID_CHARACTERS: u32 = 2 * (64 + 64) + 2;

/// Where a session is in a branch.
#[derive(Clone, Debug, Default)]
pub(crate) enum XaState {
    /// In none.
    #[default]
    NonExisting,
    /// Between XA START and XA END.
    Active(Xid),
    /// Behind XA END.
    Idle(Xid),
    /// Behind XA PREPARE, with xa_detach_on_prepare=OFF.
    Prepared(Xid),
    /// The whole transaction was rolled back by an error. Until XA END or a use of a table has told the client so (or XA COMMIT, which
    /// ends the branch), all else takes it to be active.
    RollbackOnly { xid: Xid, why: Lost, is_told: bool },
}

/// Why a branch was rolled back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lost {
    Deadlock,
    Timeout,
    Other,
}

impl Lost {
    fn error(self) -> SqlError {
        match self {
            Lost::Deadlock => sql_error!(ER_XA_RBDEADLOCK),
            Lost::Timeout => sql_error!(ER_XA_RBTIMEOUT),
            Lost::Other => sql_error!(ER_XA_RBROLLBACK),
        }
    }
}

impl XaState {
    fn xid(&self) -> Option<&Xid> {
        match self {
            XaState::NonExisting => None,
            XaState::Active(xid)
            | XaState::Idle(xid)
            | XaState::Prepared(xid)
            | XaState::RollbackOnly { xid, .. } => Some(xid),
        }
    }

    /// Error 1399 with the name of the state.
    fn refusal(&self) -> SqlError {
        let name = match self {
            XaState::NonExisting => "NON-EXISTING",
            XaState::Active(_) | XaState::RollbackOnly { is_told: false, .. } => "ACTIVE",
            XaState::Idle(_) => "IDLE",
            XaState::Prepared(_) => "PREPARED",
            XaState::RollbackOnly { .. } => "ROLLBACK ONLY",
        };
        sql_error!(ER_XAER_RMFAIL, name)
    }

    /// Error 1399 for what would end a transaction, in a branch.
    pub(crate) fn refuse_end(&self) -> SqlResult<()> {
        match self {
            XaState::NonExisting => Ok(()),
            state => Err(state.refusal()),
        }
    }

    /// Whether tables may be used.
    #[inline]
    pub(crate) fn uses_tables(&self) -> bool {
        matches!(self, XaState::NonExisting | XaState::Active(_))
    }

    /// Where tables may not be used: error 1399, or that of the transaction's loss.
    pub(crate) fn check_tables(&mut self) -> SqlResult<()> {
        match self {
            XaState::NonExisting | XaState::Active(_) => Ok(()),
            XaState::RollbackOnly { why, is_told, .. } => {
                *is_told = true;
                Err(why.error())
            }
            state => Err(state.refusal()),
        }
    }

    /// The transaction of a branch was rolled back, as a whole.
    pub(crate) fn lose(&mut self) {
        *self = match std::mem::take(self) {
            XaState::Active(xid) | XaState::Idle(xid) => {
                XaState::RollbackOnly { xid, why: Lost::Other, is_told: false }
            }
            state => state,
        };
    }

    /// A statement has failed: if that has cost the branch its transaction, this is why.
    pub(crate) fn explain_loss(&mut self, error: &SqlError) {
        let XaState::RollbackOnly { why: why @ Lost::Other, .. } = self else { return };
        if error.is(&errors::code::ER_LOCK_DEADLOCK) {
            *why = Lost::Deadlock;
        } else if error.is(&errors::code::ER_LOCK_WAIT_TIMEOUT) {
            *why = Lost::Timeout;
        }
    }
}

/// What uses tables where they may not be used: errors as [`XaState::check_tables`]. What names a table that does not exist, or that the
/// account may not use, fails by itself: the error must not tell which of the two it is. SHOW and DESCRIBE say themselves when they
/// come to a query. A READ ONLY transaction refuses before (1792).
#[cold]
pub(crate) fn refuse_tables(session: &mut Session, statement: &Statement) -> SqlResult<()> {
    let is_refused = match statement {
        Statement::Show(show) => match &**show {
            Show::CreateTable(name) | Show::CreateView(name) => is_seen(session, name),
            Show::CreateUser(_) => true,
            _ => false,
        },
        Statement::Savepoint(_) => !matches!(session.transaction.xa, XaState::RollbackOnly { .. }),
        Statement::RollbackTo(name) | Statement::ReleaseSavepoint(name) => session.has_savepoint(name),
        _ => {
            let used = names_used(statement);
            let (run, only_reads) = match statement {
                Statement::Explain(explain) => match &explain.target {
                    ExplainTarget::Statement(explained) => {
                        (&**explained, matches!(**explained, Statement::Query(_)))
                    }
                    ExplainTarget::Connection(_) => (statement, true),
                },
                _ => (statement, false),
            };
            let (instance, own) = (&session.instance, (session.schema.as_deref(), &session.temporary));
            session.user.require_statement(instance, run, own)?;
            if !only_reads && used.tables.iter().any(|used| used.mode == LockMode::Write) {
                session.refuse_read_only_transaction()?;
            }
            let names_any = !used.tables.is_empty() || used.derived;
            names_any && used.tables.iter().all(|used| exists(session, &used.name))
        }
    };
    if is_refused { session.transaction.xa.check_tables() } else { Ok(()) }
}

/// The same for PREPARE, which opens the tables of queries, row changes and CREATE TABLE, and does not look for those of SHOW.
#[cold]
pub(crate) fn refuse_prepare(session: &mut Session, statement: &Statement) -> SqlResult<()> {
    let is_refused = match statement {
        Statement::Show(show) => crate::show::queries_tables(show),
        Statement::Describe { .. } => true,
        Statement::CreateTable(create) => {
            let query = create.query.clone().map(Statement::Query);
            if let Some(query) = &query {
                let own = (session.schema.as_deref(), &session.temporary);
                session.user.require_statement(&session.instance, query, own)?;
            }
            let read = query.iter().flat_map(|query| names_used(query).tables).map(|used| used.name);
            let may_like = create.like.as_ref().is_none_or(|name| is_seen(session, name));
            may_like && read.into_iter().all(|name| exists(session, &name))
        }
        _ => return refuse_tables(session, statement),
    };
    if is_refused { session.transaction.xa.check_tables() } else { Ok(()) }
}

fn exists(session: &Session, name: &ObjectName) -> bool {
    let full = table_name(name, session.schema.as_deref());
    full.is_ok_and(|full| {
        session.temporary.has(&full) || sysviews::table_exists(&session.instance, &full.schema, &full.table)
    })
}

/// Whether there is a table of that name on which the account has some privilege.
fn is_seen(session: &mut Session, name: &ObjectName) -> bool {
    let Ok(full) = table_name(name, session.schema.as_deref()) else { return false };
    let granted = session.user.current_grants(&session.instance).table_or_columns(&full.schema, &full.table);
    let is_open = instance::system_schemas::is_always_readable(&full.schema, &full.table)
        || session.temporary.has(&full);
    (is_open || granted.intersects(Privileges::ALL_TABLE)) && exists(session, name)
}

/// Error 4091: a branch that leaves its session when it is prepared cannot take the session's tables along.
pub(crate) fn refuse_temporary_tables(session: &Session) -> SqlResult<()> {
    match session.transaction.xa.xid().is_some() && session.state.is_on(id::XA_DETACH_ON_PREPARE) {
        true => Err(sql_error!(ER_XA_TEMP_TABLE)),
        false => Ok(()),
    }
}

/// Errors as [`XaState::check_tables`] for CREATE and DROP TEMPORARY TABLE; a table to be like that is not there fails by itself.
pub(crate) fn refuse_temporary_definition(session: &mut Session, like: Option<&ObjectName>) -> SqlResult<()> {
    match like.is_none_or(|like| exists(session, like)) {
        true => session.transaction.xa.check_tables(),
        false => Ok(()),
    }
}

/// XA.
pub(crate) fn run(session: &mut Session, xa: &Xa, sink: &mut dyn ResultSink) -> SqlResult<()> {
    match xa {
        Xa::Start { xid, join, resume } => start(session, xid, *join, *resume)?,
        Xa::End { xid, suspend, .. } => end(session, xid, *suspend)?,
        Xa::Prepare(xid) => prepare(session, xid)?,
        Xa::Commit { xid, one_phase } => commit(session, xid, *one_phase)?,
        Xa::Rollback(xid) => roll_back(session, xid)?,
        Xa::Recover { convert_xid } => return recover(session, *convert_xid, sink),
    }
    session.send_ok(sink)
}

/// Errors: 1397 to RESUME another branch than the one that ended last, 1398, 1399 in a branch, 1400 in a transaction and under
/// LOCK TABLES, 1440.
fn start(session: &mut Session, xid: &Xid, join: bool, resume: bool) -> SqlResult<()> {
    if let (XaState::Idle(idle), true) = (&session.transaction.xa, resume) {
        if idle != xid {
            return Err(sql_error!(ER_XAER_NOTA));
        }
        session.transaction.xa = XaState::Active(xid.clone());
        return Ok(());
    }
    if join || resume {
        return Err(sql_error!(ER_XAER_INVAL));
    }
    session.transaction.xa.refuse_end()?;
    if session.locks.explicit.in_force() || session.transaction_is_open() {
        return Err(sql_error!(ER_XAER_OUTSIDE));
    }
    if !session.instance.branches().begin(xid) {
        return Err(sql_error!(ER_XAER_DUPID));
    }
    // A statement that failed before it had a transaction may have left some, with autocommit off.
    session.release_transaction_locks();
    session.begin_block(None);
    session.locks.begin_movable();
    session.transaction.xa = XaState::Active(xid.clone());
    Ok(())
}

/// Errors: 1397 for another branch, 1398 for SUSPEND, 1399 in another state, 1402 and 1614 if the transaction is lost.
fn end(session: &mut Session, xid: &Xid, suspend: bool) -> SqlResult<()> {
    if suspend {
        return Err(sql_error!(ER_XAER_INVAL));
    }
    match &mut session.transaction.xa {
        XaState::Active(active) if active == xid => {}
        state @ XaState::RollbackOnly { .. } if state.xid() == Some(xid) => return state.check_tables(),
        XaState::Active(_) | XaState::RollbackOnly { .. } => return Err(sql_error!(ER_XAER_NOTA)),
        state => return Err(state.refusal()),
    }
    session.transaction.xa = XaState::Idle(xid.clone());
    Ok(())
}

/// The branch leaves the session. What has written nothing ends here; only its name stays. Errors: 1397, 1399; 1205, 1317 where the
/// global read lock keeps it waiting, 1290: the branch is rolled back then.
fn prepare(session: &mut Session, xid: &Xid) -> SqlResult<()> {
    match &session.transaction.xa {
        XaState::Idle(idle) if idle == xid => {}
        XaState::Idle(_) => return Err(sql_error!(ER_XAER_NOTA)),
        state => return Err(state.refusal()),
    }
    let left = match session.with_intent(Intent::Commit, |session| leave(session, xid)) {
        Ok(left) => left,
        Err(error) => {
            forget(session, xid);
            session.diagnostics.expect_second(sql_error!(ER_XA_RBROLLBACK));
            return Err(error);
        }
    };
    let detaches = session.state.is_on(id::XA_DETACH_ON_PREPARE);
    session.instance.branches().leave(xid, left, !detaches);
    session.transaction.explicit = !detaches;
    session.transaction.xa = match detaches {
        true => XaState::NonExisting,
        false => XaState::Prepared(xid.clone()),
    };
    Ok(())
}

fn leave(session: &mut Session, xid: &Xid) -> SqlResult<LeftBranch> {
    let owner = session.instance.branches().new_owner();
    if session.transaction.current.as_deref().and_then(engine::Transaction::id).is_none() {
        // Before the transaction ends, which gives them back.
        let locks = leave_names(session, &owner);
        session.transaction.xa = XaState::NonExisting;
        if let Err(error) = session.commit_open() {
            locks.release(session.instance.metadata_locks());
            return Err(error);
        }
        return Ok(LeftBranch { transaction: None, locks, owner, began_microseconds: None });
    }
    if session.instance.is_read_only() {
        session.refuse_read_only_server()?;
    }
    let Some(transaction) = &mut session.transaction.current else {
        return Err(sql_error!(ER_INTERNAL_ERROR, "a branch without a transaction"));
    };
    let (seen, lsn) = (transaction.reply_lsn(), transaction.prepare(&engine_name(xid)));
    let lsn = lsn.map_err(|error| error.into_sql(""))?;
    session.wait_for(seen.max(lsn));
    let began_microseconds = session.shared.transaction.get().map(|open| open.began_microseconds);
    let transaction = session.take_transaction().map(|transaction| *transaction);
    Ok(LeftBranch { transaction, locks: leave_names(session, &owner), owner, began_microseconds })
}

fn leave_names(session: &mut Session, heir: &BranchOwner) -> catalog::LeftLocks {
    session.locks.leave_with_transaction(lock_owner(&session.instance, &session.shared), heir.id())
}

/// Errors: 1397 for a branch that is not prepared, or not by this session alone, 1399, 1402, 1614; 1205, 1317 where the global read
/// lock, or somebody else who decides, keeps it waiting, 1213 where that one waits for this session's global read lock, 1290.
fn commit(session: &mut Session, xid: &Xid, one_phase: bool) -> SqlResult<()> {
    match session.transaction.xa.clone() {
        XaState::NonExisting => decide(session, xid, false, true),
        XaState::Idle(idle) if idle == *xid && one_phase => {
            session.transaction.xa = XaState::NonExisting;
            let outcome = session.commit_open();
            session.instance.branches().end(xid);
            if outcome.is_err() {
                session.diagnostics.expect_second(sql_error!(ER_XA_RBROLLBACK));
            }
            outcome
        }
        XaState::Prepared(prepared) if prepared == *xid && !one_phase => decide(session, xid, true, true),
        XaState::RollbackOnly { xid: lost, why, .. } if lost == *xid => {
            forget(session, xid);
            Err(why.error())
        }
        state => Err(state.refusal()),
    }
}

/// Errors: as [`commit`], but for the transaction's loss. The global read lock keeps it waiting too.
fn roll_back(session: &mut Session, xid: &Xid) -> SqlResult<()> {
    match session.transaction.xa.clone() {
        XaState::NonExisting => decide(session, xid, false, false),
        XaState::Prepared(prepared) if prepared == *xid => decide(session, xid, true, false),
        XaState::Idle(of_session) | XaState::RollbackOnly { xid: of_session, is_told: true, .. }
            if of_session == *xid =>
        {
            let forgotten = session.with_intent(Intent::Commit, |session| {
                forget(session, xid);
                Ok(())
            });
            forgotten.inspect_err(|_| session.diagnostics.expect_second(sql_error!(ER_XAER_RMERR)))
        }
        state => Err(state.refusal()),
    }
}

/// Rolls back the branch that the session runs.
fn forget(session: &mut Session, xid: &Xid) {
    session.transaction.xa = XaState::NonExisting;
    session.rollback_open();
    session.instance.branches().end(xid);
}

/// Ends a prepared branch: one of anybody, or the session's own. What fails leaves it prepared.
fn decide(session: &mut Session, xid: &Xid, is_own: bool, commits: bool) -> SqlResult<()> {
    if !is_own && session.transaction_is_open() {
        return Err(session.transaction.xa.refusal());
    }
    // Whoever decides now waits for the global read lock: its holder must not wait in turn.
    let holds_global = session.locks.explicit.global;
    let timeout = if holds_global { Duration::ZERO } else { session.settings().metadata_lock_timeout };
    let taken = session.instance.branches().take(xid, is_own, &session.shared.kill, timeout);
    let mut branch = taken.map_err(|error| match error.is(&errors::code::ER_LOCK_WAIT_TIMEOUT) {
        true if holds_global => sql_error!(ER_LOCK_DEADLOCK),
        _ => error,
    })?;
    let mut stays = true;
    let outcome = session.with_intent(Intent::Commit, |session| {
        end_left(session, &mut branch, commits).inspect_err(|_| stays = branch.transaction.is_some())
    });
    if outcome.is_err() && stays {
        session.instance.branches().leave(xid, branch, is_own);
        let second = if is_own && !commits { sql_error!(ER_XAER_RMERR) } else { sql_error!(ER_XA_RETRY) };
        session.diagnostics.expect_second(second);
        return outcome;
    }
    branch.locks.release(session.instance.metadata_locks());
    session.instance.branches().end(xid);
    session.transaction.xa = XaState::NonExisting;
    session.transaction.explicit = false;
    session.transaction.next_isolation = None;
    session.transaction.next_read_only = None;
    outcome
}

/// Takes the transaction out of the branch if it has ended.
fn end_left(session: &mut Session, branch: &mut LeftBranch, commits: bool) -> SqlResult<()> {
    let Some(transaction) = &mut branch.transaction else { return Ok(()) };
    if session.instance.is_read_only() {
        session.refuse_read_only_server()?;
    }
    let ended = match commits {
        true => transaction.commit_in_place(),
        false => transaction.rollback_prepared(),
    };
    let lsn = match ended {
        Ok(lsn) => lsn,
        // A rollback that has begun goes on in the background.
        Err(error) => {
            if transaction.is_rolled_back() {
                branch.transaction = None;
            }
            return Err(error.into_sql(""));
        }
    };
    branch.transaction = None;
    session.count(if commits { status::HANDLER_COMMIT } else { status::HANDLER_ROLLBACK }, 1);
    if commits {
        session.transaction.last_commit = session.transaction.last_commit.max(lsn);
    }
    session.wait_for(lsn);
    Ok(())
}

/// The session ends, or begins anew: a branch that is not prepared is rolled back with its transaction, which the caller does.
pub(crate) fn abandon(session: &mut Session) {
    match std::mem::take(&mut session.transaction.xa) {
        XaState::Prepared(xid) => session.instance.branches().detach(&xid),
        state => {
            if let Some(xid) = state.xid() {
                session.rollback_open();
                session.instance.branches().end(xid);
            }
        }
    }
}

/// XA RECOVER. Error 1401 without XA_RECOVER_ADMIN.
fn recover(session: &mut Session, convert_xid: bool, sink: &mut dyn ResultSink) -> SqlResult<()> {
    if let Err(error) = session.user.require_exactly(&session.instance, "XA_RECOVER_ADMIN") {
        session.diagnostics.expect_second(error);
        return Err(sql_error!(ER_XAER_RMERR));
    }
    let number = |name: &str| not_null(computed(sized_column(name, TypeKind::BigInt, false, 12)));
    // Bytes as they are, in whatever the client takes texts to be.
    let data = ColumnType::varchar(SHOWN_XID_CHARACTERS, session.results_collation());
    let columns = [
        number("formatID"),
        number("gtrid_length"),
        number("bqual_length"),
        not_null(computed(column("data", data))),
    ];
    let prepared = session.instance.branches().prepared();
    let rows: Vec<Vec<Value>> = prepared.into_iter().map(|xid| row(&xid, convert_xid)).collect();
    session.send_rows(&columns, &rows, sink)
}

fn row(xid: &Xid, convert_xid: bool) -> Vec<Value> {
    let data = [&xid.global[..], &xid.branch].concat();
    let data = match convert_xid {
        true => {
            let digits = data.iter().map(|byte| format!("{byte:02X}"));
            format!("0x{}", digits.collect::<String>()).into_bytes()
        }
        false => data,
    };
    let length = |bytes: &[u8]| Value::Int(bytes.len() as i64);
    vec![Value::Int(xid.format as i64), length(&xid.global), length(&xid.branch), Value::Bytes(data)]
}
