//! information_schema views of schemas, tables, indexes and constraints.

use super::columns::escaped_expression;
use super::cursor::{Pieces, ViewRows};
use super::keys::Wanted;
use super::{SystemTables, definition, names};
use crate::create_options::ordered_options;
use crate::result::text;
use accounts::Privileges;
use charset::CollationId;
use dictionary::{
    IndexDefinition, IndexKind, RowFormat, StorageEngine, TableDefinition, TableName, ViewDefinition,
};
use engine::Table;
use errors::SqlResult;
use instance::system_schemas::{is_always_readable, is_hidden};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use values::Value;

/// A table of either kind.
pub(crate) enum AnyTable {
    Stored(Arc<Table>),
    System(Arc<TableDefinition>),
    View(Arc<ViewDefinition>),
}

impl AnyTable {
    pub fn definition(&self) -> &TableDefinition {
        match self {
            AnyTable::Stored(table) => table.definition(),
            AnyTable::System(definition) => definition,
            AnyTable::View(view) => &view.shape,
        }
    }
}

/// Row format as TABLES prints it.
pub(crate) fn row_format_name(format: RowFormat) -> &'static str {
    match format {
        RowFormat::Default | RowFormat::Dynamic => "Dynamic",
        RowFormat::Compact => "Compact",
        RowFormat::Redundant => "Redundant",
        RowFormat::Compressed => "Compressed",
    }
}

/// CREATE_OPTIONS, in MySQL's order; CONNECTION is not among them.
pub(crate) fn create_options(definition: &TableDefinition) -> String {
    const BEFORE_ROW_FORMAT: &[&str] = &["max_rows", "min_rows", "avg_row_length"];
    const BEHIND: &[&str] = &[
        "stats_sample_pages",
        "stats_auto_recalc",
        "key_block_size",
        "stats_persistent",
        "pack_keys",
        "checksum",
        "delay_key_write",
    ];
    let kept = &definition.options.create_options;
    let written = |(name, value): (&str, &str)| match name {
        "key_block_size" => format!("KEY_BLOCK_SIZE={value}"),
        _ => format!("{name}={value}"),
    };
    let mut options: Vec<String> = ordered_options(kept, BEFORE_ROW_FORMAT).map(written).collect();
    if definition.options.row_format != RowFormat::Default {
        options.push(format!("row_format={}", row_format_name(definition.options.row_format).to_uppercase()));
    }
    options.extend(ordered_options(kept, BEHIND).map(written));
    options.join(" ")
}

/// INDEX_TYPE, constraint type and the like of an index.
fn constraint_type(kind: IndexKind) -> Option<&'static str> {
    match kind {
        IndexKind::Primary => Some("PRIMARY KEY"),
        IndexKind::Unique => Some("UNIQUE"),
        IndexKind::Plain => None,
    }
}

/// Indexes that are constraints, with what kind they are.
fn constraints(table: &TableDefinition) -> impl Iterator<Item = (&IndexDefinition, &'static str)> {
    table.indexes.iter().filter_map(|index| Some((index, constraint_type(index.kind)?)))
}

/// The first columns of TABLES, which say no more than the name and what kind of table it is.
const NAME_COLUMNS: usize = 4;

fn name_columns(
    (schema, table): (&str, &str),
    is_stored: bool,
    is_user_view: bool,
    engine: StorageEngine,
) -> Vec<Value> {
    // Members of TABLE_TYPE: BASE TABLE, VIEW, SYSTEM VIEW.
    let is_view = !is_stored && schema == "information_schema";
    let (kind, engine, version) = match (is_user_view, is_view) {
        (true, _) => (2, Value::Null, Value::Null),
        (false, true) => (3, Value::Null, Value::Int(10)),
        (false, false) => (1, text(engine.name()), Value::Int(10)),
    };
    vec![text("def"), text(schema), text(table), Value::UInt(kind), engine, version]
}

/// Schemas that the engine does not know.
const SYSTEM_SCHEMAS: &[&str] = &["information_schema", "mysql", "performance_schema", "sys"];

/// Columns that hold the schema of a table.
const SCHEMA_COLUMNS: &[&str] = &["TABLE_SCHEMA", "CONSTRAINT_SCHEMA", "INDEX_SCHEMA"];

