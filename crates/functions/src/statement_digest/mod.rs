//! STATEMENT_DIGEST and STATEMENT_DIGEST_TEXT: a statement without its literals, as a text and as a hash, equal to MySQL's. Main function:
//! [`statement_digest`].
//!
//! The tokens of the statement go one by one into a list of items (`items.rs`), which takes literals and lists of them together as they come
//! and is full after `max_digest_length` bytes. The hash is SHA-256 over the numbers of the tokens, which are MySQL's, so only a token whose
//! number is known has a digest.

mod items;

use crate::generated::digest_words::WORDS;
use errors::{SqlError, SqlResult, sql_error};
use items::{CONCATENATION, Item, Items};
use parser::lexer::Lexer;
use parser::token::{Token, TokenKind};
use parser::{ParseOptions, is_unspaced_function};
use sha2::{Digest as _, Sha256};

/// A statement without its literals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementDigest {
    /// As a text.
    pub text: Vec<u8>,
    /// SHA-256 of its tokens, in hexadecimal digits.
    pub hash: String,
}

/// The numbers of tokens that differ by sql_mode.
const NOT_WITH_HIGH_PRECEDENCE: u16 = 621;
const WITH_ROLLUP: u16 = 894;

/// The digest of a text in UTF-8 that is one statement, without the semicolon behind it, and can be parsed. Error 1235 for a token without a known number, and for hints.
pub fn statement_digest(
    source: &[u8],
    options: ParseOptions,
    bytes_max: usize,
) -> SqlResult<StatementDigest> {
    let mut reader = Reader { source, options, lexer: Lexer::new(source, 0, options), previous: None };
    let mut items = Items::new(bytes_max);
    let (mut token, mut next) = (reader.lexer.next_token(), reader.lexer.next_token());
    while token.kind != TokenKind::End && !items.is_full() {
        let taken = reader.add(token, next, &mut items)?;
        if taken == 2 {
            (token, next) = (next, reader.lexer.next_token());
        }
        reader.previous = Some(token);
        (token, next) = (next, reader.lexer.next_token());
    }
    let (mut text, mut hash) = (Vec::new(), Sha256::new());
    items.show(&mut text);
    items.write(&mut |bytes| hash.update(bytes));
    let hash = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(StatementDigest { text, hash })
}

/// Turns tokens into items.
struct Reader<'s> {
    source: &'s [u8],
    options: ParseOptions,
    lexer: Lexer<'s>,
    /// The token before.
    previous: Option<Token>,
}

fn unknown(what: &str) -> SqlError {
    sql_error!(ER_NOT_SUPPORTED_YET, format!("digest of {what}"))
}

