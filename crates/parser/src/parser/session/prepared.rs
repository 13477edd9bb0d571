//! PREPARE, EXECUTE and DEALLOCATE.

use crate::parser::*;
use Keyword as K;
use TokenKind as T;

/// PREPARE, EXECUTE and DEALLOCATE.
pub(crate) fn prepared_statement(parser: &mut Parser, word: Keyword) -> SqlResult<Statement> {
    parser.advance();
    if word == K::Deallocate {
        parser.expect(K::Prepare)?;
        return Ok(Statement::Deallocate(parser.name()?));
    }
    let name = parser.name()?;
    if word == K::Prepare {
        parser.expect(K::From)?;
        let source = if parser.kind() == T::UserVariable {
            PrepareSource::UserVariable(parser.user_variable()?)
        } else {
            PrepareSource::Text(parser.string()?)
        };
        return Ok(Statement::Prepare { name, source });
    }
    let using = if parser.accept(K::Using) { parser.list(Parser::user_variable)? } else { Vec::new() };
    Ok(Statement::Execute { name, using })
}
