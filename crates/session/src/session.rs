//! One connection's state and the commands of the protocol. Main type: [`Session`].
//! Thread rules: owned by the connection; used by one thread at a time. Statements are in `statement.rs`.

use crate::handler::Handlers;
use crate::kept_memory::KeptMemory;
use crate::prepared::PreparedStatements;
use crate::prepared_under::Resolution;
use crate::result_key::ResultKeys;
use crate::state::{SYSTEM_VARIABLES, SessionState, StatementNumbers};
use crate::text_plan::TextPlans;
use crate::transaction::TransactionState;
use crate::user_variables::UserVariables;
use accounts::{AccountName, AuthenticationAccount, Grants};
use catalog::HeldLocks;
use charset::CollationId;
use engine::TemporaryTables;
use errors::{Diagnostics, SqlResult, sql_error};
use expression::{StatementFacts, TypedValue};
use instance::ConnectionInfo;
use instance::Instance;
use instance::RefusedConnection;
use instance::SessionUser;
use instance::StatementSettings;
use instance::lock_owner as owner;
use instance::{Command, SessionShared};
use std::cell::OnceCell;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use stdx::ids::Lsn;
use variables::SessionVariables;
use variables::id;
use variables::status::{StatusId, id as status};
use wire::capabilities::client;
use wire::result::{ClientChannel, ResultColumn, ResultSink, SessionChange, StatementEnd};

/// One connection's state. Dropping it rolls back its transaction and releases its locks.
///
/// What a command wrote to its channel may go to the client only when the engine's durable LSN has reached
/// the returned [`Lsn`]; 0 means at once.
pub struct Session {
    /// What it shares with the others.
    pub(crate) instance: Arc<Instance>,
    /// What others see of it.
    pub(crate) shared: Arc<SessionShared>,
    pub(crate) state: SessionState,
    /// See [`Session::settings`].
    pub(crate) settings: OnceCell<StatementSettings>,
    /// See [`Session::facts`]; None if something changed that they are made of.
    pub(crate) facts: Option<Box<StatementFacts>>,
    pub(crate) diagnostics: Diagnostics,
    pub(crate) transaction: TransactionState,
    /// Behind the transaction: what it has changed of them is undone first.
    pub(crate) temporary: TemporaryTables,
    /// What their definitions take.
    pub(crate) temporary_memory: KeptMemory,
    pub(crate) locks: HeldLocks,
    pub(crate) handlers: Handlers,
    pub(crate) prepared: PreparedStatements,
    pub(crate) user: SessionUser,
    /// Plans of text statements.
    pub(crate) text_plans: TextPlans,
    pub(crate) result_keys: ResultKeys,
    /// DATABASE().
    pub(crate) schema: Option<Arc<str>>,
    pub(crate) capabilities: u64,
    pub(crate) multi_statements: bool,
    /// State changes for the next OK packet.
    pub(crate) changes: Vec<SessionChange>,
    /// Another statement of the packet follows the running one.
    pub(crate) more_results: bool,
    pub(crate) must_close: bool,
    /// What the answer to the running command must wait for.
    pub(crate) packet_lsn: Lsn,
    /// The parser's warnings for the statement that starts next.
    pub(crate) parse_warnings: Vec<errors::SqlError>,
    /// Conditions that the running statement, or the last one, has left of those before it: its answer does not count them.
    pub(crate) kept_conditions: u64,
    pub(crate) hints: crate::hints::RunningHints,
    pub(crate) query_attributes: Vec<(String, values::Value)>,
    /// The running statement was prepared under other settings than these.
    pub(crate) resolution: Option<Resolution>,
    /// Values of the running prepared statement, where it is none that the executor plans as a whole.
    pub(crate) parameters: Arc<[TypedValue]>,
    /// Those of a prepared statement that are too long for memory.
    pub(crate) long_parameters: Option<Arc<exec::LongParameters>>,
    /// The schema was dropped since the statement that runs was prepared.
    pub(crate) schema_is_gone: bool,
}

