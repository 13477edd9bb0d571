//! The built-in functions, by name. Main function: [`find`]. Each family is a file with a `FUNCTIONS` table; what a function is
//! says `expression::builtin`, and the README of that crate how to add one.
#![forbid(unsafe_code)]

mod control;
mod extremes;
mod hash;
mod identity;
mod information;
mod json;
mod locks;
mod miscellaneous;
mod network;
mod numeric;
mod parameters;
mod regexp;
mod string;
mod temporal;

pub use json::ask::MEMBER_OF;
pub use json::value::{JSON_VALUE, Reaction};
pub use json::value_default::value_default;
pub use parameters::{ArgumentRule, argument_rule};

use errors::SqlResult;
use expression::builtin::{JsonArguments, acting, pure};
use expression::{Call, Derivation, FunctionDefinition, ResultType};
use std::collections::HashMap;
use std::sync::LazyLock;
use values::Value;

type Derive = fn(&mut Derivation<'_>) -> SqlResult<ResultType>;
type Evaluate = fn(&mut Call<'_>) -> SqlResult<Value>;

/// A function of numbers alone.
const fn of_numbers(
    name: &'static str,
    least: usize,
    most: usize,
    derive: Derive,
    evaluate: Evaluate,
) -> FunctionDefinition {
    pure(name, least, most, derive, evaluate).taking(JsonArguments::Numbers)
}

/// A function of dates and times alone.
const fn of_moments(
    name: &'static str,
    least: usize,
    most: usize,
    derive: Derive,
    evaluate: Evaluate,
) -> FunctionDefinition {
    pure(name, least, most, derive, evaluate).taking(JsonArguments::Moments)
}

/// A function of its arguments alone that takes documents as they are.
const fn of_documents(
    name: &'static str,
    least: usize,
    most: usize,
    derive: Derive,
    evaluate: Evaluate,
) -> FunctionDefinition {
    pure(name, least, most, derive, evaluate).taking(JsonArguments::Documents)
}

/// The families.
static FAMILIES: &[&[FunctionDefinition]] = &[
    control::FUNCTIONS,
    extremes::FUNCTIONS,
    hash::FUNCTIONS,
    identity::FUNCTIONS,
    information::FUNCTIONS,
    json::ask::FUNCTIONS,
    json::change::FUNCTIONS,
    json::make::FUNCTIONS,
    json::schema::FUNCTIONS,
    locks::FUNCTIONS,
    miscellaneous::FUNCTIONS,
    network::FUNCTIONS,
    numeric::FUNCTIONS,
    regexp::FUNCTIONS,
    string::build::FUNCTIONS,
    string::code::FUNCTIONS,
    string::cut::FUNCTIONS,
    string::search::FUNCTIONS,
    temporal::arithmetic::FUNCTIONS,
    temporal::clock::FUNCTIONS,
    temporal::construct::FUNCTIONS,
    temporal::format::FUNCTIONS,
    temporal::parse::FUNCTIONS,
    temporal::parts::FUNCTIONS,
    temporal::zones::FUNCTIONS,
];

static BY_NAME: LazyLock<HashMap<&'static str, &'static FunctionDefinition>> = LazyLock::new(|| {
    FAMILIES.iter().flat_map(|family| family.iter()).map(|function| (function.name, function)).collect()
});

/// The function of that name (lower case).
pub fn find(name: &str) -> Option<&'static FunctionDefinition> {
    BY_NAME.get(name).copied()
}

/// The names of all functions, as [`find`] takes them.
pub fn names() -> impl Iterator<Item = &'static str> {
    FAMILIES.iter().flat_map(|family| family.iter()).map(|function| function.name)
}
