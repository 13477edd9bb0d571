//! The running state of one aggregate in one group. Main type: [`Accumulator`].

use super::{append_key, compare_rows};
use crate::batch::long_bytes;
use crate::run::{Run, row_bytes};
use crate::spill::{Held, KeySet, LongHeld};
use charset::CollationId;
use errors::{SqlResult, sql_error};
use expression::operators::{ComparisonMode, bytes_of_nothing, combine_bytes, compare_values};
use expression::{
    EvaluationContext, Expression, ExpressionKind, Operand, ResultType, SqlMode, TypeClass, convert, text,
};
use plan::physical::{AggregateCall, AggregateKind};
use std::cmp::Ordering;
use values::json::{self, Node, Writer};
use values::temporal::{Date, DateTime};
use values::{Decimal, RowRef, TypeKind, Value, ValueRef};
use window::totals::{self, Moments};

/// What a group is counted with covers a value of so many bytes in each of its aggregates.
const FREE_VALUE_BYTES: usize = 64;

/// Running state.
pub struct Accumulator {
    state: State,
    /// Values that were seen, for DISTINCT; made for the first one.
    seen: Option<Box<KeySet>>,
    /// Memory of what grows with the rows.
    held: Option<Held>,
    /// Whether a row came, where that is asked for.
    begun: bool,
}

/// Whether the state of one group grows with its rows.
pub fn grows(call: &AggregateCall) -> bool {
    call.distinct || call.kind.collects()
}

enum State {
    Count(i64),
    Exact {
        sum: Decimal,
        count: u64,
    },
    Double {
        sum: f64,
        count: u64,
    },
    /// Integers are summed in one register until a sum of exact numbers is asked for.
    Integer {
        sum: i128,
        count: u64,
    },
    Extreme(Value),
    First(Option<Value>),
    Bits(u64),
    /// The same over binary strings; None before the first.
    Bytes(Option<Vec<u8>>),
    Moments(Moments),
    Texts(Vec<(Vec<Value>, Vec<u8>)>),
    /// Documents, for JSON_OBJECTAGG with the names of members before them.
    Documents(Vec<(Vec<u8>, Vec<u8>)>),
    Constant(Value),
}

impl Accumulator {
    /// The state of a group without rows.
    pub fn new(call: &AggregateCall) -> Accumulator {
        let class = call.arguments.first().map(|argument| argument.result.class());
        let state = match call.kind {
            AggregateKind::CountRows | AggregateKind::Count => State::Count(0),
            AggregateKind::Sum | AggregateKind::Average => match (call.result.class(), class) {
                (TypeClass::Double, _) => State::Double { sum: 0.0, count: 0 },
                (_, Some(TypeClass::Integer)) => State::Integer { sum: 0, count: 0 },
                _ => State::Exact { sum: Decimal::ZERO, count: 0 },
            },
            AggregateKind::Minimum | AggregateKind::Maximum => State::Extreme(Value::Null),
            AggregateKind::First => State::First(None),
            AggregateKind::BitAnd | AggregateKind::BitOr | AggregateKind::BitXor
                if call.result.class() == TypeClass::Text =>
            {
                State::Bytes(None)
            }
            AggregateKind::BitAnd => State::Bits(u64::MAX),
            AggregateKind::BitOr | AggregateKind::BitXor => State::Bits(0),
            AggregateKind::Variance { .. } => State::Moments(Moments::default()),
            AggregateKind::GroupConcat => State::Texts(Vec::new()),
            AggregateKind::JsonArray { .. } | AggregateKind::JsonObject => State::Documents(Vec::new()),
            AggregateKind::Grouping(_) => State::Constant(Value::Int(0)),
        };
        Accumulator { state, seen: None, held: None, begun: false }
    }

    /// Makes GROUPING() of a super-aggregate row 1.
    pub fn set_constant(&mut self, value: Value) {
        self.state = State::Constant(value);
    }

