//! UUID, UUID_SHORT, IS_UUID, UUID_TO_BIN and BIN_TO_UUID.

use super::{Call, Derivation, FunctionDefinition, acting, pure};
use charset::CollationId;
use errors::{SqlResult, sql_error};
use expression::context::VariableScope;
use expression::result_type::{Coercibility, ResultType};
use functions::uuid::{assemble, parse, print, random_node, ticks, time_first, time_last};
use std::sync::atomic::{AtomicU64, Ordering};
use values::convert::shown_text;
use values::{Value, ValueRef};

/// The family's functions.
pub static FUNCTIONS: &[FunctionDefinition] = &[
    acting(
        "uuid",
        0,
        0,
        |_| Ok(ResultType::text(36, CollationId::UTF8MB3_GENERAL_CI, Coercibility::Coercible)),
        uuid,
    ),
    acting("uuid_short", 0, 0, |_| Ok(ResultType::unsigned(21)), uuid_short),
    pure(
        "is_uuid",
        1,
        1,
        |_| Ok(ResultType::boolean().nullable()),
        |call| {
            let text = call.text(0)?;
            Ok(text.map_or(Value::Null, |text| Value::Int(i64::from(parse(&text).is_some()))))
        },
    ),
    pure("uuid_to_bin", 1, 2, |_| Ok(ResultType::binary(16).nullable()), uuid_to_bin),
    pure(
        "bin_to_uuid",
        1,
        2,
        |derivation: &mut Derivation<'_>| Ok(derivation.connection_text(36).nullable()),
        bin_to_uuid,
    ),
];

/// What UUID() keeps at its place in a statement: the time of the last one, and the random node.
struct UuidState {
    last: u64,
    /// Clock sequence (2 bytes) and node (6 bytes).
    node: [u8; 8],
}

/// A version 1 UUID. The node is random for each place in each statement: with the clock sequence, 61 bits keep
/// two statements of the same microsecond apart.
fn uuid(call: &mut Call<'_>) -> SqlResult<Value> {
    let mut node = [0; 8];
    call.context().session().random_bytes(&mut node);
    let now = ticks(call.context().session().now_microseconds());
    let state = call.state();
    if !state.as_ref().is_some_and(|state| state.is::<UuidState>()) {
        *state = Some(Box::new(UuidState { last: 0, node: random_node(node) }));
    }
    let Some(state) = state.as_mut().and_then(|state| state.downcast_mut::<UuidState>()) else {
        return Ok(Value::Null);
    };
    state.last = now.max(state.last + 1);
    let bytes = assemble(state.last, state.node);
    Ok(call.text_result(&print(&bytes)))
}

/// Never gives one value twice in a process: the seconds since 1970 and a counter below the server's number.
fn uuid_short(call: &mut Call<'_>) -> SqlResult<Value> {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let server = call.context().session().system_variable(VariableScope::Global, "server_id")?;
    let server = match server.value {
        Value::UInt(id) => id & 0xff,
        Value::Int(id) => id as u64 & 0xff,
        _ => 0,
    };
    let seconds = call.context().session().now_microseconds().max(0) as u64 / 1_000_000;
    let start = seconds << 24;
    // Relaxed: only the number itself must be new.
    let last = LAST
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(start.max(last + 1)))
        .unwrap_or(start);
    let low = start.max(last + 1) & 0x00ff_ffff_ffff_ffff;
    Ok(Value::UInt(server << 56 | low))
}

/// The second argument moves the time's high part to the front, so that keys grow.
fn swap(call: &mut Call<'_>) -> SqlResult<bool> {
    Ok(call.count() > 1 && call.truth(1)?.unwrap_or(false))
}

fn uuid_to_bin(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(text) = call.text(0)? else { return Ok(Value::Null) };
    let Some(bytes) = parse(&text) else {
        let shown = shown_text(ValueRef::Bytes(&text), &call.argument(0).column_type);
        return Err(sql_error!(ER_WRONG_VALUE_FOR_TYPE, "string", shown, "uuid_to_bin"));
    };
    let bytes = if swap(call)? { time_first(&bytes) } else { bytes };
    Ok(Value::Bytes(bytes.to_vec()))
}

fn bin_to_uuid(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(text) = call.text(0)? else { return Ok(Value::Null) };
    let Ok(bytes) = <[u8; 16]>::try_from(&*text) else {
        let shown = shown_text(ValueRef::Bytes(&text), &call.argument(0).column_type);
        return Err(sql_error!(ER_WRONG_VALUE_FOR_TYPE, "string", shown, "bin_to_uuid"));
    };
    let bytes = if swap(call)? { time_last(&bytes) } else { bytes };
    Ok(call.text_result(&print(&bytes)))
}
