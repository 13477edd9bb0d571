//! Digests, checksums and compression: SHA2, SHA1, MD5, CRC32, COMPRESS and its kin, RANDOM_BYTES.
//! SHA1 and MD5 are a component of their own in MySQL 9.7; here they are always there, as applications expect.

use super::string::ANY_LENGTH_CHARACTERS as ANY_LENGTH_BYTES;
use super::{Call, Derivation, FunctionDefinition, acting, pure};
use crate::pieces;
use crate::result_type::ResultType;
use errors::{SqlResult, sql_error};
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use md5::Digest;
use std::fmt::Write as _;
use std::io::{Read, Write as _};
use values::Value;

/// The family's functions.
pub static FUNCTIONS: &[FunctionDefinition] = &[
    pure("md5", 1, 1, |derivation| derive_digits(derivation, 32), digest::<md5::Md5>),
    pure("sha", 1, 1, |derivation| derive_digits(derivation, 40), digest::<sha1::Sha1>),
    pure("sha1", 1, 1, |derivation| derive_digits(derivation, 40), digest::<sha1::Sha1>),
    pure("sha2", 2, 2, derive_sha2, sha2),
    pure(
        "crc32",
        1,
        1,
        |derivation| Ok(ResultType::unsigned(10).nullable_if(derivation.any_nullable())),
        crc32,
    ),
    pure("compress", 1, 1, derive_compress, compress),
    pure("uncompress", 1, 1, |_| Ok(ResultType::binary(ANY_LENGTH_BYTES).nullable()), uncompress),
    pure(
        "uncompressed_length",
        1,
        1,
        |derivation| Ok(ResultType::integer(11).nullable_if(derivation.any_nullable())),
        uncompressed_length,
    ),
    acting(
        "random_bytes",
        1,
        1,
        |derivation| Ok(ResultType::binary(RANDOM_BYTES_MAX as u32).nullable_if(derivation.any_nullable())),
        random_bytes,
    ),
];

const RANDOM_BYTES_MAX: i64 = 1024;

/// Bytes in front of compressed data: the length of what was compressed, 30 bits, little-endian.
const LENGTH_BYTES: usize = 4;
const LENGTH_MASK: u32 = 0x3FFF_FFFF;

fn derive_digits(derivation: &mut Derivation<'_>, digits: u32) -> SqlResult<ResultType> {
    Ok(derivation.connection_text(digits).nullable_if(derivation.any_nullable()))
}

fn digest<D: Digest>(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(text) = call.text(0)? else { return Ok(Value::Null) };
    let digits = digits_of::<D>(&text, call)?;
    Ok(call.text_result(&digits))
}