impl Session {
    /// Starts the session of an authenticated connection. Errors: 1040, 1044, 1049, 1203, 1226, 1862, 3118.
    pub fn open(
        instance: &Arc<Instance>,
        info: ConnectionInfo,
        account: &AuthenticationAccount,
    ) -> SqlResult<Box<Session>> {
        let name = AccountName::new(&account.user, &account.host);
        refuse_locked(&info, account)?;
        let mut info = info;
        let host = info.host.display();
        let shared = Arc::new(SessionShared::new(&mut info, &host, &at_host(&name.user, &name.host)));
        let collation = CollationId(info.collation);
        let user_text = at_host(&info.user, &host);
        let mut session = Session::unregistered(instance, info, name, user_text, shared);
        session.user.count_connection(instance, &session.shared)?;
        instance.registry().add(Arc::clone(&session.shared));
        session.check_connections()?;
        instance.ended_counters().add_shared(status::CONNECTIONS, 1);
        session.start(collation)?;
        session.refuse_expired_login()?;
        Ok(session)
    }

    /// Error 1040 when max_connections are open already. One more is let in for an administrator who comes to see why.
    fn check_connections(&mut self) -> SqlResult<()> {
        let instance = Arc::clone(&self.instance);
        let others = instance.registry().connected.load(Ordering::Relaxed) - 1;
        if others >= u64::from(instance.connections_max()) && !self.grants().dynamic("CONNECTION_ADMIN") {
            instance.count_refused(RefusedConnection::TooMany);
            return Err(sql_error!(ER_CON_COUNT_ERROR));
        }
        Ok(())
    }

    fn unregistered(
        instance: &Arc<Instance>,
        info: ConnectionInfo,
        account: AccountName,
        user_text: Arc<str>,
        shared: Arc<SessionShared>,
    ) -> Box<Session> {
        let account_text = Arc::clone(&shared.describe().account);
        let id = u64::from(shared.id);
        Box::new(Session {
            instance: Arc::clone(instance),
            state: new_state(instance),
            shared,
            settings: OnceCell::new(),
            facts: None,
            diagnostics: Diagnostics::new(instance.global_number(id::MAX_ERROR_COUNT) as usize)
                .charged_to(Arc::clone(instance.statement_memory()) as _),
            transaction: TransactionState::default(),
            temporary: instance.engine().temporary_tables(id),
            temporary_memory: KeptMemory::new("temporary tables", Arc::clone(instance.statement_memory())),
            locks: HeldLocks::default(),
            handlers: Handlers::default(),
            prepared: PreparedStatements::default(),
            user: SessionUser::new(account, info.host, user_text, account_text),
            text_plans: TextPlans::default(),
            result_keys: ResultKeys::default(),
            schema: (!info.schema.is_empty()).then(|| info.schema.as_str().into()),
            capabilities: info.capabilities,
            multi_statements: info.capabilities & u64::from(client::MULTI_STATEMENTS) != 0,
            changes: Vec::new(),
            more_results: false,
            must_close: false,
            packet_lsn: Lsn(0),
            parse_warnings: Vec::new(),
            kept_conditions: 0,
            hints: crate::hints::RunningHints::default(),
            query_attributes: Vec::new(),
            resolution: None,
            parameters: Arc::default(),
            long_parameters: None,
            schema_is_gone: false,
        })
    }

    /// What a new session and one after COM_CHANGE_USER do: roles, default schema, variables. `collation`: the handshake's. The
    /// OK packet names the schema only.
    fn start(&mut self, collation: CollationId) -> SqlResult<()> {
        self.user.activate_default_roles(&self.instance);
        if let Some(schema) = self.schema.take() {
            self.enter_schema(&schema)?;
        }
        self.start_variables(Some(collation));
        Ok(())
    }