/// Appends the rows that a view has of a table.
pub(super) type RowsOfTable<'a> = fn(&SystemTables<'a>, &Wanted, &AnyTable, &mut ViewRows);

impl SystemTables<'_> {
    /// Schemas that the user may see: (name, default collation).
    pub(crate) fn visible_schemas(&self) -> Vec<(String, CollationId)> {
        let stored = self.instance.engine().dictionary().schemas();
        let names = SYSTEM_SCHEMAS.iter().map(|name| (*name).to_owned());
        let mut schemas: Vec<(String, CollationId)> = names
            .chain(stored.iter().map(|schema| schema.name.clone()))
            .filter_map(|name| self.visible_schema(name))
            .collect();
        schemas.sort();
        schemas
    }

    /// The schema of that name with its default collation, if there is one and the user may see it.
    fn visible_schema(&self, name: String) -> Option<(String, CollationId)> {
        let collation = match name.as_str() {
            "information_schema" => return Some((name, CollationId::UTF8MB3_GENERAL_CI)),
            "performance_schema" => return Some((name, CollationId::UTF8MB4_0900_AI_CI)),
            "mysql" | "sys" => CollationId::UTF8MB4_0900_AI_CI,
            hidden if is_hidden(hidden) => return None,
            stored => self.instance.engine().dictionary().schema(stored)?.collation,
        };
        self.user.grants.sees_schema(&name).then_some((name, collation))
    }

    /// The schemas that are wanted by any of those columns.
    fn wanted_schemas(&self, wanted: &Wanted, columns: &[&str]) -> Vec<(String, CollationId)> {
        let mut schemas = match columns.iter().find_map(|column| wanted.names(column)) {
            Some(names) => names.into_iter().filter_map(|name| self.visible_schema(name)).collect(),
            None => self.visible_schemas(),
        };
        schemas.retain(|(name, _)| columns.iter().all(|column| wanted.has(column, name)));
        schemas
    }

    /// The tables that are wanted, schema by schema: names, and whether they are stored. Opens none.
    fn wanted_tables<'a>(
        &'a self,
        wanted: &Rc<Wanted>,
    ) -> impl Iterator<Item = (Rc<str>, String, bool)> + use<'a> {
        let wanted = wanted.clone();
        let schemas = self.wanted_schemas(&wanted, SCHEMA_COLUMNS);
        schemas.into_iter().flat_map(move |(schema, _)| {
            let mut names = match wanted.names("TABLE_NAME") {
                Some(names) => self.names_among(&schema, names),
                None => self.names_of(&schema),
            };
            names.retain(|(name, _)| wanted.has("TABLE_NAME", name));
            let schema: Rc<str> = schema.into();
            names.into_iter().map(move |(name, is_stored)| (schema.clone(), name, is_stored))
        })
    }

    /// The rows that each table that is wanted gives.
    pub(super) fn by_table<'a>(&'a self, wanted: Wanted, rows_of: RowsOfTable<'a>) -> Pieces<'a> {
        let wanted = Rc::new(wanted);
        let tables = self.wanted_tables(&wanted);
        Box::new(tables.map(move |(schema, name, is_stored)| {
            let mut rows = Vec::new();
            if let Some(table) = self.opened(&schema, &name, is_stored) {
                rows_of(self, &wanted, &table, &mut rows);
            }
            rows
        }))
    }

    /// Names of a schema's tables that the user may see, and whether they are stored. No table is opened for it.
    fn names_of(&self, schema: &str) -> Vec<(String, bool)> {
        let is_defined = |name: &&str| definition(schema, name).is_some();
        let system = names(schema).filter(is_defined).map(|name| (name.to_owned(), false));
        let dictionary = self.instance.engine().dictionary();
        let mut stored = dictionary.table_names(schema);
        stored.extend(dictionary.views.of_schema(schema).iter().map(|view| view.shape.name.table.clone()));
        stored.sort();
        let stored = stored.into_iter().map(|name| (name, true));
        system.chain(stored).filter(|(name, _)| self.may_see(schema, name)).collect()
    }

    /// The same for those among `names`.
    fn names_among(&self, schema: &str, names: BTreeSet<String>) -> Vec<(String, bool)> {
        let dictionary = self.instance.engine().dictionary();
        let found = |name: String| match definition(schema, &name) {
            Some(system) => (system.name.table == name).then_some((name, false)),
            None => {
                let is_there =
                    dictionary.shows_table(schema, &name) || dictionary.views.get(schema, &name).is_some();
                is_there.then_some((name, true))
            }
        };
        names.into_iter().filter_map(found).filter(|(name, _)| self.may_see(schema, name)).collect()
    }

    fn may_see(&self, schema: &str, table: &str) -> bool {
        schema == "information_schema"
            || is_always_readable(schema, table)
            || self.user.grants.table_or_columns(schema, table).intersects(Privileges::ALL_TABLE)
    }

    /// The table of that name; None if it was dropped meanwhile, or is being filled.
    fn opened(&self, schema: &str, name: &str, is_stored: bool) -> Option<AnyTable> {
        match is_stored {
            true => {
                let dictionary = self.instance.engine().dictionary();
                if let Some(view) = dictionary.views.get(schema, name) {
                    return Some(AnyTable::View(view));
                }
                let table = dictionary.table(schema, name);
                table.filter(|table| !table.is_hidden()).map(AnyTable::Stored)
            }
            false => definition(schema, name).map(AnyTable::System),
        }
    }

    pub(super) fn schemata(&self, wanted: &Wanted) -> ViewRows {
        let row = |(name, collation): (String, CollationId)| {
            vec![
                text("def"),
                text(name),
                text(collation.charset().name),
                text(collation.get().name),
                Value::Null,
                Value::UInt(1),
            ]
        };
        self.wanted_schemas(wanted, &["SCHEMA_NAME"]).into_iter().map(row).collect()
    }

    pub(super) fn schemata_extensions(&self, wanted: &Wanted) -> ViewRows {
        let schemas = self.wanted_schemas(wanted, &["SCHEMA_NAME"]).into_iter();
        schemas.map(|(name, _)| vec![text("def"), text(name), text("")]).collect()
    }

    /// TABLES. A statement that reads nothing but names opens no table.
    pub(super) fn tables(&self, wanted: Wanted) -> Pieces<'_> {
        if !wanted.reads_only(NAME_COLUMNS) {
            return self.by_table(wanted, |tables, _, table, rows| rows.push(tables.table_row(table)));
        }
        let width = wanted.view.columns.len();
        let tables = self.wanted_tables(&Rc::new(wanted));
        let dictionary = self.instance.engine().dictionary();
        Box::new(tables.map(move |(schema, name, is_stored)| {
            let is_view = is_stored && dictionary.views.get(&schema, &name).is_some();
            let mut row = name_columns((&schema, &name), is_stored, is_view, StorageEngine::default());
            row.resize(width, Value::Null);
            vec![row]
        }))
    }

    /// The 21 columns of TABLES.
    pub(crate) fn table_row(&self, table: &AnyTable) -> Vec<Value> {
        let definition = table.definition();
        let name = &definition.name;
        let is_stored = matches!(table, AnyTable::Stored(_));
        let is_view = matches!(table, AnyTable::View(_));
        let engine = definition.options.engine;
        let mut row = name_columns((&name.schema, &name.table), is_stored, is_view, engine);
        if let AnyTable::View(view) = table {
            row.extend((0..8).map(|_| Value::Null));
            row.push(self.local_time(view.created_microseconds / 1_000_000));
            row.extend((0..5).map(|_| Value::Null));
            row.push(text(&*definition.options.comment));
            return row;
        }
        let AnyTable::Stored(stored) = table else {
            row.push(Value::Null);
            row.extend([0, 0, 0, 0, 0, 0].map(Value::UInt));
            row.extend((0..6).map(|_| Value::Null));
            row.extend([text(""), text("")]);
            return row;
        };
        let statistics = self.instance.engine().statistics(stored);
        let average = statistics.data_bytes.checked_div(statistics.rows).unwrap_or(0);
        let counter = definition.auto_increment_column().map(|_| stored.auto_increment().peek());
        // Members of ROW_FORMAT: Fixed, Dynamic, Compressed, Redundant, Compact, Paged.
        let format = match definition.options.row_format {
            RowFormat::Default | RowFormat::Dynamic => 2,
            RowFormat::Compressed => 3,
            RowFormat::Redundant => 4,
            RowFormat::Compact => 5,
        };
        row.push(Value::UInt(format));
        let sizes = [
            statistics.rows,
            average,
            statistics.data_bytes,
            0,
            statistics.index_bytes,
            statistics.free_bytes,
        ];
        row.extend(sizes.map(Value::UInt));
        row.push(counter.map_or(Value::Null, Value::UInt));
        row.extend([self.start_time(), Value::Null, Value::Null]);
        row.extend([text(definition.collation.get().name), Value::Null]);
        row.extend([text(create_options(definition)), text(&*definition.options.comment)]);
        row
    }

    /// When the server was started. CREATE_TIME is not kept: this is the best that is known, since NULL breaks dump tools.
    pub(super) fn start_time(&self) -> Value {
        self.local_time(self.instance.wall_microseconds() / 1_000_000 - self.instance.uptime_seconds() as i64)
    }

    /// A moment in the session's time zone.
    fn local_time(&self, seconds: i64) -> Value {
        Value::DateTime(self.time_zone().local(seconds * 1_000_000))
    }

    pub(super) fn partitions(&self, _wanted: &Wanted, table: &AnyTable, rows: &mut ViewRows) {
        let AnyTable::Stored(_) = table else { return };
        let whole = self.table_row(table);
        let mut row: Vec<Value> = whole[..3].to_vec();
        row.extend((0..10).map(|_| Value::Null));
        row.extend(whole[7..13].iter().cloned());
        row.extend([whole[14].clone(), Value::Null, Value::Null, Value::Null]);
        row.extend([text(""), text(""), Value::Null]);
        rows.push(row);
    }

    pub(super) fn statistics(&self, _wanted: &Wanted, table: &AnyTable, rows: &mut ViewRows) {
        rows.extend(self.index_rows(table));
    }

    /// The 18 columns of STATISTICS for each part of each index.
    pub(crate) fn index_rows(&self, table: &AnyTable) -> Vec<Vec<Value>> {
        let AnyTable::Stored(stored) = table else { return Vec::new() };
        let definition = stored.definition();
        let statistics = self.instance.engine().statistics(stored);
        let mut rows = Vec::new();
        for position in crate::printed_order(definition) {
            let index = &definition.indexes[position];
            let distinct = statistics.distinct.get(stored.index_of_definition(position));
            for (place, part) in index.parts.iter().enumerate() {
                let column = &definition.columns[part.column];
                let expression = column.key_expression();
                let distinct = distinct.and_then(|counts| counts.get(place)).copied().unwrap_or(0);
                let cardinality = distinct.min(statistics.rows);
                rows.push(vec![
                    text("def"),
                    text(&*definition.name.schema),
                    text(&*definition.name.table),
                    Value::Int(i64::from(index.kind == IndexKind::Plain)),
                    text(&*definition.name.schema),
                    text(&*index.name),
                    Value::UInt(place as u64 + 1),
                    if expression.is_some() { Value::Null } else { text(&*column.name) },
                    text(if part.descending { "D" } else { "A" }),
                    Value::Int(cardinality as i64),
                    part.prefix_length.map_or(Value::Null, |length| Value::Int(i64::from(length))),
                    Value::Null,
                    text(if column.nullable { "YES" } else { "" }),
                    text("BTREE"),
                    text(""),
                    text(&*index.comment),
                    text(if index.invisible { "NO" } else { "YES" }),
                    expression.map_or(Value::Null, |expression| text(escaped_expression(expression))),
                ]);
            }
        }
        rows
    }

    pub(super) fn key_column_usage(&self, _wanted: &Wanted, table: &AnyTable, rows: &mut ViewRows) {
        let table = table.definition();
        for (index, _) in constraints(table) {
            for (place, part) in index.parts.iter().enumerate() {
                if table.columns[part.column].is_hidden() || !self.sees_column(table, part.column) {
                    continue;
                }
                rows.push(vec![
                    text("def"),
                    text(&*table.name.schema),
                    text(&*index.name),
                    text("def"),
                    text(&*table.name.schema),
                    text(&*table.name.table),
                    text(&*table.columns[part.column].name),
                    Value::UInt(place as u64 + 1),
                    Value::Null,
                    Value::Null,
                    Value::Null,
                    Value::Null,
                ]);
            }
        }
        super::foreign_keys::key_columns(self, table, rows);
    }

    pub(super) fn table_constraints(&self, _wanted: &Wanted, table: &AnyTable, rows: &mut ViewRows) {
        let table = table.definition();
        rows.extend(constraints(table).map(|(index, kind)| {
            vec![
                text("def"),
                text(&*table.name.schema),
                text(&*index.name),
                text(&*table.name.schema),
                text(&*table.name.table),
                text(kind),
                text("YES"),
            ]
        }));
        super::foreign_keys::constraints(table, rows);
        rows.extend(table.checks.iter().map(|check| {
            vec![
                text("def"),
                text(&*table.name.schema),
                text(&*check.name),
                text(&*table.name.schema),
                text(&*table.name.table),
                text("CHECK"),
                text(if check.enforced { "YES" } else { "NO" }),
            ]
        }));
    }

    pub(super) fn check_constraints(&self, _wanted: &Wanted, table: &AnyTable, rows: &mut ViewRows) {
        let table = table.definition();
        rows.extend(table.checks.iter().map(|check| {
            vec![
                text("def"),
                text(&*table.name.schema),
                text(&*check.name),
                text(super::columns::escaped_expression(&check.text)),
            ]
        }));
    }
}

