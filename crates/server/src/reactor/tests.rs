//! A client's end at every byte of what it sends, together with the bytes before it: in one round of a reactor that this
//! thread runs, so that bytes and end always arrive before the server reads. Plain, over TLS, compressed, and both.

use super::Reactor;
use super::core::{Core, Work};
use crate::connection::{Connection, Next};
use crate::shared::Shared;
use crate::tests::client::CAPABILITIES;
use crate::tests::fake::FakeInstance;
use network::{Listener, Socket};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;
use wire::auth::caching_sha2;
use wire::capabilities::client as capability;
use wire::compression::{Algorithm, Compressor};
use wire::output::{Output, push_length_encoded_bytes};

/// How a client ends.
#[derive(Clone, Copy, Debug)]
enum End {
    Finish,
    Reset,
}

#[derive(Clone, Copy, Debug)]
struct Mode {
    tls: bool,
    compressed: bool,
}

/// The server's side: a reactor with one connection, and everything it is made of.
struct Bench {
    shared: Arc<Shared>,
    instance: Arc<FakeInstance>,
    core: Core,
    listener: Listener,
    config: Arc<ClientConfig>,
}

/// The client's side. After `left` bytes it ends.
struct Client {
    stream: Option<TcpStream>,
    tls: Option<Box<ClientConnection>>,
    end: End,
    left: usize,
}

impl Bench {
    fn new() -> Bench {
        let instance = Arc::new(FakeInstance::default());
        let (shared, authority) = crate::tests::shared(&instance);
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(authority.as_bytes()).unwrap()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = config.unwrap().with_root_certificates(roots).with_no_client_auth();
        let listener = Listener::tcp("127.0.0.1:0".parse().unwrap(), 16).unwrap();
        let core = Core::new(Arc::new(Reactor::new(0).unwrap()), Arc::default()).unwrap();
        Bench { shared, instance, core, listener, config: Arc::new(config) }
    }

    fn connect(&mut self, end: End, left: usize) -> Client {
        let stream = TcpStream::connect(("127.0.0.1", self.listener.port().unwrap())).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_nonblocking(true).unwrap();
        let (socket, host) = accepted(&self.listener);
        let mut connection = Box::new(Connection::new(socket, host, &self.shared, Duration::ZERO));
        connection.send(Duration::ZERO).unwrap();
        self.core.insert(connection).unwrap();
        let mut client = Client { stream: Some(stream), tls: None, end, left };
        let mut greeting = [0; 1024];
        assert!(client.stream.as_mut().unwrap().read(&mut greeting).unwrap() > 40);
        client
    }

    /// One round, as a worker runs it: everything that is ready gets a turn, answers are sent.
    fn round(&mut self) {
        self.core.wait(&mut Vec::new()).unwrap();
        self.core.now = self.shared.environment.clock.monotonic();
        let mut turns = Vec::new();
        while let Some(ready) = self.core.take_ready() {
            turns.push(ready);
        }
        while let Some(work) = self.core.next_work() {
            if let Work::Turn(slot, connection) = work {
                turns.push((slot, connection));
            }
        }
        for (slot, mut connection) in turns {
            let turn = connection.turn(self.core.now);
            if connection.send(self.core.now).is_ok() && turn.next != Next::Close {
                self.core.put_back(slot, connection, turn.next);
            } else {
                drop(connection);
                self.core.release(slot);
            }
        }
    }

    fn connection_count(&self) -> u32 {
        self.core.reactor.connection_count.load(std::sync::atomic::Ordering::Relaxed)
    }
}

fn accepted(listener: &Listener) -> (Socket, session::ClientHost) {
    loop {
        if let Some((socket, address)) = listener.accept().unwrap() {
            let host = crate::net::client_host(&socket, address);
            return (socket, host);
        }
    }
}

impl Client {
    /// Sends bytes, and behind the last that it may send its end; false then.
    fn send(&mut self, bytes: &[u8]) -> bool {
        let Some(stream) = &mut self.stream else { return false };
        let count = bytes.len().min(self.left);
        stream.write_all(&bytes[..count]).unwrap();
        self.left -= count;
        if count == bytes.len() {
            return true;
        }
        match self.end {
            End::Finish => stream.shutdown(std::net::Shutdown::Write).unwrap(),
            End::Reset => {
                let linger = Some(Duration::ZERO);
                rustix::net::sockopt::set_socket_linger(&*stream, linger).unwrap();
                self.stream = None;
            }
        }
        false
    }

