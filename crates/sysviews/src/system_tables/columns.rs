//! information_schema.COLUMNS, and the texts of columns that SHOW COLUMNS shares with it.

use super::cursor::ViewRows;
use super::keys::Wanted;
use super::tables::AnyTable;
use super::{SystemTables, definitions};
use crate::result::{optional_text, text};
use accounts::Privileges;
use dictionary::{ColumnDefault, ColumnDefinition, IndexKind, TableDefinition};
use expression::TimeZone;
use values::{TypeKind, Value};
use variables::id;

/// DEFAULT as COLUMNS and SHOW COLUMNS print it, in the session's zone; None for none and for NULL.
pub fn default_text(column: &ColumnDefinition, zone: &TimeZone) -> Option<String> {
    match &column.default {
        ColumnDefault::None | ColumnDefault::Dropped | ColumnDefault::Literal(Value::Null) => None,
        ColumnDefault::CurrentTimestamp(digits) => Some(current_timestamp(*digits)),
        ColumnDefault::Expression(expression) => Some(escaped_expression(expression)),
        ColumnDefault::Literal(value) => Some(match (column.column_type.kind, value) {
            (TypeKind::Bit, Value::UInt(bits)) => format!("b'{bits:b}'"),
            (TypeKind::Binary | TypeKind::VarBinary, Value::Bytes(bytes)) => {
                let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1);
                bytes[..end].iter().fold("0x".to_owned(), |text, byte| format!("{text}{byte:02X}"))
            }
            (TypeKind::Timestamp, Value::DateTime(utc)) => {
                let local = Value::DateTime(zone.utc_to_local(*utc));
                values::convert::quoted_text(local.as_ref(), &column.column_type)
            }
            _ => values::convert::quoted_text(value.as_ref(), &column.column_type),
        }),
    }
}

/// A stored expression as MySQL's tables show it: as the inside of a text in quotes.
pub(super) fn escaped_expression(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\'', "\\'")
}

/// CURRENT_TIMESTAMP with its fractional digits.
pub(crate) fn current_timestamp(digits: u8) -> String {
    if digits == 0 { "CURRENT_TIMESTAMP".to_owned() } else { format!("CURRENT_TIMESTAMP({digits})") }
}

/// EXTRA.
pub(crate) fn extra(column: &ColumnDefinition) -> String {
    let mut words = Vec::new();
    if column.auto_increment {
        words.push("auto_increment".to_owned());
    }
    if let Some(generated) = &column.generated {
        words.push(if generated.stored { "STORED GENERATED" } else { "VIRTUAL GENERATED" }.to_owned());
    }
    if matches!(column.default, ColumnDefault::CurrentTimestamp(_) | ColumnDefault::Expression(_)) {
        words.push("DEFAULT_GENERATED".to_owned());
    }
    if let Some(digits) = column.on_update_now {
        words.push(format!("on update {}", current_timestamp(digits)));
    }
    if column.invisible {
        words.push("INVISIBLE".to_owned());
    }
    words.join(" ")
}

/// COLUMN_KEY: PRI, UNI for a unique index of this column alone, MUL for the first part of any other.
pub(crate) fn key_of(definition: &TableDefinition, position: usize) -> &'static str {
    let leads = |kind: IndexKind, alone: bool| {
        definition.indexes.iter().any(|index| {
            index.kind == kind
                && index.parts.first().is_some_and(|part| part.column == position)
                && (!alone || index.parts.len() == 1)
        })
    };
    let primary = definition.primary_key();
    if primary.is_some_and(|index| index.parts.iter().any(|part| part.column == position)) {
        return "PRI";
    }
    // A table without primary key whose first unique index is over NOT NULL columns shows it as the primary one.
    let promoted = definition.indexes.iter().find(|index| {
        index.kind == IndexKind::Unique
            && index.parts.iter().all(|part| !definition.columns[part.column].nullable)
    });
    if primary.is_none()
        && promoted.is_some_and(|index| index.parts.iter().any(|part| part.column == position))
    {
        return "PRI";
    }
    if leads(IndexKind::Unique, true) {
        return "UNI";
    }
    if leads(IndexKind::Unique, false) || leads(IndexKind::Plain, false) { "MUL" } else { "" }
}

