//! From an accepted client to its first command. Main type: [`Login`].
//!
//! The packets of the password exchange pass through, whatever the plug-in is, until the server says OK or ERR. A
//! pooled connection is logged in already: the client gets its old greeting, and its answer becomes COM_CHANGE_USER,
//! so that all later packets have numbers that differ by one.

use crate::commands::Commands;
use crate::connect;
use crate::frames::{Incoming, frame_length};
use crate::greeting::ServerGreeting;
use crate::pool::{Upstream, lasting, upstream};
use crate::session::{Next, Phase, Session, Turn};
use proxy_script::{Decision, Dialect, Endpoint, Level, Reply, ServerLink, state, version_number};
use rustix::io::Errno;
use std::sync::Arc;
use std::time::Duration;
use wire::capabilities::client;
use wire::handshake::{FirstPacket, HandshakeResponse, parse_first_packet};
use wire::output::{FRAME_HEADER_BYTES, Output, push_length_encoded_bytes};

/// A login under way.
#[derive(Debug)]
pub(crate) struct Login {
    step: Step,
    from_client: Incoming,
    from_server: Incoming,
    /// CLIENT_* of the greeting that the client got.
    offered: u32,
    /// CLIENT_* of the server's greeting that the client's has not.
    withheld: u32,
    /// The server's connection comes from the pool.
    is_pooled: bool,
    /// How often a backend was tried.
    tries: usize,
    /// The server asked for another plug-in: what the client answered at first proves nothing.
    was_switched: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Connecting,
    Greeting,
    ClientsAnswer,
    Verdict,
}

const OK: u8 = 0;
const ERR: u8 = 0xFF;
/// The server wants the answer of another plug-in.
const SWITCH: u8 = 0xFE;
const COM_CHANGE_USER: u8 = 17;
/// A greeting is far shorter; a longer frame is of another protocol, and waiting for its end is in vain.
const GREETING_BYTES_MAX: usize = 1 << 16;
/// The number of the client's answer to the greeting; the server's next packet is one higher.
const ANSWER_SEQUENCE: u8 = 1;

impl Login {
    pub fn new() -> Login {
        Login {
            step: Step::Connecting,
            from_client: Incoming::of_a_login(),
            from_server: Incoming::of_a_login(),
            offered: 0,
            withheld: 0,
            is_pooled: false,
            tries: 0,
            was_switched: false,
        }
    }

    /// Whether a backend has not accepted yet.
    pub fn is_connecting(&self) -> bool {
        self.step == Step::Connecting
    }
}

impl Session {
    fn login(&mut self) -> &mut Login {
        if !matches!(self.phase, Phase::Login(_)) {
            self.phase = Phase::Login(Login::new());
        }
        match &mut self.phase {
            Phase::Login(login) => login,
            _ => unreachable!("the phase was set above"),
        }
    }

    /// Loads the script and begins to connect.
    pub(crate) fn start_login(&mut self, turn: &mut Turn<'_>) -> Result<Next, Errno> {
        turn.registry.add(&self.client.socket, self.token, crate::registry::End::Client)?;
        if let Some(path) = &turn.shared.script
            && let Some(reply) = self.load_script(turn, path)
        {
            self.reply(&reply, 0)?;
            return Ok(Next::Close);
        }
        self.connect(turn)
    }

