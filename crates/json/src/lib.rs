//! JSON: paths, and what SQL's functions do with documents. Main type: [`Path`]; values are
//! [`values::json::Node`] and [`values::json::Built`]. What of it are arguments in SQL (NULL, conversions, character sets) is
//! the business of the crate `builtins`.
#![forbid(unsafe_code)]

mod change;
mod contain;
mod extract;
mod find;
mod merge;
mod path;
mod schema;
mod search;
pub mod table;
mod unquote;

pub use change::{Setting, array_append, array_insert, remove, set};
pub use contain::{contains, is_member, overlaps};
pub use extract::{contains_path, extract, keys, length, length_at};
pub use find::{find, first};
pub use merge::{merge_patch, merge_preserve};
pub use path::{Cell, Leg, Path};
pub use schema::{PatternMatch, SchemaFailure, schema_check, schema_report};
pub use search::search;
pub use unquote::unquote;

use errors::{SqlResult, sql_error};

/// What the argument 'one' or 'all' asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HowMany {
    /// The first is enough.
    One,
    /// All of them.
    All,
}

impl HowMany {
    /// Reads the argument; ER_JSON_BAD_ONE_OR_ALL_ARG with the function's name if it is another word.
    pub fn parse(text: &[u8], function: &str) -> SqlResult<HowMany> {
        match text {
            _ if text.eq_ignore_ascii_case(b"one") => Ok(HowMany::One),
            _ if text.eq_ignore_ascii_case(b"all") => Ok(HowMany::All),
            _ => Err(sql_error!(ER_JSON_BAD_ONE_OR_ALL_ARG, function)),
        }
    }
}
