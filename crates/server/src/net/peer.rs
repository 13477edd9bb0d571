//! Who is at the other end of an accepted socket, as accounts see it.

use network::Socket;
use session::ClientHost;
use std::net::{IpAddr, SocketAddr};

/// The host of a client. `address` is None for a UNIX socket, or when the system could not tell.
pub(crate) fn client_host(socket: &Socket, address: Option<SocketAddr>) -> ClientHost {
    if socket.is_unix() {
        return ClientHost::local();
    }
    let Some(address) = address else { return ClientHost { address: None, port: 0, name: None } };
    let ip = address.ip().to_canonical();
    let is_loopback = match ip {
        IpAddr::V4(ip) => ip.is_loopback(),
        IpAddr::V6(ip) => ip.is_loopback(),
    };
    let name = is_loopback.then(|| "localhost".to_owned());
    ClientHost { address: Some(ip), port: address.port(), name }
}
