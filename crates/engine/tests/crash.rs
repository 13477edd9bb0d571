//! Crashes at random and at every disk operation: acknowledged commits are there, others wholly or not at all.

use crate::common::model::*;
use crate::common::*;
use engine::InsertKind;
use engine::*;
use env::simulated::SimulatedDisk;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a run of the workload leaves behind: the rows that were acknowledged, and those of the commit that was under way.
struct Outcome {
    acknowledged: Rows,
    in_flight: Option<Rows>,
}

/// Random transactions until the disk crashes or the steps are used up. Every commit is flushed and so acknowledged.
fn work(disk: &SimulatedDisk, seed: u64, outcome: &mut Outcome) -> EngineResult<()> {
    let engine = Engine::open(env::Environment::simulated(disk.clone(), seed), options())?;
    while engine.roll_back_unfinished(1000)? > 0 {}
    let t = match engine.dictionary().table("test", "t") {
        Some(table) => table,
        None => {
            if engine.dictionary().schema("test").is_none() {
                engine.create_schema(
                    dictionary::SchemaDefinition {
                        name: "test".to_owned(),
                        collation: charset::CollationId::BINARY,
                    },
                    &KillFlag::default(),
                )?;
            }
            engine.create_table(definition("t"), &KillFlag::default())?
        }
    };
    let mut random = Random(seed.wrapping_mul(2_654_435_761) | 1);
    // A transaction that is never committed: always a loser.
    let loser = begin(&engine);
    for round in 0..25 {
        let transaction = begin(&engine);
        let mut rows = outcome.acknowledged.clone();
        for _ in 0..1 + random.below(12) {
            step(&transaction, &t, &mut rows, &mut random, 40)?;
        }
        loser.insert(&t, &encode(&t, &(1000 + round, Some(1000 + round), "never".to_owned())))?;
        match random.below(5) {
            0 => transaction.rollback()?,
            _ => {
                outcome.in_flight = Some(rows.clone());
                let lsn = transaction.commit()?;
                engine.sync_log(lsn)?;
                outcome.acknowledged = rows;
                outcome.in_flight = None;
            }
        }
        match random.below(8) {
            0 => engine.checkpoint()?,
            1 => {
                engine.purge()?;
            }
            _ => {}
        }
    }
    std::mem::forget(loser);
    Ok(())
}

/// The engine may end a crashed process by a panic (a commit that cannot be logged); that is a crash too.
fn run(disk: &SimulatedDisk, seed: u64, outcome: &mut Outcome) {
    let result = catch_unwind(AssertUnwindSafe(|| work(disk, seed, outcome)));
    if let Ok(Err(error)) = result {
        assert!(disk.has_crashed(), "seed {seed}: {error:?}");
    }
}

/// Opens after a crash and compares with what was promised, before the losers are rolled back, and while they are.
fn verify(disk: &SimulatedDisk, seed: u64, outcome: &mut Outcome) {
    let engine = open(disk);
    sound(&engine);
    let Some(t) = engine.dictionary().table("test", "t") else {
        assert!(outcome.acknowledged.is_empty(), "seed {seed}: the table is lost");
        return;
    };
    let found: Rows = all(&begin(&engine), &t).into_iter().map(|row| (row.0, row)).collect();
    let in_flight = outcome.in_flight.take().is_some_and(|rows| rows == found);
    assert!(found == outcome.acknowledged || in_flight, "seed {seed}: {} rows", found.len());
    outcome.acknowledged = found;
    let mut records = 1 + (seed % 5) as usize;
    while engine.roll_back_unfinished(records).unwrap() > 0 {
        records += 1;
        sound(&engine);
        let found: Rows = all(&begin(&engine), &t).into_iter().map(|row| (row.0, row)).collect();
        assert_eq!(found, outcome.acknowledged, "seed {seed}: in the rollback");
    }
    sound(&engine);
    engine.shutdown().unwrap();
}

fn operations(seed: u64) -> u64 {
    let disk = SimulatedDisk::new(seed);
    run(&disk, seed, &mut Outcome { acknowledged: Rows::new(), in_flight: None });
    disk.counts().mutations
}

#[test]
fn crash_anywhere_and_go_on() {
    for seed in 1..4u64 {
        let total = operations(seed);
        let points = 40;
        for point in 0..points {
            let mut outcome = Outcome { acknowledged: Rows::new(), in_flight: None };
            let disk = SimulatedDisk::new(seed);
            disk.crash_at(1 + point * total / points);
            run(&disk, seed, &mut outcome);
            // Crash once more while recovering, then recover for good, work on, crash hard and look again.
            let disk = disk.restart(seed ^ point);
            disk.crash_at(1 + point % 7);
            let _ = catch_unwind(AssertUnwindSafe(|| {
                Engine::open(env::Environment::simulated(disk.clone(), 1), options())
            }));
            let disk = disk.restart(seed ^ point ^ 99);
            verify(&disk, seed, &mut outcome);
            run(&disk, seed + 100, &mut outcome);
            let disk = disk.restart_with_durable_state();
            verify(&disk, seed, &mut outcome);
        }
    }
}

