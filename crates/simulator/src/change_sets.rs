//! Changes of several definitions in one step, over tables that nobody has used since the start: each is there as a whole after a crash, or
//! not at all, and no file is left without a table.

use engine::{EngineError, EngineResult, KillFlag, TransactionOptions};

use crate::database::{Contents, Database, SCHEMA, definition, table_name};
use crate::engine_scenario::{EngineScenario, World, create_schema, encode};
use crate::workloads::fill;

/// The scenario: tables are made, the engine ends and starts again, and then their definitions change.
pub fn scenario() -> EngineScenario {
    EngineScenario {
        then: Some(change),
        tables_open_max: 1,
        ..EngineScenario::new("changes of several tables", prepare)
    }
}

fn prepare(world: &mut World<'_>) -> EngineResult<()> {
    for name in ["a", "b", "c", "d"] {
        world.create_table(definition(name))?;
        fill(world, name, 8, 300)?;
    }
    Ok(())
}

fn change(world: &mut World<'_>) -> EngineResult<()> {
    exchange(world, "a", "b")?;
    drop_both(world, "c", "a")?;
    create_filled(world, "a", "b")?;
    create_in_vain(world, "e")?;
    exchange(world, "d", "a")?;
    world.engine.checkpoint()?;
    drop_schema(world)?;
    world.definition_change(|database| *database = Some(Default::default()), create_schema)?;
    world.create_table(definition("a"))?;
    fill(world, "a", 5, 100)?;
    create_filled(world, "b", "a")?;
    drop_schema(world)
}

fn take(database: &mut Database, name: &str) -> Contents {
    database.get_or_insert_default().remove(name).unwrap_or_default()
}

/// RENAME a TO x, b TO a, x TO b.
fn exchange(world: &mut World<'_>, one: &str, other: &str) -> EngineResult<()> {
    let renames =
        [(one, "x"), (other, one), ("x", other)].map(|(from, to)| (table_name(from), table_name(to)));
    world.definition_change(
        |database| {
            let (first, second) = (take(database, one), take(database, other));
            let tables = database.get_or_insert_default();
            tables.insert(one.into(), second);
            tables.insert(other.into(), first);
        },
        |engine| engine.rename_tables(&renames, &KillFlag::default()),
    )
}

/// DROP TABLE one, other.
fn drop_both(world: &mut World<'_>, one: &str, other: &str) -> EngineResult<()> {
    world.definition_change(
        |database| [one, other].iter().for_each(|name| drop(take(database, name))),
        |engine| engine.drop_tables(&[table_name(one), table_name(other)], &KillFlag::default()),
    )
}

/// DROP DATABASE.
fn drop_schema(world: &mut World<'_>) -> EngineResult<()> {
    let dropped = |engine: &engine::Engine| engine.drop_schema(SCHEMA, &KillFlag::default());
    world.definition_change(|database| *database = None, dropped).map(drop)
}

/// CREATE TABLE name SELECT * FROM source.
fn create_filled(world: &mut World<'_>, name: &str, source: &str) -> EngineResult<()> {
    let contents = world.contents(source);
    world.definition_change(
        |database| drop(database.get_or_insert_default().insert(name.into(), contents.clone())),
        |engine| {
            let made = engine.create_hidden_table(definition(name), &KillFlag::default())?;
            let transaction = engine.begin(TransactionOptions::default());
            for row in contents.rows.values() {
                transaction.insert(&made, &encode(&made, row))?;
            }
            transaction.publish_table(&made)?;
            let commit = transaction.commit()?;
            engine.show_table(&made, commit)
        },
    )
}

/// The same, but the statement fails at its end.
fn create_in_vain(world: &mut World<'_>, name: &str) -> EngineResult<()> {
    let made = world.engine.create_hidden_table(definition(name), &KillFlag::default())?;
    let transaction = world.engine.begin(TransactionOptions::default());
    for id in 0..5 {
        let row = world.row(id, 200, 0);
        transaction.insert(&made, &encode(&made, &row))?;
    }
    transaction.publish_table(&made)?;
    transaction.rollback_with_table(&made)?;
    world.engine.abandon_table(&made)?;
    match world.engine.dictionary().has_table(SCHEMA, name) {
        true => Err(EngineError::Corrupt("a table is there that was abandoned".to_owned())),
        false => Ok(()),
    }
}
