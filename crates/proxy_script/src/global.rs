//! `proxy.global.backends`. Main type: [`BackendsObject`].

use crate::backend::{Backend, Backends};
use crate::connection_object::address_object;
use crate::host::Host;
use crate::script_error::{raised, type_name};
use mlua::{Lua, MetaMethod, Result, UserData, UserDataMethods, Value};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The list.
pub(crate) struct BackendsObject {
    pub backends: Backends,
    pub host: Arc<dyn Host>,
}

struct BackendObject {
    backend: Arc<Backend>,
    host: Arc<dyn Host>,
}

struct PoolObject(Arc<Backend>);

struct UsersObject(Arc<Backend>);

struct UserObject {
    backend: Arc<Backend>,
    user: Vec<u8>,
}

impl UserData for BackendsObject {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::Len, |_, object, ()| Ok(object.backends.len()));
        methods.add_meta_method(MetaMethod::Index, |lua, object, index: Value| {
            let Some(number) = lua.coerce_number(index.clone())? else {
                let got = type_name(Some(&index));
                return Err(raised(lua, format!("bad argument #2 to '?' (number expected, got {got})")));
            };
            let index = (number as usize).checked_sub(1);
            let Some(backend) = index.and_then(|index| object.backends.get(index)) else {
                return Ok(Value::Nil);
            };
            let host = Arc::clone(&object.host);
            lua.create_userdata(BackendObject { backend: Arc::clone(backend), host }).map(Value::UserData)
        });
    }
}

impl UserData for BackendObject {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::Index, |lua, object, name: Value| object.field(lua, &name));
        methods.add_meta_method(MetaMethod::NewIndex, |lua, object, (name, value): (Value, Value)| {
            object.set_field(lua, &name, &value)
        });
    }
}

impl BackendObject {
    fn field(&self, lua: &Lua, name: &Value) -> Result<Value> {
        let backend = &self.backend;
        Ok(match text_of(lua, name)?.as_str() {
            "dst" => address_object(lua, &backend.address)?,
            "state" => Value::Number(f64::from(backend.state())),
            "type" => Value::Number(f64::from(backend.kind as u8)),
            "connected_clients" => {
                Value::Number(f64::from(backend.connected_clients.load(Ordering::Acquire)))
            }
            "uuid" => match backend.uuid() {
                Some(uuid) => Value::String(lua.create_string(uuid)?),
                None => Value::Nil,
            },
            "pool" => Value::UserData(lua.create_userdata(PoolObject(Arc::clone(backend)))?),
            _ => Value::Nil,
        })
    }

    fn set_field(&self, lua: &Lua, name: &Value, value: &Value) -> Result<()> {
        match text_of(lua, name)?.as_str() {
            "state" => {
                let number = lua.coerce_number(value.clone())?.filter(|_| !matches!(value, Value::String(_)));
                self.backend.set_state(number.unwrap_or(0.0) as u8, self.host.now_microseconds() / 1000);
                Ok(())
            }
            "uuid" => match value {
                Value::Nil => {
                    self.backend.set_uuid(None);
                    Ok(())
                }
                // A number is as good as its text.
                value => match lua.coerce_string(value.clone())? {
                    Some(uuid) => {
                        self.backend.set_uuid(Some(uuid.as_bytes().to_vec()));
                        Ok(())
                    }
                    None => Err(raised(lua, "proxy.global.backends[...].uuid has to be a string")),
                },
            },
            name => Err(raised(lua, format!("proxy.global.backends[...].{name} is not writable"))),
        }
    }
}

impl UserData for PoolObject {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::Index, |lua, object, name: Value| {
            let (min, max) = object.0.idle_bounds();
            Ok(match text_of(lua, &name)?.as_str() {
                "min_idle_connections" => Value::Number(min),
                "max_idle_connections" => Value::Number(max),
                "users" => Value::UserData(lua.create_userdata(UsersObject(Arc::clone(&object.0)))?),
                _ => Value::Nil,
            })
        });
        methods.add_meta_method(MetaMethod::NewIndex, |lua, object, (name, value): (Value, Value)| {
            let (min, max) = object.0.idle_bounds();
            let number = lua.coerce_number(value)?.unwrap_or(0.0);
            match text_of(lua, &name)?.as_str() {
                "min_idle_connections" => object.0.set_idle_bounds(number, max),
                "max_idle_connections" => object.0.set_idle_bounds(min, number),
                name => return Err(raised(lua, format!("proxy.backend[...].{name} is not writable"))),
            }
            Ok(())
        });
    }
}

impl UserData for UsersObject {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::Index, |lua, object, name: Value| {
            let user = lua.coerce_string(name)?.map(|name| name.as_bytes().to_vec()).unwrap_or_default();
            lua.create_userdata(UserObject { backend: Arc::clone(&object.0), user })
        });
    }
}

impl UserData for UserObject {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::Index, |lua, object, name: Value| {
            Ok(match text_of(lua, &name)?.as_str() {
                "cur_idle_connections" => Value::Number(f64::from(object.backend.idle_count(&object.user))),
                _ => Value::Nil,
            })
        });
    }
}

fn text_of(lua: &Lua, value: &Value) -> Result<String> {
    Ok(lua.coerce_string(value.clone())?.map(|text| text.to_string_lossy()).unwrap_or_default())
}
