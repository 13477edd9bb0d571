//! Indexes with an entry for each element of an array: random changes against a map, through rollback, purge, old snapshots, restarts and
//! long arrays.

use crate::common::model::{Random, sound};
use crate::common::*;
use dictionary::{GeneratedColumn, IndexDefinition, IndexKind, IndexPart, TableDefinition};
use engine::*;
use env::simulated::SimulatedDisk;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use values::json::{Built, Node};
use values::{ColumnType, TypeKind, Value};

/// The elements of a row; None for no array.
type Array = Option<BTreeSet<i64>>;
/// Number and elements of each row.
type Arrays = BTreeMap<i64, (i64, Array)>;

/// What elements are taken from.
const VALUES: i64 = 12;
/// The index `(a, elements)`.
const BOTH: usize = 2;

/// `(id BIGINT PRIMARY KEY, a BIGINT, e JSON array)` with the indexes `(e)` and `(a, e)`, the first unique if it is to be.
fn array_table(name: &str, unique: bool) -> TableDefinition {
    let mut table = definition(name);
    let (text, element_type) = ("cast(`a` as signed array)".to_owned(), Some(ColumnType::big_int()));
    table.columns[2].column_type = ColumnType::new(TypeKind::Json);
    table.columns[2].nullable = true;
    table.columns[2].generated =
        Some(GeneratedColumn { text, stored: false, is_key_part: true, element_type });
    let part = |column: usize| IndexPart { column, prefix_length: None, descending: false };
    let kind = if unique { IndexKind::Unique } else { IndexKind::Plain };
    let both = IndexDefinition { parts: vec![part(1), part(2)], ..index("both", IndexKind::Plain, 1) };
    table.indexes = vec![index("PRIMARY", IndexKind::Primary, 0), index("e", kind, 2), both];
    table
}

fn create_arrays(engine: &Engine, unique: bool) -> Arc<Table> {
    create(engine, "other");
    engine.create_table(array_table("t", unique), &KillFlag::default()).unwrap()
}

fn encoded(t: &Table, id: i64, a: i64, array: &Array) -> Vec<u8> {
    let document = |array: &BTreeSet<i64>| {
        let elements = array.iter().map(|element| Built::Kept(Node::Int(*element)));
        Value::Bytes(Built::Array(elements.collect()).encode().unwrap())
    };
    let array = array.as_ref().map_or(Value::Null, document);
    t.layout().encode(&[Value::Int(id), Value::Int(a), array]).unwrap()
}

/// The rows of which an index has an entry that begins with these values.
fn ids_of(transaction: &Transaction, t: &Arc<Table>, index: usize, values: &[Value]) -> Vec<i64> {
    let mut own = Vec::new();
    t.indexes()[index].key_layout().encode(values, &mut own).unwrap();
    let options = ScanOptions { index, range: KeyRange::prefix(&own), ..ScanOptions::default() };
    let mut scan = transaction.scan(t, options).unwrap();
    let (mut batch, mut ids) = (RowBatch::new(), Vec::new());
    while scan.next_batch(transaction, &mut batch, 7).unwrap() {
        ids.extend((0..batch.len()).map(|at| match t.view(batch.row(at)).unwrap().value(0) {
            Value::Int(id) => id,
            other => panic!("{other:?}"),
        }));
    }
    ids
}

/// Both indexes have an entry for each element of each row, and no other.
fn check_entries(transaction: &Transaction, t: &Arc<Table>, arrays: &Arrays) {
    for element in 0..VALUES {
        let has = |array: &Array| array.as_ref().is_some_and(|array| array.contains(&element));
        let of = |wanted: Option<i64>| -> Vec<i64> {
            let found =
                arrays.iter().filter(|(_, (a, array))| has(array) && wanted.is_none_or(|one| one == *a));
            found.map(|(id, _)| *id).collect()
        };
        assert_eq!(ids_of(transaction, t, 1, &[Value::Int(element)]), of(None), "rows with {element}");
        let both = [Value::Int(1), Value::Int(element)];
        assert_eq!(ids_of(transaction, t, BOTH, &both), of(Some(1)), "rows of 1 with {element}");
    }
    let without: Vec<i64> =
        arrays.iter().filter(|(_, (_, array))| array.is_none()).map(|(id, _)| *id).collect();
    assert_eq!(ids_of(transaction, t, 1, &[Value::Null]), without, "rows without an array");
    let entries: usize = arrays.values().map(|(_, array)| array.as_ref().map_or(1, BTreeSet::len)).sum();
    for index in [1, BOTH] {
        assert_eq!(transaction.count(t, index, &KeyRange::all()).unwrap(), entries as u64);
    }
}

