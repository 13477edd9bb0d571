//! SHOW: tables, columns, variables, CREATE. Server-wide and replication forms are in `show_more`.

use super::*;
use Keyword as K;
use TokenKind as T;

impl Parser<'_> {
    pub(super) fn show(&mut self) -> SqlResult<Statement> {
        self.advance();
        Ok(Statement::Show(Box::new(self.show_form()?)))
    }

    fn show_form(&mut self) -> SqlResult<Show> {
        let start = self.at;
        let extended = self.accept(K::Extended);
        let full = self.accept(K::Full);
        let T::Word(word) = self.kind() else {
            return if self.at_text("count") { self.show_count() } else { self.fail() };
        };
        self.advance();
        match word {
            K::Tables => {
                let schema = self.optional_from_schema()?;
                Ok(Show::Tables { full, extended, schema, filter: self.show_filter()? })
            }
            K::Columns | K::Fields => {
                let table = self.table_from()?;
                Ok(Show::Columns { full, extended, table, filter: self.show_filter()? })
            }
            K::Index | K::Indexes | K::Keys if !full => {
                let table = self.table_from()?;
                Ok(Show::Index { extended, table, filter: self.optional_where()? })
            }
            K::Triggers if !extended => {
                let schema = self.optional_from_schema()?;
                Ok(Show::Triggers { full, schema, filter: self.show_filter()? })
            }
            K::Processlist if !extended => Ok(Show::Processlist { full }),
            _ if extended || full => {
                self.at = start;
                self.fail()
            }
            _ => self.show_plain(word),
        }
    }

    fn show_plain(&mut self, word: Keyword) -> SqlResult<Show> {
        match word {
            K::Databases | K::Schemas => Ok(Show::Databases(self.show_filter()?)),
            K::Table => {
                self.expect(K::Status)?;
                let schema = self.optional_from_schema()?;
                Ok(Show::TableStatus { schema, filter: self.show_filter()? })
            }
            K::Open => {
                self.expect(K::Tables)?;
                let schema = self.optional_from_schema()?;
                Ok(Show::OpenTables { schema, filter: self.show_filter()? })
            }
            K::Events => {
                let schema = self.optional_from_schema()?;
                Ok(Show::Events { schema, filter: self.show_filter()? })
            }
            K::Create => self.show_create(),
            K::Global | K::Session | K::Local => {
                let scope = if word == K::Global { VariableScope::Global } else { VariableScope::Session };
                let what = self.expect_any(&[K::Variables, K::Status])?;
                self.show_variables(what, Some(scope))
            }
            K::Variables | K::Status => self.show_variables(word, None),
            K::Character | K::Char => {
                self.expect(K::Set)?;
                Ok(Show::CharacterSets(self.show_filter()?))
            }
            K::Charset => Ok(Show::CharacterSets(self.show_filter()?)),
            K::Collation => Ok(Show::Collations(self.show_filter()?)),
            K::Warnings => Ok(Show::Warnings { limit: self.optional_limit()? }),
            K::Errors => Ok(Show::Errors { limit: self.optional_limit()? }),
            K::Grants => self.show_grants(),
            _ => self.show_server(word),
        }
    }

    fn show_variables(&mut self, what: Keyword, scope: Option<VariableScope>) -> SqlResult<Show> {
        let filter = self.show_filter()?;
        Ok(if what == K::Variables {
            Show::Variables { scope, filter }
        } else {
            Show::Status { scope, filter }
        })
    }

    /// SHOW COUNT(*) WARNINGS.
    fn show_count(&mut self) -> SqlResult<Show> {
        self.advance();
        self.parenthesised(|parser| parser.expect_kind(T::Star))?;
        Ok(match self.expect_any(&[K::Warnings, K::Errors])? {
            K::Warnings => Show::WarningCount,
            _ => Show::ErrorCount,
        })
    }

    fn show_create(&mut self) -> SqlResult<Show> {
        let words = [
            K::Table,
            K::View,
            K::Database,
            K::Schema,
            K::User,
            K::Procedure,
            K::Function,
            K::Trigger,
            K::Event,
            K::Library,
        ];
        let kind = match self.expect_any(&words)? {
            K::Table => return Ok(Show::CreateTable(self.object_name()?)),
            K::View => return Ok(Show::CreateView(self.object_name()?)),
            K::Database | K::Schema => {
                let if_not_exists = self.if_not_exists()?;
                return Ok(Show::CreateDatabase { name: self.name()?, if_not_exists });
            }
            K::User => return Ok(Show::CreateUser(self.user()?)),
            K::Procedure => ProgramKind::Procedure,
            K::Function => ProgramKind::Function,
            K::Trigger => ProgramKind::Trigger,
            K::Event => ProgramKind::Event,
            _ => ProgramKind::Library,
        };
        Ok(Show::CreateProgram { kind, name: self.object_name()? })
    }

    fn show_grants(&mut self) -> SqlResult<Show> {
        let user = if self.accept(K::For) { Some(self.user()?) } else { None };
        let using = if user.is_some() && self.accept(K::Using) { self.list(Self::user)? } else { Vec::new() };
        Ok(Show::Grants { user, using })
    }

    /// `FROM table [FROM schema]`.
    fn table_from(&mut self) -> SqlResult<ObjectName> {
        self.expect_any(&[K::From, K::In])?;
        let mut table = self.object_name()?;
        if let Some(schema) = self.optional_from_schema()? {
            table.schema = Some(schema);
        }
        Ok(table)
    }

    fn optional_from_schema(&mut self) -> SqlResult<Option<Name>> {
        if self.accept_any(&[K::From, K::In]).is_some() { self.name().map(Some) } else { Ok(None) }
    }

    /// LIKE or WHERE.
    pub(super) fn show_filter(&mut self) -> SqlResult<ShowFilter> {
        if self.accept(K::Like) {
            return Ok(ShowFilter::Like(self.string()?));
        }
        Ok(self.optional_where()?.map_or(ShowFilter::None, ShowFilter::Where))
    }
}
