//! Sockets: listening, non-blocking calls, and the layers between a socket and the protocol's frames.
//! Main types: [`Socket`], [`Listener`], [`Transport`].

mod listener;
mod receive;
mod socket;
mod tls_records;
mod transport;

pub use listener::Listener;
pub use receive::ReceiveBuffer;
pub use socket::{Receive, Socket};
pub use transport::{NetworkError, Transport};
