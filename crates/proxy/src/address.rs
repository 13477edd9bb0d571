//! Addresses as options write them.

use proxy_script::Address;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;

/// The port of an address without one.
const PORT_DEFAULT: u16 = 3306;

/// Reads `HOST:PORT`, `:PORT` (all addresses of this machine), `[IPv6]:PORT`, `HOST` or `/path`.
pub(crate) fn parse(text: &str) -> Result<Address, String> {
    if text.starts_with('/') {
        return Ok(Address::Unix(PathBuf::from(text)));
    }
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') || host.starts_with('[') => {
            let port =
                port.parse::<u16>().map_err(|_| format!("the port of '{text}' is no number below 65536"))?;
            (host, port)
        }
        _ => (text, PORT_DEFAULT),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let host = if host.is_empty() { "0.0.0.0" } else { host };
    let mut found =
        (host, port).to_socket_addrs().map_err(|error| format!("'{text}' cannot be resolved: {error}"))?;
    let first = found.next().ok_or_else(|| format!("'{text}' has no address"))?;
    // Old clients and servers are IPv4's more often than not.
    let chosen = found.find(SocketAddr::is_ipv4).filter(|_| first.is_ipv6()).unwrap_or(first);
    Ok(Address::Tcp(chosen))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms() {
        let name = |text| parse(text).map(|address| address.name());
        assert_eq!(name("127.0.0.1:3307").unwrap(), "127.0.0.1:3307");
        assert_eq!(name("127.0.0.1").unwrap(), "127.0.0.1:3306");
        assert_eq!(name(":4040").unwrap(), "0.0.0.0:4040");
        assert_eq!(name("[::1]:4150").unwrap(), "[::1]:4150");
        assert_eq!(name("/tmp/x.sock").unwrap(), "/tmp/x.sock");
        assert!(name("127.0.0.1:99999").is_err());
    }
}
