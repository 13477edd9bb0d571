//! Values as text: what a result set shows ([`append_text`]) and what string functions see ([`append_narrow_text`]).
//! Text is in the column's character set for text types and ENUM and SET, ASCII for all others.

use crate::column_type::{ColumnType, TypeKind};
use crate::decimal::Decimal;
use crate::number;
use crate::row::Form;
use crate::value_ref::ValueRef;

/// Appends a value of that type as a result set shows it. NULL appends nothing.
pub fn append_text(value: ValueRef<'_>, column_type: &ColumnType, out: &mut Vec<u8>) {
    let start = out.len();
    match value {
        ValueRef::Null => return,
        ValueRef::Int(number) => number::append_i64(number, out),
        ValueRef::UInt(number) => append_unsigned(number, column_type, out),
        ValueRef::Decimal(number) => append_decimal(number, column_type, out),
        ValueRef::Float(number) => match fixed_decimals(column_type) {
            Some(decimals) => number::append_fixed(f64::from(number), decimals, out),
            None => number::append_f32(number, out),
        },
        ValueRef::Double(number) => match fixed_decimals(column_type) {
            Some(decimals) => number::append_fixed(number, decimals, out),
            None => number::append_f64(number, out),
        },
        ValueRef::Bytes(document) if column_type.kind == TypeKind::Json => {
            crate::json::print(crate::json::Node::of(document), out);
        }
        ValueRef::Bytes(bytes) => out.extend_from_slice(bytes),
        ValueRef::Date(date) => date.append_text(out),
        ValueRef::Time(time) => time.append_text(column_type.fractional_digits(), out),
        ValueRef::DateTime(moment) => moment.append_text(column_type.fractional_digits(), out),
    }
    if column_type.zerofill {
        zero_fill(column_type, start, out);
    }
}

/// A number may have more digits than its type while it is computed with (AVG), but never shows them.
fn append_decimal(number: &Decimal, column_type: &ColumnType, out: &mut Vec<u8>) {
    match column_type.decimals {
        Some(decimals) if number.scale() > decimals => number.shown_with(decimals).append_text(out),
        _ => number.append_text(out),
    }
}

/// Appends a value as string functions and comparisons see it: as [`append_text`], but wide floating point
/// numbers go over to exponent form earlier.
pub fn append_narrow_text(value: ValueRef<'_>, column_type: &ColumnType, out: &mut Vec<u8>) {
    match value {
        ValueRef::Float(number) if fixed_decimals(column_type).is_none() => {
            number::append_f32_narrow(number, out)
        }
        ValueRef::Double(number) if fixed_decimals(column_type).is_none() => {
            number::append_f64_narrow(number, out)
        }
        _ => append_text(value, column_type, out),
    }
}

/// Appends a stored column value as a result set shows it, without making a [`Value`] of it.
#[inline]
pub fn append_stored_text(form: Form, raw: &[u8], column_type: &ColumnType, out: &mut Vec<u8>) {
    match form {
        Form::Bytes => out.extend_from_slice(raw),
        Form::Int(_) if !column_type.zerofill => number::append_i64(crate::packed::signed(raw), out),
        Form::UInt(_) if column_type.kind.is_integer() && !column_type.zerofill => {
            number::append_u64(crate::packed::unsigned(raw), out);
        }
        Form::Decimal { width: 4 | 8, scale } if !column_type.zerofill => {
            append_scaled(crate::packed::signed(raw), scale, out);
        }
        _ => append_text(form.value(raw).as_ref(), column_type, out),
    }
}

/// Appends `unscaled / 10^scale`.
fn append_scaled(unscaled: i64, scale: u8, out: &mut Vec<u8>) {
    if unscaled < 0 {
        out.push(b'-');
    }
    let magnitude = unscaled.unsigned_abs();
    let Some(power) = 10u64.checked_pow(u32::from(scale)).filter(|&power| power > 1) else {
        number::append_u64(magnitude, out);
        return;
    };
    number::append_u64(magnitude / power, out);
    let point_at = out.len();
    // The 1 of 1FFFFF keeps the fraction's leading zeros; the point takes its place.
    number::append_u64(power + magnitude % power, out);
    out[point_at] = b'.';
}

