//! The Lua state that all scripts run in, and what runs in it. Main types: [`ScriptEngine`], [`ScriptOptions`], [`LoadFailure`].
//!
//! There is one state a process, since scripts share tables and functions by `proxy.global` and by modules. It is
//! locked while a hook runs, and at no other time: connections without script, and all network traffic, never wait
//! for it. See docs/decisions/0027.

use crate::connection::Connection;
use crate::connection_object::ConnectionObject;
use crate::constants::CONSTANTS;
use crate::global::BackendsObject;
use crate::host::{Host, Level};
use crate::queries::Queries;
use crate::response::Reply;
use crate::script::Script;
use crate::script_error::{place, text};
use crate::source_file::SourceFile;
use crate::{backend::Backends, debug_library};
use mlua::{
    Error, Function, HookTriggers, Lua, LuaOptions, MultiValue, Result, StdLib, Table, Value, VmState,
};
use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How often a running script is looked at, in instructions of the virtual machine.
const INSTRUCTIONS_BETWEEN_LOOKS: u32 = 10_000;

/// Instructions that a hook may use unless an option says otherwise: a second or less.
pub const INSTRUCTIONS_MAX_DEFAULT: u64 = 100_000_000;
/// Bytes that scripts may hold unless an option says otherwise.
pub const MEMORY_BYTES_MAX_DEFAULT: usize = 1 << 30;

/// What scripts may use.
#[derive(Clone, Debug)]
pub struct ScriptOptions {
    /// `package.path`; Lua's own if None.
    pub lua_path: Option<String>,
    /// `package.cpath`; only told to scripts, since modules in C cannot be loaded.
    pub lua_cpath: Option<String>,
    /// Instructions of one hook; a script that needs more is stopped with an error.
    pub instructions_max: u64,
    /// Bytes that all scripts together may hold.
    pub memory_bytes_max: usize,
}

/// Why a connection has no script although one is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadFailure {
    /// The file is missing, cannot be read, or is no Lua.
    NotLoaded(String),
    /// The main chunk raised an error.
    Failed(String),
}

/// Runs scripts.
pub struct ScriptEngine {
    locked: Mutex<Locked>,
    pub(crate) host: Arc<dyn Host>,
    backends: Backends,
    watch: Arc<Watch>,
}

/// What only the holder of the lock touches.
pub(crate) struct Locked {
    pub lua: Lua,
    /// Calls a hook: see dispatch.lua.
    pub dispatch: Function,
    sources: HashMap<PathBuf, SourceFile>,
}

/// Counts what a hook uses.
#[derive(Debug, Default)]
struct Watch {
    instructions: AtomicU64,
    is_stopped: AtomicBool,
    /// Chunk and line where it was stopped.
    place: Mutex<String>,
}

impl Watch {
    fn stop(&self, place: String) {
        *self.place.lock().unwrap_or_else(PoisonError::into_inner) = place;
        self.is_stopped.store(true, Ordering::Relaxed);
    }

    fn stopped(&self) -> Error {
        let place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        Error::RuntimeError(format!("{place}the script was stopped: it ran too long"))
    }
}

impl ScriptEngine {
    /// A state with nothing loaded but what scripts may require.
    pub fn new(
        options: &ScriptOptions,
        backends: Backends,
        host: Arc<dyn Host>,
    ) -> std::result::Result<Arc<ScriptEngine>, String> {
        let watch = Arc::new(Watch::default());
        let prepared = prepare(options, &backends, &host, &watch).and_then(|prepared| {
            proxy_modules::install(&prepared.0, Arc::clone(&host) as Arc<dyn proxy_modules::Host>)?;
            Ok(prepared)
        });
        let (lua, dispatch) = prepared.map_err(|error| text(&error))?;
        let locked = Mutex::new(Locked { lua, dispatch, sources: HashMap::new() });
        Ok(Arc::new(ScriptEngine { locked, host, backends, watch }))
    }

    /// Loads the script for a connection, and runs its main chunk.
    pub fn open(
        self: &Arc<Self>,
        path: &Path,
        connection: Arc<Connection>,
    ) -> std::result::Result<Script, LoadFailure> {
        let mut locked = self.locked();
        let file = locked.sources.entry(path.to_path_buf());
        let source = file.or_insert_with(|| SourceFile::new(path.to_path_buf())).current();
        let path = path.display().to_string();
        let source = source.map_err(|error| {
            LoadFailure::NotLoaded(format!("{}:{}: lua_load_file({path}) failed: {error}", file!(), line!()))
        })?;
        let not_loaded = |error: Error| {
            let text = text(&error);
            LoadFailure::NotLoaded(format!("{}:{}: lua_load_file({path}) failed: {text}", file!(), line!()))
        };
        let (environment, fields) = self.tables(&locked.lua, &connection).map_err(not_loaded)?;
        let chunk = locked.lua.load(&source[..]).set_name(path.clone()).set_environment(environment.clone());
        let main = chunk.into_function().map_err(not_loaded)?;
        self.begin();
        // The main chunk sees the connection as hooks do.
        let holder = locked.lua.create_table_from([("main", main)]).map_err(not_loaded)?;
        let ran = locked.dispatch.call::<MultiValue>((holder, &fields, "main", Value::Nil));
        ran.map_err(|error| LoadFailure::Failed(format!("(lua-error) [{path}]\n{}", text(&error))))?;
        drop(locked);
        Ok(Script::new(Arc::clone(self), connection, environment, fields, path))
    }

