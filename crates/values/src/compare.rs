//! The order of values of one type: [`compare_same_type`]. Operands of different types are first brought to
//! one by the expression.

use crate::column_type::ColumnType;
use crate::convert;
use crate::value::Value;
use std::cmp::Ordering;

/// The order of two values of one type, for sorting, MIN, MAX and DISTINCT: NULL first.
pub fn compare_same_type(a: &Value, b: &Value, column_type: &ColumnType) -> Ordering {
    match (a, b) {
        (Value::Null, Value::Null) => Ordering::Equal,
        (Value::Null, _) => Ordering::Less,
        (_, Value::Null) => Ordering::Greater,
        (Value::Int(x), Value::Int(y)) => x.cmp(y),
        (Value::UInt(x), Value::UInt(y)) => x.cmp(y),
        (Value::Int(x), Value::UInt(y)) => i128::from(*x).cmp(&i128::from(*y)),
        (Value::UInt(x), Value::Int(y)) => i128::from(*x).cmp(&i128::from(*y)),
        (Value::Decimal(x), Value::Decimal(y)) => x.cmp(y),
        (Value::Float(x), Value::Float(y)) => x.partial_cmp(y).unwrap_or(Ordering::Equal),
        (Value::Double(x), Value::Double(y)) => x.partial_cmp(y).unwrap_or(Ordering::Equal),
        (Value::Bytes(x), Value::Bytes(y)) => column_type.collation.get().compare(x, y),
        (Value::Date(x), Value::Date(y)) => x.cmp(y),
        (Value::Time(x), Value::Time(y)) => x.cmp(y),
        (Value::DateTime(x), Value::DateTime(y)) => x.cmp(y),
        // Values of one type have one variant; different ones still get a stable order.
        _ => {
            let text = |value| convert::to_text(value, column_type).unwrap_or_default().into_owned();
            text(a.as_ref()).cmp(&text(b.as_ref()))
        }
    }
}
