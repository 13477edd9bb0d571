//! INSERT, REPLACE, UPDATE, DELETE and LOAD DATA.

use super::column::{find_column, table_columns};
use super::privilege::as_written;
use super::{Binder, ChangedTable, Wanted, block_hints};
use crate::lower::limited;
use ::expression::operators::ComparisonOperator;
use ::expression::{Expression, ExpressionKind};
use dictionary::{ColumnDefault, ColumnDefinition, IndexDefinition, IndexKind, TableDefinition};
use engine::{Table, WaitPolicy};
use errors::{SqlResult, sql_error};
use optimizer::{
    Block, Clause, IndexLimits, JoinGoal, JoinTree, Joined, Source, conjuncts, plan_joins, reads_whole,
    tables_of,
};
use parser::ast;
use plan::physical::{ExplainRow, Node, RowLimit, RowLock, SortKey};
use plan::{
    Assignment, DefaultValue, DeletePlan, InsertPlan, InsertRows, LoadPlan, LoadTarget, RowVariables,
    TableAccess, Target, TargetTable, UpdatePlan,
};
use std::sync::Arc;
use values::row::ColumnSet;

/// Columns of up to so many bytes are read with the row: to leave them out saves nothing.
const SHORT_BYTES: u32 = 1000;

impl Binder<'_> {
    /// INSERT and REPLACE.
    pub fn insert(&mut self, insert: &ast::Insert) -> SqlResult<InsertPlan> {
        self.enter()?;
        let table = self.base_table(&insert.table)?;
        let definition = table.definition().clone();
        self.require_insert(insert, &definition);
        let columns = self.target_columns(&definition, &insert.columns)?;
        self.require_assigned(&definition, &insert.on_duplicate, TableAccess::Update);
        let (explained, block_number) = (self.explain.len(), self.block_number);
        let mut rows = match &insert.source {
            ast::InsertSource::Query(query) => self.inserted_query(insert, query, columns.len())?,
            ast::InsertSource::Values(rows) => {
                self.push_target(&table, &insert.table.name);
                self.changed.push(ChangedTable::by_insert(&table, &insert.table.name));
                let rows = self.value_rows(rows, &definition, &columns);
                self.changed.clear();
                self.blocks.pop();
                InsertRows::Values(rows?)
            }
        };
        self.push_target(&table, &insert.table.name);
        self.changed.push(ChangedTable::by_insert(&table, &insert.table.name));
        let bound = self.insert_parts(insert, &definition, &columns);
        self.changed.clear();
        self.blocks.pop();
        self.leave();
        let (defaults, on_duplicate, on_update) = bound?;
        if let ast::InsertSource::Query(query) = &insert.source
            && !self.source.handed_on.is_empty()
        {
            // Bound anew, with the columns that the updates read.
            self.explain.truncate(explained);
            self.block_number = block_number;
            self.enter()?;
            rows = InsertRows::Query(self.query(query, "SIMPLE")?);
            self.leave();
        }
        let row = ExplainRow {
            id: Some(1),
            select_type: if insert.replace { "REPLACE" } else { "INSERT" },
            table: Some(insert.table.name.clone()),
            access: Some("ALL"),
            ..ExplainRow::default()
        };
        self.explain.insert(0, row);
        let kept = kept_of_existing(&definition, &on_duplicate, &on_update);
        let target = Target::new(table, defaults, on_update, kept, &[]);
        let (replace, ignore) = (insert.replace, insert.ignore);
        Ok(InsertPlan { target, replace, ignore, columns, rows, on_duplicate })
    }

    /// The query whose rows are inserted.
    fn inserted_query(
        &mut self,
        insert: &ast::Insert,
        query: &ast::Query,
        count: usize,
    ) -> SqlResult<InsertRows> {
        let is_select = matches!(query.body, ast::QueryBody::Select(_) | ast::QueryBody::Table(_));
        self.source.wanted = is_select && !insert.on_duplicate.is_empty();
        let plan = self.query(query, "SIMPLE")?;
        self.source.wanted = false;
        if plan.columns.len() != count {
            return Err(sql_error!(ER_WRONG_VALUE_COUNT_ON_ROW, 1));
        }
        Ok(InsertRows::Query(plan))
    }

    fn insert_parts(
        &mut self,
        insert: &ast::Insert,
        definition: &TableDefinition,
        columns: &[usize],
    ) -> SqlResult<(Vec<DefaultValue>, Vec<Assignment>, Vec<Assignment>)> {
        let defaults = self.defaults(definition)?;
        let count = definition.columns.len();
        if let Some(alias) = &insert.row_alias {
            self.row_alias(alias, definition, columns)?;
        } else {
            self.block().inserted_slots = RowVariables::of(count).inserted().collect();
            self.show_source(count);
        }
        let mut on_duplicate = Vec::with_capacity(insert.on_duplicate.len());
        for assignment in &insert.on_duplicate {
            let column = definition
                .column_position(&assignment.column.column)
                .ok_or_else(|| sql_error!(ER_BAD_FIELD_ERROR, assignment.column, "field list"))?;
            let value = self.assigned(&assignment.value, &definition.columns[column])?;
            on_duplicate.push(Assignment { column, value });
        }
        let on_update = self.on_update(definition, &on_duplicate)?;
        if insert.row_alias.is_none() {
            let read = self.block().slots.iter().skip(RowVariables::of(count).source());
            let handed_on = read.map(|(table, column)| (table - 1, *column)).collect();
            self.source.handed_on = handed_on;
        }
        Ok((defaults, on_duplicate, on_update))
    }

    /// Brings the tables of the inserted SELECT into sight of ON DUPLICATE KEY UPDATE. Their slots follow those of the
    /// row that is there and of the row to be inserted, `count` each.
    fn show_source(&mut self, count: usize) {
        let source = std::mem::take(&mut self.source);
        let block = self.block();
        block.slots.extend((0..count).map(|column| (0, column)));
        for mut table in source.tables {
            table.slots.fill(None);
            block.tables.push(table);
        }
        block.visible.extend(source.visible.iter().map(|(table, column)| (table + 1, *column)));
    }

    /// `VALUES (...) AS new(a, b)`: the row to be inserted under a name of its own.
    fn row_alias(
        &mut self,
        alias: &ast::RowAlias,
        definition: &TableDefinition,
        columns: &[usize],
    ) -> SqlResult<()> {
        if !alias.columns.is_empty() && alias.columns.len() != columns.len() {
            return Err(sql_error!(ER_VIEW_WRONG_LIST));
        }
        let mut bound = table_columns(definition);
        for column in &mut bound {
            column.result.nullable = true;
        }
        for (name, column) in alias.columns.iter().zip(columns) {
            bound[*column].name.clone_from(name);
        }
        let count = bound.len();
        let source = Source::Virtual(Arc::new(definition.clone()));
        self.add_table(alias.name.clone(), None, source, bound, IndexLimits::default())?;
        for column in 0..count {
            self.block().slot(1, column);
        }
        // Unqualified names mean the table, unless the alias renames its columns.
        if !alias.columns.is_empty() {
            let renamed = columns.iter().map(|column| (1, *column));
            self.block().visible.extend(renamed);
        }
        self.block().inserted_slots = RowVariables::of(count).inserted().collect();
        Ok(())
    }

    /// A block with one table whose slots are its columns.
    fn push_target(&mut self, table: &Arc<Table>, alias: &str) {
        let definition = table.definition();
        self.blocks.push(Block::default());
        let columns = table_columns(definition);
        let count = columns.len();
        let schema = Some(definition.name.schema.clone());
        let added = self.add_table(
            alias.to_owned(),
            schema,
            Source::Virtual(Arc::new(definition.clone())),
            columns,
            IndexLimits::default(),
        );
        if let Ok((_, visible)) = added {
            self.block().visible = visible;
        }
        for column in 0..count {
            self.block().slot(0, column);
        }
    }

    fn target_columns(
        &mut self,
        definition: &TableDefinition,
        named: &[ast::ColumnReference],
    ) -> SqlResult<Vec<usize>> {
        if named.is_empty() {
            self.require_every_column(definition, TableAccess::Insert);
            return Ok((0..definition.columns.len())
                .filter(|column| !definition.columns[*column].invisible)
                .collect());
        }
        let mut columns = Vec::with_capacity(named.len());
        for reference in named {
            let column = definition
                .column_position(&reference.column)
                .ok_or_else(|| sql_error!(ER_BAD_FIELD_ERROR, reference, "field list"))?;
            let name = as_written(&definition.columns[column].name, &reference.column);
            self.require_column(&definition.name, name, TableAccess::Insert);
            if columns.contains(&column) {
                return Err(sql_error!(ER_FIELD_SPECIFIED_TWICE, reference.column));
            }
            columns.push(column);
        }
        Ok(columns)
    }

    fn value_rows(
        &mut self,
        rows: &[Vec<ast::Expression>],
        definition: &TableDefinition,
        columns: &[usize],
    ) -> SqlResult<Vec<Vec<Option<Expression>>>> {
        let mut bound = Vec::with_capacity(rows.len());
        for (number, row) in rows.iter().enumerate() {
            // `VALUES ()` is a row of defaults.
            if row.len() != columns.len() && !row.is_empty() {
                return Err(sql_error!(ER_WRONG_VALUE_COUNT_ON_ROW, number + 1));
            }
            let values = row.iter().zip(columns);
            let row: SqlResult<Vec<Option<Expression>>> =
                values.map(|(value, column)| self.assigned(value, &definition.columns[*column])).collect();
            bound.push(row?);
        }
        Ok(bound)
    }

    /// The value of an assignment to a column; None for DEFAULT.
    fn assigned(
        &mut self,
        value: &ast::Expression,
        column: &ColumnDefinition,
    ) -> SqlResult<Option<Expression>> {
        match value {
            ast::Expression::Default(None) => Ok(None),
            other => self.scalar_as(other, Wanted::any_for(&column.column_type)).map(Some),
        }
    }

    fn defaults(&mut self, definition: &TableDefinition) -> SqlResult<Vec<DefaultValue>> {
        let mut defaults = Vec::with_capacity(definition.columns.len());
        for column in &definition.columns {
            defaults.push(match &column.default {
                ColumnDefault::Literal(value) => DefaultValue::Stored(value.clone()),
                ColumnDefault::None if column.nullable => DefaultValue::Stored(values::Value::Null),
                ColumnDefault::None => DefaultValue::Missing,
                _ => DefaultValue::Expression(self.default_value(column)?),
            });
        }
        Ok(defaults)
    }

    /// Columns with ON UPDATE CURRENT_TIMESTAMP that are not assigned.
    fn on_update(
        &mut self,
        definition: &TableDefinition,
        assigned: &[Assignment],
    ) -> SqlResult<Vec<Assignment>> {
        let mut more = Vec::new();
        for (position, column) in definition.columns.iter().enumerate() {
            if let Some(digits) = column.on_update_now
                && assigned.iter().all(|assignment| assignment.column != position)
            {
                more.push(Assignment { column: position, value: Some(self.current_timestamp(digits)?) });
            }
        }
        Ok(more)
    }

    /// Binds a statement that finds the rows which it changes, in a block of its own.
    fn changing<T>(
        &mut self,
        with: Option<&ast::With>,
        hints: &[ast::Hint],
        parts: impl FnOnce(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let before = self.with_clause(with)?;
        self.enter()?;
        self.block_number += 1;
        self.blocks.push(Block { number: self.block_number, ..Block::default() });
        block_hints::enter(self, hints);
        let plan = parts(self);
        self.blocks.pop();
        self.leave();
        self.common_tables.truncate(before);
        plan
    }

    /// UPDATE of one table or several.
    pub fn update(&mut self, update: &ast::Update) -> SqlResult<UpdatePlan> {
        self.changing(update.with.as_ref(), &update.hints, |binder| binder.update_parts(update))
    }

    fn update_parts(&mut self, update: &ast::Update) -> SqlResult<UpdatePlan> {
        let tree = self.bind_from(&update.tables)?;
        block_hints::check_names(self);
        let several = self.block().tables.len() > 1;
        self.require_update(several);
        if several && (!update.order_by.is_empty() || update.limit.is_some()) {
            let clause = if update.limit.is_some() { "LIMIT" } else { "ORDER BY" };
            return Err(sql_error!(ER_WRONG_USAGE, "UPDATE", clause));
        }
        for assignment in &update.assignments {
            if let Some((table, _)) = find_column(self.block(), &assignment.column)? {
                self.change(table);
            }
        }
        // MySQL looks at WHERE first.
        let conditions = self.where_conditions(update.filter.as_ref())?;
        self.require_updated(&update.assignments)?;
        let mut assigned: Vec<(usize, Assignment)> = Vec::with_capacity(update.assignments.len());
        for assignment in &update.assignments {
            let Some((table, column)) = find_column(self.block(), &assignment.column)? else {
                return Err(sql_error!(ER_BAD_FIELD_ERROR, assignment.column, "field list"));
            };
            let bound = &self.block().tables[table];
            let Source::Base(base) = &bound.source else {
                return Err(sql_error!(ER_NON_UPDATABLE_TABLE, bound.alias, "UPDATE"));
            };
            let base = base.clone();
            let value = self.assigned(&assignment.value, &base.definition().columns[column])?;
            assigned.push((table, Assignment { column, value }));
        }
        let mut numbers = tree.as_ref().map(JoinTree::leaves).unwrap_or_default();
        numbers.retain(|number| assigned.iter().any(|(table, _)| table == number));
        let mut targets = Vec::with_capacity(numbers.len());
        for number in numbers {
            let own =
                assigned.iter().filter(|(table, _)| *table == number).map(|(_, one)| one.clone()).collect();
            targets.push(self.target(number, own, true, several)?);
        }
        let limit =
            update.limit.as_ref().map(|limit| self.scalar_as(limit, Wanted::row_count())).transpose()?;
        let mut all_conditions = tree.as_ref().map(JoinTree::conditions).unwrap_or_default();
        all_conditions.extend_from_slice(&conditions);
        let (node, index, first) = self.changed_rows(tree, conditions, &update.order_by, limit, "UPDATE")?;
        check_key_conflicts(&targets)?;
        for target in &mut targets {
            let block = self.block();
            let is_same = |table: &&super::BoundTable| matches!(&table.source, Source::Base(base) if base.id() == target.base.table.id());
            let is_first = first.is_some_and(|first| block.tables[first].key_slot == Some(target.key_slot));
            let index = index_read_for(&node, target.key_slot);
            // MySQL changes such a table at once; what waits for the end of the search is not in the rows that are found.
            let stays = || {
                !moves_rows(target, index.unwrap_or(0))
                    && first.is_some_and(|first| {
                        !is_read_later(block, first, &target.assignments, &all_conditions)
                    })
            };
            let is_alone = block.tables.iter().filter(is_same).count() == 1;
            target.sees_changes = is_first && is_alone && (!several || stays());
            target.changes_at_once =
                target.sees_changes && index.is_some_and(|index| !moves_rows(target, index));
        }
        let moves = targets.iter().any(|target| moves_rows(target, index));
        let ordered = !update.order_by.is_empty();
        let buffered = several || moves || ordered || !matches!(node, Node::Table(_) | Node::Limit { .. });
        let reads_whole = reads_whole(&mut self.survey(), &node);
        Ok(UpdatePlan { node, targets, ignore: update.ignore, buffered, reads_whole })
    }

    /// From here on no subquery may read that table of the block.
    fn change(&mut self, number: usize) {
        if let Source::Base(table) = &self.block().tables[number].source {
            let id = table.id();
            let name = self.block().tables[number].alias.clone();
            self.changed.push(ChangedTable { id, name, by_name: false });
        }
    }

    /// A table whose rows will be changed: its key and, for UPDATE, its columns are read under lock, but for long ones that nothing
    /// looks at. `several`: rows of several tables are put together.
    fn target(
        &mut self,
        number: usize,
        assignments: Vec<Assignment>,
        whole: bool,
        several: bool,
    ) -> SqlResult<TargetTable> {
        let bound = &mut self.block().tables[number];
        bound.lock = RowLock::Exclusive(WaitPolicy::Wait);
        let alias = bound.alias.clone();
        let Source::Base(table) = &bound.source else {
            return Err(sql_error!(ER_NON_UPDATABLE_TABLE, alias, if whole { "UPDATE" } else { "DELETE" }));
        };
        let table = table.clone();
        let key_slot = self.block().key_slot(number);
        let (mut kept, mut unread) = (Vec::new(), false);
        if whole {
            for column in 0..table.definition().columns.len() {
                let is_read = self.block().tables[number].slots[column].is_some();
                let is_assigned = assignments.iter().any(|assignment| assignment.column == column);
                if is_read || !may_stay_unread(table.definition(), column) || is_assigned && several {
                    self.block().slot(number, column);
                } else if is_assigned {
                    unread = true;
                } else {
                    kept.push(column);
                }
            }
        }
        let slots = self.block().tables[number].slots.clone();
        let definition = table.definition().clone();
        let on_update = self.on_update(&definition, &assignments)?;
        let defaults = self.defaults(&definition)?;
        let base = Target::new(table, defaults, on_update, ColumnSet::of(kept), &assignments);
        let (sees_changes, changes_at_once) = (false, false);
        Ok(TargetTable { base, alias, slots, unread, key_slot, assignments, sees_changes, changes_at_once })
    }

    fn where_conditions(&mut self, filter: Option<&ast::Expression>) -> SqlResult<Vec<Expression>> {
        let Some(filter) = filter else { return Ok(Vec::new()) };
        let clause = std::mem::replace(&mut self.block().clause, Clause::Where);
        let bound = self.scalar_as(filter, Wanted::integer());
        self.block().clause = clause;
        let conditions = conjuncts(bound?);
        self.compare_joined_dates(&conditions);
        Ok(conditions)
    }

    /// The rows of UPDATE and DELETE, the index by which a table alone is read, and which table comes first.
    fn changed_rows(
        &mut self,
        mut tree: Option<JoinTree>,
        conditions: Vec<Expression>,
        order_by: &[ast::OrderItem],
        limit: Option<Expression>,
        select_type: &'static str,
    ) -> SqlResult<(Node, usize, Option<usize>)> {
        self.block().clause = Clause::OrderBy;
        let mut keys = Vec::with_capacity(order_by.len());
        for item in order_by {
            keys.push(SortKey { expression: self.scalar(&item.expression)?, descending: item.descending });
        }
        let limit = limit.map(|count| RowLimit { count: Some(count), offset: None });
        self.plan_open_tables()?;
        let mut conditions = self.settled_from(tree.as_mut(), conditions)?;
        self.keep_times(tree.as_mut(), &mut conditions, &mut []);
        self.ask_first(conditions.iter());
        let rows_wanted = limit.as_ref().map(|_| 10.0);
        let goal = JoinGoal { order: keys.clone(), rows_wanted, ..JoinGoal::default() };
        let Joined { node, ordered, mut explain, first, .. } =
            plan_joins(&mut self.optimizer(), tree, conditions, Vec::new(), goal, false)?;
        let number = self.block().number;
        for row in &mut explain {
            row.id = Some(number);
            row.select_type = select_type;
        }
        self.explain.extend(explain);
        let index = match &node {
            Node::Table(access) => access.path.index,
            _ => 0,
        };
        let node = if keys.is_empty() || ordered {
            node
        } else {
            Node::Sort { input: Box::new(node), keys, limit: limit.clone() }
        };
        Ok((limited(node, limit, false), index, first))
    }

    /// DELETE from one table or several.
    pub fn delete(&mut self, delete: &ast::Delete) -> SqlResult<DeletePlan> {
        self.changing(delete.with.as_ref(), &delete.hints, |binder| binder.delete_parts(delete))
    }

    fn delete_parts(&mut self, delete: &ast::Delete) -> SqlResult<DeletePlan> {
        let (tree, numbers) = match &delete.source {
            ast::DeleteSource::Single(factor) => {
                let tree = self.bind_from(&[ast::TableReference::Table(factor.clone())])?;
                (tree, vec![0])
            }
            ast::DeleteSource::Multiple { targets, from } => {
                let tree = self.bind_from(from)?;
                self.require_read();
                let mut numbers = Vec::with_capacity(targets.len());
                for target in targets {
                    let found = self.block().tables.iter().position(|table| {
                        table.alias == target.name
                            && target
                                .schema
                                .as_ref()
                                .is_none_or(|schema| table.schema.as_ref() == Some(schema))
                    });
                    let number =
                        found.ok_or_else(|| sql_error!(ER_UNKNOWN_TABLE, target.name, "MULTI DELETE"))?;
                    if numbers.contains(&number) {
                        return Err(sql_error!(ER_NONUNIQ_TABLE, target.name));
                    }
                    numbers.push(number);
                }
                (tree, numbers)
            }
        };
        block_hints::check_names(self);
        let mut targets = Vec::with_capacity(numbers.len());
        for number in numbers {
            self.change(number);
            let target = self.target(number, Vec::new(), false, false)?;
            let name = target.base.table.definition().name.clone();
            self.require_table(&name, TableAccess::Delete);
            targets.push(target);
        }
        let limit =
            delete.limit.as_ref().map(|limit| self.scalar_as(limit, Wanted::row_count())).transpose()?;
        let conditions = self.where_conditions(delete.filter.as_ref())?;
        let (node, ..) = self.changed_rows(tree, conditions, &delete.order_by, limit, "DELETE")?;
        let buffered = targets.len() > 1 || !matches!(node, Node::Table(_) | Node::Limit { .. });
        let reads_whole = reads_whole(&mut self.survey(), &node);
        Ok(DeletePlan { node, targets, ignore: delete.ignore, buffered, reads_whole })
    }

    /// LOAD DATA.
    pub fn load(&mut self, load: &ast::Load) -> SqlResult<LoadPlan> {
        if load.xml {
            return Err(sql_error!(ER_NOT_SUPPORTED_YET, "LOAD XML"));
        }
        if !load.format.has_single_marks() {
            return Err(sql_error!(ER_WRONG_FIELD_TERMINATORS));
        }
        self.enter()?;
        let table = self.base_table(&load.table)?;
        let definition = table.definition().clone();
        let replaces = load.duplicates == ast::LoadDuplicates::Replace;
        let access = if replaces { TableAccess::Replace } else { TableAccess::Insert };
        self.require_table(&definition.name, access);
        let mut fields = Vec::with_capacity(load.columns.len());
        for field in &load.columns {
            fields.push(match field {
                ast::LoadColumn::Column(reference) => LoadTarget::Column(
                    definition
                        .column_position(&reference.column)
                        .ok_or_else(|| sql_error!(ER_BAD_FIELD_ERROR, reference, "field list"))?,
                ),
                ast::LoadColumn::UserVariable(name) => LoadTarget::Variable(name.to_lowercase()),
            });
        }
        let has_variable = fields.iter().any(|field| matches!(field, LoadTarget::Variable(_)));
        if has_variable && load.format.has_fixed_rows() {
            return Err(sql_error!(ER_LOAD_FROM_FIXED_SIZE_ROWS_TO_VAR));
        }
        if load.columns.is_empty() {
            let shown = (0..definition.columns.len()).filter(|column| !definition.columns[*column].invisible);
            fields = shown.map(LoadTarget::Column).collect();
        }
        for field in &fields {
            if let LoadTarget::Column(column) = field {
                self.require_column(&definition.name, &definition.columns[*column].name, TableAccess::Insert);
            }
        }
        self.require_assigned(&definition, &load.assignments, TableAccess::Insert);
        self.push_target(&table, &load.table.name);
        let bound = self.load_parts(load, &definition);
        self.blocks.pop();
        self.leave();
        let (defaults, assignments) = bound?;
        let collation = match &load.charset {
            Some(name) => super::literal::character_set(name)?,
            None => charset::CollationId::UTF8MB4_0900_AI_CI,
        };
        let ignore = load.duplicates == ast::LoadDuplicates::Ignore
            || load.local && load.duplicates == ast::LoadDuplicates::Error;
        let insert = InsertPlan {
            target: Target::new(table, defaults, Vec::new(), ColumnSet::none(), &[]),
            replace: replaces,
            ignore,
            columns: (0..definition.columns.len()).collect(),
            rows: InsertRows::Values(Vec::new()),
            on_duplicate: Vec::new(),
        };
        Ok(LoadPlan { insert, fields, assignments, load: load.clone(), collation })
    }

    fn load_parts(
        &mut self,
        load: &ast::Load,
        definition: &TableDefinition,
    ) -> SqlResult<(Vec<DefaultValue>, Vec<Assignment>)> {
        let defaults = self.defaults(definition)?;
        let mut assignments = Vec::with_capacity(load.assignments.len());
        for assignment in &load.assignments {
            let column = definition
                .column_position(&assignment.column.column)
                .ok_or_else(|| sql_error!(ER_BAD_FIELD_ERROR, assignment.column, "field list"))?;
            let value = self.assigned(&assignment.value, &definition.columns[column])?;
            assignments.push(Assignment { column, value });
        }
        Ok((defaults, assignments))
    }
}

