//! Storing to ENUM and SET, by member or by number.

use super::StoreContext;
use crate::column_type::ColumnType;
use crate::convert;
use crate::decimal::Rounding;
use crate::number;
use crate::value::Value;
use errors::{Diagnostics, SqlResult};

/// Longest text that is read as the number of an ENUM's member.
const ENUM_NUMBER_BYTES_MAX: usize = 5;
/// Longest text that is read as the number of a SET's members.
const SET_NUMBER_BYTES_MAX: usize = 21;

pub(super) fn enumeration(
    value: &Value,
    from: &ColumnType,
    to: &ColumnType,
    context: &mut StoreContext<'_>,
) -> SqlResult<Value> {
    let count = to.members.len() as u64;
    let found = match value {
        Value::Bytes(bytes) => {
            let text = without_trailing_spaces(member_text(bytes, from, to), to);
            // The number of a member, as LOAD DATA may have it; 0 is that of no member.
            let number = || number_text(&text, ENUM_NUMBER_BYTES_MAX).filter(|number| *number <= count);
            member_position(&text, to).map(|position| position as u64 + 1).or_else(number)
        }
        _ => number_of(value, from).filter(|number| (1..=count).contains(number)),
    };
    match found {
        Some(number) => Ok(Value::UInt(number)),
        None => {
            context.data_truncated()?;
            Ok(Value::UInt(0))
        }
    }
}

pub(super) fn set(
    value: &Value,
    from: &ColumnType,
    to: &ColumnType,
    context: &mut StoreContext<'_>,
) -> SqlResult<Value> {
    let all = match to.members.len() {
        0 => 0,
        count => u64::MAX >> (64 - count.min(64)),
    };
    let temporal_text = is_temporal(value).then(|| convert::to_text(value.as_ref(), from)).flatten();
    let text = match value {
        Value::Bytes(bytes) => Some(bytes.as_slice()),
        _ => temporal_text.as_deref(),
    };
    let (bits, mut fits) = match text {
        Some(bytes) => {
            let text = member_text(bytes, from, to);
            match set_bits(&without_trailing_spaces(text.clone(), to), to) {
                // A text without any member may be a number.
                (0, _) if !text.is_empty() => {
                    let number = number_text(&text, SET_NUMBER_BYTES_MAX).filter(|number| number & !all == 0);
                    (number.unwrap_or(0), number.is_some())
                }
                found => found,
            }
        }
        _ => number_of(value, from).map_or((0, false), |number| (number, true)),
    };
    fits &= bits & !all == 0;
    if !fits {
        context.data_truncated()?;
    }
    Ok(Value::UInt(bits & all))
}

/// Dates and times go by their text.
fn is_temporal(value: &Value) -> bool {
    matches!(value, Value::Date(_) | Value::Time(_) | Value::DateTime(_))
}

/// The text in the members' character set.
fn member_text(bytes: &[u8], from: &ColumnType, to: &ColumnType) -> Vec<u8> {
    let target = to.collation.charset();
    match from.kind.is_string() {
        true => from.collation.charset().convert(bytes, target).text,
        false => target.from_str(&String::from_utf8_lossy(bytes)).text,
    }
}

fn without_trailing_spaces(mut text: Vec<u8>, to: &ColumnType) -> Vec<u8> {
    text.truncate(to.collation.charset().length_without_trailing_spaces(&text));
    text
}

fn member_position(text: &[u8], to: &ColumnType) -> Option<usize> {
    let collation = to.collation.get();
    to.members.iter().position(|member| collation.equal(member, text))
}

/// The bits of a comma-separated list of members, and whether all of it was members.
fn set_bits(text: &[u8], to: &ColumnType) -> (u64, bool) {
    if text.is_empty() {
        return (0, true);
    }
    let mut bits = 0;
    let mut known = true;
    for part in split_at_commas(text, to) {
        match member_position(part, to).filter(|&position| position < 64) {
            Some(position) => bits |= 1 << position,
            None => known = false,
        }
    }
    (bits, known)
}

fn split_at_commas<'a>(text: &'a [u8], to: &ColumnType) -> Vec<&'a [u8]> {
    let mut parts = Vec::new();
    let (mut start, mut at) = (0, 0);
    for step in to.collation.charset().characters(text) {
        if step.character == Some(u32::from(b',')) {
            parts.push(&text[start..at]);
            start = at + step.length;
        }
        at += step.length;
    }
    parts.push(&text[start..]);
    parts
}

/// A text of at most so many bytes that is wholly a number.
fn number_text(text: &[u8], bytes_max: usize) -> Option<u64> {
    let parsed = number::parse_integer(text);
    let is_whole = parsed.length == text.len() && parsed.length > 0 && text.len() <= bytes_max;
    let fits = !parsed.overflow && (!parsed.negative || parsed.magnitude == 0);
    (is_whole && fits).then_some(parsed.magnitude)
}

/// A number's integer part; negative numbers as their 64 bits.
fn number_of(value: &Value, from: &ColumnType) -> Option<u64> {
    let whole = match value {
        Value::Decimal(number) => match number.to_i64(Rounding::TowardZero) {
            Ok(number) | Err(number) => i128::from(number),
        },
        // The casts cut to the range of i64.
        Value::Double(number) => i128::from(*number as i64),
        Value::Float(number) => i128::from(*number as i64),
        _ => convert::to_integer(value.as_ref(), from, &mut Diagnostics::new(0))?,
    };
    (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&whole).then_some(whole as u64)
}
