//! The data dictionary on disk, and the turn to change it. Main types: [`DictionaryStore`], [`TableRecord`], [`DdlTurns`]. As sessions
//! see it, it is in `tables`.

mod change;
mod damage_mark;
mod record;
mod statistics;
mod store;
mod turn;

pub(crate) use change::Change;
pub(crate) use damage_mark::DamageMark;
pub(crate) use record::{RecordHead, TableRecord, layout_of, tree_count};
pub(crate) use statistics::StoredStatistics;
pub(crate) use store::{Contents, DictionaryStore, LoadedTable, has_parts, part_key, parts_of};
pub(crate) use turn::{DdlTurn, DdlTurns};

use stdx::ids::{IndexId, SpaceId};

/// The tablespace of dictionary and undo tree.
pub(crate) const SYSTEM_SPACE: SpaceId = SpaceId(0);
/// The index that the dictionary is.
pub(crate) const DICTIONARY_INDEX: IndexId = IndexId(1);
