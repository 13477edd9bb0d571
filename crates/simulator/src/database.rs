//! [`Database`]: what a database holds, as workloads intend it and as it is read back, and the tables they use.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use charset::CollationId;
use dictionary::{
    ColumnDefault, ColumnDefinition, IndexDefinition, IndexKind, IndexPart, TableDefinition, TableName,
    TableOptions,
};
use engine::{Engine, KeyRange, RowBatch, ScanOptions, Table, TransactionOptions};
use stdx::ids::{IndexId, TableId};
use values::row::RowView;
use values::{ColumnType, TypeKind, Value};

/// The schema of all simulated tables.
pub const SCHEMA: &str = "crash";

/// A row's values; the first is the primary key.
pub type Row = Arc<Vec<Value>>;

/// One table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contents {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Names of the indexes.
    pub indexes: BTreeSet<String>,
    /// Rows by primary key.
    pub rows: BTreeMap<i64, Row>,
}

/// All tables by name; `None` before the schema exists.
pub type Database = Option<BTreeMap<String, Contents>>;

/// The name of a simulated table.
pub fn table_name(table: &str) -> TableName {
    TableName { schema: SCHEMA.into(), table: table.into() }
}

fn column(name: &str, column_type: ColumnType, nullable: bool) -> ColumnDefinition {
    ColumnDefinition {
        name: name.into(),
        column_type,
        nullable,
        default: ColumnDefault::None,
        generated: None,
        on_update_now: None,
        auto_increment: false,
        invisible: false,
        names_collation: false,
        comment: String::new(),
    }
}

/// An index over those columns.
pub fn index(name: &str, kind: IndexKind, columns: &[usize]) -> IndexDefinition {
    let parts =
        columns.iter().map(|column| IndexPart { column: *column, prefix_length: None, descending: false });
    IndexDefinition {
        id: IndexId(0),
        name: name.into(),
        kind,
        parts: parts.collect(),
        comment: String::new(),
        invisible: false,
        generated: false,
    }
}

/// `id BIGINT PRIMARY KEY, k BIGINT NOT NULL, pad VARBINARY(1000) NULL, data LONGBLOB NULL`, with plain indexes
/// on k and on pad, and a unique one on (k, id).
pub fn definition(table: &str) -> TableDefinition {
    TableDefinition {
        id: TableId(0),
        name: table_name(table),
        columns: vec![
            column("id", ColumnType::big_int(), false),
            column("k", ColumnType::big_int(), false),
            column("pad", ColumnType::varbinary(1000), true),
            column("data", ColumnType::new(TypeKind::LongBlob), true),
        ],
        indexes: vec![
            index("PRIMARY", IndexKind::Primary, &[0]),
            index("k", IndexKind::Plain, &[1]),
            index("pad", IndexKind::Plain, &[2]),
            index("k_id", IndexKind::Unique, &[1, 0]),
        ],
        collation: CollationId::BINARY,
        checks: Vec::new(),
        foreign_keys: Vec::new(),
        options: TableOptions::default(),
    }
}

/// The same table with one more column, as ALTER TABLE ... ADD COLUMN makes it.
pub fn definition_with_extra_column(table: &str) -> TableDefinition {
    let mut definition = definition(table);
    definition.columns.push(column("extra", ColumnType::big_int(), true));
    definition
}

/// A table's definition as contents without rows.
pub fn empty_contents(definition: &TableDefinition) -> Contents {
    Contents {
        columns: definition.columns.iter().map(|column| column.name.clone()).collect(),
        indexes: definition.indexes.iter().map(|index| index.name.clone()).collect(),
        rows: BTreeMap::new(),
    }
}

/// Reads everything back, each secondary index too, and compares the indexes with the clustered one.
pub fn read_back(engine: &Engine) -> Result<Database, String> {
    if engine.dictionary().schema(SCHEMA).is_none() {
        return Ok(None);
    }
    let mut tables = BTreeMap::new();
    for table in engine.dictionary().tables(SCHEMA) {
        let mut contents = empty_contents(table.definition());
        contents.rows = rows_of(engine, &table, 0)?;
        for number in 1..table.indexes().len() {
            let by_index = rows_of(engine, &table, number)?;
            if by_index != contents.rows {
                let name = &table.definition().name.table;
                return Err(format!(
                    "index {number} of {name} has {} rows, the table {}: {}",
                    by_index.len(),
                    contents.rows.len(),
                    difference(&contents.rows, &by_index)
                ));
            }
        }
        tables.insert(table.definition().name.table.clone(), contents);
    }
    Ok(Some(tables))
}

fn rows_of(engine: &Engine, table: &Arc<Table>, index: usize) -> Result<BTreeMap<i64, Row>, String> {
    let transaction = engine.begin(TransactionOptions::default());
    let options = ScanOptions { index, range: KeyRange::all(), ..ScanOptions::default() };
    let mut scan = transaction.scan(table, options).map_err(|error| format!("scan: {error:?}"))?;
    let (mut batch, mut rows) = (RowBatch::new(), BTreeMap::new());
    while scan.next_batch(&transaction, &mut batch, 1000).map_err(|error| format!("scan: {error:?}"))? {
        for at in 0..batch.len() {
            let view =
                RowView::new(table.layout(), batch.row(at)).map_err(|error| format!("row: {error:?}"))?;
            view.check().map_err(|error| format!("row: {error:?}"))?;
            if rows.insert(view.integer(0), Arc::new(view.values())).is_some() {
                return Err(format!("index {index} shows row {} twice", view.integer(0)));
            }
        }
    }
    Ok(rows)
}

fn difference(left: &BTreeMap<i64, Row>, right: &BTreeMap<i64, Row>) -> String {
    let differs = |id: &&i64| left.get(id) != right.get(id);
    let ids: BTreeSet<&i64> = left.keys().chain(right.keys()).collect();
    let ids: Vec<_> = ids.into_iter().filter(differs).take(8).collect();
    format!("rows {ids:?} differ")
}

/// What tells two databases apart, in a line.
pub fn describe_difference(expected: &Database, found: &Database) -> String {
    let (Some(expected), Some(found)) = (expected, found) else {
        return format!("schema expected: {}, found: {}", expected.is_some(), found.is_some());
    };
    let names: BTreeSet<&String> = expected.keys().chain(found.keys()).collect();
    for name in names {
        match (expected.get(name), found.get(name)) {
            (Some(left), Some(right)) if left == right => {}
            (Some(left), Some(right)) if left.rows != right.rows => {
                return format!("table {name}: {}", difference(&left.rows, &right.rows));
            }
            (Some(left), Some(right)) => {
                let columns = (&left.columns, &right.columns);
                return format!("table {name}: {columns:?}, {:?} and {:?}", left.indexes, right.indexes);
            }
            (left, _) => {
                return format!("table {name} {}", if left.is_some() { "is gone" } else { "is there" });
            }
        }
    }
    "none".into()
}
