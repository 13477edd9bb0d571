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
    /// For columns of which nothing is told.
    silent: Storing,
    /// Columns whose values are kept here and by MySQL. It computes others when they are read, and tells nothing of what they cut.
    kept: Vec<bool>,
    /// Numbers of the foreign keys that rows must have parents by.
    new_keys: Vec<usize>,
    /// Where MySQL copies the rows, the columns that it reads of the old ones.
    read: Option<Vec<bool>>,
}

impl<'r, 's> CopiedRows<'r, 's> {
    /// Rows of that definition, by a plan that was made for it; they must have parents by the foreign keys of those numbers.
    pub fn new(
        plan: &'r RowPlan,
        definition: &'r TableDefinition,
        new_keys: Vec<usize>,
        read: Option<Vec<bool>>,
        statement: &'r mut StatementContext<'s>,
    ) -> CopiedRows<'r, 's> {
        let run = Run::new(&plan.plan, statement);
        let (storing, silent) = (Storing::new(&run, false, true), Storing::new(&run, true, true));
        let parts = || definition.indexes.iter().flat_map(|index| &index.parts);
        let is_indexed = |at: usize| parts().any(|part| part.column == at);
        let columns = definition.columns.iter().enumerate();
        let kept = columns.map(|(at, column)| !column.is_virtual() || is_indexed(at)).collect();
        CopiedRows { run, plan, definition, storing, silent, kept, new_keys, read }
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
        let start = self.run.diagnostics().mark();
        let mut told_on_reading = Vec::new();
        // MySQL counts no rows where it makes an index of those that are there.
        let row_number = if self.read.is_some() { row_number } else { 1 };
        // A default may read generated columns before it, and these any column without a computed default behind them.
        for (at, default) in self.plan.defaults.iter().enumerate().filter(|(at, _)| is_wanted(*at)) {
            if matches!(default, DefaultValue::Expression(_)) {
                row[at] =
                    self.storing.default((default, true), columns, at, row, row_number, &mut self.run)?;
            }
            let generated = self.plan.generated.iter().filter(|one| one.column == at);
            let is_told = self.kept[at] || self.read.is_some();
            let escalates = is_told && self.run.statement.facts.sql_mode.is_strict();
            let storing = if is_told { self.storing } else { self.silent };
            let mark = self.run.diagnostics().mark();
            self.run.diagnostics().escalate(escalates);
            let generated = generate(generated, columns, row, (storing, row_number), &mut self.run);
            let raised = self.run.check_raised();
            self.run.diagnostics().escalate(false);
            generated.and(raised)?;
            if !is_told {
                self.run.diagnostics().forget_since(mark);
            } else if columns[at].is_virtual() && self.read.as_ref().is_some_and(|read| read[at]) {
                told_on_reading.extend_from_slice(self.run.diagnostics().conditions_since(mark));
            }
        }
        if !told_on_reading.is_empty() {
            // MySQL has read the row before it makes the new one, and computed it for that.
            let told = self.run.diagnostics().take_since(start);
            told_on_reading.into_iter().for_each(|one| self.run.diagnostics().push(one.level, one.error));
            self.run.diagnostics().put_back(told);
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
