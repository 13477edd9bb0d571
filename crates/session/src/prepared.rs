//! Prepared statements of the binary and the text protocol.
//! Main types: [`PreparedDescription`] (answer to COM_STMT_PREPARE), [`BoundParameters`] (input of COM_STMT_EXECUTE).
//! A plan is kept with its statement and made anew when a definition changed since.

use crate::cursor::Cursor;
use crate::foreign_key_locks::missing_relatives;
use crate::hints;
use crate::kept_results::{answer_prepared, may_ask_prepared};
use crate::long_data::LongData;
use crate::planning::prepare;
use crate::prepared_parameters::{SettledTypes, described, given_type};
use crate::prepared_under::{PreparedUnder, Resolution};
use crate::result_key::PreparedExecution;
use crate::session::{Session, statement_text};
use errors::{SqlResult, sql_error};
use exec::LongParameters;
use expression::TypedValue;
use instance::Command;
use instance::PreparedCharge;
use instance::{Planned, StatementTraits};
use parser::ParseOptions;
use parser::ast::{PrepareSource, Statement, StatementHints};
use std::collections::HashMap;
use std::sync::Arc;
use stdx::ids::Lsn;
use values::{ColumnType, RowRef, Value};
use variables::id;
use variables::status::id as status;
use wire::capabilities::status as server_status;
use wire::result::{ClientChannel, EncodedColumns, ResultColumn, ResultSink};

/// The answer to COM_STMT_PREPARE.
#[derive(Clone, Debug)]
pub struct PreparedDescription {
    /// Statement id for later commands.
    pub statement_id: u32,
    /// One column per `?`.
    pub parameters: Vec<ResultColumn>,
    /// Result columns; empty for statements without a result set.
    pub columns: Vec<ResultColumn>,
    /// Number of warnings.
    pub warnings: u16,
}

pub use wire::parameter::ParameterType;

/// What the server needs to decode COM_STMT_EXECUTE of a statement.
#[derive(Clone, Debug, Default)]
pub struct BoundParameters {
    /// Number of `?`.
    pub count: usize,
    /// Types of the last execution that sent types; empty before the first.
    pub types: Vec<ParameterType>,
    /// Which values COM_STMT_SEND_LONG_DATA has sent since the last execution or reset, by position.
    /// Such a parameter has no value in the COM_STMT_EXECUTE packet.
    pub sent: Vec<bool>,
}

/// Flags of COM_STMT_EXECUTE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExecuteFlags {
    /// CURSOR_TYPE_READ_ONLY: keep the rows for COM_STMT_FETCH.
    pub read_only_cursor: bool,
}

/// A statement that was prepared.
struct Entry {
    /// None if the text is long: then only that is kept, and it is read and planned again for each execution.
    statement: Option<Arc<Statement>>,
    text: Arc<[u8]>,
    /// How the text is read.
    parse: ParseOptions,
    /// Hints that are not for the block where they stand.
    hints: Option<Arc<StatementHints>>,
    under: PreparedUnder,
    plan: Option<Planned>,
    bound: BoundParameters,
    long_data: LongData,
    settled: SettledTypes,
    cursor: Option<Cursor>,
    /// A mistake of COM_STMT_SEND_LONG_DATA, reported by every execution up to COM_STMT_RESET.
    long_data_error: Option<errors::SqlError>,
    charge: PreparedCharge,
}

impl Entry {
    /// What the text says.
    fn tree(&self) -> SqlResult<Arc<Statement>> {
        match &self.statement {
            Some(statement) => Ok(Arc::clone(statement)),
            None => Ok(Arc::new(parser::parse_one(&self.text, 0, self.parse)?.statement)),
        }
    }

    /// Whether only the text is kept.
    fn is_long(&self) -> bool {
        self.statement.is_none()
    }

    /// Nothing runs for now: of a long text no plan is kept.
    fn rest(&mut self) {
        if self.is_long() {
            self.plan = None;
        }
    }

    fn forget_long_data(&mut self) {
        self.bound.sent.fill(false);
        self.long_data.clear();
        self.charge.shrink();
    }
}

