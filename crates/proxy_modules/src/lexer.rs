//! The tokens of a statement as MySQL Proxy has them: a rough split that never fails and knows nothing of grammar. The longest
//! match wins, as between a number, a name that begins with digits, and a name right before a parenthesis.
//! Main type: [`Token`]; the way in is [`each_token`].

use std::borrow::Cow;
use std::sync::LazyLock;

use crate::keywords::{FIRST_KEYWORD, KEYWORDS};

/// The kinds of token that are no keywords, each with the number that scripts see. Between them (28 to 260) stand the keywords.
#[repr(u16)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Unknown = 0,
    LessOrEqual = 1,
    GreaterOrEqual = 2,
    Less = 3,
    Greater = 4,
    Equal = 5,
    NotEqual = 6,
    String = 7,
    Comment = 8,
    Literal = 9,
    Function = 10,
    Integer = 11,
    Float = 12,
    Dot = 13,
    Comma = 14,
    Assign = 15,
    OpeningBrace = 16,
    ClosingBrace = 17,
    Semicolon = 18,
    Star = 19,
    Plus = 20,
    Minus = 21,
    Divide = 22,
    BitwiseAnd = 23,
    BitwiseOr = 24,
    BitwiseXor = 25,
    LogicalAnd = 26,
    LogicalOr = 27,
    VersionedComment = 261,
}

/// Names of the kinds from 0, before the keywords.
const NAMES: [&str; FIRST_KEYWORD as usize] = [
    "TK_UNKNOWN",
    "TK_LE",
    "TK_GE",
    "TK_LT",
    "TK_GT",
    "TK_EQ",
    "TK_NE",
    "TK_STRING",
    "TK_COMMENT",
    "TK_LITERAL",
    "TK_FUNCTION",
    "TK_INTEGER",
    "TK_FLOAT",
    "TK_DOT",
    "TK_COMMA",
    "TK_ASSIGN",
    "TK_OBRACE",
    "TK_CBRACE",
    "TK_SEMICOLON",
    "TK_STAR",
    "TK_PLUS",
    "TK_MINUS",
    "TK_DIV",
    "TK_BITWISE_AND",
    "TK_BITWISE_OR",
    "TK_BITWISE_XOR",
    "TK_LOGICAL_AND",
    "TK_LOGICAL_OR",
];

/// A token: its number, and its text without quotes and comment marks, which is part of the statement unless a quote or a
/// backslash in it was taken out.
pub(crate) struct Token<'a> {
    pub(crate) id: u16,
    pub(crate) text: Cow<'a, [u8]>,
}

/// The name that belongs to a token's number.
pub(crate) fn name_of(id: u16) -> &'static str {
    static KEYWORD_NAMES: LazyLock<Vec<String>> =
        LazyLock::new(|| KEYWORDS.iter().map(|word| format!("TK_SQL_{word}")).collect());
    let id = usize::from(id);
    match NAMES.get(id) {
        Some(name) => name,
        None => KEYWORD_NAMES.get(id - NAMES.len()).map_or("TK_COMMENT_MYSQL", String::as_str),
    }
}

/// Gives the tokens of a statement to `take`, one after the other.
pub(crate) fn each_token<'a>(statement: &'a [u8], mut take: impl FnMut(Token<'a>)) {
    let mut rest = statement;
    while let Some(first) = rest.first() {
        if is_space(*first) {
            rest = &rest[1..];
            continue;
        }
        let is_qualifier = qualifies(rest);
        let (token, length) = if is_qualifier { name(rest) } else { next(rest, *first) };
        take(token);
        rest = &rest[length..];
        if is_qualifier {
            take(self::token(Kind::Dot, &rest[..1]));
            rest = &rest[1..];
            // What follows is a name even if it looks like a number: 1e5 in t.1e5.
            if !qualifies(rest) {
                let (token, length) = name(rest);
                take(token);
                rest = &rest[length..];
            }
        }
    }
}

/// The token at the front of `rest`, and how many bytes it takes.
fn next(rest: &[u8], first: u8) -> (Token<'_>, usize) {
    match first {
        b'\'' | b'"' => quoted(rest, first, Kind::String),
        b'`' => quoted(rest, first, Kind::Literal),
        b'/' if rest.starts_with(b"/*!") => block_comment(rest, 3, Kind::VersionedComment),
        b'/' if rest.starts_with(b"/*") => block_comment(rest, 2, Kind::Comment),
        b'-' if is_line_comment(rest) => line_comment(rest),
        b'.' if rest.get(1).is_some_and(u8::is_ascii_digit) => number_or_name(rest),
        _ if is_name(first) => number_or_name(rest),
        _ => sign(rest, first),
    }
}

fn token(kind: Kind, text: &[u8]) -> Token<'_> {
    Token { id: kind as u16, text: Cow::Borrowed(text) }
}

/// Text in quotes, to the closing one or to the end. A doubled quote is one quote; what a backslash escapes stays as it
/// stands, but a backslash at a line's end or at the very end is dropped.
fn quoted(rest: &[u8], quote: u8, kind: Kind) -> (Token<'_>, usize) {
    let id = kind as u16;
    let (mut text, mut at, mut copied) = (Vec::new(), 1, 1);
    // What stands before `at` and is not copied yet, and the token of it all.
    let finished = |mut text: Vec<u8>, copied: usize, at: usize| match text.is_empty() {
        true => Cow::Borrowed(&rest[copied..at]),
        false => {
            text.extend(&rest[copied..at]);
            Cow::Owned(text)
        }
    };
    while let Some(byte) = rest.get(at) {
        let following = rest.get(at + 1);
        if *byte == b'\\' && matches!(following, None | Some(b'\n')) {
            text.extend(&rest[copied..at]);
            at += 1;
            copied = at;
        } else if *byte == b'\\' {
            at += 2;
        } else if *byte != quote {
            at += 1;
        } else if following == Some(&quote) {
            text.extend(&rest[copied..=at]);
            at += 2;
            copied = at;
        } else {
            return (Token { id, text: finished(text, copied, at) }, at + 1);
        }
    }
    (Token { id, text: finished(text, copied, rest.len()) }, rest.len())
}

