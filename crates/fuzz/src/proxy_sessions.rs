//! Sessions of `iruka proxy`, with clients and servers that send anything.
#![allow(clippy::disallowed_methods)]

use proxy::harness::{Harness, Sender};
use std::cell::RefCell;
use wire::auth::caching_sha2;
use wire::capabilities::client;
use wire::handshake::Greeting;
use wire::output::{Output, push_length_encoded_bytes};

/// Looks at everything that there is to look at, and changes some of it.
const SCRIPT: &str = r#"
function read_query(packet)
	if packet:byte() == proxy.COM_QUERY and #packet % 3 == 0 then
		proxy.response = { type = proxy.MYSQLD_PACKET_OK, resultset = { fields = { { name = "a" } }, rows = { { #packet } } } }
		return proxy.PROXY_SEND_RESULT
	end
	if packet:byte() ~= proxy.COM_QUIT then
		proxy.queries:append(1, packet, { resultset_is_needed = true })
		if #packet % 2 == 0 then proxy.queries:append(2, "\3SELECT 1", { resultset_is_needed = #packet % 4 == 0 }) end
		return proxy.PROXY_SEND_QUERY
	end
end

function read_query_result(inj)
	local resultset, seen = inj.resultset, 0
	for _, name in ipairs { "query_status", "affected_rows", "insert_id", "warning_count", "row_count", "bytes", "flags", "raw" } do
		pcall(function () seen = seen + #tostring(resultset[name]) end)
	end
	pcall(function () for i = 1, #resultset.fields do seen = seen + #resultset.fields[i].name end end)
	pcall(function () for row in resultset.rows do seen = seen + #(row[1] or "") end end)
	if inj.id == 2 then return proxy.PROXY_IGNORE_RESULT end
	if seen % 5 == 0 then proxy.connection.backend_ndx = 0 end
end
"#;

thread_local! {
    /// Without a script, and with one.
    static HARNESSES: RefCell<[Option<Harness>; 2]> = const { RefCell::new([None, None]) };
}

/// A piece has its sender, its length in two bytes, and the bytes.
const HEADER_BYTES: usize = 3;

/// The first byte chooses the script; pieces follow.
pub fn run(input: &[u8]) {
    let Some((choice, rest)) = input.split_first() else { return };
    let number = usize::from(choice % 2);
    HARNESSES.with_borrow_mut(|harnesses| {
        harnesses[number].get_or_insert_with(|| harness(number == 1)).run(&pieces(rest));
    });
}

/// # Panics
/// If the folder for temporary files cannot be written to: then there is nothing to fuzz.
fn harness(has_script: bool) -> Harness {
    let directory = std::env::temp_dir().join(format!("iruka-fuzz-{}", std::process::id()));
    let script = directory.join("script.lua");
    let made = std::fs::create_dir_all(&directory).and_then(|()| std::fs::write(&script, SCRIPT));
    made.and_then(|()| Harness::new(&directory, has_script.then_some(script)).map_err(std::io::Error::other))
        .unwrap_or_else(|error| panic!("{}: {error}", directory.display()))
}

fn pieces(mut input: &[u8]) -> Vec<(Sender, &[u8])> {
    let mut pieces = Vec::new();
    while let Some((header, rest)) = input.split_first_chunk::<HEADER_BYTES>() {
        let sender = if header[0] % 2 == 0 { Sender::Client } else { Sender::Server };
        let length = usize::from(u16::from_le_bytes([header[1], header[2]])).min(rest.len());
        let (piece, behind) = rest.split_at(length);
        pieces.push((sender, piece));
        input = behind;
    }
    pieces
}

/// Sessions as they should be: a login, then commands with their answers.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for script in [0, 1] {
        for capabilities in [client::OFFERED, client::OFFERED & !client::DEPRECATE_EOF] {
            for answer in answers(capabilities & client::DEPRECATE_EOF != 0) {
                let mut seed = vec![script];
                push(&mut seed, 1, &greeting(capabilities));
                push(&mut seed, 0, &login(capabilities));
                push(&mut seed, 1, &frames(2, &[b"\x01\x03", b"\0\0\0\x02\0\0\0"]));
                for (command, packets) in answer {
                    push(&mut seed, 0, &frames(0, &[command]));
                    push(&mut seed, 1, &frames(1, &packets));
                }
                seeds.push(seed);
            }
        }
    }
    seeds
}

fn push(seed: &mut Vec<u8>, sender: u8, bytes: &[u8]) {
    seed.push(sender);
    seed.extend_from_slice(&(bytes.len() as u16).to_le_bytes());
    seed.extend_from_slice(bytes);
}

fn frames(sequence: u8, payloads: &[&[u8]]) -> Vec<u8> {
    let mut output = Output::new();
    output.set_sequence(sequence);
    for payload in payloads {
        output.packet(payload);
    }
    output.bytes().to_vec()
}

fn greeting(capabilities: u32) -> Vec<u8> {
    let greeting = Greeting {
        version: "9.7.0",
        connection_id: 7,
        scramble: b"abcdefghijklmnopqrst",
        capabilities,
        collation: 255,
        status: 2,
        plugin: caching_sha2::NAME,
    };
    let mut payload = Vec::new();
    greeting.encode(&mut payload);
    frames(0, &[&payload])
}

fn login(capabilities: u32) -> Vec<u8> {
    let capabilities = capabilities & !(client::QUERY_ATTRIBUTES | client::OPTIONAL_RESULTSET_METADATA);
    let mut payload = capabilities.to_le_bytes().to_vec();
    payload.extend_from_slice(&[0, 0, 0, 1, 45]);
    payload.extend_from_slice(&[0; 23]);
    payload.extend_from_slice(b"root\0");
    push_length_encoded_bytes(&mut payload, &caching_sha2::response(b"pw", b"abcdefghijklmnopqrst"));
    payload.extend_from_slice(b"shop\0caching_sha2_password\0");
    push_length_encoded_bytes(&mut payload, b"\x03_os\x05Linux");
    payload.push(3);
    frames(1, &[&payload])
}

const COLUMN: &[u8] = b"\x03def\x04shop\x01t\x01t\x01a\x01a\x0c\x08\0\x0b\0\0\0\x03\0\0\0\0\0";

type Exchanges = Vec<(&'static [u8], Vec<&'static [u8]>)>;

fn answers(deprecate_eof: bool) -> Vec<Exchanges> {
    let eof: &[u8] = b"\xfe\0\0\x02\0";
    let end: &[u8] = if deprecate_eof { b"\xfe\0\0\x02\0\0\0" } else { eof };
    let ok: &[u8] = b"\0\x01\x05\x02\0\0\0";
    let definitions = |count: &'static [u8]| match deprecate_eof {
        true => vec![count, COLUMN],
        false => vec![count, COLUMN, eof],
    };
    let rows = [definitions(b"\x01"), vec![b"\x011", b"\xfb", end]].concat();
    let more: &[u8] = b"\0\0\0\x0a\0\0\0";
    vec![
        vec![(b"\x03SELECT a FROM t", rows.clone()), (b"\x03DELETE", vec![ok]), (b"\x01", vec![])],
        vec![(b"\x02shop", vec![ok]), (b"\x0e", vec![ok]), (b"\x03x", vec![b"\xff\x28\x04#42000no"])],
        vec![(b"\x03a; b", [vec![more], rows.clone()].concat()), (b"\x09", vec![b"Uptime: 1"])],
        vec![(b"\x16SELECT ?", [vec![&b"\0\x01\0\0\0\x01\0\x01\0\0\0\0"[..]], definitions(COLUMN)].concat())],
        vec![
            (b"\x17\x01\0\0\0\0\x01\0\0\0", rows),
            (b"\x19\x01\0\0\0", vec![]),
            (b"\x1c\x01\0\0\0\x01\0\0\0", vec![end]),
        ],
        vec![(b"\x03LOAD", vec![b"\xfbfile"]), (b"1,2", vec![]), (b"", vec![ok]), (b"\x1f", vec![ok])],
        vec![
            (b"\x11bob\0\0\0\xff\0", vec![b"\xfecaching_sha2_password\0abcdefghijklmnopqrst\0"]),
            (b"x", vec![ok]),
        ],
    ]
}
