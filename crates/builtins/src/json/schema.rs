//! JSON_SCHEMA_VALID and JSON_SCHEMA_VALIDATION_REPORT.

use super::arguments::{Arguments, encoded, truth};
use super::{derive_certain, derive_json};
use crate::{Call, Derivation, FunctionDefinition, of_documents};
use errors::SqlResult;
use expression::DocumentWatch;
use expression::result_type::{ResultType, TypeClass};
use functions::regexp::{self, Bounds};
use json::SchemaFailure;
use values::Value;

/// The family's functions.
pub static FUNCTIONS: &[FunctionDefinition] = &[
    of_documents("json_schema_valid", 2, 2, |derivation| derive(derivation, derive_certain), is_valid),
    of_documents("json_schema_validation_report", 2, 2, |derivation| derive(derivation, derive_json), report),
];

/// Nothing is known of what has no schema.
fn derive(
    derivation: &mut Derivation<'_>,
    known: fn(&mut Derivation<'_>) -> SqlResult<ResultType>,
) -> SqlResult<ResultType> {
    match derivation.argument(0).class() {
        TypeClass::Null => Ok(ResultType::null()),
        _ => known(derivation),
    }
}

/// The first requirement that the document fails, if any; None if an argument is NULL.
fn checked(call: &mut Call<'_>) -> SqlResult<Option<Option<SchemaFailure>>> {
    let Some(schema) = call.document(0)? else { return Ok(None) };
    let Some(document) = call.document(1)? else { return Ok(None) };
    let limits = call.context().facts().regexp_limits;
    let (name, watch) = (call.name(), DocumentWatch::new(call.context()));
    let matches = |pattern: &[u8], text: &[u8]| {
        let regex = regexp::compile(std::str::from_utf8(pattern).ok()?, true, "c", &watch).ok()?;
        regexp::is_match(&regex, &String::from_utf8_lossy(text), Bounds { limits, interrupt: &watch }).ok()
    };
    json::schema_check(schema.node(), document.node(), name, &matches, &watch).map(Some)
}

fn is_valid(call: &mut Call<'_>) -> SqlResult<Value> {
    Ok(checked(call)?.map_or(Value::Null, |failure| truth(failure.is_none())))
}

fn report(call: &mut Call<'_>) -> SqlResult<Value> {
    match checked(call)? {
        Some(failure) => encoded(call, &json::schema_report(failure.as_ref())),
        None => Ok(Value::Null),
    }
}
