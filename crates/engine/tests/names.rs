//! Names of tables and of their files: a rename is made as a whole or not at all and touches no file, what MySQL could call no file by is
//! refused, and files that have the names of tables, as the first builds called them, are served and get the names that they have now.

use crate::common::*;
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
    let file = disk.open(path(name), OpenMode::CreateNew).unwrap();
    file.write_at(bytes, 0).unwrap();
    file.sync_all().unwrap();
    disk.directory(path(name).parent().unwrap()).unwrap().sync().unwrap();
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
    assert!(refused(engine.alter_metadata(&name("t"), renamed.clone(), Vec::new(), &kill()).err()));
    let mut convert = |row: &[u8], out: &mut Vec<u8>| {
        out.extend_from_slice(row);
        Ok::<(), EngineError>(())
    };
    let counter = AutoIncrement::starting_at(1);
    assert!(refused(
        engine.rebuild_table(&name("t"), renamed, Vec::new(), &kill(), &counter, &mut convert).err()
    ));
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

/// What earlier builds called the files of `t` and `u`.
const OLD: [&str; 2] = ["test/t.ibd", "test/u.ibd"];
/// What they are called.
const NEW: [&str; 2] = ["#tables/16.ibd", "#tables/17.ibd"];

/// Gives files the names that earlier builds gave them.
fn name_as_before(disk: &SimulatedDisk) {
    disk.create_directory(path("test")).unwrap();
    NEW.iter().zip(OLD).for_each(|(new, old)| disk.rename(path(new), path(old)).unwrap());
}

#[test]
fn names_of_tables_touch_no_file() {
    let (disk, engine) = directory();
    let files = disk.list(path("#tables")).unwrap();
    let namespace = disk.counts().namespace;
    let renames = [(name("t"), name("x")), (name("u"), name("t")), (name("x"), in_schema("other", "u"))];
    engine.rename_tables(&renames, &kill()).unwrap();
    assert_eq!((disk.counts().namespace, disk.list(path("#tables")).unwrap()), (namespace, files));
    assert_eq!((rows(&engine, "test", "t"), rows(&engine, "other", "u")), (Some(2), Some(1)));
    assert_eq!(engine.drop_schema("other", &kill()).unwrap(), 1);
    assert!(!exists(&disk, NEW[0]) && exists(&disk, NEW[1]));
}

#[test]
fn a_file_in_the_way_fails_the_statement_and_nothing_else() {
    let (disk, engine) = directory();
    put(&disk, "#tables/18.ibd", b"backup");
    assert!(matches!(engine.create_table(definition("y"), &kill()), Err(EngineError::FileExists(_))));
    assert_eq!(disk.contents(path("#tables/18.ibd")).unwrap(), b"backup");
    // The next number is free.
    engine.create_table(definition("y"), &kill()).unwrap();
    let disk = shut_down(&disk, engine);
    let engine = open(&disk);
    assert_eq!((rows(&engine, "test", "t"), rows(&engine, "test", "y")), (Some(1), Some(0)));
    check_kept(&disk, b"backup");
}

/// A file that somebody has put where a table's would be is there still, or set aside.
fn check_kept(disk: &SimulatedDisk, bytes: &[u8]) {
    let kept = ["#tables/18.ibd", "#lost+found/#tables.18.ibd"];
    assert!(kept.iter().any(|name| disk.contents(path(name)).is_some_and(|found| found == bytes)));
}

/// The start after a crash removes what a statement was making, but not what has taken its name since, whatever that is.
#[test]
fn a_file_in_the_place_of_a_leftover_is_kept() {
    let other = SimulatedDisk::new(9);
    let made = Engine::open(Environment::simulated(other.clone(), 9), options()).unwrap();
    create(&made, "t");
    made.shutdown().unwrap();
    let foreign = other.contents(path(NEW[0])).unwrap();
    for bytes in [b"backup".to_vec(), vec![0; 1 << 16], foreign] {
        let (disk, engine) = directory();
        let made = engine.create_hidden_table(definition("y"), &kill()).unwrap();
        assert!(made.is_hidden() && exists(&disk, "#tables/18.ibd"));
        // Neither the log nor the doublewrite file has anything of the file any more.
        let disk = shut_down(&disk, engine);
        disk.remove(path("redo/doublewrite")).unwrap();
        let file = disk.open(path("#tables/18.ibd"), OpenMode::Existing).unwrap();
        file.set_len(0).unwrap();
        file.write_at(&bytes, 0).unwrap();
        file.sync_all().unwrap();
        drop(file);
        let engine = open(&disk);
        check_kept(&disk, &bytes);
        assert!(!engine.take_messages().is_empty());
        let disk = shut_down(&disk, engine);
        open(&disk);
        check_kept(&disk, &bytes);
    }
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
    assert!(failed > 1, "{failed}");
}

#[test]
fn a_file_that_cannot_have_its_name_keeps_its_own() {
    let (disk, engine) = directory();
    let disk = shut_down(&disk, engine);
    name_as_before(&disk);
    put(&disk, NEW[0], &[9; 40_000]);
    for force in
        [ForceRecovery::Off, ForceRecovery::PastDamage, ForceRecovery::WithoutLog, ForceRecovery::Off]
    {
        let engine = try_open(&disk, force).unwrap();
        let messages = engine.take_messages().join("\n");
        assert!(messages.contains("'test/t.ibd' is used"), "{messages}");
        assert_eq!((rows(&engine, "test", "t"), rows(&engine, "test", "u")), (Some(1), Some(2)));
        drop(engine);
    }
    // So it is where nothing but its name speaks for the other one.
    disk.remove(path("redo/doublewrite")).unwrap();
    let engine = try_open(&disk, ForceRecovery::Off).unwrap();
    assert!(engine.take_messages().join("\n").contains("'test/t.ibd' is used"));
    assert_eq!(rows(&engine, "test", "t"), Some(1));
    let disk = shut_down(&disk, engine);
    disk.remove(path(NEW[0])).unwrap();
    let engine = try_open(&disk, ForceRecovery::Off).unwrap();
    assert_eq!(engine.take_messages(), Vec::<String>::new());
    assert_eq!((rows(&engine, "test", "t"), rows(&engine, "test", "u")), (Some(1), Some(2)));
    assert!(NEW.iter().all(|file| exists(&disk, file)) && OLD.iter().all(|file| !exists(&disk, file)));
    assert!(!disk.directory_exists(path("test")).unwrap(), "schemas have no directories");
}

