//! `cargo xtask inspect page|log ..`: runs crate `inspect`, which prints pages and log groups.

use std::process::Command;

/// Hands the arguments on.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let status = Command::new(cargo)
        .args(["run", "--quiet", "--profile", "quick", "--package", "inspect", "--"])
        .args(arguments)
        .status()
        .map_err(|error| error.to_string())?;
    if status.success() { Ok(()) } else { Err("inspect failed".to_owned()) }
}
