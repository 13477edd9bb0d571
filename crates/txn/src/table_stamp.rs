//! When the rows of a table have changed last: whoever keeps what a snapshot has read of it can tell whether that is still so. Main types:
//! [`TableStamp`], [`ChangedTables`].
//! Rules N1 to N3 in README.md.

#[cfg(loom)]
use loom::sync::atomic::{AtomicU64, Ordering};
use std::cell::RefCell;
use std::sync::Arc;
#[cfg(not(loom))]
use std::sync::atomic::{AtomicU64, Ordering};
use stdx::OwnLine;
use stdx::ids::CommitTimestamp;

/// Of a table nothing is known.
const UNKNOWN: u64 = u64::MAX;
/// A transaction that changes more tables stamps the one that stands for all.
const TABLES_MAX: usize = 16;

/// The newest commit that has changed a table's rows, or a later moment.
#[derive(Debug)]
pub struct TableStamp(OwnLine<AtomicU64>);

impl Default for TableStamp {
    fn default() -> Self {
        TableStamp(OwnLine(AtomicU64::new(UNKNOWN)))
    }
}

impl TableStamp {
    /// A stamp that says so.
    pub fn at(timestamp: CommitTimestamp) -> TableStamp {
        TableStamp(OwnLine(AtomicU64::new(timestamp.0)))
    }

    /// Says where the log ended when the table was opened, unless a commit was quicker.
    pub fn open_at(&self, end: CommitTimestamp) {
        let _ = self.0.compare_exchange(UNKNOWN, end.0, Ordering::AcqRel, Ordering::Relaxed);
    }

    /// A commit has changed the table. Called in the log's append section (rule N1).
    #[inline]
    pub fn commit(&self, timestamp: CommitTimestamp) {
        self.0.store(timestamp.0, Ordering::Release);
    }

    /// Whether what was read at `read` is what a snapshot of `now` reads (rule N2).
    #[inline]
    pub fn is_same(&self, read: CommitTimestamp, now: CommitTimestamp) -> bool {
        self.0.load(Ordering::Acquire) <= read.0.min(now.0)
    }
}

/// The tables that a session's transaction has changed. One thread at a time uses it.
#[derive(Debug, Default)]
pub struct ChangedTables {
    list: RefCell<List>,
}

/// Those of the running transaction, and behind them what is left of the ones before: a session that changes the same tables again and again
/// does not touch the counts of their stamps, which all share.
#[derive(Debug, Default)]
struct List {
    stamps: Vec<Arc<TableStamp>>,
    /// How many of them are of the running transaction.
    count: usize,
    /// There are more than that.
    is_any: bool,
}

/// Which tables those are.
#[derive(Debug)]
pub enum Changed<'c> {
    /// These.
    Some(&'c [Arc<TableStamp>]),
    /// It may be any.
    Any,
}

impl ChangedTables {
    /// Of a transaction of which nothing is known.
    pub fn any() -> ChangedTables {
        ChangedTables { list: RefCell::new(List { is_any: true, ..List::default() }) }
    }

    /// Notes a table.
    #[inline]
    pub fn add(&self, stamp: &Arc<TableStamp>) {
        let mut list = self.list.borrow_mut();
        // A statement seldom changes more than one.
        let last = list.count.checked_sub(1).and_then(|last| list.stamps.get(last));
        if !last.is_some_and(|last| Arc::ptr_eq(last, stamp)) {
            list.add(stamp);
        }
    }

    /// Forgets all.
    #[inline]
    pub fn clear(&self) {
        let mut list = self.list.borrow_mut();
        (list.count, list.is_any) = (0, false);
    }

    /// Whether a table may be among them.
    pub fn may_have(&self, stamp: &Arc<TableStamp>) -> bool {
        let list = self.list.borrow();
        list.is_any || list.stamps[..list.count].iter().any(|changed| Arc::ptr_eq(changed, stamp))
    }

