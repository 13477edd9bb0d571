//! CHECK constraints: step 5 of the way of a row. Main function: [`meets_checks`]; [`RowChecks`] asks them of rows that ALTER TABLE copies.

use crate::context::StatementContext;
use crate::run::Run;
use crate::storing::as_seen;
use dictionary::{ColumnDefinition, TableDefinition};
use errors::{Diagnostics, Level, SqlResult, sql_error};
use expression::{EvaluationContext, Expression};
use plan::{Plan, PlanKind, Steps, Target};
use values::{RowRef, Value};

/// Whether a row, as it is stored, meets the CHECK constraints of its table. Error 3819 names the first that it does not meet; with IGNORE
/// that is a warning, and the row is left as it was.
#[inline]
pub fn meets_checks(target: &Target, row: &[Value], ignore: bool, run: &mut Run<'_, '_>) -> SqlResult<bool> {
    if !target.steps.has(Steps::CHECKS) {
        return Ok(true);
    }
    let columns = &target.table.definition().columns;
    let checks = target.checks.iter().map(|check| (check.name.as_str(), &check.condition));
    let Some(name) = first_broken(checks, columns, row, run) else { return Ok(true) };
    let error = sql_error!(ER_CHECK_CONSTRAINT_VIOLATED, name);
    if !ignore {
        return Err(error);
    }
    run.diagnostics().warning(error);
    Ok(false)
}

/// The first constraint that a row does not meet. What keeps a condition from being computed is told before that, as an error.
fn first_broken<'c>(
    mut checks: impl Iterator<Item = (&'c str, &'c Expression)>,
    columns: &[ColumnDefinition],
    row: &[Value],
    run: &mut Run<'_, '_>,
) -> Option<&'c str> {
    let seen: Vec<Value> =
        row.iter().zip(columns).map(|(value, column)| as_seen(value, column, run)).collect();
    let broken = checks.find(|(_, condition)| {
        let truth = condition.truth(RowRef::Values(&seen), run);
        match truth.and_then(|truth| run.check_raised().map(|()| truth)) {
            Ok(truth) => truth == Some(false),
            Err(error) => {
                run.diagnostics().take_raised();
                run.diagnostics().push(Level::Error, error);
                true
            }
        }
    });
    broken.map(|(name, _)| name)
}

/// The CHECK constraints of a table for rows that no statement makes.
pub struct RowChecks<'r, 's> {
    run: Run<'r, 's>,
    definition: &'r TableDefinition,
}

impl<'r, 's> RowChecks<'r, 's> {
    /// `plan` has the conditions of the definition's enforced constraints in their order.
    pub fn new(
        plan: &'r Plan,
        definition: &'r TableDefinition,
        statement: &'r mut StatementContext<'s>,
    ) -> RowChecks<'r, 's> {
        RowChecks { run: Run::new(plan, statement), definition }
    }

    /// Error 3819 for a row, as it is stored, that does not meet one.
    pub fn meet(&mut self, row: &[Value]) -> SqlResult<()> {
        let PlanKind::Do(conditions) = &self.run.plan.kind else { return Ok(()) };
        if conditions.is_empty() {
            return Ok(());
        }
        let enforced = self.definition.checks.iter().filter(|check| check.enforced);
        let checks = enforced.map(|check| check.name.as_str()).zip(conditions);
        match first_broken(checks, &self.definition.columns, row, &mut self.run) {
            Some(name) => Err(sql_error!(ER_CHECK_CONSTRAINT_VIOLATED, name)),
            None => Ok(()),
        }
    }

    /// Where conditions are told.
    pub fn diagnostics(&mut self) -> &mut Diagnostics {
        self.run.diagnostics()
    }
}