/// Texts up to here are kept with their tree and plan.
const KEPT_TEXT_BYTES_MAX: usize = 64 << 10;

/// The prepared statements of a session.
#[derive(Default)]
pub struct PreparedStatements {
    by_id: HashMap<u32, Entry>,
    by_name: HashMap<String, Entry>,
    last_id: u32,
}

/// The error of every command that names a statement which there is not: MySQL checks them all in one place, and says so.
fn unknown(statement_id: u32) -> errors::SqlError {
    sql_error!(ER_UNKNOWN_STMT_HANDLER, statement_id, "mysql_stmt_precheck")
}

impl Session {
    /// COM_STMT_PREPARE.
    pub fn prepare(&mut self, sql: &[u8]) -> SqlResult<PreparedDescription> {
        self.begin_command(Command::Prepare);
        self.start_statement(false);
        self.count(status::COM_STMT_PREPARE, 1);
        let outcome = self.prepare_binary(sql);
        if let Err(error) = &outcome {
            self.diagnostics.push(errors::Level::Error, error.clone());
        }
        self.end_command();
        outcome
    }

    fn prepare_binary(&mut self, sql: &[u8]) -> SqlResult<PreparedDescription> {
        let (mut entry, columns) = self.make_entry(statement_text(sql))?;
        self.prepared.last_id = self.prepared.last_id.checked_add(1).unwrap_or(1);
        let statement_id = self.prepared.last_id;
        let uses = entry.plan.as_ref().map_or(&[][..], |planned| planned.prepared.parameters());
        let parameters = described(entry.bound.count, uses, self.settings().facts.connection_collation);
        entry.rest();
        self.prepared.by_id.insert(statement_id, entry);
        let warnings = self.diagnostics.count().min(u64::from(u16::MAX)) as u16;
        Ok(PreparedDescription { statement_id, parameters, columns, warnings })
    }

    /// Parses and, for queries and row changes, plans a statement. Errors: 1064, 1295, 1461, 3170 and those of the binder.
    fn make_entry(&mut self, sql: &[u8]) -> SqlResult<(Entry, Vec<ResultColumn>)> {
        let limit = self.instance.global_number(id::MAX_PREPARED_STMT_COUNT);
        let mut charge = self.instance.prepared_memory().add(limit)?;
        let options = self.settings().parse;
        let parsed = parser::parse_one(sql, 0, options)?;
        if !parser::is_blank(sql, parsed.next, options) {
            return Err(crate::statement::syntax_error(sql, parsed.next));
        }
        check_preparable(&parsed.statement, parsed.parameters)?;
        if !self.transaction.xa.uses_tables() {
            crate::xa::refuse_prepare(self, &parsed.statement)?;
        }
        let hints = parsed.hints;
        let of_hints = hints.iter().flat_map(|hints| hints::warnings(hints));
        for warning in parsed.warnings.into_iter().chain(of_hints) {
            self.diagnostics.warning(warning);
        }
        let text = &sql[parsed.span.start..parsed.span.end];
        let is_kept = text.len() <= KEPT_TEXT_BYTES_MAX;
        let count = parsed.parameters as usize;
        charge.take_statement(text.len(), if is_kept { parsed.tokens } else { 0 }, count, limit)?;
        let settled = SettledTypes::none(count);
        let mut plan = None;
        let mut columns = Vec::new();
        if is_planned(&parsed.statement) {
            self.hints.statement = hints.clone();
            hints::enter(self);
            let planned = self.planned(&parsed.statement, &settled);
            hints::leave(self);
            let planned = planned?;
            columns = planned.prepared.columns().to_vec();
            if is_kept {
                charge.take_columns(columns.len(), limit)?;
            }
            plan = Some(planned);
        }
        let entry = Entry {
            statement: is_kept.then(|| Arc::new(parsed.statement)),
            text: text.into(),
            parse: options,
            hints,
            under: PreparedUnder::of(self),
            plan,
            bound: BoundParameters { count, types: Vec::new(), sent: vec![false; count] },
            long_data: LongData::default(),
            settled,
            cursor: None,
            long_data_error: None,
            charge,
        };
        Ok((entry, columns))
    }

