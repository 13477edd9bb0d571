//! Writing a row from values that were converted to their column types by `store`.

use super::outside::OUTSIDE;
use super::{Form, Place, RowError, RowLayout, RowView, WIDE_OFFSETS};
use crate::packed;
use crate::value::Value;

impl RowLayout {
    /// The stored form of a row.
    pub fn encode(&self, values: &[Value]) -> Result<Vec<u8>, RowError> {
        let mut row = Vec::new();
        self.encode_into(values, &mut row)?;
        Ok(row)
    }

    /// Appends the stored form of a row. On failure `out` holds what it held before.
    pub fn encode_into(&self, values: &[Value], out: &mut Vec<u8>) -> Result<(), RowError> {
        let start = out.len();
        let result = self.write(values, out);
        if result.is_err() {
            out.truncate(start);
        }
        result
    }

    fn write(&self, values: &[Value], out: &mut Vec<u8>) -> Result<(), RowError> {
        if values.len() != self.columns.len() {
            return Err(RowError::WrongCount);
        }
        let variable_bytes = self.variable_bytes(values);
        let row_at = out.len();
        let (header_bytes, offset_bytes) = self.begin(variable_bytes, false, out)?;
        for (position, (column, value)) in self.columns.iter().zip(values).enumerate() {
            if matches!(value, Value::Null) {
                match column.null_bit {
                    0 => return Err(RowError::Null(position)),
                    bit => out[row_at + self.bitmap_at + (bit / 8) as usize] |= 1 << (bit % 8),
                }
            }
            match column.place {
                Place::Fixed(offset, width) => {
                    let (at, width) = (row_at + offset as usize, usize::from(width));
                    column
                        .form
                        .write(value, &mut out[at..at + width])
                        .ok_or(RowError::WrongValue(position))?;
                }
                Place::Variable(ordinal) => {
                    match value {
                        Value::Bytes(bytes) => out.extend_from_slice(bytes),
                        Value::Null => {}
                        _ => return Err(RowError::WrongValue(position)),
                    }
                    let end = (out.len() - row_at - header_bytes) as u32;
                    let at = row_at + self.offsets_at + offset_bytes * ordinal as usize;
                    out[at..at + offset_bytes].copy_from_slice(&end.to_le_bytes()[..offset_bytes]);
                }
                Place::Nowhere if matches!(value, Value::Null) => {}
                Place::Nowhere => return Err(RowError::WrongValue(position)),
            }
        }
        Ok(())
    }

    /// Appends the stored form of a row whose columns are the columns at these positions of another stored row. The columns
    /// must have the same types. On failure `out` holds what it held before.
    pub fn encode_from(
        &self,
        source: &RowView<'_>,
        columns: &[usize],
        out: &mut Vec<u8>,
    ) -> Result<(), RowError> {
        if columns.len() != self.columns.len() {
            return Err(RowError::WrongCount);
        }
        let bytes_of = |column: &usize| match self.variable_count {
            0 => 0,
            _ => source.variable_bytes(*column),
        };
        let variable_bytes: usize = columns.iter().map(bytes_of).sum();
        let row_at = out.len();
        let (header_bytes, offset_bytes) = self.begin(variable_bytes, false, out)?;
        for (position, (column, from)) in self.columns.iter().zip(columns).enumerate() {
            let raw = source.raw(*from);
            if raw.is_none() && column.null_bit == 0 {
                out.truncate(row_at);
                return Err(RowError::Null(position));
            }
            if raw.is_none() {
                out[row_at + self.bitmap_at + (column.null_bit / 8) as usize] |= 1 << (column.null_bit % 8);
            }
            match column.place {
                Place::Fixed(offset, width) => {
                    let at = row_at + offset as usize;
                    let raw = raw.unwrap_or_default();
                    debug_assert!(raw.is_empty() || raw.len() == usize::from(width));
                    out[at..at + raw.len()].copy_from_slice(raw);
                }
                Place::Variable(ordinal) => {
                    out.extend_from_slice(raw.unwrap_or_default());
                    let end = (out.len() - row_at - header_bytes) as u32;
                    let at = row_at + self.offsets_at + offset_bytes * ordinal as usize;
                    out[at..at + offset_bytes].copy_from_slice(&end.to_le_bytes()[..offset_bytes]);
                }
                Place::Nowhere => {}
            }
        }
        Ok(())
    }

    /// Appends the header of a row with so many bytes of variable columns: zeros but for the width of offsets, which are wide
    /// in any case if the row has references. Returns the length of the header and of an offset.
    pub(super) fn begin(
        &self,
        variable_bytes: usize,
        has_outside: bool,
        out: &mut Vec<u8>,
    ) -> Result<(usize, usize), RowError> {
        if variable_bytes >= OUTSIDE {
            return Err(RowError::TooLarge);
        }
        let offset_bytes = if has_outside || variable_bytes > usize::from(u16::MAX) { 4 } else { 2 };
        let row_at = out.len();
        let header_bytes = self.offsets_at + offset_bytes * self.variable_count;
        out.reserve(header_bytes + variable_bytes);
        out.resize(row_at + header_bytes, 0);
        if offset_bytes == 4 {
            out[row_at + self.bitmap_at] |= WIDE_OFFSETS;
        }
        Ok((header_bytes, offset_bytes))
    }

    fn variable_bytes(&self, values: &[Value]) -> usize {
        let bytes = |value: &Value| if let Value::Bytes(bytes) = value { bytes.len() } else { 0 };
        values.iter().map(bytes).sum()
    }
}

impl Form {
    /// Writes a value into bytes of the form's width; NULL writes zeros. None when the value does not fit.
    pub(crate) fn write(self, value: &Value, out: &mut [u8]) -> Option<()> {
        let bits: u64 = match (self, value) {
            (_, Value::Null) => {
                out.fill(0);
                return Some(());
            }
            (Form::Decimal { scale, .. }, Value::Decimal(number)) => {
                return number.write_le_bytes(scale, out);
            }
            (Form::Int(width), _) => {
                let number = match value {
                    Value::Int(number) => *number,
                    Value::UInt(number) => i64::try_from(*number).ok()?,
                    _ => return None,
                };
                let spare_bits = 64 - 8 * u32::from(width);
                if (number << spare_bits) >> spare_bits != number {
                    return None;
                }
                number as u64
            }
            (Form::UInt(width), _) => {
                let number = match value {
                    Value::Int(number) => u64::try_from(*number).ok()?,
                    Value::UInt(number) => *number,
                    _ => return None,
                };
                if width < 8 && number >> (8 * u32::from(width)) != 0 {
                    return None;
                }
                number
            }
            (Form::Year, Value::UInt(0) | Value::Int(0)) => 0,
            (Form::Year, Value::UInt(year @ 1901..=2155)) => year - 1900,
            (Form::Year, Value::Int(year @ 1901..=2155)) => *year as u64 - 1900,
            (Form::Float, Value::Float(number)) => u64::from(number.to_bits()),
            (Form::Double, Value::Double(number)) => number.to_bits(),
            (Form::Date, Value::Date(date)) => u64::from(packed::date(*date)),
            (Form::Time { digits }, Value::Time(time)) => packed::time(*time, digits) as u64,
            (Form::DateTime { digits }, Value::DateTime(moment)) => packed::date_time(*moment, digits),
            _ => return None,
        };
        out.copy_from_slice(&bits.to_le_bytes()[..out.len()]);
        Some(())
    }
}
