//! An aggregate over the rows of a frame that moves. Main type: [`Total`].
//!
//! Exact sums and counts take rows in and out. A sum of floating point numbers, and a variance, depend on the order of the numbers: over a
//! frame whose start moves they are computed anew over its numbers, in the order of the rows, as MySQL does. The least or greatest
//! value of such a frame is the first of a queue in which each is better than all behind it.

use crate::charge::Charge;
use crate::totals::{Moments, exact_result};
use errors::{SqlResult, sql_error};
use expression::operators::{AggregatedBytes, ComparisonMode, bytes_of_nothing, compare_values};
use expression::{EvaluationContext, Expression, TypeClass, convert};
use plan::physical::AggregateKind;
use plan::window::{WindowCall, WindowFunction};
use spill::Workspace;
use std::cmp::Ordering;
use std::collections::VecDeque;
use std::rc::Rc;
use values::{Decimal, Value, ValueRef};

/// Numbers that are added up before the next look for KILL.
const ADDED_AT_ONCE: usize = 1 << 14;

pub(crate) struct Total<'p> {
    kind: AggregateKind,
    call: &'p WindowCall,
    state: State,
    /// Bytes of the values in a queue.
    bytes: usize,
    charge: Charge,
}

enum State {
    /// COUNT, and COUNT(*), which counts its rows.
    Count(u64),
    Integer {
        sum: i128,
        count: u64,
    },
    Exact {
        sum: Decimal,
        count: u64,
    },
    /// Of a frame that only grows.
    Double {
        sum: f64,
        count: u64,
    },
    Moments(Moments),
    Best(Value),
    Bits(u64),
    /// Of a frame whose start moves.
    Numbers(VecDeque<f64>),
    Queue(VecDeque<Candidate>),
    BitCounts {
        ones: Box<[u64; 64]>,
        count: u64,
    },
    /// Of any frame, over binary strings.
    Bytes(AggregatedBytes),
}

/// A value that is the best of the frame once the rows before it have left.
struct Candidate {
    value: Value,
    /// The last row that has it.
    row: u64,
}

impl<'p> Total<'p> {
    /// Over no row. `grows`: no row will leave.
    pub fn new(call: &'p WindowCall, grows: bool, workspace: &Rc<Workspace>) -> Option<Total<'p>> {
        let WindowFunction::Aggregate(kind) = call.function else { return None };
        let state = State::new(call, kind, grows)?;
        Some(Total { kind, call, state, bytes: 0, charge: Charge::new(workspace) })
    }

    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.bytes = 0;
        match &mut self.state {
            State::Count(count) => *count = 0,
            State::Integer { sum, count } => (*sum, *count) = (0, 0),
            State::Exact { sum, count } => (*sum, *count) = (Decimal::ZERO, 0),
            State::Double { sum, count } => (*sum, *count) = (0.0, 0),
            State::Moments(moments) => *moments = Moments::default(),
            State::Best(best) => *best = Value::Null,
            State::Bits(bits) => *bits = no_bits(self.kind),
            State::Numbers(numbers) => numbers.clear(),
            State::Queue(queue) => queue.clear(),
            State::BitCounts { ones, count } => {
                ones.fill(0);
                *count = 0;
            }
            State::Bytes(aggregated) => *aggregated = AggregatedBytes::default(),
        }
    }

    /// Adds the row of that number, of which the argument has that value.
    pub fn add(
        &mut self,
        row: u64,
        value: ValueRef<'_>,
        context: &mut dyn EvaluationContext,
    ) -> SqlResult<()> {
        let Some(argument) = self.call.arguments.first() else {
            // COUNT(*).
            if let State::Count(count) = &mut self.state {
                *count += 1;
            }
            return Ok(());
        };
        if value.is_null() {
            return Ok(());
        }
        let column_type = &argument.result.column_type;
        match &mut self.state {
            State::Count(count) => *count += 1,
            State::Integer { sum, count } => {
                *sum += integer(value, argument, context)?;
                *count += 1;
            }
            State::Exact { sum, count } => {
                if let Some(number) = convert::to_decimal(value, column_type, context)? {
                    *sum = sum.add(&number).map_err(|_| out_of_range())?;
                    *count += 1;
                }
            }
            State::Double { sum, count } => {
                *sum += convert::to_double(value, column_type, context)?.unwrap_or(0.0);
                *count += 1;
            }
            State::Moments(moments) => {
                moments.add(convert::to_double(value, column_type, context)?.unwrap_or(0.0));
            }
            State::Bits(bits) => {
                let number = bits_of(value, argument, context)?;
                match self.kind {
                    AggregateKind::BitAnd => *bits &= number,
                    AggregateKind::BitOr => *bits |= number,
                    _ => *bits ^= number,
                }
            }
            State::BitCounts { ones, count } => {
                let number = bits_of(value, argument, context)?;
                ones.iter_mut().enumerate().for_each(|(bit, ones)| *ones += number >> bit & 1);
                *count += 1;
            }
            State::Bytes(aggregated) => {
                if let ValueRef::Bytes(bytes) = value {
                    aggregated.add(bytes)?;
                }
            }
            State::Numbers(numbers) => {
                numbers.push_back(convert::to_double(value, column_type, context)?.unwrap_or(0.0));
                self.charge.reach(numbers.len() * size_of::<f64>())?;
            }
            State::Best(best) => {
                if best.as_ref().is_null() || is_better(self.kind, argument, value, best, context)? {
                    value.copy_into(best);
                    self.charge.reach(best.as_ref().long_bytes())?;
                }
            }
            State::Queue(_) => self.stand_in_queue(row, value, argument, context)?,
        }
        Ok(())
    }

