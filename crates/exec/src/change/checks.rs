//! CHECK constraints: step 5 of the way of a row. Main function: [`meets_checks`].

use crate::run::Run;
use crate::storing::seen_row;
use dictionary::ColumnDefinition;
use errors::{Level, SqlResult, sql_error};
use expression::EvaluationContext;
use plan::{RowCheck, Steps, Target};
use values::{RowRef, Value};

/// Whether a row, as it is stored, meets the CHECK constraints of its table. Error 3819 names the first that it does not meet; with IGNORE
/// that is a warning, and the row is left as it was.
#[inline]
pub fn meets_checks(target: &Target, row: &[Value], ignore: bool, run: &mut Run<'_, '_>) -> SqlResult<bool> {
    if !target.steps.has(Steps::CHECKS) {
        return Ok(true);
    }
    let broken = first_broken(&target.own.checks, &target.table.definition().columns, row, run);
    let Some(check) = broken else { return Ok(true) };
    let error = sql_error!(ER_CHECK_CONSTRAINT_VIOLATED, check.name);
    if !ignore {
        return Err(error);
    }
    run.diagnostics().warning(error);
    Ok(false)
}

/// The first constraint that a row does not meet. What keeps a condition from being computed is told before that, as an error.
pub(super) fn first_broken<'c>(
    checks: &'c [RowCheck],
    columns: &[ColumnDefinition],
    row: &[Value],
    run: &mut Run<'_, '_>,
) -> Option<&'c RowCheck> {
    let seen = seen_row(row, columns, run);
    checks.iter().find(|check| {
        let truth = check.condition.truth(RowRef::Values(&seen), run);
        match truth.and_then(|truth| run.check_raised().map(|()| truth)) {
            Ok(truth) => truth == Some(false),
            Err(error) => {
                run.diagnostics().take_raised();
                run.diagnostics().push(Level::Error, error);
                true
            }
        }
    })
}
