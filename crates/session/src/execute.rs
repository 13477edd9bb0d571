//! Queries and row changes: what the session gives the executor, and what it does with the outcome.

use crate::collector::Collector;
use crate::kept_results::{self, begin_keeping, keep_result};
use crate::locks_needed::cover;
use crate::nested::Frame;
use crate::parts::{Execution, Parts};
use crate::planning::{ParameterTyping, prepare};
use crate::prepared_under::Resolution;
use crate::session::Session;
use crate::statement_locks::is_of_opening;
use catalog::{Intent, LockKey, TableLocks};
use charset::CollationId;
use dictionary::TableName;
use errors::{Level, SqlError, SqlResult, sql_error};
use exec::{ExecutionSettings, StatementContext, StatementOutcome};
use expression::{SqlMode, StatementFacts, StatementTime, TypedValue};
use instance::{Planned, SourceReads, StatementTraits};
use parser::ast::{self, Expression, Literal, ObjectName, QueryBody, Statement};
use std::sync::Arc;
use sysviews::{Overlay, plain_query, schema_exists};
use values::{ColumnType, TypeKind, Value};
use variables::id;
use variables::status::id as status;
use wire::result::{ClientChannel, ResultSink};

/// What became of a kept plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeptRun {
    /// It ran.
    Done,
    /// Nothing was done: a definition, a setting or the day changed since it was made.
    Outdated,
    /// Nothing was done: for these values there are so many rows, far more than it was made for.
    OtherValues(u64),
}

impl Session {
    /// sql_mode of the session.
    pub(crate) fn sql_mode(&self) -> SqlMode {
        SqlMode(self.state.number(id::SQL_MODE))
    }

    /// The facts of the running statement.
    pub(crate) fn facts(&mut self) -> &StatementFacts {
        let mut facts = self.facts.take().unwrap_or_else(|| Box::new(self.lasting_facts()));
        facts.started = StatementTime::new(self.state.statement_time_microseconds);
        facts.regexp_limits = self.instance.regexp_limits();
        self.facts.insert(facts)
    }

    /// What is the same for all statements until a variable changes.
    fn lasting_facts(&self) -> StatementFacts {
        let mut facts = self.settings().facts.clone();
        facts.schema.clone_from(&self.schema);
        facts.schema_is_gone = self.schema_is_gone;
        if let Some(resolution) = self.resolution {
            resolution.apply(&mut facts);
        }
        facts
    }

    /// The full name of a table. Error 1046 without a default schema.
    pub(crate) fn table_name(&self, name: &ObjectName) -> SqlResult<TableName> {
        instance::table_name(name, self.schema.as_deref())
    }

    /// Whether a name of a statement means a temporary table.
    pub(crate) fn names_temporary(&self, name: &ObjectName) -> bool {
        !self.temporary.is_empty() && self.table_name(name).is_ok_and(|name| self.temporary.has(&name))
    }

    /// Runs a query or row change and answers it.
    pub(crate) fn run_data_statement(
        &mut self,
        statement: &Statement,
        channel: &mut dyn ClientChannel,
    ) -> SqlResult<()> {
        let parameters = Arc::clone(&self.parameters);
        self.run_prepared(statement, ParameterTyping::FromValues, None, &parameters, channel)
    }

