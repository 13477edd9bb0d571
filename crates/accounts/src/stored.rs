//! The text form in which an account is stored, one row of the hidden table each. Entry points: [`Account::encode`] and
//! [`Account::decode`].
//!
//! Lines of tab-separated fields, the first of which names the line. Unknown lines are an error, so that an older
//! server does not silently drop what a newer one granted or took.

use crate::account::{Account, AccountName, Expiry, comment_object};
use crate::history::OldPassword;
use crate::privilege::Privileges;
use crate::{AuthenticationPlugin, LockTime, TlsRequirement};

const FAILED_LOGIN_ATTEMPTS: &str = "failed_login_attempts";
const PASSWORD_LOCK_TIME: &str = "password_lock_time";

impl Account {
    /// The stored form.
    pub fn encode(&self) -> String {
        let mut out = String::new();
        let mut line = |fields: &[&str]| {
            let escaped: Vec<String> = fields.iter().map(|field| escape(field)).collect();
            out.push_str(&escaped.join("\t"));
            out.push('\n');
        };
        line(&["plugin", self.plugin.name()]);
        line(&[
            "password",
            &hex(&self.authentication_string),
            &hex(&self.retained),
            &self.password_changed.to_string(),
        ]);
        for old in &self.history.0 {
            line(&["old_password", &old.set_microseconds.to_string(), &hex(&old.stored)]);
        }
        match &self.tls {
            TlsRequirement::None => {}
            TlsRequirement::Tls => line(&["tls", "any"]),
            TlsRequirement::Certificate => line(&["tls", "certificate"]),
            TlsRequirement::Specified { cipher, issuer, subject } => {
                line(&["tls", "specified", cipher, issuer, subject])
            }
        }
        line(&["locked", flag(self.locked), flag(self.password_expired)]);
        match self.expiry {
            Expiry::Default => {}
            Expiry::Never => line(&["expiry", "never"]),
            Expiry::Days(days) => line(&["expiry", &days.to_string()]),
        }
        line(&["limits", &self.limits.map(|limit| limit.to_string()).join(",")]);
        self.attributes.iter().for_each(|(name, value)| line(&["attribute", name, value]));
        self.metadata.iter().for_each(|metadata| line(&["metadata", metadata]));
        if self.locking.attempts > 0 {
            line(&["attribute", FAILED_LOGIN_ATTEMPTS, &self.locking.attempts.to_string()]);
        }
        match self.locking.time {
            LockTime::Days(0) => {}
            LockTime::Days(days) => line(&["attribute", PASSWORD_LOCK_TIME, &days.to_string()]),
            LockTime::Unbounded => line(&["attribute", PASSWORD_LOCK_TIME, "UNBOUNDED"]),
        }
        line(&["global", &self.global.0.to_string()]);
        self.restrictions
            .iter()
            .for_each(|(schema, bits)| line(&["restriction", schema, &bits.0.to_string()]));
        self.dynamic.iter().for_each(|(name, grant)| line(&["dynamic", name, flag(*grant)]));
        self.schemas.iter().for_each(|(schema, bits)| line(&["schema", schema, &bits.0.to_string()]));
        for ((schema, table), grant) in &self.tables {
            line(&["table", schema, table, &grant.table.0.to_string()]);
            for (column, bits) in &grant.columns {
                line(&["column", schema, table, column, &bits.0.to_string()]);
            }
        }
        self.roles.iter().for_each(|(role, admin)| line(&["role", &role.user, &role.host, flag(*admin)]));
        self.default_roles.iter().for_each(|role| line(&["default_role", &role.user, &role.host]));
        out
    }

    /// Reads the stored form. None if it does not make sense.
    pub fn decode(name: AccountName, text: &str) -> Option<Account> {
        let mut account = Account::new(name);
        for line in text.lines() {
            let fields: Vec<String> = line.split('\t').map(unescape).collect();
            let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
            account.decode_line(&fields)?;
        }
        Some(account)
    }

    fn decode_line(&mut self, fields: &[&str]) -> Option<()> {
        match fields {
            ["plugin", name] => self.plugin = AuthenticationPlugin::from_name(name)?,
            ["password", current, retained, changed] => {
                self.authentication_string = from_hex(current)?;
                self.retained = from_hex(retained)?;
                self.password_changed = changed.parse().ok()?;
            }
            ["old_password", set, stored] => self
                .history
                .0
                .push(OldPassword { set_microseconds: set.parse().ok()?, stored: from_hex(stored)? }),
            ["tls", "any"] => self.tls = TlsRequirement::Tls,
            ["tls", "certificate"] => self.tls = TlsRequirement::Certificate,
            ["tls", "specified", cipher, issuer, subject] => {
                self.tls = TlsRequirement::Specified {
                    cipher: (*cipher).to_owned(),
                    issuer: (*issuer).to_owned(),
                    subject: (*subject).to_owned(),
                }
            }
            ["locked", locked, expired] => {
                self.locked = *locked == "1";
                self.password_expired = *expired == "1";
            }
            ["expiry", "never"] => self.expiry = Expiry::Never,
            ["expiry", days] => self.expiry = Expiry::Days(days.parse().ok()?),
            ["limits", limits] => {
                for (place, limit) in self.limits.iter_mut().zip(limits.split(',')) {
                    *place = limit.parse().ok()?;
                }
            }
            ["attribute", FAILED_LOGIN_ATTEMPTS, attempts] => {
                self.locking.attempts = stored_limit(attempts)?;
            }
            ["attribute", PASSWORD_LOCK_TIME, "UNBOUNDED"] => self.locking.time = LockTime::Unbounded,
            ["attribute", PASSWORD_LOCK_TIME, days] => {
                self.locking.time = LockTime::Days(stored_limit(days)?)
            }
            ["metadata", text] => self.metadata = Some((*text).to_owned()),
            // Written before ATTRIBUTE was kept.
            ["attribute", "comment", comment] => self.metadata = Some(comment_object(comment)),
            ["attribute", name, value] => {
                self.attributes.insert((*name).to_owned(), (*value).to_owned());
            }
            _ => return self.decode_grant(fields),
        }
        Some(())
    }

