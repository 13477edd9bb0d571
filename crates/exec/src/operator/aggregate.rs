//! GROUP BY by hashing; groups come out in the order of their first rows. Main type: [`Aggregation`].

use super::aggregate_state::Accumulator;
use super::{Operator, append_key, open};
use crate::batch::RowBatch;
use crate::run::{Run, row_bytes};
use errors::SqlResult;
use expression::operators::ComparisonMode;
use plan::physical::{Aggregate, AggregateKind};
use std::collections::HashMap;
use values::Value;

/// Grouping.
pub struct Aggregation<'p> {
    step: &'p Aggregate,
    rows: Option<std::vec::IntoIter<Vec<Value>>>,
}

struct Group {
    keys: Vec<Value>,
    /// Keys that count; the rest was rolled up.
    kept: usize,
    accumulators: Vec<Accumulator>,
}

impl<'p> Aggregation<'p> {
    pub fn new(step: &'p Aggregate) -> Aggregation<'p> {
        Aggregation { step, rows: None }
    }

    fn compute(&self, run: &mut Run<'_, '_>) -> SqlResult<Vec<Vec<Value>>> {
        let step = self.step;
        // With ROLLUP each row counts in one group per prefix of the keys.
        let levels = if step.rollup { step.keys.len() } else { 0 };
        let mut groups: Vec<Group> = Vec::new();
        let mut by_key: HashMap<Vec<u8>, usize> = HashMap::new();
        let mut input = open(&step.input);
        let mut batch = RowBatch::new();
        let mut key = Vec::new();
        while input.next(run, &mut batch)? {
            for row in batch.iter() {
                let mut keys = Vec::with_capacity(step.keys.len());
                for expression in &step.keys {
                    keys.push(expression.evaluate(row, run)?);
                }
                for dropped in 0..=levels {
                    let kept = keys.len() - dropped;
                    key.clear();
                    key.push(dropped as u8);
                    for (value, expression) in keys[..kept].iter().zip(&step.keys) {
                        let mode = ComparisonMode::for_ordering(&expression.result);
                        append_key(mode, value, &expression.result.column_type, run, &mut key)?;
                    }
                    let number = match by_key.get(key.as_slice()) {
                        Some(number) => *number,
                        None => {
                            run.charge(row_bytes(&keys) + key.len() + 64 * step.aggregates.len() + 64)?;
                            by_key.insert(key.clone(), groups.len());
                            groups.push(self.group(&keys, kept));
                            groups.len() - 1
                        }
                    };
                    for (accumulator, call) in groups[number].accumulators.iter_mut().zip(&step.aggregates) {
                        accumulator.add(call, row, run)?;
                    }
                }
            }
        }
        if step.keys.is_empty() && groups.is_empty() {
            groups.push(self.group(&[], 0));
        }
        if step.rollup {
            self.order_rollup(&mut groups, run);
        }
        let mut rows = Vec::with_capacity(groups.len());
        for mut group in groups {
            let mut row = group.keys;
            for (accumulator, call) in group.accumulators.iter_mut().zip(&step.aggregates) {
                row.push(accumulator.finish(call, run)?);
            }
            rows.push(row);
        }
        Ok(rows)
    }

    fn group(&self, keys: &[Value], kept: usize) -> Group {
        let mut own = keys.to_vec();
        own[kept..].fill(Value::Null);
        let accumulators = self
            .step
            .aggregates
            .iter()
            .map(|call| {
                let mut accumulator = Accumulator::new(call);
                if let AggregateKind::Grouping(key) = call.kind {
                    accumulator.set_constant(Value::Int(i64::from(key >= kept)));
                }
                accumulator
            })
            .collect();
        Group { keys: own, kept, accumulators }
    }

    /// ROLLUP sorts by the keys, each super-aggregate row behind its group.
    fn order_rollup(&self, groups: &mut [Group], run: &mut Run<'_, '_>) {
        let modes: Vec<_> = self
            .step
            .keys
            .iter()
            .map(|key| (ComparisonMode::for_ordering(&key.result), key.result.column_type.clone(), false))
            .collect();
        groups.sort_by(|left, right| {
            for index in 0..modes.len() {
                let rolled_up = (index >= left.kept, index >= right.kept);
                let order = match rolled_up {
                    (false, false) => super::compare_rows(
                        &left.keys[index..=index],
                        &right.keys[index..=index],
                        &modes[index..=index],
                        run,
                    ),
                    (left, right) => left.cmp(&right),
                };
                if order != std::cmp::Ordering::Equal {
                    return order;
                }
            }
            std::cmp::Ordering::Equal
        });
    }
}

impl Operator for Aggregation<'_> {
    fn next(&mut self, run: &mut Run<'_, '_>, batch: &mut RowBatch) -> SqlResult<bool> {
        if self.rows.is_none() {
            let rows = match super::direct::aggregate(self.step, run)? {
                Some(rows) => rows,
                None => self.compute(run)?,
            };
            self.rows = Some(rows.into_iter());
        }
        batch.reset(self.step.keys.len() + self.step.aggregates.len());
        let Some(rows) = &mut self.rows else { return Ok(false) };
        while !batch.is_full() {
            let Some(row) = rows.next() else { break };
            batch.push_values(row);
        }
        Ok(!batch.is_empty())
    }
}
