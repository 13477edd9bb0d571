//! `cargo xtask differential HOST:PORT [OPTIONS]`: random statements against this server, which it starts, and the MySQL 9.7 at
//! HOST:PORT. Options are those of `tests/differential/run.py compare`. Needs what `tests/install.sh test` installs.

use std::path::PathBuf;
use std::process::Command;

/// Builds the server and hands over to the generator.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let (reference, options) =
        arguments.split_first().ok_or("differential wants HOST:PORT of a MySQL 9.7")?;
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let mut build = Command::new(cargo);
    succeed(build.args(["build", "--quiet", "--profile", "quick", "--bin", "iruka"]), "the build failed")?;
    let target = PathBuf::from(std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".to_owned()));
    let python = target.join("venv/bin/python");
    let mut compare = Command::new(&python);
    compare.arg("tests/with_server.py").arg("--binary").arg(target.join("quick/iruka")).arg("--");
    compare
        .arg(&python)
        .args(["tests/differential/run.py", "compare", "{target}"])
        .arg(reference)
        .args(options);
    succeed(&mut compare, "there are differences")
}

fn succeed(command: &mut Command, otherwise: &str) -> Result<(), String> {
    let status = command.status().map_err(|error| error.to_string())?;
    if status.success() { Ok(()) } else { Err(otherwise.to_owned()) }
}
