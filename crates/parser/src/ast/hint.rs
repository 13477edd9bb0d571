//! Optimizer hints: `/*+ .. */` behind SELECT, INSERT, REPLACE, UPDATE and DELETE.
#![allow(missing_docs)]

use super::Name;

/// What a hint is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HintKind {
    // Of a table.
    Bka,
    Bnl,
    HashJoin,
    DerivedConditionPushdown,
    Merge,
    // Of indexes of a table.
    Index,
    JoinIndex,
    GroupIndex,
    OrderIndex,
    IndexMerge,
    Mrr,
    Icp,
    RangeOptimization,
    SkipScan,
    // Of the order of a block's tables.
    JoinFixedOrder,
    JoinOrder,
    JoinPrefix,
    JoinSuffix,
    // Of a block that is a subquery.
    Semijoin,
    Subquery,
    /// Names the block.
    QueryBlockName,
}

/// The name of a table in a hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HintedTable {
    pub name: Name,
    /// `@block` behind it.
    pub block: Option<Name>,
}

/// One hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    pub kind: HintKind,
    /// False for one that begins with `NO_`.
    pub on: bool,
    /// The block that it is for: `@block` before anything else, or behind its only table. None for the block where it stands.
    pub block: Option<Name>,
    /// Its tables: at most one but for orders; none for all tables of the block.
    pub tables: Vec<HintedTable>,
    /// Indexes, strategies, the name of the block.
    pub words: Vec<Name>,
}

/// The value of SET_VAR.
#[derive(Clone, Debug, PartialEq)]
pub enum HintValue {
    /// A whole number, K, M and G multiplied in.
    Integer(u64),
    /// A number with a fraction, as it is written.
    Decimal(String),
    /// A text or a word.
    Text(String),
}

/// `SET_VAR(name = value)`: for the whole statement, wherever in it the hint stands.
#[derive(Clone, Debug, PartialEq)]
pub struct SetVariableHint {
    pub name: Name,
    pub value: HintValue,
}

/// The hints that are for the statement and not for the block where they stand.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StatementHints {
    /// In the order of the text.
    pub set_variables: Vec<SetVariableHint>,
    /// Hints with a `block`, in the order of the text.
    pub elsewhere: Vec<Hint>,
}

impl StatementHints {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.set_variables.is_empty() && self.elsewhere.is_empty()
    }
}
