//! What a SELECT's result columns are to the client and to tables made of them: columns of a table, computed
//! values, or columns of the temporary table in which MySQL groups or finds duplicates. Clients see the difference
//! in the column definitions. Main function: [`Binder::output_column`].

use super::Binder;
use super::column::{Block, BoundColumn, Source};
use super::names::SelectItem;
use crate::optimize::tables_of;
use crate::physical::{AggregateKind, ColumnOrigin, OutputColumn, SortKey};
use ::expression::{Expression, ExpressionKind, ValueSource};
use dictionary::{IndexDefinition, IndexKind, TableDefinition};
use values::{ColumnType, TypeKind};

/// How MySQL comes by the rows of a SELECT that groups or finds duplicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grouping {
    /// In the order of an index, or of sorted rows: values go out as they are computed.
    InOrder,
    /// In the order of an index, but then WITH ROLLUP puts NULL in the keys' place.
    Rollup,
    /// Joined rows go to a temporary table to be sorted, and then out, in groups or one by one.
    Sorted,
    /// Both: joined rows are sorted in a temporary table, then WITH ROLLUP puts NULL in the keys' place.
    SortedRollup,
    /// Through a temporary table that keeps the rows' values and gathers the aggregates.
    Temporary,
    /// Groups in order go to a temporary table, which is sorted anew: it keeps all that is computed.
    Resorted,
}

impl Binder<'_> {
    /// A result column that shows an expression over the rows or groups of the block.
    pub fn output_column(&mut self, name: &str, expression: &Expression, grouping: Grouping) -> OutputColumn {
        let block = self.block();
        let mut column = OutputColumn {
            name: name.to_owned(),
            result: expression.result.clone(),
            origin: None,
            source: block.value_source(expression),
            computed: true,
        };
        if let Some(shown) = block.shown_column(expression) {
            column.origin = shown.origin.clone();
            column.source = shown.source;
            column.computed = shown.computed;
        }
        match grouping {
            Grouping::InOrder => return column,
            Grouping::Rollup => {
                column.computed = true;
                column.origin = None;
                return column;
            }
            Grouping::Temporary | Grouping::SortedRollup if !block.is_kept(expression) => return column,
            Grouping::Sorted if !block.is_kept_before_groups(expression) => return column,
            Grouping::Resorted if !expression.any(&|part| part.column_slot().is_some()) => return column,
            _ => {}
        }
        let named = grouping == Grouping::Resorted || block.aggregate_of(expression).is_none();
        if column.origin.is_none() && named {
            column.origin = Some(ColumnOrigin::temporary("", name));
        }
        let is_key = block.aggregate_of(expression).is_none();
        let mut column = column.into_temporary();
        if grouping == Grouping::SortedRollup && is_key {
            widen_for_rollup(&mut column.result.column_type);
        }
        column
    }
}

impl Binder<'_> {
    /// Makes of computed values of the select list what a temporary table keeps of them. What rows are sorted by is the
    /// same.
    pub(super) fn keep_in_table(&mut self, items: &mut [SelectItem], order: &mut [SortKey]) {
        let block = self.block();
        for item in items {
            if let Some(number) = block.aggregate_of(&item.expression) {
                let call = &mut block.aggregates[number];
                let is_extreme = matches!(call.kind, AggregateKind::Minimum | AggregateKind::Maximum);
                if is_extreme && matches!(call.result.kind(), TypeKind::Date | TypeKind::Timestamp) {
                    call.kept_as = Some(item.name.as_str().into());
                }
                continue;
            }
            if !block.is_kept(&item.expression) || !item.expression.may_be_kept_otherwise() {
                continue;
            }
            let kept = item.expression.clone().kept(&item.name);
            for key in order.iter_mut().filter(|key| key.expression.same(&item.expression)) {
                key.expression = kept.clone();
            }
            item.expression = kept;
        }
    }
}

impl Block {
    /// The slot over the rows and the number of the aggregate that a slot over groups stands for.
    fn ungrouped(&self, slot: usize) -> (Option<usize>, Option<usize>) {
        if self.group_keys.is_empty() && self.aggregates.is_empty() {
            return (Some(slot), None);
        }
        match slot.checked_sub(self.group_keys.len()) {
            None => (self.group_keys[slot].column_slot(), None),
            Some(number) => {
                let call = self.aggregates.get(number).filter(|call| call.kind == AggregateKind::First);
                let shown = call.and_then(|call| call.arguments.first()).and_then(Expression::column_slot);
                (shown, call.is_none().then_some(number))
            }
        }
    }

