//! Which expressions can neither fail nor warn nor leave a trace, whatever the row holds: these may be moved, copied and left out.
//! Main function: [`is_silent`]. It may be wrong in one direction only: what it does not know is not silent.

use crate::result_type::TypeClass;
use crate::tree::{Expression, ExpressionKind};

/// Whether it yields its value and does nothing else.
pub fn is_silent(expression: &Expression) -> bool {
    match &expression.kind {
        ExpressionKind::Literal(_)
        | ExpressionKind::Parameter(_)
        | ExpressionKind::Column(_)
        | ExpressionKind::Outer(_) => true,
        ExpressionKind::IsNull(operand) => is_silent(operand),
        ExpressionKind::And(terms) | ExpressionKind::Or(terms) => terms.iter().all(is_silent_truth),
        ExpressionKind::Not(operand) => is_silent_truth(operand),
        ExpressionKind::Compare(comparison) => are_compared_silently(&comparison.left, &comparison.right),
        ExpressionKind::Between(between) => {
            let operand = &between.operand;
            are_compared_silently(operand, &between.low.1) && are_compared_silently(operand, &between.high.1)
        }
        ExpressionKind::In(list) => {
            list.list.iter().all(|(_, member)| are_compared_silently(&list.operand, member))
        }
        _ => false,
    }
}

/// Whether neither is converted to be compared with the other, or numbers are compared.
pub fn are_alike(left: &Expression, right: &Expression) -> bool {
    left.result.class() == right.result.class() || is_number(left) && is_number(right)
}

fn is_silent_truth(expression: &Expression) -> bool {
    is_number(expression) && is_silent(expression)
}

fn are_compared_silently(left: &Expression, right: &Expression) -> bool {
    are_alike(left, right) && is_silent(left) && is_silent(right)
}

fn is_number(expression: &Expression) -> bool {
    matches!(expression.result.class(), TypeClass::Integer | TypeClass::Decimal | TypeClass::Double)
}
