//! A SQL value that lies somewhere else: in a batch of rows, a page, a parameter, a literal. Main type: [`ValueRef`].

use crate::decimal::Decimal;
use crate::temporal::{Date, DateTime, Time};
use crate::value::Value;

/// A value that is looked at where it lies. Copied freely; [`ValueRef::to_value`] makes a value of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ValueRef<'a> {
    /// SQL NULL.
    Null,
    /// A signed integer.
    Int(i64),
    /// An unsigned integer.
    UInt(u64),
    /// An exact number.
    Decimal(&'a Decimal),
    /// A FLOAT column's value.
    Float(f32),
    /// An approximate number.
    Double(f64),
    /// Text or binary.
    Bytes(&'a [u8]),
    /// A date.
    Date(Date),
    /// A time span.
    Time(Time),
    /// A date with a time.
    DateTime(DateTime),
}

impl ValueRef<'_> {
    /// Whether it is NULL.
    #[inline]
    pub fn is_null(&self) -> bool {
        matches!(self, ValueRef::Null)
    }

    /// A value of its own.
    #[inline]
    pub fn to_value(self) -> Value {
        match self {
            ValueRef::Null => Value::Null,
            ValueRef::Int(number) => Value::Int(number),
            ValueRef::UInt(number) => Value::UInt(number),
            ValueRef::Decimal(number) => Value::Decimal(*number),
            ValueRef::Float(number) => Value::Float(number),
            ValueRef::Double(number) => Value::Double(number),
            ValueRef::Bytes(bytes) => Value::Bytes(bytes.to_vec()),
            ValueRef::Date(date) => Value::Date(date),
            ValueRef::Time(time) => Value::Time(time),
            ValueRef::DateTime(moment) => Value::DateTime(moment),
        }
    }

    /// Puts a copy in the place of another value, whose memory is used again.
    pub fn copy_into(self, target: &mut Value) {
        match (self, target) {
            (ValueRef::Bytes(bytes), Value::Bytes(target)) => {
                target.clear();
                target.extend_from_slice(bytes);
            }
            (value, target) => *target = value.to_value(),
        }
    }

    /// The number, if it is an integer.
    #[inline]
    pub fn integer(self) -> Option<i128> {
        match self {
            ValueRef::Int(number) => Some(i128::from(number)),
            ValueRef::UInt(number) => Some(i128::from(number)),
            _ => None,
        }
    }

    /// The bytes that it has beside itself.
    #[inline]
    pub fn long_bytes(&self) -> usize {
        match self {
            ValueRef::Bytes(bytes) => bytes.len(),
            _ => 0,
        }
    }
}

impl Value {
    /// The value where it lies.
    #[inline]
    pub fn as_ref(&self) -> ValueRef<'_> {
        match self {
            Value::Null => ValueRef::Null,
            Value::Int(number) => ValueRef::Int(*number),
            Value::UInt(number) => ValueRef::UInt(*number),
            Value::Decimal(number) => ValueRef::Decimal(number),
            Value::Float(number) => ValueRef::Float(*number),
            Value::Double(number) => ValueRef::Double(*number),
            Value::Bytes(bytes) => ValueRef::Bytes(bytes),
            Value::Date(date) => ValueRef::Date(*date),
            Value::Time(time) => ValueRef::Time(*time),
            Value::DateTime(moment) => ValueRef::DateTime(*moment),
        }
    }

    /// Whether it is NULL.
    #[inline]
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }
}
