//! Few file descriptors, and none at all: tables' files are closed and opened again, statements that need one more fail with error
//! 1030, and nothing stops or is lost.

use crate::common::*;
use engine::*;
use env::Environment;
use env::simulated::SimulatedDisk;

const TABLES: i64 = 40;

fn start(disk: &SimulatedDisk) -> Engine {
    let options = EngineOptions { open_files_max: 10, ..options() };
    Engine::open(Environment::simulated(disk.clone(), 1), options).unwrap()
}

fn name_of(number: i64) -> String {
    format!("t{number}")
}

/// Each table has rows 0 to 9, and `added` more.
fn check(engine: &Engine, numbers: impl Iterator<Item = i64>, added: i64) {
    for number in numbers {
        let rows = all(&begin(engine), &table(engine, &name_of(number)));
        let expected: Vec<Row> = (0..10 + added).map(|id| row(id, id * number, "some text")).collect();
        assert_eq!(rows, expected, "table {number}");
    }
}

fn filled() -> (SimulatedDisk, Engine) {
    let disk = SimulatedDisk::new(1);
    let engine = start(&disk);
    for number in 1..=TABLES {
        let table = create(&engine, &name_of(number));
        insert(&engine, &table, &(0..10).map(|id| row(id, id * number, "some text")).collect::<Vec<_>>());
    }
    engine.checkpoint().unwrap();
    (disk, engine)
}

#[test]
fn many_tables_need_few_descriptors() {
    let (disk, engine) = filled();
    assert!(disk.open_files() < 30, "{}", disk.open_files());
    drop(engine);
    // A start looks at all files, and recovery changes some.
    let disk = disk.restart_with_durable_state();
    disk.set_open_files_max(Some(24));
    let engine = start(&disk);
    for id in 10..13 {
        for number in 1..=TABLES {
            insert(&engine, &table(&engine, &name_of(number)), &[row(id, id * number, "some text")]);
        }
        engine.checkpoint().unwrap();
        check(&engine, 1..=TABLES, id - 9);
    }
    create(&engine, "new");
    engine.truncate_table(&name("new"), &KillFlag::default()).unwrap();
    engine.rename_tables(&[(name("new"), name("other"))], &KillFlag::default()).unwrap();
    engine.drop_tables(&[name("other")], &KillFlag::default()).unwrap();
    engine.shutdown().unwrap();
    drop(engine);
    assert_eq!(disk.open_files(), 0);
    check(&start(&disk.restart_with_durable_state()), 1..=TABLES, 3);
}

/// What statements do with `left` descriptors: they work, or fail with that error.
fn run_with(engine: &Engine, disk: &SimulatedDisk, left: usize) -> Vec<bool> {
    let kill = KillFlag::default();
    // So many that nothing can be closed for more.
    disk.set_open_files_max(Some(left));
    let outcomes = [
        engine.create_table(definition("made"), &kill).map(drop),
        engine.truncate_table(&name("emptied"), &kill).map(drop),
        engine.drop_tables(&[name("dropped")], &kill),
        engine.rename_tables(&[(name("renamed"), name("renamed2"))], &kill),
    ];
    disk.set_open_files_max(None);
    for outcome in &outcomes {
        assert!(matches!(outcome, Ok(()) | Err(EngineError::TooManyFiles)), "{outcome:?}");
    }
    outcomes.iter().map(Result::is_ok).collect()
}

#[test]
fn statements_fail_and_the_engine_goes_on() {
    let own = {
        let disk = SimulatedDisk::new(1);
        let engine = start(&disk);
        create(&engine, "t");
        let tables_open = 1;
        disk.open_files() - tables_open
    };
    let mut outcomes = Vec::new();
    for left in 0..own + 6 {
        let (disk, engine) = filled();
        for table in ["emptied", "dropped", "renamed"] {
            insert(&engine, &create(&engine, table), &[row(1, 1, "x")]);
        }
        let works = run_with(&engine, &disk, left);
        // All goes on, and the state is what the outcomes say, now and after a crash.
        for number in 1..=TABLES {
            insert(&engine, &table(&engine, &name_of(number)), &[row(10, 10 * number, "some text")]);
        }
        engine.checkpoint().unwrap();
        let is_there = |engine: &Engine, name: &str| engine.dictionary().table("test", name).is_some();
        let state = |engine: &Engine| {
            check(engine, 1..=TABLES, 1);
            assert_eq!(is_there(engine, "made"), works[0], "with {left}");
            let rows = all(&begin(engine), &table(engine, "emptied")).len();
            assert_eq!(rows == 0, works[1], "with {left}");
            assert_eq!(is_there(engine, "dropped"), !works[2], "with {left}");
            let renamed = if works[3] { "renamed2" } else { "renamed" };
            assert_eq!(all(&begin(engine), &table(engine, renamed)).len(), 1, "with {left}");
        };
        state(&engine);
        drop(engine);
        let engine = start(&disk.restart_with_durable_state());
        state(&engine);
        create(&engine, "more");
        assert!(engine.take_messages().iter().all(|message| !message.contains("belongs to no table")));
        outcomes.push(works);
    }
    assert!(!outcomes.first().unwrap()[0], "{outcomes:?}");
    assert_eq!(outcomes.last().unwrap()[..], [true; 4], "{outcomes:?}");
}

/// What a statement does where `left` descriptors are left, with the table `gone`.
type Removal = fn(&Engine) -> EngineResult<()>;

#[test]
fn the_name_of_a_table_that_is_gone_is_free_at_once() {
    let removals: [Removal; 2] = [
        |engine| engine.drop_tables(&[name("gone")], &KillFlag::default()),
        |engine| {
            engine.truncate_table(&name("gone"), &KillFlag::default())?;
            engine.rename_tables(&[(name("gone"), name("elsewhere"))], &KillFlag::default())
        },
    ];
    for removal in removals {
        let mut removed = 0;
        for left in 0..24 {
            let disk = SimulatedDisk::new(1);
            let engine = start(&disk);
            insert(&engine, &create(&engine, "gone"), &[row(1, 1, "old")]);
            disk.set_open_files_max(Some(left));
            let outcome = removal(&engine);
            disk.set_open_files_max(None);
            if outcome.is_ok() {
                removed += 1;
                insert(&engine, &create(&engine, "gone"), &[row(2, 2, "new")]);
            }
            let expected = if outcome.is_ok() { vec![row(2, 2, "new")] } else { vec![row(1, 1, "old")] };
            let found = |engine: &Engine| {
                let rows = all(&begin(engine), &table(engine, "gone"));
                assert!(
                    rows == expected || outcome.is_err() && rows.is_empty(),
                    "{left}: {outcome:?}, {rows:?}"
                );
            };
            found(&engine);
            engine.sync_log(engine.status().log_end).unwrap();
            drop(engine);
            let engine = start(&disk.restart_with_durable_state());
            found(&engine);
            assert_eq!(engine.take_messages(), Vec::<String>::new(), "{left}");
        }
        assert!(removed > 8, "{removed}");
    }
}
