//! Whether a search can fail, warn or leave a trace, so that it matters when each row is looked at. Main function:
//! [`is_silent`]. It may be wrong in one direction only: what it does not know is not silent.

use expression::{Expression, ExpressionKind, TypeClass};
use plan::physical::{KeyCondition, Node, TableAccess};

/// Whether nobody can tell in which order the rows of the tree are looked at and used.
pub fn is_silent(node: &Node) -> bool {
    match node {
        // All rows of these are computed before the first is handed out.
        Node::Nothing | Node::OneRow { .. } | Node::Aggregate(_) | Node::Count(_) | Node::Sort { .. } => true,
        Node::Values { rows } => rows.iter().all(|row| are_silent(row)),
        Node::Table(access) => is_silent_access(access),
        Node::Virtual(access) => are_silent(&access.conditions),
        Node::Derived(access) => is_silent(&access.query.root) && are_silent(&access.conditions),
        Node::NestedLoop(join) => {
            is_silent(&join.outer) && is_silent_access(&join.inner) && are_silent(&join.conditions)
        }
        Node::HashJoin(join) => {
            let keys = &mut join.keys.iter();
            is_silent(&join.probe)
                && keys.all(|key| speaks_not(&key.probe) && are_alike(&key.probe, &key.build))
                && are_silent(&join.conditions)
        }
        Node::Filter { input, conditions } => is_silent(input) && are_silent(conditions),
        Node::Project { input, expressions } => is_silent(input) && are_silent(expressions),
        Node::Distinct { input, .. } | Node::Limit { input, .. } => is_silent(input),
        Node::SetOperation(operation) => {
            is_silent(&operation.first) && operation.rest.iter().all(|term| is_silent(&term.node))
        }
        Node::Append(inputs) => inputs.iter().all(is_silent),
        Node::Recursive(_) | Node::RecursiveInput { .. } => false,
    }
}

fn is_silent_access(access: &TableAccess) -> bool {
    let bounds = |condition: &KeyCondition| match condition {
        KeyCondition::Points(points) => points.iter().all(|(point, _)| speaks_not(point)),
        KeyCondition::Range { low, high } => low.iter().chain(high).all(|(bound, _)| speaks_not(bound)),
        KeyCondition::Prefix(pattern, _) => speaks_not(pattern),
    };
    are_silent(&access.conditions) && access.path.key_conditions().all(bounds)
}

fn are_silent(expressions: &[Expression]) -> bool {
    expressions.iter().all(speaks_not)
}

/// Whether an expression yields its value and does nothing else, whatever the row holds.
fn speaks_not(expression: &Expression) -> bool {
    match &expression.kind {
        ExpressionKind::Literal(_)
        | ExpressionKind::Parameter(_)
        | ExpressionKind::Column(_)
        | ExpressionKind::Outer(_) => true,
        ExpressionKind::IsNull(operand) => speaks_not(operand),
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

fn is_silent_truth(expression: &Expression) -> bool {
    is_number(expression) && speaks_not(expression)
}

fn are_compared_silently(left: &Expression, right: &Expression) -> bool {
    are_alike(left, right) && speaks_not(left) && speaks_not(right)
}

/// Whether neither is converted to be compared with the other, or numbers are compared.
fn are_alike(left: &Expression, right: &Expression) -> bool {
    left.result.class() == right.result.class() || is_number(left) && is_number(right)
}

fn is_number(expression: &Expression) -> bool {
    matches!(expression.result.class(), TypeClass::Integer | TypeClass::Decimal | TypeClass::Double)
}
