//! Lexer, syntax tree and recursive-descent parser of MySQL's SQL. Knows no catalogue.
//! The tree is in [`ast`].
#![forbid(unsafe_code)]

pub mod ast;
