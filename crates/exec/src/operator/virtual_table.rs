//! Rows of a table without storage, all of them or by values of its key columns. Main type: [`VirtualReader`].
//! Rows are pulled one by one: who wants no more of them leaves the rest unmade, and KILL is looked at before each.
//!
//! What a provider hands out borrows from the statement, operators only from the plan: cursors are kept in the [`Run`]
//! ([`VirtualCursors`]), by the access that they are for. An access is read by one operator at a time.

use super::all_hold;
use super::nested_loop::InnerReader;
use crate::actuals::{Loop, StepId};
use crate::batch::RowBatch;
use crate::run::Run;
use errors::SqlResult;
use expression::EvaluationContext;
use plan::physical::VirtualAccess;
use plan::range::point_values;
use plan::{VirtualCursor, VirtualRequest, WantedValues};
use values::row::ColumnSet;
use values::{RowRef, Rows, Value, ValueRef};

/// The cursors of a statement that are open, by access.
#[derive(Default)]
pub struct VirtualCursors<'s>(Vec<(StepId, Box<dyn VirtualCursor + 's>)>);

impl<'s> VirtualCursors<'s> {
    /// Opens one for an access, in place of the one before.
    fn put(&mut self, id: StepId, cursor: Box<dyn VirtualCursor + 's>) {
        match self.0.iter_mut().find(|(known, _)| *known == id) {
            Some((_, known)) => *known = cursor,
            None => self.0.push((id, cursor)),
        }
    }

    fn next(&mut self, id: StepId) -> SqlResult<Option<Vec<Value>>> {
        let Some((_, cursor)) = self.0.iter_mut().find(|(known, _)| *known == id) else { return Ok(None) };
        let row = cursor.next()?;
        if row.is_none() {
            self.0.retain(|(known, _)| *known != id);
        }
        Ok(row)
    }
}

/// Reads a table without storage for one row of the tables before it after the other.
pub struct VirtualReader<'p> {
    access: &'p VirtualAccess,
    reading: bool,
    read: Loop,
    kept: Loop,
}

impl<'p> VirtualReader<'p> {
    pub fn new(access: &'p VirtualAccess) -> VirtualReader<'p> {
        VirtualReader { access, reading: false, read: Loop::default(), kept: Loop::default() }
    }

    /// The values of the keys for an outer row; None if no row can have them.
    fn wanted(&self, row: RowRef<'_>, run: &mut Run<'_, '_>) -> SqlResult<Option<Vec<WantedValues>>> {
        let mut wanted = Vec::with_capacity(self.access.keys.len());
        for key in &self.access.keys {
            let column_type = &self.access.definition.columns[key.column].column_type;
            match point_values(&key.points, column_type, row, run)? {
                Some(values) if values.is_empty() => return Ok(None),
                Some(values) => {
                    wanted.push(WantedValues { column: key.column, values, collation: key.collation });
                }
                None => {}
            }
        }
        Ok(Some(wanted))
    }

    fn read(&mut self, run: &mut Run<'_, '_>) -> SqlResult<Option<Vec<Value>>> {
        if !self.reading {
            return Ok(None);
        }
        run.check_killed()?;
        let began = run.began();
        let row = run.virtual_cursors.next(StepId::input(self.access))?;
        run.gave(StepId::input(self.access), u64::from(row.is_some()), began, &mut self.read);
        run.rows_examined += u64::from(row.is_some());
        Ok(row)
    }

    fn find_row(&mut self, rows: &mut Rows, run: &mut Run<'_, '_>) -> SqlResult<bool> {
        let mark = rows.mark();
        while let Some(mut row) = self.read(run)? {
            rows.rewind(mark);
            for (position, slot) in &self.access.columns {
                rows.set_value(*slot, std::mem::replace(&mut row[*position], Value::Null));
            }
            let holds = all_hold(&self.access.conditions, rows.row(rows.len() - 1), run)?;
            run.check_raised()?;
            if holds {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl InnerReader for VirtualReader<'_> {
    fn start(&mut self, row: RowRef<'_>, run: &mut Run<'_, '_>) -> SqlResult<()> {
        self.read = Loop::default();
        self.kept = Loop::default();
        let wanted = self.wanted(row, run)?;
        self.reading = wanted.is_some();
        if let Some(wanted) = wanted {
            let columns = ColumnSet::of(self.access.columns.iter().map(|(column, _)| *column));
            let request = VirtualRequest { table: self.access.definition.clone(), wanted, columns };
            let cursor = run.statement.virtual_tables.open(request)?;
            run.virtual_cursors.put(StepId::input(self.access), cursor);
        }
        Ok(())
    }

    fn next_row(&mut self, rows: &mut Rows, run: &mut Run<'_, '_>) -> SqlResult<bool> {
        let began = run.began();
        let found = self.find_row(rows, run)?;
        run.gave(StepId::output(self.access), u64::from(found), began, &mut self.kept);
        Ok(found)
    }

    fn width(&self) -> usize {
        self.access.width
    }

    fn clear(&self, batch: &mut RowBatch) {
        self.access.columns.iter().for_each(|(_, slot)| batch.set(*slot, ValueRef::Null));
    }
}
