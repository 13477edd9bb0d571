//! REGEXP_LIKE, REGEXP_INSTR, REGEXP_REPLACE and REGEXP_SUBSTR. Text is matched as UTF-8; positions count characters.
//! The last pattern of a call stays compiled in the call's state.

use super::string::search::common_collation;
use super::{Call, Derivation, FunctionDefinition, pure};
use errors::{SqlResult, sql_error};
use expression::LONG_BYTES;
use expression::operators::check_regexp_sets;
use expression::result_type::ResultType;
use functions::regexp::{self, Bounds, Regex};
use functions::text;
use std::ops::Range;
use std::sync::Arc;
use values::Value;

/// The family's functions.
pub static FUNCTIONS: &[FunctionDefinition] = &[
    pure("regexp_like", 2, 3, derive_like, like),
    pure("regexp_instr", 2, 6, derive_instr, instr),
    pure("regexp_replace", 3, 6, derive_replace, replace),
    pure("regexp_substr", 2, 5, derive_substr, substr),
];

/// What a call keeps between rows.
struct Compiled {
    pattern: String,
    flags: String,
    regex: Arc<Regex>,
    /// What was counted for it.
    bytes: usize,
}

/// Error 3995 for bytes among texts: the arguments of that range with the subject.
fn check_sets(derivation: &Derivation<'_>, mut others: Range<usize>) -> SqlResult<()> {
    others.try_for_each(|index| {
        check_regexp_sets(derivation.argument(0), derivation.argument(index), derivation.name)
    })
}

fn derive_like(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    check_sets(derivation, 1..2)?;
    derivation.comparison_collation(0..2)?;
    Ok(ResultType::boolean().nullable_if(derivation.any_nullable()))
}

fn derive_instr(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    check_sets(derivation, 1..2)?;
    derivation.comparison_collation(0..2)?;
    Ok(ResultType::integer(21).nullable_if(derivation.any_nullable()))
}

fn derive_replace(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    check_sets(derivation, 1..3)?;
    check_regexp_sets(derivation.argument(1), derivation.argument(2), derivation.name)?;
    let common = derivation.collation(0..3)?;
    Ok(ResultType::built_text(u64::MAX, common.collation, common.coercibility).nullable())
}

fn derive_substr(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    check_sets(derivation, 1..2)?;
    let common = derivation.collation(0..2)?;
    let characters = derivation.argument(0).text_length();
    Ok(ResultType::text(characters, common.collation, common.coercibility).nullable())
}

/// The flags argument at that place: Ok(None) for NULL.
fn flags(call: &mut Call<'_>, index: usize) -> SqlResult<Option<String>> {
    if call.count() <= index {
        return Ok(Some(String::new()));
    }
    let Some(flags) = call.utf8(index)? else { return Ok(None) };
    if !flags.chars().all(|flag| "cimnu".contains(flag)) {
        return Err(sql_error!(ER_WRONG_ARGUMENTS, call.name()));
    }
    Ok(Some(flags))
}

/// The compiled pattern, which must be one even where there is nothing to search; None where pattern or flags are NULL.
fn compiled(call: &mut Call<'_>, flags_index: usize) -> SqlResult<Option<Arc<Regex>>> {
    let Some(pattern) = call.utf8(1)? else { return Ok(None) };
    let Some(flags) = flags(call, flags_index)? else { return Ok(None) };
    let kept = call.state().as_ref().and_then(|state| state.downcast_ref::<Compiled>());
    if let Some(kept) = kept.filter(|kept| kept.pattern == pattern && kept.flags == flags) {
        return Ok(Some(kept.regex.clone()));
    }
    // One is kept until the statement ends, or there is another one.
    let before = call.state().take().and_then(|state| state.downcast::<Compiled>().ok());
    call.context().vacate(before.map_or(0, |before| before.bytes));
    let bytes = regexp::compiled_bytes(&pattern);
    let bytes = if bytes >= LONG_BYTES { bytes } else { 0 };
    call.context().occupy(bytes)?;
    let case_sensitive = text::is_case_sensitive(common_collation(call));
    let regex = regexp::compile(&pattern, case_sensitive, &flags, call.interrupt());
    if regex.is_err() {
        call.context().vacate(bytes);
    }
    let regex = Arc::new(regex?);
    *call.state() = Some(Box::new(Compiled { pattern, flags, regex: regex.clone(), bytes }));
    Ok(Some(regex))
}