#[test]
fn every_ddl_statement_is_all_or_nothing() {
    let statements = |engine: &Engine| -> EngineResult<u32> {
        let mut done = 0;
        let mut next = |result: EngineResult<()>| {
            result?;
            done += 1;
            Ok::<u32, EngineError>(done)
        };
        let schema =
            dictionary::SchemaDefinition { name: "test".to_owned(), collation: charset::CollationId::BINARY };
        next(engine.create_schema(schema, &KillFlag::default()))?;
        next(engine.create_table(definition("a"), &KillFlag::default()).map(|_| ()))?;
        next(engine.create_table(definition("b"), &KillFlag::default()).map(|_| ()))?;
        next(engine.rename_tables(
            &[(name("a"), name("c")), (name("b"), name("a")), (name("c"), name("b"))],
            &KillFlag::default(),
        ))?;
        next(engine.truncate_table(&name("a"), &KillFlag::default()).map(|_| ()))?;
        next(engine.drop_indexes(&name("b"), &["k".to_owned()], &KillFlag::default()).map(|_| ()))?;
        next(
            engine
                .add_indexes(
                    &name("b"),
                    vec![index("a2", dictionary::IndexKind::Plain, 1)],
                    &KillFlag::default(),
                )
                .map(|_| ()),
        )?;
        // One gets another name, one comes and one goes, in one step.
        let mut changed = engine.dictionary().table("test", "b").unwrap().definition().clone();
        changed.indexes.retain(|index| index.name != "u");
        let other = changed.indexes.iter_mut().find(|index| index.name == "a2").unwrap();
        other.name = "renamed".to_owned();
        changed.indexes.push(index("made", dictionary::IndexKind::Plain, 1));
        next(engine.change_indexes(&name("b"), changed, Vec::new(), &KillFlag::default()).map(|_| ()))?;
        next(engine.drop_tables(&[name("a")], &KillFlag::default()))?;
        next(engine.drop_schema("test", &KillFlag::default()).map(|_| ()))
    };
    let tables = |engine: &Engine| -> Vec<(String, Vec<String>)> {
        let indexes =
            |table: &Table| table.definition().indexes.iter().map(|index| index.name.clone()).collect();
        engine
            .dictionary()
            .tables("test")
            .iter()
            .map(|t| (t.definition().name.table.clone(), indexes(t)))
            .collect()
    };
    let disk = SimulatedDisk::new(5);
    assert_eq!(statements(&open(&disk)).unwrap(), 10);
    let total = disk.counts().mutations;
    for point in 1..=total {
        let disk = SimulatedDisk::new(point);
        disk.crash_at(point);
        let _ = catch_unwind(AssertUnwindSafe(|| {
            let engine = Engine::open(env::Environment::simulated(disk.clone(), 1), options())?;
            statements(&engine)
        }));
        for image in [disk.restart_with_durable_state(), disk.restart(point)] {
            let engine = open(&image);
            sound(&engine);
            for (_, indexes) in tables(&engine) {
                assert!(indexes.len() >= 2, "crash at {point}: {indexes:?}");
                let has = |name: &str| indexes.iter().any(|index| index == name);
                let is_changed = has("renamed");
                assert!(has("made") == is_changed && has("u") != is_changed, "crash at {point}: {indexes:?}");
            }
            engine.shutdown().unwrap();
            // A second start changes nothing.
            let again = open(&image.restart_after_kill());
            sound(&again);
            assert_eq!(tables(&again), tables(&engine));
        }
    }
}

/// ALTER by copy: the counter goes with the new table, wherever the machine stops, and with a definition that only names it.
#[test]
fn the_counter_of_an_altered_table_is_above_its_rows() {
    let request = AutoIncrementRequest { count: 1, increment: 1, offset: 1, column_max: i64::MAX as u64 };
    let prepare = |disk: &SimulatedDisk| {
        let engine = open(disk);
        let t = create(&engine, "t");
        let transaction = begin(&engine);
        for id in 1..=3 {
            transaction.insert(&t, &encode(&t, &row(id, id, "x"))).unwrap();
        }
        engine.sync_log(transaction.commit().unwrap()).unwrap();
        engine
    };
    let alter = |engine: &Engine| {
        let counter = AutoIncrement::starting_at(1);
        let copied = engine.rebuild_table(
            &name("t"),
            definition("t"),
            Vec::new(),
            &KillFlag::default(),
            &counter,
            &mut |row, out| {
                out.extend_from_slice(row);
                counter.raise_above(3, u64::MAX);
                Ok::<_, EngineError>(())
            },
        )?;
        let mut named = definition("t");
        named.options.auto_increment = Some(1000);
        engine.alter_metadata(&name("t"), named, Vec::new(), &KillFlag::default())?;
        Ok::<_, EngineError>(copied)
    };
    let total = {
        let disk = SimulatedDisk::new(3);
        let engine = prepare(&disk);
        let before = disk.counts().mutations;
        alter(&engine).unwrap();
        assert_eq!(
            TableCounter::new(&begin(&engine), &table(&engine, "t"), InsertKind::Simple)
                .reserve(request)
                .unwrap()
                .first,
            1000
        );
        disk.counts().mutations - before
    };
    let mut seen = std::collections::BTreeSet::new();
    for point in 0..=total {
        let disk = SimulatedDisk::new(point);
        let engine = prepare(&disk);
        disk.crash_at(disk.counts().mutations + point);
        let _ = catch_unwind(AssertUnwindSafe(|| alter(&engine)));
        drop(engine);
        let engine = open(&disk.restart(point));
        let t = table(&engine, "t");
        let transaction = begin(&engine);
        seen.insert(TableCounter::new(&transaction, &t, InsertKind::Simple).reserve(request).unwrap().first);
        assert_eq!(all(&transaction, &t).len(), 3, "crash at {point}");
    }
    // The rows went in without their counter being told.
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), [1, 4, 1000]);
}
