//! The protocol form of column values, straight from stored bytes. Main type: [`ColumnEncoder`], made once per
//! plan and column; then one call a value, without intermediate values for everything but rare types.

use crate::column_type::{ColumnType, TypeKind};
use crate::json::{self, Watch};
use crate::packed;
use crate::row::Form;
use crate::temporal::{DateTime, Time, TimeZone};
use crate::text;
use crate::value::Value;
use charset::{Charset, CollationId};
use errors::SqlResult;

/// Writes a column's values as length-encoded text or in the binary protocol's form.
#[derive(Clone, Debug)]
pub struct ColumnEncoder {
    column_type: ColumnType,
    form: Form,
    time_zone: TimeZone,
    /// Text may be long, or needs a time zone or another character set.
    is_special: bool,
    /// Source and target character set, where text may need conversion.
    conversion: Option<(&'static Charset, &'static Charset)>,
}

impl ColumnEncoder {
    /// An encoder for values of that type that go to a client whose results are in that collation's
    /// character set (`binary`: no conversion). TIMESTAMP values are stored in UTC and shown in `time_zone`.
    pub fn new(column_type: &ColumnType, results: CollationId, time_zone: TimeZone) -> ColumnEncoder {
        let is_json = column_type.kind == TypeKind::Json;
        let own = if is_json { CollationId::UTF8MB4_BIN } else { column_type.collation };
        let (source, target) = (own.charset(), results.charset());
        let is_text = column_type.kind.is_text() || column_type.kind.has_members() || is_json;
        let differs = source.name != target.name && !source.is_binary() && !target.is_binary();
        let conversion = (is_text && differs).then_some((source, target));
        let time_zone = if column_type.kind == TypeKind::Timestamp { time_zone } else { TimeZone::System };
        let is_special = conversion.is_some()
            || time_zone != TimeZone::System
            || matches!(column_type.kind, TypeKind::Enum | TypeKind::Set | TypeKind::Bit | TypeKind::Json);
        ColumnEncoder {
            form: Form::of(column_type),
            column_type: column_type.clone(),
            time_zone,
            is_special,
            conversion,
        }
    }

    /// Whether values go out as their bytes, behind their length.
    pub fn keeps_bytes(&self) -> bool {
        self.form == Form::Bytes && self.conversion.is_none()
    }

    /// Appends a value of the text protocol; None is NULL.
    #[inline]
    pub fn text(&self, raw: Option<&[u8]>, out: &mut Vec<u8>) {
        match raw {
            Some(raw) if self.form == Form::Bytes && self.conversion.is_none() => {
                append_length_encoded(raw, out)
            }
            Some(raw) if self.is_special => self.special_text(&self.form.value(raw), out),
            Some(raw) => {
                // No fixed-width value's text exceeds 250 bytes, so one length byte is enough.
                let length_at = out.len();
                out.push(0);
                text::append_stored_text(self.form, raw, &self.column_type, out);
                out[length_at] = (out.len() - length_at - 1) as u8;
            }
            None => out.push(NULL_TEXT),
        }
    }

    /// Appends a value of the text protocol that may be a long document: the watch is asked while it is printed.
    pub fn long_text(&self, raw: &[u8], out: &mut Vec<u8>, watch: &dyn Watch) -> SqlResult<()> {
        if self.form != Form::Json {
            self.text(Some(raw), out);
            return Ok(());
        }
        let mut text = Vec::new();
        json::print_watched(json::Node::of(raw), &mut text, watch)?;
        self.converted(&text, out);
        Ok(())
    }

    /// Appends a value of the text protocol.
    pub fn text_value(&self, value: &Value, out: &mut Vec<u8>) {
        match value {
            Value::Null => out.push(NULL_TEXT),
            _ => self.special_text(value, out),
        }
    }

    /// Appends a value of the binary protocol that is not NULL (NULLs are bits of the row's bitmap).
    #[inline]
    pub fn binary(&self, raw: &[u8], out: &mut Vec<u8>) {
        match self.form {
            // MEDIUMINT is sent in four bytes and YEAR in two.
            Form::Int(3) => out.extend_from_slice(&(packed::signed(raw) as i32).to_le_bytes()),
            Form::UInt(3) => out.extend_from_slice(&(packed::unsigned(raw) as u32).to_le_bytes()),
            Form::Year => out.extend_from_slice(&(self.form.integer(raw) as u16).to_le_bytes()),
            Form::Int(_) | Form::Float | Form::Double => out.extend_from_slice(raw),
            Form::UInt(_) if self.column_type.kind.is_integer() => out.extend_from_slice(raw),
            Form::Date => {
                append_binary_date_time(packed::date_from(packed::unsigned(raw) as u32).midnight(), out)
            }
            Form::DateTime { digits } => {
                let moment = packed::date_time_from(packed::unsigned(raw), digits);
                append_binary_date_time(self.time_zone.from_utc(moment), out);
            }
            Form::Time { digits } => append_binary_time(packed::time_from(packed::signed(raw), digits), out),
            _ => self.text(Some(raw), out),
        }
    }