    /// Adds a row.
    pub fn add(&mut self, call: &AggregateCall, row: RowRef<'_>, run: &mut Run<'_, '_>) -> SqlResult<()> {
        if let State::Count(count) = &mut self.state
            && call.kind == AggregateKind::CountRows
        {
            *count += 1;
            return Ok(());
        }
        if let State::First(Some(_)) | State::Constant(_) = &self.state {
            return Ok(());
        }
        if call.kind == AggregateKind::GroupConcat {
            return self.add_text(call, row, run);
        }
        if let State::Documents(_) = &self.state {
            return self.add_document(call, row, run);
        }
        let Some(first) = call.arguments.first() else { return Ok(()) };
        let value = first.operand(row, run)?;
        if let State::First(slot) = &mut self.state {
            let kept = value.as_ref().long_bytes();
            *slot = Some(value.into_value());
            return self.hold_value(kept, run);
        }
        if let Some(column) = &call.kept_as
            && !std::mem::replace(&mut self.begun, true)
            && value.is_null()
        {
            warn_of_zero_date(call, column, run);
        }
        if value.is_null() || !self.is_fresh(call, row, run)? {
            return Ok(());
        }
        self.add_value(call, first, value.as_ref(), run)
    }

    /// For DISTINCT: whether the arguments were not seen before. Rows with a NULL never count.
    fn is_fresh(&mut self, call: &AggregateCall, row: RowRef<'_>, run: &mut Run<'_, '_>) -> SqlResult<bool> {
        if !call.distinct && call.arguments.len() == 1 {
            return Ok(true);
        }
        let mut key = Vec::new();
        let mut held = LongHeld::default();
        for argument in &call.arguments {
            let value = argument.operand(row, run)?;
            let mode = ComparisonMode::for_ordering(&argument.result);
            if !append_key(mode, value.as_ref(), &argument.result.column_type, run, &mut key)? {
                return Ok(false);
            }
            held.reach(key.len(), || run.workspace().clone())?;
        }
        if !call.distinct {
            return Ok(true);
        }
        self.seen.get_or_insert_with(|| Box::new(run.key_set())).insert(&key)
    }

    fn add_value(
        &mut self,
        call: &AggregateCall,
        argument: &Expression,
        value: ValueRef<'_>,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<()> {
        let column_type = &argument.result.column_type;
        match &mut self.state {
            State::Count(count) => *count += 1,
            State::Integer { sum, count } => {
                *sum += match value {
                    ValueRef::Int(number) => i128::from(number),
                    ValueRef::UInt(number) => i128::from(number),
                    _ => convert::to_integer(value, column_type, run)?.unwrap_or(0),
                };
                *count += 1;
            }
            State::Exact { sum, count } => {
                let converted;
                let exact = match value {
                    ValueRef::Decimal(exact) => exact,
                    _ => match convert::to_decimal(value, column_type, run)? {
                        Some(exact) => {
                            converted = exact;
                            &converted
                        }
                        None => return Ok(()),
                    },
                };
                *sum = sum.add(exact).map_err(|_| sql_error!(ER_DATA_OUT_OF_RANGE, "DECIMAL", "sum()"))?;
                *count += 1;
            }
            State::Double { sum, count } => {
                *sum += convert::to_double(value, column_type, run)?.unwrap_or(0.0);
                *count += 1;
            }
            State::Extreme(best) => {
                let mode = extreme_mode(&argument.result);
                let wanted =
                    if call.kind == AggregateKind::Minimum { Ordering::Less } else { Ordering::Greater };
                let better = *best == Value::Null
                    || compare_values(mode, value, column_type, best.as_ref(), column_type, run)?
                        == Some(wanted);
                if better {
                    value.copy_into(best);
                    return self.hold_value(value.long_bytes(), run);
                }
            }
            State::Bits(bits) => {
                *bits = call.kind.bit_operator().of_numbers(*bits, bits_of(argument, value, run)?);
            }
            State::Bytes(combined) => {
                let ValueRef::Bytes(bytes) = value else { return Ok(()) };
                if let Some(combined) = combined {
                    return combine_bytes(call.kind.bit_operator(), combined, bytes);
                }
                *combined = Some(bytes.to_vec());
                return self.hold_value(bytes.len(), run);
            }
            State::Moments(moments) => {
                moments.add(convert::to_double(value, column_type, run)?.unwrap_or(0.0));
            }
            State::First(_) | State::Texts(_) | State::Documents(_) | State::Constant(_) => {}
        }
        Ok(())
    }

    /// Charges the one value that MIN, MAX and their like keep, unless it is short.
    fn hold_value(&mut self, bytes: usize, run: &Run<'_, '_>) -> SqlResult<()> {
        if bytes <= FREE_VALUE_BYTES {
            return Ok(());
        }
        let held = self.held.get_or_insert_with(|| run.hold());
        held.grow((bytes as u64).saturating_sub(held.bytes()))
    }

