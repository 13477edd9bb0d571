//! Which values an AUTO_INCREMENT column goes through: the series of auto_increment_increment and auto_increment_offset,
//! and who may take of it (innodb_autoinc_lock_mode). Main type: [`AutoIncrementRequest`].

use values::Value;

/// innodb_autoinc_lock_mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AutoIncrementLockMode {
    /// 0: every insert takes the AUTO-INC lock, and values are used up row by row.
    Traditional,
    /// 1: bulk inserts take it; simple ones only where one is under way.
    Consecutive,
    /// 2: nobody does.
    Interleaved,
}

/// Whether a statement knows how many rows it will insert (MySQL's simple and bulk inserts).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InsertKind {
    /// INSERT and REPLACE with VALUES.
    #[default]
    Simple,
    /// Rows of a query or a file.
    Bulk,
}

impl AutoIncrementLockMode {
    /// By the variable's value.
    pub fn of(value: u8) -> AutoIncrementLockMode {
        match value {
            0 => AutoIncrementLockMode::Traditional,
            1 => AutoIncrementLockMode::Consecutive,
            _ => AutoIncrementLockMode::Interleaved,
        }
    }

    /// Whether such an insert takes the lock even if nobody else has it.
    pub fn always_locks(self, kind: InsertKind) -> bool {
        match self {
            AutoIncrementLockMode::Traditional => true,
            AutoIncrementLockMode::Consecutive => kind == InsertKind::Bulk,
            AutoIncrementLockMode::Interleaved => false,
        }
    }
}

/// Values reserved for a statement: `first`, `first + increment`, ... `count` of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AutoIncrementRange {
    /// First value.
    pub first: u64,
    /// Number of values; at least 1, at most what was asked for (fewer at the end of the column's range).
    pub count: u64,
    /// Distance of the values.
    pub increment: u64,
}

impl AutoIncrementRange {
    /// Where the next range may begin.
    pub fn end(&self) -> u64 {
        self.first.saturating_add(self.count.saturating_mul(self.increment))
    }
}

/// How values are reserved.
#[derive(Clone, Copy, Debug)]
pub struct AutoIncrementRequest {
    /// Number of values wanted, at least 1.
    pub count: u64,
    /// auto_increment_increment, at least 1.
    pub increment: u64,
    /// auto_increment_offset, at least 1. Ignored when larger than the increment.
    pub offset: u64,
    /// Largest value that the column's type holds.
    pub column_max: u64,
}

impl AutoIncrementRequest {
    /// What a counter that stands there gives; None if the column's range is used up.
    pub fn from(&self, current: u64) -> Option<AutoIncrementRange> {
        let (increment, offset) = self.steps();
        // The counter holds the next value, so the largest u64 cannot be handed out (nor can InnoDB's).
        let column_max = self.column_max.min(u64::MAX - 1);
        let first = align(current, increment, offset).filter(|first| *first <= column_max)?;
        let fitting = (column_max - first) / increment + 1;
        Some(AutoIncrementRange { first, count: self.count.clamp(1, fitting), increment })
    }

    /// The value after `value` in the series, at most 2^64 - 1.
    pub fn next_after(&self, value: u64) -> u64 {
        let (increment, offset) = self.steps();
        let steps = value.saturating_add(increment).saturating_sub(offset) / increment;
        steps.saturating_mul(increment).saturating_add(offset)
    }

    /// Where a counter stands behind what it gave: as InnoDB's, it stays at the column's largest value, and goes there from as
    /// near as the offset.
    pub fn counter_behind(&self, range: AutoIncrementRange) -> u64 {
        let next = range.end();
        if self.column_max.saturating_sub(next) <= self.steps().1 { self.column_max } else { next }
    }

    /// The largest value of the series that the column holds.
    pub fn last(&self) -> u64 {
        let (increment, offset) = self.steps();
        if self.column_max < offset {
            return self.column_max;
        }
        self.column_max - (self.column_max - offset) % increment
    }

    /// Increment and offset, which is ignored when larger than the increment.
    fn steps(&self) -> (u64, u64) {
        let increment = self.increment.max(1);
        (increment, if self.offset > increment { 1 } else { self.offset.max(1) })
    }
}

/// The smallest value of the series offset, offset + increment, ... that is not below `current`.
fn align(current: u64, increment: u64, offset: u64) -> Option<u64> {
    if current <= offset {
        return Some(offset);
    }
    let steps = (current - offset).div_ceil(increment);
    offset.checked_add(steps.checked_mul(increment)?)
}

/// What a counter makes of a column's value; None for negative ones.
pub fn counted(value: &Value) -> Option<u64> {
    match value {
        Value::Int(number) => u64::try_from(*number).ok(),
        Value::UInt(number) => Some(*number),
        Value::Double(number) if *number >= 0.0 => Some(*number as u64),
        Value::Float(number) if *number >= 0.0 => Some(*number as u64),
        _ => None,
    }
}
