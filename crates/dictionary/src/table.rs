//! The definition of a table as CREATE TABLE gives it and SHOW CREATE TABLE prints it.
//! Main type: [`TableDefinition`]. Immutable once published; an ALTER makes a new one.

use crate::foreign_key::{ForeignKeyDefinition, GENERATED_FOREIGN_KEY};
use crate::names::same_name;
use crate::storage_engine::StorageEngine;
use charset::CollationId;
use stdx::ids::{IndexId, TableId};
use values::{ColumnType, TypeKind, Value};

/// A schema (database).
#[derive(Clone, Debug, PartialEq)]
pub struct SchemaDefinition {
    /// Name as created.
    pub name: String,
    /// Default collation of tables that name none.
    pub collation: CollationId,
}

/// A table's full name. Compared byte by byte (lower_case_table_names = 0).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableName {
    /// Schema.
    pub schema: String,
    /// Table.
    pub table: String,
}

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableDefinition {
    /// Set by the engine when the table is created; 0 before.
    pub id: TableId,
    /// Full name.
    pub name: TableName,
    /// Columns in their visible order, then those of functional key parts.
    pub columns: Vec<ColumnDefinition>,
    /// Indexes in the order of SHOW CREATE TABLE; the primary key, if any, first.
    /// A table without primary key gets a hidden clustered index that is not listed here.
    pub indexes: Vec<IndexDefinition>,
    /// CHECK constraints in the order of their names: so they are asked, and printed.
    pub checks: Vec<CheckDefinition>,
    /// Foreign keys in the order of their names: so parents are looked for, and printed.
    pub foreign_keys: Vec<ForeignKeyDefinition>,
    /// Default collation of columns that name none.
    pub collation: CollationId,
    /// Table options that are printed back.
    pub options: TableOptions,
}

/// What an open table, one of its columns and one of its indexes take beside their texts.
const TABLE_BYTES: usize = 4 << 10;
const COLUMN_BYTES: usize = 512;
const INDEX_BYTES: usize = 2 << 10;

/// Table options that are kept and printed back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableOptions {
    /// COMMENT.
    pub comment: String,
    /// AUTO_INCREMENT given in CREATE or ALTER; the live counter is the engine's.
    pub auto_increment: Option<u64>,
    /// ROW_FORMAT as given.
    pub row_format: RowFormat,
    /// Other options by name in lower case, e.g. ("max_rows", "10000000"); each once.
    pub create_options: Vec<(String, String)>,
    /// ENGINE.
    pub engine: StorageEngine,
}

/// ROW_FORMAT as given. Iruka has one row format; the name is kept for the dump.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowFormat {
    /// None given.
    #[default]
    Default,
    /// DYNAMIC.
    Dynamic,
    /// COMPACT.
    Compact,
    /// REDUNDANT.
    Redundant,
    /// COMPRESSED.
    Compressed,
}

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnDefinition {
    /// Name as created; looked up without regard to case.
    pub name: String,
    /// Type with length, sign, collation and members.
    pub column_type: ColumnType,
    /// Whether NULL is allowed.
    pub nullable: bool,
    /// The DEFAULT clause.
    pub default: ColumnDefault,
    /// GENERATED ALWAYS AS.
    pub generated: Option<GeneratedColumn>,
    /// ON UPDATE CURRENT_TIMESTAMP with its fractional digits.
    pub on_update_now: Option<u8>,
    /// AUTO_INCREMENT.
    pub auto_increment: bool,
    /// INVISIBLE.
    pub invisible: bool,
    /// CHARACTER SET or COLLATE was written for it, so that SHOW CREATE TABLE shows them even where they say nothing new.
    pub names_collation: bool,
    /// COMMENT.
    pub comment: String,
}

/// A column whose values are computed from those of the others.
#[derive(Clone, Debug, PartialEq)]
pub struct GeneratedColumn {
    /// The expression as normalised SQL text.
    pub text: String,
    /// STORED. Rows hold values of VIRTUAL columns too; what tells the two apart is what ALTER TABLE allows and what is shown.
    pub stored: bool,
    /// It is a functional key part: no statement can name it, and it goes with its index.
    pub is_key_part: bool,
    /// CAST(.. AS type ARRAY): the column holds JSON arrays, or NULL, and its index has an entry for each element, of this type.
    pub element_type: Option<ColumnType>,
}

/// What a column holds when a row gives it no value.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnDefault {
    /// No DEFAULT clause: NULL for a nullable column, otherwise error 1364 or the type's implicit default.
    None,
    /// A literal, already converted to the column's type (NULL included); of a TIMESTAMP as rows hold it, in UTC.
    Literal(Value),
    /// CURRENT_TIMESTAMP with its fractional digits.
    CurrentTimestamp(u8),
    /// ALTER .. DROP DEFAULT: error 1364 or the type's implicit default, though the column may take NULL.
    Dropped,
    /// DEFAULT (expression), kept as normalised SQL text.
    Expression(String),
}

/// What an index promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexKind {
    /// The primary key: the clustered index.
    Primary,
    /// UNIQUE.
    Unique,
    /// Plain.
    Plain,
}

/// An index.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexDefinition {
    /// Set by the engine when the index is created; 0 before.
    pub id: IndexId,
    /// Name; `PRIMARY` for the primary key.
    pub name: String,
    /// What it promises.
    pub kind: IndexKind,
    /// Key parts in order.
    pub parts: Vec<IndexPart>,
    /// COMMENT.
    pub comment: String,
    /// INVISIBLE: kept up to date but not used by the optimizer.
    pub invisible: bool,
    /// It was made for a foreign key: it gives way to another that serves the key as well.
    pub generated: bool,
}

