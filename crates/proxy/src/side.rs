//! One of the two sockets of a session, with what it did not take yet. Main type: [`Side`].

use network::{Receive, Socket};
use rustix::io::Errno;
use std::sync::Arc;

/// Capacity that is kept when everything was sent.
const KEPT_BYTES_MAX: usize = 64 << 10;

/// A socket and the bytes that wait for it.
#[derive(Debug)]
pub(crate) struct Side {
    pub socket: Arc<Socket>,
    unsent: Vec<u8>,
    /// Bytes of `unsent` that are gone already.
    sent: usize,
    /// Epoll tells when it may be written to.
    pub watches_writing: bool,
    /// Epoll said that there is something to read, and not all of it was read.
    pub is_readable: bool,
    /// The peer sends nothing more. The edge comes once, perhaps together with bytes, so it is remembered.
    pub has_ended: bool,
}

impl Side {
    pub fn new(socket: Arc<Socket>) -> Side {
        Side {
            socket,
            unsent: Vec::new(),
            sent: 0,
            watches_writing: false,
            is_readable: false,
            has_ended: false,
        }
    }

    /// Whether the socket did not take all yet.
    pub fn is_full(&self) -> bool {
        !self.unsent.is_empty()
    }

    /// Sends, and keeps what the socket does not take.
    pub fn send(&mut self, bytes: &[u8]) -> Result<(), Errno> {
        if self.is_full() {
            self.unsent.extend_from_slice(bytes);
            return Ok(());
        }
        let mut sent = 0;
        while sent < bytes.len() {
            match self.socket.send(&bytes[sent..])? {
                0 => {
                    self.unsent.extend_from_slice(&bytes[sent..]);
                    break;
                }
                count => sent += count,
            }
        }
        Ok(())
    }

    /// Sends what was kept, as far as the socket takes it.
    pub fn flush(&mut self) -> Result<(), Errno> {
        while self.sent < self.unsent.len() {
            match self.socket.send(&self.unsent[self.sent..])? {
                0 => return Ok(()),
                count => self.sent += count,
            }
        }
        self.sent = 0;
        self.unsent.clear();
        self.unsent.shrink_to(KEPT_BYTES_MAX);
        Ok(())
    }

    /// Receives once. Nothing more is there for now if less came than there was room for: epoll tells of what comes later.
    pub fn receive(&mut self, into: &mut [u8]) -> Result<Receive, Errno> {
        let received = self.socket.receive(into)?;
        self.is_readable = match received {
            Receive::Bytes(count) => count == into.len() || self.has_ended,
            Receive::Empty => false,
            // The end is seen again and again.
            Receive::Closed => true,
        };
        Ok(received)
    }
}
