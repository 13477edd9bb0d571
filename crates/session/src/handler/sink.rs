//! The way of a HANDLER's rows to the client: the clustered key that each has as its last column stays behind. Main type: [`KeySink`].

use charset::CollationId;
use errors::{SqlError, SqlResult};
use stdx::ids::Lsn;
use values::json::Watch;
use values::{RowRef, ValueRef};
use wire::result::{ClientChannel, ResultColumn, ResultSink, StatementEnd};

/// Passes rows on, but for the first ones of LIMIT, and remembers the last.
pub(super) struct KeySink<'c> {
    pub channel: &'c mut dyn ClientChannel,
    /// Whether rows have a key at all.
    pub has_key: bool,
    /// Rows that are still to be left out.
    pub to_skip: u64,
    /// Rows that came, whether passed on or not.
    pub rows: u64,
    /// The clustered key of the last.
    pub key: Vec<u8>,
}

impl KeySink<'_> {
    /// What of a row goes to the client.
    fn shown<'a>(&mut self, row: RowRef<'a>) -> Option<RowRef<'a>> {
        self.rows += 1;
        let shown = row.len() - usize::from(self.has_key);
        if self.has_key
            && let ValueRef::Bytes(key) = row.get(shown)
        {
            self.key.clear();
            self.key.extend_from_slice(key);
        }
        if self.to_skip > 0 {
            self.to_skip -= 1;
            return None;
        }
        Some(row.first(shown))
    }
}

impl ResultSink for KeySink<'_> {
    fn columns(&mut self, columns: &[ResultColumn], results_collation: CollationId) -> SqlResult<()> {
        let shown = columns.len() - usize::from(self.has_key);
        self.channel.columns(&columns[..shown], results_collation)
    }

    fn resume_rows(&mut self, columns: &[ResultColumn], results_collation: CollationId) -> SqlResult<()> {
        self.channel.resume_rows(columns, results_collation)
    }

    fn row(&mut self, row: RowRef<'_>) -> SqlResult<()> {
        self.shown(row).map_or(Ok(()), |row| self.channel.row(row))
    }

    fn long_documents(&mut self, row: RowRef<'_>, watch: &dyn Watch) -> SqlResult<()> {
        self.shown(row).map_or(Ok(()), |row| self.channel.long_documents(row, watch))
    }

    fn end_rows(&mut self, end: &StatementEnd) -> SqlResult<()> {
        self.channel.end_rows(end)
    }

    fn ok(&mut self, end: &StatementEnd) -> SqlResult<()> {
        self.channel.ok(end)
    }

    fn require_durable(&mut self, lsn: Lsn) {
        self.channel.require_durable(lsn);
    }

    fn error(&mut self, error: &SqlError) {
        self.channel.error(error);
    }
}

impl ClientChannel for KeySink<'_> {
    fn request_file(&mut self, name: &str) -> SqlResult<()> {
        self.channel.request_file(name)
    }

    fn read_file_piece(&mut self) -> SqlResult<Option<Vec<u8>>> {
        self.channel.read_file_piece()
    }
}
