//! Random schedules of sessions over the queues, with an oracle that looks after each step. The oracle has MySQL's two tables
//! of its own and asks of [`MetadataLocks::rows`]: no two sessions hold what excludes each other; nobody waits who could go on, and
//! nobody went on who had to wait; no cycle of waits is left, and a victim stood in one; at the end nothing is held.
//! Requests are given up at any time, as by a time-out or KILL. Sleeping is left to `tests.rs`.
//! Every fourth schedule has max_write_lock_count, for which MySQL has other tables: there only the queues' own graph of waits is
//! asked, whether everybody waits for somebody and nobody for itself.
//! That the oracle sees is proved by planted mistakes ([`Mistake`]): each must be found within the same schedules.

use super::mistakes::{self, Mistake};
use super::*;
use engine::KillFlag;
use std::collections::HashMap;
use std::time::Duration;

const TABLES: [&str; 2] = ["a", "b"];
const SESSIONS: u32 = 5;
const STEPS: usize = 70;
const SCHEDULES: u64 = 200;

use LockMode::*;
const MODES: [LockMode; LockMode::COUNT] = [Intention, Shared, Read, Write, ReadOnly, NoReadWrite, Exclusive];
/// MySQL's table of granted locks (mdl.cc), rows and columns in the order of `MODES`: `-` for what must wait.
const GRANTED: [&str; LockMode::COUNT] =
    ["+-++++-", "-+++++-", "+++++--", "++++---", "+++-+--", "++-----", "-------"];
/// The same for waiting requests that came earlier or later.
const WAITING: [&str; LockMode::COUNT] =
    ["+-++++-", "++++++-", "+++++--", "+++++--", "+++-+--", "++++++-", "+++++++"];

fn is_refused(table: &[&str], asked: LockMode, other: LockMode) -> bool {
    let at = |mode: LockMode| MODES.iter().position(|known| *known == mode).unwrap();
    // Intentions and table locks never meet.
    let meet = |mode: LockMode| !matches!(mode, Read | Write | ReadOnly | NoReadWrite);
    let strange = (asked == Intention && !meet(other)) || (other == Intention && !meet(asked));
    !strange && table[at(asked)].as_bytes()[at(other)] == b'-'
}

/// A request that waits, as the oracle knows it.
struct ModelWait {
    key: LockKey,
    mode: LockMode,
    began: usize,
    begun: BegunWait,
}

struct Schedule {
    locks: MetadataLocks,
    random: u64,
    step: usize,
    intents: Vec<Arc<SessionLocks>>,
    /// What a session's first slots hold: one slot for each table.
    slots: HashMap<(u32, usize), LockKey>,
    /// What the plan that is kept for each table was made for.
    plans: [Option<SeenCell>; TABLES.len()],
    waits: HashMap<u32, ModelWait>,
    /// max_write_lock_count is low.
    has_barriers: bool,
    log: Vec<String>,
}

impl Schedule {
    fn new(seed: u64) -> Schedule {
        let locks = MetadataLocks::new(Arc::new(env::RealClock), Arc::default());
        let intents = (0..=SESSIONS).map(|session| locks.enrol(session)).collect();
        let random = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let has_barriers = seed.is_multiple_of(4);
        if has_barriers {
            locks.set_passes_max(1 + seed / 4 % 3);
        }
        Schedule {
            locks,
            random,
            step: 0,
            intents,
            slots: HashMap::new(),
            plans: [None, None],
            waits: HashMap::new(),
            has_barriers,
            log: Vec::new(),
        }
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random % limit
    }

    fn request(&mut self) -> (LockKey, LockMode, LockDuration) {
        let table = TABLES[self.below(2) as usize];
        if self.has_barriers {
            let mode = [Read, Write, ReadOnly, NoReadWrite, Exclusive][self.below(5) as usize];
            let table = if self.below(8) == 0 { table } else { "a" };
            return (LockKey::table("s", table), mode, LockDuration::Transaction);
        }
        match self.below(12) {
            0 => (LockKey::schema("s"), Intention, LockDuration::Statement),
            1 => (LockKey::schema("s"), Exclusive, LockDuration::Statement),
            2 => (LockKey::user_lock(table), Exclusive, LockDuration::Explicit),
            3 => (self.locks.table.intentions.key(Namespace::Global).clone(), Shared, LockDuration::Explicit),
            4 => (
                self.locks.table.intentions.key(Namespace::Global).clone(),
                Intention,
                LockDuration::Statement,
            ),
            other => {
                let mode = [Shared, Read, Read, Write, Write, ReadOnly, NoReadWrite, Exclusive];
                let mode = mode[self.below(mode.len() as u64) as usize];
                let duration = match other {
                    5 => LockDuration::Explicit,
                    6 => LockDuration::Statement,
                    _ => LockDuration::Transaction,
                };
                (LockKey::table("s", table), mode, duration)
            }
        }
    }

