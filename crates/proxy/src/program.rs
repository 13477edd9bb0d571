//! Start and end of `iruka proxy`.

use crate::address;
use crate::event_thread::{Acceptor, EventThread, Inbox};
use crate::log::Log;
use crate::options::{Options, asks_for_help, page, parse};
use crate::pool::Pool;
use crate::session::Role;
use crate::shared::{ProxyHost, Shared};
use env::{RealThreads, Threads};
use network::Listener;
use proxy_script::{Address, Backend, BackendKind, Backends, Host, Level, ScriptEngine, ScriptOptions};
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Clients that wait to be accepted.
const BACKLOG: i32 = 1024;

/// Runs the proxy until it is told to end.
pub fn run(arguments: &[String]) -> ExitCode {
    if asks_for_help(arguments) {
        return command_line::print(&command_line::help(&page()));
    }
    match parse(arguments).and_then(|options| serve(&options, arguments)) {
        Ok(code) => ExitCode::from(code),
        Err(why) => {
            // Nobody can be told when standard error fails; the code tells.
            let _ = writeln!(std::io::stderr(), "iruka proxy: {why}");
            ExitCode::FAILURE
        }
    }
}

fn serve(options: &Options, arguments: &[String]) -> Result<u8, String> {
    let log = Log::open(options.log_level, options.log_file.clone()).map_err(|error| {
        let path = options.log_file.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
        format!("the log {path} cannot be opened: {error}")
    })?;
    let log = Arc::new(log);
    if let Some(code) = crate::supervisor::supervise(options, &log, arguments)? {
        return Ok(code);
    }
    let is_stopping = Arc::new(AtomicBool::new(false));
    let backends = backends(options)?;
    let pool =
        Pool::new(Arc::clone(&backends), Arc::clone(&log)).map_err(|error| format!("epoll: {error}"))?;
    let engine = engine(options, &backends, &log, &is_stopping)?;
    let shared = Arc::new(Shared::new(
        Arc::clone(&log),
        backends,
        Arc::new(pool),
        engine,
        options,
        Arc::clone(&is_stopping),
    ));
    let mut listeners = Vec::new();
    if options.runs_proxy {
        listeners.push((listen(&options.proxy_address)?, Role::Proxy));
    }
    if let Some(admin) = &options.admin {
        listeners.push((listen(&admin.address)?, Role::Admin));
    }
    crate::process::prepare(options)?;
    log.write(Level::Critical, concat!("plugin proxy ", env!("CARGO_PKG_VERSION"), " started"));
    let threads = start(options, &shared, listeners)
        .map_err(|error| format!("an event thread cannot start: {error}"))?;
    crate::supervisor::tell_ready();
    crate::process::watch_signals(&log, &is_stopping)?;
    is_stopping.store(true, Ordering::Release);
    for thread in threads {
        thread.join();
    }
    crate::process::leave(options);
    Ok(0)
}

fn start(
    options: &Options,
    shared: &Arc<Shared>,
    listeners: Vec<(Listener, Role)>,
) -> Result<Vec<env::JoinHandle>, std::io::Error> {
    let inboxes =
        (0..options.event_threads).map(|_| Inbox::new().map(Arc::new)).collect::<Result<Vec<_>, _>>()?;
    let mut acceptor = Some(Acceptor { listeners, inboxes: inboxes.clone(), next: AtomicUsize::new(0) });
    let mut threads = Vec::new();
    for (number, inbox) in inboxes.into_iter().enumerate() {
        let thread = EventThread::new(Arc::clone(shared), inbox, acceptor.take())?;
        threads.push(RealThreads.try_spawn(&format!("proxy-{number}"), Box::new(move || thread.run()))?);
    }
    Ok(threads)
}

fn backends(options: &Options) -> Result<Backends, String> {
    let mut found: Vec<Arc<Backend>> = Vec::new();
    let read_write = options.backends.iter().map(|text| (text, BackendKind::ReadWrite));
    let read_only = options.read_only_backends.iter().map(|text| (text, BackendKind::ReadOnly));
    for (text, kind) in read_write.chain(read_only) {
        let address = address::parse(text)?;
        if found.iter().any(|known| known.address == address) {
            return Err(format!("backend {} is already known!", address.name()));
        }
        found.push(Arc::new(Backend::new(address, kind)));
    }
    Ok(Arc::new(found))
}

fn engine(
    options: &Options,
    backends: &Backends,
    log: &Arc<Log>,
    is_stopping: &Arc<AtomicBool>,
) -> Result<Option<Arc<ScriptEngine>>, String> {
    if options.script.is_none() && options.admin.is_none() {
        return Ok(None);
    }
    let script_options = ScriptOptions {
        lua_path: options.lua_path.clone(),
        lua_cpath: options.lua_cpath.clone(),
        instructions_max: options.script_instructions_max,
        memory_bytes_max: options.script_memory_bytes_max,
    };
    let host: Arc<dyn Host> =
        Arc::new(ProxyHost { log: Arc::clone(log), is_stopping: Arc::clone(is_stopping) });
    ScriptEngine::new(&script_options, Arc::clone(backends), host).map(Some)
}

fn listen(text: &str) -> Result<Listener, String> {
    let address = address::parse(text)?;
    let listener = match &address {
        Address::Tcp(address) => Listener::tcp(*address, BACKLOG),
        Address::Unix(path) => Listener::unix(path, BACKLOG),
    };
    listener.map_err(|error| format!("bind({text}) failed: {error}"))
}
