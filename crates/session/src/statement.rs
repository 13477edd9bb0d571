//! The life of a statement: parse, check, dispatch, answer. Entry point: [`Session::run_packet`].
//!
//! A statement's failure undoes the statement; a deadlock undoes the transaction. A panic above the engine is
//! caught here, where no page change is open, and becomes error 1815.

use crate::hints;
use crate::planning::ParameterTyping;
use crate::session::Session;
use crate::text_plan::{ByShape, Lesson, may_have_shape};
use accounts::Privileges;
use errors::{SqlError, SqlResult, sql_error};
use instance::StatementTraits;
use parser::ast::Statement;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use stdx::ids::Lsn;
use values::RowRef;
use variables::id;
use variables::status::id as status;
use wire::capabilities::status as server_status;
use wire::result::{ClientChannel, ResultColumn, ResultSink, StatementEnd};

/// Statement text that PROCESSLIST shows, bytes.
const SHOWN_STATEMENT_BYTES_MAX: usize = 64 << 10;
/// Memory that a session keeps for it between statements.
const KEPT_STATEMENT_BYTES: usize = 2 << 10;

impl Session {
    /// Runs the statements of one packet up to the first that fails.
    pub(crate) fn run_packet(&mut self, sql: &[u8], channel: &mut dyn ClientChannel) {
        self.more_results = false;
        match self.run_by_shape(sql, channel) {
            ByShape::Done => {}
            ByShape::Ordinary(lesson) => self.run_statements(sql, lesson, channel),
        }
    }

    /// Parses and runs the statements of a text up to the first that fails.
    pub(crate) fn run_statements(
        &mut self,
        text: &[u8],
        lesson: Option<Lesson>,
        channel: &mut dyn ClientChannel,
    ) {
        let mut lesson = lesson;
        let mut start = 0;
        loop {
            self.more_results = false;
            let options = self.settings().parse;
            let parsed = parser::parse_one(text, start, options).and_then(|parsed| {
                self.more_results = !parser::is_blank(text, parsed.next, options);
                if self.more_results && !self.multi_statements {
                    return Err(syntax_error(text, parsed.next));
                }
                if parsed.parameters > 0 {
                    let place = text[parsed.span.start..].iter().position(|byte| *byte == b'?').unwrap_or(0);
                    return Err(syntax_error(text, parsed.span.start + place));
                }
                Ok(parsed)
            });
            let parsed = match parsed {
                Ok(parsed) => parsed,
                Err(error) => {
                    self.more_results = false;
                    self.start_statement(false);
                    self.fail(error, channel);
                    return;
                }
            };
            let statement_text = &text[parsed.span.start..parsed.span.end];
            self.parse_warnings = parsed.warnings;
            self.hints.statement = parsed.hints;
            if let Some(found) = &self.hints.statement {
                self.parse_warnings.extend(hints::warnings(found));
            }
            let succeeded = match lesson.take() {
                Some(lesson) if may_have_shape(&parsed.statement) => {
                    self.run_lesson(&parsed.statement, statement_text, lesson, channel)
                }
                _ => self.run_statement(&parsed.statement, statement_text, channel),
            };
            // What follows may be sent in pieces; this statement's answer goes before it.
            channel.require_durable(self.packet_lsn);
            if !succeeded || !self.more_results {
                return;
            }
            start = parsed.next;
        }
    }

    /// Runs one statement; false if it failed.
    pub(crate) fn run_statement(
        &mut self,
        statement: &Statement,
        text: &[u8],
        channel: &mut dyn ClientChannel,
    ) -> bool {
        let hidden = crate::secrets::hidden(statement, text);
        let shown = hidden.as_deref().unwrap_or(text);
        self.run_guarded(StatementTraits::of(statement), shown, channel, |session, channel| {
            session.dispatch(statement, text, channel)
        })
    }

    /// Runs a query or row change that may come again with other literals.
    fn run_lesson(
        &mut self,
        statement: &Statement,
        text: &[u8],
        lesson: Lesson,
        channel: &mut dyn ClientChannel,
    ) -> bool {
        let mut planned = None;
        let succeeded =
            self.run_guarded(StatementTraits::of(statement), text, channel, |session, channel| {
                session.run_prepared(statement, ParameterTyping::FromValues, Some(&mut planned), &[], channel)
            });
        self.learn(lesson, planned.as_ref());
        succeeded
    }

