//! The physical plan: a tree of nodes that `exec` runs. Main types: [`Node`], [`TableAccess`], [`QueryPlan`].
//! All rows within one query block have one width; each table fills its own slots, so that a join copies nothing
//! but fills in. After grouping and projection the layout changes; each node says what it hands out.

use crate::dependence::DerivedDependence;
use crate::lateral::{LateralAccess, SeededTree};
use crate::window::WindowStep;
use charset::CollationId;
use dictionary::TableDefinition;
use engine::{KeyRange, Table};
use expression::operators::{BitOperator, ComparisonMode};
use expression::{Expression, ResultType, TablePurpose, ValueSource, table_type};
use std::sync::Arc;
use values::row::ColumnSet;

/// A column of a result set.
#[derive(Clone, Debug)]
pub struct OutputColumn {
    /// Name shown.
    pub name: String,
    /// Type.
    pub result: ResultType,
    /// The column that it shows, if it is one.
    pub origin: Option<ColumnOrigin>,
    /// Where its values come from.
    pub source: ValueSource,
    /// Whether this query computes it as it sends it; false for columns of stored and of temporary tables.
    pub computed: bool,
}

impl OutputColumn {
    /// The column as a temporary table keeps it: it has the type of a column, and the keys of its base table are gone.
    pub fn into_temporary(mut self) -> OutputColumn {
        self.result.column_type = table_type(&self.result, self.source, TablePurpose::Temporary);
        self.computed = false;
        self.source = ValueSource::Column;
        if let Some(origin) = &mut self.origin {
            origin.flags &= ColumnOrigin::FLAGS_KEPT;
        }
        self
    }
}

/// How a query comes by a column of a table. CREATE TABLE .. SELECT copies less of it from step to step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OriginPath {
    /// From the table: the copy has its default.
    Table,
    /// Through a temporary table: only a literal default stays.
    Kept,
    /// Through a subquery in FROM that MySQL merges with the query: no default.
    Merged,
}

/// The column that a result column shows: of a base table, or of a temporary one, which has no schema.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnOrigin {
    /// Schema.
    pub schema: String,
    /// Alias of the table.
    pub table: String,
    /// Name of the table.
    pub original_table: String,
    /// Name of the column.
    pub column: String,
    /// How the query comes by it.
    pub path: OriginPath,
    /// Protocol flags of the column: NOT_NULL, PRI_KEY, UNIQUE_KEY, MULTIPLE_KEY, AUTO_INCREMENT, NO_DEFAULT_VALUE, ...
    pub flags: u16,
}

impl ColumnOrigin {
    /// Flags that a copy of the column keeps: NOT_NULL and NO_DEFAULT_VALUE.
    const FLAGS_KEPT: u16 = 1 | 4096;

    /// A column of a temporary table of that name.
    pub fn temporary(table: &str, column: &str) -> ColumnOrigin {
        ColumnOrigin {
            schema: String::new(),
            table: table.to_owned(),
            original_table: String::new(),
            column: column.to_owned(),
            path: OriginPath::Table,
            flags: 0,
        }
    }
}

/// A query with its result columns.
#[derive(Clone, Debug)]
pub struct QueryPlan {
    /// The tree. Its rows begin with the result columns.
    pub root: Node,
    /// The result columns.
    pub columns: Vec<OutputColumn>,
    /// Expressions over the enclosing row whose values this query reads as outer references.
    pub outer: Vec<Expression>,
    /// Number of the query block that it begins with, if that is one with a number.
    pub block: Option<u32>,
    /// Estimated number of its rows.
    pub rows: f64,
    /// Nanoseconds that finding and joining the rows of FROM is estimated to take.
    pub joins_ns: f64,
    /// And the number of these rows.
    pub joined_rows: f64,
    /// Of a derived table: what determines what among its columns.
    pub dependence: Option<Arc<DerivedDependence>>,
    /// Of a subquery: whether it was found to have no rows while it was planned.
    pub is_empty: bool,
}

/// The guess of how many rows a query has that nothing is known of.
pub const ROWS_UNKNOWN: f64 = 100.0;

