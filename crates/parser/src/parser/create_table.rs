//! CREATE TABLE: columns, keys and constraints. Options and partitions are in files of their own.

use super::*;
use Keyword as K;
use TokenKind as T;

impl Parser<'_> {
    /// Behind CREATE [TEMPORARY] TABLE.
    pub(super) fn create_table(&mut self, temporary: bool) -> SqlResult<Statement> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.object_name()?;
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
        if self.accept(K::Like) {
            table.like = Some(self.object_name()?);
        } else if self.kind() == T::OpenParenthesis && self.kind_at(1) == T::Word(K::Like) {
            self.at += 2;
            table.like = Some(self.object_name()?);
            self.expect_kind(T::CloseParenthesis)?;
        } else {
            self.table_body(&mut table)?;
        }
        Ok(Statement::CreateTable(Box::new(table)))
    }

    fn table_body(&mut self, table: &mut CreateTable) -> SqlResult<()> {
        if self.kind() == T::OpenParenthesis && !self.opens_query() {
            table.elements = self.parenthesised_list(Self::table_element)?;
        }
        table.options = self.table_options()?;
        table.partitioning = self.optional_partitioning()?;
        table.on_duplicate = match self.accept_any(&[K::Ignore, K::Replace]) {
            None => SelectDuplicates::Error,
            Some(K::Ignore) => SelectDuplicates::Ignore,
            Some(_) => SelectDuplicates::Replace,
        };
        let explicit = self.accept(K::As);
        if explicit || self.at_query_word() || self.kind() == T::OpenParenthesis {
            table.query = Some(Box::new(self.query()?));
        } else if table.on_duplicate != SelectDuplicates::Error {
            return self.fail();
        }
        Ok(())
    }

    pub(super) fn if_not_exists(&mut self) -> SqlResult<bool> {
        if !self.accept(K::If) {
            return Ok(false);
        }
        self.expect_all(&[K::Not, K::Exists])?;
        Ok(true)
    }

    /// A column, key or constraint.
    pub(super) fn table_element(&mut self) -> SqlResult<TableElement> {
        match self.optional_constraint_element()? {
            Some(element) => Ok(element),
            None => Ok(TableElement::Column(self.column_specification()?)),
        }
    }

    /// Whatever can follow ADD in ALTER TABLE and is no column.
    pub(super) fn optional_constraint_element(&mut self) -> SqlResult<Option<TableElement>> {
        let mut constraint = None;
        let named = self.accept(K::Constraint);
        if named && !matches!(self.kind(), T::Word(K::Primary | K::Unique | K::Foreign | K::Check)) {
            constraint = Some(self.name()?);
        }
        let T::Word(word) = self.kind() else { return if named { self.fail() } else { Ok(None) } };
        let kind = match word {
            K::Primary => IndexType::Primary,
            K::Unique => IndexType::Unique,
            K::Key | K::Index if !named => IndexType::Plain,
            K::Fulltext if !named => IndexType::FullText,
            K::Spatial if !named => IndexType::Spatial,
            K::Foreign => return self.foreign_key(constraint).map(|key| Some(TableElement::ForeignKey(key))),
            K::Check => {
                return self.check_constraint(constraint).map(|check| Some(TableElement::Check(check)));
            }
            _ => return if named { self.fail() } else { Ok(None) },
        };
        self.advance();
        match kind {
            IndexType::Primary => self.expect(K::Key)?,
            IndexType::Plain => {}
            _ => {
                self.accept_any(&[K::Key, K::Index]);
            }
        }
        let name = if self.kind() == T::OpenParenthesis
            || self.at_word(K::Using)
            || self.at_word(K::Type) && self.is_index_type()
        {
            None
        } else {
            Some(self.name()?)
        };
        let mut index = self.index_body(kind, name)?;
        index.constraint = constraint;
        Ok(Some(TableElement::Index(index)))
    }

    /// TYPE is also a name: `KEY type (a)`.
    fn is_index_type(&self) -> bool {
        matches!(self.kind_at(1), T::Word(K::Btree | K::Hash | K::Rtree))
    }

    /// `[USING type] (parts) options`.
    pub(super) fn index_body(
        &mut self,
        kind: IndexType,
        name: Option<Name>,
    ) -> SqlResult<IndexSpecification> {
        let mut options = Vec::new();
        if let Some(method) = self.optional_index_method()? {
            options.push(IndexOption::Using(method));
        }
        let parts = self.parenthesised_list(Self::key_part)?;
        while let Some(option) = self.optional_index_option()? {
            options.push(option);
        }
        Ok(IndexSpecification { kind, name, constraint: None, parts, options })
    }

    fn optional_index_method(&mut self) -> SqlResult<Option<Name>> {
        if !self.accept(K::Using) && !self.accept(K::Type) {
            return Ok(None);
        }
        match self.kind() {
            T::Word(K::Btree | K::Hash | K::Rtree) => Ok(Some(self.any_word()?.to_ascii_uppercase())),
            _ => self.fail(),
        }
    }

    pub(super) fn optional_index_option(&mut self) -> SqlResult<Option<IndexOption>> {
        if let Some(method) = self.optional_index_method()? {
            return Ok(Some(IndexOption::Using(method)));
        }
        let words = [
            K::KeyBlockSize,
            K::With,
            K::Comment,
            K::Visible,
            K::Invisible,
            K::EngineAttribute,
            K::SecondaryEngineAttribute,
        ];
        Ok(Some(match self.accept_any(&words) {
            None => return Ok(None),
            Some(K::KeyBlockSize) => {
                self.accept_equal();
                IndexOption::KeyBlockSize(self.number()?)
            }
            Some(K::With) => {
                self.expect(K::Parser)?;
                IndexOption::WithParser(self.name()?)
            }
            Some(K::Comment) => IndexOption::Comment(self.string()?),
            Some(K::Visible) => IndexOption::Visible,
            Some(K::Invisible) => IndexOption::Invisible,
            Some(word) => {
                self.accept_equal();
                let text = self.string()?;
                if word == K::EngineAttribute {
                    IndexOption::EngineAttribute(text)
                } else {
                    IndexOption::SecondaryEngineAttribute(text)
                }
            }
        }))
    }

    pub(super) fn key_part(&mut self) -> SqlResult<KeyPart> {
        let target = if self.kind() == T::OpenParenthesis {
            KeyPartTarget::Expression(self.parenthesised(Self::expression)?)
        } else {
            let name = self.name()?;
            KeyPartTarget::Column { name, prefix_length: self.optional_length()? }
        };
        let descending = self.accept_any(&[K::Asc, K::Desc]).map(|word| word == K::Desc);
        Ok(KeyPart { target, descending })
    }

    fn foreign_key(&mut self, constraint: Option<Name>) -> SqlResult<ForeignKey> {
        self.expect_all(&[K::Foreign, K::Key])?;
        let index_name = if self.kind() == T::OpenParenthesis { None } else { Some(self.name()?) };
        let columns = self.parenthesised_list(Self::key_column)?;
        self.expect(K::References)?;
        Ok(ForeignKey { constraint, index_name, columns, references: self.references()? })
    }

    /// A column of a foreign key; a length or direction is accepted and has no meaning.
    fn key_column(&mut self) -> SqlResult<Name> {
        let name = self.name()?;
        self.optional_length()?;
        self.accept_any(&[K::Asc, K::Desc]);
        Ok(name)
    }

    /// Behind REFERENCES.
    fn references(&mut self) -> SqlResult<References> {
        let table = self.object_name()?;
        let columns = if self.kind() == T::OpenParenthesis {
            self.parenthesised_list(Self::key_column)?
        } else {
            Vec::new()
        };
        let match_type = if self.accept(K::Match) {
            let word = self.expect_any(&[K::Full, K::Partial, K::Simple])?;
            Some(word.text().to_owned())
        } else {
            None
        };
        let mut references = References { table, columns, match_type, on_delete: None, on_update: None };
        while self.at_words(K::On, K::Delete) || self.at_words(K::On, K::Update) {
            self.advance();
            let is_delete = self.expect_any(&[K::Delete, K::Update])? == K::Delete;
            let action = Some(self.reference_action()?);
            let place = if is_delete { &mut references.on_delete } else { &mut references.on_update };
            if place.is_some() {
                return self.fail();
            }
            *place = action;
        }
        Ok(references)
    }

    fn reference_action(&mut self) -> SqlResult<ReferenceAction> {
        Ok(match self.expect_any(&[K::Restrict, K::Cascade, K::Set, K::No])? {
            K::Restrict => ReferenceAction::Restrict,
            K::Cascade => ReferenceAction::Cascade,
            K::Set => match self.expect_any(&[K::Null, K::Default])? {
                K::Null => ReferenceAction::SetNull,
                _ => ReferenceAction::SetDefault,
            },
            _ => {
                self.expect(K::Action)?;
                ReferenceAction::NoAction
            }
        })
    }

    pub(super) fn check_constraint(&mut self, name: Option<Name>) -> SqlResult<CheckConstraint> {
        self.expect(K::Check)?;
        let expression = self.parenthesised(Self::expression)?;
        Ok(CheckConstraint { name, expression, enforced: self.optional_enforced() })
    }

    pub(super) fn optional_enforced(&mut self) -> Option<bool> {
        if self.accept(K::Enforced) {
            Some(true)
        } else if self.accept_all(&[K::Not, K::Enforced]) {
            Some(false)
        } else {
            None
        }
    }

    /// `name type attributes`.
    pub(super) fn column_specification(&mut self) -> SqlResult<ColumnSpecification> {
        let name = self.column_reference()?.column;
        let data_type = self.data_type()?;
        Ok(ColumnSpecification { name, data_type, attributes: self.column_attributes()? })
    }

    fn column_attributes(&mut self) -> SqlResult<Vec<ColumnAttribute>> {
        let mut attributes = Vec::new();
        while let Some(attribute) = self.optional_column_attribute()? {
            attributes.push(attribute);
        }
        Ok(attributes)
    }

    fn optional_column_attribute(&mut self) -> SqlResult<Option<ColumnAttribute>> {
        use ColumnAttribute as A;
        let T::Word(word) = self.kind() else { return Ok(None) };
        Ok(Some(match word {
            K::Check => A::Check(self.check_constraint(None)?),
            K::Constraint => {
                self.advance();
                let name = if self.at_word(K::Check) { None } else { Some(self.name()?) };
                A::Check(self.check_constraint(name)?)
            }
            K::Generated | K::As => self.generated_column()?,
            K::Default => self.default_attribute()?,
            _ => return self.simple_column_attribute(word),
        }))
    }

    fn simple_column_attribute(&mut self, word: Keyword) -> SqlResult<Option<ColumnAttribute>> {
        use ColumnAttribute as A;
        let start = self.at;
        self.advance();
        Ok(Some(match word {
            K::Null => A::Null,
            K::Not => match self.accept_any(&[K::Null, K::Secondary]) {
                Some(K::Null) => A::NotNull,
                Some(_) => A::NotSecondary,
                None => return self.fail(),
            },
            K::On => {
                self.expect(K::Update)?;
                A::OnUpdateNow(self.now_decimals()?)
            }
            K::AutoIncrement => A::AutoIncrement,
            K::Serial => {
                self.expect_all(&[K::Default, K::Value])?;
                A::SerialDefaultValue
            }
            K::Primary => {
                self.expect(K::Key)?;
                A::PrimaryKey
            }
            K::Key => A::PrimaryKey,
            K::Unique => {
                self.accept(K::Key);
                A::Unique
            }
            K::Comment => A::Comment(self.string()?),
            K::Collate => A::Collate(self.charset_name()?),
            K::ColumnFormat => {
                A::ColumnFormat(self.expect_any(&[K::Default, K::Fixed, K::Dynamic])?.text().to_owned())
            }
            K::Storage => A::Storage(self.expect_any(&[K::Default, K::Disk, K::Memory])?.text().to_owned()),
            K::Srid => A::SpatialReference(self.number()?),
            K::Visible => A::Visible,
            K::Invisible => A::Invisible,
            K::References => A::References(self.references()?),
            K::EngineAttribute => {
                self.accept_equal();
                A::EngineAttribute(self.string()?)
            }
            K::SecondaryEngineAttribute => {
                self.accept_equal();
                A::SecondaryEngineAttribute(self.string()?)
            }
            _ => {
                self.at = start;
                return Ok(None);
            }
        }))
    }

    fn generated_column(&mut self) -> SqlResult<ColumnAttribute> {
        if self.accept(K::Generated) {
            self.expect(K::Always)?;
        }
        self.expect(K::As)?;
        let expression = self.parenthesised(Self::expression)?;
        let stored = self.accept_any(&[K::Virtual, K::Stored]) == Some(K::Stored);
        Ok(ColumnAttribute::Generated { expression, stored })
    }

    /// DEFAULT with a literal, CURRENT_TIMESTAMP or an expression in parentheses.
    pub(super) fn default_attribute(&mut self) -> SqlResult<ColumnAttribute> {
        self.expect(K::Default)?;
        if self.kind() == T::OpenParenthesis {
            return Ok(ColumnAttribute::DefaultExpression(self.parenthesised(Self::expression)?));
        }
        if self.at_now() {
            let decimals = self.now_decimals()?;
            let argument = Expression::Literal(Literal::Integer(decimals));
            let arguments = if decimals == 0 { Vec::new() } else { vec![argument] };
            return Ok(ColumnAttribute::Default(Expression::call("current_timestamp", arguments)));
        }
        Ok(ColumnAttribute::Default(self.signed_literal()?))
    }

    fn at_now(&self) -> bool {
        matches!(self.kind(), T::Word(K::CurrentTimestamp | K::Localtime | K::Localtimestamp))
            || self.at_text("now")
    }

    /// `CURRENT_TIMESTAMP`, `NOW(3)` and the like: the fractional digits.
    fn now_decimals(&mut self) -> SqlResult<u64> {
        if !self.at_now() {
            return self.fail();
        }
        self.advance();
        if !self.accept_kind(T::OpenParenthesis) {
            return Ok(0);
        }
        let decimals = if self.kind() == T::CloseParenthesis { 0 } else { self.plain_number()? };
        self.expect_kind(T::CloseParenthesis)?;
        Ok(decimals)
    }
}
