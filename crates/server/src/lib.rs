//! The server: configuration, listeners, reactors; the one place that assembles everything.
