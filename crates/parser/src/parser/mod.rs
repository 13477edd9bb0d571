//! The recursive-descent parser. [`Parser`] is the state of one statement: a cursor over its tokens (`tokens`), with what every
//! statement reads through it: `names`, `constants` and `error`. The grammar is functions over it: `statement` looks at the first
//! words, and a folder holds a family of statements.

mod account;
mod admin;
mod constants;
mod ddl;
mod dml;
mod error;
mod explain;
mod expression;
pub(crate) mod memory;
mod names;
mod query;
mod session;
mod statement;
mod tokens;

pub use expression::call::is_unspaced_function;
pub(crate) use expression::expression;
pub(crate) use query::hints::HintsRead;
pub(crate) use statement::statement;

use crate::ast::*;
use crate::deprecation::Deprecation;
use crate::digest::DigestLiteral;
use crate::keyword::Keyword;
use crate::lexer::Lexer;
use crate::literal as values;
use crate::options::{NESTING_MAX, ParseOptions, TREE_DEPTH_MAX};
use crate::token::{Token, TokenKind};
use error::{parse_error, too_deep};
use errors::{SqlError, SqlResult, sql_error};

/// The tokens of the statement that starts at byte `at`.
fn all_tokens(source: &[u8], at: usize, options: ParseOptions) -> Vec<Token> {
    // A loop of its own: with `append_tokens` here parsing takes 3% more instructions.
    let mut lexer = Lexer::new(source, at, options);
    let mut tokens = Vec::with_capacity(((source.len() - at) / 4).clamp(16, 4096));
    loop {
        let token = lexer.next_token();
        tokens.push(token);
        if matches!(token.kind, TokenKind::Semicolon | TokenKind::End) {
            return tokens;
        }
    }
}

/// Parses one statement.
pub(crate) struct Parser<'a> {
    source: &'a [u8],
    options: ParseOptions,
    /// The statement's tokens; the last is Semicolon or End.
    tokens: Vec<Token>,
    /// Whether these are all of the statement.
    fits: bool,
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
    /// Whether the next SELECT is the first of the statement's own query.
    is_first_select: bool,
    /// By token: the position of the parenthesis that closes the one there. Filled on first need.
    closing: Vec<u32>,
    deprecations: Vec<Deprecation>,
    /// What was read of its hints, if it has any.
    hints: Option<Box<HintsRead>>,
}

impl<'a> Parser<'a> {
    /// A parser of the statement that starts at byte `at`.
    pub(crate) fn new(source: &'a [u8], at: usize, options: ParseOptions) -> Parser<'a> {
        let (tokens, fits) = match memory::always_fits(source.len() - at, options) {
            true => (all_tokens(source, at, options), true),
            false => memory::tokens_that_fit(source, at, options),
        };
        Parser {
            source,
            options,
            tokens,
            fits,
            at: 0,
            nesting: 0,
            depth: 0,
            parameters: 0,
            lifted: &[],
            into: None,
            is_first_select: false,
            closing: Vec::new(),
            deprecations: Vec::new(),
            hints: None,
        }
    }

    /// Error 3170 where the statement is beyond what it may take of memory. Its tokens end early then.
    pub(crate) fn check_memory(&self) -> SqlResult<()> {
        if self.fits { Ok(()) } else { Err(memory::exceeded(self.options)) }
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
    pub(crate) fn take_hints(&mut self) -> Option<Box<HintsRead>> {
        self.hints.take()
    }

    /// Number of `?` so far.
    pub(crate) fn parameters(&self) -> u32 {
        self.parameters
    }

    /// Number of tokens so far.
    pub(crate) fn tokens_read(&self) -> usize {
        self.at
    }

    /// From the first token to the last that was read.
    pub(crate) fn span(&self) -> Span {
        let end = self.tokens[self.at.max(1) - 1].end as usize;
        Span { start: self.tokens[0].start as usize, end }
    }

    /// Requires the end of the statement, and returns the offset behind it.
    pub(crate) fn finish(&self) -> SqlResult<usize> {
        if self.at_end() { Ok(self.token().end as usize) } else { self.fail() }
    }
}

#[cfg(test)]
mod tests;
