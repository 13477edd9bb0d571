//! One client with its server: connecting, the login, then commands. Main type: [`Session`].
//!
//! A session is one thread's own. The thread tells it when a socket may be read or written; it does what can be done
//! without waiting, and says whether it goes on. `login.rs` has the way to the first command, `commands.rs` what
//! scripts make of commands; without a script the bytes go through as they come.

use crate::admin::AdminLogin;
use crate::commands::Commands;
use crate::login::Login;
use crate::pool::upstream;
use crate::registry::{End, Registry};
use crate::shared::Shared;
use crate::side::Side;
use network::{Receive, Socket};
use proxy_script::{Address, Connection, Endpoint, Level, Reply, Script, ServerLink};
use rustix::io::Errno;
use std::sync::Arc;
use std::time::Duration;
use wire::output::Output;

/// What becomes of a session after a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Stay,
    /// Both sockets are to be closed, once the client has what waits for it.
    Close,
}

/// What a client connected to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The servers behind the proxy.
    Proxy,
    /// The proxy itself.
    Admin,
}

/// Where a session is.
pub(crate) enum Phase {
    Login(Login),
    /// An administrator's: no server is behind it.
    AdminLogin(AdminLogin),
    /// Without hooks for commands: bytes go through.
    Relay,
    /// Scripts look at commands and results.
    Commands(Commands),
    /// What the client did not take yet is sent, then the sockets are closed.
    Closing,
}

/// One client with its server.
pub(crate) struct Session {
    /// Its number in its thread, with the generation.
    pub token: u64,
    pub client: Side,
    pub server: Option<Side>,
    pub connection: Arc<Connection>,
    pub script: Option<Script>,
    pub phase: Phase,
    /// CLIENT_* that client and server agreed on.
    pub capabilities: u32,
    /// When the session is closed for want of progress.
    pub deadline: Duration,
}

/// What a turn may use.
pub(crate) struct Turn<'a> {
    pub shared: &'a Shared,
    pub registry: &'a Registry,
    /// Memory to receive into.
    pub scratch: &'a mut [u8],
    /// The monotonic clock at the start of the round.
    pub now: Duration,
    /// How often this turn may still receive; then others have theirs, and this session another one.
    pub receives_left: u32,
}

/// Receives of one turn: with 64 KiB each, one client's long result holds up others for a millisecond or less.
const RECEIVES_PER_TURN: u32 = 16;

impl<'a> Turn<'a> {
    /// A turn with its whole share of receives.
    pub fn new(shared: &'a Shared, registry: &'a Registry, scratch: &'a mut [u8], now: Duration) -> Turn<'a> {
        Turn { shared, registry, scratch, now, receives_left: RECEIVES_PER_TURN }
    }

    /// Counts a receive; false when this turn has had enough.
    pub fn may_receive(&mut self) -> bool {
        let may = self.receives_left > 0;
        self.receives_left -= u32::from(may);
        may
    }

    /// Whether the session was stopped although there was more to do.
    pub fn was_cut(&self) -> bool {
        self.receives_left == 0
    }
}

impl Session {
    /// A client that was just accepted. `peer` is None for a UNIX socket.
    pub fn new(
        token: u64,
        socket: Socket,
        source: Address,
        destination: Address,
        turn: &Turn<'_>,
    ) -> Session {
        let client = Endpoint::new(source, destination);
        let pool = Arc::clone(&turn.shared.pool) as Arc<dyn proxy_script::ServerPool>;
        let connection = Arc::new(Connection::new(client, Arc::clone(&turn.shared.backends), pool));
        Session {
            token,
            client: Side::new(Arc::new(socket)),
            server: None,
            connection,
            script: None,
            phase: Phase::Login(Login::new()),
            capabilities: 0,
            deadline: turn.now + turn.shared.settings.read_timeout,
        }
    }

    /// The first turn.
    pub fn start(&mut self, turn: &mut Turn<'_>, role: Role) -> Next {
        let next = match (role, &turn.shared.admin) {
            (Role::Admin, Some(options)) => self.start_admin(turn, options),
            _ => self.start_login(turn),
        };
        self.after(turn, next)
    }

    /// One of the sockets may be read, written, or was closed by its peer; None: an earlier turn was cut.
    pub fn turn(&mut self, turn: &mut Turn<'_>, end: Option<End>, has_ended: bool) -> Next {
        if let Some(side) = end.and_then(|end| self.side(end)) {
            side.is_readable = true;
            side.has_ended |= has_ended;
        }
        if !matches!(self.phase, Phase::Closing) {
            self.deadline = turn.now + turn.shared.settings.read_timeout;
        }
        let next = self.run(turn);
        self.after(turn, next)
    }

    fn run(&mut self, turn: &mut Turn<'_>) -> Result<Next, Errno> {
        if self.client.is_full() {
            self.client.flush()?;
        }
        if let Some(server) = self.server.as_mut().filter(|server| server.is_full()) {
            server.flush()?;
        }
        match self.phase {
            Phase::Login(_) => self.run_login(turn),
            Phase::AdminLogin(_) => self.run_admin_login(turn),
            Phase::Relay => self.run_relay(turn),
            Phase::Commands(_) => self.run_commands(turn),
            Phase::Closing => Ok(if self.client.is_full() { Next::Stay } else { Next::Close }),
        }
    }

    fn is_connecting(&self) -> bool {
        matches!(&self.phase, Phase::Login(login) if login.is_connecting())
    }

