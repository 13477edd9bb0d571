//! Forms of the grammar over JSON: MEMBER OF, JSON_VALUE.

use super::Binder;
use super::expression::operand_name;
use ::expression::{Coercibility, Expression, ResultType, TypeClass};
use builtins::{JSON_VALUE, MEMBER_OF, Reaction};
use charset::CollationId;
use errors::SqlResult;
use parser::ast::{self, CastTarget, JsonReaction};
use values::ColumnType;

/// utf8mb4_0900_bin.
const UTF8MB4_0900_BIN: CollationId = CollationId(309);
/// Characters of JSON_VALUE without RETURNING.
const VALUE_CHARACTERS: u64 = 512;

/// `value MEMBER OF (document)`.
pub(super) fn member_of(
    binder: &mut Binder<'_>,
    operand: &ast::Expression,
    array: &ast::Expression,
) -> SqlResult<Expression> {
    let arguments = vec![binder.scalar(operand)?, binder.scalar(array)?];
    let site = binder.site();
    Expression::call(&MEMBER_OF, arguments, site, binder.facts)
}

/// JSON_VALUE. Text of no named character set is utf8mb4. Errors: 3143 for the path.
pub(super) fn json_value(binder: &mut Binder<'_>, call: &ast::JsonValue) -> SqlResult<Expression> {
    let document = binder.scalar(&call.document)?;
    json::Path::parse(&call.path)?;
    let path = Expression::text(call.path.clone(), CollationId::UTF8MB4_BIN);
    let column_type = returned_type(binder, call, &document)?;
    let (empty, empty_default) = reaction(binder, call.on_empty.as_ref(), &column_type)?;
    let (error, error_default) = reaction(binder, call.on_error.as_ref(), &column_type)?;
    let number = |reaction: Reaction| Expression::integer(reaction.number());
    let arguments = vec![document, path, number(empty), number(error), empty_default, error_default];
    let site = binder.site();
    let bound = Expression::call(&JSON_VALUE, arguments, site, binder.facts)?;
    let coercibility = match ::expression::result_type::class_of(column_type.kind) {
        TypeClass::Text | TypeClass::Json => Coercibility::Implicit,
        _ => Coercibility::Numeric,
    };
    Ok(Expression { kind: bound.kind, result: ResultType { column_type, nullable: true, coercibility } })
}

fn returned_type(binder: &Binder<'_>, call: &ast::JsonValue, document: &Expression) -> SqlResult<ColumnType> {
    let text = CastTarget::Char { length: Some(VALUE_CHARACTERS), charset: None, national: false };
    let mut target = call.returning.clone().unwrap_or(text);
    let mut is_plain = false;
    if let CastTarget::Char { length, charset: None, national: false } = &mut target {
        length.get_or_insert(VALUE_CHARACTERS);
        is_plain = true;
    }
    if let CastTarget::Binary { length: Some(length) } = &target {
        return Ok(ResultType::binary(u32::try_from(*length).unwrap_or(u32::MAX)).column_type);
    }
    let mut column_type = binder.cast_target(&target, document, &operand_name(&call.document))?;
    if is_plain {
        column_type.collation = UTF8MB4_0900_BIN;
    }
    Ok(column_type)
}

/// What happens, and the value for it: a default as one of the type that the call returns.
fn reaction(
    binder: &mut Binder<'_>,
    reaction: Option<&JsonReaction>,
    column_type: &ColumnType,
) -> SqlResult<(Reaction, Expression)> {
    Ok(match reaction {
        None | Some(JsonReaction::Null) => (Reaction::Null, Expression::null()),
        Some(JsonReaction::Error) => (Reaction::Error, Expression::null()),
        Some(JsonReaction::Default(value)) => {
            let bound = binder.scalar(value)?;
            (Reaction::Default, Expression::cast(bound, column_type.clone(), binder.facts)?)
        }
    })
}
