//! What a session tells of the server: system tables (information_schema, performance_schema, mysql, sys) and SHOW. Main types:
//! [`SystemTables`], [`Showing`]. What they need of the running session they borrow.
#![forbid(unsafe_code)]

mod create_options;
pub mod engines;
mod lookup;
mod printed_order;
pub mod result;
mod show;
mod system_tables;
mod view_text;

pub use lookup::{schema_exists, table_exists};
pub use printed_order::printed_order;
pub use show::{Listing, Showing, overlay_query, plain_query};
pub use system_tables::{Overlay, SystemTables, default_text, definition, deprecated_process_list};
