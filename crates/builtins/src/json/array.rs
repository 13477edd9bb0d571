//! CAST(.. AS type ARRAY): the document whose elements a multi-valued key part has entries of. What they are there, the part's column
//! says (`plan::multi_valued`).

use super::arguments::{Arguments, Document};
use super::derive_json;
use crate::{Call, FunctionDefinition, of_documents};
use errors::SqlResult;
use values::Value;

/// The document that is cast: the grammar's form alone leads to it. Errors 3141, 3144, 3146.
pub static CAST_AS_ARRAY: FunctionDefinition =
    of_documents("cast_as_array", 1, 1, derive_json, whole_document);

fn whole_document(call: &mut Call<'_>) -> SqlResult<Value> {
    Ok(match call.document(0)? {
        None => Value::Null,
        Some(Document::Given(operand)) => operand.into_value(),
        Some(Document::Made(document)) => Value::Bytes(document),
    })
}
