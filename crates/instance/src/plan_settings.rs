//! Which of a session's settings a plan depends on. Sessions that agree in these share plans, whatever else they have set.
//! Main function: [`fingerprint`].
//!
//! Rule: what binding, folding and optimising read of a session is in [`READ_BY_PLANNING`] (or is the default schema), or the
//! plan is volatile and never kept. Limits of memory, time and rows affected are read by executions.

use crate::statement_settings::SettingsSource;
use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::sync::LazyLock;
use variables::{VariableId, id};
use wire::capabilities::client;

/// Variables that decide what a text means, what types expressions have, or what constants are worth.
pub const READ_BY_PLANNING: [VariableId; 15] = [
    id::BLOCK_ENCRYPTION_MODE,
    id::CHARACTER_SET_CLIENT,
    id::CHARACTER_SET_RESULTS,
    id::COLLATION_CONNECTION,
    id::DEFAULT_WEEK_FORMAT,
    id::DIV_PRECISION_INCREMENT,
    id::GROUP_CONCAT_MAX_LEN,
    id::IRUKA_OPTIMIZER_SWITCH,
    id::LC_TIME_NAMES,
    id::MAX_ALLOWED_PACKET,
    id::OPTIMIZER_SWITCH,
    id::SQL_AUTO_IS_NULL,
    id::SQL_MODE,
    id::SQL_SELECT_LIMIT,
    id::TIME_ZONE,
];

/// Hashes of values stay within the process.
static FINGERPRINT_KEYS: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// A number that differs between sessions whose plans may differ.
pub fn fingerprint(source: &SettingsSource<'_>) -> u64 {
    let mut hasher = FINGERPRINT_KEYS.build_hasher();
    source.schema.hash(&mut hasher);
    (source.capabilities & u64::from(client::IGNORE_SPACE)).hash(&mut hasher);
    for id in READ_BY_PLANNING {
        source.variables.get(id).hash(&mut hasher);
    }
    hasher.finish()
}
