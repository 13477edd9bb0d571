//! Whether a kept plan reads about as many rows as it was made for. Main type: [`ReadWatch`], one a plan.
//!
//! An execution that read ten times as many makes the plan wary: from then on executions look first how many rows their values have,
//! and where these are too many again the statement is planned for them. If that plan reads its table in the same way, the kept one is
//! right for so many rows, and expects them. It also says whether results of the plan may be worth keeping. So each plan is made anew a few times in its life, or for values that have a
//! plan of their own. Thread rules: two words that sessions share, written on these occasions only.

use exec::Prepared;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How wrong an estimate may be.
const TIMES_MAX: u64 = 10;
/// Reading so many rows takes no longer than planning: fewer are no reason to.
const ROWS_MIN: u64 = 500;

/// What a plan expects to read.
#[derive(Debug)]
pub struct ReadWatch {
    /// More rows than these are too many.
    rows_max: AtomicU64,
    is_wary: AtomicBool,
    is_long: AtomicBool,
}

impl ReadWatch {
    /// Of a plan that was made just now.
    #[inline]
    pub fn of(prepared: &Prepared) -> ReadWatch {
        let access = Some(prepared.plan()).filter(|plan| plan.repeatable).and_then(plan::varying_access);
        let rows_max = access.map_or(u64::MAX, |access| rows_max(access.rows_read as u64));
        ReadWatch {
            rows_max: AtomicU64::new(rows_max),
            is_wary: AtomicBool::new(false),
            is_long: AtomicBool::new(false),
        }
    }

    /// An execution has read so many rows.
    #[inline]
    pub fn saw(&self, rows: u64) {
        if rows >= ROWS_MIN {
            self.saw_many(rows);
        }
    }

    #[cold]
    fn saw_many(&self, rows: u64) {
        if self.is_too_much(rows) {
            self.is_wary.store(true, Ordering::Relaxed);
        }
        if !self.is_long() {
            self.is_long.store(true, Ordering::Relaxed);
        }
    }

    /// Whether an execution has read so many rows that its result may be worth keeping.
    #[inline]
    pub fn is_long(&self) -> bool {
        self.is_long.load(Ordering::Relaxed)
    }

    /// Whether executions look before they read.
    #[inline]
    pub fn is_wary(&self) -> bool {
        self.is_wary.load(Ordering::Relaxed)
    }

    /// Whether that is more than the plan was made for.
    #[inline]
    pub fn is_too_much(&self, rows: u64) -> bool {
        rows > self.rows_max.load(Ordering::Relaxed)
    }

    /// The plan turned out to be right for so many rows.
    pub fn expect(&self, rows: u64) {
        self.rows_max.fetch_max(rows_max(rows), Ordering::Relaxed);
        self.is_wary.store(false, Ordering::Relaxed);
    }
}

fn rows_max(expected: u64) -> u64 {
    expected.saturating_mul(TIMES_MAX).max(ROWS_MIN)
}
