//! The quick part of the crash simulation, and planted mistakes that it must see.

use env::simulated::{Fault, FaultKind, OperationClass};

use crate::crowd::Crowd;
use crate::engine_scenario::EngineScenario;
use crate::sql_scenario::SqlScenario;
use crate::sql_scripts::SCRIPTS;
use crate::tree_scenario::TreeScenario;
use crate::{Extent, Outcome, enumerate, faults, scenarios, workloads};

/// Crashes at every so many-th operation in the quick run.
const QUICK_STRIDE: u64 = 17;

fn assert_kept(outcome: &Outcome) {
    assert!(outcome.crashes > 0 && outcome.recoveries >= outcome.crashes);
    assert!(outcome.violations.is_empty(), "{:#?}", outcome.violations);
}

#[test]
fn trees_survive_crashes() {
    for (number, scenario) in scenarios::trees().iter().enumerate() {
        let extent = Extent { stride: QUICK_STRIDE, first: number as u64 * 3, ..Extent::FULL };
        assert_kept(&enumerate(scenario, extent, None));
    }
}

/// A workload in which every mistake matters: frequent flushes, page writes and checkpoints.
fn busy() -> TreeScenario {
    let base = scenarios::trees().remove(0);
    TreeScenario { steps: 60, flush_every: 2, write_every: 6, checkpoint_every: 20, ..base }
}

#[test]
fn a_skipped_sync_is_seen() {
    let extent = Extent { stride: 3, first: 20, torn_seeds: 1, crashes_in_recovery: 0 };
    let caught = (8..40).step_by(8).filter(|nth| {
        let fault = Fault { class: OperationClass::Sync, nth: *nth, kind: FaultKind::SilentlySkipped };
        !enumerate(&busy(), extent, Some(fault)).violations.is_empty()
    });
    assert!(caught.count() > 0, "no skipped sync was seen");
}

#[test]
fn missing_doublewrite_is_seen() {
    let scenario = TreeScenario { doublewrite: false, ..busy() };
    let extent = Extent { stride: 1, first: 20, torn_seeds: 3, crashes_in_recovery: 0 };
    assert!(!enumerate(&scenario, extent, None).violations.is_empty(), "no torn page was seen");
}

/// Crashes at every so many-th operation of the engine workloads in the quick run.
const QUICK_ENGINE_STRIDE: u64 = 41;

#[test]
fn engine_workloads_survive_crashes() {
    for (number, scenario) in workloads::all().iter().enumerate() {
        let extent = Extent { stride: QUICK_ENGINE_STRIDE, first: 10 + number as u64 * 5, ..Extent::FULL };
        assert_kept(&enumerate(scenario, extent, None));
    }
}

/// Crashes of each script in the quick run.
const QUICK_SCRIPT_CRASHES: u64 = 4;

#[test]
fn statements_survive_crashes() {
    for (number, script) in SCRIPTS.iter().enumerate() {
        let scenario =
            SqlScenario::new(script).unwrap_or_else(|message| panic!("{}: {message}", script.name));
        assert!(scenario.commits() > 3, "{}: only {} steps commit", script.name, scenario.commits());
        let extent = Extent { torn_seeds: 1, ..Extent::FULL };
        let operations = enumerate(&scenario, Extent { first: u64::MAX, ..extent }, None).operations;
        let stride = (operations / QUICK_SCRIPT_CRASHES).max(1);
        assert_kept(&enumerate(&scenario, Extent { stride, first: number as u64 * 3, ..extent }, None));
    }
}

fn engine_workload(name: &str) -> EngineScenario {
    workloads::all().into_iter().find(|scenario| scenario.name == name).unwrap()
}

#[test]
fn early_acknowledgement_is_seen() {
    let scenario = EngineScenario { acknowledges_early: true, ..engine_workload("updates") };
    let extent = Extent { stride: 3, first: 30, torn_seeds: 0, crashes_in_recovery: 0 };
    let seen = enumerate(&scenario, extent, None).violations;
    assert!(seen.iter().any(|violation| violation.message.contains("is lost")), "{seen:?}");
}

#[test]
fn failed_syncs_and_writes_lose_nothing_acknowledged() {
    for class in [OperationClass::Sync, OperationClass::Write] {
        for (name, stride) in [("blobs", 7), ("create, drop, rename, truncate", 5), ("spilled versions", 11)]
        {
            assert_kept(&faults::after_failures(&engine_workload(name), class, stride));
        }
    }
}

#[test]
fn full_disks_fail_statements_only() {
    for name in
        ["inserts with splits", "blobs", "create, drop, rename, truncate", "alter", "spilled versions"]
    {
        let outcome = faults::with_full_disk(&engine_workload(name), 12);
        assert!(outcome.operations > 4, "the disk was full {} times", outcome.operations);
        assert!(outcome.violations.is_empty(), "{:#?}", outcome.violations);
    }
}

#[test]
fn crowds_survive_crashes() {
    let mut commits = 0;
    for seed in 0..6 {
        let pool_bytes = if seed % 2 == 0 { 1 << 20 } else { 8 << 20 };
        let crowd =
            Crowd { seed, writers: 4, transactions: 200, crash_before: 900, pool_bytes, log_bytes: 4 << 20 };
        commits += crowd.run().unwrap_or_else(|message| panic!("seed {seed}: {message}"));
    }
    assert!(commits > 100, "only {commits} commits");
}
