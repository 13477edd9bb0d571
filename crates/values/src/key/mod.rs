//! Order-preserving keys: the byte order of two keys is the order of their values (invariant I6).
//! Main type: [`KeyLayout`], prepared once per index. See README.md for the forms.
//! Every part is self-delimiting, so that a longer key orders after the keys of all its prefixes' values.

mod decode;
mod encode;
mod range;
#[cfg(test)]
mod tests;

pub use range::{KeyRange, Limit, successor};

use crate::column_type::{ColumnType, TypeKind};
use crate::row::Form;
use charset::Collation;

/// Longest key that DDL accepts, counted as [`KeyPart::declared_bytes`] does (ER_TOO_LONG_KEY).
pub const DECLARED_BYTES_MAX: u32 = 3072;

/// Longest encoded key: more than any text of [`DECLARED_BYTES_MAX`] makes, whatever its characters expand to. The engine keeps
/// less of it.
pub const ENCODED_BYTES_MAX: usize = 256 << 10;

/// One part of an index key.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyPart {
    /// Type of the column.
    pub column_type: ColumnType,
    /// Characters (bytes for binary types) of the value that count; None for all.
    pub prefix_length: Option<u32>,
    /// DESC.
    pub descending: bool,
    /// Whether the column may be NULL. NULL orders first in an ascending part, last in a descending one.
    pub nullable: bool,
}

impl KeyPart {
    /// The whole of a column, ascending.
    pub fn ascending(column_type: ColumnType, nullable: bool) -> KeyPart {
        KeyPart { column_type, prefix_length: None, descending: false, nullable }
    }

    /// Bytes of this part as MySQL counts them for ER_TOO_LONG_KEY: the largest value's bytes.
    pub fn declared_bytes(&self) -> u32 {
        let column_type = &self.column_type;
        let characters = match (self.prefix_length, column_type.length) {
            (Some(prefix), _) => prefix,
            (None, Some(length)) => length,
            (None, None) => column_type.kind.large_object_bytes_max().unwrap_or(1),
        };
        if column_type.kind.is_text() {
            let width =
                charset::collation(column_type.collation).map_or(1, |c| u32::from(c.charset().max_bytes));
            // Plain TEXT gives its limit in bytes already.
            let width = if self.prefix_length.is_none() && column_type.length.is_none() { 1 } else { width };
            characters.saturating_mul(width)
        } else if column_type.kind.is_binary() {
            characters
        } else {
            column_type.row_bytes()
        }
    }

    /// Whether all values have the same number of bytes, but for NULL.
    pub fn has_fixed_bytes(&self) -> bool {
        Form::of(&self.column_type).width().is_some()
    }

    /// Bytes of the longest encoded form of this part for text that does not expand in its sort key.
    pub fn encoded_bytes(&self) -> u32 {
        let null_byte = u32::from(self.nullable);
        match Form::of(&self.column_type).width() {
            Some(width) => null_byte + u32::from(width),
            None => null_byte.saturating_add(self.declared_bytes()).saturating_add(1),
        }
    }

    /// Whether the value can be read back from the key, so that a covering read needs no row.
    pub fn is_reversible(&self) -> bool {
        if self.prefix_length.is_some() {
            return false;
        }
        match Form::of(&self.column_type) {
            Form::Float | Form::Double => false,
            Form::Bytes => match Order::of(&self.column_type) {
                Order::Bytes => true,
                // PAD SPACE keys drop trailing spaces; CHAR has none.
                Order::Text(collation) => {
                    collation.sort_key_is_reversible() && self.column_type.kind == TypeKind::Char
                }
            },
            _ => true,
        }
    }
}

/// Why a key cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyError {
    /// The value of that part is of another variant than the part's column stores, or outside its range.
    WrongValue(usize),
    /// NULL for a part that is not nullable.
    Null(usize),
    /// The key would exceed [`ENCODED_BYTES_MAX`].
    TooLong,
    /// The bytes are not a key of this layout.
    Corrupt,
}

impl std::fmt::Display for KeyError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            KeyError::WrongValue(part) => write!(f, "value of key part {part} was not converted to its type"),
            KeyError::Null(part) => write!(f, "NULL for key part {part}, which is not nullable"),
            KeyError::TooLong => write!(f, "key is longer than {ENCODED_BYTES_MAX} bytes"),
            KeyError::Corrupt => f.write_str("key bytes do not fit the index"),
        }
    }
}

impl std::error::Error for KeyError {}

/// How bytes order within a string part.
#[derive(Clone, Copy, Debug)]
enum Order {
    Bytes,
    Text(&'static Collation),
}

impl Order {
    fn of(column_type: &ColumnType) -> Order {
        match charset::collation(column_type.collation) {
            Some(collation) if column_type.kind.is_text() && !collation.is_plain_bytes() => {
                Order::Text(collation)
            }
            _ => Order::Bytes,
        }
    }
}

#[derive(Clone, Debug)]
struct Part {
    form: Form,
    order: Order,
    prefix_length: Option<u32>,
    descending: bool,
    nullable: bool,
    reversible: bool,
}

/// The layout of an index's keys.
#[derive(Clone, Debug)]
pub struct KeyLayout {
    parts: Box<[Part]>,
}

/// Leads a nullable part that is NULL.
const NULL_MARK: u8 = 0;
/// Leads a nullable part that is not NULL.
const VALUE_MARK: u8 = 1;

impl KeyLayout {
    /// The layout of keys with those parts.
    pub fn new<'a>(parts: impl IntoIterator<Item = &'a KeyPart>) -> KeyLayout {
        let prepare = |part: &KeyPart| Part {
            form: Form::of(&part.column_type),
            order: Order::of(&part.column_type),
            prefix_length: part.prefix_length,
            descending: part.descending,
            nullable: part.nullable,
            reversible: part.is_reversible(),
        };
        KeyLayout { parts: parts.into_iter().map(prepare).collect() }
    }

    /// Number of parts.
    pub fn part_count(&self) -> usize {
        self.parts.len()
    }

    /// Whether the part's value can be read back from a key.
    pub fn is_reversible(&self, part: usize) -> bool {
        self.parts[part].reversible
    }
}
