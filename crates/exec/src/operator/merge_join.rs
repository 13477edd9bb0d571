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
use values::Value;

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
    /// Joins the sorted build side with all rows of the probe side.
    pub fn new(
        join: &HashJoin,
        build: Sorted,
        probe: &mut dyn Operator,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<MergeJoin> {
        let share_bytes = run.statement.settings.join_bytes_max;
        let sorter = |run: &Run<'_, '_>| Sorter::new(run.workspace().clone(), share_bytes, None);
        run.workspace().count(|counts| counts.disk_tables += 1);
        let mut output = sorter(run);
        let mut probe_rows = sorter(run);
        let keeps_unmatched = matches!(join.kind, JoinKind::Left | JoinKind::Anti);
        let mut batch = RowBatch::new();
        let (mut bytes, mut width, mut number) = (Vec::new(), 0, 0_u64);
        let mut numbered = Vec::new();
        while probe.next(run, &mut batch)? {
            run.check_killed()?;
            width = batch.row(0).len();
            for row in batch.iter() {
                number += 1;
                match row_key(&join.keys, row, true, run, &mut bytes)? {
                    RowKey::Nothing if keeps_unmatched => {
                        numbered.clear();
                        numbered.extend_from_slice(row);
                        blank(join, &mut numbered);
                        output.push(&number.to_be_bytes(), &numbered)?;
                    }
                    RowKey::Nothing => {}
                    key => {
                        numbered.clear();
                        numbered.extend_from_slice(row);
                        numbered.push(Value::UInt(number));
                        probe_rows.push(sort_key(key, &mut bytes), &numbered)?;
                    }
                }
            }
        }
        let group = RowStore::new(run.workspace().clone(), share_bytes);
        let mut merging = Merging { join, build, group, key: None, output, batch };
        let mut probe_rows = probe_rows.finish()?;
        let mut row = vec![Value::Null; width + 1];
        while let Some(key) = probe_rows.key() {
            merging.seek(key)?;
            probe_rows.next_row(&mut row)?;
            merging.join_row(&mut row, run)?;
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

/// Takes the values of the build side out of a row.
fn blank(join: &HashJoin, row: &mut [Value]) {
    for slot in &join.build_slots {
        row[*slot] = Value::Null;
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
        let mut row = vec![Value::Null; self.join.build_slots.len()];
        while let Some(found) = self.build.key() {
            match found.cmp(key) {
                Ordering::Less => {
                    self.build.skip()?;
                }
                Ordering::Equal => {
                    self.build.next_row(&mut row)?;
                    self.group.push(&row)?;
                }
                Ordering::Greater => break,
            }
        }
        Ok(())
    }

    /// Puts out what a probe row gives. Its number is behind its values.
    fn join_row(&mut self, numbered: &mut [Value], run: &mut Run<'_, '_>) -> SqlResult<()> {
        let Some((number, row)) = numbered.split_last_mut() else { return Ok(()) };
        let place = match number {
            Value::UInt(number) => number.to_be_bytes(),
            _ => [0; 8],
        };
        let mut matched = false;
        let mut cursor = RowCursor::new();
        while cursor.next(&self.group, self.group.len(), &mut self.batch)? {
            run.check_killed()?;
            for found in self.batch.iter() {
                for (slot, value) in self.join.build_slots.iter().zip(found) {
                    row[*slot].clone_from(value);
                }
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
            blank(self.join, row);
            self.output.push(&place, row)?;
        }
        Ok(())
    }
}
