//! From expression values to stored column values: conversion by `values::store`, NULL and default rules.
//! Main type: [`Storing`].

use crate::change::own_expression::value_over;
use crate::run::Run;
use charset::CollationId;
use dictionary::ColumnDefinition;
use errors::{SqlError, SqlResult, sql_error};
use expression::{Coercibility, EvaluationContext, Expression, ResultType};
use plan::json_table::store_mode;
use plan::{DefaultValue, MultiValuedPart, implicit_default, in_zone};
use values::store::{Documents, Source, StoreContext, StoreMode, store, store_plainly};
use values::{ColumnType, TypeKind, Value};

/// A value on its way to a column.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// The value.
    pub value: &'a Value,
    /// Its own type.
    pub column_type: &'a ColumnType,
    /// Whether it is a column's.
    pub source: Source,
}

impl<'a> Given<'a> {
    /// What an expression yielded.
    pub fn by(expression: &'a Expression, value: &'a Value) -> Given<'a> {
        let is_column = expression.column_slot().is_some();
        let source = if is_column { Source::Column } else { Source::Expression };
        Given { value, column_type: &expression.result.column_type, source }
    }
}

/// How a statement stores.
#[derive(Clone, Copy, Debug)]
pub struct Storing {
    mode: StoreMode,
    /// NULL for a NOT NULL column is an error (else the implicit default with a warning).
    pub null_is_error: bool,
    /// Says of a column only once that it cannot be NULL, or has no default.
    tells_once: bool,
}

impl Storing {
    /// The rules of a statement. `ignore` turns errors into warnings; `lenient_null` is for rows that are not the only
    /// one of their statement.
    pub fn new(run: &Run<'_, '_>, ignore: bool, lenient_null: bool) -> Storing {
        let facts = &run.statement.facts;
        let strict = facts.sql_mode.is_strict() && !ignore;
        let mode = store_mode(facts, strict);
        Storing { mode, null_is_error: strict || !ignore && !lenient_null, tells_once: false }
    }

    /// As INSERT does it.
    pub fn telling_once(self) -> Storing {
        Storing { tells_once: true, ..self }
    }

    /// Warns that a column was given no value that it can hold.
    fn warn_of_column(&self, error: SqlError, run: &mut Run<'_, '_>) {
        if !self.tells_once || run.tells_first(&error) {
            run.diagnostics().warning(error);
        }
    }

