//! What the tree of a statement may take of memory (parser_max_mem_size). It is told from the number of tokens before anything is
//! built: trees and plans grow with them, and a text of 64 MB has room for a tree of many GB.

use crate::keyword::Keyword;
use crate::lexer::Lexer;
use crate::options::ParseOptions;
use crate::token::{Token, TokenKind};
use errors::{SqlError, sql_error};

/// What a token takes with its part of tree and plan: 90 (rows of VALUES) to 380 (columns of a SELECT) were seen.
pub const TOKEN_BYTES: u64 = 128;
/// What a query takes besides its tokens: each has a block of its own.
const QUERY_BYTES: u64 = 2048;
/// The shortest query is `select 1` and a blank, of two tokens.
const BYTES_PER_TEXT_BYTE_MAX: u64 = QUERY_BYTES / 8;

/// Whether no statement of a text of so many bytes can be too large.
#[inline]
pub(super) fn always_fits(text_bytes: usize, options: ParseOptions) -> bool {
    (text_bytes as u64 + 1).saturating_mul(BYTES_PER_TEXT_BYTE_MAX + TOKEN_BYTES) <= options.memory_bytes_max
}

/// The tokens of the statement that starts at byte `at`, and whether these are all: what is too large ends early.
#[cold]
pub(super) fn tokens_that_fit(source: &[u8], at: usize, options: ParseOptions) -> (Vec<Token>, bool) {
    let mut lexer = Lexer::new(source, at, options);
    let mut tokens = Vec::new();
    let mut bytes = 0;
    loop {
        let token = lexer.next_token();
        tokens.push(token);
        if matches!(token.kind, TokenKind::Semicolon | TokenKind::End) {
            return (tokens, true);
        }
        bytes += match token.kind {
            TokenKind::Word(Keyword::Select) => QUERY_BYTES,
            _ => TOKEN_BYTES,
        };
        if bytes > options.memory_bytes_max {
            tokens.push(Token { kind: TokenKind::End, ..token });
            return (tokens, false);
        }
    }
}

/// Error 3170.
#[cold]
pub(super) fn exceeded(options: ParseOptions) -> SqlError {
    let advice = errors::code::ER_CAPACITY_EXCEEDED_IN_PARSER.format;
    sql_error!(ER_CAPACITY_EXCEEDED, options.memory_bytes_max, "parser_max_mem_size", advice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{parse_one, parse_shape};

    fn outcome(text: &str, memory_bytes_max: u64) -> Option<u16> {
        let options = ParseOptions { memory_bytes_max, ..ParseOptions::default() };
        parse_one(text.as_bytes(), 0, options).err().map(|error| error.number())
    }

    #[test]
    fn a_statement_takes_no_more_than_it_may() {
        let limit = 100 * TOKEN_BYTES;
        let sum = |members: usize| format!("select 1{}", "+1".repeat(members));
        // A SELECT is as large as some tokens, and there are two tokens for each member.
        assert_eq!(outcome(&sum(41), limit), None);
        assert_eq!(outcome(&sum(42), limit), Some(3170));
        let union = |queries: usize| ["select 1"].repeat(queries).join(" union ");
        assert_eq!(outcome(&union(5), limit), None);
        assert_eq!(outcome(&union(6), limit), Some(3170));
        // Only the statement counts, not what stands behind it, blanks and comments, or the length of a literal.
        assert_eq!(outcome(&format!("select 1; {}", sum(1000)), limit), None);
        assert_eq!(outcome(&format!("select {}'{}'", " ".repeat(9999), "x".repeat(9999)), limit), None);
        assert_eq!(outcome(&format!("select 1{}", ",1".repeat(100_000)), u64::MAX), None);
        let options = ParseOptions { memory_bytes_max: limit, ..ParseOptions::default() };
        assert!(parse_shape(sum(41).as_bytes(), options, &[]).is_some());
        assert!(parse_shape(sum(42).as_bytes(), options, &[]).is_none());
    }

    #[test]
    fn what_always_fits_fits() {
        for text in ["select 1 union select 1 union select 1", "1,1,1,1,1,1,1,1", "((((((", ""] {
            let options = ParseOptions { memory_bytes_max: 1, ..ParseOptions::default() };
            let needed = (text.len() as u64 + 1) * (BYTES_PER_TEXT_BYTE_MAX + TOKEN_BYTES);
            assert!(!always_fits(text.len(), options));
            let options = ParseOptions { memory_bytes_max: needed, ..options };
            assert!(always_fits(text.len(), options));
            assert!(tokens_that_fit(text.as_bytes(), 0, options).1, "{text}");
        }
    }
}