    /// Asks the script which backend, and begins to connect to one; again after each that failed.
    fn connect(&mut self, turn: &mut Turn<'_>) -> Result<Next, Errno> {
        turn.shared.revive_backends();
        // A script that calls a dead backend alive again and again must not keep the thread.
        while self.login().tries <= 2 * turn.shared.backends.len() {
            self.login().tries += 1;
            let decision = self.script.as_ref().map_or(Decision::Pass, |script| script.connect_server());
            self.follow_server(turn)?;
            if let Decision::Reply(reply) = decision {
                return self.greet_for_script(&reply);
            }
            if self.server.is_some() {
                return self.greet_from_pool(turn);
            }
            let asked = self.connection.state().backend_number;
            let Some(index) = turn.shared.choose_backend(asked) else { break };
            let backend = &turn.shared.backends[index];
            match connect::begin(&backend.address) {
                Ok(socket) => {
                    let endpoint = Endpoint::new(connect::local_address(&socket), backend.address.clone());
                    let carrier = Arc::new(Upstream { socket: Arc::new(socket), greeting: None });
                    self.attach(turn, ServerLink { endpoint, backend: index, capabilities: 0, carrier })?;
                    self.login().step = Step::Connecting;
                    self.deadline = turn.now + turn.shared.settings.connect_timeout;
                    return Ok(Next::Stay);
                }
                Err(error) => self.backend_failed(turn, index, &error.to_string()),
            }
        }
        self.log(turn, Level::Critical, "Cannot connect, all backends are down.");
        // In the form of old protocols, which every client reads before it has said what it speaks.
        let mut payload = vec![ERR];
        payload.extend_from_slice(&1105u16.to_le_bytes());
        payload.extend_from_slice(b"(proxy) all backends are down");
        self.reply(&Reply { payloads: vec![payload], is_error: true }, 0)?;
        Ok(Next::Close)
    }

    fn backend_failed(&mut self, turn: &Turn<'_>, index: usize, why: &str) {
        let backend = &turn.shared.backends[index];
        backend.set_state(state::DOWN, turn.now.as_millis() as u64);
        let text = format!("backend {} is down: {why}", backend.address.name());
        self.log(turn, Level::Warning, &text);
    }

    /// The time to connect is over, or that of the whole session. True if the session goes on.
    pub(crate) fn connect_timed_out(&mut self, turn: &mut Turn<'_>) -> Next {
        let index = self.connection.state().server.as_ref().map(|link| link.backend);
        if let Some(index) = index {
            self.backend_failed(turn, index, "no connection within the time");
        }
        self.deadline = turn.now + turn.shared.settings.read_timeout;
        self.detach(turn);
        let next = self.connect(turn);
        self.after(turn, next)
    }

    pub(crate) fn run_login(&mut self, turn: &mut Turn<'_>) -> Result<Next, Errno> {
        loop {
            let step = self.login().step;
            if self.client.has_ended && step != Step::ClientsAnswer {
                // Nobody waits for this login any more, and the server may never speak.
                return Ok(Next::Close);
            }
            let next = match step {
                Step::Connecting => self.connected(turn)?,
                Step::Greeting => self.greeting(turn)?,
                Step::ClientsAnswer => self.clients_answer(turn)?,
                Step::Verdict => self.verdict(turn)?,
            };
            match &self.phase {
                Phase::Login(login) if next == Next::Stay && login.step != step => {}
                Phase::Commands(_) if next == Next::Stay => return self.run_commands(turn),
                _ => return Ok(next),
            }
        }
    }

    fn connected(&mut self, turn: &mut Turn<'_>) -> Result<Next, Errno> {
        // A client that goes away meanwhile is seen when it is greeted.
        let Some(server) = &self.server else { return Ok(Next::Close) };
        if !server.socket.wait_writable(Duration::ZERO)? {
            return Ok(Next::Stay);
        }
        let outcome = connect::outcome(&server.socket);
        let index = self.connection.state().server.as_ref().map_or(0, |link| link.backend);
        match outcome {
            Ok(()) => {
                turn.shared.backends[index].set_state(state::UP, turn.now.as_millis() as u64);
                self.login().step = Step::Greeting;
                Ok(Next::Stay)
            }
            Err(error) => {
                self.backend_failed(turn, index, &error.to_string());
                self.detach(turn);
                self.connect(turn)
            }
        }
    }

