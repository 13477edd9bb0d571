//! Dates beside texts in IN and = ANY, whose rows MySQL joins. Main function: [`compare_joined_dates`].

use ::expression::operators::ComparisonOperator;
use ::expression::{Expression, ExpressionKind, SubqueryUse};
use optimizer::is_known_now;
use plan::SubqueryPlan;
use plan::physical::{Node, TableAccess};

/// MySQL joins the rows of IN and = ANY in a condition of WHERE with those of the query. Then dates are compared with
/// texts as in any condition of a join, elsewhere with their time.
pub(super) fn compare_joined_dates(subqueries: &mut [SubqueryPlan], conditions: &[Expression]) {
    for condition in conditions {
        let ExpressionKind::Subquery(call) = &condition.kind else { continue };
        let is_equal = matches!(call.wanted, SubqueryUse::In | SubqueryUse::Any(ComparisonOperator::Equal));
        let subquery = &mut subqueries[call.id];
        if !is_equal || !is_joined(&subquery.query.root) {
            continue;
        }
        let columns = call.operands.iter().zip(&subquery.query.columns);
        let constant = constant_columns(&subquery.query.root);
        for (at, ((mode, _), (operand, column))) in subquery.comparisons.iter_mut().zip(columns).enumerate() {
            if constant.get(at) == Some(&true) {
                continue;
            }
            let inner = Expression::slot(0, "column".into(), column.result.clone());
            *mode = mode.with_dates(operand, &inner);
        }
    }
}

/// Whether the rows of a subquery are those of its tables, neither grouped nor counted off.
fn is_joined(node: &Node) -> bool {
    match node {
        Node::Project { input, .. }
        | Node::Filter { input, .. }
        | Node::Distinct { input, .. }
        | Node::Sort { input, .. } => is_joined(input),
        Node::Table(_) | Node::Virtual(_) | Node::Derived(_) | Node::Lateral(_) => true,
        Node::NestedLoop(_) | Node::VirtualLoop(_) | Node::HashJoin(_) => true,
        Node::LateralLoop(_) | Node::TreeLoop(_) => true,
        _ => false,
    }
}

/// The columns of a subquery that show only what is read before all other rows.
fn constant_columns(root: &Node) -> Vec<bool> {
    match root {
        Node::Project { input, expressions } => {
            let mut slots = Vec::new();
            constant_slots(input, &mut slots);
            let is_constant = |shown: &Expression| {
                let read = shown.slots();
                !read.is_empty() && read.iter().all(|slot| slots.contains(slot))
            };
            expressions.iter().map(is_constant).collect()
        }
        Node::Filter { input, .. } | Node::Distinct { input, .. } | Node::Sort { input, .. } => {
            constant_columns(input)
        }
        _ => Vec::new(),
    }
}

fn constant_slots(node: &Node, found: &mut Vec<usize>) {
    let mut of_table = |access: &TableAccess| {
        let ranges = access.path.ranges.iter().flatten().flatten();
        if access.path.single_row && ranges.into_iter().all(is_known_now) {
            found.extend(access.columns.iter().map(|(_, slot)| *slot));
        }
    };
    match node {
        Node::Table(access) => of_table(access),
        Node::NestedLoop(join) => {
            of_table(&join.inner);
            constant_slots(&join.outer, found);
        }
        Node::VirtualLoop(join) => constant_slots(&join.outer, found),
        Node::LateralLoop(join) => constant_slots(&join.outer, found),
        Node::TreeLoop(join) => constant_slots(&join.outer, found),
        Node::HashJoin(join) => {
            constant_slots(&join.probe, found);
            constant_slots(&join.build, found);
        }
        Node::Filter { input, .. } => constant_slots(input, found),
        _ => {}
    }
}
