//! Documents changed and put together: paths are gone through from left to right.

use super::arguments::{Arguments, made};
use super::derive_json;
use crate::{Call, Derivation, FunctionDefinition, of_documents};
use errors::{SqlResult, sql_error};
use expression::DocumentWatch;
use expression::result_type::ResultType;
use json::Setting;
use values::Value;
use values::json::{Built, DEPTH_MAX, Node, Steps};

/// The family's functions.
pub static FUNCTIONS: &[FunctionDefinition] = &[
    of_documents("json_set", 3, usize::MAX, derive_changed, |call| set(call, Setting::Both)),
    of_documents("json_insert", 3, usize::MAX, derive_changed, |call| set(call, Setting::New)),
    of_documents("json_replace", 3, usize::MAX, derive_changed, |call| set(call, Setting::Old)),
    of_documents("json_array_append", 3, usize::MAX, derive_changed, array_append),
    of_documents("json_array_insert", 3, usize::MAX, derive_changed, array_insert),
    of_documents("json_remove", 2, usize::MAX, derive_json, remove),
    of_documents("json_merge", 2, usize::MAX, derive_json, merge_preserve),
    of_documents("json_merge_preserve", 2, usize::MAX, derive_json, merge_preserve),
    of_documents("json_merge_patch", 2, usize::MAX, derive_json, merge_patch),
];

/// Behind the document come pairs of a path and a value. Error 1582.
fn derive_changed(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    match derivation.count() % 2 {
        1 => derive_json(derivation),
        _ => Err(sql_error!(ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT, derivation.name)),
    }
}

/// A change of a document: what stands at a path becomes or gets a value.
type Change = dyn for<'d> Fn(&mut Built<'d>, &json::Path, Built<'d>, &mut Steps<'_>) -> SqlResult<bool>;

/// Goes through the pairs; NULL if the document or a path is.
fn changed(call: &mut Call<'_>, change: &Change) -> SqlResult<Value> {
    let Some(document) = call.document(0)? else { return Ok(Value::Null) };
    let mut pairs = Vec::with_capacity(call.count() / 2);
    for index in (1..call.count()).step_by(2) {
        let Some(path) = call.path(index, true)? else { return Ok(Value::Null) };
        if path.legs().len() > DEPTH_MAX {
            // What stood there would be deeper than a document may be.
            return Err(sql_error!(ER_JSON_DOCUMENT_TOO_DEEP));
        }
        pairs.push((path, call.element(index + 1)?));
    }
    let watch = DocumentWatch::new(call.context());
    let mut steps = Steps::new(&watch);
    let mut built = Built::Kept(document.node());
    for (path, value) in &pairs {
        // A change at the front of a long array moves all behind it.
        steps.ask()?;
        change(&mut built, path, Built::Kept(Node::of(value)), &mut steps)?;
    }
    made(&built, &watch)
}

fn set(call: &mut Call<'_>, setting: Setting) -> SqlResult<Value> {
    changed(call, &move |document, path, value, steps| json::set(document, path, value, setting, steps))
}

fn array_append(call: &mut Call<'_>) -> SqlResult<Value> {
    changed(call, &|document, path, value, steps| json::array_append(document, path, value, steps))
}

fn array_insert(call: &mut Call<'_>) -> SqlResult<Value> {
    changed(call, &|document, path, value, steps| json::array_insert(document, path, value, steps))
}

fn remove(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(document) = call.document(0)? else { return Ok(Value::Null) };
    let Some(paths) = call.paths(1, true)? else { return Ok(Value::Null) };
    let watch = DocumentWatch::new(call.context());
    let mut steps = Steps::new(&watch);
    let mut built = Built::Kept(document.node());
    for path in &paths {
        steps.ask()?;
        json::remove(&mut built, path, &mut steps)?;
    }
    made(&built, &watch)
}

fn merge_preserve(call: &mut Call<'_>) -> SqlResult<Value> {
    let mut documents = Vec::with_capacity(call.count());
    let mut has_null = false;
    for index in 0..call.count() {
        match call.document(index)? {
            Some(document) => documents.push(document),
            None => has_null = true,
        }
    }
    if has_null {
        return Ok(Value::Null);
    }
    let mut rest = documents.iter().map(|document| Built::Kept(document.node()));
    let first = rest.next().unwrap_or(Built::Null);
    let watch = DocumentWatch::new(call.context());
    let mut steps = Steps::new(&watch);
    let merged = rest.try_fold(first, |merged, next| json::merge_preserve(merged, next, &mut steps))?;
    made(&merged, &watch)
}

/// What is no object takes the place of all before it, also of NULL.
fn merge_patch(call: &mut Call<'_>) -> SqlResult<Value> {
    let mut documents = Vec::with_capacity(call.count());
    for index in 0..call.count() {
        documents.push(call.document(index)?);
    }
    let watch = DocumentWatch::new(call.context());
    let mut steps = Steps::new(&watch);
    let mut merged: Option<Built<'_>> = None;
    for (index, document) in documents.iter().enumerate() {
        let Some(document) = document else {
            merged = None;
            continue;
        };
        let patch = document.node();
        merged = match (merged, patch) {
            _ if index == 0 => Some(Built::Kept(patch)),
            (None, Node::Object(_)) => None,
            (None, patch) => Some(Built::Kept(patch)),
            (Some(target), patch) => Some(json::merge_patch(target, patch, &mut steps)?),
        };
    }
    merged.map_or(Ok(Value::Null), |merged| made(&merged, &watch))
}
