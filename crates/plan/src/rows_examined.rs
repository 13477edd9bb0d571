//! How many rows of base tables a statement is estimated to read, which max_join_size bounds. Main function: [`check_rows_examined`].
//!
//! As MySQL counts: each table of a join for each row before it, a hashed one once, constant rows and counts not at all, all query blocks
//! together. Statements that change the rows of one table may read all of them. Subqueries count where they are joined: of the others MySQL
//! counts some, by the way it runs them.

use crate::lateral::LateralSource;
use crate::physical::{JoinKind, Node, QueryPlan, RowLimit, TableAccess};
use crate::{InsertRows, Plan, PlanKind};
use errors::{SqlResult, sql_error};
use expression::{EvaluationContext, Expression};
use values::{RowRef, Value};

/// What a part of a plan reads, and the rows that come of it.
#[derive(Clone, Copy, Default)]
struct Examined {
    read: f64,
    rows: f64,
}

/// What computes constants of LIMIT.
type Constants<'c> = &'c mut dyn EvaluationContext;

/// Error 1104 for a statement that would read more rows.
#[cold]
pub fn check_rows_examined(plan: &Plan, rows_max: u64, context: Constants<'_>) -> SqlResult<()> {
    let own = match &plan.kind {
        PlanKind::Query(query, _) => of_query(context, query),
        PlanKind::Insert(insert) => match &insert.rows {
            InsertRows::Query(query) => of_query(context, query),
            _ => 0.0,
        },
        PlanKind::Update(update) if update.targets.len() > 1 || !reads_one_table(&update.node) => {
            of_node(context, &update.node).read
        }
        PlanKind::Delete(delete) if delete.targets.len() > 1 || !reads_one_table(&delete.node) => {
            of_node(context, &delete.node).read
        }
        PlanKind::Update(_) | PlanKind::Delete(_) | PlanKind::Load(_) | PlanKind::Do(_) => return Ok(()),
    };
    match own > rows_max as f64 {
        true => Err(sql_error!(ER_TOO_BIG_SELECT)),
        false => Ok(()),
    }
}

fn of_query(context: Constants<'_>, query: &QueryPlan) -> f64 {
    of_node(context, &query.root).read
}

fn of_node(context: Constants<'_>, node: &Node) -> Examined {
    let read = |one: Examined, other: Examined| one.read + other.read;
    match node {
        Node::Nothing | Node::RecursiveInput { .. } | Node::Count(_) => Examined::default(),
        Node::OneRow { .. } | Node::OuterRow { .. } | Node::Virtual(_) => Examined { read: 0.0, rows: 1.0 },
        Node::Values { rows } => Examined { read: 0.0, rows: rows.len() as f64 },
        Node::Table(access) => of_table(access),
        Node::Derived(access) => Examined { read: of_query(context, &access.query), rows: access.query.rows },
        Node::Lateral(access) => of_lateral(context, &access.source),
        Node::NestedLoop(join) => {
            looped(of_node(context, &join.outer), each_of_table(&join.inner), join.kind)
        }
        Node::VirtualLoop(join) => of_node(context, &join.outer),
        Node::LateralLoop(join) => {
            looped(of_node(context, &join.outer), of_lateral(context, &join.inner.source), join.kind)
        }
        Node::TreeLoop(join) => {
            looped(of_node(context, &join.outer), of_node(context, &join.inner.node), join.kind)
        }
        Node::HashJoin(join) => Examined {
            read: read(of_node(context, &join.probe), of_node(context, &join.build)),
            rows: join.rows,
        },
        Node::Filter { input, .. } | Node::Project { input, .. } => of_node(context, input),
        Node::Distinct { input, .. } | Node::Sort { input, .. } => of_node(context, input),
        Node::Aggregate(step) => of_node(context, &step.input),
        Node::Window(step) => of_node(context, &step.input),
        Node::Limit { input, limit, .. } => {
            let all = of_node(context, input);
            limited(context, all, input, limit)
        }
        Node::SetOperation(operation) => {
            operation.rest.iter().fold(of_node(context, &operation.first), |all, term| {
                let one = of_node(context, &term.node);
                Examined { read: read(all, one), rows: all.rows + one.rows }
            })
        }
        Node::Append(nodes) => nodes.iter().fold(Examined::default(), |all, node| {
            let one = of_node(context, node);
            Examined { read: read(all, one), rows: all.rows + one.rows }
        }),
        Node::Recursive(recursion) => {
            let steps: f64 = recursion.steps.iter().map(|step| of_node(context, &step.node).read).sum();
            let seed = of_node(context, &recursion.seed);
            Examined { read: seed.read + steps, ..seed }
        }
    }
}

/// A table alone. That a constant key finds a row is known before.
fn of_table(access: &TableAccess) -> Examined {
    let read = if access.path.single_row { 0.0 } else { access.rows_read };
    Examined { read, rows: access.rows_kept }
}

/// A table for one row before it.
fn each_of_table(access: &TableAccess) -> Examined {
    Examined { read: access.rows_read.max(1.0), rows: access.rows_kept }
}

fn of_lateral(context: Constants<'_>, source: &LateralSource) -> Examined {
    match source {
        LateralSource::Query { query, .. } => Examined { read: of_query(context, query), rows: query.rows },
        LateralSource::Json(_) => Examined { read: 0.0, rows: 1.0 },
    }
}

fn looped(outer: Examined, each: Examined, kind: JoinKind) -> Examined {
    let pairs = outer.rows * each.rows;
    let rows = match kind {
        JoinKind::Inner | JoinKind::Left => pairs,
        JoinKind::Semi | JoinKind::Anti => pairs.min(outer.rows),
    };
    Examined { read: outer.read + outer.rows * each.read, rows }
}

/// LIMIT ends the reading of rows that are not gathered first.
fn limited(context: Constants<'_>, all: Examined, input: &Node, limit: &RowLimit) -> Examined {
    let mut number = |part: Option<&Expression>| match part.map(|part| part.evaluate(RowRef::EMPTY, context))
    {
        None => Some(0.0),
        Some(Ok(Value::Int(count))) => Some(count as f64),
        Some(Ok(Value::UInt(count))) => Some(count as f64),
        Some(_) => None,
    };
    let wanted = number(limit.offset.as_ref()).zip(number(limit.count.as_ref()));
    match wanted.filter(|_| limit.count.is_some()) {
        Some((offset, count)) if streams(input) => {
            let wanted = offset + count;
            Examined { read: all.read.min(wanted), rows: all.rows.min(wanted) }
        }
        _ => all,
    }
}

fn streams(node: &Node) -> bool {
    match node {
        Node::Table(_) => true,
        Node::Filter { input, .. } | Node::Project { input, .. } => streams(input),
        _ => false,
    }
}

fn reads_one_table(node: &Node) -> bool {
    match node {
        Node::Table(_) | Node::Nothing | Node::OneRow { .. } => true,
        Node::Filter { input, .. } | Node::Project { input, .. } => reads_one_table(input),
        Node::Sort { input, .. } | Node::Limit { input, .. } => reads_one_table(input),
        _ => false,
    }
}
