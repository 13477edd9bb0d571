//! Binding: from the syntax tree to typed expressions and physical nodes, block by block.
//! Main type: [`Binder`]. One binder per statement; it holds the stack of query blocks that are being bound.

mod aggregate;
mod aggregate_level;
mod block_hints;
mod change;
mod changes;
mod column;
mod common_tables;
mod dependence;
mod derived;
mod expression;
mod from;
mod function;
mod group;
mod index_hints;
mod indexed_elements;
mod indexed_values;
mod joined_dates;
mod json;
mod json_table;
mod last_block;
mod literal;
mod names;
mod nature;
mod parameter;
mod prepared_constant;
mod privilege;
mod query;
mod recursive;
mod row_count;
mod select;
mod set_operation;
mod settled_parameter;
mod stored_text;
mod subqueries;
mod subquery;
mod view;
mod window;
mod window_frame;

pub(crate) use block_hints::warn_of_hints;
pub(crate) use change::{delete, insert, load, row_parents, update};
pub(crate) use column::{column_of, derived_columns};
pub(crate) use from::add_table;
pub(crate) use indexed_elements::read_indexed_elements;
pub(crate) use indexed_values::indexed_values;
pub use parameter::ParameterTypes;
pub(crate) use parameter::Wanted;
pub(crate) use query::convert_columns;
pub(crate) use stored_text::row_plan_parts;

use ::expression::{BuildFacts, Expression, SqlMode};
use aggregate_level::OpenAggregate;
use changes::{ChangedTable, Changes};
use common_tables::{BoundCommonTable, CommonTable, CommonTables};
use derived::DerivedQueries;
use engine::{Distribution, Engine, Table, TemporaryTables, Transaction};
use errors::{SqlError, SqlResult, sql_error};
use nature::Nature;
use optimizer::{Block, OpenSelect, Optimizer, Survey};
use parameter::Parameters;
use parser::ast;
use plan::physical::ExplainRow;
use plan::{PlanningSurroundings, PrivilegeCheck, Rule, Rules, VirtualTables, check_depth};
use privilege::Privileges;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use stdx::ids::TableId;
use subqueries::Subqueries;

/// Expressions that are bound before the next look for KILL.
const BOUND_AT_ONCE: u32 = 64;

/// What planning needs.
pub struct PlannerInput<'a> {
    /// Engine: definitions and statistics.
    pub engine: &'a Engine,
    /// The session's temporary tables: their names go before all others.
    pub temporary: &'a TemporaryTables,
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
    /// Whether it is a view that is defined: ONLY_FULL_GROUP_BY is asked of who reads it.
    pub defines_view: bool,
    /// Whether it is explained: what runs while it is planned locks no rows.
    pub explains: bool,
    /// Whether it is shown, by EXPLAIN, or by EXPLAIN ANALYZE when it has run: what views read is not for everybody.
    pub shows_plan: bool,
    /// Hints that are for other blocks than those where they stand.
    pub hints: &'a [ast::Hint],
    /// Whether mistakes in hints are told. An execution does not tell what PREPARE has told.
    pub warns_of_hints: bool,
    /// The transaction that the plan runs in at once, if its plain reads lock nothing: MySQL reads some rows while it
    /// optimises.
    pub transaction: Option<&'a Transaction>,
}

/// Binds one statement: what it knows of its surroundings, the stack of query blocks, and what it gathers for the plan.
pub(crate) struct Binder<'a> {
    pub input: PlannerInput<'a>,
    pub facts: BuildFacts,
    /// The default schema of the statement, or of the view that is being bound.
    pub schema: Option<String>,
    /// Innermost last.
    pub blocks: Vec<Block>,
    /// Aggregates whose arguments are being bound, innermost last.
    open_aggregates: Vec<OpenAggregate>,
    pub common_tables: CommonTables,
    /// WINDOW clauses, by the number of the block.
    pub window_clauses: HashMap<u32, Arc<[ast::NamedWindow]>>,
    pub subqueries: Subqueries,
    pub derived: DerivedQueries,
    pub privileges: Privileges<'a>,
    pub changes: Changes,
    pub nature: Nature,
    pub parameters: Parameters,
    /// Base tables that the statement names.
    pub tables: Vec<Arc<Table>>,
    /// The temporary tables among them, with what the statement calls them.
    pub temporary: Vec<(TableId, String)>,
    /// Tables that change because foreign keys refer to changed ones.
    pub cascades: Vec<plan::Target>,
    /// Statistics of base tables that were asked for.
    pub statistics: Vec<(TableId, Arc<Distribution>)>,
    /// Which of the statement's hints for other blocks were for a block.
    pub hints_found: BTreeSet<usize>,
    /// Warnings of hints that were said twice.
    pub hint_conflicts: Vec<SqlError>,
    /// Lines of EXPLAIN, of a statement that is explained.
    pub explain: Vec<ExplainRow>,
    pub block_number: u32,
    pub depth: usize,
    /// Whether the SELECT that is bound next is an operand of a set operation.
    is_operand: bool,
    pub sites: usize,
    /// Expressions that were bound so far.
    bound: u32,
    /// How the operands of the operation that is being bound were written, those of which only the value is left.
    operand_texts: Option<Vec<Option<Arc<str>>>>,
}

