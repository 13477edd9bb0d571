//! From the greeting to the session, and COM_CHANGE_USER. Main type: [`Login`].

use super::{Connection, Flow};
use crate::shared::Shared;
use errors::{SqlError, sql_error};
use network::ReceiveBuffer;
use session::{
    AuthenticationAccount, AuthenticationPlugin, ConnectionControl, ConnectionInfo, LoginAttempt,
    RefusedConnection, ServerSettings, TlsDetails, TlsRequirement,
};
use std::sync::Arc;
use std::time::Duration;
use wire::auth::exchange::{Channel as AuthChannel, Credentials, Exchange, Next, PasswordKey, Plugin};
use wire::auth::{SCRAMBLE_BYTES, scramble_from_random};
use wire::capabilities::{client, status};
use wire::compression::Algorithm;
use wire::encoder::Encoder;
use wire::handshake::{FirstPacket, Greeting, HandshakeResponse, parse_change_user, parse_first_packet};
use wire::output::FRAME_HEADER_BYTES;

/// Scripts read commands and results as they were before these.
const WITHHELD_FROM_SCRIPTS: u32 = client::QUERY_ATTRIBUTES | client::OPTIONAL_RESULTSET_METADATA;
/// zstd level of clients that name none.
const ZSTD_LEVEL_DEFAULT: u8 = 3;

/// A login in progress.
pub struct Login {
    scramble: [u8; SCRAMBLE_BYTES],
    /// Capabilities that the greeting offered.
    offered: u32,
    /// Only over TLS or a UNIX socket.
    requires_protection: bool,
    /// What the client asked for, once it did.
    response: HandshakeResponse,
    exchange: Option<Exchange>,
    account: Option<AuthenticationAccount>,
    /// Counts failures where the account asks for it, those of clients that leave before the verdict included.
    attempt: Option<LoginAttempt>,
    /// connect_timeout: how long each step of the client may take.
    step_timeout: Duration,
    /// When all steps must be done, on the monotonic clock.
    end: Duration,
}

/// The TLS handshake, and all steps together, may take this many connect_timeout.
const STEP_TIMEOUTS_MAX: u32 = 30;

impl Login {
    /// Sets connect_timeout. As in MySQL it counts for each wait, not for the whole login, and not for the TLS
    /// handshake: there clients load their certificates, which takes hundreds that start together many seconds.
    pub fn limit_time(&mut self, now: Duration, connect_timeout: Duration) {
        self.step_timeout = connect_timeout;
        self.end = now + connect_timeout * STEP_TIMEOUTS_MAX;
    }

    /// When the client must have taken its next step.
    pub fn deadline(&self, now: Duration, is_in_tls_handshake: bool) -> Duration {
        if is_in_tls_handshake { self.end } else { (now + self.step_timeout).min(self.end) }
    }

    /// Random bytes for the passwords of one connection.
    pub fn scramble(shared: &Shared) -> [u8; SCRAMBLE_BYTES] {
        let mut random = [0; SCRAMBLE_BYTES];
        shared.environment.random.fill(&mut random);
        scramble_from_random(random)
    }

    /// Writes the greeting.
    pub fn greet(
        encoder: &mut Encoder,
        id: u32,
        scramble: [u8; SCRAMBLE_BYTES],
        settings: &ServerSettings,
        shared: &Shared,
    ) -> Login {
        let mut offered = client::OFFERED;
        if shared.tls.is_some() {
            offered |= client::SSL;
        }
        if shared.script.is_some() {
            offered &= !WITHHELD_FROM_SCRIPTS;
        }
        let greeting = Greeting {
            version: &settings.version,
            connection_id: id,
            scramble: &scramble,
            capabilities: offered,
            collation: settings.collation,
            status: status::AUTOCOMMIT,
            plugin: Plugin::CachingSha2.name(),
        };
        greeting.encode(encoder.output.begin_packet());
        encoder.output.end_packet();
        Login {
            scramble,
            offered,
            requires_protection: settings.require_secure_transport,
            response: HandshakeResponse::default(),
            exchange: None,
            account: None,
            attempt: None,
            step_timeout: Duration::ZERO,
            end: Duration::MAX,
        }
    }

