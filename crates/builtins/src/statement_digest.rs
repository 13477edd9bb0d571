//! STATEMENT_DIGEST and STATEMENT_DIGEST_TEXT. The argument is parsed, and no name of it is looked up.

use super::string::ANY_LENGTH_CHARACTERS;
use super::{Call, Derivation, FunctionDefinition, acting};
use charset::CollationId;
use errors::{SqlError, SqlResult, sql_error};
use expression::context::VariableScope;
use expression::result_type::{ResultType, TypeClass};
use expression::{ExpressionKind, SqlMode, StatementFacts};
use functions::statement_digest::{StatementDigest, statement_digest};
use parser::lexer::Lexer;
use parser::token::TokenKind;
use parser::{ParseOptions, TOKEN_BYTES};
use values::Value;

/// The family's functions.
pub static FUNCTIONS: &[FunctionDefinition] = &[
    acting(
        "statement_digest",
        1,
        1,
        |derivation| derive(derivation, "statement_digest", HASH_DIGITS),
        |call| result(call, |digest| digest.hash.into_bytes()),
    ),
    acting(
        "statement_digest_text",
        1,
        1,
        |derivation| derive(derivation, "statement_digest_text", ANY_LENGTH_CHARACTERS),
        |call| result(call, |digest| digest.text),
    ),
];

const HASH_DIGITS: u32 = 64;

/// Error 3987 for bytes that are no text.
fn derive(derivation: &mut Derivation<'_>, name: &str, characters: u32) -> SqlResult<ResultType> {
    let argument = derivation.argument(0);
    if argument.kind().is_string() && argument.collation() == CollationId::BINARY {
        return Err(sql_error!(ER_FUNCTION_DOES_NOT_SUPPORT_CHARACTER_SET, name, "binary"));
    }
    if argument.class() == TypeClass::Null && characters == ANY_LENGTH_CHARACTERS {
        return Ok(ResultType::binary(characters).nullable());
    }
    let nullable = derivation.any_nullable() || derivation.facts.sql_mode.is_strict();
    Ok(derivation.connection_text(characters).nullable_if(nullable))
}

fn result(call: &mut Call<'_>, part: fn(StatementDigest) -> Vec<u8>) -> SqlResult<Value> {
    let Some(text) = call.utf8(0)? else { return Ok(Value::Null) };
    // Each byte may be a token.
    call.wait_for(text.len().saturating_mul(TOKEN_BYTES as usize))?;
    let options = options(call.context().facts());
    // Or the parameter that a literal became.
    let is_literal =
        matches!(call.expression(0).kind, ExpressionKind::Literal(_) | ExpressionKind::Parameter(_));
    let end = checked(text.as_bytes(), options).map_err(|error| match is_literal {
        true => sql_error!(ER_PARSE_ERROR_IN_DIGEST_FN, error.message()),
        // The text may be somebody else's.
        false => sql_error!(ER_UNDISCLOSED_PARSE_ERROR_IN_DIGEST_FN),
    })?;
    let bytes_max = call.context().session().system_variable(VariableScope::Global, "max_digest_length")?;
    let bytes_max = match bytes_max.value {
        Value::UInt(bytes) => usize::try_from(bytes).unwrap_or(usize::MAX),
        Value::Int(bytes) => usize::try_from(bytes).unwrap_or(0),
        _ => 0,
    };
    let digest = statement_digest(&text.as_bytes()[..end], options, bytes_max.min(DIGEST_BYTES_MAX))?;
    call.hold_only(0)?;
    let shown = String::from_utf8_lossy(&part(digest)).into_owned();
    Ok(call.text_result(&shown))
}

/// What max_digest_length is at most.
const DIGEST_BYTES_MAX: usize = 1 << 20;

fn options(facts: &StatementFacts) -> ParseOptions {
    let has = |mode| facts.sql_mode.contains(mode);
    ParseOptions {
        connection: facts.connection_collation,
        ansi_quotes: has(SqlMode::ANSI_QUOTES),
        pipes_as_concat: has(SqlMode::PIPES_AS_CONCAT),
        no_backslash_escapes: has(SqlMode::NO_BACKSLASH_ESCAPES),
        high_not_precedence: has(SqlMode::HIGH_NOT_PRECEDENCE),
        ignore_space: has(SqlMode::IGNORE_SPACE),
        ..ParseOptions::default()
    }
}

/// The end of a text's one statement, which has no parameters.
fn checked(text: &[u8], options: ParseOptions) -> SqlResult<usize> {
    let parsed = parser::parse_one(text, 0, options)?;
    if parsed.parameters > 0 {
        let mut lexer = Lexer::new(text, 0, options);
        loop {
            let token = lexer.next_token();
            if matches!(token.kind, TokenKind::Parameter | TokenKind::End) {
                return Err(syntax_error(text, token.start as usize));
            }
        }
    }
    match parser::is_blank(text, parsed.next, options) {
        true => Ok(parsed.span.end),
        false => Err(syntax_error(text, Lexer::new(text, parsed.next, options).next_token().start as usize)),
    }
}

fn syntax_error(text: &[u8], at: usize) -> SqlError {
    let line = 1 + text[..at].iter().filter(|byte| **byte == b'\n').count();
    let near = String::from_utf8_lossy(&text[at..]);
    sql_error!(ER_PARSE_ERROR, errors::code::ER_SYNTAX_ERROR.format, near, line)
}
