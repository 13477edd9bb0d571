//! JSON_SEARCH: [`search`].

use crate::HowMany;
use crate::find::{find_places, first_unwrapped};
use crate::path::{Path, Place};
use errors::SqlResult;
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write;
use values::json::{ArrayIter, Built, Node, ObjectIter, Steps, Watch};

/// The paths of strings that match, as strings: one path, or an array if there are more; None if nothing matches. Only values
/// at or below the given paths are looked at; no path at all means the whole document. Results below a path without wildcards
/// begin as that path is written, with `last` where it says so.
pub fn search(
    document: Node<'_>,
    how_many: HowMany,
    matches: &dyn Fn(&[u8]) -> bool,
    paths: &[&Path],
    watch: &dyn Watch,
) -> SqlResult<Option<Built<'static>>> {
    let whole = Path::of(Vec::new());
    let everywhere = [&whole];
    let steps = Steps::new(watch);
    let mut results = Results { how_many, found: Vec::new(), known: HashSet::new(), steps };
    for path in if paths.is_empty() { &everywhere } else { paths } {
        if path.is_single() {
            if let Some(node) = first_unwrapped(document, path) {
                search_below(node, &path.to_string(), Vec::new(), matches, &mut results)?;
            }
            continue;
        }
        for (node, way) in find_places(document, path, watch)? {
            search_below(node, "$", way, matches, &mut results)?;
        }
    }
    let mut found = results.found.into_iter().map(|path| Built::String(Cow::Owned(path.into_bytes())));
    Ok(match found.len() {
        0 | 1 => found.next(),
        _ => Some(Built::Array(found.collect())),
    })
}

struct Results<'w> {
    how_many: HowMany,
    found: Vec<String>,
    known: HashSet<String>,
    steps: Steps<'w>,
}

impl Results<'_> {
    fn is_complete(&self) -> bool {
        self.how_many == HowMany::One && !self.found.is_empty()
    }

    fn add(&mut self, start: &str, way: &[Place<'_>]) -> SqlResult<()> {
        let mut path = start.to_owned();
        for place in way {
            // Writing to a string does not fail.
            let _ = write!(path, "{place}");
        }
        // It is held twice, and once more in the result.
        self.steps.next(3 * path.len())?;
        if self.known.insert(path.clone()) {
            self.found.push(path);
        }
        Ok(())
    }
}

enum Children<'d> {
    Elements(std::iter::Enumerate<ArrayIter<'d>>),
    Members(ObjectIter<'d>),
}

impl<'d> Children<'d> {
    fn of(node: Node<'d>) -> Option<Children<'d>> {
        match node {
            Node::Array(array) => Some(Children::Elements(array.iter().enumerate())),
            Node::Object(object) => Some(Children::Members(object.iter())),
            _ => None,
        }
    }

    fn next(&mut self) -> Option<(Place<'d>, Node<'d>)> {
        match self {
            Children::Elements(elements) => {
                elements.next().map(|(position, node)| (Place::Cell(position), node))
            }
            Children::Members(members) => members.next().map(|(key, node)| (Place::Member(key), node)),
        }
    }
}

/// Adds the paths of matching strings in a value, or of the value itself: what leads to the value, and the way from there.
fn search_below<'d>(
    node: Node<'d>,
    start: &str,
    mut way: Vec<Place<'d>>,
    matches: &dyn Fn(&[u8]) -> bool,
    results: &mut Results<'_>,
) -> SqlResult<()> {
    if results.is_complete() {
        return Ok(());
    }
    let mut visit = |node, way: &[Place<'d>]| {
        results.steps.next(0)?;
        Ok(match node {
            Node::String(text) => {
                if matches(text) {
                    results.add(start, way)?;
                }
                (None, results.is_complete())
            }
            other => (Children::of(other), false),
        })
    };
    let mut pending = Vec::from_iter(visit(node, &way)?.0);
    while let Some(children) = pending.last_mut() {
        let Some((place, node)) = children.next() else {
            pending.pop();
            way.pop();
            continue;
        };
        way.push(place);
        match visit(node, &way)? {
            (_, true) => return Ok(()),
            (Some(children), _) => pending.push(children),
            (None, _) => drop(way.pop()),
        }
    }
    Ok(())
}
