//! SHOW CREATE TABLE and SHOW CREATE DATABASE: the text that makes the object again, byte for byte as MySQL prints it.

use crate::create_options::ordered_options;
use crate::system_tables::default_text;
use charset::CollationId;
use dictionary::{
    CheckDefinition, ColumnDefault, ColumnDefinition, IndexDefinition, IndexKind, RowFormat,
    SchemaDefinition, TableDefinition,
};
use expression::{SqlMode, StatementFacts, TimeZone};
use std::fmt::Write as _;
use values::print::{literal, quoted};
use values::{TypeKind, Value};

/// What a text owes to the session that asks for it.
#[derive(Clone, Copy)]
pub(crate) struct Form<'s> {
    zone: &'s TimeZone,
    mode: SqlMode,
}

impl<'s> Form<'s> {
    pub fn of(facts: &'s StatementFacts) -> Form<'s> {
        Form { zone: &facts.time_zone, mode: facts.sql_mode }
    }

    /// A name in the quotes of sql_mode. Expressions have backticks in any case.
    fn name(self, name: &str) -> String {
        match self.mode.contains(SqlMode::ANSI_QUOTES) {
            true => format!("\"{}\"", name.replace('"', "\"\"")),
            false => quoted(name),
        }
    }

    /// Whether options are told that other servers do not know.
    fn has_options(self) -> bool {
        !self.mode.contains(SqlMode::ANSI)
    }
}

/// SHOW CREATE TABLE. `next_id` is the live AUTO_INCREMENT counter.
pub(crate) fn create_table(table: &TableDefinition, next_id: Option<u64>, form: Form<'_>) -> String {
    let mut lines: Vec<String> =
        table.named_columns().iter().map(|column| column_line(column, table.collation, form)).collect();
    let order = crate::printed_order(table);
    lines.extend(order.into_iter().map(|at| index_line(&table.indexes[at], table, form)));
    let keys = table.foreign_keys.iter();
    lines.extend(keys.map(|key| format!("  {}", key.clause(table, &|name| form.name(name), true))));
    lines.extend(table.checks.iter().map(|check| check_line(check, form)));
    let temporary = if table.id.is_temporary() { "TEMPORARY " } else { "" };
    let mut text =
        format!("CREATE {temporary}TABLE {} (\n{}\n)", form.name(&table.name.table), lines.join(",\n"));
    if form.has_options() {
        push(&mut text, format_args!(" ENGINE={}{}", table.options.engine.name(), options(table, next_id)));
    }
    text
}

fn column_line(column: &ColumnDefinition, table_collation: CollationId, form: Form<'_>) -> String {
    let column_type = &column.column_type;
    let kind = column_type.kind;
    let mut line = format!("  {} {}", form.name(&column.name), column_type.sql_text());
    if kind.is_text() || kind.has_members() {
        line.push_str(&collation_clauses(column, table_collation));
    }
    if let Some(generated) = &column.generated {
        let kind = if generated.stored { "STORED" } else { "VIRTUAL" };
        push(&mut line, format_args!(" GENERATED ALWAYS AS ({}) {kind}", generated.text));
    }
    if !column.nullable {
        line.push_str(" NOT NULL");
    } else if kind == TypeKind::Timestamp {
        line.push_str(" NULL");
    }
    if column.generated.is_none() {
        line.push_str(&default_clause(column, form.zone));
    }
    if let Some(digits) = column.on_update_now {
        push(&mut line, format_args!(" ON UPDATE {}", current_timestamp(digits)));
    }
    if column.auto_increment {
        line.push_str(" AUTO_INCREMENT");
    }
    if column.invisible {
        line.push_str(" /*!80023 INVISIBLE */");
    }
    if !column.comment.is_empty() {
        push(&mut line, format_args!(" COMMENT {}", literal(&column.comment)));
    }
    line
}

/// What was written is shown; else CHARACTER SET where the column's collation is not the table's, and COLLATE where it is not
/// its character set's. The default collation of utf8mb4 changed once, so it is named as if it were not.
fn collation_clauses(column: &ColumnDefinition, table_collation: CollationId) -> String {
    let collation = column.column_type.collation.get();
    let differs = collation.id != table_collation;
    let mut clauses = String::new();
    if differs || column.names_collation {
        push(&mut clauses, format_args!(" CHARACTER SET {}", collation.charset().name));
    }
    let is_unsaid = collation.is_default && (collation.id != CollationId::UTF8MB4_0900_AI_CI || !differs);
    if !is_unsaid || column.names_collation {
        push(&mut clauses, format_args!(" COLLATE {}", collation.name));
    }
    clauses
}

fn push(line: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a String does not fail.
    let _ = line.write_fmt(arguments);
}

fn current_timestamp(digits: u8) -> String {
    if digits == 0 { "CURRENT_TIMESTAMP".to_owned() } else { format!("CURRENT_TIMESTAMP({digits})") }
}

fn default_clause(column: &ColumnDefinition, zone: &TimeZone) -> String {
    let kind = column.column_type.kind;
    match &column.default {
        ColumnDefault::Dropped => String::new(),
        ColumnDefault::None | ColumnDefault::Literal(Value::Null) => {
            let implied = column.nullable && !column.auto_increment && !kind.is_large_object();
            let said = column.nullable
                && column.default == ColumnDefault::Literal(Value::Null)
                && !kind.is_large_object();
            if implied || said { " DEFAULT NULL".to_owned() } else { String::new() }
        }
        ColumnDefault::CurrentTimestamp(digits) => format!(" DEFAULT {}", current_timestamp(*digits)),
        ColumnDefault::Expression(expression) => format!(" DEFAULT ({expression})"),
        ColumnDefault::Literal(value) => match (kind, value) {
            (TypeKind::Bit, Value::UInt(bits)) => format!(" DEFAULT b'{bits:b}'"),
            (TypeKind::Binary | TypeKind::VarBinary, Value::Bytes(bytes)) => {
                format!(" DEFAULT {}", byte_literal(bytes))
            }
            _ => format!(" DEFAULT {}", literal(&default_text(column, zone).unwrap_or_default())),
        },
    }
}

fn check_line(check: &CheckDefinition, form: Form<'_>) -> String {
    let enforced = if check.enforced { "" } else { " /*!80016 NOT ENFORCED */" };
    format!("  CONSTRAINT {} CHECK ({}){enforced}", form.name(&check.name), check.text)
}

fn index_line(index: &IndexDefinition, table: &TableDefinition, form: Form<'_>) -> String {
    let parts: Vec<String> = index
        .parts
        .iter()
        .map(|part| {
            let column = &table.columns[part.column];
            let value = column.key_expression().map(|expression| format!("({expression})"));
            let name = value.unwrap_or_else(|| form.name(&column.name));
            let prefix = part.prefix_length.map(|length| format!("({length})")).unwrap_or_default();
            format!("{name}{prefix}{}", if part.descending { " DESC" } else { "" })
        })
        .collect();
    let head = match index.kind {
        IndexKind::Primary => "  PRIMARY KEY".to_owned(),
        IndexKind::Unique => format!("  UNIQUE KEY {}", form.name(&index.name)),
        IndexKind::Plain => format!("  KEY {}", form.name(&index.name)),
    };
    let mut line = format!("{head} ({})", parts.join(","));
    if !form.has_options() {
        return line;
    }
    if !index.comment.is_empty() {
        push(&mut line, format_args!(" COMMENT {}", literal(&index.comment)));
    }
    if index.invisible {
        line.push_str(" /*!80000 INVISIBLE */");
    }
    line
}

fn options(table: &TableDefinition, next_id: Option<u64>) -> String {
    let collation = table.collation.get();
    let mut out = String::new();
    if let Some(next_id) = next_id.filter(|next_id| *next_id > 1) {
        push(&mut out, format_args!(" AUTO_INCREMENT={next_id}"));
    }
    push(&mut out, format_args!(" DEFAULT CHARSET={}", collation.charset().name));
    // The default collation of utf8mb4 changed once, so it is always named.
    if !collation.is_default || collation.id == CollationId::UTF8MB4_0900_AI_CI {
        push(&mut out, format_args!(" COLLATE={}", collation.name));
    }
    let create_options = &table.options.create_options;
    for (name, value) in ordered_options(create_options, BEFORE_ROW_FORMAT) {
        push(&mut out, format_args!(" {}={value}", name.to_uppercase()));
    }
    if table.options.row_format != RowFormat::Default {
        let name = match table.options.row_format {
            RowFormat::Compact => "COMPACT",
            RowFormat::Redundant => "REDUNDANT",
            RowFormat::Compressed => "COMPRESSED",
            RowFormat::Default | RowFormat::Dynamic => "DYNAMIC",
        };
        push(&mut out, format_args!(" ROW_FORMAT={name}"));
    }
    for (_, value) in ordered_options(create_options, &["key_block_size"]) {
        push(&mut out, format_args!(" KEY_BLOCK_SIZE={value}"));
    }
    if !table.options.comment.is_empty() {
        push(&mut out, format_args!(" COMMENT={}", literal(&table.options.comment)));
    }
    for (_, value) in ordered_options(create_options, &["connection"]) {
        push(&mut out, format_args!(" CONNECTION={}", literal(value)));
    }
    out
}

/// What stands before ROW_FORMAT, in this order.
const BEFORE_ROW_FORMAT: &[&str] = &[
    "min_rows",
    "max_rows",
    "avg_row_length",
    "pack_keys",
    "stats_persistent",
    "stats_auto_recalc",
    "stats_sample_pages",
    "checksum",
    "delay_key_write",
];

/// Bytes: as text where they are printable, in hexadecimal otherwise.
fn byte_literal(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if text.chars().all(|character| character == '\0' || !character.is_control()) => {
            literal(text)
        }
        _ => bytes.iter().fold("0x".to_owned(), |text, byte| format!("{text}{byte:02X}")),
    }
}

/// SHOW CREATE DATABASE.
pub(crate) fn create_database(schema: &SchemaDefinition, if_not_exists: bool, form: Form<'_>) -> String {
    let collation = schema.collation.get();
    let guard = if if_not_exists { "/*!32312 IF NOT EXISTS*/ " } else { "" };
    let collate = if !collation.is_default || collation.id == CollationId::UTF8MB4_0900_AI_CI {
        format!(" COLLATE {}", collation.name)
    } else {
        String::new()
    };
    format!(
        "CREATE DATABASE {guard}{} /*!40100 DEFAULT CHARACTER SET {}{collate} */ /*!80016 DEFAULT ENCRYPTION='N' */",
        form.name(&schema.name),
        collation.charset().name,
    )
}
