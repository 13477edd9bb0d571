//! One type for the values of several expressions: the branches of CASE and IF, the arguments of COALESCE and
//! GREATEST, the operands of a set operation. The kind is merged pair by pair, then length, scale and sign follow
//! from all operands of that kind. Main function: [`common_type`].

use crate::derive::{DerivedCollation, temporal_digits};
use crate::result_type::{Coercibility, ResultType, TypeClass};
use charset::CollationId;
use values::{ColumnType, TypeKind};

/// Display length of a FLOAT or DOUBLE without a fixed scale.
const APPROXIMATE_LENGTH: u32 = 23;
/// Characters of a DOUBLE column.
const DOUBLE_WIDTH: u32 = 22;
/// Decimals that stand for "not fixed".
const DECIMALS_NOT_FIXED: u8 = 31;

/// The type that holds the values of all of these.
pub fn common_type(types: &[&ResultType], collation: DerivedCollation) -> ResultType {
    let known: Vec<&ResultType> =
        types.iter().copied().filter(|result| result.class() != TypeClass::Null).collect();
    let Some((first, rest)) = known.split_first() else { return ResultType::null() };
    let nullable = types.iter().any(|result| result.nullable);
    if known.iter().any(|result| result.class() == TypeClass::Json) {
        // Beside anything else it is text.
        let is_json = known.iter().all(|result| result.class() == TypeClass::Json);
        let common = if is_json { ResultType::json() } else { ResultType::json_text() };
        return common.nullable_if(nullable);
    }
    let mut kind = rest.iter().fold(first.kind(), |kind, next| merged_kind(kind, next.kind()));
    if let [only] = known.as_slice()
        && only.kind().has_members()
    {
        return ResultType { nullable, ..(*only).clone() };
    }
    let unsigned = known.iter().all(|result| result.column_type.is_unsigned_integer());
    if kind.is_integer() && !unsigned && needs_more_range(&known, kind) {
        kind = wider_kind(kind);
    }
    let mut common = match kind {
        kind if kind.is_integer() || matches!(kind, TypeKind::Year | TypeKind::Bit) => {
            let length = known.iter().map(|result| width(result)).max();
            ResultType::column(ColumnType { length, unsigned, ..ColumnType::new(kind) }, nullable)
        }
        TypeKind::Decimal => common_decimal(&known),
        TypeKind::Float | TypeKind::Double => common_approximate(&known, kind),
        kind if kind.is_temporal() => {
            let digits = known.iter().map(|result| temporal_digits(result)).max().unwrap_or(0);
            ResultType::column(ColumnType::temporal(kind, digits), nullable)
        }
        _ => common_text(&known, kind, collation_beside_bits(&known, collation)),
    };
    common.nullable = nullable;
    common
}

/// Bits for BIT, characters for everything else.
fn width(result: &ResultType) -> u32 {
    if result.kind() == TypeKind::Bit { result.column_type.bits() } else { result.text_length() }
}

/// The kind that holds the values of two kinds.
fn merged_kind(left: TypeKind, right: TypeKind) -> TypeKind {
    use TypeKind::{
        BigInt, Bit, Char, DateTime, Decimal, Double, Float, Int, SmallInt, TinyInt, VarChar, Year,
    };
    let integer = |kind: TypeKind| kind.is_integer() || kind == Year;
    match (left, right) {
        (Char | TypeKind::Binary, other) | (other, Char | TypeKind::Binary) if other.has_members() => Char,
        (left, right) if left.has_members() || right.has_members() => large_or(left, right, VarChar),
        (left, right) if left == right => left,
        (Bit, other) | (other, Bit) if integer(other) => BigInt,
        (Year, TinyInt) | (TinyInt, Year) => SmallInt,
        (left, right) if integer(left) && integer(right) => {
            if integer_rank(left) >= integer_rank(right) {
                left
            } else {
                right
            }
        }
        (Double, other) | (other, Double) if other.is_number() => Double,
        (Float, Int | Decimal | Bit) | (Int | BigInt | Decimal | Bit, Float) => Double,
        (Float, other) | (other, Float) if other.is_number() => Float,
        (Decimal, other) | (other, Decimal) if other.is_number() => Decimal,
        (left, right) if left.is_temporal() && right.is_temporal() => DateTime,
        (left, right) => {
            let fixed = |kind: TypeKind| matches!(kind, Char | TypeKind::Binary) || !kind.is_string();
            let text = left.is_string() || right.is_string();
            large_or(left, right, if text && fixed(left) && fixed(right) { Char } else { VarChar })
        }
    }
}

