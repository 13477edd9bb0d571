//! What a row lock is on, in words. Main type: [`LockPlace`].

use dictionary::TableName;
use engine::locks::{LockInfo, LockKey, Span, Strength};
use engine::{Engine, Index, Table};
use std::sync::Arc;
use values::convert::quoted_text;
use values::{ColumnType, Value};

/// What a lock is on.
pub struct LockPlace {
    table: Arc<Table>,
    index: usize,
}

impl LockPlace {
    /// Where a lock is; None for one of a whole table, or if the table is gone.
    pub fn of(engine: &Engine, key: &LockKey) -> Option<LockPlace> {
        let (table, index) = engine.lock_views().index_of(key)?;
        Some(LockPlace { table, index })
    }

    /// The table's name.
    pub fn table_name(&self) -> &TableName {
        &self.table.definition().name
    }

    fn index(&self) -> &Index {
        &self.table.indexes()[self.index]
    }

    /// The index's name.
    pub fn index_name(&self) -> String {
        let definition = self.index().definition(&self.table);
        definition.map_or_else(|| "GEN_CLUST_INDEX".to_owned(), |definition| definition.name.clone())
    }

    /// The values of a key, its own and those of the primary key; None if it does not hold them. A collation's weights are no text.
    pub fn values(&self, key: &[u8]) -> Option<String> {
        if key.is_empty() {
            return Some("supremum pseudo-record".to_owned());
        }
        let own = self.index();
        let mut shown = self.shown(own, key)?;
        if self.index != 0 {
            let at = own.key_layout().prefix_bytes(key, own.key_columns().len()).ok()?;
            shown.extend(self.shown(&self.table.indexes()[0], key.get(at..)?)?);
        }
        Some(shown.join(", "))
    }

    fn shown(&self, index: &Index, key: &[u8]) -> Option<Vec<String>> {
        if index.key_columns().is_empty() {
            return Some(vec![key.iter().fold("0x".to_owned(), |text, byte| format!("{text}{byte:02X}"))]);
        }
        let columns = &self.table.definition().columns;
        let values = index.key_layout().decode(key).ok()?;
        let parts = values.into_iter().zip(index.key_columns());
        parts.map(|(value, column)| Some(shown_value(&value?, &columns[*column].column_type))).collect()
    }
}

fn shown_value(value: &Value, column_type: &ColumnType) -> String {
    let shown = quoted_text(value.as_ref(), column_type);
    match value {
        Value::Bytes(_) => format!("'{}'", shown.replace('\'', "''")),
        _ => shown,
    }
}

/// A request as SHOW ENGINE INNODB STATUS words it.
pub(crate) fn lock_text(engine: &Engine, lock: &LockInfo) -> String {
    let state = if lock.granted { "" } else { " waiting" };
    let Some(place) = LockPlace::of(engine, &lock.key) else {
        return format!("TABLE LOCK trx id {} lock mode AUTO-INC{state}\n", lock.transaction);
    };
    let name = place.table_name();
    let strength = if lock.mode.strength == Strength::Exclusive { "X" } else { "S" };
    let span = match lock.mode.span {
        Span::Record => " locks rec but not gap",
        Span::Gap => " locks gap before rec",
        Span::NextKey => "",
        Span::InsertIntention => " locks gap before rec insert intention",
    };
    let values =
        place.values(&lock.key.key).map_or_else(String::new, |values| format!("Record lock, {values}\n"));
    format!(
        "RECORD LOCKS index {} of table `{}`.`{}` trx id {} lock_mode {strength}{span}{state}\n{values}",
        place.index_name(),
        name.schema,
        name.table,
        lock.transaction,
    )
}
