//! Commands: from a packet to calls of the session.

use super::scripted::Watched;
use super::{Channel, Connection, Flow};
use crate::port::SqlSession;
use charset::CollationId;
use errors::{SqlResult, sql_error};
use network::ReceiveBuffer;
use session::{ExecuteFlags, PreparedDescription};
use std::panic::{AssertUnwindSafe, catch_unwind};
use stdx::ids::Lsn;
use wire::command::{Command, Execute};
use wire::parameter::{Attribute, KnownParameters};
use wire::result::ResultSink;

impl Connection {
    /// A command. `extra` came behind it. The second value says whether the command took that.
    pub(super) fn take_command(
        &mut self,
        payload: &[u8],
        extra: &[u8],
        side: &mut ReceiveBuffer,
        lsn: &mut Lsn,
    ) -> (Flow, bool) {
        if !self.control.begin() {
            return (Flow::Close, false);
        }
        let outcome = catch_unwind(AssertUnwindSafe(|| match self.scripted {
            None => self.run_command(payload, extra, side, &mut None),
            Some(_) => self.run_scripted(payload, extra, side),
        }));
        let (reached, flow, extra_used) = match outcome {
            Ok(outcome) => outcome,
            Err(_) => {
                // A bug of ours; the statement's transaction ends with its session.
                self.shared.log.error(&format!("A statement of connection {} panicked.", self.id));
                self.encoder
                    .error(&sql_error!(ER_INTERNAL_ERROR, "the statement failed in a way that is a bug"));
                (Lsn(0), Flow::Close, false)
            }
        };
        *lsn = (*lsn).max(reached);
        self.control.end();
        let (received, sent) = self.transport.take_byte_counts();
        if let Some(session) = &mut self.session {
            session.count_bytes(received, sent);
            self.frames.set_payload_bytes_max(session.max_allowed_packet());
            if session.must_close() {
                return (Flow::Close, extra_used);
            }
        }
        if matches!(flow, Flow::Continue) && self.login.is_none() {
            self.expect_command();
        }
        (flow, extra_used)
    }

    /// Runs a command. `watched` looks at its answer.
    pub(super) fn run_command(
        &mut self,
        payload: &[u8],
        extra: &[u8],
        side: &mut ReceiveBuffer,
        watched: &mut Option<Watched>,
    ) -> (Lsn, Flow, bool) {
        let command = Command::parse(payload, self.encoder.capabilities());
        let binary = matches!(command, Ok(Command::Execute(_) | Command::Fetch { .. }));
        if let Ok(Command::ChangeUser(rest)) = command {
            self.begin_answer(false, &[], side);
            return (Lsn(0), self.change_user(rest), false);
        }
        let (Some(session), mut channel) = self.begin_answer(binary, extra, side) else {
            return (Lsn(0), Flow::Close, false);
        };
        channel.set_timeouts(session.network_timeouts());
        channel.set_watched(watched.as_mut());
        let session = &mut **session;
        let mut has_quit = false;
        let (lsn, flow) = match command {
            Ok(Command::Quit) => {
                has_quit = true;
                (Lsn(0), Flow::Close)
            }
            Ok(command) => (dispatch(session, &mut channel, command), Flow::Continue),
            Err(malformed) => {
                channel.error(&malformed.into());
                (Lsn(0), Flow::Continue)
            }
        };
        let flow = if channel.is_broken() { Flow::Close } else { flow };
        let extra_used = channel.extra_used();
        self.has_said_goodbye |= has_quit;
        (lsn, flow, extra_used)
    }
}

fn dispatch(session: &mut dyn SqlSession, channel: &mut Channel<'_>, command: Command<'_>) -> Lsn {
    match command {
        Command::Query { sql, attributes } => {
            set_attributes(session, attributes);
            return session.query(sql, channel);
        }
        Command::Execute(execute) => return run_prepared(session, channel, &execute),
        Command::Fetch { statement_id, rows_max } => return session.fetch(statement_id, rows_max, channel),
        Command::ProcessInfo => return session.query(b"SHOW PROCESSLIST", channel),
        Command::ProcessKill(id) => return session.query(format!("KILL {id}").as_bytes(), channel),
        Command::InitDb(name) => session.use_schema(name, channel),
        Command::FieldList { table, pattern } => {
            let list = session.field_list(table, pattern);
            let results = session.results_collation();
            reply(channel, list, results, |channel, list| channel.encoder().field_list(&list, results));
        }
        Command::Statistics => channel.encoder().raw(session.statistics().as_bytes()),
        Command::Ping => acknowledge(session, channel),
        Command::Debug => channel.encoder().end_rows(&session.command_end()),
        Command::SetOption { multi_statements } => {
            session.set_multi_statements(multi_statements);
            channel.encoder().end_rows(&session.command_end());
        }
        Command::Prepare(sql) => {
            let prepared = session.prepare(sql);
            let results = session.results_collation();
            reply(channel, prepared, results, |channel, prepared| {
                write_prepared(channel, &prepared, results)
            });
        }
        Command::SendLongData { statement_id, parameter, piece } => {
            session.send_long_data(statement_id, parameter, piece);
        }
        Command::CloseStatement(statement_id) => session.close_statement(statement_id),
        Command::ResetStatement(statement_id) => session.reset_statement(statement_id, channel),
        Command::ResetConnection => session.reset_connection(channel),
        Command::Unknown(_) => channel.error(&sql_error!(ER_UNKNOWN_COM_ERROR)),
        // Taken care of before.
        Command::Quit | Command::ChangeUser(_) => {}
    }
    Lsn(0)
}

fn set_attributes(session: &mut dyn SqlSession, attributes: Vec<Attribute>) {
    if !attributes.is_empty() {
        let pairs = attributes.into_iter().map(|attribute| (attribute.name, attribute.value));
        session.set_query_attributes(pairs.collect());
    }
}

fn acknowledge(session: &mut dyn SqlSession, channel: &mut Channel<'_>) {
    if let Err(error) = session.acknowledge(channel) {
        channel.error_in(&error, session.results_collation());
    }
}

/// Answers with the value, or with the error.
fn reply<T>(
    channel: &mut Channel<'_>,
    result: SqlResult<T>,
    results: CollationId,
    write: impl FnOnce(&mut Channel<'_>, T),
) {
    match result {
        Ok(value) => write(channel, value),
        Err(error) => channel.error_in(&error, results),
    }
}

fn write_prepared(channel: &mut Channel<'_>, prepared: &PreparedDescription, results: CollationId) {
    channel.encoder().prepared(
        prepared.statement_id,
        &prepared.parameters,
        &prepared.columns,
        prepared.warnings,
        results,
    );
}

fn run_prepared(session: &mut dyn SqlSession, channel: &mut Channel<'_>, execute: &Execute<'_>) -> Lsn {
    let parameters = session.bound_parameters(execute.statement_id).and_then(|bound| {
        let known = KnownParameters { count: bound.count, types: &bound.types, sent: &bound.sent };
        Ok(execute.parameters(&known)?)
    });
    let parameters = match parameters {
        Ok(parameters) => parameters,
        Err(error) => {
            channel.error_in(&error, session.results_collation());
            return Lsn(0);
        }
    };
    set_attributes(session, parameters.attributes);
    let flags = ExecuteFlags { read_only_cursor: execute.read_only_cursor };
    session.execute(execute.statement_id, flags, parameters.types, parameters.values, channel)
}
