//! Storing to integers, DECIMAL, FLOAT, DOUBLE, BIT and YEAR.

use super::StoreContext;
use crate::column_type::{ColumnType, TypeKind};
use crate::convert::{quoted_text, readable_text};
use crate::decimal::{Decimal, Rounding};
use crate::number;
use crate::value::Value;
use errors::{Diagnostics, SqlResult, sql_error};

/// A value as an integer with its sign, before the range of the column is looked at.
struct Whole {
    number: i128,
    /// The value is beyond 128 bits, or below zero but rounds to zero.
    out_of_range: bool,
    /// Characters follow the number in a text.
    trailing: bool,
}

pub(super) fn integer(
    value: &Value,
    from: &ColumnType,
    to: &ColumnType,
    context: &mut StoreContext<'_>,
) -> SqlResult<Value> {
    let (low, high) = to.integer_range().unwrap_or((i64::MIN, u64::MAX));
    let Whole { number, out_of_range, trailing } = whole(value, from, to.unsigned, context)?;
    let cut = number.clamp(i128::from(low), i128::from(high));
    if cut != number || out_of_range {
        context.out_of_range()?;
    } else if trailing {
        context.data_truncated()?;
    }
    Ok(if to.unsigned { Value::UInt(cut as u64) } else { Value::Int(cut as i64) })
}

fn whole(
    value: &Value,
    from: &ColumnType,
    unsigned: bool,
    context: &mut StoreContext<'_>,
) -> SqlResult<Whole> {
    let exact = |number: i128| Ok(Whole { number, out_of_range: false, trailing: false });
    match value {
        Value::Int(number) => exact(i128::from(*number)),
        Value::UInt(number) => exact(i128::from(*number)),
        Value::Decimal(number) => Ok(whole_of_decimal(number, unsigned)),
        Value::Double(number) => exact(number.round_ties_even() as i128),
        Value::Float(number) => exact(f64::from(*number).round_ties_even() as i128),
        Value::Bytes(bytes) => {
            let text = readable_text(bytes, from.collation);
            let parsed = Decimal::parse(&text);
            let mut whole = whole_of_decimal(&parsed.number, false);
            whole.out_of_range |= parsed.overflow;
            if parsed.length == 0 {
                context.incorrect("integer", &quoted_text(value.as_ref(), from))?;
            } else {
                // No byte of a binary string is a blank.
                let rest = &text[parsed.length..];
                let is_binary = from.kind.is_binary() && !rest.is_empty();
                whole.trailing = is_binary || rest.iter().any(|byte| !number::is_blank(*byte));
            }
            Ok(whole)
        }
        _ => exact(crate::convert::to_integer(value.as_ref(), from, &mut Diagnostics::new(0)).unwrap_or(0)),
    }
}

fn whole_of_decimal(number: &Decimal, unsigned: bool) -> Whole {
    let whole = number.with_scale(0, Rounding::HalfUp).ok().and_then(|whole| whole.unscaled_i128());
    let bound = if number.is_negative() { i128::MIN } else { i128::MAX };
    // An exact number below zero does not fit an unsigned column even where it rounds to zero.
    let below_unsigned = unsigned && number.is_negative();
    Whole { number: whole.unwrap_or(bound), out_of_range: whole.is_none() || below_unsigned, trailing: false }
}

pub(super) fn decimal(
    value: &Value,
    from: &ColumnType,
    to: &ColumnType,
    context: &mut StoreContext<'_>,
) -> SqlResult<Value> {
    let (number, mut out_of_range) = match value {
        Value::Bytes(bytes) => decimal_of_text(&readable_text(bytes, from.collation), value, from, context)?,
        Value::Double(double) => match Decimal::from_f64(*double) {
            Ok(number) => (number, false),
            Err(_) => (Decimal::largest(to.precision(), to.scale(), *double < 0.0), true),
        },
        _ => {
            let number = crate::convert::to_decimal(value.as_ref(), from, &mut Diagnostics::new(0));
            (number.unwrap_or(Decimal::ZERO), false)
        }
    };
    let signed = if to.unsigned && number.is_negative() { Decimal::ZERO } else { number };
    out_of_range |= signed != number;
    let (stored, dropped) = signed.fit(to.precision(), to.scale()).unwrap_or_else(|largest| {
        out_of_range = true;
        (largest, false)
    });
    if out_of_range {
        context.out_of_range()?;
    } else if dropped {
        context.note_truncated();
    }
    Ok(Value::Decimal(stored))
}

/// The number of a text, and whether it is beyond 65 digits.
fn decimal_of_text(
    text: &[u8],
    value: &Value,
    from: &ColumnType,
    context: &mut StoreContext<'_>,
) -> SqlResult<(Decimal, bool)> {
    let parsed = Decimal::parse(text);
    let rest = text[parsed.length..].iter().any(|byte| !number::is_blank(*byte));
    if parsed.length == 0 || ((rest || parsed.overflow) && context.mode.strict) {
        context.incorrect("decimal", &quoted_text(value.as_ref(), from))?;
    } else if rest && !parsed.overflow {
        context.note_truncated();
    }
    Ok((parsed.number, parsed.overflow))
}

