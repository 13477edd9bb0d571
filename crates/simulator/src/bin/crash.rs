//! Runs the crash simulation: `cargo run -p simulator --bin crash [--stride N] [--crowds N] [part of a name]`. Prints a
//! line for each scenario and every violation; the exit status is 1 if there were any.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout)]

use std::process::ExitCode;

use env::simulated::OperationClass;
use simulator::crowd::Crowd;
use simulator::sql_scenario::SqlScenario;
use simulator::sql_scripts::SCRIPTS;
use simulator::{Damage, Extent, Outcome, Scenario, Violation, enumerate, faults, scenarios, workloads};

struct Arguments {
    extent: Extent,
    crowds: u64,
    wanted: String,
}

fn arguments() -> Arguments {
    let mut wanted = Arguments { extent: Extent::FULL, crowds: 50, wanted: String::new() };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut number = || words.next().and_then(|number| number.parse().ok());
        match word.as_str() {
            "--stride" => wanted.extent.stride = number().unwrap_or(1).max(1),
            "--crowds" => wanted.crowds = number().unwrap_or(0),
            _ => wanted.wanted = word,
        }
    }
    wanted
}

fn main() -> ExitCode {
    let arguments = arguments();
    let mut total = Outcome::default();
    for scenario in scenarios::trees() {
        run(&scenario, &arguments, &mut total);
    }
    for scenario in workloads::all() {
        run(&scenario, &arguments, &mut total);
        if scenario.name.contains(&arguments.wanted) {
            let stride = arguments.extent.stride;
            for class in [OperationClass::Sync, OperationClass::Write] {
                let outcome = faults::after_failures(&scenario, class, stride);
                report(&format!("{}, {class:?} fails", scenario.name), outcome, &mut total);
            }
            let outcome = faults::with_full_disk(&scenario, (40 / stride).max(2));
            report(&format!("{}, disk full", scenario.name), outcome, &mut total);
        }
    }
    for script in SCRIPTS.iter().filter(|script| script.name.contains(&arguments.wanted)) {
        match SqlScenario::new(script) {
            Ok(scenario) => run(&scenario, &arguments, &mut total),
            Err(message) => {
                let violation =
                    Violation { scenario: script.name, crash_at: None, damage: Damage::Kill, message };
                report(
                    script.name,
                    Outcome { violations: vec![violation], ..Outcome::default() },
                    &mut total,
                );
            }
        }
    }
    if "crowds".contains(&arguments.wanted) {
        run_crowds(arguments.crowds, &mut total);
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

fn run(scenario: &impl Scenario, arguments: &Arguments, total: &mut Outcome) {
    if scenario.name().contains(&arguments.wanted) {
        report(scenario.name(), enumerate(scenario, arguments.extent, None), total);
    }
}

fn report(name: &str, outcome: Outcome, total: &mut Outcome) {
    println!(
        "{name:<44} {:>6} operations {:>6} crashes {:>7} recoveries {:>4} violations",
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

fn run_crowds(count: u64, total: &mut Outcome) {
    let (mut commits, mut outcome) = (0, Outcome::default());
    for seed in 1000..1000 + count {
        let crowd = Crowd {
            seed,
            writers: 2 + (seed % 6) as i64,
            transactions: 400,
            crash_before: [300, 1500, 5000][(seed % 3) as usize],
            pool_bytes: (1 << 20) << (seed % 4),
            log_bytes: (2 << 20) << (seed % 3),
        };
        outcome.crashes += 1;
        outcome.recoveries += 4;
        match crowd.run() {
            Ok(acknowledged) => commits += acknowledged,
            Err(message) => {
                let (scenario, damage) = ("crowd", Damage::Torn(seed));
                outcome.violations.push(Violation { scenario, crash_at: None, damage, message });
            }
        }
    }
    report(&format!("crowds, {commits} commits"), outcome, total);
}
