//! Fixtures shared by tests.
