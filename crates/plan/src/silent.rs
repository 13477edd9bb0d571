//! Whether a search can fail, warn or leave a trace, so that it matters when each row is looked at. Main function:
//! [`is_silent`]. It may be wrong in one direction only: what it does not know is not silent.

use crate::physical::{KeyCondition, Node, TableAccess, VirtualAccess};
use expression::Expression;
use expression::silent::{are_alike, is_silent as speaks_not};

/// Whether nobody can tell in which order the rows of the tree are looked at and used.
pub fn is_silent(node: &Node) -> bool {
    match node {
        // All rows of these are computed before the first is handed out.
        Node::Nothing | Node::OneRow { .. } | Node::OuterRow { .. } => true,
        Node::Count(_) | Node::Sort { .. } => true,
        Node::Aggregate(step) if !step.in_order => true,
        Node::Aggregate(step) => {
            let mut arguments = step.aggregates.iter().flat_map(|call| &call.arguments);
            is_silent(&step.input) && are_silent(&step.keys) && arguments.all(speaks_not)
        }
        Node::Window(step) => is_silent(&step.input) && step.expressions().all(speaks_not),
        Node::Values { rows } => rows.iter().all(|row| are_silent(row)),
        Node::Table(access) => is_silent_access(access),
        Node::Virtual(access) => is_silent_virtual(access),
        Node::Derived(access) => is_silent(&access.query.root) && are_silent(&access.conditions),
        Node::NestedLoop(join) => {
            is_silent(&join.outer) && is_silent_access(&join.inner) && are_silent(&join.conditions)
        }
        Node::VirtualLoop(join) => {
            is_silent(&join.outer) && is_silent_virtual(&join.inner) && are_silent(&join.conditions)
        }
        // A lateral source is opened row by row of what stands before it.
        Node::Lateral(_) | Node::LateralLoop(_) => false,
        Node::TreeLoop(join) => {
            is_silent(&join.outer) && is_silent(&join.inner.node) && are_silent(&join.conditions)
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

fn is_silent_virtual(access: &VirtualAccess) -> bool {
    are_silent(&access.conditions) && access.keys.iter().all(|key| are_silent(&key.points))
}

fn are_silent(expressions: &[Expression]) -> bool {
    expressions.iter().all(speaks_not)
}
