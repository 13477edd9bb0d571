//! What documents are asked: type, size, parts, whether and where something is in them.

use super::arguments::{Arguments, borrowed, made, truth};
use super::{derive_certain, derive_count, derive_json, short_text};
use crate::{Call, Derivation, FunctionDefinition, of_documents};
use charset::CollationId;
use errors::{ErrorCode, SqlResult, code, sql_error};
use expression::DocumentWatch;
use expression::result_type::{Coercibility, ResultType, TypeClass};
use json::HowMany;
use values::json::{Node, Steps, Watch, print_pretty};
use values::{TypeKind, Value, ValueRef};

/// The family's functions.
pub static FUNCTIONS: &[FunctionDefinition] = &[
    of_documents("json_type", 1, 1, |_| Ok(short_text(TYPE_CHARACTERS)), kind),
    of_documents("json_valid", 1, 1, derive_count, is_valid),
    of_documents("json_depth", 1, 1, derive_count, depth),
    of_documents("json_length", 1, 2, derive_count, length),
    of_documents("json_storage_size", 1, 1, derive_count, storage_size),
    of_documents("json_storage_free", 1, 1, derive_free, storage_free),
    of_documents("json_keys", 1, 2, derive_json, keys),
    of_documents("json_pretty", 1, 1, |_| Ok(short_text(PRETTY_CHARACTERS)), pretty),
    of_documents("json_extract", 2, usize::MAX, derive_json, extract),
    of_documents("json_contains", 2, 3, derive_count, contains),
    of_documents("json_overlaps", 2, 2, derive_certain, overlaps),
    of_documents("json_contains_path", 3, usize::MAX, derive_count, contains_path),
    of_documents("json_search", 3, usize::MAX, derive_json, search),
];

/// The operator MEMBER OF.
pub static MEMBER_OF: FunctionDefinition =
    of_documents(expression::builtin::MEMBER_OF, 2, 2, derive_certain, is_member);

/// Characters that MySQL says that JSON_PRETTY's text may have.
const PRETTY_CHARACTERS: u32 = 1 << 24;
/// Characters of the longest name of a type.
const TYPE_CHARACTERS: u32 = 17;

fn derive_free(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    Ok(ResultType::integer(21).nullable_if(derivation.any_nullable()))
}

fn kind(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(document) = call.document(0)? else { return Ok(Value::Null) };
    Ok(Value::Bytes(document.node().type_name().as_bytes().to_vec()))
}

/// Errors of what is no JSON. A document that is too deep is an error all the same.
const NO_JSON: [&ErrorCode; 3] =
    [&code::ER_INVALID_JSON_TEXT_IN_PARAM, &code::ER_INVALID_JSON_CHARSET, &code::ER_INVALID_TYPE_FOR_JSON];

/// Nothing but JSON and its text is valid.
fn is_valid(call: &mut Call<'_>) -> SqlResult<Value> {
    if call.argument(0).class() == TypeClass::Null {
        return Ok(Value::Null);
    }
    match call.document(0) {
        Ok(Some(_)) => Ok(truth(true)),
        Ok(None) => Ok(Value::Null),
        Err(error) if NO_JSON.iter().any(|code| error.is(code)) => Ok(truth(false)),
        Err(error) => Err(error),
    }
}

fn depth(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(document) = call.document(0)? else { return Ok(Value::Null) };
    let watch = DocumentWatch::new(call.context());
    Ok(Value::Int(document.node().depth(&mut Steps::new(&watch))? as i64))
}

fn length(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(document) = call.document(0)? else { return Ok(Value::Null) };
    if call.count() == 1 {
        return Ok(Value::Int(json::length(document.node()) as i64));
    }
    let Some(path) = call.path(1, false)? else { return Ok(Value::Null) };
    let length = json::length_at(document.node(), &path, &DocumentWatch::new(call.context()))?;
    Ok(length.map_or(Value::Null, |length| Value::Int(length as i64)))
}

fn storage_size(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(document) = call.document(0)? else { return Ok(Value::Null) };
    Ok(Value::Int(document.bytes() as i64))
}

/// Documents are written anew when they change: none has room in it.
fn storage_free(call: &mut Call<'_>) -> SqlResult<Value> {
    Ok(call.document(0)?.map_or(Value::Null, |_| Value::Int(0)))
}

fn keys(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(document) = call.document(0)? else { return Ok(Value::Null) };
    let whole = json::Path::of(Vec::new());
    let path = if call.count() > 1 { call.path(1, true)? } else { Some(std::rc::Rc::new(whole)) };
    let Some(path) = path else { return Ok(Value::Null) };
    let watch = DocumentWatch::new(call.context());
    let keys = json::keys(document.node(), &path, &watch)?;
    keys.map_or(Ok(Value::Null), |keys| made(&keys, &watch))
}

