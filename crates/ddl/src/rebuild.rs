//! Carrying out an ALTER TABLE: in the dictionary, by index build, or by copying every row.

use super::alter::{Alteration, Draft};
use super::alter_plan::{AlterPlan, is_one_index, plan};
use super::duplicate::{Duplicates, leads_with_counter};
use super::functional_key::settle_key_columns;
use super::renumbering::Renumbering;
use super::stored_expression::names_such;
use super::table_error;
use crate::definer::Definer;
use dictionary::{ColumnDefault, ColumnDefinition, ForeignKeyDefinition, IndexDefinition, TableDefinition};
use engine::{EngineError, Table};
use errors::{SqlError, SqlResult, sql_error};
use exec::{CopiedRows, StatementContext};
use expression::TimeZone;
use plan::{RowPlan, implicit_default};
use stdx::ids::IndexId;
use values::row::{RowLayout, RowView};
use values::store::{Documents, Source, StoreContext, StoreMode, store};
use values::{ColumnType, TypeKind, Value};

/// Why a copy stopped.
enum CopyError {
    Engine(EngineError),
    Sql(SqlError),
}

impl From<SqlError> for CopyError {
    fn from(error: SqlError) -> Self {
        CopyError::Sql(error)
    }
}

impl From<EngineError> for CopyError {
    fn from(error: EngineError) -> Self {
        CopyError::Engine(error)
    }
}

/// Turns rows of the old table into rows of the new one.
struct RowConverter<'a, 's> {
    old: &'a TableDefinition,
    new: &'a TableDefinition,
    sources: &'a [Option<usize>],
    old_layout: &'a RowLayout,
    new_layout: RowLayout,
    mode: StoreMode,
    now: Value,
    /// Whether MySQL copies the rows.
    copies: bool,
    time_zone: TimeZone,
    renumbering: &'a Renumbering,
    row: u64,
    /// Columns whose values are computed of the others.
    computed: Vec<bool>,
    copied: CopiedRows<'a, 's>,
}

impl Alteration {
    /// Whether every row is copied ([`Alteration::copy_rows`]); else the definition changes in its place.
    pub fn copies_rows(&self) -> bool {
        self.plan == AlterPlan::Rebuild
    }

    /// The definition that the table gets.
    pub fn definition(&self) -> &TableDefinition {
        &self.draft.definition
    }

    /// Takes in what binding its expressions tells. Errors: 1071, 3753, 3757, 3761.
    pub fn settle(&mut self, plan: &RowPlan) -> SqlResult<()> {
        settle_key_columns(&mut self.draft.definition, plan)
    }

    /// Copies every row into a table of the new definition, which takes the old one's place. `plan` has its
    /// expressions. Returns the number of rows.
    pub fn copy_rows(&self, plan: &RowPlan, context: &mut StatementContext<'_>) -> SqlResult<u64> {
        let (engine, temporary, kill) = (context.engine, context.temporary, context.kill);
        let Alteration { table, old, draft, .. } = self;
        let new = &draft.definition;
        let facts = context.facts;
        let mode = StoreMode { time_zone: facts.time_zone.for_storing(), ..self.mode };
        let columns = new.columns.iter().map(|column| (&column.column_type, column.nullable));
        let series = (context.settings.auto_increment_increment, context.settings.auto_increment_offset);
        let renumbering = Renumbering::new(table, new, &draft.sources, facts.sql_mode, series);
        let copies = draft.copies;
        let read = copies.then(|| draft.sources.iter().map(Option::is_some).collect());
        let mut converter = RowConverter {
            old,
            new,
            sources: &draft.sources,
            old_layout: table.layout(),
            new_layout: RowLayout::new(columns),
            mode,
            now: Value::DateTime(facts.statement_time()),
            copies,
            time_zone: facts.time_zone.clone(),
            renumbering: &renumbering,
            row: 0,
            computed: computed_columns(old, new, &draft.sources, copies),
            copied: CopiedRows::new(plan, new, self.new_keys(), read, context),
        };
        let convert = &mut |row: &[u8], out: &mut Vec<u8>| converter.convert(row, out);
        let (followers, counter) = (draft.followers.clone(), renumbering.counter());
        let outcome = match table.is_temporary() {
            true => temporary.rebuild(table, new.clone(), kill, counter, convert),
            false => engine.rebuild_table(&old.name, new.clone(), followers, kill, counter, convert),
        };
        let duplicates = Duplicates { table, new, engine, time_zone: &facts.time_zone };
        match outcome {
            Ok((_, rows)) => Ok(rows),
            Err(CopyError::Sql(error)) => Err(error),
            Err(CopyError::Engine(EngineError::DuplicateKey(duplicate)))
                if copies && leads_with_counter(&duplicate, new) =>
            {
                Err(duplicates.resequenced(&duplicate))
            }
            Err(CopyError::Engine(error)) => Err(duplicates.error(error)),
        }
    }
}

