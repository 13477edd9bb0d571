//! A server's greeting, and what the proxy makes of it for its client. Main type: [`ServerGreeting`].

use wire::auth::SCRAMBLE_BYTES;
use wire::capabilities::client;
use wire::handshake::Greeting;
use wire::reader::{Malformed, Reader};

/// Protocol::HandshakeV10 as a server sent it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerGreeting {
    pub version: Vec<u8>,
    pub thread_id: u32,
    pub scramble: [u8; SCRAMBLE_BYTES],
    pub capabilities: u32,
    pub collation: u8,
    pub status: u16,
    pub plugin: Vec<u8>,
}

impl ServerGreeting {
    /// Reads the payload.
    pub fn parse(payload: &[u8]) -> Result<ServerGreeting, Malformed> {
        let mut reader = Reader::new(payload);
        if reader.u8()? != 10 {
            return Err(Malformed);
        }
        let version = reader.null_terminated()?.to_vec();
        let thread_id = reader.u32()?;
        let mut scramble = [0; SCRAMBLE_BYTES];
        scramble[..8].copy_from_slice(reader.bytes(8)?);
        reader.u8()?;
        let low = reader.u16()?;
        let collation = reader.u8()?;
        let status = reader.u16()?;
        let high = reader.u16()?;
        // Length of the scramble, filling.
        reader.bytes(1 + 10)?;
        scramble[8..].copy_from_slice(reader.bytes(SCRAMBLE_BYTES - 8)?);
        // Servers put a zero byte behind the scramble.
        let _ = reader.u8();
        let plugin = reader.null_terminated_or_rest().to_vec();
        let capabilities = u32::from(low) | u32::from(high) << 16;
        Ok(ServerGreeting { version, thread_id, scramble, capabilities, collation, status, plugin })
    }

    /// What may be agreed on through the proxy. Scripts read commands and results as they were before query
    /// attributes and results without metadata.
    pub fn offered(&self, has_script: bool) -> u32 {
        let mut withheld = client::SSL | client::COMPRESS | client::ZSTD_COMPRESSION;
        if has_script {
            withheld |= client::QUERY_ATTRIBUTES | client::OPTIONAL_RESULTSET_METADATA;
        }
        self.capabilities & !withheld
    }

    /// The payload for the client.
    pub fn for_client(&self, offered: u32) -> Vec<u8> {
        let greeting = Greeting {
            version: &String::from_utf8_lossy(&self.version),
            connection_id: self.thread_id,
            scramble: &self.scramble,
            capabilities: offered,
            collation: u16::from(self.collation),
            status: self.status,
            plugin: &String::from_utf8_lossy(&self.plugin),
        };
        let mut payload = Vec::new();
        greeting.encode(&mut payload);
        if self.capabilities & client::PLUGIN_AUTH == 0 {
            // Without plug-ins the packet ends with the scramble.
            payload.truncate(payload.len() - self.plugin.len() - 1);
        }
        payload
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn greeting(version: &str) -> ServerGreeting {
        ServerGreeting {
            version: version.into(),
            thread_id: 77,
            scramble: *b"abcdefghijklmnopqrst",
            capabilities: client::OFFERED | client::SSL,
            collation: 255,
            status: 2,
            plugin: b"caching_sha2_password".to_vec(),
        }
    }

    #[test]
    fn what_the_client_gets_says_the_same_but_for_what_is_withheld() {
        let from_server = greeting("9.7.4");
        let offered = from_server.offered(true);
        let seen = ServerGreeting::parse(&from_server.for_client(offered)).unwrap();
        assert_eq!(seen, ServerGreeting { capabilities: offered, ..from_server.clone() });
        assert_eq!(seen.capabilities & (client::SSL | client::QUERY_ATTRIBUTES), 0);
        assert_ne!(from_server.offered(false) & client::QUERY_ATTRIBUTES, 0);
    }

    #[test]
    fn no_bytes_are_too_few() {
        let payload = greeting("8.0").for_client(0);
        for length in 0..payload.len() {
            let _ = ServerGreeting::parse(&payload[..length]);
        }
    }
}
