//! Documents made of values, and texts of documents.

use super::arguments::{Arguments, encoded};
use super::{derive_json, short_text};
use crate::{Call, Derivation, FunctionDefinition, of_documents};
use charset::CollationId;
use errors::{SqlResult, sql_error};
use expression::DocumentWatch;
use expression::result_type::{ResultType, TypeClass};
use std::borrow::Cow;
use values::json::{Built, Members, Node, quote};
use values::{TypeKind, Value};

/// The family's functions.
pub static FUNCTIONS: &[FunctionDefinition] = &[
    of_documents("json_array", 0, usize::MAX, derive_json, array),
    of_documents("json_object", 0, usize::MAX, derive_object, object),
    of_documents("json_quote", 1, 1, derive_quoted, quoted),
    of_documents("json_unquote", 1, 1, derive_unquoted, unquoted),
];

fn array(call: &mut Call<'_>) -> SqlResult<Value> {
    let mut elements = Vec::with_capacity(call.count());
    for index in 0..call.count() {
        elements.push(call.element(index)?);
    }
    encoded(call, &Built::Array(elements.iter().map(|element| Built::Kept(Node::of(element))).collect()))
}

/// Pairs of a key and a value. Error 1582.
fn derive_object(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    match derivation.count() % 2 {
        0 => derive_json(derivation),
        _ => Err(sql_error!(ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT, derivation.name)),
    }
}

/// Error 3158 for a key that is NULL, 3144 for one that is bytes.
fn object(call: &mut Call<'_>) -> SqlResult<Value> {
    let mut pairs = Vec::with_capacity(call.count() / 2);
    for index in (0..call.count()).step_by(2) {
        let key = key(call, index)?;
        pairs.push((key, call.element(index + 1)?));
    }
    let members = pairs.iter().map(|(key, value)| (Cow::Borrowed(&key[..]), Built::Kept(Node::of(value))));
    encoded(call, &Built::Object(Members::from_pairs(members.collect())))
}

fn key(call: &mut Call<'_>, index: usize) -> SqlResult<Vec<u8>> {
    let is_bytes = call.argument(index).class() == TypeClass::Text
        && call.argument(index).collation() == CollationId::BINARY;
    match call.utf8_bytes(index)? {
        None => Err(sql_error!(ER_JSON_DOCUMENT_NULL_KEY)),
        Some(_) if is_bytes => Err(sql_error!(ER_INVALID_JSON_CHARSET, "binary")),
        Some(key) => Ok(key.into_owned()),
    }
}

/// A character may become an escape of six, and quotes come around all.
fn derive_quoted(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let characters = derivation.argument(0).text_length().saturating_mul(QUOTED_CHARACTERS).saturating_add(2);
    Ok(short_text(characters))
}

const QUOTED_CHARACTERS: u32 = 6;

/// Error 3064 for what is no text.
fn quoted(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(text) = checked_text(call)? else { return Ok(Value::Null) };
    let mut out = Vec::with_capacity(text.len() + 2);
    quote(&text, &mut out);
    Ok(Value::Bytes(out))
}

/// The text of a document, or a text that is no longer than the argument.
fn derive_unquoted(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let argument = derivation.argument(0);
    Ok(match argument.class() {
        TypeClass::Json => ResultType::json_text().nullable(),
        _ => short_text(argument.text_length()),
    })
}

/// JSON_UNQUOTE.
fn unquoted(call: &mut Call<'_>) -> SqlResult<Value> {
    if call.argument(0).kind() == TypeKind::Json {
        return Ok(expression::json::bare(call)?.map_or(Value::Null, Value::Bytes));
    }
    let Some(text) = checked_text(call)? else { return Ok(Value::Null) };
    let name = call.name();
    let watch = DocumentWatch::new(call.context());
    let content = json::unquote(&text, &watch).map_err(|error| error.in_argument(1, name))?;
    Ok(Value::Bytes(content.into_owned()))
}

/// A text in utf8mb4; None for NULL of any type. Errors 3144 for bytes, 3064 for what is no text, documents among it.
fn checked_text<'a>(call: &mut Call<'a>) -> SqlResult<Option<Cow<'a, [u8]>>> {
    let argument = call.argument(0);
    match argument.class() {
        TypeClass::Text if argument.collation() != CollationId::BINARY => call.utf8_bytes(0),
        TypeClass::Null => Ok(None),
        _ if call.operand(0)?.is_null() => Ok(None),
        TypeClass::Text => Err(sql_error!(ER_INVALID_JSON_CHARSET, "binary")),
        _ => Err(sql_error!(ER_INCORRECT_TYPE, 1, call.name())),
    }
}
