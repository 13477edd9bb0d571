//! What all sessions share. Main type: [`Instance`].
//! Thread rules: every method may be called from any thread; connecting takes no process-wide exclusive lock.

use crate::kept_result::KeptResult;
use crate::latest_deadlock::Deadlock;
use crate::options::StartValues;
use crate::plan_cache::PlanCache;
use crate::prepared_memory::PreparedMemory;
use crate::registry::Registry;
use crate::routines::Routines;
use crate::server_port::{ServerControl, ServerSettings};
use crate::session_starts::SessionStarts;
use crate::user_lock::UserLocks;
use crate::xa_branches::XaBranches;
use accounts::ClientHost;
use accounts::{AccountTable, AuthenticationAccount};
use catalog::MetadataLocks;
use engine::{Engine, EngineOptions, SpillFile};
use env::Environment;
use errors::{ErrorCode, SqlError, SqlResult};
use expression::RegexpLimits;
use result_cache::ResultCache;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use variables::persisted::PersistedVariables;
use variables::status::Counters;
use variables::{SystemValue, ValueTable, VariableId, id};

/// Where an option comes from; the later one in this order wins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionSource {
    /// An option file, with its path and line.
    File(String),
    /// `mysqld-auto.cnf`.
    Persisted,
    /// The command line.
    CommandLine,
}

/// One option as given, e.g. ("innodb-buffer-pool-size", Some("1G"), CommandLine). Names may use `-` or `_`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionSetting {
    /// Name without leading dashes.
    pub name: String,
    /// Value; None for a bare switch.
    pub value: Option<String>,
    /// Where it was given.
    pub source: OptionSource,
}

/// Why an instance does not start with its options.
#[derive(Clone, Debug)]
pub struct WrongOption {
    /// The option that is to blame; None where it is the data directory's file or a pair of options.
    pub setting: Option<OptionSetting>,
    /// What is wrong.
    pub error: SqlError,
}

impl From<SqlError> for WrongOption {
    fn from(error: SqlError) -> WrongOption {
        WrongOption { setting: None, error }
    }
}

/// How an instance starts.
#[derive(Clone, Debug, Default)]
pub struct InstanceOptions {
    /// System variables in the order in which they were given.
    pub settings: Vec<OptionSetting>,
    /// Data directory as an absolute path, for @@datadir.
    pub data_directory: String,
    /// Whether the server listens on nothing but loopback addresses and the UNIX socket.
    /// Only then is root@localhost without password made on first start.
    pub loopback_only: bool,
    /// File descriptors that the process may have; None if nobody knows.
    pub descriptors_max: Option<u64>,
    /// Whether pages are written, rows purged and transactions that a crash left rolled back by nobody but statements and shutdown: a
    /// simulation that comes to the same again runs like this.
    pub statements_only: bool,
}

/// What all sessions share: engine, variables, accounts, sessions, counters.
pub struct Instance {
    environment: Environment,
    engine: Engine,
    globals: RwLock<Arc<ValueTable>>,
    accounts: RwLock<Arc<AccountTable>>,
    /// The epoch of `accounts`, to be read without its lock.
    accounts_epoch: AtomicU64,
    /// Held while accounts are changed, so that changes follow one another.
    accounts_writer: Mutex<()>,
    registry: Registry,
    metadata_locks: Arc<MetadataLocks>,
    user_locks: UserLocks,
    branches: Arc<XaBranches>,
    /// The one that was found last.
    deadlock: Mutex<Option<Arc<Deadlock>>>,
    ended_counters: Counters,
    server: RwLock<Option<Arc<dyn ServerControl>>>,
    shutting_down: AtomicBool,
    started_microseconds: u64,
    prepared_memory: Arc<PreparedMemory>,
    /// What running statements hold together.
    statement_memory: Arc<exec::ServerMemory>,
    /// Rows of cursors, of all sessions.
    cursor_file: Arc<SpillFile>,
    /// read_only or super_read_only is on.
    is_read_only: AtomicBool,
    /// regexp_time_limit and regexp_stack_limit, which hold for sessions that run, too.
    regexp_limits: [AtomicU64; 2],
    timer: crate::timer::Timer,
    plan_cache: PlanCache,
    results: ResultCache<KeptResult>,
    session_starts: SessionStarts,
    routines: Routines,
    /// What the server reads at each connection, with the generation of the global values that it was made of.
    pub(crate) server_settings: RwLock<Option<(u64, Arc<ServerSettings>)>>,
    /// SET PERSIST.
    persisted: Mutex<PersistedVariables>,
    /// Messages for the error log that start-up produced.
    start_messages: Mutex<Vec<String>>,
}

