//! Assignments of UPDATE, ON DUPLICATE KEY UPDATE and LOAD DATA .. SET. Main type: [`Assigning`].

use super::long_columns::LongColumns;
use crate::batch::long_bytes;
use crate::run::Run;
use crate::spill::LongHeld;
use crate::storing::{Storing, as_seen};
use errors::SqlResult;
use expression::Expression;
use plan::{Assignment, Target, implicit_default};
use values::{RowRef, Value};

/// Where the assignments of one row go.
pub struct Assigning<'a> {
    /// The table whose row changes.
    pub target: &'a Target,
    /// Where a column of the table is in the row that expressions read (None: at its position).
    pub slots: Option<&'a [Option<usize>]>,
    /// Whether an assignment sees the values of those before.
    pub sees_changes: bool,
    /// Whether NULL for the AUTO_INCREMENT column is 0, as in ON DUPLICATE KEY UPDATE.
    pub null_id_is_zero: bool,
    /// How values are stored.
    pub storing: Storing,
    /// Number of the row, for messages.
    pub row_number: u64,
}

impl Assigning<'_> {
    /// Carries out assignments from left to right. `seen` is the row that the expressions read.
    pub fn carry_out(
        &self,
        assignments: &[Assignment],
        seen: &mut [Value],
        changed: &mut [Value],
        run: &mut Run<'_, '_>,
    ) -> SqlResult<()> {
        self.carry_out_long(assignments, seen, changed, None, run)
    }

    /// As `carry_out`. Parameters that are too long for memory go to `long`, if nothing else reads what they are assigned to.
    pub fn carry_out_long(
        &self,
        assignments: &[Assignment],
        seen: &mut [Value],
        changed: &mut [Value],
        mut long: Option<&mut LongColumns>,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<()> {
        let (mut held, mut bytes) = (LongHeld::default(), 0);
        let reads_columns =
            |assignment: &Assignment| assignment.value.as_ref().is_some_and(Expression::reads_columns);
        if run.statement.long_parameters.is_none() || assignments.iter().any(reads_columns) {
            long = None;
        }
        for assignment in assignments {
            if assignment.is_own && (self.sees_changes || assignment.value.is_none()) {
                continue;
            }
            let position = assignment.column;
            let column = &self.target.table.definition().columns[position];
            if let (Some(long), Some(expression)) = (&mut long, &assignment.value)
                && !self.target.reads_own(position)
                && let Some(start) = long.store_parameter(expression, position, &self.target.table, run)?
            {
                changed[position] = start;
                continue;
            }
            if let Some(long) = &mut long {
                long.forget(position);
            }
            let stored = match &assignment.value {
                Some(expression) => {
                    let value = expression.evaluate(RowRef::Values(seen), run)?;
                    run.check_raised()?;
                    bytes += long_bytes(std::slice::from_ref(&value));
                    held.reach(bytes, || run.workspace().clone())?;
                    match value {
                        Value::Null if self.null_id_is_zero && column.auto_increment => {
                            implicit_default(&column.column_type)
                        }
                        value => {
                            self.storing.store_computed(expression, &value, column, self.row_number, run)?
                        }
                    }
                }
                // None is drawn for a row that is there.
                None if column.auto_increment => implicit_default(&column.column_type),
                None => {
                    let default = (&self.target.defaults[position], true);
                    let columns = &self.target.table.definition().columns;
                    self.storing.default(default, columns, position, changed, self.row_number, run)?
                }
            };
            if self.sees_changes
                && let Some(slot) = self.slots.map_or(Some(position), |slots| slots[position])
            {
                seen[slot] = as_seen(&stored, column, run);
            }
            changed[position] = stored;
        }
        Ok(())
    }

    /// Lets those who read the row behind these assignments see its generated columns.
    pub fn show_generated(&self, changed: &[Value], seen: &mut [Value], run: &Run<'_, '_>) {
        if !self.sees_changes {
            return;
        }
        for column in self.target.own.generated.iter().map(|generated| generated.column) {
            if let Some(slot) = self.slots.map_or(Some(column), |slots| slots[column]) {
                let definition = &self.target.table.definition().columns[column];
                seen[slot] = as_seen(&changed[column], definition, run);
            }
        }
    }
}
