//! An SQL layer that knows a handful of statements.

use crate::port::{SqlInstance, SqlSession};
use charset::CollationId;
use engine::FlushWaiter;
use env::Environment;
use env::simulated::SimulatedDisk;
use errors::{SqlResult, sql_error};
use session::{
    AuthenticationAccount, AuthenticationPlugin, BoundParameters, ClientHost, ConnectionControl,
    ConnectionInfo, ExecuteFlags, Instance, InstanceOptions, LoginAttempt, OptionSetting, OptionSource,
    ParameterType, PasswordLocking, PreparedDescription, RefusedConnection, ServerSettings, TlsRequirement,
};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use stdx::ids::Lsn;
use values::{ColumnType, RowRef, TypeKind, Value};
use wire::auth::{caching_sha2, native};
use wire::capabilities::status;
use wire::result::{ClientChannel, ResultColumn, ResultSink, StatementEnd};

/// Accounts: `root` without password, `sha` and `old` with password `pw`, `tls` that requires TLS.
pub struct FakeInstance {
    pub settings: Mutex<ServerSettings>,
    next_id: AtomicU32,
    pub flushes: AtomicU64,
    /// So many times from now on, another thread flushes already.
    pub others_flushes: Mutex<u32>,
    durable: Arc<AtomicU64>,
    appended: Arc<AtomicU64>,
    controls: Arc<Mutex<HashMap<u32, Arc<dyn ConnectionControl>>>>,
    pub refused: Mutex<Vec<RefusedConnection>>,
    pub aborted: AtomicU64,
    /// Of `sha`.
    pub locking: Option<PasswordLocking>,
    /// Judges its logins.
    judge: OnceLock<Arc<Instance>>,
    pub idle_timeout: Duration,
    pub read_timeout: Duration,
}

/// An SQL layer with an engine, for what asks for one.
fn small_instance() -> Arc<Instance> {
    let environment = Environment::simulated(SimulatedDisk::new(7), 7);
    let small = |name: &str| OptionSetting {
        name: name.to_owned(),
        value: Some("16M".to_owned()),
        source: OptionSource::CommandLine,
    };
    let settings = vec![small("innodb-buffer-pool-size"), small("innodb_redo_log_capacity")];
    Instance::open(environment, InstanceOptions { settings, ..InstanceOptions::default() }).unwrap()
}

impl FakeInstance {
    /// Sessions that are open.
    pub fn session_count(&self) -> usize {
        self.controls.lock().unwrap().len()
    }
}

impl Default for FakeInstance {
    fn default() -> Self {
        FakeInstance {
            settings: Mutex::new(ServerSettings {
                connections_max: 100,
                connect_timeout: Duration::from_secs(2),
                require_secure_transport: false,
                collation: 255,
                version: "9.7.0-test".to_owned(),
            }),
            next_id: AtomicU32::new(1),
            flushes: AtomicU64::new(0),
            others_flushes: Mutex::default(),
            durable: Arc::default(),
            appended: Arc::default(),
            controls: Arc::default(),
            refused: Mutex::default(),
            aborted: AtomicU64::default(),
            locking: None,
            judge: OnceLock::new(),
            idle_timeout: Duration::from_secs(3600),
            read_timeout: Duration::from_secs(5),
        }
    }
}

impl SqlInstance for FakeInstance {
    fn settings(&self) -> Arc<ServerSettings> {
        Arc::new(self.settings.lock().unwrap().clone())
    }

    fn find_account(&self, user: &str, _host: &ClientHost) -> Option<AuthenticationAccount> {
        let (plugin, stored) = match user {
            "root" | "tls" => (AuthenticationPlugin::CachingSha2Password, Vec::new()),
            "sha" => (AuthenticationPlugin::CachingSha2Password, caching_sha2::hash(b"pw", [9; 20], 5_000)),
            "old" => (AuthenticationPlugin::MysqlNativePassword, native::hash(b"pw").into_bytes()),
            _ => return None,
        };
        Some(AuthenticationAccount {
            user: user.to_owned(),
            host: "%".to_owned(),
            plugin,
            authentication_string: stored,
            retained_authentication_string: Vec::new(),
            tls: if user == "tls" { TlsRequirement::Tls } else { TlsRequirement::None },
            locked: false,
            locking: (user == "sha").then(|| self.locking.clone()).flatten(),
        })
    }

