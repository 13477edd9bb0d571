//! INSERT and REPLACE.

use super::auto_increment::{give_back_lock, takes_auto_increment_lock};
use super::found::FoundRows;
use super::generated::generate;
use super::long_columns::LongColumns;
use super::writer::{Counts, Writer};
use crate::batch::{RowBatch, long_bytes};
use crate::context::StatementOutcome;
use crate::operator::{open, open_projection};
use crate::run::Run;
use crate::spill::{LongHeld, RowCursor};
use crate::storing::{Given, Storing, nothing_given, text_on_the_way};
use dictionary::ColumnDefinition;
use errors::SqlResult;
use expression::{EvaluationContext, Expression, Operand};
use plan::physical::Node;
use plan::silent::is_silent;
use plan::{DefaultValue, InsertPlan, InsertRows, QueryPlan, Steps};
use values::store::Source;
use values::{RowRef, Value};

/// Runs the statement.
pub fn run(run: &mut Run<'_, '_>, plan: &InsertPlan) -> SqlResult<StatementOutcome> {
    let outcome = insert(run, plan);
    give_back_lock(&plan.target, run);
    outcome
}

fn insert(run: &mut Run<'_, '_>, plan: &InsertPlan) -> SqlResult<StatementOutcome> {
    let several = match &plan.rows {
        InsertRows::Values(rows) => rows.len() > 1,
        InsertRows::Query(_) => true,
    };
    run.store_to(plan.target.table.definition());
    let storing = Storing::new(run, plan.ignore, several).telling_once();
    let mut writer = Writer::new(plan, storing, run);
    let given = match &plan.rows {
        InsertRows::Values(rows) => from_values(plan, rows, storing, &mut writer, run),
        InsertRows::Query(query) => from_query(plan, query, storing, &mut writer, run),
    };
    let counts = writer.finish(given, run)?;
    let shows_info = several || counts.records > 1;
    let mut outcome = outcome(&counts, shows_info, run);
    if let InsertRows::Query(_) = plan.rows {
        outcome.found_rows = run.found_rows.or(Some(counts.records));
    }
    if plan.hides_id {
        outcome.hidden_id = outcome.generated_id.take();
    }
    Ok(outcome)
}

fn from_values(
    plan: &InsertPlan,
    rows: &[Vec<Option<Expression>>],
    storing: Storing,
    writer: &mut Writer<'_>,
    run: &mut Run<'_, '_>,
) -> SqlResult<()> {
    for (number, row) in rows.iter().enumerate() {
        let mut long = LongColumns::default();
        let row = value_row(plan, row, &mut long, storing, writer.row_number(), run);
        let row = row.and_then(|row| run.check_killed().map(|()| row));
        let mut row = row.map_err(|error| writer.first_error(error, run))?;
        writer.write_long(&mut row, &long, Some((rows.len() - number) as u64), run)?;
    }
    Ok(())
}

/// What the client hears of an INSERT.
pub fn outcome(counts: &Counts, shows_info: bool, run: &Run<'_, '_>) -> StatementOutcome {
    let warnings = run.statement.diagnostics.count();
    let info = if shows_info {
        format!("Records: {}  Duplicates: {}  Warnings: {warnings}", counts.records, counts.duplicates)
    } else {
        String::new()
    };
    StatementOutcome {
        affected_rows: counts.affected,
        row_count: i64::try_from(counts.affected).unwrap_or(i64::MAX),
        last_insert_id: counts.generated.unwrap_or(if counts.affected > 0 { counts.last_id } else { 0 }),
        generated_id: counts.generated,
        info,
        ..StatementOutcome::default()
    }
}

/// Which values a row starts from, so that later expressions can read them.
fn blank_row(plan: &InsertPlan) -> Vec<Value> {
    let columns = &plan.target.table.definition().columns;
    plan.target.defaults.iter().zip(columns).map(|(default, column)| blank_value(default, column)).collect()
}

/// What a column reads as before it is given a value: its literal default, or what its type has for "nothing given" if
/// it has no default.
pub fn blank_value(default: &DefaultValue, column: &ColumnDefinition) -> Value {
    match default {
        DefaultValue::Stored(value) => value.clone(),
        DefaultValue::Missing => nothing_given(column),
        DefaultValue::Expression(_) => Value::Null,
    }
}

