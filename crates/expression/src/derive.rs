//! Rules that give several text operands one collation. Main function: [`common_collation`]. One type for
//! operands of any kind is in `common_type`.

use crate::convert;
use crate::result_type::{Coercibility, ResultType, TypeClass};
use crate::tree::Expression;
use charset::CollationId;
use errors::{SqlError, SqlResult, sql_error};
use functions::text;
use values::TypeKind;

/// A collation and how strongly it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DerivedCollation {
    /// The collation.
    pub collation: CollationId,
    /// How strongly it holds.
    pub coercibility: Coercibility,
    /// Whether the text can only be ASCII, which every character set can hold.
    pub ascii_only: bool,
}

/// What an expression brings into the choice of a common collation.
pub fn derived_collation(expression: &Expression, connection: CollationId) -> DerivedCollation {
    let result = &expression.result;
    match result.class() {
        TypeClass::Text => DerivedCollation {
            collation: result.collation(),
            coercibility: result.coercibility,
            ascii_only: match expression.literal() {
                // Of what a function or CAST made, the type counts.
                Some(values::Value::Bytes(bytes)) if result.coercibility != Coercibility::Implicit => {
                    bytes.is_ascii()
                }
                _ => text::is_ascii(result.collation()),
            },
        },
        _ if result.kind() == TypeKind::Bit => DerivedCollation {
            collation: CollationId::BINARY,
            coercibility: Coercibility::Implicit,
            ascii_only: false,
        },
        TypeClass::Json => DerivedCollation {
            collation: CollationId::UTF8MB4_BIN,
            coercibility: Coercibility::Implicit,
            ascii_only: false,
        },
        TypeClass::Null => DerivedCollation {
            collation: CollationId::BINARY,
            coercibility: Coercibility::Ignorable,
            ascii_only: true,
        },
        _ => {
            DerivedCollation { collation: connection, coercibility: Coercibility::Numeric, ascii_only: true }
        }
    }
}

/// The collation for an operation over two texts; None when neither wins. Where texts are only put together, one
/// of explicit collation takes any other into its character set.
fn combine_collations(
    left: DerivedCollation,
    right: DerivedCollation,
    compares: bool,
) -> Option<DerivedCollation> {
    if left.collation == right.collation {
        let coercibility = left.coercibility.min(right.coercibility);
        return Some(DerivedCollation {
            coercibility,
            ascii_only: left.ascii_only && right.ascii_only,
            ..left
        });
    }
    if left.coercibility == Coercibility::Explicit && right.coercibility == Coercibility::Explicit {
        return None;
    }
    // What a function could not settle says nothing here.
    let is_open = |derived: DerivedCollation| derived.coercibility == Coercibility::None;
    if is_open(left) != is_open(right) {
        return Some(if is_open(left) { right } else { left });
    }
    if left.coercibility == Coercibility::Ignorable {
        return Some(right);
    }
    if right.coercibility == Coercibility::Ignorable {
        return Some(left);
    }
    if left.collation == CollationId::BINARY {
        return Some(if left.coercibility <= right.coercibility { left } else { right });
    }
    if right.collation == CollationId::BINARY {
        return Some(if right.coercibility <= left.coercibility { right } else { left });
    }
    if text::same_character_set(left.collation, right.collation) {
        return combine_in_one_set(left, right);
    }
    if is_superset(left, right) {
        return Some(left);
    }
    if is_superset(right, left) {
        return Some(right);
    }
    let gives_way = |strong: DerivedCollation, weak: DerivedCollation| {
        let explicit = !compares && strong.coercibility == Coercibility::Explicit;
        strong.coercibility < weak.coercibility
            && (weak.coercibility >= Coercibility::SystemConstant || explicit)
    };
    if gives_way(left, right) {
        return Some(left);
    }
    if gives_way(right, left) {
        return Some(right);
    }
    None
}

/// Whether an operand settles the collation of others that held so strongly and left it open at that binary order.
fn settles(next: DerivedCollation, open: DerivedCollation, strength: Coercibility) -> bool {
    next.coercibility < strength || next.coercibility == strength && next.collation != open.collation
}

fn combine_in_one_set(left: DerivedCollation, right: DerivedCollation) -> Option<DerivedCollation> {
    use std::cmp::Ordering;
    match left.coercibility.cmp(&right.coercibility) {
        Ordering::Less => Some(left),
        Ordering::Greater => Some(right),
        Ordering::Equal if left.coercibility == Coercibility::Explicit => None,
        Ordering::Equal if text::is_binary_order(left.collation) => Some(left),
        Ordering::Equal if text::is_binary_order(right.collation) => Some(right),
        Ordering::Equal => Some(DerivedCollation {
            collation: text::binary_order_of(left.collation),
            coercibility: Coercibility::None,
            ascii_only: left.ascii_only && right.ascii_only,
        }),
    }
}

/// Whether `wide` can hold every text of `narrow` without loss, by MySQL's rules.
fn is_superset(wide: DerivedCollation, narrow: DerivedCollation) -> bool {
    let stronger = wide.coercibility < narrow.coercibility;
    let equal = wide.coercibility == narrow.coercibility;
    let unicode = text::is_unicode(wide.collation)
        && (stronger || equal && (!text::is_unicode(narrow.collation) || text::is_utf8mb4(wide.collation)));
    let from_ascii = narrow.ascii_only && (stronger || equal && !wide.ascii_only);
    unicode || from_ascii
}

