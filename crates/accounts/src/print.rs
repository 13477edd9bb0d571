//! SHOW GRANTS and SHOW CREATE USER text. Main functions: [`grants`], [`create_user`].

use crate::account::{Account, Expiry, LIMITS, TableGrant};
use crate::privilege::{DYNAMIC, Privileges};
use crate::{AccountName, LockTime, TlsRequirement};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use values::print::quoted;

/// Roles that are shown with those that the account was granted.
#[derive(Default)]
pub struct FurtherRoles<'a> {
    /// Those of mandatory_roles.
    pub mandatory: BTreeSet<&'a AccountName>,
    /// Those that its active roles have WITH ADMIN OPTION.
    pub administered: BTreeSet<&'a AccountName>,
}

/// The statements that would give an account what it has.
pub fn grants<'a>(account: &'a Account, further: FurtherRoles<'a>) -> Vec<String> {
    let to = account.name.quoted();
    let mut lines = vec![format!(
        "GRANT {} ON *.* TO {to}{}",
        list(account.global, None),
        option(account.global.contains(Privileges::GRANT))
    )];
    for with_grant in [false, true] {
        let names: Vec<&str> = account
            .dynamic
            .iter()
            .filter(|(_, grant)| **grant == with_grant)
            .map(|(name, _)| name.as_str())
            .collect();
        if !names.is_empty() {
            lines.push(format!("GRANT {} ON *.* TO {to}{}", names.join(","), option(with_grant)));
        }
    }
    lines.extend(schema_grants(account));
    for (schema, privileges) in account.restrictions.iter() {
        lines.push(format!("REVOKE {} ON {}.* FROM {to}", restricted(privileges), quoted(schema)));
    }
    for ((schema, table), grant) in &account.tables {
        let object = format!("{}.{}", quoted(schema), quoted(table));
        let with_grant = option(grant.table.contains(Privileges::GRANT));
        lines.push(format!("GRANT {} ON {object} TO {to}{with_grant}", table_list(grant)));
    }
    let FurtherRoles { mut mandatory, mut administered } = further;
    for (role, admin) in &account.roles {
        if *admin { &mut administered } else { &mut mandatory }.insert(role);
    }
    for (roles, admin) in [(mandatory, ""), (administered, " WITH ADMIN OPTION")] {
        let roles: Vec<String> = roles.into_iter().map(AccountName::quoted).collect();
        if !roles.is_empty() {
            lines.push(format!("GRANT {} TO {to}{admin}", roles.join(",")));
        }
    }
    lines
}

/// Lines of schemas: those whose names are no patterns first.
fn schema_grants(account: &Account) -> Vec<String> {
    let line = |(schema, privileges): (&String, &Privileges)| {
        let grant = option(privileges.contains(Privileges::GRANT));
        let (list, name) = (list(*privileges, Some(Privileges::ALL_SCHEMA)), quoted(schema));
        format!("GRANT {list} ON {name}.* TO {}{grant}", account.name.quoted())
    };
    let (patterns, names): (Vec<_>, Vec<_>) =
        account.schemas.iter().partition(|(schema, _)| schema.contains(['%', '_']));
    names.into_iter().chain(patterns).map(line).collect()
}

fn restricted(privileges: Privileges) -> String {
    let option = privileges.contains(Privileges::GRANT).then_some("GRANT OPTION");
    privileges.names().chain(option).collect::<Vec<_>>().join(", ")
}

fn option(grant: bool) -> &'static str {
    if grant { " WITH GRANT OPTION" } else { "" }
}

/// Names of the privileges; `all` is what counts as ALL PRIVILEGES at this level.
fn list(privileges: Privileges, all: Option<Privileges>) -> String {
    let plain = privileges.without(Privileges::GRANT);
    if plain.is_empty() {
        return "USAGE".to_owned();
    }
    if all.is_some_and(|all| plain.contains(all)) {
        return "ALL PRIVILEGES".to_owned();
    }
    plain.names().collect::<Vec<_>>().join(", ")
}

fn table_list(grant: &TableGrant) -> String {
    if grant.columns.is_empty() {
        return list(grant.table, Some(Privileges::ALL_TABLE));
    }
    let parts: Vec<String> = super::privilege::NAMED
        .iter()
        .filter_map(|(bit, name)| {
            if grant.table.contains(*bit) {
                return Some((*name).to_owned());
            }
            let columns: Vec<String> = grant
                .columns
                .iter()
                .filter(|(_, bits)| bits.contains(*bit))
                .map(|(column, _)| quoted(column))
                .collect();
            (!columns.is_empty()).then(|| format!("{name} ({})", columns.join(", ")))
        })
        .collect();
    if parts.is_empty() { "USAGE".to_owned() } else { parts.join(", ") }
}

/// All dynamic privileges as SHOW PRIVILEGES lists them.
pub fn dynamic_names() -> &'static [&'static str] {
    DYNAMIC
}

