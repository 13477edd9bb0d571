//! Warnings for syntax that MySQL 9.7 still takes but will drop. Main type: [`Deprecation`]. The parser notes them in
//! the order of the text; the session puts them before the statement's own conditions.

use errors::{SqlError, code, sql_error};

/// A deprecated form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Deprecation {
    /// One spelling for which there is another: what it is called, and what to write.
    Replaced(&'static str, &'static str),
    /// `@a := b`.
    VariableAssignment,
    /// VALUES() in ON DUPLICATE KEY UPDATE.
    ValuesFunction,
    /// The same where no row is inserted.
    ValuesElsewhere,
    /// SQL_CALC_FOUND_ROWS.
    CalcFoundRows,
    /// FOUND_ROWS().
    FoundRows,
    /// SQL_NO_CACHE.
    NoCache,
    /// NATIONAL, NCHAR, NVARCHAR and N'..'.
    National,
    /// The character set `utf8`.
    Utf8,
    /// An alias that begins with blanks, which are left out.
    BlankAlias(String),
}

/// What names of columns do not begin with.
pub(crate) fn is_blank(character: char) -> bool {
    character <= ' ' || character == '\u{7f}'
}

impl Deprecation {
    /// The warning that MySQL gives.
    pub(crate) fn warning(&self) -> SqlError {
        let replaced = |text: &str| code::ER_WARN_DEPRECATED_SYNTAX.message(text);
        match self {
            Deprecation::Replaced(old, new) => sql_error!(ER_WARN_DEPRECATED_SYNTAX, old, new),
            Deprecation::VariableAssignment => replaced(
                "Setting user variables within expressions is deprecated and will be removed in a future release. \
                 Consider alternatives: 'SET variable=expression, ...', or 'SELECT expression(s) INTO variables(s)'.",
            ),
            Deprecation::ValuesFunction => replaced(
                "'VALUES function' is deprecated and will be removed in a future release. Please use an alias \
                 (INSERT INTO ... VALUES (...) AS alias) and replace VALUES(col) in the ON DUPLICATE KEY UPDATE clause \
                 with alias.col instead",
            ),
            Deprecation::ValuesElsewhere => {
                sql_error!(ER_WARN_DEPRECATED_SYNTAX_NO_REPLACEMENT, "VALUES function")
            }
            Deprecation::CalcFoundRows => replaced(
                "SQL_CALC_FOUND_ROWS is deprecated and will be removed in a future release. Consider using two \
                 separate queries instead.",
            ),
            Deprecation::FoundRows => replaced(
                "FOUND_ROWS() is deprecated and will be removed in a future release. Consider using COUNT(*) instead.",
            ),
            Deprecation::NoCache => {
                sql_error!(ER_WARN_DEPRECATED_SYNTAX_NO_REPLACEMENT, "SQL_NO_CACHE")
            }
            Deprecation::National => sql_error!(ER_DEPRECATED_NATIONAL),
            Deprecation::Utf8 => sql_error!(ER_DEPRECATED_UTF8_ALIAS),
            Deprecation::BlankAlias(name) if name.trim_start_matches(is_blank).is_empty() => {
                sql_error!(ER_NAME_BECOMES_EMPTY, name)
            }
            Deprecation::BlankAlias(name) => sql_error!(ER_REMOVED_SPACES, name),
        }
    }
}
