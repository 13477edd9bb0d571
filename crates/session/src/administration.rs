//! KILL, FLUSH, RESET, SHUTDOWN and the maintenance statements (ANALYZE, CHECK, CHECKSUM, OPTIMIZE, REPAIR TABLE).

use crate::session::Session;
use crate::table_checksum::TableChecksum;
use accounts::{AccountName, Privileges};
use catalog::{LockKey, LockMode};
use dictionary::TableName;
use engine::{RowBatch, ScanOptions, Table};
use errors::{SqlResult, sql_error};
use instance::KeptResult;
use instance::SessionShared;
use parser::ast::{
    CastExpression, CastTarget, Expression, Flush, FlushTarget, MaintenanceCommand, ResetTarget,
    TableMaintenance,
};
use std::sync::Arc;
use sysviews::result::{column, computed, sized_column, text, text_column};
use values::row::RowView;
use values::{ColumnType, TypeKind, Value};
use wire::result::ResultSink;

const ROWS_PER_BATCH: usize = 1024;

/// KILL. Errors: 1094, 1095.
pub(crate) fn kill(
    session: &mut Session,
    query_only: bool,
    id: &Expression,
    sink: &mut dyn ResultSink,
) -> SqlResult<()> {
    let number = Expression::Cast(Box::new(CastExpression {
        operand: Box::new(id.clone()),
        target: CastTarget::Signed,
        array: false,
        time_zone: None,
    }));
    let id = match session.evaluate(&number)?.value {
        Value::Int(number) => number,
        _ => 0,
    };
    // MySQL tells the number's last 32 bits, and would end the session that has them.
    let shown = id as u32;
    let found = u32::try_from(id).ok().and_then(|id| session.instance.registry().get(id));
    let other = found.ok_or_else(|| sql_error!(ER_NO_SUCH_THREAD, shown))?;
    let own = other.describe().account == session.user.account_text;
    if !own && !may_kill(session, &other) {
        return Err(sql_error!(ER_KILL_DENIED_ERROR, id));
    }
    match query_only {
        true => other.kill_statement(),
        false => other.kill_connection(),
    }
    if other.id == session.shared.id {
        return Err(sql_error!(ER_QUERY_INTERRUPTED));
    }
    session.send_ok(sink)
}

/// Whether the user may end the session of another account: those of administrators' accounts only with SYSTEM_USER.
fn may_kill(session: &mut Session, other: &SessionShared) -> bool {
    if !session.grants().dynamic("CONNECTION_ADMIN") {
        return false;
    }
    let owner = other.describe().account.to_string();
    let (user, host) = owner.rsplit_once('@').unwrap_or((&owner, ""));
    session.user.require_power_over(&session.instance, &AccountName::new(user, host)).is_ok()
}

/// FLUSH in its forms. Most have nothing to do here: there are no caches to empty.
pub(crate) fn flush(session: &mut Session, flush: &Flush, sink: &mut dyn ResultSink) -> SqlResult<()> {
    require_flush(session, &flush.target)?;
    if !session.locks.explicit.in_force() {
        session.commit_implicitly()?;
    }
    match &flush.target {
        FlushTarget::Tables { tables, with_read_lock, for_export } => {
            if *for_export {
                return Err(sql_error!(ER_NOT_SUPPORTED_YET, "FLUSH TABLES FOR EXPORT"));
            }
            if *with_read_lock {
                session.locks.explicit.refuse()?;
                if !tables.is_empty() {
                    session.refuse_read_only_session()?;
                }
            }
            if *with_read_lock && tables.is_empty() {
                session.lock_global()?;
            } else if *with_read_lock {
                let locks: Vec<parser::ast::LockTable> = tables
                    .iter()
                    .map(|table| parser::ast::LockTable {
                        table: table.clone(),
                        alias: None,
                        mode: parser::ast::TableLockMode::Read,
                    })
                    .collect();
                return session.lock_base_tables(&locks, sink);
            } else if tables.is_empty() {
                session.locks.explicit.check_all_written()?;
            }
            let mut names = Vec::with_capacity(tables.len());
            for table in tables {
                let name = session.table_name(table)?;
                let key = LockKey::table(&name.schema, &name.table);
                session.locks.explicit.check(&key, LockMode::NoReadWrite)?;
                names.push(name);
            }
            crate::handler::flush(session, &names);
        }
        FlushTarget::Options(options) => {
            for option in options {
                match *option {
                    "STATUS" => flush_status(session),
                    "PRIVILEGES" => flush_privileges(session),
                    // Results stay; their memory is never in pieces.
                    "QUERY CACHE" => session.instance.results().retain(KeptResult::may_be_right),
                    "USER_RESOURCES" => session.instance.accounts().forget_resources(),
                    _ => {}
                }
            }
        }
    }
    session.count(variables::status::id::FLUSH_COMMANDS, 1);
    session.send_ok(sink)
}

