//! Partial revokes: schemas in which privileges that an account holds globally do not hold. Main type: [`Restrictions`].
//!
//! Rules. Only what is held globally is restricted. A privilege that was granted on the schema itself is not: GRANT on a
//! schema lifts the restriction instead of granting. Who is restricted passes that on with what he grants, and takes
//! nothing from those who are less restricted. With roles, a privilege is restricted if each of those that hold it
//! globally is, and none was granted it on the schema.

use crate::account::Account;
use crate::privilege::Privileges;
use std::collections::BTreeMap;

/// Restricted privileges by the schema's name, which is never a pattern.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restrictions(BTreeMap<String, Privileges>);

impl Restrictions {
    /// What those accounts together are restricted in: one and its roles.
    pub fn in_force(accounts: &[&Account]) -> Restrictions {
        let mut found = Restrictions::default();
        for schema in accounts.iter().flat_map(|account| account.restrictions.0.keys()) {
            let (mut global, mut free) = (Privileges::NONE, Privileges::NONE);
            for account in accounts {
                global = global.with(account.global);
                let granted = account.schemas.get(schema).copied().unwrap_or_default();
                free = free.with(account.global.without(account.restrictions.of(schema))).with(granted);
            }
            found.set(schema, global.without(free));
        }
        found
    }

    /// What does not hold in the schema.
    pub fn of(&self, schema: &str) -> Privileges {
        self.0.get(schema).copied().unwrap_or_default()
    }

    /// Whether nothing is restricted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Schemas, sorted, and what does not hold there.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Privileges)> {
        self.0.iter().map(|(schema, privileges)| (schema.as_str(), *privileges))
    }

    /// Restricts more privileges.
    pub fn restrict(&mut self, schema: &str, privileges: Privileges) {
        self.set(schema, self.of(schema).with(privileges));
    }

    /// GRANT on the schema: those of the privileges that were restricted hold again, and are returned.
    pub fn lift(&mut self, schema: &str, privileges: Privileges) -> Privileges {
        let restricted = self.of(schema);
        self.set(schema, restricted.without(privileges));
        Privileges(restricted.0 & privileges.0)
    }

    /// Privileges that the account does not hold globally any more.
    pub fn forget(&mut self, privileges: Privileges) {
        self.0.retain(|_, restricted| {
            *restricted = restricted.without(privileges);
            !restricted.is_empty()
        });
    }

    /// The first schema in which some of the privileges are restricted here and not there.
    pub fn first_looser<'s>(&'s self, other: &Restrictions, privileges: Privileges) -> Option<&'s str> {
        let looser =
            |(schema, bits): &(&str, Privileges)| bits.without(other.of(schema)).intersects(privileges);
        self.iter().find(looser).map(|(schema, _)| schema)
    }

    fn set(&mut self, schema: &str, privileges: Privileges) {
        if privileges.is_empty() {
            self.0.remove(schema);
        } else {
            self.0.insert(schema.to_owned(), privileges);
        }
    }
}

impl Account {
    /// GRANT of global privileges by who is restricted so in them. What the account held without restriction stays so.
    pub fn grant_global(&mut self, privileges: Privileges, grantor: &Restrictions) {
        let before = self.restrictions.clone();
        let held = self.global;
        self.restrictions.forget(privileges);
        for (schema, bits) in grantor.iter() {
            let could_be = before.of(schema).0 | !held.0;
            let granted = self.schemas.get(schema).copied().unwrap_or_default();
            let restricted = Privileges(bits.0 & privileges.0 & could_be).without(granted);
            self.restrictions.restrict(schema, restricted);
        }
        self.global = held.with(privileges);
    }

    /// REVOKE of global privileges.
    pub fn revoke_global(&mut self, privileges: Privileges) {
        self.global = self.global.without(privileges);
        self.restrictions.forget(privileges);
    }

