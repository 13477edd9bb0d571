//! Names of tables and of their files: a rename is made as a whole or not at all, what no file can be called is refused, and a
//! file that has another name than its table's keeps no start from serving it.

#![allow(clippy::unwrap_used)]

mod common;

use common::*;
use dictionary::{SchemaDefinition, TableName};
use engine::*;
use env::simulated::{Fault, FaultKind, OperationClass, SimulatedDisk};
use env::{Disk, Environment, OpenMode};
use std::path::Path;

fn path(text: &str) -> &Path {
    Path::new(text)
}

fn kill() -> KillFlag {
    KillFlag::default()
}

fn try_open(disk: &SimulatedDisk, force_recovery: ForceRecovery) -> EngineResult<Engine> {
    Engine::open(Environment::simulated(disk.clone(), 1), EngineOptions { force_recovery, ..options() })
}

/// Two tables, `t` with one row and `u` with two, and the schema `other`.
fn directory() -> (SimulatedDisk, Engine) {
    let disk = SimulatedDisk::new(1);
    let engine = open(&disk);
    let (t, u) = (create(&engine, "t"), create(&engine, "u"));
    insert(&engine, &t, &[row(1, 10, "t")]);
    insert(&engine, &u, &[row(1, 10, "u"), row(2, 20, "u")]);
    let other = SchemaDefinition { name: "other".to_owned(), collation: charset::CollationId::BINARY };
    engine.create_schema(other, &kill()).unwrap();
    (disk, engine)
}

fn shut_down(disk: &SimulatedDisk, engine: Engine) -> SimulatedDisk {
    engine.shutdown().unwrap();
    drop(engine);
    disk.restart_with_durable_state()
}

fn rows(engine: &Engine, schema: &str, table: &str) -> Option<usize> {
    let table = engine.dictionary().table(schema, table)?;
    Some(all(&begin(engine), &table).len())
}

fn put(disk: &SimulatedDisk, name: &str, bytes: &[u8]) {
    disk.open(path(name), OpenMode::CreateNew).unwrap().write_at(bytes, 0).unwrap();
}

fn exists(disk: &SimulatedDisk, name: &str) -> bool {
    disk.contents(path(name)).is_some()
}

fn in_schema(schema: &str, table: &str) -> TableName {
    TableName { schema: schema.to_owned(), table: table.to_owned() }
}

#[test]
fn what_no_file_can_be_called_is_refused_before_anything_is_done() {
    let (disk, engine) = directory();
    let long = "\u{4e2d}".repeat(51);
    let refused = |error: Option<EngineError>| matches!(error, Some(EngineError::RenameFailed(_)));
    assert!(refused(engine.rename_tables(&[(name("t"), name(&long))], &kill()).err()));
    let both = [(name("u"), name("v")), (name("t"), name(&long))];
    assert!(refused(engine.rename_tables(&both, &kill()).err()));
    let renamed =
        dictionary::TableDefinition { name: name(&long), ..table(&engine, "t").definition().clone() };
    assert!(refused(engine.alter_metadata(&name("t"), renamed.clone(), &kill()).err()));
    let mut convert = |row: &[u8], out: &mut Vec<u8>| {
        out.extend_from_slice(row);
        Ok::<(), EngineError>(())
    };
    let counter = AutoIncrement::starting_at(1);
    assert!(refused(engine.rebuild_table(&name("t"), renamed, &kill(), &counter, &mut convert).err()));
    assert_eq!(engine.create_table(definition(&long), &kill()).err(), Some(EngineError::NameTooLong));
    let hidden = engine.create_hidden_table(definition(&long), &kill());
    assert_eq!(hidden.err(), Some(EngineError::NameTooLong));
    let schema = SchemaDefinition { name: long.clone() + "x", collation: charset::CollationId::BINARY };
    assert!(matches!(engine.create_schema(schema, &kill()), Err(EngineError::SchemaNameTooLong(_))));
    // 255 bytes with the suffix.
    let longest = format!("b{}", "\u{4e2d}".repeat(50));
    engine.create_table(definition(&longest), &kill()).unwrap();
    engine.truncate_table(&name(&longest), &kill()).unwrap();
    let engine = open(&shut_down(&disk, engine));
    assert_eq!(engine.take_messages(), Vec::<String>::new());
    assert_eq!((rows(&engine, "test", "t"), rows(&engine, "test", "u")), (Some(1), Some(2)));
    assert_eq!((rows(&engine, "test", &longest), rows(&engine, "test", &long)), (Some(0), None));
}

