//! Rows between operators. Main type: [`RowBatch`]. Values lie in one vector, row after row, so that a batch costs no
//! allocation per row; a column-wise form can take its place without changing who calls whom.

use values::Value;

/// Rows that an operator hands out at once, at most.
pub const BATCH_ROWS_MAX: usize = 1024;

/// Bytes of long values behind which an operator hands out what it has. One row may be longer.
pub const BATCH_BYTES_MAX: usize = 4 << 20;

/// Some rows of one width.
#[derive(Debug)]
pub struct RowBatch {
    values: Vec<Value>,
    width: usize,
    rows: usize,
    /// Bytes of the values of those rows, as far as they were copied or computed for them.
    bytes: usize,
    /// Rows that whoever fills the batch need make.
    rows_max: usize,
    /// Rows that may be read and locked for them.
    read_max: usize,
}

impl Default for RowBatch {
    fn default() -> RowBatch {
        RowBatch {
            values: Vec::new(),
            width: 0,
            rows: 0,
            bytes: 0,
            rows_max: BATCH_ROWS_MAX,
            read_max: BATCH_ROWS_MAX,
        }
    }
}

impl RowBatch {
    /// An empty batch.
    pub fn new() -> RowBatch {
        RowBatch::default()
    }

    /// Forgets the rows; the next ones have that width.
    pub fn reset(&mut self, width: usize) {
        self.values.clear();
        self.width = width;
        self.rows = 0;
        self.bytes = 0;
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Asks for so many rows and no more, until something else is said: under a LIMIT no row is to be read, locked or computed that
    /// is not wanted. An operator that has more rows at hand may still give them.
    pub fn want(&mut self, rows_max: usize) {
        self.rows_max = rows_max.clamp(1, BATCH_ROWS_MAX);
        self.read_max = self.rows_max;
    }

    /// Asks for one row at a time, of which the next will be wanted too: it may be read and locked, but nothing is to be computed
    /// of it.
    pub fn want_singly(&mut self) {
        self.rows_max = 1;
        self.read_max = BATCH_ROWS_MAX;
    }

    /// Asks for so many rows on behalf of a batch that is made of them.
    pub fn want_for(&mut self, batch: &RowBatch, rows_max: usize) {
        self.want(rows_max);
        if batch.is_single() {
            self.rows_max = self.rows_max.min(batch.rows_max);
            self.read_max = batch.read_max;
        }
    }

    /// Whether one row at a time is asked for, by who wants more of them.
    pub fn is_single(&self) -> bool {
        self.read_max > self.rows_max
    }

    /// Says how many rows may be read and locked at most.
    pub fn read_no_more(&mut self, rows_max: usize) {
        self.read_max = self.read_max.min(rows_max).max(1);
    }

    /// Rows that may be read and locked ahead of what is computed.
    pub fn readable(&self) -> usize {
        self.read_max.saturating_sub(self.rows)
    }

    /// Rows that are still wanted.
    pub fn wanted(&self) -> usize {
        self.rows_max.saturating_sub(self.rows)
    }

    /// Whether fewer rows are wanted than an operator would hand out at once.
    pub fn is_limited(&self) -> bool {
        self.rows_max < BATCH_ROWS_MAX
    }

    /// Whether as many rows are in as are wanted at once, or their values are long.
    pub fn is_full(&self) -> bool {
        self.rows >= self.rows_max || self.is_long()
    }

    /// Whether the values that were counted are too long for more of them.
    pub fn is_long(&self) -> bool {
        self.bytes >= BATCH_BYTES_MAX
    }

    /// Bytes that were counted.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Counts values that somebody made for this batch.
    pub fn count_bytes(&mut self, bytes: usize) {
        self.bytes += bytes;
    }

    /// A row.
    pub fn row(&self, at: usize) -> &[Value] {
        &self.values[at * self.width..(at + 1) * self.width]
    }

    /// A row whose values may be taken.
    pub fn row_mut(&mut self, at: usize) -> &mut [Value] {
        &mut self.values[at * self.width..(at + 1) * self.width]
    }

    /// Takes a row out; NULLs stay in its place.
    pub fn take(&mut self, at: usize) -> impl ExactSizeIterator<Item = Value> {
        self.row_mut(at).iter_mut().map(|value| std::mem::replace(value, Value::Null))
    }

    /// All rows.
    pub fn iter(&self) -> impl Iterator<Item = &[Value]> {
        (0..self.rows).map(|at| self.row(at))
    }

    /// Appends a row of NULLs and returns it to be filled.
    pub fn push_empty(&mut self) -> &mut [Value] {
        self.rows += 1;
        let start = self.values.len();
        self.values.resize(start + self.width, Value::Null);
        &mut self.values[start..]
    }

    /// Appends a copy of a row.
    pub fn push(&mut self, row: &[Value]) {
        debug_assert_eq!(row.len(), self.width);
        self.bytes += long_bytes(row);
        self.values.extend_from_slice(row);
        self.rows += 1;
    }

    /// Appends a row.
    pub fn push_values(&mut self, row: impl IntoIterator<Item = Value>) {
        self.values.extend(row);
        self.rows += 1;
        debug_assert_eq!(self.values.len(), self.rows * self.width);
    }

    /// Takes the last row back.
    pub fn pop(&mut self) {
        self.rows -= 1;
        self.values.truncate(self.rows * self.width);
    }

    /// The same, with its values.
    pub fn pop_values(&mut self) -> Vec<Value> {
        self.rows -= 1;
        self.values.split_off(self.rows * self.width)
    }

    /// The last row.
    pub fn last(&self) -> &[Value] {
        self.row(self.rows - 1)
    }
}

/// The bytes that values hold beside themselves.
pub fn long_bytes(values: &[Value]) -> usize {
    let long = |value: &Value| match value {
        Value::Bytes(bytes) => bytes.len(),
        _ => 0,
    };
    values.iter().map(long).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_full_of_rows_or_of_bytes() {
        let mut batch = RowBatch::new();
        batch.reset(2);
        let row = [Value::Int(1), Value::Bytes(vec![b'x'; BATCH_BYTES_MAX / 4])];
        (0..3).for_each(|_| batch.push(&row));
        assert!(!batch.is_full());
        batch.count_bytes(BATCH_BYTES_MAX / 4);
        assert!(batch.is_full() && batch.wanted() > 0);
        batch.reset(2);
        batch.want(1);
        assert!(!batch.is_full());
        batch.push(&row);
        assert!(batch.is_full());
    }
}
