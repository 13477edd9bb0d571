//! Module `glib2`: the clock, MD5 and a sleep.

use std::time::Duration;

use env::{Clock, RealClock};
use md5::{Digest, Md5};
use mlua::{Lua, Table, Value};

use crate::function::{Binder, nothing, one, one_string};
use crate::module;

/// The module's table.
pub(crate) fn open(lua: &Lua, binder: &Binder) -> mlua::Result<Table> {
    let table = module::described(lua, "LuaGlib2 0.1", "time, digests and sleep")?;
    binder.define(lua, &table, "get_current_time", |lua, _| {
        let now = RealClock.wall();
        let time = lua.create_table()?;
        time.raw_set("tv_sec", now.as_secs() as i64)?;
        time.raw_set("tv_usec", now.subsec_micros())?;
        one(Value::Table(time))
    })?;
    binder.define(lua, &table, "md5", |lua, arguments| {
        let text = arguments.string(lua, 1)?;
        let digest = Md5::digest(text.as_bytes());
        one_string(lua, digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
    })?;
    // The whole proxy waits with the script, as it does for everything that a script does.
    binder.define(lua, &table, "usleep", |lua, arguments| {
        let microseconds = arguments.integer(lua, 1)?;
        RealClock.sleep(Duration::from_micros(u64::try_from(microseconds).unwrap_or(0)));
        nothing()
    })?;
    Ok(table)
}
