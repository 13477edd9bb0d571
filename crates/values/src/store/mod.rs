//! Putting a value into a column: conversion to its type with MySQL's errors, warnings and notes.
//! Main function: [`store`]. Rules that differ by sql_mode are in [`StoreMode`].
//! NULL passes through: whether a column takes NULL is the caller's business (1048).

mod json;
mod members;
mod numeric;
mod plain;
mod source;
mod string;
mod temporal;
#[cfg(test)]
mod tests;

pub use plain::{UnchangedText, store_plainly, store_text_plainly};
pub use source::Source;

use crate::column_type::{ColumnType, TypeKind};
use crate::json::{Unwatched, Watch};
use crate::temporal::{Date, DateRules, TimeZone};
use crate::value::Value;
use errors::{Diagnostics, SqlError, SqlResult, sql_error};

/// What a session's settings say about storing.
#[derive(Clone, Copy, Debug, Default)]
pub struct StoreMode {
    /// A value that does not fit is an error (STRICT_TRANS_TABLES without IGNORE); otherwise the nearest
    /// value is stored with a warning.
    pub strict: bool,
    /// Which dates are accepted.
    pub dates: DateRules,
    /// Cut fractional seconds instead of rounding them (TIME_TRUNCATE_FRACTIONAL).
    pub truncate_fraction: bool,
    /// The session's time zone: TIMESTAMP columns hold UTC.
    pub time_zone: TimeZone,
    /// The statement's date on the session's clock: a TIME stored as DATETIME falls on it.
    pub today: Date,
}

/// Where a value goes to, for messages, and where messages go to.
pub struct StoreContext<'a> {
    /// The session's settings.
    pub mode: StoreMode,
    /// Table name.
    pub table: &'a str,
    /// Column name.
    pub column: &'a str,
    /// Row of the statement, from 1.
    pub row: u64,
    /// Where the value comes from.
    pub source: Source,
    /// Where warnings and notes go.
    pub diagnostics: &'a mut Diagnostics,
    /// What documents may take.
    pub documents: Documents<'a>,
}

/// What a document that is made of a stored text may take.
#[derive(Clone, Copy)]
pub struct Documents<'a> {
    /// Its longest length, in bytes.
    pub bytes_max: u64,
    /// Who is asked while it is made.
    pub watch: &'a dyn Watch,
}

impl Documents<'_> {
    /// Any, for what is short.
    pub const ANY: Documents<'static> = Documents { bytes_max: u64::MAX, watch: &Unwatched };
}

impl StoreContext<'_> {
    /// An error in strict mode, a warning otherwise.
    fn reject(&mut self, error: SqlError) -> SqlResult<()> {
        if self.mode.strict {
            return Err(error);
        }
        self.diagnostics.warning(error);
        Ok(())
    }

    fn out_of_range(&mut self) -> SqlResult<()> {
        self.reject(sql_error!(ER_WARN_DATA_OUT_OF_RANGE, self.column, self.row))
    }

    fn data_truncated(&mut self) -> SqlResult<()> {
        self.reject(sql_error!(WARN_DATA_TRUNCATED, self.column, self.row))
    }

    fn note_truncated(&mut self) {
        self.diagnostics.note(sql_error!(WARN_DATA_TRUNCATED, self.column, self.row));
    }

    fn too_long(&mut self) -> SqlResult<()> {
        match self.mode.strict {
            true => Err(sql_error!(ER_DATA_TOO_LONG, self.column, self.row)),
            false => self.data_truncated(),
        }
    }

    /// Error 1366; as in MySQL, the message quotes the value up to its first zero byte.
    fn incorrect(&mut self, kind: &str, text: &str) -> SqlResult<()> {
        let text = text.split('\0').next().unwrap_or_default();
        self.reject(sql_error!(ER_TRUNCATED_WRONG_VALUE_FOR_FIELD, kind, text, self.column, self.row))
    }
}

/// The value as the column holds it in rows. `from` is the value's own type (its collation says how to read
/// text; ENUM and SET values may come as numbers of their members).
pub fn store(
    value: &Value,
    from: &ColumnType,
    to: &ColumnType,
    context: &mut StoreContext<'_>,
) -> SqlResult<Value> {
    use TypeKind::*;
    if matches!(value, Value::Null) {
        return Ok(Value::Null);
    }
    let is_copied = context.source != Source::Expression;
    if is_copied && from.kind == Enum && to.kind == Enum && *value == Value::UInt(0) {
        // ENUM's own error value stays what it is.
        return Ok(Value::UInt(0));
    }
    let is_same_moment =
        matches!(to.kind, Date | DateTime) && from.kind == to.kind && from.decimals == to.decimals;
    if is_copied && is_same_moment && !context.mode.dates.no_zero_date && !context.mode.dates.no_zero_in_date
    {
        // Also a day that does not exist is copied as it is stored; the modes make MySQL look at it.
        return Ok(value.clone());
    }
    if let Some((value, from)) = source::carried(value, from, to, context)? {
        return store_plain(&value, &from, to, context);
    }
    store_plain(value, from, to, context)
}

fn store_plain(
    value: &Value,
    from: &ColumnType,
    to: &ColumnType,
    context: &mut StoreContext<'_>,
) -> SqlResult<Value> {
    use TypeKind::*;
    match to.kind {
        Null => Ok(Value::Null),
        TinyInt | SmallInt | MediumInt | Int | BigInt => numeric::integer(value, from, to, context),
        Decimal => numeric::decimal(value, from, to, context),
        Float | Double => numeric::float(value, from, to, context),
        Bit => numeric::bit(value, from, to, context),
        Year => numeric::year(value, from, context),
        Date => temporal::date(value, from, context),
        Time => temporal::time(value, from, to, context),
        DateTime | Timestamp => temporal::date_time(value, from, to, context),
        Char | VarChar | TinyText | Text | MediumText | LongText => string::text(value, from, to, context),
        Binary | VarBinary | TinyBlob | Blob | MediumBlob | LongBlob => {
            string::binary(value, from, to, context)
        }
        Enum => members::enumeration(value, from, to, context),
        Set => members::set(value, from, to, context),
        Json => json::document(value, from, context),
    }
}
