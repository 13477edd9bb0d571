//! One client: its socket, its session and what it is doing. Main type: [`Connection`].
//! Thread rules: owned by one thread at a time; [`Control`] is the part that others may touch.

mod channel;
mod commands;
mod control;
mod login;
mod scripted;

pub use control::Control;

use crate::net::{NetworkError, Transport};
use crate::port::SqlSession;
use crate::shared::Shared;
use channel::Channel;
use errors::SqlError;
use login::Login;
use network::{Receive, ReceiveBuffer, Socket};
use proxy_script::Reply;
use rustix::io::Errno;
use scripted::Scripted;
use session::{ClientHost, RefusedConnection};
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::Duration;
use stdx::ids::Lsn;
use wire::auth::SCRAMBLE_BYTES;
use wire::capabilities::client;
use wire::encoder::Encoder;
use wire::frame::{FrameReader, Received};
use wire::output::FRAME_HEADER_BYTES;

/// Largest packet before a session exists: a login with its attributes.
const LOGIN_PACKET_BYTES_MAX: usize = 256 << 10;
/// Commands of one client that are answered before others get their turn.
const COMMANDS_PER_TURN_MAX: u32 = 32;
/// Answers are sent when they are this long, even if more commands wait.
const OUTPUT_BYTES_PER_TURN: usize = 64 << 10;
/// How long a client that broke the protocol may take to read the error.
const LINGER: Duration = Duration::from_secs(5);

/// A client.
pub struct Connection {
    id: u32,
    host: ClientHost,
    control: Arc<Control>,
    /// What the client proves its passwords with.
    scramble: [u8; SCRAMBLE_BYTES],
    transport: Transport,
    frames: FrameReader,
    encoder: Encoder,
    /// Bytes received and not used.
    buffer: ReceiveBuffer,
    /// The socket may hold more than was received.
    may_receive: bool,
    /// The peer sends nothing more: bytes may still lie in the socket, and its end behind them.
    has_ended: bool,
    /// A login or change of user that is going on.
    login: Option<Box<Login>>,
    session: Option<Box<dyn SqlSession>>,
    /// What a script makes of this client.
    scripted: Option<Box<Scripted>>,
    /// Its end is not that of a client that is gone: COM_QUIT came, or the server refused to go on.
    has_said_goodbye: bool,
    /// The error was sent: what still comes is thrown away.
    is_lingering: bool,
    /// When the connection is closed if nothing happens, on the monotonic clock.
    deadline: Duration,
    shared: Arc<Shared>,
}

/// What a turn of a connection came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The answers may be sent when the log is durable up to here.
    pub lsn: Lsn,
    /// What happens after they were sent.
    pub next: Next,
}

/// What happens after a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The client is to send something.
    Wait,
    /// The client has sent more: another turn follows.
    Again,
    /// The connection is closed.
    Close,
}

/// How a packet was taken.
enum Flow {
    Continue,
    /// Send the answer and close.
    Close,
    /// As `Close`, but read on for a while so that the client sees the answer.
    Linger,
}

impl Connection {
    /// The connection's id, which is its session's.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// A client that was just accepted. The greeting is put into the output.
    pub fn new(socket: Socket, host: ClientHost, shared: &Arc<Shared>, now: Duration) -> Connection {
        let settings = shared.instance.settings();
        let id = shared.instance.next_connection_id();
        let socket = Arc::new(socket);
        let scramble = Login::scramble(shared);
        let mut connection = Connection {
            id,
            scramble,
            host,
            control: Arc::new(Control::new(Arc::clone(&socket))),
            transport: Transport::new(socket),
            frames: FrameReader::new(LOGIN_PACKET_BYTES_MAX),
            encoder: Encoder::new(0),
            buffer: ReceiveBuffer::default(),
            may_receive: false,
            has_ended: false,
            login: None,
            session: None,
            scripted: None,
            has_said_goodbye: false,
            is_lingering: false,
            deadline: now + settings.connect_timeout,
            shared: Arc::clone(shared),
        };
        if let Some(reply) = connection.greet_by_script(&settings.version) {
            connection.write(&reply);
            connection.is_lingering = true;
            connection.deadline = now + LINGER;
            return connection;
        }
        let mut login = Box::new(Login::greet(&mut connection.encoder, id, scramble, &settings, shared));
        login.limit_time(now, settings.connect_timeout);
        connection.login = Some(login);
        connection.frames.set_expected_sequence(1);
        connection
    }

