//! Rows as the client wants them: text or binary. Main type: [`RowWriter`], made once for a result set.
//! Values go straight into the output buffer; only text in another character set is copied.

use crate::output::{push_length_encoded_bytes, push_length_encoded_integer};
use crate::result::ResultColumn;
use crate::type_code;
use charset::{Charset, CollationId};
use errors::SqlResult;
use values::json::{self, Watch};
use values::temporal::{Date, DateTime, Time};
use values::text::append_text;
use values::{ColumnType, RowRef, TypeKind, ValueRef};

/// NULL in a text row.
const NULL: u8 = 0xFB;
/// First bit used in the NULL bitmap of a binary row.
const NULL_BITMAP_OFFSET: usize = 2;

/// Writes the rows of one result set.
#[derive(Debug, Default)]
pub struct RowWriter {
    columns: Vec<ColumnWriter>,
    /// Numbers and dates must be converted too: the result character set is not an extension of ASCII.
    wide: Option<&'static Charset>,
    /// For values that are written before they are converted.
    scratch: Vec<u8>,
}

#[derive(Debug)]
struct ColumnWriter {
    column_type: ColumnType,
    /// Text is converted from the first character set to the second.
    conversion: Option<(&'static Charset, &'static Charset)>,
}

impl RowWriter {
    /// A writer for those columns. Text is converted to the character set of `results` unless that is BINARY.
    pub fn new(columns: &[ResultColumn], results: CollationId) -> RowWriter {
        let wanted = results.charset();
        let convert = results != CollationId::BINARY;
        RowWriter {
            columns: columns
                .iter()
                .map(|column| ColumnWriter::new(column, convert.then_some(wanted)))
                .collect(),
            wide: (convert && !wanted.is_ascii_based()).then_some(wanted),
            scratch: Vec::new(),
        }
    }

    /// Appends a row of the text protocol. The watch is asked while documents are printed; its error leaves a part of the row.
    pub fn push_text(&mut self, out: &mut Vec<u8>, row: RowRef<'_>, watch: &dyn Watch) -> SqlResult<()> {
        debug_assert_eq!(row.len(), self.columns.len(), "a row has a value for each column");
        for (column, value) in self.columns.iter().zip(row.iter()) {
            match (value, self.wide) {
                (ValueRef::Null, _) => out.push(NULL),
                (ValueRef::Bytes(bytes), _) => column.push_bytes(out, bytes, watch)?,
                (value, None) => column.push_short_text(out, value),
                (value, Some(wide)) => {
                    self.scratch.clear();
                    append_text(value, &column.column_type, &mut self.scratch);
                    let ascii = String::from_utf8_lossy(&self.scratch);
                    push_length_encoded_bytes(out, &wide.from_str(&ascii).text);
                }
            }
        }
        Ok(())
    }

    /// Appends a row of the binary protocol, likewise.
    pub fn push_binary(&self, out: &mut Vec<u8>, row: RowRef<'_>, watch: &dyn Watch) -> SqlResult<()> {
        debug_assert_eq!(row.len(), self.columns.len(), "a row has a value for each column");
        out.push(0);
        let bitmap = out.len();
        out.resize(bitmap + (self.columns.len() + 7 + NULL_BITMAP_OFFSET) / 8, 0);
        for (index, (column, value)) in self.columns.iter().zip(row.iter()).enumerate() {
            if matches!(value, ValueRef::Null) {
                let bit = index + NULL_BITMAP_OFFSET;
                out[bitmap + bit / 8] |= 1 << (bit % 8);
            } else {
                column.push_binary(out, value, watch)?;
            }
        }
        Ok(())
    }
}

impl ColumnWriter {
    fn new(column: &ResultColumn, results: Option<&'static Charset>) -> ColumnWriter {
        let column_type = column.column_type.clone();
        let conversion = match results {
            Some(target) if type_code::is_text(&column_type) || column_type.kind == TypeKind::Json => {
                let is_json = column_type.kind == TypeKind::Json;
                let own = if is_json { CollationId::UTF8MB4_BIN } else { column_type.collation };
                let source = own.charset();
                (!contains(target, source)).then_some((source, target))
            }
            _ => None,
        };
        ColumnWriter { column_type, conversion }
    }

    fn push_bytes(&self, out: &mut Vec<u8>, bytes: &[u8], watch: &dyn Watch) -> SqlResult<()> {
        if self.column_type.kind == TypeKind::Json {
            let mut text = Vec::new();
            json::print_watched(json::Node::of(bytes), &mut text, watch)?;
            self.push_text_bytes(out, &text);
        } else {
            self.push_text_bytes(out, bytes);
        }
        Ok(())
    }

    fn push_text_bytes(&self, out: &mut Vec<u8>, bytes: &[u8]) {
        match self.conversion {
            Some((source, target)) if !source.converts_unchanged(bytes, target) => {
                push_length_encoded_bytes(out, &source.convert(bytes, target).text);
            }
            _ => push_length_encoded_bytes(out, bytes),
        }
    }

