//! Queries and row changes: what the session gives the executor, and what it does with the outcome.

use crate::accounts::{Grants, Privileges};
use crate::files::SessionFiles;
use crate::metadata_lock::LockKey;
use crate::result::Collector;
use crate::session::Session;
use crate::status::id as status;
use crate::system_tables::SystemTables;
use crate::tables_used::tables_used;
use crate::variables::id;
use dictionary::TableName;
use errors::{SqlError, SqlResult, sql_error};
use exec::{ExecutionSettings, Prepared, StatementContext, StatementOutcome};
use expression::{SqlMode, StatementFacts, TimeZone, TypedValue};
use parser::ast::{
    self, Explain, ExplainTarget, Expression, Literal, ObjectName, Query, QueryBody, Statement,
};
use plan::{PrivilegeCheck, PrivilegeRequest, TablePrivilege};
use std::sync::Arc;
use values::{ColumnType, TypeKind, Value};
use wire::capabilities::client;
use wire::result::{ClientChannel, ResultSink};

/// Grants as the binder asks for them.
pub(crate) struct GrantCheck {
    pub(crate) grants: Arc<Grants>,
    pub(crate) user: String,
    pub(crate) host: String,
}

impl PrivilegeCheck for GrantCheck {
    fn check(&self, request: &PrivilegeRequest) -> SqlResult<()> {
        let (schema, table) = (request.schema.as_str(), request.table.as_str());
        let command = request.privilege.name();
        if crate::system_tables::is_always_readable(schema, table) {
            if request.privilege == TablePrivilege::Select {
                return Ok(());
            }
            return Err(sql_error!(ER_DBACCESS_DENIED_ERROR, self.user, self.host, schema));
        }
        let wanted = match request.privilege {
            TablePrivilege::Select => Privileges::SELECT,
            TablePrivilege::Insert => Privileges::INSERT,
            TablePrivilege::Update => Privileges::UPDATE,
            TablePrivilege::Delete => Privileges::DELETE,
        };
        if self.grants.table(schema, table).contains(wanted) {
            return Ok(());
        }
        let on_columns = self.grants.table_or_columns(schema, table).contains(wanted);
        if !on_columns {
            return Err(sql_error!(ER_TABLEACCESS_DENIED_ERROR, command, self.user, self.host, table));
        }
        let denied =
            request.columns.iter().find(|column| !self.grants.column(schema, table, column).contains(wanted));
        match denied {
            Some(column) => {
                Err(sql_error!(ER_COLUMNACCESS_DENIED_ERROR, command, self.user, self.host, column, table))
            }
            None => Ok(()),
        }
    }
}

impl Session {
    /// sql_mode of the session.
    pub(crate) fn sql_mode(&self) -> SqlMode {
        SqlMode(self.state.number(id::SQL_MODE))
    }

    /// The facts of the running statement.
    pub(crate) fn facts(&self) -> StatementFacts {
        let state = &self.state;
        let time_zone = self.time_zone();
        StatementFacts {
            sql_mode: self.sql_mode(),
            strict_changes: false,
            statement_time_microseconds: state.statement_time_microseconds,
            statement_time: time_zone.local(state.statement_time_microseconds),
            time_zone,
            connection_collation: self.connection_collation(),
            results_collation: self.results_collation(),
            max_allowed_packet: state.number(id::MAX_ALLOWED_PACKET),
            group_concat_max_len: state.number(id::GROUP_CONCAT_MAX_LEN),
            division_precision_increment: state.number(id::DIV_PRECISION_INCREMENT) as u8,
            default_week_format: state.number(id::DEFAULT_WEEK_FORMAT) as u8,
            time_names_locale: state.text(id::LC_TIME_NAMES).into(),
            connection_id: u64::from(state.shared.id),
            user: Arc::clone(&self.user_text),
            current_user: Arc::clone(&self.current_user_text),
            schema: self.schema.clone(),
            version: crate::options::VERSION.into(),
        }
    }

    /// The session's time zone.
    pub(crate) fn time_zone(&self) -> TimeZone {
        crate::time_zones::find(&self.state.instance, &self.state.text(id::TIME_ZONE))
            .unwrap_or(TimeZone::UTC)
    }

