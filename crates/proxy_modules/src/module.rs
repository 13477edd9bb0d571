//! What all modules share: the shape of their tables, the way to the host, the binder of an interpreter.

use std::sync::Arc;

use mlua::{Lua, Table};

use crate::function::Binder;
pub use crate::host::{Host, Level};

/// The host as the functions hold it.
pub(crate) type HostReference = Arc<dyn Host>;

/// A new module's table, with the two fields by which the original's say what they are.
pub(crate) fn described(lua: &Lua, version: &str, description: &str) -> mlua::Result<Table> {
    let table = lua.create_table()?;
    table.raw_set("_VERSION", version)?;
    table.raw_set("_DESCRIPTION", description)?;
    Ok(table)
}

/// The binder that [`crate::install`] left in the interpreter; for metatables, which are made at the first object.
pub(crate) fn binder(lua: &Lua) -> mlua::Result<Binder> {
    lua.app_data_ref::<Binder>()
        .map(|binder| binder.clone())
        .ok_or_else(|| mlua::Error::runtime("the modules of the proxy are not installed"))
}
