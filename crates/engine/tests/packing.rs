//! Tables that nobody holds are packed and opened again: what only memory knows of them goes along, and what somebody holds stays.

use crate::common::*;
use engine::InsertKind;
use engine::*;
use env::Environment;
use env::simulated::SimulatedDisk;
use std::sync::Arc;

/// Others that are opened to have the one packed.
const OTHERS: i64 = 6;

fn start(disk: &SimulatedDisk) -> Engine {
    let options = EngineOptions { tables_open_max: 2, ..options() };
    Engine::open(Environment::simulated(disk.clone(), 1), options).unwrap()
}

fn with_others() -> (SimulatedDisk, Engine) {
    let disk = SimulatedDisk::new(1);
    let engine = start(&disk);
    (0..OTHERS).for_each(|number| drop(create(&engine, &format!("other{number}"))));
    (disk, engine)
}

/// Opens the others, twice because of the second chance: no more than two tables are open that nobody holds.
fn use_others(engine: &Engine) {
    for number in (0..2 * OTHERS).map(|number| number % OTHERS) {
        drop(table(engine, &format!("other{number}")));
    }
}

fn reserve(engine: &Engine, name: &str) -> u64 {
    let request = AutoIncrementRequest { count: 1, increment: 1, offset: 1, column_max: u64::MAX };
    TableCounter::new(&begin(engine), &table(engine, name), InsertKind::Simple)
        .reserve(request)
        .unwrap()
        .first
}

#[test]
fn what_is_held_stays_and_others_are_bounded() {
    let (_, engine) = with_others();
    let held: Vec<Arc<Table>> = ["a", "b", "c"].map(|name| create(&engine, name)).into();
    for _ in 0..5 {
        use_others(&engine);
        for (table, name) in held.iter().zip(["a", "b", "c"]) {
            assert!(Arc::ptr_eq(table, &engine.dictionary().table("test", name).unwrap()));
        }
    }
    assert!(engine.dictionary().open_table_count() <= 3 + 2, "{}", engine.dictionary().open_table_count());
    let names = engine.dictionary().table_names("test");
    assert_eq!((names.len(), &names[..2]), (9, &["a".to_owned(), "b".to_owned()][..]));
    drop(held);
    use_others(&engine);
    assert!(engine.dictionary().open_table_count() <= 2);
    engine.dictionary().set_open_max(100);
    use_others(&engine);
    assert!(engine.dictionary().open_table_count() >= OTHERS as usize);
}

#[test]
fn counters_and_statistics_go_on_exactly() {
    let (disk, engine) = with_others();
    let t = create(&engine, "t");
    insert(&engine, &t, &(1..=200).map(|id| row(id, id, &format!("{}", id % 4))).collect::<Vec<_>>());
    engine.analyze(&t).unwrap();
    let distinct = engine.statistics(&t).distinct;
    drop(t);
    for value in 1..=10 {
        use_others(&engine);
        assert_eq!(reserve(&engine, "t"), value);
        assert_eq!(engine.statistics(&table(&engine, "t")).distinct, distinct);
    }
    // A clean end stores the counter of a packed table, too.
    use_others(&engine);
    engine.shutdown().unwrap();
    drop(engine);
    let engine = start(&disk.restart_with_durable_state());
    use_others(&engine);
    assert_eq!(reserve(&engine, "t"), 11);
}

#[test]
fn old_snapshots_do_not_see_new_trees() {
    let (_, engine) = with_others();
    let old = begin(&engine);
    assert_eq!(all(&old, &table(&engine, "other0")), []);
    let t = create(&engine, "t");
    insert(&engine, &t, &[row(1, 1, "one")]);
    drop(t);
    use_others(&engine);
    let refused = scan(&old, &table(&engine, "t"), 0, ReadMode::Consistent).unwrap_err();
    assert!(matches!(refused, EngineError::TableDefinitionChanged), "{refused:?}");
    assert_eq!(all(&begin(&engine), &table(&engine, "t")), [row(1, 1, "one")]);
}

#[test]
fn rollback_and_purge_open_what_they_need() {
    let (disk, engine) = with_others();
    for name in ["t", "u"] {
        let table = create(&engine, name);
        insert(&engine, &table, &(0..20).map(|id| row(id, id, "kept")).collect::<Vec<_>>());
    }
    let reader = begin(&engine);
    assert_eq!(all(&reader, &table(&engine, "t")).len(), 20);
    let writer = begin(&engine);
    for name in ["t", "u"] {
        let table = table(&engine, name);
        (0..10).for_each(|id| writer.delete(&table, &key(&table, id)).unwrap());
    }
    use_others(&engine);
    writer.rollback().unwrap();
    let writer = begin(&engine);
    let t = table(&engine, "t");
    (0..5).for_each(|id| writer.delete(&t, &key(&t, id)).unwrap());
    drop(t);
    writer.commit().unwrap();
    use_others(&engine);
    drop(reader);
    engine.sync_log(engine.status().log_end).unwrap();
    assert!(engine.purge().unwrap() > 0);
    assert_eq!(engine.check().unwrap(), Vec::<String>::new());
    // What a crash leaves unfinished names its tables by their indexes.
    let loser = begin(&engine);
    for name in ["t", "u"] {
        let table = table(&engine, name);
        (10..20).for_each(|id| loser.delete(&table, &key(&table, id)).unwrap());
    }
    engine.sync_log(engine.status().log_end).unwrap();
    let disk = disk.restart_after_kill();
    drop((loser, engine));
    let engine = start(&disk);
    while engine.roll_back_unfinished(3).unwrap() > 0 {
        use_others(&engine);
    }
    assert_eq!(all(&begin(&engine), &table(&engine, "t")).len(), 15);
    assert_eq!(all(&begin(&engine), &table(&engine, "u")).len(), 20);
    assert_eq!(engine.check().unwrap(), Vec::<String>::new());
}

#[test]
fn definitions_change_over_packed_tables() {
    let (disk, engine) = with_others();
    let kill = KillFlag::default();
    for name in ["a", "b", "c"] {
        let table = create(&engine, name);
        insert(&engine, &table, &[row(1, 1, name)]);
    }
    use_others(&engine);
    engine
        .rename_tables(&[(name("a"), name("x")), (name("b"), name("a")), (name("x"), name("b"))], &kill)
        .unwrap();
    use_others(&engine);
    engine.drop_indexes(&name("c"), &["u".to_owned()], &kill).unwrap();
    use_others(&engine);
    engine.drop_tables(&[name("other0")], &kill).unwrap();
    let check = |engine: &Engine| {
        assert_eq!(all(&begin(engine), &table(engine, "a")), [row(1, 1, "b")]);
        assert_eq!(all(&begin(engine), &table(engine, "b")), [row(1, 1, "a")]);
        assert_eq!(table(engine, "c").indexes().len(), 2);
        assert_eq!(engine.check().unwrap(), Vec::<String>::new());
    };
    check(&engine);
    drop(engine);
    let engine = start(&disk.restart_with_durable_state());
    check(&engine);
    use_others_but_first(&engine);
    assert_eq!(engine.drop_schema("test", &kill).unwrap(), 3 + OTHERS as usize - 1);
    assert_eq!(engine.check().unwrap(), Vec::<String>::new());
}

fn use_others_but_first(engine: &Engine) {
    (1..OTHERS).for_each(|number| drop(table(engine, &format!("other{number}"))));
}
