//! Module `posix`: the own process, its user, signals. Scripts are the administrator's: nothing is held back.

use mlua::{Lua, Table, Value};
use rustix::process::{Pid, Signal};

use crate::function::{Arguments, Binder, Outcome, one};
use crate::module;

/// Where users are looked up. Directory services behind the C library are not asked, unlike the original does.
const USERS: &str = "/etc/passwd";

/// The module's table.
pub(crate) fn open(lua: &Lua, binder: &Binder) -> mlua::Result<Table> {
    let table = module::described(lua, "LuaPosix 0.1", "processes and users")?;
    binder.define(lua, &table, "getpid", |_, _| one(Value::Integer(i64::from(std::process::id()))))?;
    binder.define(lua, &table, "getuid", |_, _| {
        one(Value::Integer(i64::from(rustix::process::getuid().as_raw())))
    })?;
    binder.define(lua, &table, "getpwuid", user)?;
    binder.define(lua, &table, "kill", |lua, arguments| {
        let process = arguments.integer(lua, 1)?;
        let signal = arguments.integer(lua, 2)?;
        one(Value::Integer(if kill(process, signal).is_some() { 0 } else { -1 }))
    })?;
    Ok(table)
}

/// kill(2): None for whatever went wrong.
fn kill(process: i64, signal: i64) -> Option<()> {
    let process = i32::try_from(process).ok()?;
    let signal = i32::try_from(signal).ok()?;
    let group = Pid::from_raw(process.checked_neg()?.max(0));
    let one = Pid::from_raw(process.max(0));
    let sent = match (Signal::from_named_raw(signal), one, group) {
        (Some(signal), Some(one), _) => rustix::process::kill_process(one, signal),
        (Some(signal), None, Some(group)) => rustix::process::kill_process_group(group, signal),
        (Some(signal), None, None) => rustix::process::kill_current_process_group(signal),
        (None, _, _) if signal != 0 => return None,
        (None, Some(one), _) => rustix::process::test_kill_process(one),
        (None, None, Some(group)) => rustix::process::test_kill_process_group(group),
        (None, None, None) => rustix::process::test_kill_current_process_group(),
    };
    sent.ok()
}

/// `getpwuid(uid)`: the line of the user, nil if there is none.
fn user(lua: &Lua, arguments: &Arguments) -> Outcome {
    let uid = arguments.integer(lua, 1)? as u32;
    #[allow(clippy::disallowed_methods)] // A file of the system, not of the server's data.
    let text = std::fs::read_to_string(USERS).unwrap_or_default();
    let line = text.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let Some(line) = line.into_iter().find(|line| line.len() >= 7 && line[2].parse() == Ok(uid)) else {
        return one(Value::Nil);
    };
    let table = lua.create_table()?;
    table.raw_set("name", line[0])?;
    table.raw_set("uid", uid)?;
    table.raw_set("gid", line[3].parse::<u32>().unwrap_or_default())?;
    table.raw_set("dir", line[5])?;
    table.raw_set("shell", line[6])?;
    one(Value::Table(table))
}
