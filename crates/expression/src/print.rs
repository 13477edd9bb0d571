//! The text of an expression in errors and EXPLAIN, and structural equality. Both look at every node kind.

use crate::operators::CastFailure;
use crate::result_type::ResultType;
use crate::tree::{Expression, ExpressionKind};
use std::fmt::{Display, Formatter, Result};
use values::Value;

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
                write!(f, "({} {} {})", operation.left, operation.operator.sign(), operation.right)
            }
            ExpressionKind::Negate(operand) => write!(f, "-({operand})"),
            ExpressionKind::Bit(operation) => match &operation.right {
                Some(right) => write!(f, "({} {} {right})", operation.left, operation.operator.sign()),
                None => write!(f, "~({})", operation.left),
            },
            ExpressionKind::Compare(comparison) => {
                write!(f, "({} {} {})", comparison.left, comparison.operator.sign(), comparison.right)
            }
            ExpressionKind::And(terms) => write_joined(terms, " and ", f),
            ExpressionKind::Or(terms) => write_joined(terms, " or ", f),
            ExpressionKind::Xor(terms) => write_joined(&**terms, " xor ", f),
            ExpressionKind::Not(operand) => write!(f, "(not({operand}))"),
            ExpressionKind::IsNull(operand) => write!(f, "({operand} is null)"),
            ExpressionKind::IsTruth(operand, wanted) => write!(f, "({operand} is {wanted})"),
            ExpressionKind::Between(_)
            | ExpressionKind::In(_)
            | ExpressionKind::Like(_)
            | ExpressionKind::Regexp(_) => write_predicate(&self.kind, f),
            ExpressionKind::Case(case) => {
                f.write_str("(case")?;
                for (condition, result) in &case.branches {
                    write!(f, " when {condition} then {result}")?;
                }
                if let Some(otherwise) = &case.otherwise {
                    write!(f, " else {otherwise}")?;
                }
                f.write_str(" end)")
            }
            ExpressionKind::Cast(cast)
                if matches!(cast.failure, CastFailure::Parameter | CastFailure::DateParameter) =>
            {
                write!(f, "{}", cast.operand)
            }
            ExpressionKind::Cast(cast) => write!(f, "cast({})", cast.operand),
            ExpressionKind::Retyped(operand) => write!(f, "{operand}"),
            ExpressionKind::DateArithmetic(operation) => {
                let sign = if operation.subtract { "-" } else { "+" };
                let unit = operation.unit.name();
                write!(f, "({} {sign} interval {} {unit})", operation.operand, operation.amount)
            }
            ExpressionKind::Function(call) if call.definition.name == crate::functions::ONCE_NAME => {
                write!(f, "{}", call.arguments[0])
            }
            ExpressionKind::Function(call) => {
                write!(f, "{}(", call.definition.name)?;
                for (index, argument) in call.arguments.iter().enumerate() {
                    let comma = if index == 0 { "" } else { "," };
                    write!(f, "{comma}{argument}")?;
                }
                f.write_str(")")
            }
            ExpressionKind::Aggregate(index) => write!(f, "aggregate {index}"),
            ExpressionKind::Window(index) => write!(f, "window {index}"),
            ExpressionKind::Subquery(call) => write!(f, "(subquery {})", call.id),
            ExpressionKind::Row(members) => write_joined(members, ",", f),
        }
    }
}

/// BETWEEN, IN, LIKE and REGEXP, each with its NOT.
fn write_predicate(kind: &ExpressionKind, f: &mut Formatter<'_>) -> Result {
    let not = |negated: bool| if negated { "not " } else { "" };
    match kind {
        ExpressionKind::Between(between) => {
            let (low, high) = (&between.low.1, &between.high.1);
            write!(f, "({} {}between {low} and {high})", between.operand, not(between.negated))
        }
        ExpressionKind::In(list) => {
            write!(f, "({} {}in (", list.operand, not(list.negated))?;
            for (index, (_, member)) in list.list.iter().enumerate() {
                let comma = if index == 0 { "" } else { "," };
                write!(f, "{comma}{member}")?;
            }
            f.write_str("))")
        }
        ExpressionKind::Like(like) => {
            write!(f, "({} {}like {})", like.operand, not(like.negated), like.pattern)
        }
        ExpressionKind::Regexp(regexp) => {
            write!(f, "({}regexp_like({},{}))", not(regexp.negated), regexp.operand, regexp.pattern)
        }
        _ => Ok(()),
    }
}

fn write_joined(terms: &[Expression], between: &str, f: &mut Formatter<'_>) -> Result {
    f.write_str("(")?;
    for (index, term) in terms.iter().enumerate() {
        if index > 0 {
            f.write_str(between)?;
        }
        write!(f, "{term}")?;
    }
    f.write_str(")")
}

/// A constant as it would be written; a sign is an operator.
fn write_literal(value: &Value, result: &ResultType, f: &mut Formatter<'_>) -> Result {
    let digits = result.column_type.decimals.unwrap_or(0);
    match value {
        Value::Null => f.write_str("NULL"),
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
            bytes.iter().try_for_each(|byte| write!(f, "{byte:02X}"))
        }
        Value::Bytes(bytes) => write!(f, "'{}'", String::from_utf8_lossy(bytes)),
        Value::Date(date) => write!(f, "DATE'{}'", crate::convert::date_text(*date)),
        Value::Time(time) => write!(f, "TIME'{}'", crate::convert::time_text(*time, digits)),
        Value::DateTime(value) => write!(f, "TIMESTAMP'{}'", crate::convert::datetime_text(*value, digits)),
        #[allow(unreachable_patterns)]
        _ => f.write_str("?"),
    }
}

/// Whether two expressions are the same computation.
pub fn same(left: &Expression, right: &Expression) -> bool {
    if std::mem::discriminant(&left.kind) != std::mem::discriminant(&right.kind) || !same_head(left, right) {
        return false;
    }
    let (mut left_children, mut right_children) = (Vec::new(), Vec::new());
    left.for_each_child(&mut |child| left_children.push(child));
    right.for_each_child(&mut |child| right_children.push(child));
    left_children.len() == right_children.len()
        && left_children.iter().zip(&right_children).all(|(left, right)| same(left, right))
}

/// Compares what a node has besides its children.
fn same_head(left: &Expression, right: &Expression) -> bool {
    use ExpressionKind as Kind;
    match (&left.kind, &right.kind) {
        (Kind::Literal(left), Kind::Literal(right)) => left == right,
        (Kind::Column(left), Kind::Column(right)) => left.slot == right.slot,
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
        (Kind::AssignUserVariable(..), _) => false,
        _ => true,
    }
}
