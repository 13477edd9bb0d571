//! Groups of stored rows that lie together in the index that is read: each is put out when the next one begins, and nothing is kept
//! of it. Main type: [`DirectOrder`].

use super::column::{DirectKey, key_bytes};
use super::scan::{DirectScan, Walk};
use super::totals::{DirectTotal, TotalState};
use crate::batch::RowBatch;
use crate::run::Run;
use crate::spill::LongHeld;
use errors::SqlResult;
use expression::EvaluationContext;
use plan::physical::{Aggregate, Node};
use values::row::RowView;
use values::{Value, ValueRef};

/// Grouping of a table's rows in the order of an index.
pub struct DirectOrder<'p> {
    scan: DirectScan<'p>,
    walk: Option<Walk>,
    groups: OpenGroup<'p>,
    held: LongHeld,
}

/// The group that rows are added to.
struct OpenGroup<'p> {
    step: &'p Aggregate,
    keys: Vec<DirectKey<'p>>,
    totals: Vec<DirectTotal<'p>>,
    /// Its keys; None for NULL.
    integers: Vec<Option<i64>>,
    texts: Vec<Option<Vec<u8>>>,
    states: Vec<TotalState>,
    is_open: bool,
}

impl<'p> DirectOrder<'p> {
    /// The groups of a step, if all that it needs can be read from stored rows.
    pub fn of(step: &'p Aggregate, run: &mut Run<'_, '_>) -> SqlResult<Option<DirectOrder<'p>>> {
        let Node::Table(access) = &step.input else { return Ok(None) };
        let keys: Option<Vec<_>> = step.keys.iter().map(|key| DirectKey::of(access, key)).collect();
        let totals: Option<Vec<_>> =
            step.aggregates.iter().map(|call| DirectTotal::of(access, call)).collect();
        let (Some(keys), Some(totals)) = (keys, totals) else { return Ok(None) };
        if access.path.backward {
            return Ok(None);
        }
        let Some(scan) = DirectScan::new(access, run)? else { return Ok(None) };
        let groups = OpenGroup {
            step,
            integers: vec![None; keys.len()],
            texts: vec![None; keys.len()],
            states: vec![TotalState::default(); totals.len()],
            keys,
            totals,
            is_open: false,
        };
        Ok(Some(DirectOrder { scan, walk: None, groups, held: LongHeld::default() }))
    }

    /// Puts out groups that have ended, until there are enough for a batch. False behind the last.
    pub fn next(&mut self, run: &mut Run<'_, '_>, batch: &mut RowBatch) -> SqlResult<bool> {
        let mut walk = match self.walk.take() {
            Some(walk) => walk,
            None => self.scan.walk(run)?,
        };
        let groups = &mut self.groups;
        while !batch.is_full() {
            run.check_killed()?;
            let more = self.scan.next_leaf(&mut walk, run, &mut |row, view| groups.add(row, view, batch))?;
            self.held.reach(groups.long_bytes(), || run.workspace().clone())?;
            if !more {
                groups.put_out(batch);
                break;
            }
        }
        self.walk = Some(walk);
        Ok(!batch.is_empty())
    }
}

impl OpenGroup<'_> {
    #[inline]
    fn add(&mut self, row: &[u8], view: &RowView<'_>, out: &mut RowBatch) {
        if !self.is_open || !self.holds(row, view) {
            self.put_out(out);
            self.begin(row, view);
        }
        for (total, state) in self.totals.iter().zip(&mut self.states) {
            total.add(state, row, view, 1);
        }
    }

    /// Whether a row belongs to the group.
    #[inline]
    fn holds(&self, row: &[u8], view: &RowView<'_>) -> bool {
        self.keys.iter().enumerate().all(|(at, key)| match key {
            DirectKey::Integer(column, _) => column.read(row) == self.integers[at],
            DirectKey::Bytes { position, start, length } => {
                key_bytes(view, *position, *start, *length) == self.texts[at].as_deref()
            }
        })
    }

    fn begin(&mut self, row: &[u8], view: &RowView<'_>) {
        self.is_open = true;
        for (at, key) in self.keys.iter().enumerate() {
            match key {
                DirectKey::Integer(column, _) => self.integers[at] = column.read(row),
                DirectKey::Bytes { position, start, length } => {
                    self.texts[at] = key_bytes(view, *position, *start, *length).map(<[u8]>::to_vec);
                }
            }
        }
    }

    /// Puts the group's row out, if there is a group.
    fn put_out(&mut self, out: &mut RowBatch) {
        if !std::mem::take(&mut self.is_open) {
            return;
        }
        out.push_empty();
        for (at, key) in self.keys.iter().enumerate() {
            let value = match key {
                DirectKey::Integer(_, column_type) => match self.integers[at] {
                    None => ValueRef::Null,
                    Some(number) if column_type.unsigned => ValueRef::UInt(number as u64),
                    Some(number) => ValueRef::Int(number),
                },
                DirectKey::Bytes { .. } => self.texts[at].as_deref().map_or(ValueRef::Null, ValueRef::Bytes),
            };
            out.set(at, value);
        }
        let finished = self.totals.iter().zip(&self.step.aggregates).zip(&mut self.states);
        for (at, ((total, call), state)) in finished.enumerate() {
            let value: Value = total.finish(std::mem::take(state), call);
            out.rows_mut().set_value(self.keys.len() + at, value);
        }
        out.count_last();
    }

    /// Bytes of the texts of the group.
    fn long_bytes(&self) -> usize {
        let keys: usize = self.texts.iter().flatten().map(Vec::len).sum();
        keys + self.states.iter().map(TotalState::kept_bytes).sum::<usize>()
    }
}
