//! SET: variables, NAMES, CHARACTER SET, PASSWORD, TRANSACTION and roles.

use super::*;
use Keyword as K;
use TokenKind as T;

impl Parser<'_> {
    pub(super) fn set(&mut self) -> SqlResult<Statement> {
        self.advance();
        if self.accept(K::Role) {
            return self.role_choice(true).map(Statement::SetRole);
        }
        if self.accept_all(&[K::Default, K::Role]) {
            let roles = self.role_choice(false)?;
            self.expect(K::To)?;
            return Ok(Statement::SetDefaultRole { roles, users: self.list(Self::user)? });
        }
        self.list(Self::set_item).map(Statement::Set)
    }

    fn set_item(&mut self) -> SqlResult<SetItem> {
        match self.kind() {
            T::UserVariable => {
                let name = self.user_variable()?;
                self.set_equal()?;
                return Ok(SetItem::UserVariable { name, value: self.expression()? });
            }
            T::DoubleAt => {
                let variable = self.system_variable()?;
                let next_transaction = variable.scope.is_none();
                return self.set_variable(variable, next_transaction);
            }
            T::Word(K::Names) if self.kind_at(1) != T::Equal && self.kind_at(1) != T::Assign => {
                return self.set_names();
            }
            T::Word(K::Password) if self.at_set_password() => {
                return self.set_password().map(SetItem::Password);
            }
            T::Word(K::Charset | K::Character | K::Char) if self.accept_charset_words()? => {
                let charset = if self.accept(K::Default) { None } else { Some(self.charset_name()?) };
                return Ok(SetItem::CharacterSet(charset));
            }
            _ => {}
        }
        let scoped = matches!(self.kind_at(1), T::Word(_) | T::Name | T::QuotedName);
        let scope = if scoped { self.accept_variable_scope() } else { None };
        if self.at_word(K::Transaction) && self.kind_at(1) != T::Equal {
            self.advance();
            return self.set_transaction(scope);
        }
        let first = self.variable_name_unreserved()?;
        let variable = if self.accept_kind(T::Point) {
            SystemVariable { scope, qualifier: Some(first), name: self.name_behind_point()? }
        } else {
            SystemVariable { scope, qualifier: None, name: first }
        };
        self.set_variable(variable, false)
    }

    fn variable_name_unreserved(&mut self) -> SqlResult<Name> {
        if self.at_word(K::Default) { self.variable_name() } else { self.name() }
    }

    fn set_equal(&mut self) -> SqlResult<()> {
        if self.accept_kind(T::Assign) { Ok(()) } else { self.expect_kind(T::Equal) }
    }

    fn set_variable(&mut self, variable: SystemVariable, next_transaction: bool) -> SqlResult<SetItem> {
        self.set_equal()?;
        let ends = matches!(self.kind_at(1), T::Comma | T::End | T::Semicolon);
        let value = match self.kind() {
            T::Word(K::Default) if ends => {
                self.advance();
                None
            }
            // Words that are reserved, but values here.
            T::Word(K::On | K::All | K::Binary | K::Row | K::System) if ends => {
                let bytes = self.any_word()?.into_bytes();
                Some(Expression::Literal(Literal::String { bytes, introducer: None }))
            }
            _ => Some(self.expression()?),
        };
        Ok(SetItem::SystemVariable { variable, value, next_transaction })
    }

    fn set_names(&mut self) -> SqlResult<SetItem> {
        self.advance();
        if self.accept(K::Default) {
            return Ok(SetItem::Names { charset: None, collation: None });
        }
        let charset = Some(self.charset_name()?);
        let collation = if self.accept(K::Collate) { Some(self.charset_name()?) } else { None };
        Ok(SetItem::Names { charset, collation })
    }

    fn at_set_password(&self) -> bool {
        matches!(self.kind_at(1), T::Equal | T::Assign | T::Word(K::For | K::To))
    }

    fn set_password(&mut self) -> SqlResult<SetPassword> {
        self.advance();
        let user = if self.accept(K::For) { Some(self.user()?) } else { None };
        let password = if self.accept(K::To) {
            self.expect(K::Random)?;
            None
        } else {
            self.set_equal()?;
            Some(self.string()?)
        };
        let replace = if self.accept(K::Replace) { Some(self.string()?) } else { None };
        let retain_current = self.accept_retain_current()?;
        Ok(SetPassword { user, password, replace, retain_current })
    }

    /// RETAIN CURRENT PASSWORD.
    pub(super) fn accept_retain_current(&mut self) -> SqlResult<bool> {
        if !self.accept(K::Retain) {
            return Ok(false);
        }
        self.expect_all(&[K::Current, K::Password])?;
        Ok(true)
    }

    fn set_transaction(&mut self, scope: Option<VariableScope>) -> SqlResult<SetItem> {
        let (mut isolation, mut read_only) = (None, None);
        loop {
            if isolation.is_none() && self.accept(K::Isolation) {
                self.expect(K::Level)?;
                isolation = Some(self.isolation_level()?);
            } else if read_only.is_none() && self.accept(K::Read) {
                read_only = Some(self.expect_any(&[K::Only, K::Write])? == K::Only);
            } else {
                return self.fail();
            }
            let more = matches!(self.kind_at(1), T::Word(K::Isolation | K::Read));
            if !more || !self.accept_comma() {
                return Ok(SetItem::Transaction { scope, isolation, read_only });
            }
        }
    }

    fn isolation_level(&mut self) -> SqlResult<IsolationLevel> {
        Ok(match self.expect_any(&[K::Read, K::Repeatable, K::Serializable])? {
            K::Read => match self.expect_any(&[K::Committed, K::Uncommitted])? {
                K::Committed => IsolationLevel::ReadCommitted,
                _ => IsolationLevel::ReadUncommitted,
            },
            K::Repeatable => {
                self.expect(K::Read)?;
                IsolationLevel::RepeatableRead
            }
            _ => IsolationLevel::Serializable,
        })
    }

    /// What SET ROLE and SET DEFAULT ROLE choose; DEFAULT and EXCEPT only for the former.
    pub(super) fn role_choice(&mut self, for_session: bool) -> SqlResult<RoleChoice> {
        if for_session && self.accept(K::Default) {
            return Ok(RoleChoice::Default);
        }
        if self.accept(K::None) {
            return Ok(RoleChoice::None);
        }
        if self.accept(K::All) {
            if for_session && self.accept(K::Except) {
                return Ok(RoleChoice::AllExcept(self.list(Self::role)?));
            }
            return Ok(RoleChoice::All);
        }
        self.list(Self::role).map(RoleChoice::Roles)
    }
}