/// Error 1227 without RELOAD or the dynamic privilege that allows this form.
fn require_flush(session: &mut Session, target: &FlushTarget) -> SqlResult<()> {
    let grants = session.grants();
    if grants.global().contains(Privileges::RELOAD) {
        return Ok(());
    }
    let names: Vec<&str> = match target {
        FlushTarget::Tables { .. } => vec!["FLUSH_TABLES"],
        FlushTarget::Options(options) => options.iter().map(|option| flush_privilege(option)).collect(),
    };
    match names.iter().find(|name| !grants.holds_dynamic(name)) {
        None => Ok(()),
        Some(&"") => Err(sql_error!(ER_SPECIFIC_ACCESS_DENIED_ERROR, "RELOAD")),
        Some(name) => Err(sql_error!(ER_SPECIFIC_ACCESS_DENIED_ERROR, format!("RELOAD or {name}"))),
    }
}

/// Accounts are never out of date. What is kept of them in memory alone begins anew.
fn flush_privileges(session: &mut Session) {
    session.diagnostics.warning(sql_error!(ER_WARN_DEPRECATED_SYNTAX_NO_REPLACEMENT, "FLUSH PRIVILEGES"));
    session.instance.accounts().forget_failed_logins();
}

fn flush_status(session: &mut Session) {
    session.instance.ended_counters().absorb(&session.shared.counters);
    session.shared.counters.reset();
}

/// RESET PERSIST; other forms belong to replication. Error 3615 for a variable that is not persisted.
pub(crate) fn reset(
    session: &mut Session,
    targets: &[ResetTarget],
    sink: &mut dyn ResultSink,
) -> SqlResult<()> {
    for target in targets {
        let (name, if_exists) = match target {
            ResetTarget::QueryCache => {
                reset_query_cache(session)?;
                continue;
            }
            ResetTarget::Persist { name, if_exists } => (name, if_exists),
            _ => return Err(sql_error!(ER_NOT_SUPPORTED_YET, "RESET of replication")),
        };
        session.user.require_dynamic(&session.instance, "SYSTEM_VARIABLES_ADMIN")?;
        let instance = Arc::clone(&session.instance);
        let mut persisted = instance.persisted();
        let found = persisted.reset(name.as_deref(), instance.environment())?;
        if let (false, Some(name)) = (found, name) {
            let error = sql_error!(ER_VAR_DOES_NOT_EXIST, name);
            if !if_exists {
                return Err(error);
            }
            session.diagnostics.warning(error);
        }
    }
    session.send_ok(sink)
}

/// Forgets all results that are kept.
fn reset_query_cache(session: &mut Session) -> SqlResult<()> {
    session.user.require_global(&session.instance, Privileges::RELOAD)?;
    if !session.locks.explicit.in_force() {
        session.commit_implicitly()?;
    }
    session.instance.results().clear();
    Ok(())
}

/// SHUTDOWN.
pub(crate) fn shutdown(session: &mut Session, sink: &mut dyn ResultSink) -> SqlResult<()> {
    session.user.require_global(&session.instance, Privileges::SHUTDOWN)?;
    let control = session.instance.server_control();
    let control = control.ok_or_else(|| sql_error!(ER_NOT_SUPPORTED_YET, "SHUTDOWN"))?;
    session.send_ok(sink)?;
    control.shutdown();
    Ok(())
}

