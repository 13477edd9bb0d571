//! CREATE, DROP and RENAME TABLE. Columns are read in `column`, keys in `index` and `constraint`.

use crate::parser::ddl::column::column_specification;
use crate::parser::ddl::constraint::optional_constraint_element;
use crate::parser::ddl::partition::optional_partitioning;
use crate::parser::ddl::table_options::table_options;
use crate::parser::ddl::{if_exists, if_not_exists};
use crate::parser::expression::operand::opens_query;
use crate::parser::query::{at_query_word, whole_query};
use crate::parser::*;
use Keyword as K;
use TokenKind as T;

/// Behind CREATE [TEMPORARY] TABLE.
pub(crate) fn create_table(parser: &mut Parser, temporary: bool) -> SqlResult<Statement> {
    let if_not_exists = if_not_exists(parser)?;
    let name = parser.object_name()?;
    let mut table = CreateTable {
        temporary,
        if_not_exists,
        name,
        like: None,
        elements: Vec::new(),
        options: Vec::new(),
        partitioning: None,
        on_duplicate: SelectDuplicates::Error,
        query: None,
    };
    if parser.accept(K::Like) {
        table.like = Some(parser.object_name()?);
    } else if parser.kind() == T::OpenParenthesis && parser.kind_at(1) == T::Word(K::Like) {
        parser.at += 2;
        table.like = Some(parser.object_name()?);
        parser.expect_kind(T::CloseParenthesis)?;
    } else {
        table_body(parser, &mut table)?;
    }
    Ok(Statement::CreateTable(Box::new(table)))
}

fn table_body(parser: &mut Parser, table: &mut CreateTable) -> SqlResult<()> {
    if parser.kind() == T::OpenParenthesis && !opens_query(parser) {
        table.elements = parser.parenthesised_list(table_element)?;
    }
    table.options = table_options(parser)?;
    table.partitioning = optional_partitioning(parser)?;
    table.on_duplicate = match parser.accept_any(&[K::Ignore, K::Replace]) {
        None => SelectDuplicates::Error,
        Some(K::Ignore) => SelectDuplicates::Ignore,
        Some(_) => SelectDuplicates::Replace,
    };
    let explicit = parser.accept(K::As);
    if explicit || at_query_word(parser) || parser.kind() == T::OpenParenthesis {
        table.query = Some(Box::new(whole_query(parser)?));
    } else if table.on_duplicate != SelectDuplicates::Error {
        return parser.fail();
    }
    Ok(())
}

/// A column, key or constraint.
pub(crate) fn table_element(parser: &mut Parser) -> SqlResult<TableElement> {
    match optional_constraint_element(parser)? {
        Some(element) => Ok(element),
        None => Ok(TableElement::Column(column_specification(parser)?)),
    }
}

/// Behind DROP [TEMPORARY] TABLE.
pub(crate) fn drop_table(parser: &mut Parser, temporary: bool) -> SqlResult<Statement> {
    let if_exists = if_exists(parser)?;
    let tables = parser.list(Parser::object_name)?;
    parser.accept_any(&[K::Restrict, K::Cascade]);
    Ok(Statement::DropTable(DropTable { temporary, if_exists, tables }))
}

/// Behind RENAME TABLE.
pub(crate) fn rename_table(parser: &mut Parser) -> SqlResult<Statement> {
    Ok(Statement::RenameTable(parser.list(|parser| {
        let from = parser.object_name()?;
        parser.expect(K::To)?;
        Ok(RenameItem { from, to: parser.object_name()? })
    })?))
}
