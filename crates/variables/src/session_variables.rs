//! The system variables of a session. Main type: [`SessionVariables`].

use crate::catalogue::VariableId;
use crate::value::{SystemValue, ValueTable};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The session's copies of system variables: the global ones as they were at connect, and what was changed since.
#[derive(Clone, Debug)]
pub struct SessionVariables {
    base: Arc<ValueTable>,
    /// Sessions that start alike share it.
    changed: Arc<BTreeMap<VariableId, SystemValue>>,
}

impl SessionVariables {
    /// A new session's.
    pub fn new(base: Arc<ValueTable>) -> SessionVariables {
        SessionVariables { base, changed: Arc::default() }
    }

    /// Tells the global variables apart that sessions have started with.
    pub fn generation(&self) -> u64 {
        self.base.generation()
    }

    /// The session's value.
    pub fn get(&self, id: VariableId) -> &SystemValue {
        self.changed.get(&id).unwrap_or_else(|| self.base.get(id))
    }

    /// Bytes of the session's own texts, but for that of one variable. Those of global values all share.
    pub fn own_text_bytes(&self, but: VariableId) -> u64 {
        self.changed.iter().filter(|(id, _)| **id != but).map(|(_, value)| value.text_bytes()).sum()
    }

    /// Changes the session's value.
    pub fn set(&mut self, id: VariableId, value: SystemValue) {
        Arc::make_mut(&mut self.changed).insert(id, value);
    }
}
