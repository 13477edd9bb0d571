//! Whole logins against the exchange, with the client's side played by the plugins' own answers.

use super::*;

const SCRAMBLE: [u8; SCRAMBLE_BYTES] = [b's'; SCRAMBLE_BYTES];

/// Stands for RSA: "encryption" reverses the bytes.
struct ReversingKey;

impl PasswordKey for ReversingKey {
    fn public_key_pem(&self) -> &[u8] {
        b"PEM"
    }

    fn decrypt(&self, ciphertext: &[u8]) -> Option<Vec<u8>> {
        Some(ciphertext.iter().rev().copied().collect())
    }
}

fn sha2_login(password: &[u8]) -> Exchange {
    let stored = vec![caching_sha2::hash(password, [7; 20], 5_000)];
    Exchange::new(Credentials { plugin: Plugin::CachingSha2, stored }, SCRAMBLE)
}

fn channel(cache: &PasswordCache, is_protected: bool) -> Channel<'_> {
    Channel { is_protected, key: Some(&ReversingKey), cache }
}

const ASK_PASSWORD: [u8; 2] = [MORE_DATA, FULL_AUTHENTICATION];

#[test]
fn first_login_over_a_protected_channel_then_by_scramble() {
    let cache = PasswordCache::default();
    let channel = channel(&cache, true);
    let answer = caching_sha2::response(b"pw", &SCRAMBLE);
    let mut login = sha2_login(b"pw");
    let name = Some(caching_sha2::NAME.as_bytes());
    assert_eq!(login.start(name, &answer, &channel), Next::Ask(ASK_PASSWORD.to_vec()));
    assert!(login.next_is_slow());
    assert_eq!(login.receive(b"pw\0", &channel), Next::Accepted { before_ok: None });
    let accepted = Next::Accepted { before_ok: Some(vec![MORE_DATA, FAST_SUCCESS]) };
    assert_eq!(sha2_login(b"pw").start(name, &answer, &channel), accepted);
}

#[test]
fn wrong_password_is_denied_on_every_path() {
    let cache = PasswordCache::default();
    let name = Some(caching_sha2::NAME.as_bytes());
    let wrong = caching_sha2::response(b"wrong", &SCRAMBLE);
    for is_protected in [true, false] {
        let mut login = sha2_login(b"pw");
        let channel = channel(&cache, is_protected);
        assert_eq!(login.start(name, &wrong, &channel), Next::Ask(ASK_PASSWORD.to_vec()));
        assert_eq!(login.receive(b"wrong\0", &channel), Next::Denied);
    }
    cache.insert(&caching_sha2::hash(b"pw", [7; 20], 5_000), caching_sha2::fast_digest(b"pw"));
    let next = sha2_login(b"pw").start(name, &wrong, &channel(&cache, true));
    assert_eq!(next, Next::Ask(ASK_PASSWORD.to_vec()));
    assert_eq!(sha2_login(b"pw").start(name, b"", &channel(&cache, true)), Next::Denied);
}

#[test]
fn password_encrypted_with_the_servers_key() {
    let cache = PasswordCache::default();
    let channel = channel(&cache, false);
    let mut login = sha2_login(b"pw");
    let answer = caching_sha2::response(b"pw", &SCRAMBLE);
    login.start(Some(caching_sha2::NAME.as_bytes()), &answer, &channel);
    assert_eq!(login.receive(&[PUBLIC_KEY_REQUEST], &channel), Next::Ask(b"\x01PEM".to_vec()));
    let mut sent: Vec<u8> = b"pw\0".iter().zip(SCRAMBLE).map(|(byte, mask)| byte ^ mask).collect();
    sent.reverse();
    assert_eq!(login.receive(&sent, &channel), Next::Accepted { before_ok: None });
}

#[test]
fn plugin_switch() {
    let cache = PasswordCache::default();
    let stored = vec![native::hash(b"pw").into_bytes()];
    let credentials = Credentials { plugin: Plugin::Native, stored };
    let mut login = Exchange::new(credentials.clone(), SCRAMBLE);
    let channel = channel(&cache, false);
    let Next::Ask(switch) = login.start(Some(b"caching_sha2_password"), b"x", &channel) else { panic!() };
    assert!(switch.starts_with(b"\xFEmysql_native_password\0ssss") && switch.ends_with(b"s\0"));
    let answer = native::response(b"pw", &SCRAMBLE);
    assert_eq!(login.receive(&answer, &channel), Next::Accepted { before_ok: None });
    let mut old_client = Exchange::new(credentials, SCRAMBLE);
    assert_eq!(old_client.start(None, &answer, &channel), Next::Accepted { before_ok: None });
    assert_eq!(sha2_login(b"pw").start(None, &answer, &channel), Next::ClientTooOld);
}

#[test]
fn unknown_user_is_asked_like_any_other() {
    let cache = PasswordCache::default();
    let channel = channel(&cache, true);
    let credentials = Credentials { plugin: Plugin::CachingSha2, stored: Vec::new() };
    let mut login = Exchange::new(credentials, SCRAMBLE);
    let answer = caching_sha2::response(b"pw", &SCRAMBLE);
    let next = login.start(Some(caching_sha2::NAME.as_bytes()), &answer, &channel);
    assert_eq!(next, Next::Ask(ASK_PASSWORD.to_vec()));
    assert_eq!(login.receive(b"pw\0", &channel), Next::Denied);
    assert_eq!(login.receive(b"", &channel), Next::Denied);
}