    /// GRANT on a schema.
    pub fn grant_on_schema(&mut self, schema: &str, privileges: Privileges) {
        let lifted = self.restrictions.lift(schema, privileges);
        let held = self.schemas.entry(schema.to_owned()).or_default();
        *held = held.with(privileges.without(lifted));
    }

    /// REVOKE on a schema: what was granted on it, and with partial revokes what is held globally but not granted on it.
    /// False, and nothing is taken, if there is something in `privileges` that the account does not have. Of all
    /// privileges that are there it takes what is granted.
    pub fn revoke_on_schema(
        &mut self,
        schema: &str,
        privileges: Privileges,
        all: bool,
        partial: bool,
    ) -> bool {
        let granted = self.schemas.get(schema).copied();
        let held = granted.unwrap_or_default();
        let restricted =
            if partial { Privileges(privileges.0 & self.global.0).without(held) } else { Privileges::NONE };
        let missing = privileges.without(held).without(restricted);
        let suffices = missing.is_empty() || all && granted.is_some();
        if !suffices {
            return false;
        }
        if granted.is_some() {
            self.schemas.insert(schema.to_owned(), held.without(privileges));
        }
        self.restrictions.restrict(schema, restricted);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AccountName;

    const READ: Privileges = Privileges::SELECT;
    const BOTH: Privileges = Privileges::SELECT.with(Privileges::INSERT);

    fn account(global: Privileges, restricted: &[(&str, Privileges)]) -> Account {
        let mut account = Account::new(AccountName::new("u", "%"));
        account.global = global;
        restricted.iter().for_each(|(schema, bits)| account.restrictions.restrict(schema, *bits));
        account
    }

    fn shown(restrictions: &Restrictions) -> Vec<String> {
        restrictions.iter().map(|(schema, bits)| format!("{schema} {}", bits.list())).collect()
    }

    #[test]
    fn a_restricted_grantor_restricts_what_was_not_held() {
        let grantor = account(BOTH, &[("d", BOTH)]).restrictions;
        let mut grantee = account(Privileges::NONE, &[]);
        grantee.grant_global(BOTH, &grantor);
        assert_eq!(shown(&grantee.restrictions), ["d SELECT, INSERT"]);
        let mut grantee = account(READ, &[]);
        grantee.grant_global(BOTH, &grantor);
        assert_eq!(shown(&grantee.restrictions), ["d INSERT"]);
        let mut grantee = account(READ, &[("d", READ), ("e", READ)]);
        grantee.grant_global(READ, &grantor);
        assert_eq!(shown(&grantee.restrictions), ["d SELECT"]);
        grantee.grant_global(READ, &Restrictions::default());
        assert!(grantee.restrictions.is_empty());
    }

    #[test]
    fn schema_grants_lift_and_schema_revokes_restrict() {
        let mut account = account(BOTH, &[("d", READ)]);
        account.grant_on_schema("d", READ);
        assert!(account.restrictions.is_empty() && account.schemas.values().all(|bits| bits.is_empty()));
        account.grant_on_schema("d", READ.with(Privileges::DELETE));
        assert!(account.revoke_on_schema("d", READ, false, true));
        assert!(account.restrictions.is_empty());
        assert!(!account.revoke_on_schema("d", Privileges::DROP, false, true));
        assert!(account.revoke_on_schema("d", Privileges::ALL_SCHEMA, true, true));
        assert_eq!(shown(&account.restrictions), ["d SELECT, INSERT"]);
        assert!(!account.revoke_on_schema("e", READ, false, false));
    }

    #[test]
    fn one_source_without_restriction_frees_a_privilege() {
        let own = account(BOTH, &[("d", BOTH), ("e", READ)]);
        let mut role = account(READ, &[("e", READ)]);
        assert_eq!(shown(&Restrictions::in_force(&[&own, &role])), ["d INSERT", "e SELECT"]);
        role.schemas.insert("e".to_owned(), READ);
        assert_eq!(shown(&Restrictions::in_force(&[&own, &role])), ["d INSERT"]);
    }
}
