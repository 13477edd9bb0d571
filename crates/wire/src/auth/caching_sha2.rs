//! caching_sha2_password: stored as `$A$`, the rounds in thousands as three hexadecimal digits, `$`, a salt of
//! 20 bytes and 43 characters of digest. A login is proved either by a scramble against the cached
//! SHA256(SHA256(password)), or by the password itself over a protected channel.

use super::{SCRAMBLE_BYTES, exclusive_or, sha_crypt};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// MySQL's name.
pub const NAME: &str = "caching_sha2_password";
/// Random bytes that [`hash`] needs.
pub const SALT_BYTES: usize = SCRAMBLE_BYTES;
/// Rounds of a new password when caching_sha2_password_digest_rounds says nothing else.
pub const ROUNDS_DEFAULT: u32 = 10_000;
/// Least rounds: fewer cannot be stored by MySQL.
pub const ROUNDS_MIN: u32 = 5_000;
/// Most rounds: what three hexadecimal digits hold. Stored strings cannot ask for more work than this.
pub const ROUNDS_MAX: u32 = 0xFFF * ROUNDS_STEP;
/// Longest password; a longer one cannot log in.
pub const PASSWORD_BYTES_MAX: usize = 256;
/// Bytes of a client's answer to the scramble.
pub const RESPONSE_BYTES: usize = 32;

const ROUNDS_STEP: u32 = 1000;
/// `$A$005$`.
const PREFIX_BYTES: usize = 7;

/// SHA256(SHA256(password)): enough to check a scramble, so it lives in memory only.
pub type FastDigest = [u8; 32];

/// The stored form of a password; empty for the empty password. `random` becomes the salt.
pub fn hash(password: &[u8], random: [u8; SALT_BYTES], rounds: u32) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let thousands = rounds.clamp(ROUNDS_MIN, ROUNDS_MAX) / ROUNDS_STEP;
    let salt = super::scramble_from_random(random);
    let mut stored = format!("$A${thousands:03X}$").into_bytes();
    stored.extend_from_slice(&salt);
    stored.extend_from_slice(&sha_crypt::digest(password, &salt, thousands * ROUNDS_STEP));
    stored
}

/// Whether `stored` has the form that [`hash`] makes (or is empty).
pub fn is_valid(stored: &[u8]) -> bool {
    stored.is_empty() || parts(stored).is_some()
}

/// Whether `password` is the one of `stored`. Takes milliseconds: 1,000 rounds of SHA-256 and more.
pub fn verify_password(stored: &[u8], password: &[u8]) -> bool {
    if stored.is_empty() {
        return password.is_empty();
    }
    if password.is_empty() || password.len() > PASSWORD_BYTES_MAX {
        return false;
    }
    let Some(parts) = parts(stored) else { return false };
    sha_crypt::digest(password, parts.salt, parts.rounds)[..].ct_eq(parts.digest).into()
}

/// Whether a client's answer to the scramble proves the password whose double digest is `known`.
pub fn verify_scramble(known: &FastDigest, scramble: &[u8; SCRAMBLE_BYTES], response: &[u8]) -> bool {
    let Ok(response) = <[u8; RESPONSE_BYTES]>::try_from(response) else { return false };
    let mask: FastDigest = Sha256::new().chain_update(known).chain_update(scramble).finalize().into();
    let once = exclusive_or(response, &mask);
    let twice: FastDigest = Sha256::digest(once).into();
    twice.ct_eq(known).into()
}

/// What [`verify_scramble`] checks against.
pub fn fast_digest(password: &[u8]) -> FastDigest {
    Sha256::digest(Sha256::digest(password)).into()
}

/// What a client answers; for our own client side and tests.
pub fn response(password: &[u8], scramble: &[u8; SCRAMBLE_BYTES]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let once: FastDigest = Sha256::digest(password).into();
    let mask: FastDigest =
        Sha256::new().chain_update(fast_digest(password)).chain_update(scramble).finalize().into();
    exclusive_or(once, &mask).to_vec()
}

struct Parts<'a> {
    rounds: u32,
    salt: &'a [u8],
    digest: &'a [u8],
}

fn parts(stored: &[u8]) -> Option<Parts<'_>> {
    let (prefix, rest) = stored.split_at_checked(PREFIX_BYTES)?;
    let digits = prefix.strip_prefix(b"$A$")?.strip_suffix(b"$")?;
    let thousands = u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    let rounds = thousands * ROUNDS_STEP;
    let (salt, digest) = rest.split_at_checked(SALT_BYTES)?;
    let valid = (ROUNDS_MIN..=ROUNDS_MAX).contains(&rounds) && digest.len() == sha_crypt::ENCODED_BYTES;
    valid.then_some(Parts { rounds, salt, digest })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made by MySQL 9.7.4 for 'secret'.
    const STORED_BY_MYSQL: &str = "244124303041246B5728496D5007725B6E7835540258623B313B68435A51632F694151794941345\
                                   3785A34735069304538763471327446726A4B304E45565148475779307036";

    fn from_hex(text: &str) -> Vec<u8> {
        let digit = |byte: u8| char::from(byte).to_digit(16).unwrap() as u8;
        text.as_bytes().chunks_exact(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
    }

    #[test]
    fn verifies_what_mysql_stored() {
        let stored = from_hex(STORED_BY_MYSQL);
        assert!(is_valid(&stored));
        assert!(verify_password(&stored, b"secret"));
        assert!(!verify_password(&stored, b"secreT"));
        assert!(!verify_password(&stored, b""));
        assert!(!is_valid(&stored[..stored.len() - 1]));
    }

    #[test]
    fn own_hashes_verify() {
        let stored = hash(b"p\xc3\xa4ss", [b'$'; SALT_BYTES], 5_000);
        assert!(stored.starts_with(b"$A$005$") && is_valid(&stored));
        assert!(verify_password(&stored, b"p\xc3\xa4ss"));
        assert!(!verify_password(&stored, b"pass"));
        assert!(hash(b"", [1; SALT_BYTES], 5_000).is_empty());
        assert!(verify_password(b"", b"") && !verify_password(b"", b"x"));
    }

    #[test]
    fn stored_rounds_are_bounded() {
        let mut stored = hash(b"x", [1; SALT_BYTES], 5_000);
        stored[3..6].copy_from_slice(b"001");
        assert!(!is_valid(&stored));
        stored[3..6].copy_from_slice(b"+05");
        assert!(is_valid(&stored) == (u32::from_str_radix("+05", 16) == Ok(5)));
    }

    #[test]
    fn scrambles() {
        let scramble = [b'k'; SCRAMBLE_BYTES];
        let answer = response(b"secret", &scramble);
        assert!(verify_scramble(&fast_digest(b"secret"), &scramble, &answer));
        assert!(!verify_scramble(&fast_digest(b"other"), &scramble, &answer));
        assert!(!verify_scramble(&fast_digest(b"secret"), &[b'l'; SCRAMBLE_BYTES], &answer));
        assert!(!verify_scramble(&fast_digest(b"secret"), &scramble, &answer[..31]));
    }
}
