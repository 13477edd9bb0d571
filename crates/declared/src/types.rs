//! A declared type checked and turned into a [`ColumnType`]. Main function: [`DeclaredTypes::column_type`].

use crate::names::{find_charset, named_collation};
use charset::CollationId;
use errors::{Diagnostics, SqlResult, sql_error};
use expression::SqlMode;
use parser::ast::{DataType, DataTypeKind};
use std::collections::HashSet;
use values::{ColumnType, TypeKind};

const CHAR_CHARACTERS_MAX: u64 = 255;
const VARCHAR_BYTES_MAX: u64 = 65_535;
/// Of any type, as declared.
const LENGTH_MAX: u64 = u32::MAX as u64;

/// What types depend on beside their declarations.
pub struct DeclaredTypes<'d> {
    /// Where warnings go.
    pub diagnostics: &'d mut Diagnostics,
    /// sql_mode.
    pub sql_mode: SqlMode,
    /// Collation of literals.
    pub connection: CollationId,
}

impl DeclaredTypes<'_> {
    /// The type that a declaration means. `collation` is the COLLATE attribute, `default` the table's collation.
    /// Errors: 1063, 1074, 1097, 1115, 1235, 1253, 1273, 1291, 1367, 1425, 1426, 1427, 1439.
    pub fn column_type(
        &mut self,
        name: &str,
        declared: &DataType,
        collation: Option<&str>,
        default: CollationId,
    ) -> SqlResult<ColumnType> {
        use DataTypeKind as D;
        let kind = match declared.kind {
            D::Stored(kind) => kind,
            D::Serial => return Ok(ColumnType::integer(TypeKind::BigInt, true)),
            D::Real => return self.float_type(name, declared),
            D::Json => {
                return match collation {
                    Some(collation) => {
                        Err(sql_error!(ER_COLLATION_CHARSET_MISMATCH, collation.to_lowercase(), "binary"))
                    }
                    None => Ok(ColumnType::new(TypeKind::Json)),
                };
            }
            D::Vector => return Err(sql_error!(ER_NOT_SUPPORTED_YET, "VECTOR columns")),
            _ => return Err(sql_error!(ER_NOT_SUPPORTED_YET, "spatial columns")),
        };
        if kind.is_string() || kind == TypeKind::Decimal {
            check_length(name, declared)?;
        }
        match kind {
            kind if kind.is_integer() => self.integer_type(name, kind, declared),
            TypeKind::Decimal => self.decimal_type(name, declared),
            TypeKind::Float | TypeKind::Double => self.float_type(name, declared),
            TypeKind::Bit => bit_type(name, declared),
            TypeKind::Year => {
                if let Some(width) = declared.length {
                    if width != 4 {
                        return Err(sql_error!(ER_INVALID_YEAR_COLUMN_LENGTH, "YEAR"));
                    }
                    self.diagnostics.warning(sql_error!(ER_WARN_DEPRECATED_SYNTAX, "YEAR(4)", "YEAR"));
                }
                Ok(ColumnType::new(TypeKind::Year))
            }
            TypeKind::Time | TypeKind::DateTime | TypeKind::Timestamp => temporal_type(name, kind, declared),
            TypeKind::Binary | TypeKind::VarBinary => {
                self.binary_type(name, kind, declared.length.unwrap_or(1))
            }
            TypeKind::Blob => Ok(ColumnType::new(blob_kind(declared.length))),
            TypeKind::Date | TypeKind::TinyBlob | TypeKind::MediumBlob | TypeKind::LongBlob => {
                Ok(ColumnType::new(kind))
            }
            _ => {
                let collation = self.text_collation(declared, collation, default)?;
                self.text_type(name, declared, collation)
            }
        }
    }

    fn deprecated(&mut self, what: &str) {
        let text = format!("{what} is deprecated and will be removed in a future release.");
        self.diagnostics.warning(errors::code::ER_WARN_DEPRECATED_SYNTAX_NO_REPLACEMENT.message(text));
    }

    /// What CREATE TABLE .. LIKE and .. SELECT say of a type: display widths are not written down with it, ZEROFILL and digits are.
    pub fn warn_copied_type(&mut self, column_type: &ColumnType) {
        if matches!(column_type.kind, TypeKind::Float | TypeKind::Double) {
            self.warn_fraction_attributes(column_type.unsigned, column_type.decimals.is_some());
        } else if column_type.kind == TypeKind::Decimal {
            self.warn_fraction_attributes(column_type.unsigned, false);
        }
        self.warn_zerofill(column_type.zerofill);
    }

    fn warn_fraction_attributes(&mut self, unsigned: bool, has_digits: bool) {
        if has_digits {
            self.diagnostics.warning(errors::code::ER_WARN_DEPRECATED_SYNTAX_NO_REPLACEMENT.message(
                "Specifying number of digits for floating point data types is deprecated and will be removed in \
                 a future release.",
            ));
        }
        if unsigned {
            self.diagnostics.warning(errors::code::ER_WARN_DEPRECATED_SYNTAX_NO_REPLACEMENT.message(
                "UNSIGNED for decimal and floating point data types is deprecated and support for it will be \
                 removed in a future release.",
            ));
        }
    }

    fn warn_number_attributes(&mut self, declared: &DataType) {
        self.warn_zerofill(declared.zerofill);
    }

    fn warn_zerofill(&mut self, zerofill: bool) {
        if zerofill {
            self.diagnostics.warning(errors::code::ER_WARN_DEPRECATED_SYNTAX_NO_REPLACEMENT.message(
                "The ZEROFILL attribute is deprecated and will be removed in a future release. Use the LPAD function \
                 to zero-pad numbers, or store the formatted numbers in a CHAR column.",
            ));
        }
    }

    fn warn_unsigned_fraction(&mut self, declared: &DataType) {
        self.warn_fraction_attributes(declared.unsigned, false);
    }

    fn integer_type(&mut self, name: &str, kind: TypeKind, declared: &DataType) -> SqlResult<ColumnType> {
        self.warn_number_attributes(declared);
        let mut column_type = ColumnType::integer(kind, declared.unsigned || declared.zerofill);
        column_type.zerofill = declared.zerofill;
        if let Some(width) = declared.length {
            if !declared.boolean {
                self.deprecated("Integer display width");
            }
            check_length(name, declared)?;
            if width > 255 {
                return Err(sql_error!(ER_TOO_BIG_DISPLAYWIDTH, name, 255));
            }
        }
        column_type.length = match (declared.length, declared.zerofill) {
            (Some(width), true) => Some(width as u32),
            (None, true) => Some(zerofill_width(kind)),
            (Some(1), false) if kind == TypeKind::TinyInt && !declared.unsigned => Some(1),
            _ => None,
        };
        Ok(column_type)
    }

    fn decimal_type(&mut self, name: &str, declared: &DataType) -> SqlResult<ColumnType> {
        let precision = declared.length.filter(|digits| *digits > 0).unwrap_or(10);
        let scale = declared.decimals.unwrap_or(0);
        check_digits(name, precision, scale, 65)?;
        self.warn_number_attributes(declared);
        self.warn_unsigned_fraction(declared);
        let mut column_type = ColumnType::decimal(precision as u32, scale as u8);
        column_type.unsigned = declared.unsigned || declared.zerofill;
        column_type.zerofill = declared.zerofill;
        Ok(column_type)
    }

    fn float_type(&mut self, name: &str, declared: &DataType) -> SqlResult<ColumnType> {
        self.warn_number_attributes(declared);
        let real_is_float = self.sql_mode.contains(SqlMode::REAL_AS_FLOAT);
        let mut kind = match declared.kind {
            DataTypeKind::Stored(TypeKind::Float) => TypeKind::Float,
            DataTypeKind::Real if real_is_float => TypeKind::Float,
            _ => TypeKind::Double,
        };
        let mut digits = None;
        match (declared.length, declared.decimals) {
            (Some(precision), Some(scale)) => {
                self.warn_fraction_attributes(false, true);
                check_digits(name, precision, scale, u64::MAX)?;
                if precision > 255 {
                    return Err(sql_error!(ER_TOO_BIG_DISPLAYWIDTH, name, 255));
                }
                digits = Some((precision as u32, scale as u8));
            }
            (Some(precision), None) if kind == TypeKind::Float => match precision {
                0..=24 => {}
                25..=53 => kind = TypeKind::Double,
                _ => return Err(sql_error!(ER_WRONG_FIELD_SPEC, name)),
            },
            _ => {}
        }
        self.warn_unsigned_fraction(declared);
        let mut column_type = ColumnType::new(kind);
        column_type.length = digits.map(|(precision, _)| precision);
        column_type.decimals = digits.map(|(_, scale)| scale);
        column_type.unsigned = declared.unsigned || declared.zerofill;
        column_type.zerofill = declared.zerofill;
        Ok(column_type)
    }

    /// The collation of a text column: its own clauses, else the table's.
    fn text_collation(
        &mut self,
        declared: &DataType,
        attribute: Option<&str>,
        default: CollationId,
    ) -> SqlResult<CollationId> {
        let charset = match &declared.charset {
            Some(name) if declared.national => {
                self.diagnostics.warning(sql_error!(ER_DEPRECATED_NATIONAL));
                charset::charset_by_name(name)
            }
            // That of a synonym is not named, so it is not told of as deprecated.
            Some(name) if declared.is_synonym => charset::charset_by_name(name),
            Some(name) => Some(find_charset(name, self.diagnostics)?),
            None => None,
        };
        if let Some(name) = attribute.or(declared.collation.as_deref()) {
            let collation = named_collation(name, self.diagnostics)?;
            if let Some(charset) = charset.filter(|charset| charset.name != collation.charset().name) {
                return Err(sql_error!(ER_COLLATION_CHARSET_MISMATCH, collation.name, charset.name));
            }
            return Ok(collation.id);
        }
        let charset = charset.unwrap_or_else(|| default.charset());
        if declared.binary {
            return Ok(charset.binary_collation);
        }
        let own = declared.charset.is_some();
        Ok(if own { charset.default_collation } else { default })
    }

    fn text_type(
        &mut self,
        name: &str,
        declared: &DataType,
        collation: CollationId,
    ) -> SqlResult<ColumnType> {
        use DataTypeKind as D;
        let charset = collation.charset();
        let binary = collation == CollationId::BINARY;
        match declared.kind {
            D::Stored(TypeKind::Char | TypeKind::VarChar) => {
                let length = declared.length.unwrap_or(1);
                let fixed = declared.kind == D::Stored(TypeKind::Char);
                if binary {
                    let kind = if fixed { TypeKind::Binary } else { TypeKind::VarBinary };
                    return self.binary_type(name, kind, length);
                }
                if !fixed {
                    return self.varchar_type(name, length, collation);
                }
                if length > CHAR_CHARACTERS_MAX {
                    return Err(sql_error!(ER_TOO_BIG_FIELDLENGTH, name, CHAR_CHARACTERS_MAX));
                }
                Ok(ColumnType::char(length as u32, collation))
            }
            D::Stored(TypeKind::Enum | TypeKind::Set) => self.members_type(name, declared, collation),
            _ => {
                let bytes = declared.length.map(|length| length.saturating_mul(u64::from(charset.max_bytes)));
                let kind = match declared.kind {
                    D::Stored(kind @ (TypeKind::TinyText | TypeKind::MediumText | TypeKind::LongText)) => {
                        kind
                    }
                    _ => text_kind(bytes),
                };
                Ok(if binary { ColumnType::new(as_blob(kind)) } else { ColumnType::text(kind, collation) })
            }
        }
    }

    /// VARCHAR, or without strict mode the TEXT that is long enough.
    pub fn varchar_type(&self, name: &str, length: u64, collation: CollationId) -> SqlResult<ColumnType> {
        let characters_max = varchar_characters_max(collation);
        if length <= characters_max {
            return Ok(ColumnType::varchar(length as u32, collation));
        }
        if self.sql_mode.is_strict() {
            return Err(sql_error!(ER_TOO_BIG_FIELDLENGTH, name, characters_max));
        }
        let bytes = length.saturating_mul(u64::from(collation.charset().max_bytes));
        Ok(ColumnType::text(text_kind(Some(bytes)), collation))
    }

    /// BINARY or VARBINARY, or without strict mode the BLOB that is long enough.
    fn binary_type(&self, name: &str, kind: TypeKind, length: u64) -> SqlResult<ColumnType> {
        let limit = if kind == TypeKind::Binary { CHAR_CHARACTERS_MAX } else { VARCHAR_BYTES_MAX };
        match kind {
            _ if length > limit && (kind == TypeKind::Binary || self.sql_mode.is_strict()) => {
                Err(sql_error!(ER_TOO_BIG_FIELDLENGTH, name, limit))
            }
            _ if length > limit => Ok(ColumnType::new(blob_kind(Some(length)))),
            TypeKind::Binary => Ok(ColumnType::binary(length as u32)),
            _ => Ok(ColumnType::varbinary(length as u32)),
        }
    }

    /// Says that a VARCHAR or VARBINARY is a large object now. Error 1074 for one with a default.
    pub fn note_lengthened(
        &mut self,
        name: &str,
        column_type: &ColumnType,
        has_default: bool,
    ) -> SqlResult<()> {
        if has_default {
            let limit = varchar_characters_max(column_type.collation);
            return Err(sql_error!(ER_TOO_BIG_FIELDLENGTH, name, limit));
        }
        let (from, to) = match column_type.kind.is_text() {
            true => ("VARCHAR", "TEXT"),
            false => ("VARBINARY", "BLOB"),
        };
        self.diagnostics.note(sql_error!(ER_AUTO_CONVERT, name, from, to));
        Ok(())
    }

    fn members_type(
        &mut self,
        name: &str,
        declared: &DataType,
        collation: CollationId,
    ) -> SqlResult<ColumnType> {
        let set = declared.kind == DataTypeKind::Stored(TypeKind::Set);
        if set && declared.members.len() > 64 {
            return Err(sql_error!(ER_TOO_BIG_SET, name));
        }
        if declared.members.len() > 65_535 {
            return Err(sql_error!(ER_TOO_BIG_ENUM, name));
        }
        let (from, to) = (self.connection.charset(), collation.charset());
        let mut members: Vec<Vec<u8>> = Vec::with_capacity(declared.members.len());
        let mut seen = HashSet::with_capacity(declared.members.len());
        for member in &declared.members {
            let mut text = if from.name == to.name { member.clone() } else { from.convert(member, to).text };
            if collation != CollationId::BINARY {
                text.truncate(to.length_without_trailing_spaces(&text));
            }
            if set && text.contains(&b',') {
                return Err(sql_error!(ER_ILLEGAL_VALUE_FOR_TYPE, "set", to.to_string_lossy(&text)));
            }
            let mut key = Vec::new();
            collation.get().sort_key(&text, &mut key);
            if !seen.insert(key) {
                let kind = if set { "SET" } else { "ENUM" };
                let error = sql_error!(ER_DUPLICATED_VALUE_IN_TYPE, name, to.to_string_lossy(&text), kind);
                if self.sql_mode.is_strict() {
                    return Err(error);
                }
                self.diagnostics.note(error);
            }
            members.push(text);
        }
        Ok(ColumnType {
            kind: if set { TypeKind::Set } else { TypeKind::Enum },
            unsigned: false,
            zerofill: false,
            length: None,
            decimals: None,
            collation,
            members: members.into(),
        })
    }
}

