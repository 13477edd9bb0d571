//! One connection's state and the life cycle of its statements. Main type: [`Session`].
//! Thread rules: owned by the connection; used by one thread at a time.

use crate::accounts::AuthenticationAccount;
use crate::connection::ConnectionInfo;
use crate::instance::Instance;
use crate::prepared::{BoundParameters, ExecuteFlags, ParameterType, PreparedDescription};
use errors::{SqlResult, sql_error};
use std::sync::Arc;
use std::time::Duration;
use stdx::ids::Lsn;
use values::Value;
use wire::result::{ClientChannel, ResultColumn, ResultSink};

/// One connection's state. Dropping it rolls back its transaction and releases its locks.
///
/// What a command wrote to its channel may go to the client only when the engine's durable LSN has reached
/// the returned [`Lsn`]; 0 means at once.
pub struct Session {
    instance: Arc<Instance>,
}

impl Session {
    /// Starts the session of an authenticated connection. Errors: 1040, 1044, 1049, 1226, 3118.
    pub fn open(
        instance: &Arc<Instance>,
        info: ConnectionInfo,
        account: &AuthenticationAccount,
    ) -> SqlResult<Session> {
        let _ = (info, account);
        Ok(Session { instance: Arc::clone(instance) })
    }

    /// What it shares with the others.
    pub fn instance(&self) -> &Arc<Instance> {
        &self.instance
    }

    /// Connection id, as the handshake announced it (see [`Instance::next_connection_id`]).
    pub fn id(&self) -> u32 {
        0
    }

    /// Query attributes (name, value) of the next [`Session::query`] or [`Session::execute`], which forgets them.
    pub fn set_query_attributes(&mut self, attributes: Vec<(Vec<u8>, Value)>) {
        let _ = attributes;
    }

    /// SERVER_STATUS_* flags as of now, without SERVER_MORE_RESULTS_EXISTS: for answers the server makes itself.
    pub fn server_status(&self) -> u16 {
        2
    }

    /// net_read_timeout and net_write_timeout, for file pieces and big results.
    pub fn network_timeouts(&self) -> (Duration, Duration) {
        (Duration::from_secs(30), Duration::from_secs(60))
    }

    /// COM_QUERY: runs the statements of one packet. Every outcome, errors included, goes to `channel`.
    pub fn query(&mut self, sql: &[u8], channel: &mut dyn ClientChannel) -> Lsn {
        let _ = sql;
        channel.error(&sql_error!(ER_NOT_SUPPORTED_YET, "COM_QUERY"));
        Lsn(0)
    }

    /// COM_INIT_DB. Errors: 1044, 1049.
    pub fn use_schema(&mut self, name: &[u8], sink: &mut dyn ResultSink) {
        let _ = name;
        sink.error(&sql_error!(ER_NOT_SUPPORTED_YET, "COM_INIT_DB"));
    }

    /// COM_FIELD_LIST: the columns of a table whose names match `pattern` (all if empty), with their defaults as text.
    pub fn field_list(
        &mut self,
        table: &[u8],
        pattern: &[u8],
    ) -> SqlResult<Vec<(ResultColumn, Option<Vec<u8>>)>> {
        let _ = (table, pattern);
        Err(sql_error!(ER_NOT_SUPPORTED_YET, "COM_FIELD_LIST"))
    }

    /// COM_STATISTICS: the one line that `mysqladmin status` prints.
    pub fn statistics(&self) -> String {
        String::new()
    }

    /// COM_SET_OPTION: multi-statement packets on or off.
    pub fn set_multi_statements(&mut self, on: bool) {
        let _ = on;
    }

    /// COM_STMT_PREPARE.
    pub fn prepare(&mut self, sql: &[u8]) -> SqlResult<PreparedDescription> {
        let _ = sql;
        Err(sql_error!(ER_NOT_SUPPORTED_YET, "COM_STMT_PREPARE"))
    }

    /// What decoding COM_STMT_EXECUTE of that statement needs. Error 1243.
    pub fn bound_parameters(&self, statement_id: u32) -> SqlResult<&BoundParameters> {
        Err(sql_error!(ER_UNKNOWN_STMT_HANDLER, 0, statement_id, "mysqld_stmt_execute"))
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
        let _ = (flags, types, values);
        channel.error(&sql_error!(ER_UNKNOWN_STMT_HANDLER, 0, statement_id, "mysqld_stmt_execute"));
        Lsn(0)
    }

    /// COM_STMT_SEND_LONG_DATA: has no answer; a mistake is reported by the next execution.
    pub fn send_long_data(&mut self, statement_id: u32, parameter: u16, piece: &[u8]) {
        let _ = (statement_id, parameter, piece);
    }

    /// COM_STMT_FETCH: up to `rows_max` further rows of the statement's cursor, without column definitions.
    pub fn fetch(&mut self, statement_id: u32, rows_max: u32, sink: &mut dyn ResultSink) -> Lsn {
        let _ = rows_max;
        sink.error(&sql_error!(ER_UNKNOWN_STMT_HANDLER, 0, statement_id, "mysqld_stmt_fetch"));
        Lsn(0)
    }

    /// COM_STMT_RESET: forgets long data and closes the cursor.
    pub fn reset_statement(&mut self, statement_id: u32, sink: &mut dyn ResultSink) {
        sink.error(&sql_error!(ER_UNKNOWN_STMT_HANDLER, 0, statement_id, "mysqld_stmt_reset"));
    }

    /// COM_STMT_CLOSE: has no answer.
    pub fn close_statement(&mut self, statement_id: u32) {
        let _ = statement_id;
    }

    /// COM_RESET_CONNECTION: as new, without another handshake.
    pub fn reset_connection(&mut self, sink: &mut dyn ResultSink) {
        sink.error(&sql_error!(ER_NOT_SUPPORTED_YET, "COM_RESET_CONNECTION"));
    }

    /// COM_CHANGE_USER after the new user proved itself. On error the server closes the connection.
    pub fn change_user(&mut self, info: ConnectionInfo, account: &AuthenticationAccount) -> SqlResult<()> {
        let _ = (info, account);
        Err(sql_error!(ER_NOT_SUPPORTED_YET, "COM_CHANGE_USER"))
    }

    /// An OK answer without effect (COM_PING, COM_SET_OPTION, end of authentication).
    pub fn acknowledge(&mut self, sink: &mut dyn ResultSink) -> SqlResult<()> {
        sink.ok(&wire::result::StatementEnd::default())
    }

    /// How long the connection may stay idle (wait_timeout, or interactive_timeout).
    pub fn idle_timeout(&self) -> Duration {
        Duration::from_secs(28_800)
    }

    /// The largest packet it may send (@@max_allowed_packet), bytes.
    pub fn max_allowed_packet(&self) -> usize {
        64 << 20
    }

    /// Whether the connection must be closed after the answer was sent: killed, or COMMIT RELEASE.
    pub fn must_close(&self) -> bool {
        false
    }

    /// Adds to Bytes_received and Bytes_sent.
    pub fn count_bytes(&mut self, received: u64, sent: u64) {
        let _ = (received, sent);
    }
}
