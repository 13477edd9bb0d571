//! Storing JSON: a document as it is, a text read as one.

use super::StoreContext;
use crate::column_type::{ColumnType, TypeKind};
use crate::json;
use crate::value::Value;
use charset::CollationId;
use errors::{SqlResult, sql_error};

/// The document of a value. Error 3140 for what is no JSON text, 3144 for bytes; neither is ever a warning.
pub(super) fn document(value: &Value, from: &ColumnType, context: &mut StoreContext<'_>) -> SqlResult<Value> {
    let Value::Bytes(bytes) = value else {
        // Nobody asked for a conversion.
        let message = "not a JSON text, may need CAST";
        return Err(sql_error!(ER_INVALID_JSON_TEXT, message, 0, column_name(context)));
    };
    match from.kind {
        TypeKind::Json => return Ok(value.clone()),
        _ if from.collation == CollationId::BINARY => {
            return Err(sql_error!(ER_INVALID_JSON_CHARSET, "binary"));
        }
        _ => {}
    }
    let source = from.collation.charset();
    let utf8 = CollationId::UTF8MB4_BIN.charset();
    let name = column_name(context);
    let parsed = match source.converts_unchanged(bytes, utf8) {
        true => json::read(bytes).map_err(|error| error.in_column(&name))?.encode(),
        false => {
            let text = source.convert(bytes, utf8).text;
            json::read(&text).map_err(|error| error.in_column(&name))?.encode()
        }
    };
    parsed.map(Value::Bytes)
}

fn column_name(context: &StoreContext<'_>) -> String {
    format!("{}.{}", context.table, context.column)
}