fn zerofill_width(kind: TypeKind) -> u32 {
    match kind {
        TypeKind::TinyInt => 3,
        TypeKind::SmallInt => 5,
        TypeKind::MediumInt => 8,
        TypeKind::Int => 10,
        _ => 20,
    }
}

/// No length passes 32 bits. Error 1439.
fn check_length(name: &str, declared: &DataType) -> SqlResult<()> {
    match declared.length.is_some_and(|length| length > LENGTH_MAX) {
        true => Err(sql_error!(ER_TOO_BIG_DISPLAYWIDTH, name, LENGTH_MAX)),
        false => Ok(()),
    }
}

fn check_digits(name: &str, precision: u64, scale: u64, precision_max: u64) -> SqlResult<()> {
    if scale > 30 {
        return Err(sql_error!(ER_TOO_BIG_SCALE, scale, name, 30));
    }
    if precision > precision_max {
        return Err(sql_error!(ER_TOO_BIG_PRECISION, precision, name, precision_max));
    }
    if scale > precision {
        return Err(sql_error!(ER_M_BIGGER_THAN_D, name));
    }
    Ok(())
}

fn bit_type(name: &str, declared: &DataType) -> SqlResult<ColumnType> {
    let bits = declared.length.unwrap_or(1).max(1);
    if bits > 64 {
        return Err(sql_error!(ER_TOO_BIG_DISPLAYWIDTH, name, 64));
    }
    Ok(ColumnType::bit(bits as u32))
}

