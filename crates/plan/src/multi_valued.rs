//! Values of multi-valued key parts: the elements of a document as values of the part's type, each once and in its order, as an array
//! again. What does not fit ends the statement in every sql_mode, IGNORE or not. Main type: [`MultiValuedPart`].

use charset::CollationId;
use dictionary::{ColumnDefinition, index_of_key_column};
use errors::{Diagnostics, ErrorCode, Level, SqlError, SqlResult, code, sql_error};
use expression::json::bare_text;
use values::compare::compare_same_type;
use values::json::{self, Built, Fit, Node, Steps, Watch};
use values::store::{Documents, Source, StoreContext, StoreMode, store};
use values::temporal::{Date, DateTime};
use values::{ColumnType, TypeKind, Value};

/// Bytes that the entries of a row may take.
const ENTRY_BYTES_MAX: usize = 1 << 16;
/// An entry of text has its length, too.
const LENGTH_BYTES: usize = 2;
/// What storing one value reports, at most.
const CONDITIONS_MAX: usize = 8;
/// Warnings of values that were cut.
const OF_CUT_VALUES: [ErrorCode; 4] = [
    code::WARN_DATA_TRUNCATED,
    code::ER_TRUNCATED_WRONG_VALUE,
    code::ER_TRUNCATED_WRONG_VALUE_FOR_FIELD,
    code::ER_WARN_DATA_OUT_OF_RANGE,
];

/// The column of a multi-valued part, and the row that gets a value.
pub struct MultiValuedPart<'c> {
    column: &'c ColumnDefinition,
    element_type: &'c ColumnType,
    index: &'c str,
    row: u64,
    mode: StoreMode,
}

