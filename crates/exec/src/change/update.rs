//! UPDATE of one table or several.

use super::assigning::Assigning;
use super::found::FoundRows;
use super::generated::generate;
use super::long_columns::LongColumns;
use super::row::{self, Change, Updated, encoded, follow};
use super::row_buffer::stored_values;
use crate::batch::RowBatch;
use crate::context::StatementOutcome;
use crate::operator::collect;
use crate::run::{Run, engine_error};
use crate::spill::{KeySet, RowCursor, RowStore};
use crate::storing::{Storing, as_seen, as_stored};
use engine::{EngineError, ReadMode, WaitPolicy};
use errors::{SqlResult, sql_error};
use expression::EvaluationContext;
use plan::physical::Node;
use plan::{Assignment, Steps, TargetTable, UpdatePlan};
use values::{RowRef, Value};

#[derive(Default)]
struct Counts {
    matched: u64,
    changed: u64,
}

/// Rows of a target that are changed when all are found: their columns, and their keys.
struct Waiting {
    rows: RowStore,
    /// Keys of all rows that were found.
    keys: KeySet,
    /// The last row that other targets see as it has become, with its key.
    last: Option<(Vec<u8>, Vec<Value>)>,
}

/// Runs the statement.
pub fn run(run: &mut Run<'_, '_>, plan: &UpdatePlan) -> SqlResult<StatementOutcome> {
    check_safe(run, plan.reads_whole)?;
    for target in &plan.targets {
        run.store_to(target.base.table.definition());
    }
    let storing = Storing::new(run, plan.ignore, true);
    let mut updating = Updating { plan, storing, counts: Counts::default(), row_number: 0 };
    if joins(&plan.node) {
        updating.change_joined(run)?;
    } else if plan.buffered {
        updating.change_kept(&collect(&plan.node, run)?, run)?;
    } else {
        updating.change_found(run)?;
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
    /// Number of the row, for messages: among those that were found, but where rows of one table are changed as they are read
    /// among those that were read.
    row_number: u64,
}

impl<'p> Updating<'p> {
    /// Changes rows of one table as they are found.
    fn change_found(&mut self, run: &mut Run<'_, '_>) -> SqlResult<()> {
        let plan = self.plan;
        let mut found = FoundRows::singly(&plan.node, run);
        loop {
            let examined = run.rows_examined;
            if !found.next(run)? {
                return Ok(());
            }
            self.row_number += if run.plan.subqueries.is_empty() { run.rows_examined - examined } else { 1 };
            for at in 0..found.batch.len() {
                self.change(&mut found.batch.take(at, found.batch.width()), run)?;
            }
        }
    }

    /// Changes rows of one table that were all found before.
    fn change_kept(&mut self, rows: &RowStore, run: &mut Run<'_, '_>) -> SqlResult<()> {
        let (mut cursor, mut batch) = (RowCursor::new(), RowBatch::new());
        while cursor.next(rows, rows.len(), &mut batch)? {
            for at in 0..batch.len() {
                self.row_number += 1;
                self.change(&mut batch.take(at, batch.width()), run)?;
            }
        }
        Ok(())
    }

    /// Rows of a join: what becomes of each is computed as it is found. A table whose rows stay where the search has passed
    /// is changed then, the others when all rows are found.
    fn change_joined(&mut self, run: &mut Run<'_, '_>) -> SqlResult<()> {
        let plan = self.plan;
        let made = |_: &TargetTable| Waiting { rows: run.row_store(), keys: run.key_set(), last: None };
        let mut waiting: Vec<Waiting> = plan.targets.iter().map(made).collect();
        let mut found = FoundRows::singly(&plan.node, run);
        while found.next(run)? {
            for at in 0..found.batch.len() {
                self.row_number += 1;
                let mut row = found.batch.take(at, found.batch.width());
                for (position, waiting) in waiting.iter().enumerate() {
                    show_last(&plan.targets[position], &mut row, waiting, run);
                }
                for (position, waiting) in waiting.iter_mut().enumerate() {
                    self.meet(position, &mut row, waiting, run)?;
                }
            }
        }
        for (position, waiting) in waiting.iter().enumerate() {
            self.change_waiting(position, &waiting.rows, run).inspect_err(|error| {
                // MySQL's second word on rows that fail after the search.
                if !error.is(&errors::code::ER_QUERY_INTERRUPTED) {
                    let text = "An error occurred in multi-table update";
                    run.statement.diagnostics.expect_second(errors::code::ER_UNKNOWN_ERROR.message(text));
                }
            })?;
        }
        Ok(())
    }

    /// A row of a target within a row of the join.
    fn meet(
        &mut self,
        position: usize,
        seen: &mut [Value],
        waiting: &mut Waiting,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<()> {
        let target = &self.plan.targets[position];
        let Value::Bytes(key) = seen[target.key_slot].clone() else { return Ok(()) };
        let mut row = self.stored_row(target, seen, run);
        // A row that several rows of the other tables go with is changed by the first of them.
        if !waiting.keys.insert(&key)? {
            // One that waits is computed each time; so is one that other targets may see, but for a row that is shown already.
            let is_shown = waiting.last.as_ref().is_some_and(|(last, _)| *last == key);
            let is_seen = !is_shown && position + 1 < self.plan.targets.len();
            if !target.sees_changes || is_seen {
                self.assigning(target).carry_out(&target.assignments, seen, &mut row, run)?;
            }
            return Ok(());
        }
        let before = row.clone();
        self.counts.matched += 1;
        let assigning = self.assigning(target);
        assigning.carry_out(&target.assignments, seen, &mut row, run)?;
        let changes = row != before || self.is_met_before(position);
        if changes {
            follow(&assigning, seen, &mut row, run)?;
        }
        if target.sees_changes {
            waiting.last = Some((key.clone(), row.clone()));
        }
        if !changes {
            return Ok(());
        }
        if target.changes_at_once {
            return self.put(target, &key, &row, run);
        }
        row.push(Value::Bytes(key));
        waiting.rows.push(RowRef::Values(&row))
    }

    /// Whether an earlier target is the same table: it may have changed other columns of a row.
    fn is_met_before(&self, position: usize) -> bool {
        let targets = &self.plan.targets;
        targets[..position].iter().any(|other| other.base.table.id() == targets[position].base.table.id())
    }

    /// Changes the rows of a target that waited for the end of the search.
    fn change_waiting(&mut self, position: usize, rows: &RowStore, run: &mut Run<'_, '_>) -> SqlResult<()> {
        let target = &self.plan.targets[position];
        let rereads = self.is_met_before(position);
        let (mut cursor, mut batch) = (RowCursor::new(), RowBatch::new());
        while cursor.next(rows, rows.len(), &mut batch)? {
            for at in 0..batch.len() {
                run.check_killed()?;
                let row = batch.take(at, batch.width());
                let Some((Value::Bytes(key), row)) = row.split_last() else { continue };
                if !rereads {
                    self.put(target, key, row, run)?;
                } else if let Some(now) = self.row_now(target, key, row, run)? {
                    self.put(target, key, &now, run)?;
                }
            }
        }
        Ok(())
    }

    /// The row as it is by now, with its assigned columns from `row`; None if nothing changes.
    fn row_now(
        &self,
        target: &TargetTable,
        key: &[u8],
        row: &[Value],
        run: &mut Run<'_, '_>,
    ) -> SqlResult<Option<Vec<Value>>> {
        let mut stored = Vec::new();
        let mode = ReadMode::Exclusive(WaitPolicy::Wait);
        let copy = &mut |row: &[u8]| stored.extend_from_slice(row);
        let is_there = run.statement.transaction.get(&target.base.table, 0, key, mode, copy);
        if !is_there.map_err(|error| engine_error(error, &target.base.table))? {
            return Ok(None);
        }
        let mut now = stored_values(&target.base.table, &stored);
        let assigned = |now: &mut Vec<Value>, assignments: &[Assignment]| {
            assignments.iter().for_each(|one| now[one.column].clone_from(&row[one.column]));
        };
        let before = now.clone();
        assigned(&mut now, &target.assignments);
        if now == before {
            return Ok(None);
        }
        assigned(&mut now, &target.base.on_update);
        if target.base.steps.has(Steps::GENERATED) {
            let columns = &target.base.table.definition().columns;
            let at = (self.storing, self.row_number);
            generate(&target.base.own.generated, columns, &mut now, at, run)?;
        }
        Ok(Some(now))
    }

    fn assigning(&self, target: &'p TargetTable) -> Assigning<'p> {
        Assigning {
            target: &target.base,
            slots: Some(&target.slots),
            sees_changes: target.sees_changes,
            null_id_is_zero: false,
            storing: self.storing,
            row_number: self.row_number,
        }
    }

    /// The row of a target within a row that was found, as it is stored.
    fn stored_row(&self, target: &TargetTable, seen: &[Value], run: &Run<'_, '_>) -> Vec<Value> {
        let columns = target.base.table.definition().columns.iter();
        let stored = |(column, slot): (_, &Option<usize>)| {
            // What is said of a kept column is not looked at.
            slot.map_or(Value::Bytes(Vec::new()), |slot| as_stored(&seen[slot], column, run))
        };
        columns.zip(&target.slots).map(stored).collect()
    }

    /// Changes one row. `seen` is the row that expressions read.
    fn change(&mut self, seen: &mut [Value], run: &mut Run<'_, '_>) -> SqlResult<()> {
        run.check_killed()?;
        let target = &self.plan.targets[0];
        // No expression reads the key.
        let Value::Bytes(key) = std::mem::replace(&mut seen[target.key_slot], Value::Null) else {
            return Ok(());
        };
        let mut row = self.stored_row(target, seen, run);
        let before = row.clone();
        self.counts.matched += 1;
        let (assigning, mut long) = (self.assigning(target), LongColumns::default());
        assigning.carry_out_long(&target.assignments, seen, &mut row, Some(&mut long), run)?;
        if row == before && long.is_empty() && !target.unread {
            return Ok(());
        }
        if target.unread
            && target.base.steps.has(Steps::STAMPS)
            && long.is_empty()
            && is_same(target, &key, &row, run)?
        {
            return Ok(());
        }
        follow(&assigning, seen, &mut row, run)?;
        self.put_long(target, &key, &row, &long, run)
    }

    /// Puts the changed row in the place of the one with that key.
    fn put(
        &mut self,
        target: &TargetTable,
        key: &[u8],
        row: &[Value],
        run: &mut Run<'_, '_>,
    ) -> SqlResult<()> {
        self.put_long(target, key, row, &LongColumns::default(), run)
    }

    fn put_long(
        &mut self,
        target: &TargetTable,
        key: &[u8],
        row: &[Value],
        long: &LongColumns,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<()> {
        let change = Change { key, row, long, ignore: self.plan.ignore };
        let updated = row::update(&target.base, change, run)?;
        self.counts.changed += u64::from(updated == Updated::Changed);
        Ok(())
    }
}

/// Shows all of a row of the join what its row of a target has become by the one before.
fn show_last(target: &TargetTable, seen: &mut [Value], waiting: &Waiting, run: &Run<'_, '_>) {
    let Some((key, row)) = &waiting.last else { return };
    if !matches!(&seen[target.key_slot], Value::Bytes(found) if found == key) {
        return;
    }
    let assigned = target.assignments.iter().chain(&target.base.on_update).map(|one| one.column);
    for column in assigned.chain(target.base.own.generated.iter().map(|one| one.column)) {
        if let Some(slot) = target.slots[column] {
            let definition = &target.base.table.definition().columns[column];
            seen[slot] = as_seen(&row[column], definition, run);
        }
    }
}

/// Whether a row that was not read whole stays as it is.
fn is_same(target: &TargetTable, key: &[u8], row: &[Value], run: &Run<'_, '_>) -> SqlResult<bool> {
    let bytes = encoded(&target.base.table, row, &LongColumns::default(), run)?;
    match run.statement.transaction.is_same_row(&target.base.table, key, &bytes, &target.base.kept) {
        Err(EngineError::RowNotFound) => Ok(true),
        outcome => outcome.map_err(|error| engine_error(error, &target.base.table)),
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
pub fn check_safe(run: &Run<'_, '_>, reads_whole: bool) -> SqlResult<()> {
    match run.statement.settings.safe_updates && reads_whole {
        true => Err(sql_error!(ER_UPDATE_WITHOUT_KEY_IN_SAFE_MODE, "")),
        false => Ok(()),
    }
}
