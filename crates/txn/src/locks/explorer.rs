//! Random schedules of owners over the queues, with an oracle that looks after each step. Everything the queues promise
//! is asked of [`LockTable::snapshot`] and of a model of who has written which row:
//! no two owners' locks exclude each other, a writer's implicit lock and what ranges hold included; no waiter could be granted; who was told that it has a
//! lock has it; a victim stood in a cycle, and no cycle outlives the wait that closed it; at the end nothing is left.
//! That the oracle sees is proved by planted mistakes ([`Mistake`]): each must be found within the same schedules. So were the two
//! of the queues that kept granted locks and waiters in one list: a lock raised in place that the next grant did not see
//! (seed 40), and a written row's lock given back by its statement (seed 30).

use super::mistakes::{self, Mistake};
use super::row_wait::RowWait;
use super::*;
use std::collections::{HashMap, HashSet};

const INDEX: IndexId = IndexId(1);
const KEYS: u64 = 3;
const OWNERS: usize = 5;
const STEPS: usize = 60;
const SCHEDULES: u64 = 4000;

/// The engine's part: rows and who has written them, and a statement of each owner.
struct Schedule {
    locks: LockManager,
    random: u64,
    owners: Vec<Arc<Owner>>,
    /// The mark of the owner's present statement.
    marks: Vec<u64>,
    /// The unfinished writer of each row.
    writers: HashMap<u64, usize>,
    /// An ended writer of each row: a look at a secondary entry may come late.
    ended: HashMap<u64, Arc<Owner>>,
    /// Rows that owners have locked by ranges.
    ranged: HashMap<(usize, u64), LockMode>,
    /// What the owner waits for, with the write that follows the lock.
    waits: HashMap<usize, (u64, LockMode)>,
    log: Vec<String>,
}

impl Schedule {
    fn new(seed: u64) -> Schedule {
        let locks = LockManager::new();
        let owners: Vec<_> = (1..=OWNERS as u64).map(|session| locks.owner(session)).collect();
        let random = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        Schedule {
            locks,
            random,
            owners,
            marks: vec![0; OWNERS],
            writers: HashMap::new(),
            ended: HashMap::new(),
            ranged: HashMap::new(),
            waits: HashMap::new(),
            log: Vec::new(),
        }
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random % limit
    }

    fn step(&mut self) -> Result<(), String> {
        let who = self.below(OWNERS as u64) as usize;
        let key = self.below(KEYS);
        let choice = self.below(100);
        if self.waits.contains_key(&who) {
            // It sleeps: all that can happen to it is a time-out or a kill.
            if choice < 15 {
                let end = if choice < 8 { WaitEnd::TimedOut } else { WaitEnd::Killed };
                self.log.push(format!("{who} gives up: {end:?}"));
                if !self.locks.table.give_up(&self.owners[who], None, end) {
                    return Err(format!("owner {who} waits and cannot give up"));
                }
                self.end_wait(who);
            }
            return self.settle();
        }
        match choice {
            0..27 => self.lock(who, key, LockMode::SHARED_RECORD, !choice.is_multiple_of(4)),
            27..54 => self.lock(who, key, LockMode::EXCLUSIVE_RECORD, !choice.is_multiple_of(4)),
            54..59 => self.lock_range(who, key, LockMode::SHARED_RECORD)?,
            59..64 => self.lock_range(who, key, LockMode::EXCLUSIVE_RECORD)?,
            64..80 => self.write(who, key),
            80..82 => self.insert(who, key),
            82..86 => {
                self.log.push(format!("{who} unlocks {key}"));
                self.locks.unlock(&self.owners[who], INDEX, &name(key), self.marks[who]);
            }
            86..88 => self.marks[who] = self.owners[who].lock_mark(),
            88..90 => self.pass_by(who, key),
            90..92 => self.take_back(who, key),
            92 => self.pass_by(who, key),
            93..95 => self.look_late(who, key),
            _ => self.finish(who),
        }
        self.settle()
    }