    /// GROUP_CONCAT: the arguments of a row are joined; a NULL among them leaves the row out.
    fn add_text(&mut self, call: &AggregateCall, row: RowRef<'_>, run: &mut Run<'_, '_>) -> SqlResult<()> {
        let mut joined = Vec::new();
        let mut held = LongHeld::default();
        for argument in &call.arguments {
            let mut value = argument.operand(row, run)?;
            if let ValueRef::Decimal(exact) = value.as_ref()
                && !matches!(argument.kind, ExpressionKind::Parameter(_))
            {
                value = Operand::Owned(Value::Decimal(exact.padded(argument.result.scale())));
            }
            let Some(bytes) = convert::to_text(value.as_ref(), &argument.result.column_type, run) else {
                return Ok(());
            };
            let from = match argument.result.class() {
                TypeClass::Text => argument.result.collation(),
                _ => call.result.collation(),
            };
            joined.extend(text::convert(bytes.into_owned(), from, call.result.collation()));
            held.reach(joined.len(), || run.workspace().clone())?;
        }
        if !self.is_fresh(call, row, run)? {
            return Ok(());
        }
        let mut keys = Vec::with_capacity(call.order_by.len());
        for key in &call.order_by {
            keys.push(key.expression.evaluate(row, run)?);
            held.reach(joined.len() + long_bytes(&keys), || run.workspace().clone())?;
        }
        drop(held);
        let bytes = joined.len() + row_bytes(&keys) + 64;
        self.held.get_or_insert_with(|| run.hold()).grow(bytes as u64)?;
        if let State::Texts(texts) = &mut self.state {
            texts.push((keys, joined));
        }
        Ok(())
    }

    /// JSON_ARRAYAGG and JSON_OBJECTAGG: a value that is NULL is the document null. Error 3158 for the name of a member that is NULL.
    fn add_document(
        &mut self,
        call: &AggregateCall,
        row: RowRef<'_>,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<()> {
        let (name, argument) = match &call.arguments[..] {
            [argument] => (Vec::new(), argument),
            [name, argument] => (member_name(name, row, run)?, argument),
            _ => return Ok(()),
        };
        let document = match argument.operand(row, run)?.into_value() {
            Value::Bytes(document) => document,
            _ if call.kind == (AggregateKind::JsonArray { absent_on_null: true }) => return Ok(()),
            _ => json::NULL.to_vec(),
        };
        let bytes = name.len() + document.len() + DOCUMENT_BYTES;
        self.held.get_or_insert_with(|| run.hold()).grow(bytes as u64)?;
        if let State::Documents(documents) = &mut self.state {
            documents.push((name, document));
        }
        Ok(())
    }

    /// The value for the group.
    pub fn finish(&mut self, call: &AggregateCall, run: &mut Run<'_, '_>) -> SqlResult<Value> {
        Ok(match &mut self.state {
            State::Count(count) => Value::Int(*count),
            State::Integer { count: 0, .. }
            | State::Exact { count: 0, .. }
            | State::Double { count: 0, .. } => Value::Null,
            State::Integer { sum, count } => exact_result(call, &convert::decimal_of_integer(*sum), *count),
            State::Exact { sum, count } => exact_result(call, sum, *count),
            State::Double { sum, count } => match call.kind {
                AggregateKind::Average => Value::Double(*sum / *count as f64),
                _ => Value::Double(*sum),
            },
            State::Extreme(best) => match std::mem::replace(best, Value::Null) {
                Value::Decimal(exact) => Value::Decimal(exact.shown_with(call.result.scale())),
                best => best,
            },
            State::First(value) => match value.take() {
                Some(Value::Decimal(exact)) => Value::Decimal(exact.padded(call.result.scale())),
                value => value.unwrap_or(Value::Null),
            },
            State::Bits(bits) => Value::UInt(*bits),
            State::Bytes(combined) => match combined.take() {
                Some(combined) => Value::Bytes(combined),
                None => bytes_of_nothing(call.kind.bit_operator(), &call.result),
            },
            State::Moments(moments) => moments.variance(call.kind),
            State::Texts(texts) => concatenated(call, texts, run),
            State::Documents(documents) if documents.is_empty() => Value::Null,
            State::Documents(documents) => collected(call.kind, documents, run)?,
            State::Constant(value) => value.clone(),
        })
    }
}

