//! PARTITION BY and the definitions of partitions.

use crate::parser::ddl::table_options::blank_separated_table_options;
use crate::parser::expression::bit_expression;
use crate::parser::expression::operand::opens_query;
use crate::parser::*;
use Keyword as K;
use TokenKind as T;

pub(crate) fn optional_partitioning(parser: &mut Parser) -> SqlResult<Option<Partitioning>> {
    if !parser.accept(K::Partition) {
        return Ok(None);
    }
    parser.expect(K::By)?;
    let method = partition_method(parser)?;
    let count = if parser.accept(K::Partitions) { Some(parser.number()?) } else { None };
    let subpartitioning = if parser.accept(K::Subpartition) {
        parser.expect(K::By)?;
        let method = partition_method(parser)?;
        let count = if parser.accept(K::Subpartitions) { Some(parser.number()?) } else { None };
        Some((method, count))
    } else {
        None
    };
    let partitions = if parser.kind() == T::OpenParenthesis && !opens_query(parser) {
        partition_definitions(parser)?
    } else {
        Vec::new()
    };
    Ok(Some(Partitioning { method, count, subpartitioning, partitions }))
}

fn partition_method(parser: &mut Parser) -> SqlResult<PartitionMethod> {
    let linear = parser.accept(K::Linear);
    let words: &[Keyword] = if linear { &[K::Hash, K::Key] } else { &[K::Hash, K::Key, K::Range, K::List] };
    let word = parser.expect_any(words)?;
    Ok(match word {
        K::Hash => PartitionMethod::Hash { linear, expression: parser.parenthesised(bit_expression)? },
        K::Key => {
            let algorithm = if parser.accept(K::Algorithm) {
                parser.expect_kind(T::Equal)?;
                Some(parser.number()?)
            } else {
                None
            };
            parser.expect_kind(T::OpenParenthesis)?;
            let empty = parser.kind() == T::CloseParenthesis;
            let columns = if empty { Vec::new() } else { parser.list(Parser::name)? };
            parser.expect_kind(T::CloseParenthesis)?;
            PartitionMethod::Key { linear, algorithm, columns }
        }
        _ => {
            let by_columns = parser.accept(K::Columns);
            match (word, by_columns) {
                (K::Range, true) => PartitionMethod::RangeColumns(parser.parenthesised_list(Parser::name)?),
                (K::Range, false) => PartitionMethod::Range(parser.parenthesised(bit_expression)?),
                (_, true) => PartitionMethod::ListColumns(parser.parenthesised_list(Parser::name)?),
                (_, false) => PartitionMethod::List(parser.parenthesised(bit_expression)?),
            }
        }
    })
}

pub(crate) fn partition_definitions(parser: &mut Parser) -> SqlResult<Vec<PartitionDefinition>> {
    parser.parenthesised_list(partition_definition)
}

fn partition_definition(parser: &mut Parser) -> SqlResult<PartitionDefinition> {
    parser.expect(K::Partition)?;
    let name = parser.name()?;
    let values = if parser.accept(K::Values) { Some(partition_values(parser)?) } else { None };
    let options = partition_options(parser)?;
    let subpartitions = if parser.kind() == T::OpenParenthesis {
        parser.parenthesised_list(|parser| {
            parser.expect(K::Subpartition)?;
            let name = parser.name_or_string()?;
            Ok(SubpartitionDefinition { name, options: partition_options(parser)? })
        })?
    } else {
        Vec::new()
    };
    Ok(PartitionDefinition { name, values, options, subpartitions })
}

fn partition_options(parser: &mut Parser) -> SqlResult<Vec<TableOption>> {
    let mut options = Vec::new();
    loop {
        if parser.at_words(K::Storage, K::Engine) {
            parser.advance();
        }
        let more = blank_separated_table_options(parser)?;
        if more.is_empty() {
            return Ok(options);
        }
        options.extend(more);
    }
}

fn partition_values(parser: &mut Parser) -> SqlResult<PartitionValues> {
    if parser.accept(K::Less) {
        parser.expect(K::Than)?;
        if parser.accept(K::Maxvalue) {
            return Ok(PartitionValues::LessThan(vec![None]));
        }
        return Ok(PartitionValues::LessThan(partition_row(parser)?));
    }
    parser.expect(K::In)?;
    let rows = parser.parenthesised_list(|parser| {
        if parser.kind() == T::OpenParenthesis {
            partition_row(parser)
        } else {
            Ok(vec![partition_value(parser)?])
        }
    })?;
    Ok(PartitionValues::In(rows))
}

fn partition_row(parser: &mut Parser) -> SqlResult<Vec<Option<Expression>>> {
    parser.parenthesised_list(partition_value)
}

fn partition_value(parser: &mut Parser) -> SqlResult<Option<Expression>> {
    if parser.accept(K::Maxvalue) { Ok(None) } else { bit_expression(parser).map(Some) }
}
