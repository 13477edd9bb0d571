//! `cargo xtask fuzz TARGET --executions N`: runs crate `fuzz`, optimised, with overflow checks and assertions.

use std::process::Command;

/// Hands the arguments on; without any, a short run of everything.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let short = ["all".to_owned(), "--executions".to_owned(), "1000000".to_owned()];
    let arguments = if arguments.is_empty() { &short[..] } else { arguments };
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let status = Command::new(cargo)
        .args(["run", "--quiet", "--profile", "fuzz", "--package", "fuzz", "--"])
        .args(arguments)
        .status()
        .map_err(|error| error.to_string())?;
    if status.success() { Ok(()) } else { Err("fuzzing found a failure".to_owned()) }
}
