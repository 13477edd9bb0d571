//! The tokens of hint comments, which are not those of SQL: numbers have sizes, texts no escapes.

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum HintToken {
    Word(String),
    /// A name in backticks, or in double quotes under ANSI_QUOTES.
    Quoted(String),
    Text(String),
    Integer(u64),
    /// A number with K, M or G.
    Sized(u64),
    Decimal(String),
    Open,
    Close,
    Comma,
    At,
    Equal,
    /// Nothing that a hint has.
    Strange,
    End,
}

pub(super) struct Scanner<'a> {
    source: &'a [u8],
    end: usize,
    ansi_quotes: bool,
    token: HintToken,
    /// Where the token begins, and the byte behind it.
    at: usize,
    next: usize,
}

impl<'a> Scanner<'a> {
    pub fn new(source: &'a [u8], start: usize, end: usize, ansi_quotes: bool) -> Scanner<'a> {
        let mut scanner = Scanner { source, end, ansi_quotes, token: HintToken::End, at: start, next: start };
        scanner.advance();
        scanner
    }

    /// The token.
    pub fn peek(&self) -> HintToken {
        self.token.clone()
    }

    /// The byte where it begins.
    pub fn at(&self) -> usize {
        self.at
    }

    fn byte(&self, at: usize) -> Option<u8> {
        (at < self.end).then(|| self.source[at])
    }

    /// Goes on to the next token.
    pub fn advance(&mut self) {
        self.at = self.next;
        while self.byte(self.at).is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
        self.next = self.at + 1;
        self.token = match self.byte(self.at) {
            None => {
                self.next = self.at;
                HintToken::End
            }
            Some(b'(') => HintToken::Open,
            Some(b')') => HintToken::Close,
            Some(b',') => HintToken::Comma,
            Some(b'@') => HintToken::At,
            Some(b'=') => HintToken::Equal,
            Some(b'`') => self.quoted(b'`').map_or(HintToken::Strange, HintToken::Quoted),
            Some(b'"') if self.ansi_quotes => self.quoted(b'"').map_or(HintToken::Strange, HintToken::Quoted),
            Some(quote @ (b'\'' | b'"')) => self.quoted(quote).map_or(HintToken::Strange, HintToken::Text),
            Some(byte) if is_word(byte) => self.word(),
            Some(_) => HintToken::Strange,
        };
    }

    /// What stands between quotes, which are doubled within; None if it is empty, not UTF-8 or not ended.
    fn quoted(&mut self, quote: u8) -> Option<String> {
        let (mut text, mut at) = (Vec::new(), self.at + 1);
        loop {
            match self.byte(at)? {
                byte if byte == quote && self.byte(at + 1) == Some(quote) => {
                    text.push(quote);
                    at += 2;
                }
                byte if byte == quote => break,
                byte => {
                    text.push(byte);
                    at += 1;
                }
            }
        }
        self.next = at + 1;
        String::from_utf8(text).ok().filter(|text| !text.is_empty())
    }

    fn word(&mut self) -> HintToken {
        let mut end = self.at;
        while self.byte(end).is_some_and(is_word) {
            end += 1;
        }
        let digits = self.source[self.at..end].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == end - self.at && self.byte(end) == Some(b'.') {
            end += 1;
            while self.byte(end).is_some_and(|byte| byte.is_ascii_digit()) {
                end += 1;
            }
            self.next = end;
            let text = String::from_utf8_lossy(&self.source[self.at..end]).into_owned();
            return HintToken::Decimal(text);
        }
        self.next = end;
        let Ok(text) = std::str::from_utf8(&self.source[self.at..end]) else { return HintToken::Strange };
        if digits == 0 {
            return HintToken::Word(text.to_owned());
        }
        let (number, size) = text.split_at(digits);
        let shift = match size.to_ascii_uppercase().as_str() {
            "" => return number.parse().map_or(HintToken::Strange, HintToken::Integer),
            "K" => 10,
            "M" => 20,
            "G" => 30,
            _ => return HintToken::Word(text.to_owned()),
        };
        let scaled = number.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift));
        scaled.map_or(HintToken::Strange, HintToken::Sized)
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80
}