    /// The same with a plan that is kept: made if there is none, made anew when it does not fit or was chosen by the
    /// values that it was made for.
    pub(crate) fn run_prepared(
        &mut self,
        statement: &Statement,
        typing: ParameterTyping<'_>,
        mut kept: Option<&mut Option<Planned>>,
        parameters: &[TypedValue],
        channel: &mut dyn ClientChannel,
    ) -> SqlResult<()> {
        if let Some(Some(planned)) = &kept
            && planned.prepared.is_repeatable()
        {
            match self.run_planned(planned, parameters, channel)? {
                KeptRun::Done => return Ok(()),
                KeptRun::Outdated => {}
                KeptRun::OtherValues(rows) => {
                    return self.run_for_values(planned, rows, statement, typing, parameters, channel);
                }
            }
        }
        let traits = StatementTraits::of(statement);
        let mut locks = self.locks_needed(statement);
        self.refuse_before_locking(statement, traits, &locks)?;
        let fingerprint = self.settings().fingerprint;
        self.refuse_read_only_change(statement, &locks)?;
        let (mut seen, mut covered) = (Vec::new(), None);
        let mut keeping = begin_keeping(self);
        let outcome = self.run_in_transaction(&locks, traits.changes_rows, |session, reads_lock| {
            let reads_lock = reads_lock || session.locks_sources(traits.sources);
            covered = cover(session, statement, &locks)?;
            let locks = covered.as_ref().unwrap_or(&locks);
            // SELECT .. FOR UPDATE is refused where changes are, but only once its names are found.
            let refused = if locks.write() { session.refuse_read_only_server() } else { Ok(()) };
            if let Some(keeping) = &mut keeping {
                keeping.take_snapshot(session.transaction.current.as_deref());
            }
            if kept.is_some() || keeping.is_some() {
                seen = session.instance.see(locks);
            }
            let mut only_planned = true;
            let outcome = session.with_context(locks, reads_lock, parameters, |context| {
                let prepared = prepare(statement, typing, context, true)?;
                refused?;
                only_planned = false;
                let outcome =
                    kept_results::execute(&mut keeping, Some(statement), &prepared, context, channel);
                if let Some(kept) = &mut kept {
                    **kept = Some(Planned::new(prepared, fingerprint, traits));
                }
                outcome
            });
            session.transaction.only_planned = only_planned;
            if let (Some(keeping), Ok(outcome)) = (keeping.take(), &outcome) {
                keep_result(session, keeping, traits, locks.seen_as(&seen), outcome);
            }
            outcome
        });
        locks = covered.unwrap_or(locks);
        if let Some(Some(planned)) = kept {
            locks.remember(seen);
            planned.locks = locks;
        }
        self.answer(outcome?, channel)
    }

    /// What a statement that is planned anew may not do, whatever its tables are. Errors: 1290, 1399, 1792, 3948.
    fn refuse_before_locking(
        &mut self,
        statement: &Statement,
        traits: StatementTraits,
        locks: &TableLocks,
    ) -> SqlResult<()> {
        if !self.transaction.xa.uses_tables() {
            crate::xa::refuse_tables(self, statement)?;
        }
        if locks.uses_temporary && !self.handlers.is_empty() {
            crate::handler::refuse_open_temporary(self, statement)?;
        }
        self.refuse_change(traits, locks)?;
        self.refuse_load(statement, locks)
    }

    /// What LOAD DATA is refused for before its names are looked up.
    fn refuse_load(&mut self, statement: &Statement, locks: &TableLocks) -> SqlResult<()> {
        let Statement::Load(load) = statement else { return Ok(()) };
        if !locks.changes_own_only() {
            self.refuse_read_only_transaction()?;
        }
        if load.local && !self.instance.global_value(id::LOCAL_INFILE).is_on() {
            return Err(sql_error!(ER_CLIENT_LOCAL_FILES_DISABLED));
        }
        Ok(())
    }

    /// Plans a statement for its values, of which a kept plan is far from what it expects, and runs it. The kept plan stays; if it reads
    /// its table in the same way, it is right for so many rows.
    pub(crate) fn run_for_values(
        &mut self,
        kept: &Planned,
        rows: u64,
        statement: &Statement,
        typing: ParameterTyping<'_>,
        parameters: &[TypedValue],
        channel: &mut dyn ClientChannel,
    ) -> SqlResult<()> {
        self.count(status::COM_STMT_REPREPARE, 1);
        let mut made = None;
        let outcome = self.run_prepared(statement, typing, Some(&mut made), parameters, channel);
        if made.is_some_and(|made| plan::reads_alike(made.prepared.plan(), kept.prepared.plan())) {
            kept.reads.expect(rows);
        }
        outcome
    }