    /// The plan of a statement, to be kept for it; the transaction that planning needs is not kept.
    pub(crate) fn planned(&mut self, statement: &Statement, settled: &SettledTypes) -> SqlResult<Planned> {
        let mut locks = self.locks_needed(statement);
        self.refuse_read_only_change(statement, &locks)?;
        let held = self.locks.mark();
        let outcome = self.run_in_transaction(&locks.to_prepare(), false, |session, reads_lock| {
            session.transaction.only_planned = true;
            if !missing_relatives(&session.instance, statement, &locks.locks).is_empty() {
                return Ok(None);
            }
            let seen = session.instance.see(&locks);
            let prepared = session.with_context(&locks, reads_lock, &[], |context| {
                prepare(statement, settled.typing(), context, false)
            })?;
            Ok(Some((prepared, seen)))
        });
        // A definition may change before the first execution.
        self.release_locks_since(held);
        let Some((prepared, seen)) = outcome? else {
            // A foreign key has come before the names were locked.
            return self.planned(statement, settled);
        };
        locks.remember(seen);
        let fingerprint = self.settings().fingerprint;
        Ok(Planned { locks, ..Planned::new(prepared, fingerprint, StatementTraits::of(statement)) })
    }

    /// Makes the plan anew that tells the types of parameters, where none is kept or a definition has changed. Then the types follow from
    /// the text again, whatever values executions before had.
    fn renew_plan(
        &mut self,
        statement: &Statement,
        plan: &mut Option<Planned>,
        settled: &mut SettledTypes,
    ) -> SqlResult<()> {
        if let Some(planned) = plan {
            if planned.locks.are_current() && !self.hides_tables_of(&planned.locks) {
                return Ok(());
            }
            settled.forget();
        }
        // PREPARE has told what the text gives rise to.
        let told = self.diagnostics.mark();
        *plan = Some(self.planned(statement, settled)?);
        self.diagnostics.forget_since(told);
        Ok(())
    }

    /// What decoding COM_STMT_EXECUTE of that statement needs. Error 1243.
    pub fn bound_parameters(&self, statement_id: u32) -> SqlResult<&BoundParameters> {
        let entry = self.prepared.by_id.get(&statement_id);
        entry.map(|entry| &entry.bound).ok_or_else(|| unknown(statement_id))
    }

    /// COM_STMT_EXECUTE with decoded values, one per `?`; those sent as long data are ignored in `values`.
    /// `types` are those of this execution (kept for the next one).
    pub fn execute(
        &mut self,
        statement_id: u32,
        flags: ExecuteFlags,
        types: Vec<ParameterType>,
        values: Vec<Value>,
        channel: &mut dyn ClientChannel,
    ) -> Lsn {
        self.begin_command(Command::Execute);
        self.count(status::COM_STMT_EXECUTE, 1);
        match self.prepared.by_id.remove(&statement_id) {
            Some(mut entry) => {
                entry.bound.types = types;
                let under = entry.under.clone();
                under.enter(self).session.run_entry(&mut entry, flags, values, channel);
                entry.rest();
                self.prepared.by_id.insert(statement_id, entry);
            }
            None => {
                self.start_statement(true);
                self.fail(unknown(statement_id), channel);
            }
        }
        self.query_attributes.clear();
        self.end_command()
    }

    fn run_entry(
        &mut self,
        entry: &mut Entry,
        flags: ExecuteFlags,
        values: Vec<Value>,
        channel: &mut dyn ClientChannel,
    ) {
        self.more_results = false;
        entry.cursor = None;
        let failed = entry.long_data_error.clone().map_or(Ok(()), Err);
        let statement = match failed.and_then(|()| entry.tree()) {
            Ok(statement) => statement,
            Err(error) => {
                self.start_statement(false);
                return self.fail(error, channel);
            }
        };
        let (parameters, long) = self.typed_parameters(entry, values);
        self.long_parameters = long.map(Arc::new);
        entry.charge.shrink();
        if parameters.len() != entry.bound.count {
            self.long_parameters = None;
            self.start_statement(false);
            return self.fail(sql_error!(ER_WRONG_ARGUMENTS, "mysqld_stmt_execute"), channel);
        }
        self.hints.statement.clone_from(&entry.hints);
        if flags.read_only_cursor && matches!(*statement, Statement::Query(_)) {
            self.open_cursor(entry, &statement, parameters, channel);
        } else {
            self.run_parameterised(entry, &statement, parameters, channel);
        }
        self.long_parameters = None;
    }

