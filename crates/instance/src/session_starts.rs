//! The variables that a session starts with. Sessions that start alike share them, and the settings that follow from
//! them, until one of them changes a variable: connecting works nothing out that an earlier connection did.
//! Main type: [`SessionStarts`].

use crate::statement_settings::StatementSettings;
use charset::CollationId;
use std::sync::{Arc, PoisonError, RwLock};
use variables::SessionVariables;

/// Kinds of sessions that are remembered: drivers and tools of one server, each with its schemas.
const STARTS_MAX: usize = 32;

/// How the sessions of late have started.
#[derive(Debug, Default)]
pub struct SessionStarts(RwLock<Vec<Arc<SessionStart>>>);

/// How one of them did.
#[derive(Debug)]
pub struct SessionStart {
    /// What it depended on.
    pub key: StartKey,
    /// Its variables.
    pub variables: Arc<SessionVariables>,
    /// Those of the session that was the first one; names and ids of others differ.
    pub settings: StatementSettings,
}

/// What a session's first variables and settings depend on.
#[derive(Debug, PartialEq, Eq)]
pub struct StartKey {
    /// Of the global variables.
    pub generation: u64,
    /// Of the handshake; None: the global character sets.
    pub collation: Option<CollationId>,
    /// CLIENT_* of the connection.
    pub capabilities: u64,
    /// The default schema.
    pub schema: Option<Arc<str>>,
    /// Its collation.
    pub schema_collation: Option<CollationId>,
}

impl SessionStarts {
    /// A start that depended on the same.
    pub fn find(&self, key: &StartKey) -> Option<Arc<SessionStart>> {
        let starts = self.0.read().unwrap_or_else(PoisonError::into_inner);
        starts.iter().find(|start| start.key == *key).cloned()
    }

    /// Remembers one. What started with other global variables does not come again.
    pub fn add(&self, start: SessionStart) {
        let mut starts = self.0.write().unwrap_or_else(PoisonError::into_inner);
        starts.retain(|other| other.key.generation == start.key.generation);
        starts.truncate(STARTS_MAX - 1);
        starts.insert(0, Arc::new(start));
    }
}
