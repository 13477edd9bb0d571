//! What is common to both sides of a foreign key: values of one table as keys of the other, and the key's text in messages.

use dictionary::TableDefinition;
use engine::Table;
use std::borrow::Cow;
use values::decimal::Rounding;
use values::print::quoted;
use values::{ColumnType, TypeKind, Value};

/// The beginning of the keys of an index that have those values, of columns of the types `from`; None if a column of the index cannot hold
/// one of them. `columns` are the index's, as far as they are wanted.
pub(super) fn key_prefix<'v>(
    table: &Table,
    index: usize,
    columns: &[usize],
    values: &[&'v Value],
    from: impl Fn(usize) -> &'v ColumnType,
) -> Option<Vec<u8>> {
    let layout = table.indexes()[index].key_layout();
    let mut prefix = Vec::new();
    for (at, (column, value)) in columns.iter().zip(values).enumerate() {
        let fitting = fitting(value, from(at), &table.definition().columns[*column].column_type)?;
        layout.encode_part(at, &fitting, &mut prefix).ok()?;
    }
    Some(prefix)
}

/// A value of a column as another holds it whose type fits a foreign key: they may differ in length, digits and members. None if it
/// cannot hold the value.
pub(super) fn fitting<'v>(value: &'v Value, from: &ColumnType, to: &ColumnType) -> Option<Cow<'v, Value>> {
    if from == to {
        return Some(Cow::Borrowed(value));
    }
    match value {
        Value::Decimal(number) => {
            let scaled = number.with_scale(to.scale(), Rounding::TowardZero).ok()?;
            (scaled == *number).then_some(Cow::Owned(Value::Decimal(scaled)))
        }
        Value::DateTime(moment) => {
            has_digits(moment.microsecond, to.fractional_digits()).then_some(Cow::Borrowed(value))
        }
        Value::Time(span) => {
            has_digits(span.microseconds, to.fractional_digits()).then_some(Cow::Borrowed(value))
        }
        Value::UInt(number) => (*number <= greatest(to)).then_some(Cow::Borrowed(value)),
        _ => Some(Cow::Borrowed(value)),
    }
}

/// Whether a fraction of a second has no more digits.
fn has_digits(microseconds: u32, digits: u8) -> bool {
    microseconds.is_multiple_of(10_u32.pow(6 - u32::from(digits.min(6))))
}

/// The greatest number that stands for a value of a column with members or bits.
fn greatest(column_type: &ColumnType) -> u64 {
    let bits = match column_type.kind {
        TypeKind::Enum => return column_type.members.len() as u64,
        TypeKind::Set => column_type.members.len() as u32,
        TypeKind::Bit => column_type.length.unwrap_or(1),
        _ => return u64::MAX,
    };
    1_u64.checked_shl(bits).map_or(u64::MAX, |above| above - 1)
}

/// A foreign key as messages tell of it.
pub(super) fn clause(table: &TableDefinition, key: usize) -> String {
    let (schema, name) = (quoted(&table.name.schema), quoted(&table.name.table));
    let clause = table.foreign_keys[key].clause(table, &|name| quoted(name), false);
    format!(" ({schema}.{name}, {clause})")
}