/// ANALYZE, CHECK, CHECKSUM, OPTIMIZE and REPAIR TABLE: one result set with a line or more for each table.
pub(crate) fn maintain(
    session: &mut Session,
    maintenance: &TableMaintenance,
    sink: &mut dyn ResultSink,
) -> SqlResult<()> {
    if maintenance.histogram.is_some() {
        return Err(sql_error!(ER_NOT_SUPPORTED_YET, "histograms"));
    }
    let mut names = Vec::with_capacity(maintenance.tables.len());
    for table in &maintenance.tables {
        let name = session.table_name(table)?;
        if !session.temporary.has(&name) {
            require_maintenance(session, maintenance.command, &name)?;
        }
        names.push(name);
    }
    if matches!(maintenance.command, MaintenanceCommand::Analyze | MaintenanceCommand::Optimize) {
        session.refuse_read_only_server()?;
    }
    match maintenance.command {
        MaintenanceCommand::Checksum => {}
        MaintenanceCommand::Analyze | MaintenanceCommand::Check => session.commit_implicitly()?,
        MaintenanceCommand::Optimize | MaintenanceCommand::Repair => {
            session.refuse_read_only_session()?;
            session.commit_implicitly()?;
        }
    }
    let mut rows = Vec::new();
    for name in names {
        session.shared.check_killed()?;
        match (maintenance.command, session.refuse_read_only_server()) {
            (MaintenanceCommand::Repair, Err(error)) => rows.extend(refused_repair(&name, &error)),
            _ => rows.extend(maintain_table(session, maintenance, &name)?),
        }
    }
    let message_type = ColumnType { kind: TypeKind::MediumText, ..text_column("", 131_072).column_type };
    let columns = match maintenance.command {
        MaintenanceCommand::Checksum => vec![
            computed(text_column("Table", 384)),
            computed(sized_column("Checksum", TypeKind::BigInt, false, 22)),
        ],
        _ => vec![
            computed(text_column("Table", 128)),
            computed(text_column("Op", 10)),
            computed(text_column("Msg_type", 10)),
            computed(column("Msg_text", message_type)),
        ],
    };
    session.send_rows(&columns, &rows, sink)
}

/// What it takes of a table: any privilege on it or on a column to check it, otherwise those that error 1142 names.
fn require_maintenance(
    session: &mut Session,
    command: MaintenanceCommand,
    name: &TableName,
) -> SqlResult<()> {
    let wanted = match command {
        MaintenanceCommand::Check => {
            let grants = session.user.current_grants(&session.instance);
            let held = grants.table_or_columns(&name.schema, &name.table);
            return match held.intersects(Privileges::ALL_TABLE) {
                true => Ok(()),
                false => Err(session.user.denied_table("SELECT", &name.table)),
            };
        }
        MaintenanceCommand::Checksum => Privileges::SELECT,
        _ => Privileges::SELECT.with(Privileges::INSERT),
    };
    session.user.require_table_or_columns(&session.instance, wanted, name)
}

/// Does it to one table: under a lock on its name, but for what changes the definition, which locks by itself.
fn maintain_table(
    session: &mut Session,
    maintenance: &TableMaintenance,
    name: &TableName,
) -> SqlResult<Vec<Vec<Value>>> {
    let command = maintenance.command;
    if command != MaintenanceCommand::Checksum {
        crate::handler::close_table(session, name);
    }
    let is_read = match command {
        MaintenanceCommand::Checksum => !maintenance.options.contains(&"QUICK"),
        MaintenanceCommand::Analyze | MaintenanceCommand::Check => true,
        MaintenanceCommand::Optimize | MaintenanceCommand::Repair => false,
    };
    // What LOCK TABLES does not name is not waited for.
    let key = LockKey::table(&name.schema, &name.table);
    let may_lock =
        session.locks.explicit.check(&key, LockMode::Read).is_ok() && session.transaction.xa.uses_tables();
    let outcome = match is_read && may_lock {
        true => {
            with_locked(session, name, LockMode::Read, |session| maintain_found(session, maintenance, name))
        }
        false => maintain_found(session, maintenance, name),
    };
    if command == MaintenanceCommand::Analyze {
        session.instance.metadata_locks().renew(&key);
    }
    match outcome {
        // What is wrong with a table is a line of the result; a kill ends the statement.
        Err(error)
            if matches!(command, MaintenanceCommand::Analyze | MaintenanceCommand::Check)
                && !error.is(&errors::code::ER_QUERY_INTERRUPTED) =>
        {
            Ok(vec![line(command, name, "Error", error.message())])
        }
        outcome => outcome,
    }
}