impl QueryPlan {
    /// A query of those rows, without columns as yet.
    pub fn of(root: Node, rows: f64) -> QueryPlan {
        let (columns, outer) = (Vec::new(), Vec::new());
        QueryPlan {
            root,
            columns,
            outer,
            block: None,
            rows,
            joins_ns: 0.0,
            joined_rows: rows,
            dependence: None,
            is_empty: false,
        }
    }
}

/// One line of EXPLAIN.
#[derive(Clone, Debug, Default)]
pub struct ExplainRow {
    /// Number of the query block.
    pub id: Option<u32>,
    /// SIMPLE, PRIMARY, SUBQUERY, ...
    pub select_type: &'static str,
    /// Alias, `<derived2>`, or None.
    pub table: Option<String>,
    /// const, eq_ref, ref, range, index, ALL, ...
    pub access: Option<&'static str>,
    /// Usable indexes.
    pub possible_keys: Vec<String>,
    /// Index used.
    pub key: Option<String>,
    /// Bytes of the key that are used, of each for a union.
    pub key_lengths: Vec<u32>,
    /// What the key is compared with.
    pub reference: Option<String>,
    /// Estimated rows read.
    pub rows: Option<u64>,
    /// Estimated percentage that remains after conditions.
    pub filtered: Option<f64>,
    /// Notes in MySQL's words.
    pub extra: Vec<String>,
}

/// How the sides of a join relate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinKind {
    /// Pairs that match.
    Inner,
    /// Pairs that match, and outer rows without match with NULLs.
    Left,
    /// Outer rows that have a match, once.
    Semi,
    /// Outer rows that have no match.
    Anti,
}

/// A node of the tree.
#[derive(Clone, Debug)]
pub enum Node {
    /// No row at all.
    Nothing,
    /// One row of so many NULL slots: SELECT without FROM.
    OneRow {
        /// Slots of the row.
        width: usize,
    },
    /// The row of the outer side of the [`TreeLoop`](Node::TreeLoop) that it stands in: its seeds, else NULLs.
    OuterRow {
        /// Slots of the row.
        width: usize,
    },
    /// Rows of expressions: VALUES.
    Values {
        /// The rows.
        rows: Vec<Vec<Expression>>,
    },
    /// Rows of a base table.
    Table(Box<TableAccess>),
    /// Rows of a table without storage.
    Virtual(Box<VirtualAccess>),
    /// Rows of a subquery in FROM.
    Derived(Box<DerivedAccess>),
    /// For each row of `outer`, the rows of `inner`, whose access reads the outer row.
    NestedLoop(Box<NestedLoop<TableAccess>>),
    /// The same, with an inner table without storage.
    VirtualLoop(Box<NestedLoop<VirtualAccess>>),
    /// Rows of a source of FROM that reads no table of the same join.
    Lateral(Box<LateralAccess>),
    /// For each row of `outer`, the rows of a source that reads that row.
    LateralLoop(Box<NestedLoop<LateralAccess>>),
    /// For each row of `outer`, the rows of a join with a source or a look-up in it that reads that row.
    TreeLoop(Box<NestedLoop<SeededTree>>),
    /// Rows of `build` are kept in a hash table; each row of `probe` looks up its matches.
    HashJoin(Box<HashJoin>),
    /// Rows for which all conditions hold.
    Filter {
        /// Rows.
        input: Box<Node>,
        /// Conditions.
        conditions: Vec<Expression>,
    },
    /// Groups: rows of the group keys followed by the aggregates.
    Aggregate(Box<Aggregate>),
    /// Window functions.
    Window(Box<WindowStep>),
    /// The number of rows of a table or range, as one row of one slot.
    Count(Box<TableAccess>),
    /// Rows of expressions.
    Project {
        /// Rows.
        input: Box<Node>,
        /// One expression a slot.
        expressions: Vec<Expression>,
    },
    /// Rows whose first `columns` slots differ from all before.
    Distinct {
        /// Rows.
        input: Box<Node>,
        /// Types of the slots that count.
        columns: Vec<ResultType>,
    },
    /// Rows in order.
    Sort {
        /// Rows.
        input: Box<Node>,
        /// Sort keys.
        keys: Vec<SortKey>,
        /// Only so many rows are wanted (with the offset included).
        limit: Option<RowLimit>,
    },
    /// A part of the rows.
    Limit {
        /// Rows.
        input: Box<Node>,
        /// Which part.
        limit: RowLimit,
        /// SQL_CALC_FOUND_ROWS: the input is read to its end and counted.
        count_all: bool,
    },
    /// UNION, INTERSECT and EXCEPT.
    SetOperation(Box<SetOperation>),
    /// The rows of each, one behind the other.
    Append(Vec<Node>),
    /// WITH RECURSIVE: the seed, then the step until it yields nothing.
    Recursive(Box<Recursive>),
    /// The rows that the last round of the recursion of that number yielded.
    RecursiveInput {
        /// Number of the recursion.
        id: usize,
        /// Slots: (column, slot).
        columns: Vec<(usize, usize)>,
        /// Slots of the row.
        width: usize,
    },
}