/// A large object beside anything else makes a large object.
fn large_or(left: TypeKind, right: TypeKind, otherwise: TypeKind) -> TypeKind {
    if left.is_large_object() || right.is_large_object() { TypeKind::Text } else { otherwise }
}

fn integer_rank(kind: TypeKind) -> u32 {
    // YEAR gives way to every longer integer type.
    kind.integer_bytes().unwrap_or(0)
}

/// Whether an unsigned operand of the merged kind meets signed ones, so that the kind lacks a bit.
fn needs_more_range(known: &[&ResultType], kind: TypeKind) -> bool {
    known.iter().any(|result| {
        result.column_type.is_unsigned_integer() && (result.kind() == kind || result.kind() == TypeKind::Bit)
    })
}

fn wider_kind(kind: TypeKind) -> TypeKind {
    match kind {
        TypeKind::TinyInt => TypeKind::SmallInt,
        TypeKind::SmallInt => TypeKind::MediumInt,
        TypeKind::MediumInt => TypeKind::Int,
        TypeKind::Int => TypeKind::BigInt,
        _ => TypeKind::Decimal,
    }
}

fn common_decimal(known: &[&ResultType]) -> ResultType {
    let scale = known.iter().map(|result| result.scale().min(30)).max().unwrap_or(0);
    let digits = known.iter().map(|result| result.integer_digits()).max().unwrap_or(1);
    let mut result = ResultType::decimal(digits + u32::from(scale), scale);
    result.column_type.unsigned = known.iter().all(|result| result.column_type.unsigned);
    result
}

fn common_approximate(known: &[&ResultType], kind: TypeKind) -> ResultType {
    let (length, decimals) = approximate_size(known);
    let mut result = ResultType::double_of(length, decimals);
    result.column_type.kind = kind;
    result
}

/// Length and decimals of a floating point number that comes of these: the most digits on each side of the point.
pub(crate) fn approximate_size(operands: &[&ResultType]) -> (u32, u8) {
    let decimals = operands.iter().map(|operand| operand.scale()).max().unwrap_or(0);
    if decimals >= DECIMALS_NOT_FIXED {
        return (APPROXIMATE_LENGTH, DECIMALS_NOT_FIXED);
    }
    let whole =
        operands.iter().map(|operand| width(operand).saturating_sub(u32::from(operand.scale()))).max();
    (whole.unwrap_or(0) + u32::from(decimals), decimals)
}

/// Bits are bytes among dates and times, as they are among texts.
fn collation_beside_bits(known: &[&ResultType], collation: DerivedCollation) -> DerivedCollation {
    let has = |is_it: fn(&ResultType) -> bool| known.iter().any(|result| is_it(result));
    if has(|result| result.class() == TypeClass::Text) || !has(|result| result.kind() == TypeKind::Bit) {
        return collation;
    }
    DerivedCollation {
        collation: CollationId::BINARY,
        coercibility: Coercibility::Implicit,
        ascii_only: false,
    }
}

/// Characters of a floating point number among texts. It is written there with the digits that it has, however many its type
/// shows: those of a DOUBLE count as of any, but among bytes.
fn approximate_width(result: &ResultType, binary: bool) -> u32 {
    match result.kind() {
        TypeKind::Double if !binary => DOUBLE_WIDTH,
        _ => result.column_type.length.unwrap_or_else(|| width(result)),
    }
}

fn common_text(known: &[&ResultType], kind: TypeKind, collation: DerivedCollation) -> ResultType {
    let binary = collation.collation == CollationId::BINARY;
    // Text among bytes counts with all the bytes that its characters may need.
    let size = |result: &ResultType| match result.class() {
        TypeClass::Text if binary => {
            result.text_length().saturating_mul(u32::from(result.collation().charset().max_bytes))
        }
        TypeClass::Double => approximate_width(result, binary),
        _ => width(result),
    };
    let length = known.iter().map(|result| size(result)).max().unwrap_or(0);
    let mut result = ResultType::text(length, collation.collation, collation.coercibility);
    let fixed = matches!(kind, TypeKind::Char | TypeKind::Binary) && !result.kind().is_large_object();
    if kind.is_large_object() || fixed {
        // All columns are the same to MySQL; only what functions compute is said to be so long.
        let is_computed = |one: &&ResultType| one.kind() == result.kind() && one.column_type.length.is_some();
        let is_long =
            matches!(result.kind(), TypeKind::LongText | TypeKind::LongBlob) && known.iter().any(is_computed);
        result.column_type.kind = match (kind.is_large_object(), binary) {
            (true, _) if is_long => result.kind(),
            (true, false) => TypeKind::Text,
            (true, true) => TypeKind::Blob,
            (false, false) => TypeKind::Char,
            (false, true) => TypeKind::Binary,
        };
    }
    result
}
