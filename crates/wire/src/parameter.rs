//! Values in the binary protocol, from the client: parameters of prepared statements and query attributes.
//! Main types: [`ParameterType`], [`BoundParameter`]. Writing values is `row`'s.

use crate::reader::{Malformed, Reader};
use crate::type_code::{code, kind_of};
use values::temporal::{Date, DateTime, Time};
use values::{Decimal, TypeKind, Value};

/// Most parameters of a statement, as in MySQL.
pub const PARAMETERS_MAX: usize = 65_535;
/// Set in a type's second byte.
const UNSIGNED: u8 = 0x80;
/// TIME's largest value: 838:59:59.
const TIME_HOURS_MAX: u64 = 838;

/// Type of a bound parameter, as the client sent it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParameterType {
    /// MYSQL_TYPE_* number.
    pub code: u8,
    /// The unsigned flag.
    pub unsigned: bool,
}

impl ParameterType {
    /// The kind of type that the number stands for. The BLOB kinds mean bytes without a character set.
    pub fn kind(self) -> TypeKind {
        kind_of(self.code).unwrap_or(TypeKind::VarChar)
    }
}

/// What is known of a statement's parameters before COM_STMT_EXECUTE is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct KnownParameters<'a> {
    /// Number of `?`.
    pub count: usize,
    /// Types of the last execution that sent types; empty before the first.
    pub types: &'a [ParameterType],
    /// Which parameters were sent by COM_STMT_SEND_LONG_DATA: they have no value in the packet.
    pub sent: &'a [bool],
}

/// A query attribute: text is in character_set_client.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// Its name; may be empty.
    pub name: Vec<u8>,
    /// Its value.
    pub value: Value,
}

/// A list of values with names and types, as COM_QUERY and COM_STMT_EXECUTE carry it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParameterList {
    /// One a value.
    pub types: Vec<ParameterType>,
    /// The values; NULL stands for one that was sent as long data.
    pub values: Vec<Value>,
    /// Names, if the list has them.
    pub names: Vec<Vec<u8>>,
}

/// Reads the NULL bitmap, the types (or takes the known ones) and the values of `count` parameters.
pub(crate) fn read_list(
    reader: &mut Reader<'_>,
    count: usize,
    with_names: bool,
    known: &KnownParameters<'_>,
) -> Result<ParameterList, Malformed> {
    let mut list = ParameterList::default();
    if count == 0 {
        return Ok(list);
    }
    let nulls = reader.bytes(count.div_ceil(8))?;
    if reader.u8()? == 1 {
        read_types(reader, count, with_names, &mut list)?;
    } else {
        list.types.extend_from_slice(known.types.get(..count).ok_or(Malformed)?);
    }
    list.values.reserve_exact(count);
    for (index, parameter_type) in list.types.iter().enumerate() {
        let is_null = nulls[index / 8] & 1 << (index % 8) != 0;
        let is_long = known.sent.get(index).is_some_and(|sent| *sent);
        let absent = is_null || is_long || parameter_type.code == code::NULL;
        list.values.push(if absent { Value::Null } else { read_value(reader, *parameter_type)? });
    }
    Ok(list)
}

fn read_types(
    reader: &mut Reader<'_>,
    count: usize,
    with_names: bool,
    list: &mut ParameterList,
) -> Result<(), Malformed> {
    // A type takes two bytes: no more is reserved than the packet can hold.
    if reader.remaining() < 2 * count {
        return Err(Malformed);
    }
    list.types.reserve_exact(count);
    for _ in 0..count {
        let code = reader.u8()?;
        let unsigned = reader.u8()? & UNSIGNED != 0;
        kind_of(code).ok_or(Malformed)?;
        list.types.push(ParameterType { code, unsigned });
        if with_names {
            list.names.push(reader.length_encoded_bytes()?.to_vec());
        }
    }
    Ok(())
}

/// One value in the binary protocol.
pub fn read_value(reader: &mut Reader<'_>, parameter_type: ParameterType) -> Result<Value, Malformed> {
    let integer = |signed: i64, unsigned: u64| {
        if parameter_type.unsigned { Value::UInt(unsigned) } else { Value::Int(signed) }
    };
    Ok(match parameter_type.code {
        code::NULL => Value::Null,
        code::TINY | code::BOOL => {
            let number = reader.u8()?;
            integer(i64::from(number as i8), u64::from(number))
        }
        code::SHORT | code::YEAR => {
            let number = reader.u16()?;
            integer(i64::from(number as i16), u64::from(number))
        }
        code::LONG | code::INT24 => {
            let number = reader.u32()?;
            integer(i64::from(number as i32), u64::from(number))
        }
        code::LONGLONG => {
            let number = reader.u64()?;
            integer(number as i64, number)
        }
        code::FLOAT => Value::Float(f32::from_bits(reader.u32()?)),
        code::DOUBLE => Value::Double(f64::from_bits(reader.u64()?)),
        code::DATE => Value::Date(read_date_time(reader)?.date),
        code::DATETIME | code::TIMESTAMP => Value::DateTime(read_date_time(reader)?),
        code::TIME => Value::Time(read_time(reader)?),
        code::DECIMAL | code::NEWDECIMAL => {
            // Text; what is no number is zero.
            Value::Decimal(Decimal::parse(reader.length_encoded_bytes()?).number)
        }
        _ => Value::Bytes(reader.length_encoded_bytes()?.to_vec()),
    })
}

