//! Literals: numbers without superfluous digits, dates in one form, text with its introducer.

use super::Printer;
use crate::ast::Literal;
use charset::{Charset, charset_by_name};
use std::fmt::Write as _;
use values::temporal::{DateRules, parse_date_time, parse_time};

impl Printer<'_> {
    pub(super) fn literal(&mut self, literal: &Literal) {
        match literal {
            Literal::Null => self.push("NULL"),
            Literal::True => self.push("true"),
            Literal::False => self.push("false"),
            Literal::Integer(value) => self.push(&value.to_string()),
            Literal::Decimal(digits) => self.decimal(digits),
            Literal::Float(digits) => self.push(digits),
            Literal::String { bytes, introducer } => self.string(bytes, introducer.as_deref()),
            Literal::Hex { bytes, introducer: Some(charset) }
            | Literal::Bits { bytes, introducer: Some(charset) } => {
                self.string(&padded(bytes, charset), Some(charset));
            }
            Literal::Hex { bytes, introducer: None } | Literal::Bits { bytes, introducer: None } => {
                self.bytes(bytes);
            }
            Literal::Date(text) => self.typed("DATE", text, date),
            Literal::Time(text) => self.typed("TIME", text, time),
            Literal::Timestamp(text) => self.typed("TIMESTAMP", text, timestamp),
        }
    }

    /// `007.` is 7 and `.5` is 0.5.
    fn decimal(&mut self, digits: &str) {
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let whole = whole.trim_start_matches('0');
        self.push(if whole.is_empty() { "0" } else { whole });
        if !fraction.is_empty() {
            self.push(".");
            self.push(fraction);
        }
    }

    /// Text with its introducer, which is the connection's where none was written. The text's bytes are kept; those that
    /// are not UTF-8 cannot be written as text (MySQL writes `?` and loses them).
    pub(super) fn string(&mut self, bytes: &[u8], introducer: Option<&str>) {
        if let Some(state) = &self.query {
            let shows = introducer.is_some() && state.style.introducers;
            match (introducer, std::str::from_utf8(bytes)) {
                (None, _) => return self.text_of_connection(bytes),
                (Some(_), Ok(text)) if !shows => return self.quoted(text),
                _ => {}
            }
        }
        let charset = introducer.unwrap_or(self.charset);
        self.text.push('_');
        self.text.push_str(super::names::charset(charset).as_ref());
        match std::str::from_utf8(bytes) {
            Ok(text) => self.quoted(text),
            Err(_) => {
                self.push(" ");
                self.bytes(bytes);
            }
        }
    }

    /// Text without introducer in a view: its bytes are in the connection's character set, and are converted to it again.
    fn text_of_connection(&mut self, bytes: &[u8]) {
        let utf8mb4 = charset::CollationId::UTF8MB4_0900_AI_CI.charset();
        let text = match charset_by_name(self.charset) {
            Some(charset) if charset.name != "binary" => charset.convert(bytes, utf8mb4).text,
            _ => bytes.to_vec(),
        };
        match String::from_utf8(text) {
            Ok(text) => self.quoted(&text),
            Err(error) => self.bytes(error.as_bytes()),
        }
    }

    pub(super) fn quoted(&mut self, text: &str) {
        self.push("'");
        for character in text.chars() {
            match character {
                '\'' => self.push("\\'"),
                '\\' => self.push("\\\\"),
                '\0' => self.push("\\0"),
                '\n' => self.push("\\n"),
                '\r' => self.push("\\r"),
                '\u{1a}' => self.push("\\Z"),
                other => self.text.push(other),
            }
        }
        self.push("'");
    }

    fn bytes(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return self.push("X''");
        }
        self.push("0x");
        for byte in bytes {
            // Writing to a String cannot fail.
            let _ = write!(self.text, "{byte:02x}");
        }
    }

    /// A date or time in its one form; what is none, or needs the session's time zone, as it was written.
    fn typed(&mut self, kind: &str, text: &[u8], form: impl FnOnce(&[u8], &mut Vec<u8>) -> Option<()>) {
        let mut written = Vec::new();
        if form(text, &mut written).is_none() {
            written = text.to_vec();
        }
        self.push(kind);
        self.quoted(&String::from_utf8_lossy(&written));
    }
}

/// Bytes as text of a character set whose characters have two bytes or four: zeros are added in front.
fn padded(bytes: &[u8], charset: &str) -> Vec<u8> {
    let character_bytes = charset_by_name(charset).map_or(1, Charset::min_bytes).max(1);
    let missing = bytes.len().next_multiple_of(character_bytes) - bytes.len();
    let mut padded = vec![0; missing];
    padded.extend_from_slice(bytes);
    padded
}

/// Dates are judged when the expression is bound, by the sql_mode of that moment.
const ANY_DATE: DateRules =
    DateRules { no_zero_date: false, no_zero_in_date: false, allow_invalid_dates: true };

fn date(text: &[u8], written: &mut Vec<u8>) -> Option<()> {
    let parsed = parse_date_time(text, ANY_DATE)?;
    if parsed.has_time || parsed.notes.truncated {
        return None;
    }
    parsed.value.date.append_text(written);
    Some(())
}

fn time(text: &[u8], written: &mut Vec<u8>) -> Option<()> {
    let parsed = parse_time(text)?;
    if parsed.has_date || parsed.notes.truncated || parsed.notes.out_of_range {
        return None;
    }
    let digits = fraction_digits(text);
    parsed.rounded(digits).append_text(digits, written);
    Some(())
}

fn timestamp(text: &[u8], written: &mut Vec<u8>) -> Option<()> {
    let parsed = parse_date_time(text, ANY_DATE)?;
    if !parsed.has_time || parsed.notes.truncated || parsed.offset_seconds.is_some() {
        return None;
    }
    let digits = fraction_digits(text);
    parsed.rounded(digits)?.append_text(digits, written);
    Some(())
}

fn fraction_digits(text: &[u8]) -> u8 {
    let Some(point) = text.iter().rposition(|byte| *byte == b'.') else { return 0 };
    text[point + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count().min(6) as u8
}
