//! Starts over a data directory that lost a part, or that holds files of others: nothing is made anew, nothing is removed
//! that is not proved to be ours, and once the part is back everything is there.

use crate::common::*;
use engine::InsertKind;
use engine::*;
use env::simulated::{Fault, FaultKind, OperationClass, SimulatedDisk};
use env::{Disk, DiskErrorKind, Environment, OpenMode};
use std::path::{Path, PathBuf};

fn path(text: &str) -> &Path {
    Path::new(text)
}

/// A directory with two tables, whose last commit is durable, left by a shutdown or by a crash.
fn directory(shut_down: bool) -> SimulatedDisk {
    let disk = SimulatedDisk::new(1);
    let engine = open(&disk);
    for table in ["t", "u"] {
        let made = create(&engine, table);
        insert(&engine, &made, &(0..300).map(|id| row(id, id * 10, "text")).collect::<Vec<_>>());
    }
    let last = begin(&engine);
    let u = table(&engine, "u");
    last.insert(&u, &encode(&u, &row(300, 3000, "last"))).unwrap();
    engine.flush_log(last.commit().unwrap()).unwrap();
    if shut_down {
        engine.shutdown().unwrap();
    }
    drop(engine);
    if shut_down { disk.restart_with_durable_state() } else { disk.restart_after_kill() }
}

fn try_open(disk: &SimulatedDisk) -> EngineResult<Engine> {
    Engine::open(Environment::simulated(disk.clone(), 1), options())
}

fn check_rows(engine: &Engine) {
    assert_eq!(all(&begin(engine), &table(engine, "t")).len(), 300);
    assert_eq!(all(&begin(engine), &table(engine, "u")).len(), 301);
}

/// All files with their contents.
fn files(disk: &SimulatedDisk) -> Vec<(PathBuf, Option<Vec<u8>>)> {
    let mut directories = vec![PathBuf::new()];
    let mut found = Vec::new();
    while let Some(directory) = directories.pop() {
        for name in disk.list(&directory).unwrap() {
            match name.strip_suffix('/') {
                Some(name) => directories.push(directory.join(name)),
                None => found.push(directory.join(name)),
            }
        }
    }
    found.into_iter().map(|file| (file.clone(), disk.contents(&file))).collect()
}

fn log_files(disk: &SimulatedDisk) -> Vec<PathBuf> {
    let names = disk.list(path("redo")).unwrap();
    names.iter().map(|name| path("redo").join(name)).collect()
}

/// Moves files away, asserts that the start refuses and names one of them, changes nothing, and that all is well once they are
/// back.
fn check_refused(shut_down: bool, missing: &[PathBuf], named: &str) {
    let disk = directory(shut_down);
    for (at, file) in missing.iter().enumerate() {
        disk.rename(file, &PathBuf::from(format!("aside_{at}"))).unwrap();
    }
    let tables = |disk: &SimulatedDisk| {
        let all = files(disk).into_iter();
        all.filter(|(file, _)| file.extension().is_some_and(|suffix| suffix == "ibd")).collect::<Vec<_>>()
    };
    let before = tables(&disk);
    for _ in 0..2 {
        let error = try_open(&disk).err().unwrap_or_else(|| panic!("started without {missing:?}"));
        assert!(error.to_string().contains(named), "{missing:?}: {error}");
    }
    assert!(tables(&disk) == before, "{missing:?}: a refused start changed data files");
    for (at, file) in missing.iter().enumerate() {
        disk.rename(&PathBuf::from(format!("aside_{at}")), file).unwrap();
    }
    let engine = try_open(&disk).unwrap();
    check_rows(&engine);
    assert_eq!(engine.take_messages(), Vec::<String>::new());
}

#[test]
fn a_directory_that_was_in_use_is_never_made_anew() {
    for shut_down in [true, false] {
        let (system, control) = ([PathBuf::from("iruka_system.ibd")], [PathBuf::from("redo/control")]);
        let tables = [PathBuf::from("#tables/16.ibd"), PathBuf::from("#tables/17.ibd")];
        let log = log_files(&directory(shut_down));
        check_refused(shut_down, &system, "'iruka_system.ibd' is missing");
        check_refused(shut_down, &control, "redo/control'");
        check_refused(shut_down, &log, "is missing");
        check_refused(shut_down, &[&system[..], &log[..]].concat(), "is missing");
        check_refused(shut_down, &[&system[..], &tables[..]].concat(), "'iruka_system.ibd' is missing");
        check_refused(shut_down, &[&system[..], &control, &tables[..]].concat(), "redo/control'");
        // Any one log file that recovery needs.
        let numbered: Vec<_> = log.iter().filter(|file| file.to_string_lossy().contains("log_")).collect();
        assert!(numbered.len() > 2);
        for file in &numbered[..numbered.len() - 1] {
            let disk = directory(shut_down);
            disk.rename(file, path("aside")).unwrap();
            // A file before the checkpoint is not needed.
            if let Err(error) = try_open(&disk) {
                assert!(error.to_string().contains("missing"), "{error}");
                continue;
            }
            let engine = try_open(&disk).unwrap();
            check_rows(&engine);
        }
    }
}

