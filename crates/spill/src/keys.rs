//! Values as hash keys (equal bytes for equal values) and rows in sort order.

use charset::CollationId;
use errors::SqlResult;
use expression::operators::{
    ComparisonMode, compare_values, compared_decimal, compared_moment, compared_time,
};
use expression::{DocumentWatch, EvaluationContext, convert};
use std::cmp::Ordering;
use values::json::{self, Node, Steps};
use values::temporal::{DateTime, Time};
use values::{ColumnType, Decimal, TypeKind, Value, ValueRef};

/// Appends bytes that are equal for values that compare as equal in that mode. False for NULL (marked by a byte of its own).
pub fn append_key(
    mode: ComparisonMode,
    value: ValueRef<'_>,
    column_type: &ColumnType,
    context: &mut dyn EvaluationContext,
    out: &mut Vec<u8>,
) -> SqlResult<bool> {
    if value.is_null() {
        out.push(0);
        return Ok(false);
    }
    out.push(1);
    match mode {
        ComparisonMode::Integer => {
            let number = match value {
                ValueRef::Int(number) => i128::from(number),
                ValueRef::UInt(number) => i128::from(number),
                _ => convert::to_integer(value, column_type, context)?.unwrap_or(0),
            };
            out.extend_from_slice(&number.to_le_bytes());
        }
        ComparisonMode::Exact => {
            let (whole, above) = convert::to_floor(value, column_type, context)?.unwrap_or_default();
            out.extend_from_slice(&whole.to_le_bytes());
            out.push(u8::from(above));
        }
        ComparisonMode::Decimal => {
            let exact = compared_decimal(value, column_type, context)?.unwrap_or(Decimal::ZERO).normalized();
            match exact.unscaled_i128() {
                Some(unscaled) => {
                    out.push(exact.scale());
                    out.extend_from_slice(&unscaled.to_le_bytes());
                }
                // No number has so many digits behind the point.
                None => {
                    out.push(u8::MAX);
                    exact.append_text(out);
                    out.push(0);
                }
            }
        }
        ComparisonMode::Double => {
            let number = convert::to_double(value, column_type, context)?.unwrap_or(0.0);
            let number = if number == 0.0 { 0.0 } else { number };
            out.extend_from_slice(&number.to_bits().to_le_bytes());
        }
        ComparisonMode::Text(collation) => match value {
            ValueRef::Bytes(bytes) => collation.get().sort_key(bytes, out),
            _ => {
                let bytes = convert::to_text(value, column_type, context).unwrap_or_default();
                collation.get().sort_key(&bytes, out);
            }
        },
        ComparisonMode::Json => append_document_key(value, context, out)?,
        ComparisonMode::DateTime => match compared_moment(value, column_type, column_type, context)? {
            Some(moment) => out.extend_from_slice(&values::packed::date_time(moment, 6).to_le_bytes()),
            None => mark_as_different(out),
        },
        ComparisonMode::Date => {
            let date = ColumnType::new(TypeKind::Date);
            let moment = compared_moment(value, column_type, &date, context)?.unwrap_or(DateTime::ZERO);
            out.extend_from_slice(&values::packed::date_time(moment.date.midnight(), 0).to_le_bytes());
        }
        ComparisonMode::Time => match compared_time(value, column_type, context)? {
            Some(span) => out.extend_from_slice(&span.to_microseconds().to_le_bytes()),
            None => mark_as_different(out),
        },
    }
    Ok(true)
}

fn append_document_key(
    value: ValueRef<'_>,
    context: &mut dyn EvaluationContext,
    out: &mut Vec<u8>,
) -> SqlResult<()> {
    let watch = DocumentWatch::new(context);
    json::group_key(document_of(value), out, &mut Steps::new(&watch))
}

