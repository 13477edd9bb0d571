//! JSON_VALUE: the one scalar at a path as a value of a type, and what happens without one. The binder gives the call its type.

use super::arguments::Arguments;
use crate::{Call, FunctionDefinition, of_documents};
use charset::CollationId;
use errors::{SqlError, SqlResult, code, sql_error};
use expression::{DocumentWatch, ResultType, TypeClass};
use values::json::{self, Fit, Node};
use values::temporal::DateRules;
use values::{ColumnType, TypeKind, Value};

/// JSON_VALUE(document, path, what happens without a value, and on errors, defaults for both): the grammar's form alone leads to it.
pub static JSON_VALUE: FunctionDefinition =
    of_documents("json_value", 6, 6, |_| Ok(ResultType::json().nullable()), value);

/// What JSON_VALUE does where there is no value, or none of its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// NULL.
    Null,
    /// An error.
    Error,
    /// The value that is given for it.
    Default,
}

impl Reaction {
    /// As an argument of the call.
    pub fn number(self) -> u64 {
        match self {
            Reaction::Null => 0,
            Reaction::Error => 1,
            Reaction::Default => 2,
        }
    }
}

const ON_EMPTY: usize = 2;
const ON_ERROR: usize = 3;
/// Where the default for the reaction of an argument stands, behind it.
const DEFAULT_BEHIND: usize = 2;

fn value(call: &mut Call<'_>) -> SqlResult<Value> {
    let document = match call.document(0) {
        Ok(Some(document)) => document,
        Ok(None) => return Ok(Value::Null),
        Err(error) if error.is(&code::ER_INVALID_JSON_TEXT_IN_PARAM) => {
            let reacted = react(call, ON_ERROR, || error.clone())?;
            call.warn(error);
            return Ok(reacted);
        }
        Err(error) => return Err(error),
    };
    let Some(path) = call.path(1, false)? else { return Ok(Value::Null) };
    let found = ::json::find(document.node(), &path, &DocumentWatch::new(call.context()))?;
    let node = match found[..] {
        [] => return react(call, ON_EMPTY, || sql_error!(ER_MISSING_JSON_VALUE, call_name())),
        [node] => node,
        _ => return react(call, ON_ERROR, || sql_error!(ER_MULTIPLE_JSON_VALUES, call_name())),
    };
    if matches!(node, Node::Null) {
        return Ok(Value::Null);
    }
    let target = &call.result().column_type;
    match converted(node, target) {
        Some(value) => Ok(value),
        None => react(call, ON_ERROR, || sql_error!(ER_DATA_OUT_OF_RANGE, kind_name(target), call_name())),
    }
}

fn call_name() -> &'static str {
    JSON_VALUE.name
}

fn react(call: &mut Call<'_>, reaction: usize, error: impl FnOnce() -> SqlError) -> SqlResult<Value> {
    let number = call.integer(reaction)?;
    match number {
        Some(number) if number == Reaction::Error.number() as i64 => Err(error()),
        Some(number) if number == Reaction::Default.number() as i64 => call.value(reaction + DEFAULT_BEHIND),
        _ => Ok(Value::Null),
    }
}

/// A document as a value of exactly that type; None if it is none.
fn converted(node: Node<'_>, target: &ColumnType) -> Option<Value> {
    let whole = |fit: Fit| (fit == Fit::Whole).then_some(());
    Some(match expression::result_type::class_of(target.kind) {
        TypeClass::Json => Value::Bytes(node.to_document()),
        TypeClass::Text | TypeClass::Null => return text(node, target),
        TypeClass::Integer => {
            let (number, fit) = json::to_integer(node);
            whole(fit)?;
            match (target.kind, target.unsigned) {
                (TypeKind::Year, _) => Value::Int(i64::try_from(number).ok().filter(|year| is_year(*year))?),
                (_, true) => Value::UInt(u64::try_from(number).ok()?),
                (_, false) => Value::Int(i64::try_from(number).ok()?),
            }
        }
        TypeClass::Decimal => {
            let (exact, fit) = json::to_decimal(node);
            whole(fit)?;
            Value::Decimal(exact.fit(target.precision(), target.scale()).ok()?.0)
        }
        TypeClass::Double => {
            let (number, fit) = json::to_f64(node);
            whole(fit)?;
            match target.kind {
                TypeKind::Float => Value::Float(Some(number as f32).filter(|number| number.is_finite())?),
                _ => Value::Double(number),
            }
        }
        TypeClass::DateTime => {
            let (moment, has_time) = json::to_date_time(node, DateRules::default())?;
            match target.kind {
                TypeKind::Date => Value::Date(moment.date),
                // A date alone is no moment.
                _ if !has_time => return None,
                _ => Value::DateTime(moment.truncated(target.fractional_digits())),
            }
        }
        TypeClass::Time => Value::Time(json::to_time(node)?.truncated(target.fractional_digits())),
    })
}

/// Whether YEAR has it.
pub(super) fn is_year(year: i64) -> bool {
    year == 0 || (1901..=2155).contains(&year)
}

fn text(node: Node<'_>, target: &ColumnType) -> Option<Value> {
    let bytes = match node {
        Node::String(text) => text.to_vec(),
        node => expression::json::bare_text(node),
    };
    let (from, to) = (CollationId::UTF8MB4_BIN, target.collation);
    let bytes = match to == CollationId::BINARY {
        true => bytes,
        false => expression::convert::text_of_set(bytes, from, to).ok()?,
    };
    let characters = to.charset().character_count(&bytes);
    (characters <= target.length.unwrap_or(u32::MAX) as usize).then_some(Value::Bytes(bytes))
}

/// What errors call the type.
fn kind_name(target: &ColumnType) -> &'static str {
    match target.kind {
        TypeKind::Decimal => "DECIMAL",
        TypeKind::Float => "FLOAT",
        TypeKind::Double => "DOUBLE",
        TypeKind::Date => "DATE",
        TypeKind::Time => "TIME",
        TypeKind::DateTime => "DATETIME",
        TypeKind::Year => "YEAR",
        kind if kind.is_integer() && target.unsigned => "UNSIGNED",
        kind if kind.is_integer() => "SIGNED",
        _ => "STRING",
    }
}
