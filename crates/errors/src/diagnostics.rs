//! The diagnostics area of a session: what SHOW WARNINGS and SHOW ERRORS print. Main type: [`Diagnostics`].
//! Here is also the one rule of strict mode for what expressions report while a statement changes data: some warnings
//! are errors then ([`Diagnostics::escalate`]). Whoever runs the statement looks for them with [`Diagnostics::raised`].

use crate::condition_memory::{Charge, ConditionMemory};
use crate::{ErrorCode, SqlError, SqlResult, code};
use std::sync::Arc;

/// Warnings that end a data-changing statement in strict mode.
const ESCALATED: [ErrorCode; 21] = [
    code::ER_INVALID_JSON_VALUE_FOR_CAST,
    code::ER_NUMERIC_JSON_VALUE_OUT_OF_RANGE,
    code::ER_BAD_NULL_ERROR,
    code::ER_TOO_LONG_KEY,
    code::ER_CUT_VALUE_GROUP_CONCAT,
    code::ER_WARN_TOO_FEW_RECORDS,
    code::ER_WARN_TOO_MANY_RECORDS,
    code::ER_WARN_NULL_TO_NOTNULL,
    code::ER_WARN_DATA_OUT_OF_RANGE,
    code::WARN_DATA_TRUNCATED,
    code::ER_TRUNCATED_WRONG_VALUE,
    code::ER_WARN_ALLOWED_PACKET_OVERFLOWED,
    code::ER_NO_DEFAULT_FOR_FIELD,
    code::ER_DIVISION_BY_ZERO,
    code::ER_TRUNCATED_WRONG_VALUE_FOR_FIELD,
    code::ER_DATA_TOO_LONG,
    code::ER_WRONG_VALUE_FOR_TYPE,
    code::ER_NO_DEFAULT_FOR_VIEW_FIELD,
    code::ER_DATETIME_FUNCTION_OVERFLOW,
    code::ER_INVALID_ARGUMENT_FOR_LOGARITHM,
    code::ER_TEMPORAL_FUNCTION_OVERFLOW,
];

/// How grave a condition is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Note.
    Note,
    /// Warning.
    Warning,
    /// Error.
    Error,
}

impl Level {
    /// The word that SHOW WARNINGS prints.
    pub fn name(self) -> &'static str {
        match self {
            Level::Note => "Note",
            Level::Warning => "Warning",
            Level::Error => "Error",
        }
    }
}

/// One condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// How grave.
    pub level: Level,
    /// Number, SQLSTATE and text.
    pub error: SqlError,
}

/// The conditions of the last statement. All are counted, the first `kept_max` are kept, as far as there is memory for them.
#[derive(Debug)]
pub struct Diagnostics {
    conditions: Vec<Condition>,
    charge: Charge,
    kept_max: usize,
    count: u64,
    error_count: u64,
    escalates: bool,
    raised: Option<SqlError>,
    /// An error that comes behind the one that ends the statement.
    second: Option<SqlError>,
}

/// How much was reported at a moment.
#[derive(Clone, Copy, Debug)]
pub struct DiagnosticsMark {
    kept: usize,
    count: u64,
    error_count: u64,
}

impl DiagnosticsMark {
    /// The place behind the conditions that were kept then, for [`Diagnostics::insert_warning`].
    pub fn place(&self) -> usize {
        self.kept
    }
}

/// All that was reported up to a moment, for [`Diagnostics::go_back`].
#[derive(Debug)]
pub struct Reported {
    mark: DiagnosticsMark,
    escalates: bool,
    raised: Option<SqlError>,
    second: Option<SqlError>,
}

impl Reported {
    /// How many conditions there were.
    pub fn count(&self) -> u64 {
        self.mark.count
    }
}

/// Conditions that were taken out to be put back behind others.
#[derive(Clone, Debug, Default)]
pub struct TakenConditions {
    conditions: Vec<Condition>,
    count: u64,
    error_count: u64,
    raised: Option<SqlError>,
}

