//! SET: system and user variables, names, transaction characteristics. Entry point: [`set`].
//! All values are computed and checked before the first one is changed.

use crate::charsets::{check_character_set, check_names};
use crate::kept_memory::KeptMemory;
use crate::session::Session;
use crate::set_named::convert_named;
use crate::state::SYSTEM_VARIABLES;
use crate::transaction::isolation_of;
use crate::user_variables::USER_VARIABLES;
use crate::variable_privileges::check_session_privilege;
use accounts::Privileges;
use charset::{Charset, Collation};
use errors::{SqlResult, sql_error};
use expression::TypedValue;
use instance::account_rules::is_account_rule;
use instance::isolation_at;
use parser::ast::{Expression, IsolationLevel, SetItem, SystemVariable, VariableScope};
use std::sync::Arc;
use values::Value;
use variables::value::check;
use variables::{Assigned, Scope, SystemValue, VariableId, find, id, is_never_persisted};
use wire::result::{ResultSink, SessionChange};

/// What SET NAMES tells the client of.
const NAMES: [VariableId; 3] =
    [id::CHARACTER_SET_CLIENT, id::CHARACTER_SET_CONNECTION, id::CHARACTER_SET_RESULTS];

/// What an item of SET does once all of them are evaluated and checked.
enum Change {
    User(String, TypedValue),
    System(SystemChange),
    Names(&'static Collation),
    CharacterSet(&'static Charset),
}

/// A checked assignment of a system variable.
struct SystemChange {
    id: VariableId,
    scope: Target,
    value: SystemValue,
}

/// Which copy a SET changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Session,
    /// The characteristics of the next transaction.
    NextTransaction,
    Global,
    Persist,
    PersistOnly,
}

/// SET.
pub(crate) fn set(session: &mut Session, items: &[SetItem], sink: &mut dyn ResultSink) -> SqlResult<()> {
    let mut changes = Vec::new();
    let mut waiting_bytes = 0;
    for item in items {
        set_item(session, item, &mut changes)?;
        let (what, bytes) = match changes.last() {
            Some(Change::User(_, TypedValue { value: Value::Bytes(bytes), .. })) => {
                (USER_VARIABLES, bytes.len() as u64)
            }
            Some(Change::System(SystemChange { value, .. })) => (SYSTEM_VARIABLES, value.text_bytes()),
            _ => continue,
        };
        waiting_bytes += bytes;
        KeptMemory::check(what, waiting_bytes)?;
    }
    // No item sees what another one assigns.
    for change in changes {
        match change {
            Change::User(name, value) => session.state.set_user_variable(&name, value)?,
            Change::System(change) => apply(session, change)?,
            Change::Names(collation) => {
                session.state.set_names(collation);
                session.forget_settings();
                for id in NAMES {
                    track_variable(session, id);
                }
            }
            Change::CharacterSet(charset) => {
                session.state.set_character_set(charset);
                session.forget_settings();
            }
        }
    }
    session.send_ok(sink)
}

fn set_item(session: &mut Session, item: &SetItem, changes: &mut Vec<Change>) -> SqlResult<()> {
    match item {
        SetItem::UserVariable { name, value } => {
            let value = session.evaluate(value)?;
            changes.push(Change::User(name.to_lowercase(), value));
            Ok(())
        }
        SetItem::SystemVariable { variable, value, next_transaction } => {
            let mut change = check_variable(session, variable, value.as_ref())?;
            if *next_transaction && matches!(change.id, id::TRANSACTION_ISOLATION | id::TRANSACTION_READ_ONLY)
            {
                refuse_open_transaction(session)?;
                change.scope = Target::NextTransaction;
            }
            changes.push(Change::System(change));
            Ok(())
        }
        SetItem::Names { charset, collation } => {
            changes.push(Change::Names(check_names(
                &session.instance,
                &mut session.diagnostics,
                charset.as_deref(),
                collation.as_deref(),
            )?));
            Ok(())
        }
        SetItem::CharacterSet(name) => {
            let charset = check_character_set(&session.instance, name.as_deref())?;
            changes.push(Change::CharacterSet(charset));
            Ok(())
        }
        SetItem::Password(password) => {
            session.refuse_read_only_server()?;
            session.refuse_read_only_session()?;
            crate::account_statements::set_password(session, password)
        }
        SetItem::Transaction { scope, isolation, read_only } => {
            set_transaction(session, *scope, *isolation, *read_only, changes)
        }
        SetItem::ResourceGroup { .. } => Err(sql_error!(ER_NOT_SUPPORTED_YET, "SET RESOURCE GROUP")),
    }
}

fn refuse_open_transaction(session: &Session) -> SqlResult<()> {
    if session.transaction_is_open() { Err(sql_error!(ER_CANT_CHANGE_TX_CHARACTERISTICS)) } else { Ok(()) }
}

/// SET TRANSACTION: the next transaction only without scope.
fn set_transaction(
    session: &mut Session,
    scope: Option<VariableScope>,
    isolation: Option<IsolationLevel>,
    read_only: Option<bool>,
    changes: &mut Vec<Change>,
) -> SqlResult<()> {
    let Some(scope) = scope else {
        refuse_open_transaction(session)?;
        session.transaction.next_isolation =
            isolation.map(isolation_of).or(session.transaction.next_isolation);
        session.transaction.next_read_only = read_only.or(session.transaction.next_read_only);
        return Ok(());
    };
    let scope = target(Some(scope));
    if scope != Target::Session {
        session.user.require_dynamic(&session.instance, "SYSTEM_VARIABLES_ADMIN")?;
    }
    if let Some(level) = isolation {
        let value = SystemValue::Member(isolation_position(level));
        changes.push(Change::System(SystemChange { id: id::TRANSACTION_ISOLATION, scope, value }));
    }
    if let Some(read_only) = read_only {
        changes.push(Change::System(SystemChange {
            id: id::TRANSACTION_READ_ONLY,
            scope,
            value: SystemValue::Boolean(read_only),
        }));
    }
    Ok(())
}

/// Errors: 1193, 1227, 1228, 1229, 1231, 1232, 1238 and those of particular variables.
fn check_variable(
    session: &mut Session,
    name: &SystemVariable,
    value: Option<&Expression>,
) -> SqlResult<SystemChange> {
    let id = find(&name.name).ok_or_else(|| {
        let prefix = name.qualifier.as_ref().map(|qualifier| format!("{qualifier}.")).unwrap_or_default();
        sql_error!(ER_UNKNOWN_SYSTEM_VARIABLE, format!("{prefix}{}", name.name))
    })?;
    let variable = id.variable();
    if name.qualifier.is_some() && !matches!(variable.name, "key_buffer_size") {
        return Err(sql_error!(ER_VARIABLE_IS_NOT_STRUCT, variable.name));
    }
    let scope = target(name.scope);
    if !variable.dynamic && scope != Target::PersistOnly {
        return Err(sql_error!(ER_INCORRECT_GLOBAL_LOCAL_VAR, variable.name, "read only"));
    }
    if scope == Target::PersistOnly && is_never_persisted(variable.name) {
        let kind = "non persistent read only";
        return Err(sql_error!(ER_INCORRECT_GLOBAL_LOCAL_VAR, variable.name, kind));
    }
    match (scope, variable.scope) {
        (Target::Session, Scope::Global) => return Err(sql_error!(ER_GLOBAL_VARIABLE, variable.name)),
        (Target::Global | Target::Persist | Target::PersistOnly, Scope::Session) => {
            return Err(sql_error!(ER_LOCAL_VARIABLE, variable.name));
        }
        _ => {}
    }
    check_variable_privilege(session, id, scope)?;
    if id == id::XA_DETACH_ON_PREPARE && session.transaction_is_open() {
        return Err(sql_error!(ER_VARIABLE_NOT_SETTABLE_IN_TRANSACTION, id.variable().name));
    }
    let value = match value {
        None => default_value(session, id, scope),
        Some(expression) => {
            let typed = variable_expression(session, expression)?;
            convert(session, id, scope, typed)?
        }
    };
    Ok(SystemChange { id, scope, value })
}

fn check_variable_privilege(session: &mut Session, id: VariableId, scope: Target) -> SqlResult<()> {
    match scope {
        Target::Session if id == id::MAX_USER_CONNECTIONS => {
            Err(sql_error!(ER_VARIABLE_IS_READONLY, "SESSION", id.variable().name, "GLOBAL"))
        }
        Target::Session if matches!(id, id::NET_BUFFER_LENGTH | id::MAX_ALLOWED_PACKET) => {
            Err(sql_error!(ER_VARIABLE_IS_READONLY, "SESSION", id.variable().name, "GLOBAL"))
        }
        Target::Session => check_session_privilege(id, &session.grants()),
        Target::PersistOnly => {
            let grants = session.grants();
            let both = ["SYSTEM_VARIABLES_ADMIN", "PERSIST_RO_VARIABLES_ADMIN"];
            match both.iter().all(|name| grants.holds_dynamic(name)) {
                true => Ok(()),
                false => Err(sql_error!(ER_PERSIST_ONLY_ACCESS_DENIED_ERROR, both.join(" and "))),
            }
        }
        _ => {
            session.user.require_dynamic(&session.instance, "SYSTEM_VARIABLES_ADMIN")?;
            if id == id::MANDATORY_ROLES && !session.grants().dynamic("ROLE_ADMIN") {
                let both = "SYSTEM_VARIABLES_ADMIN or SUPER privileges, as well as the ROLE_ADMIN";
                return Err(sql_error!(ER_SPECIFIC_ACCESS_DENIED_ERROR, both));
            }
            Ok(())
        }
    }
}

/// The value on the right: a bare word is text, everything else an expression.
fn variable_expression(session: &mut Session, expression: &Expression) -> SqlResult<TypedValue> {
    match expression {
        Expression::Column(column) if column.table.is_none() => {
            let text = Value::Bytes(column.column.clone().into_bytes());
            Ok(TypedValue { value: text, column_type: values::ColumnType::new(values::TypeKind::VarChar) })
        }
        other => session.evaluate(other),
    }
}

/// DEFAULT: the global value for a session, the compiled one for the server.
fn default_value(session: &Session, id: VariableId, scope: Target) -> SystemValue {
    match scope {
        Target::Session if id.variable().scope == Scope::Both => session.instance.global_value(id),
        _ => SystemValue::default_of(id.variable()),
    }
}

/// Error 1227 for a directory of the server's machine: whether it is there is told to who has FILE.
fn require_file_right(session: &mut Session, id: VariableId, assigned: &Assigned) -> SqlResult<()> {
    let is_text = matches!(assigned, Assigned::Value(Value::Bytes(_) | Value::Null));
    match is_text && id == id::INNODB_TMPDIR && !session.grants().global().contains(Privileges::FILE) {
        true => Err(sql_error!(ER_SPECIFIC_ACCESS_DENIED_ERROR, "FILE")),
        false => Ok(()),
    }
}

fn convert(
    session: &mut Session,
    id: VariableId,
    scope: Target,
    typed: TypedValue,
) -> SqlResult<SystemValue> {
    let variable = id.variable();
    let current = match scope {
        Target::Session | Target::NextTransaction => session.state.variables.get(id).clone(),
        _ => session.instance.global_value(id),
    };
    let assigned = match typed.value {
        Value::Null if id == id::MANDATORY_ROLES => Assigned::Value(Value::Bytes(Vec::new())),
        value => Assigned::Value(value),
    };
    require_file_right(session, id, &assigned)?;
    if let Some(value) = convert_named(&session.instance, &mut session.diagnostics, id, &assigned)? {
        return Ok(value);
    }
    let adjusted = check(variable, &assigned, &current, &default_value(session, id, scope))?;
    if let Some(asked) = adjusted.truncated {
        if session.sql_mode().contains(expression::SqlMode::STRICT_ALL_TABLES) {
            return Err(sql_error!(ER_WRONG_VALUE_FOR_VAR, variable.name, asked));
        }
        session.diagnostics.warning(sql_error!(ER_TRUNCATED_WRONG_VALUE, variable.name, asked));
    }
    Ok(match (id, adjusted.value) {
        (id::SQL_MODE, SystemValue::Bits(mode)) => {
            let mode = variables::sql_mode::expand(mode);
            variables::sql_mode::check(mode, &mut session.diagnostics)?;
            SystemValue::Bits(mode)
        }
        (_, value) if is_account_rule(id) => {
            session.instance.check_account_rule(id, &value)?;
            value
        }
        (_, value) if instance::options::is_without_effect(id, &value) => {
            return Err(sql_error!(ER_NOT_SUPPORTED_YET, variable.name));
        }
        (_, value) => value,
    })
}

fn apply(session: &mut Session, change: SystemChange) -> SqlResult<()> {
    let SystemChange { id, scope, value } = change;
    let variable = id.variable();
    match scope {
        Target::Session => apply_session(session, id, value)?,
        Target::NextTransaction if id == id::TRANSACTION_READ_ONLY => {
            session.transaction.next_read_only = Some(value.is_on());
        }
        Target::NextTransaction => session.transaction.next_isolation = Some(isolation_at(value.unsigned())),
        Target::Global => apply_global(session, id, value)?,
        Target::Persist | Target::PersistOnly => {
            let text = value.text(variable);
            let instance = Arc::clone(&session.instance);
            let mut persisted = instance.persisted();
            persisted.set(variable.name, text, instance.environment())?;
            drop(persisted);
            if scope == Target::Persist {
                apply_global(session, id, value)?;
            }
        }
    }
    Ok(())
}

fn apply_session(session: &mut Session, id: VariableId, value: SystemValue) -> SqlResult<()> {
    if matches!(id, id::PROFILING | id::EXPLICIT_DEFAULTS_FOR_TIMESTAMP) {
        let shown = if id == id::PROFILING { "@@profiling" } else { "explicit_defaults_for_timestamp" };
        let text = format!("'{shown}' is deprecated and will be removed in a future release.");
        session.diagnostics.warning(errors::code::ER_WARN_DEPRECATED_SYNTAX.message(text));
    }
    assign_session(session, id, value)?;
    if id != id::TIMESTAMP {
        track_variable(session, id);
    }
    Ok(())
}

/// The value that the session's copy of a variable may get. Errors: 1227, 1231, 1232, 1235.
pub(crate) fn session_value(
    session: &mut Session,
    id: VariableId,
    typed: TypedValue,
) -> SqlResult<SystemValue> {
    check_session_privilege(id, &session.grants())?;
    convert(session, id, Target::Session, typed)
}

/// Gives the session's copy of a variable a value that was checked.
/// Error 3170 for a text that there is no room for.
pub(crate) fn assign_session(session: &mut Session, id: VariableId, value: SystemValue) -> SqlResult<()> {
    session.state.make_room(id, &value)?;
    match id {
        id::AUTOCOMMIT => change_autocommit(session, &value)?,
        id::LAST_INSERT_ID | id::IDENTITY => session.state.numbers.last_insert_id = value.unsigned(),
        id::INSERT_ID => session.state.insert_id = Some(value.unsigned()).filter(|value| *value > 0),
        id::TIMESTAMP => {
            let SystemValue::Double(seconds) = value else { return Ok(()) };
            session.state.fixed_time_microseconds = (seconds > 0.0).then_some((seconds * 1e6) as i64);
            return Ok(());
        }
        id::RAND_SEED1 => session.state.random[0] = (value.unsigned() % 0x3fff_ffff) as u32,
        id::RAND_SEED2 => session.state.random[1] = (value.unsigned() % 0x3fff_ffff) as u32,
        id::PSEUDO_THREAD_ID => session.state.pseudo_thread_id = Some(value.unsigned()),
        id::MAX_ERROR_COUNT => session.diagnostics.set_kept_max(value.unsigned() as usize),
        id::MAX_JOIN_SIZE => {
            session.store_variable(id::SQL_BIG_SELECTS, instance::options::big_selects(&value))
        }
        // The level of the running transaction stays; SET of the variable decides for those after it.
        _ => {}
    }
    session.store_variable(id, value);
    session.state.pair_charset_variable(id);
    session.forget_settings();
    Ok(())
}

/// Turning autocommit on commits what is open.
fn change_autocommit(session: &mut Session, value: &SystemValue) -> SqlResult<()> {
    if value.is_on() && !session.state.is_on(id::AUTOCOMMIT) {
        session.commit_open()?;
    }
    Ok(())
}

/// SET GLOBAL read_only and super_read_only. To turn one on waits for what FLUSH TABLES WITH READ LOCK waits for, so that
/// nothing is committed afterwards: what is open then is refused at its COMMIT.
/// Errors: 1192 under LOCK TABLES and in a transaction; 1205, 1213, 1317 while it waits.
fn change_read_only(session: &mut Session, id: VariableId, value: SystemValue) -> SqlResult<()> {
    let instance = Arc::clone(&session.instance);
    let was_on = instance.global_value(id).is_on();
    let counts_here = id == id::READ_ONLY || !instance.is_read_only();
    if counts_here && (session.locks.explicit.in_force() || session.transaction_is_open()) {
        return Err(sql_error!(ER_LOCK_OR_ACTIVE_TRANSACTION));
    }
    let must_wait = value.is_on() && !was_on && !session.locks.explicit.global;
    if must_wait {
        session.lock_global()?;
    }
    instance.set_global(id, value.clone());
    match id {
        id::SUPER_READ_ONLY if value.is_on() => instance.set_global(id::READ_ONLY, value),
        id::READ_ONLY if !value.is_on() => instance.set_global(id::SUPER_READ_ONLY, value),
        _ => {}
    }
    if must_wait {
        session.unlock_global();
    }
    Ok(())
}

fn apply_global(session: &mut Session, id: VariableId, value: SystemValue) -> SqlResult<()> {
    if matches!(id, id::READ_ONLY | id::SUPER_READ_ONLY) {
        return change_read_only(session, id, value);
    }
    if is_account_rule(id) {
        return session.instance.set_account_rule(id, value);
    }
    let instance = &session.instance;
    instance.set_global(id, value.clone());
    if let Some(alias) = variables::catalogue::alias(id) {
        instance.set_global(alias, value.clone());
    }
    match id {
        id::INNODB_FLUSH_LOG_AT_TRX_COMMIT => {
            instance.engine().set_flush_level(instance::options::flush_level(value.unsigned()));
        }
        id::TABLE_DEFINITION_CACHE => {
            instance.engine().dictionary().set_open_max(value.unsigned() as usize);
        }
        id::GLOBAL_CONNECTION_MEMORY_LIMIT => {
            instance.statement_memory().set_bytes_max(value.unsigned());
        }
        id::MAX_JOIN_SIZE => instance.set_global(id::SQL_BIG_SELECTS, instance::options::big_selects(&value)),
        id::QUERY_CACHE_SIZE => instance.results().set_capacity(value.unsigned()),
        id::INNODB_DEADLOCK_DETECT => instance.engine().set_deadlock_detect(value.is_on()),
        id::MAX_WRITE_LOCK_COUNT => instance.metadata_locks().set_passes_max(value.unsigned()),
        id::CHARACTER_SET_SERVER => {
            if let SystemValue::Text(name) = &value
                && let Some(charset) = charset::charset_by_name(name)
            {
                let collation = charset.default_collation.get().name;
                instance.set_global(id::COLLATION_SERVER, SystemValue::Text(collation.into()));
            }
        }
        id::COLLATION_SERVER => {
            if let SystemValue::Text(name) = &value
                && let Some(collation) = charset::collation_by_name(name)
            {
                let charset = collation.charset().name;
                instance.set_global(id::CHARACTER_SET_SERVER, SystemValue::Text(charset.into()));
            }
        }
        _ => {}
    }
    Ok(())
}

/// Notes a changed session variable for the OK packet if the client asked for it.
pub(crate) fn track_variable(session: &mut Session, id: VariableId) {
    let tracked = session.state.text(id::SESSION_TRACK_SYSTEM_VARIABLES);
    let name = id.variable().name;
    if tracked == "*" || tracked.split(',').any(|word| word.trim().eq_ignore_ascii_case(name)) {
        let value = session.state.variables.get(id).text(id.variable());
        session.changes.push(SessionChange::SystemVariable { name: name.to_owned(), value });
    }
    if session.state.is_on(id::SESSION_TRACK_STATE_CHANGE) {
        session.changes.push(SessionChange::State);
    }
}

fn target(scope: Option<VariableScope>) -> Target {
    match scope {
        None | Some(VariableScope::Session) => Target::Session,
        Some(VariableScope::Global) => Target::Global,
        Some(VariableScope::Persist) => Target::Persist,
        Some(VariableScope::PersistOnly) => Target::PersistOnly,
    }
}

fn isolation_position(level: IsolationLevel) -> u8 {
    match level {
        IsolationLevel::ReadUncommitted => 0,
        IsolationLevel::ReadCommitted => 1,
        IsolationLevel::RepeatableRead => 2,
        IsolationLevel::Serializable => 3,
    }
}
