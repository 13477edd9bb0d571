//! One of the two sockets of a session, with what it did not take yet. Main type: [`Side`].

use network::{Receive, Socket};
use rustix::io::Errno;
use std::sync::Arc;

/// Bytes that are gathered before they are sent.
const GATHERED_BYTES_MAX: usize = 16 << 10;
/// Capacity that is kept when everything was sent.
const KEPT_BYTES_MAX: usize = 64 << 10;

/// A socket and the bytes that wait for it.
#[derive(Debug)]
pub(crate) struct Side {
    pub socket: Arc<Socket>,
    unsent: Vec<u8>,
    /// Bytes of `unsent` that are gone already.
    sent: usize,
    /// The socket took less than it was given: nothing more is made for it until it took the rest.
    is_blocked: bool,
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
            is_blocked: false,
            watches_writing: false,
            is_readable: false,
            has_ended: false,
        }
    }

    /// Whether the socket did not take all yet.
    pub fn is_full(&self) -> bool {
        self.is_blocked
    }

    /// Puts bytes behind those that wait. They go out with the end of the thread's round, at once if they are many.
    pub fn send(&mut self, bytes: &[u8]) -> Result<(), Errno> {
        if self.unsent.len() + bytes.len() < GATHERED_BYTES_MAX || self.is_blocked {
            self.unsent.extend_from_slice(bytes);
            return Ok(());
        }
        self.flush()?;
        let mut sent = 0;
        while sent < bytes.len() && !self.is_blocked {
            let count = self.socket.send(&bytes[sent..])?;
            self.is_blocked = count == 0;
            sent += count;
        }
        self.unsent.extend_from_slice(&bytes[sent..]);
        Ok(())
    }

    /// What waits to be sent, unless the socket was full when it was last tried.
    pub fn waiting(&self) -> Option<&[u8]> {
        let bytes = &self.unsent[self.sent..];
        (!bytes.is_empty() && !self.is_blocked).then_some(bytes)
    }

    /// Notes how the attempt to send all that waits went.
    pub fn note_sent(&mut self, sent: Result<usize, Errno>) -> Result<(), Errno> {
        match sent {
            Ok(count) => self.sent += count,
            Err(Errno::AGAIN) => {}
            Err(error) => return Err(error),
        }
        self.is_blocked = self.sent < self.unsent.len();
        if !self.is_blocked {
            self.sent = 0;
            self.unsent.clear();
            self.unsent.shrink_to(KEPT_BYTES_MAX);
        }
        Ok(())
    }

    /// Sends what waits, as far as the socket takes it.
    pub fn flush(&mut self) -> Result<(), Errno> {
        while self.sent < self.unsent.len() {
            match self.socket.send(&self.unsent[self.sent..])? {
                0 => return self.note_sent(Ok(0)),
                count => self.sent += count,
            }
        }
        self.note_sent(Ok(0))
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
