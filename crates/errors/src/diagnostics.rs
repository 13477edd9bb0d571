//! The diagnostics area of a session: what SHOW WARNINGS and SHOW ERRORS print. Main type: [`Diagnostics`].

use crate::SqlError;

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
}

impl Diagnostics {
    /// An empty area that keeps `kept_max` conditions (the variable max_error_count).
    pub fn new(kept_max: usize) -> Diagnostics {
        Diagnostics { conditions: Vec::new(), kept_max, count: 0, error_count: 0 }
    }

    /// Forgets everything: a new statement starts.
    pub fn clear(&mut self) {
        self.conditions.clear();
        self.count = 0;
        self.error_count = 0;
    }

    /// Changes how many conditions are kept from now on.
    pub fn set_kept_max(&mut self, kept_max: usize) {
        self.kept_max = kept_max;
    }

    /// Adds a condition.
    pub fn push(&mut self, level: Level, error: SqlError) {
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

    /// The conditions that were kept, oldest first.
    pub fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    /// All conditions since the statement started, kept or not (@@warning_count).
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Those of level Error (@@error_count).
    pub fn error_count(&self) -> u64 {
        self.error_count
    }
}
