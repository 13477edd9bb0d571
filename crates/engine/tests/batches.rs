//! Batches of a scan are bounded by bytes as well as by rows, whatever index and locks they are read by.

use crate::common::*;
use engine::*;
use env::simulated::SimulatedDisk;

const ROWS: i64 = 200;
const ROW_BYTES: usize = 9000;
/// What a batch may hold, but for its last row.
const BYTES_MAX: usize = 256 << 10;

fn long_row(id: i64) -> Row {
    row(id, ROWS - id, &format!("{id:03}{}", "x".repeat(ROW_BYTES - 3)))
}

fn filled(engine: &Engine) -> std::sync::Arc<Table> {
    let t = create(engine, "t");
    insert(engine, &t, &(0..ROWS).map(long_row).collect::<Vec<_>>());
    t
}

#[test]
fn long_rows_make_short_batches() {
    let engine = open(&SimulatedDisk::new(1));
    let t = filled(&engine);
    let old = begin(&engine);
    old.take_snapshot().unwrap();
    let changed = begin(&engine);
    changed.update(&t, &key(&t, 7), &encode(&t, &row(7, 5000, "changed"))).unwrap();
    changed.commit().unwrap();
    let modes =
        [ReadMode::Consistent, ReadMode::Shared(WaitPolicy::Wait), ReadMode::Exclusive(WaitPolicy::Wait)];
    for (mode, direction) in
        modes.into_iter().flat_map(|mode| [(mode, Direction::Forward), (mode, Direction::Backward)])
    {
        for index in 0..t.indexes().len() {
            // The snapshot does not see the change, so its entries are decided by their rows. Above READ COMMITTED rows are not
            // locked one by one.
            let committed =
                TransactionOptions { isolation: Isolation::ReadCommitted, ..TransactionOptions::default() };
            let transaction = if mode == ReadMode::Consistent { &old } else { &engine.begin(committed) };
            let options = ScanOptions { index, mode, direction, ..ScanOptions::default() };
            let mut scan = transaction.scan(&t, options).unwrap();
            let (mut batch, mut ids) = (RowBatch::new(), Vec::new());
            while scan.next_batch(transaction, &mut batch, 1000).unwrap() {
                assert!(batch.bytes() < BYTES_MAX + ROW_BYTES + 100, "{} bytes", batch.bytes());
                ids.extend((0..batch.len()).map(|at| decode(&t, batch.row(at)).0));
                if mode != ReadMode::Consistent {
                    let held = engine.locks().len();
                    assert_eq!(held, ids.len(), "locked are the rows that were handed out");
                }
            }
            ids.sort_unstable();
            assert_eq!(ids, (0..ROWS).collect::<Vec<_>>(), "{mode:?} {direction:?} index {index}");
        }
    }
}

#[test]
fn a_batch_that_wants_fewer_rows_takes_fewer_of_what_is_left() {
    let engine = open(&SimulatedDisk::new(1));
    let t = filled(&engine);
    let transaction = begin(&engine);
    let options =
        ScanOptions { index: 1, mode: ReadMode::Exclusive(WaitPolicy::Wait), ..ScanOptions::default() };
    let mut scan = transaction.scan(&t, options).unwrap();
    let mut batch = RowBatch::new();
    assert!(scan.next_batch(&transaction, &mut batch, 1000).unwrap());
    let first = batch.len();
    assert!((2..100).contains(&first), "{first}");
    for more in 1..=3 {
        assert!(scan.next_batch(&transaction, &mut batch, 1).unwrap());
        assert_eq!(batch.len(), 1);
        assert_eq!(decode(&t, batch.row(0)).1, Some((first + more) as i64));
        assert_eq!(engine.locks().len(), first + more);
    }
}