    fn act(&mut self) -> Result<(), String> {
        self.step += 1;
        let session = 1 + self.below(u64::from(SESSIONS)) as u32;
        if let Some(waits) = self.waits.remove(&session) {
            return self.look_at_wait(session, waits);
        }
        match self.below(10) {
            0 | 1 => self.ask(session),
            2..=4 => self.run_plan(session),
            5 | 6 if self.has_barriers => self.ask(session),
            5 | 6 => self.intend(session),
            7 => {
                self.log.push(format!("{session} stands back"));
                self.locks.relent(&self.intents[session as usize], Intent::Statement);
                Ok(())
            }
            _ => {
                let held: Vec<LockRow> = self.held(session);
                if !held.is_empty() {
                    let row = held[self.below(held.len() as u64) as usize].clone();
                    self.log.push(format!("{session} gives back {:?} {:?}", row.key, row.mode));
                    return self.give_back(&row);
                }
                Ok(())
            }
        }
    }

    /// A statement with a kept plan: in a slot if it may, else as without plan, and then the plan is made anew.
    fn run_plan(&mut self, session: u32) -> Result<(), String> {
        let table = self.below(2) as usize;
        let (key, mode) = (LockKey::table("s", TABLES[table]), [Read, Write][self.below(2) as usize]);
        let is_strong = |row: &LockRow| row.key == key && row.mode.is_strong();
        let may_refuse = self.locks.rows().iter().any(is_strong);
        let must_wait = !self.blockers(&self.locks.rows(), session, &key, mode, usize::MAX).is_empty();
        let own = Arc::clone(&self.intents[session as usize]);
        let seen = self.plans[table].clone().filter(SeenCell::is_current);
        let is_taken = self.slots.contains_key(&(session, table));
        let done = match seen {
            Some(_) if is_taken => mode == Read || own.strengthen(table, mode),
            Some(seen) => match own.take(table, &seen, mode) {
                SlotTaken::Held => self.slots.insert((session, table), key.clone()).is_none(),
                SlotTaken::InQueue => return Err("moved while nobody moves".to_owned()),
                SlotTaken::Refused if may_refuse => false,
                SlotTaken::Refused => return Err(format!("{session} finds a mark that nobody has left")),
            },
            None => false,
        };
        self.log.push(format!("{session} runs a plan over {} {mode:?}: {done}", TABLES[table]));
        if done && !is_taken && must_wait {
            return Err("takes a slot though it must wait".to_owned());
        }
        if !done {
            self.ask_for(session, key.clone(), mode, LockDuration::Transaction)?;
            if !self.waits.contains_key(&session) {
                self.plans[table] = Some(self.locks.see(&key, RowClass::default));
            }
        }
        Ok(())
    }

    fn give_back(&mut self, row: &LockRow) -> Result<(), String> {
        let table = TABLES.iter().position(|table| row.key == LockKey::table("s", table));
        let of_transaction = row.duration == LockDuration::Transaction;
        if let Some(table) = table.filter(|_| of_transaction)
            && self.slots.remove(&(row.session, table)).is_some()
        {
            self.locks.release_slot(&self.intents[row.session as usize], table);
        } else {
            self.locks.release(row.session, &row.key, row.duration);
        }
        let is_kept = |seen: &SeenCell| row.mode == Exclusive && seen.is_current();
        match table.and_then(|table| self.plans[table].as_ref()).is_some_and(is_kept) {
            true => Err("a plan outlives an exclusive lock".to_owned()),
            false => Ok(()),
        }
    }

    /// Locks of a session, without intentions that are in no queue.
    fn held(&self, session: u32) -> Vec<LockRow> {
        let rows = self.locks.table.rows().into_iter();
        rows.filter(|row| row.session == session && row.granted).collect()
    }

    fn ask(&mut self, session: u32) -> Result<(), String> {
        let (key, mode, duration) = self.request();
        self.ask_for(session, key, mode, duration)
    }

