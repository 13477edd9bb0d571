//! Changes of the data dictionary: entries of its tree, written as rows' secondary entries are, without locks.

use super::entry::{Action, EntryChange};
use crate::transaction::Transaction;
use dictionary_store::{Change, DictionaryStore, has_parts, part_key, parts_of};
use engine_error::{EngineError, EngineResult};
use entry::StoredRow;
use tables::Table;

impl Transaction {
    /// Puts a hidden table into the dictionary, for when the transaction commits.
    pub fn publish_table(&self, table: &Table) -> EngineResult<()> {
        if !table.is_hidden() {
            return Err(EngineError::TableDefinitionChanged);
        }
        let key = DictionaryStore::table_key(table.id());
        change_dictionary(self, &Change::Put(key, table.record().encode()))
    }
}

/// Puts or removes an entry of the dictionary, which may be long.
pub(crate) fn change_dictionary(transaction: &Transaction, change: &Change) -> EngineResult<()> {
    let (key, bytes) = match change {
        Change::Put(key, bytes) if !has_parts(key) => return put_definition(transaction, key, bytes),
        Change::Remove(key) if !has_parts(key) => return mark_definition(transaction, key).map(|_| ()),
        Change::Put(key, bytes) => (key, Some(bytes)),
        Change::Remove(key) => (key, None),
    };
    let mut count = 0;
    if let Some(bytes) = bytes {
        let parts = parts_of(key, bytes).ok_or(EngineError::Unsupported("a definition this long"))?;
        for (key, part) in &parts {
            put_definition(transaction, key, part)?;
        }
        count = parts.len() as u16;
    }
    // What a longer entry has left.
    for part in count..=u16::MAX {
        if !mark_definition(transaction, &part_key(key, part))? {
            break;
        }
    }
    Ok(())
}

fn put_definition(transaction: &Transaction, key: &[u8], bytes: &[u8]) -> EngineResult<()> {
    let tree = &transaction.engine.tables.store.tree;
    let change = EntryChange { tree, clustered: false, key, dead: &[], temporary: None };
    transaction.change_entry(change, &mut |_| Ok(Action::Put(StoredRow::whole(bytes))))
}

/// Marks an entry as deleted. False if there is none.
fn mark_definition(transaction: &Transaction, key: &[u8]) -> EngineResult<bool> {
    let tree = &transaction.engine.tables.store.tree;
    let change = EntryChange { tree, clustered: false, key, dead: &[], temporary: None };
    let mut found = false;
    transaction.change_entry(change, &mut |current| {
        found = current.is_some_and(|entry| !entry.deleted);
        Ok(if found { Action::Mark } else { Action::Leave })
    })?;
    Ok(found)
}
