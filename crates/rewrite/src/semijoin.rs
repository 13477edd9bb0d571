//! Conditions of WHERE that ask for a row of a subquery, or for none: its tables are joined with those of FROM, by IN, = ANY,
//! EXISTS and their negations, so that look-ups and hash joins serve where a subquery would run for each row. Main type:
//! [`SubqueryJoins`].
//!
//! Where at most one row can match, the join is a plain one, and its tables may come first. Where the rows of IN do not depend on
//! the query and are few, or groups, their different values are a derived table, which may come first too.

use crate::graft::{Graft, forget_unused};
use errors::SqlResult;
use expression::operators::{ComparisonMode, ComparisonOperator};
use expression::silent::is_silent;
use expression::{Expression, ExpressionKind, ResultType, SubqueryCall, SubqueryUse, TypeClass};
use optimizer::{
    Block, BoundTable, EqualColumns, JoinTree, LogicalSelect, OpenSelect, SemiJoin, Source, Survey,
    TABLES_MAX, asked_subquery, is_never, tables_of,
};
use plan::physical::{AggregateCall, AggregateKind, ExplainRow, Node, OutputColumn, QueryPlan};
use plan::{Rule, Rules};
use std::collections::HashMap;
use std::sync::Arc;
use values::TypeKind;

/// How much fewer the rows of a subquery must be than those of the table whose column is looked up among them, for their values to
/// come first: told apart and looked up, a row takes some 30 times as long as one that is hashed or asks a hash table (measured with
/// 150,000 rows that ask; a twentieth of them as values took three times as long as a hash join, a fiftieth half as long).
const FEW_ROWS_FACTOR: f64 = 32.0;

/// Whether the query that asks for a row of it may read its tables, as far as it alone says.
pub fn is_joinable(select: &LogicalSelect) -> bool {
    let is_plain = |expression: &Expression| {
        !expression.any(&|part| match &part.kind {
            ExpressionKind::Subquery(_)
            | ExpressionKind::AssignUserVariable(..)
            | ExpressionKind::Routine(_) => true,
            ExpressionKind::Function(call) => !call.definition.pure,
            _ => false,
        })
    };
    select.tree.is_some()
        && !(select.groups || select.has_windows || select.has_having || select.rollup)
        && !(select.limit.is_some() || select.counts_all || select.is_straight)
        && !select.conditions.iter().any(is_never)
        && select.items.iter().all(|item| is_plain(&item.expression))
}

/// Whether its rows are groups of rows of base tables, and nobody can tell when they are found.
pub fn groups_silently(select: &LogicalSelect, block: &Block) -> bool {
    let mut all = select.conditions.iter().chain(&select.having).chain(&block.group_keys);
    let is_base = |table: &BoundTable| matches!(table.source, Source::Base(_));
    select.groups
        && select.has_group_keys
        && !select.has_windows
        && !(select.rollup || select.limit.is_some() || select.counts_all || select.is_straight)
        && select.semijoins.is_empty()
        && block.tables.iter().all(is_base)
        && all.all(is_silent)
        && select.items.iter().all(|item| is_silent(&item.expression))
        && !select.tree.as_ref().is_none_or(|tree| tree.has_condition(&|condition| !is_silent(condition)))
        && block.aggregates.iter().all(adds_silently)
}

/// Whether nobody can tell when, and in which order, an aggregate is given its rows.
pub(crate) fn adds_silently(call: &AggregateCall) -> bool {
    use AggregateKind::{Average, Count, CountRows, Maximum, Minimum, Sum};
    let is_exact =
        |value: &Expression| matches!(value.result.class(), TypeClass::Integer | TypeClass::Decimal);
    let is_known = match call.kind {
        CountRows | Count | Minimum | Maximum => true,
        Sum | Average => call.arguments.iter().all(is_exact),
        _ => false,
    };
    is_known && call.arguments.iter().all(is_silent)
}

/// Adds the rows of a plan to a block as a derived table of that name: its place in FROM, and as expressions within the block the first
/// so many of its columns. `Rules`: those that the session may use. Errors: 1066 for a name that is taken, 1116 for too many tables.
pub type AddDerived =
    fn(Rules, &mut Block, String, QueryPlan, usize) -> SqlResult<(JoinTree, Vec<Expression>)>;

