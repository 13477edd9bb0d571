//! The part of Lua's `debug` library that scripts use: where they are. Changing locals, hooks and registry from a
//! script is not offered.

use mlua::{Lua, MultiValue, Result, Table, Value};

/// Makes the table `debug`.
pub(crate) fn table(lua: &Lua) -> Result<Table> {
    let debug = lua.create_table()?;
    debug.set("traceback", lua.create_function(traceback)?)?;
    debug.set("getinfo", lua.create_function(getinfo)?)?;
    Ok(debug)
}

fn traceback(lua: &Lua, mut arguments: MultiValue) -> Result<Value> {
    if matches!(arguments.front(), Some(Value::Thread(_))) {
        arguments.pop_front();
    }
    let message = match arguments.front() {
        None | Some(Value::Nil) => None,
        Some(value) => match lua.coerce_string(value.clone())? {
            Some(text) => Some(text.to_string_lossy()),
            None => return Ok(value.clone()),
        },
    };
    let level =
        arguments.get(1).and_then(|level| lua.coerce_number(level.clone()).ok().flatten()).unwrap_or(1.0);
    lua.traceback(message.as_deref(), level as usize).map(Value::String)
}

fn getinfo(lua: &Lua, arguments: MultiValue) -> Result<Value> {
    if let Some(Value::Function(function)) = arguments.front() {
        let about = function.info();
        let info = lua.create_table()?;
        info.set("source", about.source)?;
        info.set("short_src", about.short_src)?;
        info.set("what", about.what)?;
        info.set("linedefined", about.line_defined.map_or(-1, |line| line as i64))?;
        info.set("lastlinedefined", about.last_line_defined.map_or(-1, |line| line as i64))?;
        info.set("func", function)?;
        return Ok(Value::Table(info));
    }
    let level = arguments.front().and_then(|level| lua.coerce_number(level.clone()).ok().flatten());
    let Some(level) = level else { return Ok(Value::Nil) };
    let info = lua.create_table()?;
    let found = lua.inspect_stack(level as usize, |frame| -> Result<()> {
        let (source, names) = (frame.source(), frame.names());
        info.set("source", source.source.as_deref())?;
        info.set("short_src", source.short_src.as_deref())?;
        info.set("what", source.what)?;
        info.set("linedefined", source.line_defined.map_or(-1, |line| line as i64))?;
        info.set("currentline", frame.current_line().map_or(-1, |line| line as i64))?;
        info.set("name", names.name.as_deref())?;
        info.set("namewhat", names.name_what.unwrap_or(""))?;
        Ok(())
    });
    match found {
        Some(filled) => filled.map(|()| Value::Table(info)),
        None => Ok(Value::Nil),
    }
}