    /// Loads the script for this client, and asks it before the greeting. What the client gets in its place.
    fn greet_by_script(&mut self, version: &str) -> Option<Reply> {
        let script = self.shared.script.as_ref()?;
        let peer = self.host.address.map(|address| SocketAddr::new(address, self.host.port));
        let (client, server) = scripted::endpoints(self.transport.socket(), peer);
        match Scripted::open(script, client, server) {
            Ok(scripted) => {
                let reply = scripted.greet(&self.scramble, self.id, version);
                self.scripted = Some(Box::new(scripted));
                reply
            }
            Err(reply) => Some(reply),
        }
    }

    /// The socket.
    pub fn socket(&self) -> &Arc<Socket> {
        self.transport.socket()
    }

    /// When the connection is closed if nothing happens, on the monotonic clock.
    pub fn deadline(&self) -> Duration {
        self.deadline
    }

    /// The socket has something to read; `has_ended`: the end of what the peer sends is there too.
    pub fn note_readable(&mut self, has_ended: bool) {
        self.may_receive = true;
        self.has_ended |= has_ended;
    }

    /// Whether bytes wait for the socket to take them.
    pub fn has_unsent(&self) -> bool {
        self.transport.has_unsent()
    }

    /// Lends memory for what is received.
    pub fn lend(&mut self, buffer: ReceiveBuffer, output: Vec<u8>) {
        if self.buffer.is_empty() {
            self.buffer = buffer;
        }
        self.encoder.output.lend(output);
    }

    /// Takes back memory that is not in use.
    pub fn take_back(&mut self) -> (Option<ReceiveBuffer>, Option<Vec<u8>>) {
        let buffer = self.buffer.is_empty().then(|| std::mem::take(&mut self.buffer));
        (buffer.filter(ReceiveBuffer::is_reusable), self.encoder.output.take_back())
    }

    /// Receives and answers what the client sent. The answers are in the output afterwards.
    pub fn turn(&mut self, now: Duration) -> Turn {
        let mut lsn = Lsn(0);
        if self.is_lingering {
            self.end_session();
            return Turn { lsn, next: self.discard() };
        }
        if self.transport.has_unsent() && self.transport.flush_unsent() == Ok(false) {
            // A client that does not take its answers gets no further ones.
            return Turn { lsn, next: Next::Wait };
        }
        for _ in 0..COMMANDS_PER_TURN_MAX {
            let flow = match self.next_packet() {
                Ok(Some(packet)) => self.take_packet(packet, &mut lsn),
                Ok(None) => {
                    self.update_deadline(now);
                    return Turn { lsn, next: Next::Wait };
                }
                Err(Broken::Network(error)) => {
                    self.count_lost(error);
                    Flow::Close
                }
                Err(Broken::Frame(error)) => {
                    // As in MySQL, which goes on no more but does not call it the client's death.
                    self.has_said_goodbye = error.is(&errors::code::ER_NET_PACKETS_OUT_OF_ORDER);
                    let sequence = self.transport.begin_answer(self.frames.expected_sequence());
                    self.encoder.output.set_sequence(sequence);
                    self.encoder.error(&error);
                    Flow::Linger
                }
            };
            match flow {
                Flow::Continue if self.control.is_closing() => return Turn { lsn, next: Next::Close },
                Flow::Continue => {}
                Flow::Close => return Turn { lsn, next: Next::Close },
                Flow::Linger => {
                    self.is_lingering = true;
                    self.deadline = now + LINGER;
                    // The session ends behind the answer.
                    let goes_on = self.has_ended || self.session.is_some();
                    return Turn { lsn, next: if goes_on { Next::Again } else { Next::Wait } };
                }
            }
            let output = &self.encoder.output;
            // Each command's answer is compressed for itself: its packets have the numbers after the command's.
            let is_alone = self.transport.is_compressed() && !output.is_empty();
            if is_alone || output.len() >= OUTPUT_BYTES_PER_TURN {
                break;
            }
        }
        self.update_deadline(now);
        Turn { lsn, next: Next::Again }
    }

    /// The next complete packet, if there is one.
    fn next_packet(&mut self) -> Result<Option<Packet>, Broken> {
        loop {
            let mut missing = 1;
            if !self.transport.is_handshaking() {
                match self.frames.look(self.buffer.bytes()).map_err(|error| Broken::Frame(error.into()))? {
                    Received::Packet { consumed } => return Ok(Some(Packet { consumed, joined: None })),
                    Received::JoinedPacket { consumed } => {
                        return Ok(Some(Packet { consumed, joined: Some(self.frames.take_joined()) }));
                    }
                    Received::Continued { consumed } => {
                        self.buffer.consume(consumed);
                        continue;
                    }
                    Received::Incomplete { missing_bytes } => missing = missing_bytes,
                }
            }
            let moved = self.transport.take_compressed(&mut self.buffer);
            if moved.map_err(|error| Broken::Frame(error.into()))? {
                continue;
            }
            if !self.may_receive || !self.receive(missing)? {
                return Ok(None);
            }
        }
    }

