//! What identifies a result: everything that it depends on, but for the tables and the clock. Main types: [`ResultKeys`], [`ResultKey`].
//! Bytes, no digest of them: rule R1 of `result_cache`'s README.

use crate::prepared_under::Resolution;
use crate::session::Session;
use charset::CollationId;
use expression::TypedValue;
use instance::READ_BY_PLANNING;
use parser::ParseOptions;
use std::io::Write;
use values::{ColumnType, Value};
use variables::{VariableId, id};
use wire::result::EncodedColumns;

/// What executions read of variables, and planning does not; and what decides which conditions are counted, as a result that has some is not kept.
const READ_BY_EXECUTIONS: [VariableId; 6] = [
    id::CTE_MAX_RECURSION_DEPTH,
    id::MAX_ERROR_COUNT,
    id::MAX_JOIN_SIZE,
    id::MAX_SORT_LENGTH,
    id::SQL_BIG_SELECTS,
    id::SQL_NOTES,
];

/// How rows are written, and where the text is from.
#[derive(Clone, Copy)]
enum Protocol {
    Text = 0,
    Binary = 1,
}

/// What a session keeps for finding results.
#[derive(Default)]
pub(crate) struct ResultKeys {
    /// What stands for the settings in a key; none if they changed since.
    settings: Option<u64>,
    /// The key of the running statement, whose result may be kept.
    pub wanted: Option<WantedResult>,
}

/// A result that was asked for and not found.
pub(crate) struct WantedResult {
    pub key: ResultKey,
    /// The columns that are in the key: a plan that was made in place of the kept one may have others.
    pub columns: Option<EncodedColumns>,
    pub since_microseconds: u64,
}

/// A key, and its number in the cache.
pub(crate) struct ResultKey {
    pub hash: u64,
    pub bytes: Vec<u8>,
}

/// An execution of a prepared statement.
pub(crate) struct PreparedExecution<'e> {
    pub text: &'e [u8],
    /// How the text was read.
    pub parse: ParseOptions,
    /// What its expressions mean.
    pub resolution: Resolution,
    /// The types of its parameters, as far as they do not follow from the text.
    pub settled: &'e [Option<ColumnType>],
    /// Its values, with the types that they were brought to.
    pub parameters: &'e [TypedValue],
    /// The columns of the kept plan that runs. Without one it is planned for these values.
    pub columns: Option<EncodedColumns>,
}

impl ResultKeys {
    /// Variables, schema or capabilities have changed.
    pub(crate) fn forget_settings(&mut self) {
        self.settings = None;
    }

    /// A command ends: what it asked for is not wanted any more.
    #[inline]
    pub(crate) fn end_command(&mut self) {
        self.wanted = None;
    }
}

/// The key of a text.
pub(crate) fn of_text(session: &mut Session, text: &[u8]) -> ResultKey {
    let mut bytes = of_settings(session, Protocol::Text, text.len());
    bytes.extend_from_slice(text);
    finished(session, bytes)
}

/// The key of a prepared statement with values; None if it has more bytes than that, which are not copied then.
pub(crate) fn of_execution(
    session: &mut Session,
    execution: &PreparedExecution<'_>,
    bytes_max: usize,
) -> Option<ResultKey> {
    let PreparedExecution { text, parse, resolution, settled, parameters, columns } = execution;
    let mut bytes = of_settings(session, Protocol::Binary, 2 * text.len());
    push_part(&mut bytes, text);
    push_parse_options(&mut bytes, *parse);
    resolution.push_to(&mut bytes);
    // DATABASE() is none then.
    bytes.push(u8::from(session.schema_is_gone));
    for column_type in *settled {
        push_type(&mut bytes, column_type.as_ref());
    }
    for TypedValue { value, column_type } in *parameters {
        if bytes.len() + value.as_ref().long_bytes() > bytes_max {
            return None;
        }
        push_type(&mut bytes, Some(column_type));
        push_value(&mut bytes, value);
    }
    for payload in columns.iter().flat_map(EncodedColumns::payloads) {
        push_part(&mut bytes, payload);
    }
    (bytes.len() <= bytes_max).then(|| finished(session, bytes))
}

