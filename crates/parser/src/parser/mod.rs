//! The recursive-descent parser: token access, names, literals and errors, which the other files of this
//! folder build on. Main type: [`Parser`]. One file a family of statements.

mod account;
mod admin;
mod alter_table;
mod call;
mod cast;
mod create_table;
mod data_type;
mod ddl;
mod dml;
mod explain;
mod expression;
mod from;
mod grant;
mod hints;
mod literal;
mod load;
mod partition;
mod primary;
mod program;
mod query;
mod select;
mod set;
mod show;
mod show_more;
mod statement;
mod table_options;
mod transaction;
mod window;

pub(crate) use hints::HintsRead;

use crate::ast::*;
use crate::deprecation::Deprecation;
use crate::digest::DigestLiteral;
use crate::keyword::Keyword;
use crate::lexer::Lexer;
use crate::literal as values;
use crate::options::{NESTING_MAX, ParseOptions, TREE_DEPTH_MAX};
use crate::token::{Token, TokenKind};
use errors::{SqlError, SqlResult, sql_error};

/// Stack of one level of nesting, measured in a build with opt-level 1: error 1436 names it.
const LEVEL_STACK_BYTES: u32 = 3584;

/// Parses one statement.
pub(crate) struct Parser<'a> {
    source: &'a [u8],
    options: ParseOptions,
    /// The statement's tokens; the last is Semicolon or End.
    tokens: Vec<Token>,
    at: usize,
    /// Levels of recursion that are open now.
    nesting: u32,
    /// Levels of the deepest expression built since this was last reset.
    depth: u32,
    parameters: u32,
    /// Literals that are read as parameters, in the order of the text.
    lifted: &'a [DigestLiteral],
    /// INTO of the query that is being read.
    into: Option<Box<QueryInto>>,
    /// By token: the position of the parenthesis that closes the one there. Filled on first need.
    closing: Vec<u32>,
    deprecations: Vec<Deprecation>,
    /// What was read of its hints, if it has any.
    hints: Option<Box<hints::HintsRead>>,
}

