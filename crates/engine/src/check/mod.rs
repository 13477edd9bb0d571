//! Checking tables and the whole database: what CHECK TABLE and the crash simulation ask for. Pages, trees and
//! tablespaces are compared with each other and with the dictionary. Then, at one snapshot: every row decodes, every
//! secondary entry agrees with its row, and every index has as many entries as there are rows, so each row has its
//! entry too. Nobody may change the structure of what is checked meanwhile.

mod addresses;
mod elements;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
mod values;

use crate::engine::Engine;
use crate::lob::{Wanted, references_of};
use crate::read::{KeyRange, RowBatch, ScanOptions};
use crate::transaction::Transaction;
use ::values::row::ColumnSet;
use btree::{Cursor, CursorRange, Direction, Taken, Tree, TreeReport, check_space};
use dictionary_store::SYSTEM_SPACE;
use elements::check_elements;
use engine_error::{EngineError, EngineResult};
use engine_types::TransactionOptions;
use entry::{RowForm, StoredRow, append_clustered_key};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use stdx::ids::{PageNumber, SpaceId};
use tables::{Element, Table};
use txn::KillFlag;
use values::ValueCheck;

/// Findings after which the check of a table's rows ends.
const FAULTS_MAX: usize = 50;
const BATCH_ROWS: usize = 1024;

impl Engine {
    /// Checks one table. Returns what is wrong in words; empty for a sound table. Errors are failed reads.
    pub fn check_table(&self, table: &Arc<Table>) -> EngineResult<Vec<String>> {
        table.look_at_file()?;
        let (mut faults, mut pages) = (Vec::new(), HashSet::new());
        let name = format!("{}.{}", table.definition().name.schema, table.definition().name.table);
        for tree in table.trees() {
            self.check_tree(tree, &name, &mut pages, &mut faults)?;
        }
        self.check_pages(table.space(), &name, &pages, &mut faults)?;
        if faults.is_empty() {
            self.check_undo_addresses(table, &name, &mut faults)?;
            let found = self.check_rows(table, false, &KillFlag::default())?;
            faults.extend(found.iter().map(|fault| format!("{name}: {fault}")));
        }
        Ok(faults)
    }

    /// Checks that the rows of unfinished writers lead to what they were before.
    fn check_undo_addresses(
        &self,
        table: &Arc<Table>,
        name: &str,
        faults: &mut Vec<String>,
    ) -> EngineResult<()> {
        let (index, engine) = (table.clustered(), &self.inner);
        let mut cursor = Cursor::new(CursorRange::all(), Direction::Forward);
        while let Some(checked) = cursor.next_leaf(&index.tree, &engine.pool, |leaf| {
            let checked = if engine.reads.leaf_is_visible(leaf) {
                Ok(())
            } else {
                addresses::check_leaf(engine, index.id(), leaf, name, faults)
            };
            (Taken::All, checked)
        })? {
            checked?;
        }
        Ok(())
    }

    /// Checks the rows of a table as they stand at one snapshot, while others may change them: that they decode and stand under their
    /// keys, that indexes and long values agree with them. Only that indexes have as many entries, if it is to be
    /// `quick`. Returns what is wrong in words. Errors: Killed, and failed reads.
    pub fn check_rows(&self, table: &Arc<Table>, quick: bool, kill: &KillFlag) -> EngineResult<Vec<String>> {
        let sees_at_least = self.inner.system.last_commit();
        let options =
            TransactionOptions { sees_at_least, kill: kill.clone(), ..TransactionOptions::default() };
        let transaction = self.begin(options);
        let mut faults = Vec::new();
        let rows = match quick {
            true => transaction.count(table, 0, &KeyRange::all())?,
            false => check_rows(&transaction, table, &mut faults)?,
        };
        // Indexes are compared with what cannot be read only once.
        if !faults.is_empty() {
            return Ok(faults);
        }
        for number in 1..table.indexes.len() {
            let is_multi_valued = table.index(number)?.is_multi_valued();
            let expected = match (is_multi_valued, quick) {
                (false, _) => rows,
                (true, true) => continue,
                (true, false) => check_elements(&transaction, table, number, &mut faults)?,
            };
            let entries = match quick || is_multi_valued {
                true => transaction.count(table, number, &KeyRange::all())?,
                false => check_entries(&transaction, table, number, &mut faults)?,
            };
            if entries != expected && faults.len() < FAULTS_MAX {
                let name = index_name(table, number);
                faults.push(format!("index {name} contains {entries} entries, should be {expected}"));
            }
        }
        if !quick {
            faults.extend(ValueCheck::new(&self.inner).lost_values(table, kill)?);
        }
        Ok(faults)
    }

    /// Checks everything: all tables, the system tablespace, and that files and dictionary agree.
    pub fn check(&self) -> EngineResult<Vec<String>> {
        let (mut faults, mut pages) = (Vec::new(), HashSet::new());
        for tree in
            [&*self.inner.tables.store.tree, self.inner.undo.store.tree(), self.inner.values.garbage.tree()]
        {
            self.check_tree(tree, "system tablespace", &mut pages, &mut faults)?;
        }
        self.check_pages(SYSTEM_SPACE, "system tablespace", &pages, &mut faults)?;
        if faults.is_empty() {
            let orphans = self.inner.undo.orphans()?;
            faults.extend(orphans.iter().map(|id| format!("undo tree: transaction {id} has ended")));
        }
        let mut files: HashMap<_, _> = self.inner.pool.spaces().into_iter().collect();
        files.remove(&SYSTEM_SPACE);
        for schema in self.dictionary().schemas() {
            for table in self.dictionary().tables(&schema.name) {
                faults.extend(self.check_table(&table)?);
                if files.remove(&table.space()).is_none() {
                    faults.push(format!("{}.{} has no file", schema.name, table.definition().name.table));
                }
            }
        }
        faults.extend(files.values().map(|path| format!("file {} belongs to no table", path.display())));
        Ok(faults)
    }

