//! Runs the crash simulation: `cargo run -p simulator --bin crash [--stride N] [name part]`. Prints a line for each
//! scenario and every violation; the exit status is 1 if there were any.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout)]

use std::process::ExitCode;

use simulator::{Extent, Outcome, Scenario, enumerate, scenarios, workloads};

fn main() -> ExitCode {
    let mut extent = Extent::FULL;
    let mut wanted = String::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--stride" => {
                let stride = arguments.next().and_then(|number| number.parse().ok());
                extent.stride = stride.filter(|stride| *stride > 0).unwrap_or(1);
            }
            name => wanted = name.into(),
        }
    }
    let mut total = Outcome::default();
    for scenario in scenarios::trees() {
        run(&scenario, &wanted, extent, &mut total);
    }
    for scenario in workloads::all() {
        run(&scenario, &wanted, extent, &mut total);
    }
    println!(
        "{} crashes, {} recoveries checked, {} violations",
        total.crashes,
        total.recoveries,
        total.violations.len()
    );
    if total.violations.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Violations printed for one scenario.
const PRINTED_MAX: usize = 20;

fn run(scenario: &impl Scenario, wanted: &str, extent: Extent, total: &mut Outcome) {
    if !scenario.name().contains(wanted) {
        return;
    }
    let outcome = enumerate(scenario, extent, None);
    println!(
        "{:<32} {:>6} operations {:>6} crashes {:>7} recoveries {:>4} violations",
        scenario.name(),
        outcome.operations,
        outcome.crashes,
        outcome.recoveries,
        outcome.violations.len()
    );
    for violation in outcome.violations.iter().take(PRINTED_MAX) {
        println!("  crash at {:?}, {:?}: {}", violation.crash_at, violation.damage, violation.message);
    }
    total.crashes += outcome.crashes;
    total.recoveries += outcome.recoveries;
    total.violations.extend(outcome.violations);
}
