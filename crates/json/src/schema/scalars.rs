//! What a schema asks of scalars, and of all values' types. Neighbour: `schema.rs`.

use super::{Checked, PatternMatch, require};
use std::cmp::Ordering;
use values::json::{Node, Object, compare};

/// `type`: a name, or an array of names.
pub(super) fn check_type(schema: Object<'_>, value: Node<'_>) -> Checked {
    let is_named = |name: Node<'_>| matches!(name, Node::String(name) if is_of_type(value, name));
    match schema.get(b"type") {
        Some(name @ Node::String(_)) => require(is_named(name), "type"),
        Some(Node::Array(names)) => require(names.iter().any(is_named), "type"),
        _ => Ok(()),
    }
}

fn is_of_type(value: Node<'_>, name: &[u8]) -> bool {
    match value {
        Node::Null => name == b"null",
        Node::Boolean(_) => name == b"boolean",
        Node::Int(_) | Node::UInt(_) => name == b"integer" || name == b"number",
        Node::Double(_) => name == b"number",
        Node::String(_) | Node::Opaque(_) => name == b"string",
        Node::Array(_) => name == b"array",
        Node::Object(_) => name == b"object",
    }
}

/// `minimum`, `maximum` and `multipleOf`.
pub(super) fn check_number(schema: Object<'_>, value: Node<'_>) -> Checked {
    let limit = |key: &[u8]| schema.get(key).filter(|limit| number_of(*limit).is_some());
    let is_exclusive = |key: &[u8]| matches!(schema.get(key), Some(Node::Boolean(true)));
    if let Some(minimum) = limit(b"minimum") {
        let order = compare(value, minimum);
        require(order.is_gt() || order.is_eq() && !is_exclusive(b"exclusiveMinimum"), "minimum")?;
    }
    if let Some(maximum) = limit(b"maximum") {
        let order: Ordering = compare(value, maximum);
        require(order.is_lt() || order.is_eq() && !is_exclusive(b"exclusiveMaximum"), "maximum")?;
    }
    match schema.get(b"multipleOf") {
        Some(factor) => require(is_multiple(value, factor), "multipleOf"),
        None => Ok(()),
    }
}

fn number_of(node: Node<'_>) -> Option<f64> {
    match node {
        Node::Int(number) => Some(number as f64),
        Node::UInt(number) => Some(number as f64),
        Node::Double(number) => Some(number),
        _ => None,
    }
}

/// The value without its sign, if it is an integer.
fn magnitude(node: Node<'_>) -> Option<u64> {
    match node {
        Node::Int(number) => Some(number.unsigned_abs()),
        Node::UInt(number) => Some(number),
        _ => None,
    }
}

/// Whether a number is a multiple of a factor; what is no factor above 0 asks nothing. Of floating point numbers, quotients
/// that differ from an integer by rounding errors count.
fn is_multiple(value: Node<'_>, factor: Node<'_>) -> bool {
    let (Some(number), Some(divisor)) = (number_of(value), number_of(factor)) else { return true };
    if divisor <= 0.0 {
        return true;
    }
    if let (Some(number), Some(divisor)) = (magnitude(value), magnitude(factor)) {
        return number.checked_rem(divisor).is_none_or(|rest| rest == 0);
    }
    let quotient = number.abs() / divisor;
    let rounded = (quotient + 0.5).floor();
    let difference = (rounded - quotient).abs();
    difference <= (quotient + rounded) * f64::EPSILON || difference < f64::MIN_POSITIVE
}

/// `minLength` and `maxLength` in characters, and `pattern`.
pub(super) fn check_string(schema: Object<'_>, text: &[u8], matches: PatternMatch<'_>) -> Checked {
    let length = || text.iter().filter(|byte| **byte & 0xc0 != 0x80).count() as u64;
    check_count(schema, (b"minLength", "minLength"), (b"maxLength", "maxLength"), length)?;
    match schema.get(b"pattern") {
        Some(Node::String(pattern)) => require(matches(pattern, text).unwrap_or(true), "pattern"),
        _ => Ok(()),
    }
}

/// A keyword, as the key of a schema and as reports name it.
type Keyword<'k> = (&'k [u8], &'static str);

/// Limits of a count.
pub(super) fn check_count(
    schema: Object<'_>,
    minimum: Keyword<'_>,
    maximum: Keyword<'_>,
    count: impl Fn() -> u64,
) -> Checked {
    let limit = |key: &[u8]| match schema.get(key) {
        Some(Node::Int(limit)) => u64::try_from(limit).ok(),
        Some(Node::UInt(limit)) => Some(limit),
        _ => None,
    };
    if let Some(limit) = limit(minimum.0) {
        require(count() >= limit, minimum.1)?;
    }
    match limit(maximum.0) {
        Some(limit) => require(count() <= limit, maximum.1),
        None => Ok(()),
    }
}
