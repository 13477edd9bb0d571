//! Faults other than crashes: a failing write or sync stops the engine and loses nothing acknowledged ([`after_failures`]);
//! a full disk fails statements only, and all goes on when there is room again ([`with_full_disk`]).

use env::simulated::{Fault, FaultKind, OperationClass, SimulatedDisk};

use crate::crash::{Damage, Outcome, Scenario, Violation, guarded};
use crate::engine_scenario::EngineScenario;

/// Lets each `stride`-th operation of a class fail once with an input/output error, then restarts.
pub fn after_failures(scenario: &EngineScenario, class: OperationClass, stride: u64) -> Outcome {
    let mut outcome = Outcome { operations: operations(scenario, class), ..Outcome::default() };
    let mut nth = 0;
    while nth < outcome.operations {
        let disk = SimulatedDisk::new(1);
        disk.add_fault(Fault { class, nth, kind: FaultKind::InputOutput });
        let mut oracle = scenario.oracle();
        // Whether the workload meets the fault or a background write does: it may end with an error or not.
        let run = guarded(|| scenario.run(&disk, &mut oracle).or(Ok(())));
        outcome.crashes += 1;
        for damage in [Damage::DurableOnly, Damage::Kill, Damage::Torn(nth)] {
            let verified =
                run.clone().and_then(|()| guarded(|| scenario.verify(&damage.restart(&disk), &oracle)));
            outcome.recoveries += 1;
            if let Err(message) = verified {
                let message = format!("after a failed {class:?}: {message}");
                let scenario = scenario.name;
                outcome.violations.push(Violation { scenario, crash_at: Some(nth), damage, message });
            }
        }
        nth += stride;
    }
    outcome
}

fn operations(scenario: &EngineScenario, class: OperationClass) -> u64 {
    let disk = SimulatedDisk::new(1);
    let mut oracle = scenario.oracle();
    let _ = scenario.run(&disk, &mut oracle);
    let counts = disk.counts();
    match class {
        OperationClass::Read => counts.reads,
        OperationClass::Write => counts.writes,
        OperationClass::Sync => counts.syncs,
        OperationClass::Allocate => counts.allocations,
        OperationClass::Namespace => counts.namespace,
        OperationClass::AnyMutation => counts.mutations,
    }
}

/// Runs the workload on disks that end at `steps` different sizes between an empty database and all it needs. What
/// was committed must be there while the disk is full, after room was made, and after a restart. `operations` of the
/// outcome counts the disks that were full.
pub fn with_full_disk(scenario: &EngineScenario, steps: u64) -> Outcome {
    let mut outcome = Outcome::default();
    let (least, most) = (used_after(scenario, false), used_after(scenario, true));
    for step in 0..steps {
        let capacity = least + (most - least) * step / steps;
        let disk = SimulatedDisk::new(1);
        let mut oracle = scenario.oracle();
        let survived = guarded(|| scenario.run_on_full_disk(&disk, capacity, &mut oracle));
        outcome.crashes += 1;
        let verified = survived.and_then(|was_full| {
            outcome.operations += u64::from(was_full);
            outcome.recoveries += 1;
            guarded(|| scenario.verify(&disk.restart_with_durable_state(), &oracle))
        });
        if let Err(message) = verified {
            let message = format!("disk of {capacity} bytes: {message}");
            let (scenario, damage) = (scenario.name, Damage::DurableOnly);
            outcome.violations.push(Violation { scenario, crash_at: None, damage, message });
        }
    }
    outcome
}

/// Bytes on disk after opening alone, or after the whole workload.
fn used_after(scenario: &EngineScenario, workload: bool) -> u64 {
    let disk = SimulatedDisk::new(1);
    let mut oracle = scenario.oracle();
    if workload {
        let _ = scenario.run(&disk, &mut oracle);
    } else {
        let _ = scenario.verify(&disk, &oracle);
    }
    disk.used_bytes()
}
