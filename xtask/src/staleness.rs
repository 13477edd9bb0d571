//! `cargo xtask staleness [--statements N] [--seed S] [--results BYTES]`: runs crate `staleness`.

use crate::package;

/// Hands the arguments on.
pub fn run(arguments: &[String]) -> Result<(), String> {
    package::run("quick", "staleness", arguments, "somebody was served what he would not have read")
}
