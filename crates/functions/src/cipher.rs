//! AES_ENCRYPT and AES_DECRYPT: key derivation and the modes of `block_encryption_mode`. Main type: [`Mode`].
//! Cipher, HMAC and digests are those of crates; what chains the blocks is here: CFB1 has no crate, and a long text looks at KILL.

use crate::pieces::{Interrupt, PIECE_BYTES};
use aes::cipher::generic_array::GenericArray;
use aes::cipher::{BlockDecrypt, BlockEncrypt, KeyInit};
use aes::{Aes128, Aes192, Aes256};
use errors::SqlResult;

/// Bytes of a block, and of an initialization vector.
pub const BLOCK_BYTES: usize = 16;
type Block = [u8; BLOCK_BYTES];

/// The longest key, in bytes.
const KEY_BYTES_MAX: usize = 32;

/// How blocks are chained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chaining {
    Ecb,
    Cbc,
    /// Cipher feedback of so many bits.
    Cfb1,
    Cfb8,
    Cfb128,
    Ofb,
}

/// A value of `block_encryption_mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    chaining: Chaining,
    key_bytes: usize,
}

impl Default for Mode {
    /// `aes-128-ecb`.
    fn default() -> Mode {
        Mode { chaining: Chaining::Ecb, key_bytes: 16 }
    }
}

impl Mode {
    /// The mode of that name (`aes-256-cbc`).
    pub fn named(name: &str) -> Option<Mode> {
        let (bits, chaining) = name.strip_prefix("aes-")?.split_once('-')?;
        let key_bytes = match bits {
            "128" => 16,
            "192" => 24,
            "256" => KEY_BYTES_MAX,
            _ => return None,
        };
        let chaining = match chaining {
            "ecb" => Chaining::Ecb,
            "cbc" => Chaining::Cbc,
            "cfb1" => Chaining::Cfb1,
            "cfb8" => Chaining::Cfb8,
            "cfb128" => Chaining::Cfb128,
            "ofb" => Chaining::Ofb,
            _ => return None,
        };
        Some(Mode { chaining, key_bytes })
    }

    /// Bytes of its key.
    pub fn key_bytes(self) -> usize {
        self.key_bytes
    }

    /// Whether the first block is mixed with a vector.
    pub fn needs_vector(self) -> bool {
        self.chaining != Chaining::Ecb
    }

    /// Whether the text is filled up to whole blocks, always by at least a byte.
    fn fills(self) -> bool {
        matches!(self.chaining, Chaining::Ecb | Chaining::Cbc)
    }

    /// Bytes of what a text of so many bytes becomes.
    pub fn encrypted_bytes(self, bytes: u64) -> u64 {
        let block = BLOCK_BYTES as u64;
        if self.fills() { (bytes / block).saturating_add(1).saturating_mul(block) } else { bytes }
    }
}

/// How a key is made of what the client gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derivation<'a> {
    /// Its bytes laid over each other.
    Fold,
    /// HKDF with SHA-512.
    Hkdf {
        /// Salt of the extraction.
        salt: &'a [u8],
        /// Context of the expansion.
        info: &'a [u8],
    },
    /// PBKDF2 with HMAC of SHA-512.
    Pbkdf2 {
        /// Salt.
        salt: &'a [u8],
        /// Rounds.
        iterations: u32,
    },
}

/// A key, folded or derived, ready for use.
enum Cipher {
    Of128(Aes128),
    Of192(Aes192),
    Of256(Aes256),
}

