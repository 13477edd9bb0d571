//! Server-side cursors. Main type: [`Cursor`], the result of a prepared query that waits for COM_STMT_FETCH.
//! As a result sink it takes the rows of its query; they are kept on disk when they are many.

use charset::CollationId;
use engine::SpillFile;
use errors::{SqlError, SqlResult, sql_error};
use exec::KeptRows;
use std::sync::Arc;
use values::RowRef;
use wire::result::{ClientChannel, ResultColumn, ResultSink, StatementEnd};

/// An open cursor.
pub(crate) struct Cursor {
    file: Arc<SpillFile>,
    /// Columns of the result.
    pub columns: Vec<ResultColumn>,
    /// Rows that were not fetched.
    pub rows: KeptRows,
}

impl Cursor {
    /// A cursor that a query is about to fill.
    pub fn new(file: &Arc<SpillFile>) -> Cursor {
        let rows = KeptRows::new(file, 0);
        Cursor { file: Arc::clone(file), columns: Vec::new(), rows }
    }
}

impl ResultSink for Cursor {
    fn columns(&mut self, columns: &[ResultColumn], _results_collation: CollationId) -> SqlResult<()> {
        self.columns = columns.to_vec();
        self.rows = KeptRows::new(&self.file, columns.len());
        Ok(())
    }

    fn resume_rows(&mut self, _columns: &[ResultColumn], _results_collation: CollationId) -> SqlResult<()> {
        Ok(())
    }

    fn row(&mut self, row: RowRef<'_>) -> SqlResult<()> {
        self.rows.push(row)
    }

    fn end_rows(&mut self, _end: &StatementEnd) -> SqlResult<()> {
        Ok(())
    }

    fn ok(&mut self, _end: &StatementEnd) -> SqlResult<()> {
        Ok(())
    }

    fn error(&mut self, _error: &SqlError) {}
}

impl ClientChannel for Cursor {
    fn request_file(&mut self, _name: &str) -> SqlResult<()> {
        Err(sql_error!(ER_CLIENT_LOCAL_FILES_DISABLED))
    }

    fn read_file_piece(&mut self) -> SqlResult<Option<Vec<u8>>> {
        Ok(None)
    }
}