impl<'a> Parser<'a> {
    /// A parser of the statement that starts at byte `at`.
    pub(crate) fn new(source: &'a [u8], at: usize, options: ParseOptions) -> Parser<'a> {
        let mut lexer = Lexer::new(source, at, options);
        let mut tokens = Vec::with_capacity(((source.len() - at) / 4).clamp(16, 4096));
        loop {
            let token = lexer.next_token();
            tokens.push(token);
            if matches!(token.kind, TokenKind::Semicolon | TokenKind::End) {
                break;
            }
        }
        Parser {
            source,
            options,
            tokens,
            at: 0,
            nesting: 0,
            depth: 0,
            parameters: 0,
            lifted: &[],
            into: None,
            closing: Vec::new(),
            deprecations: Vec::new(),
            hints: None,
        }
    }

    /// The same with literals that are to be read as parameters.
    pub(crate) fn lifting(self, lifted: &'a [DigestLiteral]) -> Parser<'a> {
        Parser { lifted, ..self }
    }

    /// Whether the statement has no token.
    pub(crate) fn is_blank(&self) -> bool {
        self.at_end()
    }

    /// Whether something other than blanks stands between byte `start` and the first token.
    pub(crate) fn has_comment(&self, start: usize) -> bool {
        self.source[start..self.tokens[0].start as usize].iter().any(|byte| !byte.is_ascii_whitespace())
    }

    /// Deprecated syntax so far.
    pub(crate) fn deprecations(&self) -> &[Deprecation] {
        &self.deprecations
    }

    fn deprecate(&mut self, deprecation: Deprecation) {
        self.deprecations.push(deprecation);
    }

    /// What was read of the statement's hints.
    pub(crate) fn take_hints(&mut self) -> Option<Box<hints::HintsRead>> {
        self.hints.take()
    }

    /// Number of `?` so far.
    pub(crate) fn parameters(&self) -> u32 {
        self.parameters
    }

    /// From the first token to the last that was read.
    pub(crate) fn span(&self) -> Span {
        let end = self.tokens[self.at.max(1) - 1].end as usize;
        Span { start: self.tokens[0].start as usize, end }
    }

    /// An expression that is the whole text.
    pub(crate) fn expression_alone(&mut self) -> SqlResult<Expression> {
        self.expression()
    }

    /// Requires the end of the statement, and returns the offset behind it.
    pub(crate) fn finish(&self) -> SqlResult<usize> {
        if self.at_end() { Ok(self.token().end as usize) } else { self.fail() }
    }

    // ---- tokens ----

    #[inline]
    fn token(&self) -> Token {
        self.tokens[self.at]
    }

    #[inline]
    fn kind(&self) -> TokenKind {
        self.tokens[self.at].kind
    }

    /// The kind of the token `ahead` places further; the end of the statement stays the end.
    #[inline]
    fn kind_at(&self, ahead: usize) -> TokenKind {
        let last = self.tokens.len() - 1;
        self.tokens[(self.at + ahead).min(last)].kind
    }

    #[inline]
    fn advance(&mut self) {
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
    }

    fn at_end(&self) -> bool {
        matches!(self.kind(), TokenKind::Semicolon | TokenKind::End)
    }

    fn text_of(&self, token: Token) -> &'a [u8] {
        &self.source[token.start as usize..token.end as usize]
    }

    /// Whether the word is `text`, which is no keyword of the table, in any case.
    fn at_text(&self, text: &str) -> bool {
        matches!(self.kind(), TokenKind::Name | TokenKind::Word(_))
            && self.text_of(self.token()).eq_ignore_ascii_case(text.as_bytes())
    }

    #[inline]
    fn at_word(&self, word: Keyword) -> bool {
        self.kind() == TokenKind::Word(word)
    }

    fn at_words(&self, first: Keyword, second: Keyword) -> bool {
        self.at_word(first) && self.kind_at(1) == TokenKind::Word(second)
    }

    #[inline]
    fn accept(&mut self, word: Keyword) -> bool {
        self.accept_kind(TokenKind::Word(word))
    }

    #[inline]
    fn accept_kind(&mut self, kind: TokenKind) -> bool {
        let found = self.kind() == kind;
        if found {
            self.advance();
        }
        found
    }

    /// Accepts the words only if all of them stand there.
    fn accept_all(&mut self, words: &[Keyword]) -> bool {
        let found =
            words.iter().enumerate().all(|(ahead, &word)| self.kind_at(ahead) == TokenKind::Word(word));
        if found {
            self.at += words.len();
        }
        found
    }

    /// The first of the words that stands here.
    fn accept_any(&mut self, words: &[Keyword]) -> Option<Keyword> {
        let TokenKind::Word(word) = self.kind() else { return None };
        words.contains(&word).then(|| {
            self.advance();
            word
        })
    }

    fn expect(&mut self, word: Keyword) -> SqlResult<()> {
        if self.accept(word) { Ok(()) } else { self.fail() }
    }

    fn expect_all(&mut self, words: &[Keyword]) -> SqlResult<()> {
        words.iter().try_for_each(|&word| self.expect(word))
    }

    fn expect_any(&mut self, words: &[Keyword]) -> SqlResult<Keyword> {
        match self.accept_any(words) {
            Some(word) => Ok(word),
            None => self.fail(),
        }
    }

    fn expect_kind(&mut self, kind: TokenKind) -> SqlResult<()> {
        if self.accept_kind(kind) { Ok(()) } else { self.fail() }
    }

    fn accept_equal(&mut self) -> bool {
        self.accept_kind(TokenKind::Equal)
    }

    fn accept_comma(&mut self) -> bool {
        self.accept_kind(TokenKind::Comma)
    }

    // ---- lists ----

    /// One or more items with commas between them.
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> SqlResult<T>) -> SqlResult<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.accept_comma() {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// `( inside )`.
    fn parenthesised<T>(&mut self, inside: impl FnOnce(&mut Self) -> SqlResult<T>) -> SqlResult<T> {
        self.expect_kind(TokenKind::OpenParenthesis)?;
        let value = inside(self)?;
        self.expect_kind(TokenKind::CloseParenthesis)?;
        Ok(value)
    }

    /// `( item, item )`.
    fn parenthesised_list<T>(&mut self, item: impl FnMut(&mut Self) -> SqlResult<T>) -> SqlResult<Vec<T>> {
        self.parenthesised(|parser| parser.list(item))
    }

    /// `( name, name )` if a parenthesis opens here.
    fn optional_names(&mut self) -> SqlResult<Vec<Name>> {
        if self.kind() == TokenKind::OpenParenthesis {
            self.parenthesised_list(Self::name)
        } else {
            Ok(Vec::new())
        }
    }

    // ---- names ----

    /// A name: quoted, or a word that is not reserved.
    fn name(&mut self) -> SqlResult<Name> {
        if !self.kind().is_name() {
            return self.fail();
        }
        self.any_word()
    }

    /// The part of a qualified name behind a point, where every word is a name.
    fn name_behind_point(&mut self) -> SqlResult<Name> {
        match self.kind() {
            TokenKind::Word(_) | TokenKind::Name | TokenKind::QuotedName => self.any_word(),
            _ => self.fail(),
        }
    }

    /// The token's text as a name, whatever it is.
    #[inline(never)]
    fn any_word(&mut self) -> SqlResult<Name> {
        let text = self.text_of(self.token());
        let name = utf8(self.options.name(values::name_bytes(text, self.options)))?;
        self.advance();
        Ok(name)
    }

    /// A name or a string, as for engines, character sets and accounts.
    #[inline(never)]
    fn name_or_string(&mut self) -> SqlResult<Name> {
        if self.kind() == TokenKind::String { utf8(self.string()?) } else { self.name() }
    }

    /// A character set or collation: a name, a string or `binary`.
    fn charset_name(&mut self) -> SqlResult<Name> {
        if self.at_word(Keyword::Binary) {
            return self.any_word();
        }
        self.name_or_string()
    }

    /// Notes the use of a character set in an expression.
    fn deprecate_charset(&mut self, name: &str) {
        if name.eq_ignore_ascii_case("utf8") {
            self.deprecate(Deprecation::Utf8);
        }
    }

    /// `schema.object`, `object` or `.object`.
    fn object_name(&mut self) -> SqlResult<ObjectName> {
        let first = self.name()?;
        if !self.accept_kind(TokenKind::Point) {
            return Ok(ObjectName { schema: None, name: first });
        }
        Ok(ObjectName { schema: Some(first), name: self.name_behind_point()? })
    }

    fn column_reference(&mut self) -> SqlResult<ColumnReference> {
        let first = self.name()?;
        self.column_reference_from(first)
    }

    /// The rest of a column reference whose first name is read.
    #[inline(never)]
    fn column_reference_from(&mut self, first: Name) -> SqlResult<ColumnReference> {
        if !self.accept_kind(TokenKind::Point) {
            return Ok(ColumnReference::unqualified(first));
        }
        let second = self.name_behind_point()?;
        if !self.accept_kind(TokenKind::Point) {
            return Ok(ColumnReference { schema: None, table: Some(first), column: second });
        }
        Ok(ColumnReference { schema: Some(first), table: Some(second), column: self.name_behind_point()? })
    }

    /// `@name`.
    fn user_variable(&mut self) -> SqlResult<Name> {
        if self.kind() != TokenKind::UserVariable {
            return self.fail();
        }
        self.at_sign_name()
    }

    /// What follows the `@` of a user variable or account.
    fn at_sign_name(&mut self) -> SqlResult<Name> {
        let text = &self.text_of(self.token())[1..];
        let bytes = match text.first() {
            Some(b'\'' | b'"') => values::string_value(text, self.options),
            _ => values::name_bytes(text, self.options),
        };
        self.advance();
        utf8(self.options.name(bytes))
    }

    // ---- depth ----

    /// Runs a step that may recurse, and refuses to nest deeper than the stack allows.
    fn nested<T>(&mut self, step: impl FnOnce(&mut Self) -> SqlResult<T>) -> SqlResult<T> {
        if self.nesting >= NESTING_MAX {
            return Err(too_deep());
        }
        self.nesting += 1;
        let result = step(self);
        self.nesting -= 1;
        result
    }

    /// Notes that an expression of this many levels was built.
    fn set_depth(&mut self, depth: u32) -> SqlResult<()> {
        self.depth = depth;
        if depth > TREE_DEPTH_MAX { Err(too_deep()) } else { Ok(()) }
    }

    // ---- errors ----

    /// The syntax error at the current token.
    fn fail<T>(&self) -> SqlResult<T> {
        Err(self.syntax_error_at(self.token()))
    }

    fn syntax_error_at(&self, token: Token) -> SqlError {
        syntax_error(self.source, token.start as usize, self.options)
    }

    // ---- source text ----

    /// The source from a token on up to the last token that was read.
    fn text_since(&self, first: usize) -> &'a [u8] {
        let start = self.tokens[first].start as usize;
        let end = self.tokens[self.at.max(1) - 1].end as usize;
        &self.source[start..end.max(start)]
    }

