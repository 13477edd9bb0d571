//! `cargo xtask contention [--write]`: counts the locked instructions of a statement, which are what stops scaling on many
//! cores, under valgrind's callgrind, and compares them with `benches/contention.toml`. The statements are those of
//! `instructions/src/single.rs`: a session over the real engine, one thread, no sockets. Every run counts the same.

mod profile;
mod program;
mod symbol;

pub use symbol::symbols;

use crate::{files, instructions};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::Command;

const FIGURES: &str = "benches/contention.toml";
/// What an operation or a crate in it may grow by: less than one locked instruction more. Splits of pages and flushes of the
/// log come once in many operations, so that figures are not whole.
const GROWTH_MAX: f64 = 0.5;
/// The same, as a part, where compiler or C library are others than when the figures were recorded.
const GROWTH_PART_ELSEWHERE: f64 = 0.1;
const ENVIRONMENT: &str = "environment";

/// Locked instructions of an operation by where they are.
#[derive(Debug, Default, PartialEq)]
struct Operation {
    total: f64,
    crates: BTreeMap<String, f64>,
    symbols: BTreeMap<String, f64>,
}

type Operations = BTreeMap<String, Operation>;

/// Counts, and compares or records.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let writes = match arguments {
        [] => false,
        [only] if only == "--write" => true,
        _ => return Err("contention takes --write or nothing".to_owned()),
    };
    let binary = instructions::build("quick")?;
    let counted = count(&binary)?;
    let here = instructions::environment()?;
    let recorded = if files::exists(FIGURES) { Some(files::read(FIGURES)?) } else { None };
    let table: toml::Table = match &recorded {
        Some(text) => text.parse().map_err(|error| format!("{FIGURES}: {error}"))?,
        None => toml::Table::new(),
    };
    let there = table.get(ENVIRONMENT).and_then(toml::Value::as_str).unwrap_or_default();
    let old = operations_of(&table);
    print(&counted, &old);
    let (totals, crates) = grown(&counted, &old, there == here);
    if writes {
        return match totals.is_empty() || recorded.is_none() {
            true => files::write(FIGURES, &to_text(&counted, &here)),
            false => Err(format!(
                "contention: {}; --write records no rise: it is written into {FIGURES} by hand",
                totals.join(", ")
            )),
        };
    }
    match (totals.is_empty(), crates.is_empty()) {
        (true, true) => Ok(()),
        (true, false) => Err(format!(
            "contention: {}; if they only moved there, record it with --write",
            crates.join(", ")
        )),
        (false, _) => Err(format!("contention: {}", [totals, crates].concat().join(", "))),
    }
}

