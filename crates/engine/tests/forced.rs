//! Starts by force: past damaged pages and missing files, past a hole in the log, and without the log. What can be read is read,
//! rows are not written, and where the log is not whole the data directory is not touched.

use crate::common::*;
use engine::*;
use env::simulated::SimulatedDisk;
use env::{Disk, Environment, OpenMode};
use std::path::{Path, PathBuf};

const PAGE: usize = 16_384;
const FILE: &str = "#tables/16.ibd";
const LEAF: u8 = 4;
const INNER: u8 = 3;

fn path(text: &str) -> &Path {
    Path::new(text)
}

fn start(disk: &SimulatedDisk, force_recovery: ForceRecovery) -> EngineResult<Engine> {
    let options = EngineOptions { force_recovery, ..options() };
    Engine::open(Environment::simulated(disk.clone(), 1), options)
}

fn text_row(id: i64) -> Row {
    row(id, id * 10, &"x".repeat(150))
}

/// Two tables of 600 rows each, of which the last 200 are only in the log if the server was killed.
fn directory(shut_down: bool) -> SimulatedDisk {
    let disk = SimulatedDisk::new(1);
    let engine = open(&disk);
    for name in ["t", "u"] {
        let table = create(&engine, name);
        insert(&engine, &table, &(0..400).map(text_row).collect::<Vec<_>>());
    }
    engine.checkpoint().unwrap();
    for id in 400..600 {
        for name in ["t", "u"] {
            let transaction = begin(&engine);
            let table = table(&engine, name);
            transaction.insert(&table, &encode(&table, &text_row(id))).unwrap();
            engine.flush_log(transaction.commit().unwrap()).unwrap();
        }
    }
    if shut_down {
        engine.shutdown().unwrap();
    }
    drop(engine);
    let disk = if shut_down { disk.restart_with_durable_state() } else { disk.restart_after_kill() };
    disk.remove(path("redo/doublewrite")).unwrap();
    disk
}

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
    found
        .into_iter()
        .filter(|file| file != path("iruka.lock"))
        .map(|file| (file.clone(), disk.contents(&file)))
        .collect()
}

fn pages(disk: &SimulatedDisk, kind: u8) -> Vec<usize> {
    let bytes = disk.contents(path(FILE)).unwrap();
    bytes
        .chunks_exact(PAGE)
        .enumerate()
        .filter(|(_, page)| page[20] == kind)
        .map(|(number, _)| number)
        .collect()
}

fn damage(disk: &SimulatedDisk, page: usize) {
    disk.corrupt(path(FILE), page * PAGE + 5000, &[0x5A; 64]);
}

fn ids(engine: &Engine, name: &str, options: ScanOptions) -> EngineResult<Vec<i64>> {
    let (transaction, table) = (begin(engine), table(engine, name));
    let mut scan = transaction.scan(&table, options)?;
    let (mut batch, mut ids) = (RowBatch::new(), Vec::new());
    while scan.next_batch(&transaction, &mut batch, 100)? {
        for at in 0..batch.len() {
            let (id, a, s) = decode(&table, batch.row(at));
            assert_eq!((id, a, s), text_row(id));
            ids.push(id);
        }
    }
    Ok(ids)
}

fn all_ids(engine: &Engine, name: &str) -> Vec<i64> {
    ids(engine, name, ScanOptions::default()).unwrap()
}

fn check_no_writes(engine: &Engine) {
    for name in ["t", "u"] {
        let table = table(engine, name);
        let transaction = begin(engine);
        let new = encode(&table, &text_row(5000));
        assert_eq!(transaction.insert(&table, &new).err(), Some(EngineError::ForcedRecovery));
        assert_eq!(transaction.insert_many(&table, &[&new]).err(), Some(EngineError::ForcedRecovery));
        assert_eq!(
            transaction.update(&table, &key(&table, 1), &new).err(),
            Some(EngineError::ForcedRecovery)
        );
        assert_eq!(transaction.delete(&table, &key(&table, 1)).err(), Some(EngineError::ForcedRecovery));
    }
    let copied = engine.add_indexes(
        &name("u"),
        vec![index("n", dictionary::IndexKind::Plain, 1)],
        &KillFlag::default(),
    );
    assert!(matches!(copied, Err(EngineError::ForcedRecovery | EngineError::ReadOnlyEngine)));
}