impl Node {
    /// Whether MySQL keeps the rows of a subquery in FROM with this tree in a temporary table, instead of reading its
    /// tables in their place.
    pub fn is_kept_in_from(&self) -> bool {
        match self {
            Node::Sort { input, .. } => input.is_kept_in_from(),
            Node::Project { input, .. } => input.groups_or_reads_nothing(),
            _ => true,
        }
    }

    /// Whether it gives one row without reading any.
    pub fn is_one_row(&self) -> bool {
        match self {
            Node::Project { input, .. } => input.is_one_row(),
            Node::OneRow { .. } => true,
            _ => false,
        }
    }

    /// Whether all that is left to do behind the last row read is to compute the only row of the result: SLEEP() in it that is interrupted is 1,
    /// and ends nothing.
    pub fn computes_one_row(&self) -> bool {
        let Node::Project { input, .. } = self else { return false };
        match &**input {
            Node::OneRow { .. } | Node::Count(_) => true,
            Node::Aggregate(aggregate) => aggregate.keys.is_empty(),
            _ => false,
        }
    }

    fn groups_or_reads_nothing(&self) -> bool {
        match self {
            Node::Filter { input, .. } => input.groups_or_reads_nothing(),
            Node::Aggregate(_) | Node::Window(_) | Node::Count(_) => true,
            Node::OneRow { .. } | Node::Limit { .. } => true,
            _ => false,
        }
    }
}

/// LIMIT as expressions, because a prepared statement may give it as parameters.
#[derive(Clone, Debug)]
pub struct RowLimit {
    /// Rows wanted.
    pub count: Option<Expression>,
    /// Rows left out before.
    pub offset: Option<Expression>,
}

/// One key of a sort.
#[derive(Clone, Debug)]
pub struct SortKey {
    /// What to sort by.
    pub expression: Expression,
    /// DESC.
    pub descending: bool,
}

/// What a read locks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowLock {
    /// Nothing (or shared locks under SERIALIZABLE).
    #[default]
    None,
    /// FOR SHARE.
    Shared(engine::WaitPolicy),
    /// FOR UPDATE.
    Exclusive(engine::WaitPolicy),
    /// What UPDATE and DELETE do: as FOR UPDATE, and the row behind a range of a secondary index is locked too, as MySQL does. The policy
    /// is that of scans: a row that is looked up by its key is waited for.
    Change(engine::WaitPolicy),
}

/// Reading a base table.
#[derive(Clone, Debug)]
pub struct TableAccess {
    /// The table.
    pub table: Arc<Table>,
    /// Alias.
    pub alias: String,
    /// Columns that are needed: (position in the table, slot).
    pub columns: Vec<(usize, usize)>,
    /// The same columns, for the engine: long values of others are not fetched.
    pub wanted: ColumnSet,
    /// Slots of the row.
    pub width: usize,
    /// How rows are found.
    pub path: AccessPath,
    /// Conditions that are checked on each row.
    pub conditions: Vec<Expression>,
    /// What is locked.
    pub lock: RowLock,
    /// Slot that receives the clustered key, if the row will be changed.
    pub key_slot: Option<usize>,
    /// Estimated rows that are read.
    pub rows_read: f64,
    /// Estimated rows that pass the conditions.
    pub rows_kept: f64,
}