fn value_row(
    plan: &InsertPlan,
    values: &[Option<Expression>],
    long: &mut LongColumns,
    storing: Storing,
    row_number: u64,
    run: &mut Run<'_, '_>,
) -> SqlResult<Vec<Value>> {
    // Nothing else may look at a value that is not in memory.
    let may_be_long = run.statement.long_parameters.is_some() && !reads_values(plan, values);
    let columns = &plan.target.table.definition().columns;
    let mut row = blank_row(plan);
    let mut given = vec![false; row.len()];
    let (mut held, mut bytes) = (LongHeld::default(), 0);
    for (column, value) in plan.columns.iter().zip(values) {
        let definition = &columns[*column];
        given[*column] = true;
        let Some(expression) = value else {
            let default = &plan.target.defaults[*column];
            row[*column] = storing.default((default, true), columns, *column, &row, row_number, run)?;
            continue;
        };
        if may_be_long
            && !plan.target.reads_own(*column)
            && let Some(start) = long.store_parameter(expression, *column, &plan.target.table, run)?
        {
            row[*column] = start;
            continue;
        }
        let value = expression.evaluate(RowRef::Values(&row), run)?;
        run.check_raised()?;
        bytes += long_bytes(std::slice::from_ref(&value));
        held.reach(bytes, || run.workspace().clone())?;
        row[*column] = if value == Value::Null && definition.auto_increment {
            Value::Null
        } else {
            storing.store_computed(expression, &value, definition, row_number, run)?
        };
    }
    fill_defaults(plan, &mut row, &given, storing, row_number, run)?;
    Ok(row)
}

/// Whether anything in a statement reads the values of its new rows.
fn reads_values(plan: &InsertPlan, values: &[Option<Expression>]) -> bool {
    !plan.on_duplicate.is_empty() || values.iter().flatten().any(Expression::reads_columns)
}

/// Gives the columns without value their defaults.
pub fn fill_defaults(
    plan: &InsertPlan,
    row: &mut [Value],
    given: &[bool],
    storing: Storing,
    row_number: u64,
    run: &mut Run<'_, '_>,
) -> SqlResult<()> {
    let columns = &plan.target.table.definition().columns;
    for column in 0..columns.len() {
        if !given[column] {
            let default = &plan.target.defaults[column];
            generate_for(plan, default, column, row, (storing, row_number), run)?;
            row[column] = storing.default((default, false), columns, column, row, row_number, run)?;
        }
    }
    Ok(())
}

/// Computes the generated columns before a column, if its default reads one of them: all are computed when the row is whole.
fn generate_for(
    plan: &InsertPlan,
    default: &DefaultValue,
    column: usize,
    row: &mut [Value],
    at: (Storing, u64),
    run: &mut Run<'_, '_>,
) -> SqlResult<()> {
    let DefaultValue::Expression(default) = default else { return Ok(()) };
    let earlier = || plan.target.own.generated.iter().filter(|one| one.column < column);
    if earlier().any(|one| default.reads(one.column)) {
        generate(earlier(), &plan.target.table.definition().columns, row, at, run)?;
    }
    Ok(())
}

/// Where the values of a query's rows come from.
#[derive(Clone, Copy)]
enum Items<'p> {
    /// The rows hold them.
    Read,
    /// They are computed from the rows one by one: MySQL stores each before it computes the next.
    Computed(&'p [Expression]),
    /// The rows hold them but for the constants, which are computed as they are stored.
    Kept(&'p [Expression]),
}

impl Items<'_> {
    fn expression(&self, at: usize) -> Option<&Expression> {
        match self {
            Items::Computed(expressions) | Items::Kept(expressions) => Some(&expressions[at]),
            Items::Read => None,
        }
    }

    fn value<'r>(&'r self, at: usize, row: RowRef<'r>, run: &mut Run<'_, '_>) -> SqlResult<Operand<'r>> {
        match self {
            Items::Read => Ok(Operand::Borrowed(row.get(at))),
            Items::Computed(expressions) => {
                let value = expressions[at].operand(row, run)?;
                run.check_raised()?;
                Ok(value)
            }
            Items::Kept(expressions) if waits(&expressions[at]) => {
                let value = expressions[at].operand(RowRef::EMPTY, run)?;
                run.check_raised()?;
                Ok(value)
            }
            Items::Kept(_) => Ok(Operand::Borrowed(row.get(at))),
        }
    }
}

/// Whether an item has no column in MySQL's temporary table.
fn waits(item: &Expression) -> bool {
    item.is_constant() && item.literal().is_none()
}

fn from_query(
    plan: &InsertPlan,
    query: &QueryPlan,
    storing: Storing,
    writer: &mut Writer<'_>,
    run: &mut Run<'_, '_>,
) -> SqlResult<()> {
    // A query over the target itself is read to its end before the first row goes in.
    let reads_target =
        run.plan.tables.iter().filter(|table| table.id() == plan.target.table.id()).count() > 1;
    if reads_target || is_read_first(&query.root) {
        return from_kept_rows(plan, query, storing, writer, run);
    }
    let (node, items) = match &query.root {
        Node::Project { input, expressions } => (&**input, Items::Computed(expressions)),
        node => (node, Items::Read),
    };
    let mut put = QueryRows::new(plan, query, items, storing);
    // A row of the source that is waited for is waited for with the AUTO-INC lock that the rows before it took.
    let mut found = match takes_auto_increment_lock(&plan.target, run) {
        true => FoundRows::without_reading_ahead(node, run),
        false => FoundRows::of_query(node, run),
    };
    while found.next(run).map_err(|error| writer.first_error(error, run))? {
        put.write(&found.batch, writer, run)?;
    }
    Ok(())
}

