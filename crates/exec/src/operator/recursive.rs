//! WITH RECURSIVE: the steps run over the rows of the last round until there are none. Main types: [`RecursiveRun`],
//! [`RecursiveInput`]; between them [`Recursion`].

use super::project::{distinct_key, distinct_modes};
use super::{Operator, open};
use crate::batch::RowBatch;
use crate::run::Run;
use crate::spill::{KeySet, RowCursor, RowStore};
use errors::{SqlResult, sql_error};
use expression::EvaluationContext;
use expression::operators::ComparisonMode;
use plan::physical::{Node, Recursive};
use values::ColumnType;

/// A recursive query that is being computed: all rows so far, and which of them the last round added.
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

impl<'p> RecursiveRun<'p> {
    pub fn new(recursive: &'p Recursive) -> RecursiveRun<'p> {
        RecursiveRun { recursive, found: None }
    }

    fn compute(&self, run: &mut Run<'_, '_>) -> SqlResult<RowStore> {
        let recursive = self.recursive;
        let modes = distinct_modes(&recursive.columns);
        let depth_max = run.statement.settings.recursion_depth_max;
        let mut seen = (!recursive.all).then(|| Seen { modes, keys: run.key_set(), key: Vec::new() });
        let rows = run.row_store();
        run.recursions[recursive.id] = Some(Recursion { rows, round: RowCursor::new(), round_end: 0 });
        self.add_rows(&recursive.seed, seen.as_mut(), run)?;
        let mut round = RowCursor::new();
        let mut depth = 0;
        loop {
            let Some(recursion) = &mut run.recursions[recursive.id] else { return Ok(run.row_store()) };
            if recursion.rows.len() == round.row() {
                break;
            }
            if depth > depth_max {
                return Err(sql_error!(ER_CTE_MAX_RECURSION_DEPTH, depth));
            }
            depth += 1;
            recursion.round_end = recursion.rows.len();
            recursion.round = round.fork();
            round.move_to_end(&recursion.rows);
            for step in &recursive.steps {
                self.add_rows(step, seen.as_mut(), run)?;
            }
        }
        let found = run.recursions[recursive.id].take();
        Ok(found.map_or_else(|| run.row_store(), |recursion| recursion.rows))
    }

    /// Adds the rows of a query that were not there.
    fn add_rows(&self, node: &Node, mut seen: Option<&mut Seen>, run: &mut Run<'_, '_>) -> SqlResult<()> {
        let width = self.recursive.columns.len();
        let mut operator = open(node);
        let mut batch = RowBatch::new();
        while operator.next(run, &mut batch)? {
            run.check_killed()?;
            for row in batch.iter() {
                let row = &row[..width];
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

/// The rows of the last round.
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
            let slots = batch.push_empty();
            for (column, slot) in self.columns {
                slots[*slot] = row[*column].clone();
            }
        }
        Ok(!batch.is_empty())
    }
}
