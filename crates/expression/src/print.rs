//! The text of an expression in errors and EXPLAIN, and structural equality. Both look at every node kind.

use crate::operators::{Between, Case, InList};
use crate::print_call::{write_call, write_cast};
use crate::result_type::{Coercibility, ResultType};
use crate::tree::{Expression, ExpressionKind, SubqueryUse};
use std::fmt::{Display, Formatter, Result};
use values::{TypeKind, Value, ValueRef};

impl Display for Expression {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match &self.kind {
            ExpressionKind::Literal(value) => write_literal(value, &self.result, f),
            ExpressionKind::Column(column) => f.write_str(&column.name),
            ExpressionKind::Parameter(_) => f.write_str("?"),
            ExpressionKind::Outer(index) => write!(f, "outer {index}"),
            ExpressionKind::UserVariable(name) => write!(f, "(@`{name}`)"),
            ExpressionKind::AssignUserVariable(name, value) => write!(f, "(@{name}:={value})"),
            ExpressionKind::SystemVariable(_, name) => write!(f, "@@`{name}`"),
            ExpressionKind::Arithmetic(operation) => {
                write!(f, "({} {} {})", operation.shown(0), operation.operator.sign(), operation.shown(1))
            }
            ExpressionKind::Negate(operand) => write!(f, "-({operand})"),
            ExpressionKind::Bit(operation) => match &operation.right {
                Some(right) => write!(f, "({} {} {right})", operation.left, operation.operator.sign()),
                None => write!(f, "~({})", operation.left),
            },
            ExpressionKind::Compare(comparison) => {
                write!(f, "({} {} {})", comparison.left, comparison.operator.sign(), comparison.right)
            }
            ExpressionKind::And(terms) => write_joined(terms, " and ", Truth, f),
            ExpressionKind::Or(terms) => write_joined(terms, " or ", Truth, f),
            ExpressionKind::Xor(terms) => write_joined(&**terms, " xor ", Truth, f),
            ExpressionKind::Not(operand) => write_not(operand, f),
            ExpressionKind::IsNull(operand) => write!(f, "({operand} is null)"),
            ExpressionKind::IsTruth(operand, wanted) => write!(f, "({} is {wanted})", Truth(operand)),
            ExpressionKind::Between(_)
            | ExpressionKind::In(_)
            | ExpressionKind::Like(_)
            | ExpressionKind::Regexp(_) => write_predicate(&self.kind, f),
            ExpressionKind::Case(case) => write_case(case, f),
            ExpressionKind::Cast(cast) => write_cast(cast, &self.result.column_type, f),
            ExpressionKind::Retyped(operand) if is_collated(operand, &self.result) => {
                write!(f, "({operand} collate {})", self.result.collation().get().name)
            }
            ExpressionKind::Retyped(operand) => write!(f, "{operand}"),
            ExpressionKind::DateArithmetic(operation) => {
                let sign = if operation.subtract { "-" } else { "+" };
                let unit = operation.unit.name();
                write!(f, "({} {sign} interval {} {unit})", operation.operand, operation.amount)
            }
            ExpressionKind::Function(call) => write_call(call, f),
            ExpressionKind::Routine(call) => {
                write!(f, "`{}`.`{}`", call.routine.schema, call.routine.name)?;
                write_joined(&call.arguments, ",", |argument| argument, f)
            }
            ExpressionKind::Aggregate(index) => write!(f, "aggregate {index}"),
            ExpressionKind::Window(index) => write!(f, "window {index}"),
            ExpressionKind::Subquery(call) => write!(f, "(subquery {})", call.id),
            ExpressionKind::Row(members) => write_joined(members, ",", |member| member, f),
        }
    }
}

/// BETWEEN, IN, LIKE and REGEXP, each with its NOT.
fn write_predicate(kind: &ExpressionKind, f: &mut Formatter<'_>) -> Result {
    match kind {
        ExpressionKind::Between(between) => write_between(between, between.negated, f),
        ExpressionKind::In(list) => write_in(list, list.negated, f),
        ExpressionKind::Like(like) => {
            let (open, close) = if like.negated { ("(not(", "))") } else { ("", "") };
            write!(f, "{open}({} like {}", like.operand, like.pattern)?;
            if let Some(escape) = like.escape.filter(|escape| *escape != '\\') {
                write!(f, " escape '{escape}'")?;
            }
            write!(f, "){close}")
        }
        ExpressionKind::Regexp(regexp) => {
            let (open, close) = if regexp.negated { ("(not(", "))") } else { ("", "") };
            write!(f, "{open}regexp_like({},{}){close}", regexp.operand, regexp.pattern)
        }
        _ => Ok(()),
    }
}

fn write_joined<'e, D: Display>(
    terms: &'e [Expression],
    between: &str,
    shown: impl Fn(&'e Expression) -> D,
    f: &mut Formatter<'_>,
) -> Result {
    f.write_str("(")?;
    for (index, term) in terms.iter().enumerate() {
        if index > 0 {
            f.write_str(between)?;
        }
        write!(f, "{}", shown(term))?;
    }
    f.write_str(")")
}

