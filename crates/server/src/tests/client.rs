//! A client that speaks the protocol packet by packet, so that tests can also speak it wrongly.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;
use wire::auth::{SCRAMBLE_BYTES, caching_sha2, native};
use wire::capabilities::client;
use wire::output::{Output, push_length_encoded_bytes};
use wire::reader::Reader;

pub struct TestClient {
    pub stream: TcpStream,
    sequence: u8,
    pub scramble: [u8; SCRAMBLE_BYTES],
    pub connection_id: u32,
}

pub const CAPABILITIES: u32 = client::PROTOCOL_41
    | client::SECURE_CONNECTION
    | client::PLUGIN_AUTH
    | client::PLUGIN_AUTH_LENENC_CLIENT_DATA
    | client::LOCAL_FILES;

impl TestClient {
    /// Connects and reads the greeting.
    pub fn greet(port: u16) -> TestClient {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.set_nodelay(true).unwrap();
        let mut client = TestClient { stream, sequence: 0, scramble: [0; 20], connection_id: 0 };
        let greeting = client.read();
        let mut reader = Reader::new(&greeting);
        assert_eq!(reader.u8(), Ok(10));
        assert_eq!(reader.null_terminated(), Ok(&b"9.7.0-test"[..]));
        client.connection_id = reader.u32().unwrap();
        client.scramble[..8].copy_from_slice(reader.bytes(8).unwrap());
        reader.bytes(1 + 2 + 1 + 2 + 2 + 1 + 10).unwrap();
        client.scramble[8..].copy_from_slice(reader.bytes(12).unwrap());
        client
    }

    /// Sends a login; the answer is to be read.
    pub fn log_in(&mut self, user: &str, plugin: &str, answer: &[u8], capabilities: u32) {
        let mut packet = capabilities.to_le_bytes().to_vec();
        packet.extend_from_slice(&(1u32 << 24).to_le_bytes());
        packet.push(255);
        packet.extend_from_slice(&[0; 23]);
        packet.extend_from_slice(user.as_bytes());
        packet.push(0);
        push_length_encoded_bytes(&mut packet, answer);
        packet.extend_from_slice(plugin.as_bytes());
        packet.push(0);
        self.write(&packet);
    }

    /// A connection of `root`.
    pub fn root(port: u16) -> TestClient {
        TestClient::root_with(port, CAPABILITIES)
    }

    pub fn root_with(port: u16, capabilities: u32) -> TestClient {
        let mut client = TestClient::greet(port);
        client.log_in("root", caching_sha2::NAME, b"", capabilities);
        assert_eq!(client.read()[0], 0);
        client
    }

    pub fn sha2_answer(&self, password: &str) -> Vec<u8> {
        caching_sha2::response(password.as_bytes(), &self.scramble)
    }

    pub fn native_answer(&self, password: &str) -> Vec<u8> {
        native::response(password.as_bytes(), &self.scramble)
    }

    /// Sends a packet with the next sequence number.
    pub fn write(&mut self, payload: &[u8]) {
        let mut output = Output::new();
        output.set_sequence(self.sequence);
        output.packet(payload);
        self.sequence = output.sequence();
        self.stream.write_all(output.bytes()).unwrap();
    }

    /// Sends a command.
    pub fn command(&mut self, number: u8, rest: &[u8]) {
        self.begin(&[&[number], rest].concat());
    }

    /// Sends the packet of a command.
    pub fn begin(&mut self, payload: &[u8]) {
        self.sequence = 0;
        self.write(payload);
    }

    /// The next packet's payload; panics when the connection is closed.
    pub fn read(&mut self) -> Vec<u8> {
        self.try_read().expect("a packet")
    }

    pub fn try_read(&mut self) -> Option<Vec<u8>> {
        let mut payload = Vec::new();
        loop {
            let mut header = [0; 4];
            self.stream.read_exact(&mut header).ok()?;
            assert_eq!(header[3], self.sequence, "sequence");
            self.sequence = self.sequence.wrapping_add(1);
            let bytes = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
            let start = payload.len();
            payload.resize(start + bytes, 0);
            self.stream.read_exact(&mut payload[start..]).ok()?;
            if bytes < 0xFF_FFFF {
                return Some(payload);
            }
        }
    }

    /// Packets up to and with the second EOF, an OK or an error.
    pub fn read_result(&mut self) -> Vec<Vec<u8>> {
        let mut packets = vec![self.read()];
        if matches!(packets[0][0], 0 | 0xFF) {
            return packets;
        }
        let mut ends = 0;
        while ends < 2 {
            let packet = self.read();
            ends += usize::from(packet[0] == 0xFE && packet.len() < 9);
            let failed = packet[0] == 0xFF;
            packets.push(packet);
            if failed {
                break;
            }
        }
        packets
    }

    pub fn query(&mut self, sql: &str) -> Vec<Vec<u8>> {
        self.command(3, sql.as_bytes());
        self.read_result()
    }

    /// The single value of a query's single row.
    pub fn value(&mut self, sql: &str) -> String {
        let packets = self.query(sql);
        assert_eq!(packets.len(), 5, "{:?}", String::from_utf8_lossy(&packets[0]));
        let value = Reader::new(&packets[3]).length_encoded_bytes().unwrap().to_vec();
        String::from_utf8(value).unwrap()
    }

    /// Whether a statement is answered by OK.
    pub fn ok(&mut self, sql: &str) {
        let packets = self.query(sql);
        assert_eq!(packets[0][0], 0, "{:?}", String::from_utf8_lossy(&packets[0]));
    }

    /// Whether nothing but the end of the connection comes.
    pub fn is_closed(&mut self) -> bool {
        matches!(self.stream.read(&mut [0; 1]), Ok(0) | Err(_))
    }
}

/// The number of an error packet.
pub fn error_number(packet: &[u8]) -> u16 {
    assert_eq!(packet[0], 0xFF, "not an error: {packet:?}");
    u16::from_le_bytes([packet[1], packet[2]])
}
