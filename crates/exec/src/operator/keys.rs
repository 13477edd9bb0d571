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

/// Whether [`append_sort_key`] has a form for that mode.
pub(crate) fn sorts_by_bytes(mode: ComparisonMode) -> bool {
    matches!(mode, ComparisonMode::Integer | ComparisonMode::Double | ComparisonMode::Text(_))
}

/// Appends bytes whose order is the order of values in that mode, NULL first (last if descending). For modes that
/// [`sorts_by_bytes`].
pub(crate) fn append_sort_key(
    mode: ComparisonMode,
    value: &Value,
    column_type: &ColumnType,
    descending: bool,
    context: &mut dyn EvaluationContext,
    out: &mut Vec<u8>,
) -> SqlResult<()> {
    let start = out.len();
    out.push(u8::from(*value != Value::Null));
    match (mode, value) {
        (_, Value::Null) => {}
        (ComparisonMode::Integer, _) => {
            let number = match value {
                Value::UInt(number) => i128::from(*number),
                Value::Int(number) => i128::from(*number),
                _ => convert::to_integer(value, column_type, context)?.unwrap_or(0),
            };
            out.extend_from_slice(&ordered_integer(number));
        }
        (ComparisonMode::Text(collation), Value::Bytes(bytes)) => collation.get().sort_key(bytes, out),
        (ComparisonMode::Text(collation), _) => {
            let bytes = convert::to_text(value, column_type, context).unwrap_or_default();
            collation.get().sort_key(&bytes, out);
        }
        _ => {
            let number = convert::to_double(value, column_type, context)?.unwrap_or(0.0);
            out.extend_from_slice(&ordered_double(number));
        }
    }
    if descending {
        out[start..].iter_mut().for_each(|byte| *byte = !*byte);
    }
    Ok(())
}

/// Nine bytes, because they hold both BIGINT and BIGINT UNSIGNED.
fn ordered_integer(number: i128) -> [u8; 9] {
    let ordered = ((number as u128) ^ (1 << 71)).to_be_bytes();
    std::array::from_fn(|at| ordered[7 + at])
}

fn ordered_double(number: f64) -> [u8; 8] {
    // Minus zero is equal to zero.
    let bits = if number == 0.0 { 0 } else { number.to_bits() };
    (if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }).to_be_bytes()
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

    #[test]
    fn numbers_order_as_their_bytes() {
        let integers =
            [i64::MIN.into(), -256, -1, 0, 1, 255, 256, i64::MAX.into(), 1 << 63, i128::from(u64::MAX)];
        assert!(integers.map(ordered_integer).is_sorted_by(|left, right| left < right));
        let doubles = [f64::NEG_INFINITY, -1e300, -1.5, -1e-300, 0.0, 1e-300, 2.0, f64::INFINITY];
        assert!(doubles.map(ordered_double).is_sorted_by(|left, right| left < right));
        assert_eq!(ordered_double(-0.0), ordered_double(0.0));
    }
}
