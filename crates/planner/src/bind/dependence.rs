//! What determines what among the columns of a query block, read off its tables, its joins and WHERE. Main functions:
//! [`facts_of`], [`dependence_of`]. What follows from that: [`plan::dependence`].
//!
//! Behind an outer join a row of NULLs may stand for a row of the inner side. What one column tells of another there
//! holds if the first is never NULL in a row that matched. A constant tells nothing, unless the columns of the outer
//! side that the join looks at are known: these decide whether rows match.

use ::expression::operators::ComparisonOperator;
use ::expression::{Expression, ExpressionKind};
use dictionary::{IndexKind, TableDefinition};
use optimizer::{Block, Derived, JoinTree, OpenSelect, Source, rejects_null};
use plan::dependence::{DerivedColumn, DerivedDependence, DerivedTable, Facts, Place, Rule};

/// The facts of a block with that join tree and WHERE (taken apart at its ANDs).
pub(super) fn facts_of(block: &Block, tree: Option<&JoinTree>, conditions: &[Expression]) -> Facts {
    let mut collector = Collector { block, facts: Facts::default() };
    if let Some(tree) = tree {
        collector.tree(tree, conditions, None);
    }
    for condition in conditions {
        collector.inner_condition(condition, None);
    }
    collector.facts
}

/// Describes the SELECT of a block whose expressions are still over the rows of FROM.
pub(super) fn dependence_of(
    block: &Block,
    tree: Option<&JoinTree>,
    conditions: &[Expression],
    grouped: bool,
) -> DerivedDependence {
    let describe = |expression: &Expression| DerivedColumn {
        reads: places_in(block, expression),
        plain: block.place(expression).is_some(),
        certain: is_certain(expression) && !(block.is_lateral && reads_outer(expression)),
    };
    let (items, keys) = (&block.items, &block.group_keys);
    let showing = |key: &Expression| {
        (0..items.len()).filter(|item| items[*item].expression.same(key)).collect::<Vec<usize>>()
    };
    DerivedDependence {
        facts: facts_of(block, tree, conditions),
        columns: items.iter().map(|item| describe(&item.expression)).collect(),
        keys: (grouped && !keys.is_empty()).then(|| keys.iter().map(describe).collect()),
        shown_keys: keys.iter().map(showing).collect(),
    }
}

/// Whether the columns that it reads determine an expression's value. Constants do not count as determined where
/// they are computed anew for each row.
fn is_certain(expression: &Expression) -> bool {
    !expression.any(&|part| match &part.kind {
        ExpressionKind::UserVariable(_)
        | ExpressionKind::AssignUserVariable(..)
        | ExpressionKind::Aggregate(_)
        | ExpressionKind::Routine(_)
        | ExpressionKind::Subquery(_) => true,
        ExpressionKind::Function(call) => {
            call.definition.differs_between_rows() || call.definition.name == "any_value"
        }
        _ => false,
    })
}

/// The columns of the block that an expression reads.
fn places_in(block: &Block, expression: &Expression) -> Vec<Place> {
    expression.slots().iter().filter_map(|slot| block.slots.get(*slot).copied()).collect()
}

/// Whether a column that is equal to this is a constant of the statement, or of the enclosing row.
fn is_fixed(expression: &Expression) -> bool {
    !expression.any(&|part| match &part.kind {
        ExpressionKind::Column(_)
        | ExpressionKind::Aggregate(_)
        | ExpressionKind::UserVariable(_)
        | ExpressionKind::AssignUserVariable(..)
        | ExpressionKind::Routine(_)
        | ExpressionKind::Subquery(_) => true,
        ExpressionKind::Function(call) => !call.definition.pure,
        _ => false,
    })
}

fn reads_outer(expression: &Expression) -> bool {
    expression.any(&|part| matches!(part.kind, ExpressionKind::Outer(_)))
}

/// The pairs that a condition says are equal.
fn equal_pairs(condition: &Expression) -> Vec<(&Expression, &Expression)> {
    match &condition.kind {
        ExpressionKind::Compare(comparison) if comparison.operator == ComparisonOperator::Equal => {
            match (&comparison.left.kind, &comparison.right.kind) {
                (ExpressionKind::Row(left), ExpressionKind::Row(right)) => left.iter().zip(right).collect(),
                _ => vec![(&comparison.left, &comparison.right)],
            }
        }
        ExpressionKind::Not(inner) => match &inner.kind {
            ExpressionKind::Compare(comparison) if comparison.operator == ComparisonOperator::NotEqual => {
                vec![(&comparison.left, &comparison.right)]
            }
            _ => Vec::new(),
        },
        ExpressionKind::In(list) if !list.negated => match list.list.as_slice() {
            [(_, only)] => vec![(&list.operand, only)],
            _ => Vec::new(),
        },
        ExpressionKind::Between(between) if !between.negated && between.low.1.same(&between.high.1) => {
            vec![(&between.operand, &between.low.1)]
        }
        ExpressionKind::And(terms) => terms.iter().flat_map(equal_pairs).collect(),
        _ => Vec::new(),
    }
}

/// Walks a join tree.
struct Collector<'c> {
    block: &'c Block,
    facts: Facts,
}

