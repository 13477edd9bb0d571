//! Module `chassis`: the proxy's log and its end. Requiring it replaces the global `print` by one that writes to the log.

use mlua::debug::Debug;
use mlua::{Lua, Table, Value};

use crate::function::{Arguments, Binder, Failure, Outcome, nothing, one};
use crate::module::{self, HostReference, Level};

/// Levels that have a function of their own.
const FUNCTIONS: [Level; 5] = [Level::Critical, Level::Warning, Level::Message, Level::Info, Level::Debug];

/// Frames of the stack that are searched for the line of a script.
const FRAMES_MAX: usize = 100;

/// The module's table.
pub(crate) fn open(lua: &Lua, binder: &Binder, host: &HostReference) -> mlua::Result<Table> {
    let table = module::described(lua, "LuaChassis 0.2", "the log, the figures and the end of the proxy")?;
    for level in FUNCTIONS {
        binder.define(lua, &table, level.name(), writer(host, level))?;
    }
    let log = host.clone();
    binder.define(lua, &table, "log", move |lua, arguments| {
        let level = if arguments.is_absent(1) { Level::Message } else { named_level(lua, arguments)? };
        write(lua, arguments, &log, level)
    })?;
    binder.define(lua, &table, "get_stats", |lua, _| one(Value::Table(figures(lua)?)))?;
    let log = host.clone();
    binder.define(lua, &table, "mem_profile", move |lua, _| {
        // The original asks a library for it that has long lost the ability.
        log.log(Level::Warning, &positioned(lua, "memory profiling is not supported"));
        nothing()
    })?;
    let host_to_end = host.clone();
    binder.define(lua, &table, "set_shutdown", move |_, _| {
        host_to_end.shutdown();
        nothing()
    })?;
    lua.globals().raw_set("print", binder.function(lua, writer(host, Level::Message))?)?;
    Ok(table)
}

fn named_level(lua: &Lua, arguments: &Arguments) -> Result<Level, Failure> {
    let name = arguments.text(lua, 1)?;
    Level::of(&name).ok_or_else(|| Failure::Argument(1, format!("invalid option '{name}'")))
}

/// A function that writes its first argument; the log's own functions have their text as the second, and scripts see that
/// number when the text is none.
fn writer(
    host: &HostReference,
    level: Level,
) -> impl Fn(&Lua, &Arguments) -> Outcome + Send + Sync + 'static {
    let host = host.clone();
    move |lua, arguments| write(lua, &arguments.behind_one_more(), &host, level)
}

fn write(lua: &Lua, arguments: &Arguments, host: &HostReference, level: Level) -> Outcome {
    let text = if arguments.is_absent(2) { "nil".to_owned() } else { arguments.text(lua, 2)? };
    // A zero byte ends the text, as every line of the original's log.
    let text = text.split('\0').next().unwrap_or_default();
    host.log(level, &positioned(lua, text));
    nothing()
}

/// The text with the position of the script before it: the innermost function that was loaded from a file.
fn positioned(lua: &Lua, text: &str) -> String {
    let position = (1..FRAMES_MAX)
        .map_while(|level| lua.inspect_stack(level, position_of))
        .find_map(|position| position);
    format!("{}{text}", position.unwrap_or_default())
}

/// `(FILE:LINE) `, if the frame is of a function from a file.
fn position_of(frame: &Debug) -> Option<String> {
    let source = frame.source().source?;
    Some(format!("({}:{}) ", file_of(&source)?, frame.current_line()?))
}

/// The path in a chunk's name: scripts have it as it is, required files behind an @.
fn file_of(source: &str) -> Option<&str> {
    if source.starts_with('/') { Some(source) } else { source.strip_prefix('@') }
}

/// `get_stats()`: the memory of the interpreter. The original also counts calls of its allocator.
fn figures(lua: &Lua) -> mlua::Result<Table> {
    let chassis = lua.create_table()?;
    chassis.raw_set("lua_mem_bytes", lua.used_memory() as i64)?;
    let figures = lua.create_table()?;
    figures.raw_set("chassis", chassis)?;
    Ok(figures)
}