/// A line of what maintenance says of a table.
fn line(command: MaintenanceCommand, name: &TableName, kind: &str, message: &str) -> Vec<Value> {
    let word = match command {
        MaintenanceCommand::Analyze => "analyze",
        MaintenanceCommand::Check => "check",
        MaintenanceCommand::Checksum => "checksum",
        MaintenanceCommand::Optimize => "optimize",
        MaintenanceCommand::Repair => "repair",
    };
    vec![text(format!("{}.{}", name.schema, name.table)), text(word), text(kind), text(message)]
}

/// Does it to the table that has the name now.
fn maintain_found(
    session: &mut Session,
    maintenance: &TableMaintenance,
    name: &TableName,
) -> SqlResult<Vec<Vec<Value>>> {
    let command = maintenance.command;
    let shown = format!("{}.{}", name.schema, name.table);
    let line = |kind: &str, message: &str| line(command, name, kind, message);
    let table = match table_to_maintain(session, name) {
        Ok(table) => table,
        // CHECK TABLE takes views too.
        Err(error) if error.is(&errors::code::ER_WRONG_OBJECT) => {
            if command == MaintenanceCommand::Checksum {
                session.diagnostics.push(errors::Level::Error, error.clone());
                return Ok(vec![vec![text(&*shown), Value::Null]]);
            }
            if command != MaintenanceCommand::Check {
                return Ok(vec![line("Error", error.message()), line("status", "Operation failed")]);
            }
            return Ok(match crate::views::check_valid(session, name, false) {
                Ok(()) => vec![line("status", "OK")],
                Err(error) => vec![line("Error", error.message()), line("error", "Corrupt")],
            });
        }
        Err(error) => {
            // A line of the result says what LOCK TABLES forbids.
            let is_line = error.is(&errors::code::ER_TABLE_NOT_LOCKED);
            if command == MaintenanceCommand::Checksum || !is_line {
                session.diagnostics.push(errors::Level::Error, error.clone());
            }
            return Ok(match command {
                MaintenanceCommand::Checksum => vec![vec![text(&*shown), Value::Null]],
                _ => vec![line("Error", error.message()), line("status", "Operation failed")],
            });
        }
    };
    match command {
        // InnoDB keeps no checksum that could be told at once.
        MaintenanceCommand::Checksum if maintenance.options.contains(&"QUICK") => {
            Ok(vec![vec![text(&*shown), Value::Null]])
        }
        MaintenanceCommand::Checksum => {
            Ok(vec![vec![text(&*shown), Value::Int(i64::from(checksum(session, &table)?))]])
        }
        MaintenanceCommand::Analyze => {
            let analyzed = session.instance.engine().analyze(&table);
            analyzed.map_err(|error| error.into_sql(&name.table))?;
            Ok(vec![line("status", "OK")])
        }
        MaintenanceCommand::Check => {
            let lines = check_lines(session, &table, maintenance.options.contains(&"QUICK"))?;
            Ok(lines.iter().map(|(kind, text)| line(kind, text)).collect())
        }
        MaintenanceCommand::Optimize => {
            let action = [parser::ast::AlterAction::Force];
            let mut ignored = crate::collector::Collector::default();
            match crate::definitions::alter_for_maintenance(session, name, &action, &mut ignored) {
                Err(error) if error.is(&errors::code::ER_LOCK_WAIT_TIMEOUT) => {
                    return Ok(vec![line("Error", error.message()), line("status", "Operation failed")]);
                }
                outcome => outcome?,
            }
            let note = "Table does not support optimize, doing recreate + analyze instead";
            Ok(vec![line("note", note), line("status", "OK")])
        }
        MaintenanceCommand::Repair => {
            Ok(vec![line("note", "The storage engine for the table doesn't support repair")])
        }
    }
}