    fn decode_grant(&mut self, fields: &[&str]) -> Option<()> {
        let bits = |text: &str| text.parse().ok().map(Privileges);
        match fields {
            ["global", text] => self.global = bits(text)?,
            ["restriction", schema, text] => self.restrictions.restrict(schema, bits(text)?),
            ["dynamic", name, grant] => {
                self.dynamic.insert((*name).to_owned(), *grant == "1");
            }
            ["schema", schema, text] => {
                self.schemas.insert((*schema).to_owned(), bits(text)?);
            }
            ["table", schema, table, text] => self.table_grant(schema, table).table = bits(text)?,
            ["column", schema, table, column, text] => {
                self.table_grant(schema, table).columns.insert((*column).to_owned(), bits(text)?);
            }
            ["role", user, host, admin] => {
                self.roles.insert(AccountName::new(user, host), *admin == "1");
            }
            ["default_role", user, host] => self.default_roles.push(AccountName::new(user, host)),
            _ => return None,
        }
        Some(())
    }
}

/// What was stored before it was enforced may be larger than what is allowed now.
fn stored_limit(text: &str) -> Option<u16> {
    let number: u64 = text.parse().ok()?;
    Some(number.min(u64::from(parser::ast::PASSWORD_LOCKING_MAX)) as u16)
}

fn flag(on: bool) -> &'static str {
    if on { "1" } else { "0" }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        text.chars().map(|digit| digit.to_digit(16).map(|value| value as u8)).collect();
    Some(digits?.chunks(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit)).collect())
}

fn escape(field: &str) -> String {
    field.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n")
}

fn unescape(field: &str) -> String {
    let mut out = String::with_capacity(field.len());
    let mut characters = field.chars();
    while let Some(character) = characters.next() {
        match (character, character == '\\') {
            (_, true) => match characters.next() {
                Some('t') => out.push('\t'),
                Some('n') => out.push('\n'),
                Some(other) => out.push(other),
                None => {}
            },
            (plain, false) => out.push(plain),
        }
    }
    out
}
#[cfg(test)]
mod tests {
    use super::*;
    use crate::PasswordLocking;

    #[test]
    fn stored_form_comes_back() {
        let mut account = Account::new(AccountName::new("a\tb", "LOCALHOST"));
        account.authentication_string = b"$A$005$\x01\xff\n".to_vec();
        account.tls = TlsRequirement::Specified {
            cipher: String::new(),
            issuer: "/CN=a\\b".to_owned(),
            subject: String::new(),
        };
        account.expiry = Expiry::Days(30);
        for set_microseconds in [1_600_000_000_000_007, -1] {
            account.history.0.push(OldPassword { set_microseconds, stored: b"$A$\t\xff\n".to_vec() });
        }
        account.limits[3] = 7;
        account.locking = PasswordLocking::new(3, LockTime::Unbounded);
        account.attributes.insert("password_reuse".to_owned(), "tab\there\nand \\ there".to_owned());
        account.metadata = Some("{\"a\": \"b\\\\n\"}".to_owned());
        account.global = Privileges::SELECT.with(Privileges::GRANT);
        account.restrictions.restrict("m%\t", Privileges::SELECT.with(Privileges::GRANT));
        account.dynamic.insert("BACKUP_ADMIN".to_owned(), true);
        account.schemas.insert("s%".to_owned(), Privileges::ALL_SCHEMA);
        account.table_grant("s", "t").columns.insert("a".to_owned(), Privileges::UPDATE);
        account.roles.insert(AccountName::new("r", "%"), true);
        account.default_roles.push(AccountName::new("r", "%"));
        let decoded = Account::decode(account.name.clone(), &account.encode());
        assert_eq!(decoded, Some(account.clone()));
        assert_eq!(Account::decode(account.name.clone(), "nonsense\t1\n"), None);
        let old = Account::decode(account.name, "attribute\tcomment\ta \"b\"\n").unwrap();
        assert_eq!(old.metadata.as_deref(), Some("{\"comment\": \"a \\\"b\\\"\"}"));
    }
}
