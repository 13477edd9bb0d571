//! The packets before the first command: greeting, TLS request, login, plugin switch.
//! Main types: [`Greeting`] (to the client), [`HandshakeResponse`] and [`ChangeUser`] (from it).

use crate::auth::SCRAMBLE_BYTES;
use crate::capabilities::client;
use crate::connection_attributes::ConnectionAttributes;
use crate::reader::{Malformed, Reader};

/// Protocol::HandshakeV10.
#[derive(Clone, Debug)]
pub struct Greeting<'a> {
    /// Version text.
    pub version: &'a str,
    /// CONNECTION_ID().
    pub connection_id: u32,
    /// Random bytes for the password exchange, none of them zero.
    pub scramble: &'a [u8; SCRAMBLE_BYTES],
    /// What the server offers.
    pub capabilities: u32,
    /// Default collation of the server; only its low byte fits.
    pub collation: u16,
    /// SERVER_STATUS_* flags.
    pub status: u16,
    /// Default authentication plugin.
    pub plugin: &'a str,
}

impl Greeting<'_> {
    /// Appends the payload.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.push(10);
        out.extend_from_slice(self.version.as_bytes());
        out.push(0);
        out.extend_from_slice(&self.connection_id.to_le_bytes());
        out.extend_from_slice(&self.scramble[..8]);
        out.push(0);
        let capabilities = self.capabilities.to_le_bytes();
        out.extend_from_slice(&capabilities[..2]);
        out.push(self.collation as u8);
        out.extend_from_slice(&self.status.to_le_bytes());
        out.extend_from_slice(&capabilities[2..]);
        out.push(SCRAMBLE_BYTES as u8 + 1);
        out.extend_from_slice(&[0; 10]);
        out.extend_from_slice(&self.scramble[8..]);
        out.push(0);
        out.extend_from_slice(self.plugin.as_bytes());
        out.push(0);
    }
}

/// The first packet of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FirstPacket {
    /// SSLRequest: a TLS handshake follows, then the login.
    TlsRequest,
    /// The login.
    Login(Box<HandshakeResponse>),
    /// A client older than 4.1; error 1251.
    TooOld,
}

/// Protocol::HandshakeResponse41.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HandshakeResponse {
    /// What the client wants, reduced to what the server offered.
    pub capabilities: u32,
    /// The client's largest packet.
    pub packet_bytes_max: u32,
    /// Collation asked for.
    pub collation: u16,
    /// User name.
    pub user: Vec<u8>,
    /// Answer to the scramble by the client's plugin.
    pub auth_response: Vec<u8>,
    /// Default schema; empty for none.
    pub schema: Vec<u8>,
    /// The client's plugin; None for clients that know only mysql_native_password.
    pub plugin: Option<Vec<u8>>,
    /// Connection attributes.
    pub attributes: ConnectionAttributes,
    /// Level for zstd.
    pub zstd_level: u8,
}

/// Reads the client's first packet; `offered` are the greeting's capabilities.
pub fn parse_first_packet(payload: &[u8], offered: u32) -> Result<FirstPacket, Malformed> {
    let mut reader = Reader::new(payload);
    let low = reader.u16()?;
    if u32::from(low) & client::PROTOCOL_41 == 0 {
        return Ok(FirstPacket::TooOld);
    }
    let capabilities = (u32::from(low) | u32::from(reader.u16()?) << 16) & offered;
    let packet_bytes_max = reader.u32()?;
    let collation = u16::from(reader.u8()?);
    reader.bytes(23)?;
    if capabilities & client::SSL != 0 && reader.is_empty() {
        return Ok(FirstPacket::TlsRequest);
    }
    let mut login =
        HandshakeResponse { capabilities, packet_bytes_max, collation, ..HandshakeResponse::default() };
    login.user = reader.null_terminated()?.to_vec();
    login.auth_response = auth_response(&mut reader, capabilities)?.to_vec();
    if capabilities & client::CONNECT_WITH_DB != 0 {
        login.schema = reader.null_terminated_or_rest().to_vec();
    }
    if capabilities & client::PLUGIN_AUTH != 0 {
        login.plugin = Some(reader.null_terminated_or_rest().to_vec());
    }
    if capabilities & client::CONNECT_ATTRS != 0 {
        login.attributes = ConnectionAttributes::read(&mut reader)?;
    }
    if capabilities & client::ZSTD_COMPRESSION != 0 && !reader.is_empty() {
        login.zstd_level = reader.u8()?;
    }
    Ok(FirstPacket::Login(Box::new(login)))
}

fn auth_response<'a>(reader: &mut Reader<'a>, capabilities: u32) -> Result<&'a [u8], Malformed> {
    if capabilities & client::PLUGIN_AUTH_LENENC_CLIENT_DATA != 0 {
        reader.length_encoded_bytes()
    } else if capabilities & client::SECURE_CONNECTION != 0 {
        let length = reader.u8()?;
        reader.bytes(usize::from(length))
    } else {
        Ok(reader.null_terminated_or_rest())
    }
}

