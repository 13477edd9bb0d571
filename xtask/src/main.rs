//! Development tasks, run as `cargo xtask NAME`.
//! `generate` writes the generated sources, `tidy` checks what house style can be checked by a
//! tool, `fuzz`, `instructions` and `inspect` run the crates of those names, `contention` counts locked
//! instructions, `sharing` looks for lines of memory that two sessions write, `metamorphic` asks in two ways, `staleness`
//! looks for results that are served too long, `differential` compares with a MySQL, `package` makes a tarball and a
//! Debian package.

mod contention;
mod differential;
mod files;
mod fuzz;
mod generate;
mod generate_session;
mod instructions;
mod metamorphic;
mod package;
mod packages;
mod sharing;
mod staleness;
mod tidy;

const USAGE: &str = "usage: cargo xtask generate | tidy | fuzz TARGET [--executions N] [--seed S] |
       cargo xtask instructions [--write] [--runs N] [--release] | contention [--write] | sharing |
       cargo xtask metamorphic [--rule R] [--oracle O] [--count N] [--seed S] |
       cargo xtask staleness [--statements N] [--seed S] [--results BYTES] |
       cargo xtask inspect page FILE NUMBER [clustered] | inspect log DATADIR [--from LSN] [--groups N] |
       cargo xtask package --binary PATH [--out FOLDER] |
       cargo xtask differential HOST:PORT [options of tests/differential/run.py compare]";

fn main() -> std::process::ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.first().map(String::as_str) {
        Some("generate") => generate::run(),
        Some("tidy") => tidy::run(),
        Some("fuzz") => fuzz::run(&arguments[1..]),
        Some("instructions") => instructions::run(&arguments[1..]),
        Some("metamorphic") => metamorphic::run(&arguments[1..]),
        Some("staleness") => staleness::run(&arguments[1..]),
        Some("contention") => contention::run(&arguments[1..]),
        Some("sharing") => sharing::run(&arguments[1..]),
        Some("inspect") => package::run("quick", "inspect", &arguments[1..], "inspect failed"),
        Some("package") => packages::run(&arguments[1..]),
        Some("differential") => differential::run(&arguments[1..]),
        _ => Err(USAGE.to_owned()),
    };
    match result {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            std::process::ExitCode::FAILURE
        }
    }
}
