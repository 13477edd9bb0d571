//! The fields of a table that is a packet: numbers and strings, with the conversions of Lua's C interface. Main type: [`Fields`].

use mlua::{Lua, Table, Value};

use crate::function::as_number;

/// A table, read or filled.
pub(crate) struct Fields<'a> {
    pub(crate) lua: &'a Lua,
    table: &'a Table,
}

impl<'a> Fields<'a> {
    /// Those of that table.
    pub(crate) fn new(lua: &'a Lua, table: &'a Table) -> Fields<'a> {
        Fields { lua, table }
    }

    /// The field itself. Metamethods of the script are heard, as its table may be an object.
    pub(crate) fn value(&self, name: &str) -> mlua::Result<Value> {
        self.table.get(name)
    }

    /// A number without its fraction; 0 for what is no number, `absent` for nil.
    pub(crate) fn integer(&self, name: &str, absent: i64) -> mlua::Result<i64> {
        match self.value(name)? {
            Value::Nil => Ok(absent),
            value => Ok(as_number(self.lua, &value)?.map_or(0, |number| number as i64)),
        }
    }

    /// A string, or a number as one; None for all else.
    pub(crate) fn bytes(&self, name: &str) -> mlua::Result<Option<Vec<u8>>> {
        match self.value(name)? {
            Value::String(text) => Ok(Some(text.as_bytes().to_vec())),
            number @ (Value::Integer(_) | Value::Number(_)) => {
                Ok(self.lua.coerce_string(number)?.map(|text| text.as_bytes().to_vec()))
            }
            _ => Ok(None),
        }
    }

    /// Sets a number.
    pub(crate) fn set(&self, name: &str, number: impl Into<i64>) -> mlua::Result<()> {
        self.table.raw_set(name, number.into())
    }

    /// Sets a string.
    pub(crate) fn set_bytes(&self, name: &str, bytes: &[u8]) -> mlua::Result<()> {
        self.table.raw_set(name, self.lua.create_string(bytes)?)
    }

    /// Sets a string, unless it is empty: the field stays nil.
    pub(crate) fn set_filled(&self, name: &str, bytes: &[u8]) -> mlua::Result<()> {
        if bytes.is_empty() { Ok(()) } else { self.set_bytes(name, bytes) }
    }

    /// Sets anything.
    pub(crate) fn set_value(&self, name: &str, value: Value) -> mlua::Result<()> {
        self.table.raw_set(name, value)
    }
}
