//! MYSQL_TYPE_* numbers, and the kinds of type that clients mean by them.

use charset::CollationId;
use values::{ColumnType, TypeKind};

/// Type numbers of the protocol.
#[allow(missing_docs)]
pub mod code {
    pub const DECIMAL: u8 = 0;
    pub const TINY: u8 = 1;
    pub const SHORT: u8 = 2;
    pub const LONG: u8 = 3;
    pub const FLOAT: u8 = 4;
    pub const DOUBLE: u8 = 5;
    pub const NULL: u8 = 6;
    pub const TIMESTAMP: u8 = 7;
    pub const LONGLONG: u8 = 8;
    pub const INT24: u8 = 9;
    pub const DATE: u8 = 10;
    pub const TIME: u8 = 11;
    pub const DATETIME: u8 = 12;
    pub const YEAR: u8 = 13;
    pub const VARCHAR: u8 = 15;
    pub const BIT: u8 = 16;
    pub const VECTOR: u8 = 242;
    pub const BOOL: u8 = 244;
    pub const JSON: u8 = 245;
    pub const NEWDECIMAL: u8 = 246;
    pub const ENUM: u8 = 247;
    pub const SET: u8 = 248;
    pub const TINY_BLOB: u8 = 249;
    pub const MEDIUM_BLOB: u8 = 250;
    pub const LONG_BLOB: u8 = 251;
    pub const BLOB: u8 = 252;
    pub const VAR_STRING: u8 = 253;
    pub const STRING: u8 = 254;
    pub const GEOMETRY: u8 = 255;
}

/// The kind that a client means by a type number in COM_STMT_EXECUTE; None for numbers that no client may send.
pub fn kind_of(number: u8) -> Option<TypeKind> {
    Some(match number {
        code::NULL => TypeKind::Null,
        code::TINY | code::BOOL => TypeKind::TinyInt,
        code::SHORT => TypeKind::SmallInt,
        code::INT24 => TypeKind::MediumInt,
        code::LONG => TypeKind::Int,
        code::LONGLONG => TypeKind::BigInt,
        code::DECIMAL | code::NEWDECIMAL => TypeKind::Decimal,
        code::FLOAT => TypeKind::Float,
        code::DOUBLE => TypeKind::Double,
        code::BIT => TypeKind::Bit,
        code::YEAR => TypeKind::Year,
        code::DATE => TypeKind::Date,
        code::TIME => TypeKind::Time,
        code::DATETIME => TypeKind::DateTime,
        code::TIMESTAMP => TypeKind::Timestamp,
        code::STRING | code::ENUM | code::SET => TypeKind::Char,
        code::VARCHAR | code::VAR_STRING | code::JSON => TypeKind::VarChar,
        code::TINY_BLOB
        | code::MEDIUM_BLOB
        | code::LONG_BLOB
        | code::BLOB
        | code::GEOMETRY
        | code::VECTOR => TypeKind::Blob,
        _ => return None,
    })
}

/// Whether the type holds text of a character set (ENUM and SET included).
pub fn is_text(column_type: &ColumnType) -> bool {
    let string = column_type.kind.is_text() || column_type.kind.has_members();
    string && column_type.collation != CollationId::BINARY
}
