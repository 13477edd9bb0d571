//! Files of a copy of the data directory that went on by itself, put in the place of files that have the same name and tablespace
//! number: they are told apart by their store ids, before a page of them is taken for the table's.

use crate::common::*;
use engine::*;
use env::simulated::SimulatedDisk;
use env::{Disk, Environment, OpenMode};
use std::path::Path;

const FILE: &str = "#tables/17.ibd";
const ROWS: i64 = 200;
const PAGE_BYTES: usize = 16 << 10;

fn try_open(disk: &SimulatedDisk, seed: u64, force: ForceRecovery) -> EngineResult<Engine> {
    let options = EngineOptions { force_recovery: force, ..options() };
    Engine::open(Environment::simulated(disk.clone(), seed), options)
}

/// Two copies of a directory with table `old`, each of which has made a table `t` since, left by a shutdown or by a crash.
fn two_histories(shut_down: bool) -> [SimulatedDisk; 2] {
    let disk = SimulatedDisk::new(1);
    let engine = open(&disk);
    let old = create(&engine, "old");
    insert(&engine, &old, &[row(1, 1, "one")]);
    engine.shutdown().unwrap();
    drop(engine);
    [2, 3].map(|seed| {
        let disk = disk.restart_with_durable_state();
        let engine = try_open(&disk, seed, ForceRecovery::Off).unwrap();
        let table = create(&engine, "t");
        engine.checkpoint().unwrap();
        let seed = seed as i64;
        insert(&engine, &table, &(0..ROWS).map(|id| row(id, id * seed, "row")).collect::<Vec<_>>());
        match shut_down {
            true => engine.shutdown().unwrap(),
            false => engine.sync_log(engine.status().log_end).unwrap(),
        }
        drop(engine);
        disk.restart_after_kill()
    })
}

fn put(disk: &SimulatedDisk, bytes: &[u8]) {
    let file = disk.open(Path::new(FILE), OpenMode::CreateIfMissing).unwrap();
    file.set_len(0).unwrap();
    file.write_at(bytes, 0).unwrap();
    file.sync_all().unwrap();
}

/// The store id in page 0, as byte tables say.
fn store_id(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes[88..96].try_into().unwrap())
}

fn check_own_rows(engine: &Engine) {
    let rows = all(&begin(engine), &table(engine, "t"));
    assert!(rows.len() == ROWS as usize && rows[5] == row(5, 10, "row"), "{:?}", rows.get(5));
}

fn check_closed(engine: &Engine, own: u64, strange: u64) {
    let refused = scan(&begin(engine), &table(engine, "t"), 0, ReadMode::Consistent).unwrap_err();
    assert!(matches!(refused, EngineError::TableDamaged(_)), "{refused:?}");
    let told = engine.take_messages();
    let names = |text: &String| {
        [FILE, &format!("{own:016x}"), &format!("{strange:016x}")].iter().all(|part| text.contains(part))
    };
    assert!(told.len() == 1 && names(&told[0]), "{told:?}");
    assert_eq!(all(&begin(engine), &table(engine, "old")), [row(1, 1, "one")]);
}

