//! The layers between a socket and the protocol's frames. Main type: [`Transport`].

mod peer;
mod tls_records;
mod transport;

pub(crate) use peer::client_host;
pub use transport::{NetworkError, Transport};
