//! The admin plug-in: clients that talk to a script and to no server. Main type: [`AdminLogin`].
//! One user with one password, checked as mysql_native_password.

use crate::commands::Commands;
use crate::frames::Incoming;
use crate::greeting::ServerGreeting;
use crate::options::AdminOptions;
use crate::registry::End;
use crate::session::{Next, Phase, Session, Turn};
use env::{Random, RealRandom};
use proxy_script::Reply;
use rustix::io::Errno;
use std::sync::Arc;
use wire::auth::cache::PasswordCache;
use wire::auth::exchange::{Channel, Credentials, Exchange, Next as Step, Plugin};
use wire::auth::{SCRAMBLE_BYTES, native, scramble_from_random};
use wire::capabilities::{client, status};
use wire::handshake::{FirstPacket, parse_first_packet};

/// What administrators' clients may agree on.
const OFFERED: u32 = client::LONG_PASSWORD
    | client::LONG_FLAG
    | client::CONNECT_WITH_DB
    | client::PROTOCOL_41
    | client::SECURE_CONNECTION
    | client::PLUGIN_AUTH
    | client::PLUGIN_AUTH_LENENC_CLIENT_DATA
    | client::CONNECT_ATTRS;
const VERSION: &[u8] = b"5.0.99-agent-admin";
const ER_ACCESS_DENIED: u16 = 1045;

/// An administrator's login.
pub(crate) struct AdminLogin {
    from_client: Incoming,
    scramble: [u8; SCRAMBLE_BYTES],
    /// Once the client has said who it is.
    exchange: Option<Exchange>,
    /// Whether the name is the administrator's.
    is_known: bool,
}

impl Session {
    /// Loads the script and greets.
    pub(crate) fn start_admin(&mut self, turn: &mut Turn<'_>, options: &AdminOptions) -> Result<Next, Errno> {
        turn.registry.add(&self.client.socket, self.token, End::Client)?;
        if let Some(reply) = self.load_script(turn, &options.script) {
            self.reply(&reply, 0)?;
            return Ok(Next::Close);
        }
        let mut random = [0; SCRAMBLE_BYTES];
        RealRandom.fill(&mut random);
        let scramble = scramble_from_random(random);
        let greeting = ServerGreeting {
            version: VERSION.to_vec(),
            thread_id: 1,
            scramble,
            capabilities: OFFERED,
            collation: 8,
            status: status::AUTOCOMMIT,
            plugin: native::NAME.into(),
        };
        self.phase = Phase::AdminLogin(AdminLogin {
            from_client: Incoming::of_a_login(),
            scramble,
            exchange: None,
            is_known: false,
        });
        self.reply(&Reply { payloads: vec![greeting.for_client(OFFERED)], is_error: false }, 0)?;
        Ok(Next::Stay)
    }

    pub(crate) fn run_admin_login(&mut self, turn: &mut Turn<'_>) -> Result<Next, Errno> {
        let Phase::AdminLogin(login) = &mut self.phase else { return Ok(Next::Close) };
        let is_open = login.from_client.fill(&mut self.client, turn)?;
        let Ok(packet) = login.from_client.packet() else { return Ok(Next::Close) };
        let Some(packet) = packet else { return Ok(if is_open { Next::Stay } else { Next::Close }) };
        let payload = login.from_client.payload(packet).into_owned();
        login.from_client.consume(packet.bytes);
        let sequence = packet.sequence.wrapping_add(1);
        let Some(options) = &turn.shared.admin else { return Ok(Next::Close) };
        match self.admin_step(options, &payload) {
            None => self.refuse("(admin) the login is malformed", sequence),
            Some(Step::Ask(payload)) => {
                self.reply(&Reply { payloads: vec![payload], is_error: false }, sequence)?;
                Ok(Next::Stay)
            }
            Some(Step::Accepted { .. }) if self.is_administrator() => {
                let mut ok = Vec::new();
                let end = wire::result::StatementEnd::default();
                wire::response::push_ok(&mut ok, 0, &end, client::PROTOCOL_41);
                self.reply(&Reply { payloads: vec![ok], is_error: false }, sequence)?;
                let ahead = match &mut self.phase {
                    Phase::AdminLogin(login) => {
                        std::mem::replace(&mut login.from_client, Incoming::of_a_login())
                    }
                    _ => Incoming::of_a_login(),
                };
                self.phase = Phase::Commands(Commands::new(ahead));
                self.run_commands(turn)
            }
            Some(_) => {
                let text = if self.is_administrator() { "password doesn't match" } else { "unknown user" };
                self.reply(&Reply::error(ER_ACCESS_DENIED, b"28000", text.as_bytes()), sequence)?;
                Ok(Next::Close)
            }
        }
    }

    fn is_administrator(&self) -> bool {
        matches!(&self.phase, Phase::AdminLogin(login) if login.is_known)
    }

    /// What a packet leads to; None if it is none.
    fn admin_step(&mut self, options: &AdminOptions, payload: &[u8]) -> Option<Step> {
        let Phase::AdminLogin(login) = &mut self.phase else { return None };
        let cache = PasswordCache::default();
        let channel = Channel { is_protected: false, key: None, cache: &cache };
        if let Some(exchange) = &mut login.exchange {
            return Some(exchange.receive(payload, &channel));
        }
        let Ok(FirstPacket::Login(answer)) = parse_first_packet(payload, OFFERED) else { return None };
        self.capabilities = answer.capabilities;
        login.is_known = answer.user == options.user.as_bytes();
        // An unknown user is played by one whom no password proves.
        let stored = login.is_known.then(|| native::hash(options.password.as_bytes()).into_bytes());
        let credentials = Credentials { plugin: Plugin::Native, stored: stored.into_iter().collect() };
        let mut exchange = Exchange::new(credentials, login.scramble);
        let step = exchange.start(answer.plugin.as_deref(), &answer.auth_response, &channel);
        login.exchange = Some(exchange);
        let mut state = self.connection.state();
        state.capabilities = Some(answer.capabilities);
        state.client.note_login(answer.user.clone(), answer.auth_response.clone(), answer.schema.clone());
        Some(step)
    }

    /// Loads a script for this client. What the client is told if that fails.
    pub(crate) fn load_script(&mut self, turn: &Turn<'_>, path: &std::path::Path) -> Option<Reply> {
        let engine = turn.shared.engine.as_ref()?;
        match engine.open(path, Arc::clone(&self.connection)) {
            Ok(script) => {
                self.script = Some(script);
                None
            }
            Err(failure) => Some(engine.tell(&failure)),
        }
    }
}
