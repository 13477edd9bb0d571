//! The SQL layer as the server sees it: two traits over `session`, so that the server's own tests run without an
//! engine. Main traits: [`SqlInstance`] (shared by all threads), [`SqlSession`] (one connection's state).

use charset::CollationId;
use engine::FlushWaiter;
use errors::SqlResult;
use session::{
    AuthenticationAccount, BoundParameters, ClientHost, ConnectionInfo, ExecuteFlags, Instance, LoginAttempt,
    ParameterType, PreparedDescription, RefusedConnection, ServerSettings, Session,
};
use std::sync::Arc;
use std::time::Duration;
use stdx::ids::Lsn;
use values::Value;
use wire::result::{ClientChannel, ResultColumn, ResultSink, StatementEnd};

/// What connections share. See [`session::Instance`] for what each method means.
#[allow(missing_docs)]
pub trait SqlInstance: Send + Sync {
    fn settings(&self) -> Arc<ServerSettings>;
    fn find_account(&self, user: &str, host: &ClientHost) -> Option<AuthenticationAccount>;
    fn start_login(&self, account: &AuthenticationAccount) -> Option<LoginAttempt>;
    fn is_killed(&self, _connection_id: u32) -> bool {
        false
    }
    fn next_connection_id(&self) -> u32;
    fn open_session(
        &self,
        info: ConnectionInfo,
        account: &AuthenticationAccount,
    ) -> SqlResult<Box<dyn SqlSession>>;
    fn flush_log(&self, lsn: Lsn) -> Result<(), String>;
    fn durable_lsn(&self) -> Lsn;
    fn flush_log_or_subscribe(&self, lsn: Lsn, waiter: &Arc<dyn FlushWaiter>) -> Result<bool, String>;
    fn count_refused(&self, reason: RefusedConnection);
    fn count_aborted(&self);
    fn begin_shutdown(&self);
}

/// One connection's state. See [`session::Session`] for what each method means.
#[allow(missing_docs)]
pub trait SqlSession: Send {
    fn set_query_attributes(&mut self, attributes: Vec<(Vec<u8>, Value)>);
    fn server_status(&self) -> u16;
    fn network_timeouts(&self) -> (Duration, Duration);
    fn query(&mut self, sql: &[u8], channel: &mut dyn ClientChannel) -> Lsn;
    fn use_schema(&mut self, name: &[u8], sink: &mut dyn ResultSink);
    fn field_list(&mut self, table: &[u8], pattern: &[u8])
    -> SqlResult<Vec<(ResultColumn, Option<Vec<u8>>)>>;
    fn statistics(&self) -> String;
    fn set_multi_statements(&mut self, on: bool);
    fn prepare(&mut self, sql: &[u8]) -> SqlResult<PreparedDescription>;
    fn bound_parameters(&self, statement_id: u32) -> SqlResult<&BoundParameters>;
    fn execute(
        &mut self,
        statement_id: u32,
        flags: ExecuteFlags,
        types: Vec<ParameterType>,
        values: Vec<Value>,
        channel: &mut dyn ClientChannel,
    ) -> Lsn;
    fn send_long_data(&mut self, statement_id: u32, parameter: u16, piece: &[u8]);
    fn fetch(&mut self, statement_id: u32, rows_max: u32, sink: &mut dyn ResultSink) -> Lsn;
    fn reset_statement(&mut self, statement_id: u32, sink: &mut dyn ResultSink);
    fn close_statement(&mut self, statement_id: u32);
    fn reset_connection(&mut self, sink: &mut dyn ResultSink);
    fn change_user(&mut self, info: ConnectionInfo, account: &AuthenticationAccount) -> SqlResult<()>;
    fn acknowledge(&mut self, sink: &mut dyn ResultSink) -> SqlResult<()>;
    fn command_end(&mut self) -> StatementEnd;
    fn idle_timeout(&self) -> Duration;
    fn max_allowed_packet(&self) -> usize;
    fn must_close(&self) -> bool;
    fn results_collation(&self) -> CollationId;
    fn count_bytes(&mut self, received: u64, sent: u64);
}

impl SqlInstance for Arc<Instance> {
    fn settings(&self) -> Arc<ServerSettings> {
        self.server_settings()
    }

    fn find_account(&self, user: &str, host: &ClientHost) -> Option<AuthenticationAccount> {
        Instance::find_account(self, user, host)
    }

    fn start_login(&self, account: &AuthenticationAccount) -> Option<LoginAttempt> {
        LoginAttempt::start(self, account)
    }

    fn is_killed(&self, connection_id: u32) -> bool {
        Instance::is_killed(self, connection_id)
    }

