//! JSON_TABLE as data, and how a value of a document becomes one of a column. Main types: [`JsonTable`], [`JsonTableColumn`].

use ::json::Path;
use ::json::table::Nest;
use charset::CollationId;
use errors::{Diagnostics, SqlError, SqlResult, code, sql_error};
use expression::json::bare_text;
use expression::result_type::class_of;
use expression::{ResultType, SqlMode, StatementFacts, TypeClass};
use values::json::{self, Built, Fit, Node};
use values::store::{Documents, Source, StoreContext, StoreMode, store};
use values::temporal::{DateRules, Time, parse_time};
use values::{ColumnType, TypeKind, Value};

/// What JSON_TABLE makes of a document.
#[derive(Clone, Debug)]
pub struct JsonTable {
    /// Alias, for messages.
    pub alias: String,
    /// All its columns, those of nested paths where they are written.
    pub columns: Vec<JsonTableColumn>,
    /// The paths of the rows.
    pub nest: Nest,
    /// The columns of each nest, by its id.
    pub columns_of: Vec<Vec<usize>>,
}

/// A column of JSON_TABLE.
#[derive(Clone, Debug)]
pub struct JsonTableColumn {
    /// Name.
    pub name: String,
    /// Type of its values.
    pub result: ResultType,
    /// What it shows.
    pub value: JsonColumnValue,
}

/// What a column of JSON_TABLE shows of a value of its nest.
#[derive(Clone, Debug)]
pub enum JsonColumnValue {
    /// FOR ORDINALITY: which one it is of the path.
    Ordinality,
    /// EXISTS PATH: whether there is something.
    Exists(Path),
    /// PATH: what is there.
    Found {
        /// Where.
        path: Path,
        /// If there is nothing.
        on_empty: JsonReaction,
        /// If that is no value of the column.
        on_error: JsonReaction,
    },
}

/// What happens where a column has no value.
#[derive(Clone, Debug)]
pub enum JsonReaction {
    /// NULL.
    Null,
    /// An error.
    Error,
    /// The value of this document.
    Default(Vec<u8>),
}

/// Rows that JSON_TABLE is guessed to make of a document, as MySQL does.
pub const ROWS_GUESSED: f64 = 2.0;

/// What the facts of a statement say about storing. `strict`: a value that does not fit is an error.
pub fn store_mode(facts: &StatementFacts, strict: bool) -> StoreMode {
    let has = |mode| facts.sql_mode.contains(mode);
    StoreMode {
        strict,
        dates: DateRules {
            no_zero_date: has(SqlMode::NO_ZERO_DATE),
            no_zero_in_date: has(SqlMode::NO_ZERO_IN_DATE),
            allow_invalid_dates: has(SqlMode::ALLOW_INVALID_DATES),
        },
        truncate_fraction: has(SqlMode::TIME_TRUNCATE_FRACTIONAL),
        time_zone: facts.time_zone.for_storing(),
        today: facts.statement_time().date,
    }
}

