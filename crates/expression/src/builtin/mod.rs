//! What a built-in function is: name, arity, type rule, evaluation. Main types: [`FunctionDefinition`], [`Call`]. The functions
//! are in crate `builtins`; here are those that no name of SQL leads to.

mod call;
mod derivation;
mod kept;
mod once;

pub use call::Call;
pub use derivation::Derivation;
pub use once::ONCE_NAME;
pub(crate) use once::known_once;

use crate::result_type::ResultType;
use crate::tree::{Expression, ExpressionKind, FunctionCall};
use errors::{SqlResult, sql_error};
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
    /// Whether the binder put it in: a conversion, not an operation that somebody wrote.
    pub hidden: bool,
    /// What it sees of JSON arguments.
    pub json: JsonArguments,
    /// Type rule. May convert arguments.
    pub derive: fn(&mut Derivation<'_>) -> SqlResult<ResultType>,
    /// Evaluation for one row.
    pub evaluate: fn(&mut Call<'_>) -> SqlResult<Value>,
}

/// What a function sees of its arguments that are JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonArguments {
    /// Their text: it knows nothing of JSON.
    Text,
    /// Floating point numbers.
    Numbers,
    /// The text that a date or time is read from.
    Moments,
    /// Documents.
    Documents,
}

type Derive = fn(&mut Derivation<'_>) -> SqlResult<ResultType>;
type Evaluate = fn(&mut Call<'_>) -> SqlResult<Value>;

/// A function of its arguments alone.
pub const fn pure(
    name: &'static str,
    arguments_min: usize,
    arguments_max: usize,
    derive: Derive,
    evaluate: Evaluate,
) -> FunctionDefinition {
    let json = JsonArguments::Text;
    FunctionDefinition {
        name,
        arguments_min,
        arguments_max,
        pure: true,
        hidden: false,
        json,
        derive,
        evaluate,
    }
}

/// A function that reads or changes something besides: the session, the clock, chance.
pub const fn acting(
    name: &'static str,
    arguments_min: usize,
    arguments_max: usize,
    derive: Derive,
    evaluate: Evaluate,
) -> FunctionDefinition {
    let json = JsonArguments::Text;
    FunctionDefinition {
        name,
        arguments_min,
        arguments_max,
        pure: false,
        hidden: false,
        json,
        derive,
        evaluate,
    }
}

/// A function that no name of SQL leads to: whoever builds expressions puts it around one ([`Expression::inner_call`]).
pub const fn inner(name: &'static str, arguments: usize, evaluate: Evaluate) -> FunctionDefinition {
    let own = |derivation: &mut Derivation<'_>| Ok(derivation.argument(0).clone());
    let definition = pure(name, arguments, arguments, own, evaluate).taking(JsonArguments::Documents);
    FunctionDefinition { hidden: true, ..definition }
}

impl FunctionDefinition {
    /// The same function, which sees that of JSON arguments.
    pub const fn taking(self, json: JsonArguments) -> FunctionDefinition {
        FunctionDefinition { json, ..self }
    }

    /// Makes of JSON arguments what the function sees of them.
    pub(crate) fn convert_json(&self, arguments: &mut [Expression]) {
        let make = match self.json {
            JsonArguments::Text => crate::json::make_text,
            JsonArguments::Numbers => crate::json::make_number,
            JsonArguments::Moments => crate::json::make_bare,
            JsonArguments::Documents => return,
        };
        arguments.iter_mut().for_each(make);
    }
}

impl Expression {
    /// A call of such a function, of a type that the caller knows. `site` is unique within the plan where the function keeps
    /// something between calls.
    pub fn inner_call(
        definition: &'static FunctionDefinition,
        arguments: Vec<Expression>,
        site: usize,
        result: ResultType,
    ) -> Expression {
        let call = FunctionCall { definition, arguments, site };
        Expression { kind: ExpressionKind::Function(Box::new(call)), result }
    }
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

/// What the operator MEMBER OF is called as a function; no text leads to it.
pub const MEMBER_OF: &str = "member of";
/// The function that makes an array of its arguments.
pub const JSON_ARRAY: &str = "json_array";
/// The function that asks whether a document has all elements of another.
pub const CONTAINS: &str = "json_contains";
/// The function that asks whether a document has some element of another.
pub const OVERLAPS: &str = "json_overlaps";

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

/// Whether a function hands on an argument as it is, or is a constant of the server, so that its text cannot be too long.
pub fn picks_argument_or_fact(name: &str) -> bool {
    matches!(
        name,
        "any_value"
            | "coalesce"
            | "greatest"
            | "icu_version"
            | "if"
            | "ifnull"
            | "least"
            | "make_set"
            | "name_const"
            | "version"
            | "version_with_update"
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
