//! GROUP BY by hashing; groups come out in the order of their first rows, super-aggregate rows behind their groups. When the
//! groups outgrow their share of memory no new ones are made: rows that belong to none are sorted by group on disk and
//! aggregated one group after the other. Main type: [`Aggregation`].

use super::aggregate_state::grows;
use super::group::Group;
use super::{Operator, append_key, append_place, open};
use crate::batch::RowBatch;
use crate::key_table::KeyTable;
use crate::run::Run;
use crate::spill::{Held, LongHeld, Sorted, Sorter};
use errors::SqlResult;
use expression::operators::ComparisonMode;
use expression::{EvaluationContext, Expression};
use plan::physical::{Aggregate, Node};
use values::{ColumnType, RowRef, Rows, Value, ValueRef};

/// What a group costs beside its keys, and for each aggregate.
const GROUP_BYTES: usize = 64;
const AGGREGATE_BYTES: usize = 80;
/// This part of the statement's memory is left to others, among them the groups that grow.
const MEMORY_LEFT_PART: u64 = 4;

/// Grouping.
pub struct Aggregation<'p> {
    step: &'p Aggregate,
    found: Option<Found>,
}

/// What comes out, in this order.
struct Found {
    /// Rows that the direct way made.
    rows: std::vec::IntoIter<Vec<Value>>,
    groups: std::vec::IntoIter<Group>,
    /// Finished rows, where groups were on disk or must be brought in order.
    sorted: Option<Sorted>,
    _held: Option<Held>,
}

/// Groups while rows come in.
struct Grouping<'p> {
    step: &'p Aggregate,
    modes: Vec<(ComparisonMode, ColumnType)>,
    groups: Vec<Group>,
    /// Their numbers by key.
    by_key: KeyTable,
    held: Held,
    /// All keys are columns, each of which names one group: most rows are of one that is known.
    takes_columns: bool,
    /// What others held when the first row came.
    held_before: Option<u64>,
    /// Rows of groups that are not in memory, by group: keys of the row, the row, its number.
    outside: Option<Sorter>,
    /// Values in an input row.
    width: usize,
    rows: u64,
    /// Room for a key, and for a row.
    key: Vec<u8>,
    whole: Rows,
}

