//! ALTER TABLE.

use crate::parser::ddl::column::{column_specification, default_attribute};
use crate::parser::ddl::constraint::{optional_constraint_element, optional_enforced};
use crate::parser::ddl::partition::{optional_partitioning, partition_definitions};
use crate::parser::ddl::table::table_element;
use crate::parser::ddl::table_options::blank_separated_table_options;
use crate::parser::query::from::index_name;
use crate::parser::query::order_item;
use crate::parser::*;
use Keyword as K;
use TokenKind as T;

/// Behind ALTER TABLE.
pub(crate) fn alter_table(parser: &mut Parser) -> SqlResult<Statement> {
    let name = parser.object_name()?;
    let mut table = AlterTable { name, actions: Vec::new(), algorithm: None, lock: None, validation: None };
    if parser.at_end() {
        return Ok(Statement::AlterTable(Box::new(table)));
    }
    if !at_partition_clause(parser) {
        loop {
            if !alter_modifier(parser, &mut table)? {
                let action = alter_action(parser)?;
                table.actions.push(action);
            }
            if !parser.accept_comma() {
                break;
            }
        }
    }
    if parser.accept_all(&[K::Remove, K::Partitioning]) {
        table.actions.push(AlterAction::RemovePartitioning);
    } else if let Some(partitioning) = optional_partitioning(parser)? {
        table.actions.push(AlterAction::PartitionBy(Box::new(partitioning)));
    }
    Ok(Statement::AlterTable(Box::new(table)))
}

fn at_partition_clause(parser: &Parser) -> bool {
    parser.at_words(K::Partition, K::By) || parser.at_words(K::Remove, K::Partitioning)
}

/// ALGORITHM, LOCK and VALIDATION, which may stand among the actions.
fn alter_modifier(parser: &mut Parser, table: &mut AlterTable) -> SqlResult<bool> {
    if alter_algorithm_or_lock(parser, &mut table.algorithm, &mut table.lock)? {
        return Ok(true);
    }
    if parser.at_words(K::With, K::Validation) || parser.at_words(K::Without, K::Validation) {
        table.validation = Some(parser.at_word(K::With));
        parser.at += 2;
        return Ok(true);
    }
    Ok(false)
}

/// `ALGORITHM [=] name` or `LOCK [=] name`.
pub(crate) fn alter_algorithm_or_lock(
    parser: &mut Parser,
    algorithm: &mut Option<Name>,
    lock: &mut Option<Name>,
) -> SqlResult<bool> {
    let is_algorithm = parser.at_word(K::Algorithm);
    if !is_algorithm && !parser.at_word(K::Lock) {
        return Ok(false);
    }
    parser.advance();
    parser.accept_equal();
    let value = if parser.at_word(K::Default) { parser.any_word()? } else { parser.name()? };
    *(if is_algorithm { algorithm } else { lock }) = Some(value);
    Ok(true)
}

fn alter_action(parser: &mut Parser) -> SqlResult<AlterAction> {
    let T::Word(word) = parser.kind() else { return parser.fail() };
    let start = parser.at;
    parser.advance();
    match word {
        K::Add => alter_add(parser),
        K::Drop => alter_drop(parser),
        K::Change => {
            parser.accept(K::Column);
            let old_name = parser.name()?;
            changed_column(parser, Some(old_name))
        }
        K::Modify => {
            parser.accept(K::Column);
            changed_column(parser, None)
        }
        K::Alter => alter_alter(parser),
        K::Rename => alter_rename(parser),
        K::Convert => convert_charset(parser),
        K::Order => {
            parser.expect(K::By)?;
            Ok(AlterAction::OrderBy(parser.list(order_item)?))
        }
        K::Enable | K::Disable => {
            parser.expect(K::Keys)?;
            Ok(if word == K::Enable { AlterAction::EnableKeys } else { AlterAction::DisableKeys })
        }
        K::Force => Ok(AlterAction::Force),
        K::SecondaryLoad => Ok(AlterAction::SecondaryLoad),
        K::SecondaryUnload => Ok(AlterAction::SecondaryUnload),
        K::Discard | K::Import if parser.accept(K::Tablespace) => Ok(if word == K::Discard {
            AlterAction::DiscardTablespace
        } else {
            AlterAction::ImportTablespace
        }),
        _ => {
            parser.at = start;
            alter_partitions_or_options(parser, word)
        }
    }
}

