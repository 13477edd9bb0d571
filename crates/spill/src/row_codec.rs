//! Rows between operators as bytes: each value tells its kind, because values differ from the types that their columns
//! declare, and from stored rows (TIMESTAMP is in the session's zone). Never outlives the statement, so the form may
//! change at will.
//!
//! | tag | value | bytes behind it |
//! |---|---|---|
//! | 0 | NULL | |
//! | 1, 2 | signed, unsigned integer | 8 |
//! | 3 | decimal that fits 127 bits | scale 1, unscaled 16 |
//! | 4 | another decimal | length 1, text |
//! | 5, 6 | FLOAT, DOUBLE | 4, 8 |
//! | 7 | bytes | length 4, bytes |
//! | 8, 9, 10 | date, time, date with time | packed 4, 8, 8 |

use crate::workspace::corrupt;
use errors::SqlResult;
use values::{Decimal, RowRef, Rows, Value, ValueRef, packed};

const NULL: u8 = 0;
const INT: u8 = 1;
const UINT: u8 = 2;
const DECIMAL: u8 = 3;
const DECIMAL_TEXT: u8 = 4;
const FLOAT: u8 = 5;
const DOUBLE: u8 = 6;
const BYTES: u8 = 7;
const DATE: u8 = 8;
const TIME: u8 = 9;
const DATE_TIME: u8 = 10;

/// Digits of packed times: microseconds.
const DIGITS: u8 = 6;

/// Appends a row.
pub fn encode(row: RowRef<'_>, out: &mut Vec<u8>) {
    row.for_each(|value| encode_value(value, out));
}

#[inline]
fn tagged<const N: usize>(tag: u8, bytes: [u8; N], out: &mut Vec<u8>) {
    out.push(tag);
    out.extend_from_slice(&bytes);
}

fn encode_value(value: ValueRef<'_>, out: &mut Vec<u8>) {
    match value {
        ValueRef::Null => out.push(NULL),
        ValueRef::Int(number) => tagged(INT, number.to_le_bytes(), out),
        ValueRef::UInt(number) => tagged(UINT, number.to_le_bytes(), out),
        ValueRef::Float(number) => tagged(FLOAT, number.to_bits().to_le_bytes(), out),
        ValueRef::Double(number) => tagged(DOUBLE, number.to_bits().to_le_bytes(), out),
        ValueRef::Bytes(bytes) => {
            // A value is bounded by max_allowed_packet, 1 GiB.
            tagged(BYTES, (bytes.len() as u32).to_le_bytes(), out);
            out.extend_from_slice(bytes);
        }
        ValueRef::Date(date) => tagged(DATE, packed::date(date).to_le_bytes(), out),
        ValueRef::Time(time) => tagged(TIME, packed::time(time, DIGITS).to_le_bytes(), out),
        ValueRef::DateTime(moment) => tagged(DATE_TIME, packed::date_time(moment, DIGITS).to_le_bytes(), out),
        ValueRef::Decimal(number) => match number.unscaled_i128() {
            Some(unscaled) => {
                tagged(DECIMAL, [number.scale()], out);
                out.extend_from_slice(&unscaled.to_le_bytes());
            }
            None => {
                tagged(DECIMAL_TEXT, [0], out);
                let start = out.len();
                number.append_text(out);
                out[start - 1] = (out.len() - start) as u8;
            }
        },
    }
}

/// The bytes of rows, from their start.
pub struct Decoder<'a> {
    rest: &'a [u8],
}

impl<'a> Decoder<'a> {
    /// Over encoded rows.
    pub fn new(bytes: &'a [u8]) -> Decoder<'a> {
        Decoder { rest: bytes }
    }

    /// Bytes not read yet.
    pub fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// Appends a row of so many values to rows that are as wide or wider. Error 1030 if the bytes are no row.
    pub fn row(&mut self, width: usize, rows: &mut Rows) -> SqlResult<()> {
        rows.push_empty();
        for slot in 0..width {
            self.value(|value| rows.set(slot, value)).ok_or_else(corrupt)?;
        }
        Ok(())
    }

    /// A row of so many values. Error 1030 as well.
    pub fn values(&mut self, width: usize) -> SqlResult<Vec<Value>> {
        let mut row = Vec::with_capacity(width);
        for _ in 0..width {
            self.value(|value| row.push(value.to_value())).ok_or_else(corrupt)?;
        }
        Ok(row)
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.rest.split_first_chunk::<N>()?;
        self.rest = rest;
        Some(*head)
    }

    fn slice(&mut self, length: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(head)
    }

    /// Hands the next value on.
    #[inline]
    fn value(&mut self, put: impl FnOnce(ValueRef<'_>)) -> Option<()> {
        let [tag] = self.array()?;
        let decimal;
        put(match tag {
            NULL => ValueRef::Null,
            INT => ValueRef::Int(i64::from_le_bytes(self.array()?)),
            UINT => ValueRef::UInt(u64::from_le_bytes(self.array()?)),
            FLOAT => ValueRef::Float(f32::from_bits(u32::from_le_bytes(self.array()?))),
            DOUBLE => ValueRef::Double(f64::from_bits(u64::from_le_bytes(self.array()?))),
            BYTES => {
                let length = u32::from_le_bytes(self.array()?) as usize;
                ValueRef::Bytes(self.slice(length)?)
            }
            DATE => ValueRef::Date(packed::date_from(u32::from_le_bytes(self.array()?))),
            TIME => ValueRef::Time(packed::time_from(i64::from_le_bytes(self.array()?), DIGITS)),
            DATE_TIME => {
                ValueRef::DateTime(packed::date_time_from(u64::from_le_bytes(self.array()?), DIGITS))
            }
            DECIMAL => {
                let [scale] = self.array()?;
                decimal = Decimal::from_i128(i128::from_le_bytes(self.array()?), scale)?;
                ValueRef::Decimal(&decimal)
            }
            DECIMAL_TEXT => {
                let [length] = self.array()?;
                decimal = Decimal::parse(self.slice(usize::from(length))?).number;
                ValueRef::Decimal(&decimal)
            }
            _ => return None,
        });
        Some(())
    }
}
