//! Binding: from the syntax tree to typed expressions and physical nodes, block by block.
//! Main type: [`Binder`]. One binder per statement; it holds the stack of query blocks that are being bound.

mod aggregate;
mod block_hints;
mod change;
mod column;
mod condition;
mod constant_rows;
mod dependence;
mod equality;
mod expression;
mod from;
mod function;
mod group;
mod index_hints;
mod literal;
mod names;
mod parameter;
mod prepared_constant;
mod privilege;
mod query;
mod recursive;
mod select;
mod settled_parameter;
mod subquery;

pub(crate) use block_hints::warn_of_unknown_blocks;
pub(crate) use column::derived_columns;
pub use parameter::ParameterTypes;
pub(crate) use parameter::Wanted;
pub(crate) use query::convert_columns;

use crate::rewrite::Pushable;
use ::expression::{BuildFacts, Expression};
use engine::{Distribution, Engine, Table, Transaction};
use errors::{SqlError, SqlResult, sql_error};
use optimizer::{Block, BoundTable, Derived, EarlyRuns, OpenSelect, Optimizer, Survey};
use parser::ast;
use plan::physical::{CommonTableUse, ExplainRow, OutputColumn, QueryPlan};
use plan::{
    CheckedParameter, ParameterUse, PlanningSurroundings, PrivilegeCheck, PrivilegeRequest, SubqueryPlan,
    VirtualTables, check_depth,
};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use stdx::ids::TableId;

/// What planning needs.
pub struct PlannerInput<'a> {
    /// Engine: definitions and statistics.
    pub engine: &'a Engine,
    /// Tables without storage.
    pub virtual_tables: &'a dyn VirtualTables,
    /// What the user may do.
    pub privileges: &'a dyn PrivilegeCheck,
    /// Facts, session variables, and evaluation of constants.
    pub context: &'a mut dyn PlanningSurroundings,
    /// How parameters get their types.
    pub parameter_types: ParameterTypes,
    /// sql_select_limit.
    pub select_limit: u64,
    /// Whether the plan runs at once: what its constants report is for the client.
    pub runs: bool,
    /// Whether it is explained: what runs while it is planned locks no rows.
    pub explains: bool,
    /// Hints that are for other blocks than those where they stand.
    pub hints: &'a [ast::Hint],
    /// Whether mistakes in hints are told. An execution does not tell what PREPARE has told.
    pub warns_of_hints: bool,
    /// The transaction that the plan runs in at once, if its plain reads lock nothing: MySQL reads some rows while it
    /// optimises.
    pub transaction: Option<&'a Transaction>,
}

/// A common table expression that is in scope.
#[derive(Clone)]
pub(crate) struct CommonTable {
    pub name: String,
    pub columns: Vec<String>,
    pub query: Arc<ast::Query>,
    pub recursive: bool,
    /// While the steps of a recursive one are bound: its number and columns.
    pub recursion: Option<(usize, Vec<OutputColumn>)>,
    /// Its plan, once it was used.
    pub bound: Option<BoundCommonTable>,
}

/// The plan of a common table, for all who name it.
#[derive(Clone)]
pub(crate) struct BoundCommonTable {
    pub query: Derived,
    /// Its place in [`Plan::common_tables`](plan::Plan).
    pub number: usize,
    /// Number of its block, for EXPLAIN.
    pub block_number: u32,
}

/// A table that the statement changes.
pub(crate) struct ChangedTable {
    pub id: stdx::ids::TableId,
    /// The name by which the statement changes it.
    pub name: String,
    /// Whether subqueries may read it under another name: INSERT evaluates them before it stores the row.
    pub by_name: bool,
}

/// What ON DUPLICATE KEY UPDATE sees of the SELECT whose rows are inserted.
#[derive(Default)]
pub(crate) struct SelectSource {
    /// Whether the SELECT that is bound next at the top is one.
    pub wanted: bool,
    /// Its tables, and the columns that unqualified names find, once it is bound. Nothing if it groups.
    pub tables: Vec<BoundTable>,
    pub visible: Vec<(usize, usize)>,
    /// Columns of its tables that it hands on behind its result columns.
    pub handed_on: Vec<(usize, usize)>,
}

impl ChangedTable {
    /// The target of INSERT under its own name.
    fn by_insert(table: &Table, name: &str) -> ChangedTable {
        ChangedTable { id: table.id(), name: name.to_owned(), by_name: true }
    }
}

