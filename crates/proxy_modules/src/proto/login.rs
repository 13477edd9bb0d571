//! The greeting of a server (challenge) and the answer of a client (response).

use mlua::Value;
use wire::capabilities::client::{CONNECT_WITH_DB, PLUGIN_AUTH, PROTOCOL_41, SECURE_CONNECTION};
use wire::reader::{Malformed, Reader};

use super::{Decoded, Fields, Refusal};
use crate::function::{Failure, as_number};

/// The protocol version of every server since 3.21.
const PROTOCOL_VERSION: u8 = 10;
/// Bytes of the scramble that stand in the first part of the greeting.
const FIRST_PART_BYTES: usize = 8;
/// Bytes of the second part, where the greeting does not say how many there are.
const SECOND_PART_BYTES: usize = 12;
/// Zeros in a greeting after its capabilities.
const GREETING_RESERVED_BYTES: usize = 10;
/// Zeros in a response after its character set.
const RESPONSE_RESERVED_BYTES: usize = 23;
/// What both sides can do unless the table says otherwise.
const DEFAULT_CAPABILITIES: u32 = PROTOCOL_41 | SECURE_CONNECTION;

/// A greeting.
pub(super) fn encode_challenge(fields: &Fields<'_>) -> Result<Vec<u8>, Failure> {
    let capabilities = fields.integer("capabilities", i64::from(DEFAULT_CAPABILITIES))? as u32;
    let challenge = fields.bytes("challenge")?.unwrap_or_else(|| b"01234567890123456789".to_vec());
    let Some((first, second)) = challenge.split_at_checked(FIRST_PART_BYTES) else {
        // The original aborts.
        return Err(Failure::Text(".challenge has to have at least 8 bytes".to_owned()));
    };
    let Ok(challenge_bytes) = u8::try_from(challenge.len()) else {
        return Err(Failure::Text(".challenge has to have at most 255 bytes".to_owned()));
    };
    let mut out = vec![PROTOCOL_VERSION];
    out.extend(version_text(fields.integer("server_version", 0)? as u32).bytes());
    out.push(0);
    out.extend((fields.integer("thread_id", 0)? as u32).to_le_bytes());
    out.extend(first);
    out.push(0);
    let [low, lower, high, higher] = capabilities.to_le_bytes();
    out.extend([low, lower, fields.integer("charset", 0)? as u8]);
    out.extend((fields.integer("server_status", 0)? as u16).to_le_bytes());
    out.extend([high, higher]);
    let has_plugin = capabilities & PLUGIN_AUTH != 0;
    out.push(if has_plugin { challenge_bytes } else { 0 });
    out.extend([0; GREETING_RESERVED_BYTES]);
    if has_plugin {
        out.extend(second);
        // The original leaves the name out, which no client takes.
        if let Some(name) = fields.bytes("auth_plugin_name")? {
            push_terminated(&mut out, &name);
        }
    } else if capabilities & SECURE_CONNECTION != 0 {
        push_terminated(&mut out, second);
    }
    Ok(out)
}

/// "8.00.36" for 80036. No server has a number up to 30000.
fn version_text(number: u32) -> String {
    match number {
        0..=30_000 | 0x8000_0000.. => "5.0.99".to_owned(),
        _ => format!("{}.{:02}.{:02}", number / 10_000, number / 100 % 100, number % 100),
    }
}

fn push_terminated(out: &mut Vec<u8>, text: &[u8]) {
    out.extend(text);
    out.push(0);
}

/// The parts of a greeting.
pub(super) fn decode_challenge(packet: &mut Reader<'_>, fields: &Fields<'_>) -> Decoded {
    if packet.u8()? != PROTOCOL_VERSION {
        return Err(Refusal::Malformed);
    }
    let version = version_number(packet.null_terminated()?)?;
    // Not what the packet says; scripts see 0 with the original.
    fields.set("protocol_version", 0)?;
    fields.set("server_version", version)?;
    fields.set("thread_id", packet.u32()?)?;
    let mut challenge = packet.bytes(FIRST_PART_BYTES)?.to_vec();
    packet.u8()?;
    let low = u32::from(packet.u16()?);
    fields.set("charset", packet.u8()?)?;
    fields.set("server_status", packet.u16()?)?;
    let capabilities = u32::from(packet.u16()?) << 16 | low;
    let challenge_bytes = usize::from(packet.u8()?);
    packet.bytes(GREETING_RESERVED_BYTES)?;
    fields.set("capabilities", capabilities)?;
    if capabilities & PLUGIN_AUTH != 0 {
        // However few bytes the scramble has, its second part takes the room of the usual one.
        let second_bytes = challenge_bytes.saturating_sub(FIRST_PART_BYTES);
        let second = packet.bytes(second_bytes.max(SECOND_PART_BYTES))?;
        challenge.extend(&second[..second_bytes]);
        fields.set_filled("auth_plugin_name", packet.null_terminated_or_rest())?;
        if challenge_bytes == 0 {
            return Ok(());
        }
    } else if capabilities & SECURE_CONNECTION != 0 {
        challenge.extend(packet.bytes(SECOND_PART_BYTES)?);
    }
    fields.set_bytes("challenge", &challenge)?;
    Ok(())
}

