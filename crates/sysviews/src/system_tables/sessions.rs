//! Views of sessions and variables: PROCESSLIST, threads, session_variables, global_status, metadata_locks.

use super::row::RowBuilder;
use super::{Emit, SystemTables};
use crate::result::{optional_text, text};
use accounts::Privileges;
use dictionary::TableDefinition;
use errors::SqlResult;
use instance::SessionShared;
use std::sync::Arc;
use values::Value;
use variables::{Kind, Scope, SystemValue, VariableId, id};

/// Characters of a statement that SHOW PROCESSLIST prints without FULL.
pub(crate) const SHORT_STATEMENT_CHARACTERS: usize = 100;

/// A row of PROCESSLIST.
pub(crate) struct ProcessRow {
    pub id: u32,
    pub user: String,
    pub host: String,
    pub schema: Option<String>,
    pub command: &'static str,
    pub seconds: u64,
    pub state: &'static str,
    pub statement: Option<String>,
}

impl SystemTables<'_> {
    /// Sessions that the user may see: all with PROCESS, else those of the same account.
    fn visible_sessions(&self) -> Vec<Arc<SessionShared>> {
        let all = self.user.grants.global().contains(Privileges::PROCESS);
        let account = self.user.account.to_string();
        let sessions = self.instance.registry().all().into_iter();
        sessions.filter(|session| all || *session.describe().account == *account).collect()
    }

    /// PROCESSLIST.
    pub(crate) fn processes(&self) -> Vec<ProcessRow> {
        let now = self.instance.monotonic_microseconds();
        let row = |session: Arc<SessionShared>| {
            let (command, since) = session.command();
            let description = session.describe();
            let running = session.is_running();
            ProcessRow {
                id: session.id,
                user: description.user.clone(),
                host: description.host.clone(),
                schema: description.schema.as_ref().map(|schema| schema.to_string()),
                command,
                seconds: now.saturating_sub(since) / 1_000_000,
                state: match (running, description.state) {
                    (true, "") => "executing",
                    (_, state) => state,
                },
                statement: running.then(|| String::from_utf8_lossy(&description.statement).into_owned()),
            }
        };
        self.visible_sessions().into_iter().map(row).collect()
    }

    pub(super) fn processlist(&self, table: &TableDefinition, emit: Emit<'_>) -> SqlResult<()> {
        for process in self.processes() {
            let row = RowBuilder::new(table)
                .set("ID", Value::UInt(u64::from(process.id)))
                .set("USER", text(process.user))
                .set("HOST", text(process.host))
                .set("DB", optional_text(process.schema))
                .set("COMMAND", text(process.command))
                .set("TIME", Value::Int(process.seconds as i64))
                .set("STATE", text(process.state))
                .set("INFO", optional_text(process.statement))
                .set("EXECUTION_ENGINE", text("PRIMARY"))
                .finish();
            if !emit(row)? {
                break;
            }
        }
        Ok(())
    }

    pub(super) fn threads(&self, table: &TableDefinition, emit: Emit<'_>) -> SqlResult<()> {
        for process in self.processes() {
            let row = RowBuilder::new(table)
                .set("THREAD_ID", Value::UInt(u64::from(process.id)))
                .set("NAME", text("thread/sql/one_connection"))
                .set("TYPE", text("FOREGROUND"))
                .set("PROCESSLIST_ID", Value::UInt(u64::from(process.id)))
                .set("PROCESSLIST_USER", text(process.user))
                .set("PROCESSLIST_HOST", text(process.host))
                .set("PROCESSLIST_DB", optional_text(process.schema))
                .set("PROCESSLIST_COMMAND", text(process.command))
                .set("PROCESSLIST_TIME", Value::Int(process.seconds as i64))
                .set("PROCESSLIST_STATE", text(process.state))
                .set("PROCESSLIST_INFO", optional_text(process.statement))
                .set("INSTRUMENTED", text("YES"))
                .set("HISTORY", text("YES"))
                .finish();
            if !emit(row)? {
                break;
            }
        }
        Ok(())
    }

    /// Name and text of every variable of that scope, in order.
    pub(crate) fn variable_texts(&self, global: bool) -> Vec<(&'static str, String)> {
        let globals = self.instance.globals();
        VariableId::all()
            .filter(|id| !(global && id.variable().scope == Scope::Session))
            .map(|id| {
                let variable = id.variable();
                let value = if global || variable.scope == Scope::Global {
                    globals.get(id).clone()
                } else {
                    self.session_value(id)
                };
                (variable.name, value.text(variable))
            })
            .collect()
    }

    fn session_value(&self, id: VariableId) -> SystemValue {
        match id {
            id::TIMESTAMP => SystemValue::Double(self.instance.wall_microseconds() as f64 / 1e6),
            id::PSEUDO_THREAD_ID => SystemValue::Integer(self.shared.id.into()),
            _ => self.variables.get(id).clone(),
        }
    }

    pub(super) fn variable_rows(&self, global: bool, emit: Emit<'_>) -> SqlResult<()> {
        pairs(self.variable_texts(global), emit)
    }

    pub(super) fn status_rows(&self, global: bool, emit: Emit<'_>) -> SqlResult<()> {
        let session = (!global).then_some(self.shared);
        pairs(instance::status_values::rows(self.instance, session), emit)
    }

    pub(super) fn variables_info(&self, emit: Emit<'_>) -> SqlResult<()> {
        for variable in VariableId::all().map(VariableId::variable) {
            let bound = |number: i128| match number {
                i128::MIN | i128::MAX => text("0"),
                number => text(number.to_string()),
            };
            let mut row = vec![text(variable.name), Value::UInt(1), text("")];
            row.extend([
                bound(variable.minimum),
                bound(variable.maximum),
                Value::Null,
                Value::Null,
                Value::Null,
            ]);
            if !emit(row)? {
                break;
            }
        }
        Ok(())
    }

    pub(super) fn variables_metadata(&self, emit: Emit<'_>) -> SqlResult<()> {
        for variable in VariableId::all().map(VariableId::variable) {
            let scope = match variable.scope {
                Scope::Global => 1,
                Scope::Both => 2,
                Scope::Session => 3,
            };
            // Members of DATA_TYPE: Integer, Numeric, String, Enumeration, Boolean, Set.
            let data_type = match variable.kind {
                Kind::Integer => 1,
                Kind::Double => 2,
                Kind::String => 3,
                Kind::Enumeration => 4,
                Kind::Boolean => 5,
                Kind::Set | Kind::Flags => 6,
            };
            let bound = |number: i128| match number {
                i128::MIN | i128::MAX => text(""),
                number => text(number.to_string()),
            };
            let mut row = vec![text(variable.name), Value::UInt(scope), Value::UInt(data_type)];
            row.extend([bound(variable.minimum), bound(variable.maximum), text("")]);
            if !emit(row)? {
                break;
            }
        }
        Ok(())
    }

    pub(super) fn persisted_variables(&self, emit: Emit<'_>) -> SqlResult<()> {
        let persisted = self.instance.persisted().clone();
        for (name, value) in persisted.iter() {
            if !emit(vec![text(name), text(value)])? {
                break;
            }
        }
        Ok(())
    }

    pub(super) fn connect_attributes(&self, all: bool, emit: Emit<'_>) -> SqlResult<()> {
        for session in self.visible_sessions() {
            let description = session.describe();
            if !all && *description.account != *self.user.account.to_string() {
                continue;
            }
            let attributes = description.attributes.clone();
            drop(description);
            for (position, (name, value)) in attributes.iter().enumerate() {
                let row = vec![
                    Value::UInt(u64::from(session.id)),
                    text(name.into_owned()),
                    text(value.into_owned()),
                    Value::Int(position as i64),
                ];
                if !emit(row)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    pub(super) fn metadata_locks(&self, table: &TableDefinition, emit: Emit<'_>) -> SqlResult<()> {
        for lock in self.instance.metadata_locks().rows() {
            let named = |name: &'_ str| optional_text((!name.is_empty()).then_some(name));
            let row = RowBuilder::new(table)
                .set("OBJECT_TYPE", text(lock.key.namespace().name()))
                .set("OBJECT_SCHEMA", named(lock.key.schema_name()))
                .set("OBJECT_NAME", named(lock.key.object_name()))
                .set("LOCK_TYPE", text(lock.mode.name()))
                .set("LOCK_DURATION", text(lock.duration.name()))
                .set("LOCK_STATUS", text(if lock.granted { "GRANTED" } else { "PENDING" }))
                .set("OWNER_THREAD_ID", Value::UInt(u64::from(lock.session)))
                .finish();
            if !emit(row)? {
                break;
            }
        }
        Ok(())
    }
}

fn pairs(rows: Vec<(&'static str, String)>, emit: Emit<'_>) -> SqlResult<()> {
    for (name, value) in rows {
        if !emit(vec![text(name), text(value)])? {
            break;
        }
    }
    Ok(())
}
