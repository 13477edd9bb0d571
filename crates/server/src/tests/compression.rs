//! The compressed protocol: packets of any number in one read, their numbers, and the exchanges that change direction.

use super::TestServer;
use super::client::{CAPABILITIES, TestClient};
use super::fake::FakeInstance;
use std::io::{Read, Write};
use wire::capabilities::client;
use wire::compression::{Algorithm, Compressor, Decompressor};
use wire::output::{FRAME_HEADER_BYTES, Output};

const ALGORITHMS: [(u32, Algorithm); 2] =
    [(client::COMPRESS, Algorithm::Zlib), (client::ZSTD_COMPRESSION, Algorithm::Zstd { level: 3 })];

/// A client behind its login, packet by packet.
struct Client {
    client: TestClient,
    algorithm: Algorithm,
    decompressor: Decompressor,
    received: Vec<u8>,
    /// Decompressed and not read.
    plain: Vec<u8>,
}

impl Client {
    fn new(server: &TestServer, (flag, algorithm): (u32, Algorithm)) -> Client {
        let client = TestClient::root_with(server.port, CAPABILITIES | flag);
        let decompressor = Decompressor::new(algorithm);
        Client { client, algorithm, decompressor, received: Vec::new(), plain: Vec::new() }
    }

    /// A packet in compressed packets of `piece_bytes` plain bytes, the first of which has that number.
    fn packets(&self, payload: &[u8], sequence: u8, piece_bytes: usize) -> Vec<u8> {
        let mut output = Output::new();
        output.set_sequence(sequence);
        output.packet(payload);
        let mut compressor = Compressor::new(self.algorithm);
        compressor.set_sequence(sequence);
        let mut packets = Vec::new();
        output.bytes().chunks(piece_bytes).for_each(|piece| compressor.compress(piece, &mut packets));
        packets
    }

    fn send(&mut self, bytes: &[u8]) {
        self.client.stream.write_all(bytes).unwrap();
    }

    /// The payload of the next packet, which must have that number, inside compressed packets from `outer` on.
    fn read(&mut self, outer: Option<u8>, inner: u8) -> Vec<u8> {
        if let Some(outer) = outer {
            assert!(self.plain.is_empty());
            self.decompressor.set_expected_sequence(outer);
        }
        loop {
            if let Some(length) = self.plain.first_chunk::<3>() {
                let end =
                    FRAME_HEADER_BYTES + u32::from_le_bytes([length[0], length[1], length[2], 0]) as usize;
                if self.plain.len() >= end {
                    assert_eq!(self.plain[3], inner, "number of the packet");
                    return self.plain.drain(..end).skip(FRAME_HEADER_BYTES).collect();
                }
            }
            match self.decompressor.decompress(&self.received, &mut self.plain).unwrap() {
                Some(used) => drop(self.received.drain(..used)),
                None => {
                    let mut piece = [0; 4096];
                    let count = self.client.stream.read(&mut piece).unwrap();
                    assert!(count > 0, "the server closed the connection");
                    self.received.extend_from_slice(&piece[..count]);
                }
            }
        }
    }
}

#[test]
fn questions_and_answers_of_every_size() {
    let server = TestServer::start(FakeInstance::default());
    for mode in ALGORITHMS {
        let mut client = Client::new(&server, mode);
        for length in [10, 5000, 3_000_000] {
            let sql = format!("LENGTH {}", "a".repeat(length));
            let packets = client.packets(&[&[3], sql.as_bytes()].concat(), 0, 1 << 20);
            client.send(&packets);
            let first = 1 + (length >> 20) as u8;
            client.read(Some(first), first);
            (1..3).for_each(|at| drop(client.read(None, first + at)));
            assert_eq!(client.read(None, first + 3)[1..], *length.to_string().as_bytes());
            client.read(None, first + 4);
        }
    }
}

