//! Logins: passwords, plugins, refusals, time-outs, change of user.

use super::TestServer;
use super::client::{CAPABILITIES, TestClient, error_number};
use super::fake::FakeInstance;
use session::{LockTime, PasswordLocking, RefusedConnection};
use std::io::Write;
use std::time::Duration;
use wire::auth::{caching_sha2, native};
use wire::capabilities::client;

#[test]
fn wrong_user_or_password() {
    let server = TestServer::start(FakeInstance::default());
    for (user, password) in [("nobody", "pw"), ("nobody", ""), ("old", "wrong"), ("root", "pw")] {
        let mut client = TestClient::greet(server.port);
        let answer = client.native_answer(password);
        client.log_in(user, native::NAME, &answer, CAPABILITIES);
        let mut packet = client.read();
        if packet[0] == 0xFE {
            let answer = client.sha2_answer(password);
            client.write(&answer);
            packet = client.read();
        }
        if packet == [1, 4] {
            // No password over a channel that is not protected: the server must not even look at it.
            client.write(b"pw\0");
            packet = client.read();
        }
        assert_eq!(error_number(&packet), 1045, "{user}");
        assert!(client.is_closed());
    }
    let refused = server.instance.refused.lock().unwrap().clone();
    assert_eq!(refused, [RefusedConnection::AccessDenied; 4]);
}

#[test]
fn native_password_of_clients_with_and_without_plugins() {
    let server = TestServer::start(FakeInstance::default());
    let mut with_plugins = TestClient::greet(server.port);
    let answer = with_plugins.native_answer("pw");
    with_plugins.log_in("old", native::NAME, &answer, CAPABILITIES);
    assert_eq!(with_plugins.read()[0], 0);
    assert_eq!(with_plugins.value("USER"), "old@localhost");
    let mut without = TestClient::greet(server.port);
    let answer = without.native_answer("pw");
    without.log_in("old", "", &answer, CAPABILITIES & !client::PLUGIN_AUTH);
    assert_eq!(without.read()[0], 0);
    let mut sha2_without = TestClient::greet(server.port);
    sha2_without.log_in("sha", "", b"x", CAPABILITIES & !client::PLUGIN_AUTH);
    assert_eq!(error_number(&sha2_without.read()), 1251);
}

#[test]
fn change_of_user() {
    let server = TestServer::start(FakeInstance::default());
    let mut client = TestClient::root(server.port);
    let answer = client.native_answer("pw");
    let mut rest = b"old\0".to_vec();
    rest.push(answer.len() as u8);
    rest.extend_from_slice(&answer);
    rest.extend_from_slice(b"\0\xff\0mysql_native_password\0");
    client.command(0x11, &rest);
    assert_eq!(client.read()[0], 0);
    assert_eq!(client.value("USER"), "old@localhost");
    client.command(0x11, b"old\0\x00\0\xff\0mysql_native_password\0");
    assert_eq!(error_number(&client.read()), 1045);
    assert!(client.is_closed());
}

/// The first answer of the server to a login of `sha`.
fn first_answer(client: &mut TestClient, plugin: &str, answer: &[u8]) -> Vec<u8> {
    client.log_in("sha", plugin, answer, CAPABILITIES);
    client.read()
}

#[test]
fn failed_logins_lock_the_account() {
    // How a login fails; the packet that says so, or the one behind which the client leaves.
    type Failure = fn(u16);
    let failures: [Failure; 4] = [
        |port| {
            let mut client = TestClient::greet(port);
            assert_eq!(error_number(&first_answer(&mut client, caching_sha2::NAME, b"")), 1045);
        },
        |port| {
            let mut client = TestClient::greet(port);
            let answer = client.sha2_answer("wrong");
            assert_eq!(first_answer(&mut client, caching_sha2::NAME, &answer), [1, 4]);
        },
        |port| {
            let mut client = TestClient::greet(port);
            assert_eq!(first_answer(&mut client, native::NAME, &[7; 20])[0], 0xFE);
        },
        |port| {
            let mut client = TestClient::root(port);
            client.command(0x11, b"sha\0\x00\0\xff\0caching_sha2_password\0");
            assert_eq!(error_number(&client.read()), 1045);
        },
    ];
    for failure in failures {
        let mut instance = FakeInstance::default();
        instance.locking = Some(PasswordLocking::new(2, LockTime::Days(3)));
        let server = TestServer::start(instance);
        failure(server.port);
        server.until_only(0);
        let mut client = TestClient::greet(server.port);
        let packet = first_answer(&mut client, caching_sha2::NAME, b"");
        let text = "Access denied for user 'sha'@'localhost'. Account is blocked for 3 day(s) (3 day(s) remaining) \
                    due to 2 consecutive failed logins.";
        assert_eq!((error_number(&packet), &packet[9..]), (3955, text.as_bytes()));
        assert!(client.is_closed());
    }
}

