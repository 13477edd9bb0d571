//! Result rows written straight from stored rows: for a query whose result columns are columns of one table, in the
//! order in which the table is read. No value is made on the way but for conditions that the key does not answer.
//! Main type: [`PassThrough`], made once for a plan.

use crate::context::StatementOutcome;
use crate::long_row::LongRow;
use crate::operator::limit::limit_value;
use crate::operator::table::{TableReader, stored_layout, stored_position};
use crate::run::Run;
use charset::CollationId;
use errors::{SqlResult, sql_error};
use expression::{EvaluationContext, ExpressionKind};
use plan::QueryPlan;
use plan::physical::{Node, RowLimit, RowLock, TableAccess};
use plan::range::conditions_are_implied;
use values::row::{ColumnSet, Piece, RowView};
use values::temporal::TimeZone;
use values::{ColumnEncoder, RowRef, Rows, TypeKind};
use wire::result::{EncodedColumns, EncodedRows, ResultColumn};

/// First bit used in the NULL bitmap of a binary row.
const NULL_BITMAP_OFFSET: usize = 2;

/// How the stored rows of a query's table become its result rows.
#[derive(Debug)]
pub(crate) struct PassThrough {
    definitions: EncodedColumns,
    /// Character set of results that it was made for.
    results: CollationId,
    /// Position in the stored row, and how it is written.
    columns: Vec<(usize, ColumnEncoder)>,
    /// Columns of the table that conditions look at.
    looked_at: ColumnSet,
    /// Every row of the ranges meets the conditions.
    implied: bool,
}

/// The parts of a plan that passes through: the table and the part of the rows.
fn parts(query: &QueryPlan) -> Option<(&TableAccess, Option<&RowLimit>, &Node)> {
    let (node, limit) = match &query.root {
        Node::Limit { input, limit, count_all: false } => (&**input, Some(limit)),
        node => (node, None),
    };
    match node {
        Node::Table(access) => Some((access, limit, node)),
        Node::Project { input, .. } => match &**input {
            Node::Table(access) => Some((access, limit, node)),
            _ => None,
        },
        _ => None,
    }
}

/// The slot of each result column, if all are plain columns.
fn slots(node: &Node, count: usize) -> Option<Vec<usize>> {
    match node {
        Node::Project { expressions, .. } => expressions
            .iter()
            .take(count)
            .map(|expression| match &expression.kind {
                ExpressionKind::Column(column) => Some(column.slot),
                _ => None,
            })
            .collect(),
        _ => Some((0..count).collect()),
    }
}

/// The columns of the table that conditions look at.
fn looked_at(access: &TableAccess) -> ColumnSet {
    let mut columns = Vec::new();
    for condition in &access.conditions {
        condition.visit(&mut |part| {
            if let ExpressionKind::Column(read) = &part.kind {
                let found = access.columns.iter().find(|(_, slot)| *slot == read.slot);
                columns.extend(found.map(|(column, _)| *column));
            }
        });
    }
    ColumnSet::of(columns)
}

impl PassThrough {
    /// For a plan that has this form; None for others. TIMESTAMP depends on the session's time zone: not here.
    pub fn of(query: &QueryPlan, columns: &[ResultColumn], results: CollationId) -> Option<PassThrough> {
        let (access, _, node) = parts(query)?;
        // Rows met under a lock may have to become durable before they leave; see `query::send`.
        if access.lock != RowLock::None {
            return None;
        }
        if results != CollationId::BINARY && !results.charset().is_ascii_based() {
            return None;
        }
        let definition = access.table.definition();
        let encoder = |slot: usize| {
            let (column, _) = access.columns.iter().find(|(_, known)| *known == slot)?;
            let column_type = &definition.columns[*column].column_type;
            let encoder = ColumnEncoder::new(column_type, results, TimeZone::System);
            (column_type.kind != TypeKind::Timestamp).then(|| (stored_position(access, *column), encoder))
        };
        let encoders = slots(node, columns.len())?.into_iter().map(encoder).collect::<Option<Vec<_>>>()?;
        let definitions = EncodedColumns::new(columns, results);
        Some(PassThrough {
            definitions,
            results,
            columns: encoders,
            looked_at: looked_at(access),
            implied: conditions_are_implied(access),
        })
    }

