//! AES_ENCRYPT and AES_DECRYPT: the mode is the variable `block_encryption_mode`, the key is folded or derived.

use super::{Call, Derivation, FunctionDefinition, pure};
use errors::{SqlResult, sql_error};
use expression::result_type::ResultType;
use functions::Interrupt;
use functions::cipher::{self, BLOCK_BYTES, Mode};
use std::borrow::Cow;
use values::Value;

/// The family's functions. Arguments: text, key, vector, name of the derivation, salt, its context or number of rounds.
pub static FUNCTIONS: &[FunctionDefinition] = &[
    pure("aes_encrypt", 2, 6, derive_encrypted, encrypt),
    pure("aes_decrypt", 2, 6, derive_decrypted, decrypt),
];

/// Options of a derivation are shorter than this, in bytes.
const OPTION_BYTES: usize = 256;
/// The number of rounds is shorter than this, in bytes of its text.
const ITERATIONS_BYTES: usize = 6;
/// Rounds of PBKDF2 where nobody says how many, and the fewest.
const ITERATIONS_MIN: i64 = 1000;
const ITERATIONS_MAX: i64 = 65535;

fn derive_encrypted(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let bytes =
        derivation.facts.encryption_mode.encrypted_bytes(derivation.argument(0).written_byte_length().into());
    Ok(ResultType::binary(u32::try_from(bytes).unwrap_or(u32::MAX)).nullable())
}

fn derive_decrypted(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    Ok(ResultType::binary(derivation.argument(0).text_length()).nullable())
}

/// What was given for the derivation of the key.
enum Given<'a> {
    Fold,
    Hkdf { salt: Cow<'a, [u8]>, info: Cow<'a, [u8]> },
    Pbkdf2 { salt: Cow<'a, [u8]>, iterations: u32 },
}

impl Given<'_> {
    fn derivation(&self) -> cipher::Derivation<'_> {
        match self {
            Given::Fold => cipher::Derivation::Fold,
            Given::Hkdf { salt, info } => cipher::Derivation::Hkdf { salt, info },
            Given::Pbkdf2 { salt, iterations } => {
                cipher::Derivation::Pbkdf2 { salt, iterations: *iterations }
            }
        }
    }
}

/// A text and a key with all that is done with them.
struct Work<'a> {
    mode: Mode,
    text: Cow<'a, [u8]>,
    key: Cow<'a, [u8]>,
    given: Given<'a>,
    vector: [u8; BLOCK_BYTES],
}

impl Work<'_> {
    fn key(&self) -> (&[u8], cipher::Derivation<'_>) {
        (&self.key, self.given.derivation())
    }
}

/// The arguments; None where text or key is NULL. Errors: 1582 and 1882 for a missing and a short vector, 3235, 3236 and 3238 for a wrong
/// derivation. Warning 1618 for a vector that is of no use.
fn arguments<'a>(call: &mut Call<'a>) -> SqlResult<Option<Work<'a>>> {
    let mode = call.context().facts().encryption_mode;
    let (text, key) = (call.text(0)?, call.text(1)?);
    let (Some(text), Some(key)) = (text, key) else { return Ok(None) };
    let vector = vector(call, mode)?;
    let given = derivation(call)?;
    Ok(Some(Work { mode, text, key, given, vector }))
}

fn vector(call: &mut Call<'_>, mode: Mode) -> SqlResult<[u8; BLOCK_BYTES]> {
    if !mode.needs_vector() {
        if call.count() == 3 {
            call.warn(sql_error!(WARN_OPTION_IGNORED, "IV"));
        }
        return Ok([0; BLOCK_BYTES]);
    }
    if call.count() < 3 {
        return Err(sql_error!(ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT, call.name()));
    }
    let given = call.text(2)?.unwrap_or_default();
    match given.first_chunk() {
        Some(vector) => Ok(*vector),
        None => Err(sql_error!(ER_AES_INVALID_IV, call.name(), BLOCK_BYTES)),
    }
}

/// An option of the derivation. Error 3238 for NULL and for what is too long.
fn option<'a>(call: &mut Call<'a>, index: usize, bytes: usize) -> SqlResult<Cow<'a, [u8]>> {
    let option = call.text(index)?.filter(|option| option.len() < bytes);
    option.ok_or_else(|| sql_error!(ER_AES_INVALID_KDF_OPTION_SIZE, bytes))
}

fn derivation<'a>(call: &mut Call<'a>) -> SqlResult<Given<'a>> {
    if call.count() < 4 {
        return Ok(Given::Fold);
    }
    let name = option(call, 3, OPTION_BYTES)?;
    if !matches!(&*name, b"hkdf" | b"pbkdf2_hmac") {
        return Err(sql_error!(ER_AES_INVALID_KDF_NAME));
    }
    let salt = if call.count() > 4 { option(call, 4, OPTION_BYTES)? } else { Cow::default() };
    if *name == *b"hkdf" {
        let info = if call.count() > 5 { option(call, 5, OPTION_BYTES)? } else { Cow::default() };
        return Ok(Given::Hkdf { salt, info });
    }
    let mut iterations = ITERATIONS_MIN;
    if call.count() > 5 {
        let written = option(call, 5, ITERATIONS_BYTES)?;
        iterations = leading_number(&written);
    }
    if !(ITERATIONS_MIN..=ITERATIONS_MAX).contains(&iterations) {
        return Err(sql_error!(ER_AES_INVALID_KDF_ITERATIONS));
    }
    // So many rounds take a tenth of a second, for each row.
    call.context().check_killed()?;
    Ok(Given::Pbkdf2 { salt, iterations: iterations as u32 })
}

/// The number that a short text begins with, as C reads it; 0 for none.
fn leading_number(text: &[u8]) -> i64 {
    let digits = text.trim_ascii_start();
    let digits = digits.strip_prefix(b"+").unwrap_or(digits);
    let digits = digits.iter().take_while(|byte| byte.is_ascii_digit());
    digits.fold(0, |number, digit| number * 10 + i64::from(digit - b'0'))
}

/// Warning 3237 for a key that is too long.
fn encrypt(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(mut work) = arguments(call)? else { return Ok(Value::Null) };
    let text = std::mem::take(&mut work.text).into_owned();
    if matches!(work.given, Given::Fold) && work.key.len() > work.mode.key_bytes() {
        call.warn(sql_error!(WARN_AES_KEY_SIZE, work.mode.key_bytes()));
    }
    let interrupt: &dyn Interrupt = call.interrupt();
    let sealed = cipher::encrypt(work.mode, work.key(), &work.vector, text, interrupt)?;
    Ok(Value::Bytes(sealed))
}

fn decrypt(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(mut work) = arguments(call)? else { return Ok(Value::Null) };
    let sealed = std::mem::take(&mut work.text).into_owned();
    let interrupt: &dyn Interrupt = call.interrupt();
    let text = cipher::decrypt(work.mode, work.key(), &work.vector, sealed, interrupt)?;
    Ok(text.map_or(Value::Null, Value::Bytes))
}
