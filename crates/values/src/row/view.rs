//! Reading a stored row. Main type: [`RowView`].
//! Opening checks only that the fixed part is there; a damaged end offset reads as an empty value and is
//! found by [`RowView::check`] (pages carry checksums, so this is for bugs, not for disks).

use super::outside::{OUTSIDE, REFERENCE_BYTES};
use super::{Column, Form, Place, RowError, RowLayout, WIDE_OFFSETS};
use crate::decimal::Decimal;
use crate::packed;
use crate::rows::Rows;
use crate::value::Value;
use crate::value_ref::ValueRef;

/// A stored row: its layout and its bytes.
#[derive(Clone, Copy, Debug)]
pub struct RowView<'a> {
    pub(super) layout: &'a RowLayout,
    pub(super) bytes: &'a [u8],
    variable_at: usize,
}

impl<'a> RowView<'a> {
    /// The row in those bytes. Fails when they are too short for the layout.
    #[inline]
    pub fn new(layout: &'a RowLayout, bytes: &'a [u8]) -> Result<RowView<'a>, RowError> {
        let flags = *bytes.get(layout.bitmap_at).ok_or(RowError::Corrupt)?;
        let offset_bytes = if flags & WIDE_OFFSETS == 0 { 2 } else { 4 };
        let variable_at = layout.offsets_at + offset_bytes * layout.variable_count;
        if bytes.len() < variable_at {
            return Err(RowError::Corrupt);
        }
        Ok(RowView { layout, bytes, variable_at })
    }

    /// The layout.
    pub fn layout(&self) -> &'a RowLayout {
        self.layout
    }

    /// All bytes of the row.
    pub fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Whether the column is NULL.
    #[inline]
    pub fn is_null(&self, column: usize) -> bool {
        let bit = self.layout.columns[column].null_bit;
        bit != 0 && self.bytes[self.layout.bitmap_at + (bit / 8) as usize] & (1 << (bit % 8)) != 0
    }

    /// The column's stored bytes; None for NULL. Of a value that stands outside the row (see [`super::Piece`]) its reference: rows
    /// that the engine hands out have the values that were asked for.
    #[inline]
    pub fn raw(&self, column: usize) -> Option<&'a [u8]> {
        if self.is_null(column) {
            return None;
        }
        let Column { place, .. } = &self.layout.columns[column];
        match place {
            Place::Fixed(offset, width) => {
                let start = *offset as usize;
                self.bytes.get(start..start + usize::from(*width))
            }
            Place::Variable(ordinal) => Some(self.variable(*ordinal as usize)),
            Place::Nowhere => None,
        }
    }

    /// The column as a value.
    pub fn value(&self, column: usize) -> Value {
        match self.raw(column) {
            Some(raw) => self.layout.columns[column].form.value(raw),
            None => Value::Null,
        }
    }

    /// Puts the column into the last of those rows.
    #[inline]
    pub fn copy_to(&self, column: usize, rows: &mut Rows, slot: usize) {
        let Some(raw) = self.raw(column) else { return rows.set_null(slot) };
        match self.layout.columns[column].form {
            Form::Int(_) => rows.set_int(slot, packed::signed(raw)),
            Form::UInt(_) => rows.set_uint(slot, packed::unsigned(raw)),
            Form::Bytes | Form::Json => rows.set_bytes(slot, raw),
            Form::Decimal { scale, .. } => rows.set_decimal(slot, Decimal::from_le_bytes(raw, scale)),
            Form::Date => rows.set(slot, ValueRef::Date(packed::date_from(packed::unsigned(raw) as u32))),
            form => rows.set_value(slot, form.value(raw)),
        }
    }

    /// All columns as values.
    pub fn values(&self) -> Vec<Value> {
        (0..self.layout.columns.len()).map(|column| self.value(column)).collect()
    }

    /// The integer of an integer column (see [`Form::integer`]); 0 for NULL.
    #[inline]
    pub fn integer(&self, column: usize) -> i64 {
        self.raw(column).map_or(0, |raw| self.layout.columns[column].form.integer(raw))
    }

    /// The number of a FLOAT or DOUBLE column; 0 for NULL and for other forms.
    #[inline]
    pub fn double(&self, column: usize) -> f64 {
        let Some(raw) = self.raw(column) else { return 0.0 };
        match self.layout.columns[column].form {
            Form::Float => f64::from(f32::from_bits(packed::unsigned(raw) as u32)),
            Form::Double => f64::from_bits(packed::unsigned(raw)),
            _ => 0.0,
        }
    }

    /// The bytes of a text or binary column; empty for NULL.
    #[inline]
    pub fn bytes(&self, column: usize) -> &'a [u8] {
        self.raw(column).unwrap_or_default()
    }

    /// Length of a text or binary column; 0 for NULL and for columns of a fixed width.
    pub(crate) fn variable_bytes(&self, column: usize) -> usize {
        match self.layout.columns[column].place {
            Place::Variable(_) => self.bytes(column).len(),
            _ => 0,
        }
    }

    /// Checks every end offset and the row's length. For CHECK TABLE and for tests.
    pub fn check(&self) -> Result<(), RowError> {
        let mut previous = 0;
        for ordinal in 0..self.layout.variable_count {
            let end = self.end_offset(ordinal);
            if end < previous || self.is_outside(ordinal) && end - previous != REFERENCE_BYTES {
                return Err(RowError::Corrupt);
            }
            previous = end;
        }
        if self.variable_at + previous == self.bytes.len() { Ok(()) } else { Err(RowError::Corrupt) }
    }

    #[inline]
    fn variable(&self, ordinal: usize) -> &'a [u8] {
        let start = if ordinal == 0 { 0 } else { self.end_offset(ordinal - 1) };
        let end = self.end_offset(ordinal);
        self.bytes.get(self.variable_at + start..self.variable_at + end).unwrap_or_default()
    }

    #[inline]
    fn end_offset(&self, ordinal: usize) -> usize {
        let offsets = &self.bytes[self.layout.offsets_at..self.variable_at];
        if self.is_wide() {
            packed::unsigned(&offsets[4 * ordinal..4 * ordinal + 4]) as usize & !OUTSIDE
        } else {
            packed::unsigned(&offsets[2 * ordinal..2 * ordinal + 2]) as usize
        }
    }

    /// Whether end offsets are 4 bytes wide.
    #[inline]
    pub(super) fn is_wide(&self) -> bool {
        self.variable_at > self.layout.offsets_at + 2 * self.layout.variable_count
    }
}
