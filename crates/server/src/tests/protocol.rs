//! Commands, big packets and results, broken packets, statements that run long or wait, KILL, group commit.

use super::TestServer;
use super::client::{TestClient, error_number};
use super::fake::FakeInstance;
use std::io::{Read, Write};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

fn server() -> TestServer {
    TestServer::start(FakeInstance::default())
}

/// Tests may look at the clock.
#[allow(clippy::disallowed_methods)]
fn now() -> Instant {
    Instant::now()
}

#[test]
fn simple_commands() {
    let server = server();
    let mut client = TestClient::root(server.port);
    client.command(0x0E, b"");
    assert_eq!(client.read(), [0, 0, 0, 2, 0, 0, 0]);
    client.command(0x09, b"");
    assert_eq!(client.read(), b"Uptime: 1");
    client.command(0x02, b"missing");
    assert_eq!(error_number(&client.read()), 1049);
    client.command(0x04, b"t\0");
    assert_eq!(client.read().last(), Some(&b'7'));
    assert_eq!(client.read()[0], 0xFE);
    client.command(0x1B, &[0, 0]);
    assert_eq!(client.read()[0], 0xFE);
    client.command(0x1F, b"");
    assert_eq!(client.read()[0], 0);
    client.command(0x7E, b"");
    assert_eq!(error_number(&client.read()), 1047);
    client.begin(b"");
    assert_eq!(error_number(&client.read()), 1047);
    client.command(0x17, b"\x01");
    assert_eq!(error_number(&client.read()), 1835);
    assert_eq!(error_number(&client.query("nonsense")[0]), 1064);
    client.command(0x01, b"");
    assert!(client.is_closed());
}

/// What the server says unasked before it closes.
fn last_error(client: &mut TestClient) -> u16 {
    let mut packet = Vec::new();
    client.stream.read_to_end(&mut packet).unwrap();
    error_number(&packet[4..])
}

/// As MySQL counts them: all sessions but those that were told to quit, and those whose packets are in no order.
#[test]
fn clients_that_leave_without_a_word_are_counted() {
    type Leave = fn(&TestServer, TestClient);
    let cases: [(Leave, u64, &str); 6] = [
        (|_, mut client| client.command(0x01, b""), 0, "quits"),
        (|_, client| drop(client), 1, "is gone"),
        (
            |_, mut client| {
                client.stream.write_all(b"\x20\0\0\0\x03sel").unwrap();
            },
            1,
            "is gone within a packet",
        ),
        (
            |server, client| {
                let mut other = TestClient::root(server.port);
                other.ok(&format!("KILL {}", client.connection_id));
                other.command(0x01, b"");
                assert!(other.is_closed());
            },
            1,
            "is killed",
        ),
        (
            |_, mut client| {
                client.stream.write_all(b"\x01\0\0\x05\x0e").unwrap();
                assert_eq!(last_error(&mut client), 1156);
            },
            0,
            "counts wrong",
        ),
        (
            |_, mut client| {
                client.command(0x11, b"nobody\0\0\0\x2d\0caching_sha2_password\0");
                assert_eq!(error_number(&client.read()), 1045);
            },
            1,
            "may not become another user",
        ),
    ];
    let (server, mut expected) = (server(), 0);
    for (leave, counted, what) in cases {
        leave(&server, TestClient::root(server.port));
        server.until_only(0);
        expected += counted;
        assert_eq!(server.instance.aborted.load(Ordering::Relaxed), expected, "a client {what}");
    }
    assert_eq!(*server.instance.refused.lock().unwrap(), [], "none of them was a login");
    // A login is none yet.
    drop(TestClient::greet(server.port));
    server.until_only(0);
    assert_eq!(server.instance.aborted.load(Ordering::Relaxed), expected);
}

/// wait_timeout.
#[test]
fn clients_that_are_silent_for_too_long_are_counted() {
    let mut instance = FakeInstance::default();
    instance.idle_timeout = Duration::from_millis(50);
    let server = TestServer::start(instance);
    let mut client = TestClient::root(server.port);
    assert_eq!(last_error(&mut client), 4031);
    server.until_only(0);
    assert_eq!(server.instance.aborted.load(Ordering::Relaxed), 1);
}

