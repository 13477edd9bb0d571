//! LOAD DATA [LOCAL] INFILE.

use super::insert::{fill_defaults, outcome};
use super::load_parser::LineReader;
use super::row_change::{Writer, assign};
use super::storing::{Storing, as_seen, implicit_default};
use crate::context::StatementOutcome;
use crate::run::Run;
use errors::{SqlResult, sql_error};
use expression::{EvaluationContext, TypedValue};
use plan::{LoadPlan, LoadTarget};
use values::{ColumnType, Value};
use wire::result::ClientChannel;

/// Runs the statement.
pub fn run(
    run: &mut Run<'_, '_>,
    plan: &LoadPlan,
    channel: &mut dyn ClientChannel,
) -> SqlResult<StatementOutcome> {
    let path = String::from_utf8_lossy(&plan.load.path).into_owned();

    if plan.load.local {
        channel.request_file(&path)?;
        let mut pieces = || channel.read_file_piece();
        let result = rows(run, plan, &mut pieces);
        // The client sends the whole file whatever happens to it.
        if result.is_err() {
            while let Ok(Some(_)) = channel.read_file_piece() {}
        }
        result
    } else {
        let mut file = run.statement.files.open(&path)?;
        let mut pieces = || file.next_piece();
        rows(run, plan, &mut pieces)
    }
}

fn rows(
    run: &mut Run<'_, '_>,
    plan: &LoadPlan,
    pieces: &mut dyn FnMut() -> SqlResult<Option<Vec<u8>>>,
) -> SqlResult<StatementOutcome> {
    let storing = Storing::new(run, plan.insert.ignore, true);
    let mut writer = Writer::new(&plan.insert, storing, run);
    let mut reader = LineReader::new(&plan.load.format, pieces);
    for _ in 0..plan.load.ignore_lines {
        if !reader.skip_line()? {
            break;
        }
    }
    let text_type = ColumnType::varchar(u32::MAX, plan.collation);
    while reader.next_line()? {
        run.check_killed()?;
        let row = line_row(run, plan, &reader, &text_type, storing, writer.row_number())?;
        writer.write(row, None, run)?;
    }
    let counts = writer.finish(run)?;
    let mut outcome = outcome(&counts, true, run);
    let skipped = if plan.insert.ignore { counts.duplicates } else { 0 };
    let deleted = if plan.insert.replace { counts.duplicates } else { 0 };
    let warnings = run.statement.diagnostics.count();
    outcome.info =
        format!("Records: {}  Deleted: {deleted}  Skipped: {skipped}  Warnings: {warnings}", counts.records);
    Ok(outcome)
}

fn line_row(
    run: &mut Run<'_, '_>,
    plan: &LoadPlan,
    reader: &LineReader<'_>,
    text_type: &ColumnType,
    storing: Storing,
    row_number: u64,
) -> SqlResult<Vec<Value>> {
    let definition = plan.insert.table.definition();
    let mut row = vec![Value::Null; definition.columns.len()];
    let mut given = vec![false; row.len()];
    for (index, target) in plan.fields.iter().enumerate() {
        let field = if index < reader.count() { reader.field(index) } else { None };
        let value = field.map_or(Value::Null, |bytes| Value::Bytes(bytes.to_vec()));
        match target {
            LoadTarget::Variable(name) => {
                let typed = TypedValue { value, column_type: text_type.clone() };
                run.statement.session.set_user_variable(name, typed);
            }
            LoadTarget::Column(column) => {
                let target = &definition.columns[*column];
                if index >= reader.count() {
                    missing_field(run, plan, row_number)?;
                    given[*column] = true;
                    row[*column] =
                        if target.nullable { Value::Null } else { implicit_default(&target.column_type) };
                    continue;
                }
                given[*column] = true;
                row[*column] = if value == Value::Null && target.auto_increment {
                    Value::Null
                } else {
                    storing.store(&value, text_type, target, row_number, run)?
                };
            }
        }
    }
    if reader.count() > plan.fields.len() {
        let error = sql_error!(ER_WARN_TOO_MANY_RECORDS, row_number);
        if run.statement.facts.sql_mode.is_strict() && !plan.insert.ignore {
            return Err(error);
        }
        run.diagnostics().warning(error);
    }
    let table = &plan.insert.table;
    for assignment in &plan.assignments {
        given[assignment.column] = true;
    }
    fill_defaults(&plan.insert, &mut row, &given, storing, row_number, run)?;
    if !plan.assignments.is_empty() {
        let mut seen: Vec<Value> =
            row.iter().zip(&definition.columns).map(|(value, column)| as_seen(value, column, run)).collect();
        let defaults = &plan.insert.defaults;
        assign(&plan.assignments, table, defaults, &mut seen, None, &mut row, storing, row_number, run)?;
    }
    Ok(row)
}

fn missing_field(run: &mut Run<'_, '_>, plan: &LoadPlan, row_number: u64) -> SqlResult<()> {
    let error = sql_error!(ER_WARN_TOO_FEW_RECORDS, row_number);
    if run.statement.facts.sql_mode.is_strict() && !plan.insert.ignore {
        return Err(error);
    }
    run.diagnostics().warning(error);
    Ok(())
}
