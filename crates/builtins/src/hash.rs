//! Digests, checksums and compression: SHA2, SHA1, MD5, CRC32, ETAG, COMPRESS and its kin, RANDOM_BYTES.
//! SHA1 and MD5 are a component of their own in MySQL 9.7; here they are always there, as applications expect.

use super::string::ANY_LENGTH_CHARACTERS as ANY_LENGTH_BYTES;
use super::{Call, Derivation, FunctionDefinition, acting, pure};
use errors::{SqlResult, sql_error};
use expression::result_type::ResultType;
use functions::{Interrupt, hash};
use values::Value;

/// The family's functions.
pub static FUNCTIONS: &[FunctionDefinition] = &[
    pure("md5", 1, 1, |derivation| derive_digits(derivation, 32), |call| digest(call, hash::md5)),
    pure("sha", 1, 1, |derivation| derive_digits(derivation, 40), |call| digest(call, hash::sha1)),
    pure("sha1", 1, 1, |derivation| derive_digits(derivation, 40), |call| digest(call, hash::sha1)),
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
    pure("etag", 1, usize::MAX, |derivation| Ok(derivation.connection_text(32).nullable()), etag),
    acting(
        "random_bytes",
        1,
        1,
        |derivation| Ok(ResultType::binary(RANDOM_BYTES_MAX as u32).nullable_if(derivation.any_nullable())),
        random_bytes,
    ),
];

const RANDOM_BYTES_MAX: i64 = 1024;

fn derive_digits(derivation: &mut Derivation<'_>, digits: u32) -> SqlResult<ResultType> {
    Ok(derivation.connection_text(digits).nullable_if(derivation.any_nullable()))
}

/// The digest of a text in hexadecimal digits.
fn digest(call: &mut Call<'_>, of: fn(&[u8], &dyn Interrupt) -> SqlResult<String>) -> SqlResult<Value> {
    let Some(text) = call.text(0)? else { return Ok(Value::Null) };
    let digits = of(&text, call.interrupt())?;
    Ok(call.text_result(&digits))
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
    let bits = call.integer(1)?.unwrap_or(-1);
    let Some(digits) = hash::sha2(&text, bits, call.interrupt())? else {
        call.warn(sql_error!(ER_WRONG_PARAMETERS_TO_NATIVE_FCT, "sha2"));
        return Ok(Value::Null);
    };
    Ok(call.text_result(&digits))
}

/// The sum of what each argument gives, so that their order does not count.
fn etag(call: &mut Call<'_>) -> SqlResult<Value> {
    let mut sum = 0u128;
    for index in 0..call.count() {
        let text = call.text(index)?;
        sum = sum.wrapping_add(hash::etag(text.as_deref()));
        call.hold_only(0)?;
    }
    Ok(call.text_result(&format!("{sum:032x}")))
}

fn crc32(call: &mut Call<'_>) -> SqlResult<Value> {
    let text = call.text(0)?;
    Ok(text.map_or(Value::Null, |text| Value::UInt(u64::from(hash::crc32(&text)))))
}

fn derive_compress(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let bytes = u64::from(derivation.argument(0).written_byte_length());
    // The greatest size of zlib's output, and what MySQL adds before and behind it.
    let longest = bytes + bytes / 1000 + 1 + 12 + hash::LENGTH_BYTES as u64 + 1;
    let bytes = u32::try_from(longest).unwrap_or(u32::MAX);
    Ok(ResultType::binary(bytes).nullable_if(derivation.any_nullable()))
}

fn compress(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(text) = call.text(0)? else { return Ok(Value::Null) };
    if text.is_empty() {
        return Ok(Value::Bytes(Vec::new()));
    }
    let compressed = hash::compress(&text, call.interrupt())?;
    if compressed.is_none() {
        call.warn(sql_error!(ER_ZLIB_Z_MEM_ERROR));
    }
    Ok(compressed.map_or(Value::Null, Value::Bytes))
}

/// What compressed data says about its length; None, with a warning, where it does not.
fn declared_length(call: &mut Call<'_>, data: &[u8]) -> Option<u32> {
    let length = hash::declared_length(data);
    if length.is_none() {
        call.warn(sql_error!(ER_ZLIB_Z_DATA_ERROR));
    }
    length
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
    Ok(match hash::uncompress(&data, length, call.interrupt())? {
        Ok(text) => Value::Bytes(text),
        Err(error) => {
            call.warn(error);
            Value::Null
        }
    })
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