#[test]
fn prepared_statements() {
    let server = server();
    let mut client = TestClient::root(server.port);
    client.command(0x16, b"anything");
    assert_eq!(client.read()[..9], [0, 1, 0, 0, 0, 2, 0, 2, 0]);
    (0..6).for_each(|_| drop(client.read()));
    client.command(0x18, b"\x01\0\0\0\x01\0long ");
    client.command(0x18, b"\x01\0\0\0\x01\0data");
    client.command(0x17, b"\x01\0\0\0\0\x01\0\0\0\x00\x01\x08\0\xfc\0\x2a\0\0\0\0\0\0\0");
    let packets = client.read_result();
    assert_eq!(packets[4], b"\0\0\x2a\0\0\0\0\0\0\0\x09long data");
    // Types are remembered.
    client.command(0x17, b"\x01\0\0\0\0\x01\0\0\0\x02\x00\x2b\0\0\0\0\0\0\0");
    assert_eq!(client.read_result()[4], b"\0\x08\x2b\0\0\0\0\0\0\0");
    client.command(0x17, b"\x02\0\0\0\0\x01\0\0\0");
    assert_eq!(error_number(&client.read()), 1243);
    client.command(0x1A, b"\x01\0\0\0");
    assert_eq!(client.read()[0], 0);
}

#[test]
fn cursors() {
    let server = server();
    let mut client = TestClient::root(server.port);
    client.command(0x17, b"\x01\0\0\0\x01\x01\0\0\0\x02\x01\x08\0\xfc\0\x03\0\0\0\0\0\0\0");
    (0..3).for_each(|_| drop(client.read()));
    assert_eq!(client.read(), [0xFE, 0, 0, 2 | 64, 0]);
    client.command(0x1C, b"\x01\0\0\0\x02\0\0\0");
    assert_eq!((client.read()[2], client.read()[2], client.read()), (3, 2, vec![0xFE, 0, 0, 2 | 64, 0]));
    client.command(0x1C, b"\x01\0\0\0\x02\0\0\0");
    assert_eq!((client.read()[2], client.read()), (1, vec![0xFE, 0, 0, 2 | 128, 0]));
}

#[test]
fn packets_of_more_than_16_mebibytes() {
    let server = server();
    let mut client = TestClient::root(server.port);
    for length in [(1 << 24) - 1 - 8, 20 << 20, 2 * ((1 << 24) - 1) - 8] {
        assert_eq!(client.value(&format!("LENGTH {}", "a".repeat(length))), length.to_string());
    }
    assert_eq!(client.value("BIG 17000000").len(), 17_000_000);
}

#[test]
fn a_packet_too_large_is_answered_and_ends_the_connection() {
    let server = server();
    let mut client = TestClient::root(server.port);
    let frame = [&[0xFF, 0xFF, 0xFF, 0][..], &vec![b'a'; 0xFF_FFFF]].concat();
    let mut sent = Ok(());
    for sequence in 0..5u8 {
        let mut frame = frame.clone();
        frame[3] = sequence;
        sent = sent.and_then(|()| client.stream.write_all(&frame));
    }
    let mut header = [0; 4];
    std::io::Read::read_exact(&mut client.stream, &mut header).unwrap();
    let mut packet = vec![0; usize::from(header[0])];
    std::io::Read::read_exact(&mut client.stream, &mut packet).unwrap();
    assert_eq!(error_number(&packet), 1153);
    assert_eq!(header[3], 5, "it answers the frame that went too far, as in MySQL");
    assert!(client.is_closed());
}

