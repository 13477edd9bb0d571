//! `cargo xtask metamorphic [--rule R] [--oracle O] [--count N] [--seed S]`: runs crate `metamorphic`.

use crate::package;

/// Hands the arguments on.
pub fn run(arguments: &[String]) -> Result<(), String> {
    package::run("quick", "metamorphic", arguments, "two ways to ask the same have different answers")
}