    fn ask_for(
        &mut self,
        session: u32,
        key: LockKey,
        mode: LockMode,
        duration: LockDuration,
    ) -> Result<(), String> {
        if key.namespace() == Namespace::Global && self.intents[session as usize].has(Intent::Statement) {
            // It has what it wants without a queue, or is refused above (1223, 1192).
            return Ok(());
        }
        self.log.push(format!("{session} asks for {key:?} {mode:?} {duration:?}"));
        let covered = self
            .held(session)
            .iter()
            .any(|row| row.key == key && row.duration == duration && row.mode.covers(mode));
        let must_wait =
            !covered && !self.blockers(&self.locks.rows(), session, &key, mode, usize::MAX).is_empty();
        let cycles = self.cyclic_with(session, &key, mode);
        match self.locks.begin(&LockRequest { session, key: &key, mode, duration }, true) {
            Begun::Ended(_) if must_wait && !self.has_barriers => {
                Err("granted though it must wait".to_owned())
            }
            Begun::Ended(_) => Ok(()),
            Begun::Waits(_) if !must_wait && !self.has_barriers => Err("waits though it need not".to_owned()),
            Begun::Waits(begun) => {
                self.waits.insert(session, ModelWait { key, mode, began: self.step, begun });
                self.settle_victims(&cycles)
            }
        }
    }

    /// Victims of the wait that has just begun must have stood in a cycle that it closed.
    fn settle_victims(&mut self, cycles: &[u32]) -> Result<(), String> {
        let is_victim = |waits: &ModelWait| waits.begun.waiter.decided() == Some(WaitEnd::Victim);
        let victims: Vec<u32> =
            self.waits.iter().filter(|(_, waits)| is_victim(waits)).map(|(session, _)| *session).collect();
        for victim in victims {
            let waits = self.waits.remove(&victim).unwrap();
            self.log.push(format!("{victim} is a victim"));
            let _ended = self.locks.finish(&waits.begun, WaitEnd::Victim);
            if !cycles.contains(&victim) && !self.has_barriers {
                return Err(format!("{victim} is a victim of no cycle"));
            }
        }
        Ok(())
    }

    fn intend(&mut self, session: u32) -> Result<(), String> {
        let key = self.locks.table.intentions.key(Namespace::Global).clone();
        let intents = Arc::clone(&self.intents[session as usize]);
        let must_wait = !intents.has(Intent::Statement)
            && !self.blockers(&self.locks.rows(), session, &key, Intention, usize::MAX).is_empty();
        let kill = KillFlag::default();
        let limit = WaitLimit { timeout: Duration::ZERO, kill: &kill };
        let end = self.locks.intend(&intents, Intent::Statement, limit);
        self.log.push(format!("{session} intends: {end:?}"));
        match (end, must_wait) {
            (WaitEnd::Granted, true) => Err("passes a gate".to_owned()),
            (WaitEnd::TimedOut, false) => Err("stops at an open gate".to_owned()),
            _ => Ok(()),
        }
    }

    fn look_at_wait(&mut self, session: u32, waits: ModelWait) -> Result<(), String> {
        match waits.begun.waiter.decided() {
            Some(end) => {
                self.log.push(format!("{session} wakes: {end:?}"));
                let _ended = self.locks.finish(&waits.begun, end);
            }
            None if self.below(4) == 0 => {
                self.log.push(format!("{session} gives up"));
                if self.locks.finish(&waits.begun, WaitEnd::TimedOut) != WaitEnd::TimedOut {
                    return Err("ended and waiting".to_owned());
                }
            }
            None => {
                self.waits.insert(session, waits);
            }
        }
        Ok(())
    }

    /// Whom a request waits for, by MySQL's tables. `began`: when it came.
    fn blockers(
        &self,
        rows: &[LockRow],
        session: u32,
        key: &LockKey,
        mode: LockMode,
        began: usize,
    ) -> Vec<u32> {
        let here = || rows.iter().filter(|row| row.key == *key && row.granted);
        let held = here().filter(|row| row.session != session && is_refused(&GRANTED, mode, row.mode));
        let mut found: Vec<u32> = held.map(|row| row.session).collect();
        if !here().any(|row| row.session == session) {
            let waits = self.waits.iter().filter(|(other, waits)| {
                let in_the_way = is_refused(&WAITING, mode, waits.mode)
                    || waits.began < began
                        && is_refused(&GRANTED, mode, waits.mode)
                        && !is_refused(&WAITING, waits.mode, mode);
                **other != session
                    && waits.key == *key
                    && waits.begun.waiter.decided().is_none()
                    && in_the_way
            });
            found.extend(waits.map(|(other, _)| *other));
        }
        found
    }

