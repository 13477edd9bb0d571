//! Damaged pages and files: each page of a table and of the system tablespace is damaged in turn, with and without redo for
//! it, with and without its doublewrite copy. One table closes, or one read fails; all else serves, and no row is ever wrong.

use crate::common::*;
use engine::*;
use env::simulated::SimulatedDisk;
use env::{Disk, Environment, OpenMode};
use std::collections::BTreeMap;
use std::path::Path;

const PAGE: usize = 16_384;
const FILE: &str = "#tables/16.ibd";
const SYSTEM: &str = "iruka_system.ibd";
const KIND_OFFSET: usize = 20;
const KINDS: [&str; 5] = ["zero", "header", "free", "inner", "leaf"];

fn path(text: &str) -> &Path {
    Path::new(text)
}

fn try_open(disk: &SimulatedDisk) -> EngineResult<Engine> {
    Engine::open(Environment::simulated(disk.clone(), 1), options())
}

fn long(id: i64, round: i64) -> Row {
    let length = if id % 50 == 0 { 8000 } else { 150 };
    row(id, id * 10 + round, &format!("{round}").repeat(length))
}

fn change(engine: &Engine, name: &str, ids: impl Iterator<Item = i64>, round: i64) {
    let table = table(engine, name);
    let transaction = begin(engine);
    for id in ids {
        transaction.update(&table, &key(&table, id), &encode(&table, &long(id, round))).unwrap();
    }
    engine.flush_log(transaction.commit().unwrap()).unwrap();
}

fn delete(engine: &Engine, ids: impl Iterator<Item = i64>) {
    let table = table(engine, "t");
    let transaction = begin(engine);
    for id in ids {
        transaction.delete(&table, &key(&table, id)).unwrap();
    }
    engine.flush_log(transaction.commit().unwrap()).unwrap();
    engine.purge().unwrap();
}

/// What the tables hold at the end, and the disk: shut down, or killed with redo for nearly every page of `t`.
fn directory(shut_down: bool, loser: bool) -> (SimulatedDisk, BTreeMap<&'static str, Vec<Row>>) {
    let disk = SimulatedDisk::new(1);
    let engine = open(&disk);
    for name in ["t", "u"] {
        let table = create(&engine, name);
        insert(&engine, &table, &(0..400).map(|id| long(id, 1)).collect::<Vec<_>>());
    }
    delete(&engine, 100..200);
    engine.checkpoint().unwrap();
    change(&engine, "t", (0..100).chain(200..400), 2);
    change(&engine, "u", (0..400).step_by(7), 2);
    insert(&engine, &table(&engine, "t"), &(400..500).map(|id| long(id, 2)).collect::<Vec<_>>());
    delete(&engine, 300..330);
    let rows = ["t", "u"].map(|name| (name, all(&begin(&engine), &table(&engine, name)))).into();
    if loser {
        let lost = begin(&engine);
        for name in ["u", "t", "u"] {
            let table = table(&engine, name);
            let id = if lost.id().is_none() { 3 } else { 8 };
            lost.update(&table, &key(&table, id), &encode(&table, &row(id, -id, "never"))).unwrap();
        }
        engine.sync_log(begin_nothing(&engine)).unwrap();
        std::mem::forget(lost);
    }
    if shut_down {
        engine.shutdown().unwrap();
    }
    drop(engine);
    (if shut_down { disk.restart_with_durable_state() } else { disk.restart_after_kill() }, rows)
}

/// The end of the log, by a commit of one row that is taken back at once.
fn begin_nothing(engine: &Engine) -> stdx::ids::Lsn {
    let u = table(engine, "u");
    let transaction = begin(engine);
    let unchanged = encode(&u, &long(399, 2));
    transaction.update(&u, &key(&u, 399), &unchanged).unwrap();
    transaction.commit().unwrap()
}

fn rows_of(engine: &Engine, name: &str, index: usize) -> EngineResult<Vec<Row>> {
    let mut rows = scan(&begin(engine), &table(engine, name), index, ReadMode::Consistent)?;
    rows.sort();
    Ok(rows)
}

fn damage(disk: &SimulatedDisk, file: &str, page: usize) {
    disk.corrupt(path(file), page * PAGE + 5000, &[0x5A; 64]);
}

fn pages(disk: &SimulatedDisk, file: &str) -> Vec<usize> {
    disk.contents(path(file)).unwrap().chunks_exact(PAGE).map(|page| usize::from(page[KIND_OFFSET])).collect()
}