/// The variables of `regexp_limits`.
const REGEXP_LIMITS: [VariableId; 2] = [id::REGEXP_TIME_LIMIT, id::REGEXP_STACK_LIMIT];

fn is_read_only(globals: &ValueTable) -> bool {
    globals.get(id::READ_ONLY).is_on() || globals.get(id::SUPER_READ_ONLY).is_on()
}

/// What ended a start, for the error log: in full, with what to do about it. Texts to clients are cut.
fn start_error(error: engine::EngineError) -> SqlError {
    const WHOLE: ErrorCode = ErrorCode {
        number: 1030,
        state: "HY000",
        name: "ER_GET_ERRNO",
        format: "The engine does not start: %s",
    };
    match error {
        engine::EngineError::Corrupt(text) | engine::EngineError::Io(text) => WHOLE.with(&[&text]),
        engine::EngineError::NoSpace => WHOLE.with(&[&"there is no room for its files"]),
        other => other.into_sql(""),
    }
}

impl Instance {
    /// The error that `open` would give for these options. Nothing is made for it.
    pub fn check_options(environment: &Environment, options: &InstanceOptions) -> Result<(), WrongOption> {
        Instance::settle(environment, options).map(|_| ())
    }

    fn settle(
        environment: &Environment,
        options: &InstanceOptions,
    ) -> Result<(PersistedVariables, StartValues), WrongOption> {
        let persisted = PersistedVariables::load(environment)?;
        let start = crate::options::start_values(environment, options, &persisted)?;
        Ok((persisted, start))
    }

    /// Opens the engine in `environment`'s data directory, reads accounts and persisted variables.
    /// Errors: an option that does not exist or has a wrong value; what the engine reports.
    pub fn open(environment: Environment, options: InstanceOptions) -> SqlResult<Arc<Instance>> {
        let (persisted, mut start) = Instance::settle(&environment, &options).map_err(|wrong| wrong.error)?;
        let engine_options = EngineOptions {
            background_threads: !options.statements_only,
            ..crate::options::engine_options(&start.values)
        };
        let engine = Engine::open(environment.clone(), engine_options).map_err(start_error)?;
        // Now the data directory is this server's: before, no file of it was to be made.
        let server_uuid = crate::options::server_uuid(&environment);
        start.values.set(id::SERVER_UUID, SystemValue::Text(server_uuid.into()));
        let clock = Arc::clone(&environment.clock);
        let metadata_locks = Arc::new(MetadataLocks::new(Arc::clone(&clock), Arc::clone(engine.waits())));
        metadata_locks.set_passes_max(start.values.get(id::MAX_WRITE_LOCK_COUNT).unsigned());
        let results_bytes_max = start.values.get(id::QUERY_CACHE_SIZE).unsigned();
        let memory_max = start.values.get(id::GLOBAL_CONNECTION_MEMORY_LIMIT).unsigned();
        let statement_memory = Arc::new(exec::ServerMemory::new(memory_max));
        let mut seed = [0; 8];
        environment.random.fill(&mut seed);
        let seed = u64::from_le_bytes(seed);
        let instance = Arc::new(Instance {
            started_microseconds: clock.wall().as_micros() as u64,
            user_locks: UserLocks::new(Arc::clone(&metadata_locks), Arc::clone(&statement_memory)),
            metadata_locks,
            cursor_file: Arc::new(SpillFile::new(environment.clone())),
            environment,
            engine,
            is_read_only: AtomicBool::new(is_read_only(&start.values)),
            regexp_limits: REGEXP_LIMITS.map(|id| AtomicU64::new(start.values.get(id).unsigned())),
            globals: RwLock::new(Arc::new(start.values)),
            accounts: RwLock::default(),
            accounts_epoch: AtomicU64::new(0),
            branches: Arc::default(),
            deadlock: Mutex::default(),
            plan_cache: PlanCache::new(seed),
            results: ResultCache::new(results_bytes_max),
            session_starts: SessionStarts::default(),
            routines: Routines::default(),
            server_settings: RwLock::default(),
            accounts_writer: Mutex::new(()),
            registry: Registry::default(),
            ended_counters: Counters::default(),
            server: RwLock::new(None),
            shutting_down: AtomicBool::new(false),
            prepared_memory: Arc::default(),
            statement_memory,
            timer: crate::timer::Timer::default(),
            persisted: Mutex::new(persisted),
            start_messages: Mutex::new(start.messages),
        });
        let mut accounts =
            accounts::store::load(&instance.engine, options.loopback_only).map_err(|error| {
                // Nobody else would tell of them.
                let texts = [vec![error.message().to_owned()], instance.take_messages()].concat();
                SqlError::new(error.number(), error.state(), texts.join(" "))
            })?;
        instance.settle_account_rules(&mut accounts);
        instance.publish_accounts(accounts);
        instance.recover_branches();
        instance.watch_deadlocks();
        Ok(instance)
    }

