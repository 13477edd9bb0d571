//! `cargo xtask instructions [--write] [--runs N] [--release]`: counts the instructions of the operations in crate `instructions`
//! under valgrind's callgrind and compares them with `benches/instructions.toml`. Other than times they do not depend on
//! how busy or how fast the machine is.

mod release;

use crate::files;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::Command;

const FIGURES: &str = "benches/instructions.toml";
/// Growth that is let pass; shrinkage beyond it is worth recording.
const TOLERANCE: f64 = 0.02;
/// The same where compiler, C library or valgrind are others than when the figures were recorded: they alone change a
/// count by up to a tenth.
const TOLERANCE_ELSEWHERE: f64 = 0.25;
/// The figure's file says here what it was recorded with.
const ENVIRONMENT: &str = "environment";
/// Instruction set extensions that glibc and the product must not choose: the count would depend on the machine.
pub const TUNABLES: &str = "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-ERMS,-FSRM";

/// Instructions of one operation, by its name.
type Figures = BTreeMap<String, u64>;

/// Measures, and compares or records.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let mut runs = 1;
    let mut writes = false;
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--release" => return release::run(),
            "--write" => writes = true,
            "--runs" => {
                let number = rest.next().and_then(|text| text.parse().ok());
                runs = number.ok_or("--runs wants a number")?;
            }
            other => return Err(format!("unknown argument {other}")),
        }
    }
    let binary = build("quick")?;
    let measured = (0..runs).map(|_| measure(&binary)).collect::<Result<Vec<_>, _>>()?;
    let first = measured.first().ok_or("--runs wants at least one")?;
    if runs > 1 {
        print_spread(&measured);
    }
    let here = environment()?;
    if writes {
        return files::write(FIGURES, &to_text(first, &here));
    }
    let table = recorded()?;
    let there = table.get(ENVIRONMENT).and_then(toml::Value::as_str).unwrap_or_default();
    if there == here {
        return compare(first, &figures_of(&table), TOLERANCE);
    }
    println!(
        "recorded with {there}; here are {here}: growth fails beyond {:.0}%",
        TOLERANCE_ELSEWHERE * 100.0
    );
    compare(first, &figures_of(&table), TOLERANCE_ELSEWHERE)
}

/// What decides about counts beside the product: versions of compiler, valgrind and C library.
pub fn environment() -> Result<String, String> {
    let versions = [("rustc", "--version"), ("valgrind", "--version"), ("getconf", "GNU_LIBC_VERSION")];
    let version = |(program, argument): (&str, &str)| {
        let output = Command::new(program).arg(argument).output();
        let output = output.map_err(|error| format!("{program}: {error}"))?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    Ok(versions.into_iter().map(version).collect::<Result<Vec<_>, String>>()?.join(", "))
}

/// Builds the benchmark by that profile; its path.
pub fn build(profile: &str) -> Result<String, String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let status = Command::new(cargo)
        .args(["build", "--quiet", "--profile", profile, "--package", "instructions"])
        .status()
        .map_err(|error| error.to_string())?;
    let target = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".to_owned());
    if status.success() {
        Ok(format!("{target}/{profile}/instructions"))
    } else {
        Err("it does not build".to_owned())
    }
}