fn alter_add(parser: &mut Parser) -> SqlResult<AlterAction> {
    if parser.accept(K::Partition) {
        parser.accept_any(&[K::NoWriteToBinlog, K::Local]);
        if parser.accept(K::Partitions) {
            return Ok(AlterAction::AddPartitionCount(parser.number()?));
        }
        return Ok(AlterAction::AddPartitions(partition_definitions(parser)?));
    }
    if let Some(element) = optional_constraint_element(parser)? {
        return Ok(match element {
            TableElement::Index(index) => AlterAction::AddIndex(index),
            TableElement::ForeignKey(key) => AlterAction::AddForeignKey(key),
            TableElement::Check(check) => AlterAction::AddCheck(check),
            TableElement::Column(_) => return parser.fail(),
        });
    }
    parser.accept(K::Column);
    if parser.kind() == T::OpenParenthesis {
        return Ok(AlterAction::AddElements(parser.parenthesised_list(table_element)?));
    }
    let column = column_specification(parser)?;
    Ok(AlterAction::AddColumn { column, position: column_position(parser)? })
}

fn column_position(parser: &mut Parser) -> SqlResult<Option<ColumnPosition>> {
    if parser.accept(K::First) {
        return Ok(Some(ColumnPosition::First));
    }
    if parser.accept(K::After) {
        parser.name().map(|name| Some(ColumnPosition::After(name)))
    } else {
        Ok(None)
    }
}

fn changed_column(parser: &mut Parser, old_name: Option<Name>) -> SqlResult<AlterAction> {
    let column = column_specification(parser)?;
    let old_name = old_name.unwrap_or_else(|| column.name.clone());
    Ok(AlterAction::ChangeColumn { old_name, column, position: column_position(parser)? })
}

fn alter_drop(parser: &mut Parser) -> SqlResult<AlterAction> {
    let T::Word(word) = parser.kind() else { return parser.name().map(AlterAction::DropColumn) };
    let start = parser.at;
    parser.advance();
    let action = match word {
        K::Primary => {
            parser.expect(K::Key)?;
            return Ok(AlterAction::DropPrimaryKey);
        }
        K::Key | K::Index => AlterAction::DropIndex(index_name(parser)?),
        K::Foreign => {
            parser.expect(K::Key)?;
            AlterAction::DropForeignKey(parser.name()?)
        }
        K::Check => AlterAction::DropCheck(parser.name()?),
        K::Constraint => AlterAction::DropConstraint(index_name(parser)?),
        K::Partition => AlterAction::DropPartitions(parser.list(Parser::name)?),
        K::Column => AlterAction::DropColumn(parser.name()?),
        _ => {
            parser.at = start;
            AlterAction::DropColumn(parser.name()?)
        }
    };
    if matches!(action, AlterAction::DropColumn(_)) {
        parser.accept_any(&[K::Restrict, K::Cascade]);
    }
    Ok(action)
}

/// Behind the second ALTER: a column, index or constraint.
fn alter_alter(parser: &mut Parser) -> SqlResult<AlterAction> {
    match parser.kind() {
        T::Word(K::Index) => {
            parser.advance();
            let index = parser.name()?;
            let visible = parser.expect_any(&[K::Visible, K::Invisible])? == K::Visible;
            return Ok(AlterAction::AlterIndexVisible { index, visible });
        }
        T::Word(K::Check | K::Constraint) => {
            parser.advance();
            let name = parser.name()?;
            let Some(enforced) = optional_enforced(parser) else { return parser.fail() };
            return Ok(AlterAction::AlterCheckEnforced { name, enforced });
        }
        _ => {}
    }
    parser.accept(K::Column);
    let column = parser.name()?;
    if parser.accept(K::Drop) {
        parser.expect(K::Default)?;
        return Ok(AlterAction::DropDefault(column));
    }
    parser.expect(K::Set)?;
    if let Some(word) = parser.accept_any(&[K::Visible, K::Invisible]) {
        return Ok(AlterAction::SetColumnVisible { column, visible: word == K::Visible });
    }
    Ok(AlterAction::SetDefault { column, default: default_attribute(parser)? })
}

