//! What is read again for each row around: a query in FROM that reads nothing of that row is computed once for all. Main function:
//! [`keep_repeated`].

use crate::Plan;
use crate::physical::Node;
use std::sync::Arc;

/// Has the rows kept of the queries in FROM of a tree that is opened again and again, unless they depend on the row that it is
/// opened for. Sources behind LATERAL, trees within joins and common tables see to their own.
pub fn keep_repeated(node: &mut Node) {
    match node {
        Node::Derived(access) if access.query.outer.is_empty() => access.kept = true,
        // All uses of it share its plan.
        Node::Derived(access) if access.common_table.is_some() => {}
        Node::Derived(access) => keep_repeated(&mut Arc::make_mut(&mut access.query).root),
        Node::NestedLoop(join) => keep_repeated(&mut join.outer),
        Node::VirtualLoop(join) => keep_repeated(&mut join.outer),
        Node::LateralLoop(join) => keep_repeated(&mut join.outer),
        Node::TreeLoop(join) => {
            keep_repeated(&mut join.outer);
            keep_repeated(&mut join.inner.node);
        }
        Node::HashJoin(join) => {
            keep_repeated(&mut join.probe);
            keep_repeated(&mut join.build);
        }
        Node::Filter { input, .. }
        | Node::Project { input, .. }
        | Node::Distinct { input, .. }
        | Node::Sort { input, .. }
        | Node::Limit { input, .. } => keep_repeated(input),
        Node::Aggregate(step) => keep_repeated(&mut step.input),
        Node::Window(step) => keep_repeated(&mut step.input),
        Node::SetOperation(operation) => {
            keep_repeated(&mut operation.first);
            operation.rest.iter_mut().for_each(|term| keep_repeated(&mut term.node));
        }
        Node::Append(inputs) => inputs.iter_mut().for_each(keep_repeated),
        Node::Recursive(recursive) => {
            keep_repeated(&mut recursive.seed);
            recursive.steps.iter_mut().for_each(|step| keep_repeated(&mut step.node));
        }
        Node::Nothing
        | Node::OneRow { .. }
        | Node::OuterRow { .. }
        | Node::Values { .. }
        | Node::Table(_)
        | Node::Virtual(_)
        | Node::Lateral(_)
        | Node::Count(_)
        | Node::RecursiveInput { .. } => {}
    }
}

/// The same of all subqueries of a plan that run more than once.
pub fn keep_in_subqueries(plan: &mut Plan) {
    for subquery in &mut plan.subqueries {
        if subquery.repeats || !subquery.query.outer.is_empty() {
            keep_repeated(&mut subquery.query.root);
        }
    }
}
