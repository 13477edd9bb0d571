//! Definitions of system tables, made once from the generated catalogue. Main functions: [`definition`], [`names`].

use super::{SystemColumn, SystemTable};
use charset::CollationId;
use dictionary::{
    ColumnDefault, ColumnDefinition, IndexDefinition, IndexKind, IndexPart, TableDefinition, TableName,
    TableOptions,
};
use instance::system_schemas::system_schema;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use stdx::ids::{IndexId, TableId};
use values::{ColumnType, TypeKind};

#[rustfmt::skip]
#[path = "../generated/system_tables.rs"]
#[allow(clippy::all)]
mod catalogue;

/// Names of a system schema's tables.
pub fn names(schema: &str) -> impl Iterator<Item = &'static str> {
    catalogue::ALL.iter().filter(move |table| table.schema == schema).map(|table| table.name)
}

/// The catalogue entry of a column, for SHOW COLUMNS.
pub(crate) fn column(schema: &str, table: &str, position: usize) -> Option<&'static SystemColumn> {
    let found = catalogue::ALL.iter().find(|entry| entry.schema == schema && entry.name == table);
    found.and_then(|entry| entry.columns.get(position))
}

/// The definition of a system table.
pub fn definition(schema: &str, name: &str) -> Option<Arc<TableDefinition>> {
    static DEFINITIONS: OnceLock<HashMap<(&'static str, String), Arc<TableDefinition>>> = OnceLock::new();
    let schema = system_schema(schema)?;
    let definitions = DEFINITIONS.get_or_init(|| {
        let entry =
            |table: &SystemTable| ((table.schema, table.name.to_lowercase()), Arc::new(define(table)));
        catalogue::ALL.iter().map(entry).collect()
    });
    let found = definitions.get(&(schema, name.to_lowercase()))?;
    let exact = found.name.table == name || matches!(schema, "information_schema" | "performance_schema");
    exact.then(|| Arc::clone(found))
}

fn define(table: &SystemTable) -> TableDefinition {
    TableDefinition {
        id: TableId(0),
        name: TableName { schema: table.schema.to_owned(), table: table.name.to_owned() },
        columns: table.columns.iter().map(define_column).collect(),
        indexes: define_keys(table.columns),
        collation: CollationId::UTF8MB3_GENERAL_CI,
        checks: Vec::new(),
        foreign_keys: Vec::new(),
        options: TableOptions::default(),
    }
}

fn define_column(column: &SystemColumn) -> ColumnDefinition {
    let collation = charset::collation_by_name(column.collation)
        .map_or(CollationId::UTF8MB3_GENERAL_CI, |found| found.id);
    ColumnDefinition {
        name: column.name.to_owned(),
        column_type: parse_type(column.column_type, collation),
        nullable: column.nullable,
        default: ColumnDefault::None,
        generated: None,
        on_update_now: None,
        auto_increment: column.extra == "auto_increment",
        invisible: false,
        names_collation: false,
        comment: String::new(),
    }
}

/// The keys that columns are said to be in: what clients see in the flags of result columns. There is nothing behind them
/// that could be looked up.
fn define_keys(columns: &[SystemColumn]) -> Vec<IndexDefinition> {
    let part = |column| IndexPart { column, prefix_length: None, descending: false };
    let key = |name: &str, kind, parts| IndexDefinition {
        id: IndexId(0),
        name: name.to_owned(),
        kind,
        parts,
        comment: String::new(),
        invisible: false,
        generated: false,
    };
    let of_key = |wanted: &'static str| (0..columns.len()).filter(move |at| columns[*at].key == wanted);
    let primary: Vec<IndexPart> = of_key("PRI").map(part).collect();
    let mut keys = Vec::new();
    if !primary.is_empty() {
        keys.push(key("PRIMARY", IndexKind::Primary, primary));
    }
    for (word, kind) in [("UNI", IndexKind::Unique), ("MUL", IndexKind::Plain)] {
        keys.extend(of_key(word).map(|at| key(columns[at].name, kind, vec![part(at)])));
    }
    keys
}

/// Reads a type of the catalogue, e.g. `varchar(64)`, `bigint unsigned`, `enum('a','b')`.
fn parse_type(text: &str, collation: CollationId) -> ColumnType {
    let (name, rest) = text.split_at(text.find(['(', ' ']).unwrap_or(text.len()));
    let arguments =
        rest.strip_prefix('(').and_then(|rest| rest.rsplit_once(')')).map_or("", |(inner, _)| inner);
    let unsigned = rest.ends_with("unsigned");
    let number =
        |otherwise: u32| arguments.split(',').next().and_then(|word| word.parse().ok()).unwrap_or(otherwise);
    let members = || -> Vec<Vec<u8>> {
        arguments.split("','").map(|member| member.trim_matches('\'').as_bytes().to_vec()).collect()
    };
    let characters_max = 65_535 / u32::from(collation.charset().max_bytes.max(1));
    match name {
        "tinyint" => {
            let mut column_type = ColumnType::integer(TypeKind::TinyInt, unsigned);
            column_type.length = arguments.parse().ok();
            column_type
        }
        "smallint" => ColumnType::integer(TypeKind::SmallInt, unsigned),
        "mediumint" => ColumnType::integer(TypeKind::MediumInt, unsigned),
        "int" => ColumnType::integer(TypeKind::Int, unsigned),
        "bigint" => ColumnType::integer(TypeKind::BigInt, unsigned),
        "decimal" => ColumnType::decimal(number(10).min(65), 0),
        "float" => ColumnType::new(TypeKind::Float),
        "double" => ColumnType::double(),
        "date" => ColumnType::new(TypeKind::Date),
        "time" => ColumnType::temporal(TypeKind::Time, number(0) as u8),
        "datetime" => ColumnType::temporal(TypeKind::DateTime, number(0) as u8),
        "timestamp" => ColumnType::temporal(TypeKind::Timestamp, number(0) as u8),
        "char" => ColumnType::char(number(1), collation),
        "varchar" => ColumnType::varchar(number(1).min(characters_max), collation),
        "binary" => ColumnType::binary(number(1)),
        "varbinary" => ColumnType::varbinary(number(1)),
        "tinyblob" => ColumnType::new(TypeKind::TinyBlob),
        "blob" => ColumnType::new(TypeKind::Blob),
        "mediumblob" => ColumnType::new(TypeKind::MediumBlob),
        "longblob" => ColumnType::new(TypeKind::LongBlob),
        "text" => ColumnType::text(TypeKind::Text, collation),
        "mediumtext" => ColumnType::text(TypeKind::MediumText, collation),
        "enum" => ColumnType::enumeration(members(), collation),
        "set" => ColumnType::set(members(), collation),
        // JSON documents are shown as text.
        _ => ColumnType::text(TypeKind::LongText, collation),
    }
}

/// The tables of information_schema that MySQL fills on demand; all others are views over its dictionary.
const FILLED_TABLES: &[&str] = &[
    "COLUMN_PRIVILEGES",
    "ENGINES",
    "INNODB_BUFFER_PAGE",
    "INNODB_BUFFER_PAGE_LRU",
    "INNODB_BUFFER_POOL_STATS",
    "INNODB_CACHED_INDEXES",
    "INNODB_CMP",
    "INNODB_CMPMEM",
    "INNODB_CMPMEM_RESET",
    "INNODB_CMP_PER_INDEX",
    "INNODB_CMP_PER_INDEX_RESET",
    "INNODB_CMP_RESET",
    "INNODB_COLUMNS",
    "INNODB_FT_BEING_DELETED",
    "INNODB_FT_CONFIG",
    "INNODB_FT_DEFAULT_STOPWORD",
    "INNODB_FT_DELETED",
    "INNODB_FT_INDEX_CACHE",
    "INNODB_FT_INDEX_TABLE",
    "INNODB_INDEXES",
    "INNODB_METRICS",
    "INNODB_SESSION_TEMP_TABLESPACES",
    "INNODB_TABLES",
    "INNODB_TABLESPACES",
    "INNODB_TABLESTATS",
    "INNODB_TEMP_TABLE_INFO",
    "INNODB_TRX",
    "INNODB_VIRTUAL",
    "OPTIMIZER_TRACE",
    "PLUGINS",
    "PROCESSLIST",
    "PROFILING",
    "SCHEMA_PRIVILEGES",
    "TABLE_PRIVILEGES",
    "USER_PRIVILEGES",
];

/// Whether a table of information_schema is a view in MySQL.
pub(crate) fn is_information_schema_view(name: &str) -> bool {
    !FILLED_TABLES.iter().any(|filled| filled.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_has_a_definition() {
        for table in catalogue::ALL {
            let made = definition(table.schema, table.name).unwrap();
            assert_eq!(made.columns.len(), table.columns.len(), "{}", table.name);
        }
        assert!(definition("INFORMATION_SCHEMA", "tables").is_some());
        assert!(definition("mysql", "USER").is_none());
    }

    #[test]
    fn types_print_as_they_were_read() {
        let unlike =
            ["json", "float(12,0)", "decimal(905,0)", "varchar(65535)", "double(10,3)", "geomcollection"];
        for column in catalogue::ALL.iter().flat_map(|table| table.columns) {
            if !unlike.contains(&column.column_type) {
                assert_eq!(define_column(column).column_type.sql_text(), column.column_type);
            }
        }
    }
}
