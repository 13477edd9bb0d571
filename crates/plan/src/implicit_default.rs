//! What a column holds that can hold no NULL and is given nothing. Main function: [`implicit_default`].

use values::decimal::Rounding;
use values::temporal::{Date, DateTime, Time};
use values::{ColumnType, Decimal, TypeKind, Value};

/// The value of a type that stands for "nothing given": zero, empty, the first member of an ENUM.
pub fn implicit_default(column_type: &ColumnType) -> Value {
    match column_type.kind {
        TypeKind::TinyInt | TypeKind::SmallInt | TypeKind::MediumInt | TypeKind::Int | TypeKind::BigInt => {
            if column_type.unsigned {
                Value::UInt(0)
            } else {
                Value::Int(0)
            }
        }
        TypeKind::Bit | TypeKind::Year | TypeKind::Set => Value::UInt(0),
        TypeKind::Enum => Value::UInt(1),
        TypeKind::Decimal => {
            let zero = Decimal::ZERO.with_scale(column_type.scale(), Rounding::HalfUp);
            Value::Decimal(zero.unwrap_or(Decimal::ZERO))
        }
        TypeKind::Float => Value::Float(0.0),
        TypeKind::Double => Value::Double(0.0),
        TypeKind::Date => Value::Date(Date::default()),
        TypeKind::Time => Value::Time(Time::default()),
        TypeKind::DateTime | TypeKind::Timestamp => Value::DateTime(DateTime::default()),
        TypeKind::Null => Value::Null,
        TypeKind::Json => Value::Bytes(values::json::NULL.to_vec()),
        TypeKind::Binary => Value::Bytes(vec![0; column_type.length.unwrap_or(1) as usize]),
        _ => Value::Bytes(Vec::new()),
    }
}