impl Cipher {
    fn new(mode: Mode, key: &[u8], derivation: Derivation<'_>) -> Cipher {
        let mut bytes = [0; KEY_BYTES_MAX];
        let derived = &mut bytes[..mode.key_bytes];
        match derivation {
            Derivation::Fold => {
                for (index, byte) in key.iter().enumerate() {
                    derived[index % mode.key_bytes] ^= byte;
                }
            }
            Derivation::Hkdf { salt, info } => {
                let expanded = hkdf::Hkdf::<sha2::Sha512>::new(Some(salt), key).expand(info, derived);
                debug_assert!(expanded.is_ok(), "a key is shorter than 255 digests");
            }
            Derivation::Pbkdf2 { salt, iterations } => {
                pbkdf2::pbkdf2_hmac::<sha2::Sha512>(key, salt, iterations, derived);
            }
        }
        match mode.key_bytes {
            16 => Cipher::Of128(Aes128::new(GenericArray::from_slice(derived))),
            24 => Cipher::Of192(Aes192::new(GenericArray::from_slice(derived))),
            _ => Cipher::Of256(Aes256::new(GenericArray::from_slice(derived))),
        }
    }

    #[inline]
    fn encrypt(&self, block: &mut Block) {
        let block = GenericArray::from_mut_slice(block);
        match self {
            Cipher::Of128(cipher) => cipher.encrypt_block(block),
            Cipher::Of192(cipher) => cipher.encrypt_block(block),
            Cipher::Of256(cipher) => cipher.encrypt_block(block),
        }
    }

    #[inline]
    fn decrypt(&self, block: &mut Block) {
        let block = GenericArray::from_mut_slice(block);
        match self {
            Cipher::Of128(cipher) => cipher.decrypt_block(block),
            Cipher::Of192(cipher) => cipher.decrypt_block(block),
            Cipher::Of256(cipher) => cipher.decrypt_block(block),
        }
    }

    /// Makes the next bytes or bits of the key stream from the register, mixes them with the text in place, and feeds the
    /// register with what is encrypted.
    fn feed_back(&self, chaining: Chaining, register: &mut Block, text: &mut [u8], encrypts: bool) {
        match chaining {
            Chaining::Ofb => {
                self.encrypt(register);
                mix(text, register);
            }
            Chaining::Cfb8 => {
                for byte in text {
                    let mut stream = *register;
                    self.encrypt(&mut stream);
                    let mixed = *byte ^ stream[0];
                    let encrypted = if encrypts { mixed } else { *byte };
                    register.rotate_left(1);
                    register[BLOCK_BYTES - 1] = encrypted;
                    *byte = mixed;
                }
            }
            Chaining::Cfb1 => {
                for byte in text {
                    for bit in (0..8).rev() {
                        let mut stream = *register;
                        self.encrypt(&mut stream);
                        let before = *byte >> bit & 1;
                        let after = before ^ stream[0] >> 7;
                        let encrypted = if encrypts { after } else { before };
                        let shifted = u128::from_be_bytes(*register) << 1 | u128::from(encrypted);
                        *register = shifted.to_be_bytes();
                        *byte = *byte & !(1 << bit) | after << bit;
                    }
                }
            }
            _ => {
                let mut stream = *register;
                self.encrypt(&mut stream);
                if !encrypts {
                    register[..text.len()].copy_from_slice(text);
                }
                mix(text, &stream);
                if encrypts {
                    register[..text.len()].copy_from_slice(text);
                }
            }
        }
    }
}

fn mix(text: &mut [u8], stream: &[u8]) {
    text.iter_mut().zip(stream).for_each(|(byte, with)| *byte ^= with);
}

/// Works through the text, block by block; the last may be short.
fn each_block(text: &mut [u8], interrupt: &dyn Interrupt, mut work: impl FnMut(&mut [u8])) -> SqlResult<()> {
    const { assert!(PIECE_BYTES.is_multiple_of(BLOCK_BYTES)) };
    for (index, piece) in text.chunks_mut(PIECE_BYTES).enumerate() {
        if index > 0 {
            interrupt.check_killed()?;
        }
        piece.chunks_mut(BLOCK_BYTES).for_each(&mut work);
    }
    Ok(())
}

