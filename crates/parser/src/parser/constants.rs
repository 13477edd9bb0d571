//! Strings and numbers that a statement's syntax wants, such as file names, lengths and counts. Literals of expressions are
//! in `expression/literal.rs`.

use super::*;

impl Parser<'_> {
    /// A string without introducer, e.g. a file name or comment. Adjacent literals are not joined here.
    pub(super) fn string(&mut self) -> SqlResult<Vec<u8>> {
        match self.kind() {
            TokenKind::String => self.written_bytes().map(|bytes| self.options.to_utf8(bytes)),
            _ => self.fail(),
        }
    }

    /// A string, or the bytes of a hexadecimal or bit literal, as file formats and passwords allow.
    pub(super) fn string_or_bytes(&mut self) -> SqlResult<Vec<u8>> {
        if self.kind() == TokenKind::String { self.string() } else { self.written_bytes() }
    }

    /// A string in the character set in which the client wrote it, or the bytes of a hexadecimal or bit literal.
    pub(super) fn written_bytes(&mut self) -> SqlResult<Vec<u8>> {
        let text = self.text_of(self.token());
        let value = match self.kind() {
            TokenKind::String => values::string_value(text, self.options),
            TokenKind::Hex => values::hex_value(text),
            TokenKind::Bits => values::bits_value(text),
            _ => return self.fail(),
        };
        self.advance();
        Ok(value)
    }

    /// A string as text.
    pub(super) fn string_text(&mut self) -> SqlResult<String> {
        Ok(String::from_utf8_lossy(&self.string()?).into_owned())
    }

    /// Digits without sign that fit 64 bits; larger ones count as the maximum, like MySQL's.
    pub(super) fn number(&mut self) -> SqlResult<u64> {
        let text = self.text_of(self.token());
        let value = match self.kind() {
            TokenKind::Integer => decimal_digits(text).unwrap_or(u64::MAX),
            TokenKind::Hex => {
                values::hex_value(text).iter().fold(0, |value, &byte| value << 8 | u64::from(byte))
            }
            TokenKind::Decimal | TokenKind::Float => {
                let number: f64 =
                    std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).unwrap_or(0.0);
                number.round() as u64
            }
            _ => return self.fail(),
        };
        self.advance();
        Ok(value)
    }

    /// As `number`, but what is no integer of 64 bits is a syntax error of its own wording.
    pub(super) fn whole_number(&mut self) -> SqlResult<u64> {
        let text = self.text_of(self.token());
        let is_too_large = self.kind() == TokenKind::Integer && decimal_digits(text).is_none();
        if is_too_large || matches!(self.kind(), TokenKind::Decimal | TokenKind::Float) {
            let what = errors::code::ER_ONLY_INTEGERS_ALLOWED.format;
            return Err(super::parse_error(what, self.source, self.token().start as usize, self.options));
        }
        self.number()
    }

    /// Digits alone, as lengths and positions are.
    pub(super) fn plain_number(&mut self) -> SqlResult<u64> {
        if self.kind() == TokenKind::Integer { self.number() } else { self.fail() }
    }
}

/// The value of digits, if 64 bits hold it.
pub(super) fn decimal_digits(text: &[u8]) -> Option<u64> {
    text.iter().try_fold(0u64, |value, digit| value.checked_mul(10)?.checked_add(u64::from(digit - b'0')))
}
