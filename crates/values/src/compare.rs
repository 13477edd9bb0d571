//! Comparison of values of any two types by MySQL's rules. Main type: [`Comparison`], chosen once per plan from
//! the two types; then [`Comparison::compare`] for each pair.

use crate::column_type::{ColumnType, TypeKind};
use crate::convert::{self, TemporalContext};
use crate::value::Value;
use charset::CollationId;
use errors::Diagnostics;
use std::cmp::Ordering;

/// What two values are compared as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Integers, signed and unsigned alike.
    Integer,
    /// Exact numbers.
    Decimal,
    /// Doubles.
    Real,
    /// Text by a collation.
    Text(CollationId),
    /// Dates with times.
    DateTime,
    /// Time spans.
    Time,
}

impl Comparison {
    /// How values of these types compare. `collation` is what the two sides' collations resolve to, for text;
    /// `is_constant` tells for each side whether it is a literal or parameter: text that is constant is read
    /// as a date or time when the other side is one.
    pub fn of(
        a: &ColumnType,
        b: &ColumnType,
        collation: CollationId,
        is_constant: (bool, bool),
    ) -> Comparison {
        if let Some(comparison) = temporal(a, b, is_constant) {
            return comparison;
        }
        let is_text =
            |side: &ColumnType| side.kind.is_string() || side.kind.has_members() || side.kind.is_temporal();
        if is_text(a) && is_text(b) {
            return Comparison::Text(collation);
        }
        let is_whole = |side: &ColumnType| {
            side.kind.is_integer() || matches!(side.kind, TypeKind::Bit | TypeKind::Year | TypeKind::Null)
        };
        let is_exact = |side: &ColumnType| is_whole(side) || side.kind == TypeKind::Decimal;
        // A temporal value beside a number is the number of its digits.
        let is_temporal_number = |side: &ColumnType| side.kind.is_temporal();
        if is_whole(a) && is_whole(b) {
            Comparison::Integer
        } else if (is_exact(a) || is_temporal_number(a)) && (is_exact(b) || is_temporal_number(b)) {
            Comparison::Decimal
        } else if (a.kind == TypeKind::Null && is_text(b)) || (b.kind == TypeKind::Null && is_text(a)) {
            Comparison::Text(collation)
        } else {
            Comparison::Real
        }
    }

    /// The order of two values that have these types; None when one of them is NULL. Text that is no number
    /// where a number is wanted gives warning 1292; text that is no date compares as NULL.
    pub fn compare(
        self,
        a: (&Value, &ColumnType),
        b: (&Value, &ColumnType),
        context: TemporalContext,
        diagnostics: &mut Diagnostics,
    ) -> Option<Ordering> {
        if matches!(a.0, Value::Null) || matches!(b.0, Value::Null) {
            return None;
        }
        match self {
            Comparison::Integer => match (a.0, b.0) {
                (Value::Int(x), Value::Int(y)) => Some(x.cmp(y)),
                (Value::UInt(x), Value::UInt(y)) => Some(x.cmp(y)),
                _ => Some(convert::to_integer(a.0, a.1, diagnostics)?.cmp(&convert::to_integer(
                    b.0,
                    b.1,
                    diagnostics,
                )?)),
            },
            Comparison::Decimal => Some(
                convert::to_decimal(a.0, a.1, diagnostics)?.cmp(&convert::to_decimal(b.0, b.1, diagnostics)?),
            ),
            Comparison::Real => {
                convert::to_f64(a.0, a.1, diagnostics)?.partial_cmp(&convert::to_f64(b.0, b.1, diagnostics)?)
            }
            Comparison::Text(collation) => Some(compare_text(a, b, collation)),
            Comparison::DateTime => {
                let x = convert::to_date_time(a.0, a.1, context, diagnostics)?;
                Some(x.cmp(&convert::to_date_time(b.0, b.1, context, diagnostics)?))
            }
            Comparison::Time => {
                Some(convert::to_time(a.0, a.1, diagnostics)?.cmp(&convert::to_time(b.0, b.1, diagnostics)?))
            }
        }
    }
}

/// Dates and times compare as such with each other and with constant text.
fn temporal(a: &ColumnType, b: &ColumnType, (a_constant, b_constant): (bool, bool)) -> Option<Comparison> {
    let readable =
        |side: &ColumnType, constant: bool| side.kind.is_temporal() || (side.kind.is_string() && constant);
    let any = a.kind.is_temporal() || b.kind.is_temporal();
    if !any || !readable(a, a_constant) || !readable(b, b_constant) {
        return None;
    }
    let is_date = |side: &ColumnType| side.kind.has_date();
    Some(if is_date(a) || is_date(b) { Comparison::DateTime } else { Comparison::Time })
}

fn compare_text(a: (&Value, &ColumnType), b: (&Value, &ColumnType), collation: CollationId) -> Ordering {
    let collation = collation.get();
    if let (Value::Bytes(x), Value::Bytes(y)) = (a.0, b.0) {
        if is_in(a.1, collation) && is_in(b.1, collation) {
            return collation.compare(x, y);
        }
    }
    collation.compare(&text_in(a, collation), &text_in(b, collation))
}

fn is_in(column_type: &ColumnType, collation: &charset::Collation) -> bool {
    column_type.collation == collation.id
        || collation.is_binary()
        || column_type.collation.charset().name == collation.charset().name
}

/// The text of a value in the character set of a collation.
fn text_in((value, column_type): (&Value, &ColumnType), collation: &charset::Collation) -> Vec<u8> {
    let text = convert::to_text(value, column_type).unwrap_or_default();
    let is_text = column_type.kind.is_string() || column_type.kind.has_members();
    if is_text && !is_in(column_type, collation) {
        return column_type.collation.charset().convert(&text, collation.charset()).text;
    }
    if !is_text && !collation.charset().is_ascii_based() {
        return collation.charset().from_str(&String::from_utf8_lossy(&text)).text;
    }
    text.into_owned()
}

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
            text(a).cmp(&text(b))
        }
    }
}