pub(crate) struct Binder<'a> {
    pub input: PlannerInput<'a>,
    pub facts: BuildFacts,
    /// The default schema of the statement, or of the view that is being bound.
    pub schema: Option<String>,
    /// Innermost last.
    pub blocks: Vec<Block>,
    pub common_tables: Vec<CommonTable>,
    pub common_table_uses: Vec<CommonTableUse>,
    /// Plans of common tables that could be read in place and are not, by number.
    pub planned_common_tables: HashMap<usize, Arc<QueryPlan>>,
    pub subqueries: Vec<SubqueryPlan>,
    /// Those whose rows may be joined with those of the query that asks for them, by number.
    pub open_subqueries: HashMap<usize, Arc<OpenSelect>>,
    pub privileges: Vec<PrivilegeRequest>,
    /// The first privilege that was asked for and is missing. It goes before mistakes that are found behind it.
    pub denied: Option<SqlError>,
    /// The error of a statement that reads a table in a subquery whose rows it changes. It comes after all others that
    /// binding finds.
    pub conflict: Option<SqlError>,
    /// While expressions of a table's definition are bound: they need no privileges.
    pub trusted: bool,
    pub tables: Vec<Arc<Table>>,
    /// Tables that the statement changes: its subqueries may not read them.
    pub changed: Vec<ChangedTable>,
    /// For INSERT .. SELECT .. ON DUPLICATE KEY UPDATE.
    pub source: SelectSource,
    /// Whether the plan depends on things that may change without a change of the dictionary epoch.
    pub volatile: bool,
    /// It calls stored functions.
    pub calls_routines: bool,
    /// Whether the statement assigns user variables.
    pub assigns: bool,
    /// Statistics of base tables that were asked for.
    pub statistics: HashMap<TableId, Arc<Distribution>>,
    /// Queries in FROM into which conditions may go, with their SELECTs.
    pub pushable: Vec<(Arc<QueryPlan>, Arc<Pushable>)>,
    /// SELECTs of the set operation that is being bound, while all operands are such.
    operands: Option<Vec<OpenSelect>>,
    /// Numbers of the subqueries in FROM that do.
    pub assigning: Vec<u32>,
    /// Whether the query that is being bound must run again for each row that asks for it: it uses user variables, or
    /// functions that differ from call to call.
    pub repeats: bool,
    /// Whether warnings of strict mode end the statement.
    pub escalates: bool,
    /// Whether values go into columns.
    pub stores: bool,
    /// See [`Plan::asked_first`](crate::Plan::asked_first).
    pub asked_first: Vec<Vec<Expression>>,
    /// Which of the statement's hints for other blocks were for a block.
    pub hints_found: BTreeSet<usize>,
    pub explain: Vec<ExplainRow>,
    pub block_number: u32,
    pub depth: usize,
    /// One for each recursive common table.
    pub recursion_scopes: Vec<recursive::RecursionScope>,
    /// What the statement makes of its parameters, by number.
    pub parameters: Vec<Option<ParameterUse>>,
    /// Parameters that each execution converts first.
    pub checked_parameters: Vec<CheckedParameter>,
    /// What the operation that is being bound wants of the operand that is bound next.
    wanted: Option<Wanted>,
    /// Whether the SELECT that is bound next is an operand of a set operation.
    is_operand: bool,
    /// Whose condition is being settled.
    settling: condition::Settling,
    /// Which subqueries run now.
    pub early: EarlyRuns,
    /// While the conditions of joins are settled: the tables that the statement joins with an outer join, as bits.
    nullable: u64,
    sites: usize,
}