impl Diagnostics {
    /// An empty area that keeps `kept_max` conditions (the variable max_error_count).
    pub fn new(kept_max: usize) -> Diagnostics {
        Diagnostics {
            conditions: Vec::new(),
            charge: Charge::default(),
            kept_max,
            count: 0,
            error_count: 0,
            escalates: false,
            raised: None,
            second: None,
        }
    }

    /// The same, whose conditions are charged to a memory.
    pub fn charged_to(self, memory: Arc<dyn ConditionMemory>) -> Diagnostics {
        Diagnostics { charge: Charge::to(memory), ..self }
    }

    /// Forgets everything: a new statement starts.
    pub fn clear(&mut self) {
        self.conditions.clear();
        if self.charge.release() {
            self.conditions = Vec::new();
        }
        self.count = 0;
        self.error_count = 0;
        self.second = None;
        self.escalate(false);
    }

    /// From now on warnings of strict mode are errors, or are not. What was raised before is forgotten.
    pub fn escalate(&mut self, escalates: bool) {
        self.escalates = escalates;
        self.raised = None;
    }

    /// The first warning since [`Diagnostics::escalate`] that ends the statement. It is not among the conditions: it
    /// gets there as the statement's error.
    #[inline]
    pub fn raised(&self) -> Option<&SqlError> {
        self.raised.as_ref()
    }

    /// Changes how many conditions are kept from now on.
    pub fn set_kept_max(&mut self, kept_max: usize) {
        self.kept_max = kept_max;
    }

    /// The present state, for [`Diagnostics::forget_since`].
    #[inline]
    pub fn mark(&self) -> DiagnosticsMark {
        DiagnosticsMark { kept: self.conditions.len(), count: self.count, error_count: self.error_count }
    }

    /// Forgets what was added since the mark.
    pub fn forget_since(&mut self, mark: DiagnosticsMark) {
        self.charge.forget(&self.conditions[mark.kept.min(self.conditions.len())..]);
        self.conditions.truncate(mark.kept);
        self.count = mark.count;
        self.error_count = mark.error_count;
    }

    /// What was reported so far, to go back to.
    pub fn reported(&self) -> Reported {
        let (raised, second) = (self.raised.clone(), self.second.clone());
        Reported { mark: self.mark(), escalates: self.escalates, raised, second }
    }

    /// As if nothing had been reported since then.
    pub fn go_back(&mut self, reported: Reported) {
        self.forget_since(reported.mark);
        self.escalates = reported.escalates;
        (self.raised, self.second) = (reported.raised, reported.second);
    }

    /// What is kept of what was added since the mark.
    pub fn conditions_since(&self, mark: DiagnosticsMark) -> &[Condition] {
        &self.conditions[mark.kept..]
    }

    /// Whether anything was added since the mark, or raised.
    #[inline]
    pub fn has_reported_since(&self, mark: DiagnosticsMark) -> bool {
        self.count != mark.count || self.raised.is_some()
    }

    /// Takes out what was added since the mark, and what was raised.
    pub fn take_since(&mut self, mark: DiagnosticsMark) -> TakenConditions {
        self.charge.forget(&self.conditions[mark.kept..]);
        let taken = TakenConditions {
            conditions: self.conditions.split_off(mark.kept),
            count: self.count - mark.count,
            error_count: self.error_count - mark.error_count,
            raised: self.raised.take(),
        };
        (self.count, self.error_count) = (mark.count, mark.error_count);
        taken
    }

    /// Adds what was taken out behind what has come since.
    pub fn put_back(&mut self, taken: TakenConditions) {
        self.count += taken.count;
        self.error_count += taken.error_count;
        taken.conditions.into_iter().for_each(|condition| self.keep(condition));
        self.raised = self.raised.take().or(taken.raised);
    }

