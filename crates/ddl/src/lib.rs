//! CREATE, ALTER, DROP, RENAME and TRUNCATE of schemas, tables and indexes, with MySQL's checks.
//! Definitions are built and checked here (`column.rs`, `index.rs`, `table.rs`); the engine stores them and moves rows.
//! Statements about accounts are in `account`. Main type: [`Definer`], what a change borrows of the running session.

#![forbid(unsafe_code)]

pub mod account;
mod algorithm;
mod alter;
mod alter_checks;
mod alter_foreign_keys;
mod alter_plan;
mod check;
mod column;
mod computed_column;
mod converted;
mod database;
mod definer;
mod duplicate;
mod foreign_key;
mod functional_key;
mod index;
mod limits;
mod options;
mod rebuild;
mod referred_table;
mod renumbering;
mod stored_expression;
mod table;
mod tables_that_refer;
mod temporary;

pub use algorithm::Asked;
pub use alter::Alteration;
pub use column::check_selected_name;
pub use definer::{Defaults, Definer, declared_defaults};
pub use functional_key::settle_key_columns;
pub use table::{Creation, Selected, locks_to_change};
pub use temporary::{
    TABLE_BEING_FILLED, create_temporary, make_temporary, make_temporary_to_fill, truncate_temporary,
};

use dictionary::TableName;
use engine::EngineError;
use errors::{SqlError, sql_error};
use instance::Instance;

/// An engine error about a table as DDL reports it.
pub(crate) fn table_error(error: EngineError, name: &TableName) -> SqlError {
    match error {
        EngineError::NoSuchTable(schema, table) => sql_error!(ER_NO_SUCH_TABLE, schema, table),
        EngineError::TableExists(_) => sql_error!(ER_TABLE_EXISTS_ERROR, name.table),
        other => other.into_sql(&name.table),
    }
}

/// Error 1347 for a view where a table must stand, 1146 for nothing.
pub fn no_base_table(instance: &Instance, name: &TableName) -> SqlError {
    match instance.engine().dictionary().views.get(&name.schema, &name.table) {
        Some(_) => sql_error!(ER_WRONG_OBJECT, name.schema, name.table, "BASE TABLE"),
        None => sql_error!(ER_NO_SUCH_TABLE, name.schema, name.table),
    }
}
