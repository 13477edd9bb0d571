//! One group of rows: its keys and the running state of its aggregates. Main type: [`Group`]. For the operators that find groups by
//! hashing ([`super::aggregate`]) and by the order of the rows ([`super::group_order`]).

use super::aggregate_state::Accumulator;
use crate::run::Run;
use errors::SqlResult;
use plan::physical::{Aggregate, AggregateCall, AggregateKind};
use values::{RowRef, Value};

/// A group.
pub struct Group {
    /// Its keys, as its first row has them; NULL for those that were rolled up.
    pub keys: Vec<Value>,
    /// Keys that count; the rest was rolled up.
    pub kept: usize,
    /// The number of its first row.
    pub first_row: u64,
    accumulators: Vec<Accumulator>,
}

impl Group {
    /// A group without rows.
    pub fn new(step: &Aggregate, mut keys: Vec<Value>, kept: usize, first_row: u64) -> Group {
        keys[kept..].fill(Value::Null);
        let accumulator = |call: &AggregateCall| {
            let mut accumulator = Accumulator::new(call);
            if let AggregateKind::Grouping(key) = call.kind {
                accumulator.set_constant(Value::Int(i64::from(key >= kept)));
            }
            accumulator
        };
        let accumulators = step.aggregates.iter().map(accumulator).collect();
        Group { keys, kept, first_row, accumulators }
    }

    /// What stands in the place of a group that was moved elsewhere.
    pub fn moved() -> Group {
        Group { keys: Vec::new(), kept: 0, first_row: 0, accumulators: Vec::new() }
    }

    /// Whether it stands in the place of a group that was moved.
    pub fn is_moved(&self) -> bool {
        self.accumulators.is_empty() && self.keys.is_empty()
    }

    /// Adds a row.
    pub fn add(&mut self, step: &Aggregate, row: RowRef<'_>, run: &mut Run<'_, '_>) -> SqlResult<()> {
        for (accumulator, call) in self.accumulators.iter_mut().zip(&step.aggregates) {
            accumulator.add(call, row, run)?;
        }
        Ok(())
    }

    /// Its row: keys, then aggregates.
    pub fn finish(&mut self, step: &Aggregate, run: &mut Run<'_, '_>) -> SqlResult<Vec<Value>> {
        let mut row = std::mem::take(&mut self.keys);
        for (accumulator, call) in self.accumulators.iter_mut().zip(&step.aggregates) {
            row.push(accumulator.finish(call, run)?);
        }
        Ok(row)
    }
}
