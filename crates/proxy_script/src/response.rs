//! `proxy.response`: what a script answers in the server's place. Main types: [`Reply`], [`Dialect`].

use crate::constants::{PACKET_ERR, PACKET_OK, PACKET_RAW, TYPE_STRING};
use crate::script_error::type_name;
use mlua::{Lua, Result, Table, Value};
use wire::capabilities::{client, status};
use wire::output::{push_length_encoded_bytes, push_length_encoded_integer};
use wire::response::push_eof;

/// Payloads of packets in the order in which the client gets them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Without frame headers.
    pub payloads: Vec<Vec<u8>>,
    /// Whether the only packet is an error.
    pub is_error: bool,
}

/// Bytes of an error's message.
const MESSAGE_BYTES_MAX: usize = 512;
const ER_UNKNOWN_ERROR: u16 = 1105;
/// The SQLSTATE of errors that the proxy makes.
const STATE: &[u8; 5] = b"07000";
/// utf8, as MySQL Proxy says of all its columns.
const COLLATION: u16 = 8;
const PRIMARY_KEY: u16 = 2;
const COLUMNS_MAX: usize = 4096;

impl Reply {
    /// One error packet.
    pub fn error(number: u16, state: &[u8], message: &[u8]) -> Reply {
        let mut payload = vec![0xFF];
        payload.extend_from_slice(&number.to_le_bytes());
        payload.push(b'#');
        payload.extend((0..5).map(|at| state.get(at).copied().unwrap_or(0)));
        payload.extend_from_slice(&message[..message.len().min(MESSAGE_BYTES_MAX)]);
        Reply { payloads: vec![payload], is_error: true }
    }

    /// An error of the proxy itself.
    pub fn proxy_error(message: &str) -> Reply {
        Reply::error(ER_UNKNOWN_ERROR, STATE, message.as_bytes())
    }

    fn ok(affected_rows: u64, insert_id: u64) -> Reply {
        let mut payload = Vec::new();
        push_ok(&mut payload, 0, affected_rows, insert_id);
        Reply { payloads: vec![payload], is_error: false }
    }
}

/// What client and server agreed on, as far as answers differ by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// CLIENT_*.
    pub capabilities: u32,
}

impl Dialect {
    fn ends_with_ok(self) -> bool {
        self.capabilities & client::DEPRECATE_EOF != 0
    }
}

fn push_ok(payload: &mut Vec<u8>, header: u8, affected_rows: u64, insert_id: u64) {
    payload.push(header);
    push_length_encoded_integer(payload, affected_rows);
    push_length_encoded_integer(payload, insert_id);
    payload.extend_from_slice(&status::AUTOCOMMIT.to_le_bytes());
    payload.extend_from_slice(&0u16.to_le_bytes());
}

/// Makes packets of `proxy.response`. The error is the line for the log, where the client gets a general one;
/// `script` is named in it. `notes` takes what the log is told although the answer could be made.
pub(crate) fn reply(
    lua: &Lua,
    response: &Value,
    script: &str,
    dialect: Dialect,
    notes: &mut Vec<String>,
) -> std::result::Result<Reply, String> {
    let response = match response {
        Value::Table(response) => response,
        Value::Nil => return Err(format!("proxy.response isn't set in {script}")),
        other => {
            return Err(format!(
                "proxy.response has to be a table, is {} in {script}",
                type_name(Some(other))
            ));
        }
    };
    let broken = |error: mlua::Error| crate::script_error::text(&error);
    let kind: Value = response.get("type").map_err(broken)?;
    if kind.is_nil() {
        return Err(format!("proxy.response.type isn't set in {script}"));
    }
    let Some(kind) = lua.coerce_number(kind.clone()).ok().flatten() else {
        let got = type_name(Some(&kind));
        return Err(format!("proxy.response.type has to be a number, is {got} in {script}"));
    };
    match kind as i64 {
        PACKET_OK => ok_reply(lua, response, dialect, notes),
        PACKET_ERR => error_reply(lua, response).map_err(broken),
        PACKET_RAW => raw_reply(lua, response, script),
        other => Err(format!("proxy.response.type is unknown: {other}")),
    }
}

fn ok_reply(
    lua: &Lua,
    response: &Table,
    dialect: Dialect,
    notes: &mut Vec<String>,
) -> std::result::Result<Reply, String> {
    let number = |name: &str| -> u64 {
        let value = response.get::<Value>(name).unwrap_or(Value::Nil);
        match lua.coerce_number(value).ok().flatten() {
            Some(number) if number < 0.0 => (number as i64) as u64,
            Some(number) => number as u64,
            None => 0,
        }
    };
    match response.get::<Value>("resultset") {
        Ok(Value::Table(resultset)) => result_set(lua, &resultset, dialect, notes),
        _ => Ok(Reply::ok(number("affected_rows"), number("insert_id"))),
    }
}

/// Without a text, number and state are those of the proxy's own errors too.
fn error_reply(lua: &Lua, response: &Table) -> Result<Reply> {
    let text = |name: &str| -> Result<Option<Vec<u8>>> {
        let value = response.get::<Value>(name)?;
        Ok(lua.coerce_string(value).ok().flatten().map(|text| text.as_bytes().to_vec()))
    };
    let Some(message) = text("errmsg")? else {
        return Ok(Reply::proxy_error("(lua) proxy.response.errmsg is nil"));
    };
    let number = lua.coerce_number(response.get::<Value>("errcode")?).ok().flatten();
    let number = number.map_or(ER_UNKNOWN_ERROR, |number| number as i64 as u16);
    let state = text("sqlstate")?.unwrap_or_else(|| STATE.to_vec());
    Ok(Reply::error(number, &state, &message))
}

