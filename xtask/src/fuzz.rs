//! `cargo xtask fuzz TARGET --executions N`: runs crate `fuzz`, optimised, with overflow checks and assertions.

use crate::package;

/// Hands the arguments on; without any, a short run of everything.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let short = ["all".to_owned(), "--executions".to_owned(), "1000000".to_owned()];
    let arguments = if arguments.is_empty() { &short[..] } else { arguments };
    package::run("fuzz", "fuzz", arguments, "fuzzing found a failure")
}
