//! What a SELECT's result columns are to the client and to tables made of them: columns of a table, computed
//! values, or columns of the temporary table in which MySQL groups or finds duplicates. Clients see the difference
//! in the column definitions. Main function: [`Block::output_column`].

use crate::{Block, BoundTable, SelectItem, Source, tables_of};
use dictionary::{IndexDefinition, IndexKind, TableDefinition};
use expression::{Expression, ExpressionKind, ValueSource};
use plan::physical::{AggregateCall, AggregateKind, ColumnOrigin, OutputColumn, SortKey};
use values::{ColumnType, TypeKind};

/// How MySQL comes by the rows of a SELECT that groups or finds duplicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
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
    /// Rows or groups go through the temporary tables of windows, the last of which keeps all that is computed.
    Windowed,
}

/// In what order the rows come out of the joins.
#[derive(Clone, Copy)]
pub struct ReadOrder {
    /// In that of an index, which is the wanted one.
    pub ordered: bool,
    /// The table that is read first, as a bit.
    pub first: u64,
}

impl Grouping {
    /// Turns years to numbers where no temporary table holds them as a column does: the year 0 is then shown as 0, not as
    /// 0000. So are the keys of WITH ROLLUP, and what MIN and MAX give, also of sorted rows.
    pub fn compute_years(self, keys: &mut [Expression], aggregates: &mut [AggregateCall]) {
        if !matches!(self, Grouping::InOrder | Grouping::Rollup | Grouping::Sorted) {
            return;
        }
        if self == Grouping::Rollup {
            keys.iter_mut().for_each(compute_year);
        }
        let extremes = aggregates
            .iter_mut()
            .filter(|call| matches!(call.kind, AggregateKind::Minimum | AggregateKind::Maximum));
        extremes.flat_map(|call| &mut call.arguments).for_each(compute_year);
    }
}

/// A result column that shows an expression over the rows or groups of the block, as it is computed.
pub fn shown_column(block: &Block, name: &str, expression: &Expression) -> OutputColumn {
    let mut column = OutputColumn {
        name: name.to_owned(),
        result: expression.result.clone(),
        origin: None,
        source: block.value_source(expression),
        computed: true,
    };
    if let Some((table, position)) = block.shown_column(expression) {
        let shown = &table.columns[position];
        column.origin = table.origin(position);
        column.source = shown.source;
        column.computed = shown.computed;
        if shown.shown_width.is_some() {
            column.result.column_type.length = shown.shown_width;
        }
    }
    column
}

fn is_column_around(expression: &Expression) -> bool {
    matches!(expression.kind, ExpressionKind::Column(_) | ExpressionKind::Outer(_))
}

impl Block {
    /// What becomes of a column that shows an expression when the rows go that way.
    pub fn output_column(
        &self,
        mut column: OutputColumn,
        expression: &Expression,
        way: Grouping,
    ) -> OutputColumn {
        let block = self;
        match way {
            Grouping::InOrder => return column,
            Grouping::Rollup => {
                column.computed = true;
                column.origin = None;
                return column;
            }
            Grouping::SortedRollup if block.is_group_of_columns(expression) => {}
            Grouping::Temporary | Grouping::SortedRollup if !block.is_kept(expression) => return column,
            Grouping::Sorted if !block.is_kept_before_groups(expression) => return column,
            Grouping::Windowed if !block.is_kept_of_windows(expression) => return column,
            Grouping::Windowed => {
                // What a window function shows of a large object is a column's.
                if is_window(expression) && column.result.kind().is_large_object() {
                    column.source = ValueSource::Column;
                }
                let origin = column.origin.take();
                column.origin = origin.or_else(|| Some(ColumnOrigin::temporary("", &column.name)));
                let is_column = column.source == ValueSource::Column;
                let mut column = column.into_temporary();
                if block.rollup && block.is_group_of_columns(expression) {
                    widen_for_rollup(&mut column.result.column_type, is_column);
                }
                return column;
            }
            Grouping::Resorted if !expression.any(&|part| part.column_slot().is_some()) => return column,
            _ => {}
        }
        let named = way == Grouping::Resorted || block.aggregate_of(expression).is_none();
        if column.origin.is_none() && named {
            column.origin = Some(ColumnOrigin::temporary("", &column.name));
        }
        let is_key = block.aggregate_of(expression).is_none();
        let is_column = column.source == ValueSource::Column;
        // MIN and MAX are taken of what the table of joined rows keeps.
        let is_computed = column.source == ValueSource::Aggregate;
        if way == Grouping::SortedRollup && is_computed && block.is_extreme(expression) {
            column.source = ValueSource::Function;
        }
        let mut column = column.into_temporary();
        let is_settled = !is_column && block.is_settled_group(expression);
        if way == Grouping::SortedRollup && is_key && !is_settled {
            widen_for_rollup(&mut column.result.column_type, is_column);
        }
        column
    }
}

