//! The types that CAST, JSON_VALUE and columns of JSON_TABLE name.

use super::names;
use crate::ast::{CastTarget, DataType, DataTypeKind};
use charset::{CollationId, charset_by_name, collation_by_name};
use values::print::literal;
use values::{ColumnType, TypeKind};

/// The type behind AS; text without a character set has the connection's.
pub(super) fn cast_target(target: &CastTarget, connection: &str) -> String {
    match target {
        CastTarget::Char { length: characters, charset, national } => {
            let own = charset.as_deref().unwrap_or(if *national { "utf8mb3" } else { connection });
            format!("char{} charset {}", length(*characters), names::charset(own))
        }
        CastTarget::Binary { length: bytes } => format!("char{} charset binary", length(*bytes)),
        CastTarget::Decimal { digits, scale } => {
            let (digits, scale) = decimal_digits(*digits, *scale);
            format!("decimal({digits},{scale})")
        }
        other => plain_type(other),
    }
}

/// The type behind RETURNING, and before ARRAY: written in another way than that of CAST.
pub(super) fn returned(target: &CastTarget) -> String {
    match target {
        CastTarget::Char { length, charset, national } => {
            let own = charset.as_deref().or(national.then_some("utf8mb3"));
            returned_text(*length, own)
        }
        CastTarget::Binary { length } => returned_text(*length, Some("binary")),
        CastTarget::Decimal { digits, scale } => {
            let (digits, scale) = decimal_digits(*digits, *scale);
            format!("decimal({digits}, {scale})")
        }
        other => plain_type(other),
    }
}

/// Text of the default character set, or one of its own; without a length as long as a document may be.
fn returned_text(characters: Option<u64>, own: Option<&str>) -> String {
    let own = own.map(names::charset);
    let name = own.as_deref().unwrap_or("utf8mb4");
    let bytes_each = charset_by_name(name).map_or(1, |charset| charset.max_bytes.max(1));
    let length = characters.unwrap_or(u64::from(u32::MAX) / u64::from(bytes_each));
    match own {
        None => format!("char({length})"),
        Some(own) if own == "binary" => format!("binary({length})"),
        Some(own) => format!("char({length}) character set {own}"),
    }
}

/// The types that are written in one way.
fn plain_type(target: &CastTarget) -> String {
    match target {
        CastTarget::Signed => "signed".to_owned(),
        CastTarget::Unsigned => "unsigned".to_owned(),
        CastTarget::Date => "date".to_owned(),
        CastTarget::Time { decimals } => format!("time{}", fraction(*decimals)),
        CastTarget::DateTime { decimals } => format!("datetime{}", fraction(*decimals)),
        CastTarget::Float { precision } if precision.is_none_or(|precision| precision <= 24) => {
            "float".to_owned()
        }
        CastTarget::Float { .. } | CastTarget::Double | CastTarget::Real => "double".to_owned(),
        CastTarget::Year => "year".to_owned(),
        CastTarget::Json => "json".to_owned(),
        CastTarget::Geometry(name) if name == "geomcollection" => "geometrycollection".to_owned(),
        CastTarget::Geometry(name) => name.clone(),
        CastTarget::Char { .. } | CastTarget::Binary { .. } | CastTarget::Decimal { .. } => String::new(),
    }
}

fn length(length: Option<u64>) -> String {
    length.map(|length| format!("({length})")).unwrap_or_default()
}

/// No digits are not written.
fn fraction(decimals: Option<u64>) -> String {
    length(decimals.filter(|decimals| *decimals > 0))
}

/// DECIMAL and DECIMAL(0) are DECIMAL(10,0).
fn decimal_digits(digits: Option<u64>, scale: Option<u64>) -> (u64, u64) {
    (digits.filter(|digits| *digits > 0).unwrap_or(10), scale.unwrap_or(0))
}

