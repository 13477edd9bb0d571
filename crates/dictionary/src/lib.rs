//! Definitions of schemas, tables, columns and indexes as plain data, and their serialised form.
//! Knows no pages, no SQL text and no sessions; the engine stores these, the SQL layers read them.
#![forbid(unsafe_code)]

mod auto_increment;
pub mod codec;
mod constraint_names;
mod foreign_key;
mod functional_key;
mod names;
mod storage_engine;
pub mod table;
pub mod view;

pub use auto_increment::{
    AutoIncrementLockMode, AutoIncrementRange, AutoIncrementRequest, InsertKind, counted,
};
pub use codec::{CorruptDefinition, decode_schema, decode_table, encode_schema, encode_table};
pub use constraint_names::{ConstraintNames, Reference, ReferringKeys, TakenName, first_taken_name};
pub use foreign_key::{ForeignKeyDefinition, GENERATED_FOREIGN_KEY, MatchOption, ReferenceAction};
pub use functional_key::{index_of_key_column, key_column_name};
pub use names::same_name;
pub use storage_engine::StorageEngine;
pub use table::{
    CheckDefinition, ColumnDefault, ColumnDefinition, GENERATED_CHECK, GeneratedColumn, IndexDefinition,
    IndexKind, IndexPart, RowFormat, SchemaDefinition, TableDefinition, TableName, TableOptions,
};
pub use view::{ViewAlgorithm, ViewCheck, ViewDefinition, decode_view, encode_view};
