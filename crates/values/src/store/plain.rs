//! Storing what needs no conversion and raises no message, without allocation: [`store_plainly`], [`store_text_plainly`].
//! Both say no to whatever [`super::store`] might change, reject or report; the caller then calls that. Where they say yes,
//! the outcome is the same (property test in `tests.rs`).

use crate::column_type::{ColumnType, TypeKind};
use crate::value::Value;
use charset::CollationId;

/// Digits of an integer that fits 64 bits whatever they are.
const DIGITS_MAX: usize = 18;
/// Length of a number's text that is read as DOUBLE here.
const DOUBLE_TEXT_MAX: usize = 40;

/// Puts a value that the column holds as it is into `slot`. False if it must be stored by `store`.
pub fn store_plainly(value: &Value, from: &ColumnType, to: &ColumnType, slot: &mut Value) -> bool {
    match value {
        Value::Int(number) if to.kind.is_integer() && from.kind.is_integer() => {
            store_integer(i128::from(*number), to, slot)
        }
        Value::UInt(number) if to.kind.is_integer() && from.kind.is_integer() => {
            store_integer(i128::from(*number), to, slot)
        }
        Value::Double(number) if to.kind == TypeKind::Double && from.kind == TypeKind::Double => {
            store_double(*number, to, slot)
        }
        Value::Bytes(bytes) if from.kind.is_string() && to.kind.is_string() => {
            store_string(bytes, from.collation, to, slot)
        }
        Value::DateTime(moment) if to.kind == TypeKind::DateTime && from.kind == TypeKind::DateTime => {
            // Without ALLOW_INVALID_DATES what such a mode let in once is not stored again.
            let is_real = moment.date.year > 0 && moment.date.is_real();
            let fits = from.fractional_digits() == to.fractional_digits();
            if is_real && fits {
                *slot = Value::DateTime(*moment);
            }
            is_real && fits
        }
        _ => false,
    }
}

/// As [`store_plainly`], for text of that collation: fields of a file.
pub fn store_text_plainly(text: &[u8], from: CollationId, to: &ColumnType, slot: &mut Value) -> bool {
    match to.kind {
        kind if kind.is_string() => store_string(text, from, to, slot),
        kind if kind.is_integer() && from.charset().is_ascii_based() => {
            integer_of(text).is_some_and(|number| store_integer(number, to, slot))
        }
        TypeKind::Double if from.charset().is_ascii_based() => {
            double_of(text).is_some_and(|number| store_double(number, to, slot))
        }
        _ => false,
    }
}

fn integer_of(text: &[u8]) -> Option<i128> {
    let (negative, digits) = match text.split_first() {
        Some((b'-', rest)) => (true, rest),
        _ => (false, text),
    };
    if digits.is_empty() || digits.len() > DIGITS_MAX || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = digits.iter().fold(0i64, |number, digit| number * 10 + i64::from(digit - b'0'));
    Some(i128::from(if negative { -number } else { number }))
}

fn store_integer(number: i128, to: &ColumnType, slot: &mut Value) -> bool {
    let (low, high) = to.integer_range().unwrap_or((i64::MIN, u64::MAX));
    // -0 of an unsigned column is left to those who know.
    if number < i128::from(low) || number > i128::from(high) {
        return false;
    }
    *slot = if to.unsigned { Value::UInt(number as u64) } else { Value::Int(number as i64) };
    true
}

fn double_of(text: &[u8]) -> Option<f64> {
    let plain = text.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    let begins = text.first().is_some_and(u8::is_ascii_digit) && text.last().is_some_and(u8::is_ascii_digit);
    if !plain || !begins || text.len() > DOUBLE_TEXT_MAX {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

fn store_double(number: f64, to: &ColumnType, slot: &mut Value) -> bool {
    let plain = number.is_finite() && to.decimals.is_none() && !(to.unsigned && number.is_sign_negative());
    if plain {
        *slot = Value::Double(number);
    }
    plain
}

fn store_string(text: &[u8], from: CollationId, to: &ColumnType, slot: &mut Value) -> bool {
    let padded_bytes = match to.kind {
        kind if kind.is_binary() => {
            let bytes_max = kind.large_object_bytes_max().unwrap_or_else(|| to.characters()) as usize;
            if text.len() > bytes_max {
                return false;
            }
            if kind == TypeKind::Binary { bytes_max } else { text.len() }
        }
        _ if fits_text(text, from, to) => text.len(),
        _ => return false,
    };
    if !matches!(slot, Value::Bytes(_)) {
        *slot = Value::Bytes(Vec::with_capacity(padded_bytes));
    }
    if let Value::Bytes(bytes) = slot {
        bytes.clear();
        bytes.extend_from_slice(text);
        bytes.resize(padded_bytes, 0);
    }
    true
}

/// Whether a text column holds these bytes as they are.
fn fits_text(text: &[u8], from: CollationId, to: &ColumnType) -> bool {
    let (source, target) = (from.charset(), to.collation.charset());
    let unchanged = if text.is_ascii() {
        source.is_ascii_based() && target.is_ascii_based()
    } else {
        is_valid_in_both(text, source.name, target.name)
    };
    let ends_in_space = to.kind == TypeKind::Char && text.last() == Some(&b' ');
    if !unchanged || ends_in_space {
        return false;
    }
    match to.kind.large_object_bytes_max() {
        Some(bytes_max) => text.len() <= bytes_max as usize,
        None => {
            let characters_max = to.characters() as usize;
            text.len() <= characters_max || target.character_count(text) <= characters_max
        }
    }
}

/// Whether bytes that are not ASCII are the same valid text in both character sets: the UTF-8 ones only.
fn is_valid_in_both(text: &[u8], source: &str, target: &str) -> bool {
    let is_utf8 = |name: &str| name == "utf8mb4" || name == "utf8mb3";
    let narrow = source == "utf8mb3" || target == "utf8mb3";
    is_utf8(source)
        && is_utf8(target)
        && std::str::from_utf8(text).is_ok()
        && !(narrow && text.iter().any(|byte| *byte >= 0xF0))
}

/// Tells of text that comes piece by piece whether it is the same in another character set. Main use: text too long for memory.
#[derive(Debug)]
pub struct UnchangedText {
    source: CollationId,
    target: CollationId,
    is_unchanged: bool,
    /// The first bytes of a character whose others are still to come.
    begun: Vec<u8>,
}

impl UnchangedText {
    /// Nothing came yet.
    pub fn new(source: CollationId, target: CollationId) -> UnchangedText {
        let is_unchanged = source.charset().is_ascii_based() && target.charset().is_ascii_based();
        UnchangedText { source, target, is_unchanged, begun: Vec::new() }
    }

    /// The next piece.
    pub fn push(&mut self, piece: &[u8]) {
        if !self.is_unchanged || self.begun.is_empty() && piece.is_ascii() {
            return;
        }
        let mut bytes = std::mem::take(&mut self.begun);
        bytes.extend_from_slice(piece);
        let whole = match std::str::from_utf8(&bytes) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => bytes.len(),
        };
        self.begun = bytes.split_off(whole);
        self.is_unchanged = is_valid_in_both(&bytes, self.source.charset().name, self.target.charset().name);
    }

    /// What holds of all pieces.
    pub fn is_unchanged(&self) -> bool {
        self.is_unchanged && self.begun.is_empty()
    }
}
