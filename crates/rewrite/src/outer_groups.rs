//! A scalar subquery in one implicit group whose rows are told by equalities with the row around, as in `x < (SELECT AVG(b.y) FROM b WHERE
//! b.k = a.k)`: its aggregates are grouped by what is equal, so that its tables are read once for all rows around. Main functions:
//! [`grouped_by_outer`], [`takes_groups`].
//!
//! The subquery stays where it stands: it is asked only where it was before, and HAVING and the select list are computed for the groups
//! that are asked for. What is computed of other rows is silent, so that nobody can tell. Groups that are not there are empty ones.

use crate::semijoin::adds_silently;
use crate::ties::{Ties, is_free_of_outer, ties_of};
use expression::silent::is_silent;
use expression::{Expression, ResultType};
use optimizer::{
    Block, BoundTable, Derived, LogicalSelect, OpenSelect, SelectItem, Source, is_never, shown_column,
};
use plan::OuterKey;
use plan::physical::{Node, QueryPlan, RowLock};

/// A query for the keys and aggregates of all groups.
pub struct GroupedByOuter {
    /// The query: keys, then aggregates.
    pub open: OpenSelect,
    /// By what its rows are found.
    pub keys: Vec<OuterKey>,
}

/// The groups of a subquery that is settled, for all values of the rows around.
pub fn grouped_by_outer(block: &Block, select: &LogicalSelect, last_block: u32) -> Option<GroupedByOuter> {
    if block.outer.is_empty() || !groups_all_silently(block, select) {
        return None;
    }
    let Ties { columns, keys, conditions } = ties_of(block, select)?;
    let mut arguments = block.aggregates.iter().flat_map(|call| &call.arguments);
    let mut over_groups = select.items.iter().map(|item| &item.expression).chain(&select.having);
    if !arguments.all(is_free_of_outer) || !over_groups.all(is_free_of_outer) {
        return None;
    }
    let mut block = block.clone();
    block.outer.clear();
    block.group_keys = columns;
    let select = rows_of_groups(&block, select, conditions);
    Some(GroupedByOuter { open: OpenSelect { block, select, last_block }, keys })
}

/// A SELECT whose rows are groups: keys, then aggregates.
fn rows_of_groups(block: &Block, select: &LogicalSelect, conditions: Vec<Expression>) -> LogicalSelect {
    let keys = block.group_keys.iter().map(|key| &key.result);
    let results = keys.chain(block.aggregates.iter().map(|call| &call.result));
    let item = |(slot, result): (usize, &ResultType)| SelectItem {
        name: String::new(),
        expression: Expression::slot(slot, "group".into(), result.clone()),
    };
    let items: Vec<SelectItem> = results.enumerate().map(item).collect();
    LogicalSelect {
        tree: select.tree.clone(),
        conditions,
        groups: true,
        has_group_keys: true,
        shown: items.iter().map(|item| shown_column(block, &item.name, &item.expression)).collect(),
        items,
        // Nothing of it is kept in a table as MySQL would.
        is_operand: true,
        select_type: select.select_type,
        ..LogicalSelect::default()
    }
}

/// Whether all rows may be aggregated though some are not asked for.
fn groups_all_silently(block: &Block, select: &LogicalSelect) -> bool {
    let is_plain = |table: &BoundTable| {
        let is_read_alike = match &table.source {
            Source::Base(_) => true,
            Source::Derived(Derived::Planned(query), _) => {
                query.outer.is_empty() && plan::silent::is_silent(&query.root)
            }
            _ => false,
        };
        is_read_alike && table.lock == RowLock::None && table.key_slot.is_none()
    };
    let has_loud_join = |tree: &optimizer::JoinTree| tree.has_condition(&|condition| !is_silent(condition));
    select.groups
        && !(select.has_group_keys || select.has_windows)
        && !(select.rollup || select.limit.is_some() || select.counts_all || select.distinct)
        && select.semijoins.is_empty()
        && select.handed_on == 0
        && block.tables.iter().all(is_plain)
        && !select.tree.as_ref().is_none_or(has_loud_join)
        && select.conditions.iter().all(|condition| is_silent(condition) && !is_never(condition))
        && block.aggregates.iter().all(adds_silently)
}

/// Whether what a subquery shows can be computed of the aggregates of a group that was found otherwise.
pub fn takes_groups(node: &Node) -> bool {
    match node {
        Node::Project { input, .. } | Node::Filter { input, .. } => takes_groups(input),
        Node::Aggregate(aggregate) => aggregate.keys.is_empty(),
        _ => false,
    }
}

/// The query without its select list, if its rows are then groups.
pub fn without_select_list(query: QueryPlan) -> Option<QueryPlan> {
    match query.root {
        Node::Project { input, .. } if matches!(*input, Node::Aggregate(_)) => {
            Some(QueryPlan { root: *input, ..query })
        }
        _ => None,
    }
}
