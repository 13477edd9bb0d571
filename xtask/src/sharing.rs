//! `cargo xtask sharing`: the lines of memory that a point select writes and another session's point select on the same table
//! writes, too. Such lines go from core to core, however few locks are taken. Two sessions take turns
//! (`instructions/src/sharing.rs`) under valgrind's lackey, which tells every access. What both write is named by the code that
//! writes it, and must stand in `benches/sharing.toml`.

mod trace;

use crate::contention::symbols;
use crate::{files, instructions};
use std::collections::{BTreeMap, BTreeSet};
use std::io::BufReader;
use std::process::{Command, Stdio};
use trace::Trace;

const KNOWN: &str = "benches/sharing.toml";
/// The marks as the program's table of symbols has them.
const MARKS: &str = "sharing::MARKS";

/// Looks, and fails where something is shared that is not known to be.
pub fn run(arguments: &[String]) -> Result<(), String> {
    if !arguments.is_empty() {
        return Err("sharing takes no arguments".to_owned());
    }
    let known: toml::Table = files::read(KNOWN)?.parse().map_err(|error| format!("{KNOWN}: {error}"))?;
    let binary = instructions::build("quick")?;
    let trace = run_traced(&binary)?;
    let loaded_at = trace.marks()? - link_address(&binary)?;
    let (written, shared) = (trace.written(), trace.shared());
    let mut names_of_lines = BTreeMap::<String, usize>::new();
    for writers in shared.values() {
        *names_of_lines.entry(names(&binary, writers, loaded_at)?).or_default() += 1;
    }
    println!(
        "{} of {written} lines that a point select writes are written by another session's",
        shared.len()
    );
    let mut unknown = Vec::new();
    for (name, lines) in &names_of_lines {
        let reason = known.get(name).and_then(toml::Value::as_str);
        println!("  {lines} by {name}: {}", reason.unwrap_or("not known"));
        if reason.is_none() {
            unknown.push(name.as_str());
        }
    }
    match unknown.is_empty() {
        true => Ok(()),
        false => Err(format!("sharing: {KNOWN} does not know {}", unknown.join("; "))),
    }
}

/// Runs the program under lackey. Its own line and lackey's come the same way, so that they are in order.
fn run_traced(binary: &str) -> Result<Trace, String> {
    let folder = files::temporary_folder("iruka-sharing")?;
    let child = Command::new("valgrind")
        .env("GLIBC_TUNABLES", instructions::TUNABLES)
        .args(["--tool=lackey", "--trace-mem=yes", "--basic-counts=no", "--fair-sched=yes", "--log-fd=1"])
        .args([binary, &format!("{folder}/data"), "sharing"])
        .stdout(Stdio::piped())
        .spawn();
    let mut child = child.map_err(|error| format!("valgrind: {error} (tests/install.sh installs it)"))?;
    let trace = match child.stdout.take() {
        Some(output) => Trace::read(BufReader::with_capacity(1 << 20, output)),
        None => Err("valgrind has no output".to_owned()),
    };
    let ended = child.wait().map_err(|error| error.to_string());
    files::remove_folder(&folder);
    match ended?.success() {
        true => trace,
        false => Err("the statements failed".to_owned()),
    }
}

/// Where the marks are before the program is loaded.
fn link_address(binary: &str) -> Result<u64, String> {
    let output = Command::new("nm").args(["-C", binary]).output();
    let output = output.map_err(|error| format!("nm: {error} (package binutils)"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().find(|line| line.contains(MARKS));
    let address = line.and_then(|line| u64::from_str_radix(line.split(' ').next()?, 16).ok());
    address.ok_or_else(|| format!("{binary} has no {MARKS}"))
}

/// The code that writes a line: what stands first in the order of names is enough to find it.
fn names(binary: &str, writers: &BTreeSet<u64>, loaded_at: u64) -> Result<String, String> {
    let addresses = writers.iter().map(|address| (address.wrapping_sub(loaded_at), 1)).collect();
    let symbols = symbols(binary, &addresses)?;
    let names: BTreeSet<String> = symbols.into_iter().map(|(symbol, _)| symbol.name).collect();
    Ok(names.into_iter().collect::<Vec<_>>().join(", "))
}
