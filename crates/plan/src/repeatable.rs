//! Whether a plan serves other literals as well as the ones it was made for. Main functions: [`is_repeatable`], [`varying_access`].
//! Such plans are kept by the shape of their text. What is chosen by the values (the range of a secondary index, an
//! order of joins) is planned with its values each time: planning is a small part of such a statement.

use crate::physical::{KeyCondition, Node, QueryPlan, TableAccess};
use crate::{DeletePlan, InsertPlan, InsertRows, Plan, PlanKind, UpdatePlan};
use expression::{Expression, ExpressionKind};

/// Rows that an access by a secondary key may find and still be right for other keys.
const ROWS_PER_KEY_MAX: f64 = 1000.0;
/// Rows of an INSERT. Longer ones take their time elsewhere.
const INSERT_ROWS_MAX: usize = 16;

/// Whether the plan serves other literals of the same types.
pub fn is_repeatable(plan: &Plan) -> bool {
    if plan.volatile || !plan.subqueries.is_empty() || plan.recursions > 0 {
        return false;
    }
    match &plan.kind {
        PlanKind::Query(query, None) => query_is_repeatable(query),
        PlanKind::Insert(insert) => insert_is_repeatable(insert),
        PlanKind::Update(update) => update_is_repeatable(update),
        PlanKind::Delete(delete) => delete_is_repeatable(delete),
        PlanKind::Query(_, Some(_)) | PlanKind::Load(_) | PlanKind::Do(_) => false,
    }
}

fn query_is_repeatable(query: &QueryPlan) -> bool {
    query.outer.is_empty() && node_is_repeatable(&query.root)
}

fn insert_is_repeatable(insert: &InsertPlan) -> bool {
    matches!(&insert.rows, InsertRows::Values(rows) if rows.len() <= INSERT_ROWS_MAX)
}

fn update_is_repeatable(update: &UpdatePlan) -> bool {
    update.targets.len() == 1 && node_is_repeatable(&update.node)
}

fn delete_is_repeatable(delete: &DeletePlan) -> bool {
    delete.targets.len() == 1 && node_is_repeatable(&delete.node)
}

fn node_is_repeatable(node: &Node) -> bool {
    match node {
        Node::Table(access) => access_is_repeatable(access),
        // Where the values leave one row, MySQL knows it beforehand: what is computed of it has other types than what a temporary
        // table keeps.
        Node::Distinct { input, .. } if computes(input) => false,
        Node::Filter { input, .. }
        | Node::Project { input, .. }
        | Node::Distinct { input, .. }
        | Node::Sort { input, .. }
        | Node::Limit { input, .. } => node_is_repeatable(input),
        Node::Aggregate(aggregate) => node_is_repeatable(&aggregate.input),
        _ => false,
    }
}

/// The table that a plan with values in it reads, where these decide how many rows that are. None if a row at most is read, or several
/// tables are.
pub fn varying_access(plan: &Plan) -> Option<&TableAccess> {
    let root = match &plan.kind {
        PlanKind::Query(query, None) => &query.root,
        PlanKind::Update(update) => &update.node,
        PlanKind::Delete(delete) => &delete.node,
        PlanKind::Query(_, Some(_)) | PlanKind::Insert(_) | PlanKind::Load(_) | PlanKind::Do(_) => {
            return None;
        }
    };
    only_access(root).filter(|access| !access.path.single_row)
}

/// Whether two plans of one statement read their table alike.
pub fn reads_alike(one: &Plan, other: &Plan) -> bool {
    let way = |access: &TableAccess| {
        let path = &access.path;
        (path.index, path.covering, path.ranges.is_some(), path.union.len())
    };
    varying_access(one).map(way) == varying_access(other).map(way)
}

fn only_access(node: &Node) -> Option<&TableAccess> {
    match node {
        Node::Table(access) | Node::Count(access) => Some(access),
        Node::Filter { input, .. }
        | Node::Project { input, .. }
        | Node::Distinct { input, .. }
        | Node::Sort { input, .. }
        | Node::Limit { input, .. } => only_access(input),
        Node::Aggregate(aggregate) => only_access(&aggregate.input),
        _ => None,
    }
}

/// Whether anything but columns is selected.
fn computes(node: &Node) -> bool {
    match node {
        Node::Project { expressions, .. } => expressions.iter().any(|shown| shown.column_slot().is_none()),
        Node::Sort { input, .. } | Node::Limit { input, .. } => computes(input),
        _ => false,
    }
}

/// A whole key of a unique index is the best access for any value. Other keys and ranges of the clustered index are
/// if no condition is on another column, which another index could have answered better.
fn access_is_repeatable(access: &TableAccess) -> bool {
    if access.path.single_row {
        return true;
    }
    let Some(ranges) = &access.path.ranges else { return false };
    let points = ranges.iter().flatten().all(|part| matches!(part, KeyCondition::Points(_)));
    if access.path.index != 0 && !(points && access.rows_read <= ROWS_PER_KEY_MAX) {
        return false;
    }
    let index = &access.table.indexes()[access.path.index];
    let Some(definition) = index.definition(&access.table) else { return false };
    let in_key = |slot: usize| {
        access
            .columns
            .iter()
            .filter(|(_, known)| *known == slot)
            .all(|(column, _)| definition.parts.iter().any(|part| part.column == *column))
    };
    let on_key = |condition: &Expression| {
        !condition.any(&|part| matches!(&part.kind, ExpressionKind::Column(column) if !in_key(column.slot)))
    };
    access.conditions.iter().all(on_key)
}
