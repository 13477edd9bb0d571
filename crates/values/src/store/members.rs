//! Storing to ENUM and SET, by member or by number.

use super::StoreContext;
use crate::column_type::ColumnType;
use crate::convert;
use crate::decimal::Rounding;
use crate::number;
use crate::value::Value;
use errors::{Diagnostics, SqlResult};

pub(super) fn enumeration(
    value: &Value,
    from: &ColumnType,
    to: &ColumnType,
    context: &mut StoreContext<'_>,
) -> SqlResult<Value> {
    let count = to.members.len() as u64;
    let found = match value {
        Value::Bytes(bytes) => {
            let text = member_text(bytes, from, to);
            member_position(&text, to).map(|position| position as u64 + 1).or_else(|| number_text(&text))
        }
        _ => number_of(value, from),
    };
    match found.filter(|number| (1..=count).contains(number)) {
        Some(number) => Ok(Value::UInt(number)),
        None => {
            // ENUM's own error value, 0, is kept when it comes from a column of the same type.
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
    let temporal_text = is_temporal(value).then(|| convert::to_text(value, from)).flatten();
    let text = match value {
        Value::Bytes(bytes) => Some(bytes.as_slice()),
        _ => temporal_text.as_deref(),
    };
    let (bits, mut fits) = match text {
        Some(bytes) => {
            let text = member_text(bytes, from, to);
            let (bits, known) = set_bits(&text, to);
            match number_text(&text).filter(|number| !known && number & !all == 0) {
                Some(number) => (number, true),
                None => (bits, known),
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

/// The text in the members' character set, without trailing spaces.
fn member_text(bytes: &[u8], from: &ColumnType, to: &ColumnType) -> Vec<u8> {
    let target = to.collation.charset();
    let mut text = match from.kind.is_string() {
        true => from.collation.charset().convert(bytes, target).text,
        false => target.from_str(&String::from_utf8_lossy(bytes)).text,
    };
    text.truncate(target.length_without_trailing_spaces(&text));
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

/// A text that is wholly a number.
fn number_text(text: &[u8]) -> Option<u64> {
    let parsed = number::parse_integer(text);
    let whole = parsed.length == text.len() && parsed.length > 0 && !parsed.negative && !parsed.overflow;
    whole.then_some(parsed.magnitude)
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
        _ => convert::to_integer(value, from, &mut Diagnostics::new(0))?,
    };
    (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&whole).then_some(whole as u64)
}