/// The payload of COM_CHANGE_USER after its command byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeUser {
    /// User name.
    pub user: Vec<u8>,
    /// Answer to the connection's scramble by the client's plugin.
    pub auth_response: Vec<u8>,
    /// Default schema; empty for none.
    pub schema: Vec<u8>,
    /// Collation asked for; None keeps the server's default.
    pub collation: Option<u16>,
    /// The client's plugin, if it names one.
    pub plugin: Option<Vec<u8>>,
    /// Connection attributes.
    pub attributes: ConnectionAttributes,
}

/// Reads COM_CHANGE_USER.
pub fn parse_change_user(payload: &[u8], capabilities: u32) -> Result<ChangeUser, Malformed> {
    let mut reader = Reader::new(payload);
    let mut change = ChangeUser { user: reader.null_terminated()?.to_vec(), ..ChangeUser::default() };
    change.auth_response = if capabilities & client::SECURE_CONNECTION != 0 {
        let length = reader.u8()?;
        reader.bytes(usize::from(length))?.to_vec()
    } else {
        reader.null_terminated()?.to_vec()
    };
    change.schema = reader.null_terminated_or_rest().to_vec();
    if reader.remaining() >= 2 {
        change.collation = Some(reader.u16()?);
    }
    if capabilities & client::PLUGIN_AUTH != 0 && !reader.is_empty() {
        change.plugin = Some(reader.null_terminated_or_rest().to_vec());
    }
    if capabilities & client::CONNECT_ATTRS != 0 {
        change.attributes = ConnectionAttributes::read(&mut reader)?;
    }
    Ok(change)
}

/// Protocol::AuthSwitchRequest: appends the payload that asks the client for another plugin's answer.
pub fn encode_plugin_switch(plugin: &str, scramble: &[u8; SCRAMBLE_BYTES], out: &mut Vec<u8>) {
    out.push(0xFE);
    out.extend_from_slice(plugin.as_bytes());
    out.push(0);
    out.extend_from_slice(scramble);
    out.push(0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::push_length_encoded_bytes;

    fn login_packet(capabilities: u32) -> Vec<u8> {
        let mut packet = capabilities.to_le_bytes().to_vec();
        packet.extend_from_slice(&(16u32 << 20).to_le_bytes());
        packet.push(45);
        packet.extend_from_slice(&[0; 23]);
        packet
    }

    #[test]
    fn login_with_everything() {
        let wanted = client::PROTOCOL_41
            | client::PLUGIN_AUTH_LENENC_CLIENT_DATA
            | client::CONNECT_WITH_DB
            | client::PLUGIN_AUTH
            | client::CONNECT_ATTRS
            | client::ZSTD_COMPRESSION;
        let mut packet = login_packet(wanted | client::MULTI_FACTOR_AUTHENTICATION);
        packet.extend_from_slice(b"root\0\x03abcshop\0caching_sha2_password\0");
        let mut pairs = Vec::new();
        push_length_encoded_bytes(&mut pairs, b"_os");
        push_length_encoded_bytes(&mut pairs, b"Linux");
        push_length_encoded_bytes(&mut packet, &pairs);
        packet.push(7);
        let Ok(FirstPacket::Login(login)) = parse_first_packet(&packet, client::OFFERED) else { panic!() };
        assert_eq!(login.capabilities, wanted);
        assert_eq!((&login.user[..], &login.auth_response[..]), (&b"root"[..], &b"abc"[..]));
        assert_eq!((&login.schema[..], login.collation, login.zstd_level), (&b"shop"[..], 45, 7));
        assert_eq!(login.plugin.as_deref(), Some(&b"caching_sha2_password"[..]));
        assert_eq!(login.attributes.iter().next(), Some(("_os".into(), "Linux".into())));
    }

    #[test]
    fn tls_request_and_old_clients() {
        let request = login_packet(client::PROTOCOL_41 | client::SSL);
        let offered = client::OFFERED | client::SSL;
        assert_eq!(parse_first_packet(&request, offered), Ok(FirstPacket::TlsRequest));
        assert_eq!(parse_first_packet(&request, client::OFFERED), Err(Malformed));
        assert_eq!(parse_first_packet(&[1, 0, 0], offered), Ok(FirstPacket::TooOld));
        assert_eq!(parse_first_packet(&[], offered), Err(Malformed));
    }

    #[test]
    fn change_user() {
        let capabilities = client::SECURE_CONNECTION | client::PLUGIN_AUTH;
        let change =
            parse_change_user(b"bob\0\x02xyshop\0\xff\0mysql_native_password\0", capabilities).unwrap();
        assert_eq!((&change.user[..], &change.auth_response[..]), (&b"bob"[..], &b"xy"[..]));
        assert_eq!((&change.schema[..], change.collation), (&b"shop"[..], Some(255)));
        assert_eq!(change.plugin.as_deref(), Some(&b"mysql_native_password"[..]));
        assert_eq!(parse_change_user(b"bob", capabilities), Err(Malformed));
    }
}