impl JsonTable {
    /// The values at the path of a column as the column holds them. Errors 3155, 3156, 3666 and 3669 for what it cannot hold.
    pub fn converted(
        &self,
        column: &JsonTableColumn,
        found: &[Node<'_>],
        mode: StoreMode,
        diagnostics: &mut Diagnostics,
    ) -> SqlResult<Value> {
        let column_type = &column.result.column_type;
        let is_json = column_type.kind == TypeKind::Json;
        let node = match found {
            [node] => *node,
            _ if is_json => {
                return Ok(Value::Bytes(
                    Built::Array(found.iter().copied().map(Built::Kept).collect()).encode()?,
                ));
            }
            _ => return Err(sql_error!(ER_WRONG_JSON_TABLE_VALUE, column.name)),
        };
        match node {
            Node::Null => return Ok(Value::Null),
            _ if is_json => return Ok(Value::Bytes(node.to_document())),
            Node::String(b"") if column_type.kind == TypeKind::Time => {
                return Err(sql_error!(ER_JT_VALUE_OUT_OF_RANGE, column.name));
            }
            Node::Array(_) | Node::Object(_) => {
                return Err(sql_error!(ER_WRONG_JSON_TABLE_VALUE, column.name));
            }
            _ => {}
        }
        let mut mode = mode;
        // A number is no date without a day, whatever sql_mode says.
        mode.dates.no_zero_in_date |= !matches!(node, Node::String(_));
        let (value, from) = match column_type.kind {
            TypeKind::Bit => integer(node, &column.name)?,
            _ => given(node, column_type),
        };
        self.stored(column, &value, &from, mode, diagnostics).map_err(|error| refused(error, column))
    }

    /// Whether something is there, as a value of a column.
    pub fn existence(
        &self,
        column: &JsonTableColumn,
        exists: bool,
        mode: StoreMode,
        diagnostics: &mut Diagnostics,
    ) -> SqlResult<Value> {
        self.stored(column, &Value::Int(i64::from(exists)), &ColumnType::big_int(), mode, diagnostics)
    }

    fn stored(
        &self,
        column: &JsonTableColumn,
        value: &Value,
        from: &ColumnType,
        mode: StoreMode,
        diagnostics: &mut Diagnostics,
    ) -> SqlResult<Value> {
        // MySQL counts no rows of a temporary table.
        let (table, name, source) = (&self.alias, &column.name, Source::Expression);
        // Documents go another way: what is stored here is short.
        let documents = Documents::ANY;
        let mut context = StoreContext { mode, table, column: name, row: 1, source, diagnostics, documents };
        store(value, from, &column.result.column_type, &mut context)
    }
}

/// What is stored for a scalar, with its type: a text as the text that it is, a number that becomes a moment as a number.
fn given(node: Node<'_>, to: &ColumnType) -> (Value, ColumnType) {
    let class = class_of(to.kind);
    let is_moment = matches!(class, TypeClass::DateTime | TypeClass::Time);
    match node {
        Node::Int(number) if is_moment => (Value::Int(number), ColumnType::big_int()),
        Node::UInt(number) if is_moment => (Value::UInt(number), ColumnType::big_int_unsigned()),
        Node::Double(number) if class == TypeClass::Time => (Value::Double(number), ColumnType::double()),
        Node::String(text) if class == TypeClass::Time => match beginning_of_time(text) {
            Some(time) => (Value::Time(time), ColumnType::temporal(TypeKind::Time, 6)),
            None => text_of(text.to_vec()),
        },
        Node::String(text) if is_moment || class == TypeClass::Text => text_of(text.to_vec()),
        node if class == TypeClass::Text => text_of(bare_text(node)),
        node => (Value::Bytes(node.to_document()), ColumnType::new(TypeKind::Json)),
    }
}

/// The time that a text begins with, where that is not all of it.
fn beginning_of_time(text: &[u8]) -> Option<Time> {
    let parsed = parse_time(text)?;
    (parsed.notes.truncated && !parsed.notes.out_of_range).then(|| parsed.rounded(6))
}

fn text_of(text: Vec<u8>) -> (Value, ColumnType) {
    (Value::Bytes(text), ColumnType::text(TypeKind::LongText, CollationId::UTF8MB4_BIN))
}

/// A scalar as an integer. Errors 3155 and 3156.
fn integer(node: Node<'_>, name: &str) -> SqlResult<(Value, ColumnType)> {
    let (number, fit) = json::to_integer(node);
    match fit {
        Fit::Whole => {}
        Fit::Invalid => return Err(sql_error!(ER_INVALID_JSON_VALUE_FOR_CAST, "INTEGER", "", name, 1)),
        Fit::OutOfRange => {
            return Err(sql_error!(ER_NUMERIC_JSON_VALUE_OUT_OF_RANGE, "INTEGER", "", name, 1));
        }
    }
    Ok(match u64::try_from(number) {
        Ok(number) => (Value::UInt(number), ColumnType::big_int_unsigned()),
        Err(_) => (Value::Int(number as i64), ColumnType::big_int()),
    })
}

/// The error of a value that a column does not hold: what is no number tells so.
fn refused(error: SqlError, column: &JsonTableColumn) -> SqlError {
    let is_of_cast = error.is(&code::ER_INVALID_JSON_VALUE_FOR_CAST)
        || error.is(&code::ER_NUMERIC_JSON_VALUE_OUT_OF_RANGE);
    let is_moment = matches!(column.result.class(), TypeClass::DateTime | TypeClass::Time);
    match is_of_cast && !is_moment {
        true => error,
        false => sql_error!(ER_JT_VALUE_OUT_OF_RANGE, column.name),
    }
}