impl<'c> MultiValuedPart<'c> {
    /// None for a column that is no such part.
    pub fn new(column: &'c ColumnDefinition, row: u64, mode: StoreMode) -> Option<MultiValuedPart<'c>> {
        let element_type = column.element_type()?;
        let (index, _) = index_of_key_column(&column.name)?;
        Some(MultiValuedPart { column, element_type, index, row, mode })
    }

    /// What the column holds of a document. Errors: 1235, 1366, 3751, 3752, 3903 to 3908, some by the numbers that columns have for
    /// them (`told_of_index`).
    pub fn value(
        &self,
        document: &[u8],
        diagnostics: &mut Diagnostics,
        watch: &dyn Watch,
    ) -> SqlResult<Vec<u8>> {
        let mut steps = Steps::new(watch);
        let mut elements = Vec::new();
        match Node::of(document) {
            Node::Object(_) => return Err(no_array("OBJECT")),
            Node::Boolean(_) => return Err(no_array("BOOLEAN")),
            Node::Array(array) => {
                for node in array.iter() {
                    let element = self.element(node, diagnostics)?;
                    steps.next(size_of::<Value>() + element.as_ref().long_bytes())?;
                    elements.push(element);
                }
            }
            // As MySQL: bytes alone are no number and no moment, and are told of only within an array.
            Node::Opaque(opaque) if opaque.value().is_none() && !self.element_type.kind.is_string() => {}
            node => elements.push(self.element(node, diagnostics)?),
        }
        let mut ordered: Vec<&Value> = elements.iter().collect();
        steps.next(size_of_val(ordered.as_slice()))?;
        let order = |a: &&Value, b: &&Value| compare_same_type(a, b, self.element_type);
        steps.sort(&mut ordered, order)?;
        ordered.dedup_by(|a, b| order(&&**a, &&**b).is_eq());
        self.check_room(&ordered)?;
        let nodes =
            ordered.into_iter().map(|element| json::scalar(element.as_ref(), self.element_type, false));
        Built::Array(nodes.collect::<SqlResult<_>>()?).encode_within(u64::MAX, watch)
    }

    /// Errors 3905 and 3906.
    fn check_room(&self, elements: &[&Value]) -> SqlResult<()> {
        if !self.element_type.kind.is_string() {
            let count_max = ENTRY_BYTES_MAX / self.element_type.row_bytes() as usize;
            return match elements.len().checked_sub(count_max) {
                None | Some(0) => Ok(()),
                Some(excess) => Err(sql_error!(ER_EXCEEDED_MV_KEYS_NUM, self.index, excess)),
            };
        }
        let bytes: usize = elements.iter().map(|element| element.as_ref().long_bytes() + LENGTH_BYTES).sum();
        match bytes.checked_sub(ENTRY_BYTES_MAX) {
            None | Some(0) => Ok(()),
            Some(excess) => Err(sql_error!(ER_EXCEEDED_MV_KEYS_SPACE, self.index, excess)),
        }
    }

    /// An element as a value of the part's type.
    fn element(&self, node: Node<'_>, diagnostics: &mut Diagnostics) -> SqlResult<Value> {
        match (node, self.element_type.kind) {
            (Node::Null, _) => Err(sql_error!(ER_INVALID_JSON_VALUE_FOR_FUNC_INDEX, self.index)),
            (Node::Array(_) | Node::Object(_), _) => Err(sql_error!(ER_WRONG_MVI_VALUE, self.index)),
            (Node::Int(number), TypeKind::BigInt) => {
                self.stored(&Value::Int(number), &ColumnType::big_int(), diagnostics)
            }
            (Node::UInt(number), TypeKind::BigInt) => {
                self.stored(&Value::UInt(number), &ColumnType::big_int_unsigned(), diagnostics)
            }
            (_, TypeKind::BigInt) => {
                let (number, fit) = json::to_integer(node);
                self.judge(fit, "INTEGER", diagnostics)?;
                // Of what has no sign of its own the column says whether it has one.
                Ok(match self.element_type.unsigned {
                    true => Value::UInt(number as u64),
                    false => Value::Int(number as i64),
                })
            }
            (_, TypeKind::Decimal) => {
                let (exact, fit) = json::to_decimal(node);
                self.judge(fit, "DECIMAL", diagnostics)?;
                let own_type = ColumnType::decimal(exact.precision(), exact.scale());
                self.stored(&Value::Decimal(exact), &own_type, diagnostics)
            }
            // Nothing is said of it.
            (Node::String(b""), TypeKind::Time) => Err(self.out_of_range()),
            _ => {
                let (value, own_type) = self.given(node);
                self.stored(&value, &own_type, diagnostics)
            }
        }
    }

    /// A scalar on its way to a moment or text: its text, but for moments of the same kind and bytes.
    fn given(&self, node: Node<'_>) -> (Value, ColumnType) {
        let kind = self.element_type.kind;
        match node {
            Node::String(text) => text_of(text.to_vec()),
            Node::Opaque(opaque) => match opaque.value() {
                None => (Value::Bytes(opaque.bytes.to_vec()), ColumnType::new(TypeKind::LongBlob)),
                Some(date @ Value::Date(_)) if kind.has_date() => (date, ColumnType::new(TypeKind::Date)),
                Some(moment @ Value::DateTime(_)) if kind.has_date() => {
                    (moment, ColumnType::temporal(TypeKind::DateTime, 6))
                }
                Some(time @ Value::Time(_)) if kind == TypeKind::Time => {
                    (time, ColumnType::temporal(TypeKind::Time, 6))
                }
                Some(_) => text_of(bare_text(node)),
            },
            _ => text_of(bare_text(node)),
        }
    }

    /// Errors 3155 and 3156.
    fn judge(&self, fit: Fit, kind: &str, diagnostics: &mut Diagnostics) -> SqlResult<()> {
        let (column, row) = (&self.column.name, self.row);
        let error = match fit {
            Fit::Whole => return Ok(()),
            Fit::Invalid => sql_error!(ER_INVALID_JSON_VALUE_FOR_CAST, kind, "", column, row),
            Fit::OutOfRange => sql_error!(ER_NUMERIC_JSON_VALUE_OUT_OF_RANGE, kind, "", column, row),
        };
        diagnostics.expect_second(self.out_of_range());
        Err(error)
    }

    /// A value as one of the part's type. What is cut, but for a fraction and for blanks, is refused: with its own error in strict mode,
    /// with a warning and error 3752 otherwise.
    fn stored(&self, value: &Value, from: &ColumnType, diagnostics: &mut Diagnostics) -> SqlResult<Value> {
        let mut told = Diagnostics::new(CONDITIONS_MAX);
        let mut context = StoreContext {
            mode: self.mode,
            table: "",
            column: &self.column.name,
            row: self.row,
            source: Source::Expression,
            diagnostics: &mut told,
            // Documents go another way.
            documents: Documents::ANY,
        };
        let stored = store(value, from, self.element_type, &mut context);
        let is_moment = self.element_type.kind.is_temporal();
        let may_be_cut = is_moment && !self.mode.dates.no_zero_date && writes_zero(value);
        let mut is_cut = false;
        for condition in told.conditions() {
            let is_note = condition.level == Level::Note;
            let is_of_range = condition.error.is(&code::ER_WARN_DATA_OUT_OF_RANGE);
            is_cut |= !is_note
                && !may_be_cut
                && OF_CUT_VALUES.iter().any(|code| condition.error.is(code))
                && (is_of_range || !is_moment || stored.as_ref().is_ok_and(is_nothing));
            if !(is_note && is_moment && self.mode.strict) {
                diagnostics.push(condition.level, condition.error.clone());
            }
        }
        match stored {
            Err(error) => {
                diagnostics.expect_second(self.out_of_range());
                Err(error)
            }
            Ok(_) if is_cut => Err(self.out_of_range()),
            Ok(stored) => Ok(stored),
        }
    }

    /// Error 3752.
    fn out_of_range(&self) -> SqlError {
        sql_error!(ER_WARN_DATA_OUT_OF_RANGE_FUNCTIONAL_INDEX, self.index, self.row)
    }
}

/// Error 1235 for a document that has no elements and is none.
fn no_array(kind: &str) -> SqlError {
    sql_error!(ER_NOT_SUPPORTED_YET, format!("CAST-ing JSON {kind} type to array"))
}

fn text_of(text: Vec<u8>) -> (Value, ColumnType) {
    (Value::Bytes(text), ColumnType::text(TypeKind::LongText, CollationId::UTF8MB4_BIN))
}

/// Whether a text has zeros and no other digits: MySQL stores such a moment, and warns of it.
fn writes_zero(value: &Value) -> bool {
    let Value::Bytes(text) = value else { return false };
    text.starts_with(b"0") && text.iter().all(|byte| *byte == b'0' || !byte.is_ascii_digit())
}

/// What is stored for a text that is no moment at all.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Date(date) => *date == Date::ZERO,
        Value::DateTime(moment) => *moment == DateTime::ZERO,
        Value::Time(time) => *time == values::temporal::Time::default(),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
