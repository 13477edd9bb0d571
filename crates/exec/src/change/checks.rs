//! CHECK OPTION of a view and CHECK constraints: step 5 of the way of a row. Main function: [`meets_checks`].

use super::own_expression::{is_shown, truth_over};
use crate::run::Run;
use dictionary::ColumnDefinition;
use errors::{ErrorCode, Level, SqlResult, code, sql_error};
use expression::EvaluationContext;
use plan::{RowCheck, Steps, Target};
use values::Value;

/// Whether a row, as it is stored, meets the CHECK OPTION of the view that the statement names and the CHECK constraints of its table. Error 1369
/// or 3819 names what it does not meet first; with IGNORE that is a warning, and the row is left as it was.
#[inline]
pub fn meets_checks(target: &Target, row: &[Value], ignore: bool, run: &mut Run<'_, '_>) -> SqlResult<bool> {
    if !target.steps.has(Steps::CHECKS) {
        return Ok(true);
    }
    let columns = &target.table.definition().columns;
    let error = match &target.own.view {
        Some(check) if !is_shown(&check.conditions, columns, row, run)? => {
            sql_error!(ER_VIEW_CHECK_FAILED, check.view.schema, check.view.table)
        }
        _ => match first_broken(&target.own.checks, columns, row, run)? {
            Some(check) => sql_error!(ER_CHECK_CONSTRAINT_VIOLATED, check.name),
            None => return Ok(true),
        },
    };
    if !ignore {
        return Err(error);
    }
    run.diagnostics().warning(error);
    Ok(false)
}

/// The first constraint that a row does not meet. What keeps a condition from being computed is told before that, as an error; what ends
/// the statement whatever it computes is its error.
pub(super) fn first_broken<'c>(
    checks: &'c [RowCheck],
    columns: &[ColumnDefinition],
    row: &[Value],
    run: &mut Run<'_, '_>,
) -> SqlResult<Option<&'c RowCheck>> {
    for check in checks {
        match truth_over(&check.condition, columns, row, run) {
            Ok(Some(false)) => return Ok(Some(check)),
            Ok(_) => {}
            Err(error) if ENDS_STATEMENT.iter().any(|code| error.is(code)) => return Err(error),
            Err(error) => {
                run.diagnostics().take_raised();
                run.diagnostics().push(Level::Error, error);
                return Ok(Some(check));
            }
        }
    }
    Ok(None)
}

/// KILL, max_execution_time, and memory that a statement may not hold.
const ENDS_STATEMENT: [&ErrorCode; 4] = [
    &code::ER_QUERY_INTERRUPTED,
    &code::ER_QUERY_TIMEOUT,
    &code::ER_RECORD_FILE_FULL,
    &code::ER_CAPACITY_EXCEEDED,
];
