//! Lexer, syntax tree and recursive-descent parser of MySQL's SQL. Knows no catalogue.
//! The tree is in [`ast`]; [`parse_one`] reads one statement of a text that may hold several.
//! Text is bytes: strings may hold any bytes, names must be UTF-8.
#![forbid(unsafe_code)]

pub mod ast;
mod deprecation;
pub mod digest;
mod hint;
pub mod keyword;
pub mod lexer;
mod literal;
mod options;
mod parser;
mod printer;
pub mod token;

pub use hint::max_execution_time;
pub use keyword::Keyword;
pub use options::{NESTING_MAX, ParseOptions, TREE_DEPTH_MAX, VERSION_NUMBER};
pub use parser::is_unspaced_function;
pub use parser::memory::TOKEN_BYTES;
pub use printer::{PrintedQuery, PrintedTables, QueryStyle, print_expression, print_name, print_query};

use errors::{SqlResult, sql_error};
use std::sync::Arc;

/// The longest text that is parsed, in bytes: token positions are 32 bits wide.
const TEXT_BYTES_MAX: usize = u32::MAX as usize - 1;

/// A statement with its place in the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    /// The statement.
    pub statement: ast::Statement,
    /// Number of `?` in it.
    pub parameters: u32,
    /// Number of its tokens: what a tree and a plan take goes with it.
    pub tokens: usize,
    /// The statement's bytes in the text, without the semicolon.
    pub span: ast::Span,
    /// The offset behind the statement and its semicolon.
    pub next: usize,
    /// Warnings for deprecated syntax, in the order of the text, then those for mistakes in hints.
    pub warnings: Vec<errors::SqlError>,
    /// Hints that are not for the block where they stand.
    pub hints: Option<Arc<ast::StatementHints>>,
}

/// Parses the statement that starts at byte `start` of the text. The error is 1065 where the statement is empty
/// and 1064 where it is wrong; names that are not UTF-8 give 1300, too deep nesting 1436, too many tokens for the memory 3170.
pub fn parse_one(text: &[u8], start: usize, options: ParseOptions) -> SqlResult<Parsed> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(sql_error!(ER_NET_PACKET_TOO_LARGE));
    }
    let mut parser = parser::Parser::new(text, start, options);
    parser.check_memory()?;
    let statement = match parser.is_blank() {
        true if !parser.has_comment(start) => return Err(sql_error!(ER_EMPTY_QUERY)),
        true => ast::Statement::Empty,
        false => parser::statement(&mut parser)?,
    };
    let next = parser.finish()?;
    let deprecations = parser.deprecations().iter();
    let mut warnings: Vec<_> = deprecations.map(|deprecation| deprecation.warning()).collect();
    let hints = match parser.take_hints() {
        Some(read) => hints_of(*read, &statement, &mut warnings),
        None => None,
    };
    let (parameters, tokens, span) = (parser.parameters(), parser.tokens_read(), parser.span());
    Ok(Parsed { statement, parameters, tokens, span, next, warnings, hints })
}

/// What the hints of a statement say that is not for the block where they stand, and warnings for their mistakes.
#[cold]
fn hints_of(
    read: parser::HintsRead,
    statement: &ast::Statement,
    warnings: &mut Vec<errors::SqlError>,
) -> Option<Arc<ast::StatementHints>> {
    warnings.extend(read.warnings);
    let counts = usize::from(has_execution_time(statement));
    warnings
        .extend((counts..read.execution_times).map(|_| sql_error!(ER_WARN_UNSUPPORTED_MAX_EXECUTION_TIME)));
    (!read.statement.is_empty()).then(|| Arc::new(read.statement))
}

/// Whether MAX_EXECUTION_TIME stands where it counts.
fn has_execution_time(statement: &ast::Statement) -> bool {
    match statement {
        ast::Statement::Query(query) => hint::says_execution_time(query),
        ast::Statement::Explain(explain) => match &explain.target {
            ast::ExplainTarget::Statement(statement) => has_execution_time(statement),
            ast::ExplainTarget::Connection(_) => false,
        },
        _ => false,
    }
}

/// Parses the one statement of a text with the literals that a digest found as its parameters, in order. None where
/// they do not stand one to one for operands of the statement: then it has no shape of its own.
pub fn parse_shape(
    text: &[u8],
    options: ParseOptions,
    literals: &[digest::DigestLiteral],
) -> Option<ast::Statement> {
    let mut parser = parser::Parser::new(text, 0, options).lifting(literals);
    parser.check_memory().ok()?;
    let statement = parser::statement(&mut parser).ok()?;
    parser.finish().ok()?;
    // Warnings of the parser would be given once only, and hints that the planner reads are looked at each time.
    let counts = usize::from(has_execution_time(&statement));
    let is_quiet = |hints: Box<parser::HintsRead>| {
        hints.warnings.is_empty() && !hints.others && hints.execution_times == counts
    };
    let quiet = parser.deprecations().is_empty() && parser.take_hints().is_none_or(is_quiet);
    (quiet && parser.parameters() as usize == literals.len()).then_some(statement)
}

/// Whether nothing but blanks and comments follows byte `start`.
pub fn is_blank(text: &[u8], start: usize, options: ParseOptions) -> bool {
    lexer::Lexer::new(text, start, options).next_token().kind == token::TokenKind::End
}

/// Parses a text that is one expression, as DEFAULT, generated columns and CHECK keep it.
pub fn parse_expression(text: &[u8], options: ParseOptions) -> SqlResult<ast::Expression> {
    let mut parser = parser::Parser::new(text, 0, options);
    parser.check_memory()?;
    let expression = parser::expression(&mut parser)?;
    parser.finish()?;
    Ok(expression)
}
