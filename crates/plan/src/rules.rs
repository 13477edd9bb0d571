//! What of optimizer and executor a session may switch off: invariant I13. Main types: [`Rule`], [`Rules`]. With all of them off, FROM is
//! read as it is written, whole tables in nested loops, and subqueries run where they stand.

/// A rewrite, a way to read or join, or a fast way of the executor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Rule {
    /// Queries in FROM that only choose, join and compute are read in place.
    DerivedMerge,
    /// Conditions go into queries in FROM that group or are set operations.
    DerivedConditionPushdown,
    /// IN and EXISTS are joins.
    Semijoin,
    /// Joins of which IN and EXISTS ask for a row are read for each row that asks, up to the first match.
    FirstMatch,
    /// The different values of IN are a table that is joined.
    Materialization,
    /// Groups of which nothing is computed are left out of IN and EXISTS.
    IdleGroups,
    /// Subqueries that read nothing of the rows around them run while it is planned.
    EarlySubqueries,
    /// Aggregates of a subquery that depends on the row around by equalities are computed for all such rows at once.
    GroupedSubqueries,
    /// Only after the subquery has run for as many rows as that costs.
    SubqueryRunsFirst,
    /// What all alternatives of OR demand stands beside them.
    OrFactoring,
    /// What is said of a column is said of those that are equal to it.
    EqualColumns,
    /// Outer joins whose missing rows no condition lets pass are inner ones.
    OuterToInner,
    /// Outer joins of which only rows without a match pass end at the first match.
    NullAntijoin,
    /// Conditions are decided by what the types and declarations of their columns say.
    KnownConditions,
    /// What an index has of an expression is not computed.
    IndexedValues,
    /// Tables are joined in the order that costs least.
    JoinOrder,
    /// Hash joins.
    HashJoin,
    /// The keys of a hash join leave rows out where they are read.
    HashKeysAtScans,
    /// Hash joins keep only what is read.
    KeptSlots,
    /// Ranges of indexes.
    IndexRanges,
    /// Unions of ranges of several indexes.
    IndexMerge,
    /// The order of an index instead of a sort.
    IndexOrder,
    /// An index is read for its order, because LIMIT wants few rows.
    PreferOrderingIndex,
    /// MIN and MAX from the ends of an index.
    MinMax,
    /// COUNT(*) without reading rows.
    RowCount,
    /// From value to value of an index.
    SkipScan,
    /// The executor's fast ways (X6 in its README).
    FastExecution,
}

/// A set of rules: those that may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules(u32);

impl Rules {
    /// Every rule.
    pub const ALL: Rules = Rules(u32::MAX);
    /// None of them.
    pub const NONE: Rules = Rules(0);

    /// Whether a rule may be used.
    #[inline]
    pub fn has(self, rule: Rule) -> bool {
        self.0 >> rule as u32 & 1 == 1
    }

    /// The same without that rule.
    pub fn without(self, rule: Rule) -> Rules {
        Rules(self.0 & !(1 << rule as u32))
    }
}

impl Default for Rules {
    fn default() -> Rules {
        Rules::ALL
    }
}
