//! The settings of a session's statements: made by the first statement after a variable changed.

use crate::session::Session;
use instance::{SettingsSource, StatementSettings};

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
    }
}
