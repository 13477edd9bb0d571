//! `proxy.queries`: the queue of what a script sends. Main type: [`Queries`].

use crate::connection::{Connection, Injection};
use crate::host::Host;
use crate::script_error::{raised, type_name};
use mlua::{Lua, MetaMethod, MultiValue, Result, UserData, UserDataMethods, Value};
use std::sync::Arc;

/// The object that scripts see.
pub(crate) struct Queries {
    pub connection: Arc<Connection>,
    pub host: Arc<dyn Host>,
}

impl UserData for Queries {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("append", |lua, queries, arguments: MultiValue| {
            let injection = queries.injection(lua, "append", &arguments)?;
            queries.connection.state().queries.push_back(injection);
            Ok(())
        });
        methods.add_method("prepend", |lua, queries, arguments: MultiValue| {
            let injection = queries.injection(lua, "prepend", &arguments)?;
            queries.connection.state().queries.push_front(injection);
            Ok(())
        });
        methods.add_method("reset", |_, queries, _: MultiValue| {
            queries.connection.state().queries.clear();
            Ok(())
        });
        methods
            .add_meta_method(MetaMethod::Len, |_, queries, ()| Ok(queries.connection.state().queries.len()));
        methods.add_meta_method(MetaMethod::Index, |_, _, _: Value| Ok(Value::Nil));
    }
}

impl Queries {
    fn injection(&self, lua: &Lua, method: &str, arguments: &MultiValue) -> Result<Injection> {
        let wrong = |number: usize, expected: &str, value: Option<&Value>| {
            let got = type_name(value);
            raised(lua, format!("bad argument #{number} to '{method}' ({expected} expected, got {got})"))
        };
        let id = arguments.front();
        let id_number = id.and_then(|id| lua.coerce_number(id.clone()).ok().flatten());
        let id = id_number.ok_or_else(|| wrong(1, "number", id))? as i64;
        let packet = arguments.get(1);
        let text = packet.and_then(|packet| lua.coerce_string(packet.clone()).ok().flatten());
        let text = text.ok_or_else(|| wrong(2, "string", packet))?;
        let resultset_is_needed = match arguments.get(2) {
            None | Some(Value::Nil) => false,
            Some(Value::Table(options)) => match options.get("resultset_is_needed")? {
                Value::Nil => false,
                Value::Boolean(needed) => needed,
                other => {
                    let got = type_name(Some(&other));
                    let text = format!(
                        "bad argument #3 to '{method}' (:{method}(..., {{ resultset_is_needed = boolean }} ), is {got})"
                    );
                    return Err(raised(lua, text));
                }
            },
            other => return Err(wrong(3, "table", other)),
        };
        let queued_at = self.host.now_microseconds();
        Ok(Injection { id, packet: text.as_bytes().to_vec(), resultset_is_needed, queued_at })
    }
}
