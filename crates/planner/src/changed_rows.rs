//! How the rows are found that UPDATE and DELETE change. Main function: [`plan_changed_rows`].

use crate::bind::Binder;
use crate::lower::limited;
use crate::planning::settle_change;
use crate::subquery_joins::join_subqueries;
use errors::SqlResult;
use optimizer::{JoinGoal, Joined, LogicalSelect, plan_joins};
use plan::physical::{ExplainRow, Node};

/// How rows to be changed are found.
pub(crate) struct ChangedRows {
    pub node: Node,
    /// The index by which a table alone is read.
    pub index: usize,
    /// The table that comes first.
    pub first: Option<usize>,
}

/// Whether subqueries of WHERE may be joined with the tables whose rows are changed: as in MySQL, not where rows have an order or a
/// limit, because such a statement changes them one by one as it finds them.
pub(crate) fn may_join_subqueries(binder: &Binder<'_>, is_ordered: bool, is_limited: bool) -> bool {
    !is_ordered && !is_limited && !binder.subqueries.open.is_empty()
}

/// Chooses how the rows of a statement's block are found, which is on top of the stack.
pub(crate) fn plan_changed_rows(
    binder: &mut Binder<'_>,
    mut select: LogicalSelect,
) -> SqlResult<ChangedRows> {
    settle_change(binder, &mut select)?;
    binder.subqueries.ask_first(binder.blocks.len(), select.conditions.iter());
    if may_join_subqueries(binder, !select.order.is_empty(), select.limit.is_some()) {
        join_subqueries(binder, &mut select)?;
    }
    let LogicalSelect { tree, conditions, semijoins, order, limit, select_type, .. } = select;
    let rows_wanted = limit.as_ref().map(|_| 10.0);
    let goal = JoinGoal { order: order.clone(), rows_wanted, ..JoinGoal::default() };
    let Joined { node, ordered, explain, first, .. } =
        plan_joins(&mut binder.optimizer(), tree, conditions, semijoins, goal, false)?;
    let id = Some(binder.block().number);
    if binder.input.explains {
        let lines = explain.into_iter();
        binder.explain.extend(lines.map(|row| ExplainRow { id, select_type, ..row }));
    }
    let index = match &node {
        Node::Table(access) => access.path.index,
        _ => 0,
    };
    let node = if order.is_empty() || ordered {
        node
    } else {
        Node::Sort { input: Box::new(node), keys: order, limit: limit.clone() }
    };
    Ok(ChangedRows { node: limited(node, limit, false), index, first })
}