    fn execution_settings(&mut self, reads_lock: bool) -> ExecutionSettings {
        let state = &mut self.state;
        ExecutionSettings {
            found_rows_as_affected: self.capabilities & u64::from(client::FOUND_ROWS) != 0,
            reads_lock,
            auto_increment_increment: state.number(id::AUTO_INCREMENT_INCREMENT),
            auto_increment_offset: state.number(id::AUTO_INCREMENT_OFFSET),
            insert_id: state.insert_id.take(),
            safe_updates: state.is_on(id::SQL_SAFE_UPDATES),
            select_limit: state.number(id::SQL_SELECT_LIMIT),
            recursion_depth_max: state.number(id::CTE_MAX_RECURSION_DEPTH),
            unique_checks: state.is_on(id::UNIQUE_CHECKS),
            ..ExecutionSettings::default()
        }
    }

    /// The full name of a table. Error 1046 without a default schema.
    pub(crate) fn table_name(&self, name: &ObjectName) -> SqlResult<TableName> {
        let schema = match (&name.schema, &self.schema) {
            (Some(schema), _) => schema.clone(),
            (None, Some(schema)) => schema.to_string(),
            (None, None) => return Err(sql_error!(ER_NO_DB_ERROR)),
        };
        // System schemas are looked up without regard to case.
        let schema = crate::system_tables::system_schema(&schema).map_or(schema, str::to_owned);
        Ok(TableName { schema, table: name.name.clone() })
    }

    /// Takes the metadata locks of a statement's tables, after LOCK TABLES had its say.
    fn lock_used_tables(&mut self, statement: &Statement) -> SqlResult<()> {
        for (name, mode) in tables_used(statement) {
            let Ok(full) = self.table_name(&name) else { continue };
            if crate::system_tables::is_system_schema(&full.schema) {
                continue;
            }
            let key = LockKey { schema: full.schema, table: full.table };
            self.explicit_locks.check(&key, mode)?;
            self.lock_metadata(key, mode)?;
        }
        Ok(())
    }

    /// Runs a query or row change and answers it.
    pub(crate) fn run_data_statement(
        &mut self,
        statement: &Statement,
        parameters: &[TypedValue],
        channel: &mut dyn ClientChannel,
    ) -> SqlResult<()> {
        self.run_prepared(statement, &mut None, parameters, channel)
    }

    /// The same with a plan that is kept: made if there is none, made anew when it is stale.
    pub(crate) fn run_prepared(
        &mut self,
        statement: &Statement,
        plan: &mut Option<Prepared>,
        parameters: &[TypedValue],
        channel: &mut dyn ClientChannel,
    ) -> SqlResult<()> {
        let changes = changes_rows(statement);
        if changes {
            self.refuse_read_only_server()?;
        }
        if let Statement::Load(load) = statement
            && load.local
            && !self.state.instance.global_value(id::LOCAL_INFILE).is_on()
        {
            return Err(sql_error!(ER_CLIENT_LOCAL_FILES_DISABLED));
        }
        let outcome = self.run_in_transaction(statement, changes, |session, reads_lock| {
            session.with_context(reads_lock, parameters, |context| {
                let prepared = match plan.take().filter(|plan| plan.is_current(context.engine)) {
                    Some(prepared) => prepared,
                    None => exec::prepare(statement, context)?,
                };
                let outcome = exec::execute_prepared(&prepared, context, channel);
                *plan = Some(prepared);
                outcome
            })
        })?;
        self.answer(outcome, channel)
    }

    /// EXPLAIN.
    pub(crate) fn run_explain(
        &mut self,
        explain: &Explain,
        channel: &mut dyn ClientChannel,
    ) -> SqlResult<()> {
        let ExplainTarget::Statement(statement) = &explain.target else {
            return Err(sql_error!(ER_NOT_SUPPORTED_YET, "EXPLAIN FOR CONNECTION"));
        };
        let outcome = self.run_in_transaction(statement, false, |session, reads_lock| {
            session.with_context(reads_lock, &[], |context| exec::explain(statement, context, channel))
        })?;
        self.answer(outcome, channel)
    }

