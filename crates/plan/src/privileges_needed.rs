//! The privileges that a plan needs, asked for at each execution. Main type: [`PrivilegesNeeded`].
//! A plan that is kept runs again and again under the same grants: it remembers the last ones that sufficed. Sessions share
//! plans, so what is remembered is one number that is read and written at once; no other memory depends on it.

use crate::catalog::{GrantsId, PrivilegeCheck, PrivilegeRequest};
use errors::SqlResult;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};

/// What the user of a plan must be allowed to do.
#[derive(Debug)]
pub struct PrivilegesNeeded {
    requests: Vec<PrivilegeRequest>,
    /// The grants that last sufficed; 0: none.
    sufficed: AtomicU64,
}

impl PrivilegesNeeded {
    /// Nothing was asked yet.
    pub fn new(requests: Vec<PrivilegeRequest>) -> PrivilegesNeeded {
        PrivilegesNeeded { requests, sufficed: AtomicU64::new(0) }
    }

    /// The first error of [`PrivilegeCheck::check`], if any.
    pub fn check(&self, grants: &dyn PrivilegeCheck) -> SqlResult<()> {
        let id = grants.grants_id().map_or(0, |GrantsId(id)| NonZeroU64::get(id));
        if id != 0 && self.sufficed.load(Ordering::Relaxed) == id {
            return Ok(());
        }
        self.requests.iter().try_for_each(|request| grants.check(request))?;
        self.sufficed.store(id, Ordering::Relaxed);
        Ok(())
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
}
