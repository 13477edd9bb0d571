//! Rows in memory. A row is cells of a fixed size; what does not fit a cell lies beside them, in storage that all rows share and
//! that is used again when they are forgotten, so that filling rows allocates nothing once the storage has its size.
//! Main types: [`Rows`], which holds rows of one width, and [`RowRef`], a row to be looked at. One thread at a time.

use crate::decimal::Decimal;
use crate::temporal::{Date, DateTime, Time};
use crate::value::Value;
use crate::value_ref::ValueRef;

/// Bytes from which on a value has an allocation of its own: such are moved, not copied, and do not stay in the storage.
pub const LONG_BYTES_MIN: usize = 64 << 10;

/// A value of a row. Numbers within are places in the storage of the row's [`Rows`].
#[derive(Clone, Copy, Debug)]
enum Cell {
    Null,
    Int(i64),
    UInt(u64),
    Float(f32),
    Double(f64),
    Date(Date),
    Time(Time),
    DateTime(DateTime),
    Bytes { start: u32, length: u32 },
    Long(u32),
    Decimal(u32),
}

/// What does not fit cells.
#[derive(Debug, Default)]
struct Storage {
    bytes: Vec<u8>,
    long: Vec<Vec<u8>>,
    /// Bytes of those.
    long_bytes: usize,
    decimals: Vec<Decimal>,
}

/// A place in the storage: what is behind it belongs to later values.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mark {
    bytes: usize,
    long: usize,
    decimals: usize,
}

impl Storage {
    #[inline]
    fn mark(&self) -> Mark {
        Mark { bytes: self.bytes.len(), long: self.long.len(), decimals: self.decimals.len() }
    }

    #[inline]
    fn rewind(&mut self, mark: Mark) {
        self.bytes.truncate(mark.bytes);
        self.decimals.truncate(mark.decimals);
        if self.long.len() > mark.long {
            self.drop_long(mark.long);
        }
    }

    #[cold]
    fn drop_long(&mut self, kept: usize) {
        let dropped: usize = self.long[kept..].iter().map(Vec::len).sum();
        self.long_bytes -= dropped;
        self.long.truncate(kept);
    }

    #[inline]
    fn copied(&mut self, value: ValueRef<'_>) -> Cell {
        match value {
            ValueRef::Null => Cell::Null,
            ValueRef::Int(number) => Cell::Int(number),
            ValueRef::UInt(number) => Cell::UInt(number),
            ValueRef::Float(number) => Cell::Float(number),
            ValueRef::Double(number) => Cell::Double(number),
            ValueRef::Date(date) => Cell::Date(date),
            ValueRef::Time(time) => Cell::Time(time),
            ValueRef::DateTime(moment) => Cell::DateTime(moment),
            ValueRef::Bytes(bytes) => self.copied_bytes(bytes),
            ValueRef::Decimal(number) => self.decimal(*number),
        }
    }

    /// A cell of other rows: what it points to is copied.
    #[inline]
    fn taken_over(&mut self, cell: Cell, from: &Storage) -> Cell {
        match cell {
            Cell::Bytes { .. } | Cell::Long(_) | Cell::Decimal(_) => self.copied(from.value(cell)),
            plain => plain,
        }
    }

    #[inline]
    fn copied_bytes(&mut self, bytes: &[u8]) -> Cell {
        match u32::try_from(self.bytes.len()) {
            Ok(start) if bytes.len() < LONG_BYTES_MIN => {
                self.bytes.extend_from_slice(bytes);
                Cell::Bytes { start, length: bytes.len() as u32 }
            }
            _ => self.long(bytes.to_vec()),
        }
    }

    #[cold]
    fn long(&mut self, bytes: Vec<u8>) -> Cell {
        self.long_bytes += bytes.len();
        self.long.push(bytes);
        Cell::Long(self.long.len() as u32 - 1)
    }

    fn take_long(&mut self, at: u32) -> Vec<u8> {
        let bytes = std::mem::take(&mut self.long[at as usize]);
        self.long_bytes -= bytes.len();
        bytes
    }

