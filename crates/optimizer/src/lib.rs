//! The optimizer: from the bound tables and conditions of one query block to the nodes that read and join them, by cost; and
//! what is known of the rows before the query runs, as far as MySQL shows it. Entry points: [`plan_joins`], [`known_rows`],
//! [`skipping_rows`], [`extreme_rows`]. Main types: [`Optimizer`] and [`Survey`], over a [`Block`]. Binds nothing.
#![forbid(unsafe_code)]

mod access;
mod block;
mod build;
mod constant_condition;
mod cost;
mod early_subquery;
mod equal_columns;
mod equality;
mod explain_line;
mod extremes;
mod index_limits;
mod index_order;
mod join;
mod join_buffer;
mod join_cost;
mod join_order;
mod join_rows;
mod join_tree;
mod kept_slots;
mod key_use;
mod known;
mod known_values;
mod logical;
mod look_ups;
mod null_rejection;
mod order;
mod range_choice;
mod result_columns;
mod settle;
mod skip;
mod subquery_ways;
mod survey;
mod terms;
mod union;
mod virtual_keys;
mod window;

pub use access::{Candidate, is_known_now, selectivity};
pub use block::{Block, BoundColumn, BoundTable, Clause, SelectItem, Source, has_aggregate};
pub use constant_condition::{fails, is_always, is_known, is_never};
pub use cost::{runs_worth_groups, skipped_ns};
pub use early_subquery::{EarlyRuns, holds_for_no_group, leave_out_unasked};
pub use equal_columns::{EqualColumns, subject_of};
pub use equality::settle_contradictions;
pub use extremes::extreme_rows;
pub use index_limits::IndexLimits;
pub use join::plan_joins;
pub use join_tree::{JoinTree, TABLES_MAX, conjuncts};
pub use kept_slots::keep_what_is_read;
pub use key_use::reads_whole;
pub use known::{KnownRows, constant_tables, known_rows};
pub use logical::{Derived, LogicalSelect, OpenSelect, SemiJoin};
pub use null_rejection::{node_rejects_null, rejects_null};
pub use result_columns::{
    Grouping, ReadOrder, compute_chosen_year, compute_year, keep_in_table, shown_column,
};
pub use settle::{Settler, Settling, factor_alternatives, factor_joins};
pub use skip::skipping_rows;
pub use subquery_ways::{asked_subquery, implied_by_subqueries};
pub use survey::Survey;
pub use terms::tables_of;
pub use window::{
    BoundFrame, BoundFrameBound, BoundWindow, BoundWindowCall, BoundWindows, are_same, has_window,
};

use engine::{Distribution, Engine};
use plan::PlanningSurroundings;
use plan::physical::{AccessPath, ExplainRow, Node, RowLock, SortKey, TableAccess};
use std::sync::Arc;
use stdx::ids::TableId;
use values::row::ColumnSet;

/// What the choice of joins and access paths goes by: a block, and what is asked of the server about its tables.
pub struct Optimizer<'a> {
    /// The block that is planned.
    pub block: &'a mut Block,
    /// Definitions, statistics, and estimates of ranges.
    pub engine: &'a Engine,
    /// Evaluates bounds of ranges, and knows whether the statement was killed.
    pub context: &'a mut dyn PlanningSurroundings,
    /// Statistics of base tables that were asked for before.
    pub statistics: &'a mut Vec<(TableId, Arc<Distribution>)>,
    /// Whether the statement assigns user variables.
    pub assigns: bool,
    /// Numbers of the queries in FROM that do.
    pub assigning: &'a [u32],
    /// Whether the statement is explained.
    pub explains: bool,
}

/// What the rest of the query wants of the joined rows.
#[derive(Default)]
pub struct JoinGoal {
    /// Order in which rows are wanted; empty for any.
    pub order: Vec<SortKey>,
    /// Only so many rows are wanted.
    pub rows_wanted: Option<f64>,
    /// The order is one of groups: rows in another one are grouped in memory.
    pub for_groups: bool,
    /// It may as well be the reverse order.
    pub either_way: bool,
}

/// A planned FROM and WHERE.
pub struct Joined {
    /// Reads and joins the tables.
    pub node: Node,
    /// The rows come in the wanted order.
    pub ordered: bool,
    /// Estimated number of rows.
    pub rows: f64,
    /// Nanoseconds that they are estimated to take.
    pub ns: f64,
    /// Its lines of EXPLAIN; those of tables that are joined only if the statement is explained.
    pub explain: Vec<ExplainRow>,
    /// The table that comes first in the order of joins.
    pub first: Option<usize>,
}

/// How many slots a row of the block has.
fn width(block: &Block) -> usize {
    block.slots.len()
}

/// Reading the whole of a base table by its clustered index.
pub fn whole_table(block: &Block, number: usize) -> TableAccess {
    let width = width(block);
    let bound = &block.tables[number];
    let Source::Base(table) = &bound.source else { unreachable!("only base tables are read by index") };
    let columns = bound.used_columns();
    let wanted = ColumnSet::of(columns.iter().map(|(column, _)| *column));
    TableAccess {
        table: table.clone(),
        alias: bound.alias.clone(),
        columns,
        wanted,
        width,
        path: AccessPath::whole(0),
        conditions: Vec::new(),
        lock: bound.lock,
        key_slot: bound.key_slot,
        rows_read: 1.0,
        rows_kept: 1.0,
    }
}

/// Whether the row will be changed, or locked for writing, so that index-only reads do not do.
fn needs_row(block: &Block, number: usize) -> bool {
    let bound = &block.tables[number];
    bound.key_slot.is_some() || !matches!(bound.lock, RowLock::None | RowLock::Shared(_))
}