    /// Runs a prepared statement with values. Statements without a plan run as their text does.
    fn run_parameterised(
        &mut self,
        entry: &mut Entry,
        statement: &Statement,
        parameters: Vec<TypedValue>,
        channel: &mut dyn ClientChannel,
    ) {
        let text = Arc::clone(&entry.text);
        if !is_planned(statement) {
            self.parameters = parameters.into();
            self.run_statement(statement, &text, channel);
            self.parameters = Arc::default();
            return;
        }
        let parse = entry.parse;
        let (plan, settled) = (&mut entry.plan, &mut entry.settled);
        let traits = StatementTraits::of(statement);
        let asks = may_ask_prepared(self, &text);
        // How it is answered is not known yet.
        let counted = StatementTraits { counter: traits.counter.filter(|_| !asks), ..traits };
        self.run_guarded(counted, &text, channel, |session, channel| {
            let renewed = session.renew_plan(statement, plan, settled);
            let fitted = renewed.and_then(|()| session.fit(settled, plan, parameters));
            if asks {
                if let Ok(parameters) = &fitted
                    && session.answers_by_result(
                        (&text, parse),
                        plan.as_ref(),
                        settled,
                        parameters,
                        channel,
                    )?
                {
                    return Ok(());
                }
                session.count(status::COM_SELECT, 1);
            }
            session.run_prepared(statement, settled.typing(), Some(plan), &fitted?, channel)
        });
    }

    /// Answers an execution by a result that was kept, if there is one.
    fn answers_by_result(
        &mut self,
        (text, parse): (&[u8], ParseOptions),
        plan: Option<&Planned>,
        settled: &SettledTypes,
        parameters: &[TypedValue],
        channel: &mut dyn ClientChannel,
    ) -> SqlResult<bool> {
        let kept = plan.filter(|planned| planned.prepared.is_repeatable());
        // Of a plan that is kept and reads little there is nothing to gain.
        if self.long_parameters.is_some() || kept.is_some_and(|planned| !planned.reads.is_long()) {
            return Ok(false);
        }
        let results = self.results_collation();
        let execution = PreparedExecution {
            text,
            parse,
            resolution: self.resolution.unwrap_or_else(|| Resolution::of(&self.settings().facts)),
            settled: settled.types(),
            parameters,
            columns: kept.map(|planned| EncodedColumns::new(planned.prepared.columns(), results)),
        };
        answer_prepared(self, &execution, channel)
    }

    /// Runs a query and keeps its rows; the client fetches them.
    fn open_cursor(
        &mut self,
        entry: &mut Entry,
        statement: &Statement,
        parameters: Vec<TypedValue>,
        channel: &mut dyn ClientChannel,
    ) {
        let text = Arc::clone(&entry.text);
        let (plan, settled, cursor) = (&mut entry.plan, &mut entry.settled, &mut entry.cursor);
        self.run_guarded(StatementTraits::of(statement), &text, channel, |session, channel| {
            session.renew_plan(statement, plan, settled)?;
            let mut filled = Cursor::new(session.instance.cursor_file());
            let parameters = session.fit(settled, plan, parameters)?;
            session.run_prepared(statement, settled.typing(), Some(plan), &parameters, &mut filled)?;
            filled.rows.finish()?;
            channel.columns(&filled.columns, session.results_collation())?;
            let mut end = session.statement_end(0, 0, String::new());
            end.server_status |= server_status::CURSOR_EXISTS;
            *cursor = Some(filled);
            channel.end_rows(&end)
        });
    }