/// Error 1706: a row that is changed under two names must be found again under the second one.
fn check_key_conflicts(targets: &[TargetTable]) -> SqlResult<()> {
    let changes_key = |target: &TargetTable| {
        let key = target.base.table.indexes()[0].definition(&target.base.table);
        let is_part =
            |column: usize| key.is_some_and(|key| key.parts.iter().any(|part| part.column == column));
        target.assignments.iter().any(|assignment| is_part(assignment.column))
    };
    for (at, target) in targets.iter().enumerate() {
        let other = targets[at + 1..].iter().find(|other| other.base.table.id() == target.base.table.id());
        if let Some(other) = other
            && (changes_key(target) || changes_key(other))
        {
            return Err(sql_error!(ER_MULTI_UPDATE_KEY_CONFLICT, target.alias, other.alias));
        }
    }
    Ok(())
}

/// The index by which the table that fills a slot with its keys is read, where it is the outermost of the joins.
fn index_read_for(node: &Node, key_slot: usize) -> Option<usize> {
    match node {
        Node::Table(access) => (access.key_slot == Some(key_slot)).then_some(access.path.index),
        Node::Filter { input, .. } => index_read_for(input, key_slot),
        Node::NestedLoop(join) => index_read_for(&join.outer, key_slot),
        Node::HashJoin(join) => index_read_for(&join.probe, key_slot),
        _ => None,
    }
}