fn describe(derived: DerivedCollation) -> String {
    let strength = match derived.coercibility {
        Coercibility::Explicit => "EXPLICIT",
        Coercibility::None => "NONE",
        Coercibility::Implicit => "IMPLICIT",
        Coercibility::SystemConstant => "SYSCONST",
        Coercibility::Coercible => "COERCIBLE",
        Coercibility::Numeric => "NUMERIC",
        Coercibility::Ignorable => "NULL",
    };
    // MySQL says so of every number.
    let is_number = derived.coercibility == Coercibility::Numeric;
    let collation = if is_number { CollationId::LATIN1_SWEDISH_CI } else { derived.collation };
    format!("({},{strength})", text::collation_name(collation))
}

fn illegal_mix(all: &[DerivedCollation], operation: &str) -> SqlError {
    match all {
        [left, right] => {
            let message = format!(
                "Illegal mix of collations {} and {} for operation '{operation}'",
                describe(*left),
                describe(*right)
            );
            errors::code::ER_CANT_AGGREGATE_2COLLATIONS.message(message)
        }
        [first, second, third] => {
            let message = format!(
                "Illegal mix of collations {}, {}, {} for operation '{operation}'",
                describe(*first),
                describe(*second),
                describe(*third)
            );
            errors::code::ER_CANT_AGGREGATE_3COLLATIONS.message(message)
        }
        _ => sql_error!(ER_CANT_AGGREGATE_NCOLLATIONS, operation),
    }
}

/// The common collation of some operands. With `compares`, a mix that only concatenation can bear is error 1267.
/// The operands are wrapped in conversions where their character set differs from the common one.
pub fn common_collation(
    operands: &mut [&mut Expression],
    connection: CollationId,
    operation: &str,
    compares: bool,
) -> SqlResult<DerivedCollation> {
    let all: Vec<DerivedCollation> =
        operands.iter().map(|operand| derived_collation(operand, connection)).collect();
    let Some(first) = all.first() else {
        return Ok(DerivedCollation {
            collation: connection,
            coercibility: Coercibility::Coercible,
            ascii_only: true,
        });
    };
    let mut common = *first;
    let is_open = |derived: DerivedCollation| derived.coercibility == Coercibility::None;
    let mut mixed = false;
    // How strongly those held that no collation won of, until another operand settles it.
    let mut clash = None;
    for next in &all[1..] {
        if let Some(strength) = clash {
            if settles(*next, common, strength) {
                (common, clash) = (*next, None);
            }
            continue;
        }
        let strength = next.coercibility;
        let settled = !is_open(common) && !is_open(*next);
        common = combine_collations(common, *next, compares).ok_or_else(|| illegal_mix(&all, operation))?;
        if settled && is_open(common) {
            mixed = true;
            clash = Some(strength);
        }
    }
    // Numbers alone are text of the connection.
    if !compares && common.coercibility == Coercibility::Numeric {
        common.coercibility = Coercibility::Coercible;
    }
    // Only a COLLATE clause settles a mix that other operands left open.
    let is_explicit = common.coercibility == Coercibility::Explicit;
    if compares && (is_open(common) || mixed && !is_explicit) {
        return Err(illegal_mix(&all, operation));
    }
    for operand in operands.iter_mut() {
        convert_to(operand, common.collation)?;
    }
    Ok(common)
}

/// The collation of the first operand, for a result that is a text made out of it. The others are brought to its
/// character set; what that set cannot hold is error 3854.
pub fn first_collation(
    first: &Expression,
    others: &mut [&mut Expression],
    connection: CollationId,
) -> SqlResult<DerivedCollation> {
    let derived = derived_collation(first, connection);
    for other in others {
        convert_to(other, derived.collation)?;
    }
    Ok(derived)
}

/// Brings a text operand whose character set differs to that collation's set: a literal at once, anything else by a
/// conversion. Text that the set cannot hold is error 3854.
pub(crate) fn convert_to(operand: &mut Expression, collation: CollationId) -> SqlResult<()> {
    let result = &operand.result;
    let needs = result.class() == TypeClass::Text
        && collation != CollationId::BINARY
        && !text::same_character_set(result.collation(), collation);
    if !needs {
        return Ok(());
    }
    let from_bytes = result.collation() == CollationId::BINARY;
    let mut result = operand.result.clone();
    result.column_type.collation = collation;
    if from_bytes {
        result = ResultType::text(result.text_length(), collation, result.coercibility)
            .nullable_if(result.nullable);
    }
    let inner = std::mem::replace(operand, Expression::null());
    *operand = match inner.literal() {
        Some(values::Value::Bytes(bytes)) => {
            match convert::text_of_set(bytes.clone(), inner.result.collation(), collation) {
                Ok(converted) => Expression::constant(values::Value::Bytes(converted), result),
                // Of bytes the error comes with the first row that needs the text.
                Err(_) if from_bytes => Expression::convert_character_set(inner, result),
                Err(error) => return Err(error),
            }
        }
        _ => Expression::convert_character_set(inner, result),
    };
    Ok(())
}

/// Fractional second digits of a temporal type.
pub fn temporal_digits(result: &ResultType) -> u8 {
    match result.class() {
        TypeClass::DateTime | TypeClass::Time => result.column_type.decimals.unwrap_or(0),
        TypeClass::Text | TypeClass::Double | TypeClass::Decimal => result.scale().min(6),
        _ => 0,
    }
}