fn bounds<'c>(call: &'c mut Call<'_>) -> Bounds<'c> {
    let limits = call.context().facts().regexp_limits;
    Bounds { limits, interrupt: call.interrupt() }
}

/// A number argument: the default where it is left out, None for NULL.
fn number(call: &mut Call<'_>, index: usize, default: i64) -> SqlResult<Option<i64>> {
    if call.count() > index { call.integer(index) } else { Ok(Some(default)) }
}

fn like(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(regex) = compiled(call, 2)? else { return Ok(Value::Null) };
    let Some(subject) = call.utf8(0)? else { return Ok(Value::Null) };
    Ok(Value::Int(i64::from(regexp::is_match(&regex, &subject, bounds(call))?)))
}

fn instr(call: &mut Call<'_>) -> SqlResult<Value> {
    let regex = compiled(call, 5)?;
    let Some(subject) = call.utf8(0)? else { return Ok(Value::Null) };
    let (Some(position), Some(occurrence), Some(wants_end)) =
        (number(call, 2, 1)?, number(call, 3, 1)?, number(call, 4, 0)?)
    else {
        return Ok(Value::Null);
    };
    let Some(regex) = regex else { return Ok(Value::Null) };
    if !(0..=1).contains(&wants_end) {
        return Err(sql_error!(ER_WRONG_ARGUMENTS, "regexp_instr: return_option must be 1 or 0."));
    }
    if subject.is_empty() {
        let found = regexp::find(&regex, &subject, 0, occurrence, bounds(call))?;
        return Ok(Value::Int(found.map_or(0, |_| position)));
    }
    if position < 1 {
        return Err(sql_error!(ER_REGEXP_INDEX_OUTOFBOUNDS_ERROR));
    }
    // Nothing before that place is there: the text begins and the first word may begin with it.
    let rest = &subject[regexp::start_byte(call.name(), &subject, position, false)?..];
    let place = regexp::find(&regex, rest, 0, occurrence, bounds(call))?
        .map(|found| if wants_end == 1 { found.end } else { found.start });
    Ok(Value::Int(place.map_or(0, |byte| rest[..byte].chars().count() as i64 + position)))
}

fn substr(call: &mut Call<'_>) -> SqlResult<Value> {
    let regex = compiled(call, 4)?;
    let Some(subject) = call.utf8(0)? else { return Ok(Value::Null) };
    let (Some(position), Some(occurrence)) = (number(call, 2, 1)?, number(call, 3, 1)?) else {
        return Ok(Value::Null);
    };
    let Some(regex) = regex else { return Ok(Value::Null) };
    let start = regexp::start_byte(call.name(), &subject, position, true)?;
    let found = regexp::find(&regex, &subject, start, occurrence, bounds(call))?;
    Ok(found.map_or(Value::Null, |found| call.text_result(&subject[found])))
}

fn replace(call: &mut Call<'_>) -> SqlResult<Value> {
    let regex = compiled(call, 5)?;
    let (subject, replacement) = (call.utf8(0)?, call.utf8(2)?);
    let (Some(subject), Some(replacement)) = (subject, replacement) else { return Ok(Value::Null) };
    let (Some(position), Some(occurrence)) = (number(call, 3, 1)?, number(call, 4, 0)?) else {
        return Ok(Value::Null);
    };
    let Some(regex) = regex else { return Ok(Value::Null) };
    let start = regexp::start_byte(call.name(), &subject, position, true)?;
    let limit = call.context().facts().max_allowed_packet as usize;
    let out = regexp::replace(&regex, &subject, &replacement, start, occurrence, limit, bounds(call))?;
    Ok(call.text_result(&out))
}