    /// Puts others in the place of what was added since the mark, of what was raised and of an outcome's error, where there are others.
    pub fn retell<T>(
        &mut self,
        mark: DiagnosticsMark,
        outcome: SqlResult<T>,
        other: &dyn Fn(&SqlError) -> Option<SqlError>,
    ) -> SqlResult<T> {
        let told = self.conditions[mark.kept..].iter_mut().map(|condition| &mut condition.error);
        for error in told.chain(self.raised.as_mut()) {
            if let Some(other) = other(error) {
                *error = other;
            }
        }
        outcome.map_err(|error| other(&error).unwrap_or(error))
    }

    /// Adds a condition.
    pub fn push(&mut self, level: Level, error: SqlError) {
        if self.escalates && level == Level::Warning && is_escalated(&error) {
            self.raised.get_or_insert(error);
            return;
        }
        self.count += 1;
        self.error_count += u64::from(level == Level::Error);
        self.keep(Condition { level, error });
    }

    fn keep(&mut self, condition: Condition) {
        if self.conditions.len() < self.kept_max && self.charge.covers(&condition) {
            self.conditions.push(condition);
        }
    }

    /// Adds a warning.
    pub fn warning(&mut self, error: SqlError) {
        self.push(Level::Warning, error);
    }

    /// Adds a warning before the kept condition at that place: for rows that are reported later than rows behind them.
    pub fn insert_warning(&mut self, at: usize, error: SqlError) {
        self.count += 1;
        let condition = Condition { level: Level::Warning, error };
        if at < self.kept_max && self.charge.covers(&condition) {
            let at = at.min(self.conditions.len());
            self.conditions.insert(at, condition);
            self.charge.forget(&self.conditions[self.kept_max.min(self.conditions.len())..]);
            self.conditions.truncate(self.kept_max);
        }
    }

    /// Adds a note.
    pub fn note(&mut self, error: SqlError) {
        self.push(Level::Note, error);
    }

    /// As [`Diagnostics::raised`], which is forgotten.
    pub fn take_raised(&mut self) -> Option<SqlError> {
        self.raised.take()
    }

    /// If an error ends the statement, this one stands behind it.
    pub fn expect_second(&mut self, error: SqlError) {
        self.second = Some(error);
    }

    /// Another error ends the statement.
    pub fn forget_second(&mut self) {
        self.second = None;
    }

    /// Adds the error that ends the statement.
    pub fn push_last(&mut self, error: SqlError) {
        self.push(Level::Error, error);
        if let Some(second) = self.second.take() {
            self.push(Level::Error, second);
        }
    }

    /// The conditions that were kept, oldest first.
    pub fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    /// All conditions since the statement started, kept or not (@@warning_count).
    #[inline]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Those of level Error (@@error_count).
    pub fn error_count(&self) -> u64 {
        self.error_count
    }
}

fn is_escalated(error: &SqlError) -> bool {
    ESCALATED.iter().any(|code| code.number == error.number())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql_error;

    #[test]
    fn strict_mode_raises_the_first_of_its_warnings_and_no_note() {
        let mut diagnostics = Diagnostics::new(8);
        diagnostics.warning(sql_error!(ER_DIVISION_BY_ZERO));
        diagnostics.escalate(true);
        diagnostics.note(sql_error!(WARN_DATA_TRUNCATED, "c", 1));
        diagnostics.warning(sql_error!(ER_INVALID_CHARACTER_STRING, "utf8mb4", "FF"));
        assert_eq!(diagnostics.raised(), None);
        diagnostics.warning(sql_error!(ER_TRUNCATED_WRONG_VALUE, "DOUBLE", "abc"));
        diagnostics.warning(sql_error!(ER_DIVISION_BY_ZERO));
        assert_eq!(diagnostics.raised(), Some(&sql_error!(ER_TRUNCATED_WRONG_VALUE, "DOUBLE", "abc")));
        assert_eq!(diagnostics.count(), 3);
        diagnostics.clear();
        diagnostics.warning(sql_error!(ER_DIVISION_BY_ZERO));
        assert_eq!((diagnostics.raised(), diagnostics.count()), (None, 1));
    }
}
