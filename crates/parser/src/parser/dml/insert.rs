//! INSERT and REPLACE: columns, rows or a query, and what happens to duplicates.

use crate::parser::expression::expression;
use crate::parser::expression::operand::opens_query;
use crate::parser::query::from::optional_partitions;
use crate::parser::query::hints::optional_hints;
use crate::parser::query::{at_query_word, whole_query};
use crate::parser::*;
use Keyword as K;
use TokenKind as T;

/// INSERT and REPLACE.
pub(crate) fn insert(parser: &mut Parser) -> SqlResult<Statement> {
    let replace = parser.at_word(K::Replace);
    parser.advance();
    let (hints, _) = optional_hints(parser);
    let priority = match parser.accept_any(&[K::LowPriority, K::Delayed, K::HighPriority]) {
        None => InsertPriority::Normal,
        Some(K::LowPriority) => InsertPriority::Low,
        Some(K::HighPriority) if !replace => InsertPriority::High,
        Some(K::Delayed) => InsertPriority::Delayed,
        Some(_) => return parser.fail(),
    };
    let ignore = !replace && parser.accept(K::Ignore);
    parser.accept(K::Into);
    let table = parser.object_name()?;
    let partitions = optional_partitions(parser)?;
    let (columns, source) = insert_source(parser)?;
    let row_alias = if matches!(source, InsertSource::Values(_)) { row_alias(parser)? } else { None };
    let source = match source {
        InsertSource::Query(query) => rows_or_query(*query),
        values => values,
    };
    let on_duplicate = if !replace && parser.accept_all(&[K::On, K::Duplicate, K::Key]) {
        parser.expect(K::Update)?;
        let before = parser.deprecations.len();
        let assignments = parser.list(assignment)?;
        for deprecation in &mut parser.deprecations[before..] {
            if matches!(deprecation, Deprecation::ValuesElsewhere) {
                *deprecation = Deprecation::ValuesFunction;
            }
        }
        assignments
    } else {
        Vec::new()
    };
    Ok(Statement::Insert(Box::new(Insert {
        replace,
        priority,
        ignore,
        hints,
        table,
        partitions,
        columns,
        source,
        row_alias,
        on_duplicate,
    })))
}

fn insert_source(parser: &mut Parser) -> SqlResult<(Vec<ColumnReference>, InsertSource)> {
    if parser.accept(K::Set) {
        let (columns, values) = parser
            .list(assignment)?
            .into_iter()
            .map(|assignment| (assignment.column, assignment.value))
            .unzip();
        return Ok((columns, InsertSource::Values(vec![values])));
    }
    let mut columns = Vec::new();
    if parser.kind() == T::OpenParenthesis && !opens_query(parser) {
        parser.advance();
        if parser.kind() != T::CloseParenthesis {
            columns = parser.list(Parser::column_reference)?;
        }
        parser.expect_kind(T::CloseParenthesis)?;
    }
    let is_table_value = parser.at_words(K::Values, K::Row);
    if !is_table_value && parser.accept_any(&[K::Values, K::Value]).is_some() {
        return Ok((columns, InsertSource::Values(parser.list(row_of_values)?)));
    }
    if at_query_word(parser) || parser.kind() == T::OpenParenthesis {
        return Ok((columns, InsertSource::Query(Box::new(whole_query(parser)?))));
    }
    parser.fail()
}

/// `VALUES ROW(..), ..` alone is the list of values that VALUES without ROW is.
fn rows_or_query(query: Query) -> InsertSource {
    let alone =
        query.with.is_none() && query.order_by.is_empty() && query.limit.is_none() && query.into.is_none();
    match query.body {
        QueryBody::Values(rows) if alone => InsertSource::Values(rows),
        body => InsertSource::Query(Box::new(Query { body, ..query })),
    }
}

/// `(value, value)`, where a value may be DEFAULT; may be empty.
pub(crate) fn row_of_values(parser: &mut Parser) -> SqlResult<Vec<Expression>> {
    parser.expect_kind(T::OpenParenthesis)?;
    if parser.accept_kind(T::CloseParenthesis) {
        return Ok(Vec::new());
    }
    let values = parser.list(value_or_default)?;
    parser.expect_kind(T::CloseParenthesis)?;
    Ok(values)
}

fn value_or_default(parser: &mut Parser) -> SqlResult<Expression> {
    if parser.at_word(K::Default) && parser.kind_at(1) != T::OpenParenthesis {
        parser.advance();
        return Ok(Expression::Default(None));
    }
    expression(parser)
}

fn row_alias(parser: &mut Parser) -> SqlResult<Option<RowAlias>> {
    if !parser.accept(K::As) {
        return Ok(None);
    }
    Ok(Some(RowAlias { name: parser.name()?, columns: parser.optional_names()? }))
}

/// `column = value`.
pub(crate) fn assignment(parser: &mut Parser) -> SqlResult<Assignment> {
    let column = parser.column_reference()?;
    if !parser.accept_kind(T::Assign) {
        parser.expect_kind(T::Equal)?;
    }
    Ok(Assignment { column, value: value_or_default(parser)? })
}
