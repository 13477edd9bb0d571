//! Values that a path leads to: [`find`], [`first`], [`exists`] and [`find_places`]. A scalar or an object is taken as an array
//! of itself where a path asks for its first or last element, but not by JSON_KEYS, JSON_SEARCH and JSON_ARRAY_INSERT. Each value is found once, in the order of MySQL: step by
//! step, and for `**` a value before what is in it.

mod places;

use crate::path::{Leg, Path, Place, range_of};
use errors::SqlResult;
use places::Places;
use std::ops::ControlFlow;
use values::json::{ArrayIter, Node, ObjectIter, Steps, Watch};

/// The values that a path leads to.
pub fn find<'d>(document: Node<'d>, path: &Path, watch: &dyn Watch) -> SqlResult<Vec<Node<'d>>> {
    let mut found = Vec::new();
    Search::wrapping(path.legs(), watch).run(document, &mut |node, _| {
        found.push(node);
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

/// The first value that a path leads to.
pub fn first<'d>(document: Node<'d>, path: &Path, watch: &dyn Watch) -> SqlResult<Option<Node<'d>>> {
    let mut found = None;
    Search::wrapping(path.legs(), watch).run(document, &mut |node, _| {
        found = Some(node);
        ControlFlow::Break(())
    })?;
    Ok(found)
}

/// Whether a path leads to any value.
pub fn exists(document: Node<'_>, path: &Path, watch: &dyn Watch) -> SqlResult<bool> {
    Ok(first(document, path, watch)?.is_some())
}

/// The value that a path without wildcards leads to, where no value is taken as an array of itself.
pub fn first_unwrapped<'d>(document: Node<'d>, path: &Path) -> Option<Node<'d>> {
    path.legs().iter().try_fold(document, |node, leg| match (node, leg) {
        (Node::Object(object), Leg::Member(key)) => object.get(key),
        (Node::Array(array), Leg::Cell(cell)) => array.get(cell.position(array.len())?),
        _ => None,
    })
}

/// Values, and where each of them is in the document.
pub type Found<'d> = Vec<(Node<'d>, Vec<Place<'d>>)>;

/// The values that a path leads to, and where each of them is in the document. No value is taken as an array of itself.
pub fn find_places<'d>(document: Node<'d>, path: &Path, watch: &dyn Watch) -> SqlResult<Found<'d>> {
    let mut found = Vec::new();
    let (places, steps) = (Some(Places::default()), Steps::new(watch));
    let mut search = Search { legs: path.legs(), places, wraps: false, steps };
    search.run(document, &mut |node, place| {
        found.push((node, place));
        ControlFlow::Continue(())
    })?;
    let places = search.places.unwrap_or_default();
    Ok(found.into_iter().map(|(node, place)| (node, places.way_to(place))).collect())
}

/// Whether more than one way may lead to a value: over another `**`, or because a scalar is also its own element.
fn has_many_ways(legs: &[Leg]) -> bool {
    let mut after = legs.iter().skip_while(|leg| **leg != Leg::Descendants).skip(1);
    after.any(|leg| *leg == Leg::Descendants || leg.stays_at_scalar())
}

/// What is done with a value and the number of its place; it may end the search.
type Visit<'v, 'd> = &'v mut dyn FnMut(Node<'d>, u32) -> ControlFlow<()>;

/// Bytes that a value takes that is found, in the result that is made of it.
const FOUND_BYTES: usize = 48;

struct Search<'p, 'd> {
    legs: &'p [Leg],
    /// The places seen, where that is asked for or a value may be reached in many ways.
    places: Option<Places<'d>>,
    /// Whether values that are no arrays are taken as arrays of themselves.
    wraps: bool,
    steps: Steps<'p>,
}

/// A value, the number of its place, and how many legs lead to it.
#[derive(Clone, Copy)]
struct Reached<'d> {
    node: Node<'d>,
    place: u32,
    leg: usize,
}

/// Values in a container that still have to be looked at.
struct Pending<'d> {
    children: Children<'d>,
    /// The place of the container.
    place: u32,
    /// How many legs lead to each of them.
    leg: usize,
}

/// The values from one position up to another. Iterators are used, as they do not read damaged bytes twice.
struct Children<'d> {
    items: Items<'d>,
    next: usize,
    end: usize,
}