#[test]
fn a_file_in_the_way_fails_the_statement_and_nothing_else() {
    let (disk, engine) = directory();
    put(&disk, "test/y.ibd", b"backup");
    assert!(matches!(engine.create_table(definition("y"), &kill()), Err(EngineError::FileExists(_))));
    for renames in [
        vec![(name("t"), name("y"))],
        vec![(name("u"), name("w")), (name("t"), name("y"))],
        vec![(name("t"), name("y")), (name("u"), name("t"))],
    ] {
        let error = engine.rename_tables(&renames, &kill()).unwrap_err();
        let EngineError::RenameFailed(failed) = error else { panic!("{error}") };
        assert_eq!((&failed.from[..], &failed.to[..]), ("./test/t", "./test/y"));
        assert!(exists(&disk, "test/t.ibd") && exists(&disk, "test/u.ibd"));
    }
    assert_eq!((rows(&engine, "test", "t"), rows(&engine, "test", "u")), (Some(1), Some(2)));
    engine.shutdown().unwrap();
    drop(engine);
    let disk = disk.restart_after_kill();
    let engine = open(&disk);
    assert_eq!(engine.take_messages().len(), 1, "the strange file is told of");
    assert_eq!((rows(&engine, "test", "t"), rows(&engine, "test", "y")), (Some(1), None));
    assert_eq!(disk.contents(path("test/y.ibd")).unwrap(), b"backup");
}

/// Every disk call of a rename fails, once by each way: either all is done, or nothing is.
#[test]
fn a_rename_that_meets_a_full_disk_is_taken_back() {
    let renames = [(name("t"), in_schema("other", "t")), (name("u"), name("t"))];
    let mut failed = 0;
    for (class, kind) in [
        (OperationClass::Namespace, FaultKind::NoSpace),
        (OperationClass::Namespace, FaultKind::InputOutput),
        (OperationClass::Sync, FaultKind::InputOutput),
        (OperationClass::Write, FaultKind::InputOutput),
    ] {
        for step in 0.. {
            let (disk, engine) = directory();
            let counts = disk.counts();
            let before = match class {
                OperationClass::Namespace => counts.namespace,
                OperationClass::Sync => counts.syncs,
                _ => counts.writes,
            };
            disk.add_fault(Fault { class, nth: before + step, kind });
            let result = engine.rename_tables(&renames, &kill());
            disk.clear_faults();
            let probe =
                SchemaDefinition { name: "probe".to_owned(), collation: charset::CollationId::BINARY };
            let has_stopped = engine.create_schema(probe, &kill()).is_err();
            if !has_stopped {
                let names = [("test", "t"), ("test", "u"), ("other", "t")];
                let found = names.map(|(schema, table)| rows(&engine, schema, table));
                let expected = match &result {
                    Ok(()) => [Some(2), None, Some(1)],
                    Err(_) => [Some(1), Some(2), None],
                };
                assert_eq!(found, expected, "{class:?} {kind:?} {step}: {result:?}");
                let files = ["test/t.ibd", "test/u.ibd", "other/t.ibd"].map(|file| exists(&disk, file));
                assert_eq!(
                    files,
                    expected.map(|rows| rows.is_some()),
                    "{class:?} {kind:?} {step}: {result:?}"
                );
            }
            failed += usize::from(result.is_err());
            drop(engine);
            let engine = open(&disk.restart_after_kill());
            let found = (rows(&engine, "test", "t"), rows(&engine, "other", "t"));
            let (old, new) = ((Some(1), None), (Some(2), Some(1)));
            let expected = match (&result, has_stopped) {
                (Ok(()), _) => found == new,
                (Err(_), false) => found == old,
                (Err(_), true) => found == old || found == new,
            };
            assert!(expected, "{class:?} {kind:?} {step}: {result:?}, then {found:?}");
            assert_eq!(engine.check().unwrap(), Vec::<String>::new());
            if result.is_ok() {
                break;
            }
        }
    }
    assert!(failed > 8, "{failed}");
}

#[test]
fn a_file_that_cannot_have_its_tables_name_keeps_its_own() {
    let (disk, engine) = directory();
    let disk = shut_down(&disk, engine);
    disk.rename(path("test/t.ibd"), path("test/moved.ibd")).unwrap();
    put(&disk, "test/t.ibd", &[9; 40_000]);
    for force in
        [ForceRecovery::Off, ForceRecovery::PastDamage, ForceRecovery::WithoutLog, ForceRecovery::Off]
    {
        let engine = try_open(&disk, force).unwrap();
        let messages = engine.take_messages().join("\n");
        assert!(messages.contains("'test/moved.ibd' is used"), "{messages}");
        assert_eq!((rows(&engine, "test", "t"), rows(&engine, "test", "u")), (Some(1), Some(2)));
        drop(engine);
    }
    let engine = try_open(&disk, ForceRecovery::Off).unwrap();
    // TRUNCATE is done though the new file does not get the name either.
    engine.truncate_table(&name("t"), &kill()).unwrap();
    assert!(!exists(&disk, "test/moved.ibd"));
    insert(&engine, &table(&engine, "t"), &[row(5, 50, "new"), row(6, 60, "new"), row(7, 70, "new")]);
    let disk = shut_down(&disk, engine);
    let engine = try_open(&disk, ForceRecovery::Off).unwrap();
    assert_eq!(rows(&engine, "test", "t"), Some(3));
    let disk = shut_down(&disk, engine);
    disk.remove(path("test/t.ibd")).unwrap();
    let engine = try_open(&disk, ForceRecovery::Off).unwrap();
    assert_eq!(engine.take_messages(), Vec::<String>::new());
    assert_eq!((rows(&engine, "test", "t"), exists(&disk, "test/t.ibd")), (Some(3), true));
}