/// Runs the benchmark once.
fn measure(binary: &str) -> Result<Figures, String> {
    let folder = files::temporary_folder("iruka-instructions")?;
    let profile = format!("{folder}/callgrind.out");
    let output = Command::new("valgrind")
        .env("GLIBC_TUNABLES", TUNABLES)
        .args(["--quiet", "--tool=callgrind", "--fair-sched=yes", &format!("--callgrind-out-file={profile}")])
        .args([binary, &format!("{folder}/data")])
        .output()
        .map_err(|error| format!("valgrind: {error} (tests/install.sh installs it)"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let figures = match times_in(&text) {
        Some(times) if output.status.success() => read_profile(&profile, &times),
        _ => Err(format!("the benchmark failed: {text}{}", String::from_utf8_lossy(&output.stderr))),
    };
    files::remove_folder(&folder);
    figures
}

/// How often each operation was run, a line each.
fn times_in(output: &str) -> Option<Figures> {
    let operation =
        |line: &str| Some((line.split_once(' ')?.0.to_owned(), line.split_once(' ')?.1.parse().ok()?));
    let times: Figures = output.lines().map(operation).collect::<Option<_>>()?;
    (!times.is_empty() && !times.values().any(|times| *times == 0)).then_some(times)
}

/// Counts of one operation, out of the inclusive counts of the functions called `measured_*`.
fn read_profile(profile: &str, times: &Figures) -> Result<Figures, String> {
    let output = Command::new("callgrind_annotate")
        .args(["--inclusive=yes", "--threshold=100", "--auto=no", "--show-percs=no", profile])
        .output()
        .map_err(|error| format!("callgrind_annotate: {error}"))?;
    let figures = figures_in(&String::from_utf8_lossy(&output.stdout), times);
    if figures.keys().eq(times.keys()) {
        Ok(figures)
    } else {
        Err(format!("functions {figures:?} were measured, operations {times:?} were run"))
    }
}

fn figures_in(annotated: &str, times: &Figures) -> Figures {
    let mut figures = Figures::new();
    for line in annotated.lines() {
        let Some((count, function)) = line.trim().split_once(' ') else { continue };
        let Some((_, name)) = function.split_once("::measured_") else { continue };
        let name: String =
            name.chars().take_while(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || *c == '_').collect();
        if let (Ok(count), Some(times)) = (count.replace(',', "").parse::<u64>(), times.get(&name)) {
            let figure = figures.entry(name).or_default();
            *figure = (*figure).max(count / times);
        }
    }
    figures
}

fn print_spread(measured: &[Figures]) {
    for name in measured.iter().flat_map(Figures::keys).collect::<std::collections::BTreeSet<_>>() {
        let counts: Vec<u64> = measured.iter().filter_map(|figures| figures.get(name).copied()).collect();
        let (least, most) = (counts.iter().min().unwrap_or(&0), counts.iter().max().unwrap_or(&0));
        let spread = (*most as f64 / (*least).max(1) as f64 - 1.0) * 100.0;
        println!("{name}: {least} to {most} in {} runs, spread {spread:.2}%", counts.len());
    }
}

fn recorded() -> Result<toml::Table, String> {
    files::read(FIGURES)?.parse().map_err(|error| format!("{FIGURES}: {error}"))
}

fn figures_of(table: &toml::Table) -> Figures {
    let number = |value: &toml::Value| value.as_integer().and_then(|number| u64::try_from(number).ok());
    table.iter().filter_map(|(name, value)| Some((name.clone(), number(value)?))).collect()
}

fn to_text(figures: &Figures, environment: &str) -> String {
    let mut text =
        "# Instructions of one operation, recorded by `cargo xtask instructions --write`. See README.md.\n"
            .to_owned();
    let _ = writeln!(text, "{ENVIRONMENT} = {environment:?}");
    for (name, count) in figures {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name} = {count}");
    }
    text
}

fn compare(measured: &Figures, recorded: &Figures, tolerance: f64) -> Result<(), String> {
    let mut grown = Vec::new();
    for (name, count) in measured {
        let Some(old) = recorded.get(name) else {
            grown.push(format!("{name} is not recorded"));
            continue;
        };
        let change = *count as f64 / (*old).max(1) as f64 - 1.0;
        println!("{name}: {count} instructions, recorded {old} ({:+.2}%)", change * 100.0);
        if change > tolerance {
            grown.push(format!("{name} grew by {:.1}%", change * 100.0));
        } else if change < -tolerance {
            println!("  fewer than recorded: keep the gain with `cargo xtask instructions --write`");
        }
    }
    if grown.is_empty() { Ok(()) } else { Err(format!("instructions: {}", grown.join(", "))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(pairs: &[(&str, u64)]) -> Figures {
        pairs.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    }

    #[test]
    fn counts_are_read_from_the_annotation() {
        let text = "Ir\n1,234,000  main.rs:instructions::measured_point_read [/x/instructions]\n\
                    400  ???:instructions::measured_commit'2 [x]\n\
                    800  planning.rs:instructions::planning::measured_plan_join2 [x]\n12  other::function [x]\n";
        let times = times_in("commit 400\npoint_read 400\nplan_join2 40\n").unwrap();
        assert_eq!(
            figures_in(text, &times),
            figures(&[("commit", 1), ("plan_join2", 20), ("point_read", 3085)])
        );
    }

    #[test]
    fn a_benchmark_that_failed_has_no_figures() {
        for output in ["", "commit", "commit x\n", "commit 0\n", "commit 1\nboom\n"] {
            assert_eq!(times_in(output), None, "{output}");
        }
    }

    #[test]
    fn growth_fails_and_shrinkage_does_not() {
        let old = figures(&[("parse", 1000)]);
        let compare = |name, count| compare(&figures(&[(name, count)]), &old, TOLERANCE);
        assert!(compare("parse", 1019).is_ok());
        assert!(compare("parse", 1021).is_err());
        assert!(compare("parse", 500).is_ok());
        assert!(compare("new", 1).is_err());
    }

    #[test]
    fn recorded_figures_come_back() {
        let old = figures(&[("commit", 5), ("parse", 7)]);
        let table: toml::Table = to_text(&old, "rustc 1.0, \"x\"").parse().unwrap();
        assert_eq!(figures_of(&table), old);
        assert_eq!(table[ENVIRONMENT].as_str(), Some("rustc 1.0, \"x\""));
    }
}
