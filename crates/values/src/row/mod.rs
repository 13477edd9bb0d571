//! The stored form of a row. Main types: [`RowLayout`] (prepared once per table version), [`RowView`]
//! (any column of a stored row in O(1), without allocation). See README.md for the byte table.
//! Plain functions over byte slices; no column value reaches a panic, whatever the bytes are.

mod column_sample;
mod encode;
mod form;
mod integer_column;
mod outside;
#[cfg(test)]
mod tests;
mod view;

pub use column_sample::ColumnSample;
pub use form::Form;
pub use integer_column::IntegerColumn;
pub use outside::{ColumnSet, Piece, REFERENCE_BYTES};
pub use view::RowView;

use crate::column_type::ColumnType;

/// Why a row cannot be written or read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowError {
    /// The bytes are not a row of this layout.
    Corrupt,
    /// The value at that position is of another variant than the column stores, or outside its range.
    /// The caller did not convert it with [`crate::store`].
    WrongValue(usize),
    /// NULL for a column that is not nullable.
    Null(usize),
    /// The row is larger than 2 GiB.
    TooLarge,
    /// The number of values is not the number of columns.
    WrongCount,
}

impl std::fmt::Display for RowError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RowError::Corrupt => f.write_str("row bytes do not fit the table's layout"),
            RowError::WrongValue(column) => {
                write!(f, "value of column {column} was not converted to its type")
            }
            RowError::Null(column) => write!(f, "NULL for column {column}, which is not nullable"),
            RowError::TooLarge => f.write_str("row is larger than 2 GiB"),
            RowError::WrongCount => f.write_str("number of values differs from number of columns"),
        }
    }
}

impl std::error::Error for RowError {}

/// Where a column's bytes are.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// No bytes: always NULL.
    Nowhere,
    /// So many bytes at that offset from the row's start.
    Fixed(u32, u8),
    /// The variable column of that ordinal.
    Variable(u32),
}

#[derive(Clone, Copy, Debug)]
struct Column {
    form: Form,
    place: Place,
    /// Bit in the flag-and-null bitmap, 1 or higher; 0 for a column that is not nullable.
    null_bit: u32,
}

/// The layout of a table's rows.
#[derive(Clone, Debug)]
pub struct RowLayout {
    columns: Box<[Column]>,
    bitmap_at: usize,
    offsets_at: usize,
    variable_count: usize,
}

/// Bit 0 of the bitmap: end offsets are 4 bytes wide instead of 2. Only wide ones can say that a value stands outside the row.
const WIDE_OFFSETS: u8 = 1;

impl RowLayout {
    /// The layout of rows with those columns, in order; the flag tells whether the column is nullable.
    pub fn new<'a>(columns: impl IntoIterator<Item = (&'a ColumnType, bool)>) -> RowLayout {
        let mut fixed_bytes = 0u32;
        let mut variable_count = 0u32;
        let mut next_bit = 1u32;
        let mut placed = Vec::new();
        for (column_type, nullable) in columns {
            let form = Form::of(column_type);
            let place = match form.width() {
                Some(0) => Place::Nowhere,
                Some(width) => {
                    fixed_bytes += u32::from(width);
                    Place::Fixed(fixed_bytes - u32::from(width), width)
                }
                None => {
                    variable_count += 1;
                    Place::Variable(variable_count - 1)
                }
            };
            let null_bit = if nullable { next_bit } else { 0 };
            next_bit += u32::from(nullable);
            placed.push(Column { form, place, null_bit });
        }
        let bitmap_at = fixed_bytes as usize;
        RowLayout {
            columns: placed.into(),
            bitmap_at,
            offsets_at: bitmap_at + next_bit.div_ceil(8) as usize,
            variable_count: variable_count as usize,
        }
    }

    /// Number of columns.
    pub fn column_count(&self) -> usize {
        self.columns.len()
    }

    /// How the column's bytes are to be read.
    pub fn form(&self, column: usize) -> Form {
        self.columns[column].form
    }

    /// Offset of a fixed-width column from the start of every row; None for a variable one.
    /// For scans that read one column of many rows.
    pub fn fixed_offset(&self, column: usize) -> Option<usize> {
        match self.columns[column].place {
            Place::Fixed(offset, _) => Some(offset as usize),
            _ => None,
        }
    }

    /// Byte and mask of a nullable column's bit in the row; None for a column that is not nullable.
    pub fn null_position(&self, column: usize) -> Option<(usize, u8)> {
        match self.columns[column].null_bit {
            0 => None,
            bit => Some((self.bitmap_at + (bit / 8) as usize, 1 << (bit % 8))),
        }
    }
}
