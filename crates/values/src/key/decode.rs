//! Reading keys: the length of each part, and the values of reversible parts.

use super::{KeyError, KeyLayout, NULL_MARK, Order, Part};
use crate::row::Form;
use crate::value::Value;

impl KeyLayout {
    /// The values of all parts; None for a part that is not reversible.
    pub fn decode(&self, key: &[u8]) -> Result<Vec<Option<Value>>, KeyError> {
        let mut at = 0;
        let mut values = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            let rest = key.get(at..).unwrap_or_default();
            let length = part.length(rest)?;
            values.push(part.reversible.then(|| part.value(&rest[..length])));
            at += length;
        }
        Ok(values)
    }

    /// Bytes of the first `count` parts of a key. Entries whose keys agree in these bytes have equal values
    /// in these parts.
    pub fn prefix_bytes(&self, key: &[u8], count: usize) -> Result<usize, KeyError> {
        let mut at = 0;
        for part in self.parts.iter().take(count) {
            at += part.length(key.get(at..).unwrap_or_default())?;
        }
        Ok(at)
    }

    /// Whether the part at that offset of a key is NULL.
    pub fn is_null_at(&self, part: usize, key: &[u8], offset: usize) -> bool {
        let part = &self.parts[part];
        part.nullable && key.get(offset).is_some_and(|&mark| part.plain(mark) == NULL_MARK)
    }
}

impl Part {
    fn plain(&self, byte: u8) -> u8 {
        if self.descending { !byte } else { byte }
    }

    /// Bytes of this part at the start of `key`.
    fn length(&self, key: &[u8]) -> Result<usize, KeyError> {
        let mut at = 0;
        if self.nullable {
            let mark = *key.first().ok_or(KeyError::Corrupt)?;
            at = 1;
            if self.plain(mark) == NULL_MARK {
                return Ok(at);
            }
        }
        let rest = &key[at..];
        let length = match (self.form.width(), self.order) {
            (Some(width), _) => Some(usize::from(width)).filter(|&width| width <= rest.len()),
            (None, Order::Bytes) => rest.iter().position(|&byte| self.plain(byte) == 0).map(|end| end + 1),
            (None, Order::Text(collation)) => collation.sort_key_length(rest, self.descending),
        };
        Ok(at + length.ok_or(KeyError::Corrupt)?)
    }

    /// The value of a reversible part, whose bytes are exactly `key`.
    fn value(&self, key: &[u8]) -> Value {
        let mut plain: Vec<u8> = key.iter().map(|&byte| self.plain(byte)).collect();
        if self.nullable {
            if plain[0] == NULL_MARK {
                return Value::Null;
            }
            plain.remove(0);
        }
        match (self.form, self.order) {
            (Form::Bytes, Order::Bytes) => Value::Bytes(read_bytes(&plain)),
            (Form::Bytes, Order::Text(collation)) => Value::Bytes(collation.text_of_sort_key(&plain)),
            (form, _) => {
                if matches!(form, Form::Int(_) | Form::Decimal { .. } | Form::Time { .. }) {
                    plain[0] ^= 0x80;
                }
                plain.reverse();
                form.value(&plain)
            }
        }
    }
}

fn read_bytes(key: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(key.len());
    let mut rest = key.iter();
    while let Some(&byte) = rest.next() {
        match byte {
            0 => break,
            1 => bytes.push(rest.next().copied().unwrap_or(1).wrapping_sub(1)),
            _ => bytes.push(byte),
        }
    }
    bytes
}
