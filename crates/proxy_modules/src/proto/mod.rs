//! Module `mysql.proto`: packets (payloads without header) from tables and tables from packets. What a packet lacks or has too
//! much of raises; what a table lacks has a default, and what is there in a wrong type counts as 0 or as missing.

mod execute;
mod fields;
mod login;
mod master_info;
mod results;
mod statement;

use mlua::{Lua, Table, Value};
use wire::reader::{Malformed, Reader};

use crate::function::{Binder, Failure, Outcome, one, one_string};
use crate::module;
use fields::Fields;

/// The module's table.
pub(crate) fn open(lua: &Lua, binder: &Binder) -> mlua::Result<Table> {
    let table =
        module::described(lua, "LuaMySQLProto 0.1", "packets of MySQL's protocol from and to tables")?;
    let out = Definitions { lua, binder, table: &table };
    out.encoder("to_challenge_packet", login::encode_challenge)?;
    out.decoder("from_challenge_packet", "network_mysqld_proto_get_auth_challenge", login::decode_challenge)?;
    out.encoder("to_response_packet", login::encode_response)?;
    out.numbered("from_response_packet", "network_mysqld_proto_get_auth_response", login::decode_response)?;
    out.encoder("to_ok_packet", results::encode_ok)?;
    out.decoder("from_ok_packet", "network_mysqld_proto_get_ok_packet", results::decode_ok)?;
    out.encoder("to_err_packet", results::encode_err)?;
    out.decoder("from_err_packet", "network_mysqld_proto_get_err_packet", results::decode_err)?;
    out.encoder("to_eof_packet", results::encode_eof)?;
    out.decoder("from_eof_packet", "network_mysqld_proto_get_eof_packet", results::decode_eof)?;
    out.encoder("to_masterinfo_string", master_info::encode)?;
    out.decoder("from_masterinfo_string", "network_mysqld_masterinfo_get", master_info::decode)?;
    out.decoder(
        "from_stmt_prepare_packet",
        "network_mysqld_proto_get_stmt_prepare_packet",
        statement::decode_prepare,
    )?;
    out.decoder(
        "from_stmt_prepare_ok_packet",
        "network_mysqld_proto_get_stmt_prepare_ok_packet",
        statement::decode_prepare_ok,
    )?;
    out.decoder(
        "from_stmt_close_packet",
        "network_mysqld_proto_get_stmt_close_packet",
        statement::decode_close,
    )?;
    out.numbered(
        "from_stmt_execute_packet",
        "network_mysqld_proto_get_stmt_execute_packet",
        execute::decode_execute,
    )?;
    binder.define(lua, &table, "stmt_id_from_stmt_execute_packet", |lua, arguments| {
        let packet = arguments.string(lua, 1)?;
        match statement::executed_id(&mut Reader::new(&packet.as_bytes())) {
            Ok(id) => one(Value::Integer(i64::from(id))),
            Err(Malformed) => Err(failed("network_mysqld_proto_get_stmt_execute_packet_stmt_id")),
        }
    })?;
    Ok(table)
}

/// Why a packet could not be taken apart.
pub(crate) enum Refusal {
    /// It has not the form of the packet that was asked for.
    Malformed,
    Lua(mlua::Error),
}

impl From<Malformed> for Refusal {
    fn from(_: Malformed) -> Refusal {
        Refusal::Malformed
    }
}

impl From<mlua::Error> for Refusal {
    fn from(error: mlua::Error) -> Refusal {
        Refusal::Lua(error)
    }
}

/// What a decoder fills its table with.
pub(crate) type Decoded = Result<(), Refusal>;

/// What is raised for a packet that is none; scripts know the text.
fn failed(name: &str) -> Failure {
    Failure::Text(format!("{name}() failed"))
}

/// Where the functions are put.
struct Definitions<'a> {
    lua: &'a Lua,
    binder: &'a Binder,
    table: &'a Table,
}

impl Definitions<'_> {
    /// A function from a table to a string.
    fn encoder(&self, name: &str, encode: fn(&Fields<'_>) -> Result<Vec<u8>, Failure>) -> mlua::Result<()> {
        self.binder.define(self.lua, self.table, name, move |lua, arguments| {
            one_string(lua, encode(&Fields::new(lua, arguments.table(1)?))?)
        })
    }

    /// A function from a packet to a table.
    fn decoder(
        &self,
        name: &str,
        failing: &'static str,
        decode: fn(&mut Reader<'_>, &Fields<'_>) -> Decoded,
    ) -> mlua::Result<()> {
        self.binder.define(self.lua, self.table, name, move |lua, arguments| {
            let packet = arguments.string(lua, 1)?;
            let table = lua.create_table()?;
            let decoded = decode(&mut Reader::new(&packet.as_bytes()), &Fields::new(lua, &table));
            finish(decoded, failing, table)
        })
    }

    /// A function from a packet and a number to a table.
    fn numbered(
        &self,
        name: &str,
        failing: &'static str,
        decode: fn(&mut Reader<'_>, i64, &Fields<'_>) -> Decoded,
    ) -> mlua::Result<()> {
        self.binder.define(self.lua, self.table, name, move |lua, arguments| {
            let packet = arguments.string(lua, 1)?;
            let number = arguments.integer(lua, 2)?;
            let table = lua.create_table()?;
            let decoded = decode(&mut Reader::new(&packet.as_bytes()), number, &Fields::new(lua, &table));
            finish(decoded, failing, table)
        })
    }
}

fn finish(decoded: Decoded, failing: &str, table: Table) -> Outcome {
    match decoded {
        Ok(()) => one(Value::Table(table)),
        Err(Refusal::Malformed) => Err(failed(failing)),
        Err(Refusal::Lua(error)) => Err(Failure::Lua(error)),
    }
}