fn raw_reply(lua: &Lua, response: &Table, script: &str) -> std::result::Result<Reply, String> {
    let packets = match response.get::<Value>("packets").unwrap_or(Value::Nil) {
        Value::Table(packets) => packets,
        other => {
            let got = type_name(Some(&other));
            return Err(format!("proxy.response.packets has to be a table, is {got} in {script}"));
        }
    };
    let mut payloads = Vec::new();
    for number in 1.. {
        match packets.get::<Value>(number) {
            Ok(Value::Nil) | Err(_) => break,
            Ok(value) => match lua.coerce_string(value).ok().flatten() {
                Some(text) => payloads.push(text.as_bytes().to_vec()),
                None => return Err("proxy.response.packets has to be a table of strings".to_owned()),
            },
        }
    }
    if payloads.is_empty() {
        return Err("proxy.response.packets is empty".to_owned());
    }
    let is_error = payloads[0].first() == Some(&0xFF);
    Ok(Reply { payloads, is_error })
}

fn result_set(
    lua: &Lua,
    resultset: &Table,
    dialect: Dialect,
    notes: &mut Vec<String>,
) -> std::result::Result<Reply, String> {
    let table = |name: &str| match resultset.get::<Value>(name) {
        Ok(Value::Table(table)) => Ok(table),
        _ => Err(format!("proxy.response.resultset.{name} has to be a table")),
    };
    let (fields, rows) = (table("fields")?, table("rows")?);
    let mut payloads = vec![Vec::new()];
    let mut columns = 0;
    while columns < COLUMNS_MAX {
        match fields.get::<Value>(columns + 1) {
            Ok(Value::Nil) | Err(_) => break,
            Ok(Value::Table(field)) => payloads.push(definition(lua, &field, columns + 1, notes)),
            Ok(_) => {
                return Err(format!("proxy.response.resultset.fields[{}] has to be a table", columns + 1));
            }
        }
        columns += 1;
    }
    if columns == 0 {
        return Err("proxy.response.resultset.fields is empty".to_owned());
    }
    push_length_encoded_integer(&mut payloads[0], columns as u64);
    if !dialect.ends_with_ok() {
        payloads.push(eof());
    }
    for number in 1.. {
        match rows.get::<Value>(number) {
            Ok(Value::Nil) | Err(_) => break,
            Ok(Value::Table(row)) => payloads.push(text_row(lua, &row, columns)),
            Ok(_) => return Err(format!("proxy.response.resultset.rows[{number}] has to be a table")),
        }
    }
    payloads.push(if dialect.ends_with_ok() {
        let mut end = Vec::new();
        push_ok(&mut end, 0xFE, 0, 0);
        end
    } else {
        eof()
    });
    Ok(Reply { payloads, is_error: false })
}

fn eof() -> Vec<u8> {
    let mut payload = Vec::new();
    push_eof(&mut payload, 0, status::AUTOCOMMIT);
    payload
}

fn definition(lua: &Lua, field: &Table, number: usize, notes: &mut Vec<String>) -> Vec<u8> {
    let mut note = |name: &str, wanted: &str, used: &str| {
        let got = type_name(Some(&field.get::<Value>(name).unwrap_or(Value::Nil)));
        notes.push(format!(
            "proxy.response.type = OK, but proxy.response.resultset.fields[{number}].{name} is not a {wanted} (is {got}), using {used}"
        ));
    };
    let value = |name: &str| field.get::<Value>(name).unwrap_or(Value::Nil);
    let name = lua.coerce_string(value("name")).ok().flatten().map(|name| name.as_bytes().to_vec());
    let name = name.unwrap_or_else(|| {
        note("name", "string", "default");
        b"no-field-name".to_vec()
    });
    let type_code = lua.coerce_number(value("type")).ok().flatten().map(|number| number as i64);
    let type_code = type_code.unwrap_or_else(|| {
        note("type", "integer", "MYSQL_TYPE_STRING");
        TYPE_STRING
    });
    let mut payload = Vec::new();
    push_length_encoded_bytes(&mut payload, b"def");
    // Schema, table and its name.
    payload.extend_from_slice(&[0, 0, 0]);
    push_length_encoded_bytes(&mut payload, &name);
    // The column's own name is empty; twelve bytes follow.
    payload.extend_from_slice(&[0, 12]);
    payload.extend_from_slice(&COLLATION.to_le_bytes());
    payload.extend_from_slice(&32u32.to_le_bytes());
    payload.push(type_code as u8);
    payload.extend_from_slice(&PRIMARY_KEY.to_le_bytes());
    // Decimals and two bytes of filling.
    payload.extend_from_slice(&[0, 0, 0]);
    payload
}

fn text_row(lua: &Lua, row: &Table, columns: usize) -> Vec<u8> {
    let mut payload = Vec::new();
    for number in 1..=columns {
        let value = row.get::<Value>(number).unwrap_or(Value::Nil);
        match lua.coerce_string(value).ok().flatten() {
            Some(text) => push_length_encoded_bytes(&mut payload, &text.as_bytes()),
            None => payload.push(0xFB),
        }
    }
    payload
}

#[cfg(test)]
mod tests;