#[test]
fn a_damaged_system_file_is_not_made_anew() {
    for offset in [100, 16_384 + 100, 2 * 16_384 + 100] {
        let disk = directory(true);
        disk.remove(path("redo/doublewrite")).unwrap();
        disk.corrupt(path("iruka_system.ibd"), offset, &[0x5A; 64]);
        let tables = disk.contents(path("#tables/16.ibd"));
        try_open(&disk).err().unwrap_or_else(|| panic!("started with damage at {offset}"));
        assert!(disk.contents(path("#tables/16.ibd")) == tables);
    }
}

#[test]
fn a_system_file_of_another_server_is_not_called_damaged() {
    let disk = directory(true);
    let other = SimulatedDisk::new(2);
    let server = Engine::open(Environment::simulated(other.clone(), 2), options()).unwrap();
    server.shutdown().unwrap();
    drop(server);
    let own = disk.contents(path("iruka_system.ibd")).unwrap();
    let strange = other.contents(path("iruka_system.ibd")).unwrap();
    for (bytes, refused) in [(&strange, true), (&own, false)] {
        let file = disk.open(path("iruka_system.ibd"), OpenMode::Existing).unwrap();
        file.set_len(0).unwrap();
        file.write_at(bytes, 0).unwrap();
        match try_open(&disk) {
            Err(error) => {
                let text = error.to_string();
                assert!(refused && text.contains("not of one server") && !text.contains("damaged"), "{text}");
            }
            Ok(engine) => {
                assert!(!refused);
                check_rows(&engine);
            }
        }
    }
}

#[test]
fn a_first_start_may_end_anywhere() {
    let whole = SimulatedDisk::new(1);
    drop(open(&whole));
    for operation in 0..whole.counts().mutations {
        let disk = SimulatedDisk::new(1);
        disk.crash_at(operation);
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(try_open(&disk))));
        let disk = match operation % 3 {
            0 => disk.restart_with_durable_state(),
            1 => disk.restart_after_kill(),
            _ => disk.restart(operation),
        };
        let engine = try_open(&disk).unwrap_or_else(|error| panic!("{operation}: {error}"));
        assert!(engine.check().unwrap().is_empty());
    }
}

#[test]
fn a_file_without_a_table_is_set_aside() {
    let disk = directory(true);
    let stranger = disk.contents(path("#tables/16.ibd")).unwrap();
    let engine = try_open(&disk).unwrap();
    engine.drop_tables(&[name("t")], &KillFlag::default()).unwrap();
    engine.shutdown().unwrap();
    drop(engine);
    let disk = disk.restart_with_durable_state();
    for _ in 0..2 {
        let file = disk.open(path("#tables/old.ibd"), OpenMode::CreateNew).unwrap();
        file.write_at(&stranger, 0).unwrap();
        let engine = try_open(&disk).unwrap();
        let messages = engine.take_messages();
        assert!(
            messages[0].contains("'#tables/old.ibd'") && messages[0].contains("#lost+found"),
            "{messages:?}"
        );
        drop(engine);
    }
    // Both are kept, whole.
    let lost = disk.list(path("#lost+found")).unwrap();
    assert_eq!(lost.len(), 2, "{lost:?}");
    for name in lost {
        assert!(disk.contents(&path("#lost+found").join(name)).unwrap().len() == stranger.len());
    }
    assert!(try_open(&disk).unwrap().take_messages().is_empty(), "what was set aside is not looked at again");
}

#[test]
fn two_files_of_one_space_are_named() {
    for copy in ["#tables/a.ibd", "#tables/016.ibd", "a.ibd"] {
        let disk = directory(true);
        let bytes = disk.contents(path("#tables/16.ibd")).unwrap();
        disk.open(path(copy), OpenMode::CreateNew).unwrap().write_at(&bytes, 0).unwrap();
        let error = try_open(&disk).err().unwrap().to_string();
        assert!(error.contains("'#tables/16.ibd'") && error.contains(&format!("'{copy}'")), "{error}");
        disk.remove(path(copy)).unwrap();
        assert!(try_open(&disk).is_ok());
    }
}

