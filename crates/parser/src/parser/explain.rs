//! EXPLAIN and DESCRIBE.

use crate::parser::statement::statement;
use crate::parser::*;
use Keyword as K;
use TokenKind as T;

/// At EXPLAIN, DESCRIBE or DESC.
pub(crate) fn explain(parser: &mut Parser) -> SqlResult<Statement> {
    parser.advance();
    if parser.kind().is_name() && !at_explain_option(parser) {
        return describe_table(parser);
    }
    let mut explain = Explain {
        analyze: false,
        format: None,
        into: None,
        schema: None,
        target: ExplainTarget::Connection(0),
    };
    explain.analyze = parser.accept(K::Analyze);
    if parser.accept(K::Format) {
        parser.expect_kind(T::Equal)?;
        explain.format = Some(parser.name_or_string()?);
    }
    if parser.accept(K::Into) {
        explain.into = Some(parser.user_variable()?);
    }
    if parser.accept(K::For) {
        if parser.accept(K::Connection) {
            explain.target = ExplainTarget::Connection(parser.number()?);
            return Ok(Statement::Explain(Box::new(explain)));
        }
        parser.expect_any(&[K::Schema, K::Database])?;
        explain.schema = Some(parser.name()?);
    }
    let words = matches!(
        parser.kind(),
        T::OpenParenthesis
            | T::Word(
                K::Select | K::With | K::Table | K::Values | K::Insert | K::Replace | K::Update | K::Delete
            )
    );
    if !words {
        return parser.fail();
    }
    explain.target = ExplainTarget::Statement(Box::new(statement(parser)?));
    Ok(Statement::Explain(Box::new(explain)))
}

fn at_explain_option(parser: &Parser) -> bool {
    parser.at_word(K::Format) && parser.kind_at(1) == T::Equal
}

fn describe_table(parser: &mut Parser) -> SqlResult<Statement> {
    let table = parser.object_name()?;
    let column = match parser.kind() {
        T::String => Some(parser.string()?),
        kind if kind.is_name() => Some(parser.name()?.into_bytes()),
        _ => None,
    };
    Ok(Statement::Describe { table, column })
}
