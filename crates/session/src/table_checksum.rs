//! CHECKSUM TABLE: the number that MySQL shows for the same rows. It is the sum over all rows of the CRC-32 of each as it
//! lies in MySQL's row buffer: the bits that tell which columns are NULL, then every column in its fixed width, but
//! of VARCHAR, TEXT, BLOB and BIT the value only, and of JSON its text. Main type: [`TableChecksum`].
//!
//! A column that is NULL has the bytes of its default there. Before the first NULL bit there is one more where no column
//! is of variable length; it is set, as are those behind the last NULL bit.

use crc32fast::Hasher;
use dictionary::{ColumnDefault, ColumnDefinition, TableDefinition};
use values::temporal::{Date, DateTime, Time};
use values::{ColumnType, Decimal, TypeKind, Value};

/// Decimal digits of a group of four bytes, and the bytes of a group of fewer digits.
const GROUP_DIGITS: usize = 9;
const GROUP_BYTES: [usize; GROUP_DIGITS + 1] = [0, 1, 1, 2, 2, 3, 3, 4, 4, 4];

/// The sum over the rows that were added.
pub struct TableChecksum<'t> {
    columns: &'t [ColumnDefinition],
    /// NULL bits of a row without NULL; for each column that may be NULL its bit.
    null_bits: Vec<u8>,
    null_positions: Vec<Option<usize>>,
    /// What a column holds that is NULL.
    blanks: Vec<Vec<u8>>,
    bytes: Vec<u8>,
    sum: u32,
}