    /// A locking read, as the engine does it under the row's latch.
    fn lock(&mut self, who: usize, key: u64, mode: LockMode, may_wait: bool) {
        if self.writers.get(&key) == Some(&who) {
            return;
        }
        self.log.push(format!("{who} asks {key} {:?} wait={may_wait}", mode.strength));
        let implicit = self.writers.get(&key).map(|writer| self.owners[*writer].clone());
        let owner = self.owners[who].clone();
        let answer = self.locks.request(&owner, INDEX, &name(key), mode, implicit.as_ref(), may_wait);
        if answer == Request::Queued {
            self.begin_wait(who, key, mode);
        }
    }

    /// A locking scan that locks rows by a range, as the engine does it under the leaf's latch, up to the first that another has to do with.
    fn lock_range(&mut self, who: usize, from: u64, mode: LockMode) -> Result<(), String> {
        let owner = self.owners[who].clone();
        let is_free = |key: &u64| {
            self.writers.get(key).is_none_or(|writer| *writer == who)
                && !self.locks.others_ask(&owner, INDEX, &name(*key))
        };
        let keys: Vec<u64> = (from..KEYS).take_while(is_free).collect();
        let to = name(from + keys.len() as u64);
        let range = (&name(from)[..], Some(&to[..]));
        if !self.locks.lock_range(&owner, INDEX, range, mode.strength.into(), keys.len() as u64) {
            return Ok(());
        }
        self.log.push(format!("{who} has locked {keys:?} {:?} by a range", mode.strength));
        for key in keys {
            if !self.locks.confirm_row(&owner, INDEX, &name(key), mode) {
                return Err(format!("owner {who} cannot have {key}, and nobody has come between"));
            }
            let held = self.ranged.entry((who, key)).or_insert(mode);
            if mode.covers(*held) {
                *held = mode;
            }
        }
        Ok(())
    }

    /// A locking scan that comes by a key without a row, of which a delete mark may be left: its range has rows before and behind.
    fn pass_by(&mut self, who: usize, key: u64) {
        let is_rows = |lock: &LockInfo| {
            *lock.key.key == name(key) && matches!(lock.mode.span, Span::Record | Span::NextKey)
        };
        let has_row = self.writers.contains_key(&key)
            || self.ranged.keys().any(|(_, at)| *at == key)
            || self.locks.snapshot().iter().any(is_rows);
        let hold = if has_row { Hold::Gap } else { Hold::Shared };
        self.log.push(format!("{who} passes by {key}: {hold:?}"));
        let (from, to) = (name(key), name(key + 1));
        self.locks.lock_range(&self.owners[who], INDEX, (&from, Some(&to)), hold, 0);
    }

    /// The look before a row is put in, as if none were there.
    fn insert(&mut self, who: usize, key: u64) {
        self.log.push(format!("{who} asks whether it may insert {key}"));
        let owner = self.owners[who].clone();
        if self.locks.request_insert(&owner, INDEX, &name(key)) == Request::Queued {
            self.begin_wait(who, key, LockMode::INSERT_INTENTION);
        }
    }

    /// A write: the row's lock as in [`LockManager::others_lock`], then the writer's id in the row.
    fn write(&mut self, who: usize, key: u64) {
        self.log.push(format!("{who} writes {key}"));
        let owner = self.owners[who].clone();
        let implicit = self.writers.get(&key).filter(|writer| **writer != who);
        let implicit = implicit.map(|writer| self.owners[*writer].clone());
        if implicit.is_some() || self.locks.others_lock(&owner, INDEX, &name(key)) {
            let mode = LockMode::EXCLUSIVE_RECORD;
            let answer = self.locks.request(&owner, INDEX, &name(key), mode, implicit.as_ref(), true);
            if answer == Request::Queued {
                return self.begin_wait(who, key, mode);
            }
        }
        self.writers.insert(key, who);
        self.locks.make_implicit(&owner, INDEX, &name(key));
    }

