//! Character sets and collations of a session: SET NAMES, the collation_ and character_set_ variables. Whoever changes these
//! forgets the session's settings after it.

use crate::state::SessionState;
use charset::{Charset, Collation, CollationId};
use errors::{Diagnostics, SqlResult, sql_error};
use instance::Instance;
use instance::collations::{self, find_charset, resolve};
use std::sync::Arc;
use variables::{SystemValue, VariableId, id};

impl SessionState {
    fn set_text(&mut self, id: VariableId, text: &str) {
        Arc::make_mut(&mut self.variables).set(id, SystemValue::Text(text.into()));
    }

    fn collation_variable(&self, id: VariableId) -> CollationId {
        collations::of_variable(&self.variables, id)
    }

    /// What the handshake's collation number does: as SET NAMES. An unknown number means the server's own.
    pub(crate) fn set_client_collation(&mut self, collation: CollationId) {
        let usable =
            |collation: &&Collation| collation.charset().min_bytes() == 1 && collation.is_supported();
        let server = self.collation_variable(id::COLLATION_SERVER);
        let collation = charset::collation(collation).filter(usable).unwrap_or_else(|| server.get());
        self.set_names(collation);
    }

    /// Sets the variables of SET NAMES.
    pub(crate) fn set_names(&mut self, collation: &Collation) {
        let charset = collation.charset().name;
        self.set_text(id::CHARACTER_SET_CLIENT, charset);
        self.set_text(id::CHARACTER_SET_RESULTS, charset);
        self.set_text(id::CHARACTER_SET_CONNECTION, charset);
        self.set_text(id::COLLATION_CONNECTION, collation.name);
    }

    /// SET CHARACTER SET: as SET NAMES, but the connection gets the default schema's collation.
    pub(crate) fn set_character_set(&mut self, charset: &Charset) {
        self.set_text(id::CHARACTER_SET_CLIENT, charset.name);
        self.set_text(id::CHARACTER_SET_RESULTS, charset.name);
        let (name, collation) = (self.text(id::CHARACTER_SET_DATABASE), self.text(id::COLLATION_DATABASE));
        self.set_text(id::CHARACTER_SET_CONNECTION, &name);
        self.set_text(id::COLLATION_CONNECTION, &collation);
    }

    /// Keeps character_set_x and collation_x together after one of them was set.
    pub(crate) fn pair_charset_variable(&mut self, id: VariableId) {
        const PAIRS: [(VariableId, VariableId); 3] = [
            (id::CHARACTER_SET_CONNECTION, id::COLLATION_CONNECTION),
            (id::CHARACTER_SET_SERVER, id::COLLATION_SERVER),
            (id::CHARACTER_SET_DATABASE, id::COLLATION_DATABASE),
        ];
        for (charset_id, collation_id) in PAIRS {
            if id == charset_id {
                let name = self.text(charset_id);
                if let Some(charset) = charset::charset_by_name(&name) {
                    self.set_text(collation_id, charset.default_collation.get().name);
                }
            } else if id == collation_id {
                let charset = self.collation_variable(collation_id).charset().name;
                self.set_text(charset_id, charset);
            }
        }
    }

    /// character_set_database and collation_database follow the default schema.
    pub(crate) fn follow_schema_collation(&mut self, collation: Option<CollationId>) {
        let collation = collation.unwrap_or_else(|| self.collation_variable(id::COLLATION_SERVER));
        self.set_text(id::CHARACTER_SET_DATABASE, collation.charset().name);
        self.set_text(id::COLLATION_DATABASE, collation.get().name);
    }
}

/// What SET NAMES is to set. Errors: 1115, 1253, 1273; 1231 for a character set that cannot be a client's.
pub(crate) fn check_names(
    instance: &Instance,
    diagnostics: &mut Diagnostics,
    charset: Option<&str>,
    collation: Option<&str>,
) -> SqlResult<&'static Collation> {
    let default = instance.global_text(id::CHARACTER_SET_CLIENT);
    let charset = charset.unwrap_or(&default);
    let resolved = resolve(Some(charset), collation, diagnostics)?;
    let collation = resolved.unwrap_or(CollationId::UTF8MB4_0900_AI_CI).get();
    refuse_client_charset(collation.charset(), charset)?;
    Ok(collation)
}

/// What SET CHARACTER SET is to set.
pub(crate) fn check_character_set(instance: &Instance, charset: Option<&str>) -> SqlResult<&'static Charset> {
    let default = instance.global_text(id::CHARACTER_SET_CLIENT);
    // MySQL does not tell here what it tells of everywhere else.
    let mut untold = Diagnostics::new(0);
    let charset = find_charset(charset.unwrap_or(&default), &mut untold)?;
    refuse_client_charset(charset, charset.name)?;
    Ok(charset)
}

/// Error 1231 for character sets whose characters start beyond one byte: statements cannot be read in them.
pub(crate) fn refuse_client_charset(charset: &Charset, named: &str) -> SqlResult<()> {
    if charset.min_bytes() > 1 {
        return Err(sql_error!(ER_WRONG_VALUE_FOR_VAR, "character_set_client", named));
    }
    Ok(())
}
