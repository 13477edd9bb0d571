//! FROM: tables, derived tables, views and common tables; the join tree with its conditions. Main function: [`bind_from`].

use super::column::{derived_columns, table_columns};
use super::json_table::json_table;
use super::recursive::recursive_query;
use super::view::bind_view;
use super::{Binder, BoundCommonTable, ChangedTable, CommonTable, index_hints};
use ::expression::Expression;
use ::expression::operators::ComparisonOperator;
use dictionary::{TableDefinition, same_name};
use errors::{SqlResult, sql_error};
use optimizer::{
    Block, BoundColumn, BoundTable, Clause, Derived, IndexLimits, JoinTree, Source, TABLES_MAX, conjuncts,
};
use parser::ast;
use plan::physical::RowLock;
use plan::{Rule, Rules};
use std::sync::Arc;

/// Columns by which a FROM item is seen: (table, column).
pub(super) type Visible = Vec<(usize, usize)>;

/// Binds FROM into the current block.
pub(super) fn bind_from(
    binder: &mut Binder<'_>,
    items: &[ast::TableReference],
) -> SqlResult<Option<JoinTree>> {
    let mut tree: Option<JoinTree> = None;
    for item in items {
        let (right, visible) = table_reference(binder, item)?;
        binder.block().visible.extend(visible);
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

fn table_reference(binder: &mut Binder<'_>, item: &ast::TableReference) -> SqlResult<(JoinTree, Visible)> {
    match item {
        ast::TableReference::Table(factor) => table_factor(binder, factor),
        ast::TableReference::Derived { query, lateral, alias, columns } => {
            let assigns = std::mem::take(&mut binder.nature.assigns);
            let correlated = binder.common_tables.correlated.len();
            let plan = match lateral {
                true => binder.lateral_query(query)?,
                false => binder.query_in_from(query, "DERIVED")?,
            };
            let number = binder.block_number;
            if std::mem::replace(&mut binder.nature.assigns, assigns) {
                binder.nature.assigning.push(number);
                binder.nature.assigns = true;
            }
            let (plan, reads) = match lateral {
                true => with_own_outer(plan),
                false => (plan, Vec::new()),
            };
            let added = add_derived(binder, (alias, None, false), plan, columns, (None, number))?;
            let common_tables = binder.common_tables.correlated_since(correlated, binder.blocks.len());
            if let Some(table) = binder.block().tables.last_mut().filter(|_| *lateral) {
                (table.reads, table.common_tables) = (reads, common_tables);
            }
            Ok(added)
        }
        ast::TableReference::JsonTable(table) => json_table(binder, table),
        ast::TableReference::Join(join) => bind_join(binder, join),
        ast::TableReference::Nested(items) => {
            let mut all: Option<(JoinTree, Visible)> = None;
            for item in items {
                let (right, right_visible) = table_reference(binder, item)?;
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

fn bind_join(binder: &mut Binder<'_>, join: &ast::Join) -> SqlResult<(JoinTree, Visible)> {
    let first_table = binder.block().tables.len();
    let flipped = join.kind == ast::JoinKind::Right;
    let [(left, left_visible), (right, right_visible)] = match flipped {
        true => right_join_sides(binder, &join.left, &join.right)?,
        false => [table_reference(binder, &join.left)?, table_reference(binder, &join.right)?],
    };
    let (conditions, visible) = if join.natural {
        let common = common_names(binder.block(), &left_visible, &right_visible);
        using(binder, &common, &left_visible, &right_visible, flipped)?
    } else {
        match &join.condition {
            ast::JoinCondition::Using(names) => using(binder, names, &left_visible, &right_visible, flipped)?,
            ast::JoinCondition::On(condition) => {
                let visible: Visible = left_visible.iter().chain(&right_visible).copied().collect();
                (on_condition(binder, condition, &visible, first_table)?, visible)
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
        refuse_recursion_in(binder, &right)?;
    }
    if outer {
        make_nullable(binder.block(), &right);
    }
    let tree = JoinTree::Join { left: Box::new(left), right: Box::new(right), outer, conditions, straight };
    Ok((tree, visible))
}

/// A LATERAL query as it is read from now on, and the values of its outer references over the rows that it is read beside.
fn with_own_outer(query: Derived) -> (Derived, Vec<Expression>) {
    match query {
        Derived::Open(open) => {
            let reads = open.block.outer.clone();
            (Derived::Open(open), reads)
        }
        Derived::Planned(plan) => {
            let mut plan = Arc::unwrap_or_clone(plan);
            let reads = std::mem::take(&mut plan.outer);
            if !reads.is_empty() {
                plan::keep_repeated(&mut plan.root);
            }
            (Derived::Planned(Arc::new(plan)), reads)
        }
    }
}

/// The sides of a RIGHT JOIN, which is a LEFT JOIN the other way round: sources on the left side see the right one, those on the right
/// side do not see the left one.
fn right_join_sides(
    binder: &mut Binder<'_>,
    left: &ast::TableReference,
    right: &ast::TableReference,
) -> SqlResult<[(JoinTree, Visible); 2]> {
    if left.sees_tables_before() {
        let right = table_reference(binder, right)?;
        return Ok([table_reference(binder, left)?, right]);
    }
    let left = table_reference(binder, left)?;
    let unseen = binder.block().unseen;
    binder.block().unseen |= left.0.tables();
    let right = table_reference(binder, right);
    binder.block().unseen = unseen;
    Ok([left, right?])
}

/// The columns of the inner side of an outer join can be NULL.
fn make_nullable(block: &mut Block, tree: &JoinTree) {
    let joined = tree.tables();
    for (number, table) in block.tables.iter_mut().enumerate() {
        if joined >> number & 1 == 1 {
            table.columns.iter_mut().for_each(|column| column.result.nullable = true);
        }
    }
}

/// Error 3576: a recursive table must come first, because each round reads it once.
fn refuse_recursion_in(binder: &mut Binder<'_>, tree: &JoinTree) -> SqlResult<()> {
    let joined = tree.tables();
    let recursion = |(number, table): (usize, &BoundTable)| match table.source {
        Source::Recursion(id) if joined >> number & 1 == 1 => Some(id),
        _ => None,
    };
    let Some(id) = binder.block().tables.iter().enumerate().find_map(recursion) else { return Ok(()) };
    let name = binder.common_tables.recursion_name(id).unwrap_or("");
    Err(sql_error!(ER_CTE_RECURSIVE_FORBIDDEN_JOIN_ORDER, name))
}

/// ON sees the tables of its join (and outer queries), not those that follow, nor those before `first_table`.
fn on_condition(
    binder: &mut Binder<'_>,
    condition: &ast::Expression,
    visible: &Visible,
    first_table: usize,
) -> SqlResult<Vec<Expression>> {
    let block = binder.block();
    let saved = std::mem::replace(&mut block.visible, visible.clone());
    let clause = std::mem::replace(&mut block.clause, Clause::On);
    let unseen = std::mem::replace(&mut block.unseen, (1 << first_table) - 1);
    let bound = binder.truth_of(condition);
    let block = binder.block();
    block.visible = saved;
    block.clause = clause;
    block.unseen = unseen;
    Ok(conjuncts(bound?))
}

fn column_name(block: &Block, at: (usize, usize)) -> &str {
    &block.tables[at.0].columns[at.1].name
}

fn common_names(block: &Block, left: &Visible, right: &Visible) -> Vec<String> {
    let is_right = |name: &&str| right.iter().any(|at| same_name(column_name(block, *at), name));
    let names = left.iter().map(|at| column_name(block, *at));
    names.filter(is_right).map(str::to_owned).collect()
}

/// USING: equal columns are shown once and first, in the order that they have in the first table. For RIGHT JOIN
/// that is the right one.
fn using(
    binder: &mut Binder<'_>,
    names: &[String],
    left: &Visible,
    right: &Visible,
    flipped: bool,
) -> SqlResult<(Vec<Expression>, Visible)> {
    let mut conditions = Vec::new();
    let (mut shown, mut hidden) = (Vec::new(), Vec::new());
    for name in names {
        binder.input.context.check_killed()?;
        let left_at = using_column(binder.block(), name, left)?;
        let right_at = using_column(binder.block(), name, right)?;
        let level = binder.blocks.len() - 1;
        let left_column = binder.column_at(level, left_at.0, left_at.1, name);
        let right_column = binder.column_at(level, right_at.0, right_at.1, name);
        let equal = Expression::compare(ComparisonOperator::Equal, left_column, right_column, binder.facts)?;
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

fn using_column(block: &Block, name: &str, visible: &Visible) -> SqlResult<(usize, usize)> {
    let mut found = None;
    for at in visible {
        if same_name(column_name(block, *at), name) {
            if found.is_some() {
                return Err(sql_error!(ER_NON_UNIQ_ERROR, name, "from clause"));
            }
            found = Some(*at);
        }
    }
    found.ok_or_else(|| sql_error!(ER_BAD_FIELD_ERROR, name, "from clause"))
}

fn table_factor(binder: &mut Binder<'_>, factor: &ast::TableFactor) -> SqlResult<(JoinTree, Visible)> {
    if !factor.partitions.is_empty() {
        return Err(sql_error!(ER_PARTITION_CLAUSE_ON_NONPARTITIONED));
    }
    let alias = factor.alias.clone().unwrap_or_else(|| factor.name.name.clone());
    if factor.name.schema.is_none()
        && let Some(common) =
            binder.common_tables.in_scope.iter().rev().find(|common| common.name == factor.name.name)
    {
        let common = common.clone();
        return common_table(binder, &alias, common);
    }
    let schema = binder.schema_of(&factor.name)?;
    if let Some(table) = binder.found_table(&schema, &factor.name.name, &alias)? {
        let is_it = |changed: &&ChangedTable| {
            changed.id == table.id() && changed.only_as.as_ref().is_none_or(|name| *name == alias)
        };
        if let Some(changed) = binder.changes.tables.iter().find(is_it) {
            let name = changed.name.clone();
            match changed.view.is_some() {
                true => binder.changes.refuse_view(&name, &name),
                false => binder.changes.refuse(&name),
            }
        } else if binder.blocks.len() > 1 {
            binder.changes.read_before.push(table.id());
        }
        let mut hints = index_hints::checked(&factor.index_hints, table.definition(), &alias)?;
        // Those of the comment go before those of FROM.
        if let Some(hinted) = binder.block().hints.index_hints(table.definition(), &alias) {
            hints = hinted;
        }
        let columns = table_columns(table.definition());
        let limits = index_hints::limits_of(&hints, table.definition());
        return add_table(
            binder.rules(),
            binder.block(),
            alias,
            Some(schema),
            Source::Base(table),
            columns,
            limits,
        );
    }
    if let Some(view) = binder.input.virtual_tables.view(&schema, &factor.name.name)? {
        return bind_view(binder, &alias, schema, view);
    }
    if let Some(definition) = binder.input.virtual_tables.table(&schema, &factor.name.name) {
        let columns = table_columns(&definition);
        let key_columns = binder.input.virtual_tables.key_columns(&definition);
        warn_of_deprecated(binder, &definition);
        binder.nature.reads_elsewhere = true;
        let source = Source::Virtual(definition);
        let added = add_table(
            binder.rules(),
            binder.block(),
            alias,
            Some(schema),
            source,
            columns,
            IndexLimits::default(),
        )?;
        if let Some(table) = binder.block().tables.last_mut() {
            table.key_columns = key_columns;
        }
        return Ok(added);
    }
    Err(binder.unknown_table(&schema, &factor.name.name))
}

fn common_table(binder: &mut Binder<'_>, alias: &str, common: CommonTable) -> SqlResult<(JoinTree, Visible)> {
    if let Some((id, columns)) = &common.recursion {
        let scope = &mut binder.common_tables.recursions[*id];
        scope.uses += 1;
        scope.nested_uses += usize::from(binder.depth > scope.depth + 1);
        let bound = derived_columns(columns, alias, &[], true);
        return add_table(
            binder.rules(),
            binder.block(),
            alias.to_owned(),
            None,
            Source::Recursion(*id),
            bound,
            IndexLimits::default(),
        );
    }
    let reader = binder.block().number;
    let bound = match common.bound_for(reader) {
        Some(bound) => bound,
        None => bind_common_table(binder, &common)?,
    };
    binder.common_tables.uses[bound.number].uses += 1;
    let place = (Some(bound.number), bound.block_number);
    add_derived(binder, (alias, None, false), bound.query, &common.columns, place)
}

/// Binds a common table for all who name it; one that reads the rows of a recursion or columns of blocks around it, for this
/// use: each block has its own outer references. The rows of the latter are the same for all uses.
fn bind_common_table(binder: &mut Binder<'_>, common: &CommonTable) -> SqlResult<BoundCommonTable> {
    // A common table sees those before it, not itself (unless it is recursive) and not those after it.
    let position =
        binder.common_tables.in_scope.iter().rposition(|known| known.name == common.name).unwrap_or(0);
    let later = binder.common_tables.in_scope.split_off(position);
    let recursions = binder.common_tables.recursions.len();
    let uses = |binder: &Binder<'_>| -> usize {
        binder.common_tables.recursions[..recursions].iter().map(|scope| scope.uses).sum()
    };
    let uses_before = uses(binder);
    let plan = if common.recursive {
        recursive_query(binder, common).map(|plan| Derived::Planned(Arc::new(plan)))
    } else {
        binder.query_seeing(common.around, &common.query, "DERIVED")
    };
    binder.common_tables.in_scope.extend(later);
    let number = binder.common_tables.number_of(common);
    let mut query = plan?;
    if let Derived::Planned(plan) = &mut query
        && !plan.outer.is_empty()
    {
        plan::keep_repeated(&mut Arc::make_mut(plan).root);
    }
    let bound = BoundCommonTable { query, number, block_number: binder.block_number };
    if uses(binder) != uses_before {
        return Ok(bound);
    }
    let reads_outer = matches!(&bound.query, Derived::Planned(plan) if !plan.outer.is_empty());
    if !reads_outer {
        binder.common_tables.in_scope[position].bound = Some(bound.clone());
        return Ok(bound);
    }
    let reader = binder.block().number;
    let known = &mut binder.common_tables.in_scope[position];
    if known.correlated.replace((reader, bound.clone())).is_none() {
        binder.common_tables.correlated.push((number, common.around));
    }
    Ok(bound)
}

/// Adds a query under a name, and in the schema of the view that it is, whose rows may have to be kept.
pub(super) fn add_derived(
    binder: &mut Binder<'_>,
    (alias, schema, must_be_kept): (&str, Option<String>, bool),
    query: Derived,
    names: &[String],
    (common_table, block_number): (Option<usize>, u32),
) -> SqlResult<(JoinTree, Visible)> {
    if !names.is_empty() && names.len() != query.columns().len() {
        return Err(sql_error!(ER_VIEW_WRONG_LIST));
    }
    let kept = must_be_kept || query.is_kept() || binder.nature.assigning.contains(&block_number);
    let columns = derived_columns(query.columns(), alias, names, kept);
    for (position, column) in columns.iter().enumerate() {
        if columns[..position].iter().any(|other| same_name(&other.name, &column.name)) {
            return Err(sql_error!(ER_DUP_FIELDNAME, column.name));
        }
    }
    let source = Source::Derived(query, common_table);
    let result = add_table(
        binder.rules(),
        binder.block(),
        alias.to_owned(),
        schema,
        source,
        columns,
        IndexLimits::default(),
    );
    if let Some(table) = binder.block().tables.last_mut() {
        table.derived_number = Some(block_number);
    }
    result
}

/// MySQL warns when the table is read: such a plan is made for each execution.
fn warn_of_deprecated(binder: &mut Binder<'_>, definition: &TableDefinition) {
    if let Some(warning) = binder.input.virtual_tables.deprecation(definition) {
        binder.nature.volatile = true;
        if binder.input.runs && !binder.input.explains {
            binder.input.context.diagnostics().warning(warning);
        }
    }
}

/// Adds a table to a block; error 1066 for an alias that is taken. `rules`: those that the session may use.
pub(crate) fn add_table(
    rules: Rules,
    block: &mut Block,
    alias: String,
    schema: Option<String>,
    source: Source,
    columns: Vec<BoundColumn>,
    limits: IndexLimits,
) -> SqlResult<(JoinTree, Visible)> {
    if block.tables.iter().any(|table| table.alias == alias && table.schema == schema) {
        return Err(sql_error!(ER_NONUNIQ_TABLE, alias));
    }
    if block.tables.len() == TABLES_MAX {
        return Err(sql_error!(ER_TOO_MANY_TABLES, TABLES_MAX));
    }
    let number = block.tables.len();
    let is_read_in_place = matches!(source, Source::Base(_) | Source::Virtual(_));
    let is_looped =
        is_read_in_place && (!rules.has(Rule::HashJoin) || block.hints.refuses_join_buffer(&alias));
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
        reads: Vec::new(),
        common_tables: Vec::new(),
        view: None,
        computed: Vec::new(),
    });
    Ok((JoinTree::Table(number), visible))
}