    /// Calls back with them.
    #[inline]
    pub fn with<T>(&self, call: impl FnOnce(Changed<'_>) -> T) -> T {
        let list = self.list.borrow();
        match list.is_any {
            false => call(Changed::Some(&list.stamps[..list.count])),
            true => call(Changed::Any),
        }
    }
}

impl List {
    /// Notes a table that is not the last one. It becomes that.
    fn add(&mut self, stamp: &Arc<TableStamp>) {
        let known = self.stamps.iter().position(|changed| Arc::ptr_eq(changed, stamp));
        match known {
            Some(at) if at < self.count => self.stamps.swap(at, self.count - 1),
            _ if self.count == TABLES_MAX => self.is_any = true,
            Some(at) => {
                self.stamps.swap(at, self.count);
                self.count += 1;
            }
            None => {
                self.stamps.truncate(TABLES_MAX - 1);
                self.stamps.insert(self.count, stamp.clone());
                self.count += 1;
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const fn at(timestamp: u64) -> CommitTimestamp {
        CommitTimestamp(timestamp)
    }

    #[test]
    fn what_was_read_is_the_same_between_commits() {
        let stamp = TableStamp::default();
        assert!(!stamp.is_same(at(50), at(60)), "nothing is known");
        stamp.open_at(at(40));
        assert!(stamp.is_same(at(50), at(60)) && stamp.is_same(at(40), at(40)));
        assert!(!stamp.is_same(at(39), at(60)) && !stamp.is_same(at(50), at(39)));
        stamp.commit(at(55));
        stamp.open_at(at(41));
        assert!(!stamp.is_same(at(50), at(60)), "changed in between");
        assert!(!stamp.is_same(at(60), at(50)), "the other way round");
        assert!(stamp.is_same(at(55), at(60)) && stamp.is_same(at(60), at(55)));
    }

    #[test]
    fn a_commit_before_the_table_is_said_to_be_open_counts() {
        let stamp = TableStamp::default();
        stamp.commit(at(70));
        stamp.open_at(at(60));
        assert!(!stamp.is_same(at(65), at(80)));
    }

    #[test]
    fn a_transaction_knows_its_tables_up_to_a_number() {
        let changed = ChangedTables::default();
        let stamps: Vec<Arc<TableStamp>> = (0..TABLES_MAX + 1).map(|_| Arc::default()).collect();
        let count = |changed: &ChangedTables| {
            changed.with(|changed| match changed {
                Changed::Some(stamps) => Some(stamps.len()),
                Changed::Any => None,
            })
        };
        for _ in 0..3 {
            stamps[..TABLES_MAX].iter().for_each(|stamp| changed.add(stamp));
        }
        assert_eq!(count(&changed), Some(TABLES_MAX));
        assert!(stamps[..TABLES_MAX].iter().all(|stamp| changed.may_have(stamp)));
        assert!(!changed.may_have(&stamps[TABLES_MAX]));
        changed.add(&stamps[TABLES_MAX]);
        assert!(count(&changed).is_none() && changed.may_have(&Arc::default()));
        changed.clear();
        assert!(count(&changed) == Some(0) && !changed.may_have(&stamps[0]));
        changed.add(&stamps[3]);
        assert!(count(&changed) == Some(1) && changed.may_have(&stamps[3]) && !changed.may_have(&stamps[2]));
        let held = Arc::strong_count(&stamps[3]);
        changed.clear();
        changed.add(&stamps[3]);
        assert_eq!(Arc::strong_count(&stamps[3]), held, "it was there before");
        assert!(ChangedTables::any().may_have(&stamps[0]));
    }
}

/// All interleavings of a commit with who looks whether what it keeps is still so.
/// Run: RUSTFLAGS="--cfg loom" cargo test -p txn --lib interleavings
#[cfg(all(test, loom))]
mod interleavings {
    use super::*;
    use loom::thread;

    /// A snapshot that sees a commit finds it in the stamp (rule N1).
    #[test]
    fn no_commit_that_is_seen_is_missing_in_the_stamp() {
        loom::model(|| {
            let stamp = Arc::new(TableStamp::at(CommitTimestamp(1)));
            let published = Arc::new(AtomicU64::new(1));
            let reader = {
                let (stamp, published) = (stamp.clone(), published.clone());
                thread::spawn(move || {
                    let snapshot = published.load(Ordering::Acquire);
                    let is_same = stamp.is_same(CommitTimestamp(1), CommitTimestamp(snapshot));
                    assert!(snapshot == 1 || !is_same, "what was read before commit 2 is shown behind it");
                })
            };
            stamp.commit(CommitTimestamp(2));
            published.store(2, Ordering::Release);
            reader.join().unwrap();
        });
    }
}
