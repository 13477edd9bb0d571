//! Rewrites of bound SELECTs, before it is chosen how they are done. Each file is one rule: what it asks for, and what it makes.
//! They are given the block and what they need of the statement; who binds and plans is above them (`planning.rs`).

mod constant_rows;
mod graft;
mod merge;
mod outer_groups;
mod pushdown;
mod semijoin;

pub(crate) use constant_rows::keep_times;
pub(crate) use merge::take_in_derived;
pub(crate) use outer_groups::{GroupedByOuter, grouped_by_outer, takes_groups, without_select_list};
pub(crate) use pushdown::{Pushdown, add_inner_conditions, takes_conditions};
pub(crate) use semijoin::{SubqueryJoins, groups_silently, is_joinable};