/// The statement that would make the account.
pub fn create_user(account: &Account) -> String {
    let mut out =
        format!("CREATE USER {} IDENTIFIED WITH '{}'", account.name.quoted(), account.plugin.name());
    if !account.authentication_string.is_empty() {
        let _ = write!(out, " AS '{}'", escaped(&String::from_utf8_lossy(&account.authentication_string)));
    }
    if !account.default_roles.is_empty() {
        let roles: BTreeSet<&AccountName> = account.default_roles.iter().collect();
        let roles: Vec<String> = roles.into_iter().map(AccountName::quoted).collect();
        let _ = write!(out, " DEFAULT ROLE {}", roles.join(","));
    }
    let _ = write!(out, " REQUIRE {}", requirement(&account.tls));
    let limits: Vec<String> = LIMITS
        .iter()
        .zip(account.limits)
        .filter(|(_, limit)| *limit > 0)
        .map(|(name, limit)| format!("{name} {limit}"))
        .collect();
    if !limits.is_empty() {
        let _ = write!(out, " WITH {}", limits.join(" "));
    }
    let expiry = match (account.password_expired, account.expiry) {
        (true, _) => String::new(),
        (_, Expiry::Default) => " DEFAULT".to_owned(),
        (_, Expiry::Never) => " NEVER".to_owned(),
        (_, Expiry::Days(days)) => format!(" INTERVAL {days} DAY"),
    };
    let locked = if account.locked { "LOCK" } else { "UNLOCK" };
    let attribute = |name: &str| account.attributes.get(name).map_or("DEFAULT", String::as_str);
    let _ = write!(
        out,
        " PASSWORD EXPIRE{expiry} ACCOUNT {locked} PASSWORD HISTORY {} PASSWORD REUSE INTERVAL {} PASSWORD REQUIRE CURRENT {}",
        attribute("password_history"),
        attribute("password_reuse"),
        attribute("require_current"),
    );
    if account.locking.attempts > 0 {
        let _ = write!(out, " FAILED_LOGIN_ATTEMPTS {}", account.locking.attempts);
    }
    match account.locking.time {
        LockTime::Days(0) => {}
        LockTime::Days(days) => drop(write!(out, " PASSWORD_LOCK_TIME {days}")),
        LockTime::Unbounded => out.push_str(" PASSWORD_LOCK_TIME UNBOUNDED"),
    }
    if let Some(metadata) = &account.metadata {
        let _ = write!(out, " ATTRIBUTE '{}'", escaped(metadata));
    }
    out
}

fn requirement(tls: &TlsRequirement) -> String {
    match tls {
        TlsRequirement::None => "NONE".to_owned(),
        TlsRequirement::Tls => "SSL".to_owned(),
        TlsRequirement::Certificate => "X509".to_owned(),
        TlsRequirement::Specified { cipher, issuer, subject } => {
            let named = [("SUBJECT", subject), ("ISSUER", issuer), ("CIPHER", cipher)];
            let parts: Vec<String> = named
                .iter()
                .filter(|(_, value)| !value.is_empty())
                .map(|(name, value)| format!("{name} '{}'", escaped(value)))
                .collect();
            parts.join(" ")
        }
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\'', "\\'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grants_read_as_mysql_prints_them() {
        let mut account = Account::new(AccountName::new("a", "localhost"));
        assert_eq!(grants(&account, FurtherRoles::default()), ["GRANT USAGE ON *.* TO `a`@`localhost`"]);
        account.global = Privileges::PROCESS.with(Privileges::SUPER);
        account.dynamic.insert("BACKUP_ADMIN".to_owned(), true);
        account.dynamic.insert("CONNECTION_ADMIN".to_owned(), false);
        account.schemas.insert("s".to_owned(), Privileges::ALL_SCHEMA.with(Privileges::GRANT));
        let grant = account.table_grant("s", "t");
        grant.table = Privileges::SELECT;
        grant.columns.insert("a".to_owned(), Privileges::INSERT.with(Privileges::UPDATE));
        grant.columns.insert("b".to_owned(), Privileges::UPDATE);
        account.roles.insert(AccountName::new("r", "%"), false);
        account.roles.insert(AccountName::new("q", "localhost"), true);
        let expected = [
            "GRANT PROCESS, SUPER ON *.* TO `a`@`localhost`",
            "GRANT CONNECTION_ADMIN ON *.* TO `a`@`localhost`",
            "GRANT BACKUP_ADMIN ON *.* TO `a`@`localhost` WITH GRANT OPTION",
            "GRANT ALL PRIVILEGES ON `s`.* TO `a`@`localhost` WITH GRANT OPTION",
            "GRANT SELECT, INSERT (`a`), UPDATE (`a`, `b`) ON `s`.`t` TO `a`@`localhost`",
            "GRANT `r`@`%` TO `a`@`localhost`",
            "GRANT `q`@`localhost` TO `a`@`localhost` WITH ADMIN OPTION",
        ];
        assert_eq!(grants(&account, FurtherRoles::default()), expected);
    }

    #[test]
    fn create_user_reads_as_mysql_prints_it() {
        let account = Account::new(AccountName::new("root", "localhost"));
        assert_eq!(
            create_user(&account),
            "CREATE USER `root`@`localhost` IDENTIFIED WITH 'caching_sha2_password' REQUIRE NONE PASSWORD EXPIRE \
             DEFAULT ACCOUNT UNLOCK PASSWORD HISTORY DEFAULT PASSWORD REUSE INTERVAL DEFAULT PASSWORD REQUIRE \
             CURRENT DEFAULT"
        );
    }
}