    /// Receives from the server. False when it has ended.
    fn fill_from_server(&mut self, turn: &mut Turn<'_>) -> Result<bool, Errno> {
        let (Phase::Login(login), Some(server)) = (&mut self.phase, &mut self.server) else {
            return Ok(true);
        };
        login.from_server.fill(server, turn)
    }

    fn greeting(&mut self, turn: &mut Turn<'_>) -> Result<Next, Errno> {
        let is_open = self.fill_from_server(turn)?;
        let header = self.login().from_server.bytes().get(..FRAME_HEADER_BYTES);
        if header.is_some_and(|header| header[3] != 0 || frame_length(header) > GREETING_BYTES_MAX) {
            return self.broken_server(turn, 0);
        }
        let Ok(packet) = self.login().from_server.packet() else { return self.broken_server(turn, 0) };
        let Some(packet) = packet else {
            return if is_open { Ok(Next::Stay) } else { self.broken_server(turn, 0) };
        };
        let payload = self.login().from_server.payload(packet).into_owned();
        self.login().from_server.consume(packet.bytes);
        if payload.first() == Some(&ERR) {
            self.reply(&Reply { payloads: vec![payload], is_error: true }, 0)?;
            return Ok(Next::Close);
        }
        let Ok(greeting) = ServerGreeting::parse(&payload) else { return self.broken_server(turn, 0) };
        self.note_greeting(&greeting);
        let decision = self.script.as_ref().map_or(Decision::Pass, |script| script.read_handshake());
        self.follow_server(turn)?;
        if let Decision::Reply(reply) = decision {
            self.reply(&reply, 0)?;
            return Ok(Next::Close);
        }
        self.greet(&greeting)
    }

    /// What the greeting tells about the server is there for scripts, and stays with the connection when it is pooled.
    fn note_greeting(&mut self, greeting: &ServerGreeting) {
        let mut state = self.connection.state();
        let Some(link) = &mut state.server else { return };
        let endpoint = &mut link.endpoint;
        endpoint.version = Some(version_number(&String::from_utf8_lossy(&greeting.version)));
        endpoint.thread_id = Some(greeting.thread_id);
        endpoint.scramble = Some([&greeting.scramble[..], &[0]].concat());
        endpoint.plugin = Some(greeting.plugin.clone());
        if let Some(known) = upstream(link) {
            let socket = Arc::clone(&known.socket);
            link.carrier = Arc::new(Upstream { socket, greeting: Some(greeting.clone()) });
        }
    }

    fn greet(&mut self, greeting: &ServerGreeting) -> Result<Next, Errno> {
        let offered = match self.login().is_pooled {
            // What that login agreed on stays, but for the form of the login itself.
            true => {
                let agreed = self.connection.state().server.as_ref().map_or(0, |link| link.capabilities);
                let offered = greeting.offered(true);
                lasting(agreed) | offered & !lasting(offered)
            }
            false => greeting.offered(self.script.is_some()),
        };
        let payload = greeting.for_client(offered);
        self.login().offered = offered;
        self.login().withheld = greeting.capabilities & !offered;
        self.login().step = Step::ClientsAnswer;
        self.reply(&Reply { payloads: vec![payload], is_error: false }, 0)?;
        Ok(Next::Stay)
    }

    /// A script answers in a server's place: with an error, or with a greeting of its own.
    fn greet_for_script(&mut self, reply: &Reply) -> Result<Next, Errno> {
        self.reply(reply, 0)?;
        let Some(greeting) = reply.payloads.first().and_then(|payload| ServerGreeting::parse(payload).ok())
        else {
            return Ok(Next::Close);
        };
        self.login().offered = greeting.capabilities;
        self.login().step = Step::ClientsAnswer;
        Ok(Next::Stay)
    }

    fn greet_from_pool(&mut self, turn: &mut Turn<'_>) -> Result<Next, Errno> {
        let greeting = {
            let state = self.connection.state();
            state.server.as_ref().and_then(upstream).and_then(|upstream| upstream.greeting.clone())
        };
        let Some(greeting) = greeting else { return self.broken_server(turn, 0) };
        self.login().is_pooled = true;
        self.greet(&greeting)
    }

