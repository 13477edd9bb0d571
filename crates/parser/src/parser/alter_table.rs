//! ALTER TABLE.

use super::*;
use Keyword as K;
use TokenKind as T;

impl Parser<'_> {
    /// Behind ALTER TABLE.
    pub(super) fn alter_table(&mut self) -> SqlResult<Statement> {
        let name = self.object_name()?;
        let mut table =
            AlterTable { name, actions: Vec::new(), algorithm: None, lock: None, validation: None };
        if self.at_end() {
            return Ok(Statement::AlterTable(Box::new(table)));
        }
        if !self.at_partition_clause() {
            loop {
                if !self.alter_modifier(&mut table)? {
                    let action = self.alter_action()?;
                    table.actions.push(action);
                }
                if !self.accept_comma() {
                    break;
                }
            }
        }
        if self.accept_all(&[K::Remove, K::Partitioning]) {
            table.actions.push(AlterAction::RemovePartitioning);
        } else if let Some(partitioning) = self.optional_partitioning()? {
            table.actions.push(AlterAction::PartitionBy(Box::new(partitioning)));
        }
        Ok(Statement::AlterTable(Box::new(table)))
    }

    fn at_partition_clause(&self) -> bool {
        self.at_words(K::Partition, K::By) || self.at_words(K::Remove, K::Partitioning)
    }

    /// ALGORITHM, LOCK and VALIDATION, which may stand among the actions.
    fn alter_modifier(&mut self, table: &mut AlterTable) -> SqlResult<bool> {
        if self.alter_algorithm_or_lock(&mut table.algorithm, &mut table.lock)? {
            return Ok(true);
        }
        if self.at_words(K::With, K::Validation) || self.at_words(K::Without, K::Validation) {
            table.validation = Some(self.at_word(K::With));
            self.at += 2;
            return Ok(true);
        }
        Ok(false)
    }

    /// `ALGORITHM [=] name` or `LOCK [=] name`.
    pub(super) fn alter_algorithm_or_lock(
        &mut self,
        algorithm: &mut Option<Name>,
        lock: &mut Option<Name>,
    ) -> SqlResult<bool> {
        let is_algorithm = self.at_word(K::Algorithm);
        if !is_algorithm && !self.at_word(K::Lock) {
            return Ok(false);
        }
        self.advance();
        self.accept_equal();
        let value = if self.at_word(K::Default) { self.any_word()? } else { self.name()? };
        *(if is_algorithm { algorithm } else { lock }) = Some(value);
        Ok(true)
    }

    fn alter_action(&mut self) -> SqlResult<AlterAction> {
        let T::Word(word) = self.kind() else { return self.fail() };
        let start = self.at;
        self.advance();
        match word {
            K::Add => self.alter_add(),
            K::Drop => self.alter_drop(),
            K::Change => {
                self.accept(K::Column);
                let old_name = self.name()?;
                self.changed_column(Some(old_name))
            }
            K::Modify => {
                self.accept(K::Column);
                self.changed_column(None)
            }
            K::Alter => self.alter_alter(),
            K::Rename => self.alter_rename(),
            K::Convert => self.convert_charset(),
            K::Order => {
                self.expect(K::By)?;
                Ok(AlterAction::OrderBy(self.list(Self::order_item)?))
            }
            K::Enable | K::Disable => {
                self.expect(K::Keys)?;
                Ok(if word == K::Enable { AlterAction::EnableKeys } else { AlterAction::DisableKeys })
            }
            K::Force => Ok(AlterAction::Force),
            K::SecondaryLoad => Ok(AlterAction::SecondaryLoad),
            K::SecondaryUnload => Ok(AlterAction::SecondaryUnload),
            K::Discard | K::Import if self.accept(K::Tablespace) => Ok(if word == K::Discard {
                AlterAction::DiscardTablespace
            } else {
                AlterAction::ImportTablespace
            }),
            _ => {
                self.at = start;
                self.alter_partitions_or_options(word)
            }
        }
    }

    fn alter_add(&mut self) -> SqlResult<AlterAction> {
        if self.accept(K::Partition) {
            self.accept_any(&[K::NoWriteToBinlog, K::Local]);
            if self.accept(K::Partitions) {
                return Ok(AlterAction::AddPartitionCount(self.number()?));
            }
            return Ok(AlterAction::AddPartitions(self.partition_definitions()?));
        }
        if let Some(element) = self.optional_constraint_element()? {
            return Ok(match element {
                TableElement::Index(index) => AlterAction::AddIndex(index),
                TableElement::ForeignKey(key) => AlterAction::AddForeignKey(key),
                TableElement::Check(check) => AlterAction::AddCheck(check),
                TableElement::Column(_) => return self.fail(),
            });
        }
        self.accept(K::Column);
        if self.kind() == T::OpenParenthesis {
            return Ok(AlterAction::AddElements(self.parenthesised_list(Self::table_element)?));
        }
        let column = self.column_specification()?;
        Ok(AlterAction::AddColumn { column, position: self.column_position()? })
    }

    fn column_position(&mut self) -> SqlResult<Option<ColumnPosition>> {
        if self.accept(K::First) {
            return Ok(Some(ColumnPosition::First));
        }
        if self.accept(K::After) {
            self.name().map(|name| Some(ColumnPosition::After(name)))
        } else {
            Ok(None)
        }
    }

    fn changed_column(&mut self, old_name: Option<Name>) -> SqlResult<AlterAction> {
        let column = self.column_specification()?;
        let old_name = old_name.unwrap_or_else(|| column.name.clone());
        Ok(AlterAction::ChangeColumn { old_name, column, position: self.column_position()? })
    }

    fn alter_drop(&mut self) -> SqlResult<AlterAction> {
        let T::Word(word) = self.kind() else { return self.name().map(AlterAction::DropColumn) };
        let start = self.at;
        self.advance();
        let action = match word {
            K::Primary => {
                self.expect(K::Key)?;
                return Ok(AlterAction::DropPrimaryKey);
            }
            K::Key | K::Index => AlterAction::DropIndex(self.index_name()?),
            K::Foreign => {
                self.expect(K::Key)?;
                AlterAction::DropForeignKey(self.name()?)
            }
            K::Check => AlterAction::DropCheck(self.name()?),
            K::Constraint => AlterAction::DropConstraint(self.index_name()?),
            K::Partition => AlterAction::DropPartitions(self.list(Self::name)?),
            K::Column => AlterAction::DropColumn(self.name()?),
            _ => {
                self.at = start;
                AlterAction::DropColumn(self.name()?)
            }
        };
        if matches!(action, AlterAction::DropColumn(_)) {
            self.accept_any(&[K::Restrict, K::Cascade]);
        }
        Ok(action)
    }

    /// Behind the second ALTER: a column, index or constraint.
    fn alter_alter(&mut self) -> SqlResult<AlterAction> {
        match self.kind() {
            T::Word(K::Index) => {
                self.advance();
                let index = self.name()?;
                let visible = self.expect_any(&[K::Visible, K::Invisible])? == K::Visible;
                return Ok(AlterAction::AlterIndexVisible { index, visible });
            }
            T::Word(K::Check | K::Constraint) => {
                self.advance();
                let name = self.name()?;
                let Some(enforced) = self.optional_enforced() else { return self.fail() };
                return Ok(AlterAction::AlterCheckEnforced { name, enforced });
            }
            _ => {}
        }
        self.accept(K::Column);
        let column = self.name()?;
        if self.accept(K::Drop) {
            self.expect(K::Default)?;
            return Ok(AlterAction::DropDefault(column));
        }
        self.expect(K::Set)?;
        if let Some(word) = self.accept_any(&[K::Visible, K::Invisible]) {
            return Ok(AlterAction::SetColumnVisible { column, visible: word == K::Visible });
        }
        Ok(AlterAction::SetDefault { column, default: self.default_attribute()? })
    }

    fn alter_rename(&mut self) -> SqlResult<AlterAction> {
        let word = self.accept_any(&[K::Column, K::Index, K::Key]);
        if let Some(word) = word {
            let old_name = self.name()?;
            self.expect(K::To)?;
            let new_name = self.name()?;
            return Ok(match word {
                K::Column => AlterAction::RenameColumn { old_name, new_name },
                _ => AlterAction::RenameIndex { old_name, new_name },
            });
        }
        if self.accept_any(&[K::To, K::As]).is_none() {
            self.accept_equal();
        }
        Ok(AlterAction::RenameTable(self.object_name()?))
    }

    fn convert_charset(&mut self) -> SqlResult<AlterAction> {
        self.expect(K::To)?;
        if !self.accept_charset_words()? {
            return self.fail();
        }
        let charset = if self.accept(K::Default) { None } else { Some(self.charset_name()?) };
        let collation = if self.accept(K::Collate) {
            self.accept_equal();
            Some(self.charset_name()?)
        } else {
            None
        };
        Ok(AlterAction::ConvertCharset { charset, collation })
    }

    fn alter_partitions_or_options(&mut self, word: Keyword) -> SqlResult<AlterAction> {
        let is_partitions = self.kind_at(1) == T::Word(K::Partition);
        if is_partitions {
            self.at += 2;
            match word {
                K::Truncate => return Ok(AlterAction::TruncatePartitions(self.partition_selection()?)),
                K::Coalesce => {
                    self.accept_any(&[K::NoWriteToBinlog, K::Local]);
                    return Ok(AlterAction::CoalescePartition(self.number()?));
                }
                K::Reorganize => return self.reorganize_partitions(),
                K::Exchange => return self.exchange_partition(),
                K::Analyze | K::Check | K::Optimize | K::Rebuild | K::Repair | K::Discard | K::Import => {
                    return self.maintain_partitions(word);
                }
                _ => self.at -= 2,
            }
        }
        let options = self.blank_separated_table_options()?;
        if options.is_empty() { self.fail() } else { Ok(AlterAction::Options(options)) }
    }

    fn partition_selection(&mut self) -> SqlResult<PartitionSelection> {
        if self.accept(K::All) {
            Ok(PartitionSelection::All)
        } else {
            self.list(Self::name).map(PartitionSelection::Names)
        }
    }

    fn maintain_partitions(&mut self, word: Keyword) -> SqlResult<AlterAction> {
        self.accept_any(&[K::NoWriteToBinlog, K::Local]);
        let partitions = self.partition_selection()?;
        if matches!(word, K::Discard | K::Import) {
            self.expect(K::Tablespace)?;
        }
        let words = [K::Quick, K::Extended, K::UseFrm, K::Fast, K::Medium, K::Changed];
        while self.accept_any(&words).is_some() || self.accept_all(&[K::For, K::Upgrade]) {}
        Ok(AlterAction::MaintainPartitions { command: word.text(), partitions })
    }

    fn reorganize_partitions(&mut self) -> SqlResult<AlterAction> {
        self.accept_any(&[K::NoWriteToBinlog, K::Local]);
        if self.at_end() {
            return Ok(AlterAction::ReorganizePartitions { names: Vec::new(), into: Vec::new() });
        }
        let names = self.list(Self::name)?;
        self.expect(K::Into)?;
        Ok(AlterAction::ReorganizePartitions { names, into: self.partition_definitions()? })
    }

    fn exchange_partition(&mut self) -> SqlResult<AlterAction> {
        let partition = self.name()?;
        self.expect_all(&[K::With, K::Table])?;
        let table = self.object_name()?;
        let validation = match self.accept_any(&[K::With, K::Without]) {
            Some(word) => {
                self.expect(K::Validation)?;
                Some(word == K::With)
            }
            None => None,
        };
        Ok(AlterAction::ExchangePartition { partition, table, validation })
    }
}
