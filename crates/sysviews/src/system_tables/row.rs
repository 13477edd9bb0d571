//! Rows made by column name, for tables of which only some columns are known. Main type: [`RowBuilder`].

use dictionary::{ColumnDefinition, TableDefinition};
use values::{TypeKind, Value};

/// A row whose columns start as NULL, or as the type's empty value where NULL is not allowed.
pub(super) struct RowBuilder<'a> {
    table: &'a TableDefinition,
    values: Vec<Value>,
}

impl<'a> RowBuilder<'a> {
    pub fn new(table: &'a TableDefinition) -> RowBuilder<'a> {
        RowBuilder { table, values: table.columns.iter().map(empty).collect() }
    }

    /// Sets a column; one that the table has not got is left out. Text becomes the member of an ENUM.
    pub fn set(mut self, name: &str, value: Value) -> Self {
        if let Some(position) = self.table.column_position(name) {
            let column_type = &self.table.columns[position].column_type;
            self.values[position] = match (&value, column_type.kind) {
                (Value::Bytes(text), TypeKind::Enum) => {
                    let member =
                        column_type.members.iter().position(|member| member.eq_ignore_ascii_case(text));
                    Value::UInt(member.map_or(0, |at| at as u64 + 1))
                }
                (Value::Bytes(text), TypeKind::Set) => Value::UInt(set_bits(&column_type.members, text)),
                (Value::UInt(number), _) if !column_type.unsigned && column_type.kind.is_integer() => {
                    Value::Int(*number as i64)
                }
                _ => value,
            };
        }
        self
    }

    pub fn finish(self) -> Vec<Value> {
        self.values
    }
}

fn set_bits(members: &[Vec<u8>], text: &[u8]) -> u64 {
    text.split(|byte| *byte == b',').fold(0, |bits, word| {
        let member = members.iter().position(|member| member.eq_ignore_ascii_case(word));
        member.map_or(bits, |at| bits | 1 << at)
    })
}

fn empty(column: &ColumnDefinition) -> Value {
    if column.nullable {
        return Value::Null;
    }
    let kind = column.column_type.kind;
    match kind {
        TypeKind::Enum => Value::UInt(1),
        TypeKind::Set => Value::UInt(0),
        TypeKind::Double => Value::Double(0.0),
        TypeKind::Float => Value::Float(0.0),
        TypeKind::Timestamp | TypeKind::DateTime => Value::DateTime(Default::default()),
        TypeKind::Date => Value::Date(Default::default()),
        _ if kind.is_integer() && column.column_type.unsigned => Value::UInt(0),
        _ if kind.is_integer() => Value::Int(0),
        _ => Value::Bytes(Vec::new()),
    }
}
