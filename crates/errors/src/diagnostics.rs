//! The diagnostics area of a session: what SHOW WARNINGS and SHOW ERRORS print. Main type: [`Diagnostics`].
//! Here is also the one rule of strict mode for what expressions report while a statement changes data: some warnings
//! are errors then ([`Diagnostics::escalate`]). Whoever runs the statement looks for them with [`Diagnostics::raised`].

use crate::{ErrorCode, SqlError, SqlResult, code};

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

/// The conditions of the last statement. All are counted, the first `kept_max` are kept.
#[derive(Clone, Debug)]
pub struct Diagnostics {
    conditions: Vec<Condition>,
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
            kept_max,
            count: 0,
            error_count: 0,
            escalates: false,
            raised: None,
            second: None,
        }
    }

    /// Forgets everything: a new statement starts.
    pub fn clear(&mut self) {
        self.conditions.clear();
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
        self.conditions.truncate(mark.kept);
        self.count = mark.count;
        self.error_count = mark.error_count;
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
        let room = self.kept_max.saturating_sub(self.conditions.len());
        self.conditions.extend(taken.conditions.into_iter().take(room));
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
        if self.conditions.len() < self.kept_max {
            self.conditions.push(Condition { level, error });
        }
    }

    /// Adds a warning.
    pub fn warning(&mut self, error: SqlError) {
        self.push(Level::Warning, error);
    }

    /// Adds a warning before the kept condition at that place: for rows that are reported later than rows behind them.
    pub fn insert_warning(&mut self, at: usize, error: SqlError) {
        self.count += 1;
        if at < self.kept_max {
            let at = at.min(self.conditions.len());
            self.conditions.insert(at, Condition { level: Level::Warning, error });
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
