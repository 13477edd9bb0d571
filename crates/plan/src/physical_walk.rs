//! Walks over all expressions of a physical tree. Main function: [`for_each_expression`].

use crate::lateral::LateralAccess;
use crate::physical::{
    AccessPath, Aggregate, KeyCondition, NestedLoop, Node, RowLimit, TableAccess, VirtualAccess,
};
use expression::{Expression, ExpressionKind};
use std::sync::Arc;

/// Moves the outer references of a tree by so many places.
pub fn shift_outer_references(mut node: Node, by: usize) -> Node {
    for_each_expression(&mut node, &mut |expression| {
        expression.replace(&mut |part| match part.kind {
            ExpressionKind::Outer(number) => {
                Some(Expression { kind: ExpressionKind::Outer(number + by), result: part.result.clone() })
            }
            _ => None,
        });
    });
    node
}

fn each(all: &mut [Expression], visit: &mut dyn FnMut(&mut Expression)) {
    all.iter_mut().for_each(visit);
}

fn table(access: &mut TableAccess, visit: &mut dyn FnMut(&mut Expression)) {
    each(&mut access.conditions, visit);
    let AccessPath { ranges, union, .. } = &mut access.path;
    let of_union = union.iter_mut().flat_map(|path| path.ranges.iter_mut().flatten().flatten());
    for conditions in ranges.iter_mut().flatten().flatten().chain(of_union) {
        match conditions {
            KeyCondition::Points(points) => points.iter_mut().for_each(|(point, _)| visit(point)),
            KeyCondition::Range { low, high } => {
                low.iter_mut().chain(high).for_each(|(bound, _)| visit(bound));
            }
            KeyCondition::Prefix(pattern, _) => visit(pattern),
        }
    }
}

fn virtual_table(access: &mut VirtualAccess, visit: &mut dyn FnMut(&mut Expression)) {
    each(&mut access.conditions, visit);
    access.keys.iter_mut().for_each(|key| each(&mut key.points, visit));
}

fn lateral(access: &mut LateralAccess, visit: &mut dyn FnMut(&mut Expression)) {
    each(&mut access.arguments, visit);
    each(&mut access.conditions, visit);
}

fn nested_loop<A>(
    join: &mut NestedLoop<A>,
    visit: &mut dyn FnMut(&mut Expression),
    inner: impl FnOnce(&mut A, &mut dyn FnMut(&mut Expression)),
) {
    for_each_expression(&mut join.outer, visit);
    inner(&mut join.inner, visit);
    each(&mut join.conditions, visit);
}

fn aggregate(step: &mut Aggregate, visit: &mut dyn FnMut(&mut Expression)) {
    each(&mut step.keys, visit);
    for call in &mut step.aggregates {
        each(&mut call.arguments, visit);
        call.order_by.iter_mut().for_each(|key| visit(&mut key.expression));
    }
}

fn row_limit(limit: &mut RowLimit, visit: &mut dyn FnMut(&mut Expression)) {
    limit.count.iter_mut().chain(&mut limit.offset).for_each(visit);
}

/// Calls `visit` for every expression of a tree. Of queries in FROM only those that read outer values are looked at: their
/// references are numbered as those of the query that reads them. Queries behind LATERAL have numbers of their own.
pub fn for_each_expression(node: &mut Node, visit: &mut dyn FnMut(&mut Expression)) {
    match node {
        Node::Nothing | Node::OneRow { .. } | Node::OuterRow { .. } | Node::RecursiveInput { .. } => {}
        Node::Values { rows } => rows.iter_mut().for_each(|row| each(row, visit)),
        Node::Table(access) | Node::Count(access) => table(access, visit),
        Node::Virtual(access) => virtual_table(access, visit),
        Node::Derived(access) => {
            each(&mut access.conditions, visit);
            if !access.query.outer.is_empty() {
                for_each_expression(&mut Arc::make_mut(&mut access.query).root, visit);
            }
        }
        Node::Lateral(access) => lateral(access, visit),
        Node::NestedLoop(join) => nested_loop(join, visit, table),
        Node::VirtualLoop(join) => nested_loop(join, visit, virtual_table),
        Node::LateralLoop(join) => nested_loop(join, visit, lateral),
        Node::TreeLoop(join) => {
            nested_loop(join, visit, |tree, visit| for_each_expression(&mut tree.node, visit));
        }
        Node::HashJoin(join) => {
            for_each_expression(&mut join.probe, visit);
            for_each_expression(&mut join.build, visit);
            for key in &mut join.keys {
                visit(&mut key.probe);
                visit(&mut key.build);
            }
            each(&mut join.conditions, visit);
        }
        Node::Filter { input, conditions } => {
            for_each_expression(input, visit);
            each(conditions, visit);
        }
        Node::Aggregate(step) => {
            for_each_expression(&mut step.input, visit);
            aggregate(step, visit);
        }
        Node::Window(step) => {
            for_each_expression(&mut step.input, visit);
            step.for_each_expression(visit);
        }
        Node::Project { input, expressions } => {
            for_each_expression(input, visit);
            each(expressions, visit);
        }
        Node::Distinct { input, .. } => for_each_expression(input, visit),
        Node::Sort { input, keys, limit } => {
            for_each_expression(input, visit);
            keys.iter_mut().for_each(|key| visit(&mut key.expression));
            limit.iter_mut().for_each(|limit| row_limit(limit, visit));
        }
        Node::Limit { input, limit, .. } => {
            for_each_expression(input, visit);
            row_limit(limit, visit);
        }
        Node::SetOperation(operation) => {
            for_each_expression(&mut operation.first, visit);
            operation.rest.iter_mut().for_each(|term| for_each_expression(&mut term.node, visit));
        }
        Node::Append(inputs) => inputs.iter_mut().for_each(|input| for_each_expression(input, visit)),
        Node::Recursive(recursive) => {
            for_each_expression(&mut recursive.seed, visit);
            recursive.steps.iter_mut().for_each(|step| for_each_expression(&mut step.node, visit));
        }
    }
}