fn is_window(expression: &Expression) -> bool {
    matches!(expression.kind, ExpressionKind::Window(_))
}

/// Makes of computed values of the select list what a temporary table keeps of them. What rows are sorted by is the
/// same.
pub fn keep_in_table(block: &mut Block, items: &mut [SelectItem], order: &mut [SortKey]) {
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
    fn shown_column(&self, expression: &Expression) -> Option<(&BoundTable, usize)> {
        let slot = self.ungrouped(expression.column_slot()?).0?;
        let (table, column) = *self.slots.get(slot)?;
        let table = &self.tables[table];
        (column < table.columns.len()).then_some((table, column))
    }

    fn aggregate_of(&self, expression: &Expression) -> Option<usize> {
        self.ungrouped(expression.column_slot()?).1
    }

    /// Whether the last of the temporary tables of windows keeps the value: neither a constant, nor what is computed both of groups and
    /// of windows.
    fn is_kept_of_windows(&self, expression: &Expression) -> bool {
        let reads = |part: &Expression| part.column_slot().is_some();
        let is_mixed =
            || expression.any(&is_window) && expression.any(&|part| self.aggregate_of(part).is_some());
        (expression.any(&reads) || expression.any(&is_window)) && !is_mixed()
    }

    /// Whether it is MIN or MAX of something computed or of a column.
    fn is_extreme(&self, expression: &Expression) -> bool {
        let kind = self.aggregate_of(expression).map(|number| self.aggregates[number].kind);
        matches!(kind, Some(AggregateKind::Minimum | AggregateKind::Maximum))
    }

    fn value_source(&self, expression: &Expression) -> ValueSource {
        if let Some(number) = self.aggregate_of(expression) {
            let call = &self.aggregates[number];
            let of_column = call.arguments.first().is_some_and(is_column);
            let shows_column = of_column && self.is_extreme(expression);
            return if shows_column { ValueSource::Column } else { ValueSource::Aggregate };
        }
        match &expression.kind {
            ExpressionKind::Literal(value) if is_written(value, expression) => ValueSource::Literal,
            ExpressionKind::Function(call) if call.definition.name == "ifnull" => ValueSource::Typed,
            // A column of a table that LATERAL stands behind.
            ExpressionKind::Outer(number)
                if self.is_lateral && self.outer.get(*number).is_some_and(is_column_around) =>
            {
                ValueSource::Column
            }
            _ => ValueSource::Function,
        }
    }

    /// Whether a temporary table keeps the value: not if it is constant, and not if it is computed of aggregates, as
    /// an average is of a sum and a count.
    fn is_kept(&self, expression: &Expression) -> bool {
        if expression.column_slot().is_some() {
            let aggregate = self.aggregate_of(expression).map(|number| self.aggregates[number].kind);
            return self.varies(expression)
                && !matches!(aggregate, Some(AggregateKind::Average | AggregateKind::Variance { .. }));
        }
        self.is_kept_before_groups(expression)
    }

    /// Whether a temporary table of joined rows keeps the value: neither a constant nor what groups are needed for. What is
    /// computed of known rows is no constant to MySQL, unless rows are grouped or sorted by it.
    fn is_kept_before_groups(&self, expression: &Expression) -> bool {
        if expression.column_slot().is_some() {
            return self.varies(expression) && self.aggregate_of(expression).is_none();
        }
        expression.any(&|part| part.column_slot().is_some())
            && !expression.any(&|part| self.aggregate_of(part).is_some())
            && !self.known.settled.iter().any(|settled| settled.same(expression))
    }

    /// Whether it is a group key that is computed of known rows.
    fn is_settled_group(&self, expression: &Expression) -> bool {
        let key = expression.column_slot().and_then(|slot| self.group_keys.get(slot));
        key.is_some_and(|key| self.is_fixed(key))
    }

    /// Whether it is a group key that reads rows.
    fn is_group_of_columns(&self, expression: &Expression) -> bool {
        let key = expression.column_slot().and_then(|slot| self.group_keys.get(slot));
        key.is_some_and(|key| tables_of(self, key) != 0)
    }

    /// Whether it is a column of the rows, or of the groups once these are made, that is not the same in all of them.
    fn varies(&self, part: &Expression) -> bool {
        let Some(slot) = part.column_slot() else { return false };
        match self.group_keys.get(slot) {
            Some(key) => !self.is_fixed(key) || tables_of(self, key) & self.known.missing != 0,
            None => match self.ungrouped(slot) {
                (Some(shown), _) => {
                    let read = self.known.fixed & !self.known.missing;
                    self.slots.get(shown).is_none_or(|(table, _)| read & 1 << table == 0)
                }
                (None, _) => true,
            },
        }
    }

    /// Whether an expression over the rows has one value, which is found before the rows are read.
    fn is_fixed(&self, expression: &Expression) -> bool {
        expression.is_constant() || {
            let tables = tables_of(self, expression);
            tables != 0 && tables & !self.known.fixed == 0
        }
    }

    /// Whether it is a column that WHERE sets equal to a constant.
    fn equals_constant(&self, key: &Expression) -> bool {
        key.column_slot().is_some_and(|slot| self.known.equal.contains(&slot))
    }

    /// Tables whose rows are read one by one, among them those of subqueries.
    fn open_tables(&self) -> usize {
        self.own_tables() - self.known.fixed.count_ones() as usize + self.known.semijoins
    }

    /// Whether one table is read row by row, and none is joined with it, be it that of a subquery.
    pub fn is_single(&self) -> bool {
        self.open_tables() + self.known.lookups < 2
    }

    /// What of the keys of groups or of a sort is computed of known rows, and so is a constant.
    pub fn settle_keys<'e>(&mut self, keys: impl Iterator<Item = &'e Expression>) {
        let is_settled = |key: &&Expression| {
            let tables = tables_of(self, key);
            tables != 0 && tables & (!self.known.fixed | self.known.missing) == 0
        };
        self.known.settled = keys.filter(is_settled).cloned().collect();
    }

    /// Whether WHERE or the rows that are known leave it one value.
    fn is_one(&self, key: &Expression) -> bool {
        self.is_fixed(key) || self.equals_constant(key)
    }

    /// Whether MySQL sorts rows as it reads them, by keys of the table that it reads first. Those that it joins in its join
    /// buffer go to a temporary table first, and so do those of an outer join's inner side, if that is read first.
    pub fn sorts_as_it_reads<'e>(&self, keys: impl Iterator<Item = &'e Expression>, read: ReadOrder) -> bool {
        let varying: Vec<&Expression> = keys.filter(|key| !self.is_one(key)).collect();
        let tables = varying.iter().fold(0, |bits, key| bits | tables_of(self, key));
        varying.is_empty() || self.reads_in_order_of(tables, read)
    }

    /// Whether rows stay in the order of these tables while others are joined.
    fn reads_in_order_of(&self, tables: u64, read: ReadOrder) -> bool {
        let tables = tables & !self.known.fixed;
        let open = ((1 << self.own_tables()) - 1) & !self.known.fixed;
        if open != 0 && open & !self.known.optional == 0 {
            return false;
        }
        let by_index = self.known.semijoins == 0 && self.known.looks_up_all(open, read.first);
        self.open_tables() < 2 || by_index && tables & !read.first == 0
    }

    /// Whether MySQL groups in a temporary table: not if an index has the order of the keys, nor if an aggregate needs
    /// sorted rows; but always if the result is wanted in another order. `order` is over the grouped row.
    pub fn grouping(&self, order: &[SortKey], rollup: bool, read: ReadOrder) -> Grouping {
        let keys = &self.group_keys;
        if rollup {
            let is_outer = self.known.optional != 0 || self.known.has_antijoin;
            let varying = keys.iter().filter(|key| !self.is_one(key));
            let tables = varying.fold(0, |bits, key| bits | tables_of(self, key));
            let in_order = self.open_tables() == 0 || !is_outer && self.reads_in_order_of(tables, read);
            return if in_order { Grouping::Rollup } else { Grouping::SortedRollup };
        }
        if keys.iter().all(|key| self.is_one(key)) {
            return Grouping::InOrder;
        }
        let is_key = |key: &SortKey| key.expression.column_slot().is_some_and(|slot| slot < keys.len());
        let needs_sorted_rows = self.aggregates.iter().any(|call| call.distinct || call.kind.collects());
        // Without aggregates MySQL takes rows that a key makes distinct for groups.
        let distinct = self.aggregates.is_empty() && self.is_single() && self.holds_unique_key(keys);
        let as_read = self.sorts_as_it_reads(keys.iter(), read);
        let varying: Vec<Expression> = keys.iter().filter(|key| !self.is_one(key)).cloned().collect();
        let in_order = needs_sorted_rows || distinct || as_read && self.index_orders(&varying);
        match (in_order, order.iter().all(is_key)) {
            (true, true) if needs_sorted_rows && !as_read => Grouping::Sorted,
            (true, true) => Grouping::InOrder,
            (true, false) => Grouping::Resorted,
            (false, _) => Grouping::Temporary,
        }
    }

    /// Whether DISTINCT needs a temporary table: not if a key makes the rows distinct or an index has them in order.
    pub fn distinct_grouping(&self, items: &[&Expression]) -> Grouping {
        let varying = items.iter().filter(|item| !self.is_fixed(item));
        let keys: Vec<Expression> = varying.map(|item| (*item).clone()).collect();
        // The rows of an outer join's inner side may be none, which is in no index.
        let open = ((1 << self.own_tables()) - 1) & !self.known.fixed;
        let is_inner = open & self.known.optional == 0;
        let in_order = || is_inner && (self.index_orders(&keys) || self.holds_unique_key(&keys));
        if self.is_single() && (keys.is_empty() || in_order()) {
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
            if !columns.contains(&column) {
                columns.push(column);
            }
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
        let is_left = |index: &&IndexDefinition| {
            !index.invisible && self.known.range.as_ref().is_none_or(|range| range.leaves_order_of(index))
        };
        definition.indexes.iter().filter(is_left).any(|index| {
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

/// Makes a year of a column a number that is shown as a year.
pub fn compute_year(expression: &mut Expression) {
    if expression.result.kind() == TypeKind::Year {
        let result = expression.result.clone();
        let year = std::mem::replace(expression, Expression::null());
        *expression = Expression::convert_character_set(year, result);
    }
}

/// Makes the year that IF, CASE or NULLIF chose a number. Only other functions see that it is a column's.
pub fn compute_chosen_year(expression: &mut Expression) {
    let chooses = match &expression.kind {
        ExpressionKind::Case(_) => true,
        ExpressionKind::Function(call) => matches!(call.definition.name, "if" | "nullif"),
        _ => false,
    };
    if chooses {
        compute_year(expression);
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

/// Characters of a computed integer up to which it is stored as INT.
const INT_LENGTH_MAX: u32 = 9;

/// Makes the type of a column that of a key of WITH ROLLUP in a temporary table. `is_column`: it shows a column.
fn widen_for_rollup(column_type: &mut ColumnType, is_column: bool) {
    if column_type.kind.is_integer() && !is_column {
        column_type.length = None;
    }
    let length = column_type.display_characters();
    match column_type.kind {
        TypeKind::Char => column_type.kind = TypeKind::VarChar,
        TypeKind::Binary => column_type.kind = TypeKind::VarBinary,
        kind if kind.has_members() => {
            let collation = column_type.collation;
            *column_type = ColumnType::varchar(length, collation);
        }
        kind if kind.is_integer() || kind == TypeKind::Year => {
            let is_short = is_column && length <= INT_LENGTH_MAX;
            let kind = if is_short { TypeKind::Int } else { TypeKind::BigInt };
            let unsigned = column_type.is_unsigned_integer();
            *column_type = ColumnType { length: Some(length), unsigned, ..ColumnType::new(kind) };
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
