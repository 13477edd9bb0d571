//! Parts of documents and facts about them: JSON_EXTRACT, JSON_CONTAINS_PATH, JSON_KEYS, JSON_LENGTH.

use crate::HowMany;
use crate::find::{exists, find, first, first_unwrapped};
use crate::path::Path;
use std::borrow::Cow;
use values::json::{Built, Node};

/// The values at paths; None if there are none. More than one path, or one that may lead to more than one value, gives an
/// array; a value that two paths lead to is in it twice.
pub fn extract<'d>(document: Node<'d>, paths: &[&Path]) -> Option<Built<'d>> {
    if let [path] = paths
        && path.is_single()
    {
        return first(document, path).map(Built::Kept);
    }
    let found: Vec<Built<'d>> = paths.iter().flat_map(|path| find(document, path)).map(Built::Kept).collect();
    (!found.is_empty()).then_some(Built::Array(found))
}

/// Whether one path, or all paths, lead to a value.
pub fn contains_path(document: Node<'_>, how_many: HowMany, paths: &[&Path]) -> bool {
    match how_many {
        HowMany::One => paths.iter().any(|path| exists(document, path)),
        HowMany::All => paths.iter().all(|path| exists(document, path)),
    }
}

/// The keys of the object at a path, as an array; None if there is none. An object is not taken as an array of itself: `$[0]`
/// leads to none.
pub fn keys<'d>(document: Node<'d>, path: &Path) -> Option<Built<'d>> {
    let Some(Node::Object(object)) = first_unwrapped(document, path) else { return None };
    Some(Built::Array(object.iter().map(|(key, _)| Built::String(Cow::Borrowed(key))).collect()))
}

/// How many elements or members a container has, and 1 for scalars.
pub fn length(node: Node<'_>) -> usize {
    match node {
        Node::Array(array) => array.len(),
        Node::Object(object) => object.len(),
        _ => 1,
    }
}

/// The [`length`] of what [`extract`] finds at a path: for a path with wildcards it is the number of values.
pub fn length_at(document: Node<'_>, path: &Path) -> Option<usize> {
    match path.is_single() {
        true => first(document, path).map(length),
        false => Some(find(document, path).len()).filter(|count| *count > 0),
    }
}
