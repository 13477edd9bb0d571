//! MySQL Proxy's scripts inside the server: the hooks are called where `iruka proxy` would call them, and what they
//! queue runs in the client's own session. Main types: [`Scripted`], [`Watched`].

use super::{Connection, Flow};
use crate::scripts::ServerScript;
use env::{Clock, RealClock};
use network::ReceiveBuffer;
use proxy_script::{
    Address, Answer, AnswerReader, Connection as ScriptConnection, Decision, Dialect, Endpoint, Form,
    Injection, Level, NoPool, Progress, Reply, Script, ServerLink,
};
use rustix::net::getsockname;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::Arc;
use stdx::ids::Lsn;
use wire::encoder::Encoder;
use wire::handshake::HandshakeResponse;

/// Most bytes of an answer that is held for a script.
const HELD_BYTES_MAX: usize = 1 << 30;
const COM_QUIT: u8 = 1;
const COM_INIT_DB: u8 = 2;
/// A connection's script.
pub(crate) struct Scripted {
    script: Script,
    connection: Arc<ScriptConnection>,
    /// CLIENT_* agreed on.
    capabilities: u32,
}

/// Looks at an answer while it is made.
#[derive(Debug)]
pub(super) struct Watched {
    reader: AnswerReader,
    /// Where what was not looked at begins in the output.
    from: usize,
    /// Nothing of it is sent before it is complete.
    pub holds: bool,
    first_byte_at: Option<u64>,
}

impl Watched {
    fn new(command: u8, capabilities: u32, encoder: &Encoder, holds: bool) -> Watched {
        let reader = AnswerReader::new(Form::of(command), capabilities);
        Watched { reader, from: encoder.output.len(), holds, first_byte_at: None }
    }

    /// What was written since the last look, before it is sent. The output is empty afterwards.
    pub fn look(&mut self, output: &[u8]) {
        self.read(output.get(self.from..).unwrap_or_default());
        self.from = 0;
    }

    /// Packets that are sent from where they are kept.
    pub fn read(&mut self, mut bytes: &[u8]) {
        if !bytes.is_empty() {
            self.first_byte_at.get_or_insert_with(now_microseconds);
        }
        while !bytes.is_empty() {
            let (used, progress) = self.reader.read(bytes);
            bytes = &bytes[used..];
            match progress {
                // The answer to a file request goes on after the client's turn.
                Progress::ClientsTurn => self.reader.file_was_sent(),
                Progress::Done => break,
                Progress::Open | Progress::Broken => {}
            }
        }
    }

    /// Whether the answer became too long to be held.
    pub fn is_too_long(&self, output: &[u8]) -> bool {
        self.holds && output.len().saturating_sub(self.from) > HELD_BYTES_MAX
    }
}

fn now_microseconds() -> u64 {
    RealClock.monotonic().as_micros() as u64
}

impl Scripted {
    /// Loads the script for a client. The error is what the client is told.
    pub fn open(script: &ServerScript, client: Endpoint, server: Endpoint) -> Result<Scripted, Reply> {
        let engine = &script.engine;
        let connection = Arc::new(ScriptConnection::new(client, engine.backends(), Arc::new(NoPool)));
        let script =
            engine.open(&script.path, Arc::clone(&connection)).map_err(|failure| engine.tell(&failure))?;
        connection.attach(ServerLink {
            endpoint: server,
            backend: 0,
            capabilities: 0,
            carrier: Arc::new(()),
        });
        Ok(Scripted { script, connection, capabilities: 0 })
    }

    /// Before the greeting. What the client gets in its place.
    pub fn greet(&self, scramble: &[u8], thread_id: u32, version: &str) -> Option<Reply> {
        if let Decision::Reply(reply) = self.script.connect_server() {
            return Some(reply);
        }
        if let Some(link) = &mut self.connection.state().server {
            link.endpoint.scramble = Some([scramble, &[0]].concat());
            link.endpoint.thread_id = Some(thread_id);
            link.endpoint.version = Some(proxy_script::version_number(version));
            link.endpoint.plugin = Some(wire::auth::caching_sha2::NAME.into());
        }
        instead(self.script.read_handshake())
    }

