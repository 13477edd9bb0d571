//! Start values of system variables: compiled defaults, options, persisted values. Main function: [`start_values`].

use crate::instance::{InstanceOptions, OptionSetting, WrongOption};
use engine::{EngineOptions, FlushLevel, ForceRecovery};
use env::{Environment, OpenMode};
use errors::{SqlError, SqlResult, sql_error};
use std::path::Path;
use std::time::Duration;
use variables::persisted::PersistedVariables;
use variables::value::check;
use variables::{Assigned, Kind, SystemValue, ValueTable, VariableId, find, id, is_never_persisted};

/// The version that clients see.
pub const VERSION: &str = concat!("9.7.0-iruka-", env!("CARGO_PKG_VERSION"));

/// What a start settles.
pub struct StartValues {
    /// Global values.
    pub values: ValueTable,
    /// Warnings for the error log.
    pub messages: Vec<String>,
}

/// Fewer files than these are never kept open, as in MySQL.
const OPEN_FILES_MIN: u64 = 10;
/// Descriptors for the log's files, listening sockets, reactors and temporary files; half of the others is for tables.
const OWN_DESCRIPTORS: u64 = 64;

/// Options that earlier versions of MySQL and MariaDB knew: a warning, not an error.
const OBSOLETE: &[&str] = &[
    "binlog_expire_logs_days",
    "expire_logs_days",
    "innodb_additional_mem_pool_size",
    "innodb_autoextend",
    "innodb_buffer_pool_instances",
    "innodb_checksums",
    "innodb_file_format",
    "innodb_file_format_max",
    "innodb_file_per_table_old",
    "innodb_large_prefix",
    "innodb_lock_monitor",
    "innodb_locks_unsafe_for_binlog",
    "innodb_log_file_size",
    "innodb_log_files_in_group",
    "innodb_mirrored_log_groups",
    "innodb_support_xa",
    "innodb_undo_logs",
    "innodb_undo_tablespaces",
    "innodb_use_native_aio",
    "innodb_use_sys_malloc",
    "key_buffer",
    "language",
    "log_bin",
    "log_slow_queries",
    "log_warnings",
    "master_info_repository",
    "max_tmp_tables",
    "multi_range_count",
    "myisam_sort_buffer",
    "old_passwords",
    "secure_auth",
    "show_compatibility_56",
    "skip_bdb",
    "skip_external_locking",
    "skip_innodb",
    "skip_locking",
    "skip_name_resolve_old",
    "skip_symbolic_links",
    "symbolic_links",
    "sync_frm",
    "table_cache",
    "thread_concurrency",
    "thread_stack_old",
    "transaction_write_set_extraction",
    "tx_isolation",
    "tx_read_only",
    "innodb_thread_sleep",
    "default_authentication_plugin",
    "character_set_client_handshake",
    "skip_slave_start",
    "skip_character_set_client_handshake",
    "explicit_defaults",
    "avoid_temporal_upgrade",
    "show_old_temporals",
    "binlog_transaction_dependency_tracking",
    "user",
    "log_bin_index",
    "core_file",
    "skip_host_cache",
    "performance_schema_instrument",
    "console",
    "innodb_status_file",
    "slow_start_timeout",
    "mysqlx",
    "skip_mysqlx",
    "mysqlx_port",
    "mysqlx_socket",
    "disable_log_bin",
    "skip_log_bin",
    "initialize",
    "initialize_insecure",
    "daemonize",
    "chroot",
    "sporadic_binlog_dump_fail",
];

/// Settles every variable. Errors name an unknown option or a wrong value; the server then does not start.
pub fn start_values(
    environment: &Environment,
    options: &InstanceOptions,
    persisted: &PersistedVariables,
) -> Result<StartValues, WrongOption> {
    let mut start = StartValues { values: ValueTable::defaults(), messages: Vec::new() };
    computed(environment, options, &mut start.values);
    for setting in &options.settings {
        apply(setting, &mut start).map_err(|error| WrongOption { setting: Some(setting.clone()), error })?;
    }
    for (name, value) in persisted.iter() {
        if let Some(id) = find(name) {
            let variable = id.variable();
            if is_never_persisted(variable.name) {
                start.messages.push(format!("[Warning] {name} cannot be set by mysqld-auto.cnf: left out."));
                continue;
            }
            let assigned = Assigned::Option(value.to_owned());
            let default = SystemValue::default_of(variable);
            let value = check(variable, &assigned, &default, &default)?.value;
            if !is_refused(id, &value, &mut start.messages) {
                start.values.set(id, value);
            }
        }
    }
    check_force_recovery(&start.values)?;
    settle_open_files(options.descriptors_max, &mut start);
    let big_selects = big_selects(start.values.get(id::MAX_JOIN_SIZE));
    if !big_selects.is_on() {
        start.values.set(id::SQL_BIG_SELECTS, big_selects);
    }
    Ok(start)
}

