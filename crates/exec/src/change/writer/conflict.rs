//! One row that may meet another with the same key: an error, left (IGNORE), replaced (REPLACE) or an update of the
//! other one (ON DUPLICATE KEY UPDATE). Part of [`Writer`].

use super::Writer;
use crate::change::assigning::Assigning;
use crate::change::cascades::Event;
use crate::change::long_columns::LongColumns;
use crate::change::own_expression::is_shown;
use crate::change::parents::has_parents;
use crate::change::row::{self, Change, Removal, Updated, duplicate_error};
use crate::change::row_buffer::stored_values;
use crate::run::{Run, engine_error};
use crate::storing::as_seen;
use dictionary::IndexKind;
use engine::{DuplicateKey, ReadMode, WaitPolicy};
use errors::{SqlResult, sql_error};
use expression::EvaluationContext;
use plan::Steps;
use values::Value;
use values::row::ColumnSet;

/// What became of a row that was in the way of a REPLACE.
enum Way {
    /// It was deleted.
    Cleared,
    /// It is not in the way any more.
    Free,
    /// It is the row that was to be put in.
    SameRow,
}

impl Writer<'_> {
    pub(super) fn insert_one(&mut self, row: &[Value], bytes: &[u8], run: &mut Run<'_, '_>) -> SqlResult<()> {
        let table = &self.plan.target.table;
        let mut replaced = 0;
        while let Some(duplicate) = row::insert(&self.plan.target, bytes, run)? {
            // Someone else may have taken the row away, or its key: then the insert is tried again.
            run.check_killed()?;
            if let Some(value) = self.ids.explicit() {
                self.ids.met_duplicate(table, value, run)?;
            }
            if self.plan.replace && !self.is_generated_key(&duplicate) {
                match self.make_way(&duplicate, (row, bytes), run)? {
                    Way::Cleared => {
                        replaced += 1;
                        // A parent may have gone, as the row in the way or with it.
                        has_parents(&self.plan.target, row, None, false, run)?;
                    }
                    Way::Free => {}
                    Way::SameRow => break,
                }
                continue;
            }
            if !self.plan.on_duplicate.is_empty() {
                let read = &self.read_of_existing;
                let Some(existing) = self.lock_existing(&duplicate, bytes, read, run)? else { continue };
                return self.update_existing(&duplicate.existing_key, &existing, row, run);
            }
            let error = duplicate_error(table, &duplicate, row, run);
            if !self.plan.ignore || self.plan.replace {
                return Err(row::stopped_by(table, &duplicate, error, run));
            }
            self.counts.duplicates += 1;
            self.ids.unused();
            match self.duplicates_reported_at {
                Some(at) => run.diagnostics().insert_warning(at, error),
                None => run.diagnostics().warning(error),
            }
            return Ok(());
        }
        self.counts.affected += 1 + replaced;
        self.counts.duplicates += replaced;
        self.ids.stored(table, run)
    }

    /// Whether a generated AUTO_INCREMENT value is what the rows have in common: the column's range is used up, and each
    /// REPLACE would take the place of the one before.
    fn is_generated_key(&self, duplicate: &DuplicateKey) -> bool {
        let table = &self.plan.target.table;
        let (definition, column) = (table.definition(), self.plan.target.auto_increment);
        let of_column = definition.indexes.iter().position(|index| Some(index.parts[0].column) == column);
        self.ids.is_generated()
            && of_column.is_some_and(|index| table.index_of_definition(index) == duplicate.index)
    }

    /// REPLACE: deletes the row that is in the way. Where no further unique key can be in the way MySQL overwrites it
    /// instead, and counts nothing as deleted if it is the very row that is to be put in.
    fn make_way(
        &self,
        duplicate: &DuplicateKey,
        (new_row, bytes): (&[Value], &[u8]),
        run: &mut Run<'_, '_>,
    ) -> SqlResult<Way> {
        let table = &self.plan.target.table;
        if !self.plan.deletable.is_empty() {
            self.check_deletable(duplicate, bytes, run)?;
        }
        let last = table.definition().indexes.iter().rposition(|index| index.kind != IndexKind::Plain);
        let is_last = last.is_some_and(|last| table.index_of_definition(last) == duplicate.index);
        // A clustered key tells by itself that the row is in the way.
        if is_last || duplicate.index != 0 {
            let existing = self.lock_existing(duplicate, bytes, table.indexed_columns(), run)?;
            if existing.is_none() {
                return Ok(Way::Free);
            }
            let transaction = run.statement.transaction;
            let is_same = |key| transaction.is_same_row(table, key, bytes, &ColumnSet::none());
            // Of a table that others refer to MySQL deletes the row all the same, and counts it.
            let may_stay = is_last && !self.plan.target.steps.has(Steps::CHILDREN);
            if may_stay && is_same(&duplicate.existing_key).map_err(|error| engine_error(error, table))? {
                return Ok(Way::SameRow);
            }
        }
        let removal =
            Removal { key: &duplicate.existing_key, event: Event::Replaced(new_row), ignore: false };
        let was_there = row::delete(&self.plan.target, removal, run)?;
        Ok(if was_there { Way::Cleared } else { Way::Free })
    }

    /// Error 3059 for a row in the way that is not in the view which the statement names.
    fn check_deletable(
        &self,
        duplicate: &DuplicateKey,
        bytes: &[u8],
        run: &mut Run<'_, '_>,
    ) -> SqlResult<()> {
        let (table, conditions) = (&self.plan.target.table, &self.plan.deletable);
        let columns = &table.definition().columns;
        let indexed = table.indexed_columns();
        let is_read = |column: &usize| {
            indexed.contains(*column) || conditions.iter().any(|condition| condition.reads(*column))
        };
        let read = ColumnSet::of((0..columns.len()).filter(is_read));
        let Some(existing) = self.lock_existing(duplicate, bytes, &read, run)? else { return Ok(()) };
        match is_shown(conditions, columns, &stored_values(table, &existing), run)? {
            true => Ok(()),
            false => Err(sql_error!(ER_REPLACE_INACCESSIBLE_ROWS)),
        }
    }

    /// Locks the row that is in the way and reads it, with its long values in the columns `read`; None if it is not in the way any more.
    /// `bytes` is the new row.
    fn lock_existing(
        &self,
        duplicate: &DuplicateKey,
        bytes: &[u8],
        read: &ColumnSet,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<Option<Vec<u8>>> {
        let table = &self.plan.target.table;
        let mode = ReadMode::Exclusive(WaitPolicy::Wait);
        let mut existing = Vec::new();
        let copy = &mut |row: &[u8]| existing.extend_from_slice(row);
        let key = &duplicate.existing_key;
        let is_there = run.statement.transaction.get_columns(table, 0, key, mode, read, copy);
        let in_the_way = is_there.and_then(|is_there| {
            Ok(is_there && (duplicate.index == 0 || table.has_same_key(duplicate.index, &existing, bytes)?))
        });
        Ok(in_the_way.map_err(|error| engine_error(error, table))?.then_some(existing))
    }

    /// ON DUPLICATE KEY UPDATE: 2 affected rows for a changed row, 0 (or 1 for CLIENT_FOUND_ROWS) for the same.
    fn update_existing(
        &mut self,
        key: &[u8],
        existing: &[u8],
        row: &[Value],
        run: &mut Run<'_, '_>,
    ) -> SqlResult<()> {
        let target = &self.plan.target;
        let columns = &target.table.definition().columns;
        let mut changed = stored_values(&target.table, existing);
        let before = changed.clone();
        let mut seen: Vec<Value> = Vec::with_capacity(target.variables().source() + self.source.len());
        for values in [&before[..], row] {
            seen.extend(values.iter().zip(columns).map(|(value, column)| as_seen(value, column, run)));
        }
        seen.extend_from_slice(&self.source);
        let (storing, row_number) = (self.storing, self.counts.records);
        let (slots, sees_changes, null_id_is_zero) = (None, true, true);
        let assigning = Assigning { target, slots, sees_changes, null_id_is_zero, storing, row_number };
        assigning.carry_out(&self.plan.on_duplicate, &mut seen, &mut changed, run)?;
        if let Some(column) = target.auto_increment {
            let assigned = self.plan.on_duplicate.iter().any(|assignment| assignment.column == column);
            self.ids.met_update(&changed[column], assigned)?;
        }
        if changed == before {
            self.counts.affected += u64::from(run.statement.settings.found_rows_as_affected);
            self.counts.duplicates += u64::from(self.plan.ignore);
            return Ok(());
        }
        row::follow(&assigning, &mut seen, &mut changed, run)?;
        let change = Change { key, row: &changed, long: &LongColumns::default(), ignore: self.plan.ignore };
        let is_left = row::update(target, change, run)? == Updated::Left;
        // With IGNORE those rows count that changed nothing.
        self.counts.duplicates += u64::from(is_left == self.plan.ignore);
        if is_left {
            return Ok(());
        }
        self.counts.affected += 2;
        if let Some(column) = target.auto_increment {
            self.ids.updated(&target.table, &changed[column], run)?;
        }
        Ok(())
    }
}
