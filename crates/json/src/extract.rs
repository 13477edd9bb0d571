//! Parts of documents and facts about them: JSON_EXTRACT, JSON_CONTAINS_PATH, JSON_KEYS, JSON_LENGTH.

use crate::HowMany;
use crate::find::{exists, find, first, first_unwrapped};
use crate::path::Path;
use errors::SqlResult;
use std::borrow::Cow;
use values::json::{Built, Node, Steps, Watch};

/// The values at paths; None if there are none. More than one path, or one that may lead to more than one value, gives an
/// array; a value that two paths lead to is in it twice.
pub fn extract<'d>(document: Node<'d>, paths: &[&Path], watch: &dyn Watch) -> SqlResult<Option<Built<'d>>> {
    if let [path] = paths
        && path.is_single()
    {
        return Ok(first(document, path, watch)?.map(Built::Kept));
    }
    let mut found: Vec<Built<'d>> = Vec::new();
    for path in paths {
        found.extend(find(document, path, watch)?.into_iter().map(Built::Kept));
    }
    Ok((!found.is_empty()).then_some(Built::Array(found)))
}

/// Whether one path, or all paths, lead to a value.
pub fn contains_path(
    document: Node<'_>,
    how_many: HowMany,
    paths: &[&Path],
    watch: &dyn Watch,
) -> SqlResult<bool> {
    for path in paths {
        let is_there = exists(document, path, watch)?;
        if is_there == (how_many == HowMany::One) {
            return Ok(is_there);
        }
    }
    Ok(how_many == HowMany::All)
}

/// The keys of the object at a path, as an array; None if there is none. An object is not taken as an array of itself: `$[0]`
/// leads to none.
pub fn keys<'d>(document: Node<'d>, path: &Path, watch: &dyn Watch) -> SqlResult<Option<Built<'d>>> {
    let Some(Node::Object(object)) = first_unwrapped(document, path) else { return Ok(None) };
    let mut steps = Steps::new(watch);
    let mut keys = Vec::with_capacity(object.len());
    for (key, _) in object {
        steps.next(size_of::<Built<'_>>())?;
        keys.push(Built::String(Cow::Borrowed(key)));
    }
    Ok(Some(Built::Array(keys)))
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
pub fn length_at(document: Node<'_>, path: &Path, watch: &dyn Watch) -> SqlResult<Option<usize>> {
    Ok(match path.is_single() {
        true => first(document, path, watch)?.map(length),
        false => Some(find(document, path, watch)?.len()).filter(|count| *count > 0),
    })
}