    fn broken_server(&mut self, turn: &Turn<'_>, sequence: u8) -> Result<Next, Errno> {
        self.log(
            turn,
            Level::Critical,
            "a server closed its connection in the login, or sent what is no greeting",
        );
        self.refuse("(proxy) lost connection to the server in the login", sequence)
    }

    fn clients_answer(&mut self, turn: &mut Turn<'_>) -> Result<Next, Errno> {
        let Phase::Login(login) = &mut self.phase else { return Ok(Next::Close) };
        let is_open = login.from_client.fill(&mut self.client, turn)?;
        let Ok(packet) = login.from_client.packet() else { return Ok(Next::Close) };
        let Some(packet) = packet else { return Ok(if is_open { Next::Stay } else { Next::Close }) };
        let payload = login.from_client.payload(packet).into_owned();
        login.from_client.consume(packet.bytes);
        let answer = match parse_first_packet(&payload, login.offered) {
            Ok(FirstPacket::Login(answer)) => answer,
            Ok(FirstPacket::TooOld) => {
                let reply = Reply::error(2007, b"07000", b"4.0 protocol is not supported");
                self.reply(&reply, ANSWER_SEQUENCE + 1)?;
                return Ok(Next::Close);
            }
            _ => return self.refuse("(proxy) the login is malformed", ANSWER_SEQUENCE + 1),
        };
        self.note_answer(&answer);
        let dialect = Dialect { capabilities: self.capabilities };
        let decision = self.script.as_ref().map_or(Decision::Pass, |script| script.read_auth(dialect));
        self.follow_server(turn)?;
        match decision {
            Decision::Reply(reply) => {
                self.reply(&reply, ANSWER_SEQUENCE + 1)?;
                if reply.is_error {
                    return Ok(Next::Close);
                }
                // Let in by the script: no server knows this client.
                self.detach(turn);
                Ok(self.enter_commands())
            }
            Decision::SendQueries => {
                let queued = self.connection.state().queries.pop_front();
                self.send_answer(turn, &answer, queued.map_or(payload, |injection| injection.packet))
            }
            _ => self.send_answer(turn, &answer, payload),
        }
    }

    fn note_answer(&mut self, answer: &HandshakeResponse) {
        self.capabilities = answer.capabilities;
        let mut state = self.connection.state();
        let greeted = state.server.as_ref().map(|link| link.endpoint.clone());
        let client = &mut state.client;
        client.note_login(answer.user.clone(), answer.auth_response.clone(), answer.schema.clone());
        client.plugin.clone_from(&answer.plugin);
        if let Some(greeted) = greeted {
            client.note_greeting(&greeted);
        }
    }

    /// Passes the client's answer on, in the form that the server's connection needs.
    fn send_answer(
        &mut self,
        turn: &mut Turn<'_>,
        answer: &HandshakeResponse,
        payload: Vec<u8>,
    ) -> Result<Next, Errno> {
        if self.server.is_none() {
            // The script greeted: there is nobody who could check the password.
            let mut ok = Vec::new();
            wire::response::push_ok(&mut ok, OK, &wire::result::StatementEnd::default(), client::PROTOCOL_41);
            self.reply(&Reply { payloads: vec![ok], is_error: false }, ANSWER_SEQUENCE + 1)?;
            return Ok(self.enter_commands());
        }
        let is_pooled = self.login().is_pooled;
        if is_pooled && lasting(self.capabilities) != lasting(self.login().offered) {
            return self.refuse("(proxy-pool) the pooled connection was opened by another kind of client", 2);
        }
        if is_pooled && turn.shared.settings.pool_no_change_user {
            return self.compare_with_pooled(answer);
        }
        let mut output = Output::new();
        if is_pooled {
            let agreed = self.connection.state().server.as_ref().map_or(0, |link| link.capabilities);
            output.packet(&change_user(answer, agreed));
        } else {
            output.set_sequence(ANSWER_SEQUENCE);
            output.packet(&without_flags(payload, self.login().withheld));
        }
        if let Some(server) = &mut self.server {
            server.send(output.bytes())?;
        }
        self.login().step = Step::Verdict;
        Ok(Next::Stay)
    }