pub(super) fn float(
    value: &Value,
    from: &ColumnType,
    to: &ColumnType,
    context: &mut StoreContext<'_>,
) -> SqlResult<Value> {
    let mut out_of_range = false;
    let mut number = match value {
        Value::Bytes(bytes) => {
            let text = readable_text(bytes, from.collation);
            let parsed = number::parse_f64(&text);
            out_of_range = parsed.overflow;
            if parsed.is_truncated(&text) {
                let kind = if to.kind == TypeKind::Float { "FLOAT" } else { "DOUBLE" };
                context.incorrect(kind, &quoted_text(value.as_ref(), from))?;
            }
            parsed.number
        }
        _ => crate::convert::to_f64(value.as_ref(), from, &mut Diagnostics::new(0)).unwrap_or(0.0),
    };
    if to.unsigned && number < 0.0 {
        out_of_range = true;
        number = 0.0;
    }
    let bound = float_bound(to);
    if let (Some(decimals), TypeKind::Float | TypeKind::Double) = (to.decimals.filter(|&d| d <= 30), to.kind)
    {
        number = round_to_decimals(number, decimals);
    }
    // `clamp` would panic on NaN, which no SQL value is; min and max pass it over.
    let cut = number.min(bound).max(-bound);
    if cut != number || out_of_range {
        context.out_of_range()?;
    }
    Ok(if to.kind == TypeKind::Float { Value::Float(cut as f32) } else { Value::Double(cut) })
}

fn float_bound(to: &ColumnType) -> f64 {
    let type_bound = if to.kind == TypeKind::Float { f64::from(f32::MAX) } else { f64::MAX };
    match (to.length, to.decimals) {
        (Some(digits), Some(decimals)) => {
            let scale = i32::from(decimals);
            let bound = 10f64.powi(digits as i32 - scale) - 10f64.powi(-scale);
            bound.min(type_bound)
        }
        _ => type_bound,
    }
}

fn round_to_decimals(number: f64, decimals: u8) -> f64 {
    // Only the fraction is scaled: the product of the whole number would round a second time.
    let scale = 10f64.powi(i32::from(decimals));
    let whole = number.floor();
    whole + ((number - whole) * scale).round_ties_even() / scale
}

pub(super) fn bit(
    value: &Value,
    from: &ColumnType,
    to: &ColumnType,
    context: &mut StoreContext<'_>,
) -> SqlResult<Value> {
    let highest = u64::MAX >> (64 - to.bits());
    let number = match value {
        Value::Bytes(bytes) => number_of_bytes(bytes),
        Value::Date(_) | Value::Time(_) | Value::DateTime(_) => {
            number_of_bytes(&crate::convert::to_text(value.as_ref(), from).unwrap_or_default())
        }
        // The casts cut to the range of i64.
        Value::Double(number) => Some(*number as i64 as u64),
        Value::Float(number) => Some(*number as i64 as u64),
        Value::Decimal(number) => match number.to_u64(Rounding::HalfUp) {
            Ok(fitting) if !number.is_negative() => Some(fitting),
            Ok(nearest) | Err(nearest) => {
                context.out_of_range()?;
                Some(nearest.min(highest))
            }
        },
        // A negative number is taken as its 64 bits.
        _ => {
            let whole = whole(value, from, false, context)?;
            let in_range = (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&whole.number);
            in_range.then_some(whole.number as u64)
        }
    };
    match number.filter(|&number| number <= highest) {
        Some(number) => Ok(Value::UInt(number)),
        None if context.mode.strict => Err(sql_error!(ER_DATA_TOO_LONG, context.column, context.row)),
        None => {
            context.out_of_range()?;
            Ok(Value::UInt(highest))
        }
    }
}

/// Bytes as a big-endian number; None beyond 64 bits.
fn number_of_bytes(bytes: &[u8]) -> Option<u64> {
    let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
    let significant = &bytes[zeros..];
    (significant.len() <= 8)
        .then(|| significant.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)))
}

pub(super) fn year(value: &Value, from: &ColumnType, context: &mut StoreContext<'_>) -> SqlResult<Value> {
    let number = match value {
        Value::Date(date) => i128::from(date.year),
        Value::DateTime(moment) => i128::from(moment.date.year),
        Value::Time(time) => {
            let moment = crate::convert::time_on_date(*time, context.mode.today);
            moment.map_or(0, |moment| i128::from(moment.date.year))
        }
        _ => {
            let mut whole = whole(value, from, false, context)?;
            if let Value::Double(number) = value {
                whole.number = number.trunc() as i128;
            }
            if crate::convert::is_negative(value.as_ref()) {
                whole.number = -1;
            }
            let in_range = matches!(whole.number, 0..=99 | 1901..=2155);
            if whole.trailing && in_range {
                context.data_truncated()?;
            }
            whole.number
        }
    };
    // A text that gives 0 means 2000 unless it is '0000'; the number 0 means year 0.
    let starts_number = |text: &[u8]| {
        text.trim_ascii_start().first().is_some_and(|byte| byte.is_ascii_digit() || b"+-.".contains(byte))
    };
    let short_text = matches!(value, Value::Bytes(text) if text.len() != 4 && starts_number(text));
    let year = match number {
        0 if short_text => 2000,
        0 => 0,
        1..=69 => number + 2000,
        70..=99 => number + 1900,
        1901..=2155 => number,
        _ => {
            context.out_of_range()?;
            0
        }
    };
    Ok(Value::UInt(year as u64))
}