#[test]
fn commands_that_arrive_together_are_answered_one_by_one() {
    let server = TestServer::start(FakeInstance::default());
    for mode in ALGORITHMS {
        let mut client = Client::new(&server, mode);
        let ping = client.packets(b"\x0E", 0, 100);
        let close = client.packets(b"\x19\x01\0\0\0", 0, 100);
        let pieces = client.packets(&[b"\x03LENGTH ", &[b'x'; 300][..]].concat(), 0, 50);
        client.send(&[&ping[..], &close, &ping, &pieces, &ping].concat());
        assert_eq!(client.read(Some(1), 1)[0], 0);
        assert_eq!(client.read(Some(1), 1)[0], 0);
        // 312 bytes in seven packets: both numbers go on behind the last.
        client.read(Some(7), 7);
        (8..10).for_each(|number| drop(client.read(None, number)));
        assert_eq!(client.read(None, 10), b"\x03300");
        client.read(None, 11);
        assert_eq!(client.read(Some(1), 1)[0], 0);
    }
}

#[test]
fn files_and_changes_of_user_change_direction() {
    let server = TestServer::start(FakeInstance::default());
    for mode in ALGORITHMS {
        let mut client = Client::new(&server, mode);
        let load = client.packets(b"\x03LOAD name.csv", 0, 100);
        client.send(&load);
        assert_eq!(client.read(Some(1), 1), b"\xFBname.csv");
        // Three packets of the file in one write, numbered behind the request.
        let pieces = [client.packets(&[b'a'; 500], 2, 1000), client.packets(&[b'b'; 70], 3, 1000)].concat();
        let end = client.packets(b"", 4, 1000);
        client.send(&[pieces, end].concat());
        assert_eq!(client.read(Some(5), 5)[..5], [0, 0xFC, 0x3A, 2, 0]);

        // COM_CHANGE_USER to a user of another method: the server asks, the client replies.
        let user = b"\x11old\0\0\0\xFF\0caching_sha2_password\0";
        let change = client.packets(user, 0, 1000);
        client.send(&change);
        assert_eq!(client.read(Some(1), 1)[0], 0xFE);
        let answer = client.client.native_answer("pw");
        let reply = client.packets(&answer, 2, 1000);
        client.send(&reply);
        assert_eq!(client.read(Some(3), 3)[0], 0);
        let ping = client.packets(b"\x0E", 0, 100);
        client.send(&ping);
        assert_eq!(client.read(Some(1), 1)[0], 0);
    }
}

/// A packet that is out of order, or whose content is no compressed text, is answered with the error that names it, under the
/// number that was expected; then the connection is closed.
#[test]
fn packets_that_cannot_be_read_are_answered() {
    let server = TestServer::start(FakeInstance::default());
    let out_of_order = &b"\xFF\x84\x04#08S01Got packets out of order"[..];
    let unreadable = &b"\xFF\x85\x04#08S01Couldn't uncompress communication packet"[..];
    for mode in ALGORITHMS {
        let ping = |client: &Client, number| client.packets(b"\x0E", number, 100);
        let mut client = Client::new(&server, mode);
        let packets = ping(&client, 5);
        client.send(&packets);
        assert_eq!(client.read(Some(0), 0), out_of_order);
        assert_eq!(client.client.stream.read(&mut [0]).unwrap(), 0);

        let mut client = Client::new(&server, mode);
        let mut pieces = client.packets(&[b"\x03LENGTH ", &[b'x'; 300][..]].concat(), 0, 200);
        // The second of two packets has a header of zeros but for its length, and so the first one's number.
        let first = 7 + usize::from(pieces[0]);
        pieces[first + 3] = 0;
        client.send(&pieces);
        assert_eq!(client.read(Some(1), 1), out_of_order);

        let mut client = Client::new(&server, mode);
        client.send(b"\x08\0\0\0\x64\0\0no stream");
        assert_eq!(client.read(Some(1), 1), unreadable);
        assert_eq!(client.client.stream.read(&mut [0]).unwrap(), 0);
    }
}