fn put(disk: &SimulatedDisk, file: &str, bytes: &[u8]) {
    let file = disk.open(path(file), OpenMode::CreateIfMissing).unwrap();
    file.set_len(bytes.len() as u64).unwrap();
    file.write_at(bytes, 0).unwrap();
    file.sync_all().unwrap();
}

fn is_closed(engine: &Engine) -> bool {
    match rows_of(engine, "t", 0) {
        Err(EngineError::TableDamaged(found)) => {
            assert_eq!(*found, name("t"));
            let t = table(engine, "t");
            let refused = begin(engine).insert(&t, &encode(&t, &row(9999, 1, "x")));
            assert!(matches!(refused, Err(EngineError::TableDamaged(_))));
            true
        }
        _ => false,
    }
}

/// How a start with one damaged page of `t` ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    /// The page does not matter, was made anew or repaired.
    Whole,
    /// Some reads fail.
    Partly,
    Closed,
}

fn check_start(disk: &SimulatedDisk, page: usize, rows: &BTreeMap<&str, Vec<Row>>) -> Outcome {
    let engine = try_open(disk).unwrap_or_else(|error| panic!("page {page}: {error}"));
    assert_eq!(rows_of(&engine, "u", 0).as_ref(), Ok(&rows["u"]), "page {page}");
    if is_closed(&engine) {
        let messages = engine.take_messages();
        assert_eq!(messages.len(), 1, "{messages:?}");
        let named = page == 0 || messages[0].contains(&format!("Page {page} of '{FILE}'"));
        assert!(named && messages[0].contains(FILE) && messages[0].contains("`test`.`t`"), "{messages:?}");
        return Outcome::Closed;
    }
    let mut outcome = Outcome::Whole;
    for index in 0..3 {
        match rows_of(&engine, "t", index) {
            Ok(found) => assert!(found == rows["t"], "page {page}: wrong rows by index {index}"),
            Err(EngineError::Corrupt(text)) => {
                assert!(text.contains(&format!(":{page} ")), "page {page}: {text}");
                outcome = Outcome::Partly;
            }
            Err(error) => panic!("page {page}: {error:?}"),
        }
    }
    if outcome == Outcome::Partly {
        let messages = engine.take_messages();
        assert!(messages[0].starts_with(&format!("Page {page} of '{FILE}' is damaged")), "{messages:?}");
    }
    outcome
}

/// What is closed stays closed, until the table is dropped.
fn check_closed_for_good(disk: &SimulatedDisk, page: usize, rows: &BTreeMap<&str, Vec<Row>>) {
    for shut_down in [true, false] {
        let engine = try_open(disk).unwrap();
        assert!(is_closed(&engine), "page {page} is forgotten");
        engine.checkpoint().unwrap();
        if shut_down {
            engine.shutdown().unwrap();
        }
    }
    let engine = try_open(disk).unwrap();
    engine.rename_tables(&[(name("t"), name("t2"))], &KillFlag::default()).unwrap();
    engine.rename_tables(&[(name("t2"), name("t"))], &KillFlag::default()).unwrap();
    assert!(is_closed(&engine));
    if page.is_multiple_of(2) {
        engine.drop_tables(&[name("t")], &KillFlag::default()).unwrap();
        assert!(disk.contents(path(FILE)).is_none(), "page {page}: the file goes with its table");
        create(&engine, "t");
    } else {
        engine.truncate_table(&name("t"), &KillFlag::default()).unwrap();
    }
    insert(&engine, &table(&engine, "t"), &[row(1, 1, "new")]);
    engine.take_messages();
    sound(&engine);
    engine.shutdown().unwrap();
    drop(engine);
    let engine = try_open(disk).unwrap();
    assert_eq!(engine.take_messages(), Vec::<String>::new());
    assert_eq!(rows_of(&engine, "t", 0).unwrap(), [row(1, 1, "new")]);
    assert_eq!(rows_of(&engine, "u", 0).as_ref(), Ok(&rows["u"]));
}

fn sound(engine: &Engine) {
    assert_eq!(engine.check().unwrap(), Vec::<String>::new());
}

