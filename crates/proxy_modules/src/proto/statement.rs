//! The commands of prepared statements, except for the values of an execution.

use wire::reader::{Malformed, Reader};

use super::results::expect;
use super::{Decoded, Fields};

const COM_STMT_PREPARE: u8 = 22;
pub(super) const COM_STMT_EXECUTE: u8 = 23;
const COM_STMT_CLOSE: u8 = 25;

pub(super) fn decode_prepare(packet: &mut Reader<'_>, fields: &Fields<'_>) -> Decoded {
    expect(packet, COM_STMT_PREPARE)?;
    fields.set_filled("stmt_text", packet.take_rest())?;
    Ok(())
}

pub(super) fn decode_prepare_ok(packet: &mut Reader<'_>, fields: &Fields<'_>) -> Decoded {
    expect(packet, 0)?;
    fields.set("stmt_id", packet.u32()?)?;
    fields.set("num_columns", packet.u16()?)?;
    fields.set("num_params", packet.u16()?)?;
    packet.u8()?;
    fields.set("warnings", packet.u16()?)?;
    Ok(())
}

pub(super) fn decode_close(packet: &mut Reader<'_>, fields: &Fields<'_>) -> Decoded {
    expect(packet, COM_STMT_CLOSE)?;
    fields.set("stmt_id", packet.u32()?)?;
    Ok(())
}

/// The statement that a COM_STMT_EXECUTE runs.
pub(super) fn executed_id(packet: &mut Reader<'_>) -> Result<u32, Malformed> {
    match packet.u8()? {
        COM_STMT_EXECUTE => packet.u32(),
        _ => Err(Malformed),
    }
}
