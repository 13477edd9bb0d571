//! The stored form of one column value: [`Form`] says how many bytes and what they mean.
//! Fixed-width forms are little-endian; text and binary are their own bytes.

use crate::column_type::{ColumnType, TypeKind};
use crate::decimal::Decimal;
use crate::packed;
use crate::value::Value;

/// How a column's bytes are read. Copied freely; a scan hoists the match out of its loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Always NULL, no bytes.
    Null,
    /// Two's complement integer of that many bytes (1, 2, 3, 4 or 8).
    Int(u8),
    /// Unsigned integer of that many bytes (1, 2, 3, 4 or 8). ENUM is 2, SET and BIT are 8.
    UInt(u8),
    /// YEAR: one byte, 0 or year - 1900.
    Year,
    /// IEEE 754 single.
    Float,
    /// IEEE 754 double.
    Double,
    /// The unscaled number as a two's complement integer of that many bytes (4, 8, 16 or 32).
    Decimal {
        /// Bytes.
        width: u8,
        /// Digits after the point.
        scale: u8,
    },
    /// `year * 512 + month * 32 + day` in 3 bytes.
    Date,
    /// Signed seconds in 3 bytes, or microseconds in 6 when there are fractional digits.
    Time {
        /// Fractional second digits, 0 to 6.
        digits: u8,
    },
    /// See [`packed::date_time`]: 5 bytes, or 8 when there are fractional digits.
    DateTime {
        /// Fractional second digits, 0 to 6.
        digits: u8,
    },
    /// Variable-length bytes. BINARY(n) is padded by `store`, CHAR(n) stripped of trailing spaces.
    Bytes,
    /// A JSON document in its binary form, see [`crate::json`].
    Json,
}

impl Form {
    /// The form that columns of that type are stored in.
    pub fn of(column_type: &ColumnType) -> Form {
        use TypeKind::*;
        match column_type.kind {
            Null => Form::Null,
            TinyInt | SmallInt | MediumInt | Int | BigInt => {
                let bytes = column_type.kind.integer_bytes().unwrap_or(8) as u8;
                if column_type.unsigned { Form::UInt(bytes) } else { Form::Int(bytes) }
            }
            Decimal => {
                let width = match column_type.precision() {
                    0..=9 => 4,
                    10..=18 => 8,
                    19..=38 => 16,
                    _ => 32,
                };
                Form::Decimal { width, scale: column_type.scale() }
            }
            Float => Form::Float,
            Double => Form::Double,
            Bit | Set => Form::UInt(8),
            Enum => Form::UInt(2),
            Year => Form::Year,
            Date => Form::Date,
            Time => Form::Time { digits: column_type.fractional_digits() },
            DateTime | Timestamp => Form::DateTime { digits: column_type.fractional_digits() },
            Char | VarChar | Binary | VarBinary | TinyText | Text | MediumText | LongText | TinyBlob
            | Blob | MediumBlob | LongBlob => Form::Bytes,
            Json => Form::Json,
        }
    }

    /// Bytes of a fixed-width form; None for variable ones.
    pub fn width(self) -> Option<u8> {
        Some(match self {
            Form::Null => 0,
            Form::Int(bytes) | Form::UInt(bytes) => bytes,
            Form::Year => 1,
            Form::Float => 4,
            Form::Double => 8,
            Form::Decimal { width, .. } => width,
            Form::Date => 3,
            Form::Time { digits } => packed::time_width(digits),
            Form::DateTime { digits } => packed::date_time_width(digits),
            Form::Bytes | Form::Json => return None,
        })
    }

    /// The value in those bytes. Bytes of another width than the form's read as zero-extended or cut.
    pub fn value(self, raw: &[u8]) -> Value {
        match self {
            Form::Null => Value::Null,
            Form::Int(_) => Value::Int(packed::signed(raw)),
            Form::UInt(_) => Value::UInt(packed::unsigned(raw)),
            Form::Year => Value::UInt(year(raw)),
            Form::Float => Value::Float(f32::from_bits(packed::unsigned(raw) as u32)),
            Form::Double => Value::Double(f64::from_bits(packed::unsigned(raw))),
            Form::Decimal { scale, .. } => Value::Decimal(Decimal::from_le_bytes(raw, scale)),
            Form::Date => Value::Date(packed::date_from(packed::unsigned(raw) as u32)),
            Form::Time { digits } => Value::Time(packed::time_from(packed::signed(raw), digits)),
            Form::DateTime { digits } => {
                Value::DateTime(packed::date_time_from(packed::unsigned(raw), digits))
            }
            Form::Bytes | Form::Json => Value::Bytes(raw.to_vec()),
        }
    }

    /// The integer in those bytes: integers as they are, YEAR as 0 or 1901 to 2155; other forms give their
    /// packed integer, which orders as the values do (not for FLOAT and DOUBLE).
    pub fn integer(self, raw: &[u8]) -> i64 {
        match self {
            Form::Int(_) | Form::Time { .. } => packed::signed(raw),
            Form::Decimal { width: 4 | 8, .. } => packed::signed(raw),
            Form::Year => year(raw) as i64,
            _ => packed::unsigned(raw) as i64,
        }
    }
}

pub(crate) fn year(raw: &[u8]) -> u64 {
    match packed::unsigned(raw) {
        0 => 0,
        since_1900 => 1900 + since_1900,
    }
}
