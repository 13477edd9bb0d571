//! Window functions that need no later row: rows pass, and nothing of them is kept but what is gathered. Main type:
//! [`StreamedWindows`].

use crate::bounds::count_of;
use crate::charge::Charge;
use crate::entry::{Begins, Entry, Layout, constant};
use crate::numbers::Peers;
use crate::total::Total;
use crate::values_at::with_scale;
use errors::SqlResult;
use expression::EvaluationContext;
use plan::window::{WindowCall, WindowFunction, WindowStep};
use spill::{RowBatch, Workspace};
use std::collections::VecDeque;
use std::rc::Rc;
use values::{RowRef, Value, ValueRef};

/// Rows that LAG looks back in memory, at most.
const ROWS_BACK_MAX: u64 = 1 << 12;

/// The functions of a step.
pub struct StreamedWindows<'p> {
    step: &'p WindowStep,
    entry: Entry<'p>,
    /// The number of the next row.
    number: u64,
    peers: Peers,
    calls: Vec<Passing<'p>>,
}

/// How a call is computed, over the rows of the partition up to the one at hand.
enum Passing<'p> {
    RowNumber,
    Rank,
    DenseRank,
    /// The value of the row of that number, or of the last one.
    Nth {
        number: u64,
        slot: usize,
        value: Value,
        scale: u8,
        charge: Charge,
    },
    Last {
        slot: usize,
        scale: u8,
    },
    Lag(Back),
    Total {
        total: Box<Total<'p>>,
        slot: Option<usize>,
    },
}

/// The values of the last rows.
struct Back {
    rows: usize,
    slot: usize,
    default: Option<usize>,
    values: VecDeque<Value>,
    bytes: usize,
    scale: u8,
    charge: Charge,
}

impl<'p> StreamedWindows<'p> {
    /// None if a function of the step needs later rows. Errors 1210 for numbers of rows that are none.
    pub fn of(
        step: &'p WindowStep,
        workspace: &Rc<Workspace>,
        context: &mut dyn EvaluationContext,
    ) -> SqlResult<Option<StreamedWindows<'p>>> {
        let may_pass = |call: &WindowCall| step.passes(call) || call.function == WindowFunction::Lag;
        if !step.calls.iter().all(may_pass) {
            return Ok(None);
        }
        let mut layout = Layout::new(step);
        let mut calls = Vec::with_capacity(step.calls.len());
        for call in &step.calls {
            match Passing::of(call, &mut layout, workspace, context)? {
                Some(passing) => calls.push(passing),
                None => return Ok(None),
            }
        }
        let entry = Entry::new(step, layout, workspace);
        Ok(Some(StreamedWindows { step, entry, number: 0, peers: Peers::default(), calls }))
    }

    /// Values of a row that is handed out.
    pub fn width(&self) -> usize {
        self.step.width + self.calls.len()
    }

    /// Takes a row and hands it out with the values of the functions.
    pub fn pass(
        &mut self,
        row: RowRef<'_>,
        context: &mut dyn EvaluationContext,
        batch: &mut RowBatch,
    ) -> SqlResult<()> {
        let begins = self.entry.look_at(row, context)?;
        if begins == Begins::Partition {
            self.number = 0;
            self.peers = Peers::default();
            self.calls.iter_mut().for_each(Passing::restart);
        }
        self.peers.go_on(self.number, begins != Begins::Nothing);
        self.number += 1;
        batch.rows_mut().push(row.first(self.step.width));
        batch.count_last();
        let row = self.entry.kept(row, begins, context)?;
        for (position, call) in self.calls.iter_mut().enumerate() {
            let slot = self.step.width + position;
            match call {
                Passing::RowNumber => batch.rows_mut().set_uint(slot, self.number),
                Passing::Rank => batch.rows_mut().set_uint(slot, self.peers.start + 1),
                Passing::DenseRank => batch.rows_mut().set_uint(slot, self.peers.group),
                Passing::Nth { number, slot: from, value, scale, charge } => {
                    if self.number == *number {
                        *value = row.get(*from).to_value();
                        charge.reach(value.as_ref().long_bytes())?;
                    }
                    show(batch, slot, value.as_ref(), *scale);
                }
                Passing::Last { slot: from, scale } => show(batch, slot, row.get(*from), *scale),
                Passing::Lag(back) => back.pass(row, batch, slot)?,
                Passing::Total { total, slot: from } => {
                    let value = from.map_or(ValueRef::Null, |from| row.get(from));
                    total.add(self.number, value, context)?;
                    batch.rows_mut().set_value(slot, total.value(context)?);
                }
            }
        }
        Ok(())
    }
}