    /// The world outside.
    #[inline]
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// The engine.
    #[inline]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Warnings for the error log: of start-up, e.g. of obsolete options, and of damage that was met since. Empties the list.
    pub fn take_messages(&self) -> Vec<String> {
        let mut messages = std::mem::take(&mut *lock(&self.start_messages));
        messages.append(&mut self.engine.take_messages());
        messages
    }

    /// Keeps a warning for the error log.
    pub(crate) fn keep_message(&self, message: String) {
        lock(&self.start_messages).push(message);
    }

    /// The account that a connection matches by MySQL's sorted rule, for authentication. None: error 1045.
    pub fn find_account(&self, user: &str, host: &ClientHost) -> Option<AuthenticationAccount> {
        self.accounts().find(user, host).map(AccountTable::authentication)
    }

    pub(crate) fn deadlock_slot(&self) -> &Mutex<Option<Arc<Deadlock>>> {
        &self.deadlock
    }

    /// Branches of XA transactions.
    pub fn branches(&self) -> &Arc<XaBranches> {
        &self.branches
    }

    /// The id of the next connection, for its handshake and for the info that its session opens with.
    pub fn next_connection_id(&self) -> u32 {
        self.registry.next_id()
    }

    /// Advances whenever an account changes; verifier caches of the server compare it.
    #[inline]
    pub fn accounts_epoch(&self) -> u64 {
        self.accounts_epoch.load(Ordering::Acquire)
    }

    /// Names what SHUTDOWN calls.
    pub fn set_server_control(&self, control: Arc<dyn ServerControl>) {
        *self.server.write().unwrap_or_else(PoisonError::into_inner) = Some(control);
    }

