//! What a prepared statement keeps of the session that prepared it: names and literals mean at every execution what
//! they meant then, whatever USE and SET NAMES came between. Main types: [`PreparedUnder`], [`Entered`]. What an
//! execution reads of the session besides (the rest of sql_mode, time zone, limits) is as it is now. Thread rules: the
//! session's.

use crate::session::Session;
use charset::CollationId;
use errors::sql_error;
use expression::{SqlMode, StatementFacts};
use std::sync::Arc;
use variables::{SystemValue, VariableId, id};

/// What decided the types of expressions, as MySQL keeps it with the statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Resolution {
    /// Literals are in this character set since they were read.
    connection_collation: CollationId,
    division_precision_increment: u8,
    default_week_format: u8,
    group_concat_max_len: u64,
    /// Of sql_mode, the flags of [`Resolution::MODES`].
    modes: u64,
}

impl Resolution {
    /// Flags of sql_mode that are looked at while names and types are found.
    const MODES: u64 = SqlMode::ONLY_FULL_GROUP_BY.0 | SqlMode::NO_UNSIGNED_SUBTRACTION.0;

    /// What these facts say.
    pub fn of(facts: &StatementFacts) -> Resolution {
        Resolution {
            connection_collation: facts.connection_collation,
            division_precision_increment: facts.division_precision_increment,
            default_week_format: facts.default_week_format,
            group_concat_max_len: facts.group_concat_max_len,
            modes: facts.sql_mode.0 & Resolution::MODES,
        }
    }

    /// Appends all of it to the key of a result.
    pub fn push_to(&self, key: &mut Vec<u8>) {
        let Resolution {
            connection_collation,
            division_precision_increment,
            default_week_format,
            group_concat_max_len,
            modes,
        } = self;
        key.extend_from_slice(&connection_collation.0.to_le_bytes());
        key.extend([*division_precision_increment, *default_week_format]);
        key.extend_from_slice(&group_concat_max_len.to_le_bytes());
        key.extend_from_slice(&modes.to_le_bytes());
    }

    /// The character set of literals.
    pub fn connection_collation(&self) -> CollationId {
        self.connection_collation
    }

    /// Puts what was kept in the place of what holds now.
    pub fn apply(&self, facts: &mut StatementFacts) {
        facts.connection_collation = self.connection_collation;
        facts.division_precision_increment = self.division_precision_increment;
        facts.default_week_format = self.default_week_format;
        facts.group_concat_max_len = self.group_concat_max_len;
        facts.sql_mode = SqlMode(facts.sql_mode.0 & !Resolution::MODES | self.modes);
    }
}

/// The session as it was when a statement was prepared.
#[derive(Clone, Debug)]
pub(crate) struct PreparedUnder {
    schema: Option<Arc<str>>,
    resolution: Resolution,
}

/// What follows the default schema.
const SCHEMA_VARIABLES: [VariableId; 2] = [id::CHARACTER_SET_DATABASE, id::COLLATION_DATABASE];

/// The default schema of the session, and what follows it, while a statement runs under another one.
struct OwnSchema {
    schema: Option<Arc<str>>,
    variables: [SystemValue; 2],
}

/// A session while it runs a prepared statement. What was before comes back when this is dropped, panics included.
pub(crate) struct Entered<'s> {
    pub session: &'s mut Session,
    own: Option<OwnSchema>,
}

impl PreparedUnder {
    /// What a statement that is prepared now keeps.
    pub fn of(session: &Session) -> PreparedUnder {
        PreparedUnder {
            schema: session.schema.clone(),
            resolution: Resolution::of(&session.settings().facts),
        }
    }

    /// Goes back to when a statement was prepared.
    pub fn enter<'s>(&self, session: &'s mut Session) -> Entered<'s> {
        let now = Resolution::of(&session.settings().facts);
        // Of these two the larger one counts.
        let group_concat_max_len = self.resolution.group_concat_max_len.max(now.group_concat_max_len);
        let resolution = Resolution { group_concat_max_len, ..self.resolution };
        session.resolution = (resolution != now).then_some(resolution);
        if session.resolution.is_some() {
            session.facts = None;
        }
        let own = (self.schema != session.schema).then(|| {
            let variables = SCHEMA_VARIABLES.map(|id| session.state.variables.get(id).clone());
            let schema = self.schema.clone();
            let gone = schema.as_ref().filter(|schema| !session.schema_exists(schema));
            session.schema_is_gone = gone.is_some();
            if let Some(gone) = gone {
                session.diagnostics.note(sql_error!(ER_BAD_DB_ERROR, gone));
            }
            let own = OwnSchema { schema: std::mem::replace(&mut session.schema, schema), variables };
            session.follow_schema_collation();
            session.forget_settings();
            own
        });
        Entered { session, own }
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        let session = &mut *self.session;
        if session.resolution.take().is_some() {
            session.facts = None;
        }
        session.schema_is_gone = false;
        if let Some(OwnSchema { schema, variables }) = self.own.take() {
            session.schema.clone_from(&schema);
            // It may have been dropped, by this statement or another session.
            if let Some(gone) = schema.filter(|schema| !session.schema_exists(schema)) {
                session.schema = None;
                session.diagnostics.note(sql_error!(ER_BAD_DB_ERROR, gone));
            }
            // DROP DATABASE of the other one says there that there is none.
            session.shared.describe().schema.clone_from(&session.schema);
            for (id, value) in SCHEMA_VARIABLES.into_iter().zip(variables) {
                session.store_variable(id, value);
            }
            session.forget_settings();
        }
    }
}
