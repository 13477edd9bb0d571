//! COM_STMT_EXECUTE: the values of its parameters, if the packet says their types.

use mlua::Value;
use wire::reader::{Malformed, Reader};
use wire::type_code::code;

use super::statement::executed_id;
use super::{Decoded, Fields};

/// The packet, for a statement with that many parameters.
pub(super) fn decode_execute(packet: &mut Reader<'_>, parameters: i64, fields: &Fields<'_>) -> Decoded {
    fields.set("stmt_id", executed_id(packet)?)?;
    fields.set("flags", packet.u8()?)?;
    fields.set("iteration_count", packet.u32()?)?;
    let count = usize::try_from(parameters).unwrap_or(0);
    if count == 0 {
        fields.set_value("new_params_bound", Value::Boolean(false))?;
        return Ok(());
    }
    let nulls = packet.bytes(count.div_ceil(8))?;
    let has_types = packet.u8()? != 0;
    fields.set_value("new_params_bound", Value::Boolean(has_types))?;
    if !has_types {
        return Ok(());
    }
    let mut types = Reader::new(packet.bytes(count.checked_mul(2).ok_or(Malformed)?)?);
    let list = fields.lua.create_table()?;
    for index in 0..count {
        // The second byte only says whether a number is unsigned; the original reads all as unsigned.
        let type_code = types.u16()? as u8;
        let table = fields.lua.create_table()?;
        table.raw_set("type", type_code)?;
        if nulls[index / 8] & 1 << (index % 8) == 0 {
            let value = match parameter(packet, type_code)? {
                Parameter::Number(number) => Value::Number(number),
                Parameter::Bytes(bytes) => Value::String(fields.lua.create_string(bytes)?),
                Parameter::Text(text) => Value::String(fields.lua.create_string(text)?),
            };
            table.raw_set("value", value)?;
        }
        list.raw_set(index + 1, table)?;
    }
    fields.set_value("params", Value::Table(list))?;
    Ok(())
}

/// A value as scripts get it.
enum Parameter<'a> {
    Number(f64),
    Bytes(&'a [u8]),
    Text(String),
}

/// The next value. The original does not know YEAR, DECIMAL, VARCHAR, JSON and the other types that are sent as text.
fn parameter<'a>(packet: &mut Reader<'a>, type_code: u8) -> Result<Parameter<'a>, Malformed> {
    Ok(match type_code {
        code::TINY | code::BOOL => Parameter::Number(f64::from(packet.u8()?)),
        code::SHORT | code::YEAR => Parameter::Number(f64::from(packet.u16()?)),
        code::LONG | code::INT24 => Parameter::Number(f64::from(packet.u32()?)),
        code::LONGLONG => Parameter::Number(packet.u64()? as i64 as f64),
        code::FLOAT => Parameter::Number(f64::from(f32::from_bits(packet.u32()?))),
        code::DOUBLE => Parameter::Number(f64::from_bits(packet.u64()?)),
        code::DATE => Parameter::Text(moment(packet)?.date),
        code::DATETIME | code::TIMESTAMP => {
            let moment = moment(packet)?;
            Parameter::Text(format!("{} {}", moment.date, moment.time))
        }
        code::TIME => Parameter::Text(duration(packet)?),
        code::NULL => return Err(Malformed),
        _ => Parameter::Bytes(packet.length_encoded_bytes()?),
    })
}

/// The text of a date and of a time of day. The last number is written as the original does, which takes the microseconds of
/// the packet for nanoseconds.
struct Moment {
    date: String,
    time: String,
}

fn moment(packet: &mut Reader<'_>) -> Result<Moment, Malformed> {
    let (mut year, mut month, mut day) = (0, 0, 0);
    let (mut hour, mut minute, mut second, mut fraction) = (0, 0, 0, 0);
    let length = packet.u8()?;
    if !matches!(length, 0 | 4 | 7 | 11) {
        return Err(Malformed);
    }
    if length >= 4 {
        (year, month, day) = (packet.u16()?, packet.u8()?, packet.u8()?);
    }
    if length >= 7 {
        (hour, minute, second) = (packet.u8()?, packet.u8()?, packet.u8()?);
    }
    if length == 11 {
        fraction = packet.u32()?;
    }
    Ok(Moment {
        date: format!("{year:04}-{month:02}-{day:02}"),
        time: format!("{hour:02}:{minute:02}:{second:02}.{fraction:09}"),
    })
}

fn duration(packet: &mut Reader<'_>) -> Result<String, Malformed> {
    let (mut negative, mut days, mut fraction) = (0, 0, 0);
    let (mut hour, mut minute, mut second) = (0, 0, 0);
    let length = packet.u8()?;
    if !matches!(length, 0 | 8 | 12) {
        return Err(Malformed);
    }
    if length >= 8 {
        (negative, days) = (packet.u8()?, packet.u32()?);
        (hour, minute, second) = (packet.u8()?, packet.u8()?, packet.u8()?);
    }
    if length == 12 {
        fraction = packet.u32()?;
    }
    let sign = if negative == 0 { "" } else { "-" };
    Ok(format!("{sign}{days} {hour:02}:{minute:02}:{second:02}.{fraction:09}"))
}