    fn check_tree(
        &self,
        tree: &Tree,
        name: &str,
        pages: &mut HashSet<PageNumber>,
        faults: &mut Vec<String>,
    ) -> EngineResult<TreeReport> {
        let report = tree.check(&self.inner.pool)?;
        for fault in &report.faults {
            faults.push(format!("{name}: index {}, page {}: {}", tree.id().index, fault.page, fault.reason));
        }
        for page in &report.pages {
            if !pages.insert(*page) {
                faults.push(format!("{name}: page {page} belongs to two indexes"));
            }
        }
        Ok(report)
    }

    fn check_pages(
        &self,
        space: SpaceId,
        name: &str,
        pages: &HashSet<PageNumber>,
        faults: &mut Vec<String>,
    ) -> EngineResult<()> {
        let found = check_space(&self.inner.pool, space, pages)?;
        faults.extend(found.iter().map(|fault| format!("{name}: page {}: {}", fault.page, fault.reason)));
        Ok(())
    }
}

/// Checks that every row decodes, has the key it stands under, and long values where it refers to some. Returns the number of rows.
fn check_rows(transaction: &Transaction, table: &Arc<Table>, faults: &mut Vec<String>) -> EngineResult<u64> {
    // Long values stay where they are.
    let options = ScanOptions { columns: ColumnSet::none(), ..ScanOptions::default() };
    let mut scan = transaction.scan(table, options)?;
    let (mut batch, mut rows) = (RowBatch::new(), 0);
    while scan.next_batch(transaction, &mut batch, BATCH_ROWS)? {
        rows += batch.len() as u64;
        for at in 0..batch.len() {
            let before = faults.len();
            let sound = check_row(transaction, table, batch.key(at), batch.row(at), faults);
            if !matches!(sound, Ok(true)) || faults.len() > before {
                let found = faults.split_off(before).join(", ");
                if let Err(error @ (EngineError::Killed | EngineError::Io(_))) = sound {
                    return Err(error);
                }
                if faults.len() < FAULTS_MAX {
                    faults.push(format!("row under key {:02x?}: {sound:?} {found}", batch.key(at)));
                }
            }
        }
    }
    Ok(rows)
}

/// Whether a row stands under its key. What is wrong with its long values is added to `faults`.
fn check_row(
    transaction: &Transaction,
    table: &Table,
    key: &[u8],
    row: &[u8],
    faults: &mut Vec<String>,
) -> EngineResult<bool> {
    let view = table.view(row)?;
    view.check().map_err(|error| table.corrupt(error))?;
    let mut references = Vec::new();
    references_of(&view, &mut references);
    ValueCheck::new(&transaction.engine).check_values(table, &references, faults)?;
    if table.has_hidden_key() || !faults.is_empty() {
        return Ok(true);
    }
    let stored = StoredRow { bytes: row, form: RowForm::of_references(&references) };
    let source = transaction.engine.values.key_source(table, stored, &table.clustered().key_set())?;
    let mut own = Vec::new();
    table.primary_key_of(&table.view(&source)?, &mut own)?;
    Ok(own == key)
}

/// Checks that every entry of a secondary index belongs to a row, stands under its key and agrees with it. Returns the number of
/// entries.
fn check_entries(
    transaction: &Transaction,
    table: &Arc<Table>,
    number: usize,
    faults: &mut Vec<String>,
) -> EngineResult<u64> {
    let mut entries = 0;
    let (mut previous, mut row) = (Vec::new(), Vec::new());
    let (view, engine) = (transaction.view()?, &transaction.engine);
    let tree = &table.index(number)?.tree;
    let mut scan =
        transaction.scan(table, ScanOptions { index: number, covering: true, ..ScanOptions::default() })?;
    let mut batch = RowBatch::new();
    while scan.next_batch(transaction, &mut batch, BATCH_ROWS)? {
        entries += batch.len() as u64;
        for at in 0..batch.len() {
            row.clear();
            let clustered_key = batch.key(at);
            let show = &mut |bytes: &[u8]| row.extend_from_slice(bytes);
            let wanted = Wanted::for_keys(&table.indexed);
            let found = engine.reads.get_visible(view, table, clustered_key, wanted, show)?.is_some();
            let key = if found { entry_of(table, number, &row, clustered_key, batch.row(at))? } else { None };
            // Keys ascend and are all there: then there are no others, if there are as many as rows.
            match key {
                Some(key) if key > previous && tree.get(&engine.pool, &key, |_| ())?.is_some() => {
                    previous = key;
                }
                _ if faults.len() < FAULTS_MAX => {
                    let name = index_name(table, number);
                    faults.push(format!("index {name} and row {clustered_key:02x?} disagree"));
                }
                _ => return Ok(entries),
            }
        }
    }
    Ok(entries)
}

fn index_name(table: &Table, number: usize) -> String {
    let definition = table.indexes[number].definition(table);
    definition.map_or_else(|| number.to_string(), |definition| definition.name.clone())
}

/// The key of a row's entry, if the entry stores what the row says.
fn entry_of(
    table: &Table,
    number: usize,
    row: &[u8],
    clustered_key: &[u8],
    stored: &[u8],
) -> EngineResult<Option<Vec<u8>>> {
    let (index, view) = (table.index(number)?, table.view(row)?);
    let (mut key, mut expected) = (Vec::new(), Vec::new());
    index.own_key(&view, Element::Only, &mut key)?;
    append_clustered_key(&mut key, 0, clustered_key)?;
    index.stored_row(&view, &mut expected)?;
    Ok((expected == stored).then_some(key))
}
