//! Statements that define schemas, tables, indexes, views and stored programs.
//! Main types: [`CreateTable`], [`AlterTable`], [`DataType`].
#![allow(missing_docs)]

use super::{Expression, Name, ObjectName, Query, UserName};
use values::TypeKind;

#[derive(Clone, Debug, PartialEq)]
pub struct CreateTable {
    pub temporary: bool,
    pub if_not_exists: bool,
    pub name: ObjectName,
    /// `LIKE other`: everything below is empty then.
    pub like: Option<ObjectName>,
    pub elements: Vec<TableElement>,
    pub options: Vec<TableOption>,
    pub partitioning: Option<Partitioning>,
    pub on_duplicate: SelectDuplicates,
    pub query: Option<Box<Query>>,
}

/// What CREATE TABLE .. SELECT does with duplicates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SelectDuplicates {
    #[default]
    Error,
    Ignore,
    Replace,
}

#[derive(Clone, Debug, PartialEq)]
pub enum TableElement {
    Column(ColumnSpecification),
    Index(IndexSpecification),
    ForeignKey(ForeignKey),
    Check(CheckConstraint),
}

#[derive(Clone, Debug, PartialEq)]
pub struct ColumnSpecification {
    pub name: Name,
    pub data_type: DataType,
    pub attributes: Vec<ColumnAttribute>,
}

/// A declared type.
#[derive(Clone, Debug, PartialEq)]
pub struct DataType {
    pub kind: DataTypeKind,
    /// The first number in parentheses: characters, bytes, digits, bits, display width or fractional digits (temporal).
    pub length: Option<u64>,
    /// The second number in parentheses.
    pub decimals: Option<u64>,
    pub unsigned: bool,
    pub zerofill: bool,
    /// BOOL or BOOLEAN instead of TINYINT(1).
    pub boolean: bool,
    pub charset: Option<Name>,
    /// It is what ASCII, UNICODE or BYTE stand for.
    pub is_synonym: bool,
    /// COLLATE given right after the type; as an attribute it is [`ColumnAttribute::Collate`].
    pub collation: Option<Name>,
    /// The attribute BINARY: the _bin collation of the character set.
    pub binary: bool,
    /// NATIONAL, NCHAR and NVARCHAR, which chose the character set.
    pub national: bool,
    /// Members of ENUM and SET.
    pub members: Vec<Vec<u8>>,
}

