//! GROUP BY by hashing; groups come out in the order of their first rows, super-aggregate rows behind their groups. When the
//! groups outgrow their share of memory no new ones are made: rows that belong to none are sorted by group on disk and
//! aggregated one group after the other. Main type: [`Aggregation`].

use super::aggregate_state::{Accumulator, grows};
use super::{Operator, append_key, append_sort_key, open};
use crate::batch::{RowBatch, long_bytes};
use crate::run::{Run, row_bytes};
use crate::spill::{Held, LongHeld, Sorted, Sorter};
use errors::SqlResult;
use expression::operators::ComparisonMode;
use expression::{EvaluationContext, Expression};
use plan::physical::{Aggregate, AggregateKind, Node};
use std::collections::HashMap;
use values::{ColumnType, Value};

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

struct Group {
    keys: Vec<Value>,
    /// Keys that count; the rest was rolled up.
    kept: usize,
    /// The number of its first row.
    first_row: u64,
    accumulators: Vec<Accumulator>,
}

/// Groups while rows come in.
struct Grouping<'p> {
    step: &'p Aggregate,
    modes: Vec<(ComparisonMode, ColumnType)>,
    groups: Vec<Group>,
    by_key: HashMap<Vec<u8>, usize>,
    held: Held,
    /// What others held when the first row came.
    held_before: Option<u64>,
    /// Rows of groups that are not in memory, by group: keys of the row, the row, its number.
    outside: Option<Sorter>,
    /// Values in an input row.
    width: usize,
    rows: u64,
    /// Room for a key.
    key: Vec<u8>,
}

