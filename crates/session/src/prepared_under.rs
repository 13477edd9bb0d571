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

impl Session {
    /// What a statement that is prepared now keeps.
    pub(crate) fn prepared_under(&self) -> PreparedUnder {
        PreparedUnder { schema: self.schema.clone(), resolution: Resolution::of(&self.settings().facts) }
    }

    /// Goes back to when a statement was prepared.
    pub(crate) fn enter_prepared(&mut self, under: &PreparedUnder) -> Entered<'_> {
        let now = Resolution::of(&self.settings().facts);
        // Of these two the larger one counts.
        let group_concat_max_len = under.resolution.group_concat_max_len.max(now.group_concat_max_len);
        let resolution = Resolution { group_concat_max_len, ..under.resolution };
        self.resolution = (resolution != now).then_some(resolution);
        if self.resolution.is_some() {
            self.facts = None;
        }
        let own = (under.schema != self.schema).then(|| {
            let variables = SCHEMA_VARIABLES.map(|id| self.state.variables.get(id).clone());
            let schema = under.schema.clone();
            let gone = schema.as_ref().filter(|schema| !self.schema_exists(schema));
            self.schema_is_gone = gone.is_some();
            if let Some(gone) = gone {
                self.diagnostics.note(sql_error!(ER_BAD_DB_ERROR, gone));
            }
            let own = OwnSchema { schema: std::mem::replace(&mut self.schema, schema), variables };
            self.follow_schema_collation();
            self.forget_settings();
            own
        });
        Entered { session: self, own }
    }

    /// The character set of literals and of text that expressions make of numbers.
    pub(crate) fn literal_collation(&self) -> CollationId {
        let kept = self.resolution.map(|resolution| resolution.connection_collation);
        kept.unwrap_or_else(|| self.connection_collation())
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
