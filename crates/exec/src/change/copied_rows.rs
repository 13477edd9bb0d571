//! Expressions of a definition over rows that no statement of SQL makes: those that ALTER TABLE copies. Main type: [`CopiedRows`].

use super::checks::first_broken;
use super::generated::generate;
use super::parents::{has_parent, orphan_error};
use crate::context::StatementContext;
use crate::run::Run;
use crate::spill::DocumentWatch;
use crate::storing::Storing;
use dictionary::TableDefinition;
use engine::ReadMode;
use errors::{Diagnostics, SqlResult, sql_error};
use expression::EvaluationContext;
use plan::{DefaultValue, RowPlan};
use values::Value;

/// Gives rows the values that are computed, and asks CHECK constraints of them.
pub struct CopiedRows<'r, 's> {
    run: Run<'r, 's>,
    plan: &'r RowPlan,
    definition: &'r TableDefinition,
    storing: Storing,
    /// Numbers of the foreign keys that rows must have parents by.
    new_keys: Vec<usize>,
}

impl<'r, 's> CopiedRows<'r, 's> {
    /// Rows of that definition, by a plan that was made for it; they must have parents by the foreign keys of those numbers.
    pub fn new(
        plan: &'r RowPlan,
        definition: &'r TableDefinition,
        new_keys: Vec<usize>,
        statement: &'r mut StatementContext<'s>,
    ) -> CopiedRows<'r, 's> {
        let run = Run::new(&plan.plan, statement);
        let storing = Storing::new(&run, false, true);
        CopiedRows { run, plan, definition, storing, new_keys }
    }

    /// Computes defaults and generated columns into a row that has the values of all others: those columns that `is_wanted` names,
    /// in their order. Errors: those of the expressions and of what they give.
    pub fn fill(
        &mut self,
        row: &mut [Value],
        is_wanted: impl Fn(usize) -> bool,
        row_number: u64,
    ) -> SqlResult<()> {
        let columns = &self.definition.columns;
        // A default may read generated columns before it, and these any column without a computed default behind them.
        for (at, default) in self.plan.defaults.iter().enumerate().filter(|(at, _)| is_wanted(*at)) {
            if matches!(default, DefaultValue::Expression(_)) {
                row[at] =
                    self.storing.default((default, true), columns, at, row, row_number, &mut self.run)?;
            }
            let generated = self.plan.generated.iter().filter(|one| one.column == at);
            // MySQL computes others when they are read.
            let is_kept = columns[at].generated.as_ref().is_some_and(|how| how.stored || how.is_key_part);
            let escalates = is_kept && self.run.statement.facts.sql_mode.is_strict();
            self.run.diagnostics().escalate(escalates);
            let generated = generate(generated, columns, row, (self.storing, row_number), &mut self.run);
            let raised = self.run.check_raised();
            self.run.diagnostics().escalate(false);
            generated.and(raised)?;
        }
        Ok(())
    }

    /// Error 3819 for a row, as it is stored, that does not meet a CHECK constraint, 1452 for one without a parent.
    pub fn check(&mut self, row: &[Value]) -> SqlResult<()> {
        if let Some(check) = first_broken(&self.plan.checks, &self.definition.columns, row, &mut self.run)? {
            return Err(sql_error!(ER_CHECK_CONSTRAINT_VIOLATED, check.name));
        }
        for parent in self.plan.parents.iter().filter(|parent| self.new_keys.contains(&parent.key)) {
            // Nobody changes the parents meanwhile: their name is locked.
            if !has_parent(self.definition, parent, row, ReadMode::Consistent, &self.run)? {
                return Err(orphan_error(self.definition, parent.key, &self.run));
            }
        }
        Ok(())
    }

    /// What documents ask that are made while rows are copied.
    pub fn document_watch(&self) -> DocumentWatch<'s> {
        self.run.document_watch()
    }

    /// Where conditions are told.
    pub fn diagnostics(&mut self) -> &mut Diagnostics {
        self.run.diagnostics()
    }
}
