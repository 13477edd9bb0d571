//! Declared types of columns, with their synonyms resolved.

use super::*;
use ::values::TypeKind;
use DataTypeKind as D;
use Keyword as K;
use TokenKind as T;

impl Parser<'_> {
    pub(super) fn data_type(&mut self) -> SqlResult<DataType> {
        let T::Word(word) = self.kind() else { return self.fail() };
        self.advance();
        if let Some(kind) = number_kind(word) {
            return self.number_type(word, kind);
        }
        if let Some(kind) = plain_kind(word) {
            let mut data_type = plain(kind);
            data_type.length = self.optional_length()?;
            return Ok(data_type);
        }
        match self.text_type(word)? {
            Some(data_type) => Ok(data_type),
            None => {
                self.at -= 1;
                self.fail()
            }
        }
    }

    fn number_type(&mut self, word: Keyword, kind: DataTypeKind) -> SqlResult<DataType> {
        let mut data_type = plain(kind);
        if matches!(word, K::Bool | K::Boolean) {
            data_type.length = Some(1);
            data_type.boolean = true;
            return Ok(data_type);
        }
        if word == K::Double {
            self.accept(K::Precision);
        }
        if matches!(kind, D::Stored(TypeKind::Decimal | TypeKind::Float | TypeKind::Double) | D::Real) {
            (data_type.length, data_type.decimals) = self.optional_digits()?;
        } else {
            data_type.length = self.optional_length()?;
        }
        while let Some(word) = self.accept_any(&[K::Unsigned, K::Signed, K::Zerofill]) {
            data_type.unsigned |= word == K::Unsigned;
            data_type.zerofill |= word == K::Zerofill;
        }
        Ok(data_type)
    }

    /// CHAR, TEXT, BLOB, ENUM and their like; the word is read.
    fn text_type(&mut self, word: Keyword) -> SqlResult<Option<DataType>> {
        let mut data_type = plain(D::Stored(match word {
            K::Char | K::Character => {
                if self.accept(K::Varying) {
                    TypeKind::VarChar
                } else {
                    TypeKind::Char
                }
            }
            K::Nchar => {
                if self.accept_any(&[K::Varying, K::Varchar]).is_some() {
                    TypeKind::VarChar
                } else {
                    TypeKind::Char
                }
            }
            K::Varchar | K::Varcharacter | K::Nvarchar => TypeKind::VarChar,
            K::National => self.national_kind()?,
            K::Long => self.long_kind(),
            K::Tinytext => TypeKind::TinyText,
            K::Text => TypeKind::Text,
            K::Mediumtext => TypeKind::MediumText,
            K::Longtext => TypeKind::LongText,
            K::Enum => TypeKind::Enum,
            K::Set => TypeKind::Set,
            _ => return Ok(None),
        }));
        if matches!(word, K::National | K::Nchar | K::Nvarchar) {
            data_type.national = true;
            data_type.charset = Some("utf8mb3".to_owned());
        }
        if matches!(data_type.kind, D::Stored(TypeKind::Enum | TypeKind::Set)) {
            data_type.members = self.parenthesised_list(Self::string_or_bytes)?;
        } else {
            data_type.length = self.optional_length()?;
        }
        if data_type.kind == D::Stored(TypeKind::VarChar) && data_type.length.is_none() {
            return self.fail();
        }
        if data_type.kind != D::Stored(TypeKind::MediumBlob) {
            self.charset_attributes(&mut data_type)?;
        }
        Ok(Some(data_type))
    }

    fn national_kind(&mut self) -> SqlResult<TypeKind> {
        Ok(match self.expect_any(&[K::Char, K::Character, K::Varchar])? {
            K::Varchar => TypeKind::VarChar,
            _ => {
                if self.accept(K::Varying) {
                    TypeKind::VarChar
                } else {
                    TypeKind::Char
                }
            }
        })
    }

    /// LONG, LONG VARCHAR and LONG VARBINARY.
    fn long_kind(&mut self) -> TypeKind {
        if self.accept(K::Varbinary) {
            return TypeKind::MediumBlob;
        }
        if self.accept_any(&[K::Char, K::Character]).is_some() {
            self.accept(K::Varying);
        } else {
            self.accept_any(&[K::Varchar, K::Varcharacter]);
        }
        TypeKind::MediumText
    }

    /// CHARACTER SET, ASCII, UNICODE, BYTE, BINARY and COLLATE right behind a text type.
    fn charset_attributes(&mut self, data_type: &mut DataType) -> SqlResult<()> {
        loop {
            if let Some(charset) = self.optional_charset()? {
                data_type.charset = Some(charset);
            } else if self.accept(K::Ascii) {
                self.deprecate(Deprecation::Replaced("ASCII", "CHARACTER SET charset_name"));
                data_type.charset = Some("latin1".to_owned());
            } else if self.accept(K::Unicode) {
                self.deprecate(Deprecation::Replaced("UNICODE", "CHARACTER SET charset_name"));
                data_type.charset = Some("ucs2".to_owned());
            } else if self.accept(K::Byte) {
                data_type.charset = Some("binary".to_owned());
            } else if self.accept(K::Binary) {
                let instead = "a CHARACTER SET clause with _bin collation";
                self.deprecate(Deprecation::Replaced("BINARY as attribute of a type", instead));
                data_type.binary = true;
            } else {
                return Ok(());
            }
        }
    }

    /// The character set in CAST(.. AS CHAR ..).
    pub(super) fn optional_charset_attribute(&mut self) -> SqlResult<Option<Name>> {
        let mut shape = plain(D::Stored(TypeKind::Char));
        self.charset_attributes(&mut shape)?;
        Ok(if shape.charset.is_none() && shape.binary { Some("binary".to_owned()) } else { shape.charset })
    }

    /// `(n)`.
    pub(super) fn optional_length(&mut self) -> SqlResult<Option<u64>> {
        if self.kind() != T::OpenParenthesis {
            return Ok(None);
        }
        self.parenthesised(Self::plain_number).map(Some)
    }

    /// `(m)` or `(m, d)`.
    pub(super) fn optional_digits(&mut self) -> SqlResult<(Option<u64>, Option<u64>)> {
        if !self.accept_kind(T::OpenParenthesis) {
            return Ok((None, None));
        }
        let digits = self.plain_number()?;
        let scale = if self.accept_comma() { Some(self.plain_number()?) } else { None };
        self.expect_kind(T::CloseParenthesis)?;
        Ok((Some(digits), scale))
    }
}

