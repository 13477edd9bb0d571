//! Enumeration of crashes: [`enumerate`] runs a [`Scenario`] once to count its storage operations, then again with a
//! crash at each of them, and opens what each kind of [`Damage`] leaves.

use std::panic::{AssertUnwindSafe, catch_unwind};

use env::simulated::{Fault, SimulatedDisk};

/// What a crash does to writes that were not synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// Exactly what was synced remains.
    DurableOnly,
    /// The process dies, the machine goes on: all writes remain.
    Kill,
    /// Unsynced writes survive whole, torn, reordered or not at all, as the seed decides.
    Torn(u64),
}

impl Damage {
    pub(crate) fn restart(self, disk: &SimulatedDisk) -> SimulatedDisk {
        match self {
            Damage::DurableOnly => disk.restart_with_durable_state(),
            Damage::Kill => disk.restart_after_kill(),
            Damage::Torn(seed) => disk.restart(seed),
        }
    }
}

/// A workload with its promises.
pub trait Scenario {
    /// What was committed and promised.
    type Oracle;

    /// Short name for reports.
    fn name(&self) -> &'static str;

    /// The disk that it begins with.
    fn disk(&self) -> SimulatedDisk {
        SimulatedDisk::new(1)
    }

    /// A fresh oracle.
    fn oracle(&self) -> Self::Oracle;

    /// Runs the workload until it ends or the disk fails. An error without a crash is a violation.
    fn run(&self, disk: &SimulatedDisk, oracle: &mut Self::Oracle) -> Result<(), String>;

    /// Opens the database (recovery), checks all of it, and compares it with the oracle. Returns the number of the
    /// commit that was found. Leaves without a shutdown.
    fn verify(&self, disk: &SimulatedDisk, oracle: &Self::Oracle) -> Result<usize, String>;
}

/// How much of the enumeration to run.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// Crash at every so many-th operation; 1 for all.
    pub stride: u64,
    /// The first crash.
    pub first: u64,
    /// How many seeds of torn writes, beside the two fixed kinds of damage.
    pub torn_seeds: u64,
    /// Crashes within recovery, for each crash point.
    pub crashes_in_recovery: u64,
}

impl Extent {
    /// Every operation, four kinds of damage, one crash within each recovery.
    pub const FULL: Extent = Extent { stride: 1, first: 0, torn_seeds: 2, crashes_in_recovery: 1 };
}

/// A broken promise.
#[derive(Clone, Debug)]
pub struct Violation {
    /// The scenario.
    pub scenario: &'static str,
    /// The operation at which the disk crashed; `None` for the run without a crash.
    pub crash_at: Option<u64>,
    /// The damage.
    pub damage: Damage,
    /// What was found.
    pub message: String,
}

/// What an enumeration found.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Storage operations of the scenario.
    pub operations: u64,
    /// Crashes simulated.
    pub crashes: u64,
    /// Recoveries run and checked.
    pub recoveries: u64,
    /// Broken promises.
    pub violations: Vec<Violation>,
}

/// Runs a scenario through its crashes. `fault`, if any, is planted into each run: a test that the checks see it.
pub fn enumerate<S: Scenario>(scenario: &S, extent: Extent, fault: Option<Fault>) -> Outcome {
    let mut outcome = Outcome::default();
    let disk = first_disk(scenario, fault);
    let mut oracle = scenario.oracle();
    let run = guarded(|| scenario.run(&disk, &mut oracle));
    outcome.operations = disk.counts().mutations;
    if let Err(message) = run {
        report(&mut outcome, scenario, None, Damage::Kill, format!("without a crash: {message}"));
        return outcome;
    }
    let mut crash_at = extent.first;
    while crash_at < outcome.operations {
        crash_once(scenario, extent, fault, crash_at, &mut outcome);
        crash_at += extent.stride;
    }
    outcome
}

fn first_disk<S: Scenario>(scenario: &S, fault: Option<Fault>) -> SimulatedDisk {
    let disk = scenario.disk();
    if let Some(fault) = fault {
        disk.add_fault(fault);
    }
    disk
}

fn crash_once<S: Scenario>(
    scenario: &S,
    extent: Extent,
    fault: Option<Fault>,
    crash_at: u64,
    outcome: &mut Outcome,
) {
    let disk = first_disk(scenario, fault);
    disk.crash_at(crash_at);
    let mut oracle = scenario.oracle();
    let run = guarded(|| scenario.run(&disk, &mut oracle));
    outcome.crashes += 1;
    if let Err(message) = run
        && (!disk.has_crashed() || message.starts_with(PANIC))
    {
        report(outcome, scenario, Some(crash_at), Damage::Kill, format!("while crashing: {message}"));
    }
    let torn = (0..extent.torn_seeds).map(|seed| Damage::Torn(crash_at * 7 + seed));
    for damage in [Damage::DurableOnly, Damage::Kill].into_iter().chain(torn) {
        if let Err(message) = recover(scenario, extent, &disk, damage, &oracle, crash_at, outcome) {
            report(outcome, scenario, Some(crash_at), damage, message);
        }
    }
}

/// Recovers once, again from where that left off, and with crashes in between.
fn recover<S: Scenario>(
    scenario: &S,
    extent: Extent,
    disk: &SimulatedDisk,
    damage: Damage,
    oracle: &S::Oracle,
    crash_at: u64,
    outcome: &mut Outcome,
) -> Result<(), String> {
    let found = damage.restart(disk);
    let first = guarded(|| scenario.verify(&found, oracle))?;
    outcome.recoveries += 1;
    let again = guarded(|| scenario.verify(&found.restart_with_durable_state(), oracle))
        .map_err(|message| format!("second start: {message}"))?;
    outcome.recoveries += 1;
    if again != first {
        return Err(format!("second start finds commit {again}, the first found {first}"));
    }
    let operations = found.counts().mutations;
    for round in 0..extent.crashes_in_recovery {
        let interrupted = damage.restart(disk);
        let at = (crash_at.wrapping_mul(31) + round * 17) % operations.max(1);
        interrupted.crash_at(at);
        let started = guarded(|| scenario.verify(&interrupted, oracle));
        if let Err(message) = started
            && message.starts_with(PANIC)
        {
            return Err(format!("crash at operation {at} of recovery: {message}"));
        }
        let after = guarded(|| scenario.verify(&interrupted.restart(crash_at + round), oracle))
            .map_err(|message| format!("after a crash at operation {at} of recovery: {message}"))?;
        outcome.recoveries += 1;
        // After a mere kill, the second crash may lose writes that were never synced, and with them commits that
        // nobody was promised.
        if after != first && damage != Damage::Kill {
            return Err(format!("interrupted recovery ends at commit {after}, the whole one at {first}"));
        }
    }
    Ok(())
}

const PANIC: &str = "panic: ";

/// Turns a panic into a message: the simulation goes on to the next crash.
pub(crate) fn guarded<R>(run: impl FnOnce() -> Result<R, String>) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no text");
        Err(format!("{PANIC}{text}"))
    })
}

fn report<S: Scenario>(
    outcome: &mut Outcome,
    scenario: &S,
    crash_at: Option<u64>,
    damage: Damage,
    message: String,
) {
    outcome.violations.push(Violation { scenario: scenario.name(), crash_at, damage, message });
}