/// What max_join_size makes of sql_big_selects: a bound counts from when it is set.
pub fn big_selects(max_join_size: &SystemValue) -> SystemValue {
    SystemValue::Boolean(*max_join_size == SystemValue::default_of(id::MAX_JOIN_SIZE.variable()))
}

/// How many tables' files stay open: as many as table_open_cache says, unless something else is asked for, and no more than leave
/// descriptors for connections and for the server itself.
fn settle_open_files(descriptors_max: Option<u64>, start: &mut StartValues) {
    let asked = start.values.get(id::INNODB_OPEN_FILES).unsigned();
    let wanted = match asked {
        OPEN_FILES_MIN.. => asked,
        _ => start.values.get(id::TABLE_OPEN_CACHE).unsigned().max(OPEN_FILES_MIN),
    };
    let mut settled = wanted;
    if let Some(descriptors) = descriptors_max {
        start.values.set(id::OPEN_FILES_LIMIT, SystemValue::Integer(i128::from(descriptors)));
        let most = (descriptors.saturating_sub(OWN_DESCRIPTORS) / 2).max(OPEN_FILES_MIN);
        settled = wanted.min(most);
        if settled < wanted {
            start.messages.push(format!(
                "Changed limits: innodb_open_files: {settled} (requested {wanted}), because the process may have {descriptors} \
                 file descriptors"
            ));
        }
    }
    start.values.set(id::INNODB_OPEN_FILES, SystemValue::Integer(i128::from(settled)));
}

/// Values that come from the machine and the build.
fn computed(environment: &Environment, options: &InstanceOptions, values: &mut ValueTable) {
    let text = |value: &str| SystemValue::Text(value.into());
    let directory = format!("{}/", options.data_directory.trim_end_matches('/'));
    let host = read_line(environment, "/proc/sys/kernel/hostname").unwrap_or_else(|| "localhost".to_owned());
    values.set(id::VERSION, text(VERSION));
    values.set(id::VERSION_WITH_UPDATE, text(VERSION));
    values.set(id::INNODB_VERSION, text("9.7.0"));
    values.set(id::VERSION_COMMENT, text("Iruka Server"));
    values.set(id::VERSION_COMPILE_MACHINE, text(std::env::consts::ARCH));
    values.set(id::VERSION_COMPILE_OS, text("Linux"));
    values.set(id::SYSTEM_TIME_ZONE, text("UTC"));
    values.set(id::PID_FILE, text(&format!("{directory}{host}.pid")));
    values.set(id::GENERAL_LOG_FILE, text(&format!("{directory}{host}.log")));
    values.set(id::SLOW_QUERY_LOG_FILE, text(&format!("{directory}{host}-slow.log")));
    values.set(id::HOSTNAME, text(&host));
    values.set(id::DATADIR, text(&directory));
    // No file of the server is anybody's business until the administrator says which folder is.
    values.set(id::SECURE_FILE_PRIV, SystemValue::Null);
}

fn read_line(environment: &Environment, path: &str) -> Option<String> {
    let file = environment.disk.open(Path::new(path), OpenMode::ReadOnly).ok()?;
    // Files of /proc have length 0, so the bytes are read one by one up to the line's end.
    let mut line = Vec::new();
    let mut byte = [0];
    while line.len() < 255 && file.read_at(&mut byte, line.len() as u64).is_ok() && byte[0] != b'\n' {
        line.push(byte[0]);
    }
    String::from_utf8(line).ok().filter(|line| !line.is_empty())
}

