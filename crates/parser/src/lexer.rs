//! The lexer: one pass over the bytes of a statement, no allocation. Main type: [`Lexer`].
//! Any bytes are accepted; what starts no token is an Invalid token, and the parser reports it.
//! The values of literals and names are made from a token's text in `literal`.

use crate::keyword::Keyword;
use crate::options::{ParseOptions, VERSION_NUMBER, character_length};
use crate::token::{Token, TokenKind};
use memchr::memchr2;

/// Classes of a byte at the start of a token.
const BLANK: u8 = 1;
const LETTER: u8 = 2;
const DIGIT: u8 = 4;

static CLASS: [u8; 256] = build_classes();

/// Reads tokens one after the other; at the end it gives End for ever.
pub struct Lexer<'a> {
    source: &'a [u8],
    at: usize,
    options: ParseOptions,
    /// The last token: a point behind a name makes the next word a name, and some words take hints.
    previous: TokenKind,
    previous_end: usize,
    in_versioned_comment: bool,
    /// See [`ParseOptions::masking_charset`].
    masking: Option<&'static charset::Charset>,
}

impl<'a> Lexer<'a> {
    /// A lexer that starts at byte `at` of the source.
    pub fn new(source: &'a [u8], at: usize, options: ParseOptions) -> Lexer<'a> {
        Lexer {
            source,
            at,
            options,
            previous: TokenKind::End,
            previous_end: at,
            in_versioned_comment: false,
            masking: options.masking_charset(),
        }
    }

    /// The next token.
    #[inline]
    pub fn next_token(&mut self) -> Token {
        let kind_of_blank = self.skip_blanks();
        let start = self.at;
        let kind = match kind_of_blank {
            Blank::Skipped => self.scan(),
            Blank::Hint => TokenKind::Hint,
            Blank::Unfinished => TokenKind::Invalid,
        };
        if kind == TokenKind::Hint {
            self.skip_comment();
        } else if kind == TokenKind::Invalid {
            self.at = self.source.len();
        }
        self.previous = kind;
        self.previous_end = self.at;
        Token { kind, start: start as u32, end: self.at as u32 }
    }

    /// Where the next token starts at the earliest.
    pub fn position(&self) -> usize {
        self.at
    }

    #[inline]
    fn byte(&self, offset: usize) -> u8 {
        self.source.get(self.at + offset).copied().unwrap_or(0)
    }

    /// Skips blanks and comments, and enters and leaves versioned comments.
    #[inline]
    fn skip_blanks(&mut self) -> Blank {
        loop {
            let byte = self.byte(0);
            if CLASS[byte as usize] & BLANK != 0 {
                self.at += 1;
            } else if !matches!(byte, b'/' | b'-' | b'#' | b'*') {
                return Blank::Skipped;
            } else {
                match self.skip_comment_start(byte) {
                    Some(blank) => return blank,
                    None => continue,
                }
            }
        }
    }

    /// At a byte that may start a comment: skips it (None) or says what stands there.
    fn skip_comment_start(&mut self, byte: u8) -> Option<Blank> {
        let next = self.byte(1);
        match (byte, next) {
            (b'#', _) => self.skip_line(),
            (b'-', b'-') => {
                let third = self.byte(2);
                if self.at + 2 < self.source.len() && third > b' ' && third != 0x7f {
                    return Some(Blank::Skipped);
                }
                self.skip_line();
            }
            (b'*', b'/') if self.in_versioned_comment => {
                self.in_versioned_comment = false;
                self.at += 2;
            }
            (b'/', b'*') => return self.skip_block_comment(),
            _ => return Some(Blank::Skipped),
        }
        None
    }

    fn skip_block_comment(&mut self) -> Option<Blank> {
        match self.byte(2) {
            b'+' if takes_hints(self.previous) => return Some(Blank::Hint),
            b'!' if self.enter_versioned_comment() => return None,
            _ => {}
        }
        if self.skip_comment() { None } else { Some(Blank::Unfinished) }
    }

    /// At `/*!`: whether its content counts; then the position is behind the version.
    fn enter_versioned_comment(&mut self) -> bool {
        let digits =
            self.source[self.at + 3..].iter().take(6).take_while(|byte| byte.is_ascii_digit()).count();
        if digits >= 5 {
            let text = &self.source[self.at + 3..self.at + 3 + digits];
            let version = text.iter().fold(0u32, |version, digit| version * 10 + u32::from(digit - b'0'));
            if version > VERSION_NUMBER {
                return false;
            }
            self.at += digits;
        }
        self.at += 3;
        self.in_versioned_comment = true;
        true
    }

    /// At `/*`: skips the comment with one level of comments inside. False: it has no end, position unchanged.
    fn skip_comment(&mut self) -> bool {
        let versioned = self.byte(2) == b'!';
        let mut depth = 1;
        let mut at = self.at + 2;
        while at + 1 < self.source.len() {
            match (self.source[at], self.source[at + 1]) {
                (b'*', b'/') => {
                    depth -= 1;
                    at += 2;
                    if depth == 0 {
                        self.at = at;
                        return true;
                    }
                }
                (b'/', b'*') if versioned && depth == 1 => {
                    depth += 1;
                    at += 2;
                }
                _ => at += 1,
            }
        }
        false
    }

    fn skip_line(&mut self) {
        let rest = &self.source[self.at..];
        self.at += rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
    }

    /// Scans the token at the position, which is at no blank.
    #[inline]
    fn scan(&mut self) -> TokenKind {
        if self.at >= self.source.len() {
            return TokenKind::End;
        }
        let byte = self.byte(0);
        let class = CLASS[byte as usize];
        if class & LETTER != 0 {
            return self.scan_word(byte);
        }
        if class & DIGIT != 0 {
            return if self.is_behind_point() { self.scan_name() } else { self.scan_number(byte) };
        }
        self.scan_symbol(byte)
    }

    /// Whether the last token is the point of a qualified name, right before the position.
    fn is_behind_point(&self) -> bool {
        self.previous == TokenKind::Point && self.previous_end == self.at
    }

    #[inline]
    fn scan_word(&mut self, byte: u8) -> TokenKind {
        if self.byte(1) == b'\'' {
            match byte {
                b'x' | b'X' => {
                    return self.scan_digits_in_quotes(TokenKind::Hex, 2, |digit| digit.is_ascii_hexdigit());
                }
                b'b' | b'B' => {
                    return self
                        .scan_digits_in_quotes(TokenKind::Bits, 1, |digit| matches!(digit, b'0' | b'1'));
                }
                b'n' | b'N' => {
                    self.at += 1;
                    return self.scan_string(b'\'', TokenKind::NationalString);
                }
                _ => {}
            }
        }
        let start = self.at;
        self.skip_name();
        if self.previous == TokenKind::Point && self.previous_end == start {
            return TokenKind::Name;
        }
        match Keyword::find(&self.source[start..self.at]) {
            Some(keyword) => TokenKind::Word(keyword),
            None => TokenKind::Name,
        }
    }

    fn scan_name(&mut self) -> TokenKind {
        self.skip_name();
        TokenKind::Name
    }

    #[inline]
    fn skip_name(&mut self) {
        if let Some(charset) = self.masking {
            while self.is_name_byte(0) {
                self.at += self.masked_length(charset, self.at);
            }
            return;
        }
        let rest = &self.source[self.at..];
        self.at +=
            rest.iter().position(|&byte| CLASS[byte as usize] & (LETTER | DIGIT) == 0).unwrap_or(rest.len());
    }

    /// Bytes of the character at an offset, in a character set that masks ASCII.
    #[cold]
    fn masked_length(&self, charset: &charset::Charset, at: usize) -> usize {
        character_length(charset, &self.source[at..])
    }

    fn skip_digits(&mut self) {
        let rest = &self.source[self.at..];
        self.at += rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
    }

    fn is_name_byte(&self, offset: usize) -> bool {
        self.at + offset < self.source.len() && CLASS[self.byte(offset) as usize] & (LETTER | DIGIT) != 0
    }

    /// A number, or a name that starts with digits.
    fn scan_number(&mut self, byte: u8) -> TokenKind {
        let start = self.at;
        if byte == b'0' {
            let prefixed = match self.byte(1) {
                b'x' => self.scan_prefixed(TokenKind::Hex, |digit| digit.is_ascii_hexdigit()),
                b'b' => self.scan_prefixed(TokenKind::Bits, |digit| matches!(digit, b'0' | b'1')),
                _ => None,
            };
            if let Some(kind) = prefixed {
                return kind;
            }
        }
        self.skip_digits();
        if self.byte(0) == b'.' {
            self.at += 1;
            self.skip_digits();
            return if self.skip_exponent() { TokenKind::Float } else { TokenKind::Decimal };
        }
        if self.skip_exponent() {
            return TokenKind::Float;
        }
        if self.is_name_byte(0) {
            self.at = start;
            return self.scan_name();
        }
        TokenKind::Integer
    }

    /// `0x..` or `0b..` if digits of that kind and nothing else follow.
    fn scan_prefixed(&mut self, kind: TokenKind, is_digit: fn(&u8) -> bool) -> Option<TokenKind> {
        let digits = self.source[self.at + 2..].iter().take_while(|byte| is_digit(byte)).count();
        if digits == 0 || self.is_name_byte(2 + digits) {
            return None;
        }
        self.at += 2 + digits;
        Some(kind)
    }

    fn skip_exponent(&mut self) -> bool {
        if !matches!(self.byte(0), b'e' | b'E') {
            return false;
        }
        let sign = usize::from(matches!(self.byte(1), b'+' | b'-'));
        if !self.byte(1 + sign).is_ascii_digit() {
            return false;
        }
        self.at += 1 + sign;
        self.skip_digits();
        true
    }

    /// `x'..'` and `b'..'`: the digits must be a multiple of `group`.
    fn scan_digits_in_quotes(
        &mut self,
        kind: TokenKind,
        group: usize,
        is_digit: fn(&u8) -> bool,
    ) -> TokenKind {
        let digits = self.source[self.at + 2..].iter().take_while(|byte| is_digit(byte)).count();
        if self.byte(2 + digits) != b'\'' || digits % group != 0 {
            return TokenKind::Invalid;
        }
        self.at += 3 + digits;
        kind
    }

    /// At the opening quote of a string.
    #[inline]
    fn scan_string(&mut self, quote: u8, kind: TokenKind) -> TokenKind {
        let mut at = self.at + 1;
        let escape = if self.options.no_backslash_escapes { quote } else { b'\\' };
        loop {
            if self.masking.is_none() {
                let rest = self.source.get(at..).unwrap_or_default();
                at += memchr2(quote, escape, rest).unwrap_or(rest.len());
            }
            let Some(&byte) = self.source.get(at) else { return TokenKind::Invalid };
            if byte == quote {
                if self.source.get(at + 1) != Some(&quote) {
                    self.at = at + 1;
                    return kind;
                }
                at += 2;
            } else if byte == escape {
                at += 2;
            } else if byte >= 0x80
                && let Some(charset) = self.masking
            {
                at += self.masked_length(charset, at);
            } else {
                at += 1;
            }
        }
    }

    /// At the opening quote of a name.
    fn scan_quoted_name(&mut self, quote: u8) -> TokenKind {
        let mut at = self.at + 1;
        loop {
            let Some(&byte) = self.source.get(at) else { return TokenKind::Invalid };
            if byte >= 0x80
                && let Some(charset) = self.masking
            {
                at += self.masked_length(charset, at);
                continue;
            }
            // As in MySQL no name has one: what must not be named may be called so.
            if byte == 0 {
                return TokenKind::Invalid;
            }
            at += 1;
            if byte == quote {
                if self.source.get(at) != Some(&quote) {
                    self.at = at;
                    return TokenKind::QuotedName;
                }
                at += 1;
            }
        }
    }

    fn scan_at_sign(&mut self) -> TokenKind {
        match self.byte(1) {
            b'@' => {
                self.at += 2;
                return TokenKind::DoubleAt;
            }
            quote @ (b'\'' | b'"') => {
                self.at += 1;
                return self.scan_string(quote, TokenKind::UserVariable);
            }
            b'`' => {
                self.at += 1;
                return match self.scan_quoted_name(b'`') {
                    TokenKind::QuotedName => TokenKind::UserVariable,
                    other => other,
                };
            }
            _ => {}
        }
        self.at += 1;
        while self.is_name_byte(0) || self.byte(0) == b'.' {
            self.at += 1;
        }
        TokenKind::UserVariable
    }

    fn scan_symbol(&mut self, byte: u8) -> TokenKind {
        use TokenKind::*;
        let (kind, bytes) = match (byte, self.byte(1), self.byte(2)) {
            (b'\'', ..) => return self.scan_string(b'\'', String),
            (b'"', ..) if self.options.ansi_quotes => return self.scan_quoted_name(b'"'),
            (b'"', ..) => return self.scan_string(b'"', String),
            (b'`', ..) => return self.scan_quoted_name(b'`'),
            (b'@', ..) => return self.scan_at_sign(),
            (b'.', next, _) if next.is_ascii_digit() && !self.is_point_of_name() => {
                self.at += 1;
                self.skip_digits();
                return if self.skip_exponent() { Float } else { Decimal };
            }
            (b'<', b'=', b'>') => (NullSafeEqual, 3),
            (b'-', b'>', b'>') => (LongArrow, 3),
            (b'-', b'>', _) => (Arrow, 2),
            (b'<', b'=', _) => (LessOrEqual, 2),
            (b'<', b'>', _) | (b'!', b'=', _) => (NotEqual, 2),
            (b'<', b'<', _) => (ShiftLeft, 2),
            (b'>', b'>', _) => (ShiftRight, 2),
            (b'>', b'=', _) => (GreaterOrEqual, 2),
            (b'&', b'&', _) => (DoubleAmpersand, 2),
            (b'|', b'|', _) => (DoubleBar, 2),
            (b':', b'=', _) => (Assign, 2),
            _ => (single(byte), 1),
        };
        self.at += bytes;
        kind
    }

    /// Whether the point at the position follows a name directly, so that digits behind it are a name.
    fn is_point_of_name(&self) -> bool {
        self.previous_end == self.at
            && matches!(self.previous, TokenKind::Name | TokenKind::QuotedName | TokenKind::Word(_))
    }
}

enum Blank {
    Skipped,
    Hint,
    Unfinished,
}

fn single(byte: u8) -> TokenKind {
    use TokenKind::*;
    match byte {
        b'(' => OpenParenthesis,
        b')' => CloseParenthesis,
        b'{' => OpenBrace,
        b'}' => CloseBrace,
        b',' => Comma,
        b'.' => Point,
        b';' => Semicolon,
        b':' => Colon,
        b'+' => Plus,
        b'-' => Minus,
        b'*' => Star,
        b'/' => Slash,
        b'%' => Percent,
        b'~' => Tilde,
        b'!' => Exclamation,
        b'^' => Caret,
        b'&' => Ampersand,
        b'|' => Bar,
        b'=' => Equal,
        b'<' => Less,
        b'>' => Greater,
        b'?' => Parameter,
        _ => Invalid,
    }
}

fn takes_hints(previous: TokenKind) -> bool {
    use Keyword::*;
    matches!(previous, TokenKind::Word(Select | Insert | Replace | Update | Delete))
}

const fn build_classes() -> [u8; 256] {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => BLANK,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | 0x80..=0xff => LETTER,
            b'0'..=b'9' => DIGIT,
            _ => 0,
        };
        byte += 1;
    }
    classes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds_with(source: &str, options: ParseOptions) -> Vec<(TokenKind, std::string::String)> {
        let mut lexer = Lexer::new(source.as_bytes(), 0, options);
        let mut tokens = Vec::new();
        loop {
            let token = lexer.next_token();
            if token.kind == TokenKind::End {
                return tokens;
            }
            tokens.push((token.kind, source[token.start as usize..token.end as usize].to_owned()));
        }
    }

    fn check(source: &str, expected: &[TokenKind]) {
        let kinds: Vec<TokenKind> =
            kinds_with(source, ParseOptions::default()).into_iter().map(|(kind, _)| kind).collect();
        assert_eq!(kinds, expected, "{source}");
    }

    use Keyword::*;
    use TokenKind::{Name, Word};

    #[test]
    fn names_and_numbers() {
        check(
            "select a1 `b``c` 1 1.5 .5 1e3 1.e-3 1a",
            &[
                Word(Select),
                Name,
                TokenKind::QuotedName,
                TokenKind::Integer,
                TokenKind::Decimal,
                TokenKind::Decimal,
                TokenKind::Float,
                TokenKind::Float,
                Name,
            ],
        );
        check(
            "0x1f 0x1g 0b01 0b02 x'ab' x'a' ",
            &[TokenKind::Hex, Name, TokenKind::Bits, Name, TokenKind::Hex, TokenKind::Invalid],
        );
        check(
            "t.1 t.select t.1e5",
            &[Name, TokenKind::Point, Name, Name, TokenKind::Point, Name, Name, TokenKind::Point, Name],
        );
    }

    #[test]
    fn strings() {
        check(r"'a''b\'c' N'x' 'd", &[TokenKind::String, TokenKind::NationalString, TokenKind::Invalid]);
        let options =
            ParseOptions { no_backslash_escapes: true, ansi_quotes: true, ..ParseOptions::default() };
        let tokens = kinds_with(r#"'a\' "b""#, options);
        assert_eq!(tokens[0], (TokenKind::String, r"'a\'".to_owned()));
        assert_eq!(tokens[1].0, TokenKind::QuotedName);
    }

    #[test]
    fn comments() {
        check("a -- b\n c # d\n /* e */ --f", &[Name, Name, TokenKind::Minus, TokenKind::Minus, Name]);
        check("/*!50000 a */ /*!99999 b */ /*! c*/ /* d", &[Name, Name, TokenKind::Invalid]);
        check("select /*+ x */ /*+ y */ 1", &[Word(Select), TokenKind::Hint, TokenKind::Integer]);
        check("*/", &[TokenKind::Star, TokenKind::Slash]);
    }

    #[test]
    fn variables_and_accounts() {
        check(
            "@a @'b c' @`d` @@x root@localhost 'a'@'%'",
            &[
                TokenKind::UserVariable,
                TokenKind::UserVariable,
                TokenKind::UserVariable,
                TokenKind::DoubleAt,
                Name,
                Name,
                TokenKind::UserVariable,
                TokenKind::String,
                TokenKind::UserVariable,
            ],
        );
    }

    #[test]
    fn operators() {
        check(
            "<=> <> != <= >= << >> || && := -> ->>",
            &[
                TokenKind::NullSafeEqual,
                TokenKind::NotEqual,
                TokenKind::NotEqual,
                TokenKind::LessOrEqual,
                TokenKind::GreaterOrEqual,
                TokenKind::ShiftLeft,
                TokenKind::ShiftRight,
                TokenKind::DoubleBar,
                TokenKind::DoubleAmpersand,
                TokenKind::Assign,
                TokenKind::Arrow,
                TokenKind::LongArrow,
            ],
        );
    }
}
