//! Crashes at random and at every disk operation: acknowledged commits are there, others wholly or not at all.

#![allow(clippy::unwrap_used)]

mod common;

use common::model::*;
use common::*;
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

/// Opens after a crash and compares with what was promised.
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
    assert_eq!(statements(&open(&disk)).unwrap(), 9);
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
            }
            engine.shutdown().unwrap();
            // A second start changes nothing.
            let again = open(&image.restart_after_kill());
            sound(&again);
            assert_eq!(tables(&again), tables(&engine));
        }
    }
}
