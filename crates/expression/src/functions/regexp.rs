//! REGEXP_LIKE, REGEXP_INSTR, REGEXP_REPLACE and REGEXP_SUBSTR. Text is matched as UTF-8; positions count characters.
//! The last pattern of a call stays compiled in the call's state.

use super::string::search::common_collation;
use super::{Call, Derivation, FunctionDefinition, pure};
use crate::operators::{check_regexp_sets, compile_regexp};
use crate::result_type::ResultType;
use crate::text;
use errors::{SqlResult, sql_error};
use fancy_regex::{Captures, Regex};
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
    let case_sensitive = text::is_case_sensitive(common_collation(call));
    let regex = Arc::new(compile_regexp(&pattern, case_sensitive, &flags)?);
    *call.state() = Some(Box::new(Compiled { pattern, flags, regex: regex.clone() }));
    Ok(Some(regex))
}

/// A number argument: the default where it is left out, None for NULL.
fn number(call: &mut Call<'_>, index: usize, default: i64) -> SqlResult<Option<i64>> {
    if call.count() > index { call.integer(index) } else { Ok(Some(default)) }
}

/// The byte where a one-based character position starts. `past_end` tells whether the place behind the last
/// character is one too.
fn start_byte(call: &Call<'_>, subject: &str, position: i64, past_end: bool) -> SqlResult<usize> {
    if position < 1 {
        return Err(sql_error!(ER_WRONG_PARAMETERS_TO_NATIVE_FCT, call.name()));
    }
    let characters = usize::try_from(position - 1).unwrap_or(usize::MAX);
    if characters == 0 {
        return Ok(0);
    }
    match subject.char_indices().nth(characters) {
        Some((start, _)) => Ok(start),
        None if past_end && subject.chars().count() == characters => Ok(subject.len()),
        None => Err(sql_error!(ER_REGEXP_INDEX_OUTOFBOUNDS_ERROR)),
    }
}

/// The match of that number (from 1) from a byte on: its bytes.
fn find(
    call: &mut Call<'_>,
    regex: &Regex,
    subject: &str,
    start: usize,
    occurrence: i64,
) -> SqlResult<Option<(usize, usize)>> {
    let mut at = start;
    let mut count = 0;
    while at <= subject.len() {
        call.context().check_killed()?;
        let found = regex.find_from_pos(subject, at).map_err(|_| sql_error!(ER_REGEXP_TIME_OUT))?;
        let Some(found) = found else { return Ok(None) };
        count += 1;
        if count >= occurrence.max(1) {
            return Ok(Some((found.start(), found.end())));
        }
        at = behind(subject, found.start(), found.end());
    }
    Ok(None)
}

/// Where the next search starts: behind the match, and one character further behind an empty one.
fn behind(subject: &str, start: usize, end: usize) -> usize {
    if end > start {
        return end;
    }
    end + subject[end..].chars().next().map_or(1, char::len_utf8)
}

fn like(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(regex) = compiled(call, 2)? else { return Ok(Value::Null) };
    let Some(subject) = call.utf8(0)? else { return Ok(Value::Null) };
    let found = regex.is_match(&subject).map_err(|_| sql_error!(ER_REGEXP_TIME_OUT))?;
    Ok(Value::Int(i64::from(found)))
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
    let start = start_byte(call, &subject, position, false)?;
    let place = find(call, &regex, &subject, start, occurrence)?
        .map(|(start, end)| if wants_end == 1 { end } else { start });
    Ok(Value::Int(place.map_or(0, |byte| subject[..byte].chars().count() as i64 + 1)))
}

fn substr(call: &mut Call<'_>) -> SqlResult<Value> {
    let regex = compiled(call, 4)?;
    let Some(subject) = call.utf8(0)? else { return Ok(Value::Null) };
    let (Some(position), Some(occurrence)) = (number(call, 2, 1)?, number(call, 3, 1)?) else {
        return Ok(Value::Null);
    };
    let Some(regex) = regex else { return Ok(Value::Null) };
    let start = start_byte(call, &subject, position, true)?;
    let found = find(call, &regex, &subject, start, occurrence)?;
    Ok(found.map_or(Value::Null, |(start, end)| call.text_result(&subject[start..end])))
}

fn replace(call: &mut Call<'_>) -> SqlResult<Value> {
    let regex = compiled(call, 5)?;
    let (subject, replacement) = (call.utf8(0)?, call.utf8(2)?);
    let (Some(subject), Some(replacement)) = (subject, replacement) else { return Ok(Value::Null) };
    let (Some(position), Some(occurrence)) = (number(call, 3, 1)?, number(call, 4, 0)?) else {
        return Ok(Value::Null);
    };
    let Some(regex) = regex else { return Ok(Value::Null) };
    let start = start_byte(call, &subject, position, true)?;
    let limit = call.context().facts().max_allowed_packet as usize;
    let mut out = subject[..start].to_owned();
    let (mut at, mut copied, mut count) = (start, start, 0);
    while at <= subject.len() {
        call.context().check_killed()?;
        let captures = regex.captures_from_pos(&subject, at).map_err(|_| sql_error!(ER_REGEXP_TIME_OUT))?;
        let Some(captures) = captures else { break };
        let Some(whole) = captures.get(0) else { break };
        count += 1;
        if occurrence <= 0 || count == occurrence {
            out.push_str(&subject[copied..whole.start()]);
            append_replacement(&mut out, &replacement, &captures)?;
            copied = whole.end();
            if out.len() > limit {
                return Err(sql_error!(ER_REGEXP_BUFFER_OVERFLOW));
            }
        }
        if occurrence > 0 && count == occurrence {
            break;
        }
        at = behind(&subject, whole.start(), whole.end());
    }
    out.push_str(&subject[copied..]);
    Ok(call.text_result(&out))
}

/// `$1` stands for a group; a backslash takes the next character as it is.
fn append_replacement(out: &mut String, replacement: &str, captures: &Captures<'_>) -> SqlResult<()> {
    let mut characters = replacement.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' => out.extend(characters.next()),
            '$' => {
                let Some(first) =
                    characters.next_if(char::is_ascii_digit).and_then(|digit| digit.to_digit(10))
                else {
                    return Err(sql_error!(ER_REGEXP_INVALID_CAPTURE_GROUP_NAME));
                };
                let mut group = first as usize;
                if group >= captures.len() {
                    return Err(sql_error!(ER_REGEXP_INDEX_OUTOFBOUNDS_ERROR));
                }
                // Further digits belong to the number as long as there is such a group.
                while let Some(digit) = characters.peek().and_then(|next| next.to_digit(10)) {
                    let longer = group * 10 + digit as usize;
                    if longer >= captures.len() {
                        break;
                    }
                    group = longer;
                    characters.next();
                }
                out.push_str(captures.get(group).map_or("", |found| found.as_str()));
            }
            other => out.push(other),
        }
    }
    Ok(())
}
