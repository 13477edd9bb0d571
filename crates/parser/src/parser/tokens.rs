//! The cursor over the tokens: what stands at it and behind it, steps that accept or require words, lists.

use super::*;
use TokenKind as T;

impl<'a> Parser<'a> {
    #[inline]
    pub(super) fn token(&self) -> Token {
        self.tokens[self.at]
    }

    #[inline]
    pub(super) fn kind(&self) -> TokenKind {
        self.tokens[self.at].kind
    }

    /// The kind of the token `ahead` places further; the end of the statement stays the end.
    #[inline]
    pub(super) fn kind_at(&self, ahead: usize) -> TokenKind {
        let last = self.tokens.len() - 1;
        self.tokens[(self.at + ahead).min(last)].kind
    }

    #[inline]
    pub(super) fn advance(&mut self) {
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
    }

    pub(super) fn at_end(&self) -> bool {
        matches!(self.kind(), TokenKind::Semicolon | TokenKind::End)
    }

    pub(super) fn text_of(&self, token: Token) -> &'a [u8] {
        &self.source[token.start as usize..token.end as usize]
    }

    /// Whether the word is `text`, which is no keyword of the table, in any case.
    pub(super) fn at_text(&self, text: &str) -> bool {
        matches!(self.kind(), TokenKind::Name | TokenKind::Word(_))
            && self.text_of(self.token()).eq_ignore_ascii_case(text.as_bytes())
    }

    #[inline]
    pub(super) fn at_word(&self, word: Keyword) -> bool {
        self.kind() == TokenKind::Word(word)
    }

    pub(super) fn at_words(&self, first: Keyword, second: Keyword) -> bool {
        self.at_word(first) && self.kind_at(1) == TokenKind::Word(second)
    }

    #[inline]
    pub(super) fn accept(&mut self, word: Keyword) -> bool {
        self.accept_kind(TokenKind::Word(word))
    }

    #[inline]
    pub(super) fn accept_kind(&mut self, kind: TokenKind) -> bool {
        let found = self.kind() == kind;
        if found {
            self.advance();
        }
        found
    }

    /// Accepts the words only if all of them stand there.
    pub(super) fn accept_all(&mut self, words: &[Keyword]) -> bool {
        let found =
            words.iter().enumerate().all(|(ahead, &word)| self.kind_at(ahead) == TokenKind::Word(word));
        if found {
            self.at += words.len();
        }
        found
    }

    /// The first of the words that stands here.
    pub(super) fn accept_any(&mut self, words: &[Keyword]) -> Option<Keyword> {
        let TokenKind::Word(word) = self.kind() else { return None };
        words.contains(&word).then(|| {
            self.advance();
            word
        })
    }

    pub(super) fn expect(&mut self, word: Keyword) -> SqlResult<()> {
        if self.accept(word) { Ok(()) } else { self.fail() }
    }

    pub(super) fn expect_all(&mut self, words: &[Keyword]) -> SqlResult<()> {
        words.iter().try_for_each(|&word| self.expect(word))
    }

    pub(super) fn expect_any(&mut self, words: &[Keyword]) -> SqlResult<Keyword> {
        match self.accept_any(words) {
            Some(word) => Ok(word),
            None => self.fail(),
        }
    }

    pub(super) fn expect_kind(&mut self, kind: TokenKind) -> SqlResult<()> {
        if self.accept_kind(kind) { Ok(()) } else { self.fail() }
    }

    pub(super) fn accept_equal(&mut self) -> bool {
        self.accept_kind(TokenKind::Equal)
    }

    pub(super) fn accept_comma(&mut self) -> bool {
        self.accept_kind(TokenKind::Comma)
    }

    /// Whether a token that can end a statement follows.
    pub(super) fn ends_at(&self, ahead: usize) -> bool {
        matches!(self.kind_at(ahead), T::End | T::Semicolon)
    }

    /// The token that closes the parenthesis opened at token `open`; the last token if none does.
    pub(super) fn closing_parenthesis(&mut self, open: usize) -> usize {
        if self.closing.is_empty() {
            let mut closing = vec![self.tokens.len() as u32 - 1; self.tokens.len()];
            let mut opened = Vec::new();
            for (at, token) in self.tokens.iter().enumerate() {
                match token.kind {
                    T::OpenParenthesis => opened.push(at),
                    T::CloseParenthesis => {
                        if let Some(open) = opened.pop() {
                            closing[open] = at as u32;
                        }
                    }
                    _ => {}
                }
            }
            self.closing = closing;
        }
        self.closing[open] as usize
    }

    /// The source from a token on up to the last token that was read.
    pub(super) fn text_since(&self, first: usize) -> &'a [u8] {
        let start = self.tokens[first].start as usize;
        let end = self.tokens[self.at.max(1) - 1].end as usize;
        &self.source[start..end.max(start)]
    }

    pub(super) fn string_since(&self, first: usize) -> String {
        self.options.shown(self.text_since(first))
    }
}

impl Parser<'_> {
    /// One or more items with commas between them.
    pub(super) fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> SqlResult<T>) -> SqlResult<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.accept_comma() {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// `( inside )`.
    pub(super) fn parenthesised<T>(
        &mut self,
        inside: impl FnOnce(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<T> {
        self.expect_kind(TokenKind::OpenParenthesis)?;
        let value = inside(self)?;
        self.expect_kind(TokenKind::CloseParenthesis)?;
        Ok(value)
    }

    /// `( item, item )`.
    pub(super) fn parenthesised_list<T>(
        &mut self,
        item: impl FnMut(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<Vec<T>> {
        self.parenthesised(|parser| parser.list(item))
    }
}

/// Lexes the next part of a stored program's body, from byte `at` up to a semicolon or the end.
pub(super) fn append_tokens(source: &[u8], at: usize, options: ParseOptions, tokens: &mut Vec<Token>) {
    let mut lexer = Lexer::new(source, at, options);
    loop {
        let token = lexer.next_token();
        tokens.push(token);
        if matches!(token.kind, T::Semicolon | T::End) {
            break;
        }
    }
}