    /// The column of a table of FROM that an expression shows.
    fn shown_column(&self, expression: &Expression) -> Option<&BoundColumn> {
        let slot = self.ungrouped(expression.column_slot()?).0?;
        let (table, column) = *self.slots.get(slot)?;
        self.tables[table].columns.get(column)
    }

    fn aggregate_of(&self, expression: &Expression) -> Option<usize> {
        self.ungrouped(expression.column_slot()?).1
    }

    fn value_source(&self, expression: &Expression) -> ValueSource {
        if let Some(number) = self.aggregate_of(expression) {
            let call = &self.aggregates[number];
            let extreme = matches!(call.kind, AggregateKind::Minimum | AggregateKind::Maximum);
            let of_column = call.arguments.first().is_some_and(is_column);
            return if extreme && of_column { ValueSource::Column } else { ValueSource::Aggregate };
        }
        match &expression.kind {
            ExpressionKind::Literal(value) if is_written(value, expression) => ValueSource::Literal,
            ExpressionKind::Function(call) if call.definition.name == "ifnull" => ValueSource::Typed,
            _ => ValueSource::Function,
        }
    }

    /// Whether a temporary table keeps the value: not if it is constant, and not if it is computed of aggregates, as
    /// an average is of a sum and a count.
    fn is_kept(&self, expression: &Expression) -> bool {
        if self.is_constant_key(expression) {
            return false;
        }
        if expression.column_slot().is_some() {
            let aggregate = self.aggregate_of(expression).map(|number| self.aggregates[number].kind);
            return !matches!(aggregate, Some(AggregateKind::Average | AggregateKind::Variance { .. }));
        }
        let of_rows = expression.any(&|part| part.column_slot().is_some());
        of_rows && !expression.any(&|part| self.aggregate_of(part).is_some())
    }

    /// Whether a temporary table of joined rows keeps the value: neither a constant nor what groups are needed for.
    fn is_kept_before_groups(&self, expression: &Expression) -> bool {
        expression.any(&|part| part.column_slot().is_some())
            && !expression.any(&|part| self.aggregate_of(part).is_some())
            && !self.is_constant_key(expression)
    }

    /// Whether it is a key of the groups that is the same for all rows, though its value is not known before.
    fn is_constant_key(&self, expression: &Expression) -> bool {
        let key = expression.column_slot().and_then(|slot| self.group_keys.get(slot));
        key.is_some_and(Expression::is_constant)
    }