#[test]
fn a_file_of_another_history_closes_its_table() {
    let [disk, other] = two_histories(true);
    let (own, strange) = (disk.contents(Path::new(FILE)).unwrap(), other.contents(Path::new(FILE)).unwrap());
    let ids = (store_id(&own), store_id(&strange));
    assert!(own.len() == strange.len() && ids.0 != ids.1 && ids.0 != 0 && ids.1 != 0);
    put(&disk, &strange);
    for _ in 0..2 {
        let engine = try_open(&disk, 4, ForceRecovery::Off).unwrap();
        check_closed(&engine, ids.0, ids.1);
        engine.checkpoint().unwrap();
    }
    assert!(disk.contents(Path::new(FILE)).unwrap() == strange, "it is left as it was");
    put(&disk, &own);
    let engine = try_open(&disk, 5, ForceRecovery::Off).unwrap();
    check_own_rows(&engine);
    assert_eq!(engine.take_messages(), Vec::<String>::new());
    engine.shutdown().unwrap();
    drop(engine);

    put(&disk, &strange);
    let kill = KillFlag::default();
    let engine = try_open(&disk, 6, ForceRecovery::Off).unwrap();
    engine.rename_tables(&[(name("t"), name("renamed"))], &kill).unwrap();
    engine.truncate_table(&name("renamed"), &kill).unwrap();
    assert_eq!(all(&begin(&engine), &table(&engine, "renamed")), []);
    let made = disk.contents(Path::new("#tables/18.ibd")).unwrap();
    assert!(![ids.0, ids.1].contains(&store_id(&made)), "TRUNCATE makes another file");
    engine.shutdown().unwrap();
    drop(engine);

    disk.rename(Path::new("#tables/18.ibd"), Path::new("aside")).unwrap();
    disk.open(Path::new("#tables/18.ibd"), OpenMode::CreateNew).unwrap().write_at(&strange, 0).unwrap();
    let engine = try_open(&disk, 7, ForceRecovery::Off).unwrap();
    // The file has the name of the table's, and the number that the table had before it was emptied.
    let refused = scan(&begin(&engine), &table(&engine, "renamed"), 0, ReadMode::Consistent).unwrap_err();
    assert!(matches!(refused, EngineError::TableDamaged(_)), "{refused:?}");
    let told = engine.take_messages();
    assert!(told.len() == 1 && told[0].contains("#tables/18.ibd"), "{told:?}");
    engine.drop_tables(&[name("renamed")], &kill).unwrap();
    create(&engine, "t");
}

/// Whether the doublewrite file names a copy of that space's header.
fn has_copy_of_header(disk: &SimulatedDisk, space: u32) -> bool {
    let bytes = disk.contents(Path::new("redo/doublewrite")).unwrap();
    let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let mut entries = (0..number(4) as usize).map(|entry| 16 + entry * 16);
    entries.any(|at| (number(at), number(at + 4)) == (space, 0))
}

/// Starts over a header that is damaged: no copy of another file's may be taken for it.
fn check_header_is_damaged(disk: &SimulatedDisk) {
    let engine = try_open(disk, 4, ForceRecovery::Off).unwrap();
    let refused = scan(&begin(&engine), &table(&engine, "t"), 0, ReadMode::Consistent).unwrap_err();
    assert!(matches!(refused, EngineError::TableDamaged(_)), "{refused:?}");
    let told = engine.take_messages();
    assert!(told.len() == 1 && told[0].contains(FILE) && told[0].contains("header"), "{told:?}");
    assert_eq!(all(&begin(&engine), &table(&engine, "old")), [row(1, 1, "one")]);
}

#[test]
fn a_header_of_zeroes_is_not_the_system_tablespaces() {
    for whole_file in [false, true] {
        let disk = SimulatedDisk::new(1);
        let engine = open(&disk);
        insert(&engine, &create(&engine, "old"), &[row(1, 1, "one")]);
        insert(
            &engine,
            &create(&engine, "t"),
            &(0..ROWS).map(|id| row(id, id * 2, "row")).collect::<Vec<_>>(),
        );
        // The first that there is, so it has the system tablespace's header too.
        engine.checkpoint().unwrap();
        drop(engine);
        let disk = disk.restart_after_kill();
        let own = disk.contents(Path::new(FILE)).unwrap();
        assert!(has_copy_of_header(&disk, 0));
        disk.corrupt(Path::new(FILE), 0, &vec![0; if whole_file { own.len() } else { PAGE_BYTES }]);
        check_header_is_damaged(&disk);
        let disk = disk.restart_after_kill();
        put(&disk, &own);
        check_own_rows(&try_open(&disk, 5, ForceRecovery::Off).unwrap());
    }
}