/// Whether the change may move a row within the index by which it was found.
fn moves_rows(target: &TargetTable, index: usize) -> bool {
    let table = &target.base.table;
    let parts: Vec<usize> = [0, index]
        .iter()
        .filter_map(|index| table.indexes()[*index].definition(table))
        .flat_map(|definition| definition.parts.iter().map(|part| part.column))
        .collect();
    target
        .assignments
        .iter()
        .chain(&target.base.on_update)
        .any(|assignment| parts.contains(&assignment.column))
}

/// Whether tables that are read behind the first look at what is assigned to it, other than to look up their keys.
fn is_read_later(block: &Block, first: usize, assigned: &[Assignment], conditions: &[Expression]) -> bool {
    let reads = |condition: &Expression| {
        condition.any(&|part| {
            let place = block.place(part);
            place.is_some_and(|(table, column)| {
                table == first && assigned.iter().any(|one| one.column == column)
            })
        })
    };
    let is_key = |side: &Expression| {
        block.place(side).is_some_and(|(table, column)| {
            let Source::Base(base) = &block.tables[table].source else { return false };
            let mut indexes = base.definition().indexes.iter();
            table != first
                && indexes.any(|index| index.parts.first().is_some_and(|part| part.column == column))
        })
    };
    let looks_up = |condition: &Expression| match &condition.kind {
        ExpressionKind::Compare(comparison) => {
            comparison.operator == ComparisonOperator::Equal
                && (is_key(&comparison.left) || is_key(&comparison.right))
        }
        _ => false,
    };
    let reads_others = |condition: &Expression| tables_of(block, condition) & !(1 << first) != 0;
    let mut terms = conditions.iter().flat_map(|condition| match &condition.kind {
        ExpressionKind::And(terms) => terms.as_slice(),
        _ => std::slice::from_ref(condition),
    });
    terms.any(|term| reads_others(term) && reads(term) && !looks_up(term))
}