#[test]
fn scans_leave_out_damaged_pages() {
    let whole = directory(true);
    let kinds = [(LEAF, 0), (INNER, 0)].map(|(kind, _)| pages(&whole, kind)).concat();
    let (mut lost, mut kept) = (0, 0);
    for page in kinds {
        let disk = directory(true);
        damage(&disk, page);
        let lost_before = lost;
        let engine = start(&disk, ForceRecovery::PastDamage).unwrap();
        check_no_writes(&engine);
        assert_eq!(all_ids(&engine, "u"), (0..600).collect::<Vec<_>>());
        for number in 0..3 {
            let forward = ScanOptions { index: number, ..ScanOptions::default() };
            let found = match ids(&engine, "t", forward.clone()) {
                Ok(found) => found,
                // A row that an entry of a whole index leads to.
                Err(EngineError::Corrupt(_)) if number > 0 => continue,
                Err(error) => panic!("page {page}: {error:?}"),
            };
            let backward = ScanOptions { direction: engine::Direction::Backward, ..forward };
            let mut reversed = ids(&engine, "t", backward).unwrap();
            reversed.reverse();
            assert_eq!(reversed, found, "page {page}, index {number}");
            assert!(found.is_sorted_by(|a, b| a < b) || number == 2);
            let (transaction, t) = (begin(&engine), table(&engine, "t"));
            assert_eq!(transaction.count(&t, number, &KeyRange::all()).unwrap(), found.len() as u64);
            lost += 600 - found.len();
            kept += found.len();
        }
        let messages = engine.take_messages();
        let is_named = messages.iter().any(|text| text.contains(&format!("Page {page} of '{FILE}'")));
        // No row of the table has a long value, so nobody looks at their tree.
        assert!(is_named || lost == lost_before, "{messages:?}");
    }
    assert!(lost > 0 && kept > 0);
}

#[test]
fn a_table_that_lacks_changes_can_be_read_and_dropped() {
    let disk = directory(false);
    for page in pages(&disk, LEAF) {
        let disk = directory(false);
        damage(&disk, page);
        let engine = start(&disk, ForceRecovery::PastDamage).unwrap();
        let messages = engine.take_messages();
        check_no_writes(&engine);
        assert_eq!(all_ids(&engine, "u").len(), 600);
        assert!(ids(&engine, "t", ScanOptions::default()).unwrap().len() <= 600);
        engine.shutdown().unwrap();
        drop(engine);
        let was_closed = messages.iter().any(|text| text.contains("`test`.`t`"));
        let engine = start(&disk, ForceRecovery::Off).unwrap();
        let closed = matches!(ids(&engine, "t", ScanOptions::default()), Err(EngineError::TableDamaged(_)));
        assert_eq!(closed, was_closed, "page {page}: what was passed over by force is not forgotten");
        engine.shutdown().unwrap();
        drop(engine);
        let engine = start(&disk, ForceRecovery::PastDamage).unwrap();
        engine.drop_tables(&[name("t")], &KillFlag::default()).unwrap();
        engine.shutdown().unwrap();
        drop(engine);
        let engine = start(&disk, ForceRecovery::Off).unwrap();
        assert_eq!(engine.check().unwrap(), Vec::<String>::new());
    }
}

#[test]
fn a_missing_file_with_redo_is_given_up_by_force_only() {
    let disk = directory(false);
    disk.rename(path(FILE), path("aside")).unwrap();
    let refused = start(&disk, ForceRecovery::Off).err().unwrap().to_string();
    assert!(refused.contains(FILE) && refused.contains("innodb_force_recovery=1"), "{refused}");
    let engine = start(&disk, ForceRecovery::PastDamage).unwrap();
    assert_eq!(all_ids(&engine, "u").len(), 600);
    assert!(matches!(ids(&engine, "t", ScanOptions::default()), Err(EngineError::FileMissing(_))));
    engine.shutdown().unwrap();
    drop(engine);
    let engine = start(&disk, ForceRecovery::Off).unwrap();
    assert_eq!(all_ids(&engine, "u").len(), 600);
    engine.shutdown().unwrap();
    drop(engine);
    // It comes back too late: it lacks what was given up.
    disk.rename(path("aside"), path(FILE)).unwrap();
    let engine = start(&disk, ForceRecovery::Off).unwrap();
    assert!(matches!(ids(&engine, "t", ScanOptions::default()), Err(EngineError::TableDamaged(_))));
}