    /// Runs a kept plan, if it fits.
    pub(crate) fn run_planned(
        &mut self,
        planned: &Planned,
        parameters: &[TypedValue],
        channel: &mut dyn ClientChannel,
    ) -> SqlResult<KeptRun> {
        let traits = planned.traits;
        let settings = self.settings();
        if planned.fingerprint != settings.fingerprint || !self.transaction.xa.uses_tables() {
            return Ok(KeptRun::Outdated);
        }
        self.watch_growth(planned);
        let today = settings.facts.time_zone.local_day(self.state.statement_time_microseconds);
        if planned.locks.write() {
            if let Err(error) = self.refuse_read_only_transaction() {
                // A missing privilege is told first.
                let needed = &planned.prepared.plan().privileges;
                self.user.require_plan(&self.instance, needed)?;
                return Err(error);
            }
            self.refuse_read_only_server()?;
        }
        let mut kept = KeptRun::Done;
        let held = self.locks.mark();
        let run = |session: &mut Session, reads_lock| {
            let reads_lock = reads_lock || session.locks_sources(traits.sources);
            if !planned.locks.are_current()
                || session.hides_tables_of(&planned.locks)
                || !planned.prepared.fits(today, parameters)
            {
                kept = KeptRun::Outdated;
            } else if planned.reads.is_wary() {
                kept = session.look_ahead(planned, reads_lock, parameters)?;
            }
            if kept != KeptRun::Done {
                session.transaction.only_planned = true;
                return Ok(None);
            }
            let mut keeping = begin_keeping(session);
            if let Some(keeping) = &mut keeping {
                keeping.take_snapshot(session.transaction.current.as_deref());
            }
            let outcome = session.with_context(&planned.locks, reads_lock, parameters, |context| {
                kept_results::execute(&mut keeping, None, &planned.prepared, context, channel)
            })?;
            if let Some(keeping) = keeping.take() {
                keep_result(session, keeping, traits, planned.locks.copy(), &outcome);
            }
            Ok(Some(outcome))
        };
        let Some(outcome) = self.run_in_transaction(&planned.locks, traits.changes_rows, run)? else {
            self.release_locks_since(held);
            return Ok(kept);
        };
        planned.reads.saw(outcome.rows_examined);
        self.answer(outcome, channel).map(|()| KeptRun::Done)
    }

    /// Whether a temporary table has the name of a table that a kept plan uses.
    #[inline]
    pub(crate) fn hides_tables_of(&self, locks: &TableLocks) -> bool {
        let hides = |key: &LockKey| self.temporary.table(key.schema_name(), key.object_name()).is_some();
        !self.temporary.is_empty() && locks.locks.iter().any(|lock| hides(&lock.key))
    }

    /// Whether a plan that was wrong before is right for these values.
    #[cold]
    fn look_ahead(
        &mut self,
        planned: &Planned,
        reads_lock: bool,
        parameters: &[TypedValue],
    ) -> SqlResult<KeptRun> {
        let rows = self.with_context(&planned.locks, reads_lock, parameters, |context| {
            Ok(exec::rows_ahead(&planned.prepared, context))
        })?;
        let rows = rows.filter(|rows| planned.reads.is_too_much(*rows));
        Ok(rows.map_or(KeptRun::Done, KeptRun::OtherValues))
    }

    /// Looks at the tables of a plan that is about to run, if it is time.
    #[inline]
    pub(crate) fn watch_growth(&self, planned: &Planned) {
        let now = self.state.statement_time_microseconds;
        // A session that has set the time knows no other.
        if planned.growth.is_due(now) && self.state.fixed_time_microseconds.is_none() {
            self.instance.look_at_growth(planned, now);
        }
    }

    /// Error 1290 for a change of rows that others see.
    pub(crate) fn refuse_change(&mut self, traits: StatementTraits, locks: &TableLocks) -> SqlResult<()> {
        if traits.changes_rows && !locks.changes_own_only() { self.refuse_read_only_server() } else { Ok(()) }
    }

    /// Error 1792 for a statement that locks rows as for a change in a READ ONLY transaction, behind missing privileges for its tables.
    pub(crate) fn refuse_read_only_change(
        &mut self,
        statement: &Statement,
        locks: &TableLocks,
    ) -> SqlResult<()> {
        let refused = if locks.write() { self.refuse_read_only_transaction() } else { Ok(()) };
        if refused.is_err() {
            let own = (self.schema.as_deref(), &self.temporary);
            self.user.require_statement(&self.instance, statement, own)?;
        }
        refused
    }

    /// Locks tables, begins a transaction if need be, runs, and commits or undoes the statement.
    pub(crate) fn run_in_transaction<T>(
        &mut self,
        locks: &TableLocks,
        changes: bool,
        run: impl FnOnce(&mut Session, bool) -> SqlResult<T>,
    ) -> SqlResult<T> {
        if locks.uses_temporary {
            crate::xa::refuse_temporary_tables(self)?;
        }
        if !locks.write() {
            return self.run_locked(locks, changes, run);
        }
        self.refuse_read_only_transaction()?;
        let mut has_begun = false;
        let outcome = self.with_intent(Intent::Statement, |session| {
            has_begun = true;
            session.run_locked(locks, changes, run)
        });
        if let (Err(error), false) = (&outcome, has_begun) {
            self.after_failure(error)?;
        }
        outcome
    }

