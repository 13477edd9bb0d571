//! Common tables: which are in scope, what is planned of them, and which are recursive. Main type: [`CommonTables`].

use errors::{SqlResult, sql_error};
use optimizer::Derived;
use parser::ast;
use plan::physical::{CommonTableUse, OutputColumn, QueryPlan};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The common tables of a statement.
#[derive(Default)]
pub(crate) struct CommonTables {
    /// Those that a name may mean, innermost last.
    pub in_scope: Vec<CommonTable>,
    /// Those that are named, by number.
    pub uses: Vec<CommonTableUse>,
    /// Plans of those that could be read in place and are not, by number.
    pub planned: HashMap<usize, Arc<QueryPlan>>,
    /// Numbers of those that read columns of blocks around them, with how many blocks are around their WITH clause.
    pub correlated: Vec<(usize, usize)>,
    /// One for each recursive one.
    pub recursions: Vec<RecursionScope>,
}

/// A common table expression that is in scope.
#[derive(Clone)]
pub(crate) struct CommonTable {
    pub name: String,
    pub columns: Vec<String>,
    pub query: Arc<ast::Query>,
    pub recursive: bool,
    /// How many of the statement's open blocks stand around its WITH clause: those whose columns it may read.
    pub around: usize,
    /// While the steps of a recursive one are bound: its number and columns.
    pub recursion: Option<(usize, Vec<OutputColumn>)>,
    /// Its plan, once it was used.
    pub bound: Option<BoundCommonTable>,
    /// Once it was used and reads columns of blocks around it: its plan for the readers of one block, by the block's number.
    /// Each block has a plan of its own, but all of them read the same rows.
    pub correlated: Option<(u32, BoundCommonTable)>,
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

/// A recursive table while its query is bound.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecursionScope {
    /// Uses of the table in the operand that is being bound.
    pub uses: usize,
    /// Of these, uses in a subquery or behind an outer join.
    pub nested_uses: usize,
    /// Depth of the operand's query block.
    pub depth: usize,
}

impl CommonTable {
    /// Its plan for a reader in the block of that number, if it has one.
    pub fn bound_for(&self, reader: u32) -> Option<BoundCommonTable> {
        let here = self.correlated.as_ref().filter(|(block, _)| *block == reader);
        self.bound.clone().or_else(|| here.map(|(_, bound)| bound.clone()))
    }
}

impl CommonTables {
    /// Puts the tables of a WITH clause in scope, around which so many blocks are open; returns how many were there before.
    /// Error 1066.
    pub fn enter(&mut self, with: Option<&ast::With>, around: usize) -> SqlResult<usize> {
        let before = self.in_scope.len();
        let Some(with) = with else { return Ok(before) };
        let mut seen = HashSet::with_capacity(with.tables.len());
        for table in &with.tables {
            if !seen.insert(table.name.as_str()) {
                return Err(sql_error!(ER_NONUNIQ_TABLE, table.name));
            }
            self.in_scope.push(CommonTable {
                name: table.name.clone(),
                columns: table.columns.clone(),
                query: Arc::new((*table.query).clone()),
                recursive: with.recursive,
                around,
                recursion: None,
                bound: None,
                correlated: None,
            });
        }
        Ok(before)
    }

    /// Leaves the query of a WITH clause, before which so many tables were in scope.
    pub fn leave(&mut self, before: usize) {
        self.in_scope.truncate(before);
    }

    /// The number of a common table that a use was just planned of: a new one, unless an earlier use of one that reads outer
    /// columns has it.
    pub fn number_of(&mut self, common: &CommonTable) -> usize {
        if let Some((_, bound)) = &common.correlated {
            return bound.number;
        }
        self.uses.push(CommonTableUse { name: common.name.clone(), uses: 0 });
        self.uses.len() - 1
    }

    /// Those of the WITH clauses within a subquery around which so many blocks are open, whose rows depend on the row around
    /// it. `before`: how many of [`CommonTables::correlated`] were there before it was bound.
    pub fn correlated_since(&self, before: usize, around: usize) -> Vec<usize> {
        let within = |(number, outside): &(usize, usize)| (*outside >= around).then_some(*number);
        self.correlated.iter().skip(before).filter_map(within).collect()
    }

    /// The number of a recursive table whose query is bound now.
    pub fn open_recursion(&mut self) -> usize {
        self.recursions.push(RecursionScope::default());
        self.recursions.len() - 1
    }

    /// The name of the recursive table of that number.
    pub fn recursion_name(&self, id: usize) -> Option<&str> {
        let is_it = |known: &&CommonTable| known.recursion.as_ref().is_some_and(|(own, _)| *own == id);
        self.in_scope.iter().find(is_it).map(|known| known.name.as_str())
    }
}
