//! Table options of CREATE TABLE, ALTER TABLE and partitions.

use crate::parser::*;
use Keyword as K;
use TokenKind as T;

/// Options with optional commas between them; may be empty.
pub(crate) fn table_options(parser: &mut Parser) -> SqlResult<Vec<TableOption>> {
    let mut options = Vec::new();
    let mut behind_last = parser.at;
    while let Some(option) = optional_table_option(parser)? {
        options.push(option);
        behind_last = parser.at;
        parser.accept_comma();
    }
    // A comma belongs to the options only if one more follows it.
    parser.at = behind_last;
    Ok(options)
}

/// Options without commas, as one item of ALTER TABLE.
pub(crate) fn blank_separated_table_options(parser: &mut Parser) -> SqlResult<Vec<TableOption>> {
    let mut options = Vec::new();
    while let Some(option) = optional_table_option(parser)? {
        options.push(option);
    }
    Ok(options)
}

fn optional_table_option(parser: &mut Parser) -> SqlResult<Option<TableOption>> {
    let start = parser.at;
    let is_default = parser.accept(K::Default);
    if parser.accept_charset_words()? {
        parser.accept_equal();
        let name = if parser.at_word(K::Default) { parser.any_word()? } else { parser.charset_name()? };
        return Ok(Some(TableOption::Charset(name)));
    }
    if parser.accept(K::Collate) {
        parser.accept_equal();
        let name = if parser.at_word(K::Default) { parser.any_word()? } else { parser.charset_name()? };
        return Ok(Some(TableOption::Collate(name)));
    }
    let T::Word(word) = parser.kind() else {
        parser.at = start;
        return Ok(None);
    };
    if is_default {
        parser.at = start;
        return Ok(None);
    }
    word_table_option(parser, word)
}

fn word_table_option(parser: &mut Parser, word: Keyword) -> SqlResult<Option<TableOption>> {
    let start = parser.at;
    parser.advance();
    let option = match word {
        K::Engine => {
            parser.accept_equal();
            TableOption::Engine(parser.name_or_string()?)
        }
        K::AutoIncrement => {
            parser.accept_equal();
            TableOption::AutoIncrement(parser.number()?)
        }
        K::Comment => {
            parser.accept_equal();
            TableOption::Comment(parser.string()?)
        }
        K::RowFormat => {
            parser.accept_equal();
            let words = [K::Default, K::Fixed, K::Dynamic, K::Compressed, K::Redundant, K::Compact];
            TableOption::RowFormat(parser.expect_any(&words)?.text().to_owned())
        }
        K::Union => {
            parser.accept_equal();
            parser.expect_kind(T::OpenParenthesis)?;
            let empty = parser.kind() == T::CloseParenthesis;
            let tables = if empty { Vec::new() } else { parser.list(Parser::object_name)? };
            parser.expect_kind(T::CloseParenthesis)?;
            TableOption::Union(tables)
        }
        _ => {
            parser.at = start;
            return other_table_option(parser, word);
        }
    };
    Ok(Some(option))
}

fn other_table_option(parser: &mut Parser, word: Keyword) -> SqlResult<Option<TableOption>> {
    let mut name = word.text();
    let value = match word {
        K::AvgRowLength
        | K::Checksum
        | K::TableChecksum
        | K::DelayKeyWrite
        | K::KeyBlockSize
        | K::MaxRows
        | K::MinRows
        | K::Nodegroup => Value::Number,
        K::PackKeys | K::StatsAutoRecalc | K::StatsPersistent | K::StatsSamplePages => Value::NumberOrDefault,
        K::Compression
        | K::Connection
        | K::Encryption
        | K::Password
        | K::EngineAttribute
        | K::SecondaryEngineAttribute => Value::String,
        K::InsertMethod | K::Tablespace | K::SecondaryEngine | K::Storage | K::AutoextendSize => Value::Word,
        K::Data | K::Index if parser.kind_at(1) == T::Word(K::Directory) => {
            parser.advance();
            name = if word == K::Data { "DATA DIRECTORY" } else { "INDEX DIRECTORY" };
            Value::String
        }
        K::Start if parser.kind_at(1) == T::Word(K::Transaction) => {
            parser.at += 2;
            return Ok(Some(TableOption::Other { name: "START TRANSACTION", value: String::new() }));
        }
        _ => return Ok(None),
    };
    parser.advance();
    parser.accept_equal();
    let value = option_value(parser, value)?;
    Ok(Some(TableOption::Other { name, value }))
}

fn option_value(parser: &mut Parser, value: Value) -> SqlResult<String> {
    match value {
        Value::NumberOrDefault if parser.at_word(K::Default) => {
            parser.advance();
            Ok("DEFAULT".to_owned())
        }
        Value::Number | Value::NumberOrDefault => Ok(parser.number()?.to_string()),
        Value::String => parser.string_text(),
        // NULL (SECONDARY_ENGINE), sizes such as 4M and plain words.
        Value::Word if matches!(parser.kind(), T::Integer | T::Word(K::Null)) => parser.any_word(),
        Value::Word => parser.name_or_string(),
    }
}

/// What an option's value is.
enum Value {
    Number,
    /// A number or DEFAULT.
    NumberOrDefault,
    String,
    Word,
}
