//! The RSA key pair for passwords over connections without TLS. Main type: [`RsaKey`].
//! Decryption is aws-lc's, which takes the same time whatever the padding is.

use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der, PublicKeyX509Der};
use aws_lc_rs::rsa::{KeySize, OAEP_SHA1_MGF1SHA1, OaepPrivateDecryptingKey, PrivateDecryptingKey};
use wire::auth::exchange::PasswordKey;

/// A key pair.
pub struct RsaKey {
    decrypting: OaepPrivateDecryptingKey,
    public_pem: Vec<u8>,
}

/// A key is missing, damaged or of a kind that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadKey(pub String);

impl RsaKey {
    /// Makes a key of 2048 bits; returns it with its PKCS#8 PEM text.
    pub fn generate() -> Result<(RsaKey, String), BadKey> {
        let failed = |_| BadKey("the key pair cannot be made".to_owned());
        let private = PrivateDecryptingKey::generate(KeySize::Rsa2048).map_err(failed)?;
        let der: Pkcs8V1Der<'_> = private.as_der().map_err(failed)?;
        let pem = to_pem("PRIVATE KEY", der.as_ref());
        Ok((RsaKey::new(private)?, pem))
    }

    /// Reads a PKCS#8 PEM text.
    pub fn from_pem(pem: &str) -> Result<RsaKey, BadKey> {
        let der = from_pem(pem).ok_or_else(|| BadKey("not a PEM text".to_owned()))?;
        let private = PrivateDecryptingKey::from_pkcs8(&der)
            .map_err(|error| BadKey(format!("not an RSA key in PKCS#8 form ({error})")))?;
        RsaKey::new(private)
    }

    fn new(private: PrivateDecryptingKey) -> Result<RsaKey, BadKey> {
        let public = private.public_key();
        let der: PublicKeyX509Der<'_> =
            public.as_der().map_err(|_| BadKey("the public key cannot be written".to_owned()))?;
        let public_pem = to_pem("PUBLIC KEY", der.as_ref()).into_bytes();
        let decrypting = OaepPrivateDecryptingKey::new(private).map_err(|error| BadKey(error.to_string()))?;
        Ok(RsaKey { decrypting, public_pem })
    }
}

impl PasswordKey for RsaKey {
    fn public_key_pem(&self) -> &[u8] {
        &self.public_pem
    }

    fn decrypt(&self, ciphertext: &[u8]) -> Option<Vec<u8>> {
        let mut plain = vec![0; self.decrypting.min_output_size()];
        self.decrypting
            .decrypt(&OAEP_SHA1_MGF1SHA1, ciphertext, &mut plain, None)
            .ok()
            .map(|plain| plain.to_vec())
    }
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// Characters of a PEM line.
const PEM_LINE_BYTES: usize = 64;

fn to_pem(label: &str, der: &[u8]) -> String {
    let mut digits = String::new();
    for group in der.chunks(3) {
        let bits =
            group.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for index in 0..4 {
            let digit = BASE64[(bits >> (18 - 6 * index)) as usize & 0x3F];
            digits.push(if index <= group.len() { char::from(digit) } else { '=' });
        }
    }
    let mut pem = format!("-----BEGIN {label}-----\n");
    for line in digits.as_bytes().chunks(PEM_LINE_BYTES) {
        pem.push_str(&String::from_utf8_lossy(line));
        pem.push('\n');
    }
    pem.push_str(&format!("-----END {label}-----\n"));
    pem
}

fn from_pem(pem: &str) -> Option<Vec<u8>> {
    let mut der = Vec::new();
    let (mut bits, mut count) = (0u32, 0);
    for line in pem.lines().map(str::trim).skip_while(|line| !line.starts_with("-----BEGIN ")).skip(1) {
        if line.starts_with("-----END ") {
            return Some(der);
        }
        for byte in line.bytes().filter(|byte| *byte != b'=') {
            let digit = BASE64.iter().position(|candidate| *candidate == byte)?;
            bits = bits << 6 | digit as u32;
            count += 6;
            if count >= 8 {
                count -= 8;
                der.push((bits >> count) as u8);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pem_round_trips() {
        for length in 0..200 {
            let der: Vec<u8> = (0..length).map(|at| at as u8 ^ 0x5A).collect();
            assert_eq!(from_pem(&to_pem("X", &der)), Some(der));
        }
        assert_eq!(from_pem("nothing"), None);
    }

    #[test]
    fn a_stored_key_is_the_same_key() {
        let (key, pem) = RsaKey::generate().unwrap();
        let again = RsaKey::from_pem(&pem).unwrap();
        assert_eq!(key.public_key_pem(), again.public_key_pem());
        assert!(key.decrypt(b"junk").is_none());
        assert!(RsaKey::from_pem("-----BEGIN X-----\nAAAA\n-----END X-----\n").is_err());
    }
}