fn pretty(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(document) = call.document(0)? else { return Ok(Value::Null) };
    let mut text = Vec::new();
    let watch = DocumentWatch::new(call.context());
    let limit = watch.bytes_max();
    let is_whole = print_pretty(document.node(), &mut text, limit, &watch)?;
    drop(watch);
    if !is_whole {
        call.warn(sql_error!(ER_WARN_ALLOWED_PACKET_OVERFLOWED, call.name(), limit));
        return Ok(Value::Null);
    }
    Ok(Value::Bytes(text))
}

fn extract(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(document) = call.document(0)? else { return Ok(Value::Null) };
    if call.count() == 2 {
        let Some(path) = call.path(1, false)? else { return Ok(Value::Null) };
        let watch = DocumentWatch::new(call.context());
        let found = json::extract(document.node(), &[&path], &watch)?;
        return found.map_or(Ok(Value::Null), |found| made(&found, &watch));
    }
    let Some(paths) = call.paths(1, false)? else { return Ok(Value::Null) };
    let paths = borrowed(&paths);
    let watch = DocumentWatch::new(call.context());
    let found = json::extract(document.node(), &paths, &watch)?;
    found.map_or(Ok(Value::Null), |found| made(&found, &watch))
}

fn contains(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(document) = call.document(0)? else { return Ok(Value::Null) };
    let Some(candidate) = call.document(1)? else { return Ok(Value::Null) };
    let mut target = document.node();
    if call.count() > 2 {
        let Some(path) = call.path(2, true)? else { return Ok(Value::Null) };
        let found = json::first(target, &path, &DocumentWatch::new(call.context()))?;
        let Some(found) = found else { return Ok(Value::Null) };
        target = found;
    }
    json::contains(target, candidate.node(), &DocumentWatch::new(call.context())).map(truth)
}

fn overlaps(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(left) = call.document(0)? else { return Ok(Value::Null) };
    let Some(right) = call.document(1)? else { return Ok(Value::Null) };
    json::overlaps(left.node(), right.node(), &DocumentWatch::new(call.context())).map(truth)
}

fn how_many(call: &mut Call<'_>) -> SqlResult<Option<HowMany>> {
    let name = call.name();
    let Some(word) = call.utf8_bytes(1)? else { return Ok(None) };
    HowMany::parse(&word, name).map(Some)
}

fn contains_path(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(document) = call.document(0)? else { return Ok(Value::Null) };
    let Some(how_many) = how_many(call)? else { return Ok(Value::Null) };
    let Some(paths) = call.paths(2, false)? else { return Ok(Value::Null) };
    let paths = borrowed(&paths);
    let watch = DocumentWatch::new(call.context());
    json::contains_path(document.node(), how_many, &paths, &watch).map(truth)
}

/// JSON_SEARCH(document, one or all, pattern, escape, paths): the escape is a backslash where none is given.
/// The texts of a document are those of `utf8mb4_bin`, which gives way to the collation of a column.
fn search_collation(pattern: &ResultType) -> CollationId {
    let is_stronger = pattern.coercibility < Coercibility::Coercible && pattern.class() == TypeClass::Text;
    match is_stronger && pattern.collation().charset().name.starts_with("utf8") {
        true => pattern.collation(),
        false => CollationId::UTF8MB4_BIN,
    }
}

fn search(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(document) = call.document(0)? else { return Ok(Value::Null) };
    let Some(how_many) = how_many(call)? else { return Ok(Value::Null) };
    let Some(pattern) = call.utf8_bytes(2)? else { return Ok(Value::Null) };
    let escape = match call.count() {
        3 => None,
        _ => call.utf8_bytes(3)?,
    };
    let mut characters = escape.as_deref().map(String::from_utf8_lossy).unwrap_or_default().into_owned();
    let escape = characters.pop().unwrap_or('\\');
    if !characters.is_empty() {
        return Err(sql_error!(ER_WRONG_ARGUMENTS, "ESCAPE"));
    }
    let paths = if call.count() > 4 { call.paths(4, false)? } else { Some(Vec::new()) };
    let Some(paths) = paths else { return Ok(Value::Null) };
    let collation = search_collation(call.argument(2)).get();
    let (watch, paths) = (DocumentWatch::new(call.context()), borrowed(&paths));
    let matches = |text: &[u8]| {
        let mut goes_on = || watch.go_on(0).is_ok();
        collation.like(text, &pattern, Some(u32::from(escape)), &mut goes_on) == Ok(true)
    };
    let found = json::search(document.node(), how_many, &matches, &paths, &watch)?;
    found.map_or(Ok(Value::Null), |found| made(&found, &watch))
}

/// The value is an SQL value, what it may be in is a document.
fn is_member(call: &mut Call<'_>) -> SqlResult<Value> {
    let value = call.operand(0)?;
    if value.is_null() {
        return Ok(Value::Null);
    }
    let own;
    let element = match value.as_ref() {
        ValueRef::Bytes(document) if call.argument(0).kind() == TypeKind::Json => document,
        _ => {
            own = call.element(0)?;
            &own
        }
    };
    let Some(document) = call.document(1)? else { return Ok(Value::Null) };
    json::is_member(Node::of(element), document.node(), &DocumentWatch::new(call.context())).map(truth)
}
