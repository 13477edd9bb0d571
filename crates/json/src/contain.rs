//! What is in documents: JSON_CONTAINS, JSON_OVERLAPS and MEMBER OF.

use errors::SqlResult;
use values::json::{Array, ArrayIter, Node, Object, Steps, Watch, compare};

/// Whether a candidate is contained in a target: an object in an object that contains the values of all its keys, an array
/// in an array if each element is contained in some element, another value in an array that has it or in a value that is
/// equal. Scalars of an array are found by binary search; containers in arrays are tried one with another, which takes the
/// product of both sizes in the worst case. Asks now and then whether it may go on.
pub fn contains(target: Node<'_>, candidate: Node<'_>, watch: &dyn Watch) -> SqlResult<bool> {
    within(target, candidate, &mut Steps::new(watch))
}

fn within(target: Node<'_>, candidate: Node<'_>, steps: &mut Steps<'_>) -> SqlResult<bool> {
    match (target, candidate) {
        (Node::Array(target), Node::Array(candidate)) => array_contains(target, candidate.iter(), steps),
        (Node::Array(target), candidate) if candidate.is_scalar() => scalar_is_in(target, candidate, steps),
        (Node::Array(target), candidate) => array_contains(target, std::iter::once(candidate), steps),
        (Node::Object(target), Node::Object(candidate)) => object_contains(target, candidate, steps),
        (target, candidate) => {
            Ok(target.is_scalar() && candidate.is_scalar() && compare(target, candidate).is_eq())
        }
    }
}

/// Whether two values have something in common: arrays an element, objects a member; a value that is no array is taken as one
/// of itself if the other is an array. Other values have to be equal.
pub fn overlaps(a: Node<'_>, b: Node<'_>, watch: &dyn Watch) -> SqlResult<bool> {
    let mut steps = Steps::new(watch);
    Ok(match (a, b) {
        (Node::Array(a), Node::Array(b)) => {
            let (few, many) = if a.len() < b.len() { (a, b) } else { (b, a) };
            let few = sorted(few.iter(), few.len(), &mut steps)?;
            return any(many.iter(), &mut steps, |element| has(&few, *element));
        }
        (array @ Node::Array(_), other) | (other, array @ Node::Array(_)) => {
            is_equal_to_any(other, array, &mut steps)?
        }
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
) -> SqlResult<bool> {
    for item in items {
        steps.next(0)?;
        if holds(&item) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a value is an element of an array, or equal to a value that is no array.
pub fn is_member(value: Node<'_>, of: Node<'_>, watch: &dyn Watch) -> SqlResult<bool> {
    is_equal_to_any(value, of, &mut Steps::new(watch))
}

fn is_equal_to_any(value: Node<'_>, of: Node<'_>, steps: &mut Steps<'_>) -> SqlResult<bool> {
    match of {
        Node::Array(array) => any(array.iter(), steps, |element| compare(*element, value).is_eq()),
        other => Ok(compare(other, value).is_eq()),
    }
}

fn object_contains(target: Object<'_>, candidate: Object<'_>, steps: &mut Steps<'_>) -> SqlResult<bool> {
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
) -> SqlResult<bool> {
    let mut scalars = None;
    let mut containers = Vec::new();
    for container in target.iter().filter(|element| !element.is_scalar()) {
        steps.next(size_of::<Node<'_>>())?;
        containers.push(container);
    }
    for candidate in candidates {
        let is_contained = match candidate.is_scalar() {
            true => {
                let scalars = match &mut scalars {
                    Some(scalars) => scalars,
                    none => none.insert(scalars_in(target, steps)?),
                };
                has(scalars, candidate)
            }
            false => any_contains(&containers, candidate, steps)?,
        };
        if !is_contained {
            return Ok(false);
        }
    }
    Ok(true)
}

fn any_contains(containers: &[Node<'_>], candidate: Node<'_>, steps: &mut Steps<'_>) -> SqlResult<bool> {
    for container in containers {
        steps.next(0)?;
        if within(*container, candidate, steps)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The scalars of an array and of the arrays in it: a scalar is contained in any of these arrays.
struct Scalars<'d> {
    pending: Vec<ArrayIter<'d>>,
}

impl<'d> Scalars<'d> {
    fn of(array: Array<'d>) -> Scalars<'d> {
        Scalars { pending: vec![array.iter()] }
    }
}

impl<'d> Iterator for Scalars<'d> {
    type Item = Node<'d>;

    fn next(&mut self) -> Option<Node<'d>> {
        while let Some(elements) = self.pending.last_mut() {
            match elements.next() {
                None => drop(self.pending.pop()),
                Some(Node::Array(inner)) => self.pending.push(inner.iter()),
                Some(Node::Object(_)) => (),
                scalar => return scalar,
            }
        }
        None
    }
}

fn scalar_is_in(array: Array<'_>, scalar: Node<'_>, steps: &mut Steps<'_>) -> SqlResult<bool> {
    any(Scalars::of(array), steps, |other| compare(*other, scalar).is_eq())
}

fn scalars_in<'d>(array: Array<'d>, steps: &mut Steps<'_>) -> SqlResult<Vec<Node<'d>>> {
    sorted(Scalars::of(array), array.len(), steps)
}

/// In order; of some `count`, so that a long list need not grow, and be in memory twice.
fn sorted<'d>(
    nodes: impl Iterator<Item = Node<'d>>,
    count: usize,
    steps: &mut Steps<'_>,
) -> SqlResult<Vec<Node<'d>>> {
    let mut sorted = Vec::with_capacity(count);
    for node in nodes {
        steps.next(size_of::<Node<'_>>())?;
        sorted.push(node);
    }
    steps.sort(&mut sorted, |a, b| compare(*a, *b))?;
    Ok(sorted)
}

fn has(sorted: &[Node<'_>], node: Node<'_>) -> bool {
    sorted.binary_search_by(|other| compare(*other, node)).is_ok()
}
