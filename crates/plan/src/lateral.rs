//! Sources in FROM that depend on the tables before them: queries behind LATERAL, and JSON_TABLE. They are opened again for each row of
//! those tables. Main types: [`LateralAccess`], [`SeededTree`].

use crate::json_table::JsonTable;
use crate::physical::{Node, QueryPlan};
use expression::{Expression, ResultType};
use std::sync::Arc;

/// Reading a source that depends on the tables before it.
#[derive(Clone, Debug)]
pub struct LateralAccess {
    /// What is read.
    pub source: LateralSource,
    /// Alias.
    pub alias: String,
    /// What it is opened with, over the row of the tables before it: the values that the query reads of them,
    /// or the document.
    pub arguments: Vec<Expression>,
    /// Slots that the arguments read of tables outside of the join that the source stands in: see [`SeededTree`].
    pub seeds: Vec<usize>,
    /// Columns that are needed: (position, slot).
    pub columns: Vec<(usize, usize)>,
    /// Slots of the row.
    pub width: usize,
    /// Conditions that are checked on each row.
    pub conditions: Vec<Expression>,
}

/// What is opened for each row.
#[derive(Clone, Debug)]
pub enum LateralSource {
    /// A query, whose outer references are the arguments. All its rows are computed before the first is read.
    Query {
        /// The query.
        query: Arc<QueryPlan>,
        /// Numbers of the common tables within it that read the arguments too: they are computed anew with it.
        common_tables: Vec<usize>,
    },
    /// JSON_TABLE over the document that is its one argument.
    Json(Arc<JsonTable>),
}

impl LateralSource {
    /// The type of a column.
    pub fn column(&self, position: usize) -> &ResultType {
        match self {
            LateralSource::Query { query, .. } => &query.columns[position].result,
            LateralSource::Json(table) => &table.columns[position].result,
        }
    }
}

/// The inner side of a join that is a join itself, within which a source or a look-up depends on tables of the outer side: it is opened
/// again for each row of the outer side.
#[derive(Clone, Debug)]
pub struct SeededTree {
    /// The join.
    pub node: Node,
    /// Slots that it fills.
    pub slots: Vec<usize>,
    /// Slots of the outer side that are read within it.
    pub seeds: Vec<usize>,
    /// Those of them that it is handed in from outside of the join that it stands in itself.
    pub handed_on: Vec<usize>,
    /// Slots of the row.
    pub width: usize,
}
