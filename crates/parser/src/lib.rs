//! Lexer, syntax tree and recursive-descent parser of MySQL's SQL. Knows no catalogue.