fn plain(kind: DataTypeKind) -> DataType {
    DataType {
        kind,
        length: None,
        decimals: None,
        unsigned: false,
        zerofill: false,
        boolean: false,
        charset: None,
        collation: None,
        binary: false,
        national: false,
        members: Vec::new(),
    }
}

fn number_kind(word: Keyword) -> Option<DataTypeKind> {
    Some(D::Stored(match word {
        K::Tinyint | K::Int1 | K::Bool | K::Boolean => TypeKind::TinyInt,
        K::Smallint | K::Int2 => TypeKind::SmallInt,
        K::Mediumint | K::Int3 | K::Middleint => TypeKind::MediumInt,
        K::Int | K::Integer | K::Int4 => TypeKind::Int,
        K::Bigint | K::Int8 => TypeKind::BigInt,
        K::Decimal | K::Dec | K::Numeric | K::Fixed => TypeKind::Decimal,
        K::Float | K::Float4 => TypeKind::Float,
        K::Double | K::Float8 => TypeKind::Double,
        K::Real => return Some(D::Real),
        K::Year => TypeKind::Year,
        _ => return None,
    }))
}

/// Types with at most a length.
fn plain_kind(word: Keyword) -> Option<DataTypeKind> {
    Some(D::Stored(match word {
        K::Bit => TypeKind::Bit,
        K::Date => TypeKind::Date,
        K::Time => TypeKind::Time,
        K::Datetime => TypeKind::DateTime,
        K::Timestamp => TypeKind::Timestamp,
        K::Binary => TypeKind::Binary,
        K::Varbinary => TypeKind::VarBinary,
        K::Tinyblob => TypeKind::TinyBlob,
        K::Blob => TypeKind::Blob,
        K::Mediumblob => TypeKind::MediumBlob,
        K::Longblob => TypeKind::LongBlob,
        _ => return other_kind(word),
    }))
}

/// Types that no column has as they are declared.
fn other_kind(word: Keyword) -> Option<DataTypeKind> {
    Some(match word {
        K::Serial => D::Serial,
        K::Json => D::Json,
        K::Vector => D::Vector,
        K::Geometry => D::Geometry,
        K::Point => D::Point,
        K::Linestring => D::LineString,
        K::Polygon => D::Polygon,
        K::Multipoint => D::MultiPoint,
        K::Multilinestring => D::MultiLineString,
        K::Multipolygon => D::MultiPolygon,
        K::Geometrycollection | K::Geomcollection => D::GeometryCollection,
        _ => return None,
    })
}
