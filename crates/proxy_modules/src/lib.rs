//! The modules that scripts of MySQL Proxy 0.8 find with `require`, for an embedded Lua 5.1: same names, arguments and results,
//! as far as runs of the original tell. README.md lists them. Main items: [`install`], [`Host`].
#![forbid(unsafe_code)]

mod chassis;
mod file_system;
mod function;
mod glib;
mod host;
mod keywords;
mod lexer;
mod lpeg;
mod module;
mod password;
mod posix;
mod proto;
mod scripts;
mod tokenizer;

use std::sync::Arc;

pub use host::{Host, Level};
use mlua::{Lua, Table, Value};
pub use scripts::ADMIN;

use crate::function::Binder;

/// Makes every module of the proxy known to `require`, before what lies on LUA_PATH and LUA_CPATH: a script of the original
/// means the module that came with the proxy. Nothing is loaded before a script asks for it.
pub fn install(lua: &Lua, host: Arc<dyn Host>) -> mlua::Result<()> {
    let binder = Binder::new(lua)?;
    lua.set_app_data(binder.clone());
    let preload: Table = lua.globals().get::<Table>("package")?.get("preload")?;
    for (name, is_global, open) in NATIVE {
        let (binder, host) = (binder.clone(), Arc::clone(&host));
        let load = lua.create_function(move |lua, ()| {
            let table = open(lua, &binder, &host)?;
            if is_global {
                lua.globals().raw_set(name, &table)?;
            }
            Ok(Value::Table(table))
        })?;
        preload.raw_set(name, load)?;
    }
    scripts::install(lua, &preload)
}

/// Makes a module's table.
type Open = fn(&Lua, &Binder, &Arc<dyn Host>) -> mlua::Result<Table>;

/// The modules in Rust: name, whether requiring it also sets a global of that name, and how the table is made.
const NATIVE: [(&str, bool, Open); 8] = [
    ("mysql.tokenizer", false, |lua, binder, _| tokenizer::open(lua, binder)),
    ("mysql.proto", false, |lua, binder, _| proto::open(lua, binder)),
    ("mysql.password", false, password::open),
    ("chassis", true, chassis::open),
    ("glib2", true, |lua, binder, _| glib::open(lua, binder)),
    ("posix", true, |lua, binder, _| posix::open(lua, binder)),
    ("lfs", true, |lua, binder, _| file_system::open(lua, binder)),
    ("lpeg", true, |lua, binder, _| lpeg::open(lua, binder)),
];
