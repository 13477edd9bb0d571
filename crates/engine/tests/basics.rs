//! Rows in and out: the read and write paths one by one, on one thread.

use crate::common::*;
use dictionary::IndexKind;
use engine::InsertKind;
use engine::*;
use env::simulated::SimulatedDisk;

#[test]
fn insert_read_update_delete() {
    let engine = open(&SimulatedDisk::new(1));
    let t = create(&engine, "t");
    insert(&engine, &t, &[row(1, 10, "one"), row(2, 20, "two"), (3, None, "three".to_owned())]);
    let transaction = begin(&engine);
    assert_eq!(all(&transaction, &t).len(), 3);
    let mut found = None;
    assert!(
        transaction
            .get(&t, 0, &key(&t, 2), ReadMode::Consistent, &mut |row| found = Some(decode(&t, row)))
            .unwrap()
    );
    assert_eq!(found, Some(row(2, 20, "two")));
    let outcome = transaction.update(&t, &key(&t, 2), &encode(&t, &row(2, 21, "zwei"))).unwrap();
    assert_eq!(outcome, UpdateOutcome::Changed);
    let same = transaction.update(&t, &key(&t, 2), &encode(&t, &row(2, 21, "zwei"))).unwrap();
    assert_eq!(same, UpdateOutcome::Unchanged);
    transaction.delete(&t, &key(&t, 1)).unwrap();
    assert_eq!(transaction.delete(&t, &key(&t, 1)), Err(EngineError::RowNotFound));
    let moved = transaction.update(&t, &key(&t, 3), &encode(&t, &row(30, 3, "x"))).unwrap();
    assert_eq!(moved, UpdateOutcome::Moved(key(&t, 30)));
    assert_eq!(all(&transaction, &t), [row(2, 21, "zwei"), row(30, 3, "x")]);
    transaction.commit().unwrap();
    assert_eq!(all(&begin(&engine), &t), [row(2, 21, "zwei"), row(30, 3, "x")]);
    engine.purge().unwrap();
    assert_eq!(all(&begin(&engine), &t), [row(2, 21, "zwei"), row(30, 3, "x")]);
}

#[test]
fn snapshots_see_the_past() {
    let engine = open(&SimulatedDisk::new(1));
    let t = create(&engine, "t");
    insert(&engine, &t, &[row(1, 10, "a"), row(2, 20, "b")]);
    let old = begin(&engine);
    let before = all(&old, &t);
    let writer = begin(&engine);
    writer.update(&t, &key(&t, 1), &encode(&t, &row(1, 11, "aa"))).unwrap();
    writer.delete(&t, &key(&t, 2)).unwrap();
    writer.insert(&t, &encode(&t, &row(3, 20, "c"))).unwrap();
    assert_eq!(all(&old, &t), before, "uncommitted changes are not seen");
    assert_eq!(all(&begin(&engine), &t), before);
    let dirty =
        engine.begin(TransactionOptions { isolation: Isolation::ReadUncommitted, ..Default::default() });
    assert_eq!(all(&dirty, &t), [row(1, 11, "aa"), row(3, 20, "c")]);
    writer.commit().unwrap();
    assert_eq!(all(&old, &t), before, "committed later than the snapshot");
    engine.purge().unwrap();
    assert_eq!(all(&old, &t), before, "purge leaves what the snapshot needs");
    assert_eq!(all(&begin(&engine), &t), [row(1, 11, "aa"), row(3, 20, "c")]);
    drop(old);
    assert!(engine.purge().unwrap() > 0);
    assert_eq!(all(&begin(&engine), &t), [row(1, 11, "aa"), row(3, 20, "c")]);
    assert_eq!(engine.status().history_list_length, 0);
    assert_eq!(engine.status().old_versions, 0);
}

#[test]
fn duplicates_are_told_with_index_and_row() {
    let engine = open(&SimulatedDisk::new(1));
    let t = create(&engine, "t");
    insert(&engine, &t, &[row(1, 10, "a"), row(2, 20, "b")]);
    let transaction = begin(&engine);
    let Err(EngineError::DuplicateKey(duplicate)) = transaction.insert(&t, &encode(&t, &row(1, 99, "x")))
    else {
        panic!("primary key is there")
    };
    assert_eq!((duplicate.index, &duplicate.existing_key), (0, &key(&t, 1)));
    let Err(EngineError::DuplicateKey(duplicate)) = transaction.insert(&t, &encode(&t, &row(3, 20, "x")))
    else {
        panic!("unique key is there")
    };
    assert_eq!((duplicate.index, &duplicate.existing_key), (1, &key(&t, 2)));
    let error = transaction.update(&t, &key(&t, 1), &encode(&t, &row(1, 20, "x"))).unwrap_err();
    assert!(matches!(error, EngineError::DuplicateKey(_)));
    for id in 5..8 {
        transaction.insert(&t, &encode(&t, &(id, None, "null".to_owned()))).unwrap();
    }
    // A key that the transaction itself frees can be used again.
    transaction.delete(&t, &key(&t, 2)).unwrap();
    transaction.insert(&t, &encode(&t, &row(9, 20, "again"))).unwrap();
    transaction.commit().unwrap();
    assert_eq!(all(&begin(&engine), &t).len(), 5);
}

