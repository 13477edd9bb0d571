//! LOAD DATA [LOCAL] INFILE.

use super::assigning::Assigning;
use super::auto_increment::give_back_lock;
use super::insert::{blank_value, fill_defaults, outcome};
use super::long_columns::{LongColumns, is_unchanged, takes};
use super::writer::Writer;
use crate::context::StatementOutcome;
use crate::run::Run;
use crate::spill::{Spool, check_flag};
use crate::storing::{Given, Storing, as_seen};
use charset::CollationId;
use delimited::LineReader;
use engine::SpillFile;
use errors::{SqlResult, sql_error};
use expression::{EvaluationContext, TypedValue};
use plan::{DefaultValue, LoadPlan, LoadTarget, implicit_default};
use std::sync::Arc;
use values::store::{Source, store_text_plainly};
use values::{ColumnType, TypeKind, Value};
use wire::result::ClientChannel;

/// Runs the statement.
pub fn run(
    run: &mut Run<'_, '_>,
    plan: &LoadPlan,
    channel: &mut dyn ClientChannel,
) -> SqlResult<StatementOutcome> {
    let path = String::from_utf8_lossy(&plan.load.path).into_owned();
    // A line may be as long as the file.
    let kill = run.statement.kill.clone();
    if plan.load.local {
        channel.request_file(&path)?;
        let mut is_read = false;
        let mut pieces = || {
            check_flag(&kill)?;
            let piece = channel.read_file_piece()?;
            is_read = piece.is_none();
            Ok(piece)
        };
        let result = rows(run, plan, &mut pieces);
        // The client sends the whole file whatever happens to it, and waits for the answer then.
        if result.is_err() && !is_read {
            while let Ok(Some(_)) = channel.read_file_piece() {}
        }
        result
    } else {
        let mut file = run.statement.files.open(&path)?;
        let mut pieces = || check_flag(&kill).and_then(|()| file.next_piece());
        rows(run, plan, &mut pieces)
    }
}

fn rows(
    run: &mut Run<'_, '_>,
    plan: &LoadPlan,
    pieces: &mut dyn FnMut() -> SqlResult<Option<Vec<u8>>>,
) -> SqlResult<StatementOutcome> {
    let outcome = insert(run, plan, pieces);
    give_back_lock(&plan.insert.target, run);
    outcome
}

fn insert(
    run: &mut Run<'_, '_>,
    plan: &LoadPlan,
    pieces: &mut dyn FnMut() -> SqlResult<Option<Vec<u8>>>,
) -> SqlResult<StatementOutcome> {
    run.store_to(plan.insert.target.table.definition());
    let storing = Storing::new(run, plan.insert.ignore, true);
    let mut writer = Writer::new(&plan.insert, storing, run);
    let given = lines(run, plan, storing, &mut writer, pieces);
    let counts = writer.finish(given, run)?;
    let mut outcome = outcome(&counts, true, run);
    outcome.keeps_id = true;
    let skipped = if plan.insert.ignore { counts.duplicates } else { 0 };
    let deleted = if plan.insert.replace { counts.duplicates } else { 0 };
    let warnings = run.statement.diagnostics.count();
    outcome.info =
        format!("Records: {}  Deleted: {deleted}  Skipped: {skipped}  Warnings: {warnings}", counts.records);
    Ok(outcome)
}

/// Puts in the rows of the file's lines.
fn lines(
    run: &mut Run<'_, '_>,
    plan: &LoadPlan,
    storing: Storing,
    writer: &mut Writer<'_>,
    pieces: &mut dyn FnMut() -> SqlResult<Option<Vec<u8>>>,
) -> SqlResult<()> {
    let mut reader = LineReader::new(&plan.load.format, field_widths(plan), pieces)
        .charged_to(run.hold())
        .of_fields(plan.fields.len());
    if plan.assignments.is_empty() && !plan.load.format.has_fixed_rows() {
        let environment = run.statement.engine.environment().clone();
        reader = reader.spooling_to(Arc::new(SpillFile::new(environment)), long_targets(plan));
    }
    for _ in 0..plan.load.ignore_lines {
        if !reader.skip_line()? {
            break;
        }
    }
    let mut line = LineRow::new(plan, storing);
    while reader.next_line()? {
        let filled = line.fill(run, &reader, writer.row_number()).and_then(|()| run.check_killed());
        filled.map_err(|error| writer.first_error(error, run))?;
        writer.write_long(&mut line.row, &line.long, None, run)?;
    }
    Ok(())
}

/// The row that a line becomes. Its memory is used again for the next line.
struct LineRow<'p> {
    plan: &'p LoadPlan,
    storing: Storing,
    text_type: ColumnType,
    row: Vec<Value>,
    long: LongColumns,
    given: Vec<bool>,
}