fn random_array(random: &mut Random) -> Array {
    let count = random.below(6);
    (count < 5).then(|| (0..count).map(|_| random.below(VALUES as u64) as i64).collect())
}

fn random_step(transaction: &Transaction, t: &Arc<Table>, arrays: &mut Arrays, random: &mut Random) {
    let (id, a, array) = (random.below(20) as i64, random.below(3) as i64, random_array(random));
    let row = encoded(t, id, a, &array);
    match (arrays.contains_key(&id), random.below(3)) {
        (true, 0) => {
            transaction.delete(t, &key(t, id)).unwrap();
            arrays.remove(&id);
        }
        (true, _) => {
            transaction.update(t, &key(t, id), &row).unwrap();
            arrays.insert(id, (a, array));
        }
        (false, 0) => {
            // A run, and rows that meet the marks of others.
            let free: Vec<i64> = (id..id + 8).filter(|id| !arrays.contains_key(id)).collect();
            let rows: Vec<Vec<u8>> = free.iter().map(|id| encoded(t, *id, a, &array)).collect();
            let rows: Vec<&[u8]> = rows.iter().map(Vec::as_slice).collect();
            transaction.insert_many(t, &rows).unwrap();
            arrays.extend(free.into_iter().map(|id| (id, (a, array.clone()))));
        }
        (false, _) => {
            transaction.insert(t, &row).unwrap();
            arrays.insert(id, (a, array));
        }
    }
}

#[test]
fn entries_follow_the_elements() {
    for seed in 1..10u64 {
        let mut random = Random(seed * 6151);
        let disk = SimulatedDisk::new(seed);
        let mut engine = open(&disk);
        let mut t = create_arrays(&engine, false);
        let mut committed = Arrays::new();
        let mut readers: Vec<(Transaction, Arrays)> = Vec::new();
        for _ in 0..40 {
            let transaction = begin(&engine);
            let mut arrays = committed.clone();
            for _ in 0..random.below(6) {
                let (mark, saved) = (transaction.mark(), arrays.clone());
                for _ in 0..random.below(5) {
                    random_step(&transaction, &t, &mut arrays, &mut random);
                }
                if random.below(4) == 0 {
                    transaction.rollback_to(mark).unwrap();
                    arrays = saved;
                }
            }
            check_entries(&transaction, &t, &arrays);
            if random.below(3) == 0 {
                transaction.rollback().unwrap();
            } else {
                transaction.commit().unwrap();
                committed = arrays;
            }
            if random.below(3) == 0 {
                engine.purge().unwrap();
            }
            readers.iter().for_each(|(reader, seen)| check_entries(reader, &t, seen));
            let reader = begin(&engine);
            check_entries(&reader, &t, &committed);
            readers.push((reader, committed.clone()));
            if readers.len() > 3 {
                readers.swap_remove(random.below(4) as usize);
            }
            assert_eq!(engine.check_table(&t).unwrap(), [""; 0], "seed {seed}");
        }
        readers.clear();
        // An index that is made over the rows has the same entries.
        let again = vec![index("again", IndexKind::Plain, 2)];
        t = engine.add_indexes(&name("t"), again, &KillFlag::default()).unwrap();
        let reader = begin(&engine);
        for element in 0..VALUES {
            let ids = |index| ids_of(&reader, &t, index, &[Value::Int(element)]);
            assert_eq!(ids(3), ids(1));
        }
        drop(reader);
        engine.sync_log(engine.status().log_end).unwrap();
        drop((t, engine));
        engine = open(&disk.restart(seed + 100));
        t = table(&engine, "t");
        check_entries(&begin(&engine), &t, &committed);
        sound(&engine);
    }
}

