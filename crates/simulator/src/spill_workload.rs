//! The workload of the crash simulation that leans on the temporary file: with little memory for old versions and undo,
//! a snapshot stays open over updates, a commit and a rollback, and must see its rows at every step.

use engine::{EngineResult, ReadMode, Transaction, TransactionOptions};
use values::Value;
use values::row::RowView;

use crate::database::definition;
use crate::engine_scenario::{EngineScenario, World, key};

const ROWS: i64 = 50;

/// The scenario.
pub fn scenario() -> EngineScenario {
    EngineScenario { version_memory_bytes: 16 << 10, ..EngineScenario::new("spilled versions", spills) }
}

fn spills(world: &mut World<'_>) -> EngineResult<()> {
    world.create_table(definition("t"))?;
    let table = world.table("t");
    let mut work = world.begin();
    for id in 0..ROWS {
        let row = world.row(id, 900, 0);
        work.insert(&table, row)?;
    }
    world.commit(work)?;
    let reader = world.engine.begin(TransactionOptions::default());
    reader.take_snapshot()?;
    let seen = world.contents("t").rows;
    for step in 0..4 {
        let mut work = world.begin();
        for id in 0..ROWS {
            let row = world.row(id, 900, 3000);
            work.update(&table, id, row)?;
        }
        if step % 2 == 0 {
            world.commit(work)?
        } else {
            work.transaction.rollback()?
        }
        world.engine.purge()?;
        for (id, row) in &seen {
            let found = read(world, &reader, *id)?;
            assert_eq!(found.as_deref(), Some(&row[..]), "row {id} of the snapshot");
        }
    }
    drop(reader);
    world.engine.purge()?;
    world.engine.checkpoint()
}

fn read(world: &World<'_>, reader: &Transaction, id: i64) -> EngineResult<Option<Vec<Value>>> {
    let table = world.table("t");
    let mut row = None;
    reader.get(&table, 0, &key(&table, id), ReadMode::Consistent, &mut |bytes| {
        row = RowView::new(table.layout(), bytes).ok().map(|view| view.values());
    })?;
    Ok(row)
}
