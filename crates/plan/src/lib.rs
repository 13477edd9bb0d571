//! Name binding, typing, logical rewrites, cost and access-path choice.
