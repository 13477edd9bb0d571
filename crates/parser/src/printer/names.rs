//! The names under which the printer writes operators, functions and cast types.

use crate::ast::*;
use std::fmt::Write as _;

/// With blanks on both sides.
pub(super) fn operator(operator: BinaryOperator) -> &'static str {
    use BinaryOperator::*;
    match operator {
        Add => " + ",
        Subtract => " - ",
        Multiply => " * ",
        Divide => " / ",
        IntegerDivide => " DIV ",
        Modulo => " % ",
        BitOr => " | ",
        BitAnd => " & ",
        BitXor => " ^ ",
        ShiftLeft => " << ",
        ShiftRight => " >> ",
        Equal => " = ",
        NullSafeEqual => " <=> ",
        NotEqual => " <> ",
        Less => " < ",
        LessOrEqual => " <= ",
        Greater => " > ",
        GreaterOrEqual => " >= ",
        LogicalXor => " xor ",
        SoundsLike => " sounds like ",
    }
}

/// Synonyms are written under one name.
pub(super) fn function_name(lower: &str) -> &str {
    match lower {
        "substring" | "mid" => "substr",
        "power" => "pow",
        "octet_length" => "length",
        "character_length" => "char_length",
        "ucase" => "upper",
        "lcase" => "lower",
        "day" => "dayofmonth",
        "ceil" => "ceiling",
        "current_timestamp" | "localtime" | "localtimestamp" => "now",
        "current_date" => "curdate",
        "current_time" => "curtime",
        "schema" => "database",
        "sha" => "sha1",
        other => other,
    }
}

/// Functions that print and behave as predicates.
pub(super) fn gives_truth_value(name: &str) -> bool {
    ["regexp_like", "isnull", "json_valid", "json_contains", "json_contains_path", "json_overlaps"]
        .iter()
        .any(|function| function.eq_ignore_ascii_case(name))
}

/// The type behind AS; text without a character set has the connection's.
pub(super) fn cast_target(text: &mut String, target: &CastTarget, charset: &str) {
    let length = |length: &Option<u64>| length.map(|length| format!("({length})")).unwrap_or_default();
    let written = match target {
        CastTarget::Signed => text.write_str("signed"),
        CastTarget::Unsigned => text.write_str("unsigned"),
        CastTarget::Char { length: characters, charset: own, national } => {
            let own = own.as_deref().unwrap_or(if *national { "utf8mb3" } else { charset });
            write!(text, "char{} charset {own}", length(characters))
        }
        CastTarget::Binary { length: bytes } => write!(text, "char{} charset binary", length(bytes)),
        CastTarget::Date => text.write_str("date"),
        CastTarget::Time { decimals } => write!(text, "time{}", length(decimals)),
        CastTarget::DateTime { decimals } => write!(text, "datetime{}", length(decimals)),
        CastTarget::Decimal { digits: None, .. } => text.write_str("decimal"),
        CastTarget::Decimal { digits: Some(digits), scale } => {
            write!(text, "decimal({digits},{})", scale.unwrap_or(0))
        }
        CastTarget::Float { precision } => {
            text.write_str(if precision.is_some_and(|precision| precision > 24) { "double" } else { "float" })
        }
        CastTarget::Double => text.write_str("double"),
        CastTarget::Real => text.write_str("real"),
        CastTarget::Year => text.write_str("year"),
        CastTarget::Json => text.write_str("json"),
        CastTarget::Geometry(name) => text.write_str(name),
    };
    debug_assert!(written.is_ok());
}
