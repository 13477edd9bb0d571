//! Checking an index that has an entry for each element of an array: every element of every row has its entry; there are no others, if
//! there are as many. Main function: [`check_elements`].

use super::{BATCH_ROWS, FAULTS_MAX, index_name};
use crate::read::{RowBatch, ScanOptions};
use crate::transaction::Transaction;
use engine_error::EngineResult;
use entry::{EntryKind, append_clustered_key, parse_entry};
use std::sync::Arc;
use tables::Table;

/// Looks for the entries of all rows. Returns how many there must be.
pub(super) fn check_elements(
    transaction: &Transaction,
    table: &Arc<Table>,
    number: usize,
    faults: &mut Vec<String>,
) -> EngineResult<u64> {
    let (index, view, engine) = (table.index(number)?, transaction.view()?, &transaction.engine);
    let options = ScanOptions { columns: index.columns.clone(), ..ScanOptions::default() };
    let mut scan = transaction.scan(table, options)?;
    let (mut batch, mut expected) = (RowBatch::new(), 0);
    let (mut key, mut stored) = (Vec::new(), Vec::new());
    while scan.next_batch(transaction, &mut batch, BATCH_ROWS)? {
        for at in 0..batch.len() {
            let row = table.view(batch.row(at))?;
            stored.clear();
            index.stored_row(&row, &mut stored)?;
            for element in index.elements(&row)? {
                expected += 1;
                key.clear();
                index.own_key(&row, element, &mut key)?;
                append_clustered_key(&mut key, 0, batch.key(at))?;
                // What was written since the snapshot may keep another row.
                let mut agrees = Ok(false);
                index.tree.get(&engine.pool, &key, |value| {
                    agrees = parse_entry(EntryKind::Secondary, value).map(|entry| {
                        let is_later = !engine.reads.sees(view, entry.writer);
                        is_later || entry.deleted || entry.row.is_empty() || entry.row == stored
                    });
                })?;
                if !agrees? && faults.len() < FAULTS_MAX {
                    let (name, row) = (index_name(table, number), batch.key(at));
                    faults.push(format!("index {name} and row {row:02x?} disagree about an element"));
                }
            }
        }
    }
    Ok(expected)
}