    /// Whether MySQL sorts rows as it reads them, by keys of the table that it reads first. Those that it joins in its join
    /// buffer, as it does where no column of one table equals one of another, go to a temporary table first.
    pub(super) fn sorts_as_it_reads<'e>(
        &self,
        keys: impl Iterator<Item = &'e Expression>,
        has_equal_columns: bool,
    ) -> bool {
        let tables = keys.fold(0, |bits, key| bits | tables_of(self, key));
        self.tables.len() < 2 || has_equal_columns && tables.count_ones() < 2
    }

    /// Whether MySQL groups in a temporary table: not if an index has the order of the keys, nor if an aggregate needs
    /// sorted rows; but always if the result is wanted in another order. `order` is over the grouped row;
    /// `has_equal_columns`: the joins have a condition that a column of one table equals one of another.
    pub(super) fn grouping(&self, order: &[SortKey], rollup: bool, has_equal_columns: bool) -> Grouping {
        let keys = &self.group_keys;
        if keys.iter().all(Expression::is_constant) {
            return Grouping::InOrder;
        }
        if rollup {
            return if self.tables.len() < 2 { Grouping::Rollup } else { Grouping::SortedRollup };
        }
        let is_key = |key: &SortKey| key.expression.column_slot().is_some_and(|slot| slot < keys.len());
        let needs_sorted_rows =
            self.aggregates.iter().any(|call| call.distinct || call.kind == AggregateKind::GroupConcat);
        // Without aggregates MySQL takes rows that a key makes distinct for groups.
        let distinct = self.aggregates.is_empty() && self.tables.len() == 1 && self.holds_unique_key(keys);
        let in_order = needs_sorted_rows || distinct || self.index_orders(keys);
        match (in_order, order.iter().all(is_key)) {
            (true, true) if needs_sorted_rows && !self.sorts_as_it_reads(keys.iter(), has_equal_columns) => {
                Grouping::Sorted
            }
            (true, true) => Grouping::InOrder,
            (true, false) => Grouping::Resorted,
            (false, _) => Grouping::Temporary,
        }
    }

    /// Whether DISTINCT needs a temporary table: not if a key makes the rows distinct or an index has them in order.
    pub(super) fn distinct_grouping(&self, items: &[&Expression]) -> Grouping {
        let constant = items.iter().all(|item| !item.any(&|part| part.column_slot().is_some()));
        let keys: Vec<Expression> = items.iter().map(|item| (*item).clone()).collect();
        if constant || self.tables.len() == 1 && (self.index_orders(&keys) || self.holds_unique_key(&keys)) {
            Grouping::InOrder
        } else {
            Grouping::Temporary
        }
    }

    /// The table of the expressions and their columns in it, if all are columns of one base table.
    fn columns_of_one_table(&self, expressions: &[Expression]) -> Option<(&TableDefinition, Vec<usize>)> {
        let mut places = expressions.iter().map(|key| {
            let slot = key.column_slot()?;
            self.slots.get(slot).copied()
        });
        let (table, first) = places.next()??;
        let mut columns = vec![first];
        for place in places {
            let (other, column) = place?;
            if other != table {
                return None;
            }
            columns.push(column);
        }
        match &self.tables[table].source {
            Source::Base(base) => Some((base.definition(), columns)),
            _ => None,
        }
    }

    /// Whether the entries of an index, behind whose parts come those of the primary key, are in the order of the keys.
    fn index_orders(&self, keys: &[Expression]) -> bool {
        let Some((definition, columns)) = self.columns_of_one_table(keys) else { return false };
        let whole = |index: &IndexDefinition| -> Vec<(usize, bool)> {
            index.parts.iter().map(|part| (part.column, part.prefix_length.is_none())).collect()
        };
        let primary = definition.indexes.iter().find(|index| index.kind == IndexKind::Primary).map(whole);
        definition.indexes.iter().filter(|index| !index.invisible).any(|index| {
            let parts = whole(index).into_iter().chain(primary.clone().unwrap_or_default());
            parts.zip(&columns).take_while(|((part, whole), key)| part == *key && *whole).count()
                == columns.len()
        })
    }

    fn holds_unique_key(&self, keys: &[Expression]) -> bool {
        let plain: Vec<Expression> = keys.iter().filter(|key| key.column_slot().is_some()).cloned().collect();
        let Some((definition, columns)) = self.columns_of_one_table(&plain) else { return false };
        definition.indexes.iter().any(|index| {
            is_unique_key(definition, index)
                && index
                    .parts
                    .iter()
                    .all(|part| columns.contains(&part.column) && part.prefix_length.is_none())
        })
    }
}

/// Whether it is a column, or the text of a column of ENUM or SET.
fn is_column(expression: &Expression) -> bool {
    match &expression.kind {
        ExpressionKind::Cast(cast) => {
            cast.operand.result.kind().has_members() && cast.operand.column_slot().is_some()
        }
        _ => expression.column_slot().is_some(),
    }
}

/// Makes the type of a column that of a key of WITH ROLLUP in a temporary table.
fn widen_for_rollup(column_type: &mut ColumnType) {
    match column_type.kind {
        TypeKind::Char => column_type.kind = TypeKind::VarChar,
        TypeKind::Binary => column_type.kind = TypeKind::VarBinary,
        kind if kind.is_integer() => {
            column_type.length = Some(column_type.display_characters());
            column_type.kind = TypeKind::BigInt;
        }
        _ => {}
    }
}

/// Whether a literal is one of the statement, not the value of constant operands.
fn is_written(value: &values::Value, expression: &Expression) -> bool {
    match value {
        values::Value::Int(number) => Expression::integer(number.unsigned_abs()).result == expression.result,
        values::Value::UInt(number) => Expression::integer(*number).result == expression.result,
        _ => true,
    }
}

/// Whether no two rows of the table have the same values there.
fn is_unique_key(definition: &TableDefinition, index: &IndexDefinition) -> bool {
    index.kind != IndexKind::Plain && index.parts.iter().all(|part| !definition.columns[part.column].nullable)
}