#[test]
fn rollback_of_statement_savepoint_and_transaction() {
    let engine = open(&SimulatedDisk::new(1));
    let t = create(&engine, "t");
    insert(&engine, &t, &[row(1, 10, "a"), row(2, 20, "b")]);
    let transaction = begin(&engine);
    transaction.update(&t, &key(&t, 1), &encode(&t, &row(1, 11, "first"))).unwrap();
    let savepoint = transaction.mark();
    transaction.update(&t, &key(&t, 1), &encode(&t, &row(1, 12, "second"))).unwrap();
    transaction.delete(&t, &key(&t, 2)).unwrap();
    transaction.insert(&t, &encode(&t, &row(2, 20, "back"))).unwrap();
    transaction.insert(&t, &encode(&t, &row(3, 30, "new"))).unwrap();
    transaction.rollback_to(savepoint).unwrap();
    assert_eq!(all(&transaction, &t), [row(1, 11, "first"), row(2, 20, "b")]);
    transaction.rollback().unwrap();
    assert_eq!(all(&begin(&engine), &t), [row(1, 10, "a"), row(2, 20, "b")]);
    assert_eq!(engine.status().old_versions, 0);
}

#[test]
fn long_rows_and_many_rows() {
    let engine = open(&SimulatedDisk::new(1));
    let t = create(&engine, "t");
    let rows: Vec<Row> =
        (0..3000).map(|id| row(id, id * 7 % 3001, &"x".repeat((id as usize * 37) % 9000 / 10))).collect();
    let transaction = begin(&engine);
    let encoded: Vec<Vec<u8>> = rows.iter().map(|row| encode(&t, row)).collect();
    let slices: Vec<&[u8]> = encoded.iter().map(|row| &row[..]).collect();
    transaction.insert_many(&t, &slices).unwrap();
    transaction.insert(&t, &encode(&t, &row(5000, 5000, &"long".repeat(2000)))).unwrap();
    transaction.commit().unwrap();
    let reader = begin(&engine);
    let seen = all(&reader, &t);
    assert_eq!(seen.len(), 3001);
    assert_eq!(seen[..3000], rows[..]);
    assert_eq!(seen[3000].2.len(), 8000);
    let mut backward =
        reader.scan(&t, ScanOptions { direction: Direction::Backward, ..ScanOptions::default() }).unwrap();
    let mut batch = RowBatch::new();
    assert!(backward.next_batch(&reader, &mut batch, 5).unwrap());
    assert_eq!(decode(&t, batch.row(0)).0, 5000);
    // Long rows of a leaf are their own versions too.
    let writer = begin(&engine);
    writer.update(&t, &key(&t, 5000), &encode(&t, &row(5000, 5000, "short"))).unwrap();
    writer.commit().unwrap();
    assert_eq!(all(&reader, &t)[3000].2.len(), 8000);
    let error = {
        let transaction = begin(&engine);
        let bad: Vec<Vec<u8>> = vec![encode(&t, &row(9000, 9000, "")), encode(&t, &row(9001, 7, ""))];
        let slices: Vec<&[u8]> = bad.iter().map(|row| &row[..]).collect();
        transaction.insert_many(&t, &slices).unwrap_err()
    };
    let EngineError::DuplicateKey(duplicate) = error else { panic!("{error:?}") };
    assert_eq!((duplicate.index, duplicate.row_ordinal), (1, 1));
}

