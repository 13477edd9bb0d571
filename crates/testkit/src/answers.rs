//! What a statement answered. Main types: [`Answer`], and [`Answers`], where a session writes it.

use charset::CollationId;
use errors::{SqlError, SqlResult, sql_error};
use values::RowRef;
use values::json::Unwatched;
use wire::result::{ClientChannel, ResultColumn, ResultSink, StatementEnd};
use wire::row::RowWriter;

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

/// Gathers the rows of one statement.
#[derive(Default)]
pub struct Answers {
    answer: Answer,
    writer: RowWriter,
    payload: Vec<u8>,
}

impl Answers {
    /// What was answered, for the next one to begin.
    pub fn take(&mut self) -> Answer {
        std::mem::take(&mut self.answer)
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
        self.writer = RowWriter::new(columns, results);
        Ok(())
    }

    fn resume_rows(&mut self, columns: &[ResultColumn], results: CollationId) -> SqlResult<()> {
        self.columns(columns, results)
    }

    fn row(&mut self, row: RowRef<'_>) -> SqlResult<()> {
        self.payload.clear();
        self.writer.push_text(&mut self.payload, row, &Unwatched)?;
        self.answer.rows.push(cells(&self.payload));
        Ok(())
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

impl ClientChannel for Answers {
    fn request_file(&mut self, _name: &str) -> SqlResult<()> {
        Err(sql_error!(ER_NOT_SUPPORTED_YET, "LOAD DATA LOCAL without a client"))
    }

    fn read_file_piece(&mut self) -> SqlResult<Option<Vec<u8>>> {
        Ok(None)
    }
}