fn temporal_type(name: &str, kind: TypeKind, declared: &DataType) -> SqlResult<ColumnType> {
    let digits = declared.length.or(declared.decimals).unwrap_or(0);
    if digits > 6 {
        return Err(sql_error!(ER_TOO_BIG_PRECISION, digits, name, 6));
    }
    Ok(ColumnType::temporal(kind, digits as u8))
}

fn varchar_characters_max(collation: CollationId) -> u64 {
    VARCHAR_BYTES_MAX / u64::from(collation.charset().max_bytes)
}

/// The text type whose values hold as many characters in another character set, of more bytes at most.
pub fn widened(kind: TypeKind) -> TypeKind {
    match kind {
        TypeKind::TinyText => TypeKind::Text,
        TypeKind::Text => TypeKind::MediumText,
        TypeKind::MediumText => TypeKind::LongText,
        other => other,
    }
}

/// TEXT(n): the smallest kind that holds so many bytes.
fn text_kind(bytes: Option<u64>) -> TypeKind {
    match bytes {
        Some(1..=255) => TypeKind::TinyText,
        None | Some(0..=65_535) => TypeKind::Text,
        Some(..=16_777_215) => TypeKind::MediumText,
        Some(_) => TypeKind::LongText,
    }
}

fn blob_kind(bytes: Option<u64>) -> TypeKind {
    as_blob(text_kind(bytes))
}

/// The binary type of the same size.
pub fn as_blob(kind: TypeKind) -> TypeKind {
    match kind {
        TypeKind::TinyText => TypeKind::TinyBlob,
        TypeKind::MediumText => TypeKind::MediumBlob,
        TypeKind::LongText => TypeKind::LongBlob,
        _ => TypeKind::Blob,
    }
}