    /// The client's login. What it gets instead of the verdict.
    pub fn read_auth(&mut self, response: &HandshakeResponse) -> Option<Reply> {
        self.capabilities = response.capabilities;
        {
            let mut state = self.connection.state();
            state.capabilities = Some(response.capabilities);
            let greeted = state.server.as_ref().map(|link| link.endpoint.clone());
            let (user, password) = (response.user.clone(), response.auth_response.clone());
            state.client.note_login(user, password, response.schema.clone());
            state.client.plugin.clone_from(&response.plugin);
            if let Some(greeted) = greeted {
                state.client.note_greeting(&greeted);
            }
        }
        instead(self.script.read_auth(self.dialect()))
    }

    /// The verdict, as a packet. What the client gets instead.
    pub fn read_auth_result(&self, packet: &[u8]) -> Option<Reply> {
        if packet.first() == Some(&0) {
            let mut state = self.connection.state();
            let client = state.client.clone();
            if let Some(link) = &mut state.server {
                let text = Option::unwrap_or_default;
                let (user, password) = (text(client.user), text(client.scrambled_password));
                link.endpoint.note_login(user, password, text(client.default_schema));
            }
        }
        instead(self.script.read_auth_result(packet, self.dialect()))
    }

    fn dialect(&self) -> Dialect {
        Dialect { capabilities: self.capabilities }
    }

    fn note_schema(&self, schema: &[u8]) {
        let mut state = self.connection.state();
        state.client.default_schema = Some(schema.to_vec());
        if let Some(link) = &mut state.server {
            link.endpoint.default_schema = Some(schema.to_vec());
        }
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.script.disconnect_client();
        drop(self.connection.detach());
    }
}

fn instead(decision: Decision) -> Option<Reply> {
    match decision {
        Decision::Reply(reply) => Some(reply),
        _ => None,
    }
}

/// The two ends of a connection to this server: the client's, and the one that a proxy would have.
pub(super) fn endpoints(socket: &network::Socket, peer: Option<SocketAddr>) -> (Endpoint, Endpoint) {
    let unnamed = || Address::Unix(PathBuf::new());
    let own = getsockname(socket.descriptor().as_fd()).ok();
    let own = own.and_then(|address| SocketAddr::try_from(address).ok());
    let (peer, own) = (peer.map_or_else(unnamed, Address::Tcp), own.map_or_else(unnamed, Address::Tcp));
    (Endpoint::new(peer.clone(), own.clone()), Endpoint::new(peer, own))
}

/// What running a queue came to so far.
#[derive(Default)]
struct Progressed {
    lsn: Lsn,
    extra_used: bool,
    results_sent: u32,
}

impl Progressed {
    fn end(&self, flow: Flow) -> (Lsn, Flow, bool) {
        (self.lsn, flow, self.extra_used)
    }
}

impl Connection {
    /// A command of a client with a script: it runs as it is, is answered by the script, or gives way to what the
    /// script queued.
    pub(super) fn run_scripted(
        &mut self,
        payload: &[u8],
        extra: &[u8],
        side: &mut ReceiveBuffer,
    ) -> (Lsn, Flow, bool) {
        let Some(scripted) = &self.scripted else { return self.run_command(payload, extra, side, &mut None) };
        let decision = scripted.script.read_query(payload, scripted.dialect());
        let command = payload.first().copied().unwrap_or(0);
        let (lsn, flow, extra_used) = match decision {
            Decision::Reply(reply) => {
                self.begin_answer(false, &[], side);
                self.write(&reply);
                (Lsn(0), Flow::Continue, false)
            }
            Decision::SendQueries => self.run_queue(command, extra, side),
            _ => {
                let mut watched = Some(Watched::new(command, scripted.capabilities, &self.encoder, false));
                let done = self.run_command(payload, extra, side, &mut watched);
                self.end_watch(&mut watched, payload);
                done
            }
        };
        let closes = self.scripted.as_ref().is_some_and(|scripted| scripted.connection.state().closes);
        (lsn, if closes { Flow::Close } else { flow }, extra_used)
    }

    pub(super) fn write(&mut self, reply: &Reply) {
        for payload in &reply.payloads {
            self.encoder.output.packet(payload);
        }
    }

    /// The last look at an answer. A schema that was chosen is the script's to see.
    fn end_watch(&mut self, watched: &mut Option<Watched>, payload: &[u8]) {
        let Some(watched) = watched else { return };
        watched.look(self.encoder.output.bytes());
        let Some(scripted) = &self.scripted else { return };
        if payload.first() == Some(&COM_INIT_DB) && !watched.reader.summary.is_error {
            scripted.note_schema(&payload[1..]);
        }
    }