/// The bits of a number.
fn bits_of(argument: &Expression, value: ValueRef<'_>, run: &mut Run<'_, '_>) -> SqlResult<u64> {
    let number = match argument.literal() {
        // A written number is cut without a word.
        Some(Value::Double(_)) => convert::operand_integer(value, argument, run)?,
        _ => convert::to_integer(value, &argument.result.column_type, run)?,
    };
    Ok(number.map_or(0, convert::integer_bits))
}

/// Bytes that a document and a name take beside their own.
const DOCUMENT_BYTES: usize = 64;

/// The name of a member, in utf8mb4.
fn member_name(argument: &Expression, row: RowRef<'_>, run: &mut Run<'_, '_>) -> SqlResult<Vec<u8>> {
    let value = argument.operand(row, run)?;
    let Some(name) = convert::to_text(value.as_ref(), &argument.result.column_type, run) else {
        return Err(sql_error!(ER_JSON_DOCUMENT_NULL_KEY));
    };
    let from = match argument.result.class() {
        TypeClass::Text => argument.result.collation(),
        _ => run.facts().connection_collation,
    };
    if from == CollationId::BINARY {
        return Err(sql_error!(ER_INVALID_JSON_CHARSET, "binary"));
    }
    Ok(text::convert(name.into_owned(), from, CollationId::UTF8MB4_BIN))
}

/// The array or object of a group.
fn collected(
    kind: AggregateKind,
    documents: &[(Vec<u8>, Vec<u8>)],
    run: &mut Run<'_, '_>,
) -> SqlResult<Value> {
    let is_object = kind == AggregateKind::JsonObject;
    let bytes_max = run.facts().max_allowed_packet;
    let watch = run.document_watch();
    let mut writer = Writer::new(bytes_max, &watch);
    writer.begin(is_object)?;
    for (name, document) in documents {
        if is_object {
            writer.key(name)?;
        }
        writer.value(Node::of(document))?;
    }
    writer.end()?;
    writer.finish().map(Value::Bytes)
}

/// MIN and MAX compare ENUM and SET as text.
fn extreme_mode(result: &ResultType) -> ComparisonMode {
    ComparisonMode::of_one_type(result)
}

/// A temporary table begins a group's least or greatest date with zero where the first is NULL: sql_mode may mind.
fn warn_of_zero_date(call: &AggregateCall, column: &str, run: &mut Run<'_, '_>) {
    let facts = EvaluationContext::facts(run);
    if !facts.sql_mode.contains(SqlMode::NO_ZERO_DATE) {
        return;
    }
    let column_type = &call.result.column_type;
    let (kind, zero) = match column_type.kind {
        TypeKind::Date => ("date", convert::date_text(Date::ZERO)),
        _ => ("datetime", convert::datetime_text(DateTime::ZERO, column_type.decimals.unwrap_or(0))),
    };
    let text = format!("Incorrect {kind} value: '{zero}' for column '{column}' at row 1");
    run.diagnostics().warning(errors::code::ER_TRUNCATED_WRONG_VALUE.message(text));
}

/// SUM and AVG of exact numbers.
pub(super) fn exact_result(call: &AggregateCall, sum: &Decimal, count: u64) -> Value {
    totals::exact_result(call.kind, &call.result, call.arguments.first(), sum, count)
}

fn concatenated(call: &AggregateCall, texts: &mut [(Vec<Value>, Vec<u8>)], run: &mut Run<'_, '_>) -> Value {
    if texts.is_empty() {
        return Value::Null;
    }
    if !call.order_by.is_empty() {
        let modes: Vec<_> = call
            .order_by
            .iter()
            .map(|key| {
                let result = &key.expression.result;
                (ComparisonMode::for_ordering(result), result.column_type.clone(), key.descending)
            })
            .collect();
        // Of equal keys the row that came last is first, as in MySQL.
        texts.reverse();
        texts.sort_by(|left, right| compare_rows(&left.0, &right.0, &modes, run));
    }
    let mut whole = Vec::new();
    let length_max = usize::try_from(run.statement.facts.group_concat_max_len).unwrap_or(usize::MAX);
    for (number, (_, joined)) in texts.iter().enumerate() {
        if number > 0 {
            whole.extend_from_slice(&call.separator);
        }
        whole.extend_from_slice(joined);
        if whole.len() > length_max {
            let charset = call.result.collation().charset();
            whole.truncate(length_max);
            whole.truncate(charset.valid_length(&whole));
            run.statement.diagnostics.warning(sql_error!(ER_CUT_VALUE_GROUP_CONCAT, number + 1));
            break;
        }
    }
    Value::Bytes(whole)
}
