//! The SHA-256 variant of crypt(3), as caching_sha2_password stores it: a salt of up to 20 bytes where
//! crypt(3) takes 16, and only the 43 characters of the digest.

use sha2::{Digest, Sha256};

/// Characters of the encoded digest.
pub(crate) const ENCODED_BYTES: usize = 43;
const DIGEST_BYTES: usize = 32;
const ALPHABET: &[u8; 64] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The encoded digest of a password after that many rounds.
pub(crate) fn digest(password: &[u8], salt: &[u8], rounds: u32) -> [u8; ENCODED_BYTES] {
    let alternate: [u8; DIGEST_BYTES] =
        Sha256::new().chain_update(password).chain_update(salt).chain_update(password).finalize().into();
    let mut state = first_state(password, salt, &alternate);
    let password_sequence = repeated(&repeated_digest(password, password.len()), password.len());
    let salt_sequence = repeated(&repeated_digest(salt, 16 + usize::from(state[0])), salt.len());
    for round in 0..rounds {
        let mut hasher = Sha256::new();
        let odd = round % 2 == 1;
        if odd {
            hasher.update(&password_sequence);
        } else {
            hasher.update(state);
        }
        if round % 3 != 0 {
            hasher.update(&salt_sequence);
        }
        if round % 7 != 0 {
            hasher.update(&password_sequence);
        }
        if odd {
            hasher.update(state);
        } else {
            hasher.update(&password_sequence);
        }
        state = hasher.finalize().into();
    }
    encode(&state)
}

/// The digest that the rounds start from; the bits of the password's length pick what goes in.
fn first_state(password: &[u8], salt: &[u8], alternate: &[u8; DIGEST_BYTES]) -> [u8; DIGEST_BYTES] {
    let mut hasher = Sha256::new().chain_update(password).chain_update(salt);
    hasher.update(repeated(alternate, password.len()));
    let mut bits = password.len();
    while bits > 0 {
        if bits & 1 == 1 {
            hasher.update(alternate);
        } else {
            hasher.update(password);
        }
        bits >>= 1;
    }
    hasher.finalize().into()
}

/// The digest of `bytes` written `count` times.
fn repeated_digest(bytes: &[u8], count: usize) -> [u8; DIGEST_BYTES] {
    let mut hasher = Sha256::new();
    for _ in 0..count {
        hasher.update(bytes);
    }
    hasher.finalize().into()
}

/// `length` bytes of `digest` over and over.
fn repeated(digest: &[u8; DIGEST_BYTES], length: usize) -> Vec<u8> {
    digest.iter().copied().cycle().take(length).collect()
}

/// Three digest bytes give four characters, lowest six bits first, in crypt(3)'s own byte order.
fn encode(digest: &[u8; DIGEST_BYTES]) -> [u8; ENCODED_BYTES] {
    let mut out = [0; ENCODED_BYTES];
    let (mut high, mut middle, mut low) = (0, 10, 20);
    for group in out.chunks_exact_mut(4) {
        let bits = u32::from(digest[high]) << 16 | u32::from(digest[middle]) << 8 | u32::from(digest[low]);
        write_characters(bits, group);
        (high, middle, low) = ((high + 21) % 30, (middle + 21) % 30, (low + 21) % 30);
    }
    write_characters(u32::from(digest[31]) << 8 | u32::from(digest[30]), &mut out[40..]);
    out
}

fn write_characters(bits: u32, out: &mut [u8]) {
    for (index, character) in out.iter_mut().enumerate() {
        *character = ALPHABET[(bits >> (6 * index)) as usize & 0x3F];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_crypt_3() {
        let check = |password: &str, salt: &str, rounds, expected: &str| {
            let encoded = digest(password.as_bytes(), salt.as_bytes(), rounds);
            assert_eq!(std::str::from_utf8(&encoded).unwrap(), expected);
        };
        check("Hello world!", "saltstring", 5000, "5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5");
        check("Hello world!", "saltstringsaltst", 10000, "3xv.VbSHBb41AL9AvLeujZkZRBAwqFMz2.opqey6IcA");
        let long = "a much longer password than thirty-two bytes, to see it wrap";
        check(long, "x", 5001, "h7pX4swWcet3MXpvKEU17tK8O3JlvwtrfpyyB9ezWg/");
    }
}
