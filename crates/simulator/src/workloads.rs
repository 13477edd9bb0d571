//! The workloads of the crash simulation. Each is small, so that a crash at every one of its storage operations is
//! affordable, and each leans on one mechanism.

use dictionary::IndexKind;
use engine::{EngineError, EngineResult, KillFlag};
use values::Value;
use values::row::RowView;

use crate::change_sets;
use crate::database::{definition, definition_with_extra_column, index, table_name};
use crate::engine_scenario::{EngineScenario, Work, World};
use crate::spill_workload;

/// All engine scenarios.
pub fn all() -> Vec<EngineScenario> {
    vec![
        EngineScenario::new("inserts with splits", inserts_with_splits),
        EngineScenario::new("updates", updates),
        EngineScenario::new("deletes with merges", deletes_with_merges),
        EngineScenario::new("transactions over tables", transactions_over_tables),
        EngineScenario::new("blobs", blobs),
        EngineScenario::new("checkpoints", checkpoints),
        EngineScenario { log_bytes: 1 << 20, ..EngineScenario::new("log wraps", log_wraps) },
        EngineScenario::new("create, drop, rename, truncate", tables_come_and_go),
        EngineScenario::new("alter", alter),
        EngineScenario { pool_bytes: 512 << 10, ..EngineScenario::new("rollbacks", rollbacks) },
        EngineScenario::new("group commits", group_commits),
        EngineScenario::new("bulk inserts", bulk_inserts),
        EngineScenario {
            pool_bytes: 1 << 20,
            log_bytes: 1 << 20,
            ..EngineScenario::new("bulk inserts that meet rows", bulk_inserts_that_meet_rows)
        },
        spill_workload::scenario(),
        change_sets::scenario(),
    ]
}

fn inserts_with_splits(world: &mut World<'_>) -> EngineResult<()> {
    world.create_table(definition("t"))?;
    let table = world.table("t");
    for step in 0..40 {
        let mut work = world.begin();
        for place in 0..5 {
            let id = if step % 2 == 0 { step * 5 + place } else { 100_000 - step * 5 - place };
            let row = world.row(id, 900, 0);
            work.insert(&table, row)?;
        }
        world.commit(work)?;
    }
    Ok(())
}

pub(crate) fn fill(world: &mut World<'_>, name: &str, rows: i64, pad_bytes: u64) -> EngineResult<()> {
    let table = world.table(name);
    let mut work = world.begin();
    for id in 0..rows {
        let row = world.row(id, pad_bytes, 0);
        work.insert(&table, row)?;
    }
    world.commit(work)
}

fn updates(world: &mut World<'_>) -> EngineResult<()> {
    world.create_table(definition("t"))?;
    fill(world, "t", 60, 200)?;
    let table = world.table("t");
    for step in 0..40_i64 {
        let mut work = world.begin();
        for _ in 0..3 {
            let ids: Vec<i64> =
                work.database.as_ref().map_or(vec![], |tables| tables["t"].rows.keys().copied().collect());
            let old = ids[world.random.below(ids.len() as u64) as usize];
            // Mostly the same key, sometimes another.
            let new = if world.random.one_in(5) { 1000 + step * 10 + old } else { old };
            if new != old && ids.contains(&new) {
                continue;
            }
            let row = world.row(new, 900, 0);
            work.update(&table, old, row)?;
        }
        world.commit(work)?;
        if step == 20 {
            world.engine.checkpoint()?;
        }
    }
    Ok(())
}

fn deletes_with_merges(world: &mut World<'_>) -> EngineResult<()> {
    world.create_table(definition("t"))?;
    fill(world, "t", 150, 800)?;
    let table = world.table("t");
    for step in 0..28_i64 {
        let mut work = world.begin();
        for place in 0..5 {
            work.delete(&table, (step * 5 + place) * 7 % 150)?;
        }
        world.commit(work)?;
        if step % 4 == 3 {
            world.engine.purge()?;
        }
        if step == 12 {
            world.engine.checkpoint()?;
        }
    }
    // Keys that were deleted come back.
    fill_missing(world, "t", 40)
}

fn fill_missing(world: &mut World<'_>, name: &str, rows: i64) -> EngineResult<()> {
    let (table, contents) = (world.table(name), world.contents(name));
    let mut work = world.begin();
    for id in (0..rows).filter(|id| !contents.rows.contains_key(id)) {
        let row = world.row(id, 100, 0);
        work.insert(&table, row)?;
    }
    world.commit(work)
}

fn transactions_over_tables(world: &mut World<'_>) -> EngineResult<()> {
    for name in ["a", "b", "c"] {
        world.create_table(definition(name))?;
        fill(world, name, 20, 100)?;
    }
    for step in 0..30_i64 {
        let mut work = world.begin();
        for name in ["a", "b", "c"] {
            let table = world.table(name);
            let row = world.row(100 + step, 300, 0);
            work.insert(&table, row)?;
            let row = world.row(step % 20, 300, 0);
            work.update(&table, step % 20, row)?;
            if step > 0 {
                work.delete(&table, 99 + step)?;
            }
        }
        if step % 5 == 4 {
            work.transaction.rollback()?;
            // The next step deletes the row of this one.
            let mut work = world.begin();
            for name in ["a", "b", "c"] {
                let table = world.table(name);
                let row = world.row(100 + step, 10, 0);
                work.insert(&table, row)?;
            }
            world.commit(work)?;
        } else {
            world.commit(work)?;
        }
    }
    Ok(())
}