fn alter_rename(parser: &mut Parser) -> SqlResult<AlterAction> {
    let word = parser.accept_any(&[K::Column, K::Index, K::Key]);
    if let Some(word) = word {
        let old_name = parser.name()?;
        parser.expect(K::To)?;
        let new_name = parser.name()?;
        return Ok(match word {
            K::Column => AlterAction::RenameColumn { old_name, new_name },
            _ => AlterAction::RenameIndex { old_name, new_name },
        });
    }
    if parser.accept_any(&[K::To, K::As]).is_none() {
        parser.accept_equal();
    }
    Ok(AlterAction::RenameTable(parser.object_name()?))
}

fn convert_charset(parser: &mut Parser) -> SqlResult<AlterAction> {
    parser.expect(K::To)?;
    if !parser.accept_charset_words()? {
        return parser.fail();
    }
    let charset = if parser.accept(K::Default) { None } else { Some(parser.charset_name()?) };
    let collation = if parser.accept(K::Collate) {
        parser.accept_equal();
        Some(parser.charset_name()?)
    } else {
        None
    };
    Ok(AlterAction::ConvertCharset { charset, collation })
}

fn alter_partitions_or_options(parser: &mut Parser, word: Keyword) -> SqlResult<AlterAction> {
    let is_partitions = parser.kind_at(1) == T::Word(K::Partition);
    if is_partitions {
        parser.at += 2;
        match word {
            K::Truncate => return Ok(AlterAction::TruncatePartitions(partition_selection(parser)?)),
            K::Coalesce => {
                parser.accept_any(&[K::NoWriteToBinlog, K::Local]);
                return Ok(AlterAction::CoalescePartition(parser.number()?));
            }
            K::Reorganize => return reorganize_partitions(parser),
            K::Exchange => return exchange_partition(parser),
            K::Analyze | K::Check | K::Optimize | K::Rebuild | K::Repair | K::Discard | K::Import => {
                return maintain_partitions(parser, word);
            }
            _ => parser.at -= 2,
        }
    }
    let options = blank_separated_table_options(parser)?;
    if options.is_empty() { parser.fail() } else { Ok(AlterAction::Options(options)) }
}

fn partition_selection(parser: &mut Parser) -> SqlResult<PartitionSelection> {
    if parser.accept(K::All) {
        Ok(PartitionSelection::All)
    } else {
        parser.list(Parser::name).map(PartitionSelection::Names)
    }
}

fn maintain_partitions(parser: &mut Parser, word: Keyword) -> SqlResult<AlterAction> {
    parser.accept_any(&[K::NoWriteToBinlog, K::Local]);
    let partitions = partition_selection(parser)?;
    if matches!(word, K::Discard | K::Import) {
        parser.expect(K::Tablespace)?;
    }
    let words = [K::Quick, K::Extended, K::UseFrm, K::Fast, K::Medium, K::Changed];
    while parser.accept_any(&words).is_some() || parser.accept_all(&[K::For, K::Upgrade]) {}
    Ok(AlterAction::MaintainPartitions { command: word.text(), partitions })
}

fn reorganize_partitions(parser: &mut Parser) -> SqlResult<AlterAction> {
    parser.accept_any(&[K::NoWriteToBinlog, K::Local]);
    if parser.at_end() {
        return Ok(AlterAction::ReorganizePartitions { names: Vec::new(), into: Vec::new() });
    }
    let names = parser.list(Parser::name)?;
    parser.expect(K::Into)?;
    Ok(AlterAction::ReorganizePartitions { names, into: partition_definitions(parser)? })
}

fn exchange_partition(parser: &mut Parser) -> SqlResult<AlterAction> {
    let partition = parser.name()?;
    parser.expect_all(&[K::With, K::Table])?;
    let table = parser.object_name()?;
    let validation = match parser.accept_any(&[K::With, K::Without]) {
        Some(word) => {
            parser.expect(K::Validation)?;
            Some(word == K::With)
        }
        None => None,
    };
    Ok(AlterAction::ExchangePartition { partition, table, validation })
}