fn finished(session: &Session, bytes: Vec<u8>) -> ResultKey {
    ResultKey { hash: session.instance.results().hash(&bytes), bytes }
}

/// The beginning of a key: all of a session that a result depends on, but for its statement.
fn of_settings(session: &mut Session, protocol: Protocol, more_bytes: usize) -> Vec<u8> {
    let number = match session.result_keys.settings {
        Some(number) => number,
        None => session.instance.results().number_of(&settings(session)),
    };
    session.result_keys.settings = Some(number);
    let mut bytes = Vec::with_capacity(size_of::<u64>() + 1 + more_bytes);
    bytes.extend_from_slice(&number.to_le_bytes());
    bytes.push(protocol as u8);
    bytes
}

fn settings(session: &Session) -> Vec<u8> {
    let mut key = session.capabilities.to_le_bytes().to_vec();
    push_part(&mut key, session.schema.as_deref().unwrap_or_default().as_bytes());
    for id in READ_BY_PLANNING.into_iter().chain(READ_BY_EXECUTIONS) {
        push_part(&mut key, session.state.variables.get(id).text(id.variable()).as_bytes());
    }
    key
}

/// Appends bytes so that it is known where they end.
fn push_part(key: &mut Vec<u8>, part: &[u8]) {
    key.extend_from_slice(&(part.len() as u32).to_le_bytes());
    key.extend_from_slice(part);
}

fn push_parse_options(key: &mut Vec<u8>, options: ParseOptions) {
    let ParseOptions {
        client,
        connection,
        ansi_quotes,
        pipes_as_concat,
        no_backslash_escapes,
        high_not_precedence,
        ignore_space,
        // It refuses a statement or has no say in it.
        memory_bytes_max: _,
    } = options;
    for CollationId(number) in [client, connection] {
        key.extend_from_slice(&number.to_le_bytes());
    }
    let flags = [ansi_quotes, pipes_as_concat, no_backslash_escapes, high_not_precedence, ignore_space];
    key.extend(flags.map(u8::from));
}

fn push_type(key: &mut Vec<u8>, column_type: Option<&ColumnType>) {
    let Some(column_type) = column_type else { return key.push(0) };
    let ColumnType { kind, unsigned, zerofill, length, decimals, collation, members } = column_type;
    key.extend([1, *kind as u8, u8::from(*unsigned), u8::from(*zerofill)]);
    key.push(u8::from(length.is_some()));
    key.extend_from_slice(&length.unwrap_or_default().to_le_bytes());
    key.extend([u8::from(decimals.is_some()), decimals.unwrap_or_default()]);
    key.extend_from_slice(&collation.0.to_le_bytes());
    // No value of a client is of a type that has some.
    if kind.has_members() {
        shown(key, members);
    }
}

fn push_value(key: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Null => key.push(0),
        Value::Int(number) => {
            key.push(1);
            key.extend_from_slice(&number.to_le_bytes());
        }
        Value::Bytes(bytes) => {
            key.push(2);
            push_part(key, bytes);
        }
        Value::Double(number) => {
            key.push(3);
            key.extend_from_slice(&number.to_bits().to_le_bytes());
        }
        Value::Float(number) => {
            key.push(4);
            key.extend_from_slice(&number.to_bits().to_le_bytes());
        }
        // Fields and variant by name.
        other => {
            key.push(5);
            shown(key, other);
        }
    }
}

/// Appends what `Debug` shows: all of a value that has it derived.
fn shown(key: &mut Vec<u8>, value: &dyn std::fmt::Debug) {
    let mut text = Vec::new();
    // A Vec takes all that is written.
    let _ = write!(text, "{value:?}");
    push_part(key, &text);
}
