//! What a running statement has of its own, and who called it. Main type: [`Frame`].

use crate::prepared_under::Resolution;
use catalog::{LockUse, TableLocks};
use errors::{SqlResult, sql_error};
use exec::ExecutionSettings;
use expression::{Routine, StatementFacts};

/// A statement that runs.
pub(crate) struct Frame<'a> {
    /// The statement one of whose expressions runs this one.
    pub caller: Option<&'a Frame<'a>>,
    /// The function that it is a part of.
    pub routine: Option<&'a Routine>,
    /// The tables that it uses.
    pub tables: &'a TableLocks,
    pub facts: &'a StatementFacts,
    /// What the session's variables say of that of which `facts` may say what held when the statement was prepared.
    pub resolution: Resolution,
    /// Of the session's variables, as `StatementSettings` has it.
    pub fingerprint: u64,
    pub settings: ExecutionSettings,
}

impl<'a> Frame<'a> {
    fn each(&'a self) -> impl Iterator<Item = &'a Frame<'a>> {
        std::iter::successors(Some(self), |frame| frame.caller)
    }

    /// Error 1424 for a function that is running already; 1436 for calls too deep in each other.
    pub fn check_call(&self, routine: &Routine) -> SqlResult<()> {
        let is_same = |other: &Routine| {
            other.schema == routine.schema && other.name.eq_ignore_ascii_case(&routine.name)
        };
        if self.each().any(|frame| frame.routine.is_some_and(is_same)) {
            return Err(sql_error!(ER_SP_NO_RECURSION));
        }
        plan::check_stack()
    }

    /// Error 1442 if a statement that called is using what a program is about to change.
    pub fn check_changes(&self, changed: &TableLocks) -> SqlResult<()> {
        let used = |lock: &LockUse| {
            self.each()
                .flat_map(|frame| &frame.tables.uses)
                .any(|used| !used.by_program && used.key == lock.key)
        };
        match changed.uses.iter().find(|lock| lock.changes() && used(lock)) {
            Some(lock) => Err(sql_error!(ER_CANT_UPDATE_USED_TABLE_IN_SF_OR_TRG, lock.alias)),
            None => Ok(()),
        }
    }

    /// Whether the statement that everything runs in has locked what one of a program's wants.
    pub fn holds(&self, wanted: &TableLocks) -> bool {
        let top = self.each().last().map_or(self, |frame| frame);
        wanted.locks.iter().all(|lock| {
            top.tables.locks.iter().any(|held| held.key == lock.key && held.mode.covers(lock.mode))
        })
    }
}