    /// Encrypts, if it comes to that, and sends.
    fn say(&mut self, bytes: &[u8]) -> bool {
        let Some(tls) = &mut self.tls else { return self.send(bytes) };
        tls.writer().write_all(bytes).unwrap();
        self.send_records()
    }

    fn send_records(&mut self) -> bool {
        let mut records = Vec::new();
        while let Some(tls) = self.tls.as_mut().filter(|tls| tls.wants_write()) {
            tls.write_tls(&mut records).unwrap();
        }
        self.send(&records)
    }

    /// What the server has sent by now.
    fn hear(&mut self) -> Vec<u8> {
        let (mut bytes, mut piece) = (Vec::new(), [0; 4096]);
        let stream = self.stream.as_mut().unwrap();
        while let Ok(count @ 1..) = stream.read(&mut piece) {
            bytes.extend_from_slice(&piece[..count]);
        }
        let Some(tls) = &mut self.tls else { return bytes };
        let (mut rest, mut plain) = (&bytes[..], Vec::new());
        while !rest.is_empty() {
            tls.read_tls(&mut rest).unwrap();
            tls.process_new_packets().unwrap();
            let _ = tls.reader().read_to_end(&mut plain);
        }
        plain
    }

    /// A TLS handshake, a login and a command; false as soon as the client has ended.
    fn talk(&mut self, bench: &mut Bench, mode: Mode) -> bool {
        let mut capabilities = CAPABILITIES;
        capabilities |= if mode.compressed { capability::COMPRESS } else { 0 };
        capabilities |= if mode.tls { capability::SSL } else { 0 };
        let mut head = capabilities.to_le_bytes().to_vec();
        head.extend_from_slice(&(1u32 << 24).to_le_bytes());
        head.push(255);
        head.extend_from_slice(&[0; 23]);
        let mut sequence = 1;
        if mode.tls {
            if !self.say(&framed(&head, sequence)) {
                return false;
            }
            sequence += 1;
            bench.round();
            let name = ServerName::try_from("localhost").unwrap();
            let tls = ClientConnection::new(Arc::clone(&bench.config), name).unwrap();
            self.tls = Some(Box::new(tls));
            while self.tls.as_ref().is_some_and(|tls| tls.is_handshaking()) {
                if !self.send_records() {
                    return false;
                }
                bench.round();
                self.hear();
            }
        }
        head.extend_from_slice(b"root\0");
        push_length_encoded_bytes(&mut head, b"");
        head.extend_from_slice(caching_sha2::NAME.as_bytes());
        head.push(0);
        if !self.say(&framed(&head, sequence)) {
            return false;
        }
        bench.round();
        assert!(!self.hear().is_empty() && bench.instance.session_count() == 1);
        let mut command = framed(b"\x03LENGTH abc", 0);
        if mode.compressed {
            let plain = std::mem::take(&mut command);
            Compressor::new(Algorithm::Zlib).compress(&plain, &mut command);
        }
        if !self.say(&command) {
            return false;
        }
        bench.round();
        assert!(!self.hear().is_empty());
        true
    }
}

fn framed(payload: &[u8], sequence: u8) -> Vec<u8> {
    let mut output = Output::new();
    output.set_sequence(sequence);
    output.packet(payload);
    output.bytes().to_vec()
}

fn check_every_end(mode: Mode, end: End) {
    let mut bench = Bench::new();
    let mut left = 0;
    loop {
        let mut client = bench.connect(end, left);
        let is_whole = client.talk(&mut bench, mode);
        if is_whole {
            // It ends between two commands.
            client.left = 0;
            client.send(b"x");
        }
        // Three rounds are enough for what came; nothing else wakes the reactor.
        for _ in 0..3 {
            if bench.connection_count() > 0 {
                bench.round();
            }
        }
        assert_eq!(bench.connection_count(), 0, "{mode:?}, {end:?} after {left} bytes");
        assert_eq!(bench.instance.session_count(), 0, "{mode:?}, {end:?} after {left} bytes");
        if is_whole {
            return assert!(left > 60, "a login and a command");
        }
        left += 1;
    }
}

#[test]
fn an_end_that_arrives_with_the_bytes_before_it_is_seen() {
    for tls in [false, true] {
        for compressed in [false, true] {
            for end in [End::Finish, End::Reset] {
                check_every_end(Mode { tls, compressed }, end);
            }
        }
    }
}
