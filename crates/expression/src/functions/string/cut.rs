//! Functions that take a piece of a text: SUBSTRING, LEFT, RIGHT, TRIM and its kin, SUBSTRING_INDEX.

use super::{
    KILL_LOOK_CHARACTERS, KILL_LOOK_PLACES, constant_integer, length, part_of, result_charset, start_offset,
    text_of,
};
use crate::functions::{Call, Derivation, FunctionDefinition, pure};
use crate::result_type::ResultType;
use charset::Charset;
use errors::SqlResult;
use values::Value;

/// The family's functions.
pub static FUNCTIONS: &[FunctionDefinition] = &[
    pure("substring", 2, 3, derive_substring, substring),
    pure("substr", 2, 3, derive_substring, substring),
    pure("mid", 2, 3, derive_substring, substring),
    pure("left", 2, 2, derive_side, left),
    pure("right", 2, 2, derive_side, right),
    pure("ltrim", 1, 1, derive_first, |call| trim(call, true, false)),
    pure("rtrim", 1, 1, derive_first, |call| trim(call, false, true)),
    pure("trim", 1, 1, derive_first, |call| trim(call, true, true)),
    pure("trim_both", 1, 2, derive_first, |call| trim(call, true, true)),
    pure("trim_leading", 1, 2, derive_first, |call| trim(call, true, false)),
    pure("trim_trailing", 1, 2, derive_first, |call| trim(call, false, true)),
    pure("substring_index", 3, 3, derive_substring_index, substring_index),
];

fn derive_substring(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let common = derivation.collation(0..1)?;
    let mut characters = length(derivation, 0);
    if let Some(position) = constant_integer(derivation, 1) {
        characters = match position {
            0 => 0,
            1.. => characters.saturating_sub(position.unsigned_abs() - 1),
            _ => characters.min(position.unsigned_abs()),
        };
    }
    if let Some(count) = constant_integer(derivation, 2) {
        characters = characters.min(count.max(0).unsigned_abs());
    }
    Ok(part_of(derivation, common, characters))
}

fn substring(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(text) = call.text(0)? else { return Ok(Value::Null) };
    let Some(position) = call.integer(1)? else { return Ok(Value::Null) };
    let count = match call.count() {
        2 => i64::MAX,
        _ => match call.integer(2)? {
            Some(count) => count,
            None => return Ok(Value::Null),
        },
    };
    let charset = result_charset(call);
    if count <= 0 || position == 0 {
        return Ok(Value::Bytes(Vec::new()));
    }
    let start = if position > 0 {
        usize::try_from(position - 1).unwrap_or(usize::MAX)
    } else {
        match start_offset(position, charset.character_count(&text)) {
            Some(start) => start,
            None => return Ok(Value::Bytes(Vec::new())),
        }
    };
    let rest = &text[charset.offset(&text, start)..];
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    Ok(Value::Bytes(charset.prefix(rest, count).to_vec()))
}

fn derive_side(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let common = derivation.collation(0..1)?;
    let mut characters = length(derivation, 0);
    if let Some(count) = constant_integer(derivation, 1) {
        characters = characters.min(count.max(0).unsigned_abs());
    }
    Ok(part_of(derivation, common, characters))
}

fn left(call: &mut Call<'_>) -> SqlResult<Value> {
    let (Some(text), Some(count)) = (call.text(0)?, call.integer(1)?) else { return Ok(Value::Null) };
    let count = usize::try_from(count.max(0)).unwrap_or(usize::MAX);
    Ok(Value::Bytes(result_charset(call).prefix(&text, count).to_vec()))
}

fn right(call: &mut Call<'_>) -> SqlResult<Value> {
    let (Some(text), Some(count)) = (call.text(0)?, call.integer(1)?) else { return Ok(Value::Null) };
    let charset = result_charset(call);
    let count = usize::try_from(count.max(0)).unwrap_or(usize::MAX);
    let start = charset.character_count(&text).saturating_sub(count);
    Ok(Value::Bytes(text[charset.offset(&text, start)..].to_vec()))
}

