//! HANDLER .. OPEN: what may be opened, and by whom.

use super::{Handler, give_way, refuse_open};
use crate::session::Session;
use accounts::Privileges;
use catalog::LockKey;
use dictionary::TableName;
use errors::{SqlResult, sql_error};
use instance::{lock_limit as limit, lock_owner as owner, system_schemas};
use parser::ast::ObjectName;
use std::sync::Arc;

/// So many tables a session can have open; MySQL sets no limit.
const HANDLERS_MAX: usize = 16_384;

/// Opens a table. Errors: 1031, 1041, 1137, 1046, 1049, 1066, 1142, 1146, 1347, and those of waiting for its name.
pub(super) fn open(session: &mut Session, name: &ObjectName, alias: Option<&str>) -> SqlResult<()> {
    let alias = alias.unwrap_or(&name.name);
    if session.handlers.position(alias).is_some() {
        return Err(sql_error!(ER_NONUNIQ_TABLE, alias));
    }
    if session.handlers.0.len() >= HANDLERS_MAX {
        return Err(sql_error!(ER_OUT_OF_RESOURCES));
    }
    let table = session.table_name(name)?;
    let is_temporary = session.temporary.has(&table);
    refuse_open(session, name)?;
    if !is_temporary {
        session.user.require_table_or_columns(&session.instance, Privileges::SELECT, &table)?;
    }
    let whole = session.user.require_table(&session.instance, Privileges::SELECT, &table);
    let mut handler = Handler {
        alias: alias.to_owned(),
        key: LockKey::table(&table.schema, &table.table),
        table,
        is_temporary,
        shows_all: is_temporary || whole.is_ok(),
        is_open: false,
        is_read: false,
        place: None,
    };
    give_way(session);
    reopen(session, &mut handler)?;
    session.handlers.0.push(handler);
    Ok(())
}

/// Locks the name of what is not open and looks whether it is a table still.
pub(super) fn reopen(session: &mut Session, handler: &mut Handler) -> SqlResult<()> {
    if handler.is_open {
        return Ok(());
    }
    if !handler.is_temporary {
        let key = handler.key.clone();
        keep_open(session, &key)?;
        if let Err(error) = check_base_table(session, &handler.table) {
            session.locks.let_go(owner(&session.instance, &session.shared), &key);
            return Err(error);
        }
    }
    handler.is_open = true;
    Ok(())
}

fn keep_open(session: &mut Session, key: &LockKey) -> SqlResult<()> {
    let timeout = session.settings().metadata_lock_timeout;
    let (owner, limit) = (owner(&session.instance, &session.shared), limit(&session.shared, timeout));
    session.locks.keep_open(owner, limit, key)
}

fn check_base_table(session: &Session, name: &TableName) -> SqlResult<()> {
    let TableName { schema, table } = name;
    if system_schemas::is_system_schema(schema) {
        return Err(match sysviews::definition(schema, table) {
            None => missing(session, name),
            Some(found) if *schema == "information_schema" || found.name.schema == "sys" => {
                sql_error!(ER_WRONG_OBJECT, schema, found.name.table, "BASE TABLE")
            }
            // What it shows is in no index.
            Some(_) => sql_error!(ER_ILLEGAL_HA, table),
        });
    }
    let dictionary = Arc::clone(&session.instance).engine().dictionary().views.get(schema, table);
    if dictionary.is_some() {
        return Err(sql_error!(ER_WRONG_OBJECT, schema, table, "BASE TABLE"));
    }
    match session.instance.engine().dictionary().has_table(schema, table) {
        true => Ok(()),
        false => Err(missing(session, name)),
    }
}

fn missing(session: &Session, name: &TableName) -> errors::SqlError {
    match session.schema_exists(&name.schema) {
        true => sql_error!(ER_NO_SUCH_TABLE, name.schema, name.table),
        false => sql_error!(ER_BAD_DB_ERROR, name.schema),
    }
}