    fn stand_in_queue(
        &mut self,
        row: u64,
        value: ValueRef<'_>,
        argument: &Expression,
        context: &mut dyn EvaluationContext,
    ) -> SqlResult<()> {
        let State::Queue(queue) = &mut self.state else { return Ok(()) };
        while let Some(last) = queue.back_mut() {
            if last.value.as_ref() == value {
                last.row = row;
                return Ok(());
            }
            if !is_better(self.kind, argument, value, &last.value, context)? {
                break;
            }
            self.bytes -= last.value.as_ref().long_bytes();
            queue.pop_back();
        }
        self.bytes += value.long_bytes();
        queue.push_back(Candidate { value: value.to_value(), row });
        self.charge.reach(self.bytes + queue.len() * size_of::<Candidate>())
    }

    /// Takes out the row of that number, the first of those that were added.
    pub fn remove(
        &mut self,
        row: u64,
        value: ValueRef<'_>,
        context: &mut dyn EvaluationContext,
    ) -> SqlResult<()> {
        let Some(argument) = self.call.arguments.first() else {
            if let State::Count(count) = &mut self.state {
                *count -= 1;
            }
            return Ok(());
        };
        if value.is_null() {
            return Ok(());
        }
        match &mut self.state {
            State::Count(count) => *count -= 1,
            State::Integer { sum, count } => {
                *sum -= integer(value, argument, context)?;
                *count -= 1;
            }
            State::Exact { sum, count } => {
                if let Some(number) = convert::to_decimal(value, &argument.result.column_type, context)? {
                    *sum = sum.subtract(&number).map_err(|_| out_of_range())?;
                    *count -= 1;
                }
            }
            State::BitCounts { ones, count } => {
                let number = bits_of(value, argument, context)?;
                ones.iter_mut().enumerate().for_each(|(bit, ones)| *ones -= number >> bit & 1);
                *count -= 1;
            }
            State::Bytes(aggregated) => {
                if let ValueRef::Bytes(bytes) = value {
                    aggregated.remove(bytes);
                }
            }
            State::Numbers(numbers) => {
                numbers.pop_front();
            }
            State::Queue(queue) => {
                if queue.front().is_some_and(|first| first.row <= row)
                    && let Some(first) = queue.pop_front()
                {
                    self.bytes -= first.value.as_ref().long_bytes();
                }
            }
            State::Double { .. } | State::Moments(_) | State::Best(_) | State::Bits(_) => {
                debug_assert!(false, "no row leaves a frame that only grows");
            }
        }
        Ok(())
    }

    /// Over no row.
    pub fn of_nothing(&self) -> Value {
        match self.kind {
            AggregateKind::CountRows | AggregateKind::Count => Value::Int(0),
            AggregateKind::BitAnd | AggregateKind::BitOr | AggregateKind::BitXor
                if self.call.result.class() == TypeClass::Text =>
            {
                bytes_of_nothing(self.kind.bit_operator(), &self.call.result)
            }
            AggregateKind::BitAnd | AggregateKind::BitOr | AggregateKind::BitXor => {
                Value::UInt(no_bits(self.kind))
            }
            _ => Value::Null,
        }
    }

    /// Over the rows that were added and not removed.
    pub fn value(&self, context: &mut dyn EvaluationContext) -> SqlResult<Value> {
        let of_exact = |sum: &Decimal, count: u64| {
            exact_result(self.kind, &self.call.result, self.call.arguments.first(), sum, count)
        };
        let of_double = |sum: f64, count: u64| match self.kind {
            AggregateKind::Average => Value::Double(sum / count as f64),
            _ => Value::Double(sum),
        };
        Ok(match &self.state {
            State::Count(count) => Value::Int((*count).cast_signed()),
            State::Integer { count: 0, .. }
            | State::Exact { count: 0, .. }
            | State::Double { count: 0, .. } => Value::Null,
            State::Integer { sum, count } => of_exact(&convert::decimal_of_integer(*sum), *count),
            State::Exact { sum, count } => of_exact(sum, *count),
            State::Double { sum, count } => of_double(*sum, *count),
            State::Moments(moments) => moments.variance(self.kind),
            State::Best(best) => self.shown(best),
            State::Queue(queue) => queue.front().map_or(Value::Null, |first| self.shown(&first.value)),
            State::Bits(bits) => Value::UInt(*bits),
            State::BitCounts { ones, count } => Value::UInt(self.counted_bits(ones, *count)),
            State::Bytes(aggregated) => aggregated.value(self.kind.bit_operator(), &self.call.result),
            State::Numbers(numbers) if numbers.is_empty() => Value::Null,
            State::Numbers(numbers) => match self.kind {
                AggregateKind::Variance { .. } => {
                    let mut moments = Moments::default();
                    for_all(numbers, context, |number| moments.add(number))?;
                    moments.variance(self.kind)
                }
                _ => {
                    let mut sum = 0.0;
                    for_all(numbers, context, |number| sum += number)?;
                    of_double(sum, numbers.len() as u64)
                }
            },
        })
    }

