//! The privileges that a plan needs, asked for at each execution. Main type: [`PrivilegesNeeded`].
//! A plan that is kept runs again and again under the same grants: it remembers the last ones that sufficed. Sessions share
//! plans, so what is remembered is one number that is read and written at once; no other memory depends on it.

use crate::catalog::{Extent, GrantsId, PrivilegeCheck, PrivilegeRequest, TableAccess};
use dictionary::TableName;
use errors::{SqlError, SqlResult, code, sql_error};
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a view asks for.
#[derive(Clone, Debug)]
pub struct ViewPrivileges {
    /// The view that the statement names: errors tell of no other.
    pub view: TableName,
    /// Whose rights count, user and host; None: those of who runs the statement.
    pub definer: Option<(String, String)>,
    /// What it asks for.
    pub requests: Vec<PrivilegeRequest>,
}

/// What the user of a plan must be allowed to do.
#[derive(Debug)]
pub struct PrivilegesNeeded {
    requests: Vec<PrivilegeRequest>,
    views: Vec<ViewPrivileges>,
    /// The grants that last sufficed; 0: none.
    sufficed: AtomicU64,
    /// The state of all accounts in which the definers' grants last sufficed; 0: none.
    definers_sufficed: AtomicU64,
}

impl PrivilegesNeeded {
    /// Nothing was asked yet.
    pub fn new(requests: Vec<PrivilegeRequest>) -> PrivilegesNeeded {
        PrivilegesNeeded::with_views(requests, Vec::new())
    }

    /// The same with what views ask for.
    pub fn with_views(requests: Vec<PrivilegeRequest>, views: Vec<ViewPrivileges>) -> PrivilegesNeeded {
        PrivilegesNeeded {
            requests,
            views,
            sufficed: AtomicU64::new(0),
            definers_sufficed: AtomicU64::new(0),
        }
    }

    /// The same for another who asks.
    pub fn copy(&self) -> PrivilegesNeeded {
        PrivilegesNeeded::with_views(self.requests.clone(), self.views.clone())
    }

    /// What it takes to lock the tables that views read, view by view: as the user, or else as whose rights the view goes by.
    pub fn to_lock_within_views(&self) -> Vec<[PrivilegesNeeded; 2]> {
        let lock = |request: &PrivilegeRequest| PrivilegeRequest {
            access: TableAccess::Lock,
            extent: Extent::Table,
            ..request.clone()
        };
        let asked_of = |asked: &ViewPrivileges, definer: &Option<(String, String)>| {
            let requests = asked.requests.iter().map(lock).collect();
            let asked = ViewPrivileges { view: asked.view.clone(), definer: definer.clone(), requests };
            PrivilegesNeeded::with_views(Vec::new(), vec![asked])
        };
        self.views.iter().map(|asked| [asked_of(asked, &None), asked_of(asked, &asked.definer)]).collect()
    }

    /// The first error of [`PrivilegeCheck::check`], if any.
    pub fn check(&self, grants: &dyn PrivilegeCheck) -> SqlResult<()> {
        self.check_user(grants)?;
        if self.views.is_empty() { Ok(()) } else { self.check_definers(grants) }
    }

    #[inline]
    fn check_user(&self, grants: &dyn PrivilegeCheck) -> SqlResult<()> {
        let id = grants.grants_id().map_or(0, |GrantsId(id)| NonZeroU64::get(id));
        if id != 0 && self.sufficed.load(Ordering::Relaxed) == id {
            return Ok(());
        }
        self.requests.iter().try_for_each(|request| grants.check(request))?;
        for asked in self.views.iter().filter(|asked| asked.definer.is_none()) {
            let checked = asked.requests.iter().try_for_each(|request| grants.check(request));
            checked.map_err(|error| error_of_view(error, &asked.view))?;
        }
        self.sufficed.store(id, Ordering::Relaxed);
        Ok(())
    }

    /// What definers may do, as long as no account changes.
    fn check_definers(&self, grants: &dyn PrivilegeCheck) -> SqlResult<()> {
        let id = grants.accounts_id().map_or(0, NonZeroU64::get);
        if id != 0 && self.definers_sufficed.load(Ordering::Relaxed) == id {
            return Ok(());
        }
        for asked in &self.views {
            let Some((user, host)) = &asked.definer else { continue };
            let definer = grants.of_definer(user, host)?;
            let checked = asked.requests.iter().try_for_each(|request| definer.check(request));
            checked.map_err(|error| error_of_view(error, &asked.view))?;
        }
        self.definers_sufficed.store(id, Ordering::Relaxed);
        Ok(())
    }
}