    /// What SHUTDOWN calls.
    pub fn server_control(&self) -> Option<Arc<dyn ServerControl>> {
        self.server.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// All accounts as they are now.
    pub fn accounts(&self) -> Arc<AccountTable> {
        Arc::clone(&self.accounts.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The right to change accounts.
    pub fn accounts_writer(&self) -> MutexGuard<'_, ()> {
        lock(&self.accounts_writer)
    }

    /// Publishes changed accounts.
    pub fn publish_accounts(&self, mut table: AccountTable) {
        let mut accounts = self.accounts.write().unwrap_or_else(PoisonError::into_inner);
        table.epoch = accounts.epoch + 1;
        self.accounts_epoch.store(table.epoch, Ordering::Release);
        *accounts = Arc::new(table);
    }

    /// All global values as they are now.
    pub fn globals(&self) -> Arc<ValueTable> {
        Arc::clone(&self.globals.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// One global value.
    #[inline]
    pub fn global_value(&self, id: VariableId) -> SystemValue {
        self.globals.read().unwrap_or_else(PoisonError::into_inner).get(id).clone()
    }

    /// One global value as a number.
    #[inline]
    pub fn global_number(&self, id: VariableId) -> u64 {
        self.globals.read().unwrap_or_else(PoisonError::into_inner).get(id).unsigned()
    }

    /// One global value as text.
    pub fn global_text(&self, id: VariableId) -> String {
        self.global_value(id).text(id.variable())
    }

    /// Changes a global value. Sessions that run keep their copies.
    pub fn set_global(&self, id: VariableId, value: SystemValue) {
        let mut globals = self.globals.write().unwrap_or_else(PoisonError::into_inner);
        Arc::make_mut(&mut globals).set(id, value);
        self.is_read_only.store(is_read_only(&globals), Ordering::Release);
        for (limit, id) in self.regexp_limits.iter().zip(REGEXP_LIMITS) {
            limit.store(globals.get(id).unsigned(), Ordering::Relaxed);
        }
    }

    /// What a regular expression may take.
    #[inline]
    pub fn regexp_limits(&self) -> RegexpLimits {
        let [ticks, stack_bytes] = self.regexp_limits.each_ref().map(|limit| limit.load(Ordering::Relaxed));
        RegexpLimits { ticks, stack_bytes }
    }

    /// Whether some users may change nothing.
    #[inline]
    pub fn is_read_only(&self) -> bool {
        self.is_read_only.load(Ordering::Acquire)
    }

    /// Where rows of cursors wait that were not fetched.
    pub fn cursor_file(&self) -> &Arc<SpillFile> {
        &self.cursor_file
    }

    /// The sessions.
    #[inline]
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Metadata locks.
    #[inline]
    pub fn metadata_locks(&self) -> &MetadataLocks {
        &self.metadata_locks
    }

    /// GET_LOCK and its family.
    #[inline]
    pub fn user_locks(&self) -> &UserLocks {
        &self.user_locks
    }

    /// What ended sessions counted, and what no session counts.
    #[inline]
    pub fn ended_counters(&self) -> &Counters {
        &self.ended_counters
    }

    /// Wall clock, microseconds since 1970 in UTC.
    #[inline]
    pub fn wall_microseconds(&self) -> i64 {
        self.environment.clock.wall().as_micros() as i64
    }

    /// Monotonic clock, microseconds.
    #[inline]
    pub fn monotonic_microseconds(&self) -> u64 {
        self.environment.clock.monotonic().as_micros() as u64
    }

    /// Seconds since start.
    pub fn uptime_seconds(&self) -> u64 {
        (self.environment.clock.wall().as_micros() as u64).saturating_sub(self.started_microseconds)
            / 1_000_000
    }

    /// Ends running statements and closes idle connections.
    pub fn shut_sessions(&self) {
        self.shutting_down.store(true, Ordering::SeqCst);
        for session in self.registry.all() {
            session.shutting_down.store(true, Ordering::SeqCst);
            session.kill_connection();
        }
    }

    /// Whether a session's statement has been told to end: for waits that know of no statement.
    pub fn is_killed(&self, session_id: u32) -> bool {
        self.registry.get(session_id).is_some_and(|session| session.kill.is_raised())
    }

    /// What SET PERSIST has set.
    pub fn persisted(&self) -> MutexGuard<'_, PersistedVariables> {
        lock(&self.persisted)
    }

    /// Plans of text statements.
    #[inline]
    pub fn plan_cache(&self) -> &PlanCache {
        &self.plan_cache
    }

    /// Results of queries.
    #[inline]
    pub fn results(&self) -> &ResultCache<KeptResult> {
        &self.results
    }

    /// Stored functions.
    pub fn routines(&self) -> &Routines {
        &self.routines
    }

    /// How sessions start.
    pub fn session_starts(&self) -> &SessionStarts {
        &self.session_starts
    }

    /// Time limits of statements.
    #[inline]
    pub fn timer(&self) -> &crate::timer::Timer {
        &self.timer
    }

    /// What running statements, user variables and user locks hold together (global_connection_memory_limit).
    pub fn statement_memory(&self) -> &Arc<exec::ServerMemory> {
        &self.statement_memory
    }

    /// The prepared statements of all sessions.
    #[inline]
    pub fn prepared_memory(&self) -> &Arc<PreparedMemory> {
        &self.prepared_memory
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the server reads of the global variables at each connection.
impl Instance {
    /// max_connections.
    pub fn connections_max(&self) -> u32 {
        self.global_number(id::MAX_CONNECTIONS) as u32
    }
}