/// Joins the subqueries of a statement with the query that asks for their rows.
pub struct SubqueryJoins<'a> {
    /// Of the block of that query.
    pub survey: Survey<'a>,
    /// Subqueries whose rows may be joined, by number.
    pub open: &'a HashMap<usize, Arc<OpenSelect>>,
    /// Lines of EXPLAIN of the statement.
    pub explain: &'a mut Vec<ExplainRow>,
    /// The binder's way to add a table.
    pub add_derived: AddDerived,
}

impl SubqueryJoins<'_> {
    fn block(&mut self) -> &mut Block {
        self.survey.optimizer.block
    }

    fn rules(&self) -> Rules {
        self.survey.optimizer.context.rules()
    }

    /// Makes joins of the conditions of WHERE that ask for a row of a subquery.
    pub fn join_subqueries(&mut self, select: &mut LogicalSelect) -> SqlResult<()> {
        if !self.rules().has(Rule::Semijoin)
            || self.open.is_empty()
            || select.is_straight
            || select.tree.is_none()
        {
            return Ok(());
        }
        let mut left = Vec::with_capacity(select.conditions.len());
        for condition in std::mem::take(&mut select.conditions) {
            match self.joinable(&condition) {
                Some((call, open, negated)) => {
                    let (call, open) = (call.clone(), OpenSelect::clone(&open));
                    if !self.join_subquery(select, &call, open, negated)? {
                        left.push(condition);
                    }
                }
                None => left.push(condition),
            }
        }
        // What followed for the query stands behind them.
        select.conditions.splice(0..0, left);
        Ok(())
    }

    /// The subquery that a condition asks for a row of, or (true) for none.
    fn joinable<'e>(&self, condition: &'e Expression) -> Option<(&'e SubqueryCall, Arc<OpenSelect>, bool)> {
        let (call, negated) = asked_subquery(condition)?;
        let open = self.open.get(&call.id)?;
        let plan = &self.survey.subqueries[call.id];
        let fits = self.survey.optimizer.block.tables.len() + open.block.tables.len() <= TABLES_MAX;
        // Without values of the row, EXISTS is the same for all rows.
        let depends = call.wanted != SubqueryUse::Exists || !call.outer.is_empty();
        let is_plain = |operand: &Expression| {
            !operand.any(&|part| match &part.kind {
                ExpressionKind::Subquery(_) | ExpressionKind::Routine(_) => true,
                ExpressionKind::Function(call) => !call.definition.pure,
                _ => false,
            })
        };
        let is_known = plan.known.is_some() || call.repeats;
        let stays = open.block.hints.keeps_subquery();
        (fits && depends && !is_known && !stays && call.operands.iter().all(is_plain))
            .then(|| (call, open.clone(), negated))
    }

    /// Puts the tables of a subquery into the block; false if it must stay as it is.
    fn join_subquery(
        &mut self,
        select: &mut LogicalSelect,
        call: &SubqueryCall,
        open: OpenSelect,
        negated: bool,
    ) -> SqlResult<bool> {
        if open.select.groups {
            let may = self.rules().has(Rule::Materialization);
            return match may && call.outer.is_empty() && !self.survey.optimizer.assigns {
                true => self.join_values(select, call, open.block.number),
                false => Ok(false),
            };
        }
        let block = self.block();
        let (first, slots) = (block.tables.len(), block.slots.len());
        let (count, number) = (open.block.tables.len(), open.block.number);
        let tables = (first..first + count).collect();
        let mut graft = Graft::new(block, &open.block, tables, &[], &mut Vec::new());
        graft.outer.clone_from(&call.outer);
        block.tables.extend(open.block.tables.into_iter().map(|table| graft.moved_table(table)));
        let shown: Vec<Expression> =
            open.select.items.into_iter().map(|item| graft.moved(item.expression)).collect();
        let equal = self.equalities(call, &shown, negated)?;
        let (Some(equal), Some(tree)) = (equal, open.select.tree) else {
            return Ok(self.take_back(first, slots));
        };
        let mut conditions = graft.moved_all(open.select.conditions);
        conditions.extend(equal);
        let tree = graft.moved_tree(tree);
        if looks_outside(self.block(), &tree, tree.tables()) {
            return Ok(self.take_back(first, slots));
        }
        let has_one_match = !negated && self.has_one_match(&tree, &conditions);
        let (to_query, to_subquery) = self.implied(select, &conditions, first);
        if !has_one_match && !negated && self.are_values_better(select, &to_query, call) {
            self.take_back(first, slots);
            let is_joined = self.join_values(select, call, number)?;
            select.conditions.extend(to_query.into_iter().filter(|_| is_joined));
            return Ok(is_joined);
        }
        self.block().joined_tables += count;
        if !negated {
            select.conditions.extend(to_query);
        }
        conditions.extend(to_subquery);
        let read: Vec<usize> =
            conditions.iter().chain(&tree.conditions()).flat_map(Expression::slots).collect();
        let own = tree.tables();
        let read = [read, self.block().reads_of(own).flat_map(Expression::slots).collect()].concat();
        forget_unused(&mut self.block().tables[first..], &|slot| read.contains(&slot));
        self.explain.retain(|row| row.id != Some(number));
        match has_one_match {
            true => add_join(select, tree, conditions),
            false => select.semijoins.push(SemiJoin { tree, conditions, negated }),
        }
        Ok(true)
    }

    /// What is said of columns of the query and of the subquery, said of those that they are compared with: of the tables before
    /// `first`, and of the others.
    fn implied(
        &mut self,
        select: &LogicalSelect,
        conditions: &[Expression],
        first: usize,
    ) -> (Vec<Expression>, Vec<Expression>) {
        let equal = EqualColumns::of(self.rules(), conditions.iter());
        if equal.is_empty() {
            return (Vec::new(), Vec::new());
        }
        let said: Vec<&Expression> = select.conditions.iter().chain(conditions).collect();
        let block = self.block();
        let is_before = |condition: &Expression| tables_of(block, condition) >> first == 0;
        equal.said_of_others(&said).into_iter().partition(is_before)
    }

    /// Takes the tables behind the first so many, and their slots, out of the block again.
    fn take_back(&mut self, tables: usize, slots: usize) -> bool {
        let block = self.block();
        block.tables.truncate(tables);
        block.slots.truncate(slots);
        false
    }

    /// The comparisons of operands with what the subquery shows. None if MySQL compares otherwise than it would in a join.
    fn equalities(
        &mut self,
        call: &SubqueryCall,
        shown: &[Expression],
        negated: bool,
    ) -> SqlResult<Option<Vec<Expression>>> {
        let mut equal = Vec::with_capacity(call.operands.len());
        for (at, operand) in call.operands.iter().enumerate() {
            let known = self.survey.subqueries[call.id].comparisons.get(at);
            let (Some(shown), Some((mode, _))) = (shown.get(at), known.cloned()) else { return Ok(None) };
            // NOT IN is unknown beside NULL.
            if negated && (operand.result.nullable || shown.result.nullable) {
                return Ok(None);
            }
            let compared = self.equality(operand, shown)?;
            if mode_of(&compared) != Some(mode) || converts_text(mode, [operand, shown]) {
                return Ok(None);
            }
            equal.push(compared);
        }
        Ok(Some(equal))
    }

    fn equality(&mut self, left: &Expression, right: &Expression) -> SqlResult<Expression> {
        Expression::compare(ComparisonOperator::Equal, left.clone(), right.clone(), self.survey.facts)
    }

    /// Whether a unique key leaves one row at most to match a row of the tables before.
    fn has_one_match(&mut self, tree: &JoinTree, conditions: &[Expression]) -> bool {
        let JoinTree::Table(number) = tree else { return false };
        let conditions: Vec<&Expression> = conditions.iter().collect();
        let before = (1 << number) - 1;
        self.survey
            .optimizer
            .candidates(*number, &conditions, before)
            .iter()
            .any(|candidate| candidate.path.single_row)
    }

    /// Whether the values of IN are better found first and then looked up in an index. `further`: what follows for the query.
    fn are_values_better(
        &mut self,
        select: &LogicalSelect,
        further: &[Expression],
        call: &SubqueryCall,
    ) -> bool {
        let may = self.rules().has(Rule::Materialization);
        if !may || call.wanted != SubqueryUse::In || !call.outer.is_empty() {
            return false;
        }
        let block = &*self.block();
        let Some(first) = call.operands.first().filter(|operand| block.begins_index(operand)) else {
            return false;
        };
        let Some((number, _)) = block.place(first) else { return false };
        let is_own = |operand: &Expression| block.place(operand).is_some_and(|(table, _)| table == number);
        if !call.operands.iter().all(is_own) {
            return false;
        }
        let own = |condition: &&Expression| tables_of(block, condition) & !(1 << number) == 0;
        let conditions: Vec<&Expression> = select.conditions.iter().chain(further).filter(own).collect();
        let candidates = self.survey.optimizer.candidates(number, &conditions, 0);
        let rows = candidates.iter().map(|candidate| candidate.rows).fold(f64::INFINITY, f64::min);
        self.survey.subqueries[call.id].query.rows * FEW_ROWS_FACTOR < rows
    }

    /// What the values of a subquery are called. It may be joined more than once: in a common table that the query reads in two places.
    fn free_alias(&mut self, number: u32) -> String {
        let tables = &self.block().tables;
        let is_free = |alias: &String| tables.iter().all(|table| table.alias != *alias);
        let further = (2..).map(|time| format!("<subquery{number}.{time}>"));
        let mut aliases = std::iter::once(format!("<subquery{number}>")).chain(further);
        aliases.find(is_free).unwrap_or_default()
    }

    /// Joins the different values of a subquery, as a derived table.
    fn join_values(
        &mut self,
        select: &mut LogicalSelect,
        call: &SubqueryCall,
        block: u32,
    ) -> SqlResult<bool> {
        let subquery = self.survey.subqueries[call.id].clone();
        let columns = &subquery.query.columns[..call.operands.len()];
        let is_exact =
            |((operand, column), (mode, _)): ((&Expression, &OutputColumn), &(ComparisonMode, _))| {
                are_equal_if_same(*mode, operand.result.kind(), &column.result)
            };
        if !call.operands.iter().zip(columns).zip(&subquery.comparisons).all(is_exact) {
            return Ok(false);
        }
        let alias = self.free_alias(block);
        let types = columns.iter().map(|column| column.result.clone()).collect();
        let mut plan = subquery.query;
        plan.root = Node::Distinct { input: Box::new(plan.root), columns: types };
        self.explain.iter_mut().filter(|row| row.id == Some(block)).for_each(|row| {
            row.select_type = "MATERIALIZED";
        });
        let (add_derived, rules) = (self.add_derived, self.rules());
        let (tree, values) = add_derived(rules, self.block(), alias, plan, call.operands.len())?;
        self.block().joined_tables += 1;
        let mut equal = Vec::with_capacity(call.operands.len());
        for (operand, value) in call.operands.iter().zip(&values) {
            equal.push(self.equality(operand, value)?);
        }
        add_join(select, tree, equal);
        Ok(true)
    }
}

