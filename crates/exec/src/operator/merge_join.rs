//! A hash join whose kept side outgrew its memory: both sides sorted by key, merged, and the result brought back into the
//! order of the rows that would have streamed. Rows of one key lie in a store that is read once for each row of the other
//! side, so that no key is too frequent. Main type: [`MergeJoin`].

use super::hash_join::{RowKey, row_key, sort_key};
use super::{Operator, all_hold};
use crate::batch::RowBatch;
use crate::run::Run;
use crate::spill::{RowCursor, RowStore, Sorted, Sorter};
use errors::SqlResult;
use expression::EvaluationContext;
use plan::physical::{HashJoin, JoinKind};
use std::cmp::Ordering;
use values::{Rows, ValueRef};

/// The result of the join.
pub struct MergeJoin {
    /// Values in a row.
    width: usize,
    result: Sorted,
}

/// The join while it is made.
struct Merging<'j> {
    join: &'j HashJoin,
    build: Sorted,
    /// Rows of the build side with the key `key`.
    group: RowStore,
    key: Option<Vec<u8>>,
    output: Sorter,
    batch: RowBatch,
}

impl MergeJoin {
    /// Joins the build side with all rows of the probe side.
    pub fn new(
        join: &HashJoin,
        mut build: Sorter,
        probe: &mut dyn Operator,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<MergeJoin> {
        let share_bytes = run.statement.settings.join_bytes_max;
        // The probe side may be a join itself, and so on: what waits for it holds nothing.
        build.rest()?;
        let sorter = |run: &Run<'_, '_>| Sorter::new(run.workspace().clone(), share_bytes, None);
        run.workspace().count(|counts| counts.disk_tables += 1);
        let mut output = sorter(run);
        let mut probe_rows = sorter(run);
        let keeps_unmatched = matches!(join.kind, JoinKind::Left | JoinKind::Anti);
        let mut batch = RowBatch::new();
        let (mut bytes, mut width, mut number) = (Vec::new(), 0, 0_u64);
        let mut numbered = Rows::default();
        while probe.next(run, &mut batch)? {
            run.check_killed()?;
            width = batch.width();
            for row in batch.iter() {
                number += 1;
                match row_key(&join.keys, row, true, run, &mut bytes)? {
                    RowKey::Nothing if keeps_unmatched => {
                        numbered.reset(width);
                        numbered.push(row);
                        blank(join, &mut numbered);
                        output.push(&number.to_be_bytes(), numbered.row(0))?;
                    }
                    RowKey::Nothing => {}
                    key => {
                        numbered.reset(width + 1);
                        numbered.push(row);
                        numbered.set(width, ValueRef::UInt(number));
                        probe_rows.push(sort_key(key, &mut bytes), numbered.row(0))?;
                    }
                }
            }
        }
        let group = RowStore::new(run.workspace().clone(), share_bytes);
        let build = build.finish()?;
        let mut merging = Merging { join, build, group, key: None, output, batch };
        let mut probe_rows = probe_rows.finish()?;
        while let Some(key) = probe_rows.key() {
            merging.seek(key)?;
            numbered.reset(width + 1);
            probe_rows.next_row(&mut numbered)?;
            merging.join_row(&mut numbered, width, run)?;
        }
        let output = merging.output;
        Ok(MergeJoin { width, result: output.finish()? })
    }

    /// The next rows.
    pub fn next(&mut self, run: &mut Run<'_, '_>, batch: &mut RowBatch) -> SqlResult<bool> {
        run.check_killed()?;
        self.result.next(self.width, batch)
    }
}

/// Takes the values of the build side out of the last row.
fn blank(join: &HashJoin, rows: &mut Rows) {
    for slot in &join.build_slots {
        rows.set(*slot, ValueRef::Null);
    }
}

impl Merging<'_> {
    /// Makes `group` the build side's rows of that key. Keys come in ascending order.
    fn seek(&mut self, key: &[u8]) -> SqlResult<()> {
        if self.key.as_deref() == Some(key) {
            return Ok(());
        }
        self.group.clear();
        self.key = Some(key.to_vec());
        let mut row = Rows::default();
        while let Some(found) = self.build.key() {
            match found.cmp(key) {
                Ordering::Less => {
                    self.build.skip()?;
                }
                Ordering::Equal => {
                    row.reset(self.join.build_slots.len());
                    self.build.next_row(&mut row)?;
                    self.group.push(row.row(0))?;
                }
                Ordering::Greater => break,
            }
        }
        Ok(())
    }

    /// Puts out what a probe row of that width gives. Its number is behind its values.
    fn join_row(&mut self, numbered: &mut Rows, width: usize, run: &mut Run<'_, '_>) -> SqlResult<()> {
        let place = match numbered.value(0, width) {
            ValueRef::UInt(number) => number.to_be_bytes(),
            _ => [0; 8],
        };
        let mark = numbered.mark();
        let mut matched = false;
        let mut cursor = RowCursor::new();
        while cursor.next(&self.group, self.group.len(), &mut self.batch)? {
            run.check_killed()?;
            for found in self.batch.iter() {
                numbered.rewind(mark);
                for (slot, value) in self.join.build_slots.iter().zip(found.iter()) {
                    numbered.set(*slot, value);
                }
                let row = numbered.row(0).first(width);
                if !all_hold(&self.join.conditions, row, run)? {
                    continue;
                }
                matched = true;
                if self.join.kind != JoinKind::Anti {
                    self.output.push(&place, row)?;
                }
                if matches!(self.join.kind, JoinKind::Semi | JoinKind::Anti) {
                    return Ok(());
                }
            }
        }
        if !matched && matches!(self.join.kind, JoinKind::Left | JoinKind::Anti) {
            blank(self.join, numbered);
            self.output.push(&place, numbered.row(0).first(width))?;
        }
        Ok(())
    }
}