fn derive_first(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let common = derivation.first_collation(&[1])?;
    Ok(part_of(derivation, common, length(derivation, 0)))
}

fn derive_substring_index(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let common = derivation.first_collation(&[1])?;
    Ok(text_of(derivation, common, length(derivation, 0)))
}

fn trim(call: &mut Call<'_>, leading: bool, trailing: bool) -> SqlResult<Value> {
    let Some(text) = call.text(0)? else { return Ok(Value::Null) };
    let charset = result_charset(call);
    let mut removed = Vec::new();
    if call.count() > 1 {
        let Some(given) = call.text(1)? else { return Ok(Value::Null) };
        removed.extend_from_slice(&given);
    } else {
        charset.push(u32::from(b' '), &mut removed);
    }
    let mut rest: &[u8] = &text;
    let mut places = 0_u64;
    while leading && !removed.is_empty() && rest.starts_with(&removed) {
        rest = &rest[removed.len()..];
        places += 1;
        if places.is_multiple_of(KILL_LOOK_PLACES) {
            call.context().check_killed()?;
        }
    }
    if trailing && !removed.is_empty() {
        rest = &rest[..trimmed_end(call, charset, rest, &removed)?];
    }
    Ok(Value::Bytes(rest.to_vec()))
}

/// Where a text ends without its trailing pieces. From the back they go only where they start at a character's border.
fn trimmed_end(call: &mut Call<'_>, charset: &Charset, text: &[u8], removed: &[u8]) -> SqlResult<usize> {
    let mut end = text.len();
    let mut places = 0_u64;
    while text[..end].ends_with(removed) {
        end -= removed.len();
        places += 1;
        if places.is_multiple_of(KILL_LOOK_PLACES) {
            call.context().check_killed()?;
        }
    }
    // The text is walked through once: what is no border keeps its piece, and all before that.
    let (mut start, mut at, mut characters) = (end, 0, 0_u64);
    while start < text.len() {
        if charset.is_ascii_based() && text[start].is_ascii() {
            start += removed.len();
            continue;
        }
        while at < start {
            at += charset.prefix(&text[at..], 1).len().max(1);
            characters += 1;
            if characters.is_multiple_of(KILL_LOOK_CHARACTERS) {
                call.context().check_killed()?;
            }
        }
        start += removed.len();
        if at != start - removed.len() {
            end = start;
        }
    }
    Ok(end)
}

/// How many delimiters there are, up to `most`, and where the last of them starts.
fn delimiters(call: &mut Call<'_>, text: &[u8], delimiter: &[u8], most: u64) -> SqlResult<(u64, usize)> {
    let charset = result_charset(call);
    let (mut count, mut place, mut at) = (0, 0, 0);
    while count < most
        && let Some(found) = charset.find_bytes(text, delimiter, at)
    {
        (count, place, at) = (count + 1, found, found + delimiter.len());
        if count.is_multiple_of(KILL_LOOK_PLACES) {
            call.context().check_killed()?;
        }
    }
    Ok((count, place))
}

/// Delimiters are found byte by byte, at borders of characters.
fn substring_index(call: &mut Call<'_>) -> SqlResult<Value> {
    let (Some(text), Some(delimiter), Some(count)) = (call.text(0)?, call.text(1)?, call.integer(2)?) else {
        return Ok(Value::Null);
    };
    if text.is_empty() || delimiter.is_empty() || count == 0 {
        return Ok(Value::Bytes(Vec::new()));
    }
    let wanted = count.unsigned_abs();
    let wanted = if count > 0 {
        wanted
    } else {
        delimiters(call, &text, &delimiter, u64::MAX)?.0.saturating_sub(wanted - 1)
    };
    // The place of the last of so many delimiters; 0 of them if there are fewer from the end.
    let (found, place) = delimiters(call, &text, &delimiter, wanted)?;
    if found < wanted.max(1) {
        return Ok(Value::Bytes(text.into_owned()));
    }
    let piece = if count > 0 { &text[..place] } else { &text[place + delimiter.len()..] };
    Ok(Value::Bytes(piece.to_vec()))
}
