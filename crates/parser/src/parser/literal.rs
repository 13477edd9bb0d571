//! Literals: numbers, strings with their introducers, hexadecimal and bit values, dates.

use super::*;

/// The character sets that `_name` before a string can introduce.
const CHARSETS: &[&str] = &[
    "armscii8", "ascii", "big5", "binary", "cp1250", "cp1251", "cp1256", "cp1257", "cp850", "cp852", "cp866",
    "cp932", "dec8", "eucjpms", "euckr", "gb18030", "gb2312", "gbk", "geostd8", "greek", "hebrew", "hp8",
    "keybcs2", "koi8r", "koi8u", "latin1", "latin2", "latin5", "latin7", "macce", "macroman", "sjis", "swe7",
    "tis620", "ucs2", "ujis", "utf16", "utf16le", "utf32", "utf8", "utf8mb3", "utf8mb4",
];

impl Parser<'_> {
    /// A string without introducer, e.g. a file name or comment. Adjacent literals are not joined here.
    pub(super) fn string(&mut self) -> SqlResult<Vec<u8>> {
        if self.kind() != TokenKind::String {
            return self.fail();
        }
        let value = values::string_value(self.text_of(self.token()), self.options);
        self.advance();
        Ok(self.options.to_utf8(value))
    }

    /// A string, or the bytes of a hexadecimal or bit literal, as file formats and passwords allow.
    pub(super) fn string_or_bytes(&mut self) -> SqlResult<Vec<u8>> {
        let text = self.text_of(self.token());
        let value = match self.kind() {
            TokenKind::String => return self.string(),
            TokenKind::Hex => values::hex_value(text),
            TokenKind::Bits => values::bits_value(text),
            _ => return self.fail(),
        };
        self.advance();
        Ok(value)
    }

    /// A JSON path: a string, with an introducer or not.
    pub(super) fn path_literal(&mut self) -> SqlResult<Vec<u8>> {
        self.introducer();
        self.string()
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

    /// `_charset` before a string, hexadecimal or bit literal.
    fn introducer(&mut self) -> Option<Name> {
        if self.kind() != TokenKind::Name
            || !matches!(self.kind_at(1), TokenKind::String | TokenKind::Hex | TokenKind::Bits)
        {
            return None;
        }
        let name = self.text_of(self.token()).strip_prefix(b"_")?;
        let known = CHARSETS.iter().find(|charset| charset.as_bytes().eq_ignore_ascii_case(name))?;
        self.advance();
        self.deprecate_charset(known);
        Some((*known).to_owned())
    }

    /// Any literal, or None where none starts.
    #[inline(never)]
    pub(super) fn literal(&mut self) -> SqlResult<Option<Literal>> {
        let introducer = self.introducer();
        let text = self.text_of(self.token());
        let literal = match self.kind() {
            TokenKind::String => return Ok(Some(self.joined_string(introducer))),
            TokenKind::NationalString => {
                let mut bytes = Vec::new();
                values::append_string(&mut bytes, &text[1..], self.options);
                self.advance();
                self.append_adjacent(&mut bytes);
                bytes = self.options.to_utf8(bytes);
                self.deprecate(Deprecation::National);
                return Ok(Some(Literal::String { bytes, introducer: Some("utf8mb3".to_owned()) }));
            }
            TokenKind::Integer => integer(text),
            TokenKind::Decimal => Literal::Decimal(ascii(text)),
            TokenKind::Float => Literal::Float(ascii(text)),
            TokenKind::Hex => Literal::Hex { bytes: values::hex_value(text), introducer },
            TokenKind::Bits => Literal::Bits { bytes: values::bits_value(text), introducer },
            TokenKind::Word(Keyword::Null) => Literal::Null,
            TokenKind::Word(Keyword::True) => Literal::True,
            TokenKind::Word(Keyword::False) => Literal::False,
            TokenKind::Word(word @ (Keyword::Date | Keyword::Time | Keyword::Timestamp))
                if self.kind_at(1) == TokenKind::String =>
            {
                self.advance();
                let text = self.string()?;
                return Ok(Some(match word {
                    Keyword::Date => Literal::Date(text),
                    Keyword::Time => Literal::Time(text),
                    _ => Literal::Timestamp(text),
                }));
            }
            _ => return Ok(None),
        };
        self.advance();
        Ok(Some(literal))
    }

    fn joined_string(&mut self, introducer: Option<Name>) -> Literal {
        let mut bytes = values::string_value(self.text_of(self.token()), self.options);
        self.advance();
        self.append_adjacent(&mut bytes);
        if introducer.is_none() {
            bytes = self.options.to_connection(bytes);
        }
        Literal::String { bytes, introducer }
    }

    fn append_adjacent(&mut self, bytes: &mut Vec<u8>) {
        while self.kind() == TokenKind::String {
            values::append_string(bytes, self.text_of(self.token()), self.options);
            self.advance();
        }
    }

    /// A literal with an optional sign, as DEFAULT takes it.
    pub(super) fn signed_literal(&mut self) -> SqlResult<Expression> {
        let operator = match self.kind() {
            TokenKind::Minus => Some(UnaryOperator::Minus),
            TokenKind::Plus => Some(UnaryOperator::Plus),
            _ => None,
        };
        if operator.is_some() {
            self.advance();
        }
        let Some(literal) = self.literal()? else { return self.fail() };
        let operand = Expression::Literal(literal);
        Ok(match operator {
            Some(operator) => Expression::Unary { operator, operand: Box::new(operand) },
            None => operand,
        })
    }
}

fn integer(text: &[u8]) -> Literal {
    match decimal_digits(text) {
        Some(value) => Literal::Integer(value),
        None => Literal::Decimal(ascii(text)),
    }
}

fn decimal_digits(text: &[u8]) -> Option<u64> {
    text.iter().try_fold(0u64, |value, digit| value.checked_mul(10)?.checked_add(u64::from(digit - b'0')))
}

fn ascii(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}
