//! Accounts: names, CREATE USER, ALTER USER and what follows the users.

use super::*;
use Keyword as K;
use TokenKind as T;

impl Parser<'_> {
    /// `'name'@'host'`, `name@host`, `name` or CURRENT_USER.
    pub(super) fn user(&mut self) -> SqlResult<UserName> {
        if self.accept(K::CurrentUser) {
            if self.accept_kind(T::OpenParenthesis) {
                self.expect_kind(T::CloseParenthesis)?;
            }
            return Ok(UserName::CurrentUser);
        }
        self.role()
    }

    /// A role, or an account that is not CURRENT_USER.
    pub(super) fn role(&mut self) -> SqlResult<UserName> {
        let name = self.name_or_string()?;
        let host = if self.kind() == T::UserVariable {
            Some(self.at_sign_name()?.to_ascii_lowercase())
        } else {
            None
        };
        Ok(UserName::Account { name, host })
    }

    /// `DEFINER = user`.
    pub(super) fn optional_definer(&mut self) -> SqlResult<Option<UserName>> {
        if !self.accept(K::Definer) {
            return Ok(None);
        }
        self.expect_kind(T::Equal)?;
        self.user().map(Some)
    }

    /// Behind CREATE USER.
    pub(super) fn create_user(&mut self) -> SqlResult<Statement> {
        let if_not_exists = self.if_not_exists()?;
        let users = self.list(Self::user_specification)?;
        let default_roles =
            if self.accept_all(&[K::Default, K::Role]) { self.list(Self::role)? } else { Vec::new() };
        let attributes = self.user_attributes()?;
        Ok(Statement::CreateUser(Box::new(CreateUser { if_not_exists, users, default_roles, attributes })))
    }

    /// Behind ALTER USER.
    pub(super) fn alter_user(&mut self) -> SqlResult<Statement> {
        let if_exists = self.if_exists()?;
        if self.at_text("user") && self.kind_at(1) == T::OpenParenthesis {
            return self.alter_own_user(if_exists);
        }
        let first = self.user()?;
        if self.accept_all(&[K::Default, K::Role]) {
            return self.alter_default_role(if_exists, first);
        }
        let mut users = vec![self.user_authentication(first)?];
        while self.accept_comma() {
            users.push(self.user_specification()?);
        }
        let attributes = self.user_attributes()?;
        Ok(Statement::AlterUser(Box::new(AlterUser { if_exists, users, default_role: None, attributes })))
    }

    /// Behind `ALTER USER user DEFAULT ROLE`: of one account, and nothing else of it.
    fn alter_default_role(&mut self, if_exists: bool, user: UserName) -> SqlResult<Statement> {
        let default_role = Some(self.role_choice(false)?);
        let users = vec![UserSpecification::of(user)];
        let attributes = UserAttributes::default();
        Ok(Statement::AlterUser(Box::new(AlterUser { if_exists, users, default_role, attributes })))
    }

    /// `ALTER USER USER() IDENTIFIED BY ..`.
    fn alter_own_user(&mut self, if_exists: bool) -> SqlResult<Statement> {
        self.at += 2;
        self.expect_kind(T::CloseParenthesis)?;
        let users = vec![self.user_authentication(UserName::CurrentUser)?];
        if users[0] == UserSpecification::of(UserName::CurrentUser) {
            return self.fail();
        }
        let attributes = UserAttributes::default();
        Ok(Statement::AlterUser(Box::new(AlterUser { if_exists, users, default_role: None, attributes })))
    }

    /// Behind RENAME USER.
    pub(super) fn rename_user(&mut self) -> SqlResult<Statement> {
        Ok(Statement::RenameUser(self.list(|parser| {
            let from = parser.user()?;
            parser.expect(K::To)?;
            Ok((from, parser.user()?))
        })?))
    }

    fn user_specification(&mut self) -> SqlResult<UserSpecification> {
        let user = self.user()?;
        self.user_authentication(user)
    }

    fn user_authentication(&mut self, user: UserName) -> SqlResult<UserSpecification> {
        let mut specification = UserSpecification::of(user);
        if self.at_word(K::Identified) {
            specification.factors.push(self.authentication()?);
            while self.at_words(K::And, K::Identified) {
                self.advance();
                specification.factors.push(self.authentication()?);
            }
        }
        self.factor_changes(&mut specification)?;
        if self.accept(K::Replace) {
            specification.replace = Some(self.string()?);
        }
        specification.retain_current = self.accept_retain_current()?;
        if self.accept(K::Discard) {
            self.expect_all(&[K::Old, K::Password])?;
            specification.discard_old = true;
        }
        Ok(specification)
    }

    fn authentication(&mut self) -> SqlResult<Authentication> {
        self.expect(K::Identified)?;
        let plugin = if self.accept(K::With) { Some(self.name_or_string()?) } else { None };
        let secret = if self.accept(K::By) {
            if self.accept(K::Random) {
                self.expect(K::Password)?;
                AuthenticationSecret::Random
            } else {
                AuthenticationSecret::Password(self.string()?)
            }
        } else if plugin.is_some() && self.accept(K::As) {
            AuthenticationSecret::Hash(self.string_or_bytes()?)
        } else if plugin.is_some() {
            AuthenticationSecret::None
        } else {
            return self.fail();
        };
        Ok(Authentication { plugin, secret })
    }

    /// ADD, MODIFY and DROP of factors, INITIAL AUTHENTICATION and registration: kept as text.
    fn factor_changes(&mut self, specification: &mut UserSpecification) -> SqlResult<()> {
        let words = [K::Add, K::Modify, K::Drop, K::Initial];
        loop {
            let first = self.at;
            let starts_factor = self.kind() == T::Integer && self.kind_at(1) == T::Word(K::Factor);
            match self.accept_any(&words) {
                Some(K::Initial) => {
                    self.expect(K::Authentication)?;
                    self.authentication()?;
                }
                None if starts_factor => self.registration()?,
                None => return Ok(()),
                Some(word) => {
                    self.number()?;
                    self.expect(K::Factor)?;
                    if word != K::Drop {
                        self.authentication()?;
                    }
                }
            }
            specification.factor_changes.push(self.string_since(first));
        }
    }

    /// `2 FACTOR INITIATE REGISTRATION` and its like.
    fn registration(&mut self) -> SqlResult<()> {
        self.at += 2;
        match self.expect_any(&[K::Initiate, K::Unregister, K::Finish])? {
            K::Initiate => self.expect(K::Registration),
            K::Unregister => Ok(()),
            _ => {
                self.expect(K::Registration)?;
                self.expect_all(&[K::Set])?;
                self.name()?;
                self.expect(K::As)?;
                self.string().map(|_| ())
            }
        }
    }

    fn user_attributes(&mut self) -> SqlResult<UserAttributes> {
        let mut attributes = UserAttributes::default();
        if self.accept(K::Require) {
            attributes.require = Some(self.tls_requirement()?);
        }
        if self.accept(K::With) {
            let words =
                [K::MaxQueriesPerHour, K::MaxUpdatesPerHour, K::MaxConnectionsPerHour, K::MaxUserConnections];
            let mut word = self.expect_any(&words).map(Some)?;
            while let Some(limit) = word {
                attributes.limits.push((limit.text(), self.number()?));
                word = self.accept_any(&words);
            }
        }
        while self.user_attribute(&mut attributes)? {}
        if self.accept(K::Comment) {
            attributes.comment = Some(self.string()?);
        } else if self.accept(K::Attribute) {
            attributes.attribute = Some(self.string()?);
        }
        Ok(attributes)
    }

    fn tls_requirement(&mut self) -> SqlResult<TlsRequirement> {
        if let Some(word) = self.accept_any(&[K::None, K::Ssl, K::X509]) {
            return Ok(match word {
                K::None => TlsRequirement::None,
                K::Ssl => TlsRequirement::Ssl,
                _ => TlsRequirement::X509,
            });
        }
        let (mut cipher, mut issuer, mut subject) = (None, None, None);
        loop {
            let place = match self.expect_any(&[K::Cipher, K::Issuer, K::Subject])? {
                K::Cipher => &mut cipher,
                K::Issuer => &mut issuer,
                _ => &mut subject,
            };
            *place = Some(self.string()?);
            let and = self.accept(K::And);
            if !and && !matches!(self.kind(), T::Word(K::Cipher | K::Issuer | K::Subject)) {
                return Ok(TlsRequirement::Specified { cipher, issuer, subject });
            }
        }
    }

    /// ACCOUNT, PASSWORD .., FAILED_LOGIN_ATTEMPTS, PASSWORD_LOCK_TIME.
    fn user_attribute(&mut self, attributes: &mut UserAttributes) -> SqlResult<bool> {
        let words = [K::Account, K::Password, K::FailedLoginAttempts, K::PasswordLockTime];
        match self.accept_any(&words) {
            None => return Ok(false),
            Some(K::Account) => {
                attributes.account_locked = Some(match self.kind() {
                    T::Word(K::Lock) => true,
                    T::Word(K::Unlock) => false,
                    _ => return self.fail(),
                });
                self.advance();
            }
            Some(K::FailedLoginAttempts) => {
                attributes.failed_login_attempts = Some(self.locking_limit("FAILED_LOGIN_ATTEMPTS")?);
            }
            Some(K::PasswordLockTime) => {
                let unbounded = self.accept(K::Unbounded);
                let limit = if unbounded { None } else { Some(self.locking_limit("PASSWORD_LOCK_TIME")?) };
                attributes.password_lock_days = Some(limit);
            }
            Some(_) => self.password_attribute(attributes)?,
        }
        Ok(true)
    }

    /// The number of FAILED_LOGIN_ATTEMPTS or PASSWORD_LOCK_TIME. Errors: 1525 beyond [`PASSWORD_LOCKING_MAX`], 1064.
    fn locking_limit(&mut self, option: &str) -> SqlResult<u16> {
        let value = self.whole_number()?;
        let limit = u16::try_from(value).ok().filter(|limit| *limit <= PASSWORD_LOCKING_MAX);
        limit.ok_or_else(|| sql_error!(ER_WRONG_VALUE, option, value))
    }

    fn password_attribute(&mut self, attributes: &mut UserAttributes) -> SqlResult<()> {
        match self.expect_any(&[K::Expire, K::History, K::Reuse, K::Require])? {
            K::Expire => {
                attributes.password_expire =
                    Some(match self.accept_any(&[K::Interval, K::Never, K::Default]) {
                        None => PasswordExpire::Now,
                        Some(K::Never) => PasswordExpire::Never,
                        Some(K::Default) => PasswordExpire::Default,
                        Some(_) => {
                            let days = self.number()?;
                            self.expect(K::Day)?;
                            PasswordExpire::Interval(days)
                        }
                    });
            }
            K::History => attributes.password_history = Some(self.number_or_default()?),
            K::Reuse => {
                self.expect(K::Interval)?;
                let days = self.number_or_default()?;
                if days.is_some() {
                    self.expect(K::Day)?;
                }
                attributes.password_reuse_days = Some(days);
            }
            _ => {
                self.expect(K::Current)?;
                attributes.require_current = Some(match self.accept_any(&[K::Default, K::Optional]) {
                    None => RequireCurrent::Required,
                    Some(K::Default) => RequireCurrent::Default,
                    Some(_) => RequireCurrent::Optional,
                });
            }
        }
        Ok(())
    }

    fn number_or_default(&mut self) -> SqlResult<Option<u64>> {
        if self.accept(K::Default) { Ok(None) } else { self.whole_number().map(Some) }
    }
}
