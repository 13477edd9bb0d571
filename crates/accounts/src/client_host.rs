//! Where a client is. Main type: [`ClientHost`].

use std::net::IpAddr;

/// Where a client connects from, for account matching, PROCESSLIST and CURRENT_USER().
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientHost {
    /// Its address; None over the UNIX socket.
    pub address: Option<IpAddr>,
    /// Its port; 0 over the UNIX socket.
    pub port: u16,
    /// Its resolved name; None with skip_name_resolve. The loopback addresses and the UNIX socket are `localhost`.
    pub name: Option<String>,
}

impl ClientHost {
    /// The UNIX socket.
    pub fn local() -> ClientHost {
        ClientHost { address: None, port: 0, name: Some("localhost".to_owned()) }
    }

    /// The name that messages and USER() show: the resolved name, else the address.
    pub fn display(&self) -> String {
        match (&self.name, self.address) {
            (Some(name), _) => name.clone(),
            (None, Some(address)) => address.to_string(),
            (None, None) => "localhost".to_owned(),
        }
    }
}
