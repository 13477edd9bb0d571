//! STR_TO_DATE: reads a text by a format.

use crate::{Call, Derivation, FunctionDefinition, acting};
use errors::{SqlResult, sql_error};
use expression::convert::ZeroDates;
use expression::result_type::{ResultType, TypeClass};
use functions::temporal::parse;
use values::convert::to_text;
use values::temporal::Time;
use values::{TypeKind, Value};

/// The family's functions.
pub static FUNCTIONS: &[FunctionDefinition] = &[acting("str_to_date", 2, 2, derive_str_to_date, str_to_date)];

/// A constant format decides between DATE, TIME and DATETIME; any other gives DATETIME(6).
fn derive_str_to_date(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let format = derivation.constant(1);
    let format = format.and_then(|format| match format {
        Value::Bytes(bytes) => Some(bytes.clone().into()),
        other => to_text(other.as_ref(), &derivation.argument(1).column_type),
    });
    let Some(format) = format else { return Ok(ResultType::datetime(6).nullable()) };
    let parts = parse::parts_of(&format);
    let digits = if parts.fraction { 6 } else { 0 };
    let result = match (parts.date, parts.time) {
        (true, true) => ResultType::datetime(digits),
        (false, true) => ResultType::time(digits),
        _ => ResultType::date(),
    };
    Ok(result.nullable())
}

fn str_to_date(call: &mut Call<'_>) -> SqlResult<Value> {
    let (Some(text), Some(format)) = (call.utf8(0)?, call.utf8(1)?) else { return Ok(Value::Null) };
    let rules = ZeroDates::Stored.rules(true, call.context().facts());
    let kind = call.result().kind();
    let found = parse::read_moment(&text, &format);
    let Some((moment, rest)) =
        found.filter(|(moment, _)| kind == TypeKind::Time || moment.date.is_allowed(rules))
    else {
        call.warn(sql_error!(ER_WRONG_VALUE_FOR_TYPE, "datetime", text, "str_to_date"));
        return Ok(Value::Null);
    };
    if !rest.trim().is_empty() {
        call.warn(sql_error!(ER_TRUNCATED_WRONG_VALUE, type_name(kind), text));
    }
    Ok(match call.result().class() {
        TypeClass::Time => Value::Time(Time { hours: u16::from(moment.hour), ..moment.time() }),
        _ if kind == TypeKind::Date => Value::Date(moment.date),
        _ => Value::DateTime(moment),
    })
}

fn type_name(kind: TypeKind) -> &'static str {
    match kind {
        TypeKind::Date => "date",
        TypeKind::Time => "time",
        _ => "datetime",
    }
}