#[test]
fn a_full_disk_fails_statements_and_nothing_else() {
    let disk = SimulatedDisk::new(1);
    let engine = open(&disk);
    let t = create(&engine, "t");
    insert(&engine, &t, &[row(1, 1, "before")]);
    engine.checkpoint().unwrap();
    disk.set_capacity_bytes(Some(disk.used_bytes() + (200 << 10)));
    let (mut kept, mut full) = (vec![row(1, 1, "before")], false);
    for id in 2..200 {
        let transaction = begin(&engine);
        let new = row(id, id, &"x".repeat(8000));
        match transaction.insert(&t, &encode(&t, &new)) {
            Ok(_) => {
                transaction.commit().unwrap();
                kept.push(new);
            }
            Err(error) => {
                assert_eq!(error, EngineError::NoSpace);
                transaction.rollback().unwrap();
                full = true;
                break;
            }
        }
    }
    assert!(full, "the disk fills up");
    assert_eq!(all(&begin(&engine), &t), kept, "reads go on");
    disk.set_capacity_bytes(None);
    insert(&engine, &t, &[row(500, 500, &"y".repeat(8000))]);
    kept.push(row(500, 500, &"y".repeat(8000)));
    assert_eq!(all(&begin(&engine), &t), kept);
    crate::common::model::sound(&engine);
}

#[test]
fn auto_increment_survives_restart() {
    let disk = SimulatedDisk::new(1);
    let engine = open(&disk);
    let t = create(&engine, "t");
    let request = AutoIncrementRequest { count: 3, increment: 1, offset: 1, column_max: i64::MAX as u64 };
    let transaction = begin(&engine);
    assert_eq!(TableCounter::new(&transaction, &t, InsertKind::Simple).reserve(request).unwrap().first, 1);
    transaction.rollback().unwrap();
    engine.shutdown().unwrap();
    let disk = disk.restart_after_kill();
    let engine = open(&disk);
    let t = table(&engine, "t");
    let transaction = begin(&engine);
    assert_eq!(
        TableCounter::new(&transaction, &t, InsertKind::Simple).reserve(request).unwrap().first,
        4,
        "exact after a clean end"
    );
    TableCounter::new(&transaction, &t, InsertKind::Simple).raise(100).unwrap();
    assert_eq!(TableCounter::new(&transaction, &t, InsertKind::Simple).reserve(request).unwrap().first, 101);
    engine.sync_log(transaction.reply_lsn()).unwrap();
    drop(transaction);
    let engine = open(&disk.restart_with_durable_state());
    let t = table(&engine, "t");
    let first = TableCounter::new(&begin(&engine), &t, InsertKind::Simple).reserve(request).unwrap().first;
    assert!((104..=104 + 256).contains(&first), "no value comes back after a crash: {first}");
}

#[test]
fn a_commit_that_all_snapshots_see_is_waited_for_until_it_is_durable() {
    let engine = open(&SimulatedDisk::new(1));
    let t = create(&engine, "t");
    let writer = begin(&engine);
    writer.insert(&t, &encode(&t, &row(1, 1, "a"))).unwrap();
    let commit = writer.commit().unwrap();
    let own = begin(&engine);
    own.take_snapshot().unwrap();
    own.rollback().unwrap();
    // From here on the commit table knows it for one from long ago.
    engine.purge().unwrap();
    assert!(engine.durable_lsn() < commit);
    let other = engine.begin(TransactionOptions::default());
    let mode = ReadMode::Exclusive(WaitPolicy::Wait);
    assert!(other.get(&t, 0, &key(&t, 1), mode, &mut |_| {}).unwrap());
    assert!(other.reply_lsn() >= commit);
    engine.sync_log(other.reply_lsn()).unwrap();
    assert_eq!(other.reply_lsn(), stdx::ids::Lsn(0));
}

#[test]
fn crashes_do_not_use_up_a_small_counter() {
    let disk = SimulatedDisk::new(1);
    let engine = open(&disk);
    create(&engine, "other");
    let mut definition = definition("t");
    definition.columns[0].column_type.kind = values::TypeKind::TinyInt;
    engine.create_table(definition, &KillFlag::default()).unwrap();
    drop(engine);
    let request = AutoIncrementRequest { count: 1, increment: 1, offset: 1, column_max: 127 };
    let mut disk = disk.restart_after_kill();
    for value in 1..=5 {
        let engine = open(&disk);
        let transaction = begin(&engine);
        assert_eq!(
            TableCounter::new(&transaction, &table(&engine, "t"), InsertKind::Simple)
                .reserve(request)
                .unwrap()
                .first,
            value
        );
        engine.sync_log(transaction.reply_lsn()).unwrap();
        drop((transaction, engine));
        disk = disk.restart_with_durable_state();
    }
}