    fn start_login(&self, account: &AuthenticationAccount) -> Option<LoginAttempt> {
        account.locking.as_ref()?;
        LoginAttempt::start(self.judge.get_or_init(small_instance), account)
    }

    fn next_connection_id(&self) -> u32 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    fn open_session(
        &self,
        info: ConnectionInfo,
        _account: &AuthenticationAccount,
    ) -> SqlResult<Box<dyn SqlSession>> {
        if info.schema == "missing" {
            return Err(sql_error!(ER_BAD_DB_ERROR, "missing"));
        }
        self.controls.lock().unwrap().insert(info.id, Arc::clone(&info.control));
        Ok(Box::new(FakeSession {
            info,
            appended: Arc::clone(&self.appended),
            controls: Arc::clone(&self.controls),
            statement: BoundParameters { count: 2, ..BoundParameters::default() },
            long_data: Vec::new(),
            left: 0,
            idle_timeout: self.idle_timeout,
            read_timeout: self.read_timeout,
        }))
    }

    fn flush_log(&self, lsn: Lsn) -> Result<(), String> {
        if self.durable.load(Ordering::Acquire) < lsn.0 {
            self.flushes.fetch_add(1, Ordering::Relaxed);
            self.durable.fetch_max(self.appended.load(Ordering::Acquire), Ordering::AcqRel);
        }
        Ok(())
    }

    fn durable_lsn(&self) -> Lsn {
        Lsn(self.durable.load(Ordering::Acquire))
    }

    fn flush_log_or_subscribe(&self, lsn: Lsn, waiter: &Arc<dyn FlushWaiter>) -> Result<bool, String> {
        let mut others = self.others_flushes.lock().unwrap();
        if *others > 0 {
            *others -= 1;
            let waiter = Arc::clone(waiter);
            let body = move || {
                std::thread::park_timeout(Duration::from_millis(20));
                waiter.flush_ended();
            };
            env::Threads::spawn(&env::RealThreads, "flush", Box::new(body));
            return Ok(false);
        }
        drop(others);
        self.flush_log(lsn).map(|()| true)
    }

    fn count_refused(&self, reason: RefusedConnection) {
        self.refused.lock().unwrap().push(reason);
    }

    fn count_aborted(&self) {
        self.aborted.fetch_add(1, Ordering::Relaxed);
    }

    fn begin_shutdown(&self) {}
}

struct FakeSession {
    info: ConnectionInfo,
    appended: Arc<AtomicU64>,
    controls: Arc<Mutex<HashMap<u32, Arc<dyn ConnectionControl>>>>,
    statement: BoundParameters,
    long_data: Vec<Option<Vec<u8>>>,
    /// Rows left of the cursor.
    left: u32,
    idle_timeout: Duration,
    read_timeout: Duration,
}

impl Drop for FakeSession {
    fn drop(&mut self) {
        self.controls.lock().unwrap().remove(&self.info.id);
    }
}

const RESULTS: CollationId = CollationId::UTF8MB4_GENERAL_CI;

fn column(name: &str, kind: TypeKind) -> ResultColumn {
    let column_type = match kind {
        TypeKind::VarChar => ColumnType::varchar(1 << 24, RESULTS),
        kind => ColumnType::new(kind),
    };
    ResultColumn::named(name, column_type)
}

fn end() -> StatementEnd {
    StatementEnd { server_status: status::AUTOCOMMIT, ..StatementEnd::default() }
}

fn one_value(channel: &mut dyn ResultSink, name: &str, kind: TypeKind, value: Value) -> SqlResult<()> {
    channel.columns(&[column(name, kind)], RESULTS)?;
    channel.row(RowRef::Values(&[value]))?;
    channel.end_rows(&end())
}

