//! Rewrites of bound SELECTs, before it is chosen how they are done. Each file is one rule: what it asks for, and what it makes.
//! They are given the block and what they need of the statement; who binds and plans is above them, in the planner, whose README says
//! which rule is in which file.
#![forbid(unsafe_code)]

mod constant_rows;
mod graft;
mod indexed_values;
mod membership;
mod merge;
mod outer_groups;
mod pushdown;
mod semijoin;
mod ties;

pub use constant_rows::keep_times;
pub use indexed_values::{IndexedValue, computes_sides, read_indexed_values};
pub use membership::{Membership, membership};
pub use merge::take_in_derived;
pub use outer_groups::{GroupedByOuter, grouped_by_outer, takes_groups, without_select_list};
pub use pushdown::{ConvertColumns, Pushdown, Pushed, add_inner_conditions, takes_conditions};
pub use semijoin::{AddDerived, SubqueryJoins, groups_silently, is_joinable};
