//! Databases, indexes, views; DROP, RENAME and TRUNCATE TABLE.

use super::*;
use Keyword as K;
use TokenKind as T;

impl Parser<'_> {
    pub(super) fn if_exists(&mut self) -> SqlResult<bool> {
        if !self.accept(K::If) {
            return Ok(false);
        }
        self.expect(K::Exists)?;
        Ok(true)
    }

    /// Behind CREATE DATABASE.
    pub(super) fn create_database(&mut self) -> SqlResult<Statement> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.name()?;
        Ok(Statement::CreateDatabase(CreateDatabase {
            name,
            if_not_exists,
            options: self.database_options()?,
        }))
    }

    /// Behind ALTER DATABASE.
    pub(super) fn alter_database(&mut self) -> SqlResult<Statement> {
        let at_option = self.at_database_option();
        let name = if at_option { None } else { Some(self.name()?) };
        let options = self.database_options()?;
        if options.is_empty() {
            return self.fail();
        }
        Ok(Statement::AlterDatabase(AlterDatabase { name, options }))
    }

    /// The words also are names: `ALTER DATABASE encryption ENCRYPTION 'Y'`.
    fn at_database_option(&self) -> bool {
        match self.kind() {
            T::Word(K::Default | K::Collate | K::Character | K::Char | K::Read) => true,
            T::Word(K::Charset | K::Encryption) => {
                !matches!(self.kind_at(1), T::Word(word) if word != K::Binary)
            }
            _ => false,
        }
    }

    fn database_options(&mut self) -> SqlResult<Vec<DatabaseOption>> {
        let mut options = Vec::new();
        loop {
            let is_default = self.accept(K::Default);
            if self.accept_charset_words()? {
                self.accept_equal();
                options.push(DatabaseOption::Charset(self.charset_or_default()?));
            } else if self.accept(K::Collate) {
                self.accept_equal();
                options.push(DatabaseOption::Collate(self.charset_or_default()?));
            } else if self.accept(K::Encryption) {
                self.accept_equal();
                options.push(DatabaseOption::Encryption(self.string()?));
            } else if !is_default && self.accept(K::Read) {
                self.expect(K::Only)?;
                self.accept_equal();
                let value = if self.accept(K::Default) { None } else { Some(self.number()? != 0) };
                options.push(DatabaseOption::ReadOnly(value));
            } else if is_default {
                return self.fail();
            } else {
                return Ok(options);
            }
        }
    }

    fn charset_or_default(&mut self) -> SqlResult<Name> {
        if self.at_word(K::Default) { self.any_word() } else { self.charset_name() }
    }

    /// Behind DROP DATABASE.
    pub(super) fn drop_database(&mut self) -> SqlResult<Statement> {
        let if_exists = self.if_exists()?;
        Ok(Statement::DropDatabase { name: self.name()?, if_exists })
    }

    /// Behind DROP [TEMPORARY] TABLE.
    pub(super) fn drop_table(&mut self, temporary: bool) -> SqlResult<Statement> {
        let if_exists = self.if_exists()?;
        let tables = self.list(Self::object_name)?;
        self.accept_any(&[K::Restrict, K::Cascade]);
        Ok(Statement::DropTable(DropTable { temporary, if_exists, tables }))
    }

    /// Behind RENAME TABLE.
    pub(super) fn rename_table(&mut self) -> SqlResult<Statement> {
        Ok(Statement::RenameTable(self.list(|parser| {
            let from = parser.object_name()?;
            parser.expect(K::To)?;
            Ok(RenameItem { from, to: parser.object_name()? })
        })?))
    }

    /// Behind CREATE, at UNIQUE, FULLTEXT, SPATIAL or INDEX.
    pub(super) fn create_index(&mut self) -> SqlResult<Statement> {
        let kind = match self.accept_any(&[K::Unique, K::Fulltext, K::Spatial]) {
            None => IndexType::Plain,
            Some(K::Unique) => IndexType::Unique,
            Some(K::Fulltext) => IndexType::FullText,
            Some(_) => IndexType::Spatial,
        };
        self.expect(K::Index)?;
        let name = self.name()?;
        let mut options = Vec::new();
        if !self.at_word(K::On)
            && let Some(option) = self.optional_index_option()?
        {
            options.push(option);
        }
        self.expect(K::On)?;
        let table = self.object_name()?;
        let mut index = self.index_body(kind, Some(name))?;
        index.options.splice(0..0, options);
        let (mut algorithm, mut lock) = (None, None);
        while self.alter_algorithm_or_lock(&mut algorithm, &mut lock)? {}
        Ok(Statement::CreateIndex(Box::new(CreateIndex { table, index, algorithm, lock })))
    }

    /// Behind DROP INDEX.
    pub(super) fn drop_index(&mut self) -> SqlResult<Statement> {
        let index = self.index_name()?;
        self.expect(K::On)?;
        let table = self.object_name()?;
        let (mut algorithm, mut lock) = (None, None);
        while self.alter_algorithm_or_lock(&mut algorithm, &mut lock)? {}
        Ok(Statement::DropIndex(Box::new(DropIndex { table, index, algorithm, lock })))
    }

    /// Behind VIEW, with what stood before it.
    pub(super) fn create_view(&mut self, mut view: CreateView) -> SqlResult<Statement> {
        if !view.alter {
            view.if_not_exists = self.if_not_exists()?;
        }
        view.name = self.object_name()?;
        view.columns = self.optional_names()?;
        self.expect(K::As)?;
        let first = self.at;
        view.query = Box::new(self.query()?);
        view.text = self.string_since(first);
        if self.accept(K::With) {
            let word = self.accept_any(&[K::Cascaded, K::Local]);
            self.expect_all(&[K::Check, K::Option])?;
            view.check_option =
                Some(if word == Some(K::Local) { CheckOption::Local } else { CheckOption::Cascaded });
        }
        Ok(Statement::CreateView(Box::new(view)))
    }

    /// Behind DROP VIEW.
    pub(super) fn drop_view(&mut self) -> SqlResult<Statement> {
        let if_exists = self.if_exists()?;
        let views = self.list(Self::object_name)?;
        let restrict = self.accept_any(&[K::Restrict, K::Cascade]).map(|word| word == K::Restrict);
        Ok(Statement::DropView { views, if_exists, restrict })
    }
}