/// A comment to its closing mark or to the end. All stars before the closing slash belong to the mark.
fn block_comment(rest: &[u8], mark_bytes: usize, kind: Kind) -> (Token<'_>, usize) {
    let inner = &rest[mark_bytes..];
    match inner.windows(2).position(|pair| pair == b"*/") {
        Some(end) => {
            let text = &inner[..end];
            let stars = text.iter().rev().take_while(|byte| **byte == b'*').count();
            (token(kind, &text[..end - stars]), mark_bytes + end + 2)
        }
        None => (token(kind, inner), rest.len()),
    }
}

/// Two dashes with a blank, a tab or a line's end behind them.
fn is_line_comment(rest: &[u8]) -> bool {
    rest.starts_with(b"--") && matches!(rest.get(2), Some(b' ' | b'\t' | b'\n'))
}

fn line_comment(rest: &[u8]) -> (Token<'_>, usize) {
    if rest[2] == b'\n' {
        return (token(Kind::Comment, &rest[2..2]), 3);
    }
    let text = &rest[3..];
    let end = text.iter().position(|byte| *byte == b'\n').unwrap_or(text.len());
    (token(Kind::Comment, &text[..end]), 3 + end)
}

/// Bytes of the name at the front: digits alone are none.
fn name_bytes(rest: &[u8]) -> usize {
    let length = rest.iter().take_while(|byte| is_name(**byte)).count();
    if digits(rest) == length { 0 } else { length }
}

/// Whether a name begins here that has a point and another name right behind it.
fn qualifies(rest: &[u8]) -> bool {
    let length = name_bytes(rest);
    length > 0 && rest.get(length) == Some(&b'.') && name_bytes(&rest[length + 1..]) > 0
}

/// A name, a keyword, or a function: a name with a parenthesis right behind it.
fn name(rest: &[u8]) -> (Token<'_>, usize) {
    let length = name_bytes(rest);
    let text = &rest[..length];
    if rest.get(length) == Some(&b'(') {
        return (token(Kind::Function, text), length);
    }
    let keyword = KEYWORDS.iter().position(|word| word.as_bytes().eq_ignore_ascii_case(text));
    let id = keyword.map_or(Kind::Literal as u16, |index| FIRST_KEYWORD + index as u16);
    (Token { id, text: Cow::Borrowed(text) }, length)
}

/// A number or a name: whichever is longer, with the parenthesis of a function counted; a number where both end together.
fn number_or_name(rest: &[u8]) -> (Token<'_>, usize) {
    let whole = digits(rest);
    let float = float_bytes(rest, whole);
    let named = name_bytes(rest);
    let called = usize::from(named > 0 && rest.get(named) == Some(&b'('));
    let number = float.max(whole);
    if number < named + called || number == 0 {
        return name(rest);
    }
    let kind = if float > whole { Kind::Float } else { Kind::Integer };
    (token(kind, &rest[..number]), number)
}

/// Bytes of a number with digits behind a point, an exponent, or both; 0 if there is none.
fn float_bytes(rest: &[u8], whole: usize) -> usize {
    let mut end = whole;
    if rest.get(end) == Some(&b'.') {
        let fraction = digits(&rest[end + 1..]);
        if fraction == 0 {
            return 0;
        }
        end += 1 + fraction;
    }
    if end > 0 && matches!(rest.get(end), Some(b'e' | b'E')) {
        let signed = usize::from(matches!(rest.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(rest.get(end + 1 + signed..).unwrap_or_default());
        if exponent > 0 {
            return end + 1 + signed + exponent;
        }
    }
    if end > whole { end } else { 0 }
}

fn digits(rest: &[u8]) -> usize {
    rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// An operator of two bytes or of one, or a byte that means nothing here.
fn sign(rest: &[u8], first: u8) -> (Token<'_>, usize) {
    let two = match rest.get(..2) {
        Some(b"<=") => Some(Kind::LessOrEqual),
        Some(b">=") => Some(Kind::GreaterOrEqual),
        Some(b"<>" | b"!=") => Some(Kind::NotEqual),
        Some(b":=") => Some(Kind::Assign),
        Some(b"&&") => Some(Kind::LogicalAnd),
        Some(b"||") => Some(Kind::LogicalOr),
        _ => None,
    };
    if let Some(kind) = two {
        return (token(kind, &rest[..2]), 2);
    }
    let kind = match first {
        b'<' => Kind::Less,
        b'>' => Kind::Greater,
        b'=' => Kind::Equal,
        b'.' => Kind::Dot,
        b',' => Kind::Comma,
        b'(' => Kind::OpeningBrace,
        b')' => Kind::ClosingBrace,
        b';' => Kind::Semicolon,
        b'*' => Kind::Star,
        b'+' => Kind::Plus,
        b'-' => Kind::Minus,
        b'/' => Kind::Divide,
        b'&' => Kind::BitwiseAnd,
        b'|' => Kind::BitwiseOr,
        b'^' => Kind::BitwiseXor,
        _ => Kind::Unknown,
    };
    (token(kind, &rest[..1]), 1)
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'@'
}

/// What C's isspace() takes: a vertical tab too.
fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0B
}