    /// Without a round trip: user and scrambled password must be those of the earlier login.
    fn compare_with_pooled(&mut self, answer: &HandshakeResponse) -> Result<Next, Errno> {
        let is_same = self.connection.state().server.as_ref().is_some_and(|link| {
            let known = &link.endpoint;
            known.user.as_deref() == Some(&answer.user[..])
                && known
                    .scrambled_password
                    .as_ref()
                    .is_some_and(|known| is_equal(known, &answer.auth_response))
        });
        if !is_same {
            let reply = Reply::error(1045, b"28000", b"(proxy-pool) login failed");
            self.reply(&reply, ANSWER_SEQUENCE + 1)?;
            return Ok(Next::Close);
        }
        let mut ok = Vec::new();
        wire::response::push_ok(&mut ok, OK, &wire::result::StatementEnd::default(), self.capabilities);
        self.reply(&Reply { payloads: vec![ok], is_error: false }, ANSWER_SEQUENCE + 1)?;
        Ok(self.enter_commands())
    }

    /// The exchange until the server's OK or ERR.
    fn verdict(&mut self, turn: &mut Turn<'_>) -> Result<Next, Errno> {
        let server_is_open = self.fill_from_server(turn)?;
        loop {
            let Ok(packet) = self.login().from_server.packet() else { return self.broken_server(turn, 2) };
            let Some(packet) = packet else { break };
            let payload = self.login().from_server.payload(packet).into_owned();
            self.login().from_server.consume(packet.bytes);
            let sequence = packet.sequence.wrapping_add(u8::from(self.login().is_pooled));
            if let Some(next) = self.verdict_packet(turn, payload, sequence)? {
                return Ok(next);
            }
        }
        if !server_is_open {
            return Ok(Next::Close);
        }
        let (Phase::Login(login), Some(server)) = (&mut self.phase, &mut self.server) else {
            return Ok(Next::Close);
        };
        if server.is_full() {
            return Ok(Next::Stay);
        }
        let client_is_open = login.from_client.fill(&mut self.client, turn)?;
        while let Ok(Some(packet)) = login.from_client.packet() {
            let mut bytes = login.from_client.bytes()[..packet.bytes].to_vec();
            bytes[3] = bytes[3].wrapping_sub(u8::from(login.is_pooled));
            login.from_client.consume(packet.bytes);
            server.send(&bytes)?;
        }
        Ok(if client_is_open { Next::Stay } else { Next::Close })
    }

    /// One packet of the server. What comes next if the login has ended.
    fn verdict_packet(
        &mut self,
        turn: &mut Turn<'_>,
        payload: Vec<u8>,
        sequence: u8,
    ) -> Result<Option<Next>, Errno> {
        let first = payload.first().copied();
        match first {
            Some(OK) => self.note_login(),
            Some(SWITCH) => self.login().was_switched = true,
            _ => {}
        }
        let dialect = Dialect { capabilities: self.capabilities };
        let decision =
            self.script.as_ref().map_or(Decision::Pass, |script| script.read_auth_result(&payload, dialect));
        self.follow_server(turn)?;
        let reply = match decision {
            Decision::Reply(reply) => reply,
            _ => Reply { payloads: vec![payload], is_error: first == Some(ERR) },
        };
        self.reply(&reply, sequence)?;
        if reply.is_error {
            return Ok(Some(Next::Close));
        }
        Ok((first == Some(OK)).then(|| self.enter_commands()))
    }

