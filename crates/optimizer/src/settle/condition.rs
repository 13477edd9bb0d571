//! Conditions that are known before a row is read: constants, and columns compared with themselves. Main function:
//! [`Settler::settled_from`]. MySQL evaluates such conditions once, while it optimises: what their conversions report is
//! reported once and without rows, and a condition that never holds keeps all tables from being read.

use crate::{
    Block, JoinTree, Source, is_always, is_known, is_never, node_rejects_null, settle_contradictions,
    tables_of,
};
use ::expression::operators::decided_by_range;
use errors::SqlResult;
use expression::operators::{Comparison, ComparisonOperator};
use expression::{BuildFacts, Expression, ExpressionKind, SubqueryUse};
use plan::physical::Node;
use plan::{PlanningSurroundings, Rule, SubqueryPlan};
use values::temporal::{Date, DateTime};
use values::{RowRef, TypeKind, Value};

/// Whether an inner join has a condition, which counts as one of WHERE.
fn joins_on_condition(tree: &JoinTree) -> bool {
    match tree {
        JoinTree::Table(_) => false,
        JoinTree::Join { left, right, outer, conditions, .. } => {
            !outer && !conditions.is_empty() || joins_on_condition(left) || joins_on_condition(right)
        }
    }
}

fn gives_nothing(node: &Node) -> bool {
    match node {
        Node::Nothing => true,
        Node::Project { input, .. } | Node::Filter { input, .. } => gives_nothing(input),
        _ => false,
    }
}

/// Whether no YEAR is that number, nor what two digits stand for.
fn is_no_year(number: &Value) -> bool {
    let years = i64::from(YEAR_MIN)..=i64::from(YEAR_MAX);
    matches!(number, Value::Int(number) if *number > 99 && !years.contains(number))
}

/// Whether no YEAR lies so beside that number.
fn is_beyond_years(operator: ComparisonOperator, number: i64) -> bool {
    match operator {
        ComparisonOperator::Less => number <= 0,
        ComparisonOperator::LessOrEqual => number < 0,
        ComparisonOperator::Greater => number >= i64::from(YEAR_MAX),
        ComparisonOperator::GreaterOrEqual => number > i64::from(YEAR_MAX),
        _ => false,
    }
}

/// The first year of a YEAR column, beside 0, and the last.
const YEAR_MIN: u16 = 1901;
const YEAR_MAX: u16 = 2155;

/// Whether no value of an integer column compares so with the integer beside it.
fn is_out_of_range(comparison: &Comparison) -> bool {
    let (column, operator, constant) = match comparison.left.column_slot() {
        Some(_) => (&comparison.left, comparison.operator, &comparison.right),
        None => (&comparison.right, comparison.operator.mirrored(), &comparison.left),
    };
    // Beside a number, `<=>` holds for equal ones.
    let operator = match operator {
        ComparisonOperator::NullSafeEqual => ComparisonOperator::Equal,
        other => other,
    };
    if operator == ComparisonOperator::Equal && column.result.kind() == TypeKind::Year {
        return column.column_slot().is_some() && constant.literal().is_some_and(is_no_year);
    }
    if column.result.kind() == TypeKind::Year {
        let number = |value: &Value| match value {
            Value::Int(number) => Some(*number),
            _ => None,
        };
        let number = constant.literal().and_then(number);
        return column.column_slot().is_some()
            && number.is_some_and(|number| is_beyond_years(operator, number));
    }
    let are_integers = column.column_slot().is_some()
        && column.result.kind().is_integer()
        && constant.result.kind().is_integer();
    let truth = |number| decided_by_range(operator, &column.result.column_type, number);
    are_integers && constant.literal().and_then(truth) == Some(false)
}

/// Whose condition is being settled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Settling {
    /// One of WHERE.
    #[default]
    Where,
    /// One of ON of an inner join.
    InnerJoin,
    /// One of ON of an outer join.
    OuterJoin,
}

/// Settles the conditions of one block.
pub struct Settler<'a> {
    /// The block.
    pub block: &'a mut Block,
    /// Evaluates constants, and takes what they report.
    pub context: &'a mut dyn PlanningSurroundings,
    /// The subqueries of the statement that are bound so far.
    pub subqueries: &'a [SubqueryPlan],
    /// How expressions are built.
    pub facts: BuildFacts,
    /// Whether warnings of strict mode end the statement.
    pub escalates: bool,
    /// Whether the plan runs at once: what its constants report is for the client.
    pub runs: bool,
    /// Set where what was found holds for this execution only.
    pub volatile: &'a mut bool,
    /// How many call sites the statement has so far.
    pub sites: &'a mut usize,
    /// Whose condition is being settled.
    pub place: Settling,
    /// While the conditions of joins are settled: the tables that the statement joins with an outer join, as bits.
    pub nullable: u64,
}