    /// Locks tables, begins a transaction if need be, runs, and commits or undoes the statement.
    pub(crate) fn run_in_transaction<T>(
        &mut self,
        statement: &Statement,
        changes: bool,
        run: impl FnOnce(&mut Session, bool) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let locked = self.lock_used_tables(statement);
        let had_transaction = self.transaction.current.is_some();
        if let Err(error) = locked {
            self.after_failure(&error)?;
            return Err(error);
        }
        let reads_lock = self.ensure_transaction();
        let mark = self.transaction.current.as_ref().map(engine::Transaction::begin_statement);
        match run(self, reads_lock) {
            Ok(outcome) => {
                self.end_statement(true)?;
                Ok(outcome)
            }
            Err(error) => {
                if let (Some(mark), true) = (mark, changes || had_transaction) {
                    self.undo_statement(mark);
                }
                self.after_failure(&error)?;
                Err(error)
            }
        }
    }

    fn after_failure(&mut self, error: &SqlError) -> SqlResult<()> {
        if error.is(&errors::code::ER_LOCK_DEADLOCK) {
            self.rollback_open();
        }
        self.end_statement(false)
    }

    /// Calls `run` with a context over this session. The transaction must have been begun.
    pub(crate) fn with_context<T>(
        &mut self,
        reads_lock: bool,
        parameters: &[TypedValue],
        run: impl FnOnce(&mut StatementContext<'_>) -> SqlResult<T>,
    ) -> SqlResult<T> {
        self.with_overlay(reads_lock, parameters, None, run)
    }

    /// The same with one more virtual table, which SHOW .. WHERE filters.
    pub(crate) fn with_overlay<T>(
        &mut self,
        reads_lock: bool,
        parameters: &[TypedValue],
        overlay: Option<crate::system_tables::Overlay>,
        run: impl FnOnce(&mut StatementContext<'_>) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let grants = self.grants();
        let facts = self.facts();
        let settings = self.execution_settings(reads_lock);
        let instance = Arc::clone(&self.state.instance);
        let mut files = SessionFiles::new(&instance, grants.global().contains(Privileges::FILE));
        let privileges = GrantCheck {
            grants: Arc::clone(&grants),
            user: self.account.user.clone(),
            host: self.host.display(),
        };
        let tables = SystemTables::new(self, grants, overlay);
        let kill = self.state.shared.kill.clone();
        let Some(transaction) = &self.transaction.current else {
            return Err(sql_error!(ER_INTERNAL_ERROR, "statement without transaction"));
        };
        let mut context = StatementContext {
            engine: instance.engine(),
            transaction,
            facts,
            session: &mut self.state,
            diagnostics: &mut self.diagnostics,
            privileges: &privileges,
            virtual_tables: &tables,
            files: &mut files,
            parameters,
            kill,
            settings,
        };
        run(&mut context)
    }

    /// Keeps what a statement's outcome says and sends the end of its answer.
    pub(crate) fn answer(&mut self, outcome: StatementOutcome, sink: &mut dyn ResultSink) -> SqlResult<()> {
        self.state.row_count = outcome.row_count;
        self.count(status::HANDLER_READ_RND_NEXT, outcome.rows_examined);
        if let Some(id) = outcome.generated_id {
            self.state.last_insert_id = id;
        }
        if let Some(rows) = outcome.found_rows {
            self.state.found_rows = rows;
        }
        if outcome.sent_rows {
            let end = self.statement_end(0, 0, outcome.info);
            sink.end_rows(&end)
        } else {
            let end = self.statement_end(outcome.affected_rows, outcome.last_insert_id, outcome.info);
            sink.ok(&end)
        }
    }

    /// The value of an expression without tables: SET, KILL, LIMIT of SHOW.
    pub(crate) fn evaluate(&mut self, expression: &Expression) -> SqlResult<TypedValue> {
        if let Some(value) = self.literal_value(expression) {
            return Ok(value);
        }
        let select = ast::Select {
            items: vec![ast::SelectItem::Expression {
                expression: expression.clone(),
                alias: Some("value".to_owned()),
                text: String::new(),
            }],
            ..ast::Select::default()
        };
        let statement = Statement::Query(Box::new(plain_query(QueryBody::Select(Box::new(select)))));
        let (types, mut rows) = self.collect(&statement, None)?;
        let value = rows.pop().and_then(|mut row| row.pop()).unwrap_or(Value::Null);
        let column_type = types.into_iter().next().map_or_else(ColumnType::null, |column| column.column_type);
        Ok(TypedValue { value, column_type })
    }

    /// Runs a query for this crate's own use and keeps its rows.
    pub(crate) fn collect(
        &mut self,
        statement: &Statement,
        overlay: Option<crate::system_tables::Overlay>,
    ) -> SqlResult<(Vec<wire::result::ResultColumn>, Vec<Vec<Value>>)> {
        let mut collector = Collector::default();
        self.run_in_transaction(statement, false, |session, reads_lock| {
            session.with_overlay(reads_lock, &[], overlay, |context| {
                context.settings.select_limit = u64::MAX;
                exec::execute(statement, context, &mut collector)
            })
        })?;
        Ok((collector.columns, collector.rows))
    }

    /// Literals need no plan; SET has few other values.
    fn literal_value(&self, expression: &Expression) -> Option<TypedValue> {
        let (value, column_type) = match expression {
            Expression::Literal(Literal::Null) => (Value::Null, ColumnType::null()),
            Expression::Literal(Literal::True) => (Value::Int(1), ColumnType::big_int()),
            Expression::Literal(Literal::False) => (Value::Int(0), ColumnType::big_int()),
            Expression::Literal(Literal::Integer(number)) => match i64::try_from(*number) {
                Ok(number) => (Value::Int(number), ColumnType::big_int()),
                Err(_) => (Value::UInt(*number), ColumnType::big_int_unsigned()),
            },
            Expression::Literal(Literal::String { bytes, introducer: None }) => {
                let mut column_type = ColumnType::new(TypeKind::VarChar);
                column_type.collation = self.connection_collation();
                column_type.length = Some(bytes.len() as u32);
                (Value::Bytes(bytes.clone()), column_type)
            }
            _ => return None,
        };
        Some(TypedValue { value, column_type })
    }

    /// Raises the Com_ counter of a statement.
    pub(crate) fn count_command(&self, statement: &Statement) {
        self.count(crate::commands::counter(statement), 1);
    }

    /// Errors 1044 and 1049; otherwise the schema is the default from now on.
    pub(crate) fn change_schema(&mut self, name: &str) -> SqlResult<()> {
        if name.is_empty() {
            return Err(sql_error!(ER_NO_DB_ERROR));
        }
        let name = crate::system_tables::system_schema(name).unwrap_or(name).to_owned();
        let always = crate::system_tables::is_always_readable(&name, "");
        if !always && !self.grants().sees_schema(&name) {
            return Err(sql_error!(ER_DBACCESS_DENIED_ERROR, self.account.user, self.host.display(), name));
        }
        if !self.schema_exists(&name) {
            return Err(sql_error!(ER_BAD_DB_ERROR, name));
        }
        let shared: Arc<str> = name.as_str().into();
        self.state.shared.describe().schema = Some(Arc::clone(&shared));
        self.schema = Some(shared);
        self.follow_schema_collation();
        if self.state.is_on(id::SESSION_TRACK_SCHEMA) {
            self.changes.push(wire::result::SessionChange::Schema(name));
        }
        Ok(())
    }

    /// Whether there is a schema of that name.
    pub(crate) fn schema_exists(&self, name: &str) -> bool {
        crate::system_tables::is_system_schema(name)
            || self
                .state
                .instance
                .engine()
                .dictionary()
                .schema(name)
                .is_some_and(|_| !crate::system_tables::is_hidden(name))
    }

    /// Whether there is a table of that name.
    pub(crate) fn table_exists(&self, schema: &str, table: &str) -> bool {
        crate::system_tables::definition(schema, table).is_some()
            || self.state.instance.engine().dictionary().table(schema, table).is_some()
    }
}

/// A query without clauses around its body.
pub(crate) fn plain_query(body: QueryBody) -> Query {
    Query { with: None, body, order_by: Vec::new(), limit: None, locking: Vec::new(), into: None }
}

fn changes_rows(statement: &Statement) -> bool {
    matches!(
        statement,
        Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_) | Statement::Load(_)
    )
}
