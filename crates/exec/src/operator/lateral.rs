//! Sources in FROM that are opened again for each row of the tables that they read, and joins with such a source in them. Main
//! types: [`LateralReader`], [`TreeReader`].

use super::json_rows::rows_of_document;
use super::nested_loop::InnerReader;
use super::{Operator, all_hold, collect, open};
use crate::actuals::{Loop, StepId};
use crate::batch::RowBatch;
use crate::run::Run;
use crate::spill::ExactSlots;
use crate::spill::{RowCursor, RowStore};
use errors::SqlResult;
use expression::EvaluationContext;
use plan::lateral::{LateralAccess, LateralSource, SeededTree};
use values::{RowRef, Rows, Value, ValueRef};

/// Values of the outer side of a join for the sources within its inner side: (slot, value).
pub(crate) type Seeds = Vec<(usize, Value)>;

/// Reads a source for one row of the tables before it after the other. All its rows are computed before the first is read, as MySQL
/// does it: what they report comes first.
pub struct LateralReader<'p> {
    access: &'p LateralAccess,
    exact: ExactSlots,
    rows: Option<(RowStore, RowCursor)>,
    /// Some of them, and how many of these were looked at.
    batch: RowBatch,
    at: usize,
    /// The row that the arguments read, where a part of it comes from outside of the join.
    seeded: Rows,
    kept: Loop,
}

impl<'p> LateralReader<'p> {
    pub fn new(access: &'p LateralAccess) -> LateralReader<'p> {
        let columns = access.columns.iter();
        LateralReader {
            access,
            exact: ExactSlots::of(columns.map(|(at, slot)| (*slot, access.source.column(*at)))),
            rows: None,
            batch: RowBatch::new(),
            at: 0,
            seeded: Rows::default(),
            kept: Loop::default(),
        }
    }

    /// What the source is opened with for a row.
    fn arguments(&mut self, row: RowRef<'_>, run: &mut Run<'_, '_>) -> SqlResult<Vec<Value>> {
        let access = self.access;
        if access.seeds.is_empty() {
            return access.arguments.iter().map(|argument| argument.evaluate(row, run)).collect();
        }
        self.seeded.reset(access.width);
        self.seeded.push(row);
        for (slot, value) in run.seeds.last().into_iter().flatten() {
            if access.seeds.contains(slot) {
                self.seeded.set(*slot, value.as_ref());
            }
        }
        let row = self.seeded.row(0);
        access.arguments.iter().map(|argument| argument.evaluate(row, run)).collect()
    }

    fn find_row(&mut self, rows: &mut Rows, run: &mut Run<'_, '_>) -> SqlResult<bool> {
        let Some((store, cursor)) = &mut self.rows else { return Ok(false) };
        let mark = rows.mark();
        loop {
            if self.at >= self.batch.len() {
                run.check_killed()?;
                self.at = 0;
                if !cursor.next(store, store.len(), &mut self.batch)? {
                    return Ok(false);
                }
            }
            let row = self.batch.row(self.at);
            self.at += 1;
            rows.rewind(mark);
            for (position, slot) in &self.access.columns {
                rows.set(*slot, row.get(*position));
            }
            self.exact.keep_decimals(rows);
            if all_hold(&self.access.conditions, rows.row(rows.len() - 1), run)? {
                return Ok(true);
            }
        }
    }
}

/// All rows of a source.
fn rows_of(source: &LateralSource, arguments: Vec<Value>, run: &mut Run<'_, '_>) -> SqlResult<RowStore> {
    match source {
        LateralSource::Query { query, common_tables } => {
            run.forget_common_tables(common_tables);
            run.frames.push(arguments);
            let rows = collect(&query.root, run);
            run.frames.pop();
            rows
        }
        LateralSource::Json(table) => rows_of_document(table, arguments.first().unwrap_or(&Value::Null), run),
    }
}

impl InnerReader for LateralReader<'_> {
    fn start(&mut self, row: RowRef<'_>, run: &mut Run<'_, '_>) -> SqlResult<()> {
        self.kept = Loop::default();
        // The rows before are given back first.
        self.rows = None;
        self.batch.reset(0);
        self.at = 0;
        let began = run.began();
        let arguments = self.arguments(row, run)?;
        let rows = rows_of(&self.access.source, arguments, run)?;
        run.gave(StepId::input(self.access), rows.len() as u64, began, &mut Loop::default());
        self.rows = Some((rows, RowCursor::new()));
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

/// Reads a join for one row of the outer side after the other.
pub struct TreeReader<'p> {
    tree: &'p SeededTree,
    operator: Option<Box<dyn Operator + 'p>>,
    seeds: Option<Seeds>,
    batch: RowBatch,
    at: usize,
    wanted: usize,
    /// Whether one row is all that is wanted of it.
    is_one_enough: bool,
}

impl<'p> TreeReader<'p> {
    pub fn new(tree: &'p SeededTree, is_one_enough: bool) -> TreeReader<'p> {
        let batch = RowBatch::new();
        TreeReader { tree, operator: None, seeds: None, batch, at: 0, wanted: 1, is_one_enough }
    }
}

impl InnerReader for TreeReader<'_> {
    fn start(&mut self, row: RowRef<'_>, run: &mut Run<'_, '_>) -> SqlResult<()> {
        let tree = self.tree;
        let value_of = |slot: &usize| {
            let handed_on = || run.seeds.last()?.iter().find(|(known, _)| known == slot);
            let around = if tree.handed_on.contains(slot) { handed_on() } else { None };
            (*slot, around.map_or_else(|| row.get(*slot).to_value(), |(_, value)| value.clone()))
        };
        self.seeds = Some(tree.seeds.iter().map(value_of).collect());
        self.operator = Some(open(&tree.node, run));
        self.batch.reset(0);
        self.at = 0;
        Ok(())
    }

    fn want(&mut self, rows_max: usize) {
        self.wanted = if self.is_one_enough { 1 } else { rows_max };
    }

    fn next_row(&mut self, rows: &mut Rows, run: &mut Run<'_, '_>) -> SqlResult<bool> {
        let (Some(operator), Some(seeds)) = (&mut self.operator, self.seeds.take()) else { return Ok(false) };
        let mut more = Ok(true);
        if self.at >= self.batch.len() {
            self.at = 0;
            self.batch.want(self.wanted);
            run.seeds.push(seeds);
            more = operator.next(run, &mut self.batch);
            self.seeds = run.seeds.pop();
        } else {
            self.seeds = Some(seeds);
        }
        if !more? {
            self.operator = None;
            return Ok(false);
        }
        let row = self.batch.row(self.at);
        self.tree.slots.iter().for_each(|slot| rows.set(*slot, row.get(*slot)));
        self.at += 1;
        Ok(true)
    }

    fn width(&self) -> usize {
        self.tree.width
    }

    fn clear(&self, batch: &mut RowBatch) {
        self.tree.slots.iter().for_each(|slot| batch.set(*slot, ValueRef::Null));
    }
}