/// The copy of a file and what is left of the file itself: nobody but a person knows which one counts.
#[test]
fn a_copy_beside_a_damaged_file_is_used_by_force_only() {
    let (disk, engine) = directory();
    let disk = shut_down(&disk, engine);
    disk.remove(path("redo/doublewrite")).unwrap();
    name_as_before(&disk);
    let bytes = disk.contents(path(OLD[0])).unwrap();
    put(&disk, "test/copy.ibd", &bytes);
    disk.corrupt(path(OLD[0]), 100, &[0x5A; 64]);
    let error = try_open(&disk, ForceRecovery::Off).err().unwrap().to_string();
    assert!(error.contains(OLD[0]) && error.contains("test/copy.ibd"), "{error}");
    let engine = try_open(&disk, ForceRecovery::PastDamage).unwrap();
    assert_eq!(rows(&engine, "test", "t"), Some(1));
}

/// Each call fails once: no start is refused, and one without a fault puts all in order.
#[test]
fn files_of_earlier_builds_get_their_names() {
    let (disk, engine) = directory();
    let mut disk = shut_down(&disk, engine);
    for (kind, step) in (0..10).flat_map(|step| [(FaultKind::NoSpace, step), (FaultKind::InputOutput, step)])
    {
        name_as_before(&disk);
        disk.add_fault(Fault { class: OperationClass::Namespace, nth: disk.counts().namespace + step, kind });
        if let Ok(engine) = try_open(&disk, ForceRecovery::Off) {
            assert_eq!(
                (rows(&engine, "test", "t"), rows(&engine, "test", "u")),
                (Some(1), Some(2)),
                "{step}"
            );
        }
        disk = disk.restart_after_kill();
        let engine = open(&disk);
        assert_eq!(engine.take_messages(), Vec::<String>::new(), "{step}");
        assert_eq!((rows(&engine, "test", "t"), rows(&engine, "test", "u")), (Some(1), Some(2)), "{step}");
        assert_eq!(engine.check().unwrap(), Vec::<String>::new());
        disk = shut_down(&disk, engine);
        assert!(NEW.iter().all(|file| exists(&disk, file)) && !exists(&disk, OLD[0]), "{kind:?} {step}");
    }
}

/// A power cut at any call of the start that gives files their names.
#[test]
fn a_crash_while_files_get_their_names_loses_none() {
    for (step, seed) in (0..30).flat_map(|step| (0..4).map(move |seed| (step, seed))) {
        let (disk, engine) = directory();
        let disk = shut_down(&disk, engine);
        name_as_before(&disk);
        disk.directory(path("test")).unwrap().sync().unwrap();
        disk.directory(path("#tables")).unwrap().sync().unwrap();
        disk.directory(path("")).unwrap().sync().unwrap();
        disk.crash_at(disk.counts().mutations + step);
        drop(try_open(&disk, ForceRecovery::Off));
        let engine = open(&disk.restart(seed));
        assert_eq!(
            (rows(&engine, "test", "t"), rows(&engine, "test", "u")),
            (Some(1), Some(2)),
            "{step} {seed}"
        );
        assert_eq!(engine.check().unwrap(), Vec::<String>::new());
    }
}

#[test]
fn what_cannot_be_read_closes_no_more_than_itself() {
    let (disk, engine) = directory();
    let disk = shut_down(&disk, engine);
    disk.create_directory(path("lost+found")).unwrap();
    put(&disk, "#tables/p.ibd", &[1; 20_000]);
    let mut disk = disk;
    for force in [ForceRecovery::Off, ForceRecovery::PastDamage, ForceRecovery::WithoutLog] {
        disk = disk.restart_after_kill();
        for denied in ["lost+found", "#tables/p.ibd", NEW[1]] {
            disk.deny(path(denied));
        }
        let engine = try_open(&disk, force).unwrap();
        assert_eq!(rows(&engine, "test", "t"), Some(1));
        let u = table(&engine, "u");
        assert!(matches!(
            begin(&engine).scan(&u, ScanOptions::default()).err(),
            Some(EngineError::FileMissing(_))
        ));
        let messages = engine.take_messages().join("\n");
        for name in ["'lost+found'", "'#tables/p.ibd'", "'#tables/17.ibd' of table `test`.`u` cannot be used"]
        {
            assert!(messages.contains(name), "{name} in {messages}");
        }
    }
    // The log has changes of it.
    let disk = disk.restart_after_kill();
    let engine = open(&disk);
    let (u, last) = (table(&engine, "u"), begin(&engine));
    last.insert(&u, &encode(&u, &row(3, 30, "u"))).unwrap();
    engine.flush_log(last.commit().unwrap()).unwrap();
    drop(engine);
    let disk = disk.restart_after_kill();
    disk.deny(path(NEW[1]));
    let error = try_open(&disk, ForceRecovery::Off).err().unwrap().to_string();
    assert!(error.contains(NEW[1]) && error.contains("permission denied"), "{error}");
    assert_eq!(rows(&open(&disk.restart_after_kill()), "test", "u"), Some(3));
}