/// The server's identity for life, kept in `auto.cnf` of the data directory.
pub fn server_uuid(environment: &Environment) -> String {
    const FILE: &str = "auto.cnf";
    let read = || {
        let file = environment.disk.open(Path::new(FILE), OpenMode::Existing).ok()?;
        let mut bytes = vec![0; file.len().ok().filter(|length| *length < 4096)? as usize];
        file.read_at(&mut bytes, 0).ok()?;
        let text = String::from_utf8(bytes).ok()?;
        let line = text.lines().find_map(|line| line.trim().strip_prefix("server-uuid="))?;
        (line.len() == 36).then(|| line.to_owned())
    };
    read().unwrap_or_else(|| {
        let mut bytes = [0; 16];
        environment.random.fill(&mut bytes);
        bytes[6] = bytes[6] & 0x0f | 0x10;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let uuid = format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]);
        // A server that cannot keep its identity still serves; it will have another one next time.
        if let Ok(file) = environment.disk.open(Path::new(FILE), OpenMode::CreateIfMissing) {
            let _ = file.write_at(format!("[auto]\nserver-uuid={uuid}\n").as_bytes(), 0);
            let _ = file.sync_all();
        }
        uuid
    })
}

/// Protection that cannot be switched on: an audit that is asked for and not written would be worse than none. So would another collation
/// for utf8mb4, which goes into definitions.
pub fn is_without_effect(id: VariableId, value: &SystemValue) -> bool {
    match id {
        id::GENERAL_LOG | id::SLOW_QUERY_LOG => value.is_on(),
        id::DEFAULT_COLLATION_FOR_UTF8MB4 => {
            matches!(value, SystemValue::Text(name) if !name.eq_ignore_ascii_case("utf8mb4_0900_ai_ci"))
        }
        _ => false,
    }
}

/// Whether that switches on what is not done: the start goes on without, and says so.
fn is_refused(id: VariableId, value: &SystemValue, messages: &mut Vec<String>) -> bool {
    let is_refused = is_without_effect(id, value);
    if is_refused {
        messages
            .push(format!("option '{}': this is not supported; the option is ignored", id.variable().name));
    }
    is_refused
}

fn apply(setting: &OptionSetting, start: &mut StartValues) -> SqlResult<()> {
    let mut name = setting.name.to_ascii_lowercase().replace('-', "_");
    let mut value = setting.value.clone();
    let loose = name.strip_prefix("loose_").map(str::to_owned);
    let is_loose = loose.is_some();
    name = loose.unwrap_or(name);
    for (prefix, state) in [("skip_", "0"), ("disable_", "0"), ("enable_", "1")] {
        if find(&name).is_none()
            && let Some(rest) = name.strip_prefix(prefix).filter(|rest| find(rest).is_some())
        {
            (name, value) = (rest.to_owned(), Some(state.to_owned()));
        }
    }
    if matches!(name.as_str(), "innodb_log_file_size") {
        start.messages.push("innodb_log_file_size is obsolete; innodb_redo_log_capacity counts".to_owned());
        return Ok(());
    }
    let Some(id) = find(&name) else {
        if is_loose || OBSOLETE.contains(&name.as_str()) {
            start.messages.push(format!("option '{name}' is obsolete and ignored"));
            return Ok(());
        }
        return Err(sql_error!(ER_UNKNOWN_SYSTEM_VARIABLE, name));
    };
    let variable = id.variable();
    if variable.kind != Kind::Boolean && value.is_none() {
        return Err(sql_error!(ER_WRONG_VALUE_FOR_VAR, variable.name, ""));
    }
    let default = SystemValue::default_of(variable);
    let assigned = Assigned::Option(value.unwrap_or_default());
    let adjusted = check(variable, &assigned, &default, &default)?;
    if let Some(asked) = adjusted.truncated {
        start
            .messages
            .push(format!("option '{name}': value {asked} adjusted to {}", adjusted.value.text(variable)));
    }
    let value = match (id, adjusted.value) {
        (_, value) if is_refused(id, &value, &mut start.messages) => return Ok(()),
        // Computed from what the server made of it: absolute, and with a slash at the end.
        (id::DATADIR, _) => return Ok(()),
        (id::SQL_MODE, SystemValue::Bits(mode)) => SystemValue::Bits(variables::sql_mode::expand(mode)),
        (_, value) => value,
    };
    start.values.set(id, value.clone());
    match id {
        id::CHARACTER_SET_SERVER => follow_charset(&value, &mut start.values)?,
        id::COLLATION_SERVER => follow_collation(&value, &mut start.values)?,
        _ => {}
    }
    Ok(())
}

