//! Calls and casts as MySQL writes them in errors: synonyms by one name, some functions as the operator or the function that they are
//! made of. Neighbour: `print.rs`.

use crate::operators::{Cast, CastFailure};
use crate::tree::{Expression, ExpressionKind, FunctionCall};
use charset::CollationId;
use functions::text;
use std::fmt::{Formatter, Result};
use values::{ColumnType, TypeKind, Value};

/// Functions that MySQL writes by another name.
const WRITTEN: &[(&str, &str)] = &[
    ("atan2", "atan"),
    ("ceil", "ceiling"),
    ("character_length", "char_length"),
    ("current_date", "curdate"),
    ("current_time", "curtime"),
    ("current_timestamp", "now"),
    ("day", "dayofmonth"),
    ("lcase", "lower"),
    ("localtime", "now"),
    ("localtimestamp", "now"),
    ("mid", "substr"),
    ("octet_length", "length"),
    ("power", "pow"),
    ("schema", "database"),
    ("session_user", "user"),
    ("substring", "substr"),
    ("system_user", "user"),
    ("ucase", "upper"),
    ("weekofyear", "week"),
];

/// A call.
pub(crate) fn write_call(call: &FunctionCall, f: &mut Formatter<'_>) -> Result {
    let arguments = call.arguments.as_slice();
    match (call.definition.name, arguments) {
        (crate::builtin::ONCE_NAME, [inner, ..]) => write!(f, "{inner}"),
        (crate::builtin::MEMBER_OF, [value, array]) => write!(f, "{value} member of ({array})"),
        ("isnull", [operand]) => write!(f, "({operand} is null)"),
        ("datediff", [left, right]) => write!(f, "(to_days({left}) - to_days({right}))"),
        ("instr", [text, wanted]) => write!(f, "locate({wanted},{text})"),
        ("date", [operand]) => write!(f, "cast({operand} as date)"),
        ("time", [operand]) => write!(f, "cast({operand} as time)"),
        ("timestamp", [operand]) => write!(f, "cast({operand} as datetime)"),
        ("oct", [operand]) => write!(f, "conv({operand},10,8)"),
        ("bin", [operand]) => write!(f, "conv({operand},10,2)"),
        ("week" | "yearweek" | "round", [operand]) => write!(f, "{}({operand},0)", call.definition.name),
        ("weekofyear", [operand]) => write!(f, "week({operand},3)"),
        ("extract", [unit, operand]) => write!(f, "extract({} from {operand})", unit_name(unit)),
        ("timestampdiff", [unit, from, to]) => {
            write!(f, "timestampdiff({},{from},{to})", unit_name(unit).to_uppercase())
        }
        ("timestampadd", [unit, amount, operand]) => {
            write!(f, "({operand} + interval {amount} {})", unit_name(unit))
        }
        ("at time zone", [operand, digits]) => {
            write!(f, "cast({operand} AT TIME ZONE '+00:00' as datetime")?;
            match digits.literal() {
                Some(Value::Int(0) | Value::UInt(0)) => f.write_str(")"),
                _ => write!(f, "({digits}))"),
            }
        }
        ("trim_both", [operand]) => write!(f, "trim({operand})"),
        ("trim_both", [operand, removed]) => write!(f, "trim({removed} from {operand})"),
        ("trim_leading", [operand, removed]) => write!(f, "trim(leading {removed} from {operand})"),
        ("trim_trailing", [operand, removed]) => write!(f, "trim(trailing {removed} from {operand})"),
        // The first is the collation's number.
        ("char", [_, codes @ ..]) => write_list("char", codes, f),
        (name, arguments) => {
            let written = WRITTEN.iter().find(|(synonym, _)| *synonym == name).map_or(name, |(_, name)| name);
            write_list(written, arguments, f)
        }
    }
}

fn write_list(name: &str, arguments: &[Expression], f: &mut Formatter<'_>) -> Result {
    write!(f, "{name}(")?;
    for (index, argument) in arguments.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        write!(f, "{comma}{argument}")?;
    }
    f.write_str(")")
}

/// The unit of EXTRACT and its like, which is a literal of its name.
fn unit_name(unit: &Expression) -> String {
    match &unit.kind {
        ExpressionKind::Literal(Value::Bytes(name)) => String::from_utf8_lossy(name).into_owned(),
        _ => unit.to_string(),
    }
}

/// A CAST, CONVERT or BINARY. What a place of an expression made of its operand is not written.
pub(crate) fn write_cast(cast: &Cast, target: &ColumnType, f: &mut Formatter<'_>) -> Result {
    let operand = &cast.operand;
    match cast.failure {
        CastFailure::Replace if target.collation != CollationId::BINARY => {
            write!(f, "convert({operand} using {})", text::character_set_name(target.collation))
        }
        // What the binder put around JSON, or around what stands beside it.
        CastFailure::Refuse if operand.result.kind() == TypeKind::Json || target.kind == TypeKind::Json => {
            write!(f, "{operand}")
        }
        CastFailure::Refuse => {
            write!(f, "convert({operand} using {})", text::character_set_name(target.collation))
        }
        CastFailure::Replace => write!(f, "cast({operand} as char charset binary)"),
        CastFailure::Warn | CastFailure::WarnAndPad => {
            write!(f, "cast({operand} as ")?;
            write_target(cast, target, f)?;
            f.write_str(")")
        }
        _ => write!(f, "{operand}"),
    }
}

fn write_target(cast: &Cast, target: &ColumnType, f: &mut Formatter<'_>) -> Result {
    let digits = target.decimals.unwrap_or(0);
    let fraction = if digits == 0 { String::new() } else { format!("({digits})") };
    match target.kind {
        TypeKind::BigInt if target.unsigned => f.write_str("unsigned"),
        TypeKind::BigInt => f.write_str("signed"),
        TypeKind::Decimal => write!(f, "decimal({},{digits})", target.precision()),
        TypeKind::Double => f.write_str("double"),
        TypeKind::Float => f.write_str("float"),
        TypeKind::Year => f.write_str("year"),
        TypeKind::Date => f.write_str("date"),
        TypeKind::Time => write!(f, "time{fraction}"),
        TypeKind::DateTime => write!(f, "datetime{fraction}"),
        _ => {
            let operand = &cast.operand.result;
            let own_length = match target.collation {
                CollationId::BINARY => operand.byte_length(),
                _ => operand.text_length(),
            };
            let is_given = cast.failure == CastFailure::WarnAndPad || target.length != Some(own_length);
            let length = target.length.filter(|_| is_given && !target.kind.is_large_object());
            let length = length.map_or(String::new(), |length| format!("({length})"));
            write!(f, "char{length} charset {}", text::character_set_name(target.collation))
        }
    }
}
