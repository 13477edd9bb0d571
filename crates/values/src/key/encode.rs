//! Writing keys from values and straight from stored rows.

use super::{ENCODED_BYTES_MAX, KeyError, KeyLayout, NULL_MARK, Order, Part, VALUE_MARK};
use crate::packed;
use crate::row::{Form, RowView};
use crate::value::Value;
use charset::Collation;

impl KeyLayout {
    /// Appends the key of those values. Fewer values than parts make the key of a prefix of the parts,
    /// which is the lower bound of all keys that start with these values.
    /// On failure `out` holds what it held before.
    pub fn encode(&self, values: &[Value], out: &mut Vec<u8>) -> Result<(), KeyError> {
        let start = out.len();
        let mut result = Ok(());
        for (part, value) in values.iter().enumerate().take(self.parts.len()) {
            result = result.and_then(|()| self.encode_part(part, value, out));
        }
        finish(result, start, out)
    }

    /// Appends the key of a stored row. `columns` gives the row's column of each part; fewer columns than
    /// parts make a prefix. The row's columns must have the types that the parts were made with.
    pub fn encode_row(
        &self,
        row: &RowView<'_>,
        columns: &[usize],
        out: &mut Vec<u8>,
    ) -> Result<(), KeyError> {
        let start = out.len();
        let mut result = Ok(());
        for (position, (part, &column)) in self.parts.iter().zip(columns).enumerate() {
            result = result.and_then(|()| part.append(position, row.raw(column), out));
        }
        finish(result, start, out)
    }

    /// The same, with `value` in the place of what the row has for one part.
    pub fn encode_row_with(
        &self,
        row: &RowView<'_>,
        columns: &[usize],
        (replaced, value): (usize, &Value),
        out: &mut Vec<u8>,
    ) -> Result<(), KeyError> {
        let start = out.len();
        let mut result = Ok(());
        for (position, (part, &column)) in self.parts.iter().zip(columns).enumerate() {
            result = result.and_then(|()| match position == replaced {
                true => self.encode_part(position, value, out),
                false => part.append(position, row.raw(column), out),
            });
        }
        finish(result, start, out)
    }

    /// Appends one part.
    pub fn encode_part(&self, part: usize, value: &Value, out: &mut Vec<u8>) -> Result<(), KeyError> {
        let prepared = &self.parts[part];
        match value {
            Value::Null => prepared.append(part, None, out),
            Value::Bytes(bytes) if prepared.form == Form::Bytes => prepared.append(part, Some(bytes), out),
            _ => {
                let mut raw = [0; 32];
                let width = usize::from(prepared.form.width().ok_or(KeyError::WrongValue(part))?);
                prepared.form.write(value, &mut raw[..width]).ok_or(KeyError::WrongValue(part))?;
                prepared.append(part, Some(&raw[..width]), out)
            }
        }
    }
}

fn finish(result: Result<(), KeyError>, start: usize, out: &mut Vec<u8>) -> Result<(), KeyError> {
    let result = match out.len() - start > ENCODED_BYTES_MAX {
        true => result.and(Err(KeyError::TooLong)),
        false => result,
    };
    if result.is_err() {
        out.truncate(start);
    }
    result
}

impl Part {
    fn append(&self, position: usize, raw: Option<&[u8]>, out: &mut Vec<u8>) -> Result<(), KeyError> {
        let start = out.len();
        match raw {
            None if !self.nullable => return Err(KeyError::Null(position)),
            None => out.push(NULL_MARK),
            Some(raw) => {
                if self.nullable {
                    out.push(VALUE_MARK);
                }
                match self.form {
                    Form::Bytes => self.append_string(raw, out),
                    form => append_fixed(form, raw, out),
                }
            }
        }
        if self.descending {
            out[start..].iter_mut().for_each(|byte| *byte = !*byte);
        }
        Ok(())
    }

    fn append_string(&self, text: &[u8], out: &mut Vec<u8>) {
        match self.order {
            Order::Bytes => {
                let length = self.prefix_length.map_or(text.len(), |prefix| text.len().min(prefix as usize));
                append_bytes(&text[..length], out);
            }
            Order::Text(collation) => append_text(collation, self.prefix_length, text, out),
        }
    }
}

fn append_text(collation: &Collation, prefix_length: Option<u32>, text: &[u8], out: &mut Vec<u8>) {
    let text = match prefix_length {
        Some(characters) => collation.charset().prefix(text, characters as usize),
        None => text,
    };
    collation.sort_key(text, out);
}

/// Fixed-width values: the row's little-endian bytes reversed, with the sign bit flipped for signed forms.
fn append_fixed(form: Form, raw: &[u8], out: &mut Vec<u8>) {
    if let (1..=8, Form::Int(_) | Form::UInt(_) | Form::Decimal { .. } | Form::Time { .. }) =
        (raw.len(), form)
    {
        // The common case: one number of up to eight bytes.
        let sign = if matches!(form, Form::UInt(_)) { 0 } else { 1 << 63 };
        let bits = packed::unsigned(raw) << (64 - 8 * raw.len()) ^ sign;
        out.extend_from_slice(&bits.to_be_bytes()[..raw.len()]);
        return;
    }
    let start = out.len();
    out.extend(raw.iter().rev());
    let Some(first) = out.get_mut(start) else { return };
    match form {
        Form::Int(_) | Form::Decimal { .. } | Form::Time { .. } => *first ^= 0x80,
        Form::Float | Form::Double => order_float(&mut out[start..]),
        _ => {}
    }
}

/// Makes big-endian IEEE 754 bits order as numbers: negative numbers are inverted, others get their sign
/// bit set. Minus zero becomes zero, because SQL holds them equal.
fn order_float(bits: &mut [u8]) {
    let negative = bits[0] & 0x80 != 0;
    let zero = bits[0] & 0x7f == 0 && bits[1..].iter().all(|&byte| byte == 0);
    if negative && !zero {
        bits.iter_mut().for_each(|byte| *byte = !*byte);
    } else {
        bits[0] |= 0x80;
    }
}

/// Bytes 0 and 1 are written as 1 and 1 or 2, so that the closing 0 orders before every continuation.
pub(super) fn append_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    out.reserve(bytes.len() + 1);
    for &byte in bytes {
        if byte < 2 {
            out.extend_from_slice(&[1, byte + 1]);
        } else {
            out.push(byte);
        }
    }
    out.push(0);
}