    /// Variables, ids and diagnostics as those of a session that begins.
    fn forget_state(&mut self) {
        self.state = new_state(&self.instance);
        self.forget_settings();
        self.diagnostics.clear();
        self.diagnostics.set_kept_max(self.state.number(id::MAX_ERROR_COUNT) as usize);
    }

    /// Error 1862 for an expired password, where the client says nothing of being able to change it.
    fn refuse_expired_login(&mut self) -> SqlResult<()> {
        self.refresh_account();
        if !self.user.password_expired
            || self.capabilities & u64::from(client::CAN_HANDLE_EXPIRED_PASSWORDS) != 0
        {
            return Ok(());
        }
        match self.instance.global_value(id::DISCONNECT_ON_EXPIRED_PASSWORD).is_on() {
            true => Err(sql_error!(ER_MUST_CHANGE_PASSWORD_LOGIN)),
            false => Ok(()),
        }
    }

    /// What it shares with the others.
    pub fn instance(&self) -> &Arc<Instance> {
        &self.instance
    }

    /// Connection id, as the handshake announced it (see [`Instance::next_connection_id`]).
    pub fn id(&self) -> u32 {
        self.shared.id
    }

    /// COM_QUERY: runs the statements of one packet. Every outcome, errors included, goes to `channel`.
    pub fn query(&mut self, sql: &[u8], channel: &mut dyn ClientChannel) -> Lsn {
        self.begin_command(Command::Query);
        self.run_packet(statement_text(sql), channel);
        self.query_attributes.clear();
        self.end_command()
    }

    /// COM_INIT_DB. Like every command that is no statement it leaves the diagnostics of the statement before it, and adds its own.
    /// Errors: 1044, 1049.
    pub fn use_schema(&mut self, name: &[u8], sink: &mut dyn ResultSink) {
        self.begin_command(Command::InitDb);
        self.count(status::COM_CHANGE_DB, 1);
        let name = String::from_utf8_lossy(name).into_owned();
        let allowed = self.check_expired_password(false);
        let outcome = allowed.and_then(|()| self.change_schema(&name)).and_then(|()| self.send_ok(sink));
        if let Err(error) = outcome {
            self.fail(error, sink);
        }
        self.end_command();
    }

    /// COM_FIELD_LIST: the columns of a table whose names match `pattern` (all if empty), with their defaults as text.
    pub fn field_list(
        &mut self,
        table: &[u8],
        pattern: &[u8],
    ) -> SqlResult<Vec<(ResultColumn, Option<Vec<u8>>)>> {
        self.begin_command(Command::FieldList);
        self.start_statement(true);
        self.diagnostics.warning(sql_error!(
            ER_WARN_DEPRECATED_SYNTAX,
            "COM_FIELD_LIST",
            "SHOW COLUMNS FROM statement"
        ));
        let allowed = self.check_expired_password(false);
        let outcome = allowed.and_then(|()| crate::show::showing(self, (0, u64::MAX)).fields(table, pattern));
        self.state.numbers.row_count = -1;
        if let Err(error) = &outcome {
            self.diagnostics.push(errors::Level::Error, error.clone());
        }
        self.end_command();
        outcome
    }

    /// COM_STATISTICS: the one line that `mysqladmin status` prints.
    pub fn statistics(&self) -> String {
        let instance = &self.instance;
        let uptime = instance.uptime_seconds();
        let questions = instance::status_values::total(instance, status::QUESTIONS);
        let average = questions as f64 / uptime.max(1) as f64;
        format!(
            "Uptime: {uptime}  Threads: {}  Questions: {questions}  Slow queries: {}  Opens: {}  \
             Flush tables: {}  Open tables: {}  Queries per second avg: {average:.3}",
            instance.registry().connected.load(Ordering::Relaxed),
            instance::status_values::total(instance, status::SLOW_QUERIES),
            instance::status_values::total(instance, status::OPENED_TABLES),
            instance::status_values::total(instance, status::FLUSH_COMMANDS),
            instance::status_values::open_tables(instance),
        )
    }

