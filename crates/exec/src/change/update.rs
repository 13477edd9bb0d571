//! UPDATE of one table or several.

use super::assigning::Assigning;
use super::auto_increment::raise_counter;
use super::found::FoundRows;
use super::row_buffer::stored_values;
use super::row_change::update_row;
use super::storing::{Storing, as_stored};
use crate::batch::RowBatch;
use crate::context::StatementOutcome;
use crate::operator::collect;
use crate::run::{Run, engine_error};
use crate::spill::{RowCursor, RowStore};
use engine::{ReadMode, WaitPolicy};
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
    let mut updating = Updating { plan, storing, counts: Counts::default() };
    if plan.buffered {
        let mut rows = collect(&plan.node, run)?;
        for position in 0..plan.targets.len() {
            rows = updating.change_found(position, rows, run)?;
        }
    } else {
        let mut found = FoundRows::new(&plan.node);
        while found.next(run)? {
            for at in 0..found.batch.len() {
                updating.change(0, found.batch.row_mut(at), run)?;
            }
        }
    }
    let counts = updating.counts;
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

/// An UPDATE that is being carried out.
struct Updating<'p> {
    plan: &'p UpdatePlan,
    storing: Storing,
    counts: Counts,
}

impl<'p> Updating<'p> {
    /// Changes the rows of one target among the rows that were found, and hands out what the next target shall see.
    fn change_found(
        &mut self,
        position: usize,
        rows: RowStore,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<RowStore> {
        let target = &self.plan.targets[position];
        // The other targets see what the table that is read first has become.
        let shows_changes = target.sees_changes && position + 1 < self.plan.targets.len();
        let mut shown = shows_changes.then(|| run.row_store());
        let mut done = joins(&self.plan.node).then(|| run.key_set());
        let (mut cursor, mut batch) = (RowCursor::new(), RowBatch::new());
        while cursor.next(&rows, rows.len(), &mut batch)? {
            for at in 0..batch.len() {
                let row = batch.row_mut(at);
                if let Value::Bytes(key) = &row[target.key_slot] {
                    // A row that several rows of the other tables go with is changed by the first of them.
                    let is_new = match &mut done {
                        Some(done) => done.insert(key)?,
                        None => true,
                    };
                    if is_new {
                        self.change(position, row, run)?;
                    } else if shows_changes {
                        let mut stored = self.stored_row(target, row, run);
                        self.assigning(target).carry_out(&target.assignments, row, &mut stored, run)?;
                    }
                }
                if let Some(shown) = &mut shown {
                    shown.push(row)?;
                }
            }
        }
        Ok(shown.unwrap_or(rows))
    }

    fn assigning(&self, target: &'p TargetTable) -> Assigning<'p> {
        Assigning {
            table: &target.table,
            defaults: &target.defaults,
            slots: Some(&target.slots),
            sees_changes: target.sees_changes,
            storing: self.storing,
            row_number: self.counts.matched,
        }
    }

    /// The row of a target within a row that was found, as it is stored.
    fn stored_row(&self, target: &TargetTable, seen: &[Value], run: &Run<'_, '_>) -> Vec<Value> {
        let columns = target.table.definition().columns.iter();
        let stored = |(column, slot): (_, &Option<usize>)| {
            slot.map_or(Value::Null, |slot| as_stored(&seen[slot], column, run))
        };
        columns.zip(&target.slots).map(stored).collect()
    }

    /// Changes one row. `seen` is the row that expressions read.
    fn change(&mut self, position: usize, seen: &mut [Value], run: &mut Run<'_, '_>) -> SqlResult<()> {
        run.check_killed()?;
        let target = &self.plan.targets[position];
        let Value::Bytes(key) = seen[target.key_slot].clone() else { return Ok(()) };
        let is_same = |other: &TargetTable| other.table.id() == target.table.id();
        let mut row = if self.plan.targets[..position].iter().any(is_same) {
            // The statement may have changed other columns of it under another name.
            let mut stored = Vec::new();
            let mode = ReadMode::Exclusive(WaitPolicy::Wait);
            let copy = &mut |row: &[u8]| stored.extend_from_slice(row);
            let is_there = run.statement.transaction.get(&target.table, 0, &key, mode, copy);
            if !is_there.map_err(|error| engine_error(error, &target.table))? {
                return Ok(());
            }
            stored_values(&target.table, &stored)
        } else {
            self.stored_row(target, seen, run)
        };
        let before = row.clone();
        self.counts.matched += 1;
        let assigning = self.assigning(target);
        assigning.carry_out(&target.assignments, seen, &mut row, run)?;
        if row == before {
            return Ok(());
        }
        assigning.carry_out(&target.on_update, seen, &mut row, run)?;
        if update_row(&target.table, &key, &row, self.plan.ignore, run)? {
            self.counts.changed += 1;
            if let Some(column) = target.table.definition().auto_increment_column()
                && row[column] != before[column]
            {
                raise_counter(&target.table, &row[column], run)?;
            }
        }
        Ok(())
    }
}

/// Whether rows of several tables are put together, so that one of them may come more than once.
fn joins(node: &Node) -> bool {
    match node {
        Node::Table(_) => false,
        Node::Filter { input, .. } | Node::Sort { input, .. } | Node::Limit { input, .. } => joins(input),
        _ => true,
    }
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
