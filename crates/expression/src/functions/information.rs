//! Information functions: VERSION, USER, DATABASE, CONNECTION_ID, LAST_INSERT_ID, ROW_COUNT, FOUND_ROWS, CHARSET,
//! COLLATION, COERCIBILITY. They read the session's facts.

use super::{Call, Derivation, FunctionDefinition};
use crate::result_type::{Coercibility, ResultType, TypeClass};
use charset::CollationId;
use errors::SqlResult;
use values::Value;

type Evaluate = fn(&mut Call<'_>) -> SqlResult<Value>;
type Derive = fn(&mut Derivation<'_>) -> SqlResult<ResultType>;

const fn session(name: &'static str, derive: Derive, evaluate: Evaluate) -> FunctionDefinition {
    FunctionDefinition { name, arguments_min: 0, arguments_max: 0, pure: false, derive, evaluate }
}

const fn of_argument(name: &'static str, derive: Derive, evaluate: Evaluate) -> FunctionDefinition {
    FunctionDefinition { name, arguments_min: 1, arguments_max: 1, pure: true, derive, evaluate }
}

/// The family's functions.
pub static FUNCTIONS: &[FunctionDefinition] = &[
    session("version", |_| Ok(system_text(60)), |call| fact(call, |facts| Some(facts.version.to_string()))),
    session("user", derive_user, |call| fact(call, |facts| Some(facts.user.to_string()))),
    session("session_user", derive_user, |call| fact(call, |facts| Some(facts.user.to_string()))),
    session("system_user", derive_user, |call| fact(call, |facts| Some(facts.user.to_string()))),
    session("current_user", derive_user, |call| fact(call, |facts| Some(facts.current_user.to_string()))),
    session("current_role", |_| Ok(system_text(65_535 / 4)), |call| Ok(call.text_result("NONE"))),
    session("database", derive_schema, current_schema),
    session("schema", derive_schema, current_schema),
    session(
        "connection_id",
        |_| Ok(ResultType::unsigned(21)),
        |call| Ok(Value::UInt(call.context().facts().connection_id)),
    ),
    session(
        "row_count",
        |_| Ok(ResultType::integer(21)),
        |call| Ok(Value::Int(call.context().session().row_count())),
    ),
    session(
        "found_rows",
        |_| Ok(ResultType::integer(21)),
        |call| Ok(Value::Int(call.context().session().found_rows() as i64)),
    ),
    FunctionDefinition {
        name: "last_insert_id",
        arguments_min: 0,
        arguments_max: 1,
        pure: false,
        derive: |derivation| Ok(ResultType::unsigned(21).nullable_if(derivation.any_nullable())),
        evaluate: last_insert_id,
    },
    of_argument(
        "charset",
        |_| Ok(system_text(64)),
        |call| {
            let name = shown_collation(call).charset().name;
            Ok(call.text_result(name))
        },
    ),
    of_argument(
        "collation",
        |_| Ok(system_text(64)),
        |call| {
            let name = shown_collation(call).get().name;
            Ok(call.text_result(name))
        },
    ),
    of_argument(
        "coercibility",
        |_| Ok(ResultType::integer(10)),
        |call| Ok(Value::Int(call.argument(0).coercibility as i64)),
    ),
];

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

fn fact(call: &mut Call<'_>, read: fn(&crate::StatementFacts) -> Option<String>) -> SqlResult<Value> {
    let text = read(call.context().facts());
    Ok(text.map_or(Value::Null, |text| call.text_result(&text)))
}

fn current_schema(call: &mut Call<'_>) -> SqlResult<Value> {
    fact(call, |facts| facts.schema.as_deref().map(str::to_owned))
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
        TypeClass::Text => call.argument(0).collation(),
        _ => CollationId::BINARY,
    }
}