#[test]
fn an_element_is_unique_among_rows() {
    let engine = open(&SimulatedDisk::new(1));
    let t = create_arrays(&engine, true);
    let array = |elements: &[i64]| Some(elements.iter().copied().collect::<BTreeSet<i64>>());
    let transaction = begin(&engine);
    transaction.insert(&t, &encoded(&t, 1, 0, &array(&[1, 2]))).unwrap();
    transaction.insert(&t, &encoded(&t, 2, 0, &array(&[3]))).unwrap();
    // Of no array and of none of its elements there may be any number.
    let others = [(3, None), (4, None), (5, array(&[])), (6, array(&[]))];
    let others = others.map(|(id, array)| encoded(&t, id, 0, &array));
    transaction.insert_many(&t, &others.each_ref().map(Vec::as_slice)).unwrap();
    let is_refused = |changed: EngineResult<()>| match changed {
        Err(EngineError::DuplicateKey(found)) => {
            assert_eq!((found.index, &found.existing_key), (1, &key(&t, 1)))
        }
        other => panic!("{other:?}"),
    };
    is_refused(transaction.insert(&t, &encoded(&t, 7, 0, &array(&[9, 2]))).map(|_| ()));
    is_refused(transaction.insert_many(&t, &[&encoded(&t, 7, 0, &array(&[9, 2]))]));
    is_refused(transaction.update(&t, &key(&t, 2), &encoded(&t, 2, 0, &array(&[1, 3]))).map(|_| ()));
    // A row may keep its own.
    transaction.update(&t, &key(&t, 1), &encoded(&t, 1, 5, &array(&[2, 8]))).unwrap();
    transaction.update(&t, &key(&t, 2), &encoded(&t, 2, 0, &array(&[1, 3]))).unwrap();
    transaction.commit().unwrap();
    let arrays = [(1, 5, array(&[2, 8])), (2, 0, array(&[1, 3])), (3, 0, None), (4, 0, None)];
    let arrays = arrays.into_iter().chain([(5, 0, array(&[])), (6, 0, array(&[]))]);
    check_entries(&begin(&engine), &t, &arrays.map(|(id, a, array)| (id, (a, array))).collect());
    sound(&engine);
}

#[test]
fn arrays_stand_outside_their_rows() {
    let disk = SimulatedDisk::new(3);
    let engine = open(&disk);
    let t = create_arrays(&engine, false);
    let long = |from: i64| Some((from..from + 3000).collect::<BTreeSet<i64>>());
    let transaction = begin(&engine);
    transaction.insert(&t, &encoded(&t, 1, 1, &long(0))).unwrap();
    transaction.insert_many(&t, &[&encoded(&t, 2, 1, &long(5)), &encoded(&t, 3, 1, &None)]).unwrap();
    transaction.commit().unwrap();
    let arrays: Arrays = [(1, (1, long(0))), (2, (1, long(5))), (3, (1, None))].into();
    check_entries(&begin(&engine), &t, &arrays);
    let old = begin(&engine);
    check_entries(&old, &t, &arrays);
    let transaction = begin(&engine);
    transaction.update(&t, &key(&t, 1), &encoded(&t, 1, 1, &long(8))).unwrap();
    transaction.delete(&t, &key(&t, 2)).unwrap();
    check_entries(&transaction, &t, &[(1, (1, long(8))), (3, (1, None))].into());
    transaction.rollback().unwrap();
    let transaction = begin(&engine);
    transaction.update(&t, &key(&t, 1), &encoded(&t, 1, 0, &long(8))).unwrap();
    transaction.commit().unwrap();
    check_entries(&old, &t, &arrays);
    drop(old);
    engine.purge().unwrap();
    let arrays: Arrays = [(1, (0, long(8))), (2, (1, long(5))), (3, (1, None))].into();
    check_entries(&begin(&engine), &t, &arrays);
    sound(&engine);
    engine.sync_log(engine.status().log_end).unwrap();
    drop((t, engine));
    let engine = open(&disk.restart(4));
    check_entries(&begin(&engine), &table(&engine, "t"), &arrays);
    sound(&engine);
}