/// The type of a column of JSON_TABLE, as that of a table's column is shown: without ZEROFILL, with its character set. None for one that
/// cannot be made here.
pub(super) fn declared(declared: &DataType, connection: &str) -> Option<String> {
    let kind = match declared.kind {
        DataTypeKind::Stored(kind) => kind,
        DataTypeKind::Json => TypeKind::Json,
        DataTypeKind::Serial => TypeKind::BigInt,
        DataTypeKind::Real => TypeKind::Double,
        _ => return None,
    };
    let named = declared.collation.as_deref().and_then(collation_by_name);
    let own = declared.charset.as_deref().map_or(connection, |own| own);
    let charset = named.map_or_else(|| charset_by_name(own), |named| Some(named.charset()))?;
    let is_binary = charset.name == "binary";
    let collation = named.map_or(charset.default_collation, |named| named.id);
    let has_sign = declared.unsigned || declared.zerofill || declared.kind == DataTypeKind::Serial;
    let (length, decimals) = (declared.length.map(|length| length as u32), declared.decimals);
    let shown = match kind {
        kind if kind.is_integer() => {
            let mut shown = ColumnType::integer(kind, has_sign);
            shown.length = length.filter(|width| kind == TypeKind::TinyInt && *width == 1 && !has_sign);
            shown
        }
        TypeKind::Decimal => {
            let digits = length.filter(|digits| *digits > 0).unwrap_or(10);
            ColumnType { unsigned: has_sign, ..ColumnType::decimal(digits, decimals.unwrap_or(0) as u8) }
        }
        TypeKind::Float if decimals.is_none() && length.is_some_and(|bits| bits > 24) => {
            ColumnType { unsigned: has_sign, ..ColumnType::new(TypeKind::Double) }
        }
        TypeKind::Float | TypeKind::Double => ColumnType {
            unsigned: has_sign,
            length: length.filter(|_| decimals.is_some()),
            decimals: decimals.map(|decimals| decimals as u8),
            ..ColumnType::new(kind)
        },
        TypeKind::Bit => ColumnType::bit(length.unwrap_or(1).max(1)),
        TypeKind::Time | TypeKind::DateTime | TypeKind::Timestamp => {
            ColumnType::temporal(kind, length.unwrap_or(0) as u8)
        }
        TypeKind::Char if is_binary => ColumnType::binary(length.unwrap_or(1)),
        TypeKind::VarChar if is_binary => ColumnType::varbinary(length.unwrap_or(1)),
        TypeKind::Binary => ColumnType::binary(length.unwrap_or(1)),
        TypeKind::VarBinary => ColumnType::varbinary(length.unwrap_or(1)),
        TypeKind::Char => ColumnType::char(length.unwrap_or(1), collation),
        TypeKind::VarChar => ColumnType::varchar(length.unwrap_or(1), collation),
        TypeKind::TinyText if is_binary => ColumnType::new(TypeKind::TinyBlob),
        TypeKind::Text if is_binary => ColumnType::new(TypeKind::Blob),
        TypeKind::MediumText if is_binary => ColumnType::new(TypeKind::MediumBlob),
        TypeKind::LongText if is_binary => ColumnType::new(TypeKind::LongBlob),
        TypeKind::Enum | TypeKind::Set => return members(declared, kind, collation, connection),
        kind if kind.is_text() => ColumnType::text(kind, collation),
        kind => ColumnType::new(kind),
    };
    let text = shown.sql_text();
    Some(if kind.is_text() && !is_binary { with_collation(text, collation) } else { text })
}

fn members(declared: &DataType, kind: TypeKind, collation: CollationId, connection: &str) -> Option<String> {
    let (from, utf8) = (charset_by_name(connection)?, CollationId::UTF8MB4_BIN.charset());
    let mut text = format!("{}(", kind.name());
    for (at, member) in declared.members.iter().enumerate() {
        let member = String::from_utf8(from.convert(member, utf8).text).ok()?;
        text.push_str(if at > 0 { "," } else { "" });
        // Blanks at the end are no part of a member.
        text.push_str(&literal(member.trim_end_matches(' ')));
    }
    text.push(')');
    Some(with_collation(text, collation))
}

fn with_collation(text: String, collation: CollationId) -> String {
    let charset = collation.charset();
    match collation == charset.default_collation {
        true => format!("{text} character set {}", charset.name),
        false => format!("{text} character set {} collate {}", charset.name, collation.get().name),
    }
}
