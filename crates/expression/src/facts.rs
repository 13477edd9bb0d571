//! Facts that hold while a statement runs: sql_mode, time zone, statement time, connection collation, names.
//! Main types: [`StatementFacts`], [`StatementTime`], [`SqlMode`]. Filled in by the session before each statement; read only.

use charset::CollationId;
use std::sync::OnceLock;
use values::temporal::DateTime;

/// sql_mode as a set of flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SqlMode(pub u64);

impl SqlMode {
    /// `||` concatenates.
    pub const PIPES_AS_CONCAT: SqlMode = SqlMode(1 << 1);
    /// `"` quotes identifiers.
    pub const ANSI_QUOTES: SqlMode = SqlMode(1 << 2);
    /// A space may stand between a function name and its parenthesis.
    pub const IGNORE_SPACE: SqlMode = SqlMode(1 << 3);
    /// Selected columns must be grouped.
    pub const ONLY_FULL_GROUP_BY: SqlMode = SqlMode(1 << 5);
    /// Integer subtraction is signed even when an operand is unsigned.
    pub const NO_UNSIGNED_SUBTRACTION: SqlMode = SqlMode(1 << 6);
    /// CREATE TABLE leaves its directory out.
    pub const NO_DIR_IN_CREATE: SqlMode = SqlMode(1 << 7);
    /// ANSI; set with the modes that it implies.
    pub const ANSI: SqlMode = SqlMode(1 << 18);
    /// Zero does not ask for an AUTO_INCREMENT value.
    pub const NO_AUTO_VALUE_ON_ZERO: SqlMode = SqlMode(1 << 19);
    /// Backslash is an ordinary character.
    pub const NO_BACKSLASH_ESCAPES: SqlMode = SqlMode(1 << 20);
    /// Bad values are errors in tables with transactions.
    pub const STRICT_TRANS_TABLES: SqlMode = SqlMode(1 << 21);
    /// Bad values are errors in all tables.
    pub const STRICT_ALL_TABLES: SqlMode = SqlMode(1 << 22);
    /// Dates with a zero month or day are refused.
    pub const NO_ZERO_IN_DATE: SqlMode = SqlMode(1 << 23);
    /// '0000-00-00' is refused.
    pub const NO_ZERO_DATE: SqlMode = SqlMode(1 << 24);
    /// Any day of 1 to 31 is allowed in any month.
    pub const ALLOW_INVALID_DATES: SqlMode = SqlMode(1 << 25);
    /// Division by zero while data change is an error in strict mode.
    pub const ERROR_FOR_DIVISION_BY_ZERO: SqlMode = SqlMode(1 << 26);
    /// The combination of the strict modes.
    pub const TRADITIONAL: SqlMode = SqlMode(1 << 27);
    /// NOT binds tighter than comparisons.
    pub const HIGH_NOT_PRECEDENCE: SqlMode = SqlMode(1 << 29);
    /// An unknown storage engine is an error.
    pub const NO_ENGINE_SUBSTITUTION: SqlMode = SqlMode(1 << 30);
    /// Fractional seconds are cut, not rounded.
    pub const TIME_TRUNCATE_FRACTIONAL: SqlMode = SqlMode(1 << 32);
    /// REAL is FLOAT.
    pub const REAL_AS_FLOAT: SqlMode = SqlMode(1);

    /// Whether all flags of `other` are set.
    pub const fn contains(self, other: SqlMode) -> bool {
        self.0 & other.0 == other.0
    }

    /// This set but for those of the other.
    pub const fn without(self, other: SqlMode) -> SqlMode {
        SqlMode(self.0 & !other.0)
    }

    /// This set and the other.
    pub const fn with(self, other: SqlMode) -> SqlMode {
        SqlMode(self.0 | other.0)
    }

    /// Whether bad values are errors.
    pub const fn is_strict(self) -> bool {
        self.0 & (SqlMode::STRICT_TRANS_TABLES.0 | SqlMode::STRICT_ALL_TABLES.0) != 0
    }

    /// The server's default.
    pub const DEFAULT: SqlMode = SqlMode::ONLY_FULL_GROUP_BY
        .with(SqlMode::STRICT_TRANS_TABLES)
        .with(SqlMode::NO_ZERO_IN_DATE)
        .with(SqlMode::NO_ZERO_DATE)
        .with(SqlMode::ERROR_FOR_DIVISION_BY_ZERO)
        .with(SqlMode::NO_ENGINE_SUBSTITUTION);
}

/// A time in UTC, and in the session's time zone once somebody has asked: most statements ask for no time.
#[derive(Clone, Debug, Default)]
pub struct StatementTime {
    microseconds: i64,
    local: OnceLock<DateTime>,
}

impl StatementTime {
    /// The time so many microseconds after the start of 1970 in UTC.
    #[inline]
    pub fn new(microseconds: i64) -> StatementTime {
        StatementTime { microseconds, local: OnceLock::new() }
    }

    /// Microseconds since 1970 in UTC.
    #[inline]
    pub fn microseconds(&self) -> i64 {
        self.microseconds
    }
}

/// Facts of one statement.
#[derive(Clone, Debug)]
pub struct StatementFacts {
    /// sql_mode.
    pub sql_mode: SqlMode,
    /// The session's time zone.
    pub time_zone: functions::temporal::zone::TimeZone,
    /// When the statement started (or @@timestamp).
    pub started: StatementTime,
    /// character_set_connection and collation_connection.
    pub connection_collation: CollationId,
    /// character_set_results; BINARY for none.
    pub results_collation: CollationId,
    /// max_allowed_packet: longer results are NULL with warning 1301.
    pub max_allowed_packet: u64,
    /// regexp_time_limit and regexp_stack_limit.
    pub regexp_limits: functions::regexp::Limits,
    /// group_concat_max_len.
    pub group_concat_max_len: u64,
    /// div_precision_increment.
    pub division_precision_increment: u8,
    /// default_week_format.
    pub default_week_format: u8,
    /// block_encryption_mode.
    pub encryption_mode: functions::cipher::Mode,
    /// lc_time_names.
    pub time_names: &'static functions::locale::Locale,
    /// CONNECTION_ID().
    pub connection_id: u64,
    /// USER(), as "name@host".
    pub user: std::sync::Arc<str>,
    /// CURRENT_USER().
    pub current_user: std::sync::Arc<str>,
    /// The default schema; None when there is none.
    pub schema: Option<std::sync::Arc<str>>,
    /// It was dropped since the statement was prepared: names mean it still, DATABASE() is NULL.
    pub schema_is_gone: bool,
    /// VERSION().
    pub version: std::sync::Arc<str>,
}

impl StatementFacts {
    /// When the statement started, in the session's time zone.
    pub fn statement_time(&self) -> DateTime {
        *self.started.local.get_or_init(|| self.time_zone.local(self.started.microseconds))
    }
}