impl Alteration {
    /// Numbers of the foreign keys that all rows must have parents by.
    fn new_keys(&self) -> Vec<usize> {
        let is_old = |ordinal: u64| self.old.foreign_keys.iter().any(|key| key.ordinal == ordinal);
        let is_asked = |key: &ForeignKeyDefinition| {
            !is_old(key.ordinal) || key.columns.iter().any(|at| self.draft.recomputes(*at))
        };
        let keys = self.draft.definition.foreign_keys.iter().enumerate();
        let new = keys.filter(|(_, key)| self.draft.checks_parents && is_asked(key));
        new.map(|(number, _)| number).collect()
    }
}

impl Definer<'_> {
    /// Gives a table its new definition where no row is copied.
    pub fn change_in_place(&mut self, alteration: &Alteration) -> SqlResult<()> {
        let engine = self.instance.engine().clone();
        let Alteration { table, old, draft, plan, .. } = alteration;
        let (name, new) = (&old.name, &draft.definition);
        let AlterPlan::Indexes(ids) = plan else {
            // In the order in which the engine has them: a new one may stand behind those that it is shown before.
            let new = &with_indexes_as(new, old);
            let mut unchanged = old.clone();
            unchanged.options.auto_increment = new.options.auto_increment;
            // DISABLE KEYS and the like: nothing to write.
            if new.options.auto_increment.is_none() && *new == unchanged {
                return Ok(());
            }
            let followers = draft.followers.clone();
            let changed = engine.alter_metadata(name, new.clone(), followers, &self.shared.kill);
            return changed.map(|_| ()).map_err(|error| table_error(error, name));
        };
        let mut wanted = new.clone();
        wanted.indexes.iter_mut().zip(ids).for_each(|(index, id)| index.id = *id);
        // The engine numbers new indexes behind the old ones.
        let mut numbered = new.clone();
        let added = wanted.indexes.iter().filter(|index| index.id == IndexId::default());
        numbered.indexes = old.indexes.iter().chain(added).cloned().collect();
        let changed = engine.change_indexes(name, wanted, draft.followers.clone(), &self.shared.kill);
        let time_zone = &self.settings.facts.time_zone;
        let duplicates = Duplicates { table, new: &numbered, engine: &engine, time_zone };
        changed.map(|_| ()).map_err(|error| duplicates.error(error))
    }
}

/// The same definition with its indexes in the order of another, which has the same.
fn with_indexes_as(definition: &TableDefinition, other: &TableDefinition) -> TableDefinition {
    let mut ordered = definition.clone();
    let place = |index: &IndexDefinition| other.indexes.iter().position(|known| is_one_index(known, index));
    ordered.indexes.sort_by_key(place);
    ordered
}

/// What a change does to the rows of a table.
pub(super) fn plan_of(table: &Table, old: &TableDefinition, draft: &Draft) -> AlterPlan {
    let new = &draft.definition;
    // The counter goes down to what the rows leave, which their copy finds out.
    let lowers_counter = new.options.auto_increment.is_some_and(|next| next < table.auto_increment().peek());
    if draft.rebuild || lowers_counter || table.is_temporary() {
        return AlterPlan::Rebuild;
    }
    plan(old, new, &draft.sources)
}