#[test]
fn packets_out_of_order_end_the_connection() {
    let server = server();
    let mut client = TestClient::root(server.port);
    client.stream.write_all(&[1, 0, 0, 9, 0x0E]).unwrap();
    let mut packet = Vec::new();
    std::io::Read::read_to_end(&mut client.stream, &mut packet).unwrap();
    assert_eq!(error_number(&packet[4..]), 1156);
    // The socket lingers, as the client holds its side open; the session, with what it has locked, does not.
    let started = now();
    while server.instance.session_count() > 0 {
        assert!(started.elapsed() < Duration::from_secs(2), "its session lingers with the socket");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

#[test]
fn commands_byte_by_byte_and_many_at_once() {
    let server = server();
    let mut client = TestClient::root(server.port);
    for byte in [9u8, 0, 0, 0, 3, b'L', b'E', b'N', b'G', b'T', b'H', b' ', b'x'] {
        client.stream.write_all(&[byte]).unwrap();
        std::thread::park_timeout(Duration::from_millis(1));
    }
    let mut answer = [0; 5];
    std::io::Read::read_exact(&mut client.stream, &mut answer).unwrap();
    assert_eq!(answer, [1, 0, 0, 1, 1]);
    let mut client = TestClient::root(server.port);
    let count = 500;
    client.stream.write_all(&[1, 0, 0, 0, 0x0E].repeat(count)).unwrap();
    let mut answers = vec![0; 11 * count];
    std::io::Read::read_exact(&mut client.stream, &mut answers).unwrap();
    assert!(answers.chunks(11).all(|answer| answer == [7, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]));
}

#[test]
fn big_results_reach_slow_clients() {
    let server = server();
    let mut client = TestClient::root(server.port);
    client.command(3, b"ROWS 300000");
    std::thread::park_timeout(Duration::from_millis(300));
    let packets = client.read_result();
    assert_eq!(packets.len(), 300_000 + 5);
    // A client that goes away in the middle ends its statement, and the server goes on.
    client.command(3, b"ROWS 1000000");
    drop(client);
    assert_eq!(TestClient::root(server.port).value("USER"), "root@localhost");
}

#[test]
fn local_files() {
    let server = server();
    let mut client = TestClient::root(server.port);
    client.command(3, b"LOAD name.csv");
    assert_eq!(client.read(), b"\xFBname.csv");
    client.write(&[b'a'; 1000]);
    client.write(&vec![b'b'; 17 << 20]);
    client.write(b"");
    let ok = client.read();
    let bytes = (1000 + (17 << 20)) as u32;
    assert_eq!(ok[..6], [&[0, 0xFE][..], &bytes.to_le_bytes()[..]].concat());
    assert_eq!(client.value("USER"), "root@localhost");
}

#[test]
fn long_and_waiting_statements_do_not_stall_others() {
    let server = server();
    for verb in ["SLEEP", "WAIT"] {
        let mut slow: Vec<TestClient> = (0..12).map(|_| TestClient::root(server.port)).collect();
        let mut fast: Vec<TestClient> = (0..4).map(|_| TestClient::root(server.port)).collect();
        let started = now();
        slow.iter_mut().for_each(|client| client.command(3, format!("{verb} 700").as_bytes()));
        std::thread::park_timeout(Duration::from_millis(30));
        for at in 0..40 {
            let client = &mut fast[at % 4];
            let asked = now();
            assert_eq!(client.value("LENGTH ab"), "2");
            assert!(asked.elapsed() < Duration::from_millis(300), "{verb}: {:?}", asked.elapsed());
        }
        slow.iter_mut().for_each(|client| assert_eq!(client.read()[0], 0));
        assert!(started.elapsed() < Duration::from_millis(3000), "{verb}: {:?}", started.elapsed());
        // They answer as before afterwards.
        slow.iter_mut().for_each(|client| assert_eq!(client.value("LENGTH abc"), "3"));
    }
}

#[test]
fn kill_ends_idle_connections_at_once_and_busy_ones_after_their_answer() {
    let server = server();
    let (mut idle, mut busy, mut killer) =
        (TestClient::root(server.port), TestClient::root(server.port), TestClient::root(server.port));
    killer.ok(&format!("KILL {}", idle.connection_id));
    assert!(idle.is_closed());
    busy.command(3, b"WAIT 200");
    std::thread::park_timeout(Duration::from_millis(50));
    killer.ok(&format!("KILL {}", busy.connection_id));
    assert_eq!(busy.read()[0], 0);
    assert!(busy.is_closed());
    assert_eq!(error_number(&killer.query(&format!("KILL {}", idle.connection_id))[0]), 1094);
}

#[test]
fn kill_ends_commands_that_wait_for_their_clients() {
    let mut instance = FakeInstance::default();
    instance.read_timeout = Duration::from_secs(600);
    let server = TestServer::start(instance);
    let mut killer = TestClient::root(server.port);
    // One does not read its answer, one owes the rest of a file.
    let mut deaf = TestClient::root(server.port);
    deaf.command(3, b"ROWS 10000000");
    let mut silent = TestClient::root(server.port);
    silent.command(3, b"LOAD name.csv");
    assert_eq!(silent.read()[0], 0xFB);
    silent.write(b"a");
    std::thread::park_timeout(Duration::from_millis(300));
    let started = now();
    [&deaf, &silent].iter().for_each(|client| killer.ok(&format!("KILL {}", client.connection_id)));
    while server.instance.session_count() > 1 {
        assert!(started.elapsed() < Duration::from_secs(20), "they still wait");
        std::thread::park_timeout(Duration::from_millis(5));
    }
    // One sends its file without end.
    let mut sender = TestClient::root(server.port);
    sender.command(3, b"LOAD name.csv");
    assert_eq!(sender.read()[0], 0xFB);
    let started = now();
    for sequence in 2.. {
        if sequence == 1_000 {
            killer.ok(&format!("KILL {}", sender.connection_id));
        }
        if sender.stream.write_all(&[1, 0, 0, sequence as u8, b'x']).is_err() {
            break;
        }
        assert!(started.elapsed() < Duration::from_secs(20), "it still reads");
    }
}

#[test]
fn commits_of_one_round_share_a_flush() {
    let server = server();
    let mut clients: Vec<TestClient> = (0..16).map(|_| TestClient::root(server.port)).collect();
    for _ in 0..50 {
        clients.iter_mut().for_each(|client| client.command(3, b"WRITE"));
        clients.iter_mut().for_each(|client| assert_eq!(client.read()[0], 0));
    }
    let flushes = server.instance.flushes.load(Ordering::Relaxed);
    assert!(flushes > 0 && flushes <= 800, "{flushes}");
}

#[test]
fn a_reactor_serves_others_while_it_waits_for_another_flush() {
    let server = server();
    let mut clients: Vec<TestClient> = (0..6).map(|_| TestClient::root(server.port)).collect();
    *server.instance.others_flushes.lock().unwrap() = 3;
    let (writer, readers) = clients.split_first_mut().unwrap();
    for _ in 0..4 {
        writer.command(3, b"WRITE");
        readers.iter_mut().for_each(|reader| assert_eq!(reader.value("LENGTH x"), "1"));
        assert_eq!(writer.read()[0], 0);
    }
    assert_eq!(*server.instance.others_flushes.lock().unwrap(), 0);
    assert_eq!(server.instance.flushes.load(Ordering::Relaxed), 4);
}

#[test]
fn a_panic_in_a_statement_ends_only_its_connection() {
    let server = server();
    let mut other = TestClient::root(server.port);
    let mut client = TestClient::root(server.port);
    assert_eq!(error_number(&client.query("PANIC")[0]), 1815);
    assert!(client.is_closed());
    assert_eq!(other.value("LENGTH x"), "1");
}

#[test]
fn a_packet_that_was_begun_has_net_read_timeout_to_end() {
    let mut instance = FakeInstance::default();
    instance.read_timeout = Duration::from_millis(300);
    let server = TestServer::start(instance);
    let (mut silent, mut idle) = (TestClient::root(server.port), TestClient::root(server.port));
    let started = now();
    silent.stream.write_all(b"\x20\0\0\0\x03LENGTH a").unwrap();
    let mut packet = Vec::new();
    std::io::Read::read_to_end(&mut silent.stream, &mut packet).unwrap();
    assert_eq!(error_number(&packet[4..]), 1159);
    assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
    // Between two packets the other limit counts.
    assert_eq!(idle.value("LENGTH abc"), "3");
}