impl FakeSession {
    fn run(&mut self, sql: &str, channel: &mut dyn ClientChannel) -> SqlResult<Lsn> {
        let (verb, argument) = sql.split_once(' ').unwrap_or((sql, ""));
        let number = argument.parse::<u64>().unwrap_or(0);
        match verb {
            "LENGTH" => one_value(channel, "l", TypeKind::BigInt, Value::Int(argument.len() as i64))?,
            "USER" => {
                let text = format!("{}@{}", self.info.user, self.info.host.display());
                one_value(channel, "user()", TypeKind::VarChar, Value::Bytes(text.into_bytes()))?;
            }
            "TLS" => {
                let tls = self.info.tls.as_ref().map_or("none".to_owned(), |tls| tls.version.clone());
                one_value(channel, "tls", TypeKind::VarChar, Value::Bytes(tls.into_bytes()))?;
            }
            "ROWS" => {
                channel.columns(&[column("n", TypeKind::BigInt), column("t", TypeKind::VarChar)], RESULTS)?;
                for row in 0..number {
                    channel.row(RowRef::Values(&[Value::UInt(row), Value::Bytes(vec![b'x'; 100])]))?;
                }
                channel.end_rows(&end())?;
            }
            "BIG" => one_value(channel, "b", TypeKind::VarChar, Value::Bytes(vec![b'y'; number as usize]))?,
            "SLEEP" => {
                // Runs long without announcing it, as a computation does.
                std::thread::park_timeout(Duration::from_millis(number));
                channel.ok(&end())?;
            }
            "WAIT" => {
                env::blocking::region(|| std::thread::park_timeout(Duration::from_millis(number)));
                channel.ok(&end())?;
            }
            "WRITE" => {
                channel.ok(&StatementEnd { affected_rows: 1, ..end() })?;
                return Ok(Lsn(self.appended.fetch_add(1, Ordering::AcqRel) + 1));
            }
            "KILL" => {
                let control = self.controls.lock().unwrap().get(&(number as u32)).cloned();
                control.map(|control| control.close()).ok_or(sql_error!(ER_NO_SUCH_THREAD, number))?;
                channel.ok(&end())?;
            }
            "LOAD" => {
                channel.request_file(argument)?;
                let mut bytes = 0;
                while let Some(piece) = channel.read_file_piece()? {
                    bytes += piece.len() as u64;
                }
                channel.ok(&StatementEnd { affected_rows: bytes, ..end() })?;
            }
            "PANIC" => panic!("on purpose"),
            "SET" | "set" => channel.ok(&end())?,
            "select" | "SELECT" | "SHOW" | "show" if argument != "$$" => {
                one_value(channel, "@@version_comment", TypeKind::VarChar, Value::Bytes(b"test".to_vec()))?;
            }
            _ => return Err(sql_error!(ER_PARSE_ERROR, "You have an error", sql, 1)),
        }
        Ok(Lsn(0))
    }

    fn rows(&mut self, count: u32, sink: &mut dyn ResultSink) -> SqlResult<()> {
        let columns = [column("a", TypeKind::BigInt), column("b", TypeKind::VarChar)];
        sink.resume_rows(&columns, RESULTS)?;
        let count = count.min(self.left);
        for _ in 0..count {
            sink.row(RowRef::Values(&[Value::Int(i64::from(self.left)), Value::Null]))?;
            self.left -= 1;
        }
        let flag = if self.left == 0 { status::LAST_ROW_SENT } else { status::CURSOR_EXISTS };
        sink.end_rows(&StatementEnd { server_status: status::AUTOCOMMIT | flag, ..StatementEnd::default() })
    }
}

fn answer<T>(sink: &mut dyn ResultSink, result: SqlResult<T>) -> Option<T> {
    result.map_err(|error| sink.error(&error)).ok()
}

impl SqlSession for FakeSession {
    fn set_query_attributes(&mut self, _attributes: Vec<(Vec<u8>, Value)>) {}

    fn server_status(&self) -> u16 {
        status::AUTOCOMMIT
    }

    fn network_timeouts(&self) -> (Duration, Duration) {
        (self.read_timeout, self.read_timeout.max(Duration::from_secs(5)))
    }

    fn query(&mut self, sql: &[u8], channel: &mut dyn ClientChannel) -> Lsn {
        let result = self.run(&String::from_utf8_lossy(sql), channel);
        result.unwrap_or_else(|error| {
            channel.error(&error);
            Lsn(0)
        })
    }

    fn use_schema(&mut self, name: &[u8], sink: &mut dyn ResultSink) {
        let result = match name {
            b"missing" => Err(sql_error!(ER_BAD_DB_ERROR, "missing")),
            _ => sink.ok(&end()),
        };
        answer(sink, result);
    }