/// An operand whose truth is wanted: what is no condition is compared with 0.
struct Truth<'e>(&'e Expression);

impl Display for Truth<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match is_condition(self.0) {
            true => write!(f, "{}", self.0),
            false => write!(f, "(0 <> {})", self.0),
        }
    }
}

/// Whether an expression is a condition: true, false or unknown, by what it is and not by its type.
pub fn is_condition(expression: &Expression) -> bool {
    use ExpressionKind as Kind;
    match &expression.kind {
        Kind::Compare(_) | Kind::And(_) | Kind::Or(_) | Kind::Xor(_) | Kind::Not(_) => true,
        Kind::IsNull(_) | Kind::IsTruth(..) => true,
        Kind::Between(_) | Kind::In(_) | Kind::Like(_) | Kind::Regexp(_) => true,
        Kind::Subquery(call) => !matches!(call.wanted, SubqueryUse::Scalar | SubqueryUse::Row),
        Kind::Literal(_) => is_truth_literal(expression),
        // No table has such a column: it stands for a condition, as EXPLAIN's subqueries do.
        Kind::Column(_) => expression.result == ResultType::boolean(),
        Kind::Function(call) => {
            CONDITIONS.contains(&call.definition.name) || call.definition.name.starts_with("is_ipv")
        }
        _ => false,
    }
}

/// Functions that are conditions, besides those whose names begin with `is_ipv`.
const CONDITIONS: [&str; 10] = [
    "is_uuid",
    "isnull",
    "regexp_like",
    "strcmp",
    "json_contains",
    "json_contains_path",
    "json_overlaps",
    "json_schema_valid",
    "json_valid",
    "member of",
];

fn is_truth_literal(expression: &Expression) -> bool {
    matches!(expression.kind, ExpressionKind::Literal(Value::Int(0 | 1))) && expression.result.is_truth
}

/// NOT, which goes into the condition where MySQL has a word for that.
fn write_not(operand: &Expression, f: &mut Formatter<'_>) -> Result {
    match &operand.kind {
        ExpressionKind::IsNull(inner) => write!(f, "({inner} is not null)"),
        ExpressionKind::IsTruth(inner, wanted) => write!(f, "({} is not {wanted})", Truth(inner)),
        ExpressionKind::In(list) if !list.negated => write_in(list, true, f),
        ExpressionKind::Between(between) if !between.negated => write_between(between, true, f),
        _ if is_condition(operand) => write!(f, "(not({operand}))"),
        _ => write!(f, "(0 = {operand})"),
    }
}

fn write_between(between: &Between, negated: bool, f: &mut Formatter<'_>) -> Result {
    let not = if negated { "not " } else { "" };
    write!(f, "({} {not}between {} and {})", between.operand, between.low.1, between.high.1)
}

fn write_in(list: &InList, negated: bool, f: &mut Formatter<'_>) -> Result {
    let not = if negated { "not " } else { "" };
    write!(f, "({} {not}in (", list.operand)?;
    for (index, (_, member)) in list.list.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        write!(f, "{comma}{member}")?;
    }
    f.write_str("))")
}

fn write_case(case: &Case, f: &mut Formatter<'_>) -> Result {
    f.write_str("(case")?;
    // The operand of `CASE x WHEN y` stands in each comparison.
    for (index, (condition, result)) in case.branches.iter().enumerate() {
        match &condition.kind {
            ExpressionKind::Compare(comparison) if case.compares => {
                if index == 0 {
                    write!(f, " {}", comparison.left)?;
                }
                write!(f, " when {} then {result}", comparison.right)?;
            }
            _ => write!(f, " when {condition} then {result}")?,
        }
    }
    if let Some(otherwise) = &case.otherwise {
        write!(f, " else {otherwise}")?;
    }
    f.write_str(" end)")
}

/// Whether a COLLATE clause gave an expression its type.
fn is_collated(operand: &Expression, result: &ResultType) -> bool {
    result.coercibility == Coercibility::Explicit && operand.result.coercibility != Coercibility::Explicit
}

