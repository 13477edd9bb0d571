//! The document that JSON_TABLE reads: the grammar's form alone leads to it.

use super::arguments::Arguments;
use crate::{Call, FunctionDefinition, of_documents};
use errors::SqlResult;
use expression::ResultType;
use values::Value;

/// The argument of JSON_TABLE as a document. Errors 3141, 3144, 3146.
pub static JSON_TABLE_DOCUMENT: FunctionDefinition =
    of_documents("json_table", 1, 1, |_| Ok(ResultType::json().nullable()), document);

fn document(call: &mut Call<'_>) -> SqlResult<Value> {
    let document = call.document(0)?;
    Ok(document.map_or(Value::Null, |document| Value::Bytes(document.node().to_document())))
}
