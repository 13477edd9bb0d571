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

use super::workspace::corrupt;
use errors::SqlResult;
use values::{Decimal, Value, packed};

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
pub fn encode(row: &[Value], out: &mut Vec<u8>) {
    for value in row {
        encode_value(value, out);
    }
}

#[inline]
fn tagged<const N: usize>(tag: u8, bytes: [u8; N], out: &mut Vec<u8>) {
    out.push(tag);
    out.extend_from_slice(&bytes);
}

fn encode_value(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.push(NULL),
        Value::Int(number) => tagged(INT, number.to_le_bytes(), out),
        Value::UInt(number) => tagged(UINT, number.to_le_bytes(), out),
        Value::Float(number) => tagged(FLOAT, number.to_bits().to_le_bytes(), out),
        Value::Double(number) => tagged(DOUBLE, number.to_bits().to_le_bytes(), out),
        Value::Bytes(bytes) => {
            // A value is bounded by max_allowed_packet, 1 GiB.
            tagged(BYTES, (bytes.len() as u32).to_le_bytes(), out);
            out.extend_from_slice(bytes);
        }
        Value::Date(date) => tagged(DATE, packed::date(*date).to_le_bytes(), out),
        Value::Time(time) => tagged(TIME, packed::time(*time, DIGITS).to_le_bytes(), out),
        Value::DateTime(moment) => tagged(DATE_TIME, packed::date_time(*moment, DIGITS).to_le_bytes(), out),
        Value::Decimal(number) => match number.unscaled_i128() {
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

    /// Fills a row. Error 1030 if the bytes are no row.
    pub fn row(&mut self, row: &mut [Value]) -> SqlResult<()> {
        for slot in row {
            *slot = self.value().ok_or_else(corrupt)?;
        }
        Ok(())
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

    fn value(&mut self) -> Option<Value> {
        let [tag] = self.array()?;
        Some(match tag {
            NULL => Value::Null,
            INT => Value::Int(i64::from_le_bytes(self.array()?)),
            UINT => Value::UInt(u64::from_le_bytes(self.array()?)),
            FLOAT => Value::Float(f32::from_bits(u32::from_le_bytes(self.array()?))),
            DOUBLE => Value::Double(f64::from_bits(u64::from_le_bytes(self.array()?))),
            BYTES => {
                let length = u32::from_le_bytes(self.array()?) as usize;
                Value::Bytes(self.slice(length)?.to_vec())
            }
            DATE => Value::Date(packed::date_from(u32::from_le_bytes(self.array()?))),
            TIME => Value::Time(packed::time_from(i64::from_le_bytes(self.array()?), DIGITS)),
            DATE_TIME => Value::DateTime(packed::date_time_from(u64::from_le_bytes(self.array()?), DIGITS)),
            DECIMAL => {
                let [scale] = self.array()?;
                Value::Decimal(Decimal::from_i128(i128::from_le_bytes(self.array()?), scale)?)
            }
            DECIMAL_TEXT => {
                let [length] = self.array()?;
                Value::Decimal(Decimal::parse(self.slice(usize::from(length))?).number)
            }
            _ => return None,
        })
    }
}
