//! The JSON functions. What they do with documents is in crate `json`; here are arguments, NULL and result types. Main tables:
//! [`ask::FUNCTIONS`], [`change::FUNCTIONS`], [`make::FUNCTIONS`], [`schema::FUNCTIONS`].

mod arguments;
pub mod array;
pub mod ask;
pub mod change;
pub mod make;
pub mod schema;
pub mod table;
pub mod value;
pub mod value_default;

use super::Derivation;
use charset::CollationId;
use errors::SqlResult;
use expression::result_type::{Coercibility, ResultType};

/// JSON that can be NULL.
fn derive_json(_: &mut Derivation<'_>) -> SqlResult<ResultType> {
    Ok(ResultType::json().nullable())
}

/// A truth value that is NULL only for NULL.
fn derive_certain(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    Ok(ResultType::boolean().nullable_if(derivation.any_nullable()))
}

/// A number of parts or bytes that can be NULL.
fn derive_count(_: &mut Derivation<'_>) -> SqlResult<ResultType> {
    Ok(ResultType::integer(21).nullable())
}

/// Text of at most so many characters in the collation of JSON's text.
fn short_text(characters: u32) -> ResultType {
    ResultType::text(characters, CollationId::UTF8MB4_BIN, Coercibility::Implicit).nullable()
}
