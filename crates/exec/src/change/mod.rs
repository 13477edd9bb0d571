//! Statements that change rows. One pipeline serves all of them: values are stored into columns by [`storing`], rows
//! are written and conflicts resolved by [`writer`]. Generated columns, CHECK, foreign keys and triggers have
//! their place in `row_change`.

mod assigning;
mod auto_increment;
pub(crate) mod delete;
mod found;
pub(crate) mod insert;
pub(crate) mod load;
mod load_parser;
mod long_columns;
mod row_buffer;
mod row_change;
pub(crate) mod silent;
pub(crate) mod storing;
pub(crate) mod update;
mod writer;