/// The copy of a file and what is left of the file itself: nobody but a person knows which one counts.
#[test]
fn a_copy_beside_a_damaged_file_is_used_by_force_only() {
    let (disk, engine) = directory();
    let disk = shut_down(&disk, engine);
    disk.remove(path("redo/doublewrite")).unwrap();
    let bytes = disk.contents(path("test/t.ibd")).unwrap();
    put(&disk, "test/copy.ibd", &bytes);
    disk.corrupt(path("test/t.ibd"), 100, &[0x5A; 64]);
    let error = try_open(&disk, ForceRecovery::Off).err().unwrap().to_string();
    assert!(error.contains("test/t.ibd") && error.contains("test/copy.ibd"), "{error}");
    let engine = try_open(&disk, ForceRecovery::PastDamage).unwrap();
    assert_eq!(rows(&engine, "test", "t"), Some(1));
}

#[test]
fn misnamed_files_get_their_names_in_any_order() {
    let (disk, engine) = directory();
    let disk = shut_down(&disk, engine);
    for (from, to) in [("test/t.ibd", "x"), ("test/u.ibd", "test/t.ibd"), ("x", "test/u.ibd")] {
        disk.rename(path(from), path(to)).unwrap();
    }
    // Each call fails once: no start is refused, and one without a fault puts all in order.
    let mut disk = disk;
    for step in 2..8 {
        disk = disk.restart_after_kill();
        disk.add_fault(Fault { class: OperationClass::Namespace, nth: step, kind: FaultKind::NoSpace });
        let engine = open(&disk);
        assert_eq!((rows(&engine, "test", "t"), rows(&engine, "test", "u")), (Some(1), Some(2)), "{step}");
        drop(engine);
        let mended = disk.restart_after_kill();
        let engine = open(&mended);
        assert_eq!(engine.take_messages(), Vec::<String>::new(), "{step}");
        assert_eq!((rows(&engine, "test", "t"), rows(&engine, "test", "u")), (Some(1), Some(2)), "{step}");
        drop(engine);
        // And misnamed again.
        let swapped = mended.restart_after_kill();
        for (from, to) in [("test/t.ibd", "x"), ("test/u.ibd", "test/t.ibd"), ("x", "test/u.ibd")] {
            swapped.rename(path(from), path(to)).unwrap();
        }
        disk = swapped;
    }
}

#[test]
fn what_cannot_be_read_closes_no_more_than_itself() {
    let (disk, engine) = directory();
    let disk = shut_down(&disk, engine);
    disk.create_directory(path("lost+found")).unwrap();
    put(&disk, "test/p.ibd", &[1; 20_000]);
    let mut disk = disk;
    for force in [ForceRecovery::Off, ForceRecovery::PastDamage, ForceRecovery::WithoutLog] {
        disk = disk.restart_after_kill();
        for denied in ["lost+found", "test/p.ibd", "test/u.ibd"] {
            disk.deny(path(denied));
        }
        let engine = try_open(&disk, force).unwrap();
        let messages = engine.take_messages().join("\n");
        for name in ["'lost+found'", "'test/p.ibd'", "'test/u.ibd' of table `test`.`u` cannot be used"] {
            assert!(messages.contains(name), "{name} in {messages}");
        }
        assert_eq!(rows(&engine, "test", "t"), Some(1));
        let u = table(&engine, "u");
        assert!(matches!(
            begin(&engine).scan(&u, ScanOptions::default()).err(),
            Some(EngineError::FileMissing(_))
        ));
    }
    // The log has changes of it.
    let disk = disk.restart_after_kill();
    let engine = open(&disk);
    let (u, last) = (table(&engine, "u"), begin(&engine));
    last.insert(&u, &encode(&u, &row(3, 30, "u"))).unwrap();
    engine.flush_log(last.commit().unwrap()).unwrap();
    drop(engine);
    let disk = disk.restart_after_kill();
    disk.deny(path("test/u.ibd"));
    let error = try_open(&disk, ForceRecovery::Off).err().unwrap().to_string();
    assert!(error.contains("'test/u.ibd'") && error.contains("permission denied"), "{error}");
    assert_eq!(rows(&open(&disk.restart_after_kill()), "test", "u"), Some(3));
}
