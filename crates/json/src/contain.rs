//! What is in documents: JSON_CONTAINS, JSON_OVERLAPS and MEMBER OF.

use crate::watch::{Steps, Stopped, Watch};
use values::json::{Array, Node, Object, compare};

/// Whether a candidate is contained in a target: an object in an object that contains the values of all its keys, an array
/// in an array if each element is contained in some element, another value in an array that has it or in a value that is
/// equal. Scalars of an array are found by binary search; containers in arrays are tried one with another, which takes the
/// product of both sizes in the worst case. Asks now and then whether it may go on.
pub fn contains(target: Node<'_>, candidate: Node<'_>, watch: &dyn Watch) -> Result<bool, Stopped> {
    within(target, candidate, &mut Steps::new(watch))
}

fn within(target: Node<'_>, candidate: Node<'_>, steps: &mut Steps<'_>) -> Result<bool, Stopped> {
    match (target, candidate) {
        (Node::Array(target), Node::Array(candidate)) => array_contains(target, candidate.iter(), steps),
        (Node::Array(target), candidate) => array_contains(target, std::iter::once(candidate), steps),
        (Node::Object(target), Node::Object(candidate)) => object_contains(target, candidate, steps),
        (target, candidate) => {
            Ok(target.is_scalar() && candidate.is_scalar() && compare(target, candidate).is_eq())
        }
    }
}

/// Whether two values have something in common: arrays an element, objects a member; a value that is no array is taken as one
/// of itself if the other is an array. Other values have to be equal.
pub fn overlaps(a: Node<'_>, b: Node<'_>, watch: &dyn Watch) -> Result<bool, Stopped> {
    let mut steps = Steps::new(watch);
    Ok(match (a, b) {
        (Node::Array(a), Node::Array(b)) => {
            let (few, many) = if a.len() < b.len() { (a, b) } else { (b, a) };
            let few = sorted(few.iter());
            return any(many.iter(), &mut steps, |element| has(&few, *element));
        }
        (Node::Array(array), other) | (other, Node::Array(array)) => is_member(other, Node::Array(array)),
        (Node::Object(a), Node::Object(b)) => {
            let (few, many) = if a.len() < b.len() { (a, b) } else { (b, a) };
            let is_common = |(key, value): &(&[u8], Node<'_>)| {
                many.get(key).is_some_and(|other| compare(*value, other).is_eq())
            };
            return any(few.iter(), &mut steps, is_common);
        }
        (a, b) => compare(a, b).is_eq(),
    })
}

/// Whether that holds for one of many.
fn any<T>(
    items: impl Iterator<Item = T>,
    steps: &mut Steps<'_>,
    holds: impl Fn(&T) -> bool,
) -> Result<bool, Stopped> {
    for item in items {
        steps.next(0)?;
        if holds(&item) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a value is an element of an array, or equal to a value that is no array.
pub fn is_member(value: Node<'_>, of: Node<'_>) -> bool {
    match of {
        Node::Array(array) => array.iter().any(|element| compare(element, value).is_eq()),
        other => compare(other, value).is_eq(),
    }
}

fn object_contains(
    target: Object<'_>,
    candidate: Object<'_>,
    steps: &mut Steps<'_>,
) -> Result<bool, Stopped> {
    if candidate.len() > target.len() {
        return Ok(false);
    }
    for (key, value) in candidate.iter() {
        let Some(found) = target.get(key) else { return Ok(false) };
        if !within(found, value, steps)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether each candidate is contained in some element.
fn array_contains<'d>(
    target: Array<'d>,
    candidates: impl Iterator<Item = Node<'d>>,
    steps: &mut Steps<'_>,
) -> Result<bool, Stopped> {
    let mut scalars = None;
    let containers: Vec<Node<'_>> = target.iter().filter(|element| !element.is_scalar()).collect();
    for candidate in candidates {
        let is_contained = match candidate.is_scalar() {
            true => has(scalars.get_or_insert_with(|| scalars_in(target)), candidate),
            false => any_contains(&containers, candidate, steps)?,
        };
        if !is_contained {
            return Ok(false);
        }
    }
    Ok(true)
}

fn any_contains(
    containers: &[Node<'_>],
    candidate: Node<'_>,
    steps: &mut Steps<'_>,
) -> Result<bool, Stopped> {
    for container in containers {
        steps.next(0)?;
        if within(*container, candidate, steps)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// All scalars of an array and of the arrays in it, sorted: a scalar is contained in any of these arrays.
fn scalars_in(array: Array<'_>) -> Vec<Node<'_>> {
    let mut scalars = Vec::new();
    let mut pending = vec![array.iter()];
    while let Some(elements) = pending.last_mut() {
        match elements.next() {
            None => drop(pending.pop()),
            Some(Node::Array(inner)) => pending.push(inner.iter()),
            Some(Node::Object(_)) => (),
            Some(scalar) => scalars.push(scalar),
        }
    }
    sorted(scalars.into_iter())
}

fn sorted<'d>(nodes: impl Iterator<Item = Node<'d>>) -> Vec<Node<'d>> {
    let mut nodes: Vec<Node<'d>> = nodes.collect();
    nodes.sort_by(|a, b| compare(*a, *b));
    nodes
}

fn has(sorted: &[Node<'_>], node: Node<'_>) -> bool {
    sorted.binary_search_by(|other| compare(*other, node)).is_ok()
}