enum Items<'d> {
    Array(ArrayIter<'d>),
    Object(ObjectIter<'d>),
    /// The one value at the next position.
    One(Node<'d>, Place<'d>),
}

impl<'p, 'd> Search<'p, 'd> {
    fn wrapping(legs: &'p [Leg], watch: &'p dyn Watch) -> Search<'p, 'd> {
        let places = has_many_ways(legs).then(Places::default);
        Search { legs, places, wraps: true, steps: Steps::new(watch) }
    }

    /// Visits the values that all legs lead to. The stack is as deep as the document, and twice that for each `**`.
    fn run(&mut self, document: Node<'d>, visit: Visit<'_, 'd>) -> SqlResult<()> {
        let mut stack = Vec::new();
        if self.follow(Reached { node: document, place: 0, leg: 0 }, &mut stack, visit).is_break() {
            return Ok(());
        }
        while let Some(pending) = stack.last_mut() {
            let (place, leg) = (pending.place, pending.leg);
            match pending.children.next() {
                None => drop(stack.pop()),
                Some((node, way)) => {
                    self.steps.next(FOUND_BYTES)?;
                    let place = self.places.as_mut().map_or(0, |places| places.enter(place, way));
                    if self.follow(Reached { node, place, leg }, &mut stack, visit).is_break() {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    /// Follows the legs from a value as long as each leads to one value; of those that lead to more, it puts them on the
    /// stack.
    fn follow(
        &mut self,
        mut reached: Reached<'d>,
        stack: &mut Vec<Pending<'d>>,
        visit: Visit<'_, 'd>,
    ) -> ControlFlow<()> {
        loop {
            if let Some(places) = &mut self.places
                && !places.is_new(reached.place, reached.leg)
            {
                return ControlFlow::Continue(());
            }
            let Some(leg) = self.legs.get(reached.leg) else { return visit(reached.node, reached.place) };
            let next = reached.leg + 1;
            let stays = match leg {
                Leg::Descendants => true,
                _ => self.wraps && !matches!(reached.node, Node::Array(_)) && leg.stays_at_scalar(),
            };
            let (children, leg_of_children) = match leg {
                Leg::Descendants => (Children::all(reached.node), reached.leg),
                _ => (Children::of(reached.node, leg), next),
            };
            if let Some(children) = children {
                stack.push(Pending { children, place: reached.place, leg: leg_of_children });
            }
            if !stays {
                return ControlFlow::Continue(());
            }
            reached.leg = next;
        }
    }
}

impl<'d> Children<'d> {
    /// All values in a container; None for scalars.
    fn all(node: Node<'d>) -> Option<Children<'d>> {
        match node {
            Node::Array(array) => {
                Some(Children { items: Items::Array(array.iter()), next: 0, end: array.len() })
            }
            Node::Object(object) => {
                Some(Children { items: Items::Object(object.iter()), next: 0, end: object.len() })
            }
            _ => None,
        }
    }

    /// The values that a leg leads to; None if there are none.
    fn of(node: Node<'d>, leg: &Leg) -> Option<Children<'d>> {
        match (node, leg) {
            (Node::Array(_), Leg::AnyCell) | (Node::Object(_), Leg::AnyMember) => Children::all(node),
            (Node::Array(array), Leg::Range(from, to)) => {
                let (start, end) = range_of(*from, *to, array.len());
                let mut elements = array.iter();
                if let Some(last_skipped) = start.checked_sub(1) {
                    elements.nth(last_skipped);
                }
                Some(Children { items: Items::Array(elements), next: start, end })
            }
            (Node::Array(array), Leg::Cell(cell)) => {
                let position = cell.position(array.len())?;
                Some(Children::one(array.get(position)?, position, Place::Cell(position)))
            }
            (Node::Object(object), Leg::Member(key)) => {
                let position = object.position(key)?;
                let (key, member) = object.entry(position)?;
                Some(Children::one(member, position, Place::Member(key)))
            }
            _ => None,
        }
    }

    fn one(node: Node<'d>, position: usize, place: Place<'d>) -> Children<'d> {
        Children { items: Items::One(node, place), next: position, end: position + 1 }
    }

    /// The next value, and the way to it from the container: its position and how a path names it.
    fn next(&mut self) -> Option<(Node<'d>, (u32, Place<'d>))> {
        if self.next >= self.end {
            return None;
        }
        let position = self.next;
        self.next += 1;
        let (node, place) = match &mut self.items {
            Items::Array(elements) => (elements.next()?, Place::Cell(position)),
            Items::Object(members) => {
                let (key, node) = members.next()?;
                (node, Place::Member(key))
            }
            Items::One(node, place) => (*node, *place),
        };
        Some((node, (position as u32, place)))
    }
}