    /// COM_SET_OPTION: multi-statement packets on or off.
    pub fn set_multi_statements(&mut self, on: bool) {
        self.multi_statements = on;
    }

    /// COM_QUERY's attributes, for mysql_query_attribute_string(); forgotten after the next query.
    pub fn set_query_attributes(&mut self, attributes: Vec<(String, values::Value)>) {
        self.query_attributes = attributes;
    }

    /// COM_RESET_CONNECTION: as new, without another handshake. Active roles stay, and so does the default schema, even where it
    /// is gone by now.
    pub fn reset_connection(&mut self, sink: &mut dyn ResultSink) {
        self.begin_command(Command::ResetConnection);
        self.clean_up();
        self.forget_state();
        self.start_variables(None);
        self.changes.clear();
        let outcome = self.send_ok(sink);
        if let Err(error) = outcome {
            self.fail(error, sink);
        }
        self.end_command();
    }

    /// COM_CHANGE_USER after the new user proved itself. On error the server closes the connection.
    pub fn change_user(&mut self, info: ConnectionInfo, account: &AuthenticationAccount) -> SqlResult<()> {
        self.begin_command(Command::ChangeUser);
        refuse_locked(&info, account)?;
        self.clean_up();
        let name = AccountName::new(&account.user, &account.host);
        let account_text = at_host(&name.user, &name.host);
        {
            let mut description = self.shared.describe();
            description.user.clone_from(&info.user);
            description.account = Arc::clone(&account_text);
            description.schema = None;
        }
        self.forget_state();
        let user_text = at_host(&info.user, &info.host.display());
        self.user = SessionUser::new(name, info.host, user_text, account_text);
        self.user.count_connection(&self.instance, &self.shared)?;
        self.schema = (!info.schema.is_empty()).then(|| info.schema.as_str().into());
        self.capabilities = info.capabilities;
        self.multi_statements = info.capabilities & u64::from(client::MULTI_STATEMENTS) != 0;
        self.start(CollationId(info.collation))?;
        self.refuse_expired_login()?;
        self.end_command();
        Ok(())
    }

    /// An OK answer without effect (COM_PING, end of authentication).
    pub fn acknowledge(&mut self, sink: &mut dyn ResultSink) -> SqlResult<()> {
        self.send_ok(sink)
    }

    /// What answers a command that has neither rows nor an OK packet (COM_SET_OPTION, COM_DEBUG).
    pub fn command_end(&mut self) -> StatementEnd {
        self.state.numbers.row_count = -1;
        self.statement_end(0, 0, String::new())
    }

    /// How long the connection may stay idle (wait_timeout, or interactive_timeout).
    pub fn idle_timeout(&self) -> Duration {
        self.settings().idle_timeout
    }

    /// How long the server waits for more of a client's packet, and for the client to take an answer
    /// (net_read_timeout, net_write_timeout).
    pub fn network_timeouts(&self) -> (Duration, Duration) {
        self.settings().network_timeouts
    }

    /// The largest packet it may send (@@max_allowed_packet), bytes.
    pub fn max_allowed_packet(&self) -> usize {
        self.settings().facts.max_allowed_packet as usize
    }

    /// Whether the connection must be closed after the answer was sent: killed, or COMMIT RELEASE.
    pub fn must_close(&self) -> bool {
        self.must_close || self.shared.killed.load(Ordering::SeqCst)
    }

    /// Adds to Bytes_received and Bytes_sent.
    pub fn count_bytes(&mut self, received: u64, sent: u64) {
        self.count(status::BYTES_RECEIVED, received);
        self.count(status::BYTES_SENT, sent);
    }

    /// Adds to a status counter.
    pub(crate) fn count(&self, id: StatusId, count: u64) {
        self.shared.counters.add(id, count);
    }