    /// Looks up the account and starts the exchange of passwords.
    fn start(&mut self, connection: &Connection) -> Next {
        let user = String::from_utf8_lossy(&self.response.user);
        self.account = connection.shared.instance.find_account(&user, &connection.host);
        self.attempt =
            self.account.as_ref().and_then(|account| connection.shared.instance.start_login(account));
        let mut exchange = Exchange::new(credentials(self.account.as_ref()), self.scramble);
        let channel = auth_channel(connection);
        let next = exchange.start(self.response.plugin.as_deref(), &self.response.auth_response, &channel);
        self.exchange = Some(exchange);
        next
    }

    /// Notes whether the password was right. Error 3955 if failed logins lock the account.
    fn judge(&mut self, proved: bool, connection: &Connection) -> Result<(), SqlError> {
        let Some(attempt) = self.attempt.take() else { return Ok(()) };
        let user = String::from_utf8_lossy(&self.response.user);
        attempt.judge(proved, &user, &connection.host).inspect_err(|_| {
            connection.count_refused(RefusedConnection::AccessDenied);
        })
    }

    /// Error 1045 as MySQL words it.
    fn denied(&self, connection: &Connection) -> SqlError {
        connection.count_refused(RefusedConnection::AccessDenied);
        let used = if self.response.auth_response.is_empty() { "NO" } else { "YES" };
        let user = String::from_utf8_lossy(&self.response.user);
        sql_error!(ER_ACCESS_DENIED_ERROR, user, connection.host.display(), used)
    }
}

/// An account that does not exist is played by one that accepts nothing.
fn credentials(account: Option<&AuthenticationAccount>) -> Credentials {
    let Some(account) = account else {
        return Credentials { plugin: Plugin::CachingSha2, stored: Vec::new() };
    };
    let plugin = match account.plugin {
        AuthenticationPlugin::CachingSha2Password => Plugin::CachingSha2,
        AuthenticationPlugin::MysqlNativePassword => Plugin::Native,
    };
    let mut stored = vec![account.authentication_string.clone()];
    if !account.retained_authentication_string.is_empty() {
        stored.push(account.retained_authentication_string.clone());
    }
    Credentials { plugin, stored }
}

fn auth_channel(connection: &Connection) -> AuthChannel<'_> {
    AuthChannel {
        is_protected: connection.transport.is_protected(),
        key: connection.shared.key.as_ref().map(|key| key as &dyn PasswordKey),
        cache: &connection.shared.passwords,
    }
}

impl Connection {
    /// A packet while a login or change of user is going on. `side` holds what came behind it.
    pub(super) fn take_login_packet(&mut self, payload: &[u8], side: &mut ReceiveBuffer) -> Flow {
        let Some(mut login) = self.login.take() else { return Flow::Close };
        self.begin_answer(false, &[], &mut ReceiveBuffer::default());
        let next = if let Some(exchange) = &mut login.exchange {
            let channel = auth_channel(self);
            if exchange.next_is_slow() {
                // Thousands of rounds of hashing: others must not wait for it.
                env::blocking::region(|| exchange.receive(payload, &channel))
            } else {
                exchange.receive(payload, &channel)
            }
        } else {
            match parse_first_packet(payload, login.offered) {
                Ok(FirstPacket::TlsRequest) => return self.start_tls(login, side),
                Ok(FirstPacket::Login(response)) => {
                    login.response = *response;
                    self.encoder.set_capabilities(login.response.capabilities);
                    if login.requires_protection && !self.transport.is_protected() {
                        self.count_refused(RefusedConnection::AccessDenied);
                        return self.refuse(&sql_error!(ER_SECURE_TRANSPORT_REQUIRED));
                    }
                    if let Some(scripted) = &mut self.scripted
                        && let Some(reply) = scripted.read_auth(&login.response)
                    {
                        self.write(&reply);
                        return Flow::Linger;
                    }
                    login.start(self)
                }
                Ok(FirstPacket::TooOld) => return self.refuse(&sql_error!(ER_NOT_SUPPORTED_AUTH_MODE)),
                Err(_) => {
                    self.count_refused(RefusedConnection::Protocol);
                    return self.refuse(&sql_error!(ER_HANDSHAKE_ERROR));
                }
            }
        };
        self.follow(login, next)
    }