#[test]
fn a_missing_table_is_named() {
    let disk = directory(true);
    disk.rename(path("#tables/16.ibd"), path("aside")).unwrap();
    let engine = try_open(&disk).unwrap();
    assert_eq!(engine.take_messages(), ["The file '#tables/16.ibd' of table `test`.`t` is missing."]);
    assert_eq!(all(&begin(&engine), &table(&engine, "u")).len(), 301);
    let missing = EngineError::FileMissing("`test`.`t`".to_owned());
    let t = table(&engine, "t");
    assert_eq!(begin(&engine).insert(&t, &encode(&t, &row(1, 1, "x"))).err(), Some(missing.clone()));
    assert_eq!(begin(&engine).scan(&t, ScanOptions::default()).err(), Some(missing));
    // It can be renamed and dropped, with others.
    engine.rename_tables(&[(name("t"), name("t2"))], &KillFlag::default()).unwrap();
    engine.drop_tables(&[name("t2"), name("u")], &KillFlag::default()).unwrap();
    drop(engine);
    assert!(disk.open(path("#tables/17.ibd"), OpenMode::Existing).is_err(), "all files go");
    let engine = try_open(&disk).unwrap();
    assert!(engine.take_messages().is_empty() && engine.dictionary().tables("test").is_empty());
}

/// After a crash the log has what the file lacks: to go on without it would lose committed rows for good.
#[test]
fn a_missing_table_with_changes_in_the_log_is_refused() {
    check_refused(false, &[PathBuf::from("#tables/16.ibd")], "'#tables/16.ibd'");
    check_refused(
        false,
        &[PathBuf::from("#tables/16.ibd"), PathBuf::from("#tables/17.ibd")],
        "'#tables/17.ibd'",
    );
}

#[test]
fn a_failed_sync_in_recovery_is_named() {
    let disk = directory(false);
    disk.add_fault(Fault { class: OperationClass::Sync, nth: 3, kind: FaultKind::InputOutput });
    let error = try_open(&disk).err().unwrap();
    assert!(error.to_string().contains("failed"), "{error}");
    assert!(!matches!(error, EngineError::Stopped));
    let missing = disk.open(path("nothing"), OpenMode::Existing).err().unwrap();
    assert_eq!(missing.kind, DiskErrorKind::NotFound);
}

#[test]
fn a_kill_ends_the_building_of_an_index_and_a_copy() {
    let disk = directory(true);
    let engine = try_open(&disk).unwrap();
    let kill = KillFlag::default();
    kill.kill();
    let added = engine.add_indexes(&name("t"), vec![index("k", dictionary::IndexKind::Plain, 1)], &kill);
    assert_eq!(added.err(), Some(EngineError::Killed));
    let copied = engine.rebuild_table(
        &name("t"),
        definition("t"),
        Vec::new(),
        &kill,
        &AutoIncrement::starting_at(1),
        &mut |row: &[u8], out: &mut Vec<u8>| {
            out.extend_from_slice(row);
            Ok::<(), EngineError>(())
        },
    );
    assert_eq!(copied.err(), Some(EngineError::Killed));
    assert_eq!(engine.check().unwrap(), Vec::<String>::new());
    let table = engine.dictionary().table("test", "t").unwrap();
    assert_eq!(all(&begin(&engine), &table).len(), 300);
    drop(engine);
    assert!(try_open(&disk).unwrap().take_messages().is_empty());
}

/// A definition that does not fit one entry of the dictionary's tree is written, shortened and dropped as a whole.
#[test]
fn long_definitions_outlive_restarts() {
    let disk = SimulatedDisk::new(1);
    let engine = open(&disk);
    let t = create(&engine, "t");
    let mut long = t.definition().clone();
    long.options.comment = "c".repeat(2000);
    long.columns.iter_mut().for_each(|column| column.comment = column.name.repeat(5000));
    let mut short = long.clone();
    engine.alter_metadata(&name("t"), long.clone(), Vec::new(), &KillFlag::default()).unwrap();
    engine.analyze(&table(&engine, "t")).unwrap();
    let (disk, engine) = reopened(disk, engine);
    let comments = |engine: &Engine| -> Vec<usize> {
        table(engine, "t").definition().columns.iter().map(|column| column.comment.len()).collect()
    };
    assert_eq!(comments(&engine), [10_000, 5000, 5000]);
    short.columns.iter_mut().for_each(|column| column.comment = "short".to_owned());
    engine.alter_metadata(&name("t"), short, Vec::new(), &KillFlag::default()).unwrap();
    let (disk, engine) = reopened(disk, engine);
    assert_eq!(comments(&engine), [5, 5, 5]);
    engine.alter_metadata(&name("t"), long, Vec::new(), &KillFlag::default()).unwrap();
    engine.drop_tables(&[name("t")], &KillFlag::default()).unwrap();
    let (_, engine) = reopened(disk, engine);
    assert!(engine.dictionary().table("test", "t").is_none());
    assert_eq!(engine.check().unwrap(), Vec::<String>::new());
}