/// Outcomes by page kind.
fn damage_each_page(shut_down: bool, copies: bool) -> BTreeMap<&'static str, Vec<Outcome>> {
    let (_, rows) = directory(shut_down, false);
    let kinds = pages(&directory(shut_down, false).0, FILE);
    let mut outcomes: BTreeMap<&str, Vec<Outcome>> = BTreeMap::new();
    for (page, kind) in kinds.iter().enumerate() {
        let (disk, _) = directory(shut_down, false);
        if !copies {
            disk.remove(path("redo/doublewrite")).unwrap();
        }
        damage(&disk, FILE, page);
        let outcome = check_start(&disk, page, &rows);
        outcomes.entry(KINDS[*kind]).or_default().push(outcome);
        if outcome == Outcome::Closed {
            check_closed_for_good(&disk, page, &rows);
        }
    }
    outcomes
}

#[test]
fn a_damaged_page_without_redo_fails_the_reads_that_need_it() {
    let outcomes = damage_each_page(true, false);
    assert_eq!(outcomes["header"], [Outcome::Closed]);
    for kind in ["leaf", "inner"] {
        assert!(outcomes[kind].iter().all(|outcome| *outcome == Outcome::Partly), "{outcomes:?}");
    }
    assert!(outcomes["free"].iter().all(|outcome| *outcome == Outcome::Whole), "{outcomes:?}");
}

#[test]
fn a_damaged_page_with_redo_closes_its_table() {
    let outcomes = damage_each_page(false, false);
    assert_eq!(outcomes["header"], [Outcome::Closed]);
    for kind in ["leaf", "inner"] {
        assert!(outcomes[kind].contains(&Outcome::Closed), "{outcomes:?}");
    }
    // Pages that the log takes from the free list, frees, or writes as a whole start anew.
    assert!(outcomes["free"].iter().all(|outcome| *outcome == Outcome::Whole), "{outcomes:?}");
}

#[test]
fn copies_of_the_last_batch_mend_and_older_ones_do_not() {
    for shut_down in [true, false] {
        // Wrong rows and starts that fail are seen by `check_start`.
        let outcomes = damage_each_page(shut_down, true);
        let all: Vec<Outcome> = outcomes.values().flatten().copied().collect();
        assert!(all.contains(&Outcome::Whole) && all.contains(&Outcome::Closed) || shut_down, "{outcomes:?}");
    }
}

#[test]
fn a_right_file_opens_the_table_again_and_an_old_one_does_not() {
    let (healthy, rows) = directory(false, false);
    let old = healthy.contents(path(FILE)).unwrap();
    let engine = try_open(&healthy).unwrap();
    engine.checkpoint().unwrap();
    let right = healthy.contents(path(FILE)).unwrap();
    drop(engine);
    // A leaf that the log has changes of.
    let damaged = |page: usize| {
        let (disk, _) = directory(false, false);
        disk.remove(path("redo/doublewrite")).unwrap();
        damage(&disk, FILE, page);
        let engine = try_open(&disk).unwrap();
        let closed = is_closed(&engine);
        engine.shutdown().unwrap();
        closed.then_some(disk)
    };
    let kinds = pages(&directory(false, false).0, FILE);
    let mut leaves = (0..kinds.len()).filter(|page| KINDS[kinds[*page]] == "leaf");
    let disk = leaves.find_map(damaged).unwrap();
    put(&disk, FILE, &old);
    let engine = try_open(&disk).unwrap();
    assert!(is_closed(&engine), "the old file lacks what was passed over");
    engine.shutdown().unwrap();
    drop(engine);
    put(&disk, FILE, &right);
    let engine = try_open(&disk).unwrap();
    assert_eq!(engine.take_messages(), ["The file '#tables/16.ibd' has all its changes again."]);
    assert_eq!(all(&begin(&engine), &table(&engine, "t")), rows["t"]);
    sound(&engine);
    engine.shutdown().unwrap();
    drop(engine);
    assert!(try_open(&disk).unwrap().take_messages().is_empty());
}

#[test]
fn a_transaction_is_rolled_back_around_a_closed_table() {
    let (disk, rows) = directory(false, true);
    disk.remove(path("redo/doublewrite")).unwrap();
    let kinds = pages(&disk, FILE);
    let mut closed = 0;
    for page in (0..kinds.len()).filter(|page| KINDS[kinds[*page]] == "leaf") {
        let (disk, _) = directory(false, true);
        disk.remove(path("redo/doublewrite")).unwrap();
        damage(&disk, FILE, page);
        let engine = try_open(&disk).unwrap();
        assert_eq!(rows_of(&engine, "u", 0).as_ref(), Ok(&rows["u"]), "page {page}");
        closed += u32::from(is_closed(&engine));
        engine.shutdown().unwrap();
        drop(engine);
        let engine = try_open(&disk).unwrap();
        assert_eq!(rows_of(&engine, "u", 0).as_ref(), Ok(&rows["u"]), "page {page}, second start");
    }
    assert!(closed > 0);
}