/// Synonyms are already resolved (INTEGER is Int, DEC is Decimal, BOOL is TinyInt with length 1, ..).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DataTypeKind {
    /// A type that columns have.
    Stored(TypeKind),
    /// BIGINT UNSIGNED NOT NULL AUTO_INCREMENT UNIQUE.
    Serial,
    /// REAL: Double, or Float in sql_mode REAL_AS_FLOAT.
    Real,
    Json,
    Vector,
    Geometry,
    Point,
    LineString,
    Polygon,
    MultiPoint,
    MultiLineString,
    MultiPolygon,
    GeometryCollection,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ColumnAttribute {
    Null,
    NotNull,
    /// A literal (sign included), CURRENT_TIMESTAMP as a function call, or NULL.
    Default(Expression),
    /// DEFAULT (expression).
    DefaultExpression(Expression),
    /// ON UPDATE CURRENT_TIMESTAMP(n).
    OnUpdateNow(u64),
    AutoIncrement,
    /// `SERIAL DEFAULT VALUE`.
    SerialDefaultValue,
    PrimaryKey,
    Unique,
    /// KEY alone means PRIMARY KEY in MySQL.
    Comment(Vec<u8>),
    Collate(Name),
    ColumnFormat(Name),
    Storage(Name),
    Visible,
    Invisible,
    Generated {
        expression: Expression,
        stored: bool,
    },
    Check(CheckConstraint),
    /// Parsed but without effect, as in MySQL before 9; kept so that a later layer may create the key.
    References(References),
    SpatialReference(u64),
    EngineAttribute(Vec<u8>),
    SecondaryEngineAttribute(Vec<u8>),
    NotSecondary,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CheckConstraint {
    pub name: Option<Name>,
    pub expression: Expression,
    /// None where the text does not say (enforced).
    pub enforced: Option<bool>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct IndexSpecification {
    pub kind: IndexType,
    pub name: Option<Name>,
    /// `CONSTRAINT symbol` before PRIMARY KEY or UNIQUE: names the index if it has no name.
    pub constraint: Option<Name>,
    pub parts: Vec<KeyPart>,
    pub options: Vec<IndexOption>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexType {
    Primary,
    Unique,
    Plain,
    FullText,
    Spatial,
}

#[derive(Clone, Debug, PartialEq)]
pub struct KeyPart {
    pub target: KeyPartTarget,
    /// None where the text does not say.
    pub descending: Option<bool>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum KeyPartTarget {
    Column { name: Name, prefix_length: Option<u64> },
    Expression(Expression),
}

#[derive(Clone, Debug, PartialEq)]
pub enum IndexOption {
    /// USING BTREE, HASH, RTREE.
    Using(Name),
    KeyBlockSize(u64),
    WithParser(Name),
    Comment(Vec<u8>),
    Visible,
    Invisible,
    EngineAttribute(Vec<u8>),
    SecondaryEngineAttribute(Vec<u8>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct ForeignKey {
    pub constraint: Option<Name>,
    pub index_name: Option<Name>,
    pub columns: Vec<Name>,
    pub references: References,
}

#[derive(Clone, Debug, PartialEq)]
pub struct References {
    pub table: ObjectName,
    pub columns: Vec<Name>,
    pub match_type: Option<Name>,
    pub on_delete: Option<ReferenceAction>,
    pub on_update: Option<ReferenceAction>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceAction {
    Restrict,
    Cascade,
    SetNull,
    NoAction,
    SetDefault,
}

#[derive(Clone, Debug, PartialEq)]
pub enum TableOption {
    Engine(Name),
    AutoIncrement(u64),
    Charset(Name),
    Collate(Name),
    Comment(Vec<u8>),
    RowFormat(Name),
    Union(Vec<ObjectName>),
    /// Every other option by its upper-case name, e.g. ("MAX_ROWS", "1000"), ("COMPRESSION", "zlib").
    Other {
        name: &'static str,
        value: String,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct Partitioning {
    pub method: PartitionMethod,
    pub count: Option<u64>,
    pub subpartitioning: Option<(PartitionMethod, Option<u64>)>,
    pub partitions: Vec<PartitionDefinition>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum PartitionMethod {
    Hash { linear: bool, expression: Expression },
    Key { linear: bool, algorithm: Option<u64>, columns: Vec<Name> },
    Range(Expression),
    RangeColumns(Vec<Name>),
    List(Expression),
    ListColumns(Vec<Name>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct PartitionDefinition {
    pub name: Name,
    pub values: Option<PartitionValues>,
    pub options: Vec<TableOption>,
    pub subpartitions: Vec<SubpartitionDefinition>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SubpartitionDefinition {
    pub name: Name,
    pub options: Vec<TableOption>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum PartitionValues {
    /// None in a place is MAXVALUE.
    LessThan(Vec<Option<Expression>>),
    /// Each a row of one or more values.
    In(Vec<Vec<Option<Expression>>>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct AlterTable {
    pub name: ObjectName,
    pub actions: Vec<AlterAction>,
    /// ALGORITHM=.
    pub algorithm: Option<Name>,
    /// LOCK=.
    pub lock: Option<Name>,
    /// WITH VALIDATION (true) or WITHOUT VALIDATION (false).
    pub validation: Option<bool>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum AlterAction {
    AddColumn {
        column: ColumnSpecification,
        position: Option<ColumnPosition>,
    },
    /// `ADD (a INT, KEY (a))`: columns and keys without positions.
    AddElements(Vec<TableElement>),
    AddIndex(IndexSpecification),
    AddForeignKey(ForeignKey),
    AddCheck(CheckConstraint),
    DropColumn(Name),
    DropIndex(Name),
    DropPrimaryKey,
    DropForeignKey(Name),
    DropCheck(Name),
    /// DROP CONSTRAINT: any kind of constraint of that name.
    DropConstraint(Name),
    /// CHANGE (with a new name) and MODIFY (without).
    ChangeColumn {
        old_name: Name,
        column: ColumnSpecification,
        position: Option<ColumnPosition>,
    },
    RenameColumn {
        old_name: Name,
        new_name: Name,
    },
    RenameIndex {
        old_name: Name,
        new_name: Name,
    },
    RenameTable(ObjectName),
    SetDefault {
        column: Name,
        default: ColumnAttribute,
    },
    DropDefault(Name),
    SetColumnVisible {
        column: Name,
        visible: bool,
    },
    AlterIndexVisible {
        index: Name,
        visible: bool,
    },
    /// ALTER CHECK and ALTER CONSTRAINT.
    AlterCheckEnforced {
        name: Name,
        enforced: bool,
    },
    Options(Vec<TableOption>),
    ConvertCharset {
        charset: Option<Name>,
        collation: Option<Name>,
    },
    OrderBy(Vec<super::OrderItem>),
    EnableKeys,
    DisableKeys,
    /// FORCE and the like: rebuild.
    Force,
    DiscardTablespace,
    ImportTablespace,
    PartitionBy(Box<Partitioning>),
    RemovePartitioning,
    AddPartitions(Vec<PartitionDefinition>),
    AddPartitionCount(u64),
    DropPartitions(Vec<Name>),
    TruncatePartitions(PartitionSelection),
    CoalescePartition(u64),
    ReorganizePartitions {
        names: Vec<Name>,
        into: Vec<PartitionDefinition>,
    },
    ExchangePartition {
        partition: Name,
        table: ObjectName,
        validation: Option<bool>,
    },
    /// ANALYZE, CHECK, OPTIMIZE, REBUILD, REPAIR, DISCARD, IMPORT of partitions.
    MaintainPartitions {
        command: &'static str,
        partitions: PartitionSelection,
    },
    SecondaryLoad,
    SecondaryUnload,
}

#[derive(Clone, Debug, PartialEq)]
pub enum PartitionSelection {
    All,
    Names(Vec<Name>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnPosition {
    First,
    After(Name),
}

#[derive(Clone, Debug, PartialEq)]
pub struct DropTable {
    pub temporary: bool,
    pub if_exists: bool,
    pub tables: Vec<ObjectName>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RenameItem {
    pub from: ObjectName,
    pub to: ObjectName,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CreateIndex {
    pub table: ObjectName,
    pub index: IndexSpecification,
    pub algorithm: Option<Name>,
    pub lock: Option<Name>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct DropIndex {
    pub table: ObjectName,
    pub index: Name,
    pub algorithm: Option<Name>,
    pub lock: Option<Name>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CreateDatabase {
    pub name: Name,
    pub if_not_exists: bool,
    pub options: Vec<DatabaseOption>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct AlterDatabase {
    /// None: the current one.
    pub name: Option<Name>,
    pub options: Vec<DatabaseOption>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum DatabaseOption {
    Charset(Name),
    Collate(Name),
    Encryption(Vec<u8>),
    /// READ ONLY = 0, 1 or DEFAULT (None).
    ReadOnly(Option<bool>),
}

/// CREATE VIEW and ALTER VIEW.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateView {
    /// ALTER VIEW: the view must exist.
    pub alter: bool,
    pub or_replace: bool,
    pub if_not_exists: bool,
    /// UNDEFINED, MERGE or TEMPTABLE.
    pub algorithm: Option<Name>,
    pub definer: Option<UserName>,
    pub security: Option<SqlSecurity>,
    pub name: ObjectName,
    pub columns: Vec<Name>,
    pub query: Box<Query>,
    /// The query's source text.
    pub text: String,
    pub check_option: Option<CheckOption>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SqlSecurity {
    Definer,
    Invoker,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckOption {
    Cascaded,
    Local,
}

/// CREATE, ALTER or DROP of a procedure, function, trigger or event, kept as text.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredProgram {
    pub kind: ProgramKind,
    pub action: ProgramAction,
    pub if_exists_clause: bool,
    pub definer: Option<UserName>,
    pub name: ObjectName,
    /// The whole statement.
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramKind {
    Procedure,
    Function,
    Trigger,
    Event,
    /// JavaScript libraries of MySQL 9.
    Library,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramAction {
    Create,
    Alter,
    Drop,
}