    /// A failed socket closes the session as its end does. What epoll watches follows what waits.
    pub fn after(&mut self, turn: &Turn<'_>, next: Result<Next, Errno>) -> Next {
        let next = next.unwrap_or(Next::Close);
        if next == Next::Close && self.send_last().is_err() {
            return Next::Close;
        }
        if next == Next::Close && self.client.is_full() && !matches!(self.phase, Phase::Closing) {
            self.phase = Phase::Closing;
            self.deadline = turn.now + turn.shared.settings.write_timeout;
            return self.watch(turn, Next::Stay);
        }
        self.watch(turn, next)
    }

    /// What was made before the end goes out.
    fn send_last(&mut self) -> Result<(), Errno> {
        if let Some(server) = &mut self.server
            && server.waiting().is_some()
        {
            // The client's answer does not depend on it.
            let _ = server.flush();
        }
        self.client.flush()
    }

    /// One of the two ends.
    pub fn side(&mut self, end: End) -> Option<&mut Side> {
        match end {
            End::Client => Some(&mut self.client),
            End::Server => self.server.as_mut(),
        }
    }

    /// A round's sends were done: what epoll watches follows what waits.
    pub fn note_sent(&mut self, turn: &Turn<'_>, end: End, sent: Result<usize, Errno>) -> Next {
        let Some(side) = self.side(end) else { return Next::Stay };
        if side.note_sent(sent).is_err() {
            return Next::Close;
        }
        self.watch(turn, Next::Stay)
    }

    fn watch(&mut self, turn: &Turn<'_>, next: Next) -> Next {
        if next == Next::Close {
            return next;
        }
        let is_connecting = self.is_connecting();
        let mut watched = turn.registry.follow(&mut self.client, self.token, End::Client, false);
        if let Some(server) = &mut self.server {
            watched = watched.and(turn.registry.follow(server, self.token, End::Server, is_connecting));
        }
        if watched.is_ok() { Next::Stay } else { Next::Close }
    }

    /// Bytes both ways, as long as they come and are taken.
    fn run_relay(&mut self, turn: &mut Turn<'_>) -> Result<Next, Errno> {
        let Some(server) = &mut self.server else { return Ok(Next::Close) };
        let from_client = relay(&mut self.client, server, turn)?;
        let from_server = relay(server, &mut self.client, turn)?;
        // What was received before the end was sent on.
        Ok(if from_client == Next::Close || from_server == Next::Close { Next::Close } else { Next::Stay })
    }

    /// Sends packets to the client, numbered from `sequence`.
    pub fn reply(&mut self, reply: &Reply, sequence: u8) -> Result<(), Errno> {
        let mut output = Output::new();
        output.set_sequence(sequence);
        for payload in &reply.payloads {
            output.packet(payload);
        }
        self.client.send(output.bytes())
    }

    /// Sends an error as the first packet to a client that waits for the greeting, or as the answer to what it sent.
    pub fn refuse(&mut self, message: &str, sequence: u8) -> Result<Next, Errno> {
        self.reply(&Reply::proxy_error(message), sequence)?;
        Ok(Next::Close)
    }

    /// After a hook: the server may be another one, or none.
    pub fn follow_server(&mut self, turn: &Turn<'_>) -> Result<(), Errno> {
        let state = self.connection.state();
        let socket = state.server.as_ref().and_then(upstream).map(|upstream| &upstream.socket);
        let is_same = match (&self.server, socket) {
            (Some(side), Some(socket)) => Arc::ptr_eq(&side.socket, socket),
            (None, None) => true,
            _ => false,
        };
        if is_same {
            return Ok(());
        }
        let socket = socket.map(Arc::clone);
        drop(state);
        if let Some(mut old) = self.server.take() {
            // Commands without an answer may be on their way. A connection that has half of one is good for nobody: the pool
            // sees its end.
            if old.flush().is_err() || old.is_full() {
                old.socket.shut_down();
            }
            turn.registry.forget(&old.socket);
        }
        if let Some(socket) = socket {
            turn.registry.add(&socket, self.token, End::Server)?;
            self.server = Some(Side::new(socket));
        }
        Ok(())
    }

    /// Another server in the place of the one that is connected.
    pub fn attach(&mut self, turn: &Turn<'_>, link: ServerLink) -> Result<(), Errno> {
        self.detach(turn);
        self.connection.attach(link);
        self.follow_server(turn)
    }

    /// Closes the server's connection.
    pub fn detach(&mut self, turn: &Turn<'_>) {
        drop(self.connection.detach());
        if let Some(old) = self.server.take() {
            turn.registry.forget(&old.socket);
        }
    }

    /// The session ends: the script is told, then the server's connection is closed.
    pub fn end(&mut self, turn: &Turn<'_>) {
        if let Some(script) = &self.script {
            script.disconnect_client();
        }
        self.detach(turn);
        turn.registry.forget(&self.client.socket);
    }

    /// Writes to the log.
    pub fn log(&self, turn: &Turn<'_>, level: Level, text: &str) {
        turn.shared.log.write(level, text);
    }
}

/// Moves bytes until no more come or the other side is full. `Close` at the end of the sender.
fn relay(from: &mut Side, to: &mut Side, turn: &mut Turn<'_>) -> Result<Next, Errno> {
    while from.is_readable && !to.is_full() && turn.may_receive() {
        match from.receive(turn.scratch)? {
            Receive::Bytes(count) => to.send(&turn.scratch[..count])?,
            Receive::Empty => break,
            Receive::Closed => return Ok(Next::Close),
        }
    }
    Ok(Next::Stay)
}
