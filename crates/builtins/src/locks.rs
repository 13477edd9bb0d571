//! User locks: GET_LOCK, RELEASE_LOCK, RELEASE_ALL_LOCKS, IS_FREE_LOCK, IS_USED_LOCK. The session keeps the locks.

use super::{Call, Derivation, FunctionDefinition, acting};
use errors::{SqlResult, sql_error};
use expression::result_type::ResultType;
use values::Value;

/// The family's functions.
pub static FUNCTIONS: &[FunctionDefinition] = &[
    acting("get_lock", 2, 2, derive_answer, get_lock),
    acting("release_lock", 1, 1, derive_answer, release_lock),
    acting(
        "release_all_locks",
        0,
        0,
        |_| Ok(ResultType::unsigned(21)),
        |call| Ok(Value::UInt(call.context().session().release_all_locks())),
    ),
    acting("is_free_lock", 1, 1, derive_answer, is_free_lock),
    acting("is_used_lock", 1, 1, |_| Ok(ResultType::unsigned(21).nullable()), is_used_lock),
];

/// Characters of a lock's name.
const NAME_CHARACTERS_MAX: usize = 64;

fn derive_answer(_: &mut Derivation<'_>) -> SqlResult<ResultType> {
    Ok(ResultType::integer(1).nullable())
}

/// The first argument as a lock's name, which has no case.
fn lock_name(call: &mut Call<'_>) -> SqlResult<String> {
    let Some(name) = call.utf8(0)? else {
        return Err(sql_error!(ER_USER_LOCK_WRONG_NAME, "NULL"));
    };
    if name.is_empty() {
        return Err(sql_error!(ER_USER_LOCK_WRONG_NAME, name));
    }
    if name.chars().count() > NAME_CHARACTERS_MAX {
        return Err(sql_error!(ER_USER_LOCK_OVERLONG_NAME, name, NAME_CHARACTERS_MAX));
    }
    Ok(name.to_lowercase())
}

fn answer(found: Option<bool>) -> Value {
    found.map_or(Value::Null, |found| Value::Int(i64::from(found)))
}

fn get_lock(call: &mut Call<'_>) -> SqlResult<Value> {
    let name = lock_name(call)?;
    let timeout_seconds = call.double(1)?.unwrap_or(0.0);
    Ok(answer(call.context().session().get_lock(&name, timeout_seconds)?))
}

fn release_lock(call: &mut Call<'_>) -> SqlResult<Value> {
    let name = lock_name(call)?;
    Ok(answer(call.context().session().release_lock(&name)?))
}

fn is_free_lock(call: &mut Call<'_>) -> SqlResult<Value> {
    let name = lock_name(call)?;
    let holder = call.context().session().lock_holder(&name)?;
    Ok(Value::Int(i64::from(holder.is_none())))
}

fn is_used_lock(call: &mut Call<'_>) -> SqlResult<Value> {
    let name = lock_name(call)?;
    Ok(call.context().session().lock_holder(&name)?.map_or(Value::Null, Value::UInt))
}
