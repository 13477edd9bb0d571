//! Types that CAST names. Main functions: [`element_type`], [`decimal_target`], [`temporal_target`].

use charset::CollationId;
use errors::{SqlError, SqlResult, sql_error};
use parser::ast::{CastExpression, CastTarget, Expression, Literal};
use values::{ColumnType, TypeKind};

/// Characters or bytes of an element that is text.
const ELEMENT_LENGTH_MAX: u64 = 512;

/// The error of CAST(.. AS type ARRAY) in another place than as a key part: 1235, or that of the type.
pub fn array_elsewhere(cast: &CastExpression) -> SqlError {
    if let Err(error) = element_type(cast) {
        return error;
    }
    let what = "Use of CAST( .. AS .. ARRAY) outside of functional index in CREATE(non-SELECT)/ALTER TABLE or in general expressions";
    sql_error!(ER_NOT_SUPPORTED_YET, what)
}

/// The type of the elements of CAST(.. AS type ARRAY). Errors: 1235, 1425 to 1427.
pub fn element_type(cast: &CastExpression) -> SqlResult<ColumnType> {
    let array_of =
        |what: &str| Err(sql_error!(ER_NOT_SUPPORTED_YET, format!("CAST-ing data to array of {what}")));
    let element_length = |length: &Option<u64>| match length {
        Some(length) if *length <= ELEMENT_LENGTH_MAX => Ok(*length as u32),
        _ => Err(sql_error!(ER_NOT_SUPPORTED_YET, "CAST-ing data to array of char/binary BLOBs")),
    };
    Ok(match &cast.target {
        CastTarget::Signed => ColumnType::big_int(),
        CastTarget::Unsigned => ColumnType::big_int_unsigned(),
        CastTarget::Decimal { digits, scale } => {
            decimal_target(&operand_name(&cast.operand), *digits, *scale)?
        }
        CastTarget::Date => ColumnType::new(TypeKind::Date),
        CastTarget::Time { decimals } => temporal_target(TypeKind::Time, *decimals)?,
        CastTarget::DateTime { decimals } => temporal_target(TypeKind::DateTime, *decimals)?,
        CastTarget::Binary { length } => ColumnType::varbinary(element_length(length)?),
        CastTarget::Char { length, charset: Some(name), .. } if name.eq_ignore_ascii_case("binary") => {
            ColumnType::varbinary(element_length(length)?)
        }
        CastTarget::Char { charset: Some(_), .. } | CastTarget::Char { national: true, .. } => {
            return Err(sql_error!(ER_NOT_SUPPORTED_YET, "specifying charset for multi-valued index"));
        }
        CastTarget::Char { length, .. } => {
            ColumnType::varchar(element_length(length)?, CollationId::UTF8MB4_0900_BIN)
        }
        CastTarget::Float { .. } => return array_of("FLOAT"),
        CastTarget::Double | CastTarget::Real => return array_of("DOUBLE"),
        CastTarget::Year => return array_of("YEAR"),
        CastTarget::Json => return array_of("JSON"),
        CastTarget::Geometry(name) => return array_of(&name.to_uppercase()),
    })
}

/// What errors call the operand of a CAST: its text, as far as that is known here.
pub fn operand_name(operand: &Expression) -> String {
    match operand {
        Expression::Literal(Literal::Integer(number)) => number.to_string(),
        Expression::Literal(Literal::String { bytes, .. }) => {
            format!("'{}'", String::from_utf8_lossy(bytes))
        }
        Expression::Column(column) => column.column.clone(),
        _ => String::new(),
    }
}

/// TIME or DATETIME with that many digits of a second's fraction. Error 1426.
pub fn temporal_target(kind: TypeKind, decimals: Option<u64>) -> SqlResult<ColumnType> {
    match decimals.unwrap_or(0) {
        digits if digits > 6 => Err(sql_error!(ER_TOO_BIG_PRECISION, digits, "CAST", 6)),
        digits => Ok(ColumnType::temporal(kind, digits as u8)),
    }
}

/// DECIMAL(digits, scale). `name` is what errors call the operand. Errors: 1425 to 1427.
pub fn decimal_target(name: &str, digits: Option<u64>, scale: Option<u64>) -> SqlResult<ColumnType> {
    let scale = scale.unwrap_or(0);
    let precision = digits.filter(|digits| *digits > 0 || scale > 0).unwrap_or(10);
    if precision > 65 {
        return Err(sql_error!(ER_TOO_BIG_PRECISION, precision, name, 65));
    }
    if scale > 30 {
        return Err(sql_error!(ER_TOO_BIG_SCALE, scale, name, 30));
    }
    if scale > precision {
        return Err(sql_error!(ER_M_BIGGER_THAN_D, ""));
    }
    Ok(ColumnType::decimal(precision as u32, scale as u8))
}
