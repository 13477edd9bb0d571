//! [`IntegerColumn`]: reads one column of many rows of a layout as integers, with the place looked up once.

use super::{Form, Place, RowLayout};
use crate::packed;

/// Where a column is in rows of a layout whose bytes are an integer of up to 64 bits, signed range.
#[derive(Clone, Copy, Debug)]
pub struct IntegerColumn {
    at: usize,
    width: usize,
    signed: bool,
    null_byte: usize,
    /// 0 for a column that is not nullable.
    null_mask: u8,
}

impl RowLayout {
    /// A reader of that column, if all its values fit an `i64`: integers but for BIGINT UNSIGNED.
    pub fn integer_column(&self, column: usize) -> Option<IntegerColumn> {
        let (width, signed) = match self.columns.get(column)?.form {
            Form::Int(width) => (width, true),
            Form::UInt(width) if width < 8 => (width, false),
            _ => return None,
        };
        self.reader(column, width, signed)
    }

    /// A reader of that column's integers, if these order as its values do: integers, dates and times as they are packed, exact
    /// numbers of up to 18 digits without their point.
    pub fn ordered_column(&self, column: usize) -> Option<IntegerColumn> {
        let (width, signed) = match self.columns.get(column)?.form {
            Form::Date => (3, false),
            Form::DateTime { digits } => (packed::date_time_width(digits), false),
            Form::Time { digits } => (packed::time_width(digits), true),
            Form::Decimal { width: width @ (4 | 8), .. } => (width, true),
            _ => return self.integer_column(column),
        };
        self.reader(column, width, signed)
    }

    fn reader(&self, column: usize, width: u8, signed: bool) -> Option<IntegerColumn> {
        let column = self.columns.get(column)?;
        let Place::Fixed(at, _) = column.place else { return None };
        let null_mask = if column.null_bit == 0 { 0 } else { 1 << (column.null_bit % 8) };
        let null_byte = self.bitmap_at + (column.null_bit / 8) as usize;
        Some(IntegerColumn { at: at as usize, width: usize::from(width), signed, null_byte, null_mask })
    }
}

impl IntegerColumn {
    /// The column's value in a row; None for NULL (and for bytes that are no row of the layout).
    #[inline]
    pub fn read(&self, row: &[u8]) -> Option<i64> {
        if self.null_mask != 0 && *row.get(self.null_byte)? & self.null_mask != 0 {
            return None;
        }
        let raw = row.get(self.at..self.at + self.width)?;
        Some(if self.signed { packed::signed(raw) } else { packed::unsigned(raw) as i64 })
    }
}