/// The digest of a text in hexadecimal digits.
fn digits_of<D: Digest>(text: &[u8], call: &mut Call<'_>) -> SqlResult<String> {
    let mut digest = D::new();
    pieces::for_each(text, call.context(), |piece| digest.update(piece))?;
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

fn derive_sha2(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let bits = match derivation.constant(1) {
        Some(Value::Int(bits)) => *bits,
        Some(Value::UInt(bits)) => i64::try_from(*bits).unwrap_or(0),
        Some(_) => 0,
        None => 512,
    };
    let digits = match bits {
        224 | 384 | 512 => bits as u32 / 4,
        _ => 64,
    };
    Ok(derivation.connection_text(digits).nullable())
}

fn sha2(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(text) = call.text(0)? else { return Ok(Value::Null) };
    // NULL is no length either: it warns like a wrong one.
    let digits = match call.integer(1)?.unwrap_or(-1) {
        224 => digits_of::<sha2::Sha224>(&text, call)?,
        0 | 256 => digits_of::<sha2::Sha256>(&text, call)?,
        384 => digits_of::<sha2::Sha384>(&text, call)?,
        512 => digits_of::<sha2::Sha512>(&text, call)?,
        _ => {
            call.warn(sql_error!(ER_WRONG_PARAMETERS_TO_NATIVE_FCT, "sha2"));
            return Ok(Value::Null);
        }
    };
    Ok(call.text_result(&digits))
}

fn crc32(call: &mut Call<'_>) -> SqlResult<Value> {
    let text = call.text(0)?;
    Ok(text.map_or(Value::Null, |text| Value::UInt(u64::from(crc32fast::hash(&text)))))
}

fn derive_compress(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let argument = derivation.argument(0);
    let bytes = u64::from(argument.text_length()) * u64::from(argument.collation().charset().max_bytes);
    // The greatest size of zlib's output, and what MySQL adds before and behind it.
    let longest = bytes + bytes.div_ceil(1000) + 12 + LENGTH_BYTES as u64 + 1;
    let bytes = u32::try_from(longest).unwrap_or(u32::MAX);
    Ok(ResultType::binary(bytes).nullable_if(derivation.any_nullable()))
}

fn compress(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(text) = call.text(0)? else { return Ok(Value::Null) };
    if text.is_empty() {
        return Ok(Value::Bytes(Vec::new()));
    }
    let out = (text.len() as u32 & LENGTH_MASK).to_le_bytes().to_vec();
    let mut encoder = ZlibEncoder::new(out, Compression::default());
    let mut written = Ok(());
    pieces::for_each(&text, call.context(), |piece| {
        if written.is_ok() {
            written = encoder.write_all(piece);
        }
    })?;
    let Ok(mut out) = written.and_then(|()| encoder.finish()) else {
        call.warn(sql_error!(ER_ZLIB_Z_MEM_ERROR));
        return Ok(Value::Null);
    };
    // A CHAR column would cut a blank at the end.
    if out.last() == Some(&b' ') {
        out.push(b'.');
    }
    Ok(Value::Bytes(out))
}

/// What the first bytes of compressed data say about its length; None, with a warning, where they are missing.
fn declared_length(call: &mut Call<'_>, data: &[u8]) -> Option<u32> {
    let Some((length, rest)) = data.split_first_chunk::<LENGTH_BYTES>() else {
        call.warn(sql_error!(ER_ZLIB_Z_DATA_ERROR));
        return None;
    };
    if rest.is_empty() {
        call.warn(sql_error!(ER_ZLIB_Z_DATA_ERROR));
        return None;
    }
    Some(u32::from_le_bytes(*length) & LENGTH_MASK)
}

fn uncompress(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(data) = call.text(0)? else { return Ok(Value::Null) };
    if data.is_empty() {
        return Ok(Value::Bytes(Vec::new()));
    }
    let Some(length) = declared_length(call, &data) else { return Ok(Value::Null) };
    let limit = call.context().facts().max_allowed_packet;
    if u64::from(length) > limit {
        call.warn(sql_error!(ER_TOO_BIG_FOR_UNCOMPRESS, limit));
        return Ok(Value::Null);
    }
    let mut out = Vec::new();
    let mut decoder = ZlibDecoder::new(&data[LENGTH_BYTES..]).take(u64::from(length) + 1);
    let error = match pieces::read_all(&mut decoder, &mut out, call.context())? {
        Ok(_) if out.len() as u64 == u64::from(length) => return Ok(Value::Bytes(out)),
        Ok(_) => sql_error!(ER_ZLIB_Z_BUF_ERROR),
        Err(_) => sql_error!(ER_ZLIB_Z_DATA_ERROR),
    };
    call.warn(error);
    Ok(Value::Null)
}

fn uncompressed_length(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(data) = call.text(0)? else { return Ok(Value::Null) };
    if data.is_empty() {
        return Ok(Value::Int(0));
    }
    Ok(Value::Int(declared_length(call, &data).map_or(0, i64::from)))
}

fn random_bytes(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(count) = call.integer(0)? else { return Ok(Value::Null) };
    if !(1..=RANDOM_BYTES_MAX).contains(&count) {
        return Err(sql_error!(ER_DATA_OUT_OF_RANGE, "length", "random_bytes"));
    }
    let mut bytes = vec![0; count as usize];
    call.context().session().random_bytes(&mut bytes);
    Ok(Value::Bytes(bytes))
}
