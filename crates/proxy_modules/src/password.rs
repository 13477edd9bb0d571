//! Module `mysql.password`: the steps of mysql_native_password (4.1 to 5.7): what the client sends for a scramble, and how a
//! server checks it against the stored double hash.

use mlua::{Lua, Table, Value};
use sha1::{Digest as _, Sha1};
use subtle::ConstantTimeEq;

use crate::function::{Arguments, Binder, Outcome, one, one_string};
use crate::module::{self, HostReference, Level};

/// Bytes of a SHA-1 digest, of a response and of a scramble.
const DIGEST_BYTES: usize = 20;

type Digest = [u8; DIGEST_BYTES];

/// The module's table.
pub(crate) fn open(lua: &Lua, binder: &Binder, host: &HostReference) -> mlua::Result<Table> {
    let table =
        module::described(lua, "LuaMySQLPassword 0.1", "passwords as mysql_native_password has them")?;
    binder.define(lua, &table, "hash", |lua, arguments| {
        let text = arguments.string(lua, 1)?;
        one_string(lua, Sha1::digest(text.as_bytes()))
    })?;
    let log = host.clone();
    binder.define(lua, &table, "scramble", move |lua, arguments| scramble(lua, arguments, &log))?;
    let log = host.clone();
    binder.define(lua, &table, "unscramble", move |lua, arguments| unscramble(lua, arguments, &log))?;
    let log = host.clone();
    binder.define(lua, &table, "check", move |lua, arguments| check(lua, arguments, &log))?;
    Ok(table)
}

/// `scramble(challenge, hash)`: the response of a client that knows SHA1(password).
fn scramble(lua: &Lua, arguments: &Arguments, host: &HostReference) -> Outcome {
    let (challenge, hashed) = (arguments.string(lua, 1)?, arguments.string(lua, 2)?);
    match (challenge_of(&challenge.as_bytes()), digest_of(&hashed.as_bytes())) {
        (Some(challenge), Some(hashed)) => {
            let double_hashed = Sha1::digest(hashed).into();
            one_string(lua, exclusive_or(hashed, mask(&challenge, &double_hashed)))
        }
        _ => {
            complain(host, "scramble");
            one_string(lua, "")
        }
    }
}

/// `unscramble(challenge, response, double_hash)`: SHA1(password), if the response is the right one.
fn unscramble(lua: &Lua, arguments: &Arguments, host: &HostReference) -> Outcome {
    match three(lua, arguments)? {
        Some((challenge, response, double_hashed)) => {
            one_string(lua, exclusive_or(response, mask(&challenge, &double_hashed)))
        }
        None => {
            complain(host, "unscramble");
            one_string(lua, "")
        }
    }
}

/// `check(challenge, response, double_hash)`: whether the response proves the password.
fn check(lua: &Lua, arguments: &Arguments, host: &HostReference) -> Outcome {
    let Some((challenge, response, double_hashed)) = three(lua, arguments)? else {
        complain(host, "check");
        return one(Value::Boolean(false));
    };
    let hashed = exclusive_or(response, mask(&challenge, &double_hashed));
    let proved: Digest = Sha1::digest(hashed).into();
    one(Value::Boolean(proved.ct_eq(&double_hashed).into()))
}

/// The three arguments of a check, if each has its length.
fn three(
    lua: &Lua,
    arguments: &Arguments,
) -> Result<Option<(Digest, Digest, Digest)>, crate::function::Failure> {
    let challenge = arguments.string(lua, 1)?;
    let response = arguments.string(lua, 2)?;
    let double_hashed = arguments.string(lua, 3)?;
    let digests = (
        challenge_of(&challenge.as_bytes()),
        digest_of(&response.as_bytes()),
        digest_of(&double_hashed.as_bytes()),
    );
    Ok(match digests {
        (Some(challenge), Some(response), Some(double_hashed)) => Some((challenge, response, double_hashed)),
        _ => None,
    })
}

/// A scramble is 20 bytes, with or without the zero byte that ends it in the greeting.
fn challenge_of(bytes: &[u8]) -> Option<Digest> {
    match bytes.len() {
        DIGEST_BYTES => digest_of(bytes),
        21 => digest_of(&bytes[..DIGEST_BYTES]),
        _ => None,
    }
}

fn digest_of(bytes: &[u8]) -> Option<Digest> {
    bytes.try_into().ok()
}

fn mask(challenge: &Digest, double_hashed: &Digest) -> Digest {
    Sha1::new().chain_update(challenge).chain_update(double_hashed).finalize().into()
}

fn exclusive_or(mut left: Digest, right: Digest) -> Digest {
    for (byte, other) in left.iter_mut().zip(right) {
        *byte ^= other;
    }
    left
}

/// An argument of a wrong length is answered with an empty string, as for an account without a password; the log says so.
fn complain(host: &HostReference, function: &str) {
    host.log(
        Level::Critical,
        &format!("mysql.password.{function}: a challenge has 20 or 21 bytes, hashes and responses have 20"),
    );
}
