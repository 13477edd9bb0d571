//! PARTITION BY and the definitions of partitions.

use super::*;
use Keyword as K;
use TokenKind as T;

impl Parser<'_> {
    pub(super) fn optional_partitioning(&mut self) -> SqlResult<Option<Partitioning>> {
        if !self.accept(K::Partition) {
            return Ok(None);
        }
        self.expect(K::By)?;
        let method = self.partition_method()?;
        let count = if self.accept(K::Partitions) { Some(self.number()?) } else { None };
        let subpartitioning = if self.accept(K::Subpartition) {
            self.expect(K::By)?;
            let method = self.partition_method()?;
            let count = if self.accept(K::Subpartitions) { Some(self.number()?) } else { None };
            Some((method, count))
        } else {
            None
        };
        let partitions = if self.kind() == T::OpenParenthesis && !self.opens_query() {
            self.partition_definitions()?
        } else {
            Vec::new()
        };
        Ok(Some(Partitioning { method, count, subpartitioning, partitions }))
    }

    fn partition_method(&mut self) -> SqlResult<PartitionMethod> {
        let linear = self.accept(K::Linear);
        let words: &[Keyword] =
            if linear { &[K::Hash, K::Key] } else { &[K::Hash, K::Key, K::Range, K::List] };
        let word = self.expect_any(words)?;
        Ok(match word {
            K::Hash => {
                PartitionMethod::Hash { linear, expression: self.parenthesised(Self::bit_expression)? }
            }
            K::Key => {
                let algorithm = if self.accept(K::Algorithm) {
                    self.expect_kind(T::Equal)?;
                    Some(self.number()?)
                } else {
                    None
                };
                self.expect_kind(T::OpenParenthesis)?;
                let empty = self.kind() == T::CloseParenthesis;
                let columns = if empty { Vec::new() } else { self.list(Self::name)? };
                self.expect_kind(T::CloseParenthesis)?;
                PartitionMethod::Key { linear, algorithm, columns }
            }
            _ => {
                let by_columns = self.accept(K::Columns);
                match (word, by_columns) {
                    (K::Range, true) => PartitionMethod::RangeColumns(self.parenthesised_list(Self::name)?),
                    (K::Range, false) => PartitionMethod::Range(self.parenthesised(Self::bit_expression)?),
                    (_, true) => PartitionMethod::ListColumns(self.parenthesised_list(Self::name)?),
                    (_, false) => PartitionMethod::List(self.parenthesised(Self::bit_expression)?),
                }
            }
        })
    }

    pub(super) fn partition_definitions(&mut self) -> SqlResult<Vec<PartitionDefinition>> {
        self.parenthesised_list(Self::partition_definition)
    }

    fn partition_definition(&mut self) -> SqlResult<PartitionDefinition> {
        self.expect(K::Partition)?;
        let name = self.name()?;
        let values = if self.accept(K::Values) { Some(self.partition_values()?) } else { None };
        let options = self.partition_options()?;
        let subpartitions = if self.kind() == T::OpenParenthesis {
            self.parenthesised_list(|parser| {
                parser.expect(K::Subpartition)?;
                let name = parser.name_or_string()?;
                Ok(SubpartitionDefinition { name, options: parser.partition_options()? })
            })?
        } else {
            Vec::new()
        };
        Ok(PartitionDefinition { name, values, options, subpartitions })
    }

    fn partition_options(&mut self) -> SqlResult<Vec<TableOption>> {
        let mut options = Vec::new();
        loop {
            if self.at_words(K::Storage, K::Engine) {
                self.advance();
            }
            let more = self.blank_separated_table_options()?;
            if more.is_empty() {
                return Ok(options);
            }
            options.extend(more);
        }
    }

    fn partition_values(&mut self) -> SqlResult<PartitionValues> {
        if self.accept(K::Less) {
            self.expect(K::Than)?;
            if self.accept(K::Maxvalue) {
                return Ok(PartitionValues::LessThan(vec![None]));
            }
            return Ok(PartitionValues::LessThan(self.partition_row()?));
        }
        self.expect(K::In)?;
        let rows = self.parenthesised_list(|parser| {
            if parser.kind() == T::OpenParenthesis {
                parser.partition_row()
            } else {
                Ok(vec![parser.partition_value()?])
            }
        })?;
        Ok(PartitionValues::In(rows))
    }

    fn partition_row(&mut self) -> SqlResult<Vec<Option<Expression>>> {
        self.parenthesised_list(Self::partition_value)
    }

    fn partition_value(&mut self) -> SqlResult<Option<Expression>> {
        if self.accept(K::Maxvalue) { Ok(None) } else { self.bit_expression().map(Some) }
    }
}