impl<'a> Binder<'a> {
    pub fn new(input: PlannerInput<'a>) -> Binder<'a> {
        let literal_parameters = matches!(input.parameter_types, ParameterTypes::Values(_));
        let mut facts = BuildFacts { literal_parameters, ..BuildFacts::of(input.context.facts()) };
        if input.defines_view {
            facts.sql_mode = facts.sql_mode.without(SqlMode::ONLY_FULL_GROUP_BY);
        }
        let schema = input.context.facts().schema.as_ref().map(|schema| schema.to_string());
        let privileges = Privileges::new(input.privileges);
        Binder {
            input,
            facts,
            schema,
            blocks: Vec::new(),
            open_aggregates: Vec::new(),
            common_tables: CommonTables::default(),
            window_clauses: HashMap::new(),
            subqueries: Subqueries::default(),
            derived: DerivedQueries::default(),
            privileges,
            changes: Changes::default(),
            nature: Nature::default(),
            parameters: Parameters::default(),
            tables: Vec::new(),
            temporary: Vec::new(),
            cascades: Vec::new(),
            statistics: Vec::new(),
            hints_found: BTreeSet::new(),
            hint_conflicts: Vec::new(),
            explain: Vec::new(),
            block_number: 0,
            depth: 0,
            is_operand: false,
            sites: 0,
            bound: 0,
            operand_texts: None,
        }
    }

    /// A new call site number.
    pub fn site(&mut self) -> usize {
        self.sites += 1;
        self.sites - 1
    }

    /// The block that is being bound.
    #[inline]
    pub fn block(&mut self) -> &mut Block {
        if self.blocks.is_empty() {
            self.push_block();
        }
        let last = self.blocks.len() - 1;
        &mut self.blocks[last]
    }

    #[cold]
    fn push_block(&mut self) {
        self.blocks.push(Block::default());
    }

    /// What of the optimizer the session may use.
    pub fn rules(&self) -> Rules {
        self.input.context.rules()
    }

    /// The block that is being bound, with what is asked of the user's grants.
    pub fn block_and_privileges(&mut self) -> (&Block, &mut Privileges<'a>) {
        self.block();
        (&self.blocks[self.blocks.len() - 1], &mut self.privileges)
    }

    /// What the optimizer reads of the block that is being bound.
    pub fn optimizer(&mut self) -> Optimizer<'_> {
        self.survey().optimizer
    }

    /// What may be read and run before the query of the block that is being bound.
    pub fn survey(&mut self) -> Survey<'_> {
        self.survey_with_open().0
    }

    /// The same, with the subqueries whose rows may be joined, and what EXPLAIN shows.
    pub fn survey_with_open(
        &mut self,
    ) -> (Survey<'_>, &HashMap<usize, Arc<OpenSelect>>, &mut Vec<ExplainRow>) {
        let may_run = self.rules().has(Rule::EarlySubqueries)
            && self.input.transaction.is_some()
            && !self.changes.escalates
            && self.privileges.denied.is_none()
            && self.common_tables.uses.is_empty()
            && self.common_tables.recursions.is_empty();
        let (calls_routines, sites, facts) = (self.nature.calls_routines, self.sites, self.facts);
        self.block();
        let last = self.blocks.len() - 1;
        let Nature { volatile, assigns, assigning, .. } = &mut self.nature;
        let optimizer = Optimizer {
            block: &mut self.blocks[last],
            engine: self.input.engine,
            context: &mut *self.input.context,
            statistics: &mut self.statistics,
            assigns: *assigns,
            assigning,
            explains: self.input.explains,
        };
        let transaction = self.input.transaction;
        let Subqueries { plans: subqueries, open, early, .. } = &mut self.subqueries;
        let survey = Survey {
            optimizer,
            transaction,
            subqueries,
            early,
            may_run,
            calls_routines,
            sites,
            facts,
            volatile,
        };
        (survey, open, &mut self.explain)
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

    /// Looks for KILL once in a while, among long lists of expressions.
    fn count_bound(&mut self) -> SqlResult<()> {
        self.bound = self.bound.wrapping_add(1);
        if self.bound.is_multiple_of(BOUND_AT_ONCE) { self.input.context.check_killed() } else { Ok(()) }
    }

    pub fn fold(&mut self, expression: Expression) -> Expression {
        // What a function hands on is stored otherwise than what is written.
        if self.changes.stores && expression.hands_on_moment() {
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
        match self.found_table(&schema, &name.name, &name.name)? {
            Some(table) => Ok(table),
            None => Err(view::unchangeable(self, &schema, &name.name)),
        }
    }

    /// The base table of that name, or the temporary one that goes before it; none of these in a view. Error 1137 for a temporary table
    /// that the statement has named before.
    pub fn found_table(&mut self, schema: &str, name: &str, alias: &str) -> SqlResult<Option<Arc<Table>>> {
        let own = match self.privileges.open_views.is_empty() {
            true => self.input.temporary.table(schema, name),
            false => None,
        };
        let found = match own {
            Some(table) => {
                if let Some((_, first)) = self.temporary.iter().find(|(known, _)| *known == table.id()) {
                    return Err(sql_error!(ER_CANT_REOPEN_TABLE, first));
                }
                self.temporary.push((table.id(), alias.to_owned()));
                Some(table)
            }
            None => self.input.engine.dictionary().table(schema, name),
        };
        self.tables.extend(found.clone());
        Ok(found)
    }

    pub fn unknown_table(&self, schema: &str, table: &str) -> SqlError {
        let is_schema = self.input.engine.dictionary().schema(schema).is_some()
            || self.input.virtual_tables.has_schema(schema);
        plan::unknown_table(schema, table, is_schema)
    }
}
