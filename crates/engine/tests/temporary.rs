//! Temporary tables: rows as in other tables, with rollbacks and savepoints, but no log, no locks, no versions, and nothing left.

use crate::common::model::{Random, Rows, step};
use crate::common::*;
use engine::*;
use env::simulated::SimulatedDisk;
use std::sync::Arc;

fn temporary(engine: &Engine) -> (TemporaryTables, Arc<Table>) {
    let tables = engine.temporary_tables(1);
    let table = tables.create(definition("t")).unwrap();
    (tables, table)
}

fn sound(engine: &Engine, table: &Arc<Table>) {
    assert_eq!(engine.check_table(table).unwrap(), Vec::<String>::new());
}

fn log_end(engine: &Engine) -> u64 {
    engine.status().log_end.0
}

#[test]
fn random_transactions_do_what_a_map_does() {
    for seed in 1..9 {
        let engine = open(&SimulatedDisk::new(seed));
        let (_tables, table) = temporary(&engine);
        let end = log_end(&engine);
        let (mut random, mut rows) = (Random(seed), Rows::new());
        for _ in 0..60 {
            let transaction = begin(&engine);
            let mut inside = rows.clone();
            let (mut mark, mut saved) = (transaction.begin_statement(), inside.clone());
            for _ in 0..random.below(30) {
                step(&transaction, &table, &mut inside, &mut random, 200).unwrap();
                match random.below(12) {
                    0 => (mark, saved) = (transaction.mark(), inside.clone()),
                    1 => {
                        transaction.rollback_to(mark).unwrap();
                        inside = saved.clone();
                    }
                    _ => {}
                }
            }
            assert_eq!(all(&transaction, &table), inside.values().cloned().collect::<Vec<_>>());
            assert_eq!(transaction.id(), None, "it has no place among the transactions");
            if random.below(3) > 0 {
                assert_eq!(transaction.commit().unwrap().0, 0);
                rows = inside;
            } else {
                transaction.rollback().unwrap();
            }
            assert_eq!(all(&begin(&engine), &table), rows.values().cloned().collect::<Vec<_>>());
            sound(&engine, &table);
        }
        assert_eq!(log_end(&engine), end);
        engine.purge().unwrap();
        assert_eq!(all(&begin(&engine), &table), rows.values().cloned().collect::<Vec<_>>());
    }
}

#[test]
fn a_transaction_of_both_kinds_ends_as_one() {
    let engine = open(&SimulatedDisk::new(1));
    let base = create(&engine, "base");
    let (_tables, table) = temporary(&engine);
    let transaction = begin(&engine);
    for id in 0..10 {
        transaction.insert(&base, &encode(&base, &row(id, id, "x"))).unwrap();
        transaction.insert(&table, &encode(&table, &row(id, id, "x"))).unwrap();
    }
    let mark = transaction.mark();
    transaction.delete(&base, &key(&base, 1)).unwrap();
    transaction.delete(&table, &key(&table, 1)).unwrap();
    transaction.rollback_to(mark).unwrap();
    assert_eq!((all(&transaction, &base).len(), all(&transaction, &table).len()), (10, 10));
    transaction.rollback().unwrap();
    let transaction = begin(&engine);
    assert_eq!((all(&transaction, &base).len(), all(&transaction, &table).len()), (0, 0));
    // One that may not write writes it all the same.
    drop(transaction);
    let options = TransactionOptions { read_only: true, ..TransactionOptions::default() };
    let transaction = engine.begin(options);
    transaction.insert(&table, &encode(&table, &row(1, 1, "x"))).unwrap();
    assert_eq!(
        transaction.insert(&base, &encode(&base, &row(1, 1, "x"))),
        Err(EngineError::ReadOnlyTransaction)
    );
    let read = scan(&transaction, &table, 1, ReadMode::Exclusive(WaitPolicy::Wait)).unwrap();
    assert_eq!(read, [row(1, 1, "x")]);
    assert!(engine.locks().is_empty());
    transaction.commit().unwrap();
}

