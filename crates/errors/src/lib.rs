//! MySQL's error catalogue and the diagnostics of a statement.
//! The catalogue is generated from `data/errors.tsv` by `cargo xtask generate`.
//! A client mistake is a [`SqlError`]; environment faults have types of their own in the storage layers.

#![forbid(unsafe_code)]

mod condition_memory;
mod diagnostics;
mod format;
pub mod handler;
#[rustfmt::skip]
#[path = "generated/catalogue.rs"]
pub mod code;

pub use condition_memory::ConditionMemory;
pub use diagnostics::{Condition, Diagnostics, DiagnosticsMark, Level, Reported, TakenConditions};

/// One entry of the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorCode {
    /// The number that a client sees.
    pub number: u16,
    /// SQLSTATE, five characters.
    pub state: &'static str,
    /// The symbol, e.g. `ER_DUP_ENTRY`.
    pub name: &'static str,
    /// The message with printf conversions.
    pub format: &'static str,
}

impl ErrorCode {
    /// The error with its message's conversions filled in order.
    pub fn with(&self, arguments: &[&dyn std::fmt::Display]) -> SqlError {
        // MySQL reports this text under the number of ER_DUP_ENTRY.
        let is_duplicate = self.number == code::ER_DUP_ENTRY_WITH_KEY_NAME.number;
        let number = if is_duplicate { code::ER_DUP_ENTRY.number } else { self.number };
        SqlError::new(number, self.state, format::fill(self.format, arguments))
    }

    /// The error with a message of its own instead of the catalogue's.
    pub fn message(&self, message: impl Into<String>) -> SqlError {
        SqlError::new(self.number, self.state, message.into())
    }
}

/// The entry of that number, if the catalogue has it.
pub fn find(number: u16) -> Option<&'static ErrorCode> {
    code::ALL.binary_search_by_key(&number, |code| code.number).ok().map(|at| code::ALL[at])
}

/// An error as a client receives it. One pointer wide, so that results stay small.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlError(Box<ErrorParts>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct ErrorParts {
    number: u16,
    state: String,
    message: String,
}

/// The result of anything that can fail with a client-visible error.
pub type SqlResult<T> = Result<T, SqlError>;

impl SqlError {
    /// An error from its parts. Prefer [`ErrorCode::with`].
    pub fn new(number: u16, state: &str, message: String) -> SqlError {
        SqlError(Box::new(ErrorParts { number, state: state.to_owned(), message }))
    }

    /// The error number.
    pub fn number(&self) -> u16 {
        self.0.number
    }

    /// SQLSTATE.
    pub fn state(&self) -> &str {
        &self.0.state
    }

    /// The message.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Whether this is an instance of that catalogue entry.
    pub fn is(&self, code: &ErrorCode) -> bool {
        self.0.number == code.number
    }
}

impl std::fmt::Display for SqlError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ERROR {} ({}): {}", self.0.number, self.0.state, self.0.message)
    }
}

impl std::error::Error for SqlError {}

/// Builds a [`SqlError`] from a catalogue entry and its arguments:
/// `sql_error!(ER_DUP_ENTRY_WITH_KEY_NAME, value, key)`.
#[macro_export]
macro_rules! sql_error {
    ($code:ident $(, $argument:expr)* $(,)?) => {
        $crate::code::$code.with(&[$(&$argument as &dyn ::std::fmt::Display),*])
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn catalogue_is_sorted_and_found_by_number() {
        assert!(code::ALL.windows(2).all(|pair| pair[0].number < pair[1].number));
        assert_eq!(find(1205).map(|code| code.name), Some("ER_LOCK_WAIT_TIMEOUT"));
        assert!(find(999).is_none());
    }

    #[test]
    fn message_is_filled() {
        let error = sql_error!(ER_BAD_DB_ERROR, "shop");
        assert_eq!(
            (error.number(), error.state(), error.message()),
            (1049, "42000", "Unknown database 'shop'")
        );
    }
}
