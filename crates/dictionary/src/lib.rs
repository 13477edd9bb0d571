//! Definitions of schemas, tables, columns and indexes as plain data, and their serialised form.
//! Knows no pages, no SQL text and no sessions; the engine stores these, the SQL layers read them.

pub mod table;

pub use table::{
    ColumnDefault, ColumnDefinition, IndexDefinition, IndexKind, IndexPart, RowFormat, SchemaDefinition,
    TableDefinition, TableName, TableOptions,
};