/// Columns of the new table whose values follow from the others: new ones with a default that is computed, and generated ones where MySQL
/// copies the rows, or that are new or whose bases are, or have another type, or another default that they name. Others keep the values
/// that they have.
fn computed_columns(
    old: &TableDefinition,
    new: &TableDefinition,
    sources: &[Option<usize>],
    copies: bool,
) -> Vec<bool> {
    let mut is_new: Vec<bool> = Vec::with_capacity(new.columns.len());
    let mut has_new_default = Vec::with_capacity(new.columns.len());
    for (column, source) in new.columns.iter().zip(sources) {
        let before = source.map(|source| &old.columns[source]);
        is_new.push(before.is_none_or(|before| {
            // NULLs that may not stay become other values.
            before.column_type != column.column_type
                || before.generated != column.generated
                || before.nullable && !column.nullable
        }));
        has_new_default.push(
            before
                .is_none_or(|before| before.default != column.default || before.nullable != column.nullable),
        );
    }
    let mut computed = vec![false; new.columns.len()];
    for (at, column) in new.columns.iter().enumerate() {
        computed[at] = match &column.generated {
            Some(generated) => {
                copies || is_new[at] || reads_any(&generated.text, new, [&is_new, &has_new_default])
            }
            None => {
                let is_computed = matches!(
                    column.default,
                    ColumnDefault::Expression(_) | ColumnDefault::CurrentTimestamp(_)
                );
                sources[at].is_none() && is_computed
            }
        };
        is_new[at] |= computed[at];
    }
    computed
}

/// Whether an expression names one of these columns, or DEFAULT() of one of those.
fn reads_any(text: &str, table: &TableDefinition, [columns, defaults]: [&[bool]; 2]) -> bool {
    names_such(text, |column| {
        let place = table.column_position(column.name);
        place.is_some_and(|at| columns[at] || column.is_default && defaults[at])
    })
}

/// Whether nothing of a type but its length changes.
fn becomes_shorter(from: &ColumnType, to: &ColumnType) -> bool {
    use TypeKind::{Binary, Char, VarBinary, VarChar};
    matches!(from.kind, Char | VarChar | Binary | VarBinary)
        && from.kind == to.kind
        && from.collation == to.collation
}

impl RowConverter<'_, '_> {
    fn convert(&mut self, row: &[u8], out: &mut Vec<u8>) -> Result<(), CopyError> {
        self.row += 1;
        let corrupt =
            |_| CopyError::Engine(EngineError::Corrupt("row does not fit its table's layout".to_owned()));
        let view = RowView::new(self.old_layout, row).map_err(corrupt)?;
        let mut values = Vec::with_capacity(self.sources.len());
        for (at, (column, source)) in self.new.columns.iter().zip(self.sources).enumerate() {
            let value = match source {
                _ if self.computed[at] => Value::Null,
                Some(source) => self.converted(&view.value(*source), &self.old.columns[*source], column)?,
                None => self.fresh(column)?,
            };
            let is_given = column.auto_increment && source.is_some();
            values.push(if is_given { self.renumbering.settled(value, column)? } else { value });
        }
        let (computed, row) = (&self.computed, self.row);
        self.copied.fill(&mut values, |column| computed[column], row)?;
        if self.copies {
            self.copied.check(&values)?;
        }
        self.new_layout.encode_into(&values, out).map_err(corrupt)
    }

