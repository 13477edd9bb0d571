//! The first words of a statement decide which parser reads the rest.

use super::*;
use Keyword as K;
use TokenKind as T;

/// Statements that are only recognised, by their leading words.
const RECOGNISED: &[(&[Keyword], &str)] = &[
    (&[K::Alter, K::Instance], "ALTER INSTANCE"),
    (&[K::Alter, K::Resource, K::Group], "ALTER RESOURCE GROUP"),
    (&[K::Alter, K::Server], "ALTER SERVER"),
    (&[K::Alter, K::Tablespace], "ALTER TABLESPACE"),
    (&[K::Alter, K::Undo, K::Tablespace], "ALTER UNDO TABLESPACE"),
    (&[K::Alter, K::Logfile, K::Group], "ALTER LOGFILE GROUP"),
    (&[K::Binlog], "BINLOG"),
    (&[K::Cache, K::Index], "CACHE INDEX"),
    (&[K::Change], "CHANGE REPLICATION"),
    (&[K::Clone], "CLONE"),
    (&[K::Create, K::Aggregate, K::Function], "CREATE FUNCTION"),
    (&[K::Create, K::Logfile, K::Group], "CREATE LOGFILE GROUP"),
    (&[K::Create, K::Masking], "CREATE MASKING POLICY"),
    (&[K::Create, K::Or, K::Replace, K::Spatial], "CREATE SPATIAL REFERENCE SYSTEM"),
    (&[K::Create, K::Resource, K::Group], "CREATE RESOURCE GROUP"),
    (&[K::Create, K::Server], "CREATE SERVER"),
    (&[K::Create, K::Spatial, K::Reference], "CREATE SPATIAL REFERENCE SYSTEM"),
    (&[K::Create, K::Tablespace], "CREATE TABLESPACE"),
    (&[K::Create, K::Undo, K::Tablespace], "CREATE UNDO TABLESPACE"),
    (&[K::Drop, K::Logfile, K::Group], "DROP LOGFILE GROUP"),
    (&[K::Drop, K::Masking], "DROP MASKING POLICY"),
    (&[K::Drop, K::Resource, K::Group], "DROP RESOURCE GROUP"),
    (&[K::Drop, K::Server], "DROP SERVER"),
    (&[K::Drop, K::Spatial, K::Reference], "DROP SPATIAL REFERENCE SYSTEM"),
    (&[K::Drop, K::Tablespace], "DROP TABLESPACE"),
    (&[K::Drop, K::Undo, K::Tablespace], "DROP UNDO TABLESPACE"),
    (&[K::Import, K::Table], "IMPORT TABLE"),
    (&[K::Install, K::Component], "INSTALL COMPONENT"),
    (&[K::Install, K::Plugin], "INSTALL PLUGIN"),
    (&[K::Load, K::Index], "LOAD INDEX"),
    (&[K::Purge], "PURGE BINARY LOGS"),
    (&[K::Set, K::Resource, K::Group], "SET RESOURCE GROUP"),
    (&[K::Show, K::Create, K::Masking], "SHOW CREATE MASKING POLICY"),
    (&[K::Start, K::Replica], "START REPLICA"),
    (&[K::Start, K::GroupReplication], "START GROUP_REPLICATION"),
    (&[K::Stop, K::Replica], "STOP REPLICA"),
    (&[K::Stop, K::GroupReplication], "STOP GROUP_REPLICATION"),
    (&[K::Uninstall, K::Component], "UNINSTALL COMPONENT"),
    (&[K::Uninstall, K::Plugin], "UNINSTALL PLUGIN"),
];

