//! In-process fuzzing on stable Rust: `fuzz TARGET [--executions N] [--seed S]`; `all` runs every target.
//! Inputs are seeds, changed by a generator that a number determines: a failure prints that number, and
//! `--seed S --executions 1` runs the failing input again. A target fails by panicking, or by its own assertions.
#![forbid(unsafe_code)]

mod mutate;
mod proxy_sessions;
mod seeds;
mod targets;

use mutate::Generator;
use std::process::ExitCode;
use targets::{TARGETS, Target};

const USAGE: &str = "usage: cargo xtask fuzz TARGET|all [--executions N] [--seed S]";
const EXECUTIONS_DEFAULT: u64 = 1_000_000;
/// How often progress is printed.
const REPORT_EVERY: u64 = 5_000_000;

struct Options {
    target: String,
    executions: u64,
    seed: u64,
}

fn options() -> Option<Options> {
    let mut arguments = std::env::args().skip(1);
    let mut options = Options { target: arguments.next()?, executions: EXECUTIONS_DEFAULT, seed: 1 };
    while let Some(name) = arguments.next() {
        let value = arguments.next()?.replace('_', "").parse().ok()?;
        match name.as_str() {
            "--executions" => options.executions = value,
            "--seed" => options.seed = value,
            _ => return None,
        }
    }
    Some(options)
}

fn main() -> ExitCode {
    let Some(options) = options() else {
        eprintln!("{USAGE}\ntargets: {}", TARGETS.map(|target| target.name).join(" "));
        return ExitCode::FAILURE;
    };
    let chosen: Vec<&Target> =
        TARGETS.iter().filter(|target| options.target == "all" || target.name == options.target).collect();
    if chosen.is_empty() {
        eprintln!("no target '{}'\n{USAGE}", options.target);
        return ExitCode::FAILURE;
    }
    // The panic's own message goes to standard error before the seed is printed.
    for target in chosen {
        if let Err(seed) = run(target, &options) {
            eprintln!("FAILED: cargo xtask fuzz {} --executions 1 --seed {seed}", target.name);
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// Runs a target; the seed of the first failure.
fn run(target: &Target, options: &Options) -> Result<(), u64> {
    let corpus = (target.seeds)();
    let mut input = Vec::new();
    for done in 0..options.executions {
        let seed = options.seed.wrapping_add(done);
        Generator::new(seed).make_input(&corpus, &mut input);
        let outcome = std::panic::catch_unwind(|| (target.run)(&input));
        if outcome.is_err() {
            eprintln!("input of {} bytes: {}", input.len(), input.escape_ascii());
            return Err(seed);
        }
        if (done + 1) % REPORT_EVERY == 0 {
            println!("{}: {} executions", target.name, done + 1);
        }
    }
    println!("{}: {} executions, no failure", target.name, options.executions);
    Ok(())
}
