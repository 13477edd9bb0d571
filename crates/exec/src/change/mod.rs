//! Statements that change rows. Each finds or makes its rows in its own way; from there on all rows go the same way: values are
//! stored into columns by [`storing`](crate::storing), and [`row`] says which steps follow in which order. Rows that wait for others, and conflicts
//! of new rows, are [`writer`]'s.

mod assigning;
mod auto_increment;
mod cascades;
mod checks;
pub mod copied_rows;
pub(crate) mod delete;
mod found;
mod generated;
pub(crate) mod insert;
pub(crate) mod load;
mod long_columns;
pub(crate) mod own_expression;
mod parents;
mod referring;
mod row;
mod row_buffer;
pub(crate) mod update;
mod writer;