    /// The environment of a connection, and what `proxy` shows only to it.
    fn tables(&self, lua: &Lua, connection: &Arc<Connection>) -> Result<(Table, Table)> {
        let environment = lua.create_table()?;
        let meta = lua.create_table()?;
        meta.set("__index", lua.globals())?;
        environment.set_metatable(Some(meta))?;
        let fields = lua.create_table()?;
        let host = Arc::clone(&self.host);
        fields.set("connection", ConnectionObject { connection: Arc::clone(connection), host })?;
        let host = Arc::clone(&self.host);
        fields.set("queries", Queries { connection: Arc::clone(connection), host })?;
        fields.set("response", lua.create_table()?)?;
        Ok((environment, fields))
    }

    /// Counts anew for the hook that is called next.
    pub(crate) fn begin(&self) {
        self.watch.instructions.store(0, Ordering::Relaxed);
        self.watch.is_stopped.store(false, Ordering::Relaxed);
    }

    /// Whether a hook failed by a limit, and not by a mistake of its own.
    pub(crate) fn was_stopped(&self, error: &Error) -> bool {
        self.watch.is_stopped.load(Ordering::Relaxed) || is_out_of_memory(error)
    }

    /// Logs why a client has no script. What the client is told.
    pub fn tell(&self, failure: &LoadFailure) -> Reply {
        let (what, why) = match failure {
            LoadFailure::NotLoaded(why) => ("load", why),
            LoadFailure::Failed(why) => ("execute", why),
        };
        self.host.log(Level::Critical, why);
        Reply::proxy_error(&format!("MySQL Proxy Lua script failed to {what}. Check the error log."))
    }

    /// The backends that scripts see.
    pub fn backends(&self) -> Backends {
        Arc::clone(&self.backends)
    }

    pub(crate) fn locked(&self) -> MutexGuard<'_, Locked> {
        self.locked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn prepare(
    options: &ScriptOptions,
    backends: &Backends,
    host: &Arc<dyn Host>,
    watch: &Arc<Watch>,
) -> Result<(Lua, Function)> {
    let lua = Lua::new_with(StdLib::ALL_SAFE, LuaOptions::new())?;
    let globals = lua.globals();
    globals.set("debug", debug_library::table(&lua)?)?;
    globals.set("print", lua.create_function(print)?)?;
    let package: Table = globals.get("package")?;
    if let Some(path) = &options.lua_path {
        package.set("path", path.as_str())?;
    }
    if let Some(path) = &options.lua_cpath {
        package.set("cpath", path.as_str())?;
    }
    let proxy = lua.create_table()?;
    for (name, number) in CONSTANTS {
        proxy.set(*name, *number)?;
    }
    let global = lua.create_table()?;
    global.set("config", lua.create_table()?)?;
    global.set("backends", BackendsObject { backends: Arc::clone(backends), host: Arc::clone(host) })?;
    proxy.set("global", global)?;
    let proxy_meta = lua.create_table()?;
    proxy.set_metatable(Some(proxy_meta.clone()))?;
    globals.set("proxy", proxy)?;
    let settling = Arc::clone(watch);
    let settle = lua.create_function(move |lua, value: Value| match value {
        _ if settling.is_stopped.load(Ordering::Relaxed) => Err(settling.stopped()),
        Value::Error(error) => lua.create_string(text(&error)).map(Value::String),
        other => Ok(other),
    })?;
    lua.load(include_str!("prelude.lua")).set_name("=prelude").call::<()>(settle)?;
    watch_instructions(&lua, options.instructions_max, watch)?;
    lua.set_memory_limit(options.memory_bytes_max)?;
    let dispatch =
        lua.load(include_str!("dispatch.lua")).set_name("=dispatch").call::<Function>(proxy_meta)?;
    Ok((lua, dispatch))
}

fn watch_instructions(lua: &Lua, instructions_max: u64, watch: &Arc<Watch>) -> Result<()> {
    let watch = Arc::clone(watch);
    let triggers = HookTriggers::new().every_nth_instruction(INSTRUCTIONS_BETWEEN_LOOKS);
    lua.set_global_hook(triggers, move |_, frame| {
        let more = u64::from(INSTRUCTIONS_BETWEEN_LOOKS);
        let used = watch.instructions.fetch_add(more, Ordering::Relaxed) + more;
        if used > instructions_max {
            if !watch.is_stopped.load(Ordering::Relaxed) {
                watch.stop(place(frame).unwrap_or_default());
            }
            return Err(watch.stopped());
        }
        Ok(VmState::Continue)
    })
}

/// Whether Lua had no memory, perhaps within a function of ours.
fn is_out_of_memory(error: &Error) -> bool {
    match error {
        Error::MemoryError(_) => true,
        Error::CallbackError { cause, .. } | Error::WithContext { cause, .. } => is_out_of_memory(cause),
        _ => false,
    }
}

/// Lua's `print`, each line at once.
fn print(lua: &Lua, values: MultiValue) -> Result<()> {
    let to_string: Function = lua.globals().get("tostring")?;
    let mut line = Vec::new();
    for (at, value) in values.into_iter().enumerate() {
        if at > 0 {
            line.push(b'\t');
        }
        let text: mlua::LuaString = to_string.call(value)?;
        line.extend_from_slice(&text.as_bytes());
    }
    line.push(b'\n');
    let mut out = std::io::stdout().lock();
    // Nobody reads what a daemon prints: that is no error of the script.
    let _ = out.write_all(&line).and_then(|()| out.flush());
    Ok(())
}