    /// The values of an execution with the types that they arrive with, and those of them that are too long for memory.
    fn typed_parameters(
        &self,
        entry: &mut Entry,
        mut values: Vec<Value>,
    ) -> (Vec<TypedValue>, Option<LongParameters>) {
        let mut long: Option<LongParameters> = None;
        for (position, (value, sent)) in values.iter_mut().zip(entry.long_data.take()).enumerate() {
            match sent {
                None => {}
                Some(Ok(bytes)) => *value = Value::Bytes(bytes),
                Some(Err(spool)) => {
                    *value = Value::Bytes(Vec::new());
                    long.get_or_insert_default().insert(position, spool);
                }
            }
        }
        entry.bound.sent.fill(false);
        let collation = self.settings().facts.connection_collation;
        let typed = values.into_iter().enumerate().map(|(position, value)| {
            let declared = entry.bound.types.get(position).copied();
            let mut column_type = given_type(&value, declared, collation);
            if let Some(spool) = long.as_ref().and_then(|long| long.get(position)) {
                column_type.length = Some(u32::try_from(spool.len()).unwrap_or(u32::MAX));
            }
            TypedValue { column_type, value }
        });
        (typed.collect(), long)
    }

    /// Brings the values of an execution to the types of their parameters. Error 3988, and 1114 for a value that is too long for
    /// memory where its parameter needs it there.
    fn fit(
        &mut self,
        settled: &mut SettledTypes,
        plan: &mut Option<Planned>,
        mut given: Vec<TypedValue>,
    ) -> SqlResult<Vec<TypedValue>> {
        if let Some(long) = self.long_parameters.take() {
            let uses = plan.as_ref().map_or(&[][..], |planned| planned.prepared.parameters());
            let bytes_max = self.settings().execution.memory_bytes_max;
            self.long_parameters = long.without_misfits(&mut given, uses, bytes_max)?.map(Arc::new);
        }
        settled.fit("mysqld_stmt_execute", plan, given, &mut self.diagnostics)
    }

    /// COM_STMT_SEND_LONG_DATA: has no answer; executions report a mistake up to COM_STMT_RESET, and what was sent is forgotten.
    /// Errors: 1105 for a parameter, 3170 for those of all sessions.
    pub fn send_long_data(&mut self, statement_id: u32, parameter: u16, piece: &[u8]) {
        self.count(status::COM_STMT_SEND_LONG_DATA, 1);
        let packet_bytes_max = self.max_allowed_packet();
        let instance = Arc::clone(&self.instance);
        let statements_max = instance.global_number(id::MAX_PREPARED_STMT_COUNT);
        let Some(entry) = self.prepared.by_id.get_mut(&statement_id) else { return };
        let Entry { long_data, bound, charge, long_data_error, .. } = &mut *entry;
        if long_data_error.is_some() {
            if let Some(is_sent) = bound.sent.get_mut(usize::from(parameter)) {
                *is_sent = true;
            }
            return;
        }
        let file = instance.cursor_file();
        let charged = |bytes| charge.grow(bytes, statements_max);
        let added =
            long_data.append(&mut bound.sent, usize::from(parameter), piece, file, packet_bytes_max, charged);
        if let Err(error) = added {
            *long_data_error = Some(error);
            // Executions go on without values for what was sent.
            long_data.clear();
            charge.shrink();
        }
    }

    /// COM_STMT_FETCH: up to `rows_max` further rows of the statement's cursor, without column definitions.
    pub fn fetch(&mut self, statement_id: u32, rows_max: u32, sink: &mut dyn ResultSink) -> Lsn {
        self.begin_command(Command::Fetch);
        self.count(status::COM_STMT_FETCH, 1);
        self.start_statement(true);
        let allowed = self.check_expired_password(false);
        if let Err(error) = allowed.and_then(|()| self.fetch_rows(statement_id, rows_max, sink)) {
            self.fail(error, sink);
        }
        self.end_command()
    }