fn blobs(world: &mut World<'_>) -> EngineResult<()> {
    world.create_table(definition("t"))?;
    let table = world.table("t");
    for step in 0..24_i64 {
        let mut work = world.begin();
        let row = world.row(step, 50, 60_000);
        work.insert(&table, row)?;
        if step > 4 {
            let row = world.row(step - 3, 50, 40_000);
            work.update(&table, step - 3, row)?;
            work.delete(&table, step - 5)?;
        }
        world.commit(work)?;
        if step % 8 == 7 {
            world.engine.purge()?;
            world.engine.checkpoint()?;
        }
    }
    Ok(())
}

fn checkpoints(world: &mut World<'_>) -> EngineResult<()> {
    world.create_table(definition("t"))?;
    let table = world.table("t");
    for step in 0..30_i64 {
        let mut work = world.begin();
        for place in 0..4 {
            let row = world.row(place * 1000 + step, 400, 0);
            work.insert(&table, row)?;
        }
        if step % 3 == 0 {
            // A checkpoint that an open transaction spans: its before-images must stay.
            world.engine.checkpoint()?;
        }
        if step % 6 == 5 {
            work.transaction.rollback()?;
        } else {
            world.commit(work)?;
        }
    }
    Ok(())
}

fn log_wraps(world: &mut World<'_>) -> EngineResult<()> {
    world.create_table(definition("t"))?;
    let table = world.table("t");
    for step in 0..60_i64 {
        let mut work = world.begin();
        let row = world.row(step % 10, 900, 50_000);
        if step < 10 {
            work.insert(&table, row)?;
        } else {
            work.update(&table, step % 10, row)?;
        }
        world.commit(work)?;
        if step % 4 == 3 {
            world.engine.purge()?;
            world.engine.checkpoint()?;
        }
    }
    Ok(())
}

fn tables_come_and_go(world: &mut World<'_>) -> EngineResult<()> {
    for round in 0..3 {
        for name in ["a", "b"] {
            world.create_table(definition(name))?;
            fill(world, name, 10, 300)?;
        }
        let (from, to) = (table_name("a"), table_name("c"));
        world.definition_change(
            |database| {
                let tables = database.get_or_insert_default();
                let moved = tables.remove("a").unwrap_or_default();
                tables.insert("c".into(), moved);
            },
            |engine| engine.rename_tables(&[(from, to)], &KillFlag::default()),
        )?;
        world.definition_change(
            |database| {
                if let Some(table) = database.get_or_insert_default().get_mut("b") {
                    table.rows.clear();
                }
            },
            |engine| engine.truncate_table(&table_name("b"), &KillFlag::default()).map(|_| ()),
        )?;
        fill(world, "b", 5, 100)?;
        world.drop_table("b")?;
        if round == 1 {
            world.engine.checkpoint()?;
        }
        world.drop_table("c")?;
    }
    Ok(())
}

fn alter(world: &mut World<'_>) -> EngineResult<()> {
    world.create_table(definition("t"))?;
    fill(world, "t", 40, 500)?;
    let name = table_name("t");
    world.definition_change(
        |database| {
            if let Some(table) = database.get_or_insert_default().get_mut("t") {
                table.indexes.insert("pad_k".into());
            }
        },
        |engine| {
            engine
                .add_indexes(&name, vec![index("pad_k", IndexKind::Plain, &[2, 1])], &KillFlag::default())
                .map(|_| ())
        },
    )?;
    fill_missing(world, "t", 50)?;
    world.definition_change(
        |database| {
            if let Some(table) = database.get_or_insert_default().get_mut("t") {
                table.indexes.remove("pad_k");
                table.indexes.remove("k");
            }
        },
        |engine| engine.drop_indexes(&name, &["pad_k".into(), "k".into()], &KillFlag::default()).map(|_| ()),
    )?;
    fill_missing(world, "t", 60)?;
    add_column(world)?;
    let table = world.table("t");
    let mut work = world.begin();
    let mut row = world.row(500, 100, 0);
    row.push(Value::Int(9));
    work.insert(&table, row)?;
    world.commit(work)
}

