//! Nobody is served what he would not read: `staleness [--statements N] [--seed S] [--results BYTES]`. Sessions at all isolation levels read a few texts and
//! change what they read, its definition and their rights to it, while time moves; each answer is compared with what could be seen
//! (`oracle.rs`). README.md says what is done and what is shown.
#![forbid(unsafe_code)]

mod actor;
mod changes;
mod clock;
mod definitions;
mod oracle;
mod reads;
mod stage;
mod tally;

use env::{Clock, RealClock};
use stage::{Outcome, round};
use std::process::ExitCode;
use tally::Tally;

/// That of the product.
#[global_allocator]
static ALLOCATOR: env::Allocator = env::Allocator;

const USAGE: &str = "usage: cargo xtask staleness [--statements N] [--seed S] [--results BYTES]";
const STATEMENTS_DEFAULT: u64 = 200_000;
/// Statements that one server lives for: its disk is memory.
const ROUND_STATEMENTS: u64 = 200_000;
/// What results may take: less than all of them. With 0 none is kept, so a violation is none of the results.
const RESULTS_BYTES_DEFAULT: u64 = 1 << 20;
/// Less hits of a hundred reads are a test of something else.
const HITS_PERCENT_MIN: u64 = 25;
/// Violations that are printed.
const SHOWN_MAX: usize = 10;

struct Options {
    statements: u64,
    seed: u64,
    results_bytes: u64,
}

fn options() -> Option<Options> {
    let mut options =
        Options { statements: STATEMENTS_DEFAULT, seed: 1, results_bytes: RESULTS_BYTES_DEFAULT };
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let number = arguments.next()?.replace('_', "").parse().ok()?;
        match name.as_str() {
            "--statements" => options.statements = number,
            "--seed" => options.seed = number,
            "--results" => options.results_bytes = number,
            _ => return None,
        }
    }
    Some(options)
}

fn print(outcome: &Outcome) {
    let Tally { statements, reads, between, compared, transactions, changes, definitions, .. } =
        &outcome.tally;
    println!(
        "{statements} statements: {reads} reads ({} hits, {compared} compared in their snapshot, {between} beside a change of their \
         definition), {transactions} transactions, {changes} changes of rows, {definitions} of definitions, {} years",
        outcome.hits,
        outcome.tally.years.len()
    );
    println!(
        "results: {} kept, {} thrown out for room, at most {} of {} bytes; errors {:?}",
        outcome.inserted, outcome.pruned, outcome.bytes.0, outcome.bytes.1, outcome.tally.errors
    );
    for violation in outcome.tally.shown.iter().take(SHOWN_MAX) {
        println!("violation: {violation}");
    }
}

fn run(options: &Options) -> Result<bool, String> {
    let Options { statements, seed, results_bytes } = *options;
    let mut total = Outcome::default();
    let start = RealClock.monotonic();
    let rounds = statements.div_ceil(ROUND_STATEMENTS);
    for number in seed..seed + rounds {
        let outcome = round(number, statements.min(ROUND_STATEMENTS), results_bytes)?;
        if outcome.tally.violations > 0 || rounds == 1 {
            println!("seed {number}:");
            print(&outcome);
        }
        total.hits += outcome.hits;
        total.inserted += outcome.inserted;
        total.pruned += outcome.pruned;
        total.bytes = (total.bytes.0.max(outcome.bytes.0), outcome.bytes.1);
        total.tally.add(outcome.tally);
    }
    if rounds > 1 {
        total.tally.shown.clear();
        print(&total);
    }
    println!(
        "{} violations in {:.0} s",
        total.tally.violations,
        (RealClock.monotonic() - start).as_secs_f64()
    );
    let has_hits = results_bytes == 0 || total.hits * 100 >= total.tally.reads * HITS_PERCENT_MIN;
    if !has_hits {
        println!("too few hits");
    }
    Ok(total.tally.violations == 0 && has_hits)
}

fn main() -> ExitCode {
    let Some(options) = options() else {
        eprintln!("{USAGE}");
        return ExitCode::FAILURE;
    };
    match run(&options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
