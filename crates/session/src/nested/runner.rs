//! Running the statements of a program. Main type: [`Runner`]. The rules are in `mod.rs`.

use super::Frame;
use super::routine::{NestedStatement, program_of};
use crate::locks_needed::locks_needed;
use crate::parts::{Execution, Parts};
use crate::planning::{ParameterTyping, prepare};
use crate::state::StatementNumbers;
use crate::transaction::undo_to;
use catalog::TableLocks;
use errors::{Diagnostics, SqlResult, sql_error};
use exec::{Effects, ExecutionSettings, Prepared, StatementOutcome};
use expression::{Routine, SessionView, TypedValue};
use instance::{Planned, SourceReads, StatementTraits};
use std::sync::Arc;
use values::Value;
use variables::id;
use variables::status::id as status;
use wire::result::ClientChannel;

/// What a program has of the session while it runs.
pub struct Runner<'a> {
    parts: Parts<'a>,
    /// Where its statements report: each forgets what the one before it said.
    diagnostics: Diagnostics,
    /// What the calling statement finds again.
    before: StatementNumbers,
}

impl Effects for Parts<'_> {
    fn call(&mut self, routine: &Arc<Routine>, arguments: Vec<TypedValue>) -> SqlResult<Value> {
        let Some(program) = program_of(routine) else {
            return Err(sql_error!(ER_SP_DOES_NOT_EXIST, "FUNCTION", format!("{routine:?}")));
        };
        self.frame.check_call(routine)?;
        let mut facts = self.frame.facts.clone();
        // Its statements are no part of the one that was prepared, and their plans are for all sessions that have these variables.
        self.frame.resolution.apply(&mut facts);
        facts.schema = Some(Arc::clone(&routine.schema));
        facts.sql_mode = program.sql_mode;
        let frame = Frame {
            caller: Some(self.frame),
            routine: Some(routine),
            tables: &TableLocks::default(),
            facts: &facts,
            resolution: self.frame.resolution,
            fingerprint: self.frame.fingerprint,
            // sql_select_limit does not hold in programs.
            settings: ExecutionSettings { select_limit: u64::MAX, ..self.frame.settings.clone() },
        };
        let kept_max = self.state.number(id::MAX_ERROR_COUNT) as usize;
        let before = self.state.numbers;
        let mut runner =
            Runner { parts: self.within(&frame), diagnostics: Diagnostics::new(kept_max), before };
        let outcome = (program.run)(program, &mut runner, &arguments);
        runner.check_going_on()?;
        outcome
    }

    fn take_insert_id(&mut self) -> Option<u64> {
        self.state.insert_id.take()
    }
}

impl Drop for Runner<'_> {
    fn drop(&mut self) {
        self.parts.state.numbers = self.before;
    }
}

