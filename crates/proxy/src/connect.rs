//! Connecting to a backend without waiting.

use network::Socket;
use proxy_script::Address;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with, sockopt};
use std::net::SocketAddr;
use std::os::fd::AsFd;

/// Begins to connect. The socket is writable when that is done, well or not: see [`outcome`].
pub(crate) fn begin(address: &Address) -> Result<Socket, Errno> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    match address {
        Address::Tcp(address) => {
            let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
            let descriptor = socket_with(family, SocketType::STREAM, flags, None)?;
            sockopt::set_tcp_nodelay(&descriptor, true)?;
            may_go_on(connect(&descriptor, address))?;
            Ok(Socket::new(descriptor, false))
        }
        Address::Unix(path) => {
            let descriptor = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
            may_go_on(connect(&descriptor, &SocketAddrUnix::new(path)?))?;
            Ok(Socket::new(descriptor, true))
        }
    }
}

fn may_go_on(connected: Result<(), Errno>) -> Result<(), Errno> {
    match connected {
        Err(Errno::INPROGRESS | Errno::INTR) => Ok(()),
        other => other,
    }
}

/// Whether the attempt succeeded.
pub(crate) fn outcome(socket: &Socket) -> Result<(), Errno> {
    sockopt::socket_error(socket.descriptor())?
}

/// The socket's own end.
pub(crate) fn local_address(socket: &Socket) -> Address {
    let unnamed = Address::Unix(std::path::PathBuf::new());
    if socket.is_unix() {
        return unnamed;
    }
    let address = rustix::net::getsockname(socket.descriptor().as_fd()).ok();
    address.and_then(|address| SocketAddr::try_from(address).ok()).map_or(unnamed, Address::Tcp)
}
