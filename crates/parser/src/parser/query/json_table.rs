//! JSON_TABLE: its path and columns.

use crate::parser::ddl::data_type::data_type;
use crate::parser::expression::cast::{JsonReactions, json_reactions};
use crate::parser::expression::expression;
use crate::parser::expression::literal::path_literal;
use crate::parser::query::from::table_alias;
use crate::parser::*;
use Keyword as K;
use TokenKind as T;

#[inline(never)]
pub(crate) fn json_table(parser: &mut Parser) -> SqlResult<TableReference> {
    parser.advance();
    parser.expect_kind(T::OpenParenthesis)?;
    let document = expression(parser)?;
    parser.expect_kind(T::Comma)?;
    let path = path_literal(parser)?;
    let columns = json_table_columns(parser)?;
    parser.expect_kind(T::CloseParenthesis)?;
    let Some(alias) = table_alias(parser)? else {
        return Err(sql_error!(ER_TF_MUST_HAVE_ALIAS));
    };
    Ok(TableReference::JsonTable(Box::new(JsonTable { document, path, columns, alias })))
}

fn json_table_columns(parser: &mut Parser) -> SqlResult<Vec<JsonTableColumn>> {
    parser.nested(|parser| {
        parser.expect(K::Columns)?;
        parser.parenthesised_list(json_table_column)
    })
}

fn json_table_column(parser: &mut Parser) -> SqlResult<JsonTableColumn> {
    if parser.accept(K::Nested) {
        parser.expect(K::Path)?;
        let path = path_literal(parser)?;
        return Ok(JsonTableColumn::Nested { path, columns: json_table_columns(parser)? });
    }
    let name = parser.name()?;
    if parser.accept(K::For) {
        parser.expect(K::Ordinality)?;
        return Ok(JsonTableColumn::Ordinality(name));
    }
    let mut data_type = data_type(parser)?;
    if parser.accept(K::Collate) {
        data_type.collation = Some(parser.charset_name()?);
    }
    let exists = parser.accept(K::Exists);
    parser.expect(K::Path)?;
    let path = path_literal(parser)?;
    let JsonReactions { on_empty, on_error, errors_first } = json_reactions(parser, true)?;
    let column = JsonTablePath { name, data_type, exists, path, on_empty, on_error, errors_first };
    Ok(JsonTableColumn::Path(Box::new(column)))
}
