//! UUID, UUID_SHORT, IS_UUID, UUID_TO_BIN and BIN_TO_UUID.

use super::{Call, Derivation, FunctionDefinition, acting, pure};
use crate::context::VariableScope;
use crate::result_type::{Coercibility, ResultType};
use charset::CollationId;
use errors::{SqlResult, sql_error};
use std::sync::atomic::{AtomicU64, Ordering};
use values::Value;

/// The family's functions.
pub static FUNCTIONS: &[FunctionDefinition] = &[
    acting(
        "uuid",
        0,
        0,
        |_| Ok(ResultType::text(36, CollationId::UTF8MB3_GENERAL_CI, Coercibility::Coercible)),
        uuid,
    ),
    acting("uuid_short", 0, 0, |_| Ok(ResultType::unsigned(20)), uuid_short),
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

/// Units of 100 ns from the start of the Gregorian calendar (15 October 1582) to 1970.
const GREGORIAN_OFFSET: u64 = 0x01B2_1DD2_1381_4000;

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
    let now =
        (call.context().session().now_microseconds() as u64).wrapping_mul(10).wrapping_add(GREGORIAN_OFFSET);
    let state = call.state();
    if !state.as_ref().is_some_and(|state| state.is::<UuidState>()) {
        // RFC 9562: the variant bits, and the multicast bit of a node that is no network card.
        node[0] = node[0] & 0x3f | 0x80;
        node[2] |= 1;
        *state = Some(Box::new(UuidState { last: 0, node }));
    }
    let Some(state) = state.as_mut().and_then(|state| state.downcast_mut::<UuidState>()) else {
        return Ok(Value::Null);
    };
    state.last = now.max(state.last + 1);
    let bytes = assemble(state.last, state.node);
    Ok(call.text_result(&print(&bytes)))
}

fn assemble(time: u64, node: [u8; 8]) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..4].copy_from_slice(&(time as u32).to_be_bytes());
    bytes[4..6].copy_from_slice(&((time >> 32) as u16).to_be_bytes());
    bytes[6..8].copy_from_slice(&((time >> 48) as u16 & 0x0fff | 0x1000).to_be_bytes());
    bytes[8..].copy_from_slice(&node);
    bytes
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

/// The 16 bytes of 32 hexadecimal digits, with hyphens at their four places or none, in braces or not.
fn parse(text: &[u8]) -> Option<[u8; 16]> {
    let inside = match text {
        [b'{', inside @ .., b'}'] if inside.len() == 36 => inside,
        other => other,
    };
    let hyphens = match inside.len() {
        36 => true,
        32 => false,
        _ => return None,
    };
    let mut bytes = [0u8; 16];
    let mut digits = 0;
    for (at, byte) in inside.iter().enumerate() {
        if hyphens && matches!(at, 8 | 13 | 18 | 23) {
            if *byte != b'-' {
                return None;
            }
            continue;
        }
        let digit = (*byte as char).to_digit(16)? as u8;
        bytes[digits / 2] = bytes[digits / 2] << 4 | digit;
        digits += 1;
    }
    Some(bytes)
}

fn print(bytes: &[u8; 16]) -> String {
    let mut text = String::with_capacity(36);
    for (at, byte) in bytes.iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from_digit(u32::from(digit), 16).unwrap_or('0'));
        }
    }
    text
}

/// The second argument moves the time's high part to the front, so that keys grow.
fn swap(call: &mut Call<'_>) -> SqlResult<bool> {
    Ok(call.count() > 1 && call.truth(1)?.unwrap_or(false))
}

fn uuid_to_bin(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(text) = call.text(0)? else { return Ok(Value::Null) };
    let Some(bytes) = parse(&text) else {
        let shown = String::from_utf8_lossy(&text);
        return Err(sql_error!(ER_WRONG_VALUE_FOR_TYPE, "string", shown, "uuid_to_bin"));
    };
    let bytes = if swap(call)? { time_first(&bytes) } else { bytes };
    Ok(Value::Bytes(bytes.to_vec()))
}

fn bin_to_uuid(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(text) = call.text(0)? else { return Ok(Value::Null) };
    let Ok(bytes) = <[u8; 16]>::try_from(&*text) else {
        let shown = String::from_utf8_lossy(&text);
        return Err(sql_error!(ER_WRONG_VALUE_FOR_TYPE, "string", shown, "bin_to_uuid"));
    };
    let bytes = if swap(call)? { time_last(&bytes) } else { bytes };
    Ok(call.text_result(&print(&bytes)))
}

fn time_first(bytes: &[u8; 16]) -> [u8; 16] {
    let mut out = *bytes;
    out[..2].copy_from_slice(&bytes[6..8]);
    out[2..4].copy_from_slice(&bytes[4..6]);
    out[4..8].copy_from_slice(&bytes[..4]);
    out
}

fn time_last(bytes: &[u8; 16]) -> [u8; 16] {
    let mut out = *bytes;
    out[..4].copy_from_slice(&bytes[4..8]);
    out[4..6].copy_from_slice(&bytes[2..4]);
    out[6..8].copy_from_slice(&bytes[..2]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_forms() {
        let text = "6ccd780c-baba-1026-9564-5b8c656024db";
        let bytes = parse(text.as_bytes()).unwrap();
        assert_eq!(print(&bytes), text);
        assert_eq!(parse(b"6ccd780cbaba102695645b8c656024db"), Some(bytes));
        assert_eq!(parse(b"{6ccd780c-baba-1026-9564-5b8c656024db}"), Some(bytes));
        for wrong in ["", "x", "{6ccd780cbaba102695645b8c656024db}", "6ccd780c-baba-1026-95645-b8c656024db"] {
            assert_eq!(parse(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn swapped_time_leads() {
        let bytes = parse(b"6ccd780c-baba-1026-9564-5b8c656024db").unwrap();
        assert_eq!(print(&time_first(&bytes)), "1026baba-6ccd-780c-9564-5b8c656024db");
        assert_eq!(time_last(&time_first(&bytes)), bytes);
    }

    #[test]
    fn version_and_variant() {
        let text = print(&assemble(0x0123_4567_89ab_cdef, [0x80, 1, 1, 2, 3, 4, 5, 6]));
        assert_eq!(text, "89abcdef-4567-1123-8001-010203040506");
    }
}