/// How rows of a base table are found.
#[derive(Clone, Debug)]
pub struct AccessPath {
    /// Index number in [`Table::indexes`].
    pub index: usize,
    /// Ranges of the index; None for the whole of it.
    pub ranges: Option<Vec<KeyConditions>>,
    /// The one range of its keys that is read, where it was not the plan that found it: `ranges` is None then.
    pub keys: Option<KeyRange>,
    /// Reverse key order.
    pub backward: bool,
    /// Only columns of the index are needed.
    pub covering: bool,
    /// At most one row is found for each set of key values.
    pub single_row: bool,
    /// The order of the rows matters: ranges are read in key order.
    pub ordered: bool,
    /// Ranges of several indexes: the rows that are in any of them are looked up in the clustered index, which is `index` then,
    /// in its order. Empty for an access by one index.
    pub union: Vec<AccessPath>,
    /// One row is enough for each value of so many first parts: the next one is looked for behind them. 0 for all rows.
    pub skip_parts: usize,
}

impl AccessPath {
    /// All of an index.
    pub fn whole(index: usize) -> AccessPath {
        AccessPath {
            index,
            ranges: None,
            keys: None,
            backward: false,
            covering: false,
            single_row: false,
            ordered: false,
            union: Vec::new(),
            skip_parts: 0,
        }
    }

    /// What the ranges are made from, those of a union too.
    pub fn key_conditions(&self) -> impl Iterator<Item = &KeyCondition> {
        let own = self.ranges.iter().flatten().flatten();
        own.chain(self.union.iter().flat_map(|path| path.ranges.iter().flatten().flatten()))
    }
}

/// What a range demands of the first parts of an index, in order. All but the last are points.
pub type KeyConditions = Vec<KeyCondition>;

/// What a range demands of one index part. Expressions read the row as it is before this table is read.
#[derive(Clone, Debug)]
pub enum KeyCondition {
    /// Equal to one of these; with the flag, NULL is a value that is equal to NULL.
    Points(Vec<(Expression, bool)>),
    /// Between bounds; NULL is outside. The flag tells whether the bound itself is inside.
    Range {
        /// Lower bound.
        low: Option<(Expression, bool)>,
        /// Upper bound.
        high: Option<(Expression, bool)>,
    },
    /// LIKE with a pattern that begins with text: pattern and escape character.
    Prefix(Expression, Option<char>),
}

/// Reading a table without storage.
#[derive(Clone, Debug)]
pub struct VirtualAccess {
    /// The definition.
    pub definition: Arc<TableDefinition>,
    /// Alias.
    pub alias: String,
    /// Columns that are needed: (position, slot).
    pub columns: Vec<(usize, usize)>,
    /// Slots of the row.
    pub width: usize,
    /// Key columns that are looked up, with the values of which each has one.
    pub keys: Vec<VirtualKey>,
    /// Conditions that are checked on each row.
    pub conditions: Vec<Expression>,
}

/// What a look-up in a table without storage says of a column. Expressions read the row as it is before this table is read.
#[derive(Clone, Debug)]
pub struct VirtualKey {
    /// The column.
    pub column: usize,
    /// It has one of these values.
    pub points: Vec<Expression>,
    /// In which text is compared.
    pub collation: CollationId,
}

impl VirtualKey {
    /// A look-up by values that the column is compared with in that mode. None where a provider could not tell which of its rows have
    /// them: names are compared with text of a character set that holds them byte by byte, numbers with integers.
    pub fn new(column: usize, points: Vec<Expression>, mode: ComparisonMode) -> Option<VirtualKey> {
        let is_integer = |point: &Expression| point.result.kind().is_integer();
        let collation = match mode {
            ComparisonMode::Text(collation) if NAME_CHARSETS.contains(&collation.charset().name) => collation,
            ComparisonMode::Integer if points.iter().all(is_integer) => CollationId::BINARY,
            _ => return None,
        };
        Some(VirtualKey { column, points, collation })
    }
}

/// Character sets in which names have the bytes that they have in UTF-8.
const NAME_CHARSETS: [&str; 4] = ["utf8mb4", "utf8mb3", "ascii", "binary"];