    /// ROLLBACK TO SAVEPOINT: the old writer's id shows again, the lock stays.
    fn take_back(&mut self, who: usize, key: u64) {
        if self.writers.get(&key) == Some(&who) {
            self.log.push(format!("{who} takes its write of {key} back"));
            let mode = LockMode::EXCLUSIVE_RECORD;
            let answer = self.locks.request(&self.owners[who], INDEX, &name(key), mode, None, false);
            assert!(matches!(answer, Request::Granted | Request::Held), "a writer has its row: {answer:?}");
            self.writers.remove(&key);
        }
    }

    /// A look at a secondary entry, not under the row's latch: the entry's writer ended meanwhile.
    fn look_late(&mut self, who: usize, key: u64) {
        let Some(writer) = self.ended.get(&key) else { return };
        self.log.push(format!("{who} looks late at {key}"));
        let (mode, owner) = (LockMode::SHARED_RECORD, &self.owners[who]);
        let answer = self.locks.request(owner, INDEX, &name(key), mode, Some(writer), true);
        if answer == Request::Queued {
            self.begin_wait(who, key, mode);
        }
    }

    fn finish(&mut self, who: usize) {
        self.log.push(format!("{who} finishes"));
        let owner = self.owners[who].clone();
        self.writers.retain(|key, writer| {
            if *writer == who {
                self.ended.insert(*key, owner.clone());
            }
            *writer != who
        });
        self.ranged.retain(|(owner, _), _| *owner != who);
        self.locks.finish(&self.owners[who]);
        self.owners[who] = self.locks.owner(who as u64 + 1);
        self.marks[who] = 0;
    }

    fn begin_wait(&mut self, who: usize, key: u64, mode: LockMode) {
        let owner = self.owners[who].clone();
        let before = cyclic(&self.locks.snapshot());
        let victims = self.locks.counters.deadlocks.clone();
        let wait = RowWait { table: self.locks.table.clone(), owner: owner.clone(), victims };
        self.waits.insert(who, (key, mode));
        self.locks.waits.begin(owner.waiter_id(), Arc::new(wait));
        let reached = std::mem::take(&mut owner.lock_state().reached);
        std::iter::once(owner.waiter_id()).chain(reached).for_each(|waiter| self.locks.waits.search(waiter));
        let victims: Vec<usize> =
            (0..OWNERS).filter(|at| self.owners[*at].waiter.outcome() == Some(WaitEnd::Victim)).collect();
        for victim in victims {
            self.log.push(format!("{victim} is a victim"));
            assert!(before.contains(&victim), "owner {victim} stood in no cycle");
            self.end_wait(victim);
            self.finish(victim);
        }
    }

    fn end_wait(&mut self, who: usize) {
        self.locks.waits.end(self.owners[who].waiter_id());
        self.owners[who].waiter.reset();
        self.waits.remove(&who);
    }

    /// Lets those go on that were granted what they waited for, then looks at everything.
    fn settle(&mut self) -> Result<(), String> {
        for who in 0..OWNERS {
            if self.waits.contains_key(&who) && self.owners[who].waiter.outcome() == Some(WaitEnd::Granted) {
                let (key, mode) = self.waits[&who];
                self.log.push(format!("{who} has got {key}"));
                self.end_wait(who);
                let has = |lock: &LockInfo| {
                    let own = lock.granted && lock.owner == self.owners[who].number;
                    own && *lock.key.key == name(key) && lock.mode.covers(mode)
                };
                // Who may insert now looks again.
                if mode != LockMode::INSERT_INTENTION && !self.locks.snapshot().iter().any(has) {
                    return Err(format!("owner {who} was told that it has {key}"));
                }
            }
        }
        self.check()
    }