    /// Appends a value of the binary protocol that is not NULL. Numbers are sent in the column type's width.
    pub fn binary_value(&self, value: &Value, out: &mut Vec<u8>) {
        let mut raw = [0; 32];
        let width = usize::from(self.form.width().unwrap_or(0));
        match (self.form, value) {
            (_, Value::Date(date)) => append_binary_date_time(date.midnight(), out),
            (_, Value::DateTime(moment)) => append_binary_date_time(self.time_zone.from_utc(*moment), out),
            (_, Value::Time(time)) => append_binary_time(*time, out),
            (Form::Bytes | Form::Json | Form::Decimal { .. } | Form::Null, _) => {
                self.special_text(value, out)
            }
            _ if self.form.write(value, &mut raw[..width]).is_some() => self.binary(&raw[..width], out),
            _ => self.special_text(value, out),
        }
    }

    /// Text of a value that may be long, need a time zone or another character set.
    fn special_text(&self, value: &Value, out: &mut Vec<u8>) {
        let mut text = Vec::new();
        match value {
            Value::DateTime(moment) => {
                self.time_zone.from_utc(*moment).append_text(self.column_type.fractional_digits(), &mut text);
            }
            _ => text::append_text(value.as_ref(), &self.column_type, &mut text),
        }
        self.converted(&text, out);
    }

    fn converted(&self, text: &[u8], out: &mut Vec<u8>) {
        match self.conversion {
            Some((source, target)) if !source.converts_unchanged(text, target) => {
                append_length_encoded(&source.convert(text, target).text, out);
            }
            _ => append_length_encoded(text, out),
        }
    }
}

/// NULL in the text protocol.
const NULL_TEXT: u8 = 0xfb;

/// Appends the length of the bytes as the protocol writes integers, then the bytes.
#[inline]
pub fn append_length_encoded(bytes: &[u8], out: &mut Vec<u8>) {
    append_length(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// Appends a length as the protocol writes integers.
#[inline(always)]
pub fn append_length(length: u64, out: &mut Vec<u8>) {
    match length {
        0..=250 => out.push(length as u8),
        251..=0xffff => {
            out.push(0xfc);
            out.extend_from_slice(&(length as u16).to_le_bytes());
        }
        0x1_0000..=0xff_ffff => {
            out.push(0xfd);
            out.extend_from_slice(&(length as u32).to_le_bytes()[..3]);
        }
        _ => {
            out.push(0xfe);
            out.extend_from_slice(&length.to_le_bytes());
        }
    }
}

/// The binary protocol leaves out what is zero at the end: nothing, 4, 7 or 11 bytes.
fn append_binary_date_time(moment: DateTime, out: &mut Vec<u8>) {
    let length_at = out.len();
    out.push(0);
    let has_clock = moment.hour != 0 || moment.minute != 0 || moment.second != 0;
    if moment != DateTime::ZERO {
        out.extend_from_slice(&moment.date.year.to_le_bytes());
        out.extend_from_slice(&[moment.date.month, moment.date.day]);
    }
    if has_clock || moment.microsecond != 0 {
        out.extend_from_slice(&[moment.hour, moment.minute, moment.second]);
    }
    if moment.microsecond != 0 {
        out.extend_from_slice(&moment.microsecond.to_le_bytes());
    }
    out[length_at] = (out.len() - length_at - 1) as u8;
}

/// Nothing, 8 or 12 bytes.
fn append_binary_time(time: Time, out: &mut Vec<u8>) {
    let length_at = out.len();
    out.push(0);
    if time.to_microseconds() != 0 {
        out.push(u8::from(time.negative));
        out.extend_from_slice(&u32::from(time.hours / 24).to_le_bytes());
        out.extend_from_slice(&[(time.hours % 24) as u8, time.minutes, time.seconds]);
        if time.microseconds != 0 {
            out.extend_from_slice(&time.microseconds.to_le_bytes());
        }
    }
    out[length_at] = (out.len() - length_at - 1) as u8;
}
