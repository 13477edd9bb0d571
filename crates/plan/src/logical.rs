//! A SELECT whose names are resolved and whose expressions have types: what it asks for, and nothing of how it is done. `bind`
//! makes it, rewrites change it, `lower` makes a physical tree of it. Main type: [`LogicalSelect`].

use crate::bind::{JoinTree, SelectItem};
use crate::physical::{OutputColumn, RowLimit, SortKey};
use expression::Expression;

/// A bound SELECT. Tables, slots, group keys and aggregates are in its [`Block`](crate::bind::Block).
#[derive(Clone, Debug)]
pub(crate) struct LogicalSelect {
    /// FROM; None without tables.
    pub tree: Option<JoinTree>,
    /// WHERE, taken apart at its ANDs.
    pub conditions: Vec<Expression>,
    /// Whether it groups, be it in one group. What follows the grouping reads groups then.
    pub groups: bool,
    /// Whether it has GROUP BY.
    pub has_group_keys: bool,
    /// WITH ROLLUP.
    pub rollup: bool,
    /// Whether HAVING is written.
    pub has_having: bool,
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
    /// SIMPLE, PRIMARY, SUBQUERY, ... of EXPLAIN.
    pub select_type: &'static str,
}
