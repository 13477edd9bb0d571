//! What systemd is told of a start and of a stop (`Type=notify`): a datagram to the socket that NOTIFY_SOCKET names.
//! Main function: [`tell`].

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// Connections are accepted.
pub const READY: &str = "READY=1";
/// The end has begun.
pub const STOPPING: &str = "STOPPING=1";

/// Tells the service manager, if there is one; what it did not hear is in the text.
pub fn tell(state: &str) -> Result<(), String> {
    match std::env::var("NOTIFY_SOCKET") {
        Ok(socket) if !socket.is_empty() => send(&socket, state)
            .map_err(|error| format!("The service manager at '{socket}' cannot be told {state}: {error}")),
        _ => Ok(()),
    }
}

/// A name with @ in front is one of the abstract namespace.
fn send(socket: &str, state: &str) -> std::io::Result<()> {
    let address = match socket.strip_prefix('@') {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(socket)?,
    };
    UnixDatagram::unbound()?.send_to_addr(state.as_bytes(), &address).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_sockets_are_told() {
        let name = format!("iruka-notify-{}", std::process::id());
        let path = std::env::temp_dir().join(&name);
        let by_path = UnixDatagram::bind(&path).expect("a socket");
        let by_name =
            SocketAddr::from_abstract_name(&name).and_then(|address| UnixDatagram::bind_addr(&address));
        let by_name = by_name.expect("a socket");
        for (socket, address) in [(by_path, path.display().to_string()), (by_name, format!("@{name}"))] {
            send(&address, READY).expect("the socket is there");
            let mut bytes = [0; 64];
            let length = socket.recv(&mut bytes).expect("a datagram");
            assert_eq!(&bytes[..length], READY.as_bytes());
        }
        rustix::fs::unlink(&path).expect("the file of the socket");
        assert!(send(&path.display().to_string(), READY).is_err());
    }
}