fn append_unsigned(number: u64, column_type: &ColumnType, out: &mut Vec<u8>) {
    match column_type.kind {
        TypeKind::Bit => out.extend_from_slice(&bit_bytes(number, column_type)),
        TypeKind::Year => {
            number::append_two_digits((number / 100 % 100) as u8, out);
            number::append_two_digits((number % 100) as u8, out);
        }
        TypeKind::Enum => out.extend_from_slice(enum_member(number, column_type)),
        TypeKind::Set => append_set_members(number, column_type, out),
        _ => number::append_u64(number, out),
    }
}

/// A BIT value's bytes, most significant first.
pub fn bit_bytes(number: u64, column_type: &ColumnType) -> Vec<u8> {
    let width = column_type.bits().div_ceil(8) as usize;
    number.to_be_bytes()[8 - width..].to_vec()
}

/// The member of an ENUM value; empty for 0 and for numbers without a member.
pub fn enum_member(number: u64, column_type: &ColumnType) -> &[u8] {
    let position = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
    position.and_then(|position| column_type.members.get(position)).map_or(&[], Vec::as_slice)
}

/// Appends the members of a SET value with commas between them.
pub fn append_set_members(number: u64, column_type: &ColumnType, out: &mut Vec<u8>) {
    let charset = column_type.collation.charset();
    let mut first = true;
    for (_, member) in
        column_type.members.iter().take(64).enumerate().filter(|(bit, _)| number >> bit & 1 != 0)
    {
        if !first {
            charset.push(u32::from(b','), out);
        }
        first = false;
        out.extend_from_slice(member);
    }
}

/// Digits after the point that FLOAT(M,D) and DOUBLE(M,D) always show.
fn fixed_decimals(column_type: &ColumnType) -> Option<u8> {
    column_type.decimals.filter(|&decimals| decimals <= 30 && column_type.kind.is_approximate())
}

fn zero_fill(column_type: &ColumnType, start: usize, out: &mut Vec<u8>) {
    let width = match column_type.kind {
        TypeKind::Decimal => column_type.precision() as usize + usize::from(column_type.scale() > 0),
        _ => column_type.display_characters() as usize,
    };
    let missing = width.saturating_sub(out.len() - start);
    if missing > 0 && out.get(start) != Some(&b'-') {
        out.splice(start..start, std::iter::repeat_n(b'0', missing));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Value;
    use charset::CollationId;

    fn shown(value: Value, column_type: &ColumnType) -> String {
        let mut out = Vec::new();
        append_text(value.as_ref(), column_type, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn attributes_shape_the_text() {
        let zerofill =
            ColumnType { unsigned: true, zerofill: true, length: Some(5), ..ColumnType::new(TypeKind::Int) };
        assert_eq!(shown(Value::UInt(42), &zerofill), "00042");
        let decimal = ColumnType { unsigned: true, zerofill: true, ..ColumnType::decimal(6, 2) };
        assert_eq!(shown(Value::Decimal(Decimal::from_i128(150, 2).unwrap()), &decimal), "0001.50");
        let double = ColumnType { length: Some(10), decimals: Some(2), ..ColumnType::double() };
        assert_eq!(shown(Value::Double(1234.5), &double), "1234.50");
        assert_eq!(shown(Value::UInt(0), &ColumnType::new(TypeKind::Year)), "0000");
        let set =
            ColumnType::set(vec![b"x".to_vec(), b"y".to_vec(), b"z".to_vec()], CollationId::UTF8MB4_BIN);
        assert_eq!(shown(Value::UInt(5), &set), "x,z");
    }

    #[test]
    fn stored_decimals_print_as_values_do() {
        for (unscaled, scale) in
            [(0i64, 2u8), (-1, 2), (100, 2), (12345, 0), (5, 9), (-123456789012345678, 18)]
        {
            let mut fast = Vec::new();
            append_scaled(unscaled, scale, &mut fast);
            assert_eq!(
                String::from_utf8(fast).unwrap(),
                Decimal::from_i128(unscaled.into(), scale).unwrap().to_string()
            );
        }
    }
}
