//! Bound expressions: typing, evaluation, built-in functions and aggregates.
