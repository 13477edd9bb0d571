//! Metamorphic tests of the optimizer, in-process: `metamorphic [--rule R] [--oracle O] [--count N] [--seed S]`. Each case is a query
//! that a rule changes, asked in another way that has the same answer (`oracles.rs`). Cases follow from their numbers: a violation
//! prints one, and `--rule R --oracle O --seed NUMBER --count 1` runs that case again.
#![forbid(unsafe_code)]

mod changes;
mod conditions;
mod oracles;
mod query;
mod random;
mod rules;
mod run;
mod shrink;
mod tables;

use oracles::{ORACLES, Oracle};
use rules::{RULES, Rule};
use std::process::ExitCode;

/// That of the product.
#[global_allocator]
static ALLOCATOR: env::Allocator = env::Allocator;

const USAGE: &str = "usage: cargo xtask metamorphic [--rule R] [--oracle O] [--count N] [--seed S]";
const COUNT_DEFAULT: u64 = 1_000;

struct Options {
    rule: Option<String>,
    oracle: Option<String>,
    count: u64,
    seed: u64,
}

fn options() -> Option<Options> {
    let mut options = Options { rule: None, oracle: None, count: COUNT_DEFAULT, seed: 0 };
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next()?;
        let number = || value.replace('_', "").parse().ok();
        match name.as_str() {
            "--rule" => options.rule = Some(value),
            "--oracle" => options.oracle = Some(value),
            "--count" => options.count = number()?,
            "--seed" => options.seed = number()?,
            _ => return None,
        }
    }
    Some(options)
}

fn main() -> ExitCode {
    let Some(options) = options() else {
        eprintln!("{USAGE}");
        return ExitCode::FAILURE;
    };
    let is_meant = |wanted: &Option<String>, name: &str| wanted.as_ref().is_none_or(|wanted| wanted == name);
    let rules: Vec<&Rule> = RULES.iter().filter(|rule| is_meant(&options.rule, rule.name)).collect();
    let oracles: Vec<(&str, Oracle)> =
        ORACLES.into_iter().filter(|(name, _)| is_meant(&options.oracle, name)).collect();
    if rules.is_empty() || oracles.is_empty() {
        let names: Vec<&str> = RULES.iter().map(|rule| rule.name).collect();
        eprintln!(
            "{USAGE}\nrules: {}\noracles: {}",
            names.join(" "),
            ORACLES.map(|(name, _)| name).join(" ")
        );
        return ExitCode::FAILURE;
    }
    let mut violations = 0;
    for rule in rules {
        for (name, oracle) in &oracles {
            match run::cases(rule, (name, *oracle), options.seed, options.count) {
                Ok(found) => violations += found,
                Err(message) => {
                    eprintln!("{} {name}: {message}", rule.name);
                    return ExitCode::FAILURE;
                }
            }
        }
    }
    if violations == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
