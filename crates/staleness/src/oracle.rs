//! What a reader may see. Main types: [`Oracle`], what all sessions know of the tables; [`Step`], a number that only grows.
//!
//! Who changes something says so before (`ask`) and behind it (`finish`): whoever reads sees no less than what was finished before he, or
//! his snapshot, began, and no more than what was asked for before he, or his snapshot, ended. A change whose answer was an error is asked
//! for and not finished, so it may be seen or not. Thread rules: [`Step`]s are read by all; written by who has taken their owner's flag.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Tables `t0`, `t1`, and so on; a view `w0`, `w1` of each.
pub const TABLES: usize = 50;
/// Rows of each, with ids from 1.
pub const ROWS: usize = 4;
/// Users `u0`, `u1`, and so on, who lose and get rights.
pub const USERS: usize = 4;

/// A number that only grows, by somebody's statements.
#[derive(Default)]
pub struct Step {
    asked: AtomicU64,
    finished: AtomicU64,
}

impl Step {
    /// A statement that sets it is about to run.
    pub fn ask(&self, number: u64) {
        self.asked.fetch_max(number, Ordering::SeqCst);
    }

    /// That statement has run.
    pub fn finish(&self, number: u64) {
        self.finished.fetch_max(number, Ordering::SeqCst);
    }

    /// It is no less than that.
    pub fn least(&self) -> u64 {
        self.finished.load(Ordering::SeqCst)
    }

    /// It is no more than that.
    pub fn most(&self) -> u64 {
        self.asked.load(Ordering::SeqCst)
    }
}

/// Taken by one session at a time. Nobody waits for it, so it cannot be part of a deadlock.
#[derive(Default)]
pub struct Flag(AtomicBool);

impl Flag {
    /// Takes it, if nobody has it.
    pub fn take(&self) -> bool {
        !self.0.swap(true, Ordering::SeqCst)
    }

    /// Gives it back.
    pub fn give(&self) {
        self.0.store(false, Ordering::SeqCst);
    }
}

/// A row of a table: its column `v`.
#[derive(Default)]
pub struct Row {
    pub version: Step,
    pub owner: Flag,
}

/// What is known of a table.
#[derive(Default)]
pub struct Table {
    pub rows: [Row; ROWS],
    /// Column `shape` of all rows: ALTER gives it another value.
    pub shape: Step,
    /// Column `generation` of its view. Who redefines it has `definer`.
    pub generation: Step,
    /// Rows may be missing between `ask` and `finish`, and to snapshots of before.
    pub gap: Step,
    pub definer: Flag,
    /// An even number: the user may read the table.
    pub rights: [(Step, Flag); USERS],
}

/// All of them.
pub struct Oracle {
    pub tables: Vec<Table>,
    version: AtomicU64,
}

/// What was finished of a table at some moment.
#[derive(Clone, Copy, Debug)]
pub struct Least {
    pub rows: [u64; ROWS],
    pub shape: u64,
    pub generation: u64,
    pub gap: u64,
    pub rights: [u64; USERS],
}

/// The snapshot of a transaction: what was finished before it, and the versions that were asked for behind it.
pub struct Snapshot {
    pub least: Vec<Least>,
    pub most: Vec<[u64; ROWS]>,
}

impl Table {
    pub fn least(&self) -> Least {
        Least {
            rows: std::array::from_fn(|row| self.rows[row].version.least()),
            shape: self.shape.least(),
            generation: self.generation.least(),
            gap: self.gap.least(),
            rights: std::array::from_fn(|user| self.rights[user].0.least()),
        }
    }

    pub fn most(&self) -> [u64; ROWS] {
        std::array::from_fn(|row| self.rows[row].version.most())
    }

    /// Takes all rows, or none.
    pub fn take_rows(&self) -> bool {
        let taken = self.rows.iter().take_while(|row| row.owner.take()).count();
        if taken < ROWS {
            self.rows[..taken].iter().for_each(|row| row.owner.give());
        }
        taken == ROWS
    }

    pub fn give_rows(&self) {
        self.rows.iter().for_each(|row| row.owner.give());
    }

    /// Whether a reader since then may have met a table without rows, or none.
    pub fn may_be_missing(&self, since: &Least) -> bool {
        self.gap.most() > since.gap
    }

    /// Whether a user could read the table all the time since then, or never; None if that has changed.
    pub fn is_readable(&self, user: usize, since: &Least) -> Option<bool> {
        let before = since.rights[user];
        (self.rights[user].0.most() == before).then_some(before.is_multiple_of(2))
    }
}

impl Oracle {
    pub fn new() -> Oracle {
        Oracle { tables: (0..TABLES).map(|_| Table::default()).collect(), version: AtomicU64::new(0) }
    }

    /// A number that no row had before.
    pub fn next_version(&self) -> u64 {
        self.version.fetch_add(1, Ordering::SeqCst) + 1
    }

    pub fn least(&self) -> Vec<Least> {
        self.tables.iter().map(Table::least).collect()
    }

    pub fn most(&self) -> Vec<[u64; ROWS]> {
        self.tables.iter().map(Table::most).collect()
    }
}
