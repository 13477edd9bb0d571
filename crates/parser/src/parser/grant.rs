//! GRANT and REVOKE.

use super::*;
use Keyword as K;
use TokenKind as T;

/// Privileges of more than one word, longest first where one starts another.
const PHRASES: &[(&[Keyword], &str)] = &[
    (&[K::Create, K::Temporary, K::Tables], "CREATE TEMPORARY TABLES"),
    (&[K::Create, K::User], "CREATE USER"),
    (&[K::Create, K::View], "CREATE VIEW"),
    (&[K::Create, K::Routine], "CREATE ROUTINE"),
    (&[K::Create, K::Role], "CREATE ROLE"),
    (&[K::Create, K::Tablespace], "CREATE TABLESPACE"),
    (&[K::Alter, K::Routine], "ALTER ROUTINE"),
    (&[K::Drop, K::Role], "DROP ROLE"),
    (&[K::Grant, K::Option], "GRANT OPTION"),
    (&[K::Lock, K::Tables], "LOCK TABLES"),
    (&[K::Replication, K::Client], "REPLICATION CLIENT"),
    (&[K::Replication, K::Slave], "REPLICATION SLAVE"),
    (&[K::Show, K::Databases], "SHOW DATABASES"),
    (&[K::Show, K::View], "SHOW VIEW"),
];

const WORDS: &[Keyword] = &[
    K::Select,
    K::Insert,
    K::Update,
    K::References,
    K::Delete,
    K::Usage,
    K::Index,
    K::Alter,
    K::Create,
    K::Drop,
    K::Execute,
    K::Reload,
    K::Shutdown,
    K::Process,
    K::File,
    K::Grant,
    K::Super,
    K::Event,
    K::Trigger,
];

/// One item between GRANT and ON or TO: a privilege, or a name that is a role or a dynamic privilege.
enum Granted {
    Privilege(Privilege),
    Name(UserName),
}

