//! Tokens of XPath. Main type: [`Lexer`].

use functions::xml::Axis;
use std::ops::Range;

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    /// The end, or what is no token.
    End,
    /// A name, which may be that of an operator.
    Name,
    /// A name before `::` that is an axis.
    Axis(Axis),
    /// A name before `(` that is a type of nodes.
    NodeType,
    /// A name before `(` that is a function: its place in the list of functions.
    Function(usize),
    /// Digits.
    Number,
    /// A text in quotes, without them.
    String,
    /// `//`
    DoubleSlash,
    /// `..`
    DoublePoint,
    /// Anything else of one character.
    Sign(u8),
}

const AXES: &[(&str, Axis)] = &[
    ("ancestor", Axis::Ancestor),
    ("ancestor-or-self", Axis::AncestorOrSelf),
    ("attribute", Axis::Attribute),
    ("child", Axis::Child),
    ("descendant", Axis::Descendant),
    ("descendant-or-self", Axis::DescendantOrSelf),
    ("following", Axis::Child),
    ("following-sibling", Axis::Child),
    ("namespace", Axis::Child),
    ("parent", Axis::Parent),
    ("preceding", Axis::Child),
    ("preceding-sibling", Axis::Child),
    ("self", Axis::Itself),
];

const NODE_TYPES: &[&str] = &["comment", "node", "processing-instruction", "text"];

/// Reads tokens, one ahead.
pub struct Lexer<'t> {
    text: &'t [u8],
    /// Names of functions.
    functions: &'t [&'t str],
    /// The token at hand and where it is.
    pub token: Token,
    place: Range<usize>,
    at: usize,
}

impl<'t> Lexer<'t> {
    /// At the first token.
    pub fn new(text: &'t [u8], functions: &'t [&'t str]) -> Lexer<'t> {
        let mut lexer = Lexer { text, functions, token: Token::End, place: 0..0, at: 0 };
        lexer.advance();
        lexer
    }

    /// The text of the token at hand.
    pub fn text(&self) -> &'t [u8] {
        &self.text[self.place.clone()]
    }

    /// The text from the token at hand on.
    pub fn rest(&self) -> &'t [u8] {
        let quote = usize::from(self.token == Token::String);
        &self.text[self.place.start - quote..]
    }

    /// Goes to the next token.
    pub fn advance(&mut self) {
        let blanks = self.text[self.at..].iter().take_while(|byte| byte.is_ascii_whitespace());
        self.at += blanks.count();
        let start = self.at;
        let rest = &self.text[start..];
        let (token, length) = match rest {
            [] => (Token::End, 0),
            [quote @ (b'"' | b'\''), inside @ ..] => match inside.iter().position(|byte| byte == quote) {
                Some(length) => {
                    self.place = start + 1..start + 1 + length;
                    self.at = start + length + 2;
                    self.token = Token::String;
                    return;
                }
                // Without an end it is nothing.
                None => (Token::Sign(*quote), rest.len()),
            },
            [b'/', b'/', ..] => (Token::DoubleSlash, 2),
            [b'.', b'.', ..] => (Token::DoublePoint, 2),
            [first, ..] if first.is_ascii_digit() => (Token::Number, number_bytes(rest)),
            [first, ..] if is_name_start(*first) => return self.name(start),
            [sign, ..] => (Token::Sign(*sign), 1),
        };
        self.place = start..start + length;
        self.at = start + length;
        self.token = token;
    }

    fn name(&mut self, start: usize) {
        let part = |from: usize| self.text[from..].iter().take_while(|byte| is_name_part(**byte)).count();
        let mut end = start + part(start);
        let word = &self.text[start..end];
        let blanks = self.text[end..].iter().take_while(|byte| byte.is_ascii_whitespace());
        let behind = &self.text[end + blanks.count()..];
        self.token = Token::Name;
        if behind.starts_with(b"(") {
            if NODE_TYPES.iter().any(|name| name.as_bytes() == word) {
                self.token = Token::NodeType;
            } else if let Some(found) = self.functions.iter().position(|name| name.as_bytes() == word) {
                self.token = Token::Function(found);
            }
        } else if behind.starts_with(b"::")
            && let Some((_, axis)) = AXES.iter().find(|(name, _)| name.as_bytes() == word)
        {
            self.token = Token::Axis(*axis);
        } else if self.text[end..].starts_with(b":") {
            // A name space is a part of a name.
            end += 1;
            end += part(end);
        }
        self.place = start..end;
        self.at = end;
    }
}

fn number_bytes(text: &[u8]) -> usize {
    let digits = |from: usize| text[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let whole = digits(0);
    match text.get(whole) {
        Some(b'.') => whole + 1 + digits(whole + 1),
        _ => whole,
    }
}

fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

fn is_name_part(byte: u8) -> bool {
    is_name_start(byte) || byte.is_ascii_digit() || matches!(byte, b'-' | b'.')
}
