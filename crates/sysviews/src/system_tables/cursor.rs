//! Reading a system table: rows are made by pieces, each the rows of one object (a table, an account, a session), when the one
//! before is used up. Main types: [`SystemCursor`], [`Pieces`].

use super::SystemTables;
use errors::SqlResult;
use plan::VirtualCursor;
use values::Value;

/// Some rows of a system table.
pub(crate) type ViewRows = Vec<Vec<Value>>;

/// The rows of a system table, by what they tell of. A piece may be empty.
pub(crate) type Pieces<'a> = Box<dyn Iterator<Item = ViewRows> + 'a>;

/// All rows in one piece.
pub(super) fn whole<'a>(rows: ViewRows) -> Pieces<'a> {
    Box::new(std::iter::once(rows))
}

/// Reads a system table.
pub(super) struct SystemCursor<'a> {
    tables: &'a SystemTables<'a>,
    pieces: Pieces<'a>,
    rows: std::vec::IntoIter<Vec<Value>>,
}

impl<'a> SystemCursor<'a> {
    pub fn new(tables: &'a SystemTables<'a>, pieces: Pieces<'a>) -> SystemCursor<'a> {
        SystemCursor { tables, pieces, rows: Vec::new().into_iter() }
    }
}

impl VirtualCursor for SystemCursor<'_> {
    fn next(&mut self) -> SqlResult<Option<Vec<Value>>> {
        loop {
            if let Some(row) = self.rows.next() {
                return Ok(Some(row));
            }
            self.tables.shared.check_killed()?;
            let Some(piece) = self.pieces.next() else { return Ok(None) };
            self.rows = piece.into_iter();
        }
    }
}