    /// Text that is mostly short: its length is patched in front of it. Long texts are rare and moved.
    fn push_short_text(&self, out: &mut Vec<u8>, value: ValueRef<'_>) {
        if self.column_type.kind.has_members() {
            // ENUM and SET values that are still numbers: their members' text.
            let mut members = Vec::new();
            append_text(value, &self.column_type, &mut members);
            return self.push_text_bytes(out, &members);
        }
        let start = out.len();
        out.push(0);
        append_text(value, &self.column_type, out);
        let length = out.len() - start - 1;
        if length < usize::from(NULL) {
            out[start] = length as u8;
            return;
        }
        let long = out.split_off(start + 1);
        out.truncate(start);
        push_length_encoded_bytes(out, &long);
    }

    fn push_binary(&self, out: &mut Vec<u8>, value: ValueRef<'_>, watch: &dyn Watch) -> SqlResult<()> {
        match self.column_type.kind {
            TypeKind::TinyInt => out.push(integer(value) as u8),
            TypeKind::SmallInt | TypeKind::Year => {
                out.extend_from_slice(&(integer(value) as u16).to_le_bytes());
            }
            TypeKind::Int | TypeKind::MediumInt => {
                out.extend_from_slice(&(integer(value) as u32).to_le_bytes());
            }
            TypeKind::BigInt => out.extend_from_slice(&integer(value).to_le_bytes()),
            TypeKind::Float => out.extend_from_slice(&(approximate(value) as f32).to_le_bytes()),
            TypeKind::Double => out.extend_from_slice(&approximate(value).to_le_bytes()),
            TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp => {
                self.push_binary_date_time(out, value)
            }
            TypeKind::Time => push_binary_time(out, value),
            _ => match value {
                ValueRef::Bytes(bytes) => self.push_bytes(out, bytes, watch)?,
                value => self.push_short_text(out, value),
            },
        }
        Ok(())
    }

    fn push_binary_date_time(&self, out: &mut Vec<u8>, value: ValueRef<'_>) {
        let value = match value {
            ValueRef::DateTime(value) => value,
            ValueRef::Date(date) => DateTime { date, ..DateTime::default() },
            _ => DateTime::default(),
        };
        let date = value.date;
        let has_time =
            self.column_type.kind != TypeKind::Date && (value.hour | value.minute | value.second) != 0;
        let has_fraction = self.column_type.kind != TypeKind::Date && value.microsecond != 0;
        let length = match (has_time, has_fraction) {
            (_, true) => 11,
            (true, false) => 7,
            (false, false) if date == Date::default() => 0,
            (false, false) => 4,
        };
        out.push(length);
        let bytes = [date.month, date.day, value.hour, value.minute, value.second];
        if length >= 4 {
            out.extend_from_slice(&date.year.to_le_bytes());
            out.extend_from_slice(&bytes[..usize::from(length.min(7)) - 2]);
        }
        if length == 11 {
            out.extend_from_slice(&value.microsecond.to_le_bytes());
        }
    }
}

/// Whether text of `source` needs no conversion to be text of `target`. ASCII may hold bytes that are none.
fn contains(target: &Charset, source: &Charset) -> bool {
    target.name == source.name || source.is_binary() || (source.name == "utf8mb3" && target.name == "utf8mb4")
}

/// The value as the 64 bits of an integer. Only integers are expected here; others are cut to one.
fn integer(value: ValueRef<'_>) -> u64 {
    match value {
        ValueRef::Int(number) => number as u64,
        ValueRef::UInt(number) => number,
        ValueRef::Double(number) => number as i64 as u64,
        ValueRef::Float(number) => number as i64 as u64,
        ValueRef::Decimal(number) => number.to_f64() as i64 as u64,
        _ => 0,
    }
}

fn approximate(value: ValueRef<'_>) -> f64 {
    match value {
        ValueRef::Int(number) => number as f64,
        ValueRef::UInt(number) => number as f64,
        ValueRef::Double(number) => number,
        ValueRef::Float(number) => f64::from(number),
        ValueRef::Decimal(number) => number.to_f64(),
        _ => 0.0,
    }
}

fn push_binary_time(out: &mut Vec<u8>, value: ValueRef<'_>) {
    let time = match value {
        ValueRef::Time(time) => time,
        _ => Time::default(),
    };
    if (Time { negative: false, ..time }) == Time::default() {
        return out.push(0);
    }
    out.push(if time.microseconds == 0 { 8 } else { 12 });
    out.push(u8::from(time.negative));
    out.extend_from_slice(&u32::from(time.hours / 24).to_le_bytes());
    out.extend_from_slice(&[(time.hours % 24) as u8, time.minutes, time.seconds]);
    if time.microseconds != 0 {
        out.extend_from_slice(&time.microseconds.to_le_bytes());
    }
}

/// Appends a NULL or a value with its length: the default of COM_FIELD_LIST.
pub(crate) fn push_nullable_text(out: &mut Vec<u8>, text: Option<&[u8]>) {
    match text {
        None => out.push(NULL),
        Some(text) => {
            push_length_encoded_integer(out, text.len() as u64);
            out.extend_from_slice(text);
        }
    }
}

#[cfg(test)]
mod tests;