    fn fetch_rows(&mut self, statement_id: u32, rows_max: u32, sink: &mut dyn ResultSink) -> SqlResult<()> {
        let results = self.results_collation();
        let entry = self.prepared.by_id.get_mut(&statement_id);
        let entry = entry.ok_or_else(|| unknown(statement_id))?;
        let Some(cursor) = &mut entry.cursor else {
            return Err(sql_error!(ER_STMT_HAS_NO_OPEN_CURSOR, statement_id));
        };
        sink.resume_rows(&cursor.columns, results)?;
        for _ in 0..rows_max {
            self.shared.check_killed()?;
            let Some(row) = cursor.rows.take_next()? else { break };
            sink.row(RowRef::Values(&row))?;
        }
        cursor.rows.rest();
        let at_end = cursor.rows.is_empty();
        if at_end {
            entry.cursor = None;
        }
        let mut end = self.statement_end(0, 0, String::new());
        end.server_status |= if at_end { server_status::LAST_ROW_SENT } else { server_status::CURSOR_EXISTS };
        sink.end_rows(&end)
    }

    /// COM_STMT_RESET: forgets long data and closes the cursor.
    pub fn reset_statement(&mut self, statement_id: u32, sink: &mut dyn ResultSink) {
        self.count(status::COM_STMT_RESET, 1);
        self.start_statement(true);
        let outcome = match self.prepared.by_id.get_mut(&statement_id) {
            Some(entry) => {
                entry.cursor = None;
                entry.long_data_error = None;
                entry.forget_long_data();
                self.send_ok(sink)
            }
            None => Err(unknown(statement_id)),
        };
        if let Err(error) = outcome {
            self.fail(error, sink);
        }
    }

    /// COM_STMT_CLOSE: has no answer.
    pub fn close_statement(&mut self, statement_id: u32) {
        self.count(status::COM_STMT_CLOSE, 1);
        self.prepared.by_id.remove(&statement_id);
    }

    /// Forgets all prepared statements: the session ends or starts anew.
    pub(crate) fn close_all_statements(&mut self) {
        self.prepared = PreparedStatements::default();
    }