/// One part of an index key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexPart {
    /// Position in [`TableDefinition::columns`].
    pub column: usize,
    /// Prefix length in characters (bytes for binary types); None for the whole column.
    pub prefix_length: Option<u32>,
    /// DESC.
    pub descending: bool,
}

/// What stands between the table's name and a number in the name of a CHECK constraint that was given none.
pub const GENERATED_CHECK: &str = "_chk_";

/// A CHECK constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckDefinition {
    /// Name as created; unique among those of a schema, without regard to case.
    pub name: String,
    /// The condition as normalised SQL text.
    pub text: String,
    /// Whether rows must meet it.
    pub enforced: bool,
}

impl CheckDefinition {
    /// What tells its name from others.
    pub fn folded_name(&self) -> String {
        self.name.to_lowercase()
    }
}

impl TableDefinition {
    /// What the table takes in memory while it is open, without its pages: about so many bytes.
    pub fn memory_bytes(&self) -> u64 {
        // What is stored of it is its texts, mostly.
        let texts = crate::encode_table(self).len();
        let parts = self.columns.len() * COLUMN_BYTES + self.indexes.len() * INDEX_BYTES;
        (TABLE_BYTES + parts + texts) as u64
    }

    /// The primary key, if the table has one.
    pub fn primary_key(&self) -> Option<&IndexDefinition> {
        self.indexes.first().filter(|index| index.kind == IndexKind::Primary)
    }

    /// Position of the column of that name, without regard to case.
    pub fn column_position(&self, name: &str) -> Option<usize> {
        let is_it = |column: &ColumnDefinition| same_name(&column.name, name) && !column.is_hidden();
        self.columns.iter().position(is_it)
    }

    /// The same under another name: names of constraints that were made of its name follow.
    pub fn renamed(&self, name: TableName) -> TableDefinition {
        let mut renamed = TableDefinition { name, ..self.clone() };
        let (old, new) = (&self.name.table, renamed.name.table.clone());
        let follow = |constraint: &mut String, generated: &str| {
            if let Some(number) = constraint.strip_prefix(&format!("{old}{generated}"))
                && number.bytes().all(|digit| digit.is_ascii_digit())
            {
                *constraint = format!("{new}{generated}{number}");
            }
        };
        renamed.checks.iter_mut().for_each(|check| follow(&mut check.name, GENERATED_CHECK));
        renamed.foreign_keys.iter_mut().for_each(|key| follow(&mut key.name, GENERATED_FOREIGN_KEY));
        renamed.sort_checks();
        renamed.sort_foreign_keys();
        renamed
    }

    /// The foreign key of that name, without regard to case.
    pub fn foreign_key_position(&self, name: &str) -> Option<usize> {
        let folded = name.to_lowercase();
        self.foreign_keys.iter().position(|key| key.folded_name() == folded)
    }

    /// Puts foreign keys in the order in which parents are looked for.
    pub fn sort_foreign_keys(&mut self) {
        self.foreign_keys.sort_by_cached_key(ForeignKeyDefinition::folded_name);
    }

    /// The CHECK constraint of that name, without regard to case.
    pub fn check_position(&self, name: &str) -> Option<usize> {
        let folded = name.to_lowercase();
        self.checks.iter().position(|check| check.folded_name() == folded)
    }

    /// Whether both have columns of the same names in the same order.
    pub fn has_columns_of(&self, other: &TableDefinition) -> bool {
        self.columns.len() == other.columns.len()
            && self.columns.iter().zip(&other.columns).all(|(one, other)| one.name == other.name)
    }

    /// Whether rows of both have the same bytes.
    pub fn has_columns_stored_as(&self, other: &TableDefinition) -> bool {
        self.columns.len() == other.columns.len()
            && self.columns.iter().zip(&other.columns).all(|(one, other)| {
                values::row::Form::of(&one.column_type) == values::row::Form::of(&other.column_type)
                    && one.column_type.collation == other.column_type.collation
                    && one.nullable == other.nullable
            })
    }

    /// Whether rows and keys of both have the same bytes.
    pub fn has_storage_of(&self, other: &TableDefinition) -> bool {
        let indexes = self.indexes.len() == other.indexes.len()
            && self
                .indexes
                .iter()
                .zip(&other.indexes)
                .all(|(one, other)| one.kind == other.kind && one.parts == other.parts);
        self.has_columns_stored_as(other) && indexes
    }

    /// Whether values of a column are computed: DEFAULT (expression), GENERATED ALWAYS AS.
    pub fn computes_values(&self) -> bool {
        let is_computed = |column: &ColumnDefinition| {
            column.generated.is_some() || matches!(column.default, ColumnDefault::Expression(_))
        };
        self.columns.iter().any(is_computed)
    }

    /// Puts CHECK constraints in the order in which they are asked.
    pub fn sort_checks(&mut self) {
        self.checks.sort_by_cached_key(CheckDefinition::folded_name);
    }

    /// Whether a column holds JSON.
    pub fn has_json(&self) -> bool {
        self.columns.iter().any(|column| column.column_type.kind == TypeKind::Json)
    }

    /// Position of the AUTO_INCREMENT column.
    pub fn auto_increment_column(&self) -> Option<usize> {
        self.columns.iter().position(|column| column.auto_increment)
    }

    /// The largest value that it holds.
    pub fn auto_increment_max(&self) -> u64 {
        let Some(column) = self.auto_increment_column() else { return u64::MAX };
        let column_type = &self.columns[column].column_type;
        match column_type.integer_range() {
            Some((_, greatest)) => greatest,
            None if column_type.unsigned => u64::MAX,
            None => i64::MAX as u64,
        }
    }
}