#[test]
fn a_damaged_header_of_another_history_is_not_mended_with_a_copy_of_ours() {
    let [disk, other] = two_histories(true);
    let space = u32::from_le_bytes(disk.contents(Path::new(FILE)).unwrap()[4..8].try_into().unwrap());
    let engine = try_open(&disk, 3, ForceRecovery::Off).unwrap();
    let rows: Vec<_> = (ROWS..10 * ROWS).map(|id| row(id, id * 100, "more")).collect();
    insert(&engine, &table(&engine, "t"), &rows);
    engine.checkpoint().unwrap();
    drop(engine);
    let disk = disk.restart_after_kill();
    assert!(has_copy_of_header(&disk, space));
    let mut own = disk.contents(Path::new(FILE)).unwrap();
    let mut strange = other.contents(Path::new(FILE)).unwrap();
    for header in [&mut strange, &mut own] {
        header[9000] ^= 1;
    }
    let with = |bytes| {
        let disk = disk.restart_with_durable_state();
        put(&disk, bytes);
        disk
    };
    check_header_is_damaged(&with(&strange));
    let engine = try_open(&with(&own), 5, ForceRecovery::Off).unwrap();
    assert_eq!(all(&begin(&engine), &table(&engine, "t")).len(), 10 * ROWS as usize);
}

#[test]
fn a_closed_table_can_be_dropped() {
    let [disk, other] = two_histories(true);
    put(&disk, &other.contents(Path::new(FILE)).unwrap());
    let engine = try_open(&disk, 4, ForceRecovery::Off).unwrap();
    engine.drop_tables(&[name("t")], &KillFlag::default()).unwrap();
    assert!(disk.contents(Path::new(FILE)).is_none());
    insert(&engine, &create(&engine, "t"), &[row(1, 1, "new")]);
    let (_, engine) = {
        engine.shutdown().unwrap();
        drop(engine);
        let disk = disk.restart_with_durable_state();
        let engine = try_open(&disk, 5, ForceRecovery::Off).unwrap();
        (disk, engine)
    };
    assert_eq!(all(&begin(&engine), &table(&engine, "t")), [row(1, 1, "new")]);
    assert_eq!(engine.take_messages(), Vec::<String>::new());
}

#[test]
fn changes_of_the_right_file_are_not_given_up() {
    let [disk, other] = two_histories(false);
    let (own, strange) = (disk.contents(Path::new(FILE)).unwrap(), other.contents(Path::new(FILE)).unwrap());
    put(&disk, &strange);
    for seed in 4..6 {
        let refused = try_open(&disk, seed, ForceRecovery::Off).err().unwrap().to_string();
        let parts = [FILE, "put it back", &format!("{:016x}", store_id(&own))];
        assert!(parts.iter().all(|part| refused.contains(part)), "{refused}");
    }
    let forced = try_open(&disk.restart_after_kill(), 6, ForceRecovery::WithoutLog).unwrap();
    assert!(forced.take_messages().iter().any(|text| text.contains("store id")));
    drop(forced);
    let disk = disk.restart_after_kill();
    put(&disk, &own);
    check_own_rows(&try_open(&disk, 7, ForceRecovery::Off).unwrap());

    // By force they are, and that is not forgotten when the right file is back.
    put(&disk, &strange);
    let disk = disk.restart_after_kill();
    let forced = try_open(&disk, 8, ForceRecovery::PastDamage).unwrap();
    assert!(forced.take_messages().iter().any(|text| text.contains("store id")));
    forced.checkpoint().unwrap();
    drop(forced);
    put(&disk, &own);
    let engine = try_open(&disk.restart_after_kill(), 9, ForceRecovery::Off).unwrap();
    let refused = scan(&begin(&engine), &table(&engine, "t"), 0, ReadMode::Consistent).unwrap_err();
    assert!(matches!(refused, EngineError::TableDamaged(_)), "{refused:?}");
}