impl<'p> LineRow<'p> {
    fn new(plan: &'p LoadPlan, storing: Storing) -> LineRow<'p> {
        let columns = plan.insert.target.table.definition().columns.len();
        LineRow {
            plan,
            storing,
            text_type: ColumnType::varchar(u32::MAX, plan.collation),
            row: vec![Value::Null; columns],
            long: LongColumns::default(),
            given: vec![false; columns],
        }
    }

    fn fill(&mut self, run: &mut Run<'_, '_>, reader: &LineReader<'_>, row_number: u64) -> SqlResult<()> {
        let plan = self.plan;
        self.given.fill(false);
        self.long.clear();
        for (index, target) in plan.fields.iter().enumerate() {
            match target {
                LoadTarget::Variable(name) => {
                    let field = if index < reader.count() { reader.field(index) } else { None };
                    field.map_or(Ok(()), |text| check_characters(text, plan.collation))?;
                    let value = field.map_or(Value::Null, |bytes| Value::Bytes(bytes.to_vec()));
                    let typed = TypedValue { value, column_type: self.text_type.clone() };
                    run.statement.session.set_user_variable(name, typed)?;
                }
                LoadTarget::Column(column) => {
                    self.given[*column] = true;
                    // The column may stand in the list twice.
                    self.long.forget(*column);
                    if index >= reader.count() {
                        run.diagnostics().warning(sql_error!(ER_WARN_TOO_FEW_RECORDS, row_number));
                        self.row[*column] = self.missing(run, *column, row_number)?;
                    } else if let Some(spool) = reader.long_field(index) {
                        self.store_long(run, *column, spool, row_number)?;
                    } else {
                        self.store(run, *column, reader.field(index), row_number)?;
                    }
                }
            }
        }
        if reader.exceeds(plan.fields.len()) {
            run.diagnostics().warning(sql_error!(ER_WARN_TOO_MANY_RECORDS, row_number));
        }
        self.complete(run, row_number)
    }

    /// The value of a column that the line has no field for: of one without a default NULL, if it may be; else zero or
    /// empty, or the present time. Rows of fixed widths have the default and no NULL.
    fn missing(&self, run: &mut Run<'_, '_>, column: usize, row_number: u64) -> SqlResult<Value> {
        let target = &self.plan.insert.target.table.definition().columns[column];
        if target.column_type.kind == TypeKind::Timestamp && !target.nullable {
            let now = Value::DateTime(run.statement.facts.statement_time());
            let column_type = ColumnType::temporal(TypeKind::DateTime, 6);
            let given = Given { value: &now, column_type: &column_type, source: Source::Expression };
            return self.storing.store(given, target, row_number, run);
        }
        let default = match &self.plan.insert.target.defaults[column] {
            DefaultValue::Stored(value) if *value != Value::Null => Some(value),
            _ => None,
        };
        let is_fixed = self.plan.load.format.has_fixed_rows();
        Ok(match default {
            Some(value) if is_fixed => value.clone(),
            None if target.nullable && !is_fixed => Value::Null,
            // Not even the first member.
            _ if target.column_type.kind == TypeKind::Enum && !is_fixed => Value::UInt(0),
            _ => implicit_default(&target.column_type),
        })
    }

    /// Stores a field that is too long for memory.
    fn store_long(
        &mut self,
        run: &mut Run<'_, '_>,
        column: usize,
        spool: &Arc<Spool>,
        row_number: u64,
    ) -> SqlResult<()> {
        let table = &self.plan.insert.target.table;
        let collation = self.plan.collation;
        // Binary columns refuse what is no text of the file's character set, too; others see to that themselves.
        let is_binary = table.definition().columns[column].column_type.kind.is_binary();
        let is_text =
            !is_binary || collation.charset().is_binary() || is_unchanged(spool, collation, collation)?;
        let stored = if is_text { self.long.store(spool, &self.text_type, column, table)? } else { None };
        match stored {
            Some(start) => self.row[column] = start,
            None => {
                let mut held = run.hold();
                // The field, and what the column makes of it.
                held.grow(spool.len().saturating_mul(2))?;
                self.store(run, column, Some(&spool.load()?), row_number)?;
            }
        }
        Ok(())
    }

    /// Stores a field. Most are what the column holds, and cost no allocation.
    fn store(
        &mut self,
        run: &mut Run<'_, '_>,
        column: usize,
        field: Option<&[u8]>,
        row_number: u64,
    ) -> SqlResult<()> {
        let target = &self.plan.insert.target.table.definition().columns[column];
        let slot = &mut self.row[column];
        let is_plain = run.statement.settings.fast_plans
            && field
                .is_some_and(|text| store_text_plainly(text, self.plan.collation, &target.column_type, slot));
        if let Some(text) = field.filter(|_| !is_plain || target.column_type.kind.is_binary())
            && !self.plan.load.format.has_fixed_rows()
        {
            check_characters(text, self.plan.collation)?;
        }
        if !is_plain {
            let value = field.map_or(Value::Null, |bytes| Value::Bytes(bytes.to_vec()));
            *slot = if value == Value::Null && target.auto_increment {
                Value::Null
            } else {
                let given = Given { value: &value, column_type: &self.text_type, source: Source::Expression };
                self.storing.store(given, target, row_number, run)?
            };
        }
        Ok(())
    }

    /// Defaults, then SET.
    fn complete(&mut self, run: &mut Run<'_, '_>, row_number: u64) -> SqlResult<()> {
        let (plan, storing, row) = (self.plan, self.storing, &mut self.row);
        let columns = &plan.insert.target.table.definition().columns;
        let defaults = &plan.insert.target.defaults;
        for assignment in &plan.assignments {
            self.given[assignment.column] = true;
            if !plan
                .fields
                .iter()
                .any(|field| matches!(field, LoadTarget::Column(column) if *column == assignment.column))
            {
                let column = assignment.column;
                row[column] = blank_value(&defaults[column], &columns[column]);
            }
        }
        // Nothing is said of a column that a line cannot give a value.
        for (column, default) in defaults.iter().enumerate() {
            if matches!(default, DefaultValue::Missing)
                && !self.given[column]
                && !columns[column].auto_increment
            {
                self.given[column] = true;
                row[column] = implicit_default(&columns[column].column_type);
            }
        }
        fill_defaults(&plan.insert, row, &self.given, storing, row_number, run)?;
        if !plan.assignments.is_empty() {
            let target = &plan.insert.target;
            let mut seen: Vec<Value> =
                row.iter().zip(columns).map(|(value, column)| as_seen(value, column, run)).collect();
            for (column, value) in seen.iter_mut().enumerate().filter(|(column, _)| !self.given[*column]) {
                if columns[column].auto_increment {
                    *value = blank_value(&defaults[column], &columns[column]);
                }
            }
            let (slots, sees_changes, null_id_is_zero) = (None, true, false);
            let assigning = Assigning { target, slots, sees_changes, null_id_is_zero, storing, row_number };
            assigning.carry_out(&plan.assignments, &mut seen, row, run)?;
        }
        Ok(())
    }
}

/// Which fields may go to their columns without being in memory.
fn long_targets(plan: &LoadPlan) -> Vec<bool> {
    let is_taken = |target: &LoadTarget| match target {
        LoadTarget::Column(column) => {
            let target = &plan.insert.target;
            takes(target.table.definition(), *column) && !target.reads_own(*column)
        }
        LoadTarget::Variable(_) => false,
    };
    plan.fields.iter().map(is_taken).collect()
}

/// Bytes of each field in a file of fixed rows: as wide as the column is shown. Empty for other files.
fn field_widths(plan: &LoadPlan) -> Vec<usize> {
    let columns = &plan.insert.target.table.definition().columns;
    let width = |target: &LoadTarget| match target {
        LoadTarget::Column(column) => {
            let column_type = &columns[*column].column_type;
            column_type.protocol_length(column_type.collation) as usize
        }
        LoadTarget::Variable(_) => 0,
    };
    match plan.load.format.has_fixed_rows() {
        true => plan.fields.iter().map(width).collect(),
        false => Vec::new(),
    }
}

/// Error 1300 for a byte that begins no character of UTF-8. Characters that are begun and not ended are the conversion's
/// business.
fn check_characters(text: &[u8], collation: CollationId) -> SqlResult<()> {
    let charset = collation.charset();
    let lead_max = match charset.name {
        "utf8mb4" => 0xF4,
        "utf8mb3" => 0xEF,
        _ => return Ok(()),
    };
    if text.is_ascii() {
        return Ok(());
    }
    let mut at = 0;
    while at < text.len() {
        let length = match text[at] {
            0..0x80 => 1,
            lead @ 0xC2.. if lead <= lead_max => 2 + usize::from(lead >= 0xE0) + usize::from(lead >= 0xF0),
            _ => {
                let read = String::from_utf8_lossy(&text[..at]);
                return Err(sql_error!(ER_INVALID_CHARACTER_STRING, charset.name, read));
            }
        };
        let is_character = text.get(at..at + length).is_some_and(|bytes| std::str::from_utf8(bytes).is_ok());
        at += if is_character { length } else { 1 };
    }
    Ok(())
}