/// What is told of an error within a view: that the view is no good, and nothing of what it reads.
pub fn error_of_view(error: SqlError, view: &TableName) -> SqlError {
    const HIDDEN: &[&errors::ErrorCode] = &[
        &code::ER_BAD_FIELD_ERROR,
        &code::ER_NO_SUCH_TABLE,
        &code::ER_BAD_DB_ERROR,
        &code::ER_UNKNOWN_TABLE,
        &code::ER_SP_DOES_NOT_EXIST,
        &code::ER_PROCACCESS_DENIED_ERROR,
        &code::ER_DBACCESS_DENIED_ERROR,
        &code::ER_COLUMNACCESS_DENIED_ERROR,
        &code::ER_TABLEACCESS_DENIED_ERROR,
    ];
    match HIDDEN.iter().any(|hidden| error.is(hidden)) {
        true => sql_error!(ER_VIEW_INVALID, view.schema, view.table),
        false => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{Extent, FileAccess, TableAccess};
    use errors::sql_error;
    use std::cell::Cell;

    /// Allows or denies everything, and counts how often it is asked.
    struct Answer {
        id: Option<u64>,
        allows: bool,
        asked: Cell<usize>,
    }

    impl PrivilegeCheck for Answer {
        fn grants_id(&self) -> Option<GrantsId> {
            self.id.and_then(NonZeroU64::new).map(GrantsId)
        }

        fn check(&self, _request: &PrivilegeRequest) -> SqlResult<()> {
            self.asked.set(self.asked.get() + 1);
            if self.allows {
                Ok(())
            } else {
                Err(sql_error!(ER_TABLEACCESS_DENIED_ERROR, "SELECT", "u", "h", "t"))
            }
        }

        fn check_file(&self, _access: FileAccess) -> SqlResult<()> {
            Ok(())
        }

        fn sees_table(&self, _schema: &str, _table: &str) -> bool {
            true
        }

        fn reads_whole(&self, _schema: &str, _table: &str) -> bool {
            self.allows
        }
    }

    #[test]
    fn only_what_the_same_grants_allowed_is_not_asked_again() {
        let request = PrivilegeRequest {
            schema: "s".to_owned(),
            table: "t".to_owned(),
            access: TableAccess::Select,
            extent: Extent::Table,
        };
        let needed = PrivilegesNeeded::new(vec![request]);
        let ask = |id: Option<u64>, allows: bool| {
            let answer = Answer { id, allows, asked: Cell::new(0) };
            let passes = needed.check(&answer).is_ok();
            (passes, answer.asked.get())
        };
        assert_eq!(ask(Some(1), true), (true, 1));
        assert_eq!(ask(Some(1), true), (true, 0));
        // Others are asked about, and what they are denied is not remembered, neither for them nor against the first.
        assert_eq!(ask(Some(2), false), (false, 1));
        assert_eq!(ask(Some(2), false), (false, 1));
        assert_eq!(ask(Some(1), true), (true, 0));
        assert_eq!(ask(Some(3), true), (true, 1));
        assert_eq!(ask(Some(1), true), (true, 1));
        assert_eq!(ask(None, true), (true, 1));
        assert_eq!(ask(None, false), (false, 1));
    }

    /// Grants of a user who may do everything, and of definers who may not.
    struct Definers {
        accounts: u64,
        allowed: bool,
        asked: Cell<usize>,
    }

    /// One of these definers.
    struct Definer {
        allowed: bool,
    }

    impl PrivilegeCheck for Definer {
        fn check(&self, _request: &PrivilegeRequest) -> SqlResult<()> {
            match self.allowed {
                true => Ok(()),
                false => Err(sql_error!(ER_TABLEACCESS_DENIED_ERROR, "SELECT", "d", "h", "t")),
            }
        }

        fn check_file(&self, _access: FileAccess) -> SqlResult<()> {
            Ok(())
        }

        fn sees_table(&self, _schema: &str, _table: &str) -> bool {
            true
        }

        fn reads_whole(&self, _schema: &str, _table: &str) -> bool {
            self.allowed
        }
    }

    impl PrivilegeCheck for Definers {
        fn accounts_id(&self) -> Option<NonZeroU64> {
            NonZeroU64::new(self.accounts)
        }

        fn of_definer(&self, _user: &str, _host: &str) -> SqlResult<std::sync::Arc<dyn PrivilegeCheck>> {
            self.asked.set(self.asked.get() + 1);
            Ok(std::sync::Arc::new(Definer { allowed: self.allowed }))
        }

        fn check(&self, _request: &PrivilegeRequest) -> SqlResult<()> {
            Ok(())
        }

        fn check_file(&self, _access: FileAccess) -> SqlResult<()> {
            Ok(())
        }

        fn sees_table(&self, _schema: &str, _table: &str) -> bool {
            true
        }

        fn reads_whole(&self, _schema: &str, _table: &str) -> bool {
            true
        }
    }

    #[test]
    fn definers_are_asked_again_when_an_account_has_changed() {
        let request = PrivilegeRequest {
            schema: "s".to_owned(),
            table: "t".to_owned(),
            access: TableAccess::Select,
            extent: Extent::Table,
        };
        let view = ViewPrivileges {
            view: TableName { schema: "s".to_owned(), table: "v".to_owned() },
            definer: Some(("d".to_owned(), "h".to_owned())),
            requests: vec![request],
        };
        let needed = PrivilegesNeeded::with_views(Vec::new(), vec![view]);
        let ask = |accounts: u64, allowed: bool| {
            let grants = Definers { accounts, allowed, asked: Cell::new(0) };
            let outcome = needed.check(&grants).err().map(|error| error.message().to_owned());
            (outcome.is_none(), grants.asked.get(), outcome.is_some_and(|text| text.contains("'s.v'")))
        };
        assert_eq!(ask(1, true), (true, 1, false));
        assert_eq!(ask(1, true), (true, 0, false));
        // What is missing is told of the view, not of the table.
        assert_eq!(ask(2, false), (false, 1, true));
        assert_eq!(ask(2, false), (false, 1, true));
        assert_eq!(ask(3, true), (true, 1, false));
    }
}
