//! A table as a map, and random statements that are run on it and on the engine.

use super::*;
use std::collections::BTreeMap;

/// Committed rows by id.
pub type Rows = BTreeMap<i64, Row>;

/// A small random number generator, so that a seed is a whole test.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        (self.next() >> 20) % bound
    }
}

pub fn random_row(random: &mut Random, ids: u64) -> Row {
    let id = random.below(ids) as i64;
    let a = (random.below(5) > 0).then(|| random.below(ids) as i64);
    // Some stand outside their rows, in one chunk or several leaves of them.
    let length = match random.below(50) {
        0 | 1 => 3000 + random.below(6000),
        2 => 3000 + random.below(40_000),
        _ => random.below(60),
    };
    (id, a, "abcdefgh"[..1 + random.below(7) as usize].repeat(length as usize / 3))
}

/// Runs one random statement on both. A lock conflict (NOWAIT cannot be asked for in writes) ends it with that error.
pub fn step(
    transaction: &Transaction,
    table: &Arc<Table>,
    rows: &mut Rows,
    random: &mut Random,
    ids: u64,
) -> EngineResult<()> {
    let row = random_row(random, ids);
    let taken = |rows: &Rows, except: i64| {
        row.1.is_some() && rows.values().any(|other| other.1 == row.1 && other.0 != except)
    };
    match random.below(12) {
        10..=11 => return step_many(transaction, table, rows, random, ids),
        0..=3 => match transaction.insert(table, &encode(table, &row)) {
            Ok(_) => {
                assert!(!rows.contains_key(&row.0) && !taken(rows, row.0), "insert of {row:?} must fail");
                rows.insert(row.0, row);
            }
            Err(EngineError::DuplicateKey(duplicate)) => {
                let by_primary = rows.contains_key(&row.0);
                assert_eq!(duplicate.index, usize::from(!by_primary));
                assert!(by_primary || taken(rows, row.0), "insert of {row:?} must not fail");
            }
            Err(error) => return Err(error),
        },
        4..=6 => {
            let from = random.below(ids) as i64;
            let changed = if random.below(5) == 0 { row.clone() } else { (from, row.1, row.2.clone()) };
            match transaction.update(table, &key(table, from), &encode(table, &changed)) {
                Ok(_) => {
                    assert!(rows.remove(&from).is_some());
                    assert!(!taken(rows, from) && !rows.contains_key(&changed.0));
                    rows.insert(changed.0, changed);
                }
                Err(EngineError::RowNotFound) => assert!(!rows.contains_key(&from)),
                Err(EngineError::DuplicateKey(_)) => {
                    assert!(rows.contains_key(&from));
                    assert!(taken(rows, from) || (changed.0 != from && rows.contains_key(&changed.0)));
                }
                Err(error) => return Err(error),
            }
        }
        _ => {
            let id = random.below(ids) as i64;
            match transaction.delete(table, &key(table, id)) {
                Ok(()) => assert!(rows.remove(&id).is_some()),
                Err(EngineError::RowNotFound) => assert!(!rows.contains_key(&id)),
                Err(error) => return Err(error),
            }
        }
    }
    Ok(())
}

/// Inserts a few rows by one call; the first row that fails in their order decides the error.
fn step_many(
    transaction: &Transaction,
    table: &Arc<Table>,
    rows: &mut Rows,
    random: &mut Random,
    ids: u64,
) -> EngineResult<()> {
    let batch: Vec<Row> = (0..1 + random.below(12)).map(|_| random_row(random, ids)).collect();
    let (mut expected, mut failure) = (rows.clone(), None);
    for (ordinal, row) in batch.iter().enumerate() {
        let by_primary = expected.contains_key(&row.0);
        if by_primary || (row.1.is_some() && expected.values().any(|other| other.1 == row.1)) {
            failure = Some((usize::from(!by_primary), ordinal as u64));
            break;
        }
        expected.insert(row.0, row.clone());
    }
    let encoded: Vec<Vec<u8>> = batch.iter().map(|row| encode(table, row)).collect();
    let slices: Vec<&[u8]> = encoded.iter().map(|row| &row[..]).collect();
    let mark = transaction.mark();
    match transaction.insert_many(table, &slices) {
        Ok(()) => {
            assert_eq!(failure, None, "insert of {batch:?}");
            *rows = expected;
        }
        Err(EngineError::DuplicateKey(duplicate)) => {
            assert_eq!(failure, Some((duplicate.index, duplicate.row_ordinal)), "insert of {batch:?}");
            transaction.rollback_to(mark)?;
        }
        Err(error) => return Err(error),
    }
    Ok(())
}

pub fn sound(engine: &Engine) {
    let faults = engine.check().expect("the check reads everything");
    assert!(faults.is_empty(), "{faults:#?}");
}