    fn converted(
        &mut self,
        value: &Value,
        from: &ColumnDefinition,
        to: &ColumnDefinition,
    ) -> Result<Value, CopyError> {
        if matches!(value, Value::Null) && !to.nullable {
            let gets_value = to.auto_increment && self.renumbering.renumbers();
            return if gets_value { Ok(Value::Null) } else { self.without_null(to) };
        }
        if from.column_type == to.column_type {
            return Ok(value.clone());
        }
        let seen = match value {
            Value::DateTime(utc) if from.column_type.kind == TypeKind::Timestamp => {
                Value::DateTime(self.time_zone.utc_to_local(*utc))
            }
            other => other.clone(),
        };
        self.stored(&seen, &from.column_type, Source::Rebuild, to)
    }

    /// What a column that takes NULL no longer holds for it: the present time in a TIMESTAMP; elsewhere zero or empty, which
    /// strict mode refuses. MySQL has another error for it where no type changes.
    fn without_null(&mut self, to: &ColumnDefinition) -> Result<Value, CopyError> {
        if to.column_type.kind == TypeKind::Timestamp {
            let (now, from) = (self.now.clone(), ColumnType::temporal(TypeKind::DateTime, 6));
            return self.stored(&now, &from, Source::Expression, to);
        }
        let truncated = sql_error!(WARN_DATA_TRUNCATED, to.name, self.row);
        if self.mode.strict {
            let error = if self.copies { truncated } else { sql_error!(ER_INVALID_USE_OF_NULL) };
            return Err(CopyError::Sql(error));
        }
        self.copied.diagnostics().warning(truncated);
        Ok(match to.column_type.kind {
            // Not even the first member.
            TypeKind::Enum => Value::UInt(0),
            _ => implicit_default(&to.column_type),
        })
    }

    /// A value of the session's as the new column holds it.
    fn stored(
        &mut self,
        value: &Value,
        from: &ColumnType,
        source: Source,
        to: &ColumnDefinition,
    ) -> Result<Value, CopyError> {
        let is_read = (to.column_type.kind == TypeKind::Json) != (from.kind == TypeKind::Json);
        let watch = is_read.then(|| self.copied.document_watch());
        let documents = watch.as_ref().map_or(Documents::ANY, |watch| watch.documents());
        let mut context = StoreContext {
            mode: self.mode,
            table: &self.new.name.table,
            column: &to.name,
            row: self.row,
            source,
            diagnostics: self.copied.diagnostics(),
            documents,
        };
        let stored = store(value, from, &to.column_type, &mut context).map_err(|error| {
            // MySQL copies what only becomes shorter, and says that it cut it.
            let is_cut = source == Source::Rebuild && becomes_shorter(from, &to.column_type);
            let is_long = error.number() == errors::code::ER_DATA_TOO_LONG.number;
            CopyError::Sql(match is_cut && is_long {
                true => sql_error!(WARN_DATA_TRUNCATED, to.name, self.row),
                false => error,
            })
        })?;
        Ok(match stored {
            Value::DateTime(moment) if to.column_type.kind == TypeKind::Timestamp => {
                Value::DateTime(self.time_zone.stored(moment))
            }
            other => other,
        })
    }

    /// The value of a column that the old table has not got.
    fn fresh(&mut self, column: &ColumnDefinition) -> Result<Value, CopyError> {
        if column.auto_increment {
            return Ok(self.renumbering.fresh(column)?);
        }
        match &column.default {
            ColumnDefault::Literal(value) => Ok(value.clone()),
            _ if column.nullable => Ok(Value::Null),
            _ => {
                let is_date = matches!(column.column_type.kind, TypeKind::Date | TypeKind::DateTime);
                if is_date && self.mode.strict && self.mode.dates.no_zero_date {
                    let kind = if column.column_type.kind == TypeKind::Date { "date" } else { "datetime" };
                    let zero = if kind == "date" { "0000-00-00" } else { "0000-00-00 00:00:00" };
                    let error =
                        sql_error!(ER_TRUNCATED_WRONG_VALUE_FOR_FIELD, kind, zero, column.name, self.row);
                    let error = errors::code::ER_TRUNCATED_WRONG_VALUE.message(error.message());
                    return Err(CopyError::Sql(error));
                }
                Ok(implicit_default(&column.column_type))
            }
        }
    }
}
