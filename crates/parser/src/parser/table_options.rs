//! Table options of CREATE TABLE, ALTER TABLE and partitions.

use super::*;
use Keyword as K;
use TokenKind as T;

/// What an option's value is.
enum Value {
    Number,
    /// A number or DEFAULT.
    NumberOrDefault,
    String,
    Word,
}

impl Parser<'_> {
    /// Options with optional commas between them; may be empty.
    pub(super) fn table_options(&mut self) -> SqlResult<Vec<TableOption>> {
        let mut options = Vec::new();
        let mut behind_last = self.at;
        while let Some(option) = self.optional_table_option()? {
            options.push(option);
            behind_last = self.at;
            self.accept_comma();
        }
        // A comma belongs to the options only if one more follows it.
        self.at = behind_last;
        Ok(options)
    }

    /// Options without commas, as one item of ALTER TABLE.
    pub(super) fn blank_separated_table_options(&mut self) -> SqlResult<Vec<TableOption>> {
        let mut options = Vec::new();
        while let Some(option) = self.optional_table_option()? {
            options.push(option);
        }
        Ok(options)
    }

    fn optional_table_option(&mut self) -> SqlResult<Option<TableOption>> {
        let start = self.at;
        let is_default = self.accept(K::Default);
        if self.accept_charset_words()? {
            self.accept_equal();
            let name = if self.at_word(K::Default) { self.any_word()? } else { self.charset_name()? };
            return Ok(Some(TableOption::Charset(name)));
        }
        if self.accept(K::Collate) {
            self.accept_equal();
            let name = if self.at_word(K::Default) { self.any_word()? } else { self.charset_name()? };
            return Ok(Some(TableOption::Collate(name)));
        }
        let T::Word(word) = self.kind() else {
            self.at = start;
            return Ok(None);
        };
        if is_default {
            self.at = start;
            return Ok(None);
        }
        self.word_table_option(word)
    }

    fn word_table_option(&mut self, word: Keyword) -> SqlResult<Option<TableOption>> {
        let start = self.at;
        self.advance();
        let option = match word {
            K::Engine => {
                self.accept_equal();
                TableOption::Engine(self.name_or_string()?)
            }
            K::AutoIncrement => {
                self.accept_equal();
                TableOption::AutoIncrement(self.number()?)
            }
            K::Comment => {
                self.accept_equal();
                TableOption::Comment(self.string()?)
            }
            K::RowFormat => {
                self.accept_equal();
                let words = [K::Default, K::Fixed, K::Dynamic, K::Compressed, K::Redundant, K::Compact];
                TableOption::RowFormat(self.expect_any(&words)?.text().to_owned())
            }
            K::Union => {
                self.accept_equal();
                self.expect_kind(T::OpenParenthesis)?;
                let empty = self.kind() == T::CloseParenthesis;
                let tables = if empty { Vec::new() } else { self.list(Self::object_name)? };
                self.expect_kind(T::CloseParenthesis)?;
                TableOption::Union(tables)
            }
            _ => {
                self.at = start;
                return self.other_table_option(word);
            }
        };
        Ok(Some(option))
    }

    fn other_table_option(&mut self, word: Keyword) -> SqlResult<Option<TableOption>> {
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
            K::PackKeys | K::StatsAutoRecalc | K::StatsPersistent | K::StatsSamplePages => {
                Value::NumberOrDefault
            }
            K::Compression
            | K::Connection
            | K::Encryption
            | K::Password
            | K::EngineAttribute
            | K::SecondaryEngineAttribute => Value::String,
            K::InsertMethod | K::Tablespace | K::SecondaryEngine | K::Storage | K::AutoextendSize => {
                Value::Word
            }
            K::Data | K::Index if self.kind_at(1) == T::Word(K::Directory) => {
                self.advance();
                name = if word == K::Data { "DATA DIRECTORY" } else { "INDEX DIRECTORY" };
                Value::String
            }
            K::Start if self.kind_at(1) == T::Word(K::Transaction) => {
                self.at += 2;
                return Ok(Some(TableOption::Other { name: "START TRANSACTION", value: String::new() }));
            }
            _ => return Ok(None),
        };
        self.advance();
        self.accept_equal();
        let value = self.option_value(value)?;
        Ok(Some(TableOption::Other { name, value }))
    }

    fn option_value(&mut self, value: Value) -> SqlResult<String> {
        match value {
            Value::NumberOrDefault if self.at_word(K::Default) => {
                self.advance();
                Ok("DEFAULT".to_owned())
            }
            Value::Number | Value::NumberOrDefault => Ok(self.number()?.to_string()),
            Value::String => self.string_text(),
            // NULL (SECONDARY_ENGINE), sizes such as 4M and plain words.
            Value::Word if matches!(self.kind(), T::Integer | T::Word(K::Null)) => self.any_word(),
            Value::Word => self.name_or_string(),
        }
    }
}
