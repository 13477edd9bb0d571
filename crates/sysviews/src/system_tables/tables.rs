//! information_schema views of schemas, tables, indexes and constraints.

use super::{Emit, SystemTables, definition, names, wanted_text};
use crate::result::text;
use accounts::Privileges;
use dictionary::{IndexDefinition, IndexKind, RowFormat, TableDefinition};
use engine::Table;
use errors::SqlResult;
use instance::system_schemas::{is_always_readable, is_hidden};
use std::sync::Arc;
use values::Value;

/// A table of either kind.
pub(crate) enum AnyTable {
    Stored(Arc<Table>),
    System(Arc<TableDefinition>),
}

impl AnyTable {
    pub fn definition(&self) -> &TableDefinition {
        match self {
            AnyTable::Stored(table) => table.definition(),
            AnyTable::System(definition) => definition,
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

/// CREATE_OPTIONS.
pub(crate) fn create_options(definition: &TableDefinition) -> String {
    let mut options: Vec<String> =
        definition.options.create_options.iter().map(|(name, value)| format!("{name}={value}")).collect();
    if definition.options.row_format != RowFormat::Default {
        options.push(format!("row_format={}", row_format_name(definition.options.row_format).to_uppercase()));
    }
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

impl SystemTables<'_> {
    /// Schemas that the user may see: (name, default collation).
    pub(crate) fn visible_schemas(&self) -> Vec<(String, charset::CollationId)> {
        use charset::CollationId as C;
        let mut schemas: Vec<(String, C)> = vec![("information_schema".to_owned(), C::UTF8MB3_GENERAL_CI)];
        for name in ["mysql", "performance_schema", "sys"] {
            if self.user.grants.sees_schema(name) || name == "performance_schema" {
                schemas.push((name.to_owned(), C::UTF8MB4_0900_AI_CI));
            }
        }
        for schema in self.instance.engine().dictionary().schemas() {
            if !is_hidden(&schema.name) && self.user.grants.sees_schema(&schema.name) {
                schemas.push((schema.name.clone(), schema.collation));
            }
        }
        schemas.sort();
        schemas
    }

    /// Calls `visit` for every table that the user may see; `equal` may name schema (column 1) and table (column 2).
    pub(super) fn each_table(
        &self,
        schema: Option<String>,
        table: Option<String>,
        visit: &mut dyn FnMut(&AnyTable) -> SqlResult<bool>,
    ) -> SqlResult<()> {
        for (name, _) in self.visible_schemas() {
            if schema.as_ref().is_some_and(|wanted| !wanted.eq_ignore_ascii_case(&name)) {
                continue;
            }
            let mut names = self.names_of(&name);
            names.retain(|(shown, _)| table.as_ref().is_none_or(|wanted| wanted.eq_ignore_ascii_case(shown)));
            for found in self.tables_named(&name, names) {
                if !visit(&found)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Names of a schema's tables that the user may see, and whether they are stored. No table is opened for it.
    fn names_of(&self, schema: &str) -> Vec<(String, bool)> {
        let is_defined = |name: &&str| definition(schema, name).is_some();
        let system = names(schema).filter(is_defined).map(|name| (name.to_owned(), false));
        let stored =
            self.instance.engine().dictionary().table_names(schema).into_iter().map(|name| (name, true));
        let may_see = |(name, _): &(String, bool)| {
            schema == "information_schema"
                || is_always_readable(schema, name)
                || self.user.grants.table_or_columns(schema, name).intersects(Privileges::ALL_TABLE)
        };
        system.chain(stored).filter(may_see).collect()
    }

    /// The tables of these names, opened one after the other. Those that are dropped meanwhile are left out.
    fn tables_named(&self, schema: &str, names: Vec<(String, bool)>) -> impl Iterator<Item = AnyTable> {
        names.into_iter().filter_map(move |(name, is_stored)| match is_stored {
            true => self.instance.engine().dictionary().table(schema, &name).map(AnyTable::Stored),
            false => definition(schema, &name).map(AnyTable::System),
        })
    }

    pub(super) fn schemata(&self, emit: Emit<'_>) -> SqlResult<()> {
        for (name, collation) in self.visible_schemas() {
            let row = vec![
                text("def"),
                text(name),
                text(collation.charset().name),
                text(collation.get().name),
                Value::Null,
                Value::UInt(1),
            ];
            if !emit(row)? {
                break;
            }
        }
        Ok(())
    }

    pub(super) fn schemata_extensions(&self, emit: Emit<'_>) -> SqlResult<()> {
        for (name, _) in self.visible_schemas() {
            if !emit(vec![text("def"), text(name), text("")])? {
                break;
            }
        }
        Ok(())
    }

    pub(super) fn tables(&self, equal: &[(usize, Value)], emit: Emit<'_>) -> SqlResult<()> {
        self.each_table(wanted_text(equal, 1), wanted_text(equal, 2), &mut |table| {
            emit(self.table_row(table))
        })
    }

    /// The 21 columns of TABLES.
    pub(crate) fn table_row(&self, table: &AnyTable) -> Vec<Value> {
        let definition = table.definition();
        let name = &definition.name;
        let head = |kind: u64, engine: Value| {
            vec![text("def"), text(&*name.schema), text(&*name.table), Value::UInt(kind), engine]
        };
        let AnyTable::Stored(stored) = table else {
            // Members of TABLE_TYPE: BASE TABLE, VIEW, SYSTEM VIEW.
            let is_view = name.schema == "information_schema";
            let mut row =
                head(if is_view { 3 } else { 1 }, if is_view { Value::Null } else { text("InnoDB") });
            row.extend([Value::Int(10), Value::Null]);
            row.extend([0, 0, 0, 0, 0, 0].map(Value::UInt));
            row.extend((0..6).map(|_| Value::Null));
            row.extend([text(""), text("")]);
            return row;
        };
        let statistics = self.instance.engine().statistics(stored);
        let average = statistics.data_bytes.checked_div(statistics.rows).unwrap_or(0);
        let counter = definition.auto_increment_column().map(|_| stored.auto_increment().peek());
        let mut row = head(1, text("InnoDB"));
        // Members of ROW_FORMAT: Fixed, Dynamic, Compressed, Redundant, Compact, Paged.
        let format = match definition.options.row_format {
            RowFormat::Default | RowFormat::Dynamic => 2,
            RowFormat::Compressed => 3,
            RowFormat::Redundant => 4,
            RowFormat::Compact => 5,
        };
        row.extend([Value::Int(10), Value::UInt(format)]);
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
        let seconds = self.instance.wall_microseconds() / 1_000_000 - self.instance.uptime_seconds() as i64;
        Value::DateTime(self.time_zone().local(seconds * 1_000_000))
    }

    pub(super) fn partitions(&self, equal: &[(usize, Value)], emit: Emit<'_>) -> SqlResult<()> {
        self.each_table(wanted_text(equal, 1), wanted_text(equal, 2), &mut |table| {
            let AnyTable::Stored(_) = table else { return Ok(true) };
            let whole = self.table_row(table);
            let mut row: Vec<Value> = whole[..3].to_vec();
            row.extend((0..10).map(|_| Value::Null));
            row.extend(whole[7..13].iter().cloned());
            row.extend([whole[14].clone(), Value::Null, Value::Null, Value::Null]);
            row.extend([text(""), text(""), Value::Null]);
            emit(row)
        })
    }

    pub(super) fn statistics(&self, equal: &[(usize, Value)], emit: Emit<'_>) -> SqlResult<()> {
        self.each_table(wanted_text(equal, 1), wanted_text(equal, 2), &mut |table| {
            for row in self.index_rows(table) {
                if !emit(row)? {
                    return Ok(false);
                }
            }
            Ok(true)
        })
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
                    text(&*column.name),
                    text(if part.descending { "D" } else { "A" }),
                    Value::Int(cardinality as i64),
                    part.prefix_length.map_or(Value::Null, |length| Value::Int(i64::from(length))),
                    Value::Null,
                    text(if column.nullable { "YES" } else { "" }),
                    text("BTREE"),
                    text(""),
                    text(&*index.comment),
                    text(if index.invisible { "NO" } else { "YES" }),
                    Value::Null,
                ]);
            }
        }
        rows
    }

    fn each_constraint(
        &self,
        schema: Option<String>,
        table: Option<String>,
        visit: &mut dyn FnMut(&TableDefinition, &IndexDefinition, &'static str) -> SqlResult<bool>,
    ) -> SqlResult<()> {
        self.each_table(schema, table, &mut |table| {
            let definition = table.definition();
            for index in &definition.indexes {
                if let Some(kind) = constraint_type(index.kind)
                    && !visit(definition, index, kind)?
                {
                    return Ok(false);
                }
            }
            Ok(true)
        })
    }

    pub(super) fn key_column_usage(&self, equal: &[(usize, Value)], emit: Emit<'_>) -> SqlResult<()> {
        self.each_constraint(wanted_text(equal, 4), wanted_text(equal, 5), &mut |table, index, _| {
            for (place, part) in index.parts.iter().enumerate() {
                if !self.sees_column(table, part.column) {
                    continue;
                }
                let row = vec![
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
                ];
                if !emit(row)? {
                    return Ok(false);
                }
            }
            Ok(true)
        })
    }

    pub(super) fn table_constraints(&self, equal: &[(usize, Value)], emit: Emit<'_>) -> SqlResult<()> {
        self.each_constraint(wanted_text(equal, 3), wanted_text(equal, 4), &mut |table, index, kind| {
            emit(vec![
                text("def"),
                text(&*table.name.schema),
                text(&*index.name),
                text(&*table.name.schema),
                text(&*table.name.table),
                text(kind),
                text("YES"),
            ])
        })
    }
}

impl SystemTables<'_> {
    /// Names of a schema's tables that the user may see.
    pub(crate) fn table_names(&self, schema: &str) -> Vec<String> {
        self.names_of(schema).into_iter().map(|(name, _)| name).collect()
    }

    fn found(&self, schema: &str, table: &str) -> Option<AnyTable> {
        let stored = self.instance.engine().dictionary().table(schema, table).map(AnyTable::Stored);
        stored.or_else(|| definition(schema, table).map(AnyTable::System))
    }

    /// Rows of SHOW TABLE STATUS.
    pub(crate) fn status_rows_of(&self, schema: &str) -> Vec<Vec<Value>> {
        const FORMATS: [&str; 7] = ["", "Fixed", "Dynamic", "Compressed", "Redundant", "Compact", "Paged"];
        let mut names = self.names_of(schema);
        names.sort();
        self.tables_named(schema, names)
            .map(|table| {
                let row = self.table_row(&table);
                let mut shown = vec![row[2].clone(), row[4].clone(), row[5].clone()];
                shown.push(match row[6] {
                    Value::UInt(member) => text(FORMATS[(member as usize).min(6)]),
                    _ => Value::Null,
                });
                shown.extend(row[7..].iter().cloned());
                shown
            })
            .collect()
    }

    /// Rows of COLUMNS for the columns of one table that the user may see.
    pub(crate) fn visible_column_rows(&self, schema: &str, table: &str) -> Vec<Vec<Value>> {
        let Some(found) = self.found(schema, table) else { return Vec::new() };
        let definition = found.definition();
        (0..definition.columns.len())
            .filter(|position| self.sees_column(definition, *position))
            .map(|position| self.column_row(&found, position))
            .collect()
    }

    /// Rows of STATISTICS for one table.
    pub(crate) fn index_rows_of(&self, schema: &str, table: &str) -> Vec<Vec<Value>> {
        self.found(schema, table).map(|found| self.index_rows(&found)).unwrap_or_default()
    }
}