impl SystemTables<'_> {
    pub(super) fn columns(&self, wanted: &Wanted, table: &AnyTable, rows: &mut ViewRows) {
        let definition = table.definition();
        let is_wanted = |at: &usize| {
            wanted.has("COLUMN_NAME", &definition.columns[*at].name) && self.sees_column(definition, *at)
        };
        rows.extend(
            (0..definition.named_columns().len()).filter(is_wanted).map(|at| self.column_row(table, at)),
        );
    }

    /// The session's time zone.
    pub(crate) fn time_zone(&self) -> TimeZone {
        let name = self.variables.get(id::TIME_ZONE).text(id::TIME_ZONE.variable());
        instance::time_zones::find(self.instance, &name).unwrap_or(TimeZone::UTC)
    }

    /// The 22 columns of COLUMNS.
    pub(crate) fn column_row(&self, table: &AnyTable, position: usize) -> Vec<Value> {
        let definition = table.definition();
        let column = &definition.columns[position];
        let column_type = &column.column_type;
        let kind = column_type.kind;
        let name = &definition.name;
        let catalogue = match table {
            AnyTable::System(_) => definitions::column(&name.schema, &name.table, position),
            AnyTable::Stored(_) | AnyTable::View(_) => None,
        };
        let (characters, bytes) = lengths(column);
        let (precision, scale) = digits(column);
        let fraction = matches!(kind, TypeKind::Time | TypeKind::DateTime | TypeKind::Timestamp)
            .then(|| u64::from(column_type.fractional_digits()));
        let collation = (kind.is_text() || kind.has_members()).then(|| column_type.collation.get());
        let number = |value: Option<u64>| value.map_or(Value::Null, Value::UInt);
        let default = catalogue.map_or_else(
            || default_text(column, &self.time_zone()),
            |found| found.default.map(str::to_owned),
        );
        let key = catalogue.map_or_else(|| key_of(definition, position), |found| found.key);
        let key = ["", "PRI", "UNI", "MUL"].iter().position(|name| *name == key).unwrap_or(0);
        vec![
            text("def"),
            text(&*name.schema),
            text(&*name.table),
            text(&*column.name),
            Value::UInt(position as u64 + 1),
            optional_text(default),
            text(if column.nullable { "YES" } else { "NO" }),
            text(kind.name()),
            characters.map_or(Value::Null, |count| Value::Int(count as i64)),
            bytes.map_or(Value::Null, |count| Value::Int(count as i64)),
            number(precision),
            number(scale),
            number(fraction),
            optional_text(collation.map(|found| found.charset().name)),
            optional_text(collation.map(|found| found.name)),
            text(column_type.sql_text()),
            Value::UInt(key as u64 + 1),
            optional_text(Some(catalogue.map_or_else(|| extra(column), |found| found.extra.to_owned()))),
            text(self.column_privileges_text(definition, &column.name)),
            text(&*column.comment),
            text(column.generated.as_ref().map_or_else(String::new, |one| escaped_expression(&one.text))),
            Value::Null,
        ]
    }

    /// What of the column's privileges the user has.
    fn held_on_column(&self, definition: &TableDefinition, column: &str) -> Privileges {
        let name = &definition.name;
        match name.schema.as_str() {
            _ if definition.id.is_temporary() => Privileges::ALL_COLUMN,
            "information_schema" => Privileges::SELECT,
            schema if instance::system_schemas::is_always_readable(schema, &name.table) => Privileges::SELECT,
            schema => self.user.grants.column(schema, &name.table, column),
        }
    }

    /// Whether the user may know that the table has that column.
    pub(crate) fn sees_column(&self, definition: &TableDefinition, position: usize) -> bool {
        let column = &definition.columns[position].name;
        self.held_on_column(definition, column).intersects(Privileges::ALL_COLUMN)
    }

    /// The privileges that the user has on the column, e.g. `select,insert`.
    fn column_privileges_text(&self, definition: &TableDefinition, column: &str) -> String {
        let held = self.held_on_column(definition, column);
        let words = [
            (Privileges::SELECT, "select"),
            (Privileges::INSERT, "insert"),
            (Privileges::UPDATE, "update"),
            (Privileges::REFERENCES, "references"),
        ];
        words
            .iter()
            .filter(|(bit, _)| held.contains(*bit))
            .map(|(_, word)| *word)
            .collect::<Vec<_>>()
            .join(",")
    }
}

/// CHARACTER_MAXIMUM_LENGTH and CHARACTER_OCTET_LENGTH.
fn lengths(column: &ColumnDefinition) -> (Option<u64>, Option<u64>) {
    let column_type = &column.column_type;
    let kind = column_type.kind;
    let character_bytes = u64::from(column_type.collation.charset().max_bytes.max(1));
    if let Some(bytes) = kind.large_object_bytes_max() {
        // As many characters as there may be at most.
        let shortest = column_type.collation.charset().min_bytes() as u64;
        let bytes = u64::from(bytes);
        return (Some(bytes / shortest.max(1)), Some(bytes));
    }
    if kind.has_members() {
        let lengths = column_type
            .members
            .iter()
            .map(|member| column_type.collation.charset().character_count(member) as u64);
        let characters = match kind {
            TypeKind::Enum => lengths.max().unwrap_or(0),
            _ => lengths.sum::<u64>() + column_type.members.len().saturating_sub(1) as u64,
        };
        return (Some(characters), Some(characters * character_bytes));
    }
    match kind {
        TypeKind::Char | TypeKind::VarChar => {
            let characters = u64::from(column_type.length.unwrap_or(1));
            (Some(characters), Some(characters * character_bytes))
        }
        TypeKind::Binary | TypeKind::VarBinary => {
            let bytes = u64::from(column_type.length.unwrap_or(1));
            (Some(bytes), Some(bytes))
        }
        _ => (None, None),
    }
}

/// NUMERIC_PRECISION and NUMERIC_SCALE.
fn digits(column: &ColumnDefinition) -> (Option<u64>, Option<u64>) {
    let column_type = &column.column_type;
    let whole = |precision: u64| (Some(precision), Some(0));
    match column_type.kind {
        TypeKind::TinyInt => whole(3),
        TypeKind::SmallInt => whole(5),
        TypeKind::MediumInt => whole(7 + u64::from(column_type.unsigned)),
        TypeKind::Int => whole(10),
        TypeKind::BigInt => whole(19 + u64::from(column_type.unsigned)),
        TypeKind::Decimal => (Some(u64::from(column_type.precision())), Some(u64::from(column_type.scale()))),
        TypeKind::Float => {
            (Some(column_type.length.map_or(12, u64::from)), column_type.decimals.map(u64::from))
        }
        TypeKind::Double => {
            (Some(column_type.length.map_or(22, u64::from)), column_type.decimals.map(u64::from))
        }
        TypeKind::Bit => (Some(u64::from(column_type.bits())), None),
        _ => (None, None),
    }
}
