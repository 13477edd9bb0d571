//! What transaction ids cost behind one old snapshot, with an unfinished writer that is as old: `ids_behind_a_snapshot DIRECTORY IDS`, on a
//! real disk. Each id commits with a place of undo. Prints time, memory and file.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

use env::Environment;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use stdx::ids::{CommitTimestamp, TransactionId};
use txn::{CommitTable, EndOrder, HistoryPlace, Snapshot, SnapshotRegistry, SpillFile, UndoPlace};

/// As the server.
#[global_allocator]
static ALLOCATOR: env::Allocator = env::Allocator;

/// Nobody else ends a transaction.
#[derive(Debug)]
struct OneThread;

impl EndOrder for OneThread {
    fn act(&self, act: &mut dyn FnMut()) {
        act();
    }
}

const READS: u64 = 1_000_000;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let count: u64 = arguments[2].parse().unwrap();
    let file = Arc::new(SpillFile::new(Environment::real(Path::new(&arguments[1]))));
    let table = CommitTable::new(TransactionId(1), &[], file.clone(), Arc::new(OneThread));
    let registry = Arc::new(SnapshotRegistry::new());
    let unfinished = table.allocate().unwrap();
    let mut old = Snapshot::new(registry.clone());
    old.take(|| CommitTimestamp(1)).unwrap();
    let started = Instant::now();
    for _ in 0..count {
        let id = table.allocate().unwrap();
        table.set_committed(id, CommitTimestamp(id.0), HistoryPlace(id.0 * 3));
        if CommitTable::begins_chunk(id) {
            table.try_advance(&registry.in_use(CommitTimestamp(id.0)));
        }
    }
    let nanoseconds = started.elapsed().as_nanos() as u64 / count;
    println!("{count} ids, {nanoseconds} ns each; {:?}; file {} MiB", table.size(), file.file_bytes() >> 20);
    println!("resident {} MiB", resident_bytes() >> 20);
    let started = Instant::now();
    let mut at = 1_u64;
    for _ in 0..READS {
        at = at.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let id = TransactionId(2 + (at >> 16) % count);
        assert!(!table.is_visible(id, CommitTimestamp(1)));
        assert_eq!(table.undo_place(id).unwrap(), UndoPlace::History(HistoryPlace(id.0 * 3)));
    }
    println!("{} ns to find where the undo of an id is", started.elapsed().as_nanos() as u64 / READS);
    let started = Instant::now();
    old.end();
    while table.size().spilled_chunks > 0 {
        table.advance(&registry.in_use(CommitTimestamp(count * 2)));
    }
    println!("{} ms to forget all; file {} bytes", started.elapsed().as_millis(), file.file_bytes());
    assert_eq!(table.watermark(), unfinished);
    table.set_rolled_back(unfinished);
    table.advance(&registry.in_use(CommitTimestamp(count * 2)));
    assert_eq!(table.watermark(), table.next_id());
}

fn resident_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap() * 4096
}
