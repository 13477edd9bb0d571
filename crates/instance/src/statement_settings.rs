//! What a session's variables say to its statements, in the form that statements need. Main type:
//! [`StatementSettings`]. Made by the first statement after a variable changed, so that running a statement costs no
//! look-up by name and no parsing of values.

use crate::collations;
use crate::instance::Instance;
use crate::session_user::SessionUser;
use engine::Isolation;
use exec::ExecutionSettings;
use expression::{EncryptionMode, SqlMode, StatementFacts, StatementTime, TimeZone, locale};
use parser::ParseOptions;
use plan::Rule;
use std::sync::Arc;
use std::time::Duration;
use variables::SessionVariables;
use variables::{SystemValue, id};
use wire::capabilities::client;

/// The session's variables as statements use them.
#[derive(Clone, Debug)]
pub struct StatementSettings {
    /// Tells sessions apart whose plans differ: see `plan_settings.rs`.
    pub fingerprint: u64,
    /// What sql_mode and the character sets say to the parser.
    pub parse: ParseOptions,
    /// Facts of a statement, without its time and what else differs from one to the next.
    pub facts: StatementFacts,
    /// Settings of the executor.
    pub execution: ExecutionSettings,
    /// autocommit.
    pub autocommit: bool,
    /// transaction_isolation.
    pub isolation: Isolation,
    /// transaction_read_only.
    pub read_only: bool,
    /// transaction_strict_snapshot.
    pub strict_snapshot: bool,
    /// innodb_lock_wait_timeout.
    pub row_lock_timeout: Duration,
    /// lock_wait_timeout.
    pub metadata_lock_timeout: Duration,
    /// max_execution_time; None for no limit.
    pub execution_time_max: Option<Duration>,
    /// wait_timeout.
    pub idle_timeout: Duration,
    /// net_read_timeout, net_write_timeout.
    pub network_timeouts: (Duration, Duration),
}

/// What of a session decides its settings.
pub struct SettingsSource<'s> {
    /// What it shares with the others.
    pub instance: &'s Instance,
    /// Its connection id.
    pub connection_id: u32,
    /// Its user.
    pub user: &'s SessionUser,
    /// Its variables.
    pub variables: &'s SessionVariables,
    /// CLIENT_* of its connection.
    pub capabilities: u64,
    /// Its default schema.
    pub schema: Option<&'s Arc<str>>,
}

/// What a size variable says to an operator; None at MySQL's own default. These are as small as they are because MySQL
/// takes them for each table or sort at once, while here memory is taken as it is needed.
fn share(variables: &SessionVariables, id: variables::VariableId) -> Option<u64> {
    let bytes = variables.get(id).unsigned();
    (bytes != SystemValue::default_of(id.variable()).unsigned()).then_some(bytes)
}

fn seconds(variables: &SessionVariables, id: variables::VariableId) -> Duration {
    Duration::from_secs(variables.get(id).unsigned())
}

impl StatementSettings {
    /// What the session's variables say now.
    pub fn of(source: &SettingsSource<'_>) -> StatementSettings {
        let variables = source.variables;
        let number = |id| variables.get(id).unsigned();
        let is_on = |id| variables.get(id).is_on();
        let sql_mode = SqlMode(number(id::SQL_MODE));
        let defaults = ExecutionSettings::default();
        let memory_bytes_max = defaults.memory_bytes_max.min(number(id::CONNECTION_MEMORY_LIMIT));
        let limit_ms = number(id::MAX_EXECUTION_TIME);
        let rules = crate::optimizer_switches::rules(variables);
        StatementSettings {
            fingerprint: crate::plan_settings::fingerprint(source),
            parse: parse_options(source, sql_mode, memory_bytes_max),
            facts: facts(source, sql_mode),
            execution: ExecutionSettings {
                found_rows_as_affected: source.capabilities & u64::from(client::FOUND_ROWS) != 0,
                auto_increment_increment: number(id::AUTO_INCREMENT_INCREMENT),
                auto_increment_offset: number(id::AUTO_INCREMENT_OFFSET),
                safe_updates: is_on(id::SQL_SAFE_UPDATES),
                select_limit: number(id::SQL_SELECT_LIMIT),
                examined_rows_max: if is_on(id::SQL_BIG_SELECTS) {
                    u64::MAX
                } else {
                    number(id::MAX_JOIN_SIZE)
                },
                recursion_depth_max: number(id::CTE_MAX_RECURSION_DEPTH),
                foreign_key_checks: is_on(id::FOREIGN_KEY_CHECKS),
                unique_checks: is_on(id::UNIQUE_CHECKS),
                sort_bytes_max: share(variables, id::SORT_BUFFER_SIZE).unwrap_or(defaults.sort_bytes_max),
                kept_bytes_max: share(variables, id::TMP_TABLE_SIZE).unwrap_or(defaults.kept_bytes_max),
                memory_bytes_max,
                join_bytes_max: share(variables, id::JOIN_BUFFER_SIZE).unwrap_or(defaults.join_bytes_max),
                fast_plans: rules.has(Rule::FastExecution),
                rules,
                ..defaults
            },
            autocommit: is_on(id::AUTOCOMMIT),
            isolation: isolation_at(number(id::TRANSACTION_ISOLATION)),
            read_only: is_on(id::TRANSACTION_READ_ONLY),
            strict_snapshot: is_on(id::TRANSACTION_STRICT_SNAPSHOT),
            row_lock_timeout: seconds(variables, id::INNODB_LOCK_WAIT_TIMEOUT),
            metadata_lock_timeout: seconds(variables, id::LOCK_WAIT_TIMEOUT),
            execution_time_max: (limit_ms > 0).then(|| Duration::from_millis(limit_ms)),
            idle_timeout: seconds(variables, id::WAIT_TIMEOUT),
            network_timeouts: (
                seconds(variables, id::NET_READ_TIMEOUT),
                seconds(variables, id::NET_WRITE_TIMEOUT),
            ),
        }
    }

