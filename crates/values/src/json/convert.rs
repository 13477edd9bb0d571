//! JSON as values of other types: numbers, moments, truth. What a document cannot be is said by [`Fit`].

use super::{Node, compare};
use crate::decimal::{Decimal, Rounding};
use crate::number;
use crate::temporal::{DateRules, DateTime, Time, parse_date_time, parse_time};
use crate::value::Value;
use std::cmp::Ordering;

/// How a document goes into another type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// Wholly.
    Whole,
    /// It is none of that type, or only the beginning of its text is: warning 3156.
    Invalid,
    /// It is beyond the type: warning 3155.
    OutOfRange,
}

/// A document as a floating point number; what is none is 0.
pub fn to_f64(node: Node<'_>) -> (f64, Fit) {
    match node {
        Node::Boolean(value) => (f64::from(u8::from(value)), Fit::Whole),
        Node::Int(number) => (number as f64, Fit::Whole),
        Node::UInt(number) => (number as f64, Fit::Whole),
        Node::Double(number) => (number, Fit::Whole),
        // No text at all is zero, and nothing is said of it.
        Node::String([]) => (0.0, Fit::Whole),
        Node::String(text) => {
            let parsed = number::parse_f64(text);
            let fit = match (parsed.length == text.len(), parsed.overflow) {
                (_, true) => Fit::OutOfRange,
                (true, false) => Fit::Whole,
                (false, false) => Fit::Invalid,
            };
            (parsed.number, fit)
        }
        Node::Opaque(opaque) => match opaque.value() {
            Some(Value::Decimal(exact)) => (exact.to_f64(), Fit::Whole),
            _ => (0.0, Fit::Invalid),
        },
        Node::Null | Node::Array(_) | Node::Object(_) => (0.0, Fit::Invalid),
    }
}

/// A document as an exact number; what is none is 0.
pub fn to_decimal(node: Node<'_>) -> (Decimal, Fit) {
    match node {
        Node::Boolean(value) => (Decimal::from(i64::from(value)), Fit::Whole),
        Node::Int(number) => (Decimal::from(number), Fit::Whole),
        Node::UInt(number) => (Decimal::from(number), Fit::Whole),
        Node::Double(number) => match Decimal::from_f64(number) {
            Ok(exact) => (exact, Fit::Whole),
            Err(_) => (Decimal::largest(crate::decimal::DIGITS_MAX, 0, number < 0.0), Fit::OutOfRange),
        },
        Node::String(text) => {
            let parsed = Decimal::parse(text);
            let rest = text[parsed.length..].iter().any(|byte| !number::is_blank(*byte));
            let fit = match (parsed.length == 0 || rest, parsed.overflow) {
                (_, true) => Fit::OutOfRange,
                (true, false) => Fit::Invalid,
                (false, false) => Fit::Whole,
            };
            (parsed.number, fit)
        }
        Node::Opaque(opaque) => match opaque.value() {
            Some(Value::Decimal(exact)) => (exact, Fit::Whole),
            _ => (Decimal::ZERO, Fit::Invalid),
        },
        Node::Null | Node::Array(_) | Node::Object(_) => (Decimal::ZERO, Fit::Invalid),
    }
}

/// A document as a number within the range of BIGINT and BIGINT UNSIGNED together; what is none is 0.
pub fn to_integer(node: Node<'_>) -> (i128, Fit) {
    let bounded = |whole: i128| match i64::try_from(whole) {
        Ok(_) => (whole, Fit::Whole),
        Err(_) => (i128::from(if whole < 0 { i64::MIN } else { i64::MAX }), Fit::OutOfRange),
    };
    match node {
        Node::Boolean(value) => (i128::from(value), Fit::Whole),
        Node::Int(number) => (i128::from(number), Fit::Whole),
        Node::UInt(number) => (i128::from(number), Fit::Whole),
        Node::Double(number) => match bounded(number.round_ties_even() as i128) {
            // MySQL tells it from nothing below.
            (least, _) if least == i128::from(i64::MIN) => (least, Fit::OutOfRange),
            bounded => bounded,
        },
        Node::String(text) => {
            let parsed = number::parse_integer(text);
            let magnitude = i128::from(parsed.magnitude);
            let number = if parsed.negative { (-magnitude).max(i128::from(i64::MIN)) } else { magnitude };
            let fit = match (parsed.overflow || number != -magnitude && parsed.negative, parsed.length) {
                (true, _) => Fit::OutOfRange,
                (false, length) if length == 0 || length < text.len() => Fit::Invalid,
                _ => Fit::Whole,
            };
            (number, fit)
        }
        Node::Opaque(opaque) => match opaque.value() {
            Some(Value::Decimal(exact)) => {
                let whole =
                    exact.with_scale(0, Rounding::HalfUp).ok().and_then(|whole| whole.unscaled_i128());
                bounded(whole.unwrap_or(if exact.is_negative() { i128::MIN } else { i128::MAX }))
            }
            _ => (0, Fit::Invalid),
        },
        Node::Null | Node::Array(_) | Node::Object(_) => (0, Fit::Invalid),
    }
}

/// A document as a moment: a date, a moment, or the text of one; and whether it tells a time of day.
pub fn to_date_time(node: Node<'_>, rules: DateRules) -> Option<(DateTime, bool)> {
    match node {
        Node::String(text) => {
            let parsed = parse_date_time(text, rules).filter(|parsed| !parsed.notes.truncated)?;
            Some((parsed.rounded(6)?, parsed.has_time))
        }
        Node::Opaque(opaque) => match opaque.value()? {
            Value::Date(date) => Some((date.midnight(), false)),
            Value::DateTime(moment) => Some((moment, true)),
            _ => None,
        },
        _ => None,
    }
}

/// A document as a time span: one, or the text of one.
pub fn to_time(node: Node<'_>) -> Option<Time> {
    match node {
        // A number is none.
        Node::String(text) if text.contains(&b':') => {
            let parsed = parse_time(text)?;
            (!parsed.notes.truncated && !parsed.notes.out_of_range).then(|| parsed.rounded(6))
        }
        Node::Opaque(opaque) => match opaque.value()? {
            Value::Time(time) => Some(time),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a document is true: anything but the number 0.
pub fn is_true(node: Node<'_>) -> bool {
    compare(node, Node::Int(0)) != Ordering::Equal
}
