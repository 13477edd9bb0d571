//! String functions, one file a family. Positions and lengths count characters of the argument's character set, from 1.

pub mod build;
pub mod code;
pub mod cut;
pub mod search;

use super::{Call, Derivation};
use charset::{Charset, CollationId};
use errors::{Diagnostics, sql_error};
use expression::derive::DerivedCollation;
use expression::result_type::ResultType;
use values::Value;

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

/// A constant argument as a number.
pub(super) fn constant_integer(derivation: &Derivation<'_>, index: usize) -> Option<i64> {
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

/// Whether a result would be longer than max_allowed_packet; warning 1301 if it is.
#[inline]
pub(super) fn too_long(call: &mut Call<'_>, bytes: u64) -> bool {
    let limit = call.context().facts().max_allowed_packet;
    if bytes <= limit {
        return false;
    }
    null_for_too_long(call);
    true
}

/// NULL with that warning.
#[cold]
fn null_for_too_long(call: &mut Call<'_>) -> Value {
    let (name, limit) = (call.name(), call.context().facts().max_allowed_packet);
    call.warn(sql_error!(ER_WARN_ALLOWED_PACKET_OVERFLOWED, name, limit));
    Value::Null
}