    fn field_list(&mut self, table: &[u8], _: &[u8]) -> SqlResult<Vec<(ResultColumn, Option<Vec<u8>>)>> {
        let table = String::from_utf8_lossy(table);
        Ok(vec![(column(&table, TypeKind::Int), Some(b"7".to_vec()))])
    }

    fn statistics(&self) -> String {
        "Uptime: 1".to_owned()
    }

    fn set_multi_statements(&mut self, _: bool) {}

    fn prepare(&mut self, sql: &[u8]) -> SqlResult<PreparedDescription> {
        if sql == b"bad" {
            return Err(sql_error!(ER_PARSE_ERROR, "You have an error", "bad", 1));
        }
        let columns = vec![column("a", TypeKind::BigInt), column("b", TypeKind::VarChar)];
        let parameters = vec![column("?", TypeKind::BigInt), column("?", TypeKind::VarChar)];
        self.statement = BoundParameters { count: 2, ..BoundParameters::default() };
        Ok(PreparedDescription { statement_id: 1, parameters, columns, warnings: 0 })
    }

    fn bound_parameters(&self, statement_id: u32) -> SqlResult<&BoundParameters> {
        match statement_id {
            1 => Ok(&self.statement),
            id => Err(sql_error!(ER_UNKNOWN_STMT_HANDLER, 7, id, "mysqld_stmt_execute")),
        }
    }

    /// Answers with the parameters; with a cursor, with as many rows as the first one says.
    fn execute(
        &mut self,
        _: u32,
        flags: ExecuteFlags,
        types: Vec<ParameterType>,
        mut values: Vec<Value>,
        channel: &mut dyn ClientChannel,
    ) -> Lsn {
        self.statement.types = types;
        for (value, long) in values.iter_mut().zip(std::mem::take(&mut self.long_data)) {
            if let Some(bytes) = long {
                *value = Value::Bytes(bytes);
            }
        }
        let columns = [column("a", TypeKind::BigInt), column("b", TypeKind::VarChar)];
        let result = channel.columns(&columns, RESULTS).and_then(|()| {
            if flags.read_only_cursor {
                self.left = if let Value::Int(count) = values[0] { count as u32 } else { 0 };
                let server_status = status::AUTOCOMMIT | status::CURSOR_EXISTS;
                return channel.end_rows(&StatementEnd { server_status, ..StatementEnd::default() });
            }
            channel.row(RowRef::Values(&values))?;
            channel.end_rows(&end())
        });
        answer(channel, result);
        Lsn(0)
    }

    fn send_long_data(&mut self, _: u32, parameter: u16, piece: &[u8]) {
        self.statement.sent.resize(2, false);
        self.long_data.resize(2, None);
        if let Some(slot) = self.long_data.get_mut(usize::from(parameter)) {
            self.statement.sent[usize::from(parameter)] = true;
            slot.get_or_insert_default().extend_from_slice(piece);
        }
    }

    fn fetch(&mut self, _: u32, rows_max: u32, sink: &mut dyn ResultSink) -> Lsn {
        let result = self.rows(rows_max, sink);
        answer(sink, result);
        Lsn(0)
    }

    fn reset_statement(&mut self, _: u32, sink: &mut dyn ResultSink) {
        let _ = sink.ok(&end());
    }

    fn close_statement(&mut self, _: u32) {}

    fn reset_connection(&mut self, sink: &mut dyn ResultSink) {
        let _ = sink.ok(&end());
    }

    fn change_user(&mut self, info: ConnectionInfo, _: &AuthenticationAccount) -> SqlResult<()> {
        self.info = info;
        Ok(())
    }

    fn acknowledge(&mut self, sink: &mut dyn ResultSink) -> SqlResult<()> {
        sink.ok(&end())
    }

    fn command_end(&mut self) -> StatementEnd {
        end()
    }

    fn idle_timeout(&self) -> Duration {
        self.idle_timeout
    }

    fn max_allowed_packet(&self) -> usize {
        64 << 20
    }

    fn results_collation(&self) -> CollationId {
        CollationId::BINARY
    }

    fn must_close(&self) -> bool {
        false
    }

    fn count_bytes(&mut self, _: u64, _: u64) {}
}
