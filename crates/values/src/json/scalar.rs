//! SQL values as JSON: [`scalar`].

use super::Built;
use super::opaque::{code, decimal_bytes, packed_moment, packed_time};
use crate::column_type::{ColumnType, TypeKind};
use crate::text;
use crate::value_ref::ValueRef;
use charset::CollationId;
use errors::SqlResult;
use std::borrow::Cow;

/// An SQL value as JSON; NULL is the literal null. Text becomes utf8mb4, what is binary an opaque value with MySQL's number
/// of its type. `is_boolean` says that the number is the truth of a literal or a comparison, which the type does not tell.
/// The result owns its bytes. A value that JSON cannot hold fails when it is encoded.
pub fn scalar(value: ValueRef<'_>, column_type: &ColumnType, is_boolean: bool) -> SqlResult<Built<'static>> {
    Ok(match value {
        ValueRef::Null => Built::Null,
        ValueRef::Int(number) if is_boolean => Built::Boolean(number != 0),
        ValueRef::UInt(number) if is_boolean => Built::Boolean(number != 0),
        ValueRef::Int(number) => Built::Int(number),
        ValueRef::UInt(number) => unsigned(number, column_type),
        ValueRef::Decimal(number) => {
            let shown = match column_type.decimals {
                Some(decimals) if number.scale() > decimals => number.shown_with(decimals),
                _ => *number,
            };
            opaque(code::DECIMAL, decimal_bytes(&shown))
        }
        ValueRef::Float(number) => Built::Double(f64::from(number)),
        ValueRef::Double(number) => Built::Double(number),
        ValueRef::Bytes(bytes) => of_bytes(bytes, column_type),
        ValueRef::Date(date) => opaque(code::DATE, packed_moment(date.midnight()).to_le_bytes().to_vec()),
        ValueRef::Time(time) => opaque(code::TIME, packed_time(time).to_le_bytes().to_vec()),
        ValueRef::DateTime(moment) => {
            let type_code = match column_type.kind {
                TypeKind::Timestamp => code::TIMESTAMP,
                _ => code::DATETIME,
            };
            opaque(type_code, packed_moment(moment).to_le_bytes().to_vec())
        }
    })
}

fn opaque(type_code: u8, bytes: Vec<u8>) -> Built<'static> {
    Built::Opaque { type_code, bytes: Cow::Owned(bytes) }
}

fn unsigned(number: u64, column_type: &ColumnType) -> Built<'static> {
    match column_type.kind {
        TypeKind::Bit => opaque(code::BIT, text::bit_bytes(number, column_type)),
        TypeKind::Enum => utf8mb4(text::enum_member(number, column_type), column_type),
        TypeKind::Set => {
            let mut members = Vec::new();
            text::append_set_members(number, column_type, &mut members);
            utf8mb4(&members, column_type)
        }
        _ => Built::UInt(number),
    }
}

fn of_bytes(bytes: &[u8], column_type: &ColumnType) -> Built<'static> {
    use TypeKind::*;
    let type_code = match column_type.kind {
        Bit => code::BIT,
        Binary => code::BINARY,
        TinyBlob => code::TINY_BLOB,
        Blob => code::BLOB,
        MediumBlob => code::MEDIUM_BLOB,
        LongBlob => code::LONG_BLOB,
        VarBinary => code::VARBINARY,
        _ if column_type.collation.charset().is_binary() => code::VARBINARY,
        _ => return utf8mb4(bytes, column_type),
    };
    opaque(type_code, bytes.to_vec())
}

/// Text in utf8mb4, with `?` for what is no character.
fn utf8mb4(bytes: &[u8], column_type: &ColumnType) -> Built<'static> {
    let converted = column_type.collation.charset().convert(bytes, CollationId::UTF8MB4_BIN.charset()).text;
    let sound = String::from_utf8(converted)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    Built::String(Cow::Owned(sound.into_bytes()))
}
