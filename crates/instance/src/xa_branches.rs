//! Branches of XA transactions: who runs which, and the prepared ones, which wait for anybody to commit them or to roll them back.
//! Main types: [`XaBranches`], [`LeftBranch`]. Thread rules: any thread; one mutex for the names, one for the owners.

use crate::instance::Instance;
use crate::registry::CONNECTION_IDS;
use catalog::{LeftLocks, LockKey};
use dictionary::TableName;
use engine::{KillFlag, RecoveredTransaction, Transaction};
use errors::{SqlResult, sql_error};
use parser::ast::Xid;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::Duration;
use stdx::ids::TransactionId;
use stdx::sync::lock;
use txn::Wake;

/// All branches of the server.
#[derive(Default)]
pub struct XaBranches {
    by_xid: Mutex<BTreeMap<Xid, Branch>>,
    /// A decision has ended.
    decided: Condvar,
    owners: Arc<Mutex<Owners>>,
}

/// Ids of [`BranchOwner`]s: those from [`CONNECTION_IDS`] on, which no connection has.
#[derive(Default)]
struct Owners {
    last: u32,
    used: BTreeSet<u32>,
}

/// In whose name a branch locks names, as a connection does: an id that nobody else has while this lives.
pub struct BranchOwner {
    id: u32,
    owners: Arc<Mutex<Owners>>,
}

impl BranchOwner {
    /// The id.
    pub fn id(&self) -> u32 {
        self.id
    }
}

impl Drop for BranchOwner {
    fn drop(&mut self) {
        lock(&self.owners).used.remove(&self.id);
    }
}

enum Branch {
    /// A session runs it.
    Running,
    Prepared {
        /// Its session alone may end it, for as long as it is there (xa_detach_on_prepare=OFF).
        is_attached: bool,
        /// None while somebody decides.
        branch: Option<LeftBranch>,
    },
}

/// A prepared branch that has left its session.
pub struct LeftBranch {
    /// None if it has written nothing: it has ended already.
    pub transaction: Option<Transaction>,
    /// What it holds by name.
    pub locks: LeftLocks,
    /// In whose name.
    pub owner: BranchOwner,
    /// When its transaction began, in microseconds of the monotonic clock; None for one that the start has found.
    pub began_microseconds: Option<u64>,
}

impl XaBranches {
    /// A session begins a branch; false if there is one of that name, whatever its format.
    pub fn begin(&self, xid: &Xid) -> bool {
        let mut by_xid = lock(&self.by_xid);
        let of_format = |format| Xid { format, ..xid.clone() };
        let is_new = by_xid.range(of_format(0)..=of_format(u64::MAX)).next().is_none();
        if is_new {
            by_xid.insert(xid.clone(), Branch::Running);
        }
        is_new
    }

    /// A branch is prepared.
    pub fn leave(&self, xid: &Xid, branch: LeftBranch, is_attached: bool) {
        lock(&self.by_xid).insert(xid.clone(), Branch::Prepared { is_attached, branch: Some(branch) });
        self.decided.notify_all();
    }

    /// An owner for what a branch locks.
    pub fn new_owner(&self) -> BranchOwner {
        let mut owners = lock(&self.owners);
        loop {
            owners.last = (owners.last + 1) % CONNECTION_IDS;
            let id = CONNECTION_IDS + owners.last;
            if owners.used.insert(id) {
                return BranchOwner { id, owners: Arc::clone(&self.owners) };
            }
        }
    }

    /// The session of a prepared branch ends.
    pub fn detach(&self, xid: &Xid) {
        if let Some(Branch::Prepared { is_attached, .. }) = lock(&self.by_xid).get_mut(xid) {
            *is_attached = false;
        }
    }

