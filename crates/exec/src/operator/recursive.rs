//! WITH RECURSIVE: each step runs over the rows that it has not read until there are none. Main types: [`RecursiveRun`],
//! [`RecursiveInput`]; between them [`Recursion`].

use super::limit::limit_value;
use super::project::{distinct_key, distinct_modes};
use super::{Operator, open};
use crate::batch::RowBatch;
use crate::run::Run;
use crate::spill::{KeySet, RowCursor, RowStore};
use crate::storing::{Given, Storing};
use dictionary::{ColumnDefault, ColumnDefinition};
use errors::{Diagnostics, SqlResult, sql_error};
use expression::EvaluationContext;
use expression::ResultType;
use expression::operators::ComparisonMode;
use plan::physical::{Node, Recursive};
use values::store::Source;
use values::{ColumnType, RowRef, TypeKind, Value};

/// A recursive query that is being computed: all rows so far, and which of them a step reads now.
pub(crate) struct Recursion {
    rows: RowStore,
    round: RowCursor,
    round_end: u64,
}

/// A recursive query.
pub struct RecursiveRun<'p> {
    recursive: &'p Recursive,
    found: Option<(RowStore, RowCursor)>,
}

/// Which rows of a UNION DISTINCT were there.
struct Seen {
    modes: Vec<(ComparisonMode, ColumnType)>,
    keys: KeySet,
    key: Vec<u8>,
}

/// The type in which a column is kept: a seed of NULL alone makes one that holds no text.
fn kept_type(column_type: &ColumnType) -> ColumnType {
    if column_type.kind != TypeKind::Null {
        return column_type.clone();
    }
    let mut empty = ColumnType::new(TypeKind::VarBinary);
    empty.length = Some(0);
    empty
}

/// How the rows of the steps go into the columns of the table. What does not fit is an error under a strict sql_mode
/// and is cut silently under another one.
struct Columns {
    columns: Vec<ColumnDefinition>,
    storing: Storing,
    strict: bool,
}

impl Columns {
    fn new(recursive: &Recursive, run: &Run<'_, '_>) -> Columns {
        let column = |(name, result): (&String, &ResultType)| ColumnDefinition {
            name: name.clone(),
            column_type: kept_type(&result.column_type),
            nullable: true,
            default: ColumnDefault::None,
            generated: None,
            on_update_now: None,
            auto_increment: false,
            invisible: false,
            names_collation: false,
            comment: String::new(),
        };
        Columns {
            columns: recursive.names.iter().zip(&recursive.columns).map(column).collect(),
            storing: Storing::new(run, false, true),
            strict: run.statement.facts.sql_mode.is_strict(),
        }
    }

    fn store(&self, row: &mut [Value], types: &[ResultType], run: &mut Run<'_, '_>) -> SqlResult<()> {
        for ((value, column), result) in row.iter_mut().zip(&self.columns).zip(types) {
            let from = &result.column_type;
            if *from == column.column_type || *value == Value::Null {
                continue;
            }
            let mut unheard = Diagnostics::new(0);
            if !self.strict {
                std::mem::swap(run.statement.diagnostics, &mut unheard);
            }
            // MySQL counts no rows of a temporary table.
            let given = Given { value, column_type: from, source: Source::Expression };
            let stored = self.storing.store(given, column, 1, run);
            if !self.strict {
                std::mem::swap(run.statement.diagnostics, &mut unheard);
            }
            *value = stored?;
        }
        Ok(())
    }
}