/// Columns of the row that is there that ON DUPLICATE KEY UPDATE neither changes nor reads, and that may be long.
fn kept_of_existing(
    definition: &TableDefinition,
    on_duplicate: &[Assignment],
    on_update: &[Assignment],
) -> ColumnSet {
    let assigned = || on_duplicate.iter().chain(on_update);
    let reads =
        |expression: &Expression, column: usize| expression.any(&|part| part.column_slot() == Some(column));
    // DEFAULT may be an expression over other columns.
    let touches = |one: &Assignment, column: usize| {
        one.column == column || one.value.as_ref().is_none_or(|value| reads(value, column))
    };
    let is_kept =
        |column: &usize| may_stay_unread(definition, *column) && !assigned().any(|one| touches(one, *column));
    ColumnSet::of((0..definition.columns.len()).filter(is_kept))
}

/// Whether a change of a row leaves a column where it is, if it does not read it: it may be long, and no message about a key can name it.
pub(crate) fn may_stay_unread(definition: &TableDefinition, column: usize) -> bool {
    let column_type = &definition.columns[column].column_type;
    let may_be_long = column_type.kind.is_large_object()
        || column_type.kind.is_string() && column_type.row_bytes() > SHORT_BYTES;
    let of_key = |index: &IndexDefinition| {
        index.kind != IndexKind::Plain && index.parts.iter().any(|part| part.column == column)
    };
    may_be_long && !definition.indexes.iter().any(of_key)
}
