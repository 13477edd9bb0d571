//! A SELECT whose names are resolved and whose expressions have types: what it asks for, and nothing of how it is done. The
//! planner makes it, changes it by rewrites, and makes a physical tree of it. Main type: [`LogicalSelect`].

use crate::{Block, BoundTable, JoinTree, SelectItem};
use expression::{Expression, ExpressionKind};
use plan::dependence::DerivedDependence;
use plan::physical::{OutputColumn, QueryPlan, RowLimit, SortKey};
use std::sync::Arc;

/// A bound SELECT. Tables, slots, group keys and aggregates are in its [`Block`].
#[derive(Clone, Debug, Default)]
pub struct LogicalSelect {
    /// FROM; None without tables.
    pub tree: Option<JoinTree>,
    /// WHERE, taken apart at its ANDs.
    pub conditions: Vec<Expression>,
    /// Conditions of WHERE that ask for a row of a subquery, or for none.
    pub semijoins: Vec<SemiJoin>,
    /// Whether it groups, be it in one group. What follows the grouping reads groups then.
    pub groups: bool,
    /// Whether it has GROUP BY.
    pub has_group_keys: bool,
    /// WITH ROLLUP.
    pub rollup: bool,
    /// Whether HAVING is written.
    pub has_having: bool,
    /// Whether window functions are computed of its rows or groups: nothing may leave out rows below them.
    pub has_windows: bool,
    /// HAVING, taken apart at its ANDs.
    pub having: Vec<Expression>,
    /// The select list.
    pub items: Vec<SelectItem>,
    /// The select list as a client sees it that gets the rows as they are computed.
    pub shown: Vec<OutputColumn>,
    /// How many items behind the others are not of the result.
    pub handed_on: usize,
    /// DISTINCT.
    pub distinct: bool,
    /// ORDER BY without constants.
    pub order: Vec<SortKey>,
    /// LIMIT.
    pub limit: Option<RowLimit>,
    /// SQL_CALC_FOUND_ROWS.
    pub counts_all: bool,
    /// STRAIGHT_JOIN.
    pub is_straight: bool,
    /// Whether it is an operand of a set operation.
    pub is_operand: bool,
    /// Whether EXISTS asks for a row of it: no second one is read.
    pub is_asked_for_row: bool,
    /// SIMPLE, PRIMARY, SUBQUERY, ... of EXPLAIN.
    pub select_type: &'static str,
}

/// The tables of a subquery of which WHERE asks for a row.
#[derive(Clone, Debug)]
pub struct SemiJoin {
    /// The tables, which are in the block.
    pub tree: JoinTree,
    /// What must hold of the row, and of it and the row of FROM.
    pub conditions: Vec<Expression>,
    /// Whether there must be none.
    pub negated: bool,
}

/// A bound SELECT with its block, before it is chosen how it is done.
#[derive(Clone, Debug)]
pub struct OpenSelect {
    /// Its tables, slots, group keys and aggregates.
    pub block: Block,
    /// What it asks for.
    pub select: LogicalSelect,
    /// The greatest number of a block in it.
    pub last_block: u32,
}

/// A query in FROM.
#[derive(Clone, Debug)]
pub enum Derived {
    /// One whose rows are made before the query around it reads them.
    Planned(Arc<QueryPlan>),
    /// One whose tables the query around it may read in its place.
    Open(Arc<OpenSelect>),
}

impl Derived {
    /// Its result columns.
    pub fn columns(&self) -> &[OutputColumn] {
        match self {
            Derived::Planned(plan) => &plan.columns,
            Derived::Open(open) => &open.select.shown,
        }
    }

    /// Whether MySQL keeps its rows in a temporary table.
    pub fn is_kept(&self) -> bool {
        match self {
            Derived::Planned(plan) => plan.root.is_kept_in_from(),
            Derived::Open(_) => false,
        }
    }

    /// What determines what among its columns.
    pub fn dependence(&self) -> Option<&Arc<DerivedDependence>> {
        match self {
            Derived::Planned(plan) => plan.dependence.as_ref(),
            Derived::Open(open) => open.block.dependence.as_ref(),
        }
    }
}

impl OpenSelect {
    /// Whether the query that reads it in FROM, and beside which it stands if it has outer references, may read its tables in its place, and WHERE with them.
    pub fn is_mergeable(&self) -> bool {
        let select = &self.select;
        let is_plain = |item: &SelectItem| {
            !item.expression.any(&|part| {
                matches!(part.kind, ExpressionKind::Subquery(_) | ExpressionKind::AssignUserVariable(..))
            })
        };
        let is_outer = |part: &Expression| matches!(part.kind, ExpressionKind::Outer(_));
        // Within its own joins, rows of the query that reads it are not there; and who shares its outer references is planned.
        let is_apart = || {
            !select.tree.as_ref().is_some_and(|tree| tree.has_condition(&|one| one.any(&is_outer)))
                && !self.block.tables.iter().any(BoundTable::reads_outer_values)
        };
        select.tree.is_some()
            && (self.block.outer.is_empty() || is_apart())
            && !(select.groups || select.has_windows || select.distinct || select.has_having || select.rollup)
            && !(select.limit.is_some() || select.counts_all || select.is_straight)
            && select.items.iter().all(is_plain)
    }
}