#[test]
fn statistics_stay_with_their_index() {
    let disk = SimulatedDisk::new(1);
    let engine = open(&disk);
    let t = create(&engine, "t");
    insert(&engine, &t, &(0..100).map(|id| row(id, id, &format!("{}", id % 4))).collect::<Vec<_>>());
    engine.analyze(&t).unwrap();
    let of = |engine: &Engine, at: usize| engine.statistics(&table(engine, "t")).distinct[at].clone();
    assert_eq!(of(&engine, 2), [4]);
    let kill = KillFlag::default();
    engine.drop_indexes(&name("t"), &["u".to_owned()], &kill).unwrap();
    assert_eq!(of(&engine, 1), [4]);
    engine.add_indexes(&name("t"), vec![index("c", dictionary::IndexKind::Plain, 1)], &kill).unwrap();
    assert_eq!((of(&engine, 1), of(&engine, 2)), (vec![4], vec![10]));
    engine.shutdown().unwrap();
    drop(engine);
    let engine = open(&disk.restart_with_durable_state());
    assert_eq!((of(&engine, 1), of(&engine, 2)), (vec![4], vec![10]));
}

#[test]
fn a_distribution_is_kept_until_rows_come_or_go() {
    let engine = open(&SimulatedDisk::new(1));
    let t = create(&engine, "t");
    insert(&engine, &t, &(0..100).map(|id| row(id, id, "c")).collect::<Vec<_>>());
    let known = engine.distribution(&t);
    assert_eq!(known.rows, 100);
    assert!(std::sync::Arc::ptr_eq(&known, &engine.distribution(&t)));
    insert(&engine, &t, &[row(100, 100, "c")]);
    assert_eq!(engine.distribution(&t).rows, 101);
    engine.analyze(&t).unwrap();
    assert_eq!(engine.distribution(&t).column_values, [101, 101, 1]);
}

#[test]
fn analyze_counts_the_values_of_columns_without_an_index() {
    let disk = SimulatedDisk::new(1);
    let engine = open(&disk);
    let t = create(&engine, "t");
    let values = |engine: &Engine| engine.distribution(&table(engine, "t")).column_values.clone();
    assert!(values(&engine).is_empty());
    insert(&engine, &t, &(0..3000).map(|id| row(id, id, &format!("{}", id % 7))).collect::<Vec<_>>());
    engine.analyze(&t).unwrap();
    assert_eq!(values(&engine), [3000, 3000, 7]);
    let kill = KillFlag::default();
    engine.drop_indexes(&name("t"), &["u".to_owned()], &kill).unwrap();
    assert_eq!(values(&engine), [3000, 3000, 7]);
    let mut renamed = engine.dictionary().table("test", "t").unwrap().definition().clone();
    renamed.columns[1].name = "b".to_owned();
    engine.shutdown().unwrap();
    drop(engine);
    let engine = open(&disk.restart_with_durable_state());
    assert_eq!(values(&engine), [3000, 3000, 7]);
    engine.alter_metadata(&name("t"), renamed, Vec::new(), &kill).unwrap();
    assert!(values(&engine).is_empty(), "its columns are others");
}

#[test]
fn analyze_counts_the_values_beside_long_ones() {
    let disk = SimulatedDisk::new(1);
    let engine = open(&disk);
    let t = create(&engine, "t");
    let long = |id: i64| format!("{id}{}", "x".repeat(8000));
    insert(&engine, &t, &(0..100).map(|id| (id, None, long(id))).collect::<Vec<_>>());
    engine.analyze(&t).unwrap();
    assert_eq!(engine.distribution(&t).column_values, [100, 1, 100]);
}

/// Statistics of a table that was empty, or had a few rows, say nothing of what it has become.
#[test]
fn statistics_are_forgotten_when_the_table_has_outgrown_them() {
    let disk = SimulatedDisk::new(1);
    let engine = open(&disk);
    let (t, fresh) = (create(&engine, "t"), create(&engine, "u"));
    for rows_then in [0, 3] {
        insert(&engine, &t, &(0..rows_then).map(|id| row(id, id, "s")).collect::<Vec<_>>());
        engine.analyze(&t).unwrap();
        assert_eq!(engine.distribution(&t).column_values.is_empty(), rows_then == 0);
    }
    let rows: Vec<_> = (10..1000).map(|id| row(id, id, &format!("{id}"))).collect();
    insert(&engine, &t, &rows);
    insert(&engine, &fresh, &rows);
    let found = engine.distribution(&t);
    assert!(found.column_values.is_empty(), "{found:?}");
    assert_eq!(found.distinct[2], engine.distribution(&fresh).distinct[2], "as before the first ANALYZE");
    engine.analyze(&t).unwrap();
    assert_eq!(engine.distribution(&t).column_values, [993, 993, 991]);
}

