//! The layers between a socket and the protocol's frames: TLS below, compression above. Main type: [`Transport`].
//! The plain path receives straight into the buffer that frames are read from, and sends straight from the buffer
//! that answers are written to.

use super::tls_records::RecordPosition;
use network::{Receive, ReceiveBuffer, Socket};
use rustix::io::Errno;
use rustls::ServerConnection;
use std::cell::RefCell;
use std::io::{Read, Write};
use std::sync::Arc;
use wire::compression::{Algorithm, CompressionError, Compressor, Decompressor};

/// Memory that a connection with TLS or compression keeps for what it sends.
const UNSENT_BYTES_KEPT: usize = 1 << 10;
/// Bytes of one receive call when TLS or compression follows.
const SCRATCH_BYTES: usize = 16 << 10;

thread_local! {
    /// What a receive call writes to when TLS or compression follows: empty until the thread's first such call.
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Why a connection is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkError {
    /// The peer closed it, or the network did.
    Closed,
    /// net_read_timeout or net_write_timeout passed.
    TimedOut,
    /// The peer broke TLS.
    Protocol,
}

impl From<Errno> for NetworkError {
    fn from(_: Errno) -> NetworkError {
        NetworkError::Closed
    }
}

/// A socket with its optional layers.
pub struct Transport {
    socket: Arc<Socket>,
    tls: Option<Box<ServerConnection>>,
    /// Where in the client's TLS records the received bytes end.
    record_position: RecordPosition,
    compression: Option<Box<Compression>>,
    /// Bytes ready for the socket that it did not take yet.
    unsent: Vec<u8>,
    /// Bytes that went over the socket, both ways, since they were last asked for.
    received_bytes: u64,
    sent_bytes: u64,
}

struct Compression {
    compressor: Compressor,
    decompressor: Decompressor,
    /// Received compressed packets that are not used. They wait here for the one before to be used up: the number that
    /// a packet must have is known only then.
    packets: ReceiveBuffer,
    /// The next packet replies to what was sent, so its number follows the last one sent.
    expects_reply: bool,
}

impl Transport {
    /// A plain transport.
    pub fn new(socket: Arc<Socket>) -> Transport {
        Transport {
            socket,
            tls: None,
            record_position: RecordPosition::default(),
            compression: None,
            unsent: Vec::new(),
            received_bytes: 0,
            sent_bytes: 0,
        }
    }

    /// The socket.
    pub fn socket(&self) -> &Arc<Socket> {
        &self.socket
    }

    /// Whether passwords may cross it in clear: TLS, or a UNIX socket.
    pub fn is_protected(&self) -> bool {
        self.tls.is_some() || self.socket.is_unix()
    }

    /// The TLS connection, if there is one.
    pub fn tls(&self) -> Option<&ServerConnection> {
        self.tls.as_deref()
    }

    /// Whether a TLS handshake is going on.
    pub fn is_handshaking(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.is_handshaking())
    }

    /// From now on everything is encrypted; `early` are bytes that came behind the request for TLS.
    pub fn start_tls(
        &mut self,
        tls: ServerConnection,
        early: &mut ReceiveBuffer,
    ) -> Result<(), NetworkError> {
        self.tls = Some(Box::new(tls));
        let bytes = early.bytes().to_vec();
        early.consume(bytes.len());
        self.decrypt(&bytes, early)
    }

    /// From now on everything is compressed.
    pub fn start_compression(&mut self, algorithm: Algorithm) {
        self.compression = Some(Box::new(Compression {
            compressor: Compressor::new(algorithm),
            decompressor: Decompressor::new(algorithm),
            packets: ReceiveBuffer::default(),
            expects_reply: false,
        }));
    }

    /// Whether packets are compressed.
    pub fn is_compressed(&self) -> bool {
        self.compression.is_some()
    }

    /// A new command is expected: compressed packets are numbered from 0.
    pub fn expect_command(&mut self) {
        if let Some(compression) = &mut self.compression {
            compression.decompressor.set_expected_sequence(0);
            compression.expects_reply = false;
        }
    }

    /// The client is to answer what was sent: compressed packets go on with the number after the last one.
    pub fn expect_reply(&mut self) {
        if let Some(compression) = &mut self.compression {
            compression.expects_reply = true;
        }
    }

    /// The answer begins: its sequence number. That is the one after the request's last frame, or its last compressed
    /// packet: then both count on together.
    pub fn begin_answer(&mut self, after_frames: u8) -> u8 {
        let Some(compression) = &mut self.compression else { return after_frames };
        let sequence = compression.decompressor.expected_sequence();
        compression.compressor.set_sequence(sequence);
        sequence
    }

    /// Whether a part of a TLS record or of a compressed packet was received.
    pub fn is_inside_packet(&self) -> bool {
        let compressed = self.compression.as_ref().is_some_and(|compression| !compression.packets.is_empty());
        compressed || self.record_position.is_inside()
    }

    /// Receives once without waiting. `expected_bytes` more are needed to go on; `Bytes` counts what came off the
    /// socket, and may have added nothing to `into`. What was compressed is fetched by [`Transport::take_compressed`].
    pub fn receive(
        &mut self,
        into: &mut ReceiveBuffer,
        expected_bytes: usize,
    ) -> Result<Receive, NetworkError> {
        if self.tls.is_none() && self.compression.is_none() {
            let received = self.socket.receive(into.room(expected_bytes))?;
            if let Receive::Bytes(count) = received {
                into.fill(count);
                self.received_bytes += count as u64;
            }
            return Ok(received);
        }
        SCRATCH.with_borrow_mut(|scratch| {
            scratch.resize(SCRATCH_BYTES, 0);
            let received = self.socket.receive(scratch)?;
            if let Receive::Bytes(count) = received {
                self.received_bytes += count as u64;
                match (&self.tls, &mut self.compression) {
                    (None, Some(compression)) => compression.packets.append(&scratch[..count]),
                    _ => self.decrypt(&scratch[..count], into)?,
                }
            }
            Ok(received)
        })
    }

    /// Moves the content of the next compressed packet on; false if none is complete.
    pub fn take_compressed(&mut self, into: &mut ReceiveBuffer) -> Result<bool, CompressionError> {
        let Some(compression) = &mut self.compression else { return Ok(false) };
        if compression.packets.is_empty() {
            return Ok(false);
        }
        if std::mem::take(&mut compression.expects_reply) {
            compression.decompressor.set_expected_sequence(compression.compressor.sequence());
        }
        let mut plain = Vec::new();
        let packets = compression.packets.bytes();
        let Some(consumed) = compression.decompressor.decompress(packets, &mut plain)? else {
            return Ok(false);
        };
        compression.packets.consume(consumed);
        compression.packets.release_surplus();
        into.append(&plain);
        Ok(true)
    }

    /// Whether a receive call of `count` bytes filled the room, so that the socket may hold more.
    pub fn may_have_more(&self, count: usize, room_bytes: usize) -> bool {
        let room = if self.tls.is_none() && self.compression.is_none() { room_bytes } else { SCRATCH_BYTES };
        count >= room
    }

    fn decrypt(&mut self, mut bytes: &[u8], into: &mut ReceiveBuffer) -> Result<(), NetworkError> {
        self.record_position.advance(bytes);
        while !bytes.is_empty() {
            let Some(tls) = self.tls.as_mut() else { return Err(NetworkError::Protocol) };
            tls.read_tls(&mut bytes).map_err(|_| NetworkError::Protocol)?;
            let state = match tls.process_new_packets() {
                Ok(state) => state,
                Err(_) => {
                    self.send_alert();
                    return Err(NetworkError::Protocol);
                }
            };
            let mut left = state.plaintext_bytes_to_read();
            while left > 0 {
                let count = self.take_plain(left, into)?;
                if count == 0 {
                    break;
                }
                left = left.saturating_sub(count);
            }
        }
        self.queue_tls_records();
        Ok(())
    }

    /// Moves some of the `left` decrypted bytes on; returns their number.
    fn take_plain(&mut self, left: usize, into: &mut ReceiveBuffer) -> Result<usize, NetworkError> {
        let Some(tls) = self.tls.as_mut() else { return Err(NetworkError::Protocol) };
        let target = self.compression.as_mut().map_or(into, |compression| &mut compression.packets);
        let count = tls.reader().read(target.room(left)).map_err(|_| NetworkError::Protocol)?;
        target.fill(count);
        Ok(count)
    }

    /// What TLS wants to say before the connection is closed.
    fn send_alert(&mut self) {
        self.queue_tls_records();
        let _ = self.flush_unsent();
    }

    fn queue_tls_records(&mut self) {
        if let Some(tls) = &mut self.tls {
            while tls.wants_write() {
                // Writing to a vector cannot fail.
                if tls.write_tls(&mut self.unsent).is_err() {
                    break;
                }
            }
        }
    }

    /// Whether what is sent next goes to the socket as it is.
    pub fn is_plain(&self) -> bool {
        self.tls.is_none() && self.compression.is_none() && self.unsent.is_empty()
    }

    /// As [`Transport::send`], after an attempt to send the bytes to a plain socket.
    pub fn note_sent(&mut self, bytes: &[u8], sent: Result<usize, Errno>) -> Result<bool, NetworkError> {
        let sent = match sent {
            Err(Errno::AGAIN) => 0,
            sent => sent?,
        };
        self.sent_bytes += sent as u64;
        self.unsent.extend_from_slice(&bytes[sent..]);
        Ok(self.unsent.is_empty())
    }

    /// Sends without waiting. What the socket does not take is kept; false if there is such a rest.
    pub fn send(&mut self, bytes: &[u8]) -> Result<bool, NetworkError> {
        if self.is_plain() {
            let sent = self.socket.send(bytes)?;
            return self.note_sent(bytes, Ok(sent));
        }
        self.queue(bytes)?;
        self.flush_unsent()
    }

    /// Sends all; `wait` waits for the peer to take more, and says whether it does.
    pub fn send_all(
        &mut self,
        bytes: &[u8],
        wait: impl Fn(&Socket) -> Result<bool, NetworkError>,
    ) -> Result<(), NetworkError> {
        let mut done = self.send(bytes)?;
        while !done {
            if !wait(&self.socket)? {
                return Err(NetworkError::TimedOut);
            }
            done = self.flush_unsent()?;
        }
        Ok(())
    }

    /// Compresses and encrypts into the unsent bytes.
    fn queue(&mut self, bytes: &[u8]) -> Result<(), NetworkError> {
        let mut compressed = Vec::new();
        let mut bytes = bytes;
        if let Some(compression) = &mut self.compression {
            compression.compressor.compress(bytes, &mut compressed);
            bytes = &compressed;
        }
        match &mut self.tls {
            None => self.unsent.extend_from_slice(bytes),
            Some(tls) => {
                tls.writer().write_all(bytes).map_err(|_| NetworkError::Protocol)?;
                self.queue_tls_records();
            }
        }
        Ok(())
    }

    /// Sends the rest of earlier calls; false if some of it is left.
    pub fn flush_unsent(&mut self) -> Result<bool, NetworkError> {
        let mut at = 0;
        while at < self.unsent.len() {
            match self.socket.send(&self.unsent[at..])? {
                0 => break,
                count => at += count,
            }
        }
        self.sent_bytes += at as u64;
        if at == self.unsent.len() {
            self.unsent.clear();
            self.unsent.shrink_to(UNSENT_BYTES_KEPT);
            return Ok(true);
        }
        self.unsent.drain(..at);
        Ok(false)
    }

    /// Whether bytes wait for the socket.
    pub fn has_unsent(&self) -> bool {
        !self.unsent.is_empty()
    }

    /// Bytes received and sent since the last call.
    pub fn take_byte_counts(&mut self) -> (u64, u64) {
        (std::mem::take(&mut self.received_bytes), std::mem::take(&mut self.sent_bytes))
    }
}