/// A page rots while the server runs: a rollback that needs it closes the table, and ends.
#[test]
fn a_rollback_that_meets_a_damaged_page_ends() {
    let (disk, rows) = directory(true, false);
    let small = EngineOptions { buffer_pool_bytes: 64 * PAGE as u64, ..options() };
    let engine = Engine::open(Environment::simulated(disk.clone(), 1), small).unwrap();
    let (t, u) = (table(&engine, "t"), table(&engine, "u"));
    let transaction = begin(&engine);
    for id in [1, 250, 399] {
        for table in [&u, &t] {
            transaction.update(table, &key(table, id), &encode(table, &row(id, -id, "taken back"))).unwrap();
        }
    }
    engine.checkpoint().unwrap();
    // Pages leave the pool, which is small.
    let kinds = pages(&disk, FILE);
    (1..kinds.len()).for_each(|page| damage(&disk, FILE, page));
    let other = create(&engine, "v");
    insert(&engine, &other, &(0..3000).map(|id| long(id, 1)).collect::<Vec<_>>());
    rows_of(&engine, "v", 0).unwrap();
    transaction.rollback().unwrap();
    assert!(is_closed(&engine));
    assert_eq!(rows_of(&engine, "u", 0).as_ref(), Ok(&rows["u"]));
    engine.shutdown().unwrap();
    drop(engine);
    assert!(is_closed(&try_open(&disk).unwrap()));
}

#[test]
fn a_damaged_free_list_is_given_up() {
    let (disk, _) = directory(true, false);
    let kinds = pages(&disk, FILE);
    disk.remove(path("redo/doublewrite")).unwrap();
    for page in (0..kinds.len()).filter(|page| KINDS[kinds[*page]] == "free") {
        damage(&disk, FILE, page);
    }
    let engine = try_open(&disk).unwrap();
    insert(&engine, &table(&engine, "t"), &(1000..1400).map(|id| long(id, 1)).collect::<Vec<_>>());
    assert!(engine.take_messages()[0].contains(FILE));
    assert!(rows_of(&engine, "t", 0).unwrap().len() > 400);
}

#[test]
fn a_damaged_system_page_is_named() {
    for shut_down in [true, false] {
        let (disk, rows) = directory(shut_down, !shut_down);
        let mut refused = 0;
        for page in 0..pages(&disk, SYSTEM).len() {
            let (disk, _) = directory(shut_down, !shut_down);
            disk.remove(path("redo/doublewrite")).unwrap();
            damage(&disk, SYSTEM, page);
            match try_open(&disk) {
                Ok(engine) => assert_eq!(rows_of(&engine, "t", 0).as_ref(), Ok(&rows["t"])),
                Err(error) => {
                    let text = error.to_string();
                    let named = page == 0 || text.contains(&format!("Page {page} of '{SYSTEM}'"));
                    assert!(named && text.contains(SYSTEM), "page {page}: {text}");
                    refused += 1;
                }
            }
        }
        assert!(refused >= 2, "{refused}");
    }
}

#[test]
fn files_that_are_cut_short_close_their_table() {
    for shut_down in [true, false] {
        for keep in [0, 1, 100, PAGE, 2 * PAGE, 3 * PAGE + 7, 9 * PAGE] {
            let (disk, rows) = directory(shut_down, false);
            disk.remove(path("redo/doublewrite")).unwrap();
            let whole = disk.contents(path(FILE)).unwrap();
            put(&disk, FILE, &whole[..keep]);
            let engine = try_open(&disk).unwrap();
            assert_eq!(rows_of(&engine, "u", 0).as_ref(), Ok(&rows["u"]));
            assert!(rows_of(&engine, "t", 0).is_err());
            assert!(!engine.take_messages().is_empty());
            if keep < PAGE || !shut_down {
                assert!(is_closed(&engine), "{keep}");
            }
            engine.drop_tables(&[name("t")], &KillFlag::default()).unwrap();
            create(&engine, "t");
            engine.shutdown().unwrap();
        }
    }
}