    /// PREPARE name FROM text.
    pub(crate) fn prepare_text(
        &mut self,
        name: &str,
        source: &PrepareSource,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<()> {
        let utf8 = charset::CollationId::UTF8MB4_0900_AI_CI;
        let (text, collation) = match source {
            PrepareSource::Text(text) => (text.clone(), utf8),
            PrepareSource::UserVariable(variable) => {
                match self.state.user_variables.get(&variable.to_lowercase()) {
                    Some(TypedValue { value: Value::Bytes(bytes), column_type }) => {
                        (bytes.clone(), column_type.collation)
                    }
                    None | Some(TypedValue { value: Value::Null, .. }) => (b"NULL".to_vec(), utf8),
                    Some(other) => (values::print::display(&other.value).into_bytes(), utf8),
                }
            }
        };
        // Statements are read in the client's character set.
        let text = collation
            .charset()
            .convert(&text, instance::collations::of_client(&self.state.variables).charset())
            .text;
        // A failed PREPARE leaves no statement of that name behind.
        let key = name.to_lowercase();
        if self.prepared.by_name.remove(&key).is_some() {
            self.count(status::COM_STMT_CLOSE, 1);
        }
        self.count(status::COM_STMT_PREPARE, 1);
        let (mut entry, _) = self.make_entry(statement_text(&text))?;
        entry.rest();
        self.prepared.by_name.insert(key, entry);
        self.send_info(0, "Statement prepared".to_owned(), sink)
    }

    /// EXECUTE name USING @variables. Errors: 1210, 1243.
    pub(crate) fn execute_text(
        &mut self,
        name: &str,
        using: &[String],
        channel: &mut dyn ClientChannel,
    ) -> SqlResult<()> {
        let key = name.to_lowercase();
        let missing = || sql_error!(ER_UNKNOWN_STMT_HANDLER, name, "EXECUTE");
        let mut entry = self.prepared.by_name.remove(&key).ok_or_else(missing)?;
        let more_results = self.more_results;
        let outcome = if entry.bound.count == using.len() {
            self.count(status::COM_STMT_EXECUTE, 1);
            let parameters: Vec<TypedValue> = using
                .iter()
                .map(|variable| {
                    let value = self.state.user_variables.get(&variable.to_lowercase()).cloned();
                    value.unwrap_or(TypedValue { value: Value::Null, column_type: ColumnType::null() })
                })
                .collect();
            let under = entry.under.clone();
            let entered = under.enter(self);
            entered.session.hints.statement.clone_from(&entry.hints);
            hints::enter(entered.session);
            let outcome = entered.session.execute_named(&mut entry, parameters, channel);
            hints::leave(entered.session);
            outcome
        } else {
            Err(sql_error!(ER_WRONG_ARGUMENTS, "EXECUTE"))
        };
        self.more_results = more_results;
        self.prepared.by_name.insert(key, entry);
        outcome
    }

    fn execute_named(
        &mut self,
        entry: &mut Entry,
        parameters: Vec<TypedValue>,
        channel: &mut dyn ClientChannel,
    ) -> SqlResult<()> {
        let statement = entry.tree()?;
        self.count_command(&statement);
        // EXECUTE itself has no time limit, what it runs may have one.
        let _timer = self.arm_timer(StatementTraits::of(&statement));
        if is_planned(&statement) {
            self.renew_plan(&statement, &mut entry.plan, &mut entry.settled)?;
            let fitting = entry.settled.fit("EXECUTE", &mut entry.plan, parameters, &mut self.diagnostics);
            let outcome = fitting.and_then(|parameters| {
                self.run_prepared(
                    &statement,
                    entry.settled.typing(),
                    Some(&mut entry.plan),
                    &parameters,
                    channel,
                )
            });
            entry.rest();
            outcome
        } else {
            let text = Arc::clone(&entry.text);
            self.parameters = parameters.into();
            let outcome = self.dispatch(&statement, &text, channel);
            self.parameters = Arc::default();
            outcome
        }
    }

    /// DEALLOCATE PREPARE. Error 1243.
    pub(crate) fn deallocate_text(&mut self, name: &str, sink: &mut dyn ResultSink) -> SqlResult<()> {
        if self.prepared.by_name.remove(&name.to_lowercase()).is_none() {
            return Err(sql_error!(ER_UNKNOWN_STMT_HANDLER, name, "DEALLOCATE PREPARE"));
        }
        self.count(status::COM_STMT_CLOSE, 1);
        self.send_ok(sink)
    }
}

/// Errors 1295, 1351 and 6413: what MySQL does not prepare.
fn check_preparable(statement: &Statement, parameters: u32) -> SqlResult<()> {
    let refused = matches!(
        statement,
        Statement::Prepare { .. }
            | Statement::Execute { .. }
            | Statement::Deallocate(_)
            | Statement::Use(_)
            | Statement::Load(_)
            | Statement::Handler(_)
            | Statement::Help(_)
            | Statement::LockTables(_)
            | Statement::UnlockTables
            | Statement::LockInstance
            | Statement::UnlockInstance
            | Statement::Begin(_)
            | Statement::Savepoint(_)
            | Statement::RollbackTo(_)
            | Statement::ReleaseSavepoint(_)
            | Statement::Xa(_)
            | Statement::AlterDatabase(_)
            | Statement::GetDiagnostics(_)
    );
    match statement {
        _ if refused => Err(sql_error!(ER_UNSUPPORTED_PS)),
        Statement::Kill { .. } if parameters > 0 => Err(sql_error!(ER_NON_DML_DYNAMIC_PARAMETERS)),
        Statement::CreateView(_) if parameters > 0 => Err(sql_error!(ER_VIEW_SELECT_VARIABLE)),
        _ => Ok(()),
    }
}

/// Statements that the executor plans.
fn is_planned(statement: &Statement) -> bool {
    matches!(
        statement,
        Statement::Query(_)
            | Statement::Insert(_)
            | Statement::Update(_)
            | Statement::Delete(_)
            | Statement::Do(_)
    )
}