impl<'a> Binder<'a> {
    pub fn new(input: PlannerInput<'a>) -> Binder<'a> {
        let literal_parameters = matches!(input.parameter_types, ParameterTypes::Values(_));
        let facts = BuildFacts { literal_parameters, ..BuildFacts::of(input.context.facts()) };
        let schema = input.context.facts().schema.as_ref().map(|schema| schema.to_string());
        Binder {
            input,
            facts,
            schema,
            blocks: Vec::new(),
            common_tables: Vec::new(),
            common_table_uses: Vec::new(),
            planned_common_tables: HashMap::new(),
            subqueries: Vec::new(),
            open_subqueries: HashMap::new(),
            privileges: Vec::new(),
            denied: None,
            conflict: None,
            trusted: false,
            tables: Vec::new(),
            changed: Vec::new(),
            source: SelectSource::default(),
            volatile: false,
            calls_routines: false,
            assigns: false,
            asked_first: Vec::new(),
            statistics: HashMap::new(),
            pushable: Vec::new(),
            operands: None,
            assigning: Vec::new(),
            repeats: false,
            escalates: false,
            stores: false,
            hints_found: BTreeSet::new(),
            explain: Vec::new(),
            block_number: 0,
            depth: 0,
            recursion_scopes: Vec::new(),
            parameters: Vec::new(),
            checked_parameters: Vec::new(),
            wanted: None,
            is_operand: false,
            settling: condition::Settling::default(),
            early: EarlyRuns::default(),
            nullable: 0,
            sites: 0,
        }
    }

    /// A new call site number.
    pub fn site(&mut self) -> usize {
        self.sites += 1;
        self.sites - 1
    }

    /// How many call sites there are.
    pub fn site_count(&self) -> usize {
        self.sites
    }

    /// The block that is being bound.
    pub fn block(&mut self) -> &mut Block {
        if self.blocks.is_empty() {
            self.blocks.push(Block::default());
        }
        let last = self.blocks.len() - 1;
        &mut self.blocks[last]
    }

    /// What the optimizer reads of the block that is being bound.
    pub fn optimizer(&mut self) -> Optimizer<'_> {
        self.survey().optimizer
    }

    /// What may be read and run before the query of the block that is being bound.
    pub fn survey(&mut self) -> Survey<'_> {
        let may_run = self.input.transaction.is_some()
            && !self.escalates
            && self.denied.is_none()
            && self.common_table_uses.is_empty()
            && self.recursion_scopes.is_empty();
        let (calls_routines, sites, facts) = (self.calls_routines, self.sites, self.facts);
        self.block();
        let last = self.blocks.len() - 1;
        let optimizer = Optimizer {
            block: &mut self.blocks[last],
            engine: self.input.engine,
            context: &mut *self.input.context,
            statistics: &mut self.statistics,
            assigns: self.assigns,
            assigning: &self.assigning,
        };
        let transaction = self.input.transaction;
        let (subqueries, early, volatile) = (&mut self.subqueries, &mut self.early, &mut self.volatile);
        Survey { optimizer, transaction, subqueries, early, may_run, calls_routines, sites, facts, volatile }
    }

    /// Enters a nested query; fails when the nesting is too deep for the stack, and when the statement was killed.
    pub fn enter(&mut self) -> SqlResult<()> {
        self.input.context.check_killed()?;
        self.depth += 1;
        check_depth(self.depth)
    }

    pub fn leave(&mut self) {
        self.depth -= 1;
    }

    pub fn fold(&mut self, expression: Expression) -> Expression {
        // What a function hands on is stored otherwise than what is written.
        if self.stores && expression.hands_on_moment() {
            return expression;
        }
        expression.fold(self.input.context)
    }

    /// The schema of a table name; error 1046 when none is chosen.
    pub fn schema_of(&self, name: &ast::ObjectName) -> SqlResult<String> {
        match (&name.schema, &self.schema) {
            (Some(schema), _) | (None, Some(schema)) => Ok(schema.clone()),
            (None, None) => Err(sql_error!(ER_NO_DB_ERROR)),
        }
    }

    /// A base table; errors 1046, 1049, 1146.
    pub fn base_table(&mut self, name: &ast::ObjectName) -> SqlResult<Arc<Table>> {
        let schema = self.schema_of(name)?;
        match self.input.engine.dictionary().table(&schema, &name.name) {
            Some(table) => {
                self.tables.push(table.clone());
                Ok(table)
            }
            None => Err(self.unknown_table(&schema, &name.name)),
        }
    }

    pub fn unknown_table(&self, schema: &str, table: &str) -> SqlError {
        if schema.eq_ignore_ascii_case("information_schema") {
            return sql_error!(ER_UNKNOWN_TABLE, table, "information_schema");
        }
        let known = self.input.engine.dictionary().schema(schema).is_some()
            || self.input.virtual_tables.has_schema(schema);
        if known { sql_error!(ER_NO_SUCH_TABLE, schema, table) } else { sql_error!(ER_BAD_DB_ERROR, schema) }
    }
}
