//! One session between two ends of this process, for fuzzing. Main type: [`Harness`].

use crate::log::Log;
use crate::options::parse;
use crate::pool::Pool;
use crate::registry::{End, Registry};
use crate::session::{Next, Role, Session, Turn};
use crate::shared::{ProxyHost, Shared};
use env::{Clock, RealClock};
use network::{Listener, Receive, Socket};
use proxy_script::{Address, Backend, BackendKind, Level, ScriptEngine, ScriptOptions};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32};

/// Turns after both ends have closed; a session that goes on then never ends.
const LAST_TURNS: usize = 8;

/// What sessions of one script run in.
pub struct Harness {
    shared: Shared,
    registry: Registry,
    /// The server that sessions connect to.
    listener: Listener,
    scratch: Vec<u8>,
}

/// Who sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sender {
    /// The client.
    Client,
    /// The server.
    Server,
}

impl Harness {
    /// A proxy whose backend listens on a socket in `directory`, with a script or without.
    pub fn new(directory: &Path, script: Option<PathBuf>) -> Result<Harness, String> {
        let path = directory.join(format!("backend-{}.sock", script.is_some()));
        let listener = Listener::unix(&path, 64).map_err(|error| format!("{}: {error}", path.display()))?;
        let backends = Arc::new(vec![Arc::new(Backend::new(Address::Unix(path), BackendKind::ReadWrite))]);
        let log = Arc::new(Log::open(Level::Error, None).map_err(|error| error.to_string())?);
        let is_stopping = Arc::new(AtomicBool::new(false));
        let host = Arc::new(ProxyHost { log: Arc::clone(&log), is_stopping: Arc::clone(&is_stopping) });
        let limits = ScriptOptions {
            lua_path: None,
            lua_cpath: None,
            instructions_max: proxy_script::INSTRUCTIONS_MAX_DEFAULT,
            memory_bytes_max: proxy_script::MEMORY_BYTES_MAX_DEFAULT,
        };
        let engine = match &script {
            Some(_) => Some(ScriptEngine::new(&limits, Arc::clone(&backends), host)?),
            None => None,
        };
        let mut options = parse(&[])?;
        options.script = script;
        let pool = Pool::new(Arc::clone(&backends), Arc::clone(&log)).map_err(|error| error.to_string())?;
        let shared = Shared::new(log, backends, Arc::new(pool), engine, &options, is_stopping);
        let registry = Registry::new().map_err(|error| error.to_string())?;
        Ok(Harness { shared, registry, listener, scratch: vec![0; 4096] })
    }

    /// Lets the two ends send those pieces in turn, then close.
    ///
    /// # Panics
    /// If the session goes on although both ends have closed.
    pub fn run(&mut self, pieces: &[(Sender, &[u8])]) {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let Ok((near, far)) = socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None) else {
            return;
        };
        let client = Socket::new(far, true);
        let mut turn = Turn::new(&self.shared, &self.registry, &mut self.scratch, RealClock.monotonic());
        // No other session waits.
        turn.receives_left = u32::MAX;
        let unnamed = || Address::Unix(PathBuf::new());
        let mut session = Session::new(1, Socket::new(near, true), unnamed(), unnamed(), &turn);
        let mut next = session.start(&mut turn, Role::Proxy);
        let server = self.listener.accept().ok().flatten().map(|(socket, _)| socket);
        if next == Next::Stay {
            next = session.turn(&mut turn, Some(End::Server), false);
        }
        for (sender, bytes) in pieces {
            if next == Next::Close {
                break;
            }
            let (socket, end) = match sender {
                Sender::Client => (Some(&client), End::Client),
                Sender::Server => (server.as_ref(), End::Server),
            };
            let Some(socket) = socket else { continue };
            // What does not fit, and what nobody reads any more, is lost.
            let _ = socket.send(bytes);
            next = session.turn(&mut turn, Some(end), false);
            send(&mut session);
            drain(&client);
            server.iter().for_each(drain);
        }
        drop((client, server));
        for _ in 0..LAST_TURNS {
            if next == Next::Close {
                break;
            }
            next = session.turn(&mut turn, Some(End::Server), true);
            if next == Next::Stay {
                next = session.turn(&mut turn, Some(End::Client), true);
            }
        }
        assert_eq!(next, Next::Close, "both ends have closed");
        session.end(&turn);
        let clients: u32 =
            self.shared.backends.iter().map(|backend| clients_of(&backend.connected_clients)).sum();
        assert_eq!(clients, 0, "the session has ended");
    }
}

fn clients_of(count: &AtomicU32) -> u32 {
    count.load(std::sync::atomic::Ordering::Acquire)
}

/// What a thread does at the end of a round.
fn send(session: &mut Session) {
    for end in [End::Client, End::Server] {
        if let Some(side) = session.side(end) {
            // A broken socket is seen at the next turn.
            let _ = side.flush();
        }
    }
}

/// Takes what arrived, so that nothing is ever full.
fn drain(socket: &Socket) {
    let mut scratch = [0; 4096];
    while let Ok(Receive::Bytes(_)) = socket.receive(&mut scratch) {}
}
