//! sql_mode's combination modes and the warnings of its assignments.

use errors::{Diagnostics, SqlResult, sql_error};

const REAL_AS_FLOAT: u64 = 1;
const PIPES_AS_CONCAT: u64 = 1 << 1;
const ANSI_QUOTES: u64 = 1 << 2;
const IGNORE_SPACE: u64 = 1 << 3;
const ONLY_FULL_GROUP_BY: u64 = 1 << 5;
const ANSI: u64 = 1 << 18;
const STRICT: u64 = 1 << 21 | 1 << 22;
const ZERO_DATES_AND_DIVISION: u64 = 1 << 23 | 1 << 24 | 1 << 26;
const TRADITIONAL: u64 = 1 << 27;
const NO_ENGINE_SUBSTITUTION: u64 = 1 << 30;
const PAD_CHAR_TO_FULL_LENGTH: u64 = 1 << 31;

/// The mode with everything that its combination modes imply.
pub fn expand(mode: u64) -> u64 {
    let mut expanded = mode;
    if mode & ANSI != 0 {
        expanded |= REAL_AS_FLOAT | PIPES_AS_CONCAT | ANSI_QUOTES | IGNORE_SPACE | ONLY_FULL_GROUP_BY;
    }
    if mode & TRADITIONAL != 0 {
        expanded |= STRICT | ZERO_DATES_AND_DIVISION | NO_ENGINE_SUBSTITUTION;
    }
    expanded
}

/// Warns of modes that belong together but were set apart. Error 1235 for a mode that has no effect here.
pub fn check(mode: u64, diagnostics: &mut Diagnostics) -> SqlResult<()> {
    if mode & PAD_CHAR_TO_FULL_LENGTH != 0 {
        return Err(sql_error!(ER_NOT_SUPPORTED_YET, "sql_mode PAD_CHAR_TO_FULL_LENGTH"));
    }
    let strict = mode & STRICT != 0;
    let dates = mode & ZERO_DATES_AND_DIVISION;
    if strict && dates != ZERO_DATES_AND_DIVISION || !strict && dates != 0 {
        diagnostics.warning(sql_error!(ER_SQL_MODE_MERGED));
    }
    Ok(())
}
