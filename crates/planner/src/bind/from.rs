//! FROM: tables, derived tables, views and common tables; the join tree with its conditions. Main function: [`Binder::bind_from`].

use super::column::{derived_columns, table_columns};
use super::{Binder, BoundCommonTable, ChangedTable, CommonTable, Wanted, index_hints};
use ::expression::Expression;
use ::expression::operators::ComparisonOperator;
use errors::{SqlResult, sql_error};
use optimizer::{
    BoundColumn, BoundTable, Clause, Derived, IndexLimits, JoinTree, Source, TABLES_MAX, conjuncts,
};
use parser::ast;
use plan::physical::{CommonTableUse, RowLock};
use std::sync::Arc;

/// Columns by which a FROM item is seen: (table, column).
type Visible = Vec<(usize, usize)>;

impl Binder<'_> {
    /// Binds FROM into the current block.
    pub fn bind_from(&mut self, items: &[ast::TableReference]) -> SqlResult<Option<JoinTree>> {
        let mut tree: Option<JoinTree> = None;
        for item in items {
            let (right, visible) = self.table_reference(item)?;
            self.block().visible.extend(visible);
            tree = Some(match tree {
                None => right,
                Some(left) => JoinTree::Join {
                    left: Box::new(left),
                    right: Box::new(right),
                    outer: false,
                    conditions: Vec::new(),
                    straight: false,
                },
            });
        }
        Ok(tree)
    }

    fn table_reference(&mut self, item: &ast::TableReference) -> SqlResult<(JoinTree, Visible)> {
        match item {
            ast::TableReference::Table(factor) => self.table_factor(factor),
            ast::TableReference::Derived { query, lateral, alias, columns } => {
                if *lateral {
                    return Err(sql_error!(ER_NOT_SUPPORTED_YET, "LATERAL"));
                }
                let assigns = std::mem::take(&mut self.assigns);
                let plan = self.detached_query(query, "DERIVED")?;
                let number = self.block_number;
                if std::mem::replace(&mut self.assigns, assigns) {
                    self.assigning.push(number);
                    self.assigns = true;
                }
                self.add_derived(alias, plan, columns, (None, number))
            }
            ast::TableReference::JsonTable(_) => Err(sql_error!(ER_NOT_SUPPORTED_YET, "JSON_TABLE")),
            ast::TableReference::Join(join) => self.join(join),
            ast::TableReference::Nested(items) => {
                let mut all: Option<(JoinTree, Visible)> = None;
                for item in items {
                    let (right, right_visible) = self.table_reference(item)?;
                    all = Some(match all {
                        None => (right, right_visible),
                        Some((left, mut visible)) => {
                            visible.extend(right_visible);
                            let tree = JoinTree::Join {
                                left: Box::new(left),
                                right: Box::new(right),
                                outer: false,
                                conditions: Vec::new(),
                                straight: false,
                            };
                            (tree, visible)
                        }
                    });
                }
                all.ok_or_else(|| sql_error!(ER_NO_TABLES_USED))
            }
        }
    }

    fn join(&mut self, join: &ast::Join) -> SqlResult<(JoinTree, Visible)> {
        let (left, left_visible) = self.table_reference(&join.left)?;
        let (right, right_visible) = self.table_reference(&join.right)?;
        let flipped = join.kind == ast::JoinKind::Right;
        let (conditions, visible) = if join.natural {
            let common = self.common_names(&left_visible, &right_visible);
            self.using(&common, &left_visible, &right_visible, flipped)?
        } else {
            match &join.condition {
                ast::JoinCondition::Using(names) => {
                    self.using(names, &left_visible, &right_visible, flipped)?
                }
                ast::JoinCondition::On(condition) => {
                    let visible: Visible = left_visible.iter().chain(&right_visible).copied().collect();
                    (self.on_condition(condition, &visible)?, visible)
                }
                ast::JoinCondition::None => {
                    (Vec::new(), left_visible.iter().chain(&right_visible).copied().collect())
                }
            }
        };
        let (left, right) = if flipped { (right, left) } else { (left, right) };
        let outer = matches!(join.kind, ast::JoinKind::Left | ast::JoinKind::Right);
        let straight = join.kind == ast::JoinKind::Straight;
        if outer || straight {
            self.refuse_recursion_in(&right)?;
        }
        if outer {
            self.make_nullable(&right);
        }
        let tree =
            JoinTree::Join { left: Box::new(left), right: Box::new(right), outer, conditions, straight };
        Ok((tree, visible))
    }

    /// The columns of the inner side of an outer join can be NULL.
    fn make_nullable(&mut self, tree: &JoinTree) {
        let joined = tree.tables();
        for (number, table) in self.block().tables.iter_mut().enumerate() {
            if joined >> number & 1 == 1 {
                table.columns.iter_mut().for_each(|column| column.result.nullable = true);
            }
        }
    }

    /// Error 3576: a recursive table must come first, because each round reads it once.
    fn refuse_recursion_in(&mut self, tree: &JoinTree) -> SqlResult<()> {
        let joined = tree.tables();
        let recursion = |(number, table): (usize, &BoundTable)| match table.source {
            Source::Recursion(id) if joined >> number & 1 == 1 => Some(id),
            _ => None,
        };
        let Some(id) = self.block().tables.iter().enumerate().find_map(recursion) else { return Ok(()) };
        let is_it = |known: &&CommonTable| known.recursion.as_ref().is_some_and(|(own, _)| *own == id);
        let name = self.common_tables.iter().find(is_it).map_or("", |known| known.name.as_str());
        Err(sql_error!(ER_CTE_RECURSIVE_FORBIDDEN_JOIN_ORDER, name))
    }

    /// ON sees the tables of its join (and outer queries), not those that follow.
    fn on_condition(&mut self, condition: &ast::Expression, visible: &Visible) -> SqlResult<Vec<Expression>> {
        let block = self.block();
        let saved = std::mem::replace(&mut block.visible, visible.clone());
        let clause = std::mem::replace(&mut block.clause, Clause::On);
        let bound = self.scalar_as(condition, Wanted::integer());
        let block = self.block();
        block.visible = saved;
        block.clause = clause;
        Ok(conjuncts(bound?))
    }

    fn column_name(&mut self, at: (usize, usize)) -> String {
        self.block().tables[at.0].columns[at.1].name.clone()
    }

    fn common_names(&mut self, left: &Visible, right: &Visible) -> Vec<String> {
        let names: Vec<String> = right.iter().map(|at| self.column_name(*at)).collect();
        let left: Vec<String> = left.iter().map(|at| self.column_name(*at)).collect();
        left.into_iter().filter(|name| names.iter().any(|other| other.eq_ignore_ascii_case(name))).collect()
    }

    /// USING: equal columns are shown once and first, in the order that they have in the first table. For RIGHT JOIN
    /// that is the right one.
    fn using(
        &mut self,
        names: &[String],
        left: &Visible,
        right: &Visible,
        flipped: bool,
    ) -> SqlResult<(Vec<Expression>, Visible)> {
        let mut conditions = Vec::new();
        let (mut shown, mut hidden) = (Vec::new(), Vec::new());
        for name in names {
            let left_at = self.using_column(name, left)?;
            let right_at = self.using_column(name, right)?;
            let level = self.blocks.len() - 1;
            let left_column = self.column_at(level, left_at.0, left_at.1, name);
            let right_column = self.column_at(level, right_at.0, right_at.1, name);
            let equal =
                Expression::compare(ComparisonOperator::Equal, left_column, right_column, self.facts)?;
            conditions.push(equal);
            shown.push(if flipped { right_at } else { left_at });
            hidden.extend([left_at, right_at]);
        }
        let (first, second) = if flipped { (right, left) } else { (left, right) };
        let common = first.iter().filter(|at| shown.contains(at));
        let rest = first.iter().chain(second).filter(|at| !hidden.contains(at));
        let visible = common.chain(rest).copied().collect();
        Ok((conditions, visible))
    }

    fn using_column(&mut self, name: &str, visible: &Visible) -> SqlResult<(usize, usize)> {
        let mut found = None;
        for at in visible {
            if self.column_name(*at).eq_ignore_ascii_case(name) {
                if found.is_some() {
                    return Err(sql_error!(ER_NON_UNIQ_ERROR, name, "from clause"));
                }
                found = Some(*at);
            }
        }
        found.ok_or_else(|| sql_error!(ER_BAD_FIELD_ERROR, name, "from clause"))
    }

    fn table_factor(&mut self, factor: &ast::TableFactor) -> SqlResult<(JoinTree, Visible)> {
        if !factor.partitions.is_empty() {
            return Err(sql_error!(ER_PARTITION_CLAUSE_ON_NONPARTITIONED));
        }
        let alias = factor.alias.clone().unwrap_or_else(|| factor.name.name.clone());
        if factor.name.schema.is_none()
            && let Some(common) =
                self.common_tables.iter().rev().find(|common| common.name == factor.name.name)
        {
            let common = common.clone();
            return self.common_table(&alias, common);
        }
        let schema = self.schema_of(&factor.name)?;
        if self.input.engine.dictionary().table(&schema, &factor.name.name).is_some() {
            let table = self.base_table(&factor.name)?;
            let is_it = |changed: &&ChangedTable| {
                changed.id == table.id() && (!changed.by_name || changed.name == alias)
            };
            if let Some(changed) = self.changed.iter().find(is_it) {
                self.conflict.get_or_insert(sql_error!(ER_UPDATE_TABLE_USED, changed.name));
            }
            let mut hints = index_hints::checked(&factor.index_hints, table.definition(), &alias)?;
            // Those of the comment go before those of FROM.
            if let Some(hinted) = self.block().hints.index_hints(table.definition(), &alias) {
                hints = hinted;
            }
            let columns = table_columns(table.definition(), &alias);
            let limits = index_hints::limits_of(&hints, table.definition());
            return self.add_table(alias, Some(schema), Source::Base(table), columns, limits);
        }
        if let Some(view) = self.input.virtual_tables.view(&schema, &factor.name.name) {
            let saved = self.schema.replace(view.schema.clone());
            // A view sees no common tables of the statement.
            let common_tables = std::mem::take(&mut self.common_tables);
            let plan = self.detached_query(&view.query, "DERIVED");
            self.common_tables = common_tables;
            self.schema = saved;
            self.volatile = true;
            let names = view.columns;
            let number = self.block_number;
            let (tree, visible) = self.add_derived(&alias, plan?, &names, (None, number))?;
            if let Some(table) = self.block().tables.last_mut() {
                table.schema = Some(schema);
            }
            return Ok((tree, visible));
        }
        if let Some(definition) = self.input.virtual_tables.table(&schema, &factor.name.name) {
            let columns = table_columns(&definition, &alias);
            let key_columns = self.input.virtual_tables.key_columns(&definition);
            let source = Source::Virtual(definition);
            let added = self.add_table(alias, Some(schema), source, columns, IndexLimits::default())?;
            if let Some(table) = self.block().tables.last_mut() {
                table.key_columns = key_columns;
            }
            return Ok(added);
        }
        Err(self.unknown_table(&schema, &factor.name.name))
    }

    fn common_table(&mut self, alias: &str, common: CommonTable) -> SqlResult<(JoinTree, Visible)> {
        if let Some((id, columns)) = &common.recursion {
            let scope = &mut self.recursion_scopes[*id];
            scope.uses += 1;
            scope.nested_uses += usize::from(self.depth > scope.depth + 1);
            let bound = derived_columns(columns, alias, &common.columns, true);
            return self.add_table(
                alias.to_owned(),
                None,
                Source::Recursion(*id),
                bound,
                IndexLimits::default(),
            );
        }
        let bound = match common.bound.clone() {
            Some(bound) => bound,
            None => self.bind_common_table(&common)?,
        };
        self.common_table_uses[bound.number].uses += 1;
        self.add_derived(alias, bound.query, &common.columns, (Some(bound.number), bound.block_number))
    }

    /// Binds a common table for all who name it; one that reads the rows of a recursion around it, for this use.
    fn bind_common_table(&mut self, common: &CommonTable) -> SqlResult<BoundCommonTable> {
        // A common table sees those before it, not itself (unless it is recursive) and not those after it.
        let position = self.common_tables.iter().rposition(|known| known.name == common.name).unwrap_or(0);
        let later = self.common_tables.split_off(position);
        let recursions = self.recursion_scopes.len();
        let uses = |binder: &Binder<'_>| -> usize {
            binder.recursion_scopes[..recursions].iter().map(|scope| scope.uses).sum()
        };
        let uses_before = uses(self);
        let plan = if common.recursive {
            self.recursive_query(common).map(|plan| Derived::Planned(Arc::new(plan)))
        } else {
            self.detached_query(&common.query, "DERIVED")
        };
        self.common_tables.extend(later);
        let number = self.common_table_uses.len();
        self.common_table_uses.push(CommonTableUse { name: common.name.clone(), uses: 0 });
        let bound = BoundCommonTable { query: plan?, number, block_number: self.block_number };
        if uses(self) == uses_before {
            self.common_tables[position].bound = Some(bound.clone());
        }
        Ok(bound)
    }

    fn add_derived(
        &mut self,
        alias: &str,
        query: Derived,
        names: &[String],
        (common_table, block_number): (Option<usize>, u32),
    ) -> SqlResult<(JoinTree, Visible)> {
        if !names.is_empty() && names.len() != query.columns().len() {
            return Err(sql_error!(ER_VIEW_WRONG_LIST));
        }
        let kept = query.is_kept() || self.assigning.contains(&block_number);
        let columns = derived_columns(query.columns(), alias, names, kept);
        for (position, column) in columns.iter().enumerate() {
            if columns[..position].iter().any(|other| other.name.eq_ignore_ascii_case(&column.name)) {
                return Err(sql_error!(ER_DUP_FIELDNAME, column.name));
            }
        }
        let source = Source::Derived(query, common_table);
        let result = self.add_table(alias.to_owned(), None, source, columns, IndexLimits::default());
        if let Some(table) = self.block().tables.last_mut() {
            table.derived_number = Some(block_number);
        }
        result
    }

    /// Adds a table to the current block; error 1066 for an alias that is taken.
    pub fn add_table(
        &mut self,
        alias: String,
        schema: Option<String>,
        source: Source,
        columns: Vec<BoundColumn>,
        limits: IndexLimits,
    ) -> SqlResult<(JoinTree, Visible)> {
        let block = self.block();
        if block.tables.iter().any(|table| table.alias == alias && table.schema == schema) {
            return Err(sql_error!(ER_NONUNIQ_TABLE, alias));
        }
        if block.tables.len() == TABLES_MAX {
            return Err(sql_error!(ER_TOO_MANY_TABLES, TABLES_MAX));
        }
        let number = block.tables.len();
        let is_read_in_place = matches!(source, Source::Base(_) | Source::Virtual(_));
        let is_looped = is_read_in_place && block.hints.refuses_join_buffer(&alias);
        let visible = columns
            .iter()
            .enumerate()
            .filter(|(_, column)| !column.invisible)
            .map(|(position, _)| (number, position))
            .collect();
        block.tables.push(BoundTable {
            alias,
            schema,
            source,
            slots: vec![None; columns.len()],
            columns,
            key_slot: None,
            key_columns: Vec::new(),
            is_looped,
            limits,
            lock: RowLock::None,
            derived_number: None,
        });
        Ok((JoinTree::Table(number), visible))
    }

    /// Puts the tables of a WITH clause in scope; returns how many were there before.
    pub fn with_clause(&mut self, with: Option<&ast::With>) -> SqlResult<usize> {
        let before = self.common_tables.len();
        let Some(with) = with else { return Ok(before) };
        for table in &with.tables {
            if self.common_tables[before..].iter().any(|known| known.name == table.name) {
                return Err(sql_error!(ER_NONUNIQ_TABLE, table.name));
            }
            self.common_tables.push(CommonTable {
                name: table.name.clone(),
                columns: table.columns.clone(),
                query: Arc::new((*table.query).clone()),
                recursive: with.recursive,
                recursion: None,
                bound: None,
            });
        }
        Ok(before)
    }
}
