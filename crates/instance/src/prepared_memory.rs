//! What the prepared statements of all sessions take. Main types: [`PreparedMemory`] (the instance's), [`PreparedCharge`]
//! (a statement's part, given back when it goes). max_prepared_stmt_count bounds both: so many statements, and as many
//! bytes as so many statements of [`STATEMENT_SHARE_BYTES`] take, long texts and long parameters included.
//! Thread rules: any thread.

use errors::{SqlResult, sql_error};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What max_prepared_stmt_count allows for each statement, on average.
pub const STATEMENT_SHARE_BYTES: u64 = 64 << 10;
/// What every statement takes.
const STATEMENT_BYTES: u64 = 2 << 10;
/// What a column of the answer takes beside its tokens: an item of a select list takes 600 to 850 bytes.
const COLUMN_BYTES: u64 = 700;
/// What a `?` takes beside the tree.
const PARAMETER_BYTES: u64 = 64;

/// The prepared statements of all sessions.
#[derive(Debug, Default)]
pub struct PreparedMemory {
    count: AtomicU64,
    bytes: AtomicU64,
}

impl PreparedMemory {
    /// What they take, bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Number of statements.
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Counts a statement under max_prepared_stmt_count. Error 1461.
    pub fn add(self: &Arc<PreparedMemory>, statements_max: u64) -> SqlResult<PreparedCharge> {
        let charge = PreparedCharge { memory: Arc::clone(self), own_bytes: 0, bytes: 0 };
        if self.count.fetch_add(1, Ordering::Relaxed) >= statements_max {
            return Err(sql_error!(ER_MAX_PREPARED_STMT_COUNT_REACHED, statements_max));
        }
        Ok(charge)
    }
}

/// What one statement takes.
#[derive(Debug)]
pub struct PreparedCharge {
    memory: Arc<PreparedMemory>,
    /// Without long parameters.
    own_bytes: u64,
    bytes: u64,
}

impl PreparedCharge {
    /// Charges the statement itself. `tokens` are those of a tree that is kept, 0 where none is. Error 3170 if all of them take too much.
    pub fn take_statement(
        &mut self,
        text_bytes: usize,
        tokens: usize,
        parameters: usize,
        statements_max: u64,
    ) -> SqlResult<()> {
        let tree = parser::TOKEN_BYTES * tokens as u64 + PARAMETER_BYTES * parameters as u64;
        self.grow(STATEMENT_BYTES + text_bytes as u64 + tree, statements_max)?;
        self.own_bytes = self.bytes;
        Ok(())
    }

    /// Charges the columns of its answer, whose plan is kept. Error 3170.
    pub fn take_columns(&mut self, columns: usize, statements_max: u64) -> SqlResult<()> {
        self.grow(COLUMN_BYTES * columns as u64, statements_max)?;
        self.own_bytes = self.bytes;
        Ok(())
    }

    /// Charges so many bytes more. Error 3170.
    pub fn grow(&mut self, bytes: u64, statements_max: u64) -> SqlResult<()> {
        let limit = statements_max.saturating_mul(STATEMENT_SHARE_BYTES);
        let before = self.memory.bytes.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) > limit {
            self.memory.bytes.fetch_sub(bytes, Ordering::Relaxed);
            let advice = "Close statements, or raise max_prepared_stmt_count.";
            return Err(sql_error!(ER_CAPACITY_EXCEEDED, limit, "prepared statements", advice));
        }
        self.bytes += bytes;
        Ok(())
    }

    /// Its long parameters are gone.
    pub fn shrink(&mut self) {
        self.memory.bytes.fetch_sub(self.bytes - self.own_bytes, Ordering::Relaxed);
        self.bytes = self.own_bytes;
    }
}

impl Drop for PreparedCharge {
    fn drop(&mut self) {
        self.memory.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
        self.memory.count.fetch_sub(1, Ordering::Relaxed);
    }
}
