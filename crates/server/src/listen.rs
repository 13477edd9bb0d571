//! The sockets of a start, and why one cannot be had. Main function: [`listen`].

use crate::config::Configuration;
use crate::error_log::ErrorLog;
use crate::start_error::StartError;
use network::Listener;
use rustix::io::Errno;
use std::net::SocketAddr;

/// Ports below are for the system's own services, unless net.ipv4.ip_unprivileged_port_start says otherwise.
const PRIVILEGED_PORTS_END: u16 = 1024;

/// Opens all sockets that the configuration asks for.
pub fn listen(configuration: &Configuration, log: &ErrorLog) -> Result<Vec<Listener>, StartError> {
    let mut listeners = Vec::new();
    for address in &configuration.addresses {
        let listener = Listener::tcp(*address, configuration.backlog)
            .map_err(|error| StartError::from(why_not_tcp(*address, error)))?;
        listeners.push(listener);
    }
    let socket = configuration.socket.display();
    match Listener::unix(&configuration.socket, configuration.backlog) {
        Ok(listener) => listeners.push(listener),
        Err(Errno::ADDRINUSE) => {
            return Err(StartError::from(format!(
                "Cannot listen on socket '{socket}': another server does: stop it, or choose another path with --socket"
            )));
        }
        Err(Errno::EXIST) => {
            return Err(StartError::from(format!(
                "Cannot listen on socket '{socket}': it is a file, which is left alone: choose another path with --socket"
            )));
        }
        // A path that is too long must not keep TCP clients out.
        Err(error) if !listeners.is_empty() => {
            log.warning(&format!("Cannot listen on '{socket}': {error}"));
        }
        Err(error) => {
            return Err(StartError::from(format!("Cannot listen on '{socket}': {error}")));
        }
    }
    Ok(listeners)
}

fn why_not_tcp(address: SocketAddr, error: Errno) -> String {
    let advice = match error {
        Errno::ADDRINUSE => "another program has the port: stop it, or choose another one with --port",
        Errno::ADDRNOTAVAIL => {
            "this machine has no such address ('ip address' shows those it has): correct --bind-address; * listens on all"
        }
        Errno::ACCESS if address.port() < PRIVILEGED_PORTS_END => {
            "ports below 1024 take a right of their own (CAP_NET_BIND_SERVICE): choose one from 1024 on with --port"
        }
        Errno::AFNOSUPPORT => "this machine speaks no IPv6: list IPv4 addresses in --bind-address",
        _ => "see --port and --bind-address",
    };
    format!("Cannot listen on {address}: {}: {advice}", std::io::Error::from(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_has_its_advice() {
        let told = |error| why_not_tcp(SocketAddr::from(([127, 0, 0, 1], 80)), error);
        assert!(told(Errno::ACCESS).ends_with("with --port"), "{}", told(Errno::ACCESS));
        assert!(told(Errno::ADDRNOTAVAIL).contains("no such address"), "{}", told(Errno::ADDRNOTAVAIL));
        assert!(told(Errno::NOBUFS).contains("see --port"), "{}", told(Errno::NOBUFS));
    }
}