impl<'p> Grouping<'p> {
    fn new(step: &'p Aggregate, run: &Run<'_, '_>) -> Grouping<'p> {
        let mode = |key: &expression::Expression| {
            (ComparisonMode::for_ordering(&key.result), key.result.column_type.clone())
        };
        let is_column = |key: &Expression| key.column_slot().is_some();
        let takes_columns = !step.rollup && !step.sorts && step.keys.iter().all(is_column);
        Grouping {
            step,
            modes: step.keys.iter().map(mode).collect(),
            groups: Vec::new(),
            takes_columns,
            by_key: KeyTable::default(),
            held: run.hold(),
            held_before: None,
            outside: None,
            width: 0,
            rows: 0,
            key: Vec::new(),
            whole: Rows::default(),
        }
    }

    /// Reads all rows, and sorts them by the keys if the step does so.
    fn read(&mut self, run: &mut Run<'_, '_>) -> SqlResult<()> {
        let step = self.step;
        let mut input = open(&step.input, run);
        let mut batch = run.batch();
        let mut keys = Rows::default();
        let mut held = LongHeld::default();
        let settings = &run.statement.settings;
        let mut sorter =
            step.sorts.then(|| Sorter::new(run.workspace().clone(), settings.kept_bytes_max, None));
        while input.next(run, &mut batch)? {
            run.check_killed()?;
            self.width = batch.width();
            self.held_before.get_or_insert_with(|| run.workspace().held_bytes());
            for row in batch.iter() {
                if self.takes_columns && self.outside.is_none() && self.add_by_columns(row, run)? {
                    self.rows += 1;
                    continue;
                }
                keys.reset(step.keys.len());
                keys.push_empty();
                let mut bytes = 0;
                for (at, expression) in step.keys.iter().enumerate() {
                    let key = expression.operand(row, run)?;
                    bytes += key.as_ref().long_bytes();
                    held.reach(bytes, || run.workspace().clone())?;
                    keys.set(at, key.as_ref());
                }
                match &mut sorter {
                    Some(sorter) => self.put_in_order(keys.row(0), row, sorter, run)?,
                    None => self.add(keys.row(0), row, run)?,
                }
                self.rows += 1;
            }
        }
        match sorter {
            Some(sorter) => self.add_sorted(sorter.finish()?, run),
            None => Ok(()),
        }
    }

    fn put_in_order(
        &mut self,
        keys: RowRef<'_>,
        row: RowRef<'_>,
        sorter: &mut Sorter,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<()> {
        let mut place = std::mem::take(&mut self.key);
        place.clear();
        for (value, (mode, column_type)) in keys.iter().zip(&self.modes) {
            append_place(*mode, value, column_type, run, &mut place)?;
        }
        place.extend_from_slice(&self.rows.to_be_bytes());
        let pushed = sorter.push(&place, self.joined(keys, row, 0));
        self.key = place;
        pushed
    }

    /// A row with its keys in front of it, and room behind it.
    fn joined(&mut self, keys: RowRef<'_>, row: RowRef<'_>, room: usize) -> RowRef<'_> {
        self.whole.reset(keys.len() + row.len() + room);
        self.whole.push(keys);
        for (at, value) in row.iter().enumerate() {
            self.whole.set(keys.len() + at, value);
        }
        if room > 0 {
            self.whole.set(keys.len() + row.len(), ValueRef::UInt(self.rows));
        }
        self.whole.row(0)
    }

    fn add_sorted(&mut self, mut rows: Sorted, run: &mut Run<'_, '_>) -> SqlResult<()> {
        let count = self.step.keys.len();
        let mut whole = Rows::default();
        self.rows = 0;
        loop {
            whole.reset(count + self.width);
            if !rows.next_row(&mut whole)? {
                return Ok(());
            }
            run.check_killed()?;
            let (keys, row) = whole.row(0).split_at(count);
            self.add(keys, row, run)?;
            self.rows += 1;
        }
    }

    /// Adds a row to the group that columns of it name. False if there is none.
    fn add_by_columns(&mut self, row: RowRef<'_>, run: &mut Run<'_, '_>) -> SqlResult<bool> {
        let mut key = std::mem::take(&mut self.key);
        key.clear();
        key.push(0);
        for (expression, (mode, column_type)) in self.step.keys.iter().zip(&self.modes) {
            let value = expression.operand(row, run)?;
            append_key(*mode, value.as_ref(), column_type, run, &mut key)?;
        }
        let found = self.by_key.find(&key);
        self.key = key;
        let Some(number) = found else { return Ok(false) };
        self.groups[number as usize].add(self.step, row, run)?;
        Ok(true)
    }

    /// Adds a row to its groups: with ROLLUP it counts in one group for each prefix of the keys.
    fn add(&mut self, keys: RowRef<'_>, row: RowRef<'_>, run: &mut Run<'_, '_>) -> SqlResult<()> {
        let levels = if self.step.rollup { self.step.keys.len() } else { 0 };
        let mut key = std::mem::take(&mut self.key);
        let groups_before = self.groups.len();
        for dropped in 0..=levels {
            let kept = keys.len() - dropped;
            key.clear();
            key.push(dropped as u8);
            for (value, (mode, column_type)) in keys.first(kept).iter().zip(&self.modes) {
                append_key(*mode, value, column_type, run, &mut key)?;
            }
            match self.find(&key, keys, kept, run)? {
                Some(number) => {
                    // Of equal keys, a super-aggregate row shows those that its last group shows.
                    if self.step.sorts && dropped > 0 && self.groups.len() > groups_before {
                        let shown = self.groups[number].keys.iter_mut();
                        shown.zip(keys.first(kept).iter()).for_each(|(shown, key)| key.copy_into(shown));
                    }
                    self.groups[number].add(self.step, row, run)?;
                }
                None => self.put_outside(&key, keys, row)?,
            }
        }
        self.key = key;
        Ok(())
    }

    /// The number of a group, made if there is room for it.
    fn find(
        &mut self,
        key: &[u8],
        keys: RowRef<'_>,
        kept: usize,
        run: &Run<'_, '_>,
    ) -> SqlResult<Option<usize>> {
        // Groups that grow with their rows stand still once rows are outside, and go on when their turn comes.
        if self.outside.is_some() && self.step.aggregates.iter().any(grows) {
            return Ok(None);
        }
        if let Some(number) = self.by_key.find(key) {
            return Ok(Some(number as usize));
        }
        if self.outside.is_some() {
            return Ok(None);
        }
        let bytes = keys.len() * size_of::<Value>()
            + keys.long_bytes()
            + key.len()
            + AGGREGATE_BYTES * self.step.aggregates.len()
            + GROUP_BYTES;
        let has_keys = !self.step.keys.is_empty();
        if has_keys && !(self.has_room(bytes as u64, run) && self.held.try_grow(bytes as u64)) {
            let settings = &run.statement.settings;
            self.outside = Some(Sorter::new(run.workspace().clone(), settings.kept_bytes_max, None));
            run.workspace().count(|counts| counts.disk_tables += 1);
            return Ok(None);
        }
        if !has_keys {
            self.held.grow_anyway(bytes as u64);
        }
        self.by_key.insert(key);
        self.groups.push(Group::new(self.step, keys.to_values(), kept, self.rows));
        Ok(Some(self.groups.len() - 1))
    }

    /// Whether one more group fits the share and leaves some memory.
    fn has_room(&self, bytes: u64, run: &Run<'_, '_>) -> bool {
        let settings = &run.statement.settings;
        let workspace = run.workspace();
        // What the groups grew by is not in `held`, but in what the statement holds.
        let grown = workspace.held_bytes().saturating_sub(self.held_before.unwrap_or(0));
        grown + bytes <= settings.kept_bytes_max
            && workspace.bytes_left() >= settings.memory_bytes_max / MEMORY_LEFT_PART
    }

    fn put_outside(&mut self, key: &[u8], keys: RowRef<'_>, row: RowRef<'_>) -> SqlResult<()> {
        let Some(mut outside) = self.outside.take() else { return Ok(()) };
        let pushed = outside.push(key, self.joined(keys, row, 1));
        self.outside = Some(outside);
        pushed
    }

    /// Ends the input: what comes out.
    fn finish(mut self, run: &mut Run<'_, '_>) -> SqlResult<Found> {
        let step = self.step;
        // Without rows there is still the row over all of them.
        if (step.keys.is_empty() || step.rollup) && self.groups.is_empty() && self.outside.is_none() {
            self.groups.push(group_of_nothing(step, run)?);
        }
        let none = Vec::new().into_iter();
        if self.outside.is_none() && !step.rollup {
            let groups = std::mem::take(&mut self.groups).into_iter();
            return Ok(Found { rows: none, groups, sorted: None, _held: Some(self.held) });
        }
        let settings = &run.statement.settings;
        let mut output = Sorter::new(run.workspace().clone(), settings.kept_bytes_max, None);
        if let Some(outside) = self.outside.take() {
            self.aggregate_outside(outside.finish()?, &mut output, run)?;
        }
        for mut group in std::mem::take(&mut self.groups) {
            self.put_out(&mut group, &mut output, run)?;
        }
        drop(self);
        let sorted = Some(output.finish()?);
        Ok(Found { rows: none, groups: Vec::new().into_iter(), sorted, _held: None })
    }

    /// Aggregates rows that come sorted by group.
    fn aggregate_outside(
        &mut self,
        mut rows: Sorted,
        output: &mut Sorter,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<()> {
        let keys = self.step.keys.len();
        let mut whole = Rows::default();
        let mut current: Option<(Vec<u8>, Group)> = None;
        while let Some(key) = rows.key() {
            if current.as_ref().is_none_or(|(known, _)| known != key) {
                let key = key.to_vec();
                if let Some((_, mut ended)) = current.take() {
                    self.put_out(&mut ended, output, run)?;
                }
                whole.reset(keys + self.width + 1);
                rows.next_row(&mut whole)?;
                let kept = keys - usize::from(key.first().copied().unwrap_or(0));
                let first_row = match whole.value(0, keys + self.width) {
                    ValueRef::UInt(number) => number,
                    _ => 0,
                };
                let shown = || whole.row(0).first(keys).to_values();
                let group =
                    self.begun(&key).unwrap_or_else(|| Group::new(self.step, shown(), kept, first_row));
                current = Some((key, group));
            } else {
                whole.reset(keys + self.width + 1);
                rows.next_row(&mut whole)?;
            }
            if let Some((_, group)) = &mut current {
                let row = whole.row(0).split_at(keys).1.first(self.width);
                group.add(self.step, row, run)?;
            }
        }
        match current {
            Some((_, mut last)) => self.put_out(&mut last, output, run),
            None => Ok(()),
        }
    }

    /// The group in memory that rows outside belong to as well; it is put out with these.
    fn begun(&mut self, key: &[u8]) -> Option<Group> {
        // Each key comes here once.
        let number = self.by_key.find(key)? as usize;
        Some(std::mem::replace(&mut self.groups[number], Group::moved()))
    }

    /// Puts a group's row where it belongs among the others.
    fn put_out(&self, group: &mut Group, output: &mut Sorter, run: &mut Run<'_, '_>) -> SqlResult<()> {
        if group.is_moved() {
            return Ok(());
        }
        let mut place = Vec::new();
        if self.step.rollup {
            // Each super-aggregate row behind its group.
            for (at, (value, (mode, column_type))) in group.keys.iter().zip(&self.modes).enumerate() {
                place.push(u8::from(at >= group.kept));
                append_place(*mode, value.as_ref(), column_type, run, &mut place)?;
            }
        } else {
            place.extend_from_slice(&group.first_row.to_be_bytes());
        }
        let row = group.finish(self.step, run)?;
        output.push(&place, RowRef::Values(&row))
    }
}

/// The row over all rows where there are none. Where MySQL knows that before it reads rows, WITH ROLLUP drops no key, but
/// only constants have a value.
fn group_of_nothing(step: &Aggregate, run: &mut Run<'_, '_>) -> SqlResult<Group> {
    let nulls = vec![Value::Null; step.keys.len()];
    if !is_known_to_be_empty(&step.input) {
        return Ok(Group::new(step, nulls, 0, 0));
    }
    let value = |key: &Expression| match key.is_constant() {
        true => key.evaluate(RowRef::EMPTY, run),
        false => Ok(Value::Null),
    };
    let keys = step.keys.iter().map(value).collect::<SqlResult<Vec<Value>>>()?;
    let kept = keys.len();
    Ok(Group::new(step, keys, kept, 0))
}

/// Whether a node without rows is one of which MySQL's optimizer sees that: a condition that never holds, or the row of a
/// unique key that there is not.
fn is_known_to_be_empty(node: &Node) -> bool {
    match node {
        Node::Nothing => true,
        Node::Filter { input, .. } => is_known_to_be_empty(input),
        Node::Table(access) => access.path.single_row,
        _ => false,
    }
}

impl<'p> Aggregation<'p> {
    pub fn new(step: &'p Aggregate) -> Aggregation<'p> {
        Aggregation { step, found: None }
    }

    fn compute(&self, run: &mut Run<'_, '_>) -> SqlResult<Found> {
        if let Some(rows) = super::direct::aggregate(self.step, run)? {
            let groups = Vec::new().into_iter();
            return Ok(Found { rows: rows.into_iter(), groups, sorted: None, _held: None });
        }
        let mut grouping = Grouping::new(self.step, run);
        grouping.read(run)?;
        grouping.finish(run)
    }
}

impl Operator for Aggregation<'_> {
    fn next(&mut self, run: &mut Run<'_, '_>, batch: &mut RowBatch) -> SqlResult<bool> {
        let found = match &mut self.found {
            Some(found) => found,
            None => {
                let found = self.compute(run)?;
                self.found.insert(found)
            }
        };
        let width = self.step.keys.len() + self.step.aggregates.len();
        if let Some(sorted) = &mut found.sorted {
            return sorted.next(width, batch);
        }
        batch.reset(width);
        while !batch.is_full() {
            if let Some(row) = found.rows.next() {
                batch.push_values(row);
            } else if let Some(mut group) = found.groups.next() {
                batch.push_values(group.finish(self.step, run)?);
            } else {
                break;
            }
        }
        Ok(!batch.is_empty())
    }
}
