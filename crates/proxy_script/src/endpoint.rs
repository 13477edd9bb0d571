//! The two ends of a connection as scripts see them. Main types: [`Address`], [`Endpoint`].

use std::net::SocketAddr;
use std::path::PathBuf;

/// Where a socket is bound or connected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// TCP.
    Tcp(SocketAddr),
    /// A UNIX socket's path; empty for the end without name.
    Unix(PathBuf),
}

impl Address {
    /// `ip:port`, or the path.
    pub fn name(&self) -> String {
        match self {
            Address::Tcp(address) => address.to_string(),
            Address::Unix(path) => path.display().to_string(),
        }
    }

    /// The IP address, or the path.
    pub fn host(&self) -> String {
        match self {
            Address::Tcp(address) => address.ip().to_string(),
            Address::Unix(path) => path.display().to_string(),
        }
    }

    /// The port; a UNIX socket has none.
    pub fn port(&self) -> Option<u16> {
        match self {
            Address::Tcp(address) => Some(address.port()),
            Address::Unix(_) => None,
        }
    }

    /// The number of the address family.
    pub fn family(&self) -> u16 {
        match self {
            Address::Unix(_) => 1,
            Address::Tcp(SocketAddr::V4(_)) => 2,
            Address::Tcp(SocketAddr::V6(_)) => 10,
        }
    }
}

/// What is known of one end: `proxy.connection.client` and `.server`. What the login has not told yet is `None`.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// The far end for a client, the proxy's own for a server.
    pub source: Address,
    /// The proxy's own end for a client, the far one for a server.
    pub destination: Address,
    /// Empty for none.
    pub default_schema: Option<Vec<u8>>,
    /// Empty for the anonymous user.
    pub user: Option<Vec<u8>>,
    /// The answer to the scramble, as sent.
    pub scrambled_password: Option<Vec<u8>>,
    /// Of the last that named one.
    pub plugin: Option<Vec<u8>>,
    /// As a number: 50624 is 5.6.24.
    pub version: Option<u32>,
    /// The server's number of the connection.
    pub thread_id: Option<u32>,
    /// With the zero byte that servers send behind it.
    pub scramble: Option<Vec<u8>>,
}

impl Endpoint {
    /// An end of which only the addresses are known.
    pub fn new(source: Address, destination: Address) -> Endpoint {
        Endpoint {
            source,
            destination,
            default_schema: None,
            user: None,
            scrambled_password: None,
            plugin: None,
            version: None,
            thread_id: None,
            scramble: None,
        }
    }

    /// Takes over what the server's greeting told.
    pub fn note_greeting(&mut self, greeted: &Endpoint) {
        self.version = greeted.version;
        self.thread_id = greeted.thread_id;
        self.scramble.clone_from(&greeted.scramble);
    }

    /// Takes over who logs in.
    pub fn note_login(&mut self, user: Vec<u8>, scrambled_password: Vec<u8>, schema: Vec<u8>) {
        self.user = Some(user);
        self.scrambled_password = Some(scrambled_password);
        self.default_schema = Some(schema);
    }
}

/// A server's version as a number: 50624 is 5.6.24. MariaDB puts `5.5.5-` before its version.
pub fn version_number(text: &str) -> u32 {
    let text = text.strip_prefix("5.5.5-").filter(|_| text.contains("MariaDB")).unwrap_or(text);
    let mut numbers =
        text.split(|character: char| !character.is_ascii_digit()).map(|part| part.parse().unwrap_or(0));
    let mut next = || -> u32 { numbers.next().unwrap_or(0) };
    let (major, minor, patch) = (next(), next(), next());
    major.saturating_mul(10_000).saturating_add(minor.saturating_mul(100)).saturating_add(patch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_numbers() {
        assert_eq!(version_number("5.6.24-log"), 50_624);
        assert_eq!(version_number("5.5.5-10.11.2-MariaDB"), 101_102);
        assert_eq!(version_number("11.8.3-MariaDB-ubu"), 110_803);
        assert_eq!(version_number(""), 0);
    }
}