impl Runner<'_> {
    /// Runs a statement of the program. Its rows go to `rows`. If it fails, what it changed is undone.
    pub fn run(
        &mut self,
        statement: &NestedStatement,
        parameters: &[TypedValue],
        rows: &mut dyn ClientChannel,
    ) -> SqlResult<StatementOutcome> {
        self.check_going_on()?;
        let traits = StatementTraits::of(&statement.statement);
        if let Some(counter) = traits.counter {
            self.parts.shared.counters.add(counter, 1);
        }
        self.parts.shared.counters.add(status::QUERIES, 1);
        self.parts.state.numbers.warning_count = self.diagnostics.count();
        self.parts.state.numbers.error_count = self.diagnostics.error_count();
        self.diagnostics.clear();
        let transaction = self.parts.transaction;
        let mark = transaction.mark();
        match self.run_marked(statement, traits, parameters, rows) {
            Ok(outcome) => {
                self.remember(&outcome);
                Ok(outcome)
            }
            Err(error) => {
                self.parts.state.numbers.row_count = -1;
                self.diagnostics.push_last(error.clone());
                undo_to(transaction, mark)?;
                Err(error)
            }
        }
    }

    /// Errors that no program outlives, whatever it does with them: 1317 once it is killed, 1213 once the transaction is gone that
    /// all of it runs in.
    fn check_going_on(&self) -> SqlResult<()> {
        if self.parts.transaction.is_rolled_back() {
            return Err(sql_error!(ER_LOCK_DEADLOCK));
        }
        if self.parts.shared.kill.is_raised() { Err(sql_error!(ER_QUERY_INTERRUPTED)) } else { Ok(()) }
    }

    /// What expressions of the program see of the session.
    pub fn session(&mut self) -> &mut dyn SessionView {
        &mut self.parts
    }

    /// What the last statement reported.
    pub fn diagnostics(&self) -> &Diagnostics {
        &self.diagnostics
    }

    fn run_marked(
        &mut self,
        statement: &NestedStatement,
        traits: StatementTraits,
        parameters: &[TypedValue],
        rows: &mut dyn ClientChannel,
    ) -> SqlResult<StatementOutcome> {
        if let Some(planned) = statement.plan().filter(|planned| self.is_current(planned, parameters)) {
            self.check_tables(&planned.locks)?;
            return self.with_context(&planned.locks, traits.sources, parameters, |context| {
                exec::execute_prepared(&planned.prepared, context, rows)
            });
        }
        let facts = self.parts.frame.facts;
        let own = (&**self.parts.instance, self.parts.temporary);
        let mut locks = locks_needed(own, &statement.statement, facts.schema.as_deref());
        self.check_tables(&locks)?;
        let seen = self.parts.instance.see(&locks);
        let mut prepared = None;
        let outcome = self.with_context(&locks, traits.sources, parameters, |context| {
            let made = prepare(&statement.statement, ParameterTyping::FromValues, context, true)?;
            let outcome = exec::execute_prepared(&made, context, rows);
            prepared = Some(made);
            outcome
        });
        // Without parameters a plan serves as long as it is current.
        let serves = |made: &Prepared| match parameters {
            [] => made.fits(self.today(), parameters),
            _ => made.is_repeatable(),
        };
        if let Some(prepared) = prepared.filter(serves) {
            locks.remember(seen);
            let planned = Planned { locks, ..Planned::new(prepared, self.parts.frame.fingerprint, traits) };
            statement.keep(Arc::new(planned));
        }
        outcome
    }

    fn is_current(&self, planned: &Planned, parameters: &[TypedValue]) -> bool {
        planned.fingerprint == self.parts.frame.fingerprint
            && planned.locks.are_current()
            && planned.prepared.fits(self.today(), parameters)
    }

    fn today(&self) -> i64 {
        let facts = self.parts.frame.facts;
        facts.time_zone.local_day(facts.started.microseconds())
    }

    /// Errors: 1442; 1615 if the calling statement has not locked what this one needs: a program that it calls was replaced.
    fn check_tables(&self, locks: &TableLocks) -> SqlResult<()> {
        self.parts.frame.check_changes(locks)?;
        if self.parts.frame.holds(locks) { Ok(()) } else { Err(sql_error!(ER_NEED_REPREPARE)) }
    }

    fn with_context<T>(
        &mut self,
        tables: &TableLocks,
        sources: SourceReads,
        parameters: &[TypedValue],
        run: impl FnOnce(&mut exec::StatementContext<'_>) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let program = self.parts.frame;
        let mut settings = program.settings.clone();
        settings.reads_lock |= sources.lock_at(self.parts.transaction.isolation());
        let frame = Frame { tables, settings, ..*program };
        let execution = Execution { parameters, long_parameters: None, hints: &[], overlay: None };
        self.parts.within(&frame).with_context(execution, &mut self.diagnostics, run)
    }

    /// Keeps what the program may ask of a statement that has ended.
    fn remember(&mut self, outcome: &StatementOutcome) {
        let numbers = &mut self.parts.state.numbers;
        numbers.row_count = outcome.row_count;
        if let Some(id) = outcome.generated_id {
            numbers.last_insert_id = id;
        }
        if let Some(rows) = outcome.found_rows {
            numbers.found_rows = rows;
        }
        self.parts.shared.counters.add(status::HANDLER_READ_RND_NEXT, outcome.rows_examined);
    }
}
