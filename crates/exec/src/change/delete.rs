//! DELETE from one table or several.

use super::cascades::Event;
use super::found::FoundRows;
use super::row::{self, Removal};
use super::update::check_safe;
use crate::batch::RowBatch;
use crate::context::StatementOutcome;
use crate::operator::collect;
use crate::run::Run;
use crate::spill::RowCursor;
use errors::SqlResult;
use expression::EvaluationContext;
use plan::{DeletePlan, TargetTable};
use values::ValueRef;

/// Runs the statement.
pub fn run(run: &mut Run<'_, '_>, plan: &DeletePlan) -> SqlResult<StatementOutcome> {
    check_safe(run, plan.reads_whole)?;
    let mut affected = 0;
    if plan.buffered {
        let mut batch = RowBatch::new();
        let rows = collect(&plan.node, run)?;
        for target in &plan.targets {
            let mut done = run.key_set();
            let mut cursor = RowCursor::new();
            while cursor.next(&rows, rows.len(), &mut batch)? {
                for row in batch.iter() {
                    if let ValueRef::Bytes(key) = row.get(target.key_slot)
                        && done.insert(key)?
                    {
                        affected += remove(target, key, plan.ignore, run)?;
                    }
                }
            }
        }
    } else {
        let target = &plan.targets[0];
        // A row that goes may change one that would have been read ahead.
        let mut found = match target.base.references.are_referred_to_by_themselves() {
            true => FoundRows::without_reading_ahead(&plan.node, run),
            false => FoundRows::singly(&plan.node, run),
        };
        while found.next(run)? {
            for row in found.batch.iter() {
                if let ValueRef::Bytes(key) = row.get(target.key_slot) {
                    affected += remove(target, key, plan.ignore, run)?;
                }
            }
        }
    }
    Ok(StatementOutcome {
        affected_rows: affected,
        row_count: i64::try_from(affected).unwrap_or(i64::MAX),
        ..StatementOutcome::default()
    })
}

fn remove(target: &TargetTable, key: &[u8], ignore: bool, run: &mut Run<'_, '_>) -> SqlResult<u64> {
    run.check_killed()?;
    row::delete(&target.base, Removal { key, event: Event::Deleted, ignore }, run).map(u64::from)
}