/// Shows what was there before the damage, and leaves every file as it is.
fn check_untouched(disk: &SimulatedDisk, force: ForceRecovery) -> (usize, Vec<String>) {
    let before = files(disk);
    let engine = start(disk, force).unwrap();
    check_no_writes(&engine);
    let found = all_ids(&engine, "u");
    assert_eq!(found, (0..found.len() as i64).collect::<Vec<_>>(), "a prefix of the history");
    let kill = KillFlag::default();
    assert_eq!(engine.drop_tables(&[name("u")], &kill).err(), Some(EngineError::ReadOnlyEngine));
    assert_eq!(engine.create_table(definition("w"), &kill).err(), Some(EngineError::ReadOnlyEngine));
    let messages = engine.take_messages();
    engine.shutdown().unwrap();
    drop(engine);
    assert!(files(disk) == before, "a start that must not touch anything changed files");
    (found.len(), messages)
}

#[test]
fn a_damaged_log_is_read_up_to_the_damage_by_force() {
    let whole = directory(false);
    let log: Vec<String> =
        whole.list(path("redo")).unwrap().into_iter().filter(|name| name.starts_with("log_")).collect();
    let (mut refused, mut most) = (0, 0);
    for name in &log {
        for offset in [0, 100_000, 300_000] {
            let disk = directory(false);
            let file = PathBuf::from("redo").join(name);
            let original = disk.contents(&file).unwrap();
            if offset == 0 {
                disk.remove(&file).unwrap();
            } else if original.len() > offset {
                disk.corrupt(&file, offset, &[0x5A; 64]);
            }
            let Err(error) = start(&disk, ForceRecovery::Off) else { continue };
            refused += 1;
            let text = error.to_string();
            assert!(text.contains("innodb_force_recovery="), "{text}");
            if start(&disk, ForceRecovery::PastDamage).is_ok() {
                let (count, messages) = check_untouched(&disk, ForceRecovery::PastDamage);
                assert!(count >= 400 && messages[0].contains("LSN"), "{count} {messages:?}");
                most = most.max(count);
            }
            assert_eq!(check_untouched(&disk, ForceRecovery::WithoutLog).0, 400);
            assert!(start(&disk, ForceRecovery::Off).is_err(), "force does not mend");
            let mended = disk.open(&file, OpenMode::CreateIfMissing).unwrap();
            mended.write_at(&original, 0).unwrap();
            let engine = start(&disk, ForceRecovery::Off).unwrap();
            assert_eq!(all_ids(&engine, "u").len(), 600);
        }
    }
    assert!(refused >= 2 && most >= 400, "{refused} {most}");
}

#[test]
fn files_are_shown_as_they_are_without_a_log() {
    let disk = directory(false);
    let (count, messages) = check_untouched(&disk, ForceRecovery::WithoutLog);
    assert_eq!(count, 400);
    assert!(messages[0].contains("innodb_force_recovery=6"), "{messages:?}");
    for lost in ["redo/control", ""] {
        let disk = directory(false);
        for name in disk.list(path("redo")).unwrap() {
            let file = PathBuf::from("redo").join(name);
            if lost.is_empty() || file == path(lost) {
                disk.remove(&file).unwrap();
            }
        }
        let refused = start(&disk, ForceRecovery::Off).err().unwrap().to_string();
        assert!(refused.contains("innodb_force_recovery=6"), "{refused}");
        assert_eq!(check_untouched(&disk, ForceRecovery::WithoutLog).0, 400);
    }
    let disk = directory(false);
    disk.corrupt(path("redo/control"), 0, &[0; 8192]);
    let refused = start(&disk, ForceRecovery::PastDamage).err().unwrap().to_string();
    assert!(refused.contains("innodb_force_recovery=6"), "{refused}");
    assert_eq!(check_untouched(&disk, ForceRecovery::WithoutLog).0, 400);
}

