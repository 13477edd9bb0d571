//! UPDATE of one table or several.

use super::assigning::Assigning;
use super::row_change::update_row;
use super::storing::{Storing, as_stored};
use crate::batch::RowBatch;
use crate::context::StatementOutcome;
use crate::operator::{collect, open};
use crate::run::Run;
use crate::spill::RowCursor;
use errors::{SqlResult, sql_error};
use expression::EvaluationContext;
use plan::physical::Node;
use plan::{TargetTable, UpdatePlan};
use values::Value;

#[derive(Default)]
struct Counts {
    matched: u64,
    changed: u64,
}

/// Runs the statement.
pub fn run(run: &mut Run<'_, '_>, plan: &UpdatePlan) -> SqlResult<StatementOutcome> {
    check_safe(run, &plan.node)?;
    let storing = Storing::new(run, plan.ignore, true);
    let mut counts = Counts::default();
    let mut batch = RowBatch::new();
    if plan.buffered {
        let rows = collect(&plan.node, run)?;
        for target in &plan.targets {
            let mut done = run.key_set();
            let mut cursor = RowCursor::new();
            while cursor.next(&rows, rows.len(), &mut batch)? {
                for at in 0..batch.len() {
                    let row = batch.row_mut(at);
                    if let Value::Bytes(key) = &row[target.key_slot]
                        && (plan.targets.len() == 1 || done.insert(key)?)
                    {
                        change(target, row, plan.ignore, storing, &mut counts, run)?;
                    }
                }
            }
        }
    } else {
        let mut operator = open(&plan.node);
        let target = &plan.targets[0];
        while operator.next(run, &mut batch)? {
            for row in batch.iter() {
                change(target, &mut row.to_vec(), plan.ignore, storing, &mut counts, run)?;
            }
        }
    }
    let affected =
        if run.statement.settings.found_rows_as_affected { counts.matched } else { counts.changed };
    let warnings = run.statement.diagnostics.count();
    Ok(StatementOutcome {
        affected_rows: affected,
        row_count: i64::try_from(affected).unwrap_or(i64::MAX),
        info: format!("Rows matched: {}  Changed: {}  Warnings: {warnings}", counts.matched, counts.changed),
        ..StatementOutcome::default()
    })
}

/// Changes one row. `seen` is the row that expressions read.
fn change(
    target: &TargetTable,
    seen: &mut [Value],
    ignore: bool,
    storing: Storing,
    counts: &mut Counts,
    run: &mut Run<'_, '_>,
) -> SqlResult<()> {
    run.check_killed()?;
    let definition = target.table.definition();
    let Value::Bytes(key) = seen[target.key_slot].clone() else { return Ok(()) };
    let mut row = Vec::with_capacity(definition.columns.len());
    for (column, slot) in definition.columns.iter().zip(&target.slots) {
        row.push(slot.map_or(Value::Null, |slot| as_stored(&seen[slot], column, run)));
    }
    let before = row.clone();
    counts.matched += 1;
    let assigning = Assigning {
        table: &target.table,
        defaults: &target.defaults,
        slots: Some(&target.slots),
        storing,
        row_number: counts.matched,
    };
    assigning.carry_out(&target.assignments, seen, &mut row, run)?;
    if row == before {
        return Ok(());
    }
    assigning.carry_out(&target.on_update, seen, &mut row, run)?;
    if update_row(&target.table, &key, &row, ignore, run)? {
        counts.changed += 1;
    }
    Ok(())
}

/// sql_safe_updates: a statement without key and without LIMIT is error 1175.
pub fn check_safe(run: &Run<'_, '_>, node: &Node) -> SqlResult<()> {
    if !run.statement.settings.safe_updates {
        return Ok(());
    }
    match node {
        Node::Sort { input, limit: None, .. } => check_safe(run, input),
        Node::Table(access) if access.path.ranges.is_none() => {
            Err(sql_error!(ER_UPDATE_WITHOUT_KEY_IN_SAFE_MODE, ""))
        }
        _ => Ok(()),
    }
}