    fn check(&self) -> Result<(), String> {
        let all = self.locks.snapshot();
        for key in 0..KEYS {
            let mut locks: Vec<_> = all.iter().filter(|lock| *lock.key.key == name(key)).cloned().collect();
            for (at, waiter) in locks.iter().enumerate().filter(|(_, lock)| !lock.granted) {
                let holds = locks.iter().any(|lock| lock.granted && lock.owner == waiter.owner);
                let blocked = locks.iter().take(at).any(|lock| {
                    let counts = lock.granted || !holds;
                    lock.owner != waiter.owner && counts && waiter.mode.waits_for(lock.mode)
                });
                if !blocked {
                    return Err(format!("key {key}: nothing stands in the way of {}", waiter.session_id));
                }
            }
            // The leave to insert keeps nobody out, and is asked for again.
            locks.retain(|lock| lock.granted && lock.mode != LockMode::INSERT_INTENTION);
            let writer = self.writers.get(&key).map(|writer| (*writer, LockMode::EXCLUSIVE_RECORD));
            let ranged = self.ranged.iter().filter(|((_, at), _)| *at == key);
            for (who, mode) in ranged.map(|((who, _), mode)| (*who, *mode)).chain(writer) {
                let key = LockKey { index: INDEX, key: name(key).as_slice().into() };
                locks.push(LockInfo::new(key, mode, true, &self.owners[who]));
            }
            for one in &locks {
                let excluded = |other: &&LockInfo| other.owner != one.owner && one.mode.waits_for(other.mode);
                if let Some(other) = locks.iter().find(excluded) {
                    return Err(format!("key {key}: {} beside {}", one.session_id, other.session_id));
                }
            }
        }
        match cyclic(&all).is_empty() {
            true => Ok(()),
            false => Err("a cycle was left".to_owned()),
        }
    }

    fn run(mut self) -> Result<(), String> {
        for _ in 0..STEPS {
            self.step().map_err(|what| format!("{what}\n{}", self.log.join("\n")))?;
        }
        for who in 0..OWNERS {
            self.finish(who);
        }
        match (self.locks.object_count(), self.locks.waits.waiting_count() - self.waits.len()) {
            (0, 0) => Ok(()),
            left => Err(format!("left at the end: {left:?}")),
        }
    }
}

/// The owners that stand in cycles of waits, from the objects and not from what the search asks.
fn cyclic(all: &[LockInfo]) -> HashSet<usize> {
    let mut edges = HashSet::new();
    for (at, waiter) in all.iter().enumerate().filter(|(_, lock)| !lock.granted) {
        let others = |lock: &&LockInfo| lock.key == waiter.key && lock.owner != waiter.owner;
        let own = |lock: &LockInfo| lock.key == waiter.key && lock.granted && lock.owner == waiter.owner;
        let raises = all.iter().any(own);
        let before = all.iter().take(at).filter(others).filter(|lock| lock.granted || !raises);
        let blockers = before.filter(|lock| waiter.mode.waits_for(lock.mode));
        edges.extend(blockers.map(|lock| (waiter.session_id, lock.session_id)));
    }
    loop {
        let step = |(from, by): &(u64, u64)| {
            let next = edges.iter().filter(move |(at, _)| at == by);
            next.map(|(_, to)| (*from, *to)).collect::<Vec<_>>()
        };
        let longer: Vec<_> = edges.iter().flat_map(step).collect();
        let before = edges.len();
        edges.extend(longer);
        if edges.len() == before {
            break;
        }
    }
    edges.iter().filter(|(from, to)| from == to).map(|(from, _)| *from as usize - 1).collect()
}

fn name(key: u64) -> [u8; 8] {
    key.to_be_bytes()
}

/// The first schedule that finds something.
fn explore() -> Result<(), String> {
    (0..SCHEDULES).try_for_each(|seed| {
        let found = std::panic::catch_unwind(|| Schedule::new(seed).run());
        found
            .unwrap_or_else(|_| Err("a schedule panicked".to_owned()))
            .map_err(|what| format!("seed {seed}: {what}"))
    })
}

#[test]
fn random_schedules_keep_the_queues_promises() {
    explore().unwrap_or_else(|what| panic!("{what}"));
}

#[test]
fn planted_mistakes_are_found() {
    for mistake in Mistake::OF_STEPS {
        let found = mistakes::with(mistake, explore);
        assert!(found.is_err(), "{mistake:?} was not seen");
    }
}
