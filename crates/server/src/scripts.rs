//! The script that `proxy_lua_script` names, with what it needs of the server.

use crate::config::Configuration;
use crate::error_log::ErrorLog;
use env::{Clock, RealClock};
use proxy_script::{Address, Backend, BackendKind, Host, Level, ScriptEngine, state};
use std::path::PathBuf;
use std::sync::Arc;

struct ServerHost(Arc<ErrorLog>);

impl proxy_modules::Host for ServerHost {
    fn log(&self, level: Level, text: &str) {
        match level {
            Level::Error | Level::Critical => self.0.error(text),
            Level::Warning => self.0.warning(text),
            // What only those want to see who look for a fault in a script, they print.
            Level::Message | Level::Info | Level::Debug => {}
        }
    }

    fn shutdown(&self) {
        self.0.warning("A script wants the server to end; scripts inside the server may not end it.");
    }
}

impl Host for ServerHost {
    fn now_microseconds(&self) -> u64 {
        RealClock.monotonic().as_micros() as u64
    }
}

/// The script with what runs it.
pub struct ServerScript {
    pub engine: Arc<ScriptEngine>,
    pub path: PathBuf,
}

impl ServerScript {
    /// Makes the engine, if a script is named. Scripts see one backend: this server.
    pub fn new(configuration: &Configuration, log: &Arc<ErrorLog>) -> Result<Option<ServerScript>, String> {
        let Some((path, options)) = &configuration.script else { return Ok(None) };
        let address = match configuration.addresses.first() {
            Some(address) => Address::Tcp(*address),
            None => Address::Unix(configuration.socket.clone()),
        };
        let backend = Backend::new(address, BackendKind::ReadWrite);
        backend.set_state(state::UP, 0);
        let host: Arc<dyn Host> = Arc::new(ServerHost(Arc::clone(log)));
        let engine = ScriptEngine::new(options, Arc::new(vec![Arc::new(backend)]), host)?;
        Ok(Some(ServerScript { engine, path: path.clone() }))
    }
}
