//! Forms of the grammar over JSON: MEMBER OF, JSON_VALUE, CAST(.. AS type ARRAY).

use super::{Binder, Wanted};
use ::expression::{Coercibility, Expression, ResultType, TypeClass};
use builtins::{CAST_AS_ARRAY, JSON_VALUE, MEMBER_OF, Reaction, value_default};
use charset::CollationId;
use declared::operand_name;
use errors::{SqlError, SqlResult, sql_error};
use parser::ast::{self, CastTarget, JsonReaction};
use values::{ColumnType, RowRef};

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

/// CAST(.. AS type ARRAY): the document whose elements a multi-valued key part has.
pub(super) fn array_cast(binder: &mut Binder<'_>, cast: &ast::CastExpression) -> SqlResult<Expression> {
    let arguments = vec![binder.scalar(&cast.operand)?];
    let site = binder.site();
    Expression::call(&CAST_AS_ARRAY, arguments, site, binder.facts)
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
    Ok(Expression {
        kind: bound.kind,
        result: ResultType { column_type, nullable: true, coercibility, is_truth: false },
    })
}

impl Binder<'_> {
    /// Binds an operand that is true or false. Warning 3986 for a document.
    pub(super) fn truth_of(&mut self, syntax: &ast::Expression) -> SqlResult<Expression> {
        let bound = self.scalar_as(syntax, Wanted::integer())?;
        self.warn_of_truth(&bound);
        Ok(bound)
    }

    /// Warning 3986 for a document that is true or false.
    pub(super) fn warn_of_truth(&mut self, operand: &Expression) {
        if operand.result.class() == TypeClass::Json {
            self.warn_of_json(sql_error!(ER_IMPLICIT_COMPARISON_FOR_JSON));
        }
    }

    /// Warning 1235 where documents are among what MySQL does not compare as such.
    pub(super) fn warn_of_comparison<'e>(
        &mut self,
        operands: impl IntoIterator<Item = &'e Expression>,
        place: &str,
    ) {
        if operands.into_iter().any(|operand| operand.result.class() == TypeClass::Json) {
            self.warn_of_json(sql_error!(ER_NOT_SUPPORTED_YET, format!("comparison of JSON {place}")));
        }
    }

    /// Told of the text, as hints are: not where it is executed that was prepared. A kept plan would say nothing.
    fn warn_of_json(&mut self, warning: SqlError) {
        if self.input.warns_of_hints {
            self.input.context.diagnostics().warning(warning);
            self.nature.volatile = true;
        }
    }
}

fn returned_type(binder: &Binder<'_>, call: &ast::JsonValue, document: &Expression) -> SqlResult<ColumnType> {
    let text = CastTarget::Char { length: Some(VALUE_CHARACTERS), charset: None, national: false };
    let mut target = call.returning.clone().unwrap_or(text);
    let is_plain = matches!(target, CastTarget::Char { charset: None, national: false, .. });
    // Without a length it is the longest text.
    let is_long =
        matches!(target, CastTarget::Char { length: None, .. } | CastTarget::Binary { length: None });
    if let CastTarget::Char { length, .. } = &mut target {
        length.get_or_insert(VALUE_CHARACTERS);
    }
    if let CastTarget::Binary { length: Some(length) } = &target {
        return Ok(ResultType::binary(u32::try_from(*length).unwrap_or(u32::MAX)).column_type);
    }
    let mut column_type = binder.cast_target(&target, document, &operand_name(&call.document))?;
    if is_plain {
        column_type.collation = CollationId::UTF8MB4_0900_BIN;
    }
    if is_long {
        let characters = u32::MAX / u32::from(column_type.collation.charset().max_bytes);
        column_type = ResultType::text(characters, column_type.collation, Coercibility::Implicit).column_type;
    }
    if column_type.kind == values::TypeKind::Year {
        return Ok(ColumnType::new(values::TypeKind::Year));
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
            let own = match bound.result.class() {
                TypeClass::Text => bound.result.collation(),
                _ => CollationId::UTF8MB4_BIN,
            };
            let value = bound.evaluate(RowRef::EMPTY, binder.input.context)?;
            let text =
                values::convert::to_text(value.as_ref(), &bound.result.column_type).unwrap_or_default();
            let value = value_default(&text, own, column_type)?;
            let result = ResultType::column(column_type.clone(), false);
            (Reaction::Default, Expression::constant(value, result))
        }
    })
}