    fn string_since(&self, first: usize) -> String {
        self.options.shown(self.text_since(first))
    }
}

/// Error 1064 for the token that starts at that byte.
pub(crate) fn syntax_error(source: &[u8], start: usize, options: ParseOptions) -> SqlError {
    parse_error(errors::code::ER_SYNTAX_ERROR.format, source, start, options)
}

/// Error 1064 that says what is wrong at that byte.
fn parse_error(what: &str, source: &[u8], start: usize, options: ParseOptions) -> SqlError {
    let near = options.shown(&source[start..]);
    let line = 1 + source[..start].iter().filter(|&&byte| byte == b'\n').count();
    sql_error!(ER_PARSE_ERROR, what, near, line)
}

fn too_deep() -> SqlError {
    let bytes = NESTING_MAX * LEVEL_STACK_BYTES;
    sql_error!(ER_STACK_OVERRUN_NEED_MORE, bytes, bytes, LEVEL_STACK_BYTES)
}

/// Names are UTF-8, whatever the connection's character set.
fn utf8(bytes: Vec<u8>) -> SqlResult<String> {
    String::from_utf8(bytes).map_err(|error| {
        let bad = &error.as_bytes()[error.utf8_error().valid_up_to()..];
        let shown: String = bad.iter().take(6).map(|byte| format!("\\x{byte:02X}")).collect();
        sql_error!(ER_INVALID_CHARACTER_STRING, "utf8mb3", shown)
    })
}

#[cfg(test)]
mod tests;