fn reopened(disk: SimulatedDisk, engine: Engine) -> (SimulatedDisk, Engine) {
    drop(engine);
    let disk = disk.restart_after_kill();
    let engine = open(&disk);
    (disk, engine)
}

/// The log has a lock of its own: somebody may remove the other lock file.
#[test]
fn two_servers_never_share_a_directory() {
    let disk = directory(true);
    let engine = try_open(&disk).unwrap();
    assert!(try_open(&disk).is_err());
    disk.remove(path("iruka.lock")).unwrap();
    for force_recovery in [ForceRecovery::Off, ForceRecovery::PastDamage, ForceRecovery::WithoutLog] {
        let options = EngineOptions { force_recovery, ..options() };
        let error = Engine::open(Environment::simulated(disk.clone(), 1), options).err().unwrap();
        assert!(error.to_string().contains("locked by another process"), "{error}");
    }
    drop(engine);
    assert!(try_open(&disk).is_ok());
    // A first start has it too.
    let disk = SimulatedDisk::new(1);
    let engine = open(&disk);
    disk.remove(path("iruka.lock")).unwrap();
    assert!(try_open(&disk).is_err());
    drop(engine);
}

/// A crash skips values of long columns only, and none at their ends.
#[test]
fn a_crash_does_not_use_up_a_short_column() {
    use values::TypeKind;
    for (kind, greatest, from, skipped) in [
        (TypeKind::TinyInt, 127, 1, 0),
        (TypeKind::SmallInt, 32_767, 1, 32),
        (TypeKind::MediumInt, 8_388_607, 1, 256),
        (TypeKind::Int, 2_147_483_647, 1, 256),
        (TypeKind::Int, 2_147_483_647, 2_147_483_000, 0),
    ] {
        let mut disk = SimulatedDisk::new(1);
        let engine = open(&disk);
        create(&engine, "t");
        let mut definition = definition("s");
        definition.columns[0].column_type.kind = kind;
        definition.options.auto_increment = Some(from);
        engine.create_table(definition, &KillFlag::default()).unwrap();
        drop(engine);
        let mut next = from;
        for _ in 0..5 {
            disk = disk.restart_after_kill();
            let engine = open(&disk);
            let request = AutoIncrementRequest { count: 1, increment: 1, offset: 1, column_max: greatest };
            let transaction = begin(&engine);
            let range = TableCounter::new(&transaction, &table(&engine, "s"), InsertKind::Simple)
                .reserve(request)
                .unwrap();
            assert!((next..=next + skipped).contains(&range.first), "{kind:?} {range:?}");
            next = range.first + 1;
            engine.sync_log(engine.status().log_end).unwrap();
            drop(transaction);
            drop(engine);
        }
    }
}

#[test]
fn statistics_stay_with_their_index() {
    let disk = SimulatedDisk::new(1);
    let engine = open(&disk);
    let t = create(&engine, "t");
    insert(&engine, &t, &(0..200).map(|id| row(id, id, &format!("{}", id % 4))).collect::<Vec<_>>());
    engine.analyze(&t).unwrap();
    let first_part = |engine: &Engine| -> Vec<(String, u64)> {
        let table = table(engine, "t");
        let names = table.definition().indexes.iter().map(|index| index.name.clone());
        names.zip(engine.statistics(&table).distinct).map(|(name, counts)| (name, counts[0])).collect()
    };
    let named =
        |found: &[(String, u64)], name: &str| found.iter().find(|(index, _)| index == name).unwrap().1;
    assert_eq!(named(&first_part(&engine), "k"), 4);
    engine
        .add_indexes(&name("t"), vec![index("a", dictionary::IndexKind::Plain, 1)], &KillFlag::default())
        .unwrap();
    engine.drop_indexes(&name("t"), &["u".to_owned()], &KillFlag::default()).unwrap();
    let found = first_part(&engine);
    assert_eq!(named(&found, "k"), 4);
    engine.drop_indexes(&name("t"), &["a".to_owned()], &KillFlag::default()).unwrap();
    assert_eq!(named(&first_part(&engine), "k"), 4);
    let (_, engine) = reopened(disk, engine);
    assert_eq!(named(&first_part(&engine), "k"), 4);
}