fn document_of(value: ValueRef<'_>) -> Node<'_> {
    match value {
        ValueRef::Bytes(document) => Node::of(document),
        _ => Node::Null,
    }
}

/// Turns the mark of a value to that of one that is no date or time: it equals no value of such a column, and is not
/// NULL.
fn mark_as_different(out: &mut [u8]) {
    if let Some(mark) = out.last_mut() {
        *mark = 2;
    }
}

/// Appends bytes whose order is the order of values in that mode, NULL first (last if descending). No key is the start
/// of another.
pub fn append_sort_key(
    mode: ComparisonMode,
    value: ValueRef<'_>,
    column_type: &ColumnType,
    descending: bool,
    context: &mut dyn EvaluationContext,
    out: &mut Vec<u8>,
) -> SqlResult<()> {
    let start = out.len();
    if value.is_null() {
        out.push(NULL_MARK);
    } else if mode == ComparisonMode::Integer {
        let number = match value {
            ValueRef::UInt(number) => i128::from(number),
            ValueRef::Int(number) => i128::from(number),
            _ => convert::to_integer(value, column_type, context)?.unwrap_or(0),
        };
        append_ordered_integer(number, out);
    } else {
        out.push(VALUE_MARK);
        append_ordered(mode, value, column_type, context, out)?;
    }
    if descending {
        out[start..].iter_mut().for_each(|byte| *byte = !*byte);
    }
    Ok(())
}

/// The same of values that are equal only where the bytes are: JSON arrays and objects, which all stand in one place of an
/// order, are told apart behind it.
pub fn append_place(
    mode: ComparisonMode,
    value: ValueRef<'_>,
    column_type: &ColumnType,
    context: &mut dyn EvaluationContext,
    out: &mut Vec<u8>,
) -> SqlResult<()> {
    append_sort_key(mode, value, column_type, false, context, out)?;
    if mode == ComparisonMode::Json {
        append_key(mode, value, column_type, context, out)?;
    }
    Ok(())
}

/// The first byte of NULL; every other value's is greater.
const NULL_MARK: u8 = 0;
const VALUE_MARK: u8 = 1;

/// A value that is neither NULL nor compared as an integer.
fn append_ordered(
    mode: ComparisonMode,
    value: ValueRef<'_>,
    column_type: &ColumnType,
    context: &mut dyn EvaluationContext,
    out: &mut Vec<u8>,
) -> SqlResult<()> {
    match (mode, value) {
        (ComparisonMode::Text(collation), ValueRef::Bytes(bytes)) => collation.get().sort_key(bytes, out),
        (ComparisonMode::Text(collation), _) => {
            let bytes = convert::to_text(value, column_type, context).unwrap_or_default();
            collation.get().sort_key(&bytes, out);
        }
        (ComparisonMode::Json, _) => {
            let mut key = Vec::new();
            json::sort_key(document_of(value), &mut key);
            // With an end of its own.
            CollationId::BINARY.get().sort_key(&key, out);
        }
        (ComparisonMode::Decimal, _) => {
            let number = convert::to_decimal(value, column_type, context)?.unwrap_or(Decimal::ZERO);
            append_ordered_decimal(&number, out);
        }
        (ComparisonMode::DateTime | ComparisonMode::Date, _) => {
            let moment = convert::to_datetime(value, column_type, context)?.unwrap_or(DateTime::ZERO);
            out.extend_from_slice(&values::packed::date_time(moment, 6).to_be_bytes());
        }
        (ComparisonMode::Time, _) => {
            let span = convert::to_time(value, column_type, context)?.map_or(0, Time::to_microseconds);
            out.extend_from_slice(&(span.cast_unsigned() ^ 1 << 63).to_be_bytes());
        }
        (ComparisonMode::Integer | ComparisonMode::Exact | ComparisonMode::Double, _) => {
            let number = convert::to_double(value, column_type, context)?.unwrap_or(0.0);
            out.extend_from_slice(&ordered_double(number));
        }
    }
    Ok(())
}

/// The number of bytes that count, above or below the middle, and these bytes: small numbers are short, and all of an
/// integer is in the first bytes of the key.
fn append_ordered_integer(number: i128, out: &mut Vec<u8>) {
    let bytes = (number ^ number >> 127).to_be_bytes();
    let blank = bytes.iter().take_while(|byte| **byte == 0).count();
    let length = (bytes.len() - blank) as u8;
    out.push(if number < 0 { 0x7f - length } else { 0x80 + length });
    out.extend_from_slice(&number.to_be_bytes()[blank..]);
}

/// Sign, place of the first digit, pairs of digits, end mark; all but the sign complemented below zero.
fn append_ordered_decimal(number: &Decimal, out: &mut Vec<u8>) {
    const END: u8 = 0;
    if number.is_zero() {
        out.push(1);
        return;
    }
    out.push(if number.is_negative() { 0 } else { 2 });
    let start = out.len();
    let digits = number.absolute().normalized();
    let fraction = usize::from(digits.scale());
    // At most 65 digits and a point.
    let mut text = Vec::with_capacity(72);
    digits.append_text(&mut text);
    text.retain(u8::is_ascii_digit);
    let blank = text.iter().take_while(|digit| **digit == b'0').count();
    let whole = text.len() as i32 - fraction as i32 - blank as i32;
    let end = text.len() - text.iter().rev().take_while(|digit| **digit == b'0').count();
    out.push((whole + 128) as u8);
    for pair in text[blank..end].chunks(2) {
        let low = pair.get(1).map_or(0, |digit| digit - b'0');
        out.push((pair[0] - b'0') * 10 + low + 1);
    }
    out.push(END);
    if number.is_negative() {
        out[start..].iter_mut().for_each(|byte| *byte = !*byte);
    }
}

fn ordered_double(number: f64) -> [u8; 8] {
    // Minus zero is equal to zero.
    let bits = if number == 0.0 { 0 } else { number.to_bits() };
    (if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }).to_be_bytes()
}

