//! The settings of a session's statements: made by the first statement after a variable changed. A session that starts has those of
//! one that started alike before (`instance/src/session_starts.rs`), or its own.

use crate::session::Session;
use charset::CollationId;
use instance::{SessionStart, SettingsSource, StartKey, StatementSettings, collations};
use std::sync::Arc;
use variables::id;
use wire::capabilities::client;

impl Session {
    /// What the session's variables say to its statements.
    #[inline]
    pub(crate) fn settings(&self) -> &StatementSettings {
        self.settings.get_or_init(|| StatementSettings::of(&self.settings_source()))
    }

    /// What they are made of.
    pub(crate) fn settings_source(&self) -> SettingsSource<'_> {
        SettingsSource {
            instance: &self.instance,
            connection_id: self.shared.id,
            user: &self.user,
            variables: &self.state.variables,
            capabilities: self.capabilities,
            schema: self.schema.as_ref(),
        }
    }

    /// Changes the session's value of a variable.
    pub(crate) fn store_variable(&mut self, id: variables::VariableId, value: variables::SystemValue) {
        std::sync::Arc::make_mut(&mut self.state.variables).set(id, value);
        self.forget_settings();
    }

    /// The settings are made anew by the next statement: variables, user or capabilities changed.
    pub(crate) fn forget_settings(&mut self) {
        self.settings.take();
        self.facts = None;
        self.result_keys.forget_settings();
    }

    /// collation_connection.
    pub(crate) fn connection_collation(&self) -> CollationId {
        collations::connection(&self.state.variables)
    }

    /// The default collation of the character set of results; BINARY when results are not converted.
    pub fn results_collation(&self) -> CollationId {
        collations::of_results(&self.state.variables)
    }

    /// The collation of the default schema; None without one, and for those that are not in the dictionary.
    pub(crate) fn schema_collation(&self) -> Option<CollationId> {
        let dictionary = self.instance.engine().dictionary();
        self.schema.as_ref().and_then(|schema| dictionary.schema(schema)).map(|schema| schema.collation)
    }

    /// character_set_database and collation_database follow the default schema.
    pub(crate) fn follow_schema_collation(&mut self) {
        let collation = self.schema_collation();
        self.state.follow_schema_collation(collation);
        self.forget_settings();
    }

    /// Gives a session whose variables are the global ones its own: collation of the handshake (None: the global
    /// character sets), time-out of interactive clients, collation of the default schema.
    pub(crate) fn start_variables(&mut self, collation: Option<CollationId>) {
        let instance = Arc::clone(&self.instance);
        let key = StartKey {
            generation: self.state.variables.generation(),
            collation,
            capabilities: self.capabilities,
            schema: self.schema.clone(),
            schema_collation: self.schema_collation(),
        };
        self.forget_settings();
        if let Some(start) = instance.session_starts().find(&key) {
            // In a place of its own: each statement holds the variables, in a count that cores must not share.
            self.state.variables = Arc::new((*start.variables).clone());
            let _ = self.settings.set(start.settings.for_session(self.shared.id, &self.user));
            return;
        }
        self.make_variables(collation);
        let settings = self.settings().clone();
        let variables = Arc::clone(&self.state.variables);
        instance.session_starts().add(SessionStart { key, variables, settings });
    }

    fn make_variables(&mut self, collation: Option<CollationId>) {
        if let Some(collation) = collation {
            self.state.set_client_collation(collation);
        }
        if self.capabilities & u64::from(client::INTERACTIVE) != 0 {
            let timeout = self.state.variables.get(id::INTERACTIVE_TIMEOUT).clone();
            self.store_variable(id::WAIT_TIMEOUT, timeout);
        }
        if self.schema.is_some() {
            self.follow_schema_collation();
        }
    }
}