fn mode_of(condition: &Expression) -> Option<ComparisonMode> {
    match &condition.kind {
        ExpressionKind::Compare(comparison) => Some(comparison.mode),
        _ => None,
    }
}

/// Whether the comparison makes something else of texts, which may be reported: once for each value as it is, more often in a join.
fn converts_text(mode: ComparisonMode, sides: [&Expression; 2]) -> bool {
    let is_text = |side: &Expression| side.result.class() == TypeClass::Text;
    !matches!(mode, ComparisonMode::Text(_)) && sides.into_iter().any(is_text)
}

/// Whether an outer join within the tree looks at tables outside of it.
fn looks_outside(block: &Block, tree: &JoinTree, tables: u64) -> bool {
    let JoinTree::Join { left, right, outer, conditions, .. } = tree else { return false };
    *outer && conditions.iter().any(|condition| tables_of(block, condition) & !tables != 0)
        || looks_outside(block, left, tables)
        || looks_outside(block, right, tables)
}

/// Whether values of a column that are equal to one value of that kind are the same to DISTINCT.
fn are_equal_if_same(mode: ComparisonMode, operand: TypeKind, column: &ResultType) -> bool {
    match mode {
        ComparisonMode::Integer => true,
        ComparisonMode::Text(collation) => column.column_type.collation == collation,
        ComparisonMode::Date | ComparisonMode::DateTime | ComparisonMode::Time => column.kind() == operand,
        ComparisonMode::Decimal => column.kind() == TypeKind::Decimal || column.kind().is_integer(),
        _ => false,
    }
}

/// Joins a tree with FROM.
fn add_join(select: &mut LogicalSelect, tree: JoinTree, conditions: Vec<Expression>) {
    let Some(left) = select.tree.take() else { return };
    select.tree = Some(JoinTree::Join {
        left: Box::new(left),
        right: Box::new(tree),
        outer: false,
        conditions,
        straight: false,
    });
}
