//! Digests, checksums and compression: SHA2, SHA1, MD5, CRC32, COMPRESS and its kin.

use crate::pieces::{self, Interrupt};
use errors::{SqlError, SqlResult, sql_error};
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use md5::Digest;
use std::fmt::Write as _;
use std::io::{Read, Write as _};

/// Bytes in front of compressed data: the length of what was compressed, 30 bits, little-endian.
pub const LENGTH_BYTES: usize = 4;
const LENGTH_MASK: u32 = 0x3FFF_FFFF;

/// MD5 in hexadecimal digits.
pub fn md5(text: &[u8], interrupt: &dyn Interrupt) -> SqlResult<String> {
    digits_of::<md5::Md5>(text, interrupt)
}

/// SHA-1 in hexadecimal digits.
pub fn sha1(text: &[u8], interrupt: &dyn Interrupt) -> SqlResult<String> {
    digits_of::<sha1::Sha1>(text, interrupt)
}

/// SHA-2 of so many bits (0 is 256) in hexadecimal digits; None for other lengths.
pub fn sha2(text: &[u8], bits: i64, interrupt: &dyn Interrupt) -> SqlResult<Option<String>> {
    match bits {
        224 => digits_of::<sha2::Sha224>(text, interrupt),
        0 | 256 => digits_of::<sha2::Sha256>(text, interrupt),
        384 => digits_of::<sha2::Sha384>(text, interrupt),
        512 => digits_of::<sha2::Sha512>(text, interrupt),
        _ => return Ok(None),
    }
    .map(Some)
}

fn digits_of<D: Digest>(text: &[u8], interrupt: &dyn Interrupt) -> SqlResult<String> {
    let mut digest = D::new();
    pieces::for_each(text, interrupt, |piece| digest.update(piece))?;
    Ok(lower_hex(digest.finalize().as_slice()))
}

fn lower_hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let written = write!(text, "{byte:02x}");
        debug_assert!(written.is_ok());
    }
    text
}

/// What stands for NULL in ETAG.
const NULL_ETAG: u128 = 0x4d6a_c5b7_d1a1_655c_ab94_ac0a_ce72_76c0;

/// What a value adds to ETAG: XXH3 of 128 bits; of an empty text that of a zero.
pub fn etag(text: Option<&[u8]>) -> u128 {
    match text {
        Some([]) => xxhash_rust::xxh3::xxh3_128(&[0]),
        Some(text) => xxhash_rust::xxh3::xxh3_128(text),
        None => NULL_ETAG,
    }
}

/// CRC-32 (IEEE 802.3).
pub fn crc32(text: &[u8]) -> u32 {
    crc32fast::hash(text)
}

/// What COMPRESS makes of a text that is not empty; None where zlib has no memory.
pub fn compress(text: &[u8], interrupt: &dyn Interrupt) -> SqlResult<Option<Vec<u8>>> {
    let out = (text.len() as u32 & LENGTH_MASK).to_le_bytes().to_vec();
    let mut encoder = ZlibEncoder::new(out, Compression::default());
    let mut written = Ok(());
    pieces::for_each(text, interrupt, |piece| {
        if written.is_ok() {
            written = encoder.write_all(piece);
        }
    })?;
    let Ok(mut out) = written.and_then(|()| encoder.finish()) else { return Ok(None) };
    // A CHAR column would cut a blank at the end.
    if out.last() == Some(&b' ') {
        out.push(b'.');
    }
    Ok(Some(out))
}

/// What the first bytes of compressed data say about its length; None where they, or all behind them, are missing.
pub fn declared_length(data: &[u8]) -> Option<u32> {
    let (length, rest) = data.split_first_chunk::<LENGTH_BYTES>()?;
    (!rest.is_empty()).then(|| u32::from_le_bytes(*length) & LENGTH_MASK)
}

/// The text of compressed data that declares so many bytes; the inner error says what is wrong with the data.
pub fn uncompress(
    data: &[u8],
    length: u32,
    interrupt: &dyn Interrupt,
) -> SqlResult<Result<Vec<u8>, SqlError>> {
    let mut out = Vec::new();
    let mut decoder = ZlibDecoder::new(&data[LENGTH_BYTES..]).take(u64::from(length) + 1);
    Ok(match pieces::read_all(&mut decoder, &mut out, interrupt)? {
        Ok(_) if out.len() as u64 == u64::from(length) => Ok(out),
        Ok(_) => Err(sql_error!(ER_ZLIB_Z_BUF_ERROR)),
        Err(_) => Err(sql_error!(ER_ZLIB_Z_DATA_ERROR)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pieces::tests::Never;

    #[test]
    fn digests_of_nothing_and_of_text() {
        assert_eq!(md5(b"", &Never).unwrap(), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(sha1(b"abc", &Never).unwrap(), "a9993e364706816aba3e25717850c26c9cd0d89d");
        assert_eq!(sha2(b"abc", 0, &Never).unwrap(), sha2(b"abc", 256, &Never).unwrap());
        assert_eq!(sha2(b"abc", 1, &Never).unwrap(), None);
        assert_eq!(crc32(b"MySQL"), 3_259_397_556);
    }

    #[test]
    fn what_is_compressed_comes_back() {
        let text = b"abc".repeat(1000);
        let data = compress(&text, &Never).unwrap().unwrap();
        assert_eq!(declared_length(&data), Some(3000));
        assert_eq!(uncompress(&data, 3000, &Never).unwrap().unwrap(), text);
        assert!(uncompress(&data, 2999, &Never).unwrap().is_err());
        assert_eq!(declared_length(&data[..4]), None);
    }
}