fn add_column(world: &mut World<'_>) -> EngineResult<()> {
    let (old, definition) = (world.table("t"), definition_with_extra_column("t"));
    let types = definition.columns.iter().map(|column| (&column.column_type, column.nullable));
    let layout = values::row::RowLayout::new(types);
    let mut convert = |row: &[u8], out: &mut Vec<u8>| -> EngineResult<()> {
        let corrupt = |error| EngineError::Corrupt(format!("{error:?}"));
        let mut values = RowView::new(old.layout(), row).map_err(corrupt)?.values();
        values.push(Value::Int(7));
        layout.encode_into(&values, out).map_err(corrupt)
    };
    let contents = crate::database::empty_contents(&definition);
    world.definition_change(
        |database| {
            let tables = database.get_or_insert_default();
            let mut altered = contents;
            for (id, row) in &tables["t"].rows {
                let mut row = row.to_vec();
                row.push(Value::Int(7));
                altered.rows.insert(*id, row.into());
            }
            tables.insert("t".into(), altered);
        },
        |engine| {
            engine
                .rebuild_table(
                    &table_name("t"),
                    definition.clone(),
                    Vec::new(),
                    &KillFlag::default(),
                    &engine::AutoIncrement::starting_at(1),
                    &mut convert,
                )
                .map(|_| ())
        },
    )
}

/// Transactions larger than the pool, so that pages with uncommitted rows are written, and then rolled back or lost.
fn rollbacks(world: &mut World<'_>) -> EngineResult<()> {
    world.create_table(definition("t"))?;
    fill(world, "t", 50, 700)?;
    let table = world.table("t");
    for step in 0..4_i64 {
        let mut work = world.begin();
        for id in 0..50 {
            let row = world.row(id, 900, 3000);
            work.update(&table, id, row)?;
            let row = world.row(1000 + step * 100 + id, 900, 3000);
            work.insert(&table, row)?;
        }
        if step == 1 {
            world.engine.checkpoint()?;
        }
        if step == 3 {
            break;
        }
        work.transaction.rollback()?;
        let mut work = world.begin();
        let row = world.row(step, 100, 0);
        work.update(&table, step, row)?;
        let (mark, database) = (work.transaction.mark(), work.database.clone());
        work.delete(&table, 40 + step)?;
        work.transaction.rollback_to(mark)?;
        work.database = database;
        world.commit(work)?;
    }
    Ok(())
}

fn group_commits(world: &mut World<'_>) -> EngineResult<()> {
    world.create_table(definition("t"))?;
    let table = world.table("t");
    for step in 0..20_i64 {
        let mut last = None;
        for place in 0..4 {
            let mut work = world.begin();
            let row = world.row(step * 4 + place, 300, 0);
            work.insert(&table, row)?;
            if step > 0 {
                let row = world.row(place, 300, 0);
                work.update(&table, place, row)?;
            }
            last = Some(world.commit_lazily(work)?);
        }
        if let Some(lsn) = last {
            world.flush(lsn)?;
        }
    }
    Ok(())
}

/// Inserts rows by one call into the transaction and, if they are all new, into what is expected of it. False if one of
/// them was there already.
fn insert_together(world: &World<'_>, work: &mut Work, rows: Vec<Vec<Value>>) -> EngineResult<bool> {
    let table = world.table("t");
    let encoded: Vec<_> = rows.iter().map(|row| crate::engine_scenario::encode(&table, row)).collect();
    let slices: Vec<&[u8]> = encoded.iter().map(Vec::as_slice).collect();
    if !work.transaction.try_insert_many(&table, &slices)? {
        return Ok(false);
    }
    let tables = work.database.get_or_insert_default();
    let contents = tables.entry("t".to_owned()).or_default();
    for row in rows {
        if let Some(Value::Int(id)) = row.first() {
            contents.rows.insert(*id, row.into());
        }
    }
    Ok(true)
}

fn bulk_inserts(world: &mut World<'_>) -> EngineResult<()> {
    world.create_table(definition("t"))?;
    for step in 0..6_i64 {
        let mut work = world.begin();
        let rows = (0..60).map(|place| world.row(step * 60 + place, 500, 0)).collect();
        insert_together(world, &mut work, rows)?;
        if step == 2 {
            work.transaction.rollback()?;
        } else {
            world.commit(work)?;
        }
    }
    Ok(())
}

/// Batches in random order between rows that are there, over delete marks, with duplicates that undo a batch, and
/// with part of a transaction rolled back; the log wraps while they run, so that undo is saved elsewhere.
fn bulk_inserts_that_meet_rows(world: &mut World<'_>) -> EngineResult<()> {
    world.create_table(definition("t"))?;
    let table = world.table("t");
    for step in 0..10_i64 {
        let mut work = world.begin();
        for _ in 0..3 {
            let mut ids: Vec<i64> = (0..40).map(|_| world.random.below(2000) as i64).collect();
            ids.sort_unstable();
            ids.dedup();
            if world.random.one_in(3) {
                ids.reverse();
            }
            let rows = ids.iter().map(|id| world.row(*id, 700, 0)).collect();
            let (mark, before) = (work.transaction.mark(), work.database.clone());
            if insert_together(world, &mut work, rows)? && world.random.one_in(4) {
                work.transaction.rollback_to(mark)?;
                work.database = before;
            }
        }
        let old = work.database.as_ref().and_then(|tables| tables.get("t"));
        let old: Vec<i64> = old.map_or(vec![], |t| t.rows.keys().copied().step_by(7).collect());
        for id in old {
            work.delete(&table, id)?;
        }
        match step % 5 {
            3 => work.transaction.rollback()?,
            _ => world.commit(work)?,
        }
        if step == 6 {
            world.engine.purge()?;
        }
    }
    Ok(())
}