    /// The server has let the client in.
    fn note_login(&mut self) {
        let capabilities = self.capabilities;
        let (is_pooled, was_switched) = (self.login().is_pooled, self.login().was_switched);
        let mut state = self.connection.state();
        state.capabilities = Some(capabilities);
        let client = state.client.clone();
        let Some(link) = &mut state.server else { return };
        if !is_pooled {
            link.capabilities = capabilities;
        }
        link.endpoint.user = client.user;
        link.endpoint.scrambled_password = client.scrambled_password.filter(|_| !was_switched);
        link.endpoint.default_schema = client.default_schema;
    }

    /// The login is over. Bytes that the client sent ahead are its first commands.
    fn enter_commands(&mut self) -> Next {
        self.connection.state().capabilities = Some(self.capabilities);
        let ahead = std::mem::replace(&mut self.login().from_client, Incoming::of_a_login());
        if self.script.is_none() {
            self.phase = Phase::Relay;
            let Some(server) = &mut self.server else { return Next::Close };
            return match server.send(ahead.bytes()) {
                Ok(()) => Next::Stay,
                Err(_) => Next::Close,
            };
        }
        self.phase = Phase::Commands(Commands::new(ahead));
        Next::Stay
    }
}

/// The client's answer as the command that logs in anew, in the form that the connection's own login agreed on.
fn change_user(answer: &HandshakeResponse, agreed: u32) -> Vec<u8> {
    let mut payload = vec![COM_CHANGE_USER];
    payload.extend_from_slice(&answer.user);
    payload.push(0);
    // Clients of today answer with at most 255 bytes.
    payload.push(answer.auth_response.len().min(255) as u8);
    payload.extend_from_slice(&answer.auth_response[..answer.auth_response.len().min(255)]);
    payload.extend_from_slice(&answer.schema);
    payload.push(0);
    payload.extend_from_slice(&answer.collation.to_le_bytes());
    if agreed & client::PLUGIN_AUTH != 0 {
        payload.extend_from_slice(answer.plugin.as_deref().unwrap_or_default());
        payload.push(0);
    }
    if agreed & client::CONNECT_ATTRS != 0 {
        let mut attributes = Vec::new();
        for (name, value) in answer.attributes.iter() {
            push_length_encoded_bytes(&mut attributes, name.as_bytes());
            push_length_encoded_bytes(&mut attributes, value.as_bytes());
        }
        push_length_encoded_bytes(&mut payload, &attributes);
    }
    payload
}

/// Whether two secrets are equal, in a time that does not tell where they differ.
fn is_equal(known: &[u8], given: &[u8]) -> bool {
    known.len() == given.len()
        && known.iter().zip(given).fold(0, |different, (a, b)| different | (a ^ b)) == 0
}

/// The login without flags that were not offered: the server must not read later packets in a form that scripts do not know.
fn without_flags(mut login: Vec<u8>, withheld: u32) -> Vec<u8> {
    if let Some(flags) = login.first_chunk_mut::<4>() {
        *flags = (u32::from_le_bytes(*flags) & !withheld).to_le_bytes();
    }
    login
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_agrees_to_nothing_that_was_not_offered() {
        let asked = client::PROTOCOL_41 | client::QUERY_ATTRIBUTES | client::COMPRESS;
        let login = [&asked.to_le_bytes()[..], b"rest"].concat();
        let sent = without_flags(login, client::QUERY_ATTRIBUTES | client::COMPRESS | client::SSL);
        assert_eq!(sent, [&client::PROTOCOL_41.to_le_bytes()[..], b"rest"].concat());
        assert_eq!(without_flags(vec![1], u32::MAX), [1]);
    }

    #[test]
    fn secrets_are_equal_or_not() {
        assert!(is_equal(b"abc", b"abc") && is_equal(b"", b""));
        assert!(!is_equal(b"abc", b"abd") && !is_equal(b"abc", b"ab"));
    }
}