#[test]
fn what_a_table_took_is_used_again() {
    let engine = open(&SimulatedDisk::new(1));
    let tables = engine.temporary_tables(1);
    let mut pages = Vec::new();
    for round in 0..20 {
        let table = tables.create(definition("t")).unwrap();
        let transaction = begin(&engine);
        for id in 0..200 {
            let long = "z".repeat(if id % 40 == 0 { 20_000 } else { 100 });
            transaction.insert(&table, &encode(&table, &row(id, id, &long))).unwrap();
        }
        match round % 3 {
            0 => drop(transaction.commit().unwrap()),
            1 => transaction.rollback().unwrap(),
            // Dropped in the transaction that has filled it: its end finds nothing to undo.
            _ => {
                assert!(tables.drop_table(&name("t")));
                transaction.rollback().unwrap();
            }
        }
        assert_eq!(tables.drop_table(&name("t")), !table.is_gone() || round % 3 != 2);
        assert!(scan(&begin(&engine), &table, 0, ReadMode::Consistent).is_err(), "the table is gone");
        pages.push(tables.pages());
    }
    assert_eq!(pages[3], pages[19], "{pages:?}");
    tables.drop_all();
    assert_eq!(tables.pages(), 0);
    let table = tables.create(definition("t")).unwrap();
    insert(&engine, &table, &[row(1, 1, "x")]);
    assert!(tables.pages() < pages[0], "what follows is a new file");
}

#[test]
fn deleted_rows_leave_their_place_at_the_commit() {
    let engine = open(&SimulatedDisk::new(1));
    let (tables, table) = temporary(&engine);
    let mut pages = Vec::new();
    for _ in 0..30 {
        let transaction = begin(&engine);
        let rows: Vec<Vec<u8>> = (0..300).map(|id| encode(&table, &row(id, id, &"y".repeat(2000)))).collect();
        let rows: Vec<&[u8]> = rows.iter().map(Vec::as_slice).collect();
        transaction.insert_many(&table, &rows).unwrap();
        transaction.commit().unwrap();
        let transaction = begin(&engine);
        (0..300).for_each(|id| transaction.delete(&table, &key(&table, id)).unwrap());
        transaction.commit().unwrap();
        pages.push(tables.pages());
    }
    assert_eq!(pages[2], pages[29], "{pages:?}");
}

#[test]
fn a_start_knows_nothing_of_them() {
    let disk = SimulatedDisk::new(1);
    let engine = open(&disk);
    let base = create(&engine, "base");
    let (_tables, table) = temporary(&engine);
    let transaction = begin(&engine);
    transaction.insert(&table, &encode(&table, &row(1, 1, "x"))).unwrap();
    transaction.insert(&base, &encode(&base, &row(1, 1, "x"))).unwrap();
    let lsn = transaction.commit().unwrap();
    engine.sync_log(lsn).unwrap();
    drop(engine);
    let engine = open(&disk.restart_with_durable_state());
    let base = crate::common::table(&engine, "base");
    assert_eq!(all(&begin(&engine), &base).len(), 1);
    assert_eq!(engine.dictionary().table_names("test"), ["base"]);
    assert_eq!(engine.check().unwrap(), Vec::<String>::new());
}

#[test]
fn sessions_that_make_their_first_tables_at_once_have_spaces_of_their_own() {
    for seed in 1..6 {
        let engine = open(&SimulatedDisk::new(seed));
        create(&engine, "base");
        std::thread::scope(|scope| {
            for session in 1..9 {
                let engine = &engine;
                scope.spawn(move || {
                    let tables = engine.temporary_tables(session);
                    let table = tables.create(definition("t")).unwrap();
                    engine.create_table(definition(&format!("b{session}")), &KillFlag::default()).unwrap();
                    sound(engine, &table);
                });
            }
        });
    }
}