    /// Whether it serves a session with that character set of results.
    pub fn serves(&self, results: CollationId) -> bool {
        self.results == results
    }

    /// Sends the rows of the query that it was made for.
    pub fn send(
        &self,
        query: &QueryPlan,
        rows: &mut dyn EncodedRows,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<StatementOutcome> {
        let Some((access, limit, _)) = parts(query) else { return Ok(StatementOutcome::default()) };
        let offset = limit_value(limit.and_then(|limit| limit.offset.as_ref()), run)?.unwrap_or(0);
        let count = limit_value(limit.and_then(|limit| limit.count.as_ref()), run)?.unwrap_or(u64::MAX);
        let sends_pieces = run.statement.transaction.keeps_long_values();
        let wanted = if sends_pieces { &self.looked_at } else { &access.wanted };
        let mut reader = TableReader::fetching(access, wanted, self.implied);
        // Room for what conditions look at.
        let mut slots = Rows::default();
        if !self.implied {
            slots.reset(access.width);
            slots.push_empty();
        }
        let binary = rows.is_binary();
        let mut outcome = StatementOutcome { sent_rows: true, row_count: -1, ..StatementOutcome::default() };
        let (mut passed, mut begun) = (0, false);
        if count > 0 {
            reader.start(RowRef::EMPTY, run)?;
            let empty = slots.mark();
            while let Some(stored) = reader.next_stored(&mut slots, empty, run)? {
                passed += 1;
                if passed <= offset {
                    continue;
                }
                // The first row is found before the header goes out, so that an error replaces the result set.
                if !std::mem::replace(&mut begun, true) {
                    rows.begin(&self.definitions)?;
                }
                let view = RowView::new(stored_layout(access), stored)
                    .map_err(|error| sql_error!(ER_GET_ERRNO, 126, error))?;
                if view.has_outside() {
                    self.long_row(&view, binary, access, run)?.send(rows, &access.table, run)?;
                } else {
                    rows.row(&mut |out| self.encode(&view, binary, out))?;
                }
                outcome.rows_sent += 1;
                if outcome.rows_sent == count {
                    break;
                }
                if outcome.rows_sent.is_multiple_of(1024) {
                    run.check_killed()?;
                }
            }
        }
        if !begun {
            rows.begin(&self.definitions)?;
        }
        outcome.found_rows = Some(outcome.rows_sent);
        Ok(outcome)
    }

    /// A row with long values that were not fetched.
    #[cold]
    fn long_row(
        &self,
        row: &RowView<'_>,
        binary: bool,
        access: &TableAccess,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<LongRow> {
        let mut long = LongRow::default();
        if binary {
            long.short().push(0);
            self.null_bitmap(row, long.short());
        }
        for (position, encoder) in &self.columns {
            match (row.piece(*position), row.raw(*position)) {
                (Piece::Outside(reference), _) => long.push(reference, encoder, &access.table, run)?,
                (_, raw) if !binary => encoder.text(raw, long.short()),
                (_, Some(raw)) => encoder.binary(raw, long.short()),
                (_, None) => {}
            }
        }
        Ok(long)
    }

    fn null_bitmap(&self, row: &RowView<'_>, out: &mut Vec<u8>) {
        let bitmap = out.len();
        out.resize(bitmap + (self.columns.len() + NULL_BITMAP_OFFSET).div_ceil(8), 0);
        let nulls = self.columns.iter().enumerate().filter(|(_, (position, _))| row.is_null(*position));
        for (at, _) in nulls {
            let bit = at + NULL_BITMAP_OFFSET;
            out[bitmap + bit / 8] |= 1 << (bit % 8);
        }
    }

    fn encode(&self, row: &RowView<'_>, binary: bool, out: &mut Vec<u8>) {
        if !binary {
            for (position, encoder) in &self.columns {
                encoder.text(row.raw(*position), out);
            }
            return;
        }
        out.push(0);
        let bitmap = out.len();
        out.resize(bitmap + (self.columns.len() + NULL_BITMAP_OFFSET).div_ceil(8), 0);
        for (at, (position, encoder)) in self.columns.iter().enumerate() {
            match row.raw(*position) {
                Some(raw) => encoder.binary(raw, out),
                None => {
                    let bit = at + NULL_BITMAP_OFFSET;
                    out[bitmap + bit / 8] |= 1 << (bit % 8);
                }
            }
        }
    }
}