    fn next_connection_id(&self) -> u32 {
        Instance::next_connection_id(self)
    }

    fn open_session(
        &self,
        info: ConnectionInfo,
        account: &AuthenticationAccount,
    ) -> SqlResult<Box<dyn SqlSession>> {
        Ok(Session::open(self, info, account)?)
    }

    fn flush_log(&self, lsn: Lsn) -> Result<(), String> {
        Instance::flush_log(self, lsn)
    }

    fn durable_lsn(&self) -> Lsn {
        Instance::durable_lsn(self)
    }

    fn flush_log_or_subscribe(&self, lsn: Lsn, waiter: &Arc<dyn FlushWaiter>) -> Result<bool, String> {
        Instance::flush_log_or_subscribe(self, lsn, waiter)
    }

    fn count_refused(&self, reason: RefusedConnection) {
        Instance::count_refused(self, reason);
    }

    fn count_aborted(&self) {
        Instance::count_aborted(self);
    }

    fn begin_shutdown(&self) {
        Instance::begin_shutdown(self);
    }
}

impl SqlSession for Session {
    fn set_query_attributes(&mut self, attributes: Vec<(Vec<u8>, Value)>) {
        let text = |name: Vec<u8>| String::from_utf8_lossy(&name).into_owned();
        let attributes = attributes.into_iter().map(|(name, value)| (text(name), value));
        Session::set_query_attributes(self, attributes.collect());
    }

    fn server_status(&self) -> u16 {
        Session::server_status(self)
    }

    fn network_timeouts(&self) -> (Duration, Duration) {
        Session::network_timeouts(self)
    }

    fn query(&mut self, sql: &[u8], channel: &mut dyn ClientChannel) -> Lsn {
        Session::query(self, sql, channel)
    }

    fn use_schema(&mut self, name: &[u8], sink: &mut dyn ResultSink) {
        Session::use_schema(self, name, sink);
    }

    fn field_list(
        &mut self,
        table: &[u8],
        pattern: &[u8],
    ) -> SqlResult<Vec<(ResultColumn, Option<Vec<u8>>)>> {
        Session::field_list(self, table, pattern)
    }

    fn statistics(&self) -> String {
        Session::statistics(self)
    }

    fn set_multi_statements(&mut self, on: bool) {
        Session::set_multi_statements(self, on);
    }

    fn prepare(&mut self, sql: &[u8]) -> SqlResult<PreparedDescription> {
        Session::prepare(self, sql)
    }

    fn bound_parameters(&self, statement_id: u32) -> SqlResult<&BoundParameters> {
        Session::bound_parameters(self, statement_id)
    }

    fn execute(
        &mut self,
        statement_id: u32,
        flags: ExecuteFlags,
        types: Vec<ParameterType>,
        values: Vec<Value>,
        channel: &mut dyn ClientChannel,
    ) -> Lsn {
        Session::execute(self, statement_id, flags, types, values, channel)
    }

    fn send_long_data(&mut self, statement_id: u32, parameter: u16, piece: &[u8]) {
        Session::send_long_data(self, statement_id, parameter, piece);
    }

    fn fetch(&mut self, statement_id: u32, rows_max: u32, sink: &mut dyn ResultSink) -> Lsn {
        Session::fetch(self, statement_id, rows_max, sink)
    }

    fn reset_statement(&mut self, statement_id: u32, sink: &mut dyn ResultSink) {
        Session::reset_statement(self, statement_id, sink);
    }

    fn close_statement(&mut self, statement_id: u32) {
        Session::close_statement(self, statement_id);
    }

    fn reset_connection(&mut self, sink: &mut dyn ResultSink) {
        Session::reset_connection(self, sink);
    }

    fn change_user(&mut self, info: ConnectionInfo, account: &AuthenticationAccount) -> SqlResult<()> {
        Session::change_user(self, info, account)
    }

    fn acknowledge(&mut self, sink: &mut dyn ResultSink) -> SqlResult<()> {
        Session::acknowledge(self, sink)
    }

    fn command_end(&mut self) -> StatementEnd {
        Session::command_end(self)
    }

    fn idle_timeout(&self) -> Duration {
        Session::idle_timeout(self)
    }

    fn max_allowed_packet(&self) -> usize {
        Session::max_allowed_packet(self)
    }

    fn must_close(&self) -> bool {
        Session::must_close(self)
    }

    fn results_collation(&self) -> CollationId {
        Session::results_collation(self)
    }

    fn count_bytes(&mut self, received: u64, sent: u64) {
        Session::count_bytes(self, received, sent);
    }
}
