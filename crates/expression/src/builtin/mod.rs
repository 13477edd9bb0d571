//! The registry of built-in functions: name, arity, type rule, evaluation. Main types: [`FunctionDefinition`],
//! [`Call`]. Each family is a file with a `FUNCTIONS` table; see the crate's README for how to add one.

mod call;
mod control;
mod derivation;
mod extremes;
mod hash;
mod identity;
mod information;
mod kept;
mod locks;
mod miscellaneous;
mod network;
mod numeric;
mod once;
mod parameters;
mod regexp;
mod string;
mod temporal;

pub use call::Call;
pub use derivation::Derivation;
pub(crate) use once::{ONCE_NAME, known_once};
pub use parameters::{ArgumentRule, argument_rule};

use crate::result_type::ResultType;
use crate::tree::{Expression, ExpressionKind, FunctionCall};
use errors::{SqlResult, sql_error};
use std::collections::HashMap;
use std::sync::LazyLock;
use values::Value;

/// A built-in function.
#[derive(Debug)]
pub struct FunctionDefinition {
    /// Name in lower case.
    pub name: &'static str,
    /// Fewest arguments.
    pub arguments_min: usize,
    /// Most arguments; `usize::MAX` for no limit.
    pub arguments_max: usize,
    /// Whether equal arguments always give equal results and nothing else happens, so that a call with constant
    /// arguments may be folded when the plan is made.
    pub pure: bool,
    /// Type rule. May convert arguments.
    pub derive: fn(&mut Derivation<'_>) -> SqlResult<ResultType>,
    /// Evaluation for one row.
    pub evaluate: fn(&mut Call<'_>) -> SqlResult<Value>,
}

type Derive = fn(&mut Derivation<'_>) -> SqlResult<ResultType>;
type Evaluate = fn(&mut Call<'_>) -> SqlResult<Value>;

/// A function of its arguments alone.
const fn pure(
    name: &'static str,
    arguments_min: usize,
    arguments_max: usize,
    derive: Derive,
    evaluate: Evaluate,
) -> FunctionDefinition {
    FunctionDefinition { name, arguments_min, arguments_max, pure: true, derive, evaluate }
}

/// A function that reads or changes something besides: the session, the clock, chance.
const fn acting(
    name: &'static str,
    arguments_min: usize,
    arguments_max: usize,
    derive: Derive,
    evaluate: Evaluate,
) -> FunctionDefinition {
    FunctionDefinition { name, arguments_min, arguments_max, pure: false, derive, evaluate }
}

/// A function that no name of SQL leads to: whoever builds expressions puts it around one ([`Expression::inner_call`]).
pub(crate) const fn inner(name: &'static str, arguments: usize, evaluate: Evaluate) -> FunctionDefinition {
    pure(name, arguments, arguments, |derivation| Ok(derivation.argument(0).clone()), evaluate)
}

impl Expression {
    /// A call of such a function, of a type that the caller knows. `site` is unique within the plan where the function keeps
    /// something between calls.
    pub(crate) fn inner_call(
        definition: &'static FunctionDefinition,
        arguments: Vec<Expression>,
        site: usize,
        result: ResultType,
    ) -> Expression {
        let call = FunctionCall { definition, arguments, site };
        Expression { kind: ExpressionKind::Function(Box::new(call)), result }
    }
}

/// The families.
static FAMILIES: &[&[FunctionDefinition]] = &[
    control::FUNCTIONS,
    extremes::FUNCTIONS,
    hash::FUNCTIONS,
    identity::FUNCTIONS,
    information::FUNCTIONS,
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

/// Pairs of names for one function: the one that is also spelled differently, and how it is spelled else.
const SYNONYMS: &[(&str, &str)] = &[
    ("ceiling", "ceil"),
    ("character_length", "char_length"),
    ("current_date", "curdate"),
    ("current_time", "curtime"),
    ("current_timestamp", "now"),
    ("dayofmonth", "day"),
    ("lcase", "lower"),
    ("localtime", "now"),
    ("localtimestamp", "now"),
    ("mid", "substring"),
    ("octet_length", "length"),
    ("power", "pow"),
    ("substr", "substring"),
    ("ucase", "upper"),
];

impl FunctionDefinition {
    /// The name that stands for all synonyms.
    pub fn canonical_name(&self) -> &'static str {
        SYNONYMS.iter().find(|(synonym, _)| *synonym == self.name).map_or(self.name, |(_, name)| name)
    }

    /// Whether equal arguments give different results from row to row of one statement.
    pub fn differs_between_rows(&self) -> bool {
        !self.pure
            && matches!(
                self.name,
                "benchmark"
                    | "get_lock"
                    | "last_insert_id"
                    | "rand"
                    | "random_bytes"
                    | "release_all_locks"
                    | "release_lock"
                    | "sleep"
                    | "sysdate"
                    | "uuid"
                    | "uuid_short"
            )
    }
}

/// Whether a function hands on an argument as it is, so that its text cannot be too long.
pub fn picks_argument(name: &str) -> bool {
    matches!(
        name,
        "any_value" | "coalesce" | "greatest" | "if" | "ifnull" | "least" | "make_set" | "name_const"
    )
}

/// Whether the type of a call depends on the value of that argument, if it is constant, or its evaluation is prepared with it.
/// MySQL evaluates it then, and again when the call runs.
pub fn asks_before(name: &str, position: usize) -> bool {
    match name {
        "space" => position == 0,
        "repeat" | "lpad" | "rpad" | "left" | "right" | "sha2" | "str_to_date" => position == 1,
        "substring" | "substr" | "mid" => position > 0,
        "round" | "truncate" => position == 1,
        "interval" => true,
        _ => false,
    }
}

/// Error 1582 unless the function takes that many arguments.
pub fn check_arity(definition: &FunctionDefinition, count: usize) -> SqlResult<()> {
    if (definition.arguments_min..=definition.arguments_max).contains(&count) {
        return Ok(());
    }
    Err(sql_error!(ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT, definition.name))
}
