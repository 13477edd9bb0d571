//! OK, ERR and EOF packets, in the form that they have since MySQL 4.1.

use wire::output::push_length_encoded_integer;
use wire::reader::Reader;

use super::{Decoded, Fields, Refusal};
use crate::function::Failure;

const OK: u8 = 0;
const ERR: u8 = 0xFF;
const EOF: u8 = 0xFE;
/// Bytes of an SQL state.
const STATE_BYTES: usize = 5;
/// The state of an error that has none.
const DEFAULT_STATE: &[u8] = b"07000";

pub(super) fn encode_ok(fields: &Fields<'_>) -> Result<Vec<u8>, Failure> {
    let mut out = vec![OK];
    push_length_encoded_integer(&mut out, fields.integer("affected_rows", 0)? as u64);
    push_length_encoded_integer(&mut out, fields.integer("insert_id", 0)? as u64);
    out.extend((fields.integer("server_status", 0)? as u16).to_le_bytes());
    out.extend((fields.integer("warnings", 0)? as u16).to_le_bytes());
    Ok(out)
}

pub(super) fn decode_ok(packet: &mut Reader<'_>, fields: &Fields<'_>) -> Decoded {
    expect(packet, OK)?;
    // Numbers from 2^63 are negative ones to a script, as with the original.
    fields.set("affected_rows", packet.length_encoded_integer()? as i64)?;
    fields.set("insert_id", packet.length_encoded_integer()? as i64)?;
    fields.set("server_status", packet.u16()?)?;
    fields.set("warnings", packet.u16()?)?;
    Ok(())
}

pub(super) fn encode_err(fields: &Fields<'_>) -> Result<Vec<u8>, Failure> {
    let mut out = vec![ERR];
    out.extend((fields.integer("errcode", 0)? as u16).to_le_bytes());
    out.push(b'#');
    let mut state = fields.bytes("sqlstate")?.unwrap_or_default();
    if state.is_empty() {
        state.extend(DEFAULT_STATE);
    }
    // The original fills a short one with what lies in memory behind it.
    state.resize(STATE_BYTES, 0);
    out.extend(state);
    out.extend(fields.bytes("errmsg")?.unwrap_or_default());
    Ok(out)
}

pub(super) fn decode_err(packet: &mut Reader<'_>, fields: &Fields<'_>) -> Decoded {
    expect(packet, ERR)?;
    fields.set("errcode", packet.u16()?)?;
    expect(packet, b'#')?;
    fields.set_filled("sqlstate", Reader::new(packet.bytes(STATE_BYTES)?).null_terminated_or_rest())?;
    fields.set_filled("errmsg", packet.null_terminated_or_rest())?;
    Ok(())
}

pub(super) fn encode_eof(fields: &Fields<'_>) -> Result<Vec<u8>, Failure> {
    let mut out = vec![EOF];
    out.extend((fields.integer("warnings", 0)? as u16).to_le_bytes());
    out.extend((fields.integer("server_status", 0)? as u16).to_le_bytes());
    Ok(out)
}

pub(super) fn decode_eof(packet: &mut Reader<'_>, fields: &Fields<'_>) -> Decoded {
    expect(packet, EOF)?;
    fields.set("warnings", packet.u16()?)?;
    fields.set("server_status", packet.u16()?)?;
    Ok(())
}

/// Takes the byte that has to come.
pub(super) fn expect(packet: &mut Reader<'_>, byte: u8) -> Decoded {
    if packet.u8()? == byte { Ok(()) } else { Err(Refusal::Malformed) }
}
