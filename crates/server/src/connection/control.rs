//! The handle by which other threads end a connection. Main type: [`Control`].

use crate::net::NetworkError;
use network::Socket;
use session::ConnectionControl;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

const IDLE: u8 = 0;
const BUSY: u8 = 1;
/// The command goes on when its client takes or sends something.
const WAITING: u8 = 2;
const CLOSING: u8 = 3;

/// Ends a connection: at once while it waits for its client, be it for a command or within one; after its answer while
/// it works.
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
        self.turn(IDLE, BUSY)
    }

    /// The command's answer is complete.
    pub fn end(&self) {
        // Stays CLOSING if someone asked for it meanwhile.
        self.turn(BUSY, IDLE);
    }

    /// Waits for the client within a command, unless someone asked for the end.
    pub fn wait<T>(&self, wait: impl FnOnce(&Socket) -> Result<T, NetworkError>) -> Result<T, NetworkError> {
        if !self.turn(BUSY, WAITING) {
            return Err(NetworkError::Closed);
        }
        let outcome = wait(&self.socket);
        self.turn(WAITING, BUSY);
        outcome
    }

    /// Whether someone asked for the end.
    pub fn is_closing(&self) -> bool {
        self.state.load(Ordering::Acquire) == CLOSING
    }

    fn turn(&self, from: u8, to: u8) -> bool {
        self.state.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

impl ConnectionControl for Control {
    fn close(&self) {
        let before = self.state.swap(CLOSING, Ordering::AcqRel);
        if before == IDLE || before == WAITING {
            // Wakes whoever waits for the socket, who finds it closed.
            self.socket.shut_down();
        }
    }
}
