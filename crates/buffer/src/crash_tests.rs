//! Crashes at every operation: random page changes in mini-transactions, a power cut, recovery, comparison with a model.
//!
//! Each mini-transaction also writes its number into page 1 and into a logical record, so a recovered pool tells which
//! prefix of the history it holds; all pages must then be exactly as the model was after that prefix, and the prefix must
//! reach the last acknowledged mini-transaction. Planted mistakes prove that the test sees what it should.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use env::Environment;
use env::simulated::{Fault, FaultKind, OperationClass, SimulatedDisk, SimulatedRandom};
use page::{PageOperation, SpaceHeaderRef, SpaceKind};
use stdx::ids::{Lsn, PageId, PageNumber, SpaceId};

use crate::{BufferPool, NothingNeeded, PoolOptions, RecoveryHandler, StorageError};

const SPACE: SpaceId = SpaceId(1);
const BODY: usize = 24;
/// Mini-transactions of a run.
const STEPS: u64 = 45;
/// The value lies at the body's start and at the page's end, so that a torn page shows.
const FAR: usize = 16_000;

/// What the pages in use hold, by number.
type Model = BTreeMap<u32, u64>;

#[derive(Clone, Copy)]
struct Plan {
    seed: u64,
    doublewrite: bool,
    acknowledge_early: bool,
}

impl Plan {
    fn honest(seed: u64) -> Plan {
        Plan { seed, doublewrite: true, acknowledge_early: false }
    }

    fn options(&self) -> PoolOptions {
        PoolOptions {
            doublewrite: self.doublewrite,
            log_segment_bytes: 16 << 10,
            log_capacity_bytes: 96 << 10,
            log_buffer_bytes: 24 << 10,
            ..PoolOptions::small(16)
        }
    }
}

#[derive(Default)]
struct Numbers(Vec<u64>);

impl RecoveryHandler for Numbers {
    fn logical_record(&mut self, kind: u8, payload: &[u8], _start: Lsn) -> Result<(), StorageError> {
        assert_eq!(kind, 5);
        self.0.push(u64::from_le_bytes(payload.try_into().unwrap()));
        Ok(())
    }
}

fn open(disk: &SimulatedDisk, plan: Plan) -> Result<(Arc<BufferPool>, Vec<u64>), StorageError> {
    let mut numbers = Numbers::default();
    let environment = Environment::simulated(disk.clone(), 1);
    let pool = BufferPool::open(environment, plan.options(), &mut numbers)?;
    pool.set_checkpoint_participant(Arc::new(NothingNeeded));
    Ok((pool, numbers.0))
}

fn id(number: u32) -> PageId {
    PageId { space: SPACE, number: PageNumber(number) }
}

/// A run: the model after each mini-transaction, and the number of the last acknowledged one.
struct History {
    states: Vec<Model>,
    acknowledged: u64,
}

fn apply_value(mini: &mut crate::MiniTransaction<'_>, slot: crate::PageSlot, value: u64) {
    for offset in [BODY, FAR] {
        mini.apply(slot, &PageOperation::SetBytes { offset: offset as u16, bytes: &value.to_le_bytes() });
    }
}

/// One mini-transaction: writes its number into page 1 and some others, may allocate and free.
fn step(
    pool: &BufferPool,
    random: &SimulatedRandom,
    number: u64,
    model: &mut Model,
) -> Result<Lsn, StorageError> {
    let mut next = model.clone();
    let mut mini = pool.mini_transaction();
    let mut writes = Vec::new();
    let used: Vec<u32> = model.keys().copied().collect();
    for _ in 0..random.below(4) {
        let page = used[random.below(used.len() as u64) as usize];
        writes.push(mini.latch(id(page))?);
    }
    writes.push(mini.latch(id(1))?);
    let victim = used[random.below(used.len() as u64) as usize];
    let freed = if victim != 1 && used.len() > 12 { Some(mini.latch(id(victim))?) } else { None };
    if let Some(slot) = freed {
        mini.free(slot)?;
        next.remove(&victim);
    }
    for _ in 0..random.below(4) {
        writes.push(mini.allocate(SPACE)?);
    }
    for slot in writes {
        if Some(slot) != freed {
            next.insert(mini.page_id(slot).number.0, number);
            apply_value(&mut mini, slot, number);
        }
    }
    mini.log(5, &number.to_le_bytes());
    let end = mini.commit();
    *model = next;
    Ok(end)
}

/// Runs until the steps are done or the disk crashes.
fn run(disk: &SimulatedDisk, plan: Plan) -> Result<History, (History, StorageError)> {
    let random = SimulatedRandom::new(plan.seed);
    let mut history = History { states: Vec::new(), acknowledged: 0 };
    match run_steps(disk, plan, &random, &mut history) {
        Ok(()) => Ok(history),
        Err(error) => Err((history, error)),
    }
}

