//! Changes of documents: JSON_SET, JSON_INSERT, JSON_REPLACE, JSON_ARRAY_APPEND, JSON_ARRAY_INSERT and JSON_REMOVE. Each changes a
//! tree at one path, so a call with more of them goes from left to right. Nothing is opened where nothing changes; what is opened are steps
//! of the work.

mod way;

use crate::path::{Cell, Leg, Path};
use errors::{SqlResult, sql_error};
use std::mem::replace;
use values::json::{Built, Steps};
use way::{Step, element_count, is_object, open_at, way_to};

/// Which values [`set`] may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// JSON_SET: values that are there, and new ones.
    Both,
    /// JSON_INSERT: new ones.
    New,
    /// JSON_REPLACE: those that are there.
    Old,
}

/// Sets the value at a path that leads to one value. A new one is made if the path leads into a container that is there; a
/// cell outside its array goes to the array's nearer end. Returns whether something was written.
pub fn set<'d>(
    document: &mut Built<'d>,
    path: &Path,
    value: Built<'d>,
    setting: Setting,
    steps: &mut Steps<'_>,
) -> SqlResult<bool> {
    if let Some(way) = way_to(document, path.legs(), true) {
        let is_written = setting != Setting::New;
        if is_written && let Some(old) = open_at(document, &way, steps)? {
            *old = value;
        }
        return Ok(is_written);
    }
    let Some((last, legs)) = path.legs().split_last() else { return Ok(false) };
    let container = way_to(document, legs, true).filter(|_| setting != Setting::Old);
    let Some(way) = container else { return Ok(false) };
    let Some(container) = open_at(document, &way, steps)? else { return Ok(false) };
    match last {
        Leg::Member(key) if is_object(container) => {
            if let Built::Object(members) = container.opened(steps)? {
                members.insert(key.clone(), value);
            }
            Ok(true)
        }
        Leg::Cell(cell) => {
            wrap(container);
            insert_at(container, *cell, value, steps)
        }
        _ => Ok(false),
    }
}

/// Appends a value to the array at a path; another value there becomes the first element of an array. Returns whether there
/// was one.
pub fn array_append<'d>(
    document: &mut Built<'d>,
    path: &Path,
    value: Built<'d>,
    steps: &mut Steps<'_>,
) -> SqlResult<bool> {
    let Some(way) = way_to(document, path.legs(), true) else { return Ok(false) };
    let Some(found) = open_at(document, &way, steps)? else { return Ok(false) };
    wrap(found);
    let Built::Array(elements) = found.opened(steps)? else { return Ok(false) };
    elements.push(value);
    Ok(true)
}

/// Inserts a value before the element that a path leads to. Does nothing if that is not in an array; no value is
/// taken as an array of itself. Returns whether it was inserted. ER_INVALID_JSON_PATH_ARRAY_CELL if the path does not end with a cell.
pub fn array_insert<'d>(
    document: &mut Built<'d>,
    path: &Path,
    value: Built<'d>,
    steps: &mut Steps<'_>,
) -> SqlResult<bool> {
    let Some((Leg::Cell(cell), legs)) = path.legs().split_last() else {
        return Err(sql_error!(ER_INVALID_JSON_PATH_ARRAY_CELL));
    };
    let Some(way) = way_to(document, legs, false) else { return Ok(false) };
    let Some(found) = open_at(document, &way, steps)? else { return Ok(false) };
    match element_count(found) {
        Some(_) => insert_at(found, *cell, value, steps),
        None => Ok(false),
    }
}

/// Takes out the value at a path. Returns whether there was one. ER_JSON_VACUOUS_PATH for the path `$`; other paths that lead
/// to the document's own value do nothing.
pub fn remove(document: &mut Built<'_>, path: &Path, steps: &mut Steps<'_>) -> SqlResult<bool> {
    if path.legs().is_empty() {
        return Err(sql_error!(ER_JSON_VACUOUS_PATH));
    }
    let Some(way) = way_to(document, path.legs(), true) else { return Ok(false) };
    let Some((last, container)) = way.split_last() else { return Ok(false) };
    let Some(container) = open_at(document, container, steps)? else { return Ok(false) };
    match (container.opened(steps)?, last) {
        (Built::Array(elements), Step::Element(position)) if *position < elements.len() => {
            elements.remove(*position);
            Ok(true)
        }
        (Built::Object(members), Step::Member(key)) => Ok(members.remove(key).is_some()),
        _ => Ok(false),
    }
}

/// Makes an array of a value that is none.
fn wrap(value: &mut Built<'_>) {
    if element_count(value).is_none() {
        let inner = replace(value, Built::Null);
        *value = Built::Array(vec![inner]);
    }
}

/// Inserts before the element at a cell, or at the nearer end if there is none. Returns whether it was an array.
fn insert_at<'d>(
    array: &mut Built<'d>,
    cell: Cell,
    value: Built<'d>,
    steps: &mut Steps<'_>,
) -> SqlResult<bool> {
    let Built::Array(elements) = array.opened(steps)? else { return Ok(false) };
    elements.insert(cell.nearest(elements.len()).min(elements.len()), value);
    Ok(true)
}
