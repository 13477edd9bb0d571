//! Storing to CHAR, VARCHAR, the TEXT family, BINARY, VARBINARY and the BLOB family.

use super::StoreContext;
use crate::column_type::{ColumnType, TypeKind};
use crate::convert::{printable_byte, to_text};
use crate::number_fit::append_f64_within;
use crate::value::Value;
use charset::Charset;
use errors::SqlResult;
use std::borrow::Cow;

pub(super) fn text(
    value: &Value,
    from: &ColumnType,
    to: &ColumnType,
    context: &mut StoreContext<'_>,
) -> SqlResult<Value> {
    let charset = to.collation.charset();
    let bytes = text_within(value, from, to, context)?;
    let source = if from.kind.is_string() { from.collation.charset() } else { charset };
    let reported = context.diagnostics.count();
    let converted = convert_text(bytes, source, charset, from, context)?;
    let is_reported = context.diagnostics.count() != reported;
    let kept = cut_text(&converted, charset, to, is_reported, context)?;
    let kept = match to.kind {
        TypeKind::Char => charset.length_without_trailing_spaces(&converted[..kept]),
        _ => kept,
    };
    Ok(Value::Bytes(into_prefix(converted, kept)))
}

/// The value's text. A floating point number is written with as many digits as the column has characters for.
fn text_within<'a>(
    value: &'a Value,
    from: &ColumnType,
    to: &ColumnType,
    context: &mut StoreContext<'_>,
) -> SqlResult<Cow<'a, [u8]>> {
    match value {
        Value::Double(number) if !to.kind.is_large_object() => {
            let mut text = Vec::new();
            if !append_f64_within(*number, to.characters() as usize, &mut text) {
                context.too_long()?;
            }
            Ok(Cow::Owned(text))
        }
        _ => Ok(to_text(value.as_ref(), from).unwrap_or_default()),
    }
}

fn into_prefix(bytes: Cow<'_, [u8]>, length: usize) -> Vec<u8> {
    match bytes {
        Cow::Borrowed(bytes) => bytes[..length].to_vec(),
        Cow::Owned(mut bytes) => {
            bytes.truncate(length);
            bytes
        }
    }
}

/// The text in the column's character set. What cannot be converted becomes '?', what is no text at all ends
/// the value, each with error or warning 1366.
fn convert_text<'a>(
    bytes: Cow<'a, [u8]>,
    source: &Charset,
    target: &Charset,
    from: &ColumnType,
    context: &mut StoreContext<'_>,
) -> SqlResult<Cow<'a, [u8]>> {
    let is_ascii = bytes.is_ascii();
    if is_ascii && target.is_ascii_based() && source.is_ascii_based() {
        return Ok(bytes);
    }
    if !from.kind.is_string() && !target.is_ascii_based() {
        // Numbers and dates were printed in ASCII.
        return Ok(Cow::Owned(target.from_str(&String::from_utf8_lossy(&bytes)).text));
    }
    if source.is_binary() || source.name == target.name {
        let bytes = if source.is_binary() { aligned(bytes, target.min_bytes()) } else { bytes };
        let valid = target.valid_length(&bytes);
        if valid < bytes.len() {
            context.incorrect("string", &printable(&bytes[valid..]))?;
            return Ok(Cow::Owned(into_prefix(bytes, valid)));
        }
        return Ok(bytes);
    }
    let conversion = source.convert(&bytes, target);
    if let Some(position) = conversion.first_error {
        context.incorrect("string", &printable(&bytes[position..]))?;
    }
    Ok(Cow::Owned(conversion.text))
}

/// Bytes taken for text whose characters have at least so many: the first one is completed with zeros in front.
fn aligned(bytes: Cow<'_, [u8]>, min_bytes: usize) -> Cow<'_, [u8]> {
    let missing = bytes.len().next_multiple_of(min_bytes.max(1)) - bytes.len();
    if missing == 0 {
        return bytes;
    }
    let mut whole = vec![0; missing];
    whole.extend_from_slice(&bytes);
    Cow::Owned(whole)
}

/// Bytes of the text that the column holds. One report a value is enough.
fn cut_text(
    text: &[u8],
    charset: &Charset,
    to: &ColumnType,
    is_reported: bool,
    context: &mut StoreContext<'_>,
) -> SqlResult<usize> {
    let kept = match to.kind.large_object_bytes_max() {
        Some(bytes_max) if text.len() <= bytes_max as usize => return Ok(text.len()),
        Some(bytes_max) => whole_characters(text, charset, bytes_max as usize),
        None => charset.offset(text, to.characters() as usize),
    };
    if kept == text.len() || is_reported {
        return Ok(kept);
    }
    if charset.length_without_trailing_spaces(text) > kept {
        context.too_long()?;
    } else if to.kind != TypeKind::Char {
        context.note_truncated();
    }
    Ok(kept)
}

/// The longest start of whole characters within a number of bytes.
fn whole_characters(text: &[u8], charset: &Charset, bytes_max: usize) -> usize {
    let mut end = 0;
    for step in charset.characters(text) {
        if end + step.length > bytes_max {
            break;
        }
        end += step.length;
    }
    end
}

/// Bytes as the message quotes them: six at most, others than printable ASCII as \xHH.
fn printable(bytes: &[u8]) -> String {
    const SHOWN_MAX: usize = 6;
    let mut text = String::new();
    for &byte in bytes.iter().take(SHOWN_MAX) {
        text.push_str(&printable_byte(byte));
    }
    if bytes.len() > SHOWN_MAX {
        text.push_str("...");
    }
    text
}

pub(super) fn binary(
    value: &Value,
    from: &ColumnType,
    to: &ColumnType,
    context: &mut StoreContext<'_>,
) -> SqlResult<Value> {
    let mut bytes = text_within(value, from, to, context)?.into_owned();
    let bytes_max = to.kind.large_object_bytes_max().unwrap_or_else(|| to.characters()) as usize;
    if bytes.len() > bytes_max {
        context.too_long()?;
        bytes.truncate(bytes_max);
    }
    if to.kind == TypeKind::Binary {
        bytes.resize(bytes_max, 0);
    }
    Ok(Value::Bytes(bytes))
}