fn run_steps(
    disk: &SimulatedDisk,
    plan: Plan,
    random: &SimulatedRandom,
    history: &mut History,
) -> Result<(), StorageError> {
    let (pool, _) = open(disk, plan)?;
    pool.create_space(SPACE, SpaceKind::Table, Path::new("shop/item.ibd"))?;
    let mut mini = pool.mini_transaction();
    let slot = mini.allocate(SPACE)?;
    apply_value(&mut mini, slot, 0);
    mini.log(5, &0_u64.to_le_bytes());
    let end = mini.commit();
    let mut model = Model::from([(1, 0)]);
    history.states.push(model.clone());
    pool.redo().flush_to(end)?;
    for number in 1..=STEPS {
        let end = step(&pool, random, number, &mut model)?;
        history.states.push(model.clone());
        match random.below(5) {
            0 | 1 if plan.acknowledge_early => {
                pool.redo().write_to(end)?;
                history.acknowledged = number;
            }
            0 | 1 => {
                pool.redo().flush_to(end)?;
                history.acknowledged = number;
            }
            2 => drop(pool.flush_some()?),
            3 if random.one_in(2) => {
                pool.checkpoint()?;
                history.acknowledged = number;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Recovers and compares. Says what is wrong.
fn check(disk: &SimulatedDisk, plan: Plan, history: &History) -> Result<u64, String> {
    let (pool, numbers) = open(disk, plan).map_err(|error| format!("recovery failed: {error}"))?;
    if numbers.windows(2).any(|pair| pair[1] != pair[0] + 1) {
        return Err(format!("logical records are not a gapless run: {numbers:?}"));
    }
    if history.states.is_empty() || pool.spaces().is_empty() {
        return if history.acknowledged == 0 { Ok(0) } else { Err("the space is gone".to_string()) };
    }
    let Ok(number) = read_value(&pool, 1) else {
        return if history.acknowledged == 0 { Ok(0) } else { Err("page 1 is unreadable".to_string()) };
    };
    if number < history.acknowledged {
        return Err(format!("{number} found, {} was acknowledged", history.acknowledged));
    }
    if numbers.last().is_some_and(|last| *last != number) {
        return Err(format!("pages hold {number}, the log {numbers:?}"));
    }
    let model = history.states.get(number as usize).ok_or("a state that never was")?;
    for (page, value) in model {
        match read_value(&pool, *page) {
            Ok(found) if found == *value => {}
            other => return Err(format!("page {page} holds {other:?} instead of {value}, prefix {number}")),
        }
    }
    check_space_header(&pool, model)?;
    Ok(number)
}

fn read_value(pool: &BufferPool, page: u32) -> Result<u64, String> {
    let shared = pool.shared(id(page)).map_err(|error| error.to_string())?;
    let at = |offset: usize| u64::from_le_bytes(shared[offset..offset + 8].try_into().unwrap());
    if at(BODY) == at(FAR) { Ok(at(BODY)) } else { Err("two versions in one page".to_string()) }
}

/// The free list holds exactly the pages that were used and are not in the model.
fn check_space_header(pool: &BufferPool, model: &Model) -> Result<(), String> {
    let header = pool.shared(id(0)).map_err(|error| error.to_string())?;
    let header = SpaceHeaderRef::new(&header).map_err(|error| error.to_string())?;
    let mut free = Vec::new();
    let mut next = header.free_head();
    while let Some(number) = next {
        if free.len() as u32 > header.used_pages() {
            return Err("the free list is a circle".to_string());
        }
        free.push(number.0);
        let page = pool.shared(id(number.0)).map_err(|error| error.to_string())?;
        next = SpaceHeaderRef::next_free(&page).map_err(|error| error.to_string())?;
    }
    free.sort_unstable();
    let expected: Vec<u32> = (1..header.used_pages()).filter(|page| !model.contains_key(page)).collect();
    if free == expected && free.len() as u32 == header.free_pages() {
        Ok(())
    } else {
        Err(format!("free list {free:?} instead of {expected:?}"))
    }
}

/// Operations of a whole run without a crash.
fn operations(plan: Plan) -> u64 {
    let disk = SimulatedDisk::new(plan.seed);
    assert!(run(&disk, plan).is_ok());
    disk.counts().mutations
}

/// Crashes a run at an operation and gives the disk that the machine finds.
fn crashed_run(plan: Plan, crash_at: u64, damage_seed: u64) -> (SimulatedDisk, History) {
    let disk = SimulatedDisk::new(plan.seed);
    disk.crash_at(crash_at);
    let history = match run(&disk, plan) {
        Ok(history) => history,
        Err((history, error)) => {
            assert!(disk.has_crashed(), "crash at {crash_at}: {error}");
            history
        }
    };
    (disk.restart(damage_seed), history)
}

#[test]
fn every_crash_point_recovers_to_a_prefix() {
    for seed in 0..2 {
        let plan = Plan::honest(seed);
        for crash_at in 0..operations(plan) {
            for damage_seed in 0..4 {
                let (disk, history) = crashed_run(plan, crash_at, damage_seed);
                if let Err(reason) = check(&disk, plan, &history) {
                    panic!("seed {seed}, crash at {crash_at}, damage {damage_seed}: {reason}");
                }
            }
        }
    }
}

#[test]
fn interrupted_recovery_ends_in_the_same_state() {
    let plan = Plan::honest(3);
    let total = operations(plan);
    for crash_at in (total / 8..total).step_by(7) {
        let (disk, history) = crashed_run(plan, crash_at, 1);
        let expected = {
            let (disk, history) = crashed_run(plan, crash_at, 1);
            check(&disk, plan, &history).unwrap()
        };
        let mut disk = disk;
        for nested in 0..12 {
            disk.crash_at(nested);
            let _ = check(&disk, plan, &history);
            disk = disk.restart(nested);
            let found = check(&disk, plan, &history);
            assert_eq!(found, Ok(expected), "crash at {crash_at}, in recovery at {nested}");
            disk = disk.restart(nested + 50);
        }
    }
}

#[test]
fn killed_processes_lose_nothing_written() {
    let plan = Plan::honest(4);
    for crash_at in (0..operations(plan)).step_by(3) {
        let disk = SimulatedDisk::new(plan.seed);
        disk.crash_at(crash_at);
        let Err((history, _)) = run(&disk, plan) else { continue };
        let disk = disk.restart_after_kill();
        // Recovery itself is then cut short by a power failure: what it read must have been made durable first.
        disk.crash_at(9);
        let _ = check(&disk, plan, &history);
        check(&disk.restart(crash_at), plan, &history).unwrap();
    }
}

/// What a process that was killed had written and not synced is made durable by the next start, before its checkpoint passes it.
#[test]
fn a_start_syncs_what_a_killed_process_had_written() {
    let plan = Plan::honest(5);
    for crash_at in 0..operations(plan) {
        let disk = SimulatedDisk::new(plan.seed);
        disk.crash_at(crash_at);
        let Err((history, _)) = run(&disk, plan) else { continue };
        let disk = disk.restart_after_kill();
        let (pool, _) = open(&disk, plan).unwrap();
        pool.checkpoint().unwrap();
        drop(pool);
        for disk in [disk.restart_with_durable_state(), disk.restart(crash_at)] {
            check(&disk, plan, &history).unwrap_or_else(|reason| panic!("killed at {crash_at}: {reason}"));
        }
    }
}

/// Whether a crash at one of these operations shows that `plan` (or the skipped sync) is wrong.
fn is_caught(plan: Plan, skipped_sync: Option<u64>, crashes: std::ops::Range<u64>) -> bool {
    crashes.into_iter().any(|crash_at| {
        (0..6).any(|damage_seed| {
            let disk = SimulatedDisk::new(plan.seed);
            if let Some(nth) = skipped_sync {
                disk.add_fault(Fault { class: OperationClass::Sync, nth, kind: FaultKind::SilentlySkipped });
            }
            disk.crash_at(crash_at);
            let history = match run(&disk, plan) {
                Ok(history) | Err((history, _)) => history,
            };
            check(&disk.restart(damage_seed), plan, &history).is_err()
        })
    })
}

#[test]
fn planted_mistakes_are_caught() {
    let plan = Plan::honest(2);
    let all = 0..operations(plan);
    assert!(!is_caught(plan, None, all.clone()), "the honest plan is right");
    assert!(
        is_caught(Plan { acknowledge_early: true, ..plan }, None, all.clone()),
        "acknowledged before durable"
    );
    assert!(is_caught(Plan { doublewrite: false, ..plan }, None, all), "torn pages without doublewrite");
}

/// The number of the first operation behind each sync.
fn operations_behind_syncs(plan: Plan) -> Vec<u64> {
    let mut behind = Vec::new();
    for crash_at in 0..=operations(plan) {
        let disk = SimulatedDisk::new(plan.seed);
        disk.crash_at(crash_at);
        let _ = run(&disk, plan);
        // The operation that crashed is counted, too, and may have been a sync.
        let syncs = disk.counts().syncs.saturating_sub(1);
        behind.resize((syncs as usize).max(behind.len()), crash_at);
    }
    behind
}

#[test]
fn skipped_syncs_are_caught() {
    const WINDOW: u64 = 25;
    let plan = Plan::honest(2);
    let behind = operations_behind_syncs(plan);
    let tried: Vec<usize> = (0..behind.len()).step_by(3).collect();
    let is_seen = |nth: &usize| is_caught(plan, Some(*nth as u64), behind[*nth]..behind[*nth] + WINDOW);
    let seen: Vec<usize> = tried.iter().copied().filter(is_seen).collect();
    // A sync may be made up for by the next one of the same file before anything depends on it.
    assert!(seen.len() * 3 > tried.len(), "{} of {} were seen: {seen:?}", seen.len(), tried.len());
}