impl SystemTables<'_> {
    /// Names of a schema's tables that the user may see.
    pub(crate) fn table_names(&self, schema: &str) -> Vec<String> {
        self.names_of(schema).into_iter().map(|(name, _)| name).collect()
    }

    fn found(&self, schema: &str, table: &str) -> Option<AnyTable> {
        let dictionary = self.instance.engine().dictionary();
        let stored = dictionary.table(schema, table).map(AnyTable::Stored);
        let stored = stored.or_else(|| dictionary.views.get(schema, table).map(AnyTable::View));
        stored.or_else(|| definition(schema, table).map(AnyTable::System))
    }

    /// Rows of SHOW TABLE STATUS. Error 1317.
    pub(crate) fn status_rows_of(&self, schema: &str) -> SqlResult<Vec<Vec<Value>>> {
        const FORMATS: [&str; 7] = ["", "Fixed", "Dynamic", "Compressed", "Redundant", "Compact", "Paged"];
        let mut names = self.names_of(schema);
        names.sort();
        names
            .into_iter()
            .filter_map(|(name, is_stored)| self.opened(schema, &name, is_stored))
            .map(|table| {
                self.shared.check_killed()?;
                let row = self.table_row(&table);
                let mut shown = vec![row[2].clone(), row[4].clone(), row[5].clone()];
                shown.push(match row[6] {
                    Value::UInt(member) => text(FORMATS[(member as usize).min(6)]),
                    _ => Value::Null,
                });
                shown.extend(row[7..].iter().cloned());
                Ok(shown)
            })
            .collect()
    }

    /// Rows of COLUMNS for the columns of one table that the user may see.
    pub(crate) fn visible_column_rows(
        &self,
        name: &TableName,
        temporary: Option<Arc<Table>>,
    ) -> Vec<Vec<Value>> {
        let own = temporary.map(AnyTable::Stored);
        let Some(found) = own.or_else(|| self.found(&name.schema, &name.table)) else { return Vec::new() };
        let definition = found.definition();
        (0..definition.named_columns().len())
            .filter(|position| self.sees_column(definition, *position))
            .map(|position| self.column_row(&found, position))
            .collect()
    }

    /// Rows of STATISTICS for one table.
    pub(crate) fn index_rows_of(&self, name: &TableName, temporary: Option<Arc<Table>>) -> Vec<Vec<Value>> {
        let own = temporary.map(AnyTable::Stored);
        own.or_else(|| self.found(&name.schema, &name.table))
            .map(|found| self.index_rows(&found))
            .unwrap_or_default()
    }
}