/// Reading a subquery in FROM.
#[derive(Clone, Debug)]
pub struct DerivedAccess {
    /// The subquery; the uses of a common table share it, unless it reads outer columns.
    pub query: Arc<QueryPlan>,
    /// Alias.
    pub alias: String,
    /// Number of the common table in the plan, if it is one.
    pub common_table: Option<usize>,
    /// Columns that are needed: (position, slot).
    pub columns: Vec<(usize, usize)>,
    /// Slots of the row.
    pub width: usize,
    /// Conditions that are checked on each row.
    pub conditions: Vec<Expression>,
    /// All rows are computed before the first is read: the subquery assigns user variables, or is asked for again and again. Those
    /// of one that reads no outer columns are computed once an execution.
    pub kept: bool,
}

/// A common table of a plan. One that is used more than once is computed once, or once for each row around whose columns it
/// reads: all uses see the same rows.
#[derive(Clone, Debug)]
pub struct CommonTableUse {
    /// Its name.
    pub name: String,
    /// How often the statement names it.
    pub uses: usize,
}

/// A nested loop join.
#[derive(Clone, Debug)]
pub struct NestedLoop<A> {
    /// Outer side.
    pub outer: Node,
    /// Inner side.
    pub inner: A,
    /// Kind.
    pub kind: JoinKind,
    /// Conditions that a pair must meet besides the access' own.
    pub conditions: Vec<Expression>,
}

/// A hash join. Without keys every pair is tried.
#[derive(Clone, Debug)]
pub struct HashJoin {
    /// The side that streams. For Left, Semi and Anti the outer side.
    pub probe: Node,
    /// The side that is kept.
    pub build: Node,
    /// Slots that the build side fills.
    pub build_slots: Vec<usize>,
    /// Pairs of equal expressions: probe, build, and as what they are compared.
    pub keys: Vec<JoinKey>,
    /// Kind.
    pub kind: JoinKind,
    /// Conditions that a pair must meet besides the keys.
    pub conditions: Vec<Expression>,
    /// Estimated rows that come out.
    pub rows: f64,
}

/// One pair of equal expressions of a hash join.
#[derive(Clone, Debug)]
pub struct JoinKey {
    /// Over the probe side's row.
    pub probe: Expression,
    /// Over the build side's row.
    pub build: Expression,
    /// As what they are compared.
    pub mode: expression::operators::ComparisonMode,
    /// `<=>`: NULL matches NULL.
    pub null_safe: bool,
}

/// Grouping.
#[derive(Clone, Debug)]
pub struct Aggregate {
    /// Rows.
    pub input: Node,
    /// Group keys over the input row.
    pub keys: Vec<Expression>,
    /// Aggregates over the input row.
    pub aggregates: Vec<AggregateCall>,
    /// Rows are sorted by the keys before they are aggregated, as MySQL does for ROLLUP: what is shown of equal texts, and
    /// sums of floating point numbers, depend on the order of rows.
    pub sorts: bool,
    /// Rows come in an order that keeps those of a group together: a group ends where a key changes. Never WITH ROLLUP.
    pub in_order: bool,
    /// WITH ROLLUP: super-aggregate rows follow each group.
    pub rollup: bool,
}

/// Which aggregate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AggregateKind {
    /// COUNT(*).
    CountRows,
    /// COUNT(expressions): rows where none is NULL.
    Count,
    /// SUM.
    Sum,
    /// AVG.
    Average,
    /// MIN.
    Minimum,
    /// MAX.
    Maximum,
    /// GROUP_CONCAT.
    GroupConcat,
    /// JSON_ARRAYAGG.
    JsonArray {
        /// Values that are NULL are left out.
        absent_on_null: bool,
    },
    /// JSON_OBJECTAGG.
    JsonObject,
    /// BIT_AND.
    BitAnd,
    /// BIT_OR.
    BitOr,
    /// BIT_XOR.
    BitXor,
    /// Variance; `sample` divides by n - 1, `root` takes the square root.
    Variance {
        /// VAR_SAMP, STDDEV_SAMP.
        sample: bool,
        /// STD.
        root: bool,
    },
    /// The value of the group's first row: ANY_VALUE and columns that depend on the group keys.
    First,
    /// GROUPING(key): whether the row is a super-aggregate over that key.
    Grouping(usize),
}