    fn shown(&self, best: &Value) -> Value {
        match best {
            Value::Decimal(exact) => Value::Decimal(exact.shown_with(self.call.result.scale())),
            best => best.clone(),
        }
    }

    fn counted_bits(&self, ones: &[u64; 64], count: u64) -> u64 {
        let is_set = |ones: u64| match self.kind {
            AggregateKind::BitAnd => ones == count,
            AggregateKind::BitOr => ones > 0,
            _ => ones & 1 == 1,
        };
        ones.iter().enumerate().map(|(bit, ones)| u64::from(is_set(*ones)) << bit).sum()
    }
}

impl State {
    fn new(call: &WindowCall, kind: AggregateKind, grows: bool) -> Option<State> {
        let class = call.arguments.first().map(|argument| argument.result.class());
        Some(match kind {
            AggregateKind::CountRows | AggregateKind::Count => State::Count(0),
            AggregateKind::Sum | AggregateKind::Average => match (call.result.class(), class) {
                (TypeClass::Double, _) if grows => State::Double { sum: 0.0, count: 0 },
                (TypeClass::Double, _) => State::Numbers(VecDeque::new()),
                (_, Some(TypeClass::Integer)) => State::Integer { sum: 0, count: 0 },
                _ => State::Exact { sum: Decimal::ZERO, count: 0 },
            },
            AggregateKind::Minimum | AggregateKind::Maximum if grows => State::Best(Value::Null),
            AggregateKind::Minimum | AggregateKind::Maximum => State::Queue(VecDeque::new()),
            AggregateKind::BitAnd | AggregateKind::BitOr | AggregateKind::BitXor
                if call.result.class() == TypeClass::Text =>
            {
                State::Bytes(AggregatedBytes::default())
            }
            AggregateKind::BitAnd | AggregateKind::BitOr | AggregateKind::BitXor if grows => {
                State::Bits(no_bits(kind))
            }
            AggregateKind::BitAnd | AggregateKind::BitOr | AggregateKind::BitXor => {
                State::BitCounts { ones: Box::new([0; 64]), count: 0 }
            }
            AggregateKind::Variance { .. } if grows => State::Moments(Moments::default()),
            AggregateKind::Variance { .. } => State::Numbers(VecDeque::new()),
            AggregateKind::GroupConcat | AggregateKind::JsonArray { .. } | AggregateKind::JsonObject => {
                return None;
            }
            AggregateKind::First | AggregateKind::Grouping(_) => return None,
        })
    }
}

/// What bit functions give for no row.
fn no_bits(kind: AggregateKind) -> u64 {
    if kind == AggregateKind::BitAnd { u64::MAX } else { 0 }
}

fn integer(
    value: ValueRef<'_>,
    argument: &Expression,
    context: &mut dyn EvaluationContext,
) -> SqlResult<i128> {
    Ok(match value {
        ValueRef::Int(number) => i128::from(number),
        ValueRef::UInt(number) => i128::from(number),
        _ => convert::to_integer(value, &argument.result.column_type, context)?.unwrap_or(0),
    })
}

fn bits_of(
    value: ValueRef<'_>,
    argument: &Expression,
    context: &mut dyn EvaluationContext,
) -> SqlResult<u64> {
    let number = convert::to_integer(value, &argument.result.column_type, context)?;
    Ok(number.map_or(0, convert::integer_bits))
}

fn is_better(
    kind: AggregateKind,
    argument: &Expression,
    value: ValueRef<'_>,
    than: &Value,
    context: &mut dyn EvaluationContext,
) -> SqlResult<bool> {
    let wanted = if kind == AggregateKind::Minimum { Ordering::Less } else { Ordering::Greater };
    if let (ValueRef::Int(left), Value::Int(right)) = (value, than) {
        return Ok(left.cmp(right) == wanted);
    }
    let mode = ComparisonMode::of_one_type(&argument.result);
    let column_type = &argument.result.column_type;
    let order = compare_values(mode, value, column_type, than.as_ref(), column_type, context)?;
    Ok(order == Some(wanted))
}

fn for_all(
    numbers: &VecDeque<f64>,
    context: &dyn EvaluationContext,
    mut take: impl FnMut(f64),
) -> SqlResult<()> {
    let (first, second) = numbers.as_slices();
    for part in first.chunks(ADDED_AT_ONCE).chain(second.chunks(ADDED_AT_ONCE)) {
        part.iter().for_each(|number| take(*number));
        if part.len() == ADDED_AT_ONCE {
            context.check_killed()?;
        }
    }
    Ok(())
}

fn out_of_range() -> errors::SqlError {
    sql_error!(ER_DATA_OUT_OF_RANGE, "DECIMAL", "sum()")
}
