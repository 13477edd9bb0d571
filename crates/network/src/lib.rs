//! Sockets as an event loop uses them: listening, non-blocking calls, and memory for what was received.
//! Main types: [`Socket`], [`Listener`], [`ReceiveBuffer`].
#![forbid(unsafe_code)]

mod listener;
mod receive_buffer;
mod socket;

pub use listener::Listener;
pub use receive_buffer::ReceiveBuffer;
pub use socket::{Receive, Socket};
