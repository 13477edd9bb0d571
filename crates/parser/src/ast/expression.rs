//! Expressions as written. Main type: [`Expression`].
//! AND and OR chains are flat lists, so that a condition of ten thousand terms is not ten thousand levels deep.
#![allow(missing_docs)]

use super::{Name, ObjectName, OrderItem, Query};
pub use values::temporal::IntervalUnit;

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    Literal(Literal),
    Column(ColumnReference),
    /// `?`, numbered from 0 in the order of the text.
    Parameter(u32),
    /// `@name`.
    UserVariable(Name),
    /// `@name := value`.
    AssignVariable {
        name: Name,
        value: Box<Expression>,
    },
    /// `@@scope.name`.
    SystemVariable(SystemVariable),
    Unary {
        operator: UnaryOperator,
        operand: Box<Expression>,
    },
    Binary {
        operator: BinaryOperator,
        left: Box<Expression>,
        right: Box<Expression>,
    },
    /// Two or more terms.
    And(Vec<Expression>),
    /// Two or more terms.
    Or(Vec<Expression>),
    Is {
        operand: Box<Expression>,
        test: IsTest,
        negated: bool,
    },
    Between {
        operand: Box<Expression>,
        low: Box<Expression>,
        high: Box<Expression>,
        negated: bool,
    },
    InList {
        operand: Box<Expression>,
        list: Vec<Expression>,
        negated: bool,
    },
    InSubquery {
        operand: Box<Expression>,
        query: Box<Query>,
        negated: bool,
    },
    Like {
        operand: Box<Expression>,
        pattern: Box<Expression>,
        escape: Option<Box<Expression>>,
        negated: bool,
    },
    Regexp {
        operand: Box<Expression>,
        pattern: Box<Expression>,
        negated: bool,
    },
    MemberOf {
        operand: Box<Expression>,
        array: Box<Expression>,
    },
    /// `operand = ANY (query)`.
    Quantified {
        operator: BinaryOperator,
        quantifier: Quantifier,
        operand: Box<Expression>,
        query: Box<Query>,
    },
    Exists(Box<Query>),
    /// A scalar or row subquery.
    Subquery(Box<Query>),
    /// `(a, b)` or `ROW(a, b)`.
    Row(Vec<Expression>),
    Case {
        operand: Option<Box<Expression>>,
        branches: Vec<CaseBranch>,
        otherwise: Option<Box<Expression>>,
    },
    Cast(Box<CastExpression>),
    /// `CONVERT(operand USING charset)`; `binary` is spelled as a charset too.
    ConvertUsing {
        operand: Box<Expression>,
        charset: Name,
    },
    Collate {
        operand: Box<Expression>,
        collation: Name,
    },
    /// Any call without a syntax of its own: built-in, loadable or stored. `SUBSTRING(a FROM b FOR c)`,
    /// `POSITION(a IN b)` (as LOCATE), `a -> b` (as JSON_EXTRACT), `a ->> b` (as JSON_UNQUOTE(JSON_EXTRACT)),
    /// `CURRENT_TIMESTAMP` without parentheses and the like all arrive here.
    Function(FunctionCall),
    Aggregate(Box<AggregateCall>),
    /// RANK(), LAG() and the other functions that exist only with OVER.
    WindowFunction(Box<WindowFunctionCall>),
    /// `DATE_ADD(operand, INTERVAL amount unit)` and its spellings with + and -.
    DateArithmetic {
        operand: Box<Expression>,
        amount: Box<Expression>,
        unit: IntervalUnit,
        subtract: bool,
    },
    Extract {
        unit: IntervalUnit,
        operand: Box<Expression>,
    },
    TimestampAdd {
        unit: IntervalUnit,
        amount: Box<Expression>,
        operand: Box<Expression>,
    },
    TimestampDiff {
        unit: IntervalUnit,
        from: Box<Expression>,
        to: Box<Expression>,
    },
    Trim {
        side: TrimSide,
        remove: Option<Box<Expression>>,
        operand: Box<Expression>,
    },
    /// `CHAR(a, b USING charset)`.
    Char {
        arguments: Vec<Expression>,
        charset: Option<Name>,
    },
    WeightString {
        operand: Box<Expression>,
        shape: Option<WeightStringShape>,
    },
    Match {
        columns: Vec<ColumnReference>,
        against: Box<Expression>,
        mode: MatchMode,
    },
    /// `DEFAULT(column)`, or plain DEFAULT where a value is assigned.
    Default(Option<ColumnReference>),
    /// `VALUES(column)` in ON DUPLICATE KEY UPDATE.
    Values(ColumnReference),
    Grouping(Vec<Expression>),
    JsonValue(Box<JsonValue>),
    /// `{name operand}` of ODBC with a name other than d, t, ts: the operand alone counts.
    Odbc {
        name: Name,
        operand: Box<Expression>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    Null,
    True,
    False,
    /// Fits 64 bits without sign; a larger number is a Decimal.
    Integer(u64),
    /// Digits with at most one point, as written.
    Decimal(String),
    /// With an exponent, as written.
    Float(String),
    /// Bytes in the connection's character set, or in that of the introducer. Adjacent literals are joined.
    /// N'..' has the introducer utf8mb3.
    String {
        bytes: Vec<u8>,
        introducer: Option<Name>,
    },
    /// `X'..'` and `0x..`.
    Hex {
        bytes: Vec<u8>,
        introducer: Option<Name>,
    },
    /// `b'..'` and `0b..`, padded on the left to whole bytes.
    Bits {
        bytes: Vec<u8>,
        introducer: Option<Name>,
    },
    /// `DATE'..'`, `TIME'..'`, `TIMESTAMP'..'` and the ODBC forms.
    Date(Vec<u8>),
    Time(Vec<u8>),
    Timestamp(Vec<u8>),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ColumnReference {
    pub schema: Option<Name>,
    pub table: Option<Name>,
    pub column: Name,
}

impl ColumnReference {
    /// A reference by column name alone.
    pub fn unqualified(column: impl Into<Name>) -> ColumnReference {
        ColumnReference { schema: None, table: None, column: column.into() }
    }
}

impl std::fmt::Display for ColumnReference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for part in [&self.schema, &self.table].into_iter().flatten() {
            write!(f, "{part}.")?;
        }
        f.write_str(&self.column)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemVariable {
    /// None: the session value if there is one, else the global.
    pub scope: Option<VariableScope>,
    /// The part before the point in `component.variable` or `cache.key_buffer_size`.
    pub qualifier: Option<Name>,
    pub name: Name,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableScope {
    Global,
    Session,
    Persist,
    PersistOnly,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOperator {
    Minus,
    Plus,
    /// `~`.
    BitNot,
    /// `NOT` and `!`.
    Not,
    /// `BINARY operand`.
    Binary,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOperator {
    Add,
    Subtract,
    Multiply,
    Divide,
    IntegerDivide,
    Modulo,
    BitOr,
    BitAnd,
    BitXor,
    ShiftLeft,
    ShiftRight,
    Equal,
    /// `<=>`.
    NullSafeEqual,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    LogicalXor,
    SoundsLike,
}

impl BinaryOperator {
    /// Whether it is one of the comparisons (`=`, `<=>`, `<>`, `<`, `<=`, `>`, `>=`).
    pub fn is_comparison(self) -> bool {
        use BinaryOperator::*;
        matches!(self, Equal | NullSafeEqual | NotEqual | Less | LessOrEqual | Greater | GreaterOrEqual)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IsTest {
    Null,
    True,
    False,
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantifier {
    /// ANY and SOME.
    Any,
    All,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CaseBranch {
    pub when: Expression,
    pub then: Expression,
}

/// `CAST(operand AS target)` and `CONVERT(operand, target)`.
#[derive(Clone, Debug, PartialEq)]
pub struct CastExpression {
    pub operand: Box<Expression>,
    pub target: CastTarget,
    /// `AS type ARRAY`: multi-valued index keys only.
    pub array: bool,
    /// `operand AT TIME ZONE [INTERVAL] '..'`.
    pub time_zone: Option<Vec<u8>>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum CastTarget {
    Signed,
    Unsigned,
    Char {
        length: Option<u64>,
        charset: Option<Name>,
        national: bool,
    },
    Binary {
        length: Option<u64>,
    },
    Date,
    Time {
        decimals: Option<u64>,
    },
    DateTime {
        decimals: Option<u64>,
    },
    Decimal {
        digits: Option<u64>,
        scale: Option<u64>,
    },
    Float {
        precision: Option<u64>,
    },
    Double,
    Real,
    Year,
    Json,
    /// Point, LineString and the others.
    Geometry(Name),
}

#[derive(Clone, Debug, PartialEq)]
pub struct FunctionCall {
    /// `schema.function(..)`: never a built-in.
    pub schema: Option<Name>,
    /// As written; built-ins are looked up without regard to case.
    pub name: Name,
    pub arguments: Vec<Expression>,
    /// Whether a blank stands between name and parenthesis: then names of IGNORE_SPACE functions are not built-ins.
    pub spaced: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct AggregateCall {
    pub kind: AggregateKind,
    pub distinct: bool,
    /// Empty only for COUNT(*).
    pub arguments: Vec<Expression>,
    /// GROUP_CONCAT only.
    pub order_by: Vec<OrderItem>,
    /// JSON_ARRAYAGG(.. ABSENT ON NULL).
    pub absent_on_null: bool,
    /// GROUP_CONCAT only.
    pub separator: Option<Vec<u8>>,
    pub over: Option<Over>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AggregateKind {
    Count,
    Sum,
    Avg,
    Min,
    Max,
    GroupConcat,
    BitAnd,
    BitOr,
    BitXor,
    /// STD, STDDEV, STDDEV_POP.
    StddevPop,
    StddevSamp,
    /// VARIANCE, VAR_POP.
    VarPop,
    VarSamp,
    JsonArrayagg,
    JsonObjectagg,
    StCollect,
}

#[derive(Clone, Debug, PartialEq)]
pub struct WindowFunctionCall {
    pub kind: WindowFunctionKind,
    pub arguments: Vec<Expression>,
    /// IGNORE NULLS was given (RESPECT NULLS is the default).
    pub ignore_nulls: bool,
    /// NTH_VALUE .. FROM LAST.
    pub from_last: bool,
    pub over: Over,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WindowFunctionKind {
    RowNumber,
    Rank,
    DenseRank,
    PercentRank,
    CumeDist,
    Ntile,
    Lead,
    Lag,
    FirstValue,
    LastValue,
    NthValue,
}

impl WindowFunctionKind {
    /// Its name in lower case.
    pub fn name(self) -> &'static str {
        match self {
            WindowFunctionKind::RowNumber => "row_number",
            WindowFunctionKind::Rank => "rank",
            WindowFunctionKind::DenseRank => "dense_rank",
            WindowFunctionKind::PercentRank => "percent_rank",
            WindowFunctionKind::CumeDist => "cume_dist",
            WindowFunctionKind::Ntile => "ntile",
            WindowFunctionKind::Lead => "lead",
            WindowFunctionKind::Lag => "lag",
            WindowFunctionKind::FirstValue => "first_value",
            WindowFunctionKind::LastValue => "last_value",
            WindowFunctionKind::NthValue => "nth_value",
        }
    }
}

/// What follows OVER.
#[derive(Clone, Debug, PartialEq)]
pub enum Over {
    Name(Name),
    Window(WindowSpecification),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct WindowSpecification {
    /// The named window it starts from.
    pub base: Option<Name>,
    pub partition_by: Vec<Expression>,
    pub order_by: Vec<OrderItem>,
    pub frame: Option<WindowFrame>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct WindowFrame {
    pub unit: FrameUnit,
    pub start: FrameBound,
    /// CURRENT ROW where the text gives none.
    pub end: FrameBound,
    /// EXCLUDE, if it is written.
    pub exclusion: Option<FrameExclusion>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameUnit {
    Rows,
    Range,
    Groups,
}

#[derive(Clone, Debug, PartialEq)]
pub enum FrameBound {
    UnboundedPreceding,
    Preceding(FrameOffset),
    CurrentRow,
    Following(FrameOffset),
    UnboundedFollowing,
}

#[derive(Clone, Debug, PartialEq)]
pub struct FrameOffset {
    pub amount: Box<Expression>,
    /// `INTERVAL amount unit`.
    pub unit: Option<IntervalUnit>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrameExclusion {
    #[default]
    NoOthers,
    CurrentRow,
    Group,
    Ties,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrimSide {
    /// Neither word was written: both sides.
    Unsaid,
    Both,
    Leading,
    Trailing,
}

/// What WEIGHT_STRING looks at, and how much of it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WeightStringShape {
    /// `AS CHAR(n)`.
    Characters(u64),
    /// `AS BINARY(n)`.
    Binary(u64),
    /// The form with numbers, which no manual has: so many bytes, of the weights of so many characters; then flags, which say that short
    /// ones are padded.
    Fitted { bytes: u64, characters: u64 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchMode {
    NaturalLanguage,
    NaturalLanguageWithExpansion,
    Boolean,
}

/// `JSON_VALUE(document, path RETURNING type .. ON EMPTY .. ON ERROR)`.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonValue {
    pub document: Expression,
    pub path: Vec<u8>,
    pub returning: Option<CastTarget>,
    pub on_empty: Option<JsonReaction>,
    pub on_error: Option<JsonReaction>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum JsonReaction {
    Null,
    Error,
    Default(Expression),
}

impl Expression {
    /// A call of a built-in by name.
    pub fn call(name: &str, arguments: Vec<Expression>) -> Expression {
        Expression::Function(FunctionCall { schema: None, name: name.to_owned(), arguments, spaced: false })
    }

    /// A call of a stored function, or of a built-in if it has no schema.
    pub fn call_object(name: ObjectName, arguments: Vec<Expression>) -> Expression {
        Expression::Function(FunctionCall { schema: name.schema, name: name.name, arguments, spaced: false })
    }
}