    fn start_tls(&mut self, login: Box<Login>, side: &mut ReceiveBuffer) -> Flow {
        let Some(config) = &self.shared.tls else { return Flow::Close };
        let Ok(mut tls) = rustls::ServerConnection::new(Arc::clone(config)) else { return Flow::Close };
        tls.set_buffer_limit(None);
        self.login = Some(login);
        if self.transport.start_tls(tls, side).is_err() {
            self.count_refused(RefusedConnection::Protocol);
            return Flow::Close;
        }
        Flow::Continue
    }

    /// Does what the exchange asks for.
    fn follow(&mut self, mut login: Box<Login>, next: Next) -> Flow {
        match next {
            Next::Ask(payload) => {
                self.encoder.raw(&payload);
                self.frames.set_expected_sequence(self.encoder.output.sequence());
                self.transport.expect_reply();
                self.login = Some(login);
                Flow::Continue
            }
            Next::Accepted { before_ok } => {
                if let Some(payload) = before_ok {
                    self.encoder.raw(&payload);
                }
                match login.judge(true, self) {
                    Ok(()) => self.admit(login),
                    Err(error) => self.refuse(&error),
                }
            }
            Next::Denied => {
                let error = login.judge(false, self).err().unwrap_or_else(|| login.denied(self));
                self.refuse(&error)
            }
            Next::ClientTooOld => self.refuse(&sql_error!(ER_NOT_SUPPORTED_AUTH_MODE)),
        }
    }

    fn refuse(&mut self, error: &SqlError) -> Flow {
        let start = self.encoder.output.len();
        self.encoder.error(error);
        if self.session.is_none() {
            self.show_verdict(start);
        }
        Flow::Linger
    }

    /// The script may put something in the place of the verdict, which the output holds from `start` on. True if that is an error.
    fn show_verdict(&mut self, start: usize) -> bool {
        let Some(scripted) = &self.scripted else { return false };
        let Some(frame) = self.encoder.output.bytes().get(start..) else { return false };
        let Some((header, packet)) = frame.split_at_checked(FRAME_HEADER_BYTES) else { return false };
        let sequence = header[3];
        let Some(reply) = scripted.read_auth_result(packet) else { return false };
        self.encoder.output.truncate(start, sequence);
        self.write(&reply);
        reply.is_error
    }

    /// The password was right: opens the session, or changes its user.
    fn admit(&mut self, mut login: Box<Login>) -> Flow {
        let Some(account) = login.account.as_ref().filter(|account| self.meets(&account.tls)) else {
            let error = login.denied(self);
            return self.refuse(&error);
        };
        let info = self.connection_info(&mut login.response);
        let is_first = self.session.is_none();
        let result = match &mut self.session {
            Some(session) => session.change_user(info, account),
            None => {
                self.shared.instance.open_session(info, account).map(|session| self.session = Some(session))
            }
        };
        if let Err(error) = result {
            return self.refuse(&error);
        }
        let start = self.encoder.output.len();
        let mut side = ReceiveBuffer::default();
        let acknowledged = match self.begin_answer_again(&mut side) {
            (Some(session), mut channel) => session.acknowledge(&mut channel),
            (None, _) => return Flow::Close,
        };
        if acknowledged.is_err() || is_first && self.show_verdict(start) {
            return Flow::Linger;
        }
        self.start_commands(&login.response)
    }