    #[inline]
    fn decimal(&mut self, number: Decimal) -> Cell {
        self.decimals.push(number);
        Cell::Decimal(self.decimals.len() as u32 - 1)
    }

    fn moved(&mut self, value: Value) -> Cell {
        match value {
            Value::Bytes(bytes) if bytes.len() >= LONG_BYTES_MIN => self.long(bytes),
            value => self.copied(value.as_ref()),
        }
    }

    #[inline]
    fn value(&self, cell: Cell) -> ValueRef<'_> {
        match cell {
            Cell::Null => ValueRef::Null,
            Cell::Int(number) => ValueRef::Int(number),
            Cell::UInt(number) => ValueRef::UInt(number),
            Cell::Float(number) => ValueRef::Float(number),
            Cell::Double(number) => ValueRef::Double(number),
            Cell::Date(date) => ValueRef::Date(date),
            Cell::Time(time) => ValueRef::Time(time),
            Cell::DateTime(moment) => ValueRef::DateTime(moment),
            Cell::Bytes { start, length } => {
                ValueRef::Bytes(&self.bytes[start as usize..start as usize + length as usize])
            }
            Cell::Long(at) => ValueRef::Bytes(&self.long[at as usize]),
            Cell::Decimal(at) => ValueRef::Decimal(&self.decimals[at as usize]),
        }
    }
}

/// Rows of one width.
#[derive(Debug, Default)]
pub struct Rows {
    cells: Vec<Cell>,
    storage: Storage,
    width: usize,
    rows: usize,
    /// What the last row found in the storage.
    last: Mark,
}

impl Rows {
    /// Forgets the rows; the next ones have that width.
    pub fn reset(&mut self, width: usize) {
        self.cells.clear();
        self.storage.rewind(Mark::default());
        self.width = width;
        self.rows = 0;
    }

    /// Number of rows.
    #[inline]
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Values in a row.
    #[inline]
    pub fn width(&self) -> usize {
        self.width
    }

