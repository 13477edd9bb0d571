//! MYSQL_TYPE_* numbers and the protocol's view of a column type: code, flags, display length, decimals.

use crate::capabilities::column as flag;
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

/// Decimals of FLOAT and DOUBLE without a declared number of them.
const DECIMALS_NOT_FIXED: u8 = 31;

/// The type number in column definitions. ENUM and SET are strings there, all BLOB and TEXT kinds are BLOB.
pub fn of_kind(kind: TypeKind) -> u8 {
    match kind {
        TypeKind::Null => code::NULL,
        TypeKind::TinyInt => code::TINY,
        TypeKind::SmallInt => code::SHORT,
        TypeKind::MediumInt => code::INT24,
        TypeKind::Int => code::LONG,
        TypeKind::BigInt => code::LONGLONG,
        TypeKind::Decimal => code::NEWDECIMAL,
        TypeKind::Float => code::FLOAT,
        TypeKind::Double => code::DOUBLE,
        TypeKind::Bit => code::BIT,
        TypeKind::Year => code::YEAR,
        TypeKind::Date => code::DATE,
        TypeKind::Time => code::TIME,
        TypeKind::DateTime => code::DATETIME,
        TypeKind::Timestamp => code::TIMESTAMP,
        TypeKind::Char | TypeKind::Binary | TypeKind::Enum | TypeKind::Set => code::STRING,
        TypeKind::VarChar | TypeKind::VarBinary => code::VAR_STRING,
        TypeKind::TinyText
        | TypeKind::Text
        | TypeKind::MediumText
        | TypeKind::LongText
        | TypeKind::TinyBlob
        | TypeKind::Blob
        | TypeKind::MediumBlob
        | TypeKind::LongBlob => code::BLOB,
    }
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

/// Whether the kind holds text of a character set (ENUM and SET included).
pub fn is_text(column_type: &ColumnType) -> bool {
    let string = matches!(
        column_type.kind,
        TypeKind::Char
            | TypeKind::VarChar
            | TypeKind::TinyText
            | TypeKind::Text
            | TypeKind::MediumText
            | TypeKind::LongText
            | TypeKind::Enum
            | TypeKind::Set
    );
    string && column_type.collation != CollationId::BINARY
}

/// Flags that follow from the type alone.
pub fn flags(column_type: &ColumnType) -> u16 {
    let mut flags = 0;
    if column_type.unsigned {
        flags |= flag::UNSIGNED;
    }
    if column_type.zerofill {
        flags |= flag::ZEROFILL | flag::UNSIGNED;
    }
    flags |= match column_type.kind {
        TypeKind::Bit => flag::UNSIGNED,
        TypeKind::Year => flag::UNSIGNED | flag::ZEROFILL,
        TypeKind::Date | TypeKind::Time | TypeKind::DateTime | TypeKind::Timestamp => flag::BINARY,
        TypeKind::Binary | TypeKind::VarBinary => flag::BINARY,
        TypeKind::TinyText | TypeKind::Text | TypeKind::MediumText | TypeKind::LongText => flag::BLOB,
        TypeKind::TinyBlob | TypeKind::Blob | TypeKind::MediumBlob | TypeKind::LongBlob => {
            flag::BLOB | flag::BINARY
        }
        TypeKind::Enum => flag::ENUM,
        TypeKind::Set => flag::SET,
        _ => 0,
    };
    flags
}

/// The decimals byte of a column definition.
pub fn decimals(column_type: &ColumnType) -> u8 {
    match (column_type.kind, column_type.decimals) {
        (TypeKind::Float | TypeKind::Double, None) => DECIMALS_NOT_FIXED,
        (_, decimals) => decimals.unwrap_or(0),
    }
}

/// Display length in bytes; text counts `character_bytes_max` bytes of the result character set a character.
pub fn display_length(column_type: &ColumnType, character_bytes_max: u32) -> u32 {
    let decimals = u32::from(column_type.decimals.unwrap_or(0));
    let fraction = if decimals > 0 { decimals + 1 } else { 0 };
    let signed = u32::from(!column_type.unsigned);
    let length = |default| column_type.length.unwrap_or(default);
    let text = |characters: u32| characters.saturating_mul(character_bytes_max);
    match column_type.kind {
        TypeKind::Null => 0,
        TypeKind::TinyInt => length(3 + signed),
        TypeKind::SmallInt => length(5 + signed),
        TypeKind::MediumInt => length(8 + signed),
        TypeKind::Int => length(10 + signed),
        TypeKind::BigInt => length(20),
        TypeKind::Decimal => length(10).saturating_add(u32::from(decimals > 0) + signed),
        TypeKind::Float => length(12),
        TypeKind::Double => length(22),
        TypeKind::Bit => length(1),
        TypeKind::Year => 4,
        TypeKind::Date => 10,
        TypeKind::Time => 10 + fraction,
        TypeKind::DateTime | TypeKind::Timestamp => 19 + fraction,
        TypeKind::Char => text(length(1)),
        TypeKind::VarChar => text(length(0)),
        TypeKind::Binary | TypeKind::VarBinary => length(1),
        TypeKind::TinyText => text(0xFF),
        TypeKind::Text => text(0xFFFF),
        TypeKind::MediumText => text(0xFF_FFFF),
        TypeKind::TinyBlob => 0xFF,
        TypeKind::Blob => 0xFFFF,
        TypeKind::MediumBlob => 0xFF_FFFF,
        TypeKind::LongText | TypeKind::LongBlob => u32::MAX,
        TypeKind::Enum => text(members(column_type).max().unwrap_or(0)),
        TypeKind::Set => {
            let commas = (column_type.members.len() as u32).saturating_sub(1);
            text(members(column_type).fold(commas, u32::saturating_add))
        }
    }
}

/// Lengths of the members, taking a byte for a character.
fn members(column_type: &ColumnType) -> impl Iterator<Item = u32> + '_ {
    column_type.members.iter().map(|member| member.len() as u32)
}
