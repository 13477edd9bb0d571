//! The names under which the printer writes operators, functions, character sets and collations.

use crate::ast::*;
use std::borrow::Cow;

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
        "atan2" => "atan",
        "current_timestamp" | "localtime" | "localtimestamp" => "now",
        "current_date" => "curdate",
        "current_time" => "curtime",
        "schema" => "database",
        "session_user" | "system_user" => "user",
        "geometrycollection" => "geomcollection",
        "st_aswkt" => "st_astext",
        "st_asbinary" => "st_aswkb",
        "st_numinteriorring" => "st_numinteriorrings",
        // The only two that MySQL writes in upper case.
        "st_latfromgeohash" => "ST_LATFROMGEOHASH",
        "st_longfromgeohash" => "ST_LONGFROMGEOHASH",
        "string_to_vector" => "to_vector",
        "vector_to_string" => "from_vector",
        "json_merge" => "json_merge_preserve",
        other => other,
    }
}

/// Functions whose one argument is the number of fractional digits: 0 is not written.
pub(super) fn takes_fraction(lower: &str) -> bool {
    matches!(function_name(lower), "now" | "curtime" | "utc_time" | "utc_timestamp" | "sysdate")
}

/// Functions whose result AND and OR take as it is.
pub(super) fn gives_truth_value(name: &str) -> bool {
    TRUTH_FUNCTIONS.iter().any(|function| function.eq_ignore_ascii_case(name))
}

const TRUTH_FUNCTIONS: &[&str] = &[
    "gtid_subset",
    "is_ipv4",
    "is_ipv4_compat",
    "is_ipv4_mapped",
    "is_ipv6",
    "is_uuid",
    "isnull",
    "json_contains",
    "json_contains_path",
    "json_overlaps",
    "json_schema_valid",
    "json_valid",
    "mbrcontains",
    "mbrcoveredby",
    "mbrcovers",
    "mbrdisjoint",
    "mbrequals",
    "mbrintersects",
    "mbroverlaps",
    "mbrtouches",
    "mbrwithin",
    "regexp_like",
    "st_contains",
    "st_crosses",
    "st_disjoint",
    "st_equals",
    "st_intersects",
    "st_isclosed",
    "st_isempty",
    "st_issimple",
    "st_isvalid",
    "st_overlaps",
    "st_touches",
    "st_within",
    "strcmp",
];

/// A character set under its own name, in lower case.
pub(super) fn charset(name: &str) -> Cow<'_, str> {
    match lower(name) {
        lower if lower == "utf8" => Cow::Borrowed("utf8mb3"),
        lower => lower,
    }
}

/// A collation under its own name, in lower case.
pub(super) fn collation(name: &str) -> Cow<'_, str> {
    let lower = lower(name);
    match lower.strip_prefix("utf8_") {
        Some(rest) => Cow::Owned(format!("utf8mb3_{rest}")),
        None => lower,
    }
}

fn lower(name: &str) -> Cow<'_, str> {
    if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Cow::Owned(name.to_ascii_lowercase());
    }
    Cow::Borrowed(name)
}
