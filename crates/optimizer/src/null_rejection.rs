//! Which conditions cannot hold for a row of NULLs, so that an outer join is an inner one. Main function: [`rejects_null`].
//! `NOT` of a condition that is unknown is unknown as well; what a function makes of NULL is not looked at.

use crate::{Block, JoinTree, tables_of};
use expression::operators::ComparisonOperator;
use expression::{Expression, ExpressionKind, SubqueryUse};
use plan::physical::{JoinKind, Node};

impl Block {
    /// Whether a condition cannot hold for a row of NULLs of one of these tables, so that the outer join is an inner one. As
    /// in MySQL the alternatives of OR must agree on the table.
    pub fn rejects_null(&self, condition: &Expression, tables: u64) -> bool {
        let rejects = |table: u64| rejects_null(condition, &|column| tables_of(self, column) & table != 0);
        (0..u64::BITS).map(|number| 1 << number).filter(|table| tables & table != 0).any(rejects)
    }

    /// Turns the outer joins whose rows without a match do not pass the filters to inner joins.
    pub fn make_inner(&self, tree: &mut JoinTree, filters: &[Expression]) {
        let JoinTree::Join { left, right, outer, conditions, .. } = tree else { return };
        let inner_tables = right.tables();
        *outer &= !filters.iter().any(|filter| self.rejects_null(filter, inner_tables));
        if *outer {
            self.make_inner(left, filters);
            self.make_inner(right, conditions);
        } else {
            let both: Vec<Expression> = filters.iter().chain(&*conditions).cloned().collect();
            self.make_inner(left, &both);
            self.make_inner(right, &both);
        }
    }
}

/// Whether a condition cannot hold when a column of those that `is_meant` picks is NULL.
pub fn rejects_null(condition: &Expression, is_meant: &dyn Fn(&Expression) -> bool) -> bool {
    let is_null = |operand: &Expression| gives_null(operand, is_meant);
    match &condition.kind {
        ExpressionKind::Compare(_) | ExpressionKind::In(_) | ExpressionKind::Like(_) => {
            is_unknown(condition, is_meant)
        }
        ExpressionKind::Between(between) => {
            is_null(&between.operand)
                || !between.negated && (is_null(&between.low.1) || is_null(&between.high.1))
        }
        ExpressionKind::Not(inner) => match &inner.kind {
            ExpressionKind::IsNull(operand) => is_null(operand),
            ExpressionKind::Between(between) => is_null(&between.operand),
            _ => is_unknown(inner, is_meant),
        },
        ExpressionKind::And(terms) => terms.iter().any(|term| rejects_null(term, is_meant)),
        ExpressionKind::Or(terms) => {
            !terms.is_empty() && terms.iter().all(|term| rejects_null(term, is_meant))
        }
        ExpressionKind::Subquery(call) => call.wanted == SubqueryUse::In && call.operands.iter().any(is_null),
        _ => false,
    }
}

/// Whether a condition on the rows of a query cannot hold when such a value is NULL, so that it has no rows then.
pub fn node_rejects_null(node: &Node, is_meant: &dyn Fn(&Expression) -> bool) -> bool {
    let rejects = |conditions: &[Expression]| conditions.iter().any(|one| rejects_null(one, is_meant));
    match node {
        Node::Project { input, .. } | Node::Distinct { input, .. } | Node::Sort { input, .. } => {
            node_rejects_null(input, is_meant)
        }
        Node::Filter { input, conditions } => rejects(conditions) || node_rejects_null(input, is_meant),
        Node::Table(access) => rejects(&access.conditions),
        Node::NestedLoop(join) => {
            let inner = || rejects(&join.conditions) || rejects(&join.inner.conditions);
            join.kind == JoinKind::Inner && inner() || node_rejects_null(&join.outer, is_meant)
        }
        Node::VirtualLoop(join) => node_rejects_null(&join.outer, is_meant),
        Node::LateralLoop(join) => node_rejects_null(&join.outer, is_meant),
        Node::TreeLoop(join) => node_rejects_null(&join.outer, is_meant),
        _ => false,
    }
}

/// Whether a comparison is neither true nor false when such a column is NULL.
fn is_unknown(condition: &Expression, is_meant: &dyn Fn(&Expression) -> bool) -> bool {
    let is_null = |operand: &Expression| gives_null(operand, is_meant);
    match &condition.kind {
        ExpressionKind::Compare(comparison) => {
            comparison.operator != ComparisonOperator::NullSafeEqual
                && (is_null(&comparison.left) || is_null(&comparison.right))
        }
        ExpressionKind::In(list) => is_null(&list.operand),
        ExpressionKind::Like(like) => is_null(&like.operand),
        _ => false,
    }
}

/// Whether a value is NULL when such a column is.
fn gives_null(value: &Expression, is_meant: &dyn Fn(&Expression) -> bool) -> bool {
    match &value.kind {
        ExpressionKind::Column(_) | ExpressionKind::Outer(_) => is_meant(value),
        ExpressionKind::Arithmetic(operation) => {
            gives_null(&operation.left, is_meant) || gives_null(&operation.right, is_meant)
        }
        ExpressionKind::Negate(operand) | ExpressionKind::Retyped(operand) => gives_null(operand, is_meant),
        ExpressionKind::Cast(cast) => gives_null(&cast.operand, is_meant),
        _ => false,
    }
}
