//! Running aggregates over stored rows, one of each group. Main type: [`DirectTotal`].

use super::column::{StoredColumn, layout};
use crate::operator::aggregate_state::exact_result;
use expression::convert;
use plan::physical::{AggregateCall, AggregateKind, TableAccess};
use values::row::{Form, IntegerColumn, RowView};
use values::{Decimal, Value};

/// What of a row an aggregate takes in.
#[derive(Clone, Debug)]
pub enum DirectTotal<'p> {
    /// COUNT(*).
    Rows,
    /// COUNT of a column.
    NotNull(usize),
    /// SUM or AVG of a column of integers or of exact numbers, with so many digits after the point.
    Sum(IntegerColumn, u8),
    /// MIN or MAX of a column whose packed integers order as its values.
    Packed {
        /// The column.
        column: StoredColumn<'p>,
        /// Its form.
        form: Form,
        /// MAX.
        greatest: bool,
    },
    /// MIN or MAX of text or bytes.
    Text {
        /// The column.
        column: StoredColumn<'p>,
        /// MAX.
        greatest: bool,
    },
}

/// The state of one aggregate in one group.
#[derive(Clone, Debug, Default)]
pub struct TotalState {
    count: u64,
    sum: i128,
    best: i64,
    text: Vec<u8>,
    sort_key: Vec<u8>,
}

impl<'p> DirectTotal<'p> {
    /// The form of an aggregate, if its argument can be read from the rows of that access.
    pub fn of(access: &'p TableAccess, call: &AggregateCall) -> Option<DirectTotal<'p>> {
        use AggregateKind::{Average, Count, CountRows, Maximum, Minimum, Sum};
        if call.distinct {
            return None;
        }
        if call.kind == CountRows {
            return Some(DirectTotal::Rows);
        }
        let [argument] = &call.arguments[..] else { return None };
        let column = StoredColumn::of(access, argument)?;
        let greatest = call.kind == Maximum;
        match call.kind {
            Count => Some(DirectTotal::NotNull(column.position)),
            Sum | Average => {
                column.exact(layout(access)).map(|(reader, scale)| DirectTotal::Sum(reader, scale))
            }
            Minimum | Maximum if column.is_packed() => {
                let form = layout(access).form(column.position);
                Some(DirectTotal::Packed { column, form, greatest })
            }
            Minimum | Maximum if Form::of(column.column_type) == Form::Bytes => {
                Some(DirectTotal::Text { column, greatest })
            }
            _ => None,
        }
    }

    /// Takes in a row `times` times. Returns by how many bytes what the state keeps beside itself has grown.
    #[inline]
    pub fn add(&self, state: &mut TotalState, row: &[u8], view: &RowView<'_>, times: u32) -> usize {
        match self {
            DirectTotal::Rows => state.count += u64::from(times),
            DirectTotal::NotNull(position) => {
                state.count += if view.is_null(*position) { 0 } else { u64::from(times) };
            }
            DirectTotal::Sum(column, _) => {
                if let Some(number) = column.read(row) {
                    state.sum += i128::from(number) * i128::from(times);
                    state.count += u64::from(times);
                }
            }
            DirectTotal::Packed { column, form, greatest } => {
                let Some(raw) = view.raw(column.position) else { return 0 };
                let number = form.integer(raw);
                let better = if *greatest { number > state.best } else { number < state.best };
                if better || state.count == 0 {
                    state.best = number;
                    state.text.clear();
                    state.text.extend_from_slice(raw);
                }
                state.count += 1;
            }
            DirectTotal::Text { column, greatest } => {
                let Some(text) = view.raw(column.position) else { return 0 };
                let before = state.kept_bytes();
                state.add_text(column, text, *greatest);
                return state.kept_bytes() - before;
            }
        }
        0
    }

    /// The value for the group.
    pub fn finish(&self, state: TotalState, call: &AggregateCall) -> Value {
        match self {
            DirectTotal::Rows | DirectTotal::NotNull(_) => Value::Int(state.count as i64),
            _ if state.count == 0 => Value::Null,
            DirectTotal::Sum(_, 0) => {
                exact_result(call, &convert::decimal_of_integer(state.sum), state.count)
            }
            DirectTotal::Sum(_, scale) => Decimal::from_i128(state.sum, *scale)
                .map_or(Value::Null, |sum| exact_result(call, &sum, state.count)),
            DirectTotal::Packed { form, .. } => form.value(&state.text),
            DirectTotal::Text { .. } => Value::Bytes(state.text),
        }
    }
}

impl TotalState {
    /// Bytes that it keeps beside itself. They grow only.
    #[inline]
    pub fn kept_bytes(&self) -> usize {
        self.text.capacity() + self.sort_key.capacity()
    }

    /// Keeps the least or greatest text in its column's order; of equal ones the first.
    fn add_text(&mut self, column: &StoredColumn<'_>, text: &[u8], greatest: bool) {
        let first = std::mem::replace(&mut self.count, 1) == 0;
        if !first && text == self.text {
            return;
        }
        let better = |new: &[u8], old: &[u8]| if greatest { new > old } else { new < old };
        if column.is_plain_bytes() {
            if first || better(text, &self.text) {
                self.text.clear();
                self.text.extend_from_slice(text);
            }
            return;
        }
        // The best sort key stands first in the buffer, the one being compared behind it.
        let best_bytes = self.sort_key.len();
        column.column_type.collation.get().sort_key(text, &mut self.sort_key);
        let (best, new) = self.sort_key.split_at(best_bytes);
        if first || better(new, best) {
            self.sort_key.drain(..best_bytes);
            self.text.clear();
            self.text.extend_from_slice(text);
        } else {
            self.sort_key.truncate(best_bytes);
        }
    }
}