    /// Receives once; false when the socket is empty.
    fn receive(&mut self, expected_bytes: usize) -> Result<bool, Broken> {
        let room = self.buffer.room(expected_bytes).len();
        match self.transport.receive(&mut self.buffer, expected_bytes).map_err(Broken::Network)? {
            Receive::Bytes(count) => {
                // The socket is edge-triggered: a call that did not fill the room emptied it. An edge that announced
                // the peer's end with the bytes does not come again, so then the end is read too.
                self.may_receive = self.has_ended || self.transport.may_have_more(count, room);
                Ok(true)
            }
            Receive::Empty => {
                self.may_receive = false;
                Ok(false)
            }
            Receive::Closed => Err(Broken::Network(NetworkError::Closed)),
        }
    }

    /// Hands a packet to the login or to the session.
    fn take_packet(&mut self, packet: Packet, lsn: &mut Lsn) -> Flow {
        let mut buffer = std::mem::take(&mut self.buffer);
        let (whole, extra) = buffer.bytes().split_at(packet.consumed);
        let payload = packet.joined.as_deref().unwrap_or(&whole[FRAME_HEADER_BYTES..]);
        let mut side = ReceiveBuffer::default();
        let (flow, extra_used) = if self.login.is_some() {
            // What follows a request for TLS is already encrypted.
            side.append(extra);
            (self.take_login_packet(payload, &mut side), true)
        } else {
            self.take_command(payload, extra, &mut side, lsn)
        };
        let extra_bytes = extra.len();
        buffer.consume(packet.consumed + if extra_used { extra_bytes } else { 0 });
        if !side.is_empty() {
            buffer.append(side.bytes());
        }
        self.buffer = buffer;
        flow
    }