impl Parser<'_> {
    pub(super) fn grant(&mut self) -> SqlResult<Statement> {
        self.advance();
        if self.at_words(K::Proxy, K::On) {
            self.at += 2;
            let user = self.user()?;
            self.expect(K::To)?;
            let to = self.list(Self::user)?;
            return Ok(Statement::Grant(Box::new(Grant::Proxy {
                user,
                to,
                grant_option: self.with_grant_option()?,
            })));
        }
        let granted = self.granted_list()?;
        if !self.accept(K::On) {
            self.expect(K::To)?;
            let roles = self.as_roles(granted)?;
            let to = self.list(Self::user)?;
            let admin_option = self.accept(K::With);
            if admin_option {
                self.expect_all(&[K::Admin, K::Option])?;
            }
            return Ok(Statement::Grant(Box::new(Grant::Roles { roles, to, admin_option })));
        }
        let privileges = as_privileges(granted);
        let (object, level) = self.privilege_object()?;
        self.expect(K::To)?;
        let to = self.list(Self::user)?;
        let grant_option = self.with_grant_option()?;
        let as_user = if self.accept(K::As) { Some(self.user()?) } else { None };
        let with_role = if as_user.is_some() && self.accept_all(&[K::With, K::Role]) {
            Some(self.role_choice(true)?)
        } else {
            None
        };
        Ok(Statement::Grant(Box::new(Grant::Privileges {
            privileges,
            object,
            level,
            to,
            grant_option,
            as_user,
            with_role,
        })))
    }

    fn with_grant_option(&mut self) -> SqlResult<bool> {
        let found = self.accept(K::With);
        if found {
            self.expect_all(&[K::Grant, K::Option])?;
        }
        Ok(found)
    }

    pub(super) fn revoke(&mut self) -> SqlResult<Statement> {
        self.advance();
        let if_exists = self.if_exists()?;
        let revoke = if self.at_words(K::Proxy, K::On) {
            self.at += 2;
            let user = self.user()?;
            let (from, ignore_unknown_user) = self.revoke_tail()?;
            Revoke::Proxy { user, from, if_exists, ignore_unknown_user }
        } else {
            let granted = self.granted_list()?;
            if self.accept(K::On) {
                let (object, level) = self.privilege_object()?;
                let (from, ignore_unknown_user) = self.revoke_tail()?;
                let privileges = as_privileges(granted);
                Revoke::Privileges { privileges, object, level, from, if_exists, ignore_unknown_user }
            } else if is_all_and_grant_option(&granted) {
                let (from, ignore_unknown_user) = self.revoke_tail()?;
                Revoke::All { from, if_exists, ignore_unknown_user }
            } else {
                let roles = self.as_roles(granted)?;
                let (from, ignore_unknown_user) = self.revoke_tail()?;
                Revoke::Roles { roles, from, if_exists, ignore_unknown_user }
            }
        };
        Ok(Statement::Revoke(Box::new(revoke)))
    }

    fn revoke_tail(&mut self) -> SqlResult<(Vec<UserName>, bool)> {
        self.expect(K::From)?;
        let from = self.list(Self::user)?;
        let ignore_unknown_user = self.accept(K::Ignore);
        if ignore_unknown_user {
            self.expect_all(&[K::Unknown, K::User])?;
        }
        Ok((from, ignore_unknown_user))
    }

    fn granted_list(&mut self) -> SqlResult<Vec<Granted>> {
        self.list(Self::granted)
    }

    fn granted(&mut self) -> SqlResult<Granted> {
        if self.accept(K::All) {
            self.accept(K::Privileges);
            return Ok(Granted::Privilege(Privilege { name: "ALL".to_owned(), columns: Vec::new() }));
        }
        if let Some(&(words, name)) = PHRASES.iter().find(|(words, _)| {
            words.iter().enumerate().all(|(ahead, &word)| self.kind_at(ahead) == T::Word(word))
        }) {
            self.at += words.len();
            return Ok(Granted::Privilege(Privilege { name: name.to_owned(), columns: Vec::new() }));
        }
        // A word such as EVENT is a role if a host follows it.
        let is_role = self.kind_at(1) == T::UserVariable;
        if !is_role && let Some(word) = self.accept_any(WORDS) {
            let columns = self.optional_names()?;
            return Ok(Granted::Privilege(Privilege { name: word.text().to_owned(), columns }));
        }
        let name = self.role()?;
        let UserName::Account { name: text, host: None } = &name else { return Ok(Granted::Name(name)) };
        if self.kind() != T::OpenParenthesis {
            return Ok(Granted::Name(name));
        }
        let privilege = Privilege { name: text.to_ascii_uppercase(), columns: self.optional_names()? };
        Ok(Granted::Privilege(privilege))
    }

    /// Words that are privileges cannot be granted as roles unless quoted.
    fn as_roles(&self, granted: Vec<Granted>) -> SqlResult<Vec<UserName>> {
        granted
            .into_iter()
            .map(|item| match item {
                Granted::Name(name) => Ok(name),
                Granted::Privilege(_) => self.fail(),
            })
            .collect()
    }

    /// Behind ON.
    fn privilege_object(&mut self) -> SqlResult<(ObjectKind, PrivilegeLevel)> {
        let is_kind = !matches!(self.kind_at(1), T::Point | T::Word(K::To | K::From));
        let word =
            if is_kind { self.accept_any(&[K::Table, K::Function, K::Procedure, K::Library]) } else { None };
        let object = match word {
            None | Some(K::Table) => ObjectKind::Table,
            Some(K::Function) => ObjectKind::Function,
            Some(K::Procedure) => ObjectKind::Procedure,
            Some(_) => ObjectKind::Library,
        };
        if self.accept_kind(T::Star) {
            if !self.accept_kind(T::Point) {
                return Ok((object, PrivilegeLevel::CurrentSchema));
            }
            self.expect_kind(T::Star)?;
            return Ok((object, PrivilegeLevel::Global));
        }
        if self.kind_at(1) == T::Point && self.kind_at(2) == T::Star {
            let schema = self.name()?;
            self.at += 2;
            return Ok((object, PrivilegeLevel::Schema(schema)));
        }
        Ok((object, PrivilegeLevel::Object(self.object_name()?)))
    }
}

fn as_privileges(granted: Vec<Granted>) -> Vec<Privilege> {
    granted
        .into_iter()
        .map(|item| match item {
            Granted::Privilege(privilege) => privilege,
            Granted::Name(UserName::Account { name, .. }) => {
                Privilege { name: name.to_ascii_uppercase(), columns: Vec::new() }
            }
            Granted::Name(UserName::CurrentUser) => {
                Privilege { name: "CURRENT_USER".to_owned(), columns: Vec::new() }
            }
        })
        .collect()
}

fn is_all_and_grant_option(granted: &[Granted]) -> bool {
    match granted {
        [Granted::Privilege(all), Granted::Privilege(option)] => {
            all.name == "ALL" && option.name == "GRANT OPTION"
        }
        _ => false,
    }
}
