//! mandatory_roles and partial_revokes: global variables that are part of what accounts may do, so that their values are
//! published with the accounts. Entry points: [`Instance::check_account_rule`], [`Instance::set_account_rule`].

use crate::instance::Instance;
use accounts::table::{AccountRules, AccountTable};
use accounts::{AccountName, SYSTEM_USER};
use errors::{SqlResult, sql_error};
use std::sync::Arc;
use variables::{SystemValue, VariableId, id};

/// Whether the variable is one of those.
pub fn is_account_rule(id: VariableId) -> bool {
    matches!(id, id::MANDATORY_ROLES | id::PARTIAL_REVOKES)
}

impl Instance {
    /// Why such a variable cannot have that value. Errors: 1231 for what names no roles, 3880 for roles with SYSTEM_USER, 3896
    /// while there are partial revokes.
    pub fn check_account_rule(&self, id: VariableId, value: &SystemValue) -> SqlResult<()> {
        changed_rules(&self.accounts(), id, value).map(drop)
    }

    /// SET GLOBAL of such a variable: it holds from each session's next statement on. Errors as above: accounts may have
    /// changed since the value was checked.
    pub fn set_account_rule(&self, id: VariableId, value: SystemValue) -> SqlResult<()> {
        let _writer = self.accounts_writer();
        let mut table = (*self.accounts()).clone();
        table.set_rules(changed_rules(&table, id, &value)?);
        self.set_global(id, value);
        self.publish_accounts(table);
        Ok(())
    }

    /// What the variables say at start. Partial revokes that there are turn theirs on, or they would give back what was
    /// revoked; roles that cannot be mandatory are left out.
    pub(crate) fn settle_account_rules(&self, table: &mut AccountTable) {
        if table.has_restrictions() && !self.global_value(id::PARTIAL_REVOKES).is_on() {
            self.set_global(id::PARTIAL_REVOKES, SystemValue::Integer(1));
            self.keep_message(
                "[Warning] At least one partial revoke exists on a database: partial_revokes is turned on."
                    .to_owned(),
            );
        }
        for id in [id::PARTIAL_REVOKES, id::MANDATORY_ROLES] {
            match changed_rules(table, id, &self.global_value(id)) {
                Ok(rules) => table.set_rules(rules),
                Err(error) => {
                    self.set_global(id, SystemValue::default_of(id.variable()));
                    self.keep_message(format!("[Warning] {}; the option is ignored", error.message()));
                }
            }
        }
    }
}

/// The rules once the variable has that value.
fn changed_rules(table: &AccountTable, id: VariableId, value: &SystemValue) -> SqlResult<AccountRules> {
    let mut rules = table.rules().clone();
    if id == id::PARTIAL_REVOKES {
        rules.partial_revokes = value.is_on();
        if !rules.partial_revokes && table.has_restrictions() {
            return Err(sql_error!(ER_PARTIAL_REVOKES_EXIST));
        }
        return Ok(rules);
    }
    let text = value.text(id.variable());
    let Some(roles) = role_list(&text) else {
        return Err(sql_error!(ER_WRONG_VALUE_FOR_VAR, id.variable().name, text));
    };
    if let Some(role) = roles.iter().find(|role| table.holds_dynamic(role, SYSTEM_USER)) {
        let AccountName { user, host } = role;
        return Err(sql_error!(
            ER_DA_AUTH_ID_WITH_SYSTEM_USER_PRIV_IN_MANDATORY_ROLES,
            user,
            host,
            SYSTEM_USER
        ));
    }
    rules.mandatory_roles = Arc::from(roles);
    Ok(rules)
}

/// The roles of a list such as "r1, `r 2`@'%'". None where a name is missing. What stands behind a quoted name makes it the
/// name of no role.
fn role_list(text: &str) -> Option<Vec<AccountName>> {
    let (mut rest, mut roles) = (text, Vec::new());
    if text.is_empty() {
        return Some(roles);
    }
    loop {
        let (user, behind) = role_part(rest, &['@', ',']);
        let (host, behind) = match behind.strip_prefix('@') {
            Some(behind) => role_part(behind, &[',']),
            None => (String::new(), behind),
        };
        if user.is_empty() {
            return None;
        }
        roles.push(AccountName::new(&user, if host.is_empty() { "%" } else { &host }));
        match behind.strip_prefix(',') {
            Some(behind) => rest = behind,
            None => return Some(roles),
        }
    }
}

/// A name, quoted or not, up to one of the ends; and what begins with that end.
fn role_part<'t>(text: &'t str, ends: &[char]) -> (String, &'t str) {
    let text = text.trim_start();
    let quote = text.chars().next().filter(|first| matches!(first, '\'' | '"' | '`'));
    let quoted = quote.and_then(|quote| Some((quote, text[1..].find(quote)? + 2)));
    let from = quoted.map_or(0, |(_, length)| length);
    let end = text[from..].find(ends).map_or(text.len(), |end| from + end);
    let name = text[..end].trim_end();
    match quoted {
        Some((quote, length)) if length == name.len() => (name.trim_matches(quote).to_owned(), &text[end..]),
        _ => (name.to_owned(), &text[end..]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Option<Vec<String>> {
        role_list(text).map(|roles| roles.iter().map(AccountName::to_string).collect())
    }

    #[test]
    fn role_lists_are_read_as_mysql_reads_them() {
        assert_eq!(shown("").unwrap(), Vec::<String>::new());
        assert_eq!(shown(" r1 , r2 @ '%' ,`a,b`@\"H\"").unwrap(), ["r1@%", "r2@%", "a,b@h"]);
        assert_eq!(shown("r1@, m-1,a b").unwrap(), ["r1@%", "m-1@%", "a b@%"]);
        assert_eq!(shown("`r1`x,r2").unwrap(), ["`r1`x@%", "r2@%"]);
        for wrong in [" ", ",", "r1,", ",r1", "r1, ,r2", "''", "''@h", "@r2"] {
            assert_eq!(shown(wrong), None, "{wrong}");
        }
        assert_eq!(shown("'").unwrap(), ["'@%"]);
    }
}