    /// As `begin_answer`, going on with the sequence numbers of what was already written.
    fn begin_answer_again<'a>(
        &'a mut self,
        side: &'a mut ReceiveBuffer,
    ) -> (Option<&'a mut Box<dyn crate::port::SqlSession>>, super::Channel<'a>) {
        let sequence = self.encoder.output.sequence();
        let (session, mut channel) = self.begin_answer(false, &[], side);
        channel.encoder().output.set_sequence(sequence);
        (session, channel)
    }

    /// The OK packet is the last one without compression.
    fn start_commands(&mut self, response: &HandshakeResponse) -> Flow {
        let wants = |flag| response.capabilities & flag != 0;
        if !self.transport.is_compressed() && (wants(client::COMPRESS) || wants(client::ZSTD_COMPRESSION)) {
            // The OK is sent first: what follows it is compressed.
            if self.send_waiting().is_err() {
                return Flow::Close;
            }
            let level =
                if response.zstd_level == 0 { ZSTD_LEVEL_DEFAULT } else { response.zstd_level.min(22) };
            let zstd = Algorithm::Zstd { level };
            self.transport.start_compression(if wants(client::COMPRESS) { Algorithm::Zlib } else { zstd });
            self.frames.trust_sequence();
        }
        if let Some(session) = &self.session {
            self.frames.set_payload_bytes_max(session.max_allowed_packet());
        }
        self.expect_command();
        Flow::Continue
    }

    /// Whether the channel is what the account's REQUIRE clause asks for. Client certificates are not asked for in
    /// the TLS handshake, so what needs one is not met.
    fn meets(&self, requirement: &TlsRequirement) -> bool {
        match requirement {
            TlsRequirement::None => true,
            TlsRequirement::Tls => self.transport.tls().is_some(),
            TlsRequirement::Certificate | TlsRequirement::Specified { .. } => false,
        }
    }

    /// Takes the attributes.
    fn connection_info(&self, response: &mut HandshakeResponse) -> ConnectionInfo {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        ConnectionInfo {
            id: self.id,
            user: text(&response.user),
            host: self.host.clone(),
            schema: text(&response.schema),
            capabilities: u64::from(response.capabilities),
            collation: response.collation,
            tls: self.transport.tls().map(tls_details),
            attributes: std::mem::take(&mut response.attributes),
            control: Arc::clone(&self.control) as Arc<dyn ConnectionControl>,
        }
    }

    /// COM_CHANGE_USER: the client answers the scramble of the greeting, which it still knows.
    pub(super) fn change_user(&mut self, payload: &[u8]) -> Flow {
        let Ok(change) = parse_change_user(payload, self.encoder.capabilities()) else {
            self.encoder.error(&sql_error!(ER_MALFORMED_PACKET));
            return Flow::Linger;
        };
        let settings = self.shared.instance.settings();
        let mut login = Box::new(Login {
            scramble: self.scramble,
            offered: self.encoder.capabilities(),
            requires_protection: false,
            response: HandshakeResponse {
                capabilities: self.encoder.capabilities(),
                collation: change.collation.unwrap_or(settings.collation),
                user: change.user,
                auth_response: change.auth_response,
                schema: change.schema,
                plugin: change.plugin,
                attributes: change.attributes,
                ..HandshakeResponse::default()
            },
            exchange: None,
            account: None,
            attempt: None,
            step_timeout: Duration::ZERO,
            end: Duration::MAX,
        });
        let next = login.start(self);
        self.follow(login, next)
    }
}

fn tls_details(tls: &rustls::ServerConnection) -> TlsDetails {
    let version = match tls.protocol_version() {
        Some(rustls::ProtocolVersion::TLSv1_2) => "TLSv1.2",
        Some(rustls::ProtocolVersion::TLSv1_3) => "TLSv1.3",
        _ => "",
    };
    let suite = tls.negotiated_cipher_suite().map(|suite| suite.suite().as_str().unwrap_or("").to_owned());
    TlsDetails {
        version: version.to_owned(),
        // rustls writes TLS 1.3 suites as TLS13_..., everyone else as TLS_...
        cipher: suite.unwrap_or_default().replacen("TLS13_", "TLS_", 1),
        peer_subject: None,
        peer_issuer: None,
    }
}
