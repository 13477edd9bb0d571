//! Page formats and page operations: pure functions over byte slices.
