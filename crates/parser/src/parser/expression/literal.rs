//! Literals: numbers, strings with their introducers, hexadecimal and bit values, dates.

use crate::parser::constants::decimal_digits;
use crate::parser::*;

/// A JSON path: text of any kind, with an introducer or not.
pub(crate) fn path_literal(parser: &mut Parser) -> SqlResult<Vec<u8>> {
    if !matches!(parser.kind(), TokenKind::String | TokenKind::NationalString | TokenKind::Name) {
        return parser.fail();
    }
    let at = parser.at;
    match literal(parser)? {
        Some(Literal::String { bytes, introducer: None }) => Ok(bytes),
        Some(Literal::String { bytes, introducer: Some(_) }) => Ok(parser.options.to_utf8(bytes)),
        _ => {
            parser.at = at;
            parser.fail()
        }
    }
}

/// `_charset` before a string, hexadecimal or bit literal.
fn introducer(parser: &mut Parser) -> Option<Name> {
    if parser.kind() != TokenKind::Name
        || !matches!(parser.kind_at(1), TokenKind::String | TokenKind::Hex | TokenKind::Bits)
    {
        return None;
    }
    let name = parser.text_of(parser.token()).strip_prefix(b"_")?;
    let known = CHARSETS.iter().find(|charset| charset.as_bytes().eq_ignore_ascii_case(name))?;
    parser.advance();
    parser.deprecate_charset(known);
    Some((*known).to_owned())
}

/// Any literal, or None where none starts.
#[inline(never)]
pub(crate) fn literal(parser: &mut Parser) -> SqlResult<Option<Literal>> {
    let introducer = introducer(parser);
    let text = parser.text_of(parser.token());
    let literal = match parser.kind() {
        TokenKind::String => return Ok(Some(joined_string(parser, introducer))),
        TokenKind::NationalString => {
            let mut bytes = Vec::new();
            values::append_string(&mut bytes, &text[1..], parser.options);
            parser.advance();
            append_adjacent(parser, &mut bytes);
            bytes = parser.options.to_utf8(bytes);
            parser.deprecate(Deprecation::National);
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
            if parser.kind_at(1) == TokenKind::String =>
        {
            parser.advance();
            let text = parser.string()?;
            return Ok(Some(match word {
                Keyword::Date => Literal::Date(text),
                Keyword::Time => Literal::Time(text),
                _ => Literal::Timestamp(text),
            }));
        }
        _ => return Ok(None),
    };
    parser.advance();
    Ok(Some(literal))
}

fn joined_string(parser: &mut Parser, introducer: Option<Name>) -> Literal {
    let mut bytes = values::string_value(parser.text_of(parser.token()), parser.options);
    parser.advance();
    append_adjacent(parser, &mut bytes);
    if introducer.is_none() {
        bytes = parser.options.to_connection(bytes);
    }
    Literal::String { bytes, introducer }
}

fn append_adjacent(parser: &mut Parser, bytes: &mut Vec<u8>) {
    while parser.kind() == TokenKind::String {
        values::append_string(bytes, parser.text_of(parser.token()), parser.options);
        parser.advance();
    }
}

/// A literal with an optional sign, as DEFAULT takes it.
pub(crate) fn signed_literal(parser: &mut Parser) -> SqlResult<Expression> {
    let operator = match parser.kind() {
        TokenKind::Minus => Some(UnaryOperator::Minus),
        TokenKind::Plus => Some(UnaryOperator::Plus),
        _ => None,
    };
    if operator.is_some() {
        parser.advance();
    }
    let Some(literal) = literal(parser)? else { return parser.fail() };
    let operand = Expression::Literal(literal);
    Ok(match operator {
        Some(operator) => Expression::Unary { operator, operand: Box::new(operand) },
        None => operand,
    })
}

/// The character sets that `_name` before a string can introduce.
const CHARSETS: &[&str] = &[
    "armscii8", "ascii", "big5", "binary", "cp1250", "cp1251", "cp1256", "cp1257", "cp850", "cp852", "cp866",
    "cp932", "dec8", "eucjpms", "euckr", "gb18030", "gb2312", "gbk", "geostd8", "greek", "hebrew", "hp8",
    "keybcs2", "koi8r", "koi8u", "latin1", "latin2", "latin5", "latin7", "macce", "macroman", "sjis", "swe7",
    "tis620", "ucs2", "ujis", "utf16", "utf16le", "utf32", "utf8", "utf8mb3", "utf8mb4",
];

fn integer(text: &[u8]) -> Literal {
    match decimal_digits(text) {
        Some(value) => Literal::Integer(value),
        None => Literal::Decimal(ascii(text)),
    }
}

fn ascii(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}
