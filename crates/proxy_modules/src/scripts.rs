//! The modules that are Lua themselves. They declare themselves with `module(..., package.seeall)`, so each is a field of the
//! global table `proxy` as well as the result of `require`.

use mlua::{Lua, Table};

/// The script of the admin plugin, which is also a module: it defines the global `read_query`.
pub const ADMIN: &str = include_str!("lua/admin.lua");

/// Name and text of each.
const SCRIPTS: [(&str, &str); 7] = [
    ("proxy.tokenizer", include_str!("lua/tokenizer.lua")),
    ("proxy.commands", include_str!("lua/commands.lua")),
    ("proxy.parser", include_str!("lua/parser.lua")),
    ("proxy.balance", include_str!("lua/balance.lua")),
    ("proxy.auto-config", include_str!("lua/auto_config.lua")),
    ("proxy.test", include_str!("lua/test.lua")),
    ("admin", ADMIN),
];

/// Makes them known to `require`.
pub(crate) fn install(lua: &Lua, preload: &Table) -> mlua::Result<()> {
    for (name, text) in SCRIPTS {
        let load = lua.create_function(move |lua, name: String| {
            let path = format!("@{}.lua", name.replace('.', "/"));
            lua.load(text).set_name(path).call::<mlua::MultiValue>(name)
        })?;
        preload.raw_set(name, load)?;
    }
    Ok(())
}
