//! Rewrites of bound SELECTs, before it is chosen how they are done. Each file is one rule: what it asks for, and what it makes.

mod factor;
mod graft;
mod merge;
mod pushdown;
mod semijoin;

pub(crate) use pushdown::{Pushable, add_inner_conditions};
pub(crate) use semijoin::{groups_silently, is_joinable};
