//! SELECT ... INTO OUTFILE.

use crate::context::StatementOutcome;
use crate::operator::open;
use crate::run::Run;
use errors::SqlResult;
use expression::EvaluationContext;
use expression::convert;
use parser::ast::FileFormat;
use plan::QueryPlan;

/// Bytes that are gathered before they are written.
const WRITE_BYTES: usize = 1 << 16;

/// Writes the rows of a query to a file on the server.
pub fn write(
    run: &mut Run<'_, '_>,
    query: &QueryPlan,
    path: &[u8],
    format: &FileFormat,
) -> SqlResult<StatementOutcome> {
    let mut file = run.statement.files.create(&String::from_utf8_lossy(path))?;
    let text = |given: &Option<Vec<u8>>, default: &[u8]| given.clone().unwrap_or_else(|| default.to_vec());
    let field_end = text(&format.fields_terminated, b"\t");
    let line_end = text(&format.lines_terminated, b"\n");
    let line_start = text(&format.lines_starting, b"");
    let escape = text(&format.fields_escaped, b"\\").first().copied();
    let enclosed = text(&format.fields_enclosed, b"").first().copied();
    let mut operator = open(&query.root, run);
    let mut batch = run.batch();
    let mut out = Vec::new();
    let mut rows = 0;
    while operator.next(run, &mut batch)? {
        run.check_killed()?;
        for row in batch.iter() {
            out.extend_from_slice(&line_start);
            for (index, (column, value)) in query.columns.iter().zip(row.iter()).enumerate() {
                if index > 0 {
                    out.extend_from_slice(&field_end);
                }
                let column_type = &column.result.column_type;
                if value.is_null() {
                    out.extend_from_slice(if escape.is_some() { b"\\N" } else { b"NULL" });
                    continue;
                }
                let bytes = convert::to_text(value, column_type, run).unwrap_or_default();
                let quoted = enclosed.filter(|_| !format.optionally_enclosed || column_type.kind.is_string());
                out.extend(quoted);
                for byte in bytes.iter().copied() {
                    let special = Some(byte) == escape
                        || byte == 0
                        || Some(byte) == quoted
                        || quoted.is_none()
                            && (Some(&byte) == field_end.first() || Some(&byte) == line_end.first());
                    if special {
                        out.extend(escape);
                    }
                    out.push(if special && byte == 0 { b'0' } else { byte });
                }
                out.extend(quoted);
            }
            out.extend_from_slice(&line_end);
            rows += 1;
        }
        if out.len() >= WRITE_BYTES {
            file.write(&out)?;
            out.clear();
        }
    }
    file.write(&out)?;
    file.finish()?;
    Ok(StatementOutcome {
        affected_rows: rows,
        row_count: i64::try_from(rows).unwrap_or(i64::MAX),
        found_rows: run.found_rows.or(Some(rows)),
        ..StatementOutcome::default()
    })
}