impl AggregateKind {
    /// Whether the value of a group holds those of all its rows.
    pub fn collects(self) -> bool {
        matches!(
            self,
            AggregateKind::GroupConcat | AggregateKind::JsonArray { .. } | AggregateKind::JsonObject
        )
    }

    /// The operator of BIT_AND, BIT_OR and, as of others, BIT_XOR.
    pub fn bit_operator(self) -> BitOperator {
        match self {
            AggregateKind::BitAnd => BitOperator::And,
            AggregateKind::BitOr => BitOperator::Or,
            _ => BitOperator::Xor,
        }
    }

    /// The name that MySQL prints.
    pub fn name(self) -> &'static str {
        match self {
            AggregateKind::CountRows | AggregateKind::Count => "count",
            AggregateKind::Sum => "sum",
            AggregateKind::Average => "avg",
            AggregateKind::Minimum => "min",
            AggregateKind::Maximum => "max",
            AggregateKind::GroupConcat => "group_concat",
            AggregateKind::JsonArray { .. } => "json_arrayagg",
            AggregateKind::JsonObject => "json_objectagg",
            AggregateKind::BitAnd => "bit_and",
            AggregateKind::BitOr => "bit_or",
            AggregateKind::BitXor => "bit_xor",
            AggregateKind::Variance { sample: false, root: false } => "variance",
            AggregateKind::Variance { sample: true, root: false } => "var_samp",
            AggregateKind::Variance { sample: false, root: true } => "std",
            AggregateKind::Variance { sample: true, root: true } => "stddev_samp",
            AggregateKind::First => "any_value",
            AggregateKind::Grouping(_) => "grouping",
        }
    }
}

/// An aggregate.
#[derive(Clone, Debug)]
pub struct AggregateCall {
    /// Which.
    pub kind: AggregateKind,
    /// DISTINCT.
    pub distinct: bool,
    /// Arguments.
    pub arguments: Vec<Expression>,
    /// ORDER BY of GROUP_CONCAT.
    pub order_by: Vec<SortKey>,
    /// SEPARATOR of GROUP_CONCAT.
    pub separator: Vec<u8>,
    /// For the least or greatest date of groups in a temporary table: the name of its column there, for the warning
    /// that a group begins with NULL, which is a zero date there.
    pub kept_as: Option<Arc<str>>,
    /// Type of the result.
    pub result: ResultType,
}

/// UNION, INTERSECT and EXCEPT.
#[derive(Clone, Debug)]
pub struct SetOperation {
    /// First operand.
    pub first: Node,
    /// Further operands, from left to right.
    pub rest: Vec<SetTerm>,
    /// Types of the result columns.
    pub columns: Vec<ResultType>,
}

/// A further operand of a set operation.
#[derive(Clone, Debug)]
pub struct SetTerm {
    /// Operator.
    pub operator: parser::ast::SetOperator,
    /// ALL.
    pub all: bool,
    /// Operand.
    pub node: Node,
}

/// WITH RECURSIVE.
#[derive(Clone, Debug)]
pub struct Recursive {
    /// Number of the recursion in the plan.
    pub id: usize,
    /// The seed.
    pub seed: Node,
    /// The steps; each reads [`Node::RecursiveInput`].
    pub steps: Vec<RecursiveStep>,
    /// Names of the columns, for the error of a value that does not fit.
    pub names: Vec<String>,
    /// UNION ALL; otherwise rows that were seen are dropped.
    pub all: bool,
    /// Types of the columns.
    pub columns: Vec<ResultType>,
    /// LIMIT of the whole, if no ORDER BY wants all rows: the steps end with the last row of it.
    pub limit: Option<RowLimit>,
}

/// A step of WITH RECURSIVE. Its values are stored into the columns of the table, as into those of any other.
#[derive(Clone, Debug)]
pub struct RecursiveStep {
    /// The query.
    pub node: Node,
    /// Types of its columns.
    pub columns: Vec<ResultType>,
}
