//! Values as hash keys (equal bytes for equal values) and rows in sort order.

use errors::SqlResult;
use expression::operators::{ComparisonMode, compare_values};
use expression::{EvaluationContext, convert};
use std::cmp::Ordering;
use values::{ColumnType, Value};

/// Appends bytes that are equal for values that compare as equal in that mode. False for NULL (marked by a byte of its own).
pub(crate) fn append_key(
    mode: ComparisonMode,
    value: &Value,
    column_type: &ColumnType,
    context: &mut dyn EvaluationContext,
    out: &mut Vec<u8>,
) -> SqlResult<bool> {
    if *value == Value::Null {
        out.push(0);
        return Ok(false);
    }
    out.push(1);
    match mode {
        ComparisonMode::Integer => {
            let number = match value {
                Value::Int(number) => i128::from(*number),
                Value::UInt(number) => i128::from(*number),
                _ => convert::to_integer(value, column_type, context)?.unwrap_or(0),
            };
            out.extend_from_slice(&number.to_le_bytes());
        }
        ComparisonMode::Decimal => {
            let exact = convert::to_decimal(value, column_type, context)?.unwrap_or(values::Decimal::ZERO);
            exact.normalized().append_text(out);
            out.push(0);
        }
        ComparisonMode::Double => {
            let number = convert::to_double(value, column_type, context)?.unwrap_or(0.0);
            let number = if number == 0.0 { 0.0 } else { number };
            out.extend_from_slice(&number.to_bits().to_le_bytes());
        }
        ComparisonMode::Text(collation) => match value {
            Value::Bytes(bytes) => collation.get().sort_key(bytes, out),
            _ => {
                let bytes = convert::to_text(value, column_type, context).unwrap_or_default();
                collation.get().sort_key(&bytes, out);
            }
        },
        ComparisonMode::DateTime => match convert::to_datetime(value, column_type, context)? {
            Some(moment) => out.extend_from_slice(&values::packed::date_time(moment, 6).to_le_bytes()),
            None => return Ok(false),
        },
        ComparisonMode::Time => match convert::to_time(value, column_type, context)? {
            Some(span) => out.extend_from_slice(&span.to_microseconds().to_le_bytes()),
            None => return Ok(false),
        },
    }
    Ok(true)
}

/// Appends bytes whose order is the order of values in that mode, NULL first (last if descending). False for values
/// that have no such form here; then what was appended means nothing.
pub(crate) fn append_sort_key(
    mode: ComparisonMode,
    value: &Value,
    descending: bool,
    out: &mut Vec<u8>,
) -> bool {
    let start = out.len();
    match (mode, value) {
        (_, Value::Null) => out.push(0),
        (ComparisonMode::Integer, Value::Int(_) | Value::UInt(_)) => {
            let number = match value {
                Value::UInt(number) => i128::from(*number),
                Value::Int(number) => i128::from(*number),
                _ => return false,
            };
            out.push(1);
            // Nine bytes hold both BIGINT and BIGINT UNSIGNED.
            let ordered = (number as u128) ^ (1 << 71);
            out.extend_from_slice(&ordered.to_be_bytes()[7..]);
        }
        (ComparisonMode::Double, Value::Double(number)) => {
            out.push(1);
            // Minus zero is equal to zero.
            let bits = if *number == 0.0 { 0 } else { number.to_bits() };
            let ordered = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
            out.extend_from_slice(&ordered.to_be_bytes());
        }
        (ComparisonMode::Text(collation), Value::Bytes(bytes)) => {
            out.push(1);
            collation.get().sort_key(bytes, out);
        }
        _ => return false,
    }
    if descending {
        out[start..].iter_mut().for_each(|byte| *byte = !*byte);
    }
    true
}

/// The order of two rows of sort keys: NULL first, descending keys reversed.
pub(crate) fn compare_rows(
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
            _ => compare_values(*mode, left, column_type, right, column_type, context)
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
    use charset::CollationId;

    fn bytes(mode: ComparisonMode, values: &[Value], descending: bool) -> Vec<u8> {
        let mut out = Vec::new();
        assert!(values.iter().all(|value| append_sort_key(mode, value, descending, &mut out)));
        out
    }

    fn check_order(mode: ComparisonMode, ascending: &[Value]) {
        for (at, left) in ascending.iter().enumerate() {
            for (other, right) in ascending.iter().enumerate() {
                // A second column must not change the order of the first.
                let keys = |value: &Value, second| bytes(mode, &[value.clone(), second], false);
                let order = keys(left, Value::Null).cmp(&keys(right, Value::Null));
                assert_eq!(order, at.cmp(&other), "{left:?} {right:?}");
                let reversed = bytes(mode, std::slice::from_ref(left), true).cmp(&bytes(
                    mode,
                    std::slice::from_ref(right),
                    true,
                ));
                assert_eq!(reversed, other.cmp(&at), "descending {left:?} {right:?}");
            }
        }
    }

    #[test]
    fn bytes_order_as_values() {
        let integers = [i64::MIN, -256, -1, 0, 1, 255, 256, i64::MAX].map(Value::Int);
        let mut ascending = vec![Value::Null];
        ascending.extend(integers);
        ascending.extend([1 << 63, u64::MAX].map(Value::UInt));
        check_order(ComparisonMode::Integer, &ascending);
        let doubles = [f64::NEG_INFINITY, -1e300, -1.5, -1e-300, 0.0, 1e-300, 2.0, f64::INFINITY];
        check_order(ComparisonMode::Double, &doubles.map(Value::Double));
        // PAD SPACE: a control character orders before the end.
        let padded = ["\u{1}", "", "a", "a b", "ab", "b", "ba"].map(|text| Value::Bytes(text.into()));
        check_order(ComparisonMode::Text(CollationId::UTF8MB4_BIN), &padded);
        let texts = ["", "\0", "\u{1}", "a", "a\0", "ab", "b"].map(|text| Value::Bytes(text.into()));
        let words = ["", "a", "ab", "B", "ba", "c"].map(|text| Value::Bytes(text.into()));
        check_order(ComparisonMode::Text(CollationId::UTF8MB4_0900_AI_CI), &words);
        check_order(ComparisonMode::Text(CollationId::BINARY), &texts);
    }
}