#[test]
fn a_counter_that_alter_table_set_outlives_other_changes() {
    let request = AutoIncrementRequest { count: 1, increment: 1, offset: 1, column_max: i64::MAX as u64 };
    let kill = KillFlag::default();
    let changed = |next: Option<u64>, comment: &str| {
        let mut changed = definition("t");
        changed.options.auto_increment = next;
        changed.columns[1].comment = comment.to_owned();
        changed
    };
    for is_clean in [true, false] {
        let disk = SimulatedDisk::new(1);
        let engine = open(&disk);
        create(&engine, "t");
        engine.alter_metadata(&name("t"), changed(Some(1000), ""), Vec::new(), &kill).unwrap();
        engine.alter_metadata(&name("t"), changed(None, "b"), Vec::new(), &kill).unwrap();
        if is_clean {
            engine.shutdown().unwrap();
        }
        drop(engine);
        let engine = open(&disk.restart_with_durable_state());
        let first = TableCounter::new(&begin(&engine), &table(&engine, "t"), InsertKind::Simple)
            .reserve(request)
            .unwrap()
            .first;
        assert_eq!(first, 1000, "after a clean end: {is_clean}");
    }
}

#[test]
fn older_snapshots_do_not_read_new_storage() {
    let engine = open(&SimulatedDisk::new(1));
    let t = create(&engine, "t");
    insert(&engine, &t, &[row(1, 10, "a")]);
    let count = |transaction: &Transaction, table: &std::sync::Arc<Table>, index| {
        transaction.count(table, index, &KeyRange::all())
    };
    let changed = |result: EngineResult<u64>| matches!(result, Err(EngineError::TableDefinitionChanged));
    let (old, late) = (begin(&engine), begin(&engine));
    old.take_snapshot().unwrap();
    let with_index = engine
        .add_indexes(&name("t"), vec![index("later", IndexKind::Plain, 1)], &KillFlag::default())
        .unwrap();
    let added = with_index.indexes().len() - 1;
    assert_eq!(count(&old, &with_index, 0).unwrap(), 1, "the rows are where they were");
    assert!(changed(count(&old, &with_index, added)));
    assert_eq!(count(&late, &with_index, added).unwrap(), 1, "its snapshot was taken after the change");
    let renamed = engine.drop_indexes(&name("t"), &["later".to_owned()], &KillFlag::default()).unwrap();
    assert_eq!(count(&old, &renamed, 0).unwrap(), 1);
    let emptied = engine.truncate_table(&name("t"), &KillFlag::default()).unwrap();
    assert!(changed(count(&old, &emptied, 0)));
    let mut found = |_: &[u8]| ();
    let locked = old.get(&emptied, 0, &key(&emptied, 1), ReadMode::Shared(WaitPolicy::Wait), &mut found);
    assert!(matches!(locked, Err(EngineError::TableDefinitionChanged)));
    assert_eq!(count(&begin(&engine), &emptied, 0).unwrap(), 0);
}

#[test]
fn other_definitions_change_while_rows_are_copied() {
    let engine = open(&SimulatedDisk::new(1));
    let t = create(&engine, "t");
    insert(&engine, &t, &[row(1, 10, "a")]);
    let kill = KillFlag::default();
    let mut convert = |row: &[u8], out: &mut Vec<u8>| {
        out.extend_from_slice(row);
        // What holds no lock on the table must not wait for the end of the copy: here it would never come.
        engine.create_table(definition("other"), &kill)?;
        engine.drop_tables(&[name("other")], &kill)
    };
    let (copied, rows) = engine
        .rebuild_table(
            &name("t"),
            definition("t"),
            Vec::new(),
            &kill,
            &AutoIncrement::starting_at(1),
            &mut convert,
        )
        .unwrap();
    assert_eq!((rows, all(&begin(&engine), &copied).len()), (1, 1));
    // Metadata locks prevent this; were it not so, the rows of the new table must not be lost.
    let mut convert = |_: &[u8], _: &mut Vec<u8>| engine.truncate_table(&name("t"), &kill).map(|_| ());
    let outcome = engine.rebuild_table(
        &name("t"),
        definition("t"),
        Vec::new(),
        &kill,
        &AutoIncrement::starting_at(1),
        &mut convert,
    );
    assert!(outcome.is_err());
    assert!(engine.dictionary().table("test", "t").is_some());
    assert_eq!(engine.check().unwrap(), Vec::<String>::new());
}
