//! The executor's tests, as one program that is linked once; what counts the process's memory is a program of its own.
#![allow(clippy::unwrap_used)]

mod bounds;
mod bulk;
mod cases;
mod common;
mod conflict;
mod few_rows;
mod grouped_subqueries;
mod long_values;
mod spill;
mod windows;
