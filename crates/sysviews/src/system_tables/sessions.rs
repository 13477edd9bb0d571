//! Views of sessions and variables: PROCESSLIST, threads, session_variables, global_status, metadata_locks.

use super::SystemTables;
use super::cursor::{Pieces, ViewRows};
use super::keys::Wanted;
use super::row::RowBuilder;
use crate::result::{optional_text, text};
use accounts::Privileges;
use dictionary::TableDefinition;
use errors::{SqlError, sql_error};
use instance::SessionShared;
use std::sync::Arc;
use values::Value;
use variables::{Kind, Scope, SystemValue, VariableId, id};

/// Characters of a statement that SHOW PROCESSLIST prints without FULL.
pub(crate) const SHORT_STATEMENT_CHARACTERS: usize = 100;

/// Warning 1287 for who reads information_schema.PROCESSLIST, as SHOW PROCESSLIST does.
pub fn deprecated_process_list() -> SqlError {
    sql_error!(ER_WARN_DEPRECATED_SYNTAX, "INFORMATION_SCHEMA.PROCESSLIST", "performance_schema.processlist")
}

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

/// Appends the rows that a view has of a session.
pub(super) type RowsOfSession<'a> = fn(&SystemTables<'a>, &Wanted, &SessionShared, &mut ViewRows);