/// Encrypts a text. `vector` is of use where the mode needs one.
pub fn encrypt(
    mode: Mode,
    (key, derivation): (&[u8], Derivation<'_>),
    vector: &Block,
    mut text: Vec<u8>,
    interrupt: &dyn Interrupt,
) -> SqlResult<Vec<u8>> {
    let cipher = Cipher::new(mode, key, derivation);
    if mode.fills() {
        let missing = BLOCK_BYTES - text.len() % BLOCK_BYTES;
        text.resize(text.len() + missing, missing as u8);
    }
    let mut register = *vector;
    each_block(&mut text, interrupt, |part| match <&mut Block>::try_from(&mut *part) {
        Ok(block) if mode.fills() => {
            if mode.needs_vector() {
                mix(block, &register);
            }
            cipher.encrypt(block);
            register = *block;
        }
        _ => cipher.feed_back(mode.chaining, &mut register, part, true),
    })?;
    Ok(text)
}

/// Decrypts a text; None for what is no encrypted text of that key.
pub fn decrypt(
    mode: Mode,
    (key, derivation): (&[u8], Derivation<'_>),
    vector: &Block,
    mut text: Vec<u8>,
    interrupt: &dyn Interrupt,
) -> SqlResult<Option<Vec<u8>>> {
    if mode.fills() && (text.is_empty() || !text.len().is_multiple_of(BLOCK_BYTES)) {
        return Ok(None);
    }
    let cipher = Cipher::new(mode, key, derivation);
    let mut register = *vector;
    each_block(&mut text, interrupt, |part| match <&mut Block>::try_from(&mut *part) {
        Ok(block) if mode.fills() => {
            let encrypted = *block;
            cipher.decrypt(block);
            if mode.needs_vector() {
                mix(block, &register);
            }
            register = encrypted;
        }
        _ => cipher.feed_back(mode.chaining, &mut register, part, false),
    })?;
    if !mode.fills() {
        return Ok(Some(text));
    }
    let filled = text.last().map_or(0, |byte| usize::from(*byte));
    let is_whole = (1..=BLOCK_BYTES).contains(&filled)
        && text[text.len() - filled..].iter().all(|byte| usize::from(*byte) == filled);
    text.truncate(text.len().saturating_sub(filled));
    Ok(is_whole.then_some(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pieces::tests::Never;

    const MODES: [&str; 6] = ["ecb", "cbc", "cfb1", "cfb8", "cfb128", "ofb"];

    #[test]
    fn what_is_encrypted_comes_back() {
        for bits in ["128", "192", "256"] {
            for chaining in MODES {
                let mode = Mode::named(&format!("aes-{bits}-{chaining}")).unwrap();
                for length in [0, 1, 15, 16, 17, 100] {
                    let text: Vec<u8> = (0..length).collect();
                    let key = (b"key".as_slice(), Derivation::Fold);
                    let sealed = encrypt(mode, key, &[7; 16], text.clone(), &Never).unwrap();
                    assert_eq!(sealed.len() as u64, mode.encrypted_bytes(text.len() as u64));
                    assert_eq!(decrypt(mode, key, &[7; 16], sealed, &Never).unwrap(), Some(text));
                }
            }
        }
        assert_eq!(Mode::named("aes-128-gcm"), None);
        assert_eq!(Mode::named("aes-512-ecb"), None);
    }

    #[test]
    fn a_wrong_key_is_noticed_by_the_filling() {
        let mode = Mode::default();
        let sealed = encrypt(mode, (b"a", Derivation::Fold), &[0; 16], b"text".to_vec(), &Never).unwrap();
        assert_eq!(decrypt(mode, (b"b", Derivation::Fold), &[0; 16], sealed, &Never).unwrap(), None);
        assert_eq!(decrypt(mode, (b"a", Derivation::Fold), &[0; 16], vec![1; 15], &Never).unwrap(), None);
    }

    #[test]
    fn the_vectors_of_the_standard() {
        // FIPS 197, appendix C.1; the second block is the filling.
        let key: Vec<u8> = (0..16).collect();
        let text: Vec<u8> = (0..16).map(|digit| digit * 0x11).collect();
        let sealed = encrypt(Mode::default(), (&key, Derivation::Fold), &[0; 16], text, &Never).unwrap();
        let first = 0x69c4_e0d8_6a7b_0430_d8cd_b780_70b4_c55a_u128;
        assert_eq!(sealed[..16], first.to_be_bytes());
    }
}