impl Settler<'_> {
    /// The conditions of WHERE without what is settled; those of the joins of FROM are settled in their places, and outer
    /// joins that WHERE makes inner ones are turned to such. One FALSE is left where no row can pass.
    pub fn settled_from(
        &mut self,
        mut tree: Option<&mut JoinTree>,
        conditions: Vec<Expression>,
    ) -> SqlResult<Vec<Expression>> {
        let mut nullable = 0;
        if let Some(tree) = tree.as_deref_mut().filter(|tree| matches!(tree, JoinTree::Join { .. })) {
            nullable = tree.optional_tables();
            if nullable != 0 && self.context.rules().has(Rule::OuterToInner) {
                let mut filters = conditions.clone();
                filters.extend(conditions.iter().flat_map(|condition| self.wanted_of_exists(condition)));
                self.block.make_inner(tree, &filters);
            }
        }
        let mut conditions = conditions;
        if let [only] = conditions.as_slice()
            && let Some(found) = self.generated_row(tree.as_deref(), only)?
        {
            conditions = vec![found];
        }
        if self.escalates && self.runs {
            self.check_constants(&conditions, false)?;
        }
        let mut conditions = self.settled(conditions)?;
        if conditions.iter().any(|condition| self.looks_in_nothing(condition)) {
            conditions = vec![Expression::boolean(false)];
        }
        let Some(tree) = tree.filter(|_| !conditions.iter().any(is_never)) else { return Ok(conditions) };
        self.nullable = nullable;
        let passes = self.settle_joins(tree, false);
        self.nullable = 0;
        let passes = passes? && !self.contradicts(tree, &conditions);
        Ok(if passes { conditions } else { vec![Expression::boolean(false)] })
    }

    fn contradicts(&mut self, tree: &mut JoinTree, conditions: &[Expression]) -> bool {
        settle_contradictions(tree, conditions, self.subqueries, self.facts, self.context)
    }

    /// What EXISTS asks of the rows: values with which its subquery compares are not NULL.
    fn wanted_of_exists(&self, condition: &Expression) -> Vec<Expression> {
        let ExpressionKind::Subquery(call) = &condition.kind else { return Vec::new() };
        let Some(subquery) = self.subqueries.get(call.id) else { return Vec::new() };
        if call.wanted != SubqueryUse::Exists {
            return Vec::new();
        }
        let rejects = |number: usize| {
            let is_it =
                |part: &Expression| matches!(part.kind, ExpressionKind::Outer(outer) if outer == number);
            node_rejects_null(&subquery.query.root, &is_it)
        };
        let outer = call.outer.iter().enumerate().filter(|(number, _)| rejects(*number));
        outer.filter_map(|(_, value)| Expression::is_null(value.clone(), true).ok()).collect()
    }

    /// Whether it is a column without NULL.
    fn is_never_null(&mut self, operand: &Expression) -> bool {
        let is_column = operand.column_slot().is_some() && !operand.result.nullable;
        is_column && (self.nullable == 0 || tables_of(self.block, operand) & self.nullable == 0)
    }

    /// The truth of a column's comparison with itself for all rows, where it is the same for all; `negated`: below NOT.
    fn compared_with_itself(&mut self, comparison: &Comparison, negated: bool) -> Option<bool> {
        use ComparisonOperator::{
            Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual, NullSafeEqual,
        };
        let slot = comparison.left.column_slot()?;
        if comparison.right.column_slot() != Some(slot) {
            return None;
        }
        if comparison.operator == NullSafeEqual {
            return (!negated).then_some(true);
        }
        let holds = match comparison.operator {
            Equal | LessOrEqual | GreaterOrEqual | NullSafeEqual => !negated,
            NotEqual | Less | Greater => negated,
        };
        // NULL gives unknown, which keeps a row out like false, but not in like true.
        (!holds || self.is_never_null(&comparison.left)).then_some(holds)
    }

    /// With sql_auto_is_null, ODBC's way to find the row that was just inserted: a WHERE that is nothing but IS NULL of an
    /// AUTO_INCREMENT column asks for LAST_INSERT_ID(), unless that is 0.
    fn generated_row(
        &mut self,
        tree: Option<&JoinTree>,
        condition: &Expression,
    ) -> SqlResult<Option<Expression>> {
        let mut condition = condition;
        while let ExpressionKind::Not(negated) = &condition.kind
            && let ExpressionKind::Not(twice) = &negated.kind
        {
            condition = twice;
        }
        let operand = match &condition.kind {
            ExpressionKind::IsNull(operand) => operand,
            ExpressionKind::Function(call) if call.definition.name == "isnull" => &call.arguments[0],
            _ => return Ok(None),
        };
        let session = self.context.session();
        let (finds, id) = (session.auto_is_null(), session.last_insert_id());
        if !finds || tree.is_some_and(joins_on_condition) || !self.is_auto_increment(operand) {
            return Ok(None);
        }
        *self.volatile = true;
        if id == 0 {
            return Ok(None);
        }
        let id = Expression::integer(id);
        Expression::compare(ComparisonOperator::Equal, operand.clone(), id, self.facts).map(Some)
    }

    fn is_auto_increment(&mut self, operand: &Expression) -> bool {
        let block = &*self.block;
        let Some((table, column)) = block.place(operand) else { return false };
        match &block.tables[table].source {
            // That of a table behind an outer join may be NULL.
            Source::Base(base) if !operand.result.nullable => {
                base.definition().columns.get(column).is_some_and(|column| column.auto_increment)
            }
            _ => false,
        }
    }

    /// Whether it asks for a row of a subquery whose own conditions never hold.
    fn looks_in_nothing(&self, condition: &Expression) -> bool {
        let ExpressionKind::Subquery(call) = &condition.kind else { return false };
        matches!(call.wanted, SubqueryUse::In | SubqueryUse::Exists)
            && self.subqueries.get(call.id).is_some_and(|subquery| gives_nothing(&subquery.query.root))
    }

    /// Settles the conditions of ON; says whether rows can come out of the joins. `optional`: the rows of all these tables may
    /// be missing.
    fn settle_joins(&mut self, tree: &mut JoinTree, optional: bool) -> SqlResult<bool> {
        let JoinTree::Join { left, right, outer, conditions, .. } = tree else { return Ok(true) };
        let left_passes = self.settle_joins(left, optional)?;
        let right_passes = self.settle_joins(right, optional || *outer)?;
        let place = if optional || *outer { Settling::OuterJoin } else { Settling::InnerJoin };
        let before = std::mem::replace(&mut self.place, place);
        let settled = self.settled(std::mem::take(conditions));
        self.place = before;
        *conditions = settled?;
        let joins = right_passes && !conditions.iter().any(is_never);
        Ok(left_passes && (*outer || joins))
    }

    /// Conditions that all must hold, without those that always do; only FALSE if one of them never does.
    fn settled(&mut self, conditions: Vec<Expression>) -> SqlResult<Vec<Expression>> {
        let mut open = Vec::with_capacity(conditions.len());
        for condition in conditions {
            let mut condition = self.settle(condition)?;
            if is_never(&condition) {
                return Ok(vec![Expression::boolean(false)]);
            }
            self.compute_constants_once(&mut condition);
            if !is_always(&condition) {
                open.push(condition);
            }
        }
        Ok(open)
    }

    /// Constant operations within a condition, which MySQL computes once.
    fn compute_constants_once(&mut self, condition: &mut Expression) {
        condition.for_each_child_mut(&mut |part| {
            if part.computes() && is_known(part) {
                let site = *self.sites;
                *self.sites += 1;
                let constant = std::mem::replace(part, Expression::null());
                *part = constant.once(site);
            } else {
                self.compute_constants_once(part);
            }
        });
    }

    /// The error of a constant among terms that are joined by AND or OR, as far as MySQL looks: up to the first that decides.
    fn check_constants(&mut self, terms: &[Expression], decides: bool) -> SqlResult<Option<bool>> {
        for term in terms {
            let truth = match &term.kind {
                ExpressionKind::And(terms) => self.check_constants(terms, false)?,
                ExpressionKind::Or(terms) => self.check_constants(terms, true)?,
                _ if is_known(term) => {
                    let before = self.context.diagnostics().reported();
                    let truth = self.constant_truth(term.clone())?;
                    self.context.diagnostics().go_back(before);
                    if is_never(&truth) { Some(false) } else { is_always(&truth).then_some(true) }
                }
                _ => None,
            };
            if truth == Some(decides) {
                return Ok(truth);
            }
        }
        Ok(None)
    }

    /// Whether WHERE asks a column of dates for NULL that is declared without: it means the zero date.
    fn finds_zero_date(&mut self, operand: &Expression) -> bool {
        let is_date = matches!(operand.result.kind(), TypeKind::Date | TypeKind::DateTime);
        if self.place != Settling::Where || !is_date {
            return false;
        }
        let block = &*self.block;
        let Some((table, column)) = block.place(operand) else { return false };
        match &block.tables[table].source {
            Source::Base(table) => {
                table.definition().columns.get(column).is_some_and(|column| !column.nullable)
            }
            _ => false,
        }
    }

    /// `column IS NULL` as a question for the zero date, and for the missing rows of an outer join.
    fn is_zero_date(&mut self, condition: Expression) -> SqlResult<Expression> {
        let ExpressionKind::IsNull(column) = &condition.kind else { return Ok(condition) };
        let value = match column.result.kind() {
            TypeKind::Date => Value::Date(Date::ZERO),
            _ => Value::DateTime(DateTime::ZERO),
        };
        let zero = Expression::constant(value, column.result.clone());
        let equal = Expression::compare(ComparisonOperator::Equal, (**column).clone(), zero, self.facts)?;
        Ok(if column.result.nullable { Expression::or(vec![equal, condition]) } else { equal })
    }

    fn settle(&mut self, condition: Expression) -> SqlResult<Expression> {
        if is_known(&condition) {
            return self.constant_truth(condition);
        }
        // Below ON of an outer join MySQL does not look at columns compared with themselves.
        let is_open = self.place != Settling::OuterJoin;
        let known = match &condition.kind {
            ExpressionKind::Compare(comparison) if is_open => self
                .compared_with_itself(comparison, false)
                .or_else(|| is_out_of_range(comparison).then_some(false)),
            ExpressionKind::Not(operand) => match &operand.kind {
                ExpressionKind::Compare(comparison) if is_open => self.compared_with_itself(comparison, true),
                ExpressionKind::IsNull(operand) => self.is_never_null(operand).then_some(true),
                _ => None,
            },
            ExpressionKind::IsNull(operand) if self.finds_zero_date(operand) => {
                return self.is_zero_date(condition);
            }
            // The keys of WITH ROLLUP may be NULL: MySQL does not look whether a column may.
            ExpressionKind::IsNull(operand) if !self.block.rollup => {
                self.is_never_null(operand).then_some(false)
            }
            _ => None,
        };
        if let Some(truth) = known.filter(|_| self.context.rules().has(Rule::KnownConditions)) {
            return Ok(Expression::boolean(truth));
        }
        match condition.kind {
            ExpressionKind::And(terms) => Ok(Expression::and(self.settled(terms)?)),
            ExpressionKind::Or(terms) => self.settled_or(terms),
            kind => Ok(Expression { kind, result: condition.result }),
        }
    }

    fn settled_or(&mut self, terms: Vec<Expression>) -> SqlResult<Expression> {
        // The zero date is looked for by a condition of its own only.
        let before = self.place;
        if before == Settling::Where {
            self.place = Settling::InnerJoin;
        }
        let settled = self.settled_terms(terms);
        self.place = before;
        settled
    }

    fn settled_terms(&mut self, terms: Vec<Expression>) -> SqlResult<Expression> {
        let mut open = Vec::with_capacity(terms.len());
        for term in terms {
            let term = self.settle(term)?;
            if is_always(&term) {
                return Ok(term);
            }
            if !is_never(&term) {
                open.push(term);
            }
        }
        Ok(Expression::or(open))
    }

    /// A constant condition as TRUE or FALSE. One that reports something makes the plan one for this execution only; so
    /// does not one of parameters that reports nothing, which stays as it is.
    fn constant_truth(&mut self, condition: Expression) -> SqlResult<Expression> {
        let escalates = self.escalates;
        let context = &mut *self.context;
        let before = context.diagnostics().reported();
        context.diagnostics().escalate(escalates);
        let truth = condition.truth(RowRef::EMPTY, context);
        let raised = context.diagnostics().take_raised();
        context.diagnostics().escalate(false);
        let silent = truth.is_ok() && raised.is_none() && context.diagnostics().count() == before.count();
        if silent && condition.any(&|part| matches!(part.kind, ExpressionKind::Parameter(_))) {
            // Other texts may end the statement.
            *self.volatile |= escalates && condition.any(&is_text_parameter);
            return Ok(condition);
        }
        if !silent {
            *self.volatile = true;
            if !self.runs {
                self.context.diagnostics().go_back(before);
                return Ok(condition);
            }
        }
        match raised {
            Some(error) => Err(error),
            None => Ok(Expression::boolean(truth? == Some(true))),
        }
    }
}

fn is_text_parameter(part: &Expression) -> bool {
    matches!(part.kind, ExpressionKind::Parameter(_)) && part.result.class() == expression::TypeClass::Text
}
