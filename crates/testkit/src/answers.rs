//! What a statement answered. Main types: [`Answer`], and [`Answers`], where a session writes it.

use charset::CollationId;
use errors::{SqlError, SqlResult, sql_error};
use values::RowRef;
use values::json::Unwatched;
use wire::encoder::Encoder;
use wire::output::FRAME_HEADER_BYTES;
use wire::recorded::RecordedRows;
use wire::result::{ClientChannel, EncodedColumns, EncodedRows, ResultColumn, ResultSink, StatementEnd};

/// A row as text; None is NULL.
pub type Row = Vec<Option<String>>;

/// Rows, or an error.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The rows that came.
    pub rows: Vec<Row>,
    /// Number and text of the error that the statement ended with.
    pub error: Option<(u16, String)>,
    /// Number of conditions.
    pub warnings: u16,
}

/// Gathers the rows of one statement, from the packets that a client would get.
pub struct Answers {
    answer: Answer,
    encoder: Encoder,
}

impl Answers {
    /// For a client with those capabilities, DEPRECATE_EOF among them: then nothing comes between a row's packet and the one before.
    pub fn new(capabilities: u32) -> Answers {
        let mut answers = Answers { answer: Answer::default(), encoder: Encoder::new(capabilities) };
        answers.begin();
        answers
    }

    fn begin(&mut self) {
        self.encoder.output.clear();
        self.encoder.begin_answer(1, false, 0);
    }

    /// What was answered, for the next one to begin.
    pub fn take(&mut self) -> Answer {
        self.begin();
        std::mem::take(&mut self.answer)
    }

    /// The row whose packet begins there.
    fn gather(&mut self, start: usize) {
        let payload = &self.encoder.output.bytes()[start + FRAME_HEADER_BYTES..];
        self.answer.rows.push(cells(payload));
    }
}

/// Takes the values of a row of the text protocol apart.
fn cells(payload: &[u8]) -> Row {
    let mut row = Row::new();
    let mut rest = payload;
    while let Some((first, more)) = rest.split_first() {
        let (length, text) = match first {
            0xFB => {
                row.push(None);
                rest = more;
                continue;
            }
            0xFC => (usize::from(u16::from_le_bytes([more[0], more[1]])), &more[2..]),
            0xFD => (
                usize::from(u16::from_le_bytes([more[0], more[1]])) + (usize::from(more[2]) << 16),
                &more[3..],
            ),
            length => (usize::from(*length), more),
        };
        row.push(Some(String::from_utf8_lossy(&text[..length]).into_owned()));
        rest = &text[length..];
    }
    row
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
        let start = self.encoder.output.len();
        self.encoder.row(row, &Unwatched)?;
        self.gather(start);
        Ok(())
    }

    fn encoded_rows(&mut self) -> Option<&mut dyn EncodedRows> {
        Some(self)
    }

    fn record_rows(&mut self, bytes_max: usize) {
        self.encoder.record_rows(bytes_max);
    }

    fn take_recorded(&mut self) -> Option<RecordedRows> {
        self.encoder.take_recorded()
    }

    fn end_rows(&mut self, end: &StatementEnd) -> SqlResult<()> {
        self.answer.warnings = end.warnings;
        Ok(())
    }

    fn ok(&mut self, end: &StatementEnd) -> SqlResult<()> {
        self.end_rows(end)
    }

    fn error(&mut self, error: &SqlError) {
        self.answer.rows.clear();
        self.answer.error = Some((error.number(), error.message().to_string()));
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
        let start = self.encoder.output.len();
        self.encoder.encoded_row(encode);
        self.gather(start);
        Ok(())
    }
}

impl ClientChannel for Answers {
    fn request_file(&mut self, _name: &str) -> SqlResult<()> {
        Err(sql_error!(ER_NOT_SUPPORTED_YET, "LOAD DATA LOCAL without a client"))
    }

    fn read_file_piece(&mut self) -> SqlResult<Option<Vec<u8>>> {
        Ok(None)
    }
}
