//! Tokens: what the lexer hands to the parser. Main type: [`Token`].
//! A token names a range of the source; nothing is copied before the parser wants a value.

use crate::keyword::Keyword;

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// First byte in the source.
    pub start: u32,
    /// One past its last byte.
    pub end: u32,
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// A word of the grammar; a name where it is not reserved.
    Word(Keyword),
    /// An unquoted name that is no keyword, or any word right behind a point.
    Name,
    /// `` `name` ``, or `"name"` with ANSI_QUOTES.
    QuotedName,
    /// `'..'`, or `".."` without ANSI_QUOTES.
    String,
    /// `N'..'`.
    NationalString,
    /// Digits.
    Integer,
    /// Digits with a point.
    Decimal,
    /// With an exponent.
    Float,
    /// `X'..'` or `0x..`.
    Hex,
    /// `B'..'` or `0b..`.
    Bits,
    /// `@name`, `@'name'` or `@` alone; also the host part of an account.
    UserVariable,
    /// `@@`.
    DoubleAt,
    /// `/*+ .. */` behind a word that takes hints.
    Hint,
    /// `?`.
    Parameter,
    /// `(`.
    OpenParenthesis,
    /// `)`.
    CloseParenthesis,
    /// `{`.
    OpenBrace,
    /// `}`.
    CloseBrace,
    /// `,`.
    Comma,
    /// `.`.
    Point,
    /// `;`.
    Semicolon,
    /// `:`, the end of a label in a stored program.
    Colon,
    /// `+`.
    Plus,
    /// `-`.
    Minus,
    /// `*`.
    Star,
    /// `/`.
    Slash,
    /// `%`.
    Percent,
    /// `~`.
    Tilde,
    /// `!`.
    Exclamation,
    /// `^`.
    Caret,
    /// `&`.
    Ampersand,
    /// `|`.
    Bar,
    /// `&&`.
    DoubleAmpersand,
    /// `||`.
    DoubleBar,
    /// `<<`.
    ShiftLeft,
    /// `>>`.
    ShiftRight,
    /// `=`.
    Equal,
    /// `<=>`.
    NullSafeEqual,
    /// `<>` and `!=`.
    NotEqual,
    /// `<`.
    Less,
    /// `<=`.
    LessOrEqual,
    /// `>`.
    Greater,
    /// `>=`.
    GreaterOrEqual,
    /// `:=`.
    Assign,
    /// `->`.
    Arrow,
    /// `->>`.
    LongArrow,
    /// A byte that starts no token, or a string, name or comment without its end.
    Invalid,
    /// The end of the source.
    End,
}

impl TokenKind {
    /// Whether it can be a name: quoted, or unquoted and not reserved.
    pub fn is_name(self) -> bool {
        match self {
            TokenKind::Name | TokenKind::QuotedName => true,
            TokenKind::Word(word) => !word.is_reserved(),
            _ => false,
        }
    }
}
