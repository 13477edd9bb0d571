//! Information functions: VERSION, USER, DATABASE, CONNECTION_ID, LAST_INSERT_ID, ROW_COUNT, FOUND_ROWS, CHARSET,
//! COLLATION, COERCIBILITY. They read the session's facts.

use super::{Call, Derivation, FunctionDefinition, acting, of_documents, pure};
use charset::CollationId;
use errors::SqlResult;
use expression::result_type::{Coercibility, ResultType, TypeClass};
use values::{TypeKind, Value};

/// The family's functions.
pub static FUNCTIONS: &[FunctionDefinition] = &[
    acting(
        "version",
        0,
        0,
        |_| Ok(system_text(60)),
        |call| fact(call, |facts| Some(facts.version.to_string())),
    ),
    pure("icu_version", 0, 0, |_| Ok(constant_text(ICU_VERSION)), |call| Ok(call.text_result(ICU_VERSION))),
    acting(
        "version_with_update",
        0,
        0,
        |_| Ok(system_text(60)),
        |call| fact(call, |facts| Some(version_with_update(&facts.version))),
    ),
    acting("user", 0, 0, derive_user, |call| fact(call, |facts| Some(facts.user.to_string()))),
    acting("session_user", 0, 0, derive_user, |call| fact(call, |facts| Some(facts.user.to_string()))),
    acting("system_user", 0, 0, derive_user, |call| fact(call, |facts| Some(facts.user.to_string()))),
    acting("current_user", 0, 0, derive_user, |call| {
        fact(call, |facts| Some(facts.current_user.to_string()))
    }),
    acting(
        "current_role",
        0,
        0,
        |_| Ok(system_text(super::string::ANY_LENGTH_CHARACTERS)),
        |call| {
            let roles = call.context().session().current_role();
            Ok(call.text_result(&roles))
        },
    ),
    acting("database", 0, 0, derive_schema, current_schema),
    acting("schema", 0, 0, derive_schema, current_schema),
    acting(
        "connection_id",
        0,
        0,
        |_| Ok(ResultType::unsigned(21)),
        |call| Ok(Value::UInt(call.context().facts().connection_id)),
    ),
    acting(
        "row_count",
        0,
        0,
        |_| Ok(ResultType::integer(21)),
        |call| Ok(Value::Int(call.context().session().row_count())),
    ),
    acting(
        "found_rows",
        0,
        0,
        |_| Ok(ResultType::integer(21)),
        |call| Ok(Value::Int(call.context().session().found_rows() as i64)),
    ),
    acting(
        "last_insert_id",
        0,
        1,
        |derivation| Ok(ResultType::unsigned(21).nullable_if(derivation.any_nullable())),
        last_insert_id,
    ),
    of_documents(
        "charset",
        1,
        1,
        |_| Ok(system_text(64)),
        |call| {
            let name = shown_collation(call).charset().name;
            Ok(call.text_result(name))
        },
    ),
    of_documents(
        "collation",
        1,
        1,
        |_| Ok(system_text(64)),
        |call| {
            let name = shown_collation(call).get().name;
            Ok(call.text_result(name))
        },
    ),
    of_documents(
        "coercibility",
        1,
        1,
        |_| Ok(ResultType::integer(10)),
        |call| {
            let argument = call.argument(0);
            let is_bit = argument.kind() == TypeKind::Bit;
            let coercibility = if is_bit { Coercibility::Implicit } else { argument.coercibility };
            Ok(Value::Int(coercibility as i64))
        },
    ),
];

/// The version of ICU whose patterns REGEXP follows, that of MySQL 9.7.
const ICU_VERSION: &str = "78.3";

/// A version with the number of its update, which is 0, behind its three numbers.
fn version_with_update(version: &str) -> String {
    let end = version.find('-').unwrap_or(version.len());
    format!("{}.0{}", &version[..end], &version[end..])
}

/// A text that is the same for all statements of a server.
fn constant_text(text: &str) -> ResultType {
    system_text(text.len() as u32)
}

/// Text in the character set of metadata.
fn system_text(characters: u32) -> ResultType {
    ResultType::text(characters, CollationId::UTF8MB3_GENERAL_CI, Coercibility::SystemConstant)
}

fn derive_user(_: &mut Derivation<'_>) -> SqlResult<ResultType> {
    Ok(system_text(288))
}

fn derive_schema(_: &mut Derivation<'_>) -> SqlResult<ResultType> {
    Ok(system_text(64).nullable())
}

fn fact(call: &mut Call<'_>, read: fn(&expression::StatementFacts) -> Option<String>) -> SqlResult<Value> {
    let text = read(call.context().facts());
    Ok(text.map_or(Value::Null, |text| call.text_result(&text)))
}

fn current_schema(call: &mut Call<'_>) -> SqlResult<Value> {
    fact(call, |facts| facts.schema.as_deref().filter(|_| !facts.schema_is_gone).map(str::to_owned))
}

fn last_insert_id(call: &mut Call<'_>) -> SqlResult<Value> {
    if call.count() == 0 {
        return Ok(Value::UInt(call.context().session().last_insert_id()));
    }
    let given = call.unsigned(0)?;
    call.context().session().set_last_insert_id(given.unwrap_or(0));
    Ok(given.map_or(Value::Null, Value::UInt))
}

/// The collation of an argument as CHARSET() and COLLATION() show it: numbers and temporal values are binary there.
fn shown_collation(call: &Call<'_>) -> CollationId {
    match call.argument(0).class() {
        TypeClass::Text | TypeClass::Json => call.argument(0).collation(),
        _ => CollationId::BINARY,
    }
}