    /// The settings of another session whose variables, capabilities and schema are the same.
    pub fn for_session(&self, connection_id: u32, user: &SessionUser) -> StatementSettings {
        let mut settings = self.clone();
        settings.facts.connection_id = u64::from(connection_id);
        settings.facts.user = user.text.clone();
        settings.facts.current_user = user.account_text.clone();
        settings
    }
}

/// What sql_mode and the character sets say to the parser.
fn parse_options(source: &SettingsSource<'_>, mode: SqlMode, memory_bytes_max: u64) -> ParseOptions {
    ParseOptions {
        client: collations::of_client(source.variables),
        connection: collations::connection(source.variables),
        ansi_quotes: mode.contains(SqlMode::ANSI_QUOTES),
        pipes_as_concat: mode.contains(SqlMode::PIPES_AS_CONCAT),
        no_backslash_escapes: mode.contains(SqlMode::NO_BACKSLASH_ESCAPES),
        high_not_precedence: mode.contains(SqlMode::HIGH_NOT_PRECEDENCE),
        ignore_space: mode.contains(SqlMode::IGNORE_SPACE)
            || source.capabilities & u64::from(client::IGNORE_SPACE) != 0,
        memory_bytes_max: source.variables.get(id::PARSER_MAX_MEM_SIZE).unsigned().min(memory_bytes_max),
    }
}

fn facts(source: &SettingsSource<'_>, sql_mode: SqlMode) -> StatementFacts {
    let variables = source.variables;
    let number = |id| variables.get(id).unsigned();
    let text = |id: variables::VariableId| variables.get(id).text(id.variable());
    let time_zone = crate::time_zones::find(source.instance, &text(id::TIME_ZONE));
    StatementFacts {
        sql_mode,
        started: StatementTime::default(),
        time_zone: time_zone.unwrap_or(TimeZone::UTC),
        connection_collation: collations::connection(source.variables),
        results_collation: collations::of_results(source.variables),
        max_allowed_packet: number(id::MAX_ALLOWED_PACKET),
        regexp_limits: source.instance.regexp_limits(),
        group_concat_max_len: number(id::GROUP_CONCAT_MAX_LEN),
        division_precision_increment: number(id::DIV_PRECISION_INCREMENT) as u8,
        default_week_format: number(id::DEFAULT_WEEK_FORMAT) as u8,
        encryption_mode: EncryptionMode::named(&text(id::BLOCK_ENCRYPTION_MODE)).unwrap_or_default(),
        time_names: locale::find(&text(id::LC_TIME_NAMES)).unwrap_or_else(locale::english),
        connection_id: u64::from(source.connection_id),
        user: source.user.text.clone(),
        current_user: source.user.account_text.clone(),
        schema: None,
        schema_is_gone: false,
        version: crate::options::VERSION.into(),
    }
}

/// The level at a position of the enumeration transaction_isolation.
pub fn isolation_at(position: u64) -> Isolation {
    match position {
        0 => Isolation::ReadUncommitted,
        1 => Isolation::ReadCommitted,
        3 => Isolation::Serializable,
        _ => Isolation::RepeatableRead,
    }
}
