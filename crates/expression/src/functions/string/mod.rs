//! String functions, one file a family. Positions and lengths count characters of the argument's character set, from 1.

pub mod build;
pub mod code;
pub mod cut;
pub mod search;

use super::{Call, Derivation};
use crate::derive::DerivedCollation;
use crate::result_type::ResultType;
use charset::{Charset, CollationId};
use errors::{Diagnostics, sql_error};

/// Characters that text has at most of whose length nothing is known.
pub const ANY_LENGTH_CHARACTERS: u32 = 16_777_216;

/// Text of so many characters, NULL if an argument is.
fn text_of(derivation: &Derivation<'_>, common: DerivedCollation, characters: u64) -> ResultType {
    ResultType::built_text(characters, common.collation, common.coercibility)
        .nullable_if(derivation.any_nullable())
}

/// Text that is, or is cut out of, an argument of so many characters, and no longer than that.
fn part_of(derivation: &Derivation<'_>, common: DerivedCollation, characters: u64) -> ResultType {
    let characters = u32::try_from(characters).unwrap_or(u32::MAX);
    ResultType::text(characters, common.collation, common.coercibility).nullable_if(derivation.any_nullable())
}

/// Most characters of an argument; of bytes, if the result is those, all that they may take.
fn length_in(derivation: &Derivation<'_>, common: DerivedCollation, index: usize) -> u64 {
    match common.collation == CollationId::BINARY {
        true => u64::from(derivation.argument(index).byte_length()),
        false => length(derivation, index),
    }
}

/// Most characters of an argument.
fn length(derivation: &Derivation<'_>, index: usize) -> u64 {
    u64::from(derivation.argument(index).text_length())
}

/// Text whose length only the row tells.
fn text_of_any_length(derivation: &Derivation<'_>, common: DerivedCollation) -> ResultType {
    ResultType::text(ANY_LENGTH_CHARACTERS, common.collation, common.coercibility)
        .nullable_if(derivation.any_nullable())
}

/// What replaces or counts places in a text looks for a kill after so many of them.
const KILL_LOOK_PLACES: u64 = 4096;
/// What goes through a text by characters does so after so many of them.
const KILL_LOOK_CHARACTERS: u64 = 1 << 19;

/// A constant argument as a number.
fn constant_integer(derivation: &Derivation<'_>, index: usize) -> Option<i64> {
    let value = derivation.constant(index)?;
    if let values::Value::Int(number) = value {
        return Some(*number);
    }
    let column_type = &derivation.argument(index).column_type;
    // The call itself warns of what is no number.
    let number = values::convert::to_integer(value.as_ref(), column_type, &mut Diagnostics::new(0))?;
    Some(i64::try_from(number).unwrap_or(if number < 0 { i64::MIN } else { i64::MAX }))
}

/// The result's character set.
fn result_charset(call: &Call<'_>) -> &'static Charset {
    call.result().collation().charset()
}

/// NULL with warning 1301 for what would be longer than max_allowed_packet.
pub(super) fn too_long(call: &mut Call<'_>, bytes: u64) -> bool {
    let limit = call.context().facts().max_allowed_packet;
    if bytes <= limit {
        return false;
    }
    let name = call.name();
    call.warn(sql_error!(ER_WARN_ALLOWED_PACKET_OVERFLOWED, name, limit));
    true
}

/// A one-based position counted from the front, or from the back if negative, as an offset in characters;
/// None for what lies outside.
fn start_offset(position: i64, characters: usize) -> Option<usize> {
    let length = characters as i64;
    let start = if position > 0 { position - 1 } else { length.checked_add(position)? };
    (position != 0 && (0..length).contains(&start)).then_some(start as usize)
}
