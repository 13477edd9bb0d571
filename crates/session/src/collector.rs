//! A channel that keeps the rows of a query that the session itself asks. Main type: [`Collector`].

use charset::CollationId;
use errors::{SqlError, SqlResult};
use values::{RowRef, Value};
use wire::result::{ClientChannel, ResultColumn, ResultSink, StatementEnd};

/// A channel that keeps what a statement sends.
#[derive(Debug, Default)]
pub struct Collector {
    /// Columns of the result set.
    pub columns: Vec<ResultColumn>,
    /// Its rows.
    pub rows: Vec<Vec<Value>>,
}

impl ResultSink for Collector {
    fn columns(&mut self, columns: &[ResultColumn], _results_collation: CollationId) -> SqlResult<()> {
        self.columns = columns.to_vec();
        Ok(())
    }

    fn resume_rows(&mut self, _columns: &[ResultColumn], _results_collation: CollationId) -> SqlResult<()> {
        Ok(())
    }

    fn row(&mut self, row: RowRef<'_>) -> SqlResult<()> {
        self.rows.push(row.to_values());
        Ok(())
    }

    fn end_rows(&mut self, _end: &StatementEnd) -> SqlResult<()> {
        Ok(())
    }

    fn ok(&mut self, _end: &StatementEnd) -> SqlResult<()> {
        Ok(())
    }

    fn error(&mut self, _error: &SqlError) {}
}

impl ClientChannel for Collector {
    fn request_file(&mut self, _name: &str) -> SqlResult<()> {
        Err(errors::sql_error!(ER_CLIENT_LOCAL_FILES_DISABLED))
    }

    fn read_file_piece(&mut self) -> SqlResult<Option<Vec<u8>>> {
        Ok(None)
    }
}