impl Reader<'_> {
    fn text(&self, token: Token) -> &[u8] {
        &self.source[token.start as usize..token.end as usize]
    }

    /// Adds a token, and the next one where both are one. Returns how many that were.
    fn add(&self, token: Token, next: Token, items: &mut Items) -> SqlResult<usize> {
        use TokenKind as T;
        let text = self.text(token);
        match token.kind {
            T::Word(_) | T::Name => return self.add_word(token, next, items),
            T::QuotedName => items.push(Item::Name(unquoted(text))),
            T::String | T::NationalString => items.add_literal(false, None),
            T::Integer => items.add_literal(true, self.position(text, next)),
            T::Decimal | T::Float | T::Hex | T::Bits => items.add_literal(true, None),
            T::UserVariable => {
                items.push(Item::sign(u16::from(b'@'), "@"));
                match text.get(1) {
                    Some(b'`') => items.push(Item::Name(unquoted(&text[1..]))),
                    Some(b'"') if self.options.ansi_quotes => items.push(Item::Name(unquoted(&text[1..]))),
                    _ => items.add_literal(false, None),
                }
            }
            T::DoubleAt => {
                items.push(Item::sign(u16::from(b'@'), "@"));
                items.push(Item::sign(u16::from(b'@'), "@"));
            }
            T::CloseParenthesis => items.close(),
            T::Hint => return Err(unknown("optimizer hints")),
            kind => {
                let (number, shown) =
                    self.sign_of(kind).ok_or_else(|| unknown(&String::from_utf8_lossy(text)))?;
                items.push(Item::sign(number, shown));
            }
        }
        Ok(1)
    }

    /// A word is a name beside a point, and where it is no word of the grammar.
    fn add_word(&self, token: Token, next: Token, items: &mut Items) -> SqlResult<usize> {
        let text = self.text(token);
        let word = String::from_utf8_lossy(text).to_ascii_uppercase();
        let (start, end) = (token.start as usize, token.end as usize);
        let kind_before = self.previous.map(|previous| previous.kind);
        let follows_point = kind_before == Some(TokenKind::Point) && self.source[start - 1] == b'.';
        let leads_point = self.source.get(end) == Some(&b'.')
            && self.source.get(end + 1).is_some_and(|byte| is_name_byte(*byte))
            && kind_before != Some(TokenKind::DoubleAt);
        let is_call =
            next.kind == TokenKind::OpenParenthesis && (next.start == token.end || self.options.ignore_space);
        let is_function = is_unspaced_function(&word.to_ascii_lowercase());
        let is_word = match is_function {
            true => is_call,
            false => matches!(token.kind, TokenKind::Word(_)),
        };
        if follows_point || leads_point || !is_word {
            let is_introducer = !follows_point && !leads_point && is_charset(&word);
            match is_introducer {
                true => items.push(Item::INTRODUCER),
                false => items.push(Item::Name(text.to_vec())),
            }
            return Ok(1);
        }
        if word == "NULL" && Reader::null_is_literal(items, 0) {
            items.add_literal(false, None);
            return Ok(1);
        }
        if word == "WITH" && self.text(next).eq_ignore_ascii_case(b"ROLLUP") {
            items.push(Item::word(WITH_ROLLUP, "WITH ROLLUP"));
            return Ok(2);
        }
        if word == "NOT" && self.options.high_not_precedence {
            items.push(Item::word(NOT_WITH_HIGH_PRECEDENCE, "!"));
            return Ok(1);
        }
        let at = WORDS.binary_search_by(|(known, ..)| (*known).cmp(&word)).map_err(|_| unknown(&word))?;
        let (_, number, shown) = WORDS[at];
        items.push(Item::word(number, shown));
        Ok(1)
    }

    /// The number of a column in a list behind BY: if the token is not a part of an expression.
    fn position(&self, text: &[u8], next: Token) -> Option<u32> {
        let number = std::str::from_utf8(text).ok()?.parse::<u32>().ok().filter(|number| *number > 0)?;
        let ends = match next.kind {
            TokenKind::Comma | TokenKind::CloseParenthesis | TokenKind::End | TokenKind::Semicolon => true,
            TokenKind::Word(_) => {
                let word = String::from_utf8_lossy(self.text(next)).to_ascii_uppercase();
                !OPERATORS.contains(&word.as_str())
            }
            _ => false,
        };
        ends.then_some(number)
    }

    /// Whether NULL is a value behind so many of the last items: it is not what a column may be, nor what becomes of a key, nor behind IS.
    fn null_is_literal(items: &Items, behind: usize) -> bool {
        match items.last_but(behind) {
            // An operator or the constraint of a column; an operator or its type.
            Some(Item::Fixed { shown: "NOT" | "!" | "BINARY", is_word: true, .. }) => {
                Reader::null_is_literal(items, behind + 1)
            }
            Some(Item::Fixed { shown, is_word: true, .. }) => BEFORE_VALUES.contains(shown),
            Some(Item::Fixed { shown, .. }) => items::may_stand_before_value(shown),
            _ => false,
        }
    }

    fn sign_of(&self, kind: TokenKind) -> Option<(u16, &'static str)> {
        use TokenKind as T;
        Some(match kind {
            T::OpenParenthesis => (40, "("),
            T::OpenBrace => (123, "{"),
            T::CloseBrace => (125, "}"),
            T::Comma => (44, ","),
            T::Point => (46, "."),
            T::Colon => (58, ":"),
            T::Semicolon => (59, ";"),
            T::Plus => (43, "+"),
            T::Minus => (45, "-"),
            T::Star => (42, "*"),
            T::Slash => (47, "/"),
            T::Percent => (37, "%"),
            T::Tilde => (126, "~"),
            T::Exclamation => (33, "!"),
            T::Caret => (94, "^"),
            T::Ampersand => (38, "&"),
            T::Bar => (124, "|"),
            T::DoubleAmpersand => (273, "&&"),
            T::DoubleBar if self.options.pipes_as_concat => (CONCATENATION, "||"),
            T::DoubleBar => (642, "||"),
            T::ShiftLeft => (759, "<<"),
            T::ShiftRight => (760, ">>"),
            T::Equal => (EQUAL, "="),
            T::NullSafeEqual => (416, "<=>"),
            T::NotEqual => (614, "!="),
            T::Less => (LESS, "<"),
            T::LessOrEqual => (522, "<="),
            T::Greater => (GREATER, ">"),
            T::GreaterOrEqual => (456, ">="),
            T::Assign => (757, ":="),
            T::Arrow => (514, "->"),
            T::LongArrow => (907, "->>"),
            _ => return None,
        })
    }
}

