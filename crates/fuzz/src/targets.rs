//! What is fuzzed. Main type: [`Target`].

use crate::{proxy_sessions, seeds};
use charset::CollationId;
use values::json::Unwatched;
use values::{ColumnType, Decimal, RowRef, TypeKind, Value};
use wire::auth::cache::PasswordCache;
use wire::auth::exchange::{Channel, Credentials, Exchange, PasswordKey, Plugin};
use wire::auth::{SCRAMBLE_BYTES, caching_sha2, native};
use wire::capabilities::client;
use wire::command::Command;
use wire::compression::{Algorithm, Decompressor};
use wire::frame::{FrameReader, Received};
use wire::handshake::{parse_change_user, parse_first_packet};
use wire::output::FRAME_HEADER_BYTES;
use wire::parameter::KnownParameters;
use wire::result::ResultColumn;
use wire::row::RowWriter;

/// A function that must take every input.
pub struct Target {
    /// Its name on the command line.
    pub name: &'static str,
    /// What inputs are made from.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Runs one input.
    pub run: fn(&[u8]),
}

/// All targets.
pub const TARGETS: [Target; 7] = [
    Target { name: "handshake", seeds: seeds::handshakes, run: handshake },
    Target { name: "authentication", seeds: seeds::handshakes, run: authentication },
    Target { name: "command", seeds: seeds::commands, run: command },
    Target { name: "frame", seeds: seeds::frames, run: frame },
    Target { name: "parser", seeds: seeds::statements, run: parse },
    Target { name: "proxy", seeds: proxy_sessions::seeds, run: proxy_sessions::run },
    Target { name: "decimal", seeds: seeds::numbers, run: decimal },
];

fn handshake(input: &[u8]) {
    for offered in [client::OFFERED, client::OFFERED | client::SSL] {
        // Only that it returns matters.
        let _ = parse_first_packet(input, offered);
    }
    let _ = parse_change_user(input, client::OFFERED);
}

/// A key that decrypts nothing to anything.
struct Mirror;

impl PasswordKey for Mirror {
    fn public_key_pem(&self) -> &[u8] {
        b"PEM"
    }

    fn decrypt(&self, ciphertext: &[u8]) -> Option<Vec<u8>> {
        Some(ciphertext.to_vec())
    }
}

/// Logins never succeed without the password, whatever the packets are.
fn authentication(input: &[u8]) {
    let cache = PasswordCache::default();
    let scramble = [b'x'; SCRAMBLE_BYTES];
    let stored_native = native::hash(b"correct horse").into_bytes();
    // A stored form that is broken cannot be proved either; hashing is left out for speed.
    let cases = [(Plugin::Native, stored_native), (Plugin::CachingSha2, b"$A$broken".to_vec())];
    for (plugin, stored) in cases {
        for is_protected in [true, false] {
            let channel = Channel { is_protected, key: Some(&Mirror), cache: &cache };
            let credentials = Credentials { plugin, stored: vec![stored.clone()] };
            let mut exchange = Exchange::new(credentials, scramble);
            let (first, second) = input.split_at(input.len() / 2);
            let names = [caching_sha2::NAME, native::NAME];
            let name = names[input.len() % 2].as_bytes();
            let accepted = |next| matches!(next, wire::auth::exchange::Next::Accepted { .. });
            assert!(!accepted(exchange.start(Some(name), first, &channel)));
            for packet in [&[2][..], second, input] {
                assert!(!accepted(exchange.receive(packet, &channel)));
            }
        }
    }
}

fn command(input: &[u8]) {
    for capabilities in [0, client::OFFERED] {
        let Ok(Command::Execute(execute)) = Command::parse(input, capabilities) else { continue };
        for count in [0, 1, 3] {
            let known = KnownParameters { count, types: &[], sent: &[false, true] };
            let Ok(parameters) = execute.parameters(&known) else { continue };
            assert_eq!((parameters.values.len(), parameters.types.len()), (count, count));
            write_rows(&parameters.values, parameters.types.iter().map(|parameter| parameter.kind()));
        }
    }
}

/// What clients bind can be sent back in both protocols.
fn write_rows(values: &[Value], kinds: impl Iterator<Item = TypeKind>) {
    let column = |kind| {
        ResultColumn::named("", ColumnType { collation: CollationId::UTF8MB4_BIN, ..ColumnType::new(kind) })
    };
    let columns: Vec<ResultColumn> = kinds.map(column).collect();
    for results in [CollationId::BINARY, CollationId::LATIN1_SWEDISH_CI] {
        let mut writer = RowWriter::new(&columns, results);
        let mut out = Vec::new();
        let _ = writer.push_text(&mut out, RowRef::Values(values), &Unwatched);
        let _ = writer.push_binary(&mut out, RowRef::Values(values), &Unwatched);
    }
}

/// Joins frames, perhaps out of compressed packets, as a connection does.
fn frame(input: &[u8]) {
    const PACKET_BYTES_MAX: usize = 1 << 16;
    let Some((mark, input)) = input.split_first() else { return };
    let mut plain = Vec::new();
    if *mark == 0 {
        plain.extend_from_slice(input);
    } else {
        let algorithm = if mark & 1 == 1 { Algorithm::Zlib } else { Algorithm::Zstd { level: 1 } };
        let mut decompressor = Decompressor::new(algorithm);
        let mut rest = input;
        while let Ok(Some(consumed)) = decompressor.decompress(rest, &mut plain) {
            rest = &rest[consumed..];
        }
    }
    let mut frames = FrameReader::new(PACKET_BYTES_MAX);
    let mut rest = &plain[..];
    loop {
        match frames.look(rest) {
            Ok(Received::Packet { consumed }) => {
                assert!(consumed - FRAME_HEADER_BYTES <= PACKET_BYTES_MAX);
                rest = &rest[consumed..];
            }
            Ok(Received::Continued { consumed } | Received::JoinedPacket { consumed }) => {
                rest = &rest[consumed..];
                assert!(frames.take_joined().len() <= PACKET_BYTES_MAX);
            }
            Ok(Received::Incomplete { missing_bytes }) => {
                assert!(missing_bytes > 0);
                break;
            }
            Err(_) => break,
        }
    }
}

fn parse(input: &[u8]) {
    let options = parser::ParseOptions::default();
    let mut start = 0;
    while let Ok(parsed) = parser::parse_one(input, start, options) {
        assert!(parsed.next > start, "no progress");
        if parsed.next >= input.len() {
            break;
        }
        start = parsed.next;
    }
}

/// Reading and printing a number are each other's opposite.
fn decimal(input: &[u8]) {
    let parsed = Decimal::parse(input);
    assert!(parsed.length <= input.len());
    let mut text = Vec::new();
    parsed.number.append_text(&mut text);
    let again = Decimal::parse(&text);
    assert_eq!((again.number, again.length), (parsed.number, text.len()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutate::Generator;

    #[test]
    fn a_short_run_of_every_target() {
        const EXECUTIONS: u64 = 3_000;
        let mut input = Vec::new();
        for target in &TARGETS {
            let corpus = (target.seeds)();
            for seed in 0..EXECUTIONS {
                Generator::new(seed).make_input(&corpus, &mut input);
                (target.run)(&input);
            }
        }
    }
}
