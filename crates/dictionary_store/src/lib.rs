//! The data dictionary on disk, what tables may be called in it, and the turn to change it. Main types: [`DictionaryStore`],
//! [`TableRecord`], [`DdlTurns`]. As sessions see it, it is in crate `tables`. The engine's README has its rules.

#![forbid(unsafe_code)]

mod change;
mod damage_mark;
mod file_names;
mod record;
mod statistics;
mod store;
mod turn;
mod views;

pub use change::Change;
pub use damage_mark::DamageMark;
pub use file_names::{encoded, is_too_long, name_path, need_short_name, need_short_new_name};
pub use record::{RecordHead, TableRecord, layout_of, tree_count};
pub use statistics::StoredStatistics;
pub use store::{Contents, DictionaryStore, LoadedTable, has_parts, part_key, parts_of};
pub use turn::{DdlTurn, DdlTurns};
pub use views::Views;

use stdx::ids::{IndexId, SpaceId};

/// The tablespace of dictionary and undo tree.
pub const SYSTEM_SPACE: SpaceId = SpaceId(0);
/// The index that the dictionary is.
pub const DICTIONARY_INDEX: IndexId = IndexId(1);