    fn graph(&self) -> HashMap<u32, Vec<u32>> {
        let rows = self.locks.rows();
        let waiting = self.waits.iter().filter(|(_, waits)| waits.begun.waiter.decided().is_none());
        waiting
            .map(|(session, waits)| {
                (*session, self.blockers(&rows, *session, &waits.key, waits.mode, waits.began))
            })
            .collect()
    }

    /// The same as the queues tell it.
    fn told_graph(&self) -> HashMap<u32, Vec<u32>> {
        let waiting = self.waits.iter().filter(|(_, waits)| waits.begun.waiter.decided().is_none());
        let told = waiting.map(|(session, waits)| {
            let (wait, mut blockers) = (&waits.begun.wait, Vec::new());
            let tell = &mut |blocker| blockers.push(blocker);
            self.locks.table.tell_blockers(&wait.key, wait.number, waits.begun.id, tell);
            (*session, blockers)
        });
        told.collect()
    }

    /// Sessions that stand in a cycle.
    fn cyclic(graph: &HashMap<u32, Vec<u32>>) -> Vec<u32> {
        let reaches_itself = |start: &u32| {
            let (mut seen, mut stack) = (Vec::new(), graph[start].clone());
            while let Some(next) = stack.pop() {
                if next == *start {
                    return true;
                }
                if !seen.contains(&next) {
                    seen.push(next);
                    stack.extend(graph.get(&next).into_iter().flatten());
                }
            }
            false
        };
        graph.keys().copied().filter(|session| reaches_itself(session)).collect()
    }

    /// The same if that session began to wait.
    fn cyclic_with(&self, session: u32, key: &LockKey, mode: LockMode) -> Vec<u32> {
        let mut graph = self.graph();
        graph.insert(session, self.blockers(&self.locks.rows(), session, key, mode, usize::MAX));
        for (other, waits) in &self.waits {
            // Who waits here lets the new request go first if it yields.
            if waits.key == *key && is_refused(&WAITING, waits.mode, mode) {
                graph.entry(*other).or_default().push(session);
            }
        }
        Schedule::cyclic(&graph)
    }

    fn check(&self) -> Result<(), String> {
        let rows = self.locks.rows();
        for (at, row) in rows.iter().enumerate().filter(|(_, row)| row.granted) {
            let excluded = rows[at + 1..].iter().find(|other| {
                other.granted
                    && other.key == row.key
                    && other.session != row.session
                    && is_refused(&GRANTED, row.mode, other.mode)
            });
            if let Some(other) = excluded {
                return Err(format!("{row:?} and {other:?} are granted"));
            }
        }
        let graph = if self.has_barriers { self.told_graph() } else { self.graph() };
        if let Some((session, _)) = graph.iter().find(|(_, blockers)| blockers.is_empty()) {
            return Err(format!("{session} waits for nobody"));
        }
        match Schedule::cyclic(&graph).as_slice() {
            [] => Ok(()),
            left => Err(format!("{left:?} wait in a cycle")),
        }
    }

    fn run(&mut self) -> Result<(), String> {
        for _ in 0..STEPS {
            self.act()?;
            self.check()?;
        }
        self.end()
    }

    /// Everybody gives up and gives back: nothing may be left.
    fn end(&mut self) -> Result<(), String> {
        for (_, waits) in std::mem::take(&mut self.waits) {
            let _ended = self.locks.finish(&waits.begun, WaitEnd::Killed);
        }
        for row in self.locks.table.rows() {
            self.give_back(&row)?;
        }
        let gate = self.locks.table.intentions.is_gate_raised(Namespace::Global);
        let left = self.locks.table.rows();
        if gate || !left.is_empty() || self.locks.waits.waiting_count() > 0 {
            return Err(format!("left at the end: {left:?}, gate raised: {gate}"));
        }
        Ok(())
    }
}

fn explore() -> Result<(), String> {
    (1..=SCHEDULES).try_for_each(|seed| {
        let mut schedule = Schedule::new(seed);
        schedule.run().map_err(|error| format!("schedule {seed}: {error}\n{}", schedule.log.join("\n")))
    })
}

#[test]
fn random_schedules_keep_the_rules() {
    explore().unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn planted_mistakes_are_found() {
    for mistake in Mistake::ALL {
        let found = mistakes::with(mistake, explore);
        assert!(found.is_err(), "{mistake:?} was not seen");
    }
}
