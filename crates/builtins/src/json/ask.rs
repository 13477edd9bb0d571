//! What documents are asked: type, size, parts, whether and where something is in them.

use super::arguments::{Arguments, Bounds, borrowed, encoded, truth};
use super::{derive_certain, derive_count, derive_json, short_text};
use crate::{Call, FunctionDefinition, of_documents};
use charset::CollationId;
use errors::{ErrorCode, SqlResult, code, sql_error};
use expression::result_type::{ResultType, TypeClass};
use json::{HowMany, Stopped, Watch};
use values::json::{Node, print_pretty};
use values::{TypeKind, Value, ValueRef};

/// The family's functions.
pub static FUNCTIONS: &[FunctionDefinition] = &[
    of_documents("json_type", 1, 1, |_| Ok(short_text(TYPE_CHARACTERS)), kind),
    of_documents("json_valid", 1, 1, derive_count, is_valid),
    of_documents("json_depth", 1, 1, derive_count, depth),
    of_documents("json_length", 1, 2, derive_count, length),
    of_documents("json_storage_size", 1, 1, derive_count, storage_size),
    of_documents("json_storage_free", 1, 1, |_| Ok(ResultType::integer(21)), storage_free),
    of_documents("json_keys", 1, 2, derive_json, keys),
    of_documents("json_pretty", 1, 1, |_| Ok(short_text(PRETTY_CHARACTERS)), pretty),
    of_documents("json_extract", 2, usize::MAX, derive_json, extract),
    of_documents("json_contains", 2, 3, derive_count, contains),
    of_documents("json_overlaps", 2, 2, derive_certain, overlaps),
    of_documents("json_contains_path", 3, usize::MAX, derive_count, contains_path),
    of_documents("json_search", 3, usize::MAX, derive_json, search),
];

/// The operator MEMBER OF: no name leads to it.
pub static MEMBER_OF: FunctionDefinition = of_documents("member of", 2, 2, derive_certain, is_member);

/// Characters that MySQL says that JSON_PRETTY's text may have.
const PRETTY_CHARACTERS: u32 = 1 << 24;
/// Characters of the longest name of a type.
const TYPE_CHARACTERS: u32 = 17;

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
    Ok(Value::Int(document.node().depth() as i64))
}

fn length(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(document) = call.document(0)? else { return Ok(Value::Null) };
    if call.count() == 1 {
        return Ok(Value::Int(json::length(document.node()) as i64));
    }
    let Some(path) = call.path(1, false)? else { return Ok(Value::Null) };
    let length = Bounds::of(call).outcome_of(|watch| json::length_at(document.node(), &path, watch))?;
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
    json::keys(document.node(), &path).map_or(Ok(Value::Null), |keys| encoded(call, &keys))
}

/// Bytes of text after which a kill is looked for.
const LOOK_BYTES: usize = 1 << 16;

fn pretty(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(document) = call.document(0)? else { return Ok(Value::Null) };
    let mut text = Vec::new();
    let limit = call.context().facts().max_allowed_packet;
    let bounds = Bounds::of(call);
    let mut looked = 0;
    let mut is_killed = false;
    let is_whole = print_pretty(document.node(), &mut text, &mut |length| {
        if length - looked >= LOOK_BYTES {
            looked = length;
            is_killed = !bounds.goes_on(0);
        }
        !is_killed && length as u64 <= limit
    });
    bounds.outcome_of(|_| if is_killed { Err(Stopped) } else { Ok(()) })?;
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
        let found = Bounds::of(call).outcome_of(|watch| json::extract(document.node(), &[&path], watch))?;
        return found.map_or(Ok(Value::Null), |found| encoded(call, &found));
    }
    let Some(paths) = call.paths(1, false)? else { return Ok(Value::Null) };
    let paths = borrowed(&paths);
    let found = Bounds::of(call).outcome_of(|watch| json::extract(document.node(), &paths, watch))?;
    found.map_or(Ok(Value::Null), |found| encoded(call, &found))
}

fn contains(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(document) = call.document(0)? else { return Ok(Value::Null) };
    let Some(candidate) = call.document(1)? else { return Ok(Value::Null) };
    let mut target = document.node();
    if call.count() > 2 {
        let Some(path) = call.path(2, true)? else { return Ok(Value::Null) };
        let found = Bounds::of(call).outcome_of(|watch| json::first(target, &path, watch))?;
        let Some(found) = found else { return Ok(Value::Null) };
        target = found;
    }
    Bounds::of(call).outcome_of(|watch| json::contains(target, candidate.node(), watch)).map(truth)
}

fn overlaps(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(left) = call.document(0)? else { return Ok(Value::Null) };
    let Some(right) = call.document(1)? else { return Ok(Value::Null) };
    Bounds::of(call).outcome_of(|watch| json::overlaps(left.node(), right.node(), watch)).map(truth)
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
    let is_there = |watch: &dyn Watch| json::contains_path(document.node(), how_many, &paths, watch);
    Bounds::of(call).outcome_of(is_there).map(truth)
}

/// JSON_SEARCH(document, one or all, pattern, escape, paths): the escape is a backslash where none is given.
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
    let collation = CollationId::UTF8MB4_BIN.get();
    let (bounds, paths) = (Bounds::of(call), borrowed(&paths));
    let matches = |text: &[u8]| {
        let mut goes_on = || bounds.goes_on(0);
        collation.like(text, &pattern, Some(u32::from(escape)), &mut goes_on) == Ok(true)
    };
    let found =
        bounds.outcome_of(|watch| json::search(document.node(), how_many, &matches, &paths, watch))?;
    found.map_or(Ok(Value::Null), |found| encoded(call, &found))
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
    Ok(truth(json::is_member(Node::of(element), document.node())))
}
