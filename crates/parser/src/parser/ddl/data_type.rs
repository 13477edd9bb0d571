//! Declared types of columns, with their synonyms resolved.

use crate::parser::*;
use ::values::TypeKind;
use DataTypeKind as D;
use Keyword as K;
use TokenKind as T;

pub(crate) fn data_type(parser: &mut Parser) -> SqlResult<DataType> {
    let T::Word(word) = parser.kind() else { return parser.fail() };
    parser.advance();
    if let Some(kind) = number_kind(word) {
        return number_type(parser, word, kind);
    }
    if let Some(kind) = plain_kind(word) {
        let mut data_type = plain(kind);
        if kind != D::Json {
            data_type.length = optional_length(parser)?;
        }
        return Ok(data_type);
    }
    match text_type(parser, word)? {
        Some(data_type) => Ok(data_type),
        None => {
            parser.at -= 1;
            parser.fail()
        }
    }
}

fn number_type(parser: &mut Parser, word: Keyword, kind: DataTypeKind) -> SqlResult<DataType> {
    let mut data_type = plain(kind);
    if matches!(word, K::Bool | K::Boolean) {
        data_type.length = Some(1);
        data_type.boolean = true;
        return Ok(data_type);
    }
    if word == K::Double {
        parser.accept(K::Precision);
    }
    if matches!(kind, D::Stored(TypeKind::Decimal | TypeKind::Float | TypeKind::Double) | D::Real) {
        (data_type.length, data_type.decimals) = optional_digits(parser)?;
    } else {
        data_type.length = optional_length(parser)?;
    }
    while let Some(word) = parser.accept_any(&[K::Unsigned, K::Signed, K::Zerofill]) {
        data_type.unsigned |= word == K::Unsigned;
        data_type.zerofill |= word == K::Zerofill;
    }
    Ok(data_type)
}

/// CHAR, TEXT, BLOB, ENUM and their like; the word is read.
fn text_type(parser: &mut Parser, word: Keyword) -> SqlResult<Option<DataType>> {
    let mut data_type = plain(D::Stored(match word {
        K::Char | K::Character => {
            if parser.accept(K::Varying) {
                TypeKind::VarChar
            } else {
                TypeKind::Char
            }
        }
        K::Nchar => {
            if parser.accept_any(&[K::Varying, K::Varchar]).is_some() {
                TypeKind::VarChar
            } else {
                TypeKind::Char
            }
        }
        K::Varchar | K::Varcharacter | K::Nvarchar => TypeKind::VarChar,
        K::National => national_kind(parser)?,
        K::Long => long_kind(parser),
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
        data_type.members = parser.parenthesised_list(Parser::string_or_bytes)?;
    } else {
        data_type.length = optional_length(parser)?;
    }
    if data_type.kind == D::Stored(TypeKind::VarChar) && data_type.length.is_none() {
        return parser.fail();
    }
    if data_type.kind != D::Stored(TypeKind::MediumBlob) {
        charset_attributes(parser, &mut data_type)?;
    }
    Ok(Some(data_type))
}

fn national_kind(parser: &mut Parser) -> SqlResult<TypeKind> {
    Ok(match parser.expect_any(&[K::Char, K::Character, K::Varchar])? {
        K::Varchar => TypeKind::VarChar,
        _ => {
            if parser.accept(K::Varying) {
                TypeKind::VarChar
            } else {
                TypeKind::Char
            }
        }
    })
}

/// LONG, LONG VARCHAR and LONG VARBINARY.
fn long_kind(parser: &mut Parser) -> TypeKind {
    if parser.accept(K::Varbinary) {
        return TypeKind::MediumBlob;
    }
    if parser.accept_any(&[K::Char, K::Character]).is_some() {
        parser.accept(K::Varying);
    } else {
        parser.accept_any(&[K::Varchar, K::Varcharacter]);
    }
    TypeKind::MediumText
}

/// CHARACTER SET, ASCII, UNICODE, BYTE, BINARY and COLLATE right behind a text type.
fn charset_attributes(parser: &mut Parser, data_type: &mut DataType) -> SqlResult<()> {
    loop {
        if let Some(charset) = parser.optional_charset()? {
            data_type.charset = Some(charset);
            data_type.is_synonym = false;
        } else if parser.accept(K::Ascii) {
            parser.deprecate(Deprecation::Replaced("ASCII", "CHARACTER SET charset_name"));
            set_synonym(data_type, "latin1");
        } else if parser.accept(K::Unicode) {
            parser.deprecate(Deprecation::Replaced("UNICODE", "CHARACTER SET charset_name"));
            set_synonym(data_type, "ucs2");
        } else if parser.accept(K::Byte) {
            set_synonym(data_type, "binary");
        } else if parser.accept(K::Binary) {
            let instead = "a CHARACTER SET clause with _bin collation";
            parser.deprecate(Deprecation::Replaced("BINARY as attribute of a type", instead));
            data_type.binary = true;
        } else {
            return Ok(());
        }
    }
}

fn set_synonym(data_type: &mut DataType, charset: &str) {
    data_type.charset = Some(charset.to_owned());
    data_type.is_synonym = true;
}

/// The character set in CAST(.. AS CHAR ..). BINARY there asks for a collation, not for a character set.
pub(crate) fn optional_charset_attribute(parser: &mut Parser) -> SqlResult<Option<Name>> {
    let mut shape = plain(D::Stored(TypeKind::Char));
    charset_attributes(parser, &mut shape)?;
    Ok(shape.charset)
}

/// `(n)`.
pub(crate) fn optional_length(parser: &mut Parser) -> SqlResult<Option<u64>> {
    if parser.kind() != T::OpenParenthesis {
        return Ok(None);
    }
    parser.parenthesised(Parser::plain_number).map(Some)
}

/// `(m)` or `(m, d)`.
pub(crate) fn optional_digits(parser: &mut Parser) -> SqlResult<(Option<u64>, Option<u64>)> {
    if !parser.accept_kind(T::OpenParenthesis) {
        return Ok((None, None));
    }
    let digits = parser.plain_number()?;
    let scale = if parser.accept_comma() { Some(parser.plain_number()?) } else { None };
    parser.expect_kind(T::CloseParenthesis)?;
    Ok((Some(digits), scale))
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
        is_synonym: false,
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