/// Runs the statements under callgrind, which writes a profile before each `counted_*` function.
fn count(binary: &str) -> Result<Operations, String> {
    let folder = files::temporary_folder("iruka-contention")?;
    let output = Command::new("valgrind")
        .env("GLIBC_TUNABLES", instructions::TUNABLES)
        .args(["--quiet", "--tool=callgrind", "--fair-sched=yes", "--separate-threads=yes"])
        .args([
            "--dump-instr=yes",
            "--compress-pos=no",
            "--compress-strings=no",
            "--dump-before=*::counted_*",
        ])
        .args([
            &format!("--callgrind-out-file={folder}/profile"),
            binary,
            &format!("{folder}/data"),
            "contention",
        ])
        .output()
        .map_err(|error| format!("valgrind: {error} (tests/install.sh installs it)"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let operations = match text.trim().parse::<u32>() {
        Ok(times) if output.status.success() && times > 0 => read_profiles(&folder, f64::from(times)),
        _ => Err(format!("the statements failed: {text}{}", String::from_utf8_lossy(&output.stderr))),
    };
    files::remove_folder(&folder);
    operations
}

/// Each profile names the operation that begins behind it; the first thread is the session's.
fn read_profiles(folder: &str, times: f64) -> Result<Operations, String> {
    let mut programs = program::Programs::default();
    let mut operations = Operations::new();
    let mut begun: Option<String> = None;
    for number in 1.. {
        let path = format!("{folder}/profile.{number}-01");
        if !files::exists(&path) {
            break;
        }
        let profile = profile::Profile::parse(&files::read(&path)?)?;
        if let Some(name) = begun.take() {
            let mut operation = Operation::default();
            for (object, counts) in &profile.counts {
                let locked = programs.locked(object, counts)?;
                for (found, count) in symbols(object, &locked)? {
                    let count = count as f64 / times;
                    operation.total += count;
                    *operation.crates.entry(found.owner).or_default() += count;
                    *operation.symbols.entry(found.name).or_default() += count;
                }
            }
            operations.insert(name, operation.rounded());
        }
        begun = profile.next_operation;
    }
    match begun.as_deref() {
        Some("end") => Ok(operations),
        other => Err(format!("the last profile is before {other:?}, not before the end")),
    }
}

impl Operation {
    /// To tenths; what is rarer is left out.
    fn rounded(self) -> Operation {
        let tenths = |value: f64| (value * 10.0).round() / 10.0;
        let all = |figures: BTreeMap<String, f64>| {
            figures
                .into_iter()
                .map(|(name, value)| (name, tenths(value)))
                .filter(|(_, value)| *value > 0.0)
                .collect()
        };
        Operation { total: tenths(self.total), crates: all(self.crates), symbols: all(self.symbols) }
    }
}

/// What is more than it was: totals of operations, and crates in them.
fn grown(counted: &Operations, old: &Operations, same_environment: bool) -> (Vec<String>, Vec<String>) {
    let nothing = Operation::default();
    let most =
        |old: f64| old + if same_environment { GROWTH_MAX } else { GROWTH_MAX + old * GROWTH_PART_ELSEWHERE };
    let (mut totals, mut crates) = (Vec::new(), Vec::new());
    for (name, operation) in counted {
        let before = old.get(name).unwrap_or(&nothing);
        if operation.total > most(before.total) {
            totals.push(format!(
                "{name} has {} locked instructions, {} recorded",
                operation.total, before.total
            ));
        }
        for (owner, count) in &operation.crates {
            let before = before.crates.get(owner).copied().unwrap_or_default();
            if *count > most(before) {
                crates.push(format!("{name} in {owner}: {count}, {before} recorded"));
            }
        }
    }
    (totals, crates)
}

fn print(counted: &Operations, old: &Operations) {
    for (name, operation) in counted {
        let before = old.get(name);
        let recorded = before.map_or(0.0, |before| before.total);
        println!("{name}: {} locked instructions, recorded {recorded}", operation.total);
        let crates: Vec<String> =
            operation.crates.iter().map(|(owner, count)| format!("{owner} {count}")).collect();
        println!("  {}", crates.join(", "));
        let mut symbols: Vec<(&String, &f64)> = operation.symbols.iter().collect();
        symbols.sort_by(|left, right| right.1.total_cmp(left.1).then(left.0.cmp(right.0)));
        for (symbol, count) in symbols {
            let was = before.and_then(|before| before.symbols.get(symbol)).copied().unwrap_or_default();
            let change = if was == *count { String::new() } else { format!("  (recorded {was})") };
            println!("  {count:6.1}  {symbol}{change}");
        }
        if recorded - operation.total > GROWTH_MAX {
            println!("  fewer than recorded: keep the gain with `cargo xtask contention --write`");
        }
    }
}

fn operations_of(table: &toml::Table) -> Operations {
    let figures = |value: Option<&toml::Value>| -> BTreeMap<String, f64> {
        let table = value.and_then(toml::Value::as_table);
        let pairs = table.into_iter().flatten();
        pairs.filter_map(|(name, value)| Some((name.clone(), value.as_float()?))).collect()
    };
    let operation = |(name, value): (&String, &toml::Value)| {
        let total = value.get("total")?.as_float()?;
        let (crates, symbols) = (figures(value.get("crates")), figures(value.get("symbols")));
        Some((name.clone(), Operation { total, crates, symbols }))
    };
    table.iter().filter_map(operation).collect()
}

fn to_text(operations: &Operations, environment: &str) -> String {
    let mut text = "# Locked instructions of one statement, recorded by `cargo xtask contention --write`. See README.md.\n\
                    # Totals may only fall, crates too unless code moved; symbols are there to be read.\n"
        .to_owned();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{ENVIRONMENT} = {environment:?}");
    for (name, operation) in operations {
        let _ = writeln!(text, "\n[{name}]\ntotal = {:?}", operation.total);
        for (what, figures) in [("crates", &operation.crates), ("symbols", &operation.symbols)] {
            let _ = writeln!(text, "[{name}.{what}]");
            for (key, count) in figures {
                let _ = writeln!(text, "{key:?} = {count:?}");
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operations(total: f64, crates: &[(&str, f64)]) -> Operations {
        let crates = crates.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
        let symbols = [("txn/src/kill.rs \"lower\"".to_owned(), 1.0)].into();
        [("update".to_owned(), Operation { total, crates, symbols })].into()
    }

    #[test]
    fn a_rise_fails_wherever_it_is() {
        let old = operations(10.0, &[("session", 6.0), ("txn", 4.0)]);
        let grown = |total, session, txn, same| {
            let now = operations(total, &[("session", session), ("txn", txn)]);
            let (totals, crates) = super::grown(&now, &old, same);
            (totals.len(), crates.len())
        };
        assert_eq!(grown(10.0, 6.0, 4.0, true), (0, 0));
        assert_eq!(grown(9.0, 5.0, 4.0, true), (0, 0));
        assert_eq!(grown(11.0, 7.0, 4.0, true), (1, 1));
        assert_eq!(grown(10.0, 7.0, 3.0, true), (0, 1), "another crate fell by as much");
        assert_eq!(grown(11.0, 7.0, 4.0, false), (0, 0), "10% are let pass with another compiler");
        assert_eq!(grown(13.0, 9.0, 4.0, false), (1, 1));
        let (totals, crates) = super::grown(&old, &Operations::new(), true);
        assert_eq!((totals.len(), crates.len()), (1, 2), "an operation that is new");
    }

    #[test]
    fn recorded_figures_come_back() {
        let old = operations(10.5, &[("session", 6.5), ("txn", 4.0)]);
        let table: toml::Table = to_text(&old, "rustc 1.0").parse().unwrap();
        assert_eq!(operations_of(&table), old);
        assert_eq!(table[ENVIRONMENT].as_str(), Some("rustc 1.0"));
    }
}
