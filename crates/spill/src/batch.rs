//! Rows between operators. Main type: [`RowBatch`]: rows in memory that is used again, and how many of them are wanted. How rows lie
//! in it is nobody's business: they are looked at by row and slot.

use values::{RowRef, Rows, Value, ValueRef};

/// Rows that an operator hands out at once, at most.
pub const BATCH_ROWS_MAX: usize = 1024;

/// Bytes of long values behind which an operator hands out what it has. One row may be longer.
pub const BATCH_BYTES_MAX: usize = 4 << 20;
/// The same of a statement that may hold little.
const BATCH_BYTES_MIN: usize = 64 << 10;
/// This part of what a statement may hold is for a batch: several operators have one each.
const BATCH_PART: u64 = 32;

/// Some rows of one width.
#[derive(Debug)]
pub struct RowBatch {
    rows: Rows,
    /// Bytes of the values of those rows, as far as they were copied or computed for them.
    bytes: usize,
    /// So many of them fill it.
    bytes_max: usize,
    /// Rows that whoever fills the batch need make.
    rows_max: usize,
    /// Rows that may be read and locked for them.
    read_max: usize,
}

impl Default for RowBatch {
    #[inline]
    fn default() -> RowBatch {
        RowBatch {
            rows: Rows::default(),
            bytes: 0,
            bytes_max: BATCH_BYTES_MAX,
            rows_max: BATCH_ROWS_MAX,
            read_max: BATCH_ROWS_MAX,
        }
    }
}

impl RowBatch {
    /// An empty batch.
    #[inline]
    pub fn new() -> RowBatch {
        RowBatch::default()
    }

    /// Forgets the rows; the next ones have that width.
    #[inline]
    pub fn reset(&mut self, width: usize) {
        self.rows.reset(width);
        self.bytes = 0;
    }

    /// Number of rows.
    #[inline]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Asks for so many rows and no more, until something else is said: under a LIMIT no row is to be read, locked or computed that
    /// is not wanted. An operator that has more rows at hand may still give them.
    #[inline]
    pub fn want(&mut self, rows_max: usize) {
        self.rows_max = rows_max.clamp(1, BATCH_ROWS_MAX);
        self.read_max = self.rows_max;
    }

    /// Asks for one row at a time, of which the next will be wanted too: it may be read and locked, but nothing is to be computed
    /// of it.
    #[inline]
    pub fn want_singly(&mut self) {
        self.rows_max = 1;
        self.read_max = BATCH_ROWS_MAX;
    }

    /// Asks for so many rows on behalf of a batch that is made of them.
    #[inline]
    pub fn want_for(&mut self, batch: &RowBatch, rows_max: usize) {
        self.want(rows_max);
        if batch.is_single() {
            self.rows_max = self.rows_max.min(batch.rows_max);
            self.read_max = batch.read_max;
        }
    }

    /// Whether one row at a time is asked for, by who wants more of them.
    #[inline]
    pub fn is_single(&self) -> bool {
        self.read_max > self.rows_max
    }

    /// Says how many rows may be read and locked at most.
    pub fn read_no_more(&mut self, rows_max: usize) {
        self.read_max = self.read_max.min(rows_max).max(1);
    }

    /// Rows that may be read and locked ahead of what is computed.
    #[inline]
    pub fn readable(&self) -> usize {
        self.read_max.saturating_sub(self.rows.len())
    }

    /// Rows that are still wanted.
    #[inline]
    pub fn wanted(&self) -> usize {
        self.rows_max.saturating_sub(self.rows.len())
    }

    /// Whether fewer rows are wanted than an operator would hand out at once.
    #[inline]
    pub fn is_limited(&self) -> bool {
        self.rows_max < BATCH_ROWS_MAX
    }

    /// Is filled by fewer long values in a statement that may hold no more than that.
    #[inline]
    pub fn fit_in(&mut self, memory_bytes_max: u64) {
        let part = usize::try_from(memory_bytes_max / BATCH_PART).unwrap_or(BATCH_BYTES_MAX);
        self.bytes_max = part.clamp(BATCH_BYTES_MIN, BATCH_BYTES_MAX);
    }