    /// Takes a prepared branch, to decide: `by_session` by its own session. While somebody else decides, waits for the outcome, which may
    /// be that the branch stays. It is known until [`XaBranches::end`]. Errors: 1397 if there is none that the caller may have, 1205, 1317.
    pub fn take(
        self: &Arc<Self>,
        xid: &Xid,
        by_session: bool,
        kill: &KillFlag,
        timeout: Duration,
    ) -> SqlResult<LeftBranch> {
        let is_under_decision = |by_xid: &mut BTreeMap<Xid, Branch>| {
            let found = by_xid.get(xid);
            matches!(found, Some(Branch::Prepared { is_attached, branch: None }) if *is_attached == by_session)
        };
        let mut by_xid = lock(&self.by_xid);
        if is_under_decision(&mut by_xid) {
            let waker: Weak<dyn Wake> = Arc::downgrade(&(Arc::clone(self) as Arc<dyn Wake>));
            kill.set_sleeper(Some(waker));
            by_xid = env::blocking::region(|| {
                let waits = |by_xid: &mut _| is_under_decision(by_xid) && !kill.is_raised();
                let waited = self.decided.wait_timeout_while(by_xid, timeout, waits);
                waited.unwrap_or_else(PoisonError::into_inner).0
            });
            kill.set_sleeper(None);
            if is_under_decision(&mut by_xid) {
                let is_killed = kill.is_raised();
                return Err(if is_killed {
                    sql_error!(ER_QUERY_INTERRUPTED)
                } else {
                    sql_error!(ER_LOCK_WAIT_TIMEOUT)
                });
            }
        }
        let taken = match by_xid.get_mut(xid) {
            Some(Branch::Prepared { is_attached, branch }) if *is_attached == by_session => branch.take(),
            _ => None,
        };
        taken.ok_or_else(|| sql_error!(ER_XAER_NOTA))
    }

    /// A branch has ended.
    pub fn end(&self, xid: &Xid) {
        lock(&self.by_xid).remove(xid);
        self.decided.notify_all();
    }

    /// Transactions of prepared branches, and when each began.
    pub fn transactions(&self) -> Vec<(TransactionId, Option<u64>)> {
        let by_xid = lock(&self.by_xid);
        let left = by_xid.values().filter_map(|branch| match branch {
            Branch::Prepared { branch, .. } => branch.as_ref(),
            Branch::Running => None,
        });
        left.filter_map(|left| Some((left.transaction.as_ref()?.id()?, left.began_microseconds))).collect()
    }

    /// The prepared ones, by name.
    pub fn prepared(&self) -> Vec<Xid> {
        let by_xid = lock(&self.by_xid);
        let prepared = by_xid.iter().filter(|(_, branch)| matches!(branch, Branch::Prepared { .. }));
        prepared.map(|(xid, _)| xid.clone()).collect()
    }
}

impl fmt::Debug for XaBranches {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("XaBranches").finish_non_exhaustive()
    }
}

impl Wake for XaBranches {
    fn wake(&self) {
        // Whoever looked before the kill is waiting by now.
        drop(lock(&self.by_xid));
        self.decided.notify_all();
    }
}

/// The name under which the engine prepares a branch: its format, the length of its global part, and both parts.
pub fn engine_name(xid: &Xid) -> Vec<u8> {
    [&xid.format.to_le_bytes()[..], &[xid.global.len() as u8], &xid.global, &xid.branch].concat()
}

fn of_engine_name(name: &[u8]) -> Option<Xid> {
    let (format, rest) = name.split_first_chunk()?;
    let (length, rest) = rest.split_first()?;
    let (global, branch) = rest.split_at_checked(usize::from(*length))?;
    Some(Xid { global: global.to_vec(), branch: branch.to_vec(), format: u64::from_le_bytes(*format) })
}

impl Instance {
    /// What the start has found prepared, with locks on the tables that it has changed. Nobody is connected yet.
    pub(crate) fn recover_branches(&self) {
        for RecoveredTransaction { name, transaction, tables } in self.engine().recovered() {
            // Whoever else has prepared it ends it.
            let Some(xid) = of_engine_name(&name) else { continue };
            let key = |table: TableName| LockKey::table(&table.schema, &table.table);
            let keys = tables.unwrap_or_else(|| self.all_tables()).into_iter().map(key).collect();
            let owner = self.branches().new_owner();
            let locks = LeftLocks::taken(self.metadata_locks(), owner.id(), keys);
            let branch =
                LeftBranch { transaction: Some(transaction), locks, owner, began_microseconds: None };
            self.branches().leave(&xid, branch, false);
        }
    }