impl<'p> Passing<'p> {
    fn of(
        call: &'p WindowCall,
        layout: &mut Layout<'p>,
        workspace: &Rc<Workspace>,
        context: &mut dyn EvaluationContext,
    ) -> SqlResult<Option<Passing<'p>>> {
        let (name, scale) = (call.function.name(), call.result.scale());
        let adds = call.adds_doubles();
        let mut slot_at = |at: usize| {
            let argument = call.arguments.get(at)?;
            Some(if adds { layout.number_slot_of(argument) } else { layout.slot_of(argument) })
        };
        let nth = |number, slot| Passing::Nth {
            number,
            slot,
            value: Value::Null,
            scale,
            charge: Charge::new(workspace),
        };
        Ok(Some(match call.function {
            WindowFunction::RowNumber => Passing::RowNumber,
            WindowFunction::Rank => Passing::Rank,
            WindowFunction::DenseRank => Passing::DenseRank,
            WindowFunction::Aggregate(_) => {
                let slot = slot_at(0);
                let Some(total) = Total::new(call, true, workspace) else { return Ok(None) };
                Passing::Total { total: Box::new(total), slot }
            }
            WindowFunction::FirstValue => match slot_at(0) {
                Some(slot) => nth(1, slot),
                None => return Ok(None),
            },
            WindowFunction::LastValue => match slot_at(0) {
                Some(slot) => Passing::Last { slot, scale },
                None => return Ok(None),
            },
            WindowFunction::NthValue | WindowFunction::Lag => {
                let number = call.arguments.get(1).map(|number| constant(number, context)).transpose()?;
                let (Some(slot), Some(number)) = (slot_at(0), number.or(Some(Value::Int(1)))) else {
                    return Ok(None);
                };
                let is_lag = call.function == WindowFunction::Lag;
                if !is_lag && number == Value::Null {
                    // Of no row.
                    return Ok(Some(nth(0, slot)));
                }
                let number = count_of(name, &number)?;
                match is_lag {
                    true if number > ROWS_BACK_MAX => return Ok(None),
                    true => Passing::Lag(Back {
                        rows: number as usize,
                        slot,
                        default: slot_at(2),
                        values: VecDeque::new(),
                        bytes: 0,
                        scale,
                        charge: Charge::new(workspace),
                    }),
                    false if number == 0 => return count_of(name, &Value::Null).map(|_| None),
                    false => nth(number, slot),
                }
            }
            _ => return Ok(None),
        }))
    }

    /// Forgets the rows before, which are of another partition.
    fn restart(&mut self) {
        match self {
            Passing::Nth { value, .. } => *value = Value::Null,
            Passing::Lag(back) => {
                back.values.clear();
                back.bytes = 0;
            }
            Passing::Total { total, .. } => total.clear(),
            Passing::RowNumber | Passing::Rank | Passing::DenseRank | Passing::Last { .. } => {}
        }
    }
}

impl Back {
    /// Shows the value of the row so many rows before the one at hand, whose value waits for its turn.
    fn pass(&mut self, row: RowRef<'_>, batch: &mut RowBatch, slot: usize) -> SqlResult<()> {
        let own = row.get(self.slot).to_value();
        self.bytes += own.as_ref().long_bytes();
        self.values.push_back(own);
        self.charge.reach(self.bytes + self.values.len() * size_of::<Value>())?;
        if self.values.len() <= self.rows {
            let default = self.default.map_or(ValueRef::Null, |default| row.get(default));
            show(batch, slot, default, self.scale);
        } else if let Some(value) = self.values.pop_front() {
            self.bytes -= value.as_ref().long_bytes();
            show(batch, slot, value.as_ref(), self.scale);
        }
        Ok(())
    }
}

/// Puts a value of another row into the last row of the batch.
fn show(batch: &mut RowBatch, slot: usize, value: ValueRef<'_>, scale: u8) {
    match with_scale(value, scale) {
        Some(exact) => batch.rows_mut().set_decimal(slot, exact),
        None => batch.set(slot, value),
    }
    batch.count_bytes(value.long_bytes());
}
