//! DATE_FORMAT, TIME_FORMAT and GET_FORMAT.

use super::arithmetic::{Place, place};
use super::optional;
use crate::{Call, Derivation, FunctionDefinition, acting, of_moments};
use errors::SqlResult;
use expression::result_type::{Coercibility, ResultType};
use functions::temporal::format;
use functions::text::is_ascii_superset;
use values::Value;
use values::temporal::DateTime;

/// The family's functions.
pub static FUNCTIONS: &[FunctionDefinition] = &[
    acting("date_format", 2, 2, |derivation| derive_formatted(derivation, 1), date_format),
    acting("time_format", 2, 2, |derivation| derive_formatted(derivation, 1), time_format),
    of_moments("get_format", 2, 2, |derivation| Ok(derivation.connection_text(17).nullable()), get_format),
];

/// Text whose length is guessed from the format when that is a constant.
pub fn derive_formatted(derivation: &mut Derivation<'_>, format: usize) -> SqlResult<ResultType> {
    let length = match derivation.constant(format) {
        Some(Value::Bytes(format)) => format::formatted_length(format),
        _ => derivation.argument(format).text_length().saturating_mul(10),
    };
    let collation = derivation.connection;
    Ok(ResultType::text(length, collation, Coercibility::Coercible).nullable())
}

fn date_format(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(moment) = call.datetime(0)? else { return Ok(Value::Null) };
    formatted(call, moment, 1)
}

/// A moment in the format that an argument gives.
pub fn formatted(call: &mut Call<'_>, moment: DateTime, index: usize) -> SqlResult<Value> {
    let Some(format) = format_bytes(call, index)? else { return Ok(Value::Null) };
    if format.is_empty() {
        return Ok(Value::Null);
    }
    let locale = call.context().facts().time_names;
    let written = format::format_moment(moment, &format, locale, call.interrupt())?;
    optional(written.map(|text| bytes_result(call, text)))
}

/// A format as its bytes: MySQL hands on those between the conversions as they are, whatever their character set. For
/// results in a set that is not made of ASCII they are UTF-8.
fn format_bytes(call: &mut Call<'_>, index: usize) -> SqlResult<Option<Vec<u8>>> {
    if is_ascii_superset(call.result().collation()) {
        return Ok(call.text(index)?.map(std::borrow::Cow::into_owned));
    }
    Ok(call.utf8(index)?.map(String::into_bytes))
}

/// What a format gave, in the character set of the result.
fn bytes_result(call: &Call<'_>, bytes: Vec<u8>) -> Value {
    if is_ascii_superset(call.result().collation()) {
        return Value::Bytes(bytes);
    }
    call.text_result(&String::from_utf8_lossy(&bytes))
}

fn time_format(call: &mut Call<'_>) -> SqlResult<Value> {
    // The date of a moment stays there for the conversions that ask for one.
    let (time, date) = match place(call, 0)? {
        Some(Place::Moment(moment)) => (moment.time(), Some(moment.date)),
        Some(Place::Span(time)) => (time, None),
        None => return Ok(Value::Null),
    };
    let Some(format) = format_bytes(call, 1)? else { return Ok(Value::Null) };
    if format.is_empty() {
        return Ok(Value::Null);
    }
    let written = format::format_time(time, date, &format, call.interrupt())?;
    optional(written.map(|text| bytes_result(call, text)))
}

fn get_format(call: &mut Call<'_>) -> SqlResult<Value> {
    let (Some(kind), Some(region)) = (call.utf8(0)?, call.utf8(1)?) else { return Ok(Value::Null) };
    Ok(format::named_format(&kind, &region).map_or(Value::Null, |format| call.text_result(format)))
}
