//! The way to one value in a tree, of which parts are still in their documents: [`way_to`] finds it and [`open_at`] opens it.

use crate::path::Leg;
use errors::SqlResult;
use values::json::{Built, Node, Steps};

/// A step into a container.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step<'p> {
    /// To the member of that key.
    Member(&'p [u8]),
    /// To the element at that position.
    Element(usize),
}

/// A value in a tree, or in a document of which the tree keeps parts.
#[derive(Clone, Copy)]
enum Seen<'b, 'd> {
    Tree(&'b Built<'d>),
    Document(Node<'d>),
}

impl<'b, 'd> Seen<'b, 'd> {
    fn of(value: &'b Built<'d>) -> Seen<'b, 'd> {
        match value {
            Built::Kept(node) => Seen::Document(*node),
            _ => Seen::Tree(value),
        }
    }

    fn element_count(self) -> Option<usize> {
        match self {
            Seen::Tree(Built::Array(elements)) => Some(elements.len()),
            Seen::Document(Node::Array(array)) => Some(array.len()),
            _ => None,
        }
    }

    fn member(self, key: &[u8]) -> Option<Seen<'b, 'd>> {
        match self {
            Seen::Tree(Built::Object(members)) => members.get(key).map(Seen::of),
            Seen::Document(Node::Object(object)) => object.get(key).map(Seen::Document),
            _ => None,
        }
    }

    fn element(self, position: usize) -> Option<Seen<'b, 'd>> {
        match self {
            Seen::Tree(Built::Array(elements)) => elements.get(position).map(Seen::of),
            Seen::Document(Node::Array(array)) => array.get(position).map(Seen::Document),
            _ => None,
        }
    }
}

/// The way that legs lead, each to one value; None if there is no such value. If values that are no arrays are taken as arrays
/// of themselves, their cells are no steps.
pub(super) fn way_to<'p>(value: &Built<'_>, legs: &'p [Leg], wraps: bool) -> Option<Vec<Step<'p>>> {
    let mut seen = Seen::of(value);
    let mut way = Vec::new();
    for leg in legs {
        match leg {
            Leg::Member(key) => {
                seen = seen.member(key)?;
                way.push(Step::Member(key));
            }
            Leg::Cell(cell) => match seen.element_count() {
                Some(count) => {
                    let position = cell.position(count)?;
                    seen = seen.element(position)?;
                    way.push(Step::Element(position));
                }
                None if wraps && leg.stays_at_scalar() => (),
                None => return None,
            },
            _ => return None,
        }
    }
    Some(way)
}

/// The value at the end of a way, with all containers on the way opened.
pub(super) fn open_at<'b, 'd>(
    mut value: &'b mut Built<'d>,
    way: &[Step<'_>],
    steps: &mut Steps<'_>,
) -> SqlResult<Option<&'b mut Built<'d>>> {
    for step in way {
        let next = match (value.opened(steps)?, step) {
            (Built::Object(members), Step::Member(key)) => members.get_mut(key),
            (Built::Array(elements), Step::Element(position)) => elements.get_mut(*position),
            _ => None,
        };
        let Some(next) = next else { return Ok(None) };
        value = next;
    }
    Ok(Some(value))
}

/// How many elements an array has; None for other values.
pub(super) fn element_count(value: &Built<'_>) -> Option<usize> {
    Seen::of(value).element_count()
}

/// Whether the value is an object.
pub(super) fn is_object(value: &Built<'_>) -> bool {
    matches!(value, Built::Object(_) | Built::Kept(Node::Object(_)))
}