impl<'p> RecursiveRun<'p> {
    pub fn new(recursive: &'p Recursive) -> RecursiveRun<'p> {
        RecursiveRun { recursive, found: None }
    }

    fn compute(&self, run: &mut Run<'_, '_>) -> SqlResult<RowStore> {
        let recursive = self.recursive;
        let modes = distinct_modes(&recursive.columns);
        let depth_max = run.statement.settings.recursion_depth_max;
        let mut seen = (!recursive.all).then(|| Seen { modes, keys: run.key_set(), key: Vec::new() });
        let columns = Columns::new(recursive, run);
        let rows_max = match &recursive.limit {
            Some(limit) => {
                let skipped = limit_value(limit.offset.as_ref(), run)?.unwrap_or(0);
                let wanted = limit_value(limit.count.as_ref(), run)?.unwrap_or(u64::MAX);
                skipped.saturating_add(wanted)
            }
            None => u64::MAX,
        };
        let rows = run.row_store();
        run.recursions[recursive.id] = Some(Recursion { rows, round: RowCursor::new(), round_end: 0 });
        self.add_rows(&recursive.seed, None, seen.as_mut(), run)?;
        let mut steps: Vec<_> = recursive.steps.iter().map(|step| (step, RowCursor::new(), 0)).collect();
        let mut known = 0;
        // A step goes on with the rows that it adds itself before the next one begins: MySQL's order of rows.
        while self.known_rows(run) > known {
            known = self.known_rows(run);
            for (step, read, depth) in &mut steps {
                while self.opens_round(read, rows_max, run) {
                    // The round that finds nothing counts, too.
                    *depth += 1;
                    if *depth > depth_max {
                        return Err(sql_error!(ER_CTE_MAX_RECURSION_DEPTH, depth));
                    }
                    self.add_rows(&step.node, Some((&columns, &step.columns)), seen.as_mut(), run)?;
                }
            }
        }
        let found = run.recursions[recursive.id].take();
        Ok(found.map_or_else(|| run.row_store(), |recursion| recursion.rows))
    }

    fn known_rows(&self, run: &Run<'_, '_>) -> u64 {
        run.recursions[self.recursive.id].as_ref().map_or(0, |recursion| recursion.rows.len())
    }

    /// Shows a step the rows that it has not read. False: there are none, or as many as are wanted.
    fn opens_round(&self, read: &mut RowCursor, rows_max: u64, run: &mut Run<'_, '_>) -> bool {
        let Some(recursion) = &mut run.recursions[self.recursive.id] else { return false };
        let known = recursion.rows.len();
        if read.row() == known || known >= rows_max {
            return false;
        }
        recursion.round_end = known;
        recursion.round = read.fork();
        read.move_to_end(&recursion.rows);
        true
    }

    /// Adds the rows of a query that were not there. `stored`: into which columns, and of what types they come.
    fn add_rows(
        &self,
        node: &Node,
        stored: Option<(&Columns, &[ResultType])>,
        mut seen: Option<&mut Seen>,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<()> {
        let width = self.recursive.columns.len();
        let mut operator = open(node, run);
        let mut batch = RowBatch::new();
        while operator.next(run, &mut batch)? {
            run.check_killed()?;
            for at in 0..batch.len() {
                let mut made;
                let mut row = batch.row(at).first(width);
                if let Some((columns, types)) = stored {
                    made = batch.take(at, width);
                    columns.store(&mut made, types, run)?;
                    row = RowRef::Values(&made);
                }
                if let Some(seen) = &mut seen {
                    distinct_key(&seen.modes, row, run, &mut seen.key)?;
                    if !seen.keys.insert(&seen.key)? {
                        continue;
                    }
                }
                if let Some(recursion) = &mut run.recursions[self.recursive.id] {
                    recursion.rows.push(row)?;
                }
            }
        }
        Ok(())
    }
}

impl Operator for RecursiveRun<'_> {
    fn next(&mut self, run: &mut Run<'_, '_>, batch: &mut RowBatch) -> SqlResult<bool> {
        let (rows, cursor) = match &mut self.found {
            Some(found) => found,
            None => {
                let rows = self.compute(run)?;
                self.found.insert((rows, RowCursor::new()))
            }
        };
        cursor.next(rows, rows.len(), batch)
    }
}

/// The rows of a round.
pub struct RecursiveInput<'p> {
    id: usize,
    columns: &'p [(usize, usize)],
    width: usize,
    cursor: Option<RowCursor>,
    rows: RowBatch,
}

impl<'p> RecursiveInput<'p> {
    pub fn new(id: usize, columns: &'p [(usize, usize)], width: usize) -> RecursiveInput<'p> {
        RecursiveInput { id, columns, width, cursor: None, rows: RowBatch::new() }
    }
}

impl Operator for RecursiveInput<'_> {
    fn next(&mut self, run: &mut Run<'_, '_>, batch: &mut RowBatch) -> SqlResult<bool> {
        batch.reset(self.width);
        let Some(Some(recursion)) = run.recursions.get(self.id) else { return Ok(false) };
        let cursor = self.cursor.get_or_insert_with(|| recursion.round.fork());
        cursor.next(&recursion.rows, recursion.round_end, &mut self.rows)?;
        for row in self.rows.iter() {
            batch.push_empty();
            for (column, slot) in self.columns {
                batch.set(*slot, row.get(*column));
            }
        }
        Ok(!batch.is_empty())
    }
}
