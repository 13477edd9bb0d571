//! What the server tells the session layer about a connection. Main type: [`ConnectionInfo`].

use accounts::ClientHost;
use wire::connection_attributes::ConnectionAttributes;

/// An established TLS channel, for the Ssl_* status variables and REQUIRE clauses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsDetails {
    /// e.g. `TLSv1.3`.
    pub version: String,
    /// e.g. `TLS_AES_256_GCM_SHA384`.
    pub cipher: String,
    /// Subject of the client's certificate, if it sent a valid one.
    pub peer_subject: Option<String>,
    /// Issuer of the client's certificate.
    pub peer_issuer: Option<String>,
}

/// How another session reaches a connection's socket. Implemented by the server; called from any thread.
pub trait ConnectionControl: Send + Sync {
    /// KILL CONNECTION, a time-out or a shutdown: an idle connection is closed at once, a busy one after
    /// its statement noticed that it was killed. Does not block.
    fn close(&self);
}

/// A connection after its handshake.
pub struct ConnectionInfo {
    /// From [`crate::Instance::next_connection_id`].
    pub id: u32,
    /// The name that the client gave.
    pub user: String,
    /// Where it is.
    pub host: ClientHost,
    /// Default schema of the handshake; empty for none.
    pub schema: String,
    /// CLIENT_* capabilities that both sides agreed on.
    pub capabilities: u64,
    /// Collation number of the handshake (character_set_client).
    pub collation: u16,
    /// TLS, if any.
    pub tls: Option<TlsDetails>,
    /// Connection attributes.
    pub attributes: ConnectionAttributes,
    /// The socket's handle for KILL.
    pub control: std::sync::Arc<dyn ConnectionControl>,
}