/// Rows of a long value that cannot be read are left out where it is asked for, and shown where it is not.
#[test]
fn a_damaged_long_value_takes_its_row_along() {
    let disk = SimulatedDisk::new(1);
    let engine = open(&disk);
    let t = create(&engine, "t");
    let long = |id: i64| format!("{}marker{id}{}", "x".repeat(20_000), "y".repeat(20_000));
    for id in 1..=3 {
        insert(&engine, &t, &[row(id, id, &long(id))]);
    }
    engine.shutdown().unwrap();
    drop(engine);
    let disk = disk.restart_with_durable_state();
    let bytes = disk.contents(path(FILE)).unwrap();
    let at = bytes.windows(7).position(|window| window == b"marker2").unwrap();
    disk.corrupt(path(FILE), at, b"Marker2");

    let engine = start(&disk, ForceRecovery::Off).unwrap();
    let read_all = |engine: &Engine| scan(&begin(engine), &table(engine, "t"), 0, ReadMode::Consistent);
    assert!(matches!(read_all(&engine), Err(EngineError::Corrupt(_))));
    drop(engine);
    let disk = disk.restart_after_kill();
    let engine = start(&disk, ForceRecovery::PastDamage).unwrap();
    let whole = [row(1, 1, &long(1)), row(3, 3, &long(3))];
    let table = table(&engine, "t");
    for index in 0..3 {
        assert_eq!(scan(&begin(&engine), &table, index, ReadMode::Consistent).unwrap(), whole);
    }
    for id in 1..=3 {
        let mut found = false;
        let found = begin(&engine)
            .get(&table, 0, &key(&table, id), ReadMode::Consistent, &mut |_| found = true)
            .unwrap();
        assert_eq!(found, id != 2);
    }
    let others = ScanOptions { columns: values::row::ColumnSet::of([0, 1]), ..ScanOptions::default() };
    let (transaction, mut batch) = (begin(&engine), RowBatch::new());
    assert!(transaction.scan(&table, others).unwrap().next_batch(&transaction, &mut batch, 100).unwrap());
    assert_eq!(batch.len(), 3);
}

#[test]
fn only_the_dictionary_is_needed_without_the_log() {
    const ROOTS: [(usize, &str); 3] = [(1, "the data dictionary"), (2, "the undo tree"), (3, "long values")];
    for (root, what) in ROOTS {
        let disk = directory(true);
        let system = path("iruka_system.ibd");
        let whole = disk.contents(system).unwrap()[root * PAGE + 200];
        disk.corrupt(system, root * PAGE + 200, &[whole ^ 0xFF]);
        for force in [ForceRecovery::Off, ForceRecovery::PastDamage] {
            let before = disk.contents(system).unwrap();
            let error = start(&disk, force).err().unwrap().to_string();
            assert!(error.contains(what) && error.contains(&format!("page {root} of")), "{error}");
            assert!(disk.contents(system).unwrap() == before, "a refused start makes no other root");
        }
        match start(&disk, ForceRecovery::WithoutLog) {
            Err(error) => assert!(root == 1, "{error}"),
            Ok(engine) => assert_eq!(all(&begin(&engine), &table(&engine, "t")).len(), 600),
        }
        disk.corrupt(system, root * PAGE + 200, &[whole]);
        let engine = start(&disk, ForceRecovery::Off).unwrap();
        assert_eq!(all(&begin(&engine), &table(&engine, "t")).len(), 600);
        assert_eq!(engine.check().unwrap(), Vec::<String>::new());
        drop(engine);
    }
}