impl<'t> TableChecksum<'t> {
    /// No rows yet.
    pub fn new(definition: &'t TableDefinition) -> TableChecksum<'t> {
        let columns = definition.columns.as_slice();
        let is_fixed = !columns.iter().any(|column| has_any_length(&column.column_type));
        let mut bits = usize::from(is_fixed);
        let mut null_positions = Vec::with_capacity(columns.len());
        for column in columns {
            null_positions.push(column.nullable.then_some(bits));
            bits += usize::from(column.nullable);
        }
        let mut null_bits = vec![0; bits.div_ceil(8)];
        if let Some(first) = null_bits.first_mut().filter(|_| is_fixed) {
            *first |= 1;
        }
        if let Some(last) = null_bits.last_mut() {
            *last |= 0xff << (bits % 8);
        }
        let blanks = columns.iter().map(blank).collect();
        TableChecksum { columns, null_bits, null_positions, blanks, bytes: Vec::new(), sum: 0 }
    }

    /// Adds a row of stored values.
    pub fn add(&mut self, row: &[Value]) {
        self.bytes.clear();
        self.bytes.extend_from_slice(&self.null_bits);
        for (at, value) in row.iter().enumerate() {
            if *value != Value::Null {
                append(value, &self.columns[at].column_type, &mut self.bytes);
                continue;
            }
            if let Some(bit) = self.null_positions[at] {
                self.bytes[bit / 8] |= 1 << (bit % 8);
            }
            self.bytes.extend_from_slice(&self.blanks[at]);
        }
        let mut hasher = Hasher::new();
        hasher.update(&self.bytes);
        self.sum = self.sum.wrapping_add(hasher.finalize());
    }

    /// The sum of all rows.
    pub fn sum(&self) -> u32 {
        self.sum
    }
}

/// Whether MySQL keeps a table with such a column as one of rows of any length.
fn has_any_length(column_type: &ColumnType) -> bool {
    let kind = column_type.kind;
    matches!(kind, TypeKind::VarChar | TypeKind::VarBinary) || kind.may_be_long()
}

/// What a column holds that is NULL: its default, or what its type has for nothing.
fn blank(column: &ColumnDefinition) -> Vec<u8> {
    let column_type = &column.column_type;
    let nothing = match column_type.kind {
        TypeKind::Float => Value::Float(0.0),
        TypeKind::Double => Value::Double(0.0),
        TypeKind::Decimal => Value::Decimal(Decimal::ZERO),
        TypeKind::Date => Value::Date(Date::default()),
        TypeKind::Time => Value::Time(Time::default()),
        TypeKind::DateTime | TypeKind::Timestamp => Value::DateTime(DateTime::default()),
        kind if kind.is_string() => Value::Bytes(Vec::new()),
        TypeKind::Json => Value::Bytes(values::json::NULL.to_vec()),
        _ => Value::UInt(0),
    };
    let value = match &column.default {
        ColumnDefault::Literal(value) if *value != Value::Null => value,
        _ => &nothing,
    };
    let mut bytes = Vec::new();
    append(value, column_type, &mut bytes);
    bytes
}

/// Appends a value as it lies in MySQL's row buffer.
fn append(value: &Value, column_type: &ColumnType, out: &mut Vec<u8>) {
    match value {
        Value::Int(number) => append_integer(*number as u64, column_type, out),
        Value::UInt(number) => append_integer(*number, column_type, out),
        Value::Float(number) => out.extend_from_slice(&number.to_le_bytes()),
        Value::Double(number) => out.extend_from_slice(&number.to_le_bytes()),
        Value::Decimal(number) => append_decimal(number, column_type, out),
        Value::Date(date) => {
            let packed = u32::from(date.year) << 9 | u32::from(date.month) << 5 | u32::from(date.day);
            out.extend_from_slice(&packed.to_le_bytes()[..3]);
        }
        Value::Time(time) => append_time(time, column_type.fractional_digits(), out),
        Value::DateTime(moment) => append_moment(moment, column_type, out),
        Value::Bytes(_) if column_type.kind == TypeKind::Json => {
            out.extend_from_slice(&values::convert::to_text(value.as_ref(), column_type).unwrap_or_default());
        }
        Value::Bytes(bytes) => append_text(bytes, column_type, out),
        Value::Null => {}
    }
}

fn append_integer(number: u64, column_type: &ColumnType, out: &mut Vec<u8>) {
    let members = column_type.members.len();
    let width = match column_type.kind {
        TypeKind::TinyInt => 1,
        TypeKind::SmallInt => 2,
        TypeKind::MediumInt => 3,
        TypeKind::Int => 4,
        TypeKind::Year => {
            out.push(number.saturating_sub(1900) as u8);
            return;
        }
        TypeKind::Bit => {
            let width = column_type.length.unwrap_or(1).div_ceil(8) as usize;
            out.extend_from_slice(&number.to_be_bytes()[8 - width.min(8)..]);
            return;
        }
        TypeKind::Enum => 1 + usize::from(members > 255),
        TypeKind::Set => match members.div_ceil(8) {
            width @ 0..=4 => width.max(1),
            _ => 8,
        },
        _ => 8,
    };
    out.extend_from_slice(&number.to_le_bytes()[..width]);
}

/// Groups of nine digits on both sides of the point, big-endian; the first bit is set but for negative numbers, whose
/// bytes are all inverted.
fn append_decimal(number: &Decimal, column_type: &ColumnType, out: &mut Vec<u8>) {
    let scale = usize::from(column_type.scale());
    let whole_digits = (column_type.precision() as usize).saturating_sub(scale);
    let shown = number.absolute().to_string();
    let (whole, fraction) = shown.split_once('.').unwrap_or((&shown, ""));
    let whole = format!("{:0>whole_digits$}", whole.trim_start_matches('0'));
    let fraction = format!("{fraction:0<scale$}");
    let start = out.len();
    let (first, groups) = whole.split_at(whole_digits % GROUP_DIGITS);
    append_group(first.as_bytes(), out);
    groups.as_bytes().chunks(GROUP_DIGITS).for_each(|group| append_group(group, out));
    fraction.as_bytes().chunks(GROUP_DIGITS).for_each(|group| append_group(group, out));
    let bytes = &mut out[start..];
    if number.is_negative() {
        bytes.iter_mut().for_each(|byte| *byte = !*byte);
    }
    if let Some(first) = bytes.first_mut() {
        *first ^= 0x80;
    }
}

fn append_group(digits: &[u8], out: &mut Vec<u8>) {
    let number = digits.iter().fold(0u32, |number, digit| number * 10 + u32::from(digit - b'0'));
    let width = GROUP_BYTES[digits.len().min(GROUP_DIGITS)];
    out.extend_from_slice(&number.to_be_bytes()[4 - width..]);
}

/// The digits of a fraction of a second as MySQL keeps them.
fn append_fraction(microseconds: i64, digits: u8, out: &mut Vec<u8>) {
    match digits {
        0 => {}
        1 | 2 => out.push((microseconds / 10_000) as u8),
        3 | 4 => out.extend_from_slice(&((microseconds / 100) as i16).to_be_bytes()),
        _ => out.extend_from_slice(&(microseconds as i32).to_be_bytes()[1..]),
    }
}

fn append_time(time: &Time, digits: u8, out: &mut Vec<u8>) {
    let span = i64::from(time.hours) << 12 | i64::from(time.minutes) << 6 | i64::from(time.seconds);
    let packed = span << 24 | i64::from(time.microseconds);
    let packed = if time.negative { -packed } else { packed };
    if digits > 4 {
        out.extend_from_slice(&(packed + (0x80_0000 << 24)).to_be_bytes()[2..]);
        return;
    }
    out.extend_from_slice(&((packed >> 24) + 0x80_0000).to_be_bytes()[5..]);
    append_fraction(packed % (1 << 24), digits, out);
}

fn append_moment(moment: &DateTime, column_type: &ColumnType, out: &mut Vec<u8>) {
    let digits = column_type.fractional_digits();
    if column_type.kind == TypeKind::Timestamp {
        let seconds = if *moment == DateTime::default() { 0 } else { moment.epoch_seconds() };
        out.extend_from_slice(&(seconds as u32).to_be_bytes());
    } else {
        let date = moment.date;
        let day = (i64::from(date.year) * 13 + i64::from(date.month)) << 5 | i64::from(date.day);
        let clock = i64::from(moment.hour) << 12 | i64::from(moment.minute) << 6 | i64::from(moment.second);
        out.extend_from_slice(&((1 << 39) + (day << 17 | clock)).to_be_bytes()[3..]);
    }
    append_fraction(i64::from(moment.microsecond), digits, out);
}

/// CHAR is filled with blanks to the most bytes that its characters may take, BINARY with zeros.
fn append_text(bytes: &[u8], column_type: &ColumnType, out: &mut Vec<u8>) {
    out.extend_from_slice(bytes);
    let length = column_type.length.unwrap_or(1) as usize;
    let (width, blank) = match column_type.kind {
        TypeKind::Char => {
            let blank = expression::text::from_utf8(" ", column_type.collation);
            (length * usize::from(column_type.collation.charset().max_bytes), blank)
        }
        TypeKind::Binary => (length, vec![0]),
        _ => return,
    };
    let missing = width.saturating_sub(bytes.len()) / blank.len().max(1);
    (0..missing).for_each(|_| out.extend_from_slice(&blank));
}
