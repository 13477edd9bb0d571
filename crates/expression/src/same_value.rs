//! Whether one expression may stand for another that was bound for another session: [`yields_same`]. [`Expression::same`] asks less,
//! for expressions of one statement.

use crate::operators::ComparisonMode;
use crate::print::same_head;
use crate::{Expression, ExpressionKind, TypeClass};
use values::{TypeKind, Value};

/// Whether both yield the same value of the same type for each row, whatever the sessions are for which they were bound. Names of
/// columns do not count.
pub fn yields_same(left: &Expression, right: &Expression) -> bool {
    same_under(left, right, false)
}

/// The same of an operand. Of a text that takes no part in a collation its bytes alone count.
fn same_under(left: &Expression, right: &Expression, is_plain: bool) -> bool {
    use ExpressionKind as Kind;
    match (&left.kind, &right.kind) {
        (Kind::Column(left), Kind::Column(right)) => return left.slot == right.slot,
        (Kind::Literal(Value::Bytes(left)), Kind::Literal(Value::Bytes(right)))
            if is_plain && left.is_ascii() =>
        {
            return left == right;
        }
        _ => {}
    }
    if let (Some(left), Some(right)) = (day_of(left), day_of(right)) {
        return yields_same(left, right);
    }
    if std::mem::discriminant(&left.kind) != std::mem::discriminant(&right.kind)
        || left.result.column_type != right.result.column_type
        || left.result.coercibility != right.result.coercibility
        || !same_head(left, right)
        || !same_rules(left, right)
    {
        return false;
    }
    let are_plain = takes_plain_texts(left);
    let mut children = Vec::new();
    right.for_each_child(&mut |child| children.push(child));
    let (mut others, mut are_same) = (children.into_iter(), true);
    left.for_each_child(&mut |child| {
        are_same = are_same && others.next().is_some_and(|other| same_under(child, other, are_plain));
    });
    are_same && others.next().is_none()
}

/// Whether the collation of its texts does not count: paths and keys of documents.
fn takes_plain_texts(expression: &Expression) -> bool {
    matches!(&expression.kind, ExpressionKind::Function(call) if call.definition.canonical_name().starts_with("json_"))
}

/// What DATE() or CAST(.. AS DATE), as which it is kept, takes the day of.
fn day_of(expression: &Expression) -> Option<&Expression> {
    let operand = match &expression.kind {
        ExpressionKind::Function(call) if call.definition.canonical_name() == "date" => {
            call.arguments.first()?
        }
        ExpressionKind::Cast(cast) if expression.result.kind() == TypeKind::Date => &cast.operand,
        _ => return None,
    };
    (operand.result.class() == TypeClass::DateTime).then_some(operand)
}

/// Compares by which rules the nodes compute, of which [`Expression::same`] takes for granted that they follow from the operands.
fn same_rules(left: &Expression, right: &Expression) -> bool {
    use ExpressionKind as Kind;
    match (&left.kind, &right.kind) {
        (Kind::Arithmetic(left), Kind::Arithmetic(right)) => left.mode == right.mode,
        (Kind::Bit(left), Kind::Bit(right)) => left.over_bytes == right.over_bytes,
        (Kind::Compare(left), Kind::Compare(right)) => left.mode == right.mode,
        (Kind::Between(left), Kind::Between(right)) => {
            left.low.0 == right.low.0 && left.high.0 == right.high.0
        }
        (Kind::In(left), Kind::In(right)) => {
            let modes = |list: &[(ComparisonMode, Expression)]| {
                list.iter().map(|(mode, _)| *mode).collect::<Vec<_>>()
            };
            modes(&left.list) == modes(&right.list)
        }
        (Kind::Like(left), Kind::Like(right)) => left.collation == right.collation,
        (Kind::Regexp(left), Kind::Regexp(right)) => left.collation == right.collation,
        (Kind::Case(left), Kind::Case(right)) => left.compares == right.compares,
        (Kind::Cast(left), Kind::Cast(right)) => left.failure == right.failure,
        _ => true,
    }
}