    fn run_locked<T>(
        &mut self,
        locks: &TableLocks,
        changes: bool,
        run: impl FnOnce(&mut Session, bool) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let held = self.locks.mark();
        let locked = self.take_table_locks(locks);
        let had_transaction = self.transaction.current.is_some();
        if let Err(error) = locked {
            self.release_locks_since(held);
            self.after_failure(&error)?;
            return Err(error);
        }
        let uses_tables = !locks.uses_none();
        let characteristics = (self.transaction.next_isolation, self.transaction.next_read_only);
        let reads_lock = self.ensure_transaction();
        self.transaction.only_planned = false;
        let mark = self.transaction.current.as_deref().map(engine::Transaction::begin_statement);
        let outcome = run(self, reads_lock);
        if !had_transaction && (!uses_tables || self.transaction.only_planned) {
            self.forget_transaction(characteristics);
            if !self.transaction.explicit {
                self.release_transaction_locks();
            }
        }
        match outcome {
            Ok(outcome) => {
                self.end_statement(true)?;
                Ok(outcome)
            }
            Err(mut error) => {
                if let (Some(mark), true) = (mark, changes || had_transaction)
                    && let Err(failure) = self.undo_statement(mark)
                {
                    // That the transaction is gone is what the client has to know first.
                    self.diagnostics.push(Level::Error, std::mem::replace(&mut error, failure));
                }
                if self.transaction.only_planned && is_of_opening(&error) {
                    self.release_locks_since(held);
                }
                self.after_failure(&error)?;
                Err(error)
            }
        }
    }

    fn after_failure(&mut self, error: &SqlError) -> SqlResult<()> {
        // What the engine could not undo itself, with the row latched that was in the way, is the second.
        if error.is(&errors::code::ER_LOCK_DEADLOCK) || error.is(&errors::code::ER_CHECKREAD) {
            self.rollback_open();
        }
        self.transaction.xa.explain_loss(error);
        self.end_statement(false)
    }

    /// Whether the present transaction locks what a statement only reads.
    fn locks_sources(&self, sources: SourceReads) -> bool {
        let isolation = self.transaction.current.as_deref().map(engine::Transaction::isolation);
        isolation.is_some_and(|isolation| sources.lock_at(isolation))
    }

