//! What sessions have done and found. Main type: [`Tally`].

use std::collections::BTreeMap;

/// Violations that are kept of a session.
const KEPT_MAX: usize = 5;

/// Counts of one session, or of all.
#[derive(Default)]
pub struct Tally {
    pub statements: u64,
    pub reads: u64,
    /// Reads whose rows, or whose error, a change at the same time accounts for.
    pub between: u64,
    /// Reads that were compared with the same statement under SQL_NO_CACHE in one snapshot.
    pub compared: u64,
    pub transactions: u64,
    pub changes: u64,
    pub definitions: u64,
    /// Years that rows named.
    pub years: std::collections::BTreeSet<u64>,
    pub errors: BTreeMap<u16, u64>,
    pub violations: u64,
    /// The first violations, as text.
    pub shown: Vec<String>,
}

impl Tally {
    pub fn violation(&mut self, what: String) {
        self.violations += 1;
        if self.shown.len() < KEPT_MAX {
            self.shown.push(what);
        }
    }

    pub fn add(&mut self, other: Tally) {
        self.statements += other.statements;
        self.reads += other.reads;
        self.between += other.between;
        self.compared += other.compared;
        self.transactions += other.transactions;
        self.changes += other.changes;
        self.definitions += other.definitions;
        self.years.extend(other.years);
        for (number, count) in other.errors {
            *self.errors.entry(number).or_default() += count;
        }
        self.violations += other.violations;
        self.shown.extend(other.shown);
    }
}