/// Whether MySQL keeps the rows in a temporary table of its own before it puts in the first, and anybody can tell.
fn is_read_first(root: &Node) -> bool {
    match root {
        Node::Distinct { .. } | Node::SetOperation(_) | Node::Recursive(_) => !is_silent(root),
        Node::Sort { input, .. } | Node::Limit { input, .. } => is_read_first(input),
        _ => false,
    }
}

fn from_kept_rows(
    plan: &InsertPlan,
    query: &QueryPlan,
    storing: Storing,
    writer: &mut Writer<'_>,
    run: &mut Run<'_, '_>,
) -> SqlResult<()> {
    let (computed, items, mut operator);
    match &query.root {
        Node::Project { input, expressions } => {
            let kept = |item: &Expression| if waits(item) { Expression::null() } else { item.clone() };
            computed = expressions.iter().map(kept).collect::<Vec<_>>();
            operator = open_projection(input, &computed, run);
            items = Items::Kept(expressions);
        }
        root => {
            operator = open(root, run);
            items = Items::Read;
        }
    }
    let mut batch = RowBatch::new();
    let mut kept = run.row_store();
    while operator.next(run, &mut batch)? {
        run.check_killed()?;
        for row in batch.iter() {
            kept.push(row.first(query.columns.len()))?;
        }
    }
    let mut put = QueryRows::new(plan, query, items, storing);
    let mut cursor = RowCursor::new();
    while cursor.next(&kept, kept.len(), &mut batch)? {
        put.write(&batch, writer, run)?;
    }
    Ok(())
}

/// How rows of a query become rows of the table.
struct QueryRows<'a> {
    plan: &'a InsertPlan,
    query: &'a QueryPlan,
    items: Items<'a>,
    storing: Storing,
    /// Which columns of the table get a value.
    given: Vec<bool>,
    row: Vec<Value>,
    /// Room for a value on its way.
    value: Value,
}

impl<'a> QueryRows<'a> {
    fn new(plan: &'a InsertPlan, query: &'a QueryPlan, items: Items<'a>, storing: Storing) -> QueryRows<'a> {
        let mut given = vec![false; plan.target.table.definition().columns.len()];
        plan.columns.iter().for_each(|column| given[*column] = true);
        let row = blank_row(plan);
        QueryRows { plan, query, items, storing, given, row, value: Value::Null }
    }

    fn write(&mut self, batch: &RowBatch, writer: &mut Writer<'_>, run: &mut Run<'_, '_>) -> SqlResult<()> {
        run.check_killed()?;
        for values in batch.iter() {
            if self.plan.target.steps.has(Steps::COMPUTED_DEFAULTS) {
                self.row = blank_row(self.plan);
            }
            let stored = self.store(values, writer, run);
            stored.map_err(|error| writer.first_error(error, run))?;
            writer.write(&mut self.row, None, run)?;
        }
        Ok(())
    }

    /// Fills the row from one of the query.
    fn store(&mut self, values: RowRef<'_>, writer: &mut Writer<'_>, run: &mut Run<'_, '_>) -> SqlResult<()> {
        let definition = self.plan.target.table.definition();
        let row_number = writer.row_number();
        let mut value = std::mem::replace(&mut self.value, Value::Null);
        for (at, (column, from)) in self.plan.columns.iter().zip(&self.query.columns).enumerate() {
            let target = &definition.columns[*column];
            match self.items.value(at, values, run)? {
                Operand::Owned(made) => value = made,
                seen => seen.as_ref().copy_into(&mut value),
            }
            if value == Value::Null && target.auto_increment {
                self.row[*column] = Value::Null;
                continue;
            }
            if let Some(expression) = self.items.expression(at)
                && let Some((text, column_type)) = text_on_the_way(expression, &value, target)
            {
                let given = Given { value: &text, column_type: &column_type, source: Source::Expression };
                self.row[*column] = self.storing.store(given, target, row_number, run)?;
                continue;
            }
            let source = if from.computed { Source::Expression } else { Source::Column };
            let given = Given { value: &value, column_type: &from.result.column_type, source };
            self.storing.store_into(&mut self.row[*column], given, target, row_number, run)?;
        }
        self.value = value;
        writer.source.clear();
        for at in self.plan.columns.len()..self.query.columns.len() {
            writer.source.push(self.items.value(at, values, run)?.into_value());
        }
        fill_defaults(self.plan, &mut self.row, &self.given, self.storing, row_number, run)
    }
}