    /// Calls `run` with a context over this session. The transaction must have been begun.
    pub(crate) fn with_context<T>(
        &mut self,
        tables: &TableLocks,
        reads_lock: bool,
        parameters: &[TypedValue],
        run: impl FnOnce(&mut StatementContext<'_>) -> SqlResult<T>,
    ) -> SqlResult<T> {
        self.with_overlay(tables, reads_lock, parameters, None, run)
    }

    /// The same with one more virtual table, which SHOW .. WHERE filters.
    pub(crate) fn with_overlay<T>(
        &mut self,
        tables: &TableLocks,
        reads_lock: bool,
        parameters: &[TypedValue],
        overlay: Option<Overlay>,
        run: impl FnOnce(&mut StatementContext<'_>) -> SqlResult<T>,
    ) -> SqlResult<T> {
        self.refresh_account();
        let settings = self.settings();
        let (fingerprint, resolution) = (settings.fingerprint, Resolution::of(&settings.facts));
        let settings = ExecutionSettings { reads_lock, ..settings.execution.clone() };
        self.facts();
        let (Some(transaction), Some(facts)) = (&self.transaction.current, &self.facts) else {
            return Err(sql_error!(ER_INTERNAL_ERROR, "statement without transaction"));
        };
        let frame = Frame { caller: None, routine: None, tables, facts, resolution, fingerprint, settings };
        let mut parts = Parts {
            instance: &self.instance,
            shared: &self.shared,
            user: &self.user,
            temporary: &self.temporary,
            transaction,
            state: &mut self.state,
            frame: &frame,
        };
        let hints = self.hints.statement.as_ref().map_or(&[][..], |hints| &hints.elsewhere);
        let long_parameters = self.long_parameters.as_ref();
        let execution = Execution { parameters, long_parameters, hints, overlay };
        parts.with_context(execution, &mut self.diagnostics, run)
    }

    /// Keeps what a statement's outcome says and sends the end of its answer.
    pub(crate) fn answer(&mut self, outcome: StatementOutcome, sink: &mut dyn ResultSink) -> SqlResult<()> {
        self.state.numbers.row_count = outcome.row_count;
        self.count(status::HANDLER_READ_RND_NEXT, outcome.rows_examined);
        self.count(status::SORT_MERGE_PASSES, outcome.spilled.merge_passes);
        self.count(status::CREATED_TMP_FILES, outcome.spilled.files);
        self.count(status::CREATED_TMP_DISK_TABLES, outcome.spilled.disk_tables);
        if let Some(id) = outcome.generated_id {
            self.state.numbers.last_insert_id = id;
        }
        if let Some(rows) = outcome.found_rows {
            self.state.numbers.found_rows = rows;
        }
        if outcome.sent_rows {
            let end = self.statement_end(0, 0, outcome.info);
            sink.end_rows(&end)
        } else {
            let generated = outcome.generated_id.or(outcome.hidden_id);
            let id = generated.or(self.state.numbers.given_insert_id).unwrap_or(outcome.last_insert_id);
            let id = if outcome.keeps_id { 0 } else { id };
            let end = self.statement_end(outcome.affected_rows, id, outcome.info);
            sink.ok(&end)
        }
    }

    /// The value of an expression: SET, KILL, LIMIT of SHOW.
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
        if !self.transaction.xa.uses_tables() {
            crate::xa::refuse_tables(self, &statement)?;
        }
        let (types, mut rows) = self.collect(&statement, None, SourceReads::Locked)?;
        let value = rows.pop().and_then(|mut row| row.pop()).unwrap_or(Value::Null);
        let column_type = types.into_iter().next().map_or_else(ColumnType::null, |column| column.column_type);
        Ok(TypedValue { value, column_type })
    }

    /// Runs a query for this crate's own use and keeps its rows.
    pub(crate) fn collect(
        &mut self,
        statement: &Statement,
        overlay: Option<Overlay>,
        sources: SourceReads,
    ) -> SqlResult<(Vec<wire::result::ResultColumn>, Vec<Vec<Value>>)> {
        let mut collector = Collector::default();
        let locks = self.locks_needed(statement);
        let parameters = Arc::clone(&self.parameters);
        self.run_in_transaction(&locks, false, |session, reads_lock| {
            let reads_lock = reads_lock || session.locks_sources(sources);
            let mut only_planned = true;
            let covered = cover(session, statement, &locks)?;
            let locks = covered.as_ref().unwrap_or(&locks);
            let outcome = session.with_overlay(locks, reads_lock, &parameters, overlay, |context| {
                context.settings.select_limit = u64::MAX;
                let prepared = prepare(statement, ParameterTyping::FromValues, context, true)?;
                only_planned = false;
                exec::execute_planned(&prepared, context, &mut collector)
            });
            session.transaction.only_planned = only_planned;
            outcome
        })?;
        Ok((collector.columns, collector.rows))
    }

    /// The character set of literals and of text that expressions make of numbers.
    pub(crate) fn literal_collation(&self) -> CollationId {
        let kept = self.resolution.map(|resolution| Resolution::connection_collation(&resolution));
        kept.unwrap_or_else(|| self.connection_collation())
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
                column_type.collation = self.literal_collation();
                column_type.length = Some(bytes.len() as u32);
                (Value::Bytes(bytes.clone()), column_type)
            }
            _ => return None,
        };
        Some(TypedValue { value, column_type })
    }

    /// Raises the Com_ counter of a statement.
    pub(crate) fn count_command(&self, statement: &Statement) {
        self.count(instance::counter(statement), 1);
    }

    /// Errors 1044 and 1049; otherwise the schema is the default from now on.
    pub(crate) fn change_schema(&mut self, name: &str) -> SqlResult<()> {
        self.enter_schema(name)?;
        self.follow_schema_collation();
        Ok(())
    }

    /// As [`Session::change_schema`], but the variables that follow the schema stay as they are.
    pub(crate) fn enter_schema(&mut self, name: &str) -> SqlResult<()> {
        if name.is_empty() {
            return Err(sql_error!(ER_NO_DB_ERROR));
        }
        let name = instance::system_schemas::system_schema(name).unwrap_or(name).to_owned();
        self.user.require_schema_use(&self.instance, &name)?;
        if !self.schema_exists(&name) {
            return Err(sql_error!(ER_BAD_DB_ERROR, name));
        }
        let shared: Arc<str> = name.as_str().into();
        self.shared.describe().schema = Some(Arc::clone(&shared));
        self.schema = Some(shared);
        self.forget_settings();
        if self.state.is_on(id::SESSION_TRACK_SCHEMA) {
            self.changes.push(wire::result::SessionChange::Schema(name));
        }
        Ok(())
    }

    /// Whether there is a schema of that name.
    pub(crate) fn schema_exists(&self, name: &str) -> bool {
        schema_exists(&self.instance, name)
    }
}