    /// A row.
    #[inline]
    pub fn row(&self, at: usize) -> RowRef<'_> {
        RowRef::Cells {
            cells: CellsRef(&self.cells[at * self.width..][..self.width]),
            storage: StorageRef(&self.storage),
        }
    }

    /// A value of a row.
    #[inline]
    pub fn value(&self, at: usize, slot: usize) -> ValueRef<'_> {
        debug_assert!(slot < self.width);
        self.storage.value(self.cells[at * self.width + slot])
    }

    /// Appends a row of NULLs.
    #[inline]
    pub fn push_empty(&mut self) {
        self.last = self.storage.mark();
        self.cells.extend(std::iter::repeat_n(Cell::Null, self.width));
        self.rows += 1;
    }

    /// Appends a copy of the first values of a row, or of all and NULLs behind them.
    pub fn push(&mut self, row: RowRef<'_>) {
        self.last = self.storage.mark();
        let count = row.len().min(self.width);
        let kept = &mut self.storage;
        match row {
            RowRef::Cells { cells, storage } => {
                self.cells.extend(cells.0[..count].iter().map(|cell| kept.taken_over(*cell, storage.0)));
            }
            RowRef::Values(values) => {
                self.cells.extend(values[..count].iter().map(|value| kept.copied(value.as_ref())));
            }
        }
        self.rows += 1;
        self.cells.resize(self.rows * self.width, Cell::Null);
    }

    /// Appends the values that a row has in those slots.
    pub fn push_slots(&mut self, row: RowRef<'_>, slots: &[usize]) {
        debug_assert_eq!(slots.len(), self.width);
        self.last = self.storage.mark();
        let kept = &mut self.storage;
        match row {
            RowRef::Cells { cells, storage } => {
                self.cells.extend(slots.iter().map(|slot| kept.taken_over(cells.0[*slot], storage.0)));
            }
            RowRef::Values(values) => {
                self.cells.extend(slots.iter().map(|slot| kept.copied(values[*slot].as_ref())));
            }
        }
        self.rows += 1;
    }

    /// Puts the values of a row into those slots of the last row.
    pub fn set_slots(&mut self, slots: &[usize], row: RowRef<'_>) {
        let start = self.cells.len() - self.width;
        let cells_of_row = &mut self.cells[start..];
        let kept = &mut self.storage;
        match row {
            RowRef::Cells { cells, storage } => {
                for (slot, cell) in slots.iter().zip(cells.0) {
                    cells_of_row[*slot] = kept.taken_over(*cell, storage.0);
                }
            }
            RowRef::Values(values) => {
                for (slot, value) in slots.iter().zip(values) {
                    cells_of_row[*slot] = kept.copied(value.as_ref());
                }
            }
        }
    }

    /// Appends the first values of a row of other rows; long ones are taken away from there.
    pub fn push_taken(&mut self, from: &mut Rows, at: usize) {
        self.push_empty();
        for slot in 0..self.width.min(from.width) {
            self.set_taken(slot, from, at, slot);
        }
    }

    /// Takes the last row back. The one before it stays as it is, but may not be taken back.
    pub fn pop(&mut self) {
        self.rows -= 1;
        self.cells.truncate(self.rows * self.width);
        self.storage.rewind(self.last);
    }

    /// Makes room for the texts of a row of so many bytes, at once.
    #[inline]
    pub fn reserve_bytes(&mut self, bytes: usize) {
        self.storage.bytes.reserve(bytes.min(LONG_BYTES_MIN));
    }

    /// Puts a copy of a value into the last row.
    #[inline]
    pub fn set(&mut self, slot: usize, value: ValueRef<'_>) {
        let cell = self.storage.copied(value);
        self.set_cell(slot, cell);
    }

    /// Puts a signed integer into the last row.
    #[inline]
    pub fn set_int(&mut self, slot: usize, number: i64) {
        self.set_cell(slot, Cell::Int(number));
    }

    /// Puts an unsigned integer into the last row.
    #[inline]
    pub fn set_uint(&mut self, slot: usize, number: u64) {
        self.set_cell(slot, Cell::UInt(number));
    }

    /// Puts NULL into the last row.
    #[inline]
    pub fn set_null(&mut self, slot: usize) {
        self.set_cell(slot, Cell::Null);
    }

    /// Puts a copy of bytes into the last row.
    #[inline]
    pub fn set_bytes(&mut self, slot: usize, bytes: &[u8]) {
        let cell = self.storage.copied_bytes(bytes);
        self.set_cell(slot, cell);
    }

    /// Puts an exact number into the last row.
    #[inline]
    pub fn set_decimal(&mut self, slot: usize, number: Decimal) {
        let cell = self.storage.decimal(number);
        self.set_cell(slot, cell);
    }

    /// Puts a value into the last row. It is moved if it is long.
    pub fn set_value(&mut self, slot: usize, value: Value) {
        let cell = self.storage.moved(value);
        self.set_cell(slot, cell);
    }

    /// Puts a value of another row into the last row; a long one is taken away from where it was.
    pub fn set_taken(&mut self, slot: usize, from: &mut Rows, at: usize, from_slot: usize) {
        let cell = &mut from.cells[at * from.width + from_slot];
        let cell = match *cell {
            Cell::Long(long) => {
                *cell = Cell::Null;
                self.storage.long(from.storage.take_long(long))
            }
            Cell::Bytes { .. } | Cell::Decimal(_) => self.storage.copied(from.storage.value(*cell)),
            plain => plain,
        };
        self.set_cell(slot, cell);
    }

    #[inline]
    fn set_cell(&mut self, slot: usize, cell: Cell) {
        debug_assert!(slot < self.width);
        let start = self.cells.len() - self.width;
        self.cells[start + slot] = cell;
    }

    /// What the storage holds now.
    #[inline]
    pub fn mark(&self) -> Mark {
        self.storage.mark()
    }

    /// Forgets what values hold that were put into the last row since then: they are to be put in anew.
    #[inline]
    pub fn rewind(&mut self, mark: Mark) {
        self.storage.rewind(mark);
    }

    /// Takes the first values of a row out as values of their own. A long one is moved: NULL stays in its place.
    pub fn take(&mut self, at: usize, count: usize) -> Vec<Value> {
        let cells = &mut self.cells[at * self.width..][..count];
        let storage = &mut self.storage;
        let take = |cell: &mut Cell| match *cell {
            Cell::Long(long) => {
                *cell = Cell::Null;
                Value::Bytes(storage.take_long(long))
            }
            other => storage.value(other).to_value(),
        };
        cells.iter_mut().map(take).collect()
    }

    /// Gives back the memory that is kept for more rows.
    pub fn shrink_to_fit(&mut self) {
        self.cells.shrink_to_fit();
        self.storage.bytes.shrink_to_fit();
        self.storage.decimals.shrink_to_fit();
        self.storage.long.shrink_to_fit();
    }

    /// Bytes that the rows take.
    pub fn bytes(&self) -> usize {
        self.cells.len() * CELL_BYTES
            + self.storage.bytes.len()
            + self.storage.decimals.len() * size_of::<Decimal>()
            + self.storage.long_bytes
    }
}