    /// What surrounds every statement: its start, counters, time limit, failure and panics.
    pub(crate) fn run_guarded(
        &mut self,
        traits: StatementTraits,
        text: &[u8],
        channel: &mut dyn ClientChannel,
        run: impl FnOnce(&mut Session, &mut dyn ClientChannel) -> SqlResult<()>,
    ) -> bool {
        self.start_statement(traits.keeps_diagnostics);
        self.note_text(text);
        if let Some(counter) = traits.counter {
            self.count(counter, 1);
        }
        hints::enter(self);
        let timer = self.arm_timer(traits);
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            self.check_expired_password(traits.changes_password)?;
            self.user.count_statement(&self.instance, &self.shared, traits)?;
            // It may have been killed while it was parsed.
            self.shared.check_killed()?;
            run(self, channel)
        }));
        drop(timer);
        hints::leave(self);
        match outcome {
            Ok(Ok(())) => true,
            Ok(Err(error)) => {
                self.fail(error, channel);
                false
            }
            Err(_) => {
                self.rollback_open();
                self.abandon_statement();
                self.fail(sql_error!(ER_INTERNAL_ERROR, "statement stopped by an internal error"), channel);
                false
            }
        }
    }

    /// The time limit of a query, if it has one.
    pub(crate) fn arm_timer(&self, traits: StatementTraits) -> Option<instance::Armed> {
        let of_session = self.settings().execution_time_max.filter(|_| traits.is_query);
        let limit = traits.execution_time_max.or(of_session)?;
        self.count(status::MAX_EXECUTION_TIME_SET, 1);
        let instance = &self.instance;
        Some(instance.timer().arm(instance.environment(), &self.shared, limit))
    }

    /// Prepares diagnostics and time for a statement.
    pub(crate) fn start_statement(&mut self, keep_diagnostics: bool) {
        self.shared.statement.fetch_add(1, Ordering::SeqCst);
        // A timer that was late for the statement before.
        if self.shared.timed_out.load(Ordering::SeqCst) {
            self.lower_kill();
        }
        self.count(status::QUESTIONS, 1);
        self.count(status::QUERIES, 1);
        self.state.statement_time_microseconds =
            self.state.fixed_time_microseconds.unwrap_or_else(|| self.instance.wall_microseconds());
        self.state.numbers.warning_count = self.diagnostics.count();
        self.state.numbers.error_count = self.diagnostics.error_count();
        if !keep_diagnostics {
            self.diagnostics.clear();
        }
        self.kept_conditions = self.diagnostics.count();
        for warning in std::mem::take(&mut self.parse_warnings) {
            self.diagnostics.warning(warning);
        }
    }

    fn note_text(&mut self, text: &[u8]) {
        let shown = &text[..text.len().min(SHOWN_STATEMENT_BYTES_MAX)];
        let mut description = self.shared.describe();
        description.statement.clear();
        if shown.len() < KEPT_STATEMENT_BYTES {
            description.statement.shrink_to(KEPT_STATEMENT_BYTES);
        }
        description.statement.extend_from_slice(shown);
    }

    /// Reports a failed statement.
    pub(crate) fn fail(&mut self, error: SqlError, sink: &mut dyn ResultSink) {
        let error = self.explain_kill(error);
        self.state.numbers.row_count = -1;
        self.diagnostics.push_last(error.clone());
        sink.error_in(&error, self.results_collation());
    }

    /// A raised kill flag means a time-out, a shutdown or KILL; each has its own error.
    fn explain_kill(&mut self, error: SqlError) -> SqlError {
        if !error.is(&errors::code::ER_QUERY_INTERRUPTED) {
            return error;
        }
        let shared = &self.shared;
        if shared.timed_out.load(Ordering::SeqCst) {
            self.count(status::MAX_EXECUTION_TIME_EXCEEDED, 1);
            return sql_error!(ER_QUERY_TIMEOUT);
        }
        if shared.shutting_down.load(Ordering::SeqCst) {
            return sql_error!(ER_SERVER_SHUTDOWN);
        }
        error
    }

    /// SERVER_STATUS_* of the next answer.
    pub fn server_status(&self) -> u16 {
        let flag = |on: bool, bit: u16| if on { bit } else { 0 };
        let is_open = self.transaction_is_open();
        flag(is_open, server_status::IN_TRANS)
            | flag(is_open && self.transaction_is_read_only(), server_status::IN_TRANS_READONLY)
            | flag(self.settings().autocommit, server_status::AUTOCOMMIT)
            | flag(self.more_results, server_status::MORE_RESULTS_EXISTS)
            | flag(self.settings().parse.no_backslash_escapes, server_status::NO_BACKSLASH_ESCAPES)
    }

    /// The end of a statement without rows and without effects to count.
    pub(crate) fn send_ok(&mut self, sink: &mut dyn ResultSink) -> SqlResult<()> {
        self.send_affected(0, sink)
    }

    /// The same with a number of affected rows.
    pub(crate) fn send_affected(&mut self, affected_rows: u64, sink: &mut dyn ResultSink) -> SqlResult<()> {
        self.send_info(affected_rows, String::new(), sink)
    }

    /// The same with the text that the client prints.
    pub(crate) fn send_info(
        &mut self,
        affected_rows: u64,
        info: String,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<()> {
        self.state.numbers.row_count = affected_rows as i64;
        let end = self.statement_end(affected_rows, 0, info);
        sink.ok(&end)
    }

    /// The fields that every answer's end has.
    pub(crate) fn statement_end(
        &mut self,
        affected_rows: u64,
        last_insert_id: u64,
        info: String,
    ) -> StatementEnd {
        StatementEnd {
            affected_rows,
            last_insert_id,
            server_status: self.server_status(),
            warnings: self.diagnostics.count().saturating_sub(self.kept_conditions).min(u64::from(u16::MAX))
                as u16,
            info,
            session_changes: std::mem::take(&mut self.changes),
        }
    }

    /// A whole result set that this crate made.
    pub(crate) fn send_rows(
        &mut self,
        columns: &[ResultColumn],
        rows: &[Vec<values::Value>],
        sink: &mut dyn ResultSink,
    ) -> SqlResult<()> {
        sink.columns(columns, self.results_collation())?;
        for row in rows {
            sink.row(RowRef::Values(row))?;
        }
        self.state.numbers.row_count = -1;
        let end = self.statement_end(0, 0, String::new());
        sink.end_rows(&end)
    }

    /// Runs a statement of any kind.
    pub(crate) fn dispatch(
        &mut self,
        statement: &Statement,
        text: &[u8],
        channel: &mut dyn ClientChannel,
    ) -> SqlResult<()> {
        if !self.transaction.xa.uses_tables() {
            crate::xa::refuse_tables(self, statement)?;
        }
        if !self.handlers.is_empty() {
            crate::handler::refuse_open_temporary(self, statement)?;
        }
        match statement {
            Statement::Query(_)
            | Statement::Insert(_)
            | Statement::Update(_)
            | Statement::Delete(_)
            | Statement::Load(_)
            | Statement::Do(_) => self.run_data_statement(statement, channel),
            Statement::Explain(explain) => crate::explain::run(self, explain, channel),
            Statement::Show(show) => crate::show::show(self, show, channel),
            Statement::Describe { table, column } => {
                crate::show::describe_table(self, table, column.as_deref(), channel)
            }
            Statement::Set(items) => crate::set::set(self, items, channel),
            Statement::Use(name) => {
                self.change_schema(name)?;
                self.send_ok(channel)
            }
            _ => self.dispatch_control(statement, text, channel),
        }
    }

    /// Transactions, prepared statements, locks and administration.
    fn dispatch_control(
        &mut self,
        statement: &Statement,
        text: &[u8],
        channel: &mut dyn ClientChannel,
    ) -> SqlResult<()> {
        match statement {
            Statement::Begin(start) => self.begin(start, channel),
            Statement::Commit(end) => self.end_transaction(true, *end, channel),
            Statement::Rollback(end) => self.end_transaction(false, *end, channel),
            Statement::Savepoint(name) => self.savepoint(name, channel),
            Statement::RollbackTo(name) => self.rollback_to_savepoint(name, channel),
            Statement::ReleaseSavepoint(name) => self.release_savepoint(name, channel),
            Statement::Xa(xa) => crate::xa::run(self, xa, channel),
            Statement::LockTables(tables) => self.lock_tables(tables, channel),
            Statement::UnlockTables => self.unlock_tables_statement(channel),
            Statement::LockInstance | Statement::UnlockInstance => {
                self.user.require_exactly(&self.instance, "BACKUP_ADMIN")?;
                match statement {
                    Statement::LockInstance => self.lock_instance()?,
                    _ => self.unlock_instance(),
                }
                self.send_ok(channel)
            }
            Statement::Prepare { name, source } => self.prepare_text(name, source, channel),
            Statement::Execute { name, using } => self.execute_text(name, using, channel),
            Statement::Deallocate(name) => self.deallocate_text(name, channel),
            Statement::Kill { query_only, id } => crate::administration::kill(self, *query_only, id, channel),
            Statement::Flush(flush) => crate::administration::flush(self, flush, channel),
            Statement::Reset(targets) => crate::administration::reset(self, targets, channel),
            Statement::TableMaintenance(maintenance) => {
                crate::administration::maintain(self, maintenance, channel)
            }
            Statement::Handler(handler) => crate::handler::run(self, handler, channel),
            Statement::Shutdown => crate::administration::shutdown(self, channel),
            // A comment: mysqldump 11.8 sends one that is a statement to MariaDB only.
            Statement::Empty => self.send_ok(channel),
            _ => self.dispatch_definition(statement, text, channel),
        }
    }

    /// Statements that define something. All but those that fail before they start commit what was open.
    fn dispatch_definition(
        &mut self,
        statement: &Statement,
        text: &[u8],
        channel: &mut dyn ClientChannel,
    ) -> SqlResult<()> {
        if changes_definitions(statement) {
            if !crate::temporary::defines_own_only(self, statement) {
                self.refuse_read_only_server()?;
            }
            if crate::temporary::is_temporary_only(statement) {
                self.refuse_read_only_transaction()?;
            } else if !matches!(statement, Statement::SetDefaultRole { .. }) {
                self.refuse_read_only_session()?;
            }
        }
        if !self.handlers.is_empty() {
            crate::handler::close_temporary(self, statement);
        }
        if let Some(privileged) = crate::account_statements::run_account_statement(self, statement, channel) {
            return privileged;
        }
        match statement {
            Statement::CreateDatabase(create) => crate::definitions::create_database(self, create, channel),
            Statement::AlterDatabase(alter) => crate::definitions::alter_database(self, alter, channel),
            Statement::DropDatabase { name, if_exists } => {
                crate::definitions::drop_database(self, name, *if_exists, channel)
            }
            Statement::CreateTable(create) => {
                crate::definitions::create_table(self, statement, create, channel)
            }
            Statement::AlterTable(alter) => crate::definitions::alter_table(self, statement, alter, channel),
            Statement::DropTable(drop) => crate::definitions::drop_tables(self, drop, channel),
            Statement::RenameTable(items) => crate::definitions::rename_tables(self, items, channel),
            Statement::TruncateTable(name) => crate::definitions::truncate_table(self, name, channel),
            Statement::CreateIndex(create) => crate::definitions::create_index(self, create, channel),
            Statement::DropIndex(drop) => crate::definitions::drop_index(self, drop, channel),
            Statement::DropView { views, if_exists, .. } => {
                crate::views::drop_views(self, views, *if_exists, channel)
            }
            Statement::CreateView(create) => crate::views::create_view(self, create, channel),
            _ => self.refuse(statement, text),
        }
    }

    /// What Iruka knows but does not do: error 1235 that names it.
    fn refuse(&mut self, statement: &Statement, text: &[u8]) -> SqlResult<()> {
        if matches!(statement, Statement::Restart) {
            self.user.require_global(&self.instance, Privileges::SHUTDOWN)?;
        }
        let what = match statement {
            Statement::Recognised { command, .. } => (*command).to_owned(),
            Statement::Call { .. } => "CALL".to_owned(),
            Statement::StoredProgram(_) => "stored programs".to_owned(),
            _ => String::from_utf8_lossy(&text[..text.len().min(40)]).into_owned(),
        };
        Err(sql_error!(ER_NOT_SUPPORTED_YET, what))
    }

    /// Error 1290 on a read-only server, for users that may not write there.
    pub(crate) fn refuse_read_only_server(&mut self) -> SqlResult<()> {
        let instance = &self.instance;
        let super_read_only = instance.global_value(id::SUPER_READ_ONLY).is_on();
        if super_read_only {
            return Err(sql_error!(ER_OPTION_PREVENTS_STATEMENT, "--super-read-only"));
        }
        if instance.global_value(id::READ_ONLY).is_on() && !self.grants().dynamic("CONNECTION_ADMIN") {
            return Err(sql_error!(ER_OPTION_PREVENTS_STATEMENT, "--read-only"));
        }
        Ok(())
    }

    /// Error 1820: an account with an expired password may only change it.
    pub(crate) fn check_expired_password(&mut self, changes_password: bool) -> SqlResult<()> {
        self.refresh_account();
        if self.user.password_expired && !changes_password {
            return Err(sql_error!(ER_MUST_CHANGE_PASSWORD));
        }
        Ok(())
    }

    /// Commit LSN that the answer must wait for, raised.
    pub(crate) fn wait_for(&mut self, lsn: Lsn) {
        self.packet_lsn = self.packet_lsn.max(lsn);
    }
}

/// Whether a statement that reads and changes no rows changes something else that is kept.
fn changes_definitions(statement: &Statement) -> bool {
    const HARMLESS: &[&str] = &["BINLOG", "CACHE INDEX", "LOAD INDEX"];
    match statement {
        Statement::SetRole(_)
        | Statement::Call { .. }
        | Statement::GetDiagnostics(_)
        | Statement::Signal(_)
        | Statement::Resignal(_)
        | Statement::Help(_)
        | Statement::Restart => false,
        Statement::Recognised { command, .. } => !HARMLESS.contains(command),
        _ => true,
    }
}

/// Error 1064 at a byte of the text.
pub(crate) fn syntax_error(text: &[u8], at: usize) -> SqlError {
    let rest = &text[at.min(text.len())..];
    let blanks = rest.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(0);
    let line = 1 + text[..at.min(text.len())].iter().filter(|byte| **byte == b'\n').count();
    let near = String::from_utf8_lossy(&rest[blanks..]);
    sql_error!(ER_PARSE_ERROR, errors::code::ER_SYNTAX_ERROR.format, near, line)
}
