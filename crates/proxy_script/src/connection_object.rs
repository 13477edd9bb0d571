//! `proxy.connection` with `.client` and `.server`. Main types: [`ConnectionObject`], [`EndpointObject`].

use crate::connection::Connection;
use crate::endpoint::{Address, Endpoint};
use crate::host::{Host, Level};
use crate::script_error::{raised, type_name};
use mlua::{Lua, MetaMethod, Result, UserData, UserDataMethods, Value};
use std::sync::Arc;

/// The object that scripts see.
pub(crate) struct ConnectionObject {
    pub connection: Arc<Connection>,
    pub host: Arc<dyn Host>,
}

/// A copy of one end, made when the script asks for it.
struct EndpointObject {
    endpoint: Endpoint,
    host: Arc<dyn Host>,
}

struct AddressObject(Address);

/// Fields that moved to `.server` and `.client` long ago.
const MOVED: [&str; 3] = ["default_db", "thread_id", "mysqld_version"];

impl UserData for ConnectionObject {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::Index, |lua, object, name: Value| object.field(lua, &name));
        methods.add_meta_method(MetaMethod::NewIndex, |lua, object, (name, value): (Value, Value)| {
            object.set_field(lua, &name, value)
        });
    }
}

impl ConnectionObject {
    fn field(&self, lua: &Lua, name: &Value) -> Result<Value> {
        let Value::String(name) = name else { return Ok(Value::Nil) };
        let name = name.to_string_lossy();
        let endpoint = match name.as_str() {
            "client" => self.connection.state().client.clone(),
            "server" => match &self.connection.state().server {
                Some(link) => link.endpoint.clone(),
                None => return Ok(Value::Nil),
            },
            "backend_ndx" => return Ok(Value::Number(self.connection.state().backend_number as f64)),
            moved if MOVED.contains(&moved) => {
                // Only this one is of both ends.
                let of_client =
                    if moved == "default_db" { "proxy.connection.client.default_db or " } else { "" };
                let text = format!(
                    "proxy.connection.{moved} is deprecated, use {of_client}proxy.connection.server.{moved} instead"
                );
                return Err(raised(lua, text));
            }
            _ => return Ok(Value::Nil),
        };
        let host = Arc::clone(&self.host);
        lua.create_userdata(EndpointObject { endpoint, host }).map(Value::UserData)
    }

    fn set_field(&self, lua: &Lua, name: &Value, value: Value) -> Result<()> {
        let name = lua.coerce_string(name.clone())?.map(|name| name.to_string_lossy()).unwrap_or_default();
        match name.as_str() {
            "backend_ndx" => {
                let Some(number) = lua.coerce_number(value.clone())? else {
                    let got = type_name(Some(&value));
                    return Err(raised(lua, format!("bad argument #3 to '?' (number expected, got {got})")));
                };
                self.connection.choose_backend(number as i64);
                Ok(())
            }
            "connection_close" => match value {
                Value::Boolean(closes) => {
                    self.connection.state().closes = closes;
                    Ok(())
                }
                other => {
                    let got = type_name(Some(&other));
                    Err(raised(lua, format!("bad argument #3 to '?' (boolean expected, got {got})")))
                }
            },
            name => Err(raised(lua, format!("proxy.connection.{name} is not writable"))),
        }
    }
}

impl UserData for EndpointObject {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::Index, |lua, object, name: Value| object.field(lua, &name));
    }
}

impl EndpointObject {
    fn field(&self, lua: &Lua, name: &Value) -> Result<Value> {
        let name = lua.coerce_string(name.clone())?.map(|name| name.to_string_lossy()).unwrap_or_default();
        let end = &self.endpoint;
        let text = |value: &Option<Vec<u8>>| value.as_ref().map(|text| lua.create_string(text)).transpose();
        let found = match name.as_str() {
            "src" => return lua.create_userdata(AddressObject(end.source.clone())).map(Value::UserData),
            "dst" => return lua.create_userdata(AddressObject(end.destination.clone())).map(Value::UserData),
            "address" => {
                return Err(raised(lua, ".address is deprecated. Use .src.name or .dst.name instead"));
            }
            "default_db" => text(&end.default_schema)?.map(Value::String),
            "username" => text(&end.user)?.map(Value::String),
            "scrambled_password" => text(&end.scrambled_password)?.map(Value::String),
            "auth_plugin_name" => text(&end.plugin)?.map(Value::String),
            "scramble_buffer" => text(&end.scramble)?.map(Value::String),
            "mysqld_version" => end.version.map(|version| Value::Number(f64::from(version))),
            "thread_id" => end.thread_id.map(|id| Value::Number(f64::from(id))),
            _ => None,
        };
        if found.is_none() {
            let text = format!("sock->challenge: nothing known (looking for {name})");
            self.host.log(Level::Critical, &text);
        }
        Ok(found.unwrap_or(Value::Nil))
    }
}

impl UserData for AddressObject {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::Index, |lua, object, name: Value| {
            address_field(lua, &object.0, &name)
        });
    }
}

/// An address as scripts see it.
pub(crate) fn address_object(lua: &Lua, address: &Address) -> Result<Value> {
    lua.create_userdata(AddressObject(address.clone())).map(Value::UserData)
}

fn address_field(lua: &Lua, address: &Address, name: &Value) -> Result<Value> {
    let name = lua.coerce_string(name.clone())?.map(|name| name.to_string_lossy()).unwrap_or_default();
    Ok(match name.as_str() {
        "type" => Value::Number(f64::from(address.family())),
        "name" => Value::String(lua.create_string(address.name())?),
        "address" => Value::String(lua.create_string(address.host())?),
        "port" => address.port().map_or(Value::Nil, |port| Value::Number(f64::from(port))),
        _ => Value::Nil,
    })
}