    /// As `store`, into a slot whose memory is used again.
    #[inline]
    pub fn store_into(
        &self,
        slot: &mut Value,
        given: Given<'_>,
        column: &ColumnDefinition,
        row_number: u64,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<()> {
        let is_plain = run.statement.settings.fast_plans
            && store_plainly(given.value, given.column_type, &column.column_type, slot);
        if !is_plain {
            *slot = self.store(given, column, row_number, run)?;
        }
        Ok(())
    }

    /// A value as the column holds it.
    pub fn store(
        &self,
        given: Given<'_>,
        column: &ColumnDefinition,
        row_number: u64,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<Value> {
        if *given.value == Value::Null {
            if column.nullable {
                return Ok(Value::Null);
            }
            let error = sql_error!(ER_BAD_NULL_ERROR, column.name);
            if self.null_is_error {
                return Err(error);
            }
            self.warn_of_column(error, run);
            return Ok(match column.column_type.kind {
                // Not even the first member.
                TypeKind::Enum => Value::UInt(0),
                _ => implicit_default(&column.column_type),
            });
        }
        let is_read =
            (column.column_type.kind == TypeKind::Json) != (given.column_type.kind == TypeKind::Json);
        let watch = is_read.then(|| run.document_watch());
        let documents = watch.as_ref().map_or(Documents::ANY, |watch| watch.documents());
        let mut context = StoreContext {
            mode: self.mode,
            table: &run.stores_to,
            column: &column.name,
            row: row_number,
            source: given.source,
            diagnostics: run.statement.diagnostics,
            documents,
        };
        let stored = store(given.value, given.column_type, &column.column_type, &mut context)?;
        Ok(match stored {
            Value::DateTime(moment) if column.column_type.kind == TypeKind::Timestamp => {
                Value::DateTime(run.statement.facts.time_zone.stored(moment))
            }
            stored => stored,
        })
    }

    /// What an expression yielded, as the column holds it.
    #[inline]
    pub fn store_computed(
        &self,
        expression: &Expression,
        value: &Value,
        column: &ColumnDefinition,
        row_number: u64,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<Value> {
        if let Some(part) = MultiValuedPart::new(column, row_number, self.mode) {
            let Value::Bytes(document) = value else { return Ok(Value::Null) };
            let watch = run.document_watch();
            return part.value(document, run.statement.diagnostics, &watch).map(Value::Bytes);
        }
        if let Some((text, column_type)) = text_on_the_way(expression, value, column) {
            let given = Given { value: &text, column_type: &column_type, source: Source::Expression };
            return self.store(given, column, row_number, run);
        }
        self.store(Given::by(expression, value), column, row_number, run)
    }

    /// What the column at a place gets that the row does not name, or names with DEFAULT (`is_named`): that it has none is told of each such
    /// row. `row` is as it is stored.
    pub fn default(
        &self,
        (default, is_named): (&DefaultValue, bool),
        columns: &[ColumnDefinition],
        at: usize,
        row: &[Value],
        row_number: u64,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<Value> {
        let column = &columns[at];
        match default {
            DefaultValue::Stored(value) => Ok(value.clone()),
            DefaultValue::Expression(expression) => {
                let value = value_over(expression, columns, row, run)?;
                self.store_computed(&expression.expression, &value, column, row_number, run)
            }
            DefaultValue::Missing if column.auto_increment => Ok(Value::Null),
            DefaultValue::Missing => {
                let error = sql_error!(ER_NO_DEFAULT_FOR_FIELD, column.name);
                if self.mode.strict && column.column_type.kind != TypeKind::Enum {
                    return Err(error);
                }
                if column.column_type.kind != TypeKind::Enum {
                    match is_named {
                        true => run.diagnostics().warning(error),
                        false => self.warn_of_column(error, run),
                    }
                }
                Ok(nothing_given(column))
            }
        }
    }
}

/// The text that MySQL makes of a date or time on its way to a column: where the expression hands on one of several values,
/// and where the column is an ENUM or SET. ANY_VALUE makes one of bits, too.
#[inline]
pub fn text_on_the_way(
    expression: &Expression,
    value: &Value,
    column: &ColumnDefinition,
) -> Option<(Value, ColumnType)> {
    let is_moment = matches!(value, Value::Date(_) | Value::Time(_) | Value::DateTime(_));
    let kind = column.column_type.kind;
    if !(expression.hands_on_moment() || is_moment && kind.has_members()) {
        return None;
    }
    let is_bits = matches!(value, Value::Bytes(_)) && expression.result.is_number_bytes();
    if !is_moment && !is_bits || kind.is_string() || kind.may_be_long() {
        return None;
    }
    let text = values::convert::to_text(value.as_ref(), &expression.result.column_type)?;
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
    let collation = if is_bits { CollationId::BINARY } else { CollationId::UTF8MB4_0900_AI_CI };
    let column_type = ResultType::text(length, collation, Coercibility::Coercible).column_type;
    Some((Value::Bytes(text.into_owned()), column_type))
}

/// What a column without default holds when it is given nothing.
pub fn nothing_given(column: &ColumnDefinition) -> Value {
    if column.nullable { Value::Null } else { implicit_default(&column.column_type) }
}

/// A stored value as expressions see it: TIMESTAMP in the session's zone.
pub fn as_seen(value: &Value, column: &ColumnDefinition, run: &Run<'_, '_>) -> Value {
    in_zone(value.clone(), column, &run.statement.facts.time_zone)
}

/// A value that expressions saw, in stored form again.
pub fn as_stored(value: &Value, column: &ColumnDefinition, run: &Run<'_, '_>) -> Value {
    match value {
        Value::DateTime(local) if column.column_type.kind == TypeKind::Timestamp => {
            Value::DateTime(run.statement.facts.time_zone.local_to_utc(*local))
        }
        other => other.clone(),
    }
}