impl SystemTables<'_> {
    /// Sessions that the user may see: all with PROCESS, else those of the same account.
    fn may_see_session(&self, session: &SessionShared) -> bool {
        self.user.grants.global().contains(Privileges::PROCESS) || self.is_own_session(session)
    }

    fn is_own_session(&self, session: &SessionShared) -> bool {
        *session.describe().account == *self.user.account.to_string()
    }

    /// The rows that each session gives; `id_columns` hold its number.
    pub(super) fn by_session<'a>(
        &'a self,
        wanted: Wanted,
        id_columns: &[&str],
        rows_of: RowsOfSession<'a>,
    ) -> Pieces<'a> {
        let registry = self.instance.registry();
        let named = id_columns.iter().find_map(|column| wanted.numbers(column));
        let sessions: Vec<Arc<SessionShared>> = match named {
            Some(ids) => {
                let ids = ids.into_iter().filter_map(|id| u32::try_from(id).ok());
                ids.filter_map(|id| registry.get(id)).collect()
            }
            None => registry.all(),
        };
        let visible = sessions.into_iter().filter(|session| self.may_see_session(session));
        Box::new(visible.map(move |session| {
            let mut rows = Vec::new();
            rows_of(self, &wanted, &session, &mut rows);
            rows
        }))
    }

    /// SHOW PROCESSLIST.
    pub(crate) fn processes(&self) -> Vec<ProcessRow> {
        let sessions = self.instance.registry().all().into_iter();
        sessions
            .filter(|session| self.may_see_session(session))
            .map(|session| self.process(&session))
            .collect()
    }

    /// The local time of a moment of the monotonic clock.
    pub(super) fn wall_time_of(&self, monotonic_microseconds: u64) -> Value {
        let ago = self.instance.monotonic_microseconds().saturating_sub(monotonic_microseconds);
        let wall = self.instance.wall_microseconds() - ago as i64;
        Value::DateTime(self.time_zone().local(wall / 1_000_000 * 1_000_000))
    }

    fn process(&self, session: &SessionShared) -> ProcessRow {
        let now = self.instance.monotonic_microseconds();
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
    }

    pub(super) fn processlist(&self, wanted: &Wanted, session: &SessionShared, rows: &mut ViewRows) {
        let process = self.process(session);
        rows.push(
            RowBuilder::new(&wanted.view)
                .set("ID", Value::UInt(u64::from(process.id)))
                .set("USER", text(process.user))
                .set("HOST", text(process.host))
                .set("DB", optional_text(process.schema))
                .set("COMMAND", text(process.command))
                .set("TIME", Value::Int(process.seconds as i64))
                .set("STATE", text(process.state))
                .set("INFO", optional_text(process.statement))
                .set("EXECUTION_ENGINE", text("PRIMARY"))
                .finish(),
        );
    }

    pub(super) fn threads(&self, wanted: &Wanted, session: &SessionShared, rows: &mut ViewRows) {
        let process = self.process(session);
        rows.push(
            RowBuilder::new(&wanted.view)
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
                .finish(),
        );
    }

    pub(super) fn connect_attributes(&self, _wanted: &Wanted, session: &SessionShared, rows: &mut ViewRows) {
        let attributes = session.describe().attributes.clone();
        rows.extend((0..).zip(attributes.iter()).map(|(position, (name, value))| {
            vec![
                Value::UInt(u64::from(session.id)),
                text(name.into_owned()),
                text(value.into_owned()),
                Value::Int(position),
            ]
        }));
    }

    pub(super) fn own_connect_attributes(
        &self,
        wanted: &Wanted,
        session: &SessionShared,
        rows: &mut ViewRows,
    ) {
        if self.is_own_session(session) {
            self.connect_attributes(wanted, session, rows);
        }
    }

    /// Name and text of every variable of that scope whose name is wanted, in order.
    pub(crate) fn variable_texts(
        &self,
        global: bool,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Vec<(&'static str, String)> {
        let globals = self.instance.globals();
        VariableId::all()
            .filter(|id| !(global && id.variable().scope == Scope::Session) && is_wanted(id.variable().name))
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

    pub(super) fn variable_rows(&self, wanted: &Wanted, global: bool) -> ViewRows {
        pairs(self.variable_texts(global, |name| wanted.has("VARIABLE_NAME", name)))
    }

    pub(super) fn status_rows(&self, wanted: &Wanted, global: bool) -> ViewRows {
        let session = (!global).then_some(self.shared);
        pairs(instance::status_values::rows(self.instance, session, &|name| {
            wanted.has("VARIABLE_NAME", name)
        }))
    }

    pub(super) fn persisted_variables(&self, wanted: &Wanted) -> ViewRows {
        let persisted = self.instance.persisted().clone();
        let rows = persisted.iter().filter(|(name, _)| wanted.has("VARIABLE_NAME", name));
        rows.map(|(name, value)| vec![text(name), text(value)]).collect()
    }

    pub(super) fn metadata_locks(&self, view: &TableDefinition) -> ViewRows {
        let row = |lock: catalog::LockRow| {
            let named = |name: &'_ str| optional_text((!name.is_empty()).then_some(name));
            RowBuilder::new(view)
                .set("OBJECT_TYPE", text(lock.key.namespace().name()))
                .set("OBJECT_SCHEMA", named(lock.key.schema_name()))
                .set("OBJECT_NAME", named(lock.key.object_name()))
                .set("LOCK_TYPE", text(lock.mode.name()))
                .set("LOCK_DURATION", text(lock.duration.name()))
                .set("LOCK_STATUS", text(if lock.granted { "GRANTED" } else { "PENDING" }))
                .set("OWNER_THREAD_ID", Value::UInt(u64::from(lock.session)))
                .finish()
        };
        self.instance.metadata_locks().rows().into_iter().map(row).collect()
    }
}

/// variables_info.
pub(super) fn variables_info(wanted: &Wanted) -> ViewRows {
    let bound = |number: i128| match number {
        i128::MIN | i128::MAX => text("0"),
        number => text(number.to_string()),
    };
    let row = |variable: &variables::SystemVariable| {
        let mut row = vec![text(variable.name), Value::UInt(1), text("")];
        row.extend([bound(variable.minimum), bound(variable.maximum), Value::Null, Value::Null, Value::Null]);
        row
    };
    wanted_variables(wanted).map(row).collect()
}

/// variables_metadata.
pub(super) fn variables_metadata(wanted: &Wanted) -> ViewRows {
    let bound = |number: i128| match number {
        i128::MIN | i128::MAX => text(""),
        number => text(number.to_string()),
    };
    let row = |variable: &variables::SystemVariable| {
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
        let mut row = vec![text(variable.name), Value::UInt(scope), Value::UInt(data_type)];
        row.extend([bound(variable.minimum), bound(variable.maximum), text("")]);
        row
    };
    wanted_variables(wanted).map(row).collect()
}

fn wanted_variables(wanted: &Wanted) -> impl Iterator<Item = &'static variables::SystemVariable> {
    VariableId::all().map(VariableId::variable).filter(|variable| wanted.has("VARIABLE_NAME", variable.name))
}

fn pairs(rows: Vec<(&'static str, String)>) -> ViewRows {
    rows.into_iter().map(|(name, value)| vec![text(name), text(value)]).collect()
}
