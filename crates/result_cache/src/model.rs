//! Random histories of commits, snapshots and results against an oracle that knows every version of every table.

use crate::ResultCache;
use std::sync::Arc;
use stdx::ids::CommitTimestamp;
use txn::TableStamp;

const TABLES: usize = 5;

/// A history: the value of each table at each time.
struct History {
    stamps: Vec<Arc<TableStamp>>,
    /// Commits of each table: when, and what it is from then on.
    versions: Vec<Vec<(u64, u64)>>,
    end: u64,
    /// What new snapshots see.
    published: u64,
}

struct Result {
    tables: Vec<usize>,
    read_at: CommitTimestamp,
    values: Vec<u64>,
}

impl History {
    fn new() -> History {
        let stamp = |_| Arc::new(TableStamp::at(CommitTimestamp(1)));
        History {
            stamps: (0..TABLES).map(stamp).collect(),
            versions: vec![vec![(1, 0)]; TABLES],
            end: 1,
            published: 1,
        }
    }

    fn commit(&mut self, tables: &[usize], value: u64) {
        self.end += 1;
        for table in tables {
            self.versions[*table].push((self.end, value));
            self.stamps[*table].commit(CommitTimestamp(self.end));
        }
    }

    fn at(&self, table: usize, time: u64) -> u64 {
        self.versions[table].iter().rev().find(|(since, _)| *since <= time).map_or(0, |(_, value)| *value)
    }
}

fn next(random: &mut u64, below: u64) -> u64 {
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    *random % below
}

fn some_tables(random: &mut u64) -> Vec<usize> {
    let set = 1 + next(random, (1 << TABLES) - 1);
    (0..TABLES).filter(|table| set >> table & 1 == 1).collect()
}

/// What is served is what the reader's snapshot would read, whether the snapshot is old or new, and whether a commit is published yet.
#[test]
fn what_is_served_is_what_the_snapshot_reads() {
    let mut random = 0x9e37_79b9_7f4a_7c15;
    let cache: ResultCache<Result> = ResultCache::new(20_000);
    let mut history = History::new();
    let (mut served, mut missed) = (0, 0);
    for step in 0..200_000 {
        match next(&mut random, 10) {
            0 => {
                let tables = some_tables(&mut random);
                history.commit(&tables[..1], step);
            }
            1 => history.published = history.end,
            _ => {
                let back = if next(&mut random, 4) == 0 { next(&mut random, 8) } else { 0 };
                let now = history.published.saturating_sub(back).max(1);
                let tables = some_tables(&mut random);
                let values: Vec<u64> = tables.iter().map(|table| history.at(*table, now)).collect();
                let key: Vec<u8> = tables.iter().map(|table| *table as u8).collect();
                let hash = cache.hash(&key);
                let found = cache.find(hash, &key).filter(|entry| {
                    let is_same = |table: &usize| {
                        history.stamps[*table].is_same(entry.result.read_at, CommitTimestamp(now))
                    };
                    entry.result.tables.iter().all(is_same)
                });
                match found {
                    Some(entry) => {
                        assert_eq!(entry.result.values, values, "step {step}, at {now}");
                        served += 1;
                    }
                    None => {
                        missed += 1;
                        cache.insert(
                            hash,
                            &key,
                            Result { tables, read_at: CommitTimestamp(now), values },
                            100,
                        );
                    }
                }
            }
        }
    }
    assert!(served > 20_000 && missed > 20_000, "{served} served, {missed} missed");
}
