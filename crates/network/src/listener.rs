//! Listening sockets. Main type: [`Listener`]. Every reactor accepts from all of them.

use crate::Socket;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, listen, socket_with, sockopt,
};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

/// A listening, non-blocking socket.
#[derive(Debug)]
pub struct Listener {
    descriptor: OwnedFd,
    /// Set for UNIX sockets; the file is removed when the listener is dropped.
    path: Option<PathBuf>,
}

const FLAGS: SocketFlags = SocketFlags::NONBLOCK.union(SocketFlags::CLOEXEC);

impl Listener {
    /// Listens on a TCP address. `backlog`: connections that wait to be accepted.
    pub fn tcp(address: SocketAddr, backlog: i32) -> Result<Listener, Errno> {
        let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let descriptor = socket_with(family, SocketType::STREAM, FLAGS, None)?;
        sockopt::set_socket_reuseaddr(&descriptor, true)?;
        if address.is_ipv6() {
            // `*` and `::` mean both families, as in MySQL.
            sockopt::set_ipv6_v6only(&descriptor, false)?;
        }
        // Accepted sockets inherit it. Answers are single sends: waiting for more to send would only delay them.
        sockopt::set_tcp_nodelay(&descriptor, true)?;
        bind(&descriptor, &address)?;
        listen(&descriptor, backlog)?;
        Ok(Listener { descriptor, path: None })
    }

    /// Listens on a UNIX socket. A socket file left by a server that is gone is replaced. Errors: `ADDRINUSE` if a server
    /// listens there, `EXIST` if the path is no socket.
    pub fn unix(path: &Path, backlog: i32) -> Result<Listener, Errno> {
        let address = SocketAddrUnix::new(path)?;
        let descriptor = socket_with(AddressFamily::UNIX, SocketType::STREAM, FLAGS, None)?;
        match bind(&descriptor, &address) {
            Err(Errno::ADDRINUSE) => {
                // A file that somebody keeps there is none of ours to remove.
                let found = rustix::fs::lstat(path)?;
                if rustix::fs::FileType::from_raw_mode(found.st_mode) != rustix::fs::FileType::Socket {
                    return Err(Errno::EXIST);
                }
                let probe = socket_with(AddressFamily::UNIX, SocketType::STREAM, FLAGS, None)?;
                if rustix::net::connect(&probe, &address) != Err(Errno::CONNREFUSED) {
                    return Err(Errno::ADDRINUSE);
                }
                rustix::fs::unlink(path)?;
                bind(&descriptor, &address)?;
            }
            other => other?,
        }
        // Access is checked by accounts, not by the file.
        rustix::fs::chmod(path, rustix::fs::Mode::from_raw_mode(0o777))?;
        listen(&descriptor, backlog)?;
        Ok(Listener { descriptor, path: Some(path.to_path_buf()) })
    }

    /// Its descriptor, for epoll.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }

    /// The port that the system chose.
    pub fn port(&self) -> Option<u16> {
        let address = rustix::net::getsockname(&self.descriptor).ok()?;
        SocketAddr::try_from(address).ok().map(|address| address.port())
    }

    /// The next waiting connection with its peer's address, which a UNIX socket has not; None when there is none.
    pub fn accept(&self) -> Result<Option<(Socket, Option<SocketAddr>)>, Errno> {
        let is_unix = self.path.is_some();
        loop {
            // The peer's address comes with the call; another thread may have been faster.
            let accepted = match rustix::net::acceptfrom_with(&self.descriptor, FLAGS) {
                Ok(accepted) => accepted,
                Err(Errno::AGAIN) => return Ok(None),
                Err(Errno::INTR | Errno::CONNABORTED) => continue,
                Err(error) => return Err(error),
            };
            let (descriptor, address) = accepted;
            let address = address.and_then(|address| SocketAddr::try_from(address).ok());
            return Ok(Some((Socket::new(descriptor, is_unix), address)));
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // It may be gone already.
            let _ = rustix::fs::unlink(path);
        }
    }
}
