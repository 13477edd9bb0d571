//! Answers as the server encodes them, thrown away instead of sent. Main type: [`Answers`].

use charset::CollationId;
use errors::{SqlError, SqlResult, sql_error};
use values::RowRef;
use values::json::Unwatched;
use wire::capabilities::client;
use wire::encoder::Encoder;
use wire::result::{ClientChannel, EncodedColumns, EncodedRows, ResultColumn, ResultSink, StatementEnd};

/// An encoder, and the error that a statement ended with.
pub struct Answers {
    encoder: Encoder,
    failed: Option<SqlError>,
}

impl Answers {
    /// For a client of today.
    pub fn new() -> Answers {
        Answers { encoder: Encoder::new(client::PROTOCOL_41 | client::DEPRECATE_EOF), failed: None }
    }

    /// What the client can do.
    pub fn capabilities(&self) -> u32 {
        self.encoder.capabilities()
    }

    /// An answer begins.
    pub fn begin(&mut self) {
        self.encoder.begin_answer(1, false, 0);
    }

    /// The answer was sent: an error if there was one, or if there was nothing to send.
    pub fn end(&mut self) -> SqlResult<()> {
        let is_empty = self.encoder.output.is_empty();
        self.encoder.output.clear();
        match self.failed.take() {
            Some(error) => Err(error),
            None if is_empty => Err(sql_error!(ER_INTERNAL_ERROR, "a statement was not answered")),
            None => Ok(()),
        }
    }
}

impl ResultSink for Answers {
    fn columns(&mut self, columns: &[ResultColumn], results: CollationId) -> SqlResult<()> {
        self.encoder.columns(columns, results);
        Ok(())
    }

    fn resume_rows(&mut self, columns: &[ResultColumn], results: CollationId) -> SqlResult<()> {
        self.encoder.resume_rows(columns, results);
        Ok(())
    }

    fn row(&mut self, row: RowRef<'_>) -> SqlResult<()> {
        self.encoder.row(row, &Unwatched)
    }

    fn encoded_rows(&mut self) -> Option<&mut dyn EncodedRows> {
        Some(self)
    }

    fn end_rows(&mut self, end: &StatementEnd) -> SqlResult<()> {
        self.encoder.end_rows(end);
        Ok(())
    }

    fn ok(&mut self, end: &StatementEnd) -> SqlResult<()> {
        self.encoder.ok(end);
        Ok(())
    }

    fn error(&mut self, error: &SqlError) {
        self.failed = Some(error.clone());
    }
}

impl EncodedRows for Answers {
    fn is_binary(&self) -> bool {
        self.encoder.is_binary()
    }

    fn begin(&mut self, columns: &EncodedColumns) -> SqlResult<()> {
        self.encoder.encoded_columns(columns);
        Ok(())
    }

    fn row(&mut self, encode: &mut dyn FnMut(&mut Vec<u8>)) -> SqlResult<()> {
        self.encoder.encoded_row(encode);
        Ok(())
    }
}

impl ClientChannel for Answers {
    fn request_file(&mut self, _name: &str) -> SqlResult<()> {
        Err(sql_error!(ER_NOT_SUPPORTED_YET, "LOAD DATA LOCAL in this benchmark"))
    }

    fn read_file_piece(&mut self) -> SqlResult<Option<Vec<u8>>> {
        Ok(None)
    }
}