    /// Begins a command. A KILL QUERY that came before it was for nothing; from here on one ends it, also while it is still parsed.
    pub(crate) fn begin_command(&mut self, command: Command) {
        self.packet_lsn = Lsn(0);
        self.lower_kill();
        self.shared.set_command(command, self.instance.monotonic_microseconds());
    }

    /// Forgets KILL QUERY, but not KILL CONNECTION.
    pub(crate) fn lower_kill(&self) {
        let shared = &self.shared;
        shared.timed_out.store(false, Ordering::SeqCst);
        if !shared.killed.load(Ordering::SeqCst) {
            shared.kill.lower();
        }
    }

    pub(crate) fn end_command(&mut self) -> Lsn {
        self.result_keys.end_command();
        let shared = &self.shared;
        shared.set_command(Command::Sleep, self.instance.monotonic_microseconds());
        self.packet_lsn
    }

    /// What the user may do now, with the active roles.
    pub(crate) fn grants(&mut self) -> Arc<Grants> {
        self.refresh_account();
        Arc::clone(&self.user.grants)
    }

    /// Reads the account again if any account changed.
    pub(crate) fn refresh_account(&mut self) {
        self.user.refresh(&self.instance);
    }

    /// Ends what the session holds: transaction, locks, prepared statements, user variables.
    fn clean_up(&mut self) {
        crate::xa::abandon(self);
        self.rollback_open();
        self.abandon_statement();
        self.unlock_tables();
        self.unlock_global();
        self.unlock_instance();
        crate::handler::close_all(self);
        self.instance.user_locks().release_all(self.shared.id);
        self.close_all_statements();
        self.state.user_variables.clear();
        self.transaction = TransactionState::default();
        self.temporary.drop_all();
        self.temporary_memory.fall_to(0);
        self.more_results = false;
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.clean_up();
        self.locks.leave(owner(&self.instance, &self.shared));
        let instance = &self.instance;
        instance.registry().remove(self.shared.id);
        instance.ended_counters().absorb(&self.shared.counters);
    }
}

/// As CURRENT_USER() and USER() show them.
fn at_host(user: &str, host: &str) -> Arc<str> {
    [user, "@", host].concat().into()
}

fn refuse_locked(info: &ConnectionInfo, account: &AuthenticationAccount) -> SqlResult<()> {
    if account.locked {
        return Err(sql_error!(ER_ACCOUNT_HAS_BEEN_LOCKED, info.user, info.host.display()));
    }
    Ok(())
}

fn new_state(instance: &Instance) -> SessionState {
    let mut seed = [0; 8];
    instance.environment().random.fill(&mut seed);
    let word =
        |at: usize| u32::from_le_bytes([seed[at], seed[at + 1], seed[at + 2], seed[at + 3]]) & 0x3fff_ffff;
    SessionState {
        variables: Arc::new(SessionVariables::new(instance.globals())),
        variable_texts: KeptMemory::new(SYSTEM_VARIABLES, Arc::clone(instance.statement_memory())),
        user_variables: UserVariables::new(Arc::clone(instance.statement_memory())),
        numbers: StatementNumbers::default(),
        insert_id: None,
        random: [word(0), word(4)],
        fixed_time_microseconds: None,
        statement_time_microseconds: instance.wall_microseconds(),
        sees_commits_to: Lsn(0),
        pseudo_thread_id: None,
    }
}

/// A text as MySQL takes it from its packet: without blanks around it and semicolons behind it, which no error shows and no
/// statement stands behind. Some clients (mysqlslap) count the terminating zero byte of their string: what is before it stays.
pub(crate) fn statement_text(sql: &[u8]) -> &[u8] {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t'..=b'\r');
    let text = &sql[sql.iter().position(|byte| !is_blank(byte)).unwrap_or(sql.len())..];
    if let Some(terminated) = text.trim_ascii_end().strip_suffix(b"\0") {
        return terminated;
    }
    let last = text.iter().rposition(|byte| *byte != b';' && !is_blank(byte));
    &text[..last.map_or(0, |at| at + 1)]
}
