//! The handle by which other threads end a connection. Main type: [`Control`].

use crate::net::Socket;
use session::ConnectionControl;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

const IDLE: u8 = 0;
const BUSY: u8 = 1;
const CLOSING: u8 = 2;

/// Ends a connection: at once while it waits for a command, after its answer while it works.
#[derive(Debug)]
pub struct Control {
    socket: Arc<Socket>,
    state: AtomicU8,
}

impl Control {
    /// For an idle connection.
    pub fn new(socket: Arc<Socket>) -> Control {
        Control { socket, state: AtomicU8::new(IDLE) }
    }

    /// A command begins; false if the connection is to be closed instead.
    pub fn begin(&self) -> bool {
        self.state.compare_exchange(IDLE, BUSY, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// The command's answer is complete.
    pub fn end(&self) {
        // Stays CLOSING if someone asked for it meanwhile.
        let _ = self.state.compare_exchange(BUSY, IDLE, Ordering::AcqRel, Ordering::Acquire);
    }

    /// Whether someone asked for the end.
    pub fn is_closing(&self) -> bool {
        self.state.load(Ordering::Acquire) == CLOSING
    }
}

impl ConnectionControl for Control {
    fn close(&self) {
        if self.state.swap(CLOSING, Ordering::AcqRel) == IDLE {
            // Wakes the reactor, which finds the socket closed.
            self.socket.shut_down();
        }
    }
}