    fn all_tables(&self) -> Vec<TableName> {
        let dictionary = self.engine().dictionary();
        let of_schema = |schema: &str| {
            let tables = dictionary.table_names(schema).into_iter();
            tables.map(|table| TableName { schema: schema.to_owned(), table }).collect::<Vec<_>>()
        };
        dictionary.schemas().iter().flat_map(|schema| of_schema(&schema.name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use catalog::MetadataLocks;
    use errors::code::{ER_LOCK_WAIT_TIMEOUT, ER_QUERY_INTERRUPTED, ER_XAER_NOTA};

    fn left(branches: &XaBranches) -> LeftBranch {
        let locks = MetadataLocks::new(Arc::new(env::RealClock), Arc::default());
        let owner = branches.new_owner();
        let locks = LeftLocks::taken(&locks, owner.id(), Vec::new());
        LeftBranch { transaction: None, locks, owner, began_microseconds: None }
    }

    #[test]
    fn who_would_decide_second_waits_for_the_outcome() {
        let branches = Arc::<XaBranches>::default();
        let xid = Xid { format: 1, global: b"a".to_vec(), branch: Vec::new() };
        let kill = KillFlag::default();
        let take = || branches.take(&xid, false, &kill, Duration::from_secs(600));
        branches.leave(&xid, left(&branches), false);
        let first = take().unwrap();
        std::thread::scope(|scope| {
            let second = scope.spawn(take);
            branches.leave(&xid, first, false);
            assert!(second.join().unwrap().is_ok(), "the first has failed");
            let third = scope.spawn(take);
            branches.end(&xid);
            assert!(third.join().unwrap().is_err_and(|error| error.is(&ER_XAER_NOTA)));
        });
        branches.leave(&xid, left(&branches), false);
        let _first = take().unwrap();
        let in_vain = branches.take(&xid, false, &kill, Duration::from_millis(1));
        assert!(in_vain.is_err_and(|error| error.is(&ER_LOCK_WAIT_TIMEOUT)));
        std::thread::scope(|scope| {
            let second = scope.spawn(take);
            kill.kill();
            assert!(second.join().unwrap().is_err_and(|error| error.is(&ER_QUERY_INTERRUPTED)));
        });
    }

    #[test]
    fn owners_are_no_connections_and_no_two_are_one() {
        let branches = XaBranches::default();
        let go_to_lap = || lock(&branches.owners).last = CONNECTION_IDS - 2;
        go_to_lap();
        let owners: Vec<BranchOwner> = (0..4).map(|_| branches.new_owner()).collect();
        let ids: BTreeSet<u32> = owners.iter().map(BranchOwner::id).collect();
        assert!(ids.len() == 4 && ids.iter().all(|id| *id >= CONNECTION_IDS), "{ids:?}");
        go_to_lap();
        assert!(!ids.contains(&branches.new_owner().id()));
        drop(owners);
        assert!(lock(&branches.owners).used.is_empty());
    }

    #[test]
    fn a_branch_comes_back_from_its_engine_name() {
        let longest = vec![0xff; 64];
        let names: [(&[u8], &[u8]); 4] = [(&[], &[]), (b"a", &[]), (&[], b"b"), (&longest, &longest)];
        for (global, branch) in names {
            let xid = Xid { global: global.to_vec(), branch: branch.to_vec(), format: u64::MAX - 1 };
            assert_eq!(of_engine_name(&engine_name(&xid)), Some(xid));
        }
        assert_eq!(of_engine_name(&[0; 8]), None);
        assert_eq!(of_engine_name(&[0, 0, 0, 0, 0, 0, 0, 0, 2, 1]), None);
    }
}