    /// Whether as many rows are in as are wanted at once, or their values are long.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.rows.len() >= self.rows_max || self.is_long()
    }

    /// Whether the values that were counted are too long for more of them.
    #[inline]
    pub fn is_long(&self) -> bool {
        self.bytes >= self.bytes_max
    }

    /// Bytes that were counted.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Counts values that somebody made for this batch.
    #[inline]
    pub fn count_bytes(&mut self, bytes: usize) {
        self.bytes += bytes;
    }

    /// Values in a row.
    #[inline]
    pub fn width(&self) -> usize {
        self.rows.width()
    }

    /// A row.
    #[inline]
    pub fn row(&self, at: usize) -> RowRef<'_> {
        self.rows.row(at)
    }

    /// The last row.
    #[inline]
    pub fn last(&self) -> RowRef<'_> {
        self.rows.row(self.rows.len() - 1)
    }

    /// All rows.
    pub fn iter(&self) -> impl Iterator<Item = RowRef<'_>> {
        (0..self.rows.len()).map(|at| self.rows.row(at))
    }

    /// The rows themselves, of which the last may be filled.
    #[inline]
    pub fn rows_mut(&mut self) -> &mut Rows {
        &mut self.rows
    }

    /// Takes the first values of a row out; NULLs may stay in their place.
    pub fn take(&mut self, at: usize, count: usize) -> Vec<Value> {
        self.rows.take(at, count)
    }

    /// Appends a row of NULLs, to be filled.
    #[inline]
    pub fn push_empty(&mut self) {
        self.rows.push_empty();
    }

    /// Puts a copy of a value into the last row.
    #[inline]
    pub fn set(&mut self, slot: usize, value: ValueRef<'_>) {
        self.rows.set(slot, value);
    }

    /// Appends a copy of a row, and counts what it holds.
    pub fn push(&mut self, row: RowRef<'_>) {
        self.rows.push(row);
        self.count_last();
    }

    /// Counts what the last row holds.
    #[inline]
    pub fn count_last(&mut self) {
        self.bytes += self.last().long_bytes();
    }

    /// Appends a row of values.
    pub fn push_values(&mut self, row: impl IntoIterator<Item = Value>) {
        self.rows.push_empty();
        for (slot, value) in row.into_iter().enumerate() {
            self.rows.set_value(slot, value);
        }
    }

    /// Appends the first values of a row of another batch, which takes leave of it. Its owner has counted it.
    #[inline]
    pub fn push_taken(&mut self, from: &mut RowBatch, at: usize) {
        self.rows.push_taken(&mut from.rows, at);
    }

    /// Puts a value of another batch's row, which takes leave of it, into the last row.
    #[inline]
    pub fn set_taken(&mut self, slot: usize, from: &mut RowBatch, at: usize, from_slot: usize) {
        self.rows.set_taken(slot, &mut from.rows, at, from_slot);
    }

    /// Takes the last row back.
    #[inline]
    pub fn pop(&mut self) {
        self.rows.pop();
    }

    /// The same, with its values.
    pub fn pop_values(&mut self) -> Vec<Value> {
        let row = self.rows.take(self.rows.len() - 1, self.rows.width());
        self.rows.pop();
        row
    }
}

/// The bytes that values hold beside itself.
pub fn long_bytes(values: &[Value]) -> usize {
    RowRef::Values(values).long_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_full_of_rows_or_of_bytes() {
        let mut batch = RowBatch::new();
        batch.reset(2);
        let row = [Value::Int(1), Value::Bytes(vec![b'x'; BATCH_BYTES_MAX / 4])];
        (0..3).for_each(|_| batch.push(RowRef::Values(&row)));
        assert!(!batch.is_full());
        batch.count_bytes(BATCH_BYTES_MAX / 4);
        assert!(batch.is_full() && batch.wanted() > 0);
        batch.reset(2);
        batch.want(1);
        assert!(!batch.is_full());
        batch.push(RowRef::Values(&row));
        assert!(batch.is_full());
    }
}
