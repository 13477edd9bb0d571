//! A SQL value at run time. Main type: [`Value`].

use crate::decimal::Decimal;
use crate::temporal::{Date, DateTime, Time};

/// A SQL value. Text is bytes in the character set that the type beside it names.
/// TIMESTAMP is held as UTC in rows and as [`Value::DateTime`] in the session's time zone in expressions.
/// ENUM, SET, BIT and YEAR are [`Value::UInt`] in rows; an expression turns ENUM and SET to text by its type.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// SQL NULL.
    Null,
    /// A signed integer.
    Int(i64),
    /// An unsigned integer.
    UInt(u64),
    /// An exact number.
    Decimal(Decimal),
    /// A FLOAT column's value: formatted with 6 significant digits.
    Float(f32),
    /// An approximate number.
    Double(f64),
    /// Text or binary.
    Bytes(Vec<u8>),
    /// A date.
    Date(Date),
    /// A time span of up to 838:59:59.
    Time(Time),
    /// A date with a time.
    DateTime(DateTime),
}