impl Parser<'_> {
    /// One statement, up to its semicolon or the end.
    pub(crate) fn statement(&mut self) -> SqlResult<Statement> {
        let T::Word(word) = self.kind() else {
            return if self.kind() == T::OpenParenthesis { self.query_statement() } else { self.fail() };
        };
        if let Some(statement) = self.recognised()? {
            return Ok(statement);
        }
        match word {
            K::Select | K::Table | K::Values => self.query_statement(),
            K::With => self.with_statement(),
            K::Insert | K::Replace => self.insert(),
            K::Update => self.update(None),
            K::Delete => self.delete(None),
            K::Set => self.set(),
            K::Create => self.create(),
            K::Alter => self.alter(),
            K::Drop => self.drop(),
            K::Show => self.show(),
            K::Begin
            | K::Start
            | K::Commit
            | K::Rollback
            | K::Savepoint
            | K::Release
            | K::Xa
            | K::Lock
            | K::Unlock => self.transaction_statement(word),
            _ => self.other_statement(word),
        }
    }

    fn other_statement(&mut self, word: Keyword) -> SqlResult<Statement> {
        match word {
            K::Load => self.load(),
            K::Do => self.do_statement(),
            K::Call => self.call_statement(),
            K::Handler => self.handler(),
            K::Describe | K::Desc | K::Explain => self.explain(),
            K::Grant => self.grant(),
            K::Revoke => self.revoke(),
            K::Truncate => {
                self.advance();
                self.accept(K::Table);
                Ok(Statement::TruncateTable(self.object_name()?))
            }
            K::Rename => self.rename(),
            K::Use => {
                self.advance();
                Ok(Statement::Use(self.name()?))
            }
            K::Help => {
                self.advance();
                Ok(Statement::Help(self.name_or_string()?.into_bytes()))
            }
            K::Prepare | K::Execute | K::Deallocate => self.prepared_statement(word),
            K::Kill => self.kill(),
            K::Flush => self.flush(),
            K::Reset => self.reset(),
            K::Analyze | K::Check | K::Checksum | K::Optimize | K::Repair => self.table_maintenance(word),
            K::Shutdown | K::Restart => {
                self.advance();
                Ok(if word == K::Shutdown { Statement::Shutdown } else { Statement::Restart })
            }
            K::Signal | K::Resignal => self.signal(word),
            K::Get => self.get_diagnostics(),
            _ => self.fail(),
        }
    }

    fn query_statement(&mut self) -> SqlResult<Statement> {
        Ok(Statement::Query(Box::new(self.query()?)))
    }

    /// WITH before SELECT, UPDATE or DELETE.
    fn with_statement(&mut self) -> SqlResult<Statement> {
        let with = self.optional_with()?;
        match self.kind() {
            T::Word(K::Update) => self.update(with),
            T::Word(K::Delete) => self.delete(with),
            _ => Ok(Statement::Query(Box::new(self.query_with(with)?))),
        }
    }

    fn recognised(&mut self) -> SqlResult<Option<Statement>> {
        let found = RECOGNISED.iter().find(|(words, _)| {
            words.iter().enumerate().all(|(ahead, &word)| self.kind_at(ahead) == T::Word(word))
        });
        let Some(&(words, command)) = found else { return Ok(None) };
        if self.kind_at(words.len()) == T::Invalid {
            self.at += words.len();
            return self.fail();
        }
        let first = self.at;
        while !self.at_end() {
            if self.kind() == T::Invalid {
                return self.fail();
            }
            self.advance();
        }
        Ok(Some(Statement::Recognised { command, text: self.string_since(first) }))
    }

    fn rename(&mut self) -> SqlResult<Statement> {
        self.advance();
        match self.expect_any(&[K::Table, K::Tables, K::User])? {
            K::User => self.rename_user(),
            _ => self.rename_table(),
        }
    }

    fn create(&mut self) -> SqlResult<Statement> {
        let start = self.at;
        self.advance();
        if let Some(statement) = self.optional_program(start, ProgramAction::Create)? {
            return Ok(statement);
        }
        let T::Word(word) = self.kind() else { return self.fail() };
        match word {
            K::Temporary => {
                self.advance();
                self.expect(K::Table)?;
                self.create_table(true)
            }
            K::Table => {
                self.advance();
                self.create_table(false)
            }
            K::Database | K::Schema => {
                self.advance();
                self.create_database()
            }
            K::Unique | K::Fulltext | K::Spatial | K::Index => self.create_index(),
            K::User => {
                self.advance();
                self.create_user()
            }
            K::Role => {
                self.advance();
                let if_not_exists = self.if_not_exists()?;
                Ok(Statement::CreateRole { roles: self.list(Self::role)?, if_not_exists })
            }
            K::Or | K::Algorithm | K::Definer | K::Sql | K::View => self.view_statement(false),
            _ => self.fail(),
        }
    }

    /// Behind CREATE or ALTER, up to the view's own words.
    fn view_statement(&mut self, alter: bool) -> SqlResult<Statement> {
        let or_replace = !alter && self.accept_all(&[K::Or, K::Replace]);
        let algorithm = if self.accept(K::Algorithm) {
            self.expect_kind(T::Equal)?;
            Some(self.expect_any(&[K::Undefined, K::Merge, K::Temptable])?.text().to_owned())
        } else {
            None
        };
        let definer = self.optional_definer()?;
        let security = if self.accept_all(&[K::Sql, K::Security]) {
            Some(match self.expect_any(&[K::Definer, K::Invoker])? {
                K::Definer => SqlSecurity::Definer,
                _ => SqlSecurity::Invoker,
            })
        } else {
            None
        };
        self.expect(K::View)?;
        self.create_view(CreateView {
            alter,
            or_replace,
            if_not_exists: false,
            algorithm,
            definer,
            security,
            name: ObjectName { schema: None, name: String::new() },
            columns: Vec::new(),
            query: Box::new(Query {
                with: None,
                body: QueryBody::Values(Vec::new()),
                order_by: Vec::new(),
                limit: None,
                locking: Vec::new(),
                into: None,
            }),
            text: String::new(),
            check_option: None,
        })
    }

    fn alter(&mut self) -> SqlResult<Statement> {
        let start = self.at;
        self.advance();
        if let Some(statement) = self.optional_program(start, ProgramAction::Alter)? {
            return Ok(statement);
        }
        let T::Word(word) = self.kind() else { return self.fail() };
        match word {
            K::Table => {
                self.advance();
                self.alter_table()
            }
            K::Database | K::Schema => {
                self.advance();
                self.alter_database()
            }
            K::User => {
                self.advance();
                self.alter_user()
            }
            K::Algorithm | K::Definer | K::Sql | K::View => self.view_statement(true),
            _ => self.fail(),
        }
    }

    fn drop(&mut self) -> SqlResult<Statement> {
        let start = self.at;
        self.advance();
        if let Some(statement) = self.optional_program(start, ProgramAction::Drop)? {
            return Ok(statement);
        }
        let temporary = self.accept(K::Temporary);
        let words: &[Keyword] = if temporary {
            &[K::Table, K::Tables]
        } else {
            &[K::Table, K::Tables, K::Database, K::Schema, K::Index, K::View, K::User, K::Role, K::Prepare]
        };
        match self.expect_any(words)? {
            K::Table | K::Tables => self.drop_table(temporary),
            K::Database | K::Schema => self.drop_database(),
            K::Index => self.drop_index(),
            K::View => self.drop_view(),
            K::User => {
                let if_exists = self.if_exists()?;
                Ok(Statement::DropUser { users: self.list(Self::user)?, if_exists })
            }
            K::Role => {
                let if_exists = self.if_exists()?;
                Ok(Statement::DropRole { roles: self.list(Self::role)?, if_exists })
            }
            _ => Ok(Statement::Deallocate(self.name()?)),
        }
    }
}