impl Collector<'_> {
    fn is_fixed(&self, expression: &Expression) -> bool {
        is_fixed(expression) && !(self.block.is_lateral && reads_outer(expression))
    }

    /// `filters` hold for all rows that matter of the tables below; `deciding` is what decides whether rows match where
    /// the tables are behind an outer join.
    fn tree(&mut self, tree: &JoinTree, filters: &[Expression], deciding: Option<&[Place]>) {
        let (left, right, outer, conditions) = match tree {
            JoinTree::Table(table) => return self.table(*table, filters, deciding),
            JoinTree::Join { left, right, outer, conditions, .. } => (left, right, *outer, conditions),
        };
        let inner_tables = right.tables();
        if !outer || filters.iter().any(|filter| self.block.rejects_null(filter, inner_tables)) {
            let both: Vec<Expression> = filters.iter().chain(conditions).cloned().collect();
            self.tree(left, &both, deciding);
            self.tree(right, &both, deciding);
            for condition in conditions {
                self.inner_condition(condition, deciding);
            }
            return;
        }
        self.tree(left, filters, deciding);
        let is_inner = |place: &Place| inner_tables >> place.0 & 1 == 1;
        let mut read: Vec<Place> =
            conditions.iter().flat_map(|condition| places_in(self.block, condition)).collect();
        read.retain(|place| !is_inner(place));
        let own = read.clone();
        read.extend(deciding.unwrap_or_default());
        self.tree(right, conditions, Some(&read));
        if !conditions.iter().all(is_certain) {
            return;
        }
        for (left, right) in conditions.iter().flat_map(equal_pairs) {
            self.outer_pair(left, right, &own, &is_inner, deciding.is_some());
            self.outer_pair(right, left, &own, &is_inner, deciding.is_some());
        }
    }

    fn table(&mut self, table: usize, filters: &[Expression], deciding: Option<&[Place]>) {
        match &self.block.tables[table].source {
            Source::Base(base) => self.keys(table, base.definition(), filters),
            Source::Virtual(definition) => self.keys(table, definition, filters),
            Source::Derived(query, _) => {
                if let (Derived::Open(open), None) = (query, deciding) {
                    self.values_read(table, open);
                }
                let Some(dependence) = query.dependence() else { return };
                let columns = query.columns();
                let firm = (0..columns.len()).filter(|column| !columns[*column].result.nullable);
                self.facts.derived.push(DerivedTable {
                    table,
                    dependence: dependence.clone(),
                    firm: firm.collect(),
                    deciding: deciding.map(<[Place]>::to_vec),
                    kept: query.is_kept(),
                });
            }
            Source::JsonTable(_) | Source::Recursion(_) => {}
        }
    }

    /// What a LATERAL query that is read in place shows of the values that it reads: such a column, or one that is equal to it.
    fn values_read(&mut self, table: usize, open: &OpenSelect) {
        let reads = &self.block.tables[table].reads;
        let place_read = |value: &Expression| match value.kind {
            ExpressionKind::Outer(number) => reads.get(number).and_then(|read| self.block.place(read)),
            _ => None,
        };
        let mut equal = Vec::new();
        for (column, item) in open.select.items.iter().enumerate() {
            let shown = &item.expression;
            equal.extend(place_read(shown).map(|place| (column, place)));
            for (left, right) in open.select.conditions.iter().flat_map(equal_pairs) {
                let other = if left.same(shown) { right } else { left };
                if left.same(shown) || right.same(shown) {
                    equal.extend(place_read(other).map(|place| (column, place)));
                }
            }
        }
        for (column, place) in equal {
            self.facts.rules.push(Rule { from: vec![place], to: vec![(table, column)] });
            self.facts.rules.push(Rule { from: vec![(table, column)], to: vec![place] });
        }
    }

    /// A unique key without NULL determines the row.
    fn keys(&mut self, table: usize, definition: &TableDefinition, filters: &[Expression]) {
        let block = self.block;
        let is_firm = |column: usize| {
            let is_it = |part: &Expression| block.place(part) == Some((table, column));
            !definition.columns[column].nullable || filters.iter().any(|filter| rejects_null(filter, &is_it))
        };
        for index in definition.indexes.iter().filter(|index| index.kind != IndexKind::Plain) {
            if index.parts.iter().all(|part| part.prefix_length.is_none() && is_firm(part.column)) {
                let from = index.parts.iter().map(|part| (table, part.column)).collect();
                let to = (0..definition.columns.len()).map(|column| (table, column)).collect();
                self.facts.rules.push(Rule { from, to });
            }
        }
    }

    /// A condition that all rows fulfil: two equal columns determine each other, a constant is the same everywhere.
    fn inner_condition(&mut self, condition: &Expression, deciding: Option<&[Place]>) {
        for (left, right) in equal_pairs(condition) {
            match (self.block.place(left), self.block.place(right)) {
                (Some(left), Some(right)) => {
                    self.facts.rules.push(Rule { from: vec![left], to: vec![right] });
                    self.facts.rules.push(Rule { from: vec![right], to: vec![left] });
                }
                (Some(column), None) if self.is_fixed(right) && deciding.is_none() => {
                    self.facts.rules.push(Rule { from: Vec::new(), to: vec![column] });
                }
                (None, Some(column)) if self.is_fixed(left) && deciding.is_none() => {
                    self.facts.rules.push(Rule { from: Vec::new(), to: vec![column] });
                }
                _ => {}
            }
        }
    }

    /// An equality in the condition of an outer join that looks at the columns `own` of its outer side. These
    /// determine a column of the inner side that is equal to one of them, or to a constant.
    fn outer_pair(
        &mut self,
        column: &Expression,
        other: &Expression,
        own: &[Place],
        is_inner: &dyn Fn(&Place) -> bool,
        nested: bool,
    ) {
        let Some(column) = self.block.place(column).filter(is_inner) else { return };
        let from = match self.block.place(other) {
            Some(place) if is_inner(&place) => vec![place],
            Some(_) => own.to_vec(),
            None if self.is_fixed(other) && !nested => own.to_vec(),
            None => return,
        };
        self.facts.rules.push(Rule { from, to: vec![column] });
    }
}
