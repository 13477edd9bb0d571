//! Cost-based choice of access paths and join order. Entry point: `Binder::plan_joins`.

mod access;
mod build;
mod early_subquery;
mod equal_columns;
mod extremes;
mod index_order;
mod join;
mod join_buffer;
mod join_order;
mod join_rows;
mod kept_slots;
mod key_use;
mod known;
mod known_values;
mod null_rejection;
mod order;
mod range_choice;
mod skip;
mod subquery_ways;
mod terms;
mod union;

pub(crate) use access::is_known_now;
pub(crate) use early_subquery::EarlyRuns;
pub(crate) use equal_columns::{EqualColumns, subject_of};
pub(crate) use kept_slots::keep_what_is_read;
pub(crate) use known::KnownRows;
pub(crate) use null_rejection::{node_rejects_null, rejects_null};
pub(crate) use terms::tables_of;

use crate::bind::{Binder, Source};
use plan::physical::{AccessPath, ExplainRow, Node, RowLock, SortKey, TableAccess};
use values::row::ColumnSet;

/// What the rest of the query wants of the joined rows.
#[derive(Default)]
pub(crate) struct JoinGoal {
    /// Order in which rows are wanted; empty for any.
    pub order: Vec<SortKey>,
    /// Only so many rows are wanted.
    pub rows_wanted: Option<f64>,
}

/// A planned FROM and WHERE.
pub(crate) struct Joined {
    pub node: Node,
    /// The rows come in the wanted order.
    pub ordered: bool,
    pub rows: f64,
    pub explain: Vec<ExplainRow>,
    /// The table that comes first in the order of joins.
    pub first: Option<usize>,
}

impl Binder<'_> {
    /// Slots of the current block.
    pub fn width(&mut self) -> usize {
        self.block().slots.len()
    }

    /// Reading the whole of a base table by its clustered index.
    pub fn whole_table(&mut self, number: usize) -> TableAccess {
        let width = self.width();
        let bound = &self.block().tables[number];
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

    /// Whether the row will be changed or locked, so that index-only reads do not do.
    pub fn needs_row(&mut self, number: usize) -> bool {
        let bound = &self.block().tables[number];
        bound.key_slot.is_some() || bound.lock != RowLock::None
    }
}