/// The order of two rows of sort keys: NULL first, descending keys reversed.
pub fn compare_rows(
    left: &[Value],
    right: &[Value],
    keys: &[(ComparisonMode, ColumnType, bool)],
    context: &mut dyn EvaluationContext,
) -> Ordering {
    for (index, (mode, column_type, descending)) in keys.iter().enumerate() {
        let (left, right) = (&left[index], &right[index]);
        let order = match (left, right) {
            (Value::Null, Value::Null) => Ordering::Equal,
            (Value::Null, _) => Ordering::Less,
            (_, Value::Null) => Ordering::Greater,
            _ => compare_values(*mode, left.as_ref(), column_type, right.as_ref(), column_type, context)
                .ok()
                .flatten()
                .unwrap_or(Ordering::Equal),
        };
        if order != Ordering::Equal {
            return if *descending { order.reverse() } else { order };
        }
    }
    Ordering::Equal
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(keys: &[Vec<u8>]) -> bool {
        keys.is_sorted_by(|left, right| left < right)
    }

    #[test]
    fn numbers_order_as_their_bytes() {
        let integers = [
            i64::MIN.into(),
            -257,
            -256,
            -255,
            -2,
            -1,
            0,
            1,
            255,
            256,
            i64::MAX.into(),
            1 << 63,
            i128::from(u64::MAX),
        ];
        let keys = integers.map(|number| {
            let mut key = Vec::new();
            append_ordered_integer(number, &mut key);
            key
        });
        assert!(sorted(&keys));
        let doubles = [f64::NEG_INFINITY, -1e300, -1.5, -1e-300, 0.0, 1e-300, 2.0, f64::INFINITY];
        assert!(doubles.map(ordered_double).is_sorted_by(|left, right| left < right));
        assert_eq!(ordered_double(-0.0), ordered_double(0.0));
    }

    #[test]
    fn decimals_order_as_their_bytes() {
        let key = |text: &str| {
            let mut key = Vec::new();
            append_ordered_decimal(&Decimal::parse(text.as_bytes()).number, &mut key);
            key
        };
        let numbers = [
            "-99999999999999999999999999999999999999999999999999999999999999999",
            "-1000",
            "-999.5",
            "-100",
            "-12.3",
            "-12",
            "-1.01",
            "-1",
            "-0.1",
            "-0.05",
            "-0.000000000000000000000000000001",
            "0",
            "0.000000000000000000000000000001",
            "0.05",
            "0.1",
            "1",
            "1.01",
            "1.1",
            "12",
            "12.3",
            "100",
            "999.5",
            "1000",
            "99999999999999999999999999999999999999999999999999999999999999999",
        ];
        assert!(sorted(&numbers.map(key)));
        assert_eq!(key("1.50"), key("1.5"));
        assert_eq!(key("100"), key("100.00"));
    }
}
