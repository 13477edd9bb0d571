//! Runs a crate of the workspace as a program, with the arguments that a task was given.

use std::process::Command;

/// Builds and runs the package; `failure` says what it means if it fails.
pub fn run(profile: &str, package: &str, arguments: &[String], failure: &str) -> Result<(), String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let status = Command::new(cargo)
        .args(["run", "--quiet", "--profile", profile, "--package", package, "--"])
        .args(arguments)
        .status()
        .map_err(|error| error.to_string())?;
    if status.success() { Ok(()) } else { Err(failure.to_owned()) }
}
