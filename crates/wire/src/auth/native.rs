//! mysql_native_password: stored as `*` and 40 hexadecimal digits of SHA1(SHA1(password)).
//! MySQL 9 dropped it; kept for older clients and for accounts of MariaDB and MySQL 5.

use super::{SCRAMBLE_BYTES, exclusive_or};
use sha1::{Digest, Sha1};
use subtle::ConstantTimeEq;

/// MySQL's name.
pub const NAME: &str = "mysql_native_password";
/// Bytes of a SHA-1 digest, and of a client's answer.
const DIGEST_BYTES: usize = 20;

/// The stored form of a password; empty for the empty password.
pub fn hash(password: &[u8]) -> String {
    if password.is_empty() {
        return String::new();
    }
    let digest: [u8; DIGEST_BYTES] = Sha1::digest(Sha1::digest(password)).into();
    let mut stored = String::with_capacity(1 + 2 * DIGEST_BYTES);
    stored.push('*');
    for byte in digest {
        for digit in [byte >> 4, byte & 0x0F] {
            stored.push(char::from(b"0123456789ABCDEF"[usize::from(digit)]));
        }
    }
    stored
}

/// Whether `stored` has the form that [`hash`] makes (or is empty).
pub fn is_valid(stored: &[u8]) -> bool {
    stored.is_empty() || digest_of(stored).is_some()
}

/// Whether a client's answer to the scramble proves the password of `stored`.
pub fn verify(stored: &[u8], scramble: &[u8; SCRAMBLE_BYTES], response: &[u8]) -> bool {
    if stored.is_empty() {
        return response.is_empty();
    }
    let (Some(expected), Ok(response)) = (digest_of(stored), <[u8; DIGEST_BYTES]>::try_from(response)) else {
        return false;
    };
    let mask: [u8; DIGEST_BYTES] =
        Sha1::new().chain_update(scramble).chain_update(expected).finalize().into();
    let first = exclusive_or(response, &mask);
    let second: [u8; DIGEST_BYTES] = Sha1::digest(first).into();
    second.ct_eq(&expected).into()
}

fn digest_of(stored: &[u8]) -> Option<[u8; DIGEST_BYTES]> {
    let digits = stored.strip_prefix(b"*")?;
    let mut digest = [0; DIGEST_BYTES];
    if digits.len() != 2 * DIGEST_BYTES {
        return None;
    }
    for (byte, pair) in digest.iter_mut().zip(digits.chunks_exact(2)) {
        let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(digest)
}

/// What a client answers; for our own client side and tests.
pub fn response(password: &[u8], scramble: &[u8; SCRAMBLE_BYTES]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let first: [u8; DIGEST_BYTES] = Sha1::digest(password).into();
    let second: [u8; DIGEST_BYTES] = Sha1::digest(first).into();
    let mask: [u8; DIGEST_BYTES] = Sha1::new().chain_update(scramble).chain_update(second).finalize().into();
    exclusive_or(first, &mask).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_form_is_that_of_mysql() {
        assert_eq!(hash(b"secret"), "*14E65567ABDB5135D0CFD9A70B3032C179A49EE7");
        assert_eq!(hash(b""), "");
        assert!(is_valid(b"*14e65567abdb5135d0cfd9a70b3032c179a49ee7") && is_valid(b""));
        assert!(!is_valid(b"*14E6") && !is_valid(b"14E65567ABDB5135D0CFD9A70B3032C179A49EE7x"));
    }

    #[test]
    fn only_the_right_answer_passes() {
        let scramble = [b'k'; SCRAMBLE_BYTES];
        let stored = hash(b"secret");
        let answer = response(b"secret", &scramble);
        assert!(verify(stored.as_bytes(), &scramble, &answer));
        assert!(!verify(stored.as_bytes(), &[b'l'; SCRAMBLE_BYTES], &answer));
        assert!(!verify(stored.as_bytes(), &scramble, &response(b"Secret", &scramble)));
        assert!(!verify(stored.as_bytes(), &scramble, b""));
        assert!(!verify(stored.as_bytes(), &scramble, &answer[1..]));
        assert!(!verify(b"*broken", &scramble, &answer));
        assert!(verify(b"", &scramble, b""));
        assert!(!verify(b"", &scramble, &answer));
    }
}
