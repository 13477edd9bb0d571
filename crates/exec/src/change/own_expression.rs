//! Expressions of a table over its own rows, as they are stored: what they read as expressions see it, and under facts that are the same for
//! every client. Main functions: [`value_over`], [`truth_over`]. And the conditions of views over rows on their way: [`is_shown`].

use crate::run::Run;
use crate::storing::as_seen;
use dictionary::ColumnDefinition;
use errors::SqlResult;
use expression::EvaluationContext;
use plan::{RowExpression, implicit_default};
use std::borrow::Cow;
use values::{RowRef, TypeKind, Value};

/// The value of an expression.
pub fn value_over(
    expression: &RowExpression,
    columns: &[ColumnDefinition],
    row: &[Value],
    run: &mut Run<'_, '_>,
) -> SqlResult<Value> {
    let seen = seen_row(expression, columns, row, run);
    let value = run.with_stored_facts(|run| expression.expression.evaluate(RowRef::Values(&seen), run))?;
    run.check_killed().map(|()| value)
}

/// The truth of a condition; None if it is unknown.
pub fn truth_over(
    condition: &RowExpression,
    columns: &[ColumnDefinition],
    row: &[Value],
    run: &mut Run<'_, '_>,
) -> SqlResult<Option<bool>> {
    let seen = seen_row(condition, columns, row, run);
    let truth = run.with_stored_facts(|run| condition.expression.truth(RowRef::Values(&seen), run))?;
    run.check_killed().map(|()| truth)
}

/// Whether a view shows a row, under the facts of the statement. An id that is not generated yet is 0.
pub fn is_shown(
    conditions: &[RowExpression],
    columns: &[ColumnDefinition],
    row: &[Value],
    run: &mut Run<'_, '_>,
) -> SqlResult<bool> {
    let waits = |column: &&usize| columns[**column].auto_increment && row[**column] == Value::Null;
    for condition in conditions {
        let mut seen = seen_row(condition, columns, row, run);
        if let Some(column) = condition.columns().iter().find(waits) {
            seen.to_mut()[*column] = implicit_default(&columns[*column].column_type);
        }
        let truth = condition.expression.truth(RowRef::Values(&seen), run)?;
        run.check_raised()?;
        run.check_killed()?;
        if truth != Some(true) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A stored row as an expression sees it. Nothing is copied unless it reads a TIMESTAMP, and then only what it reads: other values may
/// be long.
fn seen_row<'v>(
    expression: &RowExpression,
    columns: &[ColumnDefinition],
    row: &'v [Value],
    run: &Run<'_, '_>,
) -> Cow<'v, [Value]> {
    let is_timestamp = |column: &&usize| columns[**column].column_type.kind == TypeKind::Timestamp;
    if expression.columns().iter().find(is_timestamp).is_none() {
        return Cow::Borrowed(row);
    }
    let mut seen = vec![Value::Null; row.len()];
    for column in expression.columns() {
        seen[*column] = as_seen(&row[*column], &columns[*column], run);
    }
    Cow::Owned(seen)
}
