//! What becomes of a row as it comes in: its place between partitions and peers, and what is computed of it once, whoever reads it
//! later. Main types: [`Entry`], [`Layout`].

use crate::charge::Charge;
use errors::SqlResult;
use expression::operators::ComparisonMode;
use expression::{EvaluationContext, Expression, TypeClass, convert};
use plan::window::{FrameBound, WindowStep};
use spill::Workspace;
use spill::keys::append_place;
use std::rc::Rc;
use values::{RowRef, Rows, Value, ValueRef};

/// Where a kept row has what: the values of the input, then what is computed of them, then whether it begins new peers.
pub(crate) struct Layout<'p> {
    width: usize,
    /// Each with whether text of it becomes a number at once: what is wrong with it is told once, however often it is added.
    computed: Vec<(&'p Expression, bool)>,
}

impl<'p> Layout<'p> {
    pub fn new(step: &'p WindowStep) -> Layout<'p> {
        Layout { width: step.width, computed: Vec::new() }
    }

    /// The slot of an expression's value: its own if it is a column.
    pub fn slot_of(&mut self, expression: &'p Expression) -> usize {
        if let Some(slot) = expression.column_slot() {
            return slot;
        }
        self.computed_slot(expression, false)
    }

    /// The slot of the number that a sum or a variance adds.
    pub fn number_slot_of(&mut self, expression: &'p Expression) -> usize {
        match expression.result.class() {
            TypeClass::Text => self.computed_slot(expression, true),
            _ => self.slot_of(expression),
        }
    }

    fn computed_slot(&mut self, expression: &'p Expression, as_number: bool) -> usize {
        let is_it = |known: &(&Expression, bool)| std::ptr::eq(known.0, expression) && known.1 == as_number;
        let at = self.computed.iter().position(is_it).unwrap_or_else(|| {
            self.computed.push((expression, as_number));
            self.computed.len() - 1
        });
        self.width + at
    }

    /// The slot that is true where peers begin. Known once all other slots are.
    pub fn peers_slot(&self) -> usize {
        self.width + self.computed.len()
    }

    /// Values of a kept row.
    pub fn kept_width(&self) -> usize {
        self.peers_slot() + 1
    }
}

/// What a row begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begins {
    /// A partition.
    Partition,
    /// Peers.
    Peers,
    /// Nothing: it is a peer of the row before.
    Nothing,
}

/// Looks at rows as they come.
pub(crate) struct Entry<'p> {
    pub layout: Layout<'p>,
    partition: Vec<(&'p Expression, ComparisonMode)>,
    order: Vec<(&'p Expression, ComparisonMode)>,
    /// Keys of the row before: of its partition and, behind them, of its order.
    key: Vec<u8>,
    partition_bytes: usize,
    /// Of the row that is looked at.
    next_key: Vec<u8>,
    has_rows: bool,
    row: Rows,
    charge: Charge,
}

impl<'p> Entry<'p> {
    pub fn new(step: &'p WindowStep, layout: Layout<'p>, workspace: &Rc<Workspace>) -> Entry<'p> {
        let with_mode =
            |expression: &'p Expression| (expression, ComparisonMode::for_ordering(&expression.result));
        Entry {
            layout,
            partition: step.partition.iter().map(with_mode).collect(),
            order: step.order.iter().map(|key| with_mode(&key.expression)).collect(),
            key: Vec::new(),
            partition_bytes: 0,
            next_key: Vec::new(),
            has_rows: false,
            row: Rows::default(),
            charge: Charge::new(workspace),
        }
    }

    /// Says what a row begins; it is then the one before the next.
    pub fn look_at(&mut self, row: RowRef<'_>, context: &mut dyn EvaluationContext) -> SqlResult<Begins> {
        self.next_key.clear();
        append_keys(&self.partition, row, context, &mut self.next_key)?;
        let partition_bytes = self.next_key.len();
        append_keys(&self.order, row, context, &mut self.next_key)?;
        self.charge.reach(self.next_key.len() + self.key.len())?;
        let is_in_partition =
            self.has_rows && self.key[..self.partition_bytes] == self.next_key[..partition_bytes];
        let begins = match is_in_partition {
            false => Begins::Partition,
            true if self.key == self.next_key => Begins::Nothing,
            true => Begins::Peers,
        };
        std::mem::swap(&mut self.key, &mut self.next_key);
        self.partition_bytes = partition_bytes;
        self.has_rows = true;
        Ok(begins)
    }

    /// The row as it is kept.
    pub fn kept(
        &mut self,
        row: RowRef<'_>,
        begins: Begins,
        context: &mut dyn EvaluationContext,
    ) -> SqlResult<RowRef<'_>> {
        self.row.reset(self.layout.kept_width());
        self.row.push(row.first(self.layout.width));
        for (at, (expression, as_number)) in self.layout.computed.iter().enumerate() {
            let slot = self.layout.width + at;
            let value = expression.operand(row, context)?;
            if !as_number {
                self.row.set(slot, value.as_ref());
                continue;
            }
            let number = convert::to_double(value.as_ref(), &expression.result.column_type, context)?;
            self.row.set(slot, number.map_or(ValueRef::Null, ValueRef::Double));
        }
        let slot = self.layout.peers_slot();
        self.row.set_int(slot, i64::from(begins != Begins::Nothing));
        self.charge.reach(self.row.bytes())?;
        Ok(self.row.row(0))
    }
}

/// Keys of a row: equal bytes for values that are equal, of which none is the start of another.
fn append_keys(
    expressions: &[(&Expression, ComparisonMode)],
    row: RowRef<'_>,
    context: &mut dyn EvaluationContext,
    out: &mut Vec<u8>,
) -> SqlResult<()> {
    for (expression, mode) in expressions {
        let value = expression.operand(row, context)?;
        append_place(*mode, value.as_ref(), &expression.result.column_type, context, out)?;
    }
    Ok(())
}

/// The value of an expression that reads no row.
pub(crate) fn constant(expression: &Expression, context: &mut dyn EvaluationContext) -> SqlResult<Value> {
    expression.evaluate(RowRef::Values(&[]), context)
}

/// The expressions by which a bound finds its row: the order key, and the limit of the row at hand.
pub(crate) fn range_slots<'p>(
    layout: &mut Layout<'p>,
    step: &'p WindowStep,
    bound: &'p FrameBound,
) -> Option<(usize, usize)> {
    let FrameBound::Range(range) = bound else { return None };
    let key = step.order.first()?;
    Some((layout.slot_of(&key.expression), layout.slot_of(&range.limit)))
}
