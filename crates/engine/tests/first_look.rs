//! Files that no start looks at: what is wrong with one shows when its table is used first, closes this table alone and is told once;
//! what is wrong for a moment only leaves nothing behind.

use crate::common::*;
use engine::*;
use env::simulated::{Fault, FaultKind, OperationClass, SimulatedDisk};
use env::{Disk, Environment, OpenMode};
use std::path::{Path, PathBuf};

const TABLES: [&str; 4] = ["a", "b", "c", "d"];

fn file(number: usize) -> PathBuf {
    PathBuf::from(format!("#tables/{}.ibd", 16 + number))
}

/// Tables with a row each, after a clean end; no page of them is in the doublewrite file.
fn directory() -> SimulatedDisk {
    let disk = SimulatedDisk::new(1);
    let engine = open(&disk);
    for (at, name) in TABLES.iter().enumerate() {
        insert(&engine, &create(&engine, name), &[row(at as i64, 1, name)]);
    }
    engine.shutdown().unwrap();
    drop(engine);
    disk.remove(Path::new("redo/doublewrite")).unwrap();
    disk.restart_after_kill()
}

fn read(engine: &Engine, name: &str) -> EngineResult<Vec<Row>> {
    scan(&begin(engine), &table(engine, name), 0, ReadMode::Consistent)
}

fn check_others(engine: &Engine, but: usize) {
    for (at, name) in TABLES.iter().enumerate().filter(|(at, _)| *at != but) {
        assert_eq!(read(engine, name).unwrap(), [row(at as i64, 1, name)]);
    }
}

#[test]
fn a_start_opens_no_table_file() {
    let disk = directory();
    let engine = open(&disk);
    let opened = disk.open_files();
    // Names and definitions need no file.
    assert_eq!(engine.dictionary().table_names("test"), TABLES);
    assert_eq!(TABLES.map(|name| table(&engine, name).definition().columns.len()), [3; 4]);
    let kill = KillFlag::default();
    engine.rename_tables(&[(name("a"), name("x")), (name("x"), name("a"))], &kill).unwrap();
    assert_eq!(disk.open_files(), opened);
    check_others(&engine, 3);
    assert_eq!(disk.open_files(), opened + 3);
    // Neither does dropping a table, and its file goes.
    engine.drop_tables(&[name("d")], &kill).unwrap();
    assert!(disk.contents(&file(3)).is_none() && disk.open_files() == opened + 3);
    check_others(&engine, 3);
    assert_eq!(engine.check().unwrap(), Vec::<String>::new());
}

type Harm = fn(&SimulatedDisk);

/// What is done to the file of `b`, whether the table is closed as damaged (or else misses its file), and what is told.
const HARMS: [(Harm, bool, &str); 6] = [
    (
        |disk| disk.corrupt(&file(1), 100, &[0x5A; 64]),
        true,
        "The header of the file '#tables/17.ibd' is damaged",
    ),
    (
        |disk| disk.corrupt(&file(1), 0, &disk.contents(&file(2)).unwrap()),
        true,
        "'#tables/17.ibd' is damaged",
    ),
    (
        |disk| disk.open(&file(1), OpenMode::Existing).unwrap().set_len(0).unwrap(),
        true,
        "'#tables/17.ibd' is damaged",
    ),
    (put_file_of_another_server, false, "is of another server"),
    (|disk| disk.deny(&file(1)), false, "permission denied"),
    (put_file_of_another_history, true, "is not the one of table `test`.`b`"),
];

fn put_file_of_another_server(disk: &SimulatedDisk) {
    let other = SimulatedDisk::new(7);
    let engine = Engine::open(Environment::simulated(other.clone(), 7), options()).unwrap();
    TABLES.iter().for_each(|name| drop(create(&engine, name)));
    disk.corrupt(&file(1), 0, &other.contents(&file(1)).unwrap());
}

/// A copy of the directory goes on by itself: of the same log, with the same number.
fn put_file_of_another_history(disk: &SimulatedDisk) {
    // The store id, and the checksum of the page over it.
    let mut header = disk.contents(&file(1)).unwrap()[..page::PAGE_BYTES].to_vec();
    header[88] ^= 1;
    let checksum = stdx::checksum::crc32c(&header[4..]);
    page::set_checksum(&mut header, checksum);
    disk.corrupt(&file(1), 0, &header);
}