/// A constant as it would be written; a sign is an operator.
fn write_literal(value: &Value, result: &ResultType, f: &mut Formatter<'_>) -> Result {
    let digits = result.column_type.decimals.unwrap_or(0);
    match value {
        Value::Null => f.write_str("NULL"),
        Value::Int(value @ (0 | 1)) if *result == ResultType::boolean() => {
            f.write_str(if *value == 1 { "true" } else { "false" })
        }
        Value::Int(value) if *value < 0 => write!(f, "-({})", value.unsigned_abs()),
        Value::Int(value) => write!(f, "{value}"),
        Value::UInt(value) => write!(f, "{value}"),
        Value::Decimal(value) if value.is_negative() => write!(f, "-({})", value.negated()),
        Value::Decimal(value) => write!(f, "{value}"),
        Value::Float(value) => write!(f, "{value}"),
        Value::Double(value) if *value < 0.0 => write!(f, "-({:e})", -value),
        Value::Double(value) => write!(f, "{value:e}"),
        Value::Bytes(bytes) if result.is_number_bytes() && !bytes.is_empty() => {
            f.write_str("0x")?;
            bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
        }
        Value::Bytes(bytes) => {
            let is_json = result.kind() == TypeKind::Json;
            let text =
                values::convert::to_text(ValueRef::Bytes(bytes), &result.column_type).unwrap_or_default();
            f.write_str(if is_json { "json'" } else { "'" })?;
            for character in String::from_utf8_lossy(&text).chars() {
                match character {
                    '\0' => f.write_str("\\0")?,
                    '\n' => f.write_str("\\n")?,
                    '\r' => f.write_str("\\r")?,
                    '\'' | '\\' => write!(f, "\\{character}")?,
                    _ => write!(f, "{character}")?,
                }
            }
            f.write_str("'")
        }
        Value::Date(date) => write!(f, "DATE'{}'", crate::convert::date_text(*date)),
        Value::Time(time) => write!(f, "TIME'{}'", crate::convert::time_text(*time, digits)),
        Value::DateTime(value) => write!(f, "TIMESTAMP'{}'", crate::convert::datetime_text(*value, digits)),
        #[allow(unreachable_patterns)]
        _ => f.write_str("?"),
    }
}

/// Whether two expressions are the same computation.
pub fn same(left: &Expression, right: &Expression) -> bool {
    // Columns are asked for more than all others.
    if let (ExpressionKind::Column(left), ExpressionKind::Column(right)) = (&left.kind, &right.kind) {
        return left.slot == right.slot;
    }
    if std::mem::discriminant(&left.kind) != std::mem::discriminant(&right.kind) || !same_head(left, right) {
        return false;
    }
    if left.is_leaf() {
        return true;
    }
    // Nor do most conditions need a list of what is below them.
    if let (ExpressionKind::Compare(left), ExpressionKind::Compare(right)) = (&left.kind, &right.kind) {
        return same(&left.left, &right.left) && same(&left.right, &right.right);
    }
    let mut children = Vec::new();
    right.for_each_child(&mut |child| children.push(child));
    let (mut others, mut are_same) = (children.into_iter(), true);
    left.for_each_child(&mut |child| {
        are_same = are_same && others.next().is_some_and(|other| same(child, other));
    });
    are_same && others.next().is_none()
}

/// Compares what a node has besides its children.
pub(crate) fn same_head(left: &Expression, right: &Expression) -> bool {
    use ExpressionKind as Kind;
    match (&left.kind, &right.kind) {
        (Kind::Literal(left), Kind::Literal(right)) => left == right,
        (Kind::Parameter(left), Kind::Parameter(right)) => left == right,
        (Kind::Outer(left), Kind::Outer(right)) => left == right,
        (Kind::Aggregate(left), Kind::Aggregate(right)) => left == right,
        (Kind::Window(left), Kind::Window(right)) => left == right,
        (Kind::UserVariable(left), Kind::UserVariable(right)) => left == right,
        (Kind::SystemVariable(left, name), Kind::SystemVariable(right, other)) => {
            left == right && name == other
        }
        (Kind::Arithmetic(left), Kind::Arithmetic(right)) => left.operator == right.operator,
        (Kind::Bit(left), Kind::Bit(right)) => left.operator == right.operator,
        (Kind::Compare(left), Kind::Compare(right)) => left.operator == right.operator,
        (Kind::IsTruth(_, left), Kind::IsTruth(_, right)) => left == right,
        (Kind::Between(left), Kind::Between(right)) => left.negated == right.negated,
        (Kind::In(left), Kind::In(right)) => left.negated == right.negated,
        (Kind::Like(left), Kind::Like(right)) => left.negated == right.negated && left.escape == right.escape,
        (Kind::Regexp(left), Kind::Regexp(right)) => left.negated == right.negated,
        (Kind::Case(left), Kind::Case(right)) => left.branches.len() == right.branches.len(),
        (Kind::Cast(_), Kind::Cast(_)) | (Kind::Retyped(_), Kind::Retyped(_)) => {
            left.result.column_type == right.result.column_type
        }
        (Kind::DateArithmetic(left), Kind::DateArithmetic(right)) => {
            left.unit == right.unit && left.subtract == right.subtract
        }
        (Kind::Function(left), Kind::Function(right)) => {
            left.definition.canonical_name() == right.definition.canonical_name()
                && (!left.definition.differs_between_rows() || left.site == right.site)
        }
        (Kind::Subquery(left), Kind::Subquery(right)) => left.id == right.id && left.part == right.part,
        (Kind::AssignUserVariable(..) | Kind::Routine(_), _) => false,
        _ => true,
    }
}