impl<'p> Grouping<'p> {
    fn new(step: &'p Aggregate, run: &Run<'_, '_>) -> Grouping<'p> {
        let mode = |key: &expression::Expression| {
            (ComparisonMode::for_ordering(&key.result), key.result.column_type.clone())
        };
        Grouping {
            step,
            modes: step.keys.iter().map(mode).collect(),
            groups: Vec::new(),
            by_key: HashMap::new(),
            held: run.hold(),
            held_before: None,
            outside: None,
            width: 0,
            rows: 0,
            key: Vec::new(),
        }
    }

    /// Reads all rows, and sorts them by the keys if the step does so.
    fn read(&mut self, run: &mut Run<'_, '_>) -> SqlResult<()> {
        let step = self.step;
        let mut input = open(&step.input);
        let mut batch = run.batch();
        let mut keys = Vec::with_capacity(step.keys.len());
        let mut held = LongHeld::default();
        let settings = &run.statement.settings;
        let mut sorter =
            step.sorts.then(|| Sorter::new(run.workspace().clone(), settings.kept_bytes_max, None));
        while input.next(run, &mut batch)? {
            run.check_killed()?;
            self.width = batch.row(0).len();
            self.held_before.get_or_insert_with(|| run.workspace().held_bytes());
            for row in batch.iter() {
                keys.clear();
                let mut bytes = 0;
                for expression in &step.keys {
                    let key = expression.evaluate(row, run)?;
                    bytes += long_bytes(std::slice::from_ref(&key));
                    held.reach(bytes, || run.workspace().clone())?;
                    keys.push(key);
                }
                match &mut sorter {
                    Some(sorter) => self.put_in_order(&keys, row, sorter, run)?,
                    None => self.add(&keys, row, run)?,
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
        &self,
        keys: &[Value],
        row: &[Value],
        sorter: &mut Sorter,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<()> {
        let mut place = Vec::new();
        for (value, (mode, column_type)) in keys.iter().zip(&self.modes) {
            append_sort_key(*mode, value, column_type, false, run, &mut place)?;
        }
        place.extend_from_slice(&self.rows.to_be_bytes());
        sorter.push(&place, &[keys, row].concat())
    }

    fn add_sorted(&mut self, mut rows: Sorted, run: &mut Run<'_, '_>) -> SqlResult<()> {
        let count = self.step.keys.len();
        let mut whole = vec![Value::Null; count + self.width];
        self.rows = 0;
        while rows.next_row(&mut whole)? {
            run.check_killed()?;
            let (keys, row) = whole.split_at(count);
            self.add(keys, row, run)?;
            self.rows += 1;
        }
        Ok(())
    }

    /// Adds a row to its groups: with ROLLUP it counts in one group for each prefix of the keys.
    fn add(&mut self, keys: &[Value], row: &[Value], run: &mut Run<'_, '_>) -> SqlResult<()> {
        let levels = if self.step.rollup { self.step.keys.len() } else { 0 };
        let mut key = std::mem::take(&mut self.key);
        let groups_before = self.groups.len();
        for dropped in 0..=levels {
            let kept = keys.len() - dropped;
            key.clear();
            key.push(dropped as u8);
            for (value, (mode, column_type)) in keys[..kept].iter().zip(&self.modes) {
                append_key(*mode, value, column_type, run, &mut key)?;
            }
            match self.find(&key, keys, kept, run)? {
                Some(number) => {
                    // Of equal keys, a super-aggregate row shows those that its last group shows.
                    if self.step.sorts && dropped > 0 && self.groups.len() > groups_before {
                        self.groups[number].keys[..kept].clone_from_slice(&keys[..kept]);
                    }
                    let accumulators = &mut self.groups[number].accumulators;
                    for (accumulator, call) in accumulators.iter_mut().zip(&self.step.aggregates) {
                        accumulator.add(call, row, run)?;
                    }
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
        key: &Vec<u8>,
        keys: &[Value],
        kept: usize,
        run: &Run<'_, '_>,
    ) -> SqlResult<Option<usize>> {
        // Groups that grow with their rows stand still once rows are outside, and go on when their turn comes.
        if self.outside.is_some() && self.step.aggregates.iter().any(grows) {
            return Ok(None);
        }
        if let Some(number) = self.by_key.get(key) {
            return Ok(Some(*number));
        }
        if self.outside.is_some() {
            return Ok(None);
        }
        let bytes = row_bytes(keys) + key.len() + AGGREGATE_BYTES * self.step.aggregates.len() + GROUP_BYTES;
        if !self.step.keys.is_empty() && !self.has_room(bytes as u64, run) {
            let settings = &run.statement.settings;
            self.outside = Some(Sorter::new(run.workspace().clone(), settings.kept_bytes_max, None));
            run.workspace().count(|counts| counts.disk_tables += 1);
            return Ok(None);
        }
        self.held.grow_anyway(bytes as u64);
        self.by_key.insert(key.clone(), self.groups.len());
        self.groups.push(group(self.step, keys, kept, self.rows));
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

    fn put_outside(&mut self, key: &[u8], keys: &[Value], row: &[Value]) -> SqlResult<()> {
        let Some(outside) = &mut self.outside else { return Ok(()) };
        let mut whole = Vec::with_capacity(keys.len() + row.len() + 1);
        whole.extend_from_slice(keys);
        whole.extend_from_slice(row);
        whole.push(Value::UInt(self.rows));
        outside.push(key, &whole)
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
        let mut whole = vec![Value::Null; keys + self.width + 1];
        let mut current: Option<(Vec<u8>, Group)> = None;
        while let Some(key) = rows.key() {
            if current.as_ref().is_none_or(|(known, _)| known != key) {
                let key = key.to_vec();
                if let Some((_, mut ended)) = current.take() {
                    self.put_out(&mut ended, output, run)?;
                }
                rows.next_row(&mut whole)?;
                let kept = keys - usize::from(key.first().copied().unwrap_or(0));
                let first_row = match whole[keys + self.width] {
                    Value::UInt(number) => number,
                    _ => 0,
                };
                let group =
                    self.begun(&key).unwrap_or_else(|| group(self.step, &whole[..keys], kept, first_row));
                current = Some((key, group));
            } else {
                rows.next_row(&mut whole)?;
            }
            if let Some((_, group)) = &mut current {
                for (accumulator, call) in group.accumulators.iter_mut().zip(&self.step.aggregates) {
                    accumulator.add(call, &whole[keys..keys + self.width], run)?;
                }
            }
        }
        match current {
            Some((_, mut last)) => self.put_out(&mut last, output, run),
            None => Ok(()),
        }
    }

    /// The group in memory that rows outside belong to as well; it is put out with these.
    fn begun(&mut self, key: &[u8]) -> Option<Group> {
        let number = self.by_key.remove(key)?;
        let empty = Group { keys: Vec::new(), kept: 0, first_row: 0, accumulators: Vec::new() };
        Some(std::mem::replace(&mut self.groups[number], empty))
    }

    /// Puts a group's row where it belongs among the others.
    fn put_out(&self, group: &mut Group, output: &mut Sorter, run: &mut Run<'_, '_>) -> SqlResult<()> {
        if group.accumulators.is_empty() && group.keys.is_empty() {
            return Ok(());
        }
        let mut place = Vec::new();
        if self.step.rollup {
            // Each super-aggregate row behind its group.
            for (at, (value, (mode, column_type))) in group.keys.iter().zip(&self.modes).enumerate() {
                place.push(u8::from(at >= group.kept));
                append_sort_key(*mode, value, column_type, false, run, &mut place)?;
            }
        } else {
            place.extend_from_slice(&group.first_row.to_be_bytes());
        }
        let row = finished(group, self.step, run)?;
        output.push(&place, &row)
    }
}

fn group(step: &Aggregate, keys: &[Value], kept: usize, first_row: u64) -> Group {
    let mut own = keys.to_vec();
    own[kept..].fill(Value::Null);
    let accumulator = |call: &plan::physical::AggregateCall| {
        let mut accumulator = Accumulator::new(call);
        if let AggregateKind::Grouping(key) = call.kind {
            accumulator.set_constant(Value::Int(i64::from(key >= kept)));
        }
        accumulator
    };
    Group { keys: own, kept, first_row, accumulators: step.aggregates.iter().map(accumulator).collect() }
}

/// The row over all rows where there are none. Where MySQL knows that before it reads rows, WITH ROLLUP drops no key, but
/// only constants have a value.
fn group_of_nothing(step: &Aggregate, run: &mut Run<'_, '_>) -> SqlResult<Group> {
    let nulls = vec![Value::Null; step.keys.len()];
    if !is_known_to_be_empty(&step.input) {
        return Ok(group(step, &nulls, 0, 0));
    }
    let value = |key: &Expression| match key.is_constant() {
        true => key.evaluate(&[], run),
        false => Ok(Value::Null),
    };
    let keys = step.keys.iter().map(value).collect::<SqlResult<Vec<Value>>>()?;
    Ok(group(step, &keys, keys.len(), 0))
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

fn finished(group: &mut Group, step: &Aggregate, run: &mut Run<'_, '_>) -> SqlResult<Vec<Value>> {
    let mut row = std::mem::take(&mut group.keys);
    for (accumulator, call) in group.accumulators.iter_mut().zip(&step.aggregates) {
        row.push(accumulator.finish(call, run)?);
    }
    Ok(row)
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
                batch.push_values(finished(&mut group, self.step, run)?);
            } else {
                break;
            }
        }
        Ok(!batch.is_empty())
    }
}