#[test]
fn connections_beyond_the_limit() {
    let instance = FakeInstance::default();
    // One more is accepted; the session asks whether it is an administrator's.
    instance.settings.lock().unwrap().connections_max = 1;
    let server = TestServer::start(instance);
    let _first = TestClient::root(server.port);
    let second = TestClient::root(server.port);
    let mut third = std::net::TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    let mut packet = Vec::new();
    std::io::Read::read_to_end(&mut third, &mut packet).unwrap();
    assert_eq!(error_number(&packet[4..]), 1040);
    drop(second);
    // The place is free again as soon as the server saw the end.
    for _ in 0..100 {
        std::thread::park_timeout(Duration::from_millis(20));
        let mut again = std::net::TcpStream::connect(("127.0.0.1", server.port)).unwrap();
        let mut first = [0; 5];
        std::io::Read::read_exact(&mut again, &mut first).unwrap();
        if first[4] == 10 {
            return;
        }
    }
    panic!("the place was not freed");
}

#[test]
fn half_open_connections_are_closed() {
    let instance = FakeInstance::default();
    instance.settings.lock().unwrap().connect_timeout = Duration::from_millis(200);
    let server = TestServer::start(instance);
    let mut silent = TestClient::greet(server.port);
    silent.stream.write_all(&[50, 0]).unwrap();
    assert_eq!(error_number(&silent.read()), 1159);
    assert!(silent.is_closed());
    assert_eq!(*server.instance.refused.lock().unwrap(), [RefusedConnection::Protocol]);
}

#[test]
fn a_tls_handshake_may_take_longer() {
    let instance = FakeInstance::default();
    instance.settings.lock().unwrap().connect_timeout = Duration::from_millis(50);
    let server = TestServer::start(instance);
    let mut slow = TestClient::greet(server.port);
    let clock = env::Environment::real(&std::env::temp_dir()).clock;
    let started = clock.monotonic();
    let mut request = (CAPABILITIES | client::SSL).to_le_bytes().to_vec();
    request.extend_from_slice(&[0; 28]);
    slow.write(&request);
    assert!(slow.is_closed());
    let waited = clock.monotonic() - started;
    assert!(waited >= Duration::from_millis(29 * 50), "{waited:?}");
}

#[test]
fn idle_sessions_are_closed_with_a_message() {
    let mut instance = FakeInstance::default();
    instance.idle_timeout = Duration::from_millis(300);
    let server = TestServer::start(instance);
    let mut client = TestClient::root(server.port);
    client.command(0x0E, b"");
    assert_eq!(client.read()[0], 0);
    let mut header = [0; 4];
    std::io::Read::read_exact(&mut client.stream, &mut header).unwrap();
    let mut packet = vec![0; usize::from(header[0])];
    std::io::Read::read_exact(&mut client.stream, &mut packet).unwrap();
    assert_eq!((header[3], error_number(&packet)), (0, 4031));
    assert!(client.is_closed());
}

#[test]
fn accounts_and_servers_that_require_tls() {
    let instance = FakeInstance::default();
    let server = TestServer::start(instance);
    let mut plain = TestClient::greet(server.port);
    plain.log_in("tls", caching_sha2::NAME, b"", CAPABILITIES);
    assert_eq!(error_number(&plain.read()), 1045);
    server.instance.settings.lock().unwrap().require_secure_transport = true;
    let mut plain = TestClient::greet(server.port);
    plain.log_in("root", caching_sha2::NAME, b"", CAPABILITIES);
    assert_eq!(error_number(&plain.read()), 3159);
}

#[test]
fn schema_that_does_not_exist() {
    let server = TestServer::start(FakeInstance::default());
    let mut client = TestClient::greet(server.port);
    let mut packet = (CAPABILITIES | client::CONNECT_WITH_DB).to_le_bytes().to_vec();
    packet.extend_from_slice(&[0; 28]);
    packet.extend_from_slice(b"root\0\0missing\0caching_sha2_password\0");
    client.write(&packet);
    assert_eq!(error_number(&client.read()), 1049);
    assert!(client.is_closed());
}
