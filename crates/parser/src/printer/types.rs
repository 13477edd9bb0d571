//! The types that CAST and JSON_VALUE name.

use super::names;
use crate::ast::CastTarget;
use charset::charset_by_name;

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

/// The type behind RETURNING: written in another way than that of CAST.
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
