//! `cargo xtask instructions --release`: what single functions of the release build take in an operation, with all that they
//! call, against the bars of `benches/bars.toml`. Main function: [`run`].

use super::{TUNABLES, build, times_in};
use crate::files;
use std::collections::BTreeSet;
use std::process::Command;

const BARS: &str = "benches/bars.toml";

/// A function within an operation, and the most instructions that it may take.
#[derive(Debug, PartialEq)]
struct Bar {
    operation: String,
    function: String,
    /// How functions are called that do not count, although it calls them.
    without: Option<String>,
    most: u64,
}

/// Measures, and fails where a bar is missed.
pub fn run() -> Result<(), String> {
    let bars = bars_in(&files::read(BARS)?)?;
    let binary = build("release")?;
    let folder = files::temporary_folder("iruka-bars")?;
    let measured = bars.iter().map(|bar| measure(&binary, &folder, bar)).collect::<Result<Vec<_>, _>>();
    files::remove_folder(&folder);
    let mut missed = Vec::new();
    for (bar, count) in bars.iter().zip(measured?) {
        let Bar { operation, function, most, .. } = bar;
        println!("{operation}: {count} instructions in {function}, at most {most}");
        if count > *most {
            missed.push(format!("{operation} takes {count} in {function}"));
        }
    }
    if missed.is_empty() { Ok(()) } else { Err(format!("instructions: {}", missed.join(", "))) }
}

fn bars_in(text: &str) -> Result<Vec<Bar>, String> {
    let table: toml::Table = text.parse().map_err(|error| format!("{BARS}: {error}"))?;
    let bar = |(operation, value): (&String, &toml::Value)| {
        let function = value.get("function")?.as_str()?.to_owned();
        let most = u64::try_from(value.get("most")?.as_integer()?).ok()?;
        let without = value.get("without").and_then(toml::Value::as_str).map(str::to_owned);
        Some(Bar { operation: operation.clone(), function, without, most })
    };
    table
        .iter()
        .map(|named| bar(named).ok_or_else(|| format!("{BARS}: {} wants function and most", named.0)))
        .collect()
}

/// Instructions of the function in one operation. callgrind counts nothing else than the operation.
fn measure(binary: &str, folder: &str, bar: &Bar) -> Result<u64, String> {
    let profile = format!("{folder}/{}", bar.operation);
    let output = Command::new("valgrind")
        .env("GLIBC_TUNABLES", TUNABLES)
        .args(["--quiet", "--tool=callgrind", "--fair-sched=yes", &format!("--callgrind-out-file={profile}")])
        .arg(format!("--toggle-collect=*::measured_{}", bar.operation))
        .args([binary, &format!("{folder}/data-{}", bar.operation)])
        .output()
        .map_err(|error| format!("valgrind: {error} (tests/install.sh installs it)"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let times = times_in(&text).filter(|_| output.status.success());
    let Some(times) = times.as_ref().and_then(|times| times.get(&bar.operation)) else {
        return Err(format!("the benchmark failed: {text}{}", String::from_utf8_lossy(&output.stderr)));
    };
    let annotated = annotate(&profile)?;
    let Some((_, count)) = counts(&annotated).find(|(name, _)| *name == bar.function) else {
        return Err(format!("{} was not seen in {}", bar.function, bar.operation));
    };
    let is_left_out = |name: &str| bar.without.as_ref().is_some_and(|without| name.starts_with(without));
    let left_out = counts(&annotated).filter(|(name, _)| is_left_out(name)).map(|(_, count)| count);
    Ok((count - left_out.sum::<u64>()) / times)
}

fn annotate(profile: &str) -> Result<String, String> {
    let output = Command::new("callgrind_annotate")
        .args(["--inclusive=yes", "--threshold=100", "--auto=no", "--show-percs=no", profile])
        .output()
        .map_err(|error| format!("callgrind_annotate: {error}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Functions with their inclusive counts. Lines that follow under a name are of parts that come from other files.
fn counts(annotated: &str) -> impl Iterator<Item = (&str, u64)> {
    let mut seen = BTreeSet::new();
    annotated.lines().filter_map(move |line| {
        let (count, place) = line.trim().split_once(' ')?;
        let (_, named) = place.split_once(':')?;
        let name = named.split(" [").next()?;
        let count = count.replace(',', "").parse().ok()?;
        seen.insert(name).then_some((name, count))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_has_one_count() {
        let text = "Ir\n8,000  session.rs:session::Session::query_again [/x/instructions]\n\
                    1,234  /w/crates/session.rs:session::Session::query [/x/instructions]\n\
                    200  /w/crates/vec.rs:session::Session::query [/x/instructions]\n";
        let found: Vec<_> = counts(text).collect();
        assert_eq!(found, [("session::Session::query_again", 8000), ("session::Session::query", 1234)]);
    }

    #[test]
    fn bars_are_read() {
        let (operation, function) = ("plan_one".to_owned(), "planner::plan".to_owned());
        let bar = Bar { operation, function, without: None, most: 7 };
        assert_eq!(bars_in("[plan_one]\nfunction = \"planner::plan\"\nmost = 7\n"), Ok(vec![bar]));
        assert!(bars_in("[plan_one]\nmost = 7\n").is_err());
    }
}
