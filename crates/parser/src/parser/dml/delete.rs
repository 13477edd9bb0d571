//! DELETE from one table or several.

use crate::parser::dml::update::optional_row_limit;
use crate::parser::query::from::{optional_partitions, table_alias, table_reference};
use crate::parser::query::hints::optional_hints;
use crate::parser::query::optional_order_by;
use crate::parser::query::select::optional_where;
use crate::parser::*;
use Keyword as K;
use TokenKind as T;

pub(crate) fn delete(parser: &mut Parser, with: Option<With>) -> SqlResult<Statement> {
    parser.expect(K::Delete)?;
    let (hints, _) = optional_hints(parser);
    let (mut low_priority, mut quick, mut ignore) = (false, false, false);
    while let Some(word) = parser.accept_any(&[K::LowPriority, K::Quick, K::Ignore]) {
        match word {
            K::LowPriority => low_priority = true,
            K::Quick => quick = true,
            _ => ignore = true,
        }
    }
    let source = delete_source(parser)?;
    let filter = optional_where(parser)?;
    let single = matches!(source, DeleteSource::Single(_));
    let order_by = if single { optional_order_by(parser)? } else { Vec::new() };
    let limit = if single { optional_row_limit(parser)? } else { None };
    let delete = Delete { with, low_priority, quick, ignore, hints, source, filter, order_by, limit };
    Ok(Statement::Delete(Box::new(delete)))
}

fn delete_source(parser: &mut Parser) -> SqlResult<DeleteSource> {
    if !parser.accept(K::From) {
        let targets = parser.list(delete_target)?;
        parser.expect(K::From)?;
        return Ok(DeleteSource::Multiple { targets, from: parser.list(table_reference)? });
    }
    let start = parser.at;
    let targets = parser.list(delete_target)?;
    if parser.accept(K::Using) {
        return Ok(DeleteSource::Multiple { targets, from: parser.list(table_reference)? });
    }
    parser.at = start;
    let name = parser.object_name()?;
    let early_alias = table_alias(parser)?;
    let partitions = optional_partitions(parser)?;
    let alias = if early_alias.is_some() { early_alias } else { table_alias(parser)? };
    Ok(DeleteSource::Single(TableFactor { name, partitions, alias, index_hints: Vec::new() }))
}

/// `table`, `table.*` or `schema.table.*`.
fn delete_target(parser: &mut Parser) -> SqlResult<ObjectName> {
    let first = parser.name()?;
    let mut target = ObjectName { schema: None, name: first };
    if parser.kind() == T::Point && parser.kind_at(1) != T::Star {
        parser.advance();
        let name = parser.name_behind_point()?;
        target = ObjectName { schema: Some(target.name), name };
    }
    if parser.accept_kind(T::Point) {
        parser.expect_kind(T::Star)?;
    }
    Ok(target)
}