/// innodb_read_only: what a crash left is recovered in memory, and nothing is written.
#[test]
fn an_engine_for_reading_only_touches_nothing() {
    let disk = directory(false);
    let before = files(&disk);
    for _ in 0..2 {
        let options = EngineOptions { read_only: true, ..options() };
        let engine = Engine::open(Environment::simulated(disk.clone(), 1), options).unwrap();
        let t = table(&engine, "t");
        assert_eq!(all(&begin(&engine), &t).len(), 600);
        let transaction = begin(&engine);
        assert_eq!(
            transaction.insert(&t, &encode(&t, &text_row(700))).err(),
            Some(EngineError::ReadOnlyTables)
        );
        assert_eq!(transaction.delete(&t, &key(&t, 1)).err(), Some(EngineError::ReadOnlyTables));
        drop(transaction);
        let kill = KillFlag::default();
        let refused = Some(EngineError::ReadOnlyMode);
        assert_eq!(engine.drop_tables(&[name("t")], &kill).err(), refused);
        assert_eq!(engine.truncate_table(&name("t"), &kill).err(), refused);
        assert_eq!(engine.create_table(definition("n"), &kill).err(), refused);
        assert_eq!(engine.rename_tables(&[(name("t"), name("n"))], &kill).err(), refused);
        assert_eq!(engine.analyze(&t).err(), refused);
        engine.shutdown().unwrap();
        drop(engine);
        assert!(files(&disk) == before, "a file has changed");
    }
    let engine = start(&disk, ForceRecovery::Off).unwrap();
    assert_eq!(all(&begin(&engine), &table(&engine, "t")).len(), 600);
}

/// A log file that lost its end, or all it had: refused, with its name and what to do, and by force what was there before it is shown.
#[test]
fn a_log_file_that_is_too_short_is_the_end_of_the_log() {
    let whole = directory(false);
    let logs: Vec<String> =
        whole.list(path("redo")).unwrap().into_iter().filter(|name| name.starts_with("log_")).collect();
    assert!(logs.len() > 2);
    let mut shown = Vec::new();
    for name in &logs {
        for bytes in [0, 5000, 200_000] {
            let disk = whole.restart_after_kill();
            disk.open(&path("redo").join(name), OpenMode::Existing).unwrap().set_len(bytes).unwrap();
            let before = files(&disk);
            let refused = start(&disk, ForceRecovery::Off).err().unwrap().to_string();
            for part in [&name[..], "innodb_force_recovery=1", "put it back"] {
                assert!(refused.contains(part), "{refused}");
            }
            let engine = start(&disk, ForceRecovery::PastDamage).unwrap();
            let rows = all(&begin(&engine), &table(&engine, "t"));
            assert!((400..=600).contains(&rows.len()) && rows[0] == text_row(0), "{name}: {}", rows.len());
            assert!(engine.take_messages().iter().any(|text| text.contains(&name[..])));
            drop(engine);
            assert!(files(&disk) == before, "the data directory is not touched");
            shown.push(rows.len());
        }
    }
    assert!(shown.contains(&600) && shown.iter().any(|rows| *rows < 600), "{shown:?}");
}

/// In the place of a file: refused in every way, until it is moved away.
#[test]
fn a_directory_in_the_place_of_a_log_file_is_named() {
    for name in ["control", "doublewrite", "log.new", "log_0000000000000005", "reserve"] {
        let disk = directory(false);
        let (place, aside) = (path("redo").join(name), path("aside"));
        let was_there = disk.contents(&place).is_some();
        if was_there {
            disk.rename(&place, aside).unwrap();
        }
        disk.create_directory(&place).unwrap();
        for force in [ForceRecovery::Off, ForceRecovery::PastDamage, ForceRecovery::WithoutLog] {
            let refused = start(&disk, force).err().unwrap().to_string();
            let parts = [name, "is a directory", "move it out of the data directory"];
            assert!(parts.iter().all(|part| refused.contains(part)), "{name}: {refused}");
        }
        disk.remove_directory(&place).unwrap();
        if was_there {
            disk.rename(aside, &place).unwrap();
        }
        let engine = start(&disk, ForceRecovery::Off).unwrap();
        assert_eq!(all(&begin(&engine), &table(&engine, "t")).len(), 600, "{name}");
    }
}