#[test]
fn faults_close_one_table_and_are_told_once() {
    for (harm, is_damaged, text) in HARMS {
        let disk = directory();
        harm(&disk);
        let engine = open(&disk);
        assert_eq!(engine.take_messages(), Vec::<String>::new(), "{text}");
        for _ in 0..3 {
            let refused = read(&engine, "b").unwrap_err();
            assert_eq!(matches!(refused, EngineError::TableDamaged(_)), is_damaged, "{text}: {refused:?}");
            assert_eq!(matches!(refused, EngineError::FileMissing(_)), !is_damaged, "{text}: {refused:?}");
        }
        let told = engine.take_messages();
        assert!(told.len() == 1 && told[0].contains(text), "{text}: {told:?}");
        check_others(&engine, 1);
        let statistics = engine.statistics(&table(&engine, "b"));
        assert_eq!(statistics.rows, 0);
        // It can be renamed, and dropped with its file, if that is its file.
        let kill = KillFlag::default();
        engine.rename_tables(&[(name("b"), name("x"))], &kill).unwrap();
        assert!(read(&engine, "x").is_err());
        engine.drop_tables(&[name("x")], &kill).unwrap();
        assert_eq!(disk.contents(&file(1)).is_none(), is_damaged, "{text}");
        create(&engine, "b");
        engine.shutdown().unwrap();
        drop(engine);
        check_others(&open(&disk.restart_after_kill()), 1);
    }
}

#[test]
fn a_file_that_goes_behind_the_start_is_missing() {
    let disk = directory();
    let engine = open(&disk);
    disk.remove(&file(1)).unwrap();
    assert!(matches!(read(&engine, "b"), Err(EngineError::FileMissing(_))));
    let told = engine.take_messages();
    assert!(told.len() == 1 && told[0].contains("'#tables/17.ibd' of table `test`.`b`"), "{told:?}");
    check_others(&engine, 1);
}

#[test]
fn a_table_is_dropped_that_nobody_has_used() {
    for (harm, is_damaged, text) in HARMS {
        let disk = directory();
        harm(&disk);
        let engine = open(&disk);
        let kill = KillFlag::default();
        engine.drop_tables(&[name("b")], &kill).unwrap();
        assert_eq!(disk.contents(&file(1)).is_none(), is_damaged, "{text}: what is not ours is left alone");
        check_others(&engine, 1);
        engine.truncate_table(&name("c"), &kill).unwrap();
        assert_eq!(read(&engine, "c").unwrap(), []);
    }
}

#[test]
fn what_fails_for_now_decides_nothing() {
    let disk = directory();
    let engine = open(&disk);
    disk.set_open_files_max(Some(0));
    let refused = read(&engine, "a").unwrap_err();
    assert!(!matches!(refused, EngineError::TableDamaged(_) | EngineError::FileMissing(_)), "{refused:?}");
    let t = table(&engine, "a");
    assert!(begin(&engine).insert(&t, &encode(&t, &row(9, 9, "x"))).is_err());
    disk.set_open_files_max(None);
    disk.add_fault(Fault {
        class: OperationClass::Read,
        nth: disk.counts().reads,
        kind: FaultKind::InputOutput,
    });
    let refused = read(&engine, "b").unwrap_err();
    assert!(matches!(refused, EngineError::Io(_)), "{refused:?}");
    check_others(&engine, 4);
    assert_eq!(engine.take_messages(), Vec::<String>::new());
}

#[test]
fn many_look_at_once() {
    for (harm, is_damaged, text) in HARMS {
        let disk = directory();
        harm(&disk);
        let engine = open(&disk);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let refused = read(&engine, "b").unwrap_err();
                    assert_eq!(
                        matches!(refused, EngineError::TableDamaged(_)),
                        is_damaged,
                        "{text}: {refused:?}"
                    );
                    check_others(&engine, 1);
                });
            }
        });
        assert_eq!(engine.take_messages().len(), 1, "{text}");
    }
}