/// What a cell takes.
const CELL_BYTES: usize = size_of::<Cell>();
const _: () = assert!(CELL_BYTES == 16);

/// The cells of a row.
#[derive(Clone, Copy, Debug)]
pub struct CellsRef<'a>(&'a [Cell]);

/// The storage that cells point to.
#[derive(Clone, Copy, Debug)]
pub struct StorageRef<'a>(&'a Storage);

/// A row to be looked at, wherever it lies.
#[derive(Clone, Copy, Debug)]
pub enum RowRef<'a> {
    /// Values of their own.
    Values(&'a [Value]),
    /// A row of [`Rows`].
    Cells {
        /// Its cells.
        cells: CellsRef<'a>,
        /// What they point to.
        storage: StorageRef<'a>,
    },
}

impl<'a> RowRef<'a> {
    /// A row without values, for what reads none.
    pub const EMPTY: RowRef<'static> = RowRef::Values(&[]);

    /// Number of values.
    #[inline]
    pub fn len(&self) -> usize {
        match self {
            RowRef::Values(values) => values.len(),
            RowRef::Cells { cells, .. } => cells.0.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A value.
    #[inline]
    pub fn get(&self, slot: usize) -> ValueRef<'a> {
        match self {
            RowRef::Values(values) => values[slot].as_ref(),
            RowRef::Cells { cells, storage } => storage.0.value(cells.0[slot]),
        }
    }

    /// The values in their order.
    #[inline]
    pub fn iter(self) -> impl ExactSizeIterator<Item = ValueRef<'a>> + use<'a> {
        (0..self.len()).map(move |slot| self.get(slot))
    }

    /// Calls for each value in their order: the shortest way through a row.
    #[inline]
    pub fn for_each(self, mut call: impl FnMut(ValueRef<'a>)) {
        match self {
            RowRef::Values(values) => values.iter().for_each(|value| call(value.as_ref())),
            RowRef::Cells { cells, storage } => cells.0.iter().for_each(|cell| call(storage.0.value(*cell))),
        }
    }

    /// The first so many values.
    #[must_use]
    pub fn first(self, count: usize) -> RowRef<'a> {
        match self {
            RowRef::Values(values) => RowRef::Values(&values[..count]),
            RowRef::Cells { cells, storage } => RowRef::Cells { cells: CellsRef(&cells.0[..count]), storage },
        }
    }

    /// The first so many values, and those behind them.
    pub fn split_at(self, count: usize) -> (RowRef<'a>, RowRef<'a>) {
        match self {
            RowRef::Values(values) => {
                let (first, rest) = values.split_at(count);
                (RowRef::Values(first), RowRef::Values(rest))
            }
            RowRef::Cells { cells, storage } => {
                let (first, rest) = cells.0.split_at(count);
                let part = |cells| RowRef::Cells { cells: CellsRef(cells), storage };
                (part(first), part(rest))
            }
        }
    }

    /// A copy in values of their own.
    pub fn to_values(self) -> Vec<Value> {
        self.iter().map(ValueRef::to_value).collect()
    }

    /// The bytes that the values have beside themselves.
    pub fn long_bytes(self) -> usize {
        match self {
            RowRef::Values(values) => values.iter().map(|value| value.as_ref().long_bytes()).sum(),
            RowRef::Cells { cells, storage } => {
                let long_bytes = |cell: &Cell| match cell {
                    Cell::Bytes { length, .. } => *length as usize,
                    Cell::Long(at) => storage.0.long[*at as usize].len(),
                    _ => 0,
                };
                cells.0.iter().map(long_bytes).sum()
            }
        }
    }
}

impl<'a> From<&'a [Value]> for RowRef<'a> {
    fn from(values: &'a [Value]) -> RowRef<'a> {
        RowRef::Values(values)
    }
}

impl<'a> From<&'a Vec<Value>> for RowRef<'a> {
    fn from(values: &'a Vec<Value>) -> RowRef<'a> {
        RowRef::Values(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values() -> Vec<Value> {
        vec![
            Value::Null,
            Value::Int(-1),
            Value::UInt(u64::MAX),
            Value::Float(1.5),
            Value::Double(-2.5),
            Value::Bytes(b"text".to_vec()),
            Value::Bytes(vec![b'x'; LONG_BYTES_MIN]),
            Value::Decimal(Decimal::from_i128(12345, 2).unwrap()),
            Value::Date(Date::new(2024, 2, 29)),
            Value::Time(Time { hours: 838, ..Time::default() }),
            Value::DateTime(DateTime { hour: 23, microsecond: 999_999, ..DateTime::default() }),
        ]
    }

    #[test]
    fn values_come_back_as_they_were() {
        let values = values();
        let mut rows = Rows::default();
        rows.reset(values.len());
        rows.push(RowRef::Values(&values));
        rows.push_empty();
        for (slot, value) in values.iter().enumerate() {
            rows.set_value(slot, value.clone());
        }
        let mut copy = Rows::default();
        copy.reset(values.len() + 1);
        copy.push(rows.row(1));
        assert_eq!(rows.row(0).to_values(), values);
        assert_eq!(rows.row(1).to_values(), values);
        assert_eq!(copy.row(0).first(values.len()).to_values(), values);
        assert_eq!(copy.value(0, values.len()), ValueRef::Null);
        let slots: Vec<usize> = (0..values.len()).rev().collect();
        let mut turned = Rows::default();
        turned.reset(values.len());
        for row in [RowRef::Values(&values), copy.row(0)] {
            turned.push_slots(row, &slots);
        }
        turned.push_empty();
        turned.set_slots(&slots, RowRef::Values(&values));
        turned.push_empty();
        turned.set_slots(&slots, copy.row(0).first(values.len()));
        let expected: Vec<Value> = values.iter().rev().cloned().collect();
        assert!((0..4).all(|row| turned.row(row).to_values() == expected));
        assert_eq!(rows.take(0, 7), values[..7]);
        assert!(rows.value(0, 6).is_null(), "a long value is moved out");
    }

    #[test]
    fn a_row_that_is_taken_back_leaves_nothing() {
        let values = values();
        let mut rows = Rows::default();
        rows.reset(values.len());
        rows.push(RowRef::Values(&values));
        let bytes = rows.bytes();
        rows.push(RowRef::Values(&values));
        rows.pop();
        assert_eq!((rows.len(), rows.bytes()), (1, bytes));
        let mark = rows.mark();
        for text in [&b"one"[..], b"another"] {
            rows.rewind(mark);
            rows.set(0, ValueRef::Bytes(text));
        }
        assert_eq!(rows.bytes(), bytes + b"another".len());
        assert_eq!(rows.value(0, 0), ValueRef::Bytes(b"another"));
        assert_eq!(rows.row(0).iter().skip(1).map(ValueRef::to_value).collect::<Vec<_>>(), values[1..]);
    }
}