/// What CHECK TABLE says of a table: kinds and texts of its lines.
fn check_lines(
    session: &mut Session,
    table: &Arc<Table>,
    quick: bool,
) -> SqlResult<Vec<(&'static str, String)>> {
    let (engine, kill) = (session.instance.engine(), &session.shared.kill);
    let checked = engine.check_rows(table, quick, kill);
    let faults = checked.map_err(|error| error.into_sql(&table.definition().name.table))?;
    let outcome = if faults.is_empty() { ("status", "OK") } else { ("error", "Corrupt") };
    let warnings = faults.iter().map(|fault| ("Warning", format!("InnoDB: {fault}")));
    Ok(warnings.chain([(outcome.0, outcome.1.to_owned())]).collect())
}

/// Errors: 1100 where LOCK TABLES did not name it, 1146; 1399 and its like where a branch of an XA transaction uses no tables.
fn table_to_maintain(session: &mut Session, name: &TableName) -> SqlResult<Arc<Table>> {
    if let Some(own) = session.temporary.table(&name.schema, &name.table) {
        return Ok(own);
    }
    session.locks.explicit.check(&LockKey::table(&name.schema, &name.table), LockMode::Read)?;
    let table = session.instance.engine().dictionary().table(&name.schema, &name.table);
    let table = table.ok_or_else(|| ddl::no_base_table(&session.instance, name))?;
    session.transaction.xa.check_tables()?;
    Ok(table)
}

fn with_locked<T>(
    session: &mut Session,
    name: &TableName,
    mode: LockMode,
    run: impl FnOnce(&mut Session) -> SqlResult<T>,
) -> SqlResult<T> {
    if session.temporary.has(name) {
        return run(session);
    }
    let held = session.locks.mark();
    let outcome =
        session.lock_metadata(&LockKey::table(&name.schema, &name.table), mode).and_then(|()| run(session));
    if session.instance.engine().dictionary().table(&name.schema, &name.table).is_none() {
        // Nothing was opened.
        session.release_locks_since(held);
    }
    if session.transaction.current.is_none() && !session.transaction.explicit {
        session.release_transaction_locks();
    }
    outcome
}

fn read_index(
    session: &mut Session,
    table: &Arc<Table>,
    index: usize,
    visit: &mut dyn FnMut(&[u8]) -> SqlResult<()>,
) -> SqlResult<()> {
    let options = engine::TransactionOptions { kill: session.shared.kill.clone(), ..Default::default() };
    let transaction = session.instance.engine().begin(options);
    let fail = |error: engine::EngineError| error.into_sql(&table.definition().name.table);
    let mut scan = transaction.scan(table, ScanOptions { index, ..ScanOptions::default() }).map_err(fail)?;
    let mut batch = RowBatch::new();
    while scan.next_batch(&transaction, &mut batch, ROWS_PER_BATCH).map_err(fail)? {
        for at in 0..batch.len() {
            visit(batch.row(at))?;
        }
    }
    Ok(())
}

fn checksum(session: &mut Session, table: &Arc<Table>) -> SqlResult<u32> {
    let mut checksum = TableChecksum::new(table.definition());
    read_index(session, table, 0, &mut |row| {
        let corrupt = |_| sql_error!(ER_GET_ERRNO, 126, "row does not fit its table's layout");
        let view = RowView::new(table.layout(), row).map_err(corrupt)?;
        checksum.add(&view.values());
        Ok(())
    })?;
    Ok(checksum.sum())
}

/// Alone among the maintenance statements REPAIR TABLE says in its result that the server is read-only.
fn refused_repair(name: &TableName, error: &errors::SqlError) -> [Vec<Value>; 2] {
    let shown = format!("{}.{}", name.schema, name.table);
    [("Error", error.message()), ("error", "Corrupt")]
        .map(|(kind, message)| vec![text(&*shown), text("repair"), text(kind), text(message)])
}

/// The dynamic privilege that stands for RELOAD in that form of FLUSH; empty for none.
fn flush_privilege(option: &str) -> &'static str {
    match option {
        "PRIVILEGES" => "FLUSH_PRIVILEGES",
        "STATUS" => "FLUSH_STATUS",
        "USER_RESOURCES" => "FLUSH_USER_RESOURCES",
        "OPTIMIZER_COSTS" => "FLUSH_OPTIMIZER_COSTS",
        _ => "",
    }
}