/// 50624 for "5.6.24-log". Servers count to 99 in the second and third part; MariaDB's first part is over 10, which the
/// original does not take.
fn version_number(text: &[u8]) -> Result<u32, Malformed> {
    let mut parts = text.splitn(3, |byte| *byte == b'.');
    let mut number = 0;
    for limit in [999, 100, 100] {
        let part = parts.next().ok_or(Malformed)?;
        let digits = part.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let part = std::str::from_utf8(&part[..digits]).map_err(|_| Malformed)?;
        let part: u32 = part.parse().map_err(|_| Malformed)?;
        if part > limit {
            return Err(Malformed);
        }
        number = number * 100 + part;
    }
    Ok(number)
}

/// What a client sends for a greeting. Which parts it has follows from what the server offered, as the original has it.
pub(super) fn encode_response(fields: &Fields<'_>) -> Result<Vec<u8>, Failure> {
    let offered = match fields.value("server_capabilities")? {
        Value::Nil => return Err(Failure::Text(".server_capabilities has to be set".to_owned())),
        value => as_number(fields.lua, &value)?
            .ok_or_else(|| Failure::Text(".server_capabilities has to be a number".to_owned()))?,
    } as i64 as u32;
    let capabilities = fields.integer("capabilities", i64::from(DEFAULT_CAPABILITIES))? as u32;
    let max_packet_bytes = (fields.integer("max_packet_size", 0)? as u32).to_le_bytes();
    let username = fields.bytes("username")?.unwrap_or_default();
    let response = fields.bytes("response")?.unwrap_or_default();
    let mut out = Vec::new();
    if capabilities & PROTOCOL_41 == 0 {
        out.extend((capabilities as u16).to_le_bytes());
        out.extend(&max_packet_bytes[..3]);
        push_terminated(&mut out, &username);
        out.extend(response);
        return Ok(out);
    }
    out.extend(capabilities.to_le_bytes());
    out.extend(max_packet_bytes);
    out.push(fields.integer("charset", 0)? as u8);
    out.extend([0; RESPONSE_RESERVED_BYTES]);
    push_terminated(&mut out, &username);
    if offered & SECURE_CONNECTION != 0 {
        let Ok(bytes) = u8::try_from(response.len()) else {
            return Err(Failure::Text(".response has to have at most 255 bytes".to_owned()));
        };
        out.push(bytes);
        out.extend(response);
    } else {
        push_terminated(&mut out, &response);
    }
    let database = fields.bytes("database")?.unwrap_or_default();
    if offered & CONNECT_WITH_DB != 0 && !database.is_empty() {
        push_terminated(&mut out, &database);
    }
    if offered & capabilities & PLUGIN_AUTH != 0 {
        push_terminated(&mut out, &fields.bytes("auth_plugin_name")?.unwrap_or_default());
    }
    Ok(out)
}

/// The parts of a client's answer to a server that offered `offered`.
pub(super) fn decode_response(packet: &mut Reader<'_>, offered: i64, fields: &Fields<'_>) -> Decoded {
    let offered = offered as u32;
    let low = u32::from(packet.u16()?);
    fields.set("server_capabilities", offered)?;
    if low & PROTOCOL_41 == 0 {
        fields.set("capabilities", low)?;
        fields.set("max_packet_size", packet.u24()?)?;
        fields.set("charset", 0)?;
        fields.set_filled("username", packet.null_terminated()?)?;
        fields.set_filled("response", packet.take_rest())?;
        return Ok(());
    }
    let capabilities = u32::from(packet.u16()?) << 16 | low;
    fields.set("capabilities", capabilities)?;
    fields.set("max_packet_size", packet.u32()?)?;
    fields.set("charset", packet.u8()?)?;
    packet.bytes(RESPONSE_RESERVED_BYTES)?;
    fields.set_filled("username", packet.null_terminated()?)?;
    let response = match offered & SECURE_CONNECTION {
        0 => packet.null_terminated()?,
        _ => packet.length_encoded_bytes()?,
    };
    fields.set_filled("response", response)?;
    if offered & capabilities & CONNECT_WITH_DB != 0 {
        fields.set_filled("database", packet.null_terminated()?)?;
    }
    if offered & capabilities & PLUGIN_AUTH != 0 {
        fields.set_filled("auth_plugin_name", packet.null_terminated()?)?;
    }
    Ok(())
}
