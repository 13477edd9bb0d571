//! INTO of a query: a file or variables.

use crate::parser::dml::load::file_format;
use crate::parser::*;
use Keyword as K;
use TokenKind as T;

/// INTO, which may stand before FROM, before or behind the locking clauses. It is kept in `into`
/// until the query that it belongs to ends.
#[inline(never)]
pub(crate) fn optional_into(parser: &mut Parser) -> SqlResult<()> {
    if !parser.at_word(K::Into) {
        return Ok(());
    }
    if parser.into.is_some() {
        return Err(errors::sql_error!(ER_MULTIPLE_INTO_CLAUSES));
    }
    parser.advance();
    parser.into = Some(Box::new(query_into(parser)?));
    Ok(())
}

fn query_into(parser: &mut Parser) -> SqlResult<QueryInto> {
    if parser.accept(K::Outfile) {
        let path = parser.string()?;
        let charset = parser.optional_charset()?;
        return Ok(QueryInto::Outfile { path, charset, format: file_format(parser)? });
    }
    if parser.accept(K::Dumpfile) {
        return Ok(QueryInto::Dumpfile(parser.string()?));
    }
    Ok(QueryInto::Variables(parser.list(target_variable)?))
}

pub(crate) fn target_variable(parser: &mut Parser) -> SqlResult<IntoVariable> {
    if parser.kind() == T::UserVariable {
        return Ok(IntoVariable::User(parser.user_variable()?));
    }
    Ok(IntoVariable::Local(parser.name()?))
}