/// character_set_server brings its default collation, and both decide for schemas.
fn follow_charset(value: &SystemValue, values: &mut ValueTable) -> SqlResult<()> {
    let SystemValue::Text(name) = value else { return Ok(()) };
    let charset = charset::charset_by_name(name).ok_or_else(|| sql_error!(ER_UNKNOWN_CHARACTER_SET, name))?;
    let collation = SystemValue::Text(charset.default_collation.get().name.into());
    values.set(id::CHARACTER_SET_DATABASE, SystemValue::Text(charset.name.into()));
    values.set(id::COLLATION_SERVER, collation.clone());
    values.set(id::COLLATION_DATABASE, collation);
    Ok(())
}

fn follow_collation(value: &SystemValue, values: &mut ValueTable) -> SqlResult<()> {
    let SystemValue::Text(name) = value else { return Ok(()) };
    let collation = charset::collation_by_name(name).ok_or_else(|| sql_error!(ER_UNKNOWN_COLLATION, name))?;
    values.set(id::CHARACTER_SET_SERVER, SystemValue::Text(collation.charset().name.into()));
    values.set(id::CHARACTER_SET_DATABASE, SystemValue::Text(collation.charset().name.into()));
    values.set(id::COLLATION_DATABASE, value.clone());
    Ok(())
}

/// What the engine is opened with.
pub fn engine_options(values: &ValueTable) -> EngineOptions {
    EngineOptions {
        buffer_pool_bytes: values.get(id::INNODB_BUFFER_POOL_SIZE).unsigned(),
        redo_log_bytes: values.get(id::INNODB_REDO_LOG_CAPACITY).unsigned(),
        flush_level: flush_level(values.get(id::INNODB_FLUSH_LOG_AT_TRX_COMMIT).unsigned()),
        doublewrite: matches!(values.get(id::INNODB_DOUBLEWRITE).integer(), 1 | 2),
        lock_wait_timeout: Duration::from_secs(values.get(id::INNODB_LOCK_WAIT_TIMEOUT).unsigned()),
        deadlock_detect: values.get(id::INNODB_DEADLOCK_DETECT).is_on(),
        rollback_on_timeout: values.get(id::INNODB_ROLLBACK_ON_TIMEOUT).is_on(),
        auto_increment_lock_mode: values.get(id::INNODB_AUTOINC_LOCK_MODE).unsigned() as u8,
        force_recovery: match values.get(id::INNODB_FORCE_RECOVERY).unsigned() {
            1 => ForceRecovery::PastDamage,
            6 => ForceRecovery::WithoutLog,
            _ => ForceRecovery::Off,
        },
        read_only: values.get(id::INNODB_READ_ONLY).is_on(),
        reserve_bytes: RESERVE_BYTES,
        open_files_max: values.get(id::INNODB_OPEN_FILES).unsigned() as usize,
        tables_open_max: values.get(id::TABLE_DEFINITION_CACHE).unsigned() as usize,
        ..EngineOptions::default()
    }
}

/// Room on disk for statements that free room: the undo of a DELETE of some hundred thousand rows.
const RESERVE_BYTES: u64 = 16 << 20;

/// Values of innodb_force_recovery between 1 and 6 switch off parts that InnoDB has and this engine has not.
fn check_force_recovery(values: &ValueTable) -> SqlResult<()> {
    match values.get(id::INNODB_FORCE_RECOVERY).unsigned() {
        level @ 2..=5 => {
            let refused = sql_error!(ER_WRONG_VALUE_FOR_VAR, "innodb_force_recovery", level);
            let text = format!(
                "{}: 1 goes on past damaged pages and files, 6 also without the redo log and without rollback; values \
                 between are not supported",
                refused.message()
            );
            Err(SqlError::new(refused.number(), refused.state(), text))
        }
        _ => Ok(()),
    }
}

/// innodb_flush_log_at_trx_commit.
pub fn flush_level(number: u64) -> FlushLevel {
    match number {
        0 => FlushLevel::EverySecond,
        2 => FlushLevel::WriteAtCommit,
        _ => FlushLevel::Commit,
    }
}