const EQUAL: u16 = 415;
const LESS: u16 = 549;
const GREATER: u16 = 469;

/// Operators that are words: a number before one is no number of a column.
const OPERATORS: &[&str] = &[
    "DIV", "MOD", "AND", "OR", "XOR", "IS", "IN", "LIKE", "BETWEEN", "REGEXP", "RLIKE", "NOT", "COLLATE",
    "MEMBER", "SOUNDS",
];

/// Words, as digests show them, behind which NULL is a value.
const BEFORE_VALUES: &[&str] = &[
    "SELECT",
    "WHEN",
    "THEN",
    "ELSE",
    "CASE",
    "AND",
    "OR",
    "XOR",
    "INTERVAL",
    "LIKE",
    "BETWEEN",
    "DEFAULT",
    "RLIKE",
    "EVERY",
    "DIV",
    "MOD",
    "RETURN",
    "IF",
    "FROM",
    "KILL",
    "WHERE",
    "HAVING",
    "ON",
    "BY",
    "LIMIT",
    "IN",
    "VALUES",
    "ALL",
    "DISTINCTROW",
    "ESCAPE",
    "DO",
    "BOTH",
    "FOR",
    "ROW",
    "UNION",
    "TRAILING",
    "LEADING",
];

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'`') || byte >= 0x80
}

fn is_charset(word: &str) -> bool {
    word.strip_prefix('_').is_some_and(|name| charset::charset_by_name(&name.to_ascii_lowercase()).is_some())
}

/// A quoted name without its quotes.
fn unquoted(text: &[u8]) -> Vec<u8> {
    let Some((quote, rest)) = text.split_first() else { return Vec::new() };
    let inside = rest.strip_suffix(&[*quote]).unwrap_or(rest);
    let mut name = Vec::with_capacity(inside.len());
    let mut bytes = inside.iter().peekable();
    while let Some(byte) = bytes.next() {
        name.push(*byte);
        if byte == quote {
            bytes.next_if(|next| *next == quote);
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(source: &str) -> String {
        let digest = statement_digest(source.as_bytes(), ParseOptions::default(), 1024).unwrap();
        String::from_utf8(digest.text).unwrap()
    }

    #[test]
    fn literals_and_lists_of_them_are_taken_together() {
        assert_eq!(digest("select -1, 'a', b - 1 from `t`"), "SELECT ?, ... , `b` - ? FROM `t`");
        assert_eq!(digest("insert into t values (1, 2), (3, 4)"), "INSERT INTO `t` VALUES (...) /* , ... */");
        assert_eq!(digest("select a in (1, 2), (1), f((2))"), "SELECT `a` IN (...) , (?) , `f` ( (?) )");
        assert_eq!(
            digest("select a from t order by 1, b, 2 desc"),
            "SELECT `a` FROM `t` ORDER BY 1 , `b` , 2 DESC"
        );
    }

    #[test]
    fn the_hash_is_that_of_mysql() {
        let digest = statement_digest(b"select 7", ParseOptions::default(), 1024).unwrap();
        assert_eq!(digest.hash, "d1b44b0c19af710b5a679907e284acd2ddc285201794bc69a2389d77baedddae");
    }

    #[test]
    fn what_is_too_long_ends_where_no_token_fits() {
        let digest = statement_digest(b"select a + a + a", ParseOptions::default(), 14).unwrap();
        assert_eq!(digest.text, b"SELECT `a` + `a`");
    }
}