/// Lengths of 0, 4, 7 and 11 bytes, and 13 with a time zone offset, which is not used. A date that does not exist
/// becomes the zero date, as in MySQL.
fn read_date_time(reader: &mut Reader<'_>) -> Result<DateTime, Malformed> {
    let length = usize::from(reader.u8()?);
    let mut parts = Reader::new(reader.bytes(length)?);
    let mut value = DateTime::default();
    if parts.is_empty() {
        return Ok(value);
    }
    value.date = Date { year: parts.u16()?, month: parts.u8()?, day: parts.u8()? };
    if !parts.is_empty() {
        (value.hour, value.minute, value.second) = (parts.u8()?, parts.u8()?, parts.u8()?);
    }
    if !parts.is_empty() {
        value.microsecond = parts.u32()?;
    }
    let valid = value.date.year <= 9999
        && value.date.month <= 12
        && value.date.day <= 31
        && value.hour <= 23
        && value.minute <= 59
        && value.second <= 59
        && value.microsecond <= 999_999;
    Ok(if valid { value } else { DateTime::default() })
}

/// Lengths of 0, 8 and 12 bytes. What is beyond the range becomes its end.
fn read_time(reader: &mut Reader<'_>) -> Result<Time, Malformed> {
    let length = usize::from(reader.u8()?);
    let mut parts = Reader::new(reader.bytes(length)?);
    if parts.is_empty() {
        return Ok(Time::default());
    }
    let negative = parts.u8()? != 0;
    let hours = u64::from(parts.u32()?) * 24 + u64::from(parts.u8()?);
    let (minutes, seconds) = (parts.u8()?, parts.u8()?);
    let microseconds = if parts.is_empty() { 0 } else { parts.u32()? };
    if hours > TIME_HOURS_MAX || minutes > 59 || seconds > 59 || microseconds > 999_999 {
        let hours = TIME_HOURS_MAX as u16;
        return Ok(Time { negative, hours, minutes: 59, seconds: 59, microseconds: 0 });
    }
    Ok(Time { negative, hours: hours as u16, minutes, seconds, microseconds })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(code: u8, unsigned: bool, bytes: &[u8], expected: Value) {
        let mut reader = Reader::new(bytes);
        assert_eq!(read_value(&mut reader, ParameterType { code, unsigned }), Ok(expected));
        assert!(reader.is_empty());
        for length in 0..bytes.len() {
            let cut = read_value(&mut Reader::new(&bytes[..length]), ParameterType { code, unsigned });
            assert_eq!(cut, Err(Malformed));
        }
    }

    #[test]
    fn numbers() {
        check(code::TINY, false, &[0xFF], Value::Int(-1));
        check(code::TINY, true, &[0xFF], Value::UInt(255));
        check(code::SHORT, false, &[0xFE, 0xFF], Value::Int(-2));
        check(code::LONG, true, &[0xFF; 4], Value::UInt(u64::from(u32::MAX)));
        check(code::LONGLONG, false, &[0xFF; 8], Value::Int(-1));
        check(code::LONGLONG, true, &[0xFF; 8], Value::UInt(u64::MAX));
        check(code::DOUBLE, false, &1.5f64.to_le_bytes(), Value::Double(1.5));
        check(code::FLOAT, false, &1.5f32.to_le_bytes(), Value::Float(1.5));
    }

    #[test]
    fn strings_and_temporals() {
        check(code::VAR_STRING, false, b"\x03abc", Value::Bytes(b"abc".to_vec()));
        let date = Date { year: 2026, month: 11, day: 21 };
        check(code::DATE, false, &[4, 0xEA, 0x07, 11, 21], Value::Date(date));
        let value = DateTime { date, hour: 1, minute: 2, second: 3, microsecond: 4 };
        check(code::DATETIME, false, &[11, 0xEA, 0x07, 11, 21, 1, 2, 3, 4, 0, 0, 0], Value::DateTime(value));
        check(code::DATETIME, false, &[4, 0xEA, 0x07, 13, 21], Value::DateTime(DateTime::default()));
        let time = Time { negative: true, hours: 25, minutes: 2, seconds: 3, microseconds: 0 };
        check(code::TIME, false, &[8, 1, 1, 0, 0, 0, 1, 2, 3], Value::Time(time));
        let last = Time { negative: false, hours: 838, minutes: 59, seconds: 59, microseconds: 0 };
        check(code::TIME, false, &[8, 0, 0xFF, 0xFF, 0xFF, 0xFF, 1, 2, 3], Value::Time(last));
    }
}