    /// Runs what the script queued, one after the other. One result reaches the client.
    fn run_queue(&mut self, command: u8, extra: &[u8], side: &mut ReceiveBuffer) -> (Lsn, Flow, bool) {
        let mut progressed = Progressed::default();
        loop {
            // A script may queue for ever; the statements themselves see KILL.
            if self.is_ended_from_outside() {
                return progressed.end(Flow::Close);
            }
            let queued = match &self.scripted {
                Some(scripted) => scripted.connection.state().queries.pop_front(),
                None => None,
            };
            let Some(injection) = queued else { break };
            if let Err(flow) = self.run_injection(injection, extra, side, &mut progressed) {
                return progressed.end(flow);
            }
        }
        if Form::of(command) != Form::None && progressed.results_sent == 0 {
            // The client would wait for ever.
            self.begin_answer(false, &[], side);
            self.write(&Reply::proxy_error("(proxy) the script ignored all results of this command"));
        }
        progressed.end(Flow::Continue)
    }

    /// Whether somebody wants this connection to end.
    fn is_ended_from_outside(&self) -> bool {
        let shared = &self.shared;
        self.control.is_closing() || shared.is_stopping() || shared.instance.is_killed(self.id)
    }

    fn run_injection(
        &mut self,
        injection: Injection,
        extra: &[u8],
        side: &mut ReceiveBuffer,
        progressed: &mut Progressed,
    ) -> Result<(), Flow> {
        let Some(scripted) = &self.scripted else { return Err(Flow::Close) };
        let first = match injection.packet.first() {
            None => {
                scripted.script.log(Level::Critical, "a script queued an empty packet");
                return Err(Flow::Close);
            }
            Some(&COM_QUIT) => return Err(Flow::Close),
            Some(&first) => first,
        };
        let is_first = progressed.results_sent == 0;
        if !injection.resultset_is_needed && !is_first && scripted.script.has("read_query_result") {
            scripted.script.note_second_stream();
            return Err(Flow::Close);
        }
        let holds = injection.resultset_is_needed || !is_first;
        let start = self.encoder.output.len();
        let mut watched = Some(Watched::new(first, scripted.capabilities, &self.encoder, holds));
        let (lsn, flow, extra_used) = self.run_command(&injection.packet, extra, side, &mut watched);
        progressed.lsn = progressed.lsn.max(lsn);
        progressed.extra_used |= extra_used;
        self.end_watch(&mut watched, &injection.packet);
        if !matches!(flow, Flow::Continue) {
            return Err(flow);
        }
        if let (Some(watched), true) = (watched, Form::of(first) != Form::None) {
            progressed.results_sent += self.end_injection(injection, watched, start, progressed.results_sent);
        }
        Ok(())
    }

    /// The answer to an injected query is complete: the script sees it. Returns how many results went to the client.
    fn end_injection(
        &mut self,
        injection: Injection,
        watched: Watched,
        start: usize,
        results_sent: u32,
    ) -> u32 {
        let Some(scripted) = &self.scripted else { return 0 };
        let output = self.encoder.output.bytes();
        let bytes = if watched.holds { output.get(start..).unwrap_or_default().to_vec() } else { Vec::new() };
        let sequence = bytes.get(3).copied().unwrap_or(1);
        let now = now_microseconds();
        let (queued_at, injection_id) = (injection.queued_at, injection.id);
        let answer = Answer {
            injection,
            bytes,
            summary: watched.reader.summary,
            capabilities: scripted.capabilities,
            query_time: watched.first_byte_at.unwrap_or(now).saturating_sub(queued_at),
            response_time: now.saturating_sub(queued_at),
        };
        let (decision, _) = scripted.script.read_query_result(answer, scripted.dialect());
        if !watched.holds {
            if matches!(decision, Decision::Reply(_) | Decision::Ignore) {
                scripted.script.note_late_change();
            }
            return 1;
        }
        match decision {
            Decision::Ignore => {
                self.encoder.output.truncate(start, sequence);
                return 0;
            }
            _ if results_sent > 0 => {
                scripted.script.note_extra_result(results_sent, injection_id);
                self.encoder.output.truncate(start, sequence);
                return 0;
            }
            Decision::Reply(reply) => {
                self.encoder.output.truncate(start, sequence);
                self.write(&reply);
            }
            _ => {}
        }
        1
    }
}
