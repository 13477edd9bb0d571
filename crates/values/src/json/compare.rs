//! The order of values: [`compare`]. MySQL's: null, numbers, strings, objects, arrays, false, true, dates, times, dates with
//! a time, other opaque values. A double counts as the decimal number that it is shown as.

use super::number_key::{Number, compare_numbers};
use super::opaque::code;
use super::{Node, Opaque, Steps, Unwatched};
use errors::SqlResult;
use std::cmp::Ordering;

/// A value as it is compared.
#[derive(Clone, Copy)]
pub(super) enum View<'d> {
    Null,
    Number(Number),
    String(&'d [u8]),
    Object(super::Object<'d>),
    Array(super::Array<'d>),
    Boolean(bool),
    /// A date, a span, or a date with a time: packed, so that the numbers order as the values.
    Date(i64),
    Time(i64),
    Moment(i64),
    Opaque(Opaque<'d>),
}

impl<'d> View<'d> {
    pub(super) fn of(node: Node<'d>) -> View<'d> {
        match node {
            Node::Null => View::Null,
            Node::Boolean(truth) => View::Boolean(truth),
            Node::Int(number) => View::Number(Number::Int(i128::from(number))),
            Node::UInt(number) => View::Number(Number::Int(i128::from(number))),
            Node::Double(number) => View::Number(Number::Double(number)),
            Node::String(text) => View::String(text),
            Node::Array(array) => View::Array(array),
            Node::Object(object) => View::Object(object),
            Node::Opaque(opaque) => View::of_opaque(opaque),
        }
    }

    fn of_opaque(opaque: Opaque<'d>) -> View<'d> {
        let view = match opaque.type_code {
            code::DECIMAL => match opaque.value() {
                Some(crate::Value::Decimal(number)) => Some(View::Number(Number::Decimal(number))),
                _ => None,
            },
            code::DATE => opaque.packed().map(View::Date),
            code::TIME => opaque.packed().map(View::Time),
            code::DATETIME | code::TIMESTAMP => opaque.packed().map(View::Moment),
            _ => None,
        };
        view.unwrap_or(View::Opaque(opaque))
    }

    /// Its place among values of other kinds. Keys begin with it; 0 is left for SQL's NULL.
    pub(super) fn rank(&self) -> u8 {
        match self {
            View::Null => 1,
            View::Number(_) => 2,
            View::String(_) => 3,
            View::Object(_) => 4,
            View::Array(_) => 5,
            View::Boolean(false) => 6,
            View::Boolean(true) => 7,
            View::Date(_) => 8,
            View::Time(_) => 9,
            View::Moment(_) => 10,
            View::Opaque(_) => 11,
        }
    }
}

/// MySQL's total order of JSON values. Arrays order by their elements, then by length; objects by their number of members,
/// then by the first key or value that differs,
/// in the order in which they lie; keys then compare by their bytes alone.
pub fn compare(a: Node<'_>, b: Node<'_>) -> Ordering {
    // Nobody ends it.
    compare_watched(a, b, &mut Steps::new(&Unwatched)).unwrap_or(Ordering::Equal)
}

/// The same of documents that may be long.
pub fn compare_watched(a: Node<'_>, b: Node<'_>, steps: &mut Steps<'_>) -> SqlResult<Ordering> {
    let (a, b) = (View::of(a), View::of(b));
    Ok(match (&a, &b) {
        (View::Number(a), View::Number(b)) => compare_numbers(a, b),
        (View::String(a), View::String(b)) => a.cmp(b),
        (View::Date(a), View::Date(b))
        | (View::Time(a), View::Time(b))
        | (View::Moment(a), View::Moment(b)) => a.cmp(b),
        (View::Opaque(a), View::Opaque(b)) => (a.type_code, a.bytes).cmp(&(b.type_code, b.bytes)),
        (View::Array(a), View::Array(b)) => {
            for (a, b) in a.iter().zip(b.iter()) {
                steps.next(0)?;
                let order = compare_watched(a, b, steps)?;
                if order.is_ne() {
                    return Ok(order);
                }
            }
            a.len().cmp(&b.len())
        }
        (View::Object(a), View::Object(b)) if a.len() == b.len() => {
            for ((a_key, a), (b_key, b)) in a.iter().zip(b.iter()) {
                steps.next(0)?;
                let order = match a_key.cmp(b_key) {
                    Ordering::Equal => compare_watched(a, b, steps)?,
                    order => order,
                };
                if order.is_ne() {
                    return Ok(order);
                }
            }
            Ordering::Equal
        }
        (View::Object(a), View::Object(b)) => a.len().cmp(&b.len()),
        (a, b) => a.rank().cmp(&b.rank()),
    })
}