    /// A channel for the answer to the packet that was just read.
    fn begin_answer<'a>(
        &'a mut self,
        binary: bool,
        extra: &'a [u8],
        side: &'a mut ReceiveBuffer,
    ) -> (Option<&'a mut Box<dyn SqlSession>>, Channel<'a>) {
        let status = self.session.as_ref().map_or(0, |session| session.server_status());
        let sequence = self.transport.begin_answer(self.frames.expected_sequence());
        self.encoder.begin_answer(sequence, binary, status);
        let channel = Channel::new(
            &mut self.transport,
            &mut self.encoder,
            &mut self.frames,
            extra,
            side,
            &self.shared,
            &self.control,
            &mut self.may_receive,
        );
        (self.session.as_mut(), channel)
    }

    /// From now on packets are commands.
    fn expect_command(&mut self) {
        self.frames.set_expected_sequence(0);
        self.transport.expect_command();
    }

    fn update_deadline(&mut self, now: Duration) {
        match (&self.session, &self.login) {
            (Some(session), None) if self.is_inside_packet() => {
                self.deadline = now + session.network_timeouts().0;
            }
            (Some(session), None) => self.deadline = now + session.idle_timeout(),
            (None, Some(login)) => self.deadline = login.deadline(now, self.transport.is_handshaking()),
            _ => {}
        }
    }

    /// Whether a part of a packet was received: the client is not idle, it owes the rest.
    fn is_inside_packet(&self) -> bool {
        !self.buffer.is_empty() || self.frames.is_joining() || self.transport.is_inside_packet()
    }

    /// Counts a session whose client left without a word, was too slow or was killed (Aborted_clients). Called before it is dropped.
    pub fn count_end(&self) {
        if self.session.is_some() && !self.has_said_goodbye {
            self.shared.instance.count_aborted();
        }
    }

    fn count_lost(&mut self, error: NetworkError) {
        let _ = error;
        self.count_refused(RefusedConnection::Protocol);
    }

    /// Counts a login that fails; a change of user that does is none.
    fn count_refused(&self, reason: RefusedConnection) {
        if self.session.is_none() {
            self.shared.instance.count_refused(reason);
        }
    }

    /// Ends the session of a client that only is to see its answer, which is on its way: others do not wait for what it has locked.
    fn end_session(&mut self) {
        self.count_end();
        if self.session.take().is_some() {
            // A rollback may have taken long.
            self.deadline = self.shared.environment.clock.monotonic() + LINGER;
        }
    }

    /// Throws away what a lingering client sends.
    fn discard(&mut self) -> Next {
        let mut scratch = [0; 4096];
        loop {
            match self.transport.socket().receive(&mut scratch) {
                Ok(Receive::Bytes(_)) => {}
                Ok(Receive::Empty) => return Next::Wait,
                Ok(Receive::Closed) | Err(_) => return Next::Close,
            }
        }
    }

    /// The answers, if they go to the socket as they are: see [`Connection::note_sent`].
    pub fn plain_answer(&self) -> Option<(BorrowedFd<'_>, &[u8])> {
        let bytes = self.encoder.output.bytes();
        (!bytes.is_empty() && self.transport.is_plain())
            .then(|| (self.transport.socket().descriptor(), bytes))
    }

    /// As [`Connection::send`], after an attempt to send [`Connection::plain_answer`]; None if there was none.
    pub fn note_sent(
        &mut self,
        sent: Option<Result<usize, Errno>>,
        now: Duration,
    ) -> Result<bool, NetworkError> {
        let Some(sent) = sent else { return self.send(now) };
        let bytes = self.encoder.output.bytes();
        let sent = self.transport.note_sent(bytes, sent);
        self.encoder.output.clear();
        self.after_send(sent, now)
    }

    /// Sends the answers without waiting; false if the socket did not take all of them: the client then has
    /// net_write_timeout to do so.
    pub fn send(&mut self, now: Duration) -> Result<bool, NetworkError> {
        let sent = if self.encoder.output.is_empty() {
            self.transport.flush_unsent()
        } else {
            let sent = self.transport.send(self.encoder.output.bytes());
            self.encoder.output.clear();
            sent
        };
        self.after_send(sent, now)
    }

    fn after_send(&mut self, sent: Result<bool, NetworkError>, now: Duration) -> Result<bool, NetworkError> {
        if self.is_lingering && sent == Ok(true) {
            self.transport.socket().shut_down_sending();
        } else if let (Ok(false), Some(session)) = (sent, &self.session) {
            self.deadline = now + session.network_timeouts().1;
        }
        sent
    }

    /// Sends the answers, waiting for the client to take them. For threads that gave their reactor away.
    pub fn send_waiting(&mut self) -> Result<(), NetworkError> {
        if self.control.is_closing() {
            // Whoever asked for the end while the command ran has woken nobody: this must not begin to wait for a client that may never
            // read. Asked for later, it shuts the socket.
            let _ = self.transport.send(self.encoder.output.bytes());
            return Err(NetworkError::Closed);
        }
        let timeout = self.session.as_ref().map_or(LINGER, |session| session.network_timeouts().1);
        let sent =
            self.transport.send_all(self.encoder.output.bytes(), |socket| Ok(socket.wait_writable(timeout)?));
        self.encoder.output.clear();
        sent
    }

    /// The client was silent for too long: says so, if it is one that waits for nothing.
    pub fn time_out(&mut self) {
        if self.session.is_some() && self.login.is_none() && !self.is_lingering {
            let (sequence, error) = if self.is_inside_packet() {
                (1, errors::sql_error!(ER_NET_READ_INTERRUPTED))
            } else {
                (0, errors::sql_error!(ER_CLIENT_INTERACTION_TIMEOUT))
            };
            self.encoder.output.set_sequence(sequence);
            self.encoder.error(&error);
            // The connection is closed next, whether the client took it or not.
            let _ = self.send(self.deadline);
        } else if self.session.is_none() && !self.is_lingering {
            self.shared.instance.count_refused(RefusedConnection::Protocol);
            if !self.transport.is_handshaking() {
                self.encoder.set_capabilities(self.encoder.capabilities() | client::PROTOCOL_41);
                self.encoder.output.set_sequence(self.frames.expected_sequence());
                self.encoder.error(&errors::sql_error!(ER_NET_READ_INTERRUPTED));
                let _ = self.send(self.deadline);
            }
        }
    }

    /// The server goes down: an idle client is told so.
    pub fn say_shutdown(&mut self) {
        if self.session.is_some() && self.login.is_none() && !self.is_lingering {
            self.encoder.output.set_sequence(0);
            self.encoder.error(&errors::sql_error!(ER_SERVER_SHUTDOWN));
            let _ = self.send(self.deadline);
        }
    }
}

/// A complete packet at the front of the buffer, or joined from several frames.
struct Packet {
    consumed: usize,
    joined: Option<Vec<u8>>,
}

/// Why no packet can be read.
enum Broken {
    Network(NetworkError),
    Frame(SqlError),
}
